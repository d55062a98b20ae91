"""A check that an environment follows the interface of :mod:`~worldthread_lab.envs.base`, for authors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields
from typing import Any, NamedTuple

from worldthread.errors import ContractError, EpisodeOverError, InputError
from worldthread_lab.envs.base import Environment, Info, RestorableEnvironment, Truth

_FALLBACK_ACTIONS = ("look", "inventory", "go north", "go south", "go east", "go west")


class _CheckedStep(NamedTuple):
    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: Info


def check_env(env: Environment, *, steps: int = 20, seed: int = 0) -> None:
    """Play ``env`` with random actions and check that it follows the interface of an environment.

    The checks are:

    - Results have the declared types, are immutable, and hold no reference to the true state.
    - ``step`` raises the right errors outside an episode and for actions that are not a line of text.
    - Moves and scores add up, and an episode ends as its flags say.
    - The same seed and the same actions give the same results.
    - A :class:`~worldthread_lab.envs.base.RestorableEnvironment` restores its saved states any number of times, and the
      same actions give the same results from there.

    The environment is reset several times, and left in the middle of an episode.

    Args:
        env: fresh from :func:`worldthread_lab.envs.make`, not reset yet.
        steps: number of actions to play; fewer when the game ends earlier.
        seed: for :meth:`~worldthread_lab.envs.base.Environment.reset`, and for the choice of actions.

    Raises:
        ContractError: a check failed; the message says which, and after which action.
    """
    _require(isinstance(env, Environment), f"{type(env).__name__} is not a worldthread_lab.envs.Environment")
    _require(isinstance(getattr(env, "id", None), str) and bool(env.id), "id must be a non-empty string")
    _check_is_outside(env, "before reset()")
    if isinstance(env, RestorableEnvironment):
        _check_save_before_reset(env)
    played = _play(env, steps, seed)
    again = _play(env, steps, seed, [action for action, _ in played[1:]])
    for number, ((action, first), (_, second)) in enumerate(zip(played, again, strict=True)):
        where = f"after the same {number} actions (the last: {action!r})"
        for name in _CheckedStep._fields:
            same = getattr(first, name) == getattr(second, name)
            _require(same, f"{name} differs {where}: {getattr(first, name)!r}, then {getattr(second, name)!r}")
    if isinstance(env, RestorableEnvironment):
        _check_restoring(env, played, seed)
    _check_truth(env)
    _check_refusals(env, seed)


def _play(env: Environment, steps: int, seed: int, script: list[str] | None = None) -> list[tuple[str, _CheckedStep]]:
    """Reset and play, and check every result; return the results, each with its action ("" for the reset)."""
    rng = random.Random(seed)
    result = _tuple_of(env.reset(seed), 2, "reset()")
    played = [("", _CheckedStep(result[0], 0.0, False, False, result[1]))]
    _check_result(env, played[0][1], "reset()")
    _require(played[0][1].info.moves == 0, f"moves must be 0 after reset(), not {played[0][1].info.moves}")
    for number in range(steps if script is None else len(script)):
        before = played[-1][1]
        offered = before.info.valid_actions or _FALLBACK_ACTIONS
        action = rng.choice(offered) if script is None else script[number]
        where = f"step({action!r})"
        after = _CheckedStep(*_tuple_of(env.step(action), 5, where))
        played.append((action, after))
        _check_result(env, after, where)
        _check_progress(before, after, where)
        if after.terminated or after.truncated:
            _check_is_outside(env, f"after {where}, which ended the episode,")
            break
    return played


def _check_result(env: Environment, step: _CheckedStep, where: str) -> None:
    observation, reward, terminated, truncated, info = step
    _require(isinstance(observation, str), f"the observation of {where} must be a string, not {observation!r}")
    _require(bool(observation.strip()), f"the observation of {where} is empty")
    _require(type(reward) is float, f"the reward of {where} must be a float, not {reward!r}")
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        _require(type(value) is bool, f"{name} of {where} must be True or False, not {value!r}")
    _require(not (terminated and truncated), f"{where} is both terminated and truncated")
    _require(type(info) is Info, f"the info of {where} must be an Info, not {type(info).__name__}")
    _check_info(info, where)
    for value in _reachable(info):
        _require(
            value is None or type(value) in (str, int, float, bool, tuple),
            f"the info of {where} holds {type(value).__name__} {value!r}, which may give a way to the true state",
        )


def _check_info(info: Info, where: str) -> None:
    try:
        info.moves = info.moves  # type: ignore[misc]
    except FrozenInstanceError:
        pass
    else:
        raise ContractError(f"the info of {where} can be changed")
    _require(_is_number(info.score), f"score after {where} must be a number, not {info.score!r}")
    _require(
        info.max_score is None or (_is_number(info.max_score) and info.max_score > 0),
        f"max_score after {where} must be a positive number or None, not {info.max_score!r}",
    )
    _require(
        info.max_score is None or info.score <= info.max_score,
        f"the score after {where}, {info.score}, is above max_score, {info.max_score}",
    )
    _require(type(info.moves) is int and info.moves >= 0, f"moves after {where} must be 0 or more, not {info.moves!r}")
    _require(isinstance(info.goal, str), f"goal after {where} must be a string, not {info.goal!r}")
    _require(
        info.inventory is None or isinstance(info.inventory, str),
        f"inventory after {where} must be a string or None, not {info.inventory!r}",
    )
    _require(
        info.state is None or (isinstance(info.state, str) and bool(info.state)),
        f"state after {where} must be a non-empty string or None, not {info.state!r}",
    )
    _require(type(info.won) is bool and type(info.lost) is bool, f"won and lost after {where} must be True or False")
    _require(not (info.won and info.lost), f"after {where} the game is both won and lost")
    actions = info.valid_actions
    if actions is not None:
        _require(
            type(actions) is tuple and all(isinstance(action, str) and action.strip() for action in actions),
            f"valid_actions after {where} must be a tuple of non-empty strings, not {actions!r}",
        )
        _require(actions == tuple(sorted(set(actions))), f"valid_actions after {where} must be sorted, without doubles")


def _check_progress(before: _CheckedStep, after: _CheckedStep, where: str) -> None:
    moves = after.info.moves - before.info.moves
    _require(moves >= 1, f"{where} must cost a move or more, but moves went from {before.info.moves} by {moves}")
    gained = after.info.score - before.info.score
    _require(after.reward == gained, f"the reward of {where} is {after.reward}, but the score changed by {gained}")
    _require(after.info.max_score == before.info.max_score, f"max_score changed with {where}")
    _require(after.info.goal == before.info.goal, f"goal changed with {where}")
    ended = after.info.won or after.info.lost
    _require(after.terminated or not ended, f"the game is won or lost after {where}, but not terminated")


def _check_is_outside(env: Environment, when: str) -> None:
    try:
        env.step("look")
    except EpisodeOverError:
        return
    raise ContractError(f"step() {when} must raise EpisodeOverError")


def _check_save_before_reset(env: RestorableEnvironment) -> None:
    try:
        env.save()
    except EpisodeOverError:
        return
    raise ContractError("save() before reset() must raise EpisodeOverError")


def _check_restoring(env: RestorableEnvironment, played: list[tuple[str, _CheckedStep]], seed: int) -> None:
    """Replay the actions, saving after each step; then restore some of the states and replay from there."""
    env.reset(seed)
    saved = [_saved(env)]
    for action, step in played[1:]:
        again = _CheckedStep(*env.step(action))
        _check_same(step, again, f"of {action!r}, when every state before it was saved,")
        saved.append(_saved(env))
    last = len(played) - 1
    # forwards and backwards, to the last state and from it, and twice to the same state
    for number in (last // 2, 0, last, last // 2, last // 2):
        where = f"after {number} actions"
        for state in (saved[number], None):
            result = _tuple_of(env.restore(state or _saved(env)), 2, "restore()")
            step = played[number][1]
            again = step._replace(observation=result[0], info=result[1])
            _check_same(step, again, f"of the state restored {where}")
        for action, step in played[number + 1 :]:
            _check_same(step, _CheckedStep(*env.step(action)), f"of {action!r}, after coming back to the state {where}")
        if played[last][1].terminated or played[last][1].truncated:
            _check_is_outside(env, f"after coming back {where} and playing to the end")
    for nonsense in (b"", b"nonsense", saved[0][:-1]):
        try:
            env.restore(nonsense)
        except InputError:
            continue
        raise ContractError(f"restore() of {nonsense[:20]!r}, which was not saved, must raise InputError")


def _saved(env: RestorableEnvironment) -> bytes:
    saved = env.save()
    _require(type(saved) is bytes, f"save() must give bytes, not {type(saved).__name__}")
    return saved


def _check_same(first: _CheckedStep, second: _CheckedStep, what: str) -> None:
    for name in _CheckedStep._fields:
        same = getattr(first, name) == getattr(second, name)
        _require(same, f"{name} {what} differs: {getattr(first, name)!r}, then {getattr(second, name)!r}")


def _check_truth(env: Environment) -> None:
    truth = env.truth()
    _require(type(truth) is Truth, f"truth() must give a Truth, not {type(truth).__name__}")
    _require(type(truth.propositions) is frozenset, "propositions of the truth must be a frozenset")
    for proposition in truth.propositions:
        _require(
            type(proposition) is tuple and bool(proposition) and all(isinstance(word, str) for word in proposition),
            f"a proposition must be a tuple of strings, not {proposition!r}",
        )
    _require(
        type(truth.walkthrough) is tuple and all(isinstance(command, str) for command in truth.walkthrough),
        f"the walkthrough must be a tuple of strings, not {truth.walkthrough!r}",
    )
    _require(
        truth.optimal_moves is None or (type(truth.optimal_moves) is int and truth.optimal_moves > 0),
        f"optimal_moves must be a whole number above 0, or None, not {truth.optimal_moves!r}",
    )


def _check_refusals(env: Environment, seed: int) -> None:
    env.reset(seed)
    for action in ("", " ", "look\nlook", "look\rlook", None, 3):
        try:
            env.step(action)  # type: ignore[arg-type]
        except InputError:
            continue
        raise ContractError(f"step({action!r}) must raise InputError")
    _, _, _, _, info = env.step("look")
    _require(info.moves == 1, f"refused actions must cost no move, but moves is {info.moves} after one action")


def _reachable(value: Any) -> Iterator[Any]:
    """Yield every value that an info refers to, with the items of its tuples."""
    if isinstance(value, Info):
        known = {field.name for field in fields(value)}
        extra = set(vars(value)) - known
        if extra:
            raise ContractError(f"an info has attributes beside its fields: {', '.join(sorted(extra))}")
        for name in known:
            yield from _reachable(getattr(value, name))
    elif type(value) is tuple:
        for item in value:
            yield from _reachable(item)
    else:
        yield value


def _tuple_of(result: Any, length: int, where: str) -> tuple[Any, ...]:
    _require(
        type(result) is tuple and len(result) == length, f"{where} must give a tuple of {length} values, not {result!r}"
    )
    found: tuple[Any, ...] = result
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ContractError(message)

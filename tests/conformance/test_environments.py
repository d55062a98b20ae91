"""Checks every registered environment with `check_env`, and checks that `check_env` finds faults."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import ContractError, InputError
from worldthread_lab.envs.base import Environment, Info, RestorableEnvironment, Truth
from worldthread_lab.envs.check import check_env
from worldthread_lab.envs.fake import ScriptedWorld, tiny_house
from worldthread_lab.envs.registry import games, make
from worldthread_lab.envs.spec import GameSpec

Result = tuple[str, float, bool, bool, Info]


def marks(spec: GameSpec) -> list[pytest.MarkDecorator]:
    """The extra that a game needs; generating a meal takes a quarter of a minute, and some games start slowly."""
    slow_ones = ("cooking", "lostpig", "ludicorp", "deephome", "textworldexpress", "scienceworld")
    is_slow = spec.id.startswith(slow_ones) and spec.id not in ("cooking-level2-v1", "textworldexpress-twc-v1")
    slow = [pytest.mark.slow] if is_slow else []
    if spec.package == "scienceworld" and spec.name != "scienceworld-lifespan-longest-lived":
        slow.append(pytest.mark.manual)  # a minute each, and the same engine
    return [*slow, *([getattr(pytest.mark, spec.extra)] if spec.extra else [])]


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, marks=marks(spec), id=spec.id) for spec in games()],
)
def test_every_registered_environment_follows_the_interface(
    spec: GameSpec, game_cache: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {}
    if spec.package == "jericho":
        monkeypatch.setenv("WORLDTHREAD_GAMES", str(request.getfixturevalue("jericho_games")))
        options["valid_actions"] = False  # finding them takes minutes for all games; test_jericho.py does so for some
    with make(spec.id, seed=0, cache_dir=game_cache, **options) as env:
        check_env(env, steps=30)
    with make(spec.id, seed=0, max_moves=4, goal="Look around.", cache_dir=game_cache, **options) as env:
        check_env(env, steps=10, seed=0)
        _, info = env.reset(0)
        assert info.goal == "Look around."


@dataclass(frozen=True)
class LeakyInfo(Info):
    secret: Any = None


class Broken(ScriptedWorld):
    """The tiny house with a fault that changes the result of each step."""

    def __init__(self, fault: Callable[[Broken, Result], Result]) -> None:
        super().__init__(tiny_house)
        self.fault = fault

    def step(self, action: str) -> Result:
        return self.fault(self, super().step(action))


def in_info(**changes: Any) -> Callable[[Broken, Result], Result]:
    return lambda env, result: (*result[:4], replace(result[4], **changes))


FAULTS: dict[str, Callable[[Broken, Result], Any]] = {
    "the observation of .* must be a string": lambda env, result: (b"look", *result[1:]),
    "the observation of .* is empty": lambda env, result: ("\n", *result[1:]),
    "the reward of .* must be a float": lambda env, result: (result[0], 0, *result[2:]),
    "the reward of .* is 5.0, but the score changed by 0": lambda env, result: (result[0], 5.0, *result[2:]),
    "terminated of .* must be True or False": lambda env, result: (*result[:2], 1, *result[3:]),
    "both terminated and truncated": lambda env, result: (*result[:2], True, True, result[4]),
    "the info of .* must be an Info": lambda env, result: (*result[:4], {}),
    "must be an Info, not LeakyInfo": lambda env, result: (*result[:4], LeakyInfo(secret=env)),
    "must give a tuple of 5 values": lambda env, result: result[:4],
    "moves .* must be 0 or more": in_info(moves=-1),
    "must cost a move": in_info(moves=0),
    "score .* must be a number": in_info(score="3"),
    "max_score .* positive number": in_info(max_score=0),
    "above max_score": in_info(score=3),
    "max_score changed": in_info(max_score=50),
    "goal changed": in_info(goal="Something else."),
    "valid_actions .* sorted": in_info(valid_actions=("look", "go north")),
    "valid_actions .* tuple of non-empty strings": in_info(valid_actions=["look"]),
    "won or lost .* not terminated": in_info(lost=True),
    "both won and lost": in_info(lost=True, won=True),
    "inventory .* must be a string or None": in_info(inventory=("coin",)),
    "observation differs": lambda env, result: (f"{result[0]} {random.random()}", *result[1:]),
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_in_a_step_is_named(message: str) -> None:
    with pytest.raises(ContractError, match=message):
        check_env(Broken(FAULTS[message]))


class StepsAnywhere(ScriptedWorld):
    def step(self, action: str) -> Result:
        if not self._running:
            self.reset()
        return super().step(action)


class TakesAnything(ScriptedWorld):
    def step(self, action: str) -> Result:
        return super().step(str(action).split("\n")[0].strip() or "look")


class SeedBlind(ScriptedWorld):
    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        return super().reset(random.randrange(10**6))


class LooseTruth(ScriptedWorld):
    def truth(self) -> Truth:
        return replace(super().truth(), propositions=frozenset({"at P Hall"}))


class Thawed(ScriptedWorld):
    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        observation, info = super().reset(seed)
        info.__dict__["engine"] = self
        return observation, info


class StaysOpen(ScriptedWorld):
    def step(self, action: str) -> Result:
        if self._state is not None:
            self._running = True
        return super().step(action)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (StepsAnywhere, r"step\(\) before reset\(\) must raise EpisodeOverError"),
        (TakesAnything, r"step\(''\) must raise InputError"),
        (SeedBlind, "differs after the same"),
        (LooseTruth, "a proposition must be a tuple of strings"),
        (Thawed, "attributes beside its fields: engine"),
        (StaysOpen, "which ended the episode, must raise EpisodeOverError"),
    ],
)
def test_a_fault_around_an_episode_is_named(kind: type[ScriptedWorld], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        check_env(kind(tiny_house, max_moves=10))


class Restorable(ScriptedWorld, RestorableEnvironment):
    """The tiny house with saved states, kept by number."""

    def __init__(self) -> None:
        super().__init__(tiny_house, max_moves=12)
        self.observation = ""
        self.kept: list[tuple[Any, Info, bool, str]] = []

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.observation, info = super().reset(seed)
        return self.observation, info

    def step(self, action: str) -> Result:
        result = super().step(action)
        self.observation = result[0]
        return result

    def save(self) -> bytes:
        self._world()
        self.kept.append((self._state, self._info, self._running, self.observation))
        return b"state %d" % (len(self.kept) - 1)

    def restore(self, saved: bytes) -> tuple[str, Info]:
        number = saved.removeprefix(b"state ").decode()
        if not number.isdecimal():
            raise InputError("not from here")
        self._state, self._info, self._running, self.observation = self.kept[int(number)]
        return self.observation, self._info


class SavesNothingYet(Restorable):
    def save(self) -> bytes:
        return super().save() if self._state is not None else b""


class SavesText(Restorable):
    def save(self) -> bytes:
        return super().save().decode()  # type: ignore[return-value]


class SavingMoves(Restorable):
    def save(self) -> bytes:
        saved = super().save()
        self._info = replace(self._info, moves=self._info.moves + 1)
        return saved


class RestoresTheResultOnly(Restorable):
    def restore(self, saved: bytes) -> tuple[str, Info]:
        state = self._state
        observation, info = super().restore(saved)
        self._state = state
        return observation, info


class RestoresOnce(Restorable):
    def restore(self, saved: bytes) -> tuple[str, Info]:
        observation, info = super().restore(saved)
        number = int(saved.removeprefix(b"state "))
        self.kept[number] = (self._state, replace(info, moves=info.moves + 1), self._running, observation)
        return observation, info


class ReturnsAnotherText(Restorable):
    def restore(self, saved: bytes) -> tuple[str, Info]:
        _, info = super().restore(saved)
        return "You are here again.", info


class RunsAgain(Restorable):
    def restore(self, saved: bytes) -> tuple[str, Info]:
        observation, info = super().restore(saved)
        self._max_moves = None
        return observation, info


class RestoresAnything(Restorable):
    def restore(self, saved: bytes) -> tuple[str, Info]:
        return super().restore(saved if saved.removeprefix(b"state ").isdigit() else b"state 0")


def test_a_world_that_restores_its_states_follows_the_interface() -> None:
    check_env(Restorable())


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (SavesNothingYet, r"save\(\) before reset\(\) must raise EpisodeOverError"),
        (SavesText, "save.* must give bytes, not str"),
        (SavingMoves, "when every state before it was saved"),
        (RestoresTheResultOnly, "after coming back to the state after"),
        (RestoresOnce, "info of the state restored after"),
        (ReturnsAnotherText, "observation of the state restored after"),
        (RunsAgain, "after coming back"),
        (RestoresAnything, "which was not saved, must raise InputError"),
    ],
)
def test_a_fault_in_restoring_is_named(kind: type[Restorable], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        check_env(kind(), steps=20)


def test_objects_that_are_not_environments_are_refused() -> None:
    with pytest.raises(ContractError, match="object is not a worldthread"):
        check_env(object())  # type: ignore[arg-type]
    env: Environment = ScriptedWorld(tiny_house, id="")
    with pytest.raises(ContractError, match="id must be"):
        check_env(env)


def test_the_error_is_an_assertion_error() -> None:
    assert issubclass(ContractError, AssertionError)

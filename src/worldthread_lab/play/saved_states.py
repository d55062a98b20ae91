"""The states that a play has reached, with their percepts, and the way back to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from worldthread.errors import AgentError, ContractError
from worldthread_lab.agents.base import Percept, walk_back
from worldthread_lab.envs.base import Environment, Info, RestorableEnvironment

_SHOWN = 200  # characters of a text that an error message quotes


@dataclass(frozen=True)
class SavedState:
    """One state of a play, as it was when the play first reached it.

    Args:
        percept: the percept that the agent got.
        info: the world's information.
        depth: the number of actions on the path from the beginning to this state.
        saved: the key of the saved bytes; ``None`` when the world did not save them.
    """

    percept: Percept
    info: Info
    depth: int
    saved: str | None = None


@dataclass(frozen=True)
class RetracedStep:
    """A step on the way back to a state in a world of chance.

    Args:
        number: the number of the state that the path holds here.
        action: the action; ``None`` for the beginning.
        observation: the text of the world now.
        reward: points gained in this step now.
        ended: whether the game is over now.
        info: the world's information now.
        is_same: whether text, score and digest are those of the first time, here and in all steps before.
    """

    number: int
    action: str | None
    observation: str
    reward: float
    ended: bool
    info: Info
    is_same: bool


class SavedStates:
    """The states of a play in the order in which it first reached them, and the world, which is in one of them.

    A world that can save its state is restored at once. Any other world is reset with the same seed, and the actions
    of the path to the state are played again; different texts, scores or digests are an error then. In a stochastic
    world (:attr:`~worldthread_lab.envs.base.Environment.is_stochastic`) the path is always played again
    (:meth:`retrace`).

    Args:
        env: the world.
        seed: the seed with which it was reset.
        keep: save every state, so that the world can be restored. Equal states are saved once.

    Attributes:
        here: the number of the state that the world is in.
        replayed_moves: the number of moves that were played again on the way back to earlier states.
    """

    def __init__(self, env: Environment, seed: int | None, *, keep: bool) -> None:
        self._env = env
        self._seed = seed
        self._keep = keep
        self._states: list[SavedState] = []
        self._saved_bytes: dict[str, bytes] = {}
        self.here = 0
        self.replayed_moves = 0

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, number: int) -> SavedState:
        return self._states[number]

    def add(self, percept: Percept, info: Info) -> None:
        """Add the present state of the world, which is new, under the next number."""
        depth = 0 if percept.before is None else self._states[percept.before].depth + 1
        self.here = len(self._states)
        self._states.append(SavedState(percept, info, depth, self._save(info)))

    def _save(self, info: Info) -> str | None:
        if not self._keep or self._env.is_stochastic or not isinstance(self._env, RestorableEnvironment):
            return None
        key = f"number {self.here}" if info.state is None else f"state {info.state}"
        if key not in self._saved_bytes:
            self._saved_bytes[key] = self._env.save()
        return key

    def go_back(self, number: int) -> SavedState:
        """Bring the world back to a state.

        Args:
            number: the number of the state.

        Returns:
            The state as it was first reached.

        Raises:
            AgentError: there is no state of this number.
            ContractError: the world does not reach the same state again.
        """
        self._require_known(number)
        state = self._states[number]
        if number != self.here:
            if state.saved is not None and isinstance(self._env, RestorableEnvironment):
                _, info = self._env.restore(self._saved_bytes[state.saved])
                self._require_same("the score", state.info.score, info.score, number)
                self._require_same("the state", state.info.state, info.state, number)
            else:
                self._play_again(number)
            self.here = number
        return state

    def retrace(self, number: int) -> Iterator[RetracedStep]:
        """Reset a stochastic world and play the actions on the path to a state, as a guide to it.

        The caller adds the states from the first one that is not the same on (:meth:`add`), and may stop at any step.

        Args:
            number: the number of the state.

        Yields:
            The steps of the path, the beginning first; none after the end of the game.

        Raises:
            AgentError: there is no state of this number.
        """
        self._require_known(number)
        is_same, ended = True, False
        for at in [*walk_back(number, lambda at: self._states[at].percept.before)][::-1]:
            action, reward = self._states[at].percept.step.action, 0.0
            if action is None:
                observation, info = self._env.reset(self._seed)
                ended = info.won or info.lost
            else:
                observation, reward, terminated, truncated, info = self._env.step(action)
                ended = terminated or truncated
            state = self._states[at]
            first = state.percept.step.text, state.info.score, state.info.state, state.percept.ended
            is_same = is_same and (observation, info.score, info.state, ended) == first
            if is_same:
                self.here = at
                self.replayed_moves += action is not None
            yield RetracedStep(at, action, observation, reward, ended, info, is_same)
            if ended:
                return

    def _require_known(self, number: int) -> None:
        if not 0 <= number < len(self._states):
            raise AgentError(
                f"the agent asked to return to state {number}; the states so far are 0 to {len(self._states) - 1}"
            )

    def _play_again(self, number: int) -> None:
        """Reset the world and play the actions on the path to a state."""
        path = [*walk_back(number, lambda at: self._states[at].percept.before)]
        observation, info = self._env.reset(self._seed)
        self._require_same_step(path.pop(), observation, info)
        while path:
            action = self._states[path[-1]].percept.step.action
            assert action is not None
            observation, _, _, _, info = self._env.step(action)
            self.replayed_moves += 1
            self._require_same_step(path.pop(), observation, info)

    def _require_same_step(self, number: int, observation: str, info: Info) -> None:
        state = self._states[number]
        self._require_same("the text", state.percept.step.text, observation, number)
        self._require_same("the score", state.info.score, info.score, number)
        self._require_same("the state", state.info.state, info.state, number)

    def _require_same(self, what: str, first: object, now: object, number: int) -> None:
        if first != now:
            action = self._states[number].percept.step.action
            raise ContractError(
                f"the world {self._env.id!r} does not return to state {number} (after {action!r}): {what} was "
                f"{str(first)[:_SHOWN]!r} and is {str(now)[:_SHOWN]!r} now. The same seed and the same actions must "
                "lead to the same state; a world in which chance decides has to say so (is_stochastic)"
            )


def returned(percept: Percept, moves_left: int | None) -> Percept:
    """Return the percept of an earlier state for an agent that has returned to it."""
    return replace(percept, returned=True, rerouted=False, problem="", moves_left=moves_left)

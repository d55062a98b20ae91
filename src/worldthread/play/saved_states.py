"""The moments of a play: what was perceived at each, and how the world gets back there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from worldthread.agents.base import Percept, walk_back
from worldthread.envs.base import Environment, Info, RestorableEnvironment
from worldthread.errors import AgentError, ContractError

_SHOWN = 200  # characters of a text in the message about a difference


@dataclass(frozen=True)
class SavedState:
    """What was there when a moment was first seen.

    Args:
        percept: as the agent was told.
        info: what the world told.
        depth: how many actions lead here from the beginning.
        saved: under which key the state was saved; ``None`` when it was not.
    """

    percept: Percept
    info: Info
    depth: int
    saved: str | None = None


class SavedStates:
    """Moments in the order in which they were first seen, and the world, which stands at one of them.

    A world that saves its state goes back at once. Every other one begins anew with the same seed and is played the
    moves of the way again; should it not tell the same then, that is an error.

    Args:
        env: the world.
        seed: with which it was reset.
        keep: save the state at every moment, so that the world can go back there. Equal states are saved once.

    Attributes:
        here: number of the moment at which the world stands.
        replayed_moves: moves that were played again on the way back to moments.
    """

    def __init__(self, env: Environment, seed: int | None, *, keep: bool) -> None:
        self._env = env
        self._seed = seed
        self._keep = keep
        self._moments: list[SavedState] = []
        self._states: dict[str, bytes] = {}
        self.here = 0
        self.replayed_moves = 0

    def __len__(self) -> int:
        return len(self._moments)

    def __getitem__(self, number: int) -> SavedState:
        return self._moments[number]

    def add(self, percept: Percept, info: Info) -> None:
        """The world stands at a moment that is new, and bears the next number."""
        depth = 0 if percept.before is None else self._moments[percept.before].depth + 1
        self.here = len(self._moments)
        self._moments.append(SavedState(percept, info, depth, self._save(info)))

    def _save(self, info: Info) -> str | None:
        if not self._keep or not isinstance(self._env, RestorableEnvironment):
            return None
        key = f"moment {self.here}" if info.state is None else f"state {info.state}"
        if key not in self._states:
            self._states[key] = self._env.save()
        return key

    def go_back(self, number: int) -> SavedState:
        """Bring the world to a moment: what was told there.

        Raises:
            AgentError: there is no such moment.
            ContractError: the world does not get there again.
        """
        if not 0 <= number < len(self._moments):
            raise AgentError(
                f"the agent asked to come back to moment {number}; there are 0 to {len(self._moments) - 1}"
            )
        moment = self._moments[number]
        if number != self.here:
            if moment.saved is not None and isinstance(self._env, RestorableEnvironment):
                _, info = self._env.restore(self._states[moment.saved])
                self._require_same("the score", moment.info.score, info.score, number)
                self._require_same("the state", moment.info.state, info.state, number)
            else:
                self._play_again(number)
            self.here = number
        return moment

    def _play_again(self, number: int) -> None:
        way = [*walk_back(number, lambda at: self._moments[at].percept.before)]
        observation, info = self._env.reset(self._seed)
        self._require_told(way.pop(), observation, info)
        while way:
            action = self._moments[way[-1]].percept.step.action
            assert action is not None
            observation, _, _, _, info = self._env.step(action)
            self.replayed_moves += 1
            self._require_told(way.pop(), observation, info)

    def _require_told(self, number: int, observation: str, info: Info) -> None:
        moment = self._moments[number]
        self._require_same("the text", moment.percept.step.text, observation, number)
        self._require_same("the score", moment.info.score, info.score, number)
        self._require_same("the state", moment.info.state, info.state, number)

    def _require_same(self, what: str, first: object, now: object, number: int) -> None:
        if first != now:
            action = self._moments[number].percept.step.action
            raise ContractError(
                f"the world {self._env.id!r} does not come back to moment {number} (after {action!r}): {what} was "
                f"{str(first)[:_SHOWN]!r}, and is {str(now)[:_SHOWN]!r} now. With the same seed and the same moves a "
                "world must tell the same, or no agent can return in it"
            )


def returned(percept: Percept, moves_left: int | None) -> Percept:
    """A percept as it is told again to an agent that came back."""
    return replace(percept, returned=True, problem="", moves_left=moves_left)

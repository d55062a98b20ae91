"""The states that were reached, to which an agent can come back (Go-Explore; Ecoffet et al. 2021)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from worldthread.agents.attempts.trajectories import TrajectoryStep
from worldthread.agents.prompting import shorten

STATES_OFFERED: Final = 40
"""States that are put to the choice at once, at most."""
TEXT_LIMIT: Final = 300
INVENTORY_LIMIT: Final = 200


@dataclass
class ArchivedState:
    """A state and the best way to it.

    Args:
        number: by which it is chosen; 0 for the first.
        step: its moment on the best way: the one of the higher score, then of fewer moves.
        moves: moves from the beginning on that way.
        seen: how often it was reached.
        chosen: how often it was returned to.
    """

    number: int
    step: TrajectoryStep
    moves: int
    seen: int = 1
    chosen: int = 0

    @property
    def rank(self) -> tuple[float, int, int, int]:
        """Ascending by promise: high score, seldom chosen, reached late."""
        return (-self.step.score, self.chosen, -self.moves, self.number)


class Archive:
    """States without doubles. Two moments are one state when the world's digests of it are equal; in a world without
    digests, when observation and inventory are. Where the game is over there is nothing to come back for: such moments
    are left out.
    """

    def __init__(self) -> None:
        self.states: list[ArchivedState] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def see(self, step: TrajectoryStep, moves: int) -> None:
        """Take in a moment that was reached, ``moves`` after the beginning."""
        if step.ended:
            return
        key = (step.state,) if step.state is not None else (step.text, step.inventory)
        number = self._numbers.setdefault(key, len(self.states))
        if number == len(self.states):
            self.states.append(ArchivedState(number, step, moves))
            return
        known = self.states[number]
        known.seen += 1
        if (-step.score, moves) < (-known.step.score, known.moves):
            known.step, known.moves = step, moves

    def offer(self, limit: int) -> tuple[ArchivedState, ...]:
        """The states that are put to the choice, by number: at most 40, and as many as fit into ``limit`` characters.

        Every place comes first with its most promising state (:attr:`ArchivedState.rank`; of those with equal score
        and inventory only one is offered), the place with the best one first; then every place with its second one,
        and so on. A place is the room that the memory knows; where it knows none, the observation stands for it.
        """
        places: defaultdict[str, list[ArchivedState]] = defaultdict(list)
        alike: set[tuple[str, float, str]] = set()
        for state in sorted(self.states, key=lambda state: state.rank):
            place = state.step.place or state.step.text
            same = (place, state.step.score, state.step.inventory)
            if same not in alike:
                alike.add(same)
                places[place].append(state)
        rounds = sorted(
            (turn, state.rank, state) for states in places.values() for turn, state in enumerate(states)
        )  # ranks differ in their numbers: states are never compared
        offered: list[ArchivedState] = []
        for _, _, state in rounds[:STATES_OFFERED]:
            limit -= len(render_state(state)) + 1
            if limit < 0 and offered:
                break
            offered.append(state)
        return tuple(sorted(offered, key=lambda state: state.number))


def render_state(state: ArchivedState) -> str:
    """What a model is told of a state."""
    step = state.step
    place = f" in {shorten(step.place, 60)}" if step.place else ""
    return (
        f"{state.number}: score {step.score:g}, {state.moves} moves from the beginning, reached {state.seen} times, "
        f"chosen {state.chosen} times{place}\n"
        f"   sees: {shorten(step.text, TEXT_LIMIT)}\n"
        f"   carries: {shorten(step.inventory, INVENTORY_LIMIT) or 'unknown'}"
    )


def render_states(states: Iterable[ArchivedState]) -> str:
    """States, one after the other."""
    return "\n".join(map(render_state, states))

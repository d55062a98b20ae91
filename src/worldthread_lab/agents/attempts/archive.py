"""The archive of states that an agent reached and can return to (Go-Explore; Ecoffet et al. 2021)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from worldthread_lab.agents.attempts.settings import DEFAULT_SETTINGS, AttemptSettings
from worldthread_lab.agents.attempts.trajectories import TrajectoryStep
from worldthread_lab.agents.prompting import shorten


@dataclass
class ArchivedState:
    """A state and the best path to it.

    Args:
        number: the number by which it is chosen; 0 for the first.
        step: the last step of the best path: the one of the higher score, then of fewer moves.
        moves: the moves of that path.
        reached: how often it was reached.
        chosen: how often it was returned to.
        is_removed: whether it is not offered until it is reached again.
    """

    number: int
    step: TrajectoryStep
    moves: int
    reached: int = 1
    chosen: int = 0
    is_removed: bool = False

    @property
    def rank(self) -> tuple[float, int, int, int]:
        """A key that is lower for more promising states: high score, then seldom chosen, then many moves away."""
        return (-self.step.score, self.chosen, -self.moves, self.number)


class Archive:
    """The states that were reached, each once.

    Two steps reach one state when the world's digests of the state are equal; in a world without digests, when
    observation and inventory are. Steps that end the game are left out, as nothing can be done there.

    Args:
        settings: how many states are offered, and how long their texts are.

    Attributes:
        states: the states by number.
    """

    def __init__(self, settings: AttemptSettings = DEFAULT_SETTINGS) -> None:
        self.settings = settings
        self.states: list[ArchivedState] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def record(self, step: TrajectoryStep, moves: int) -> None:
        """Record a step that reached a state ``moves`` after the beginning."""
        if step.ended:
            return
        key = (step.state,) if step.state is not None else (step.text, step.inventory)
        number = self._numbers.setdefault(key, len(self.states))
        if number == len(self.states):
            self.states.append(ArchivedState(number, step, moves))
            return
        known = self.states[number]
        known.reached += 1
        known.is_removed = False
        if (-step.score, moves) < (-known.step.score, known.moves):
            known.step, known.moves = step, moves

    def offer(self, limit: int) -> tuple[ArchivedState, ...]:
        """Choose the states that a prompt offers.

        First comes the most promising state of every place (:attr:`ArchivedState.rank`; of states with equal score and
        inventory only one is offered), the place with the best one first; then the second one of every place, and so
        on. A place is the room in the memory; where the memory knows none, the observation. With
        :attr:`AttemptSettings.offers_all`, every state is offered, the most promising first as long as they fit. States
        that are removed are left out.

        Args:
            limit: characters of the rendered states; the first one is offered in any case.

        Returns:
            The states by number.
        """
        ranked = sorted((state for state in self.states if not state.is_removed), key=lambda state: state.rank)
        if self.settings.offers_all:
            return self._fitting(ranked, limit)
        places: defaultdict[str, list[ArchivedState]] = defaultdict(list)
        offered_before: set[tuple[str, float, str]] = set()
        for state in ranked:
            place = state.step.place or state.step.text
            same = (place, state.step.score, state.step.inventory)
            if same not in offered_before:
                offered_before.add(same)
                places[place].append(state)
        rounds = sorted(
            (turn, state.rank, state) for states in places.values() for turn, state in enumerate(states)
        )  # ranks differ in their numbers: states are never compared
        return self._fitting([state for _, _, state in rounds[: self.settings.offered_states]], limit)

    def _fitting(self, ranked: Iterable[ArchivedState], limit: int) -> tuple[ArchivedState, ...]:
        """Return the first states whose texts fit, by number."""
        offered: list[ArchivedState] = []
        for state in ranked:
            limit -= len(render_state(state, self.settings)) + 1
            if limit < 0 and offered:
                break
            offered.append(state)
        return tuple(sorted(offered, key=lambda state: state.number))


def render_state(state: ArchivedState, settings: AttemptSettings = DEFAULT_SETTINGS) -> str:
    """Return a state as text for a prompt."""
    step = state.step
    place = f" in {shorten(step.place, 60)}" if step.place and not settings.offers_all else ""
    return (
        f"{state.number}: score {step.score:g}, {state.moves} moves from the beginning, reached {state.reached} times, "
        f"chosen {state.chosen} times{place}\n"
        f"   sees: {shorten(step.text, settings.state_text_limit)}\n"
        f"   carries: {shorten(step.inventory, settings.state_inventory_limit) or 'unknown'}"
    )


def render_states(states: Iterable[ArchivedState], settings: AttemptSettings = DEFAULT_SETTINGS) -> str:
    """Return states as text for a prompt, one after the other."""
    return "\n".join(render_state(state, settings) for state in states)

"""Achievements: actions that once brought points, a thing or a new possibility, to be repeated on other branches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from worldthread_lab.agents.go_explore.commands import LOSING, TAKING, USEFUL, form, promise, things_of
from worldthread_lab.agents.go_explore.settings import DEFAULT_SETTINGS, GoExploreSettings
from worldthread_lab.agents.go_explore.state_graph import StateAction, StateGraph, StateVisit
from worldthread_lab.game.commands import direction_of

_PAY_REPEATEDLY: Final = frozenset({*TAKING, "put"})
"""Verbs that bring points for one thing after the other."""


class AchievementKind(NamedTuple):
    """Achievements that may bring points once only: entering one room, or one form of action, for as many points."""

    what: str
    gain: float


@dataclass(eq=False)
class Achievement:
    """An action in a room that once was of use.

    Args:
        bit: its number among the achievements of a visit; achievements that are the same event share one.
        before: the visit in which it was done first.
        after: the visit to which that led.
        gain: the most points that it ever brought.
        things: what it brought into the player's hands.
        opens_up: whether it made new actions possible.
        kind: its kind, when it brings points; else ``None``.
        preparations: actions before it that changed the world and were of no use by themselves.
        attempts: how often it was tried; fractions count for less than a trial.
        successes: how often it succeeded.
        settings: the merits of achievements.
    """

    bit: int
    before: StateVisit
    after: StateVisit
    gain: float
    things: frozenset[str]
    opens_up: bool
    kind: AchievementKind | None
    preparations: tuple[str, ...]
    attempts: float = 1.0
    successes: int = 1
    settings: GoExploreSettings = DEFAULT_SETTINGS

    @property
    def state_action(self) -> StateAction:
        """The room and the action."""
        assert self.after.action is not None
        return StateAction(self.before.room, self.after.action)

    @property
    def action(self) -> str:
        """The action."""
        return self.state_action.action

    @property
    def room(self) -> str:
        """The room in which it is done."""
        return self.before.room

    @property
    def leads_to(self) -> str:
        """The room in which the player is afterwards."""
        return self.after.room

    @property
    def worth(self) -> float:
        """Its merit without points."""
        return self.settings.thing_merit if self.things else self.settings.possibility_merit

    @property
    def reliability(self) -> float:
        """The share of the attempts that succeeded, within [0, 1]."""
        return self.successes / max(1.0, self.attempts)

    def is_done(self, achieved: int) -> bool:
        """Return whether it is among the achievements with these bits."""
        return bool(achieved >> self.bit & 1)


class Outlook(NamedTuple):
    """What an achievement may bring, by what was achieved before.

    Args:
        bit: its number among the achievements of a visit.
        room: the room in which it is done.
        first: its weight when no other of its kind was made.
        repeated: its weight when another of its kind was made.
        others: the bits of the others of its kind.
        spent_by: the bits of which one suffices for it to bring nothing more.
    """

    bit: int
    room: str
    first: float
    repeated: float
    others: int
    spent_by: int


@dataclass
class _Repeats:
    """How often achievements of a kind were tried after another of the kind, and how often that brought points."""

    tried: int = 0
    paid: int = 0


@dataclass
class Achievements:
    """All achievements in the order in which they were found, and what experience says about similar actions.

    Args:
        found: the achievements.
        proven: bits of achievements that the best state has: they can be made together.
        settings: the merits of achievements, and the weight of experience.
    """

    found: list[Achievement] = field(default_factory=list)
    proven: int = 0
    settings: GoExploreSettings = DEFAULT_SETTINGS
    _by_state_action: dict[StateAction, Achievement] = field(default_factory=dict)
    _bits: dict[Hashable, int] = field(default_factory=dict)
    _worths: dict[int, float] = field(default_factory=dict)
    _merits: dict[int, float] = field(default_factory=dict)  # of sets of achievements, without points
    _of_kind: defaultdict[AchievementKind, int] = field(default_factory=lambda: defaultdict(int))  # bits
    _repeats: defaultdict[AchievementKind, _Repeats] = field(default_factory=lambda: defaultdict(_Repeats))
    _held: set[str] = field(default_factory=set)
    _texts: set[str] = field(default_factory=set)
    _offered: set[str] = field(default_factory=set)
    _uses: Counter[str] = field(default_factory=Counter)  # by form
    _trials: Counter[str] = field(default_factory=Counter)  # by form
    _in_vain: Counter[str] = field(default_factory=Counter)  # by action

    def __iter__(self) -> Iterator[Achievement]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def appraise(self, visit: StateVisit, graph: StateGraph) -> None:
        """Decide whether an action was of use, before the graph records where it led.

        An achievement is new when the state is new and either points were gained, or a thing was taken that was never
        held before without losing another, or actions became possible that were never offered in this room.

        Args:
            visit: where the action led; its ``achieved``, ``clutter``, ``is_clutter`` and ``is_news`` are set.
            graph: has located the visit and not yet recorded it.
        """
        before, action = visit.before, visit.action
        visit.is_news = visit.text not in self._texts
        self._texts.add(visit.text)
        if before is None or action is None:
            self._offered.update(visit.actions)
            return
        gain = visit.score - before.score
        moved = visit.room != before.room
        taken, lost = visit.carried - before.carried, before.carried - visit.carried
        achievement = self._by_state_action.get(StateAction(before.room, action))
        if achievement is not None:
            is_useful = self._is_repeated(achievement, before, visit, gain, taken)
        else:
            first = bool(taken - self._held) and not lost
            opens_up = not lost and not moved and self._opens_up(visit, graph)
            is_useful = self._is_new(visit, graph, gain, is_of_use=not moved and (first or opens_up))
            kind = AchievementKind(f"enter {visit.room}" if moved else form(action), gain) if gain > 0 else None
            self._count_repeat(kind, before.achieved, gain)
            if is_useful:
                achievement = self._add(before, visit, gain, taken, opens_up, kind)
        self._held |= visit.carried | before.carried
        self._offered.update(visit.actions)
        self._learn(action, is_useful=is_useful or (visit.room not in graph.rooms and not visit.ended))
        if achievement is not None:
            visit.achieved |= 1 << achievement.bit
        elif not moved:
            visit.clutter += 1
            visit.is_clutter = visit.state != before.state
        if not is_useful and (lost or gain < 0):
            visit.clutter += self.settings.loss_clutter

    def _is_new(self, visit: StateVisit, graph: StateGraph, gain: float, *, is_of_use: bool) -> bool:
        assert visit.action is not None
        if visit.ended:
            return gain > 0
        if gain <= 0 and _is_losing(visit.action):
            return False
        return visit.state not in graph.states and (gain > 0 or (gain == 0 and is_of_use))

    def _is_repeated(
        self, achievement: Achievement, before: StateVisit, visit: StateVisit, gain: float, taken: frozenset[str]
    ) -> bool:
        """Count a repeated attempt, and return whether it succeeded."""
        self._count_repeat(achievement.kind, before.achieved, gain, beside=achievement.bit)
        if achievement.gain > 0:
            succeeded = gain > 0
        else:
            changed = bool(taken & achievement.things) or (achievement.opens_up and visit.state != before.state)
            succeeded = gain == 0 and changed and not visit.ended
        achievement.attempts += 1
        achievement.successes += succeeded
        if succeeded:
            achievement.gain = max(achievement.gain, gain)
        return succeeded

    def _count_repeat(
        self, kind: AchievementKind | None, achieved: int, gain: float, beside: int | None = None
    ) -> None:
        """Count whether an achievement of a kind brought points when another of the kind was made before."""
        if kind is not None and self._has_kind(kind, achieved, beside):
            self._repeats[kind].tried += 1
            self._repeats[kind].paid += gain > 0

    def _add(
        self,
        before: StateVisit,
        after: StateVisit,
        gain: float,
        things: frozenset[str],
        opens_up: bool,
        kind: AchievementKind | None,
    ) -> Achievement:
        assert after.action is not None
        moved = after.room != before.room
        event: Hashable = StateAction(before.room, after.action)
        if gain > 0 and moved:
            event = ("enter", after.room, gain)
        elif gain > 0 and "all" not in after.action.split():
            event = (after.action, gain)
        bit = self._bits.setdefault(event, len(self.found))
        preparations = () if moved else tuple(_preparations(before, self.settings.max_preparations))
        achievement = Achievement(
            bit, before, after, gain, things, opens_up, kind, preparations, settings=self.settings
        )
        self.found.append(achievement)
        self._by_state_action[achievement.state_action] = achievement
        self._worths[bit] = max(achievement.worth, self._worths.get(bit, 0.0))
        self._merits.clear()
        if kind is not None:
            self._of_kind[kind] |= 1 << bit
        return achievement

    def _opens_up(self, visit: StateVisit, graph: StateGraph) -> bool:
        """Return whether promising actions are offered that this room never had.

        Args:
            visit: where an action led.
            graph: knows what the room offered before.

        Returns:
            Actions with a thing that was just put somewhere or used up do not count.
        """
        assert visit.action is not None
        if visit.ended or visit.room not in graph.rooms or visit.state in graph.states:
            return False
        is_doubtful = promise(visit.action) < USEFUL
        handled = things_of(visit.action) if is_doubtful else frozenset()
        return any(
            promise(action) >= USEFUL
            and not (handled and handled & set(action.split()))
            and not (is_doubtful and action in self._offered)
            for action in visit.actions
            if action not in graph.offered[visit.room]
        )

    def _learn(self, action: str, *, is_useful: bool) -> None:
        key = experience_key(action)
        self._trials[key] += 1
        self._uses[key] += is_useful
        if not is_useful:
            self._in_vain[action] += 1

    def relocate(self) -> None:
        """Index the achievements anew after rooms were renamed."""
        self._by_state_action = {achievement.state_action: achievement for achievement in self.found}

    # -- experience ---------------------------------------------------------------------------------------------------

    def usefulness(self, action: str) -> float:
        """Return how often actions of this form were of use, as a multiple of what is expected.

        Args:
            action: a command.

        Returns:
            Above 0, at most :attr:`GoExploreSettings.max_usefulness`; 1 for a form that was never tried (a mean with
            pseudo-counts).
        """
        key = experience_key(action)
        expected, before = self.settings.expected_usefulness, self.settings.expected_trials
        share = (self._uses[key] + before * expected) / (self._trials[key] + before)
        return min(share / expected, self.settings.max_usefulness)

    def in_vain(self, action: str) -> int:
        """Return how often this very action was of no use, in any room."""
        return self._in_vain[action]

    def weight(self, achievement: Achievement, unit: float, achieved: int = 0) -> float:
        """Return the expected merit of making an achievement.

        Args:
            achievement: the achievement to make.
            unit: points that an achievement brings on average (:meth:`unit`).
            achieved: bits of what was achieved before.

        Returns:
            The merit, 0 or more: an achievement of average points that never fails has
            :attr:`GoExploreSettings.points` and a little more.
        """
        if achievement.gain <= 0:
            return achievement.worth * self._reliability(achievement)
        gain = achievement.gain
        kind = achievement.kind
        if kind is not None and achieved and self._has_kind(kind, achieved, beside=achievement.bit):
            gain *= self._repeated_share(kind)
        merit = self.settings.points * gain / unit + self.settings.merit_beside_points
        return merit * self._reliability(achievement)

    def _reliability(self, achievement: Achievement) -> float:
        """Return the reliability of an achievement, higher for those that the best state has."""
        doubt = self.settings.doubt_of_proven if achievement.is_done(self.proven) else 1
        return 1 - (1 - achievement.reliability) * doubt

    def _repeated_share(self, kind: AchievementKind) -> float:
        """Return the share of a kind that pays after another of the kind did (with pseudo-counts)."""
        repeats = self._repeats[kind]
        if kind.what.split()[0] in _PAY_REPEATEDLY:
            return (repeats.paid + 3) / (repeats.tried + 3)
        return (repeats.paid + 1) / (repeats.tried + 2)

    def merit(self, visit: StateVisit, unit: float) -> float:
        """Return the merit of what a visit has achieved.

        Args:
            visit: the visit.
            unit: points that an achievement brings on average (:meth:`unit`).

        Returns:
            The merit, on the scale of :meth:`weight`.
        """
        achieved = visit.achieved
        merit = self._merits.get(achieved)
        if merit is None:
            merit = sum(worth for bit, worth in self._worths.items() if achieved >> bit & 1)
            self._merits[achieved] = merit
        return self.settings.points * visit.score / unit + merit

    def unit(self) -> float:
        """Return the average points of the achievements that bring points; 1 when none does."""
        gains = [achievement.gain for achievement in self.found if achievement.gain > 0]
        return sum(gains) / len(gains) if gains else 1.0

    def experience(self) -> Hashable:
        """Return a value that changes whenever the merit, weight or what is left of any achievement may change."""
        return (
            self.proven,
            tuple((one.gain, one.attempts, one.successes) for one in self.found),
            tuple((repeats.tried, repeats.paid) for repeats in self._repeats.values()),
        )

    def left(
        self, achieved: int, without: frozenset[StateAction] | set[StateAction] = frozenset()
    ) -> list[Achievement]:
        """Return the achievements that are left to make.

        Args:
            achieved: bits of those that were made.
            without: actions in rooms that are left out.

        Returns:
            Those that were not made and may be of use, in the order in which they were found.
        """
        return [
            achievement
            for achievement in self.found
            if not achieved >> achievement.bit & 1
            and not (without and achievement.state_action in without)
            and not self._is_spent(achievement, achieved)
        ]

    def outlook(self, achievement: Achievement, unit: float) -> Outlook:
        """Return all that decides what an achievement may bring at a visit, whatever was achieved there.

        Args:
            achievement: the achievement to make.
            unit: points that an achievement brings on average (:meth:`unit`).

        Returns:
            Its weights, and the bits that decide which holds; see :meth:`weight` and :meth:`left`.
        """
        kind = achievement.kind
        others = 0 if kind is None else self._of_kind[kind] & ~(1 << achievement.bit)
        first = self.weight(achievement, unit)
        repeated = self.weight(achievement, unit, others) if others else first
        return Outlook(achievement.bit, achievement.room, first, repeated, others, self._spent_by(achievement))

    def _is_spent(self, achievement: Achievement, achieved: int) -> bool:
        """Return whether one of its kind was made, and a second one never brought points."""
        return bool(achieved & self._spent_by(achievement))

    def _spent_by(self, achievement: Achievement) -> int:
        """Return the bits of which one suffices for an achievement to bring nothing more."""
        kind = achievement.kind
        if kind is None:
            return 0
        repeats = self._repeats[kind]
        return self._of_kind[kind] if repeats.tried > 0 and not repeats.paid else 0

    def _has_kind(self, kind: AchievementKind, achieved: int, beside: int | None = None) -> bool:
        others = self._of_kind[kind] if beside is None else self._of_kind[kind] & ~(1 << beside)
        return bool(achieved & others)


def experience_key(action: str) -> str:
    """Return the name under which experience with an action counts: its form, or one name for all moves."""
    return "go" if direction_of(action) else form(action)


def _is_losing(action: str) -> bool:
    words = form(action)
    return action.split()[0] in LOSING or words.endswith(" down") or words.startswith("put down")


def _preparations(before: StateVisit, most: int) -> Iterable[str]:
    """Return the last actions in the same room that changed the world and were of no use by themselves."""
    found: list[str] = []
    for visit in before.path_back():
        if len(found) == most or not visit.is_clutter or visit.before is None or visit.action is None:
            break
        if visit.before.room != before.room:
            break
        found.append(visit.action)
    return reversed(found)

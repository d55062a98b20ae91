"""Feats: what once brought points, a thing, or a new possibility, and may be done again on another branch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from worldthread.agents.go_explore.commands import LOSING, TAKING, USEFUL, form, promise, things_of
from worldthread.agents.go_explore.state_graph import StateAction, StateGraph, StateVisit
from worldthread.extract.game.commands import direction_of

POINTS: Final = 3.0
"""The worth of a feat that brings as many points as one does on average."""
_THING: Final = 0.25
_POSSIBILITY: Final = 0.22
_BESIDE_POINTS: Final = 0.1
_DOUBT_OF_PROVEN: Final = 0.2
_MOST_BEFORE: Final = 3
"""Actions without a use of their own that may have made a feat possible."""
_REPEATED_THEFT: Final = frozenset({*TAKING, "put"})
"""Verbs that bring points for one thing after the other."""


class AchievementKind(NamedTuple):
    """Feats of one kind may bring points once only: entering that room, or that form of action, for as many points."""

    what: str
    gain: float


@dataclass(eq=False)
class Achievement:
    """An action in a room that once was of use.

    Args:
        bit: its number among the achievements of a visit; feats that are the same event share one.
        before: where it was done first.
        after: what that led to.
        gain: points that it brought, the most of all times.
        things: what it brought into the player's hands.
        opens_up: whether it made new actions possible.
        kind: of those that bring points.
        preparations: actions of no use by themselves that preceded it.
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

    @property
    def trial(self) -> StateAction:
        """Where and what."""
        assert self.after.action is not None
        return StateAction(self.before.room, self.after.action)

    @property
    def action(self) -> str:
        """What is done."""
        return self.trial.action

    @property
    def room(self) -> str:
        """Where."""
        return self.before.room

    @property
    def leads_to(self) -> str:
        """Where one is then."""
        return self.after.room

    @property
    def worth(self) -> float:
        """Without points."""
        return _THING if self.things else _POSSIBILITY

    @property
    def reliability(self) -> float:
        """Share of the attempts that succeeded."""
        return self.successes / max(1.0, self.attempts)

    def is_done(self, achieved: int) -> bool:
        """Whether these achievements have it."""
        return bool(achieved >> self.bit & 1)


@dataclass
class _Repeats:
    """Of feats of one kind, done when another of it was done before."""

    tried: int = 0
    paid: int = 0


@dataclass
class Achievements:
    """All feats, in the order in which they were found, and what experience tells of actions like those."""

    found: list[Achievement] = field(default_factory=list)
    proven: int = 0
    """Bits of feats that were done together."""
    _by_trial: dict[StateAction, Achievement] = field(default_factory=dict)
    _bits: dict[Hashable, int] = field(default_factory=dict)
    _worths: dict[int, float] = field(default_factory=dict)
    _merits: dict[int, float] = field(default_factory=dict)  # of achievements, points apart
    _of_kind: defaultdict[AchievementKind, int] = field(default_factory=lambda: defaultdict(int))  # bits
    _repeats: defaultdict[AchievementKind, _Repeats] = field(default_factory=lambda: defaultdict(_Repeats))
    _held: set[str] = field(default_factory=set)
    _texts: set[str] = field(default_factory=set)
    _offered: set[str] = field(default_factory=set)
    _uses: Counter[str] = field(default_factory=Counter)  # by form
    _tries: Counter[str] = field(default_factory=Counter)
    _vain: Counter[str] = field(default_factory=Counter)  # by action

    def __iter__(self) -> Iterator[Achievement]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def appraise(self, visit: StateVisit, chart: StateGraph) -> None:
        """Tell whether an action was of use, before the chart records what it led to.

        A feat is new when the world is new, and points were gained, or a thing taken that was never held before
        without losing another, or actions became possible that were never offered in this room.
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
        feat = self._by_trial.get(StateAction(before.room, action))
        if feat is not None:
            is_useful = self._is_repeated(feat, before, visit, gain, taken)
        else:
            first = bool(taken - self._held) and not lost
            opens_up = not lost and not moved and self._opens_up(visit, chart)
            is_useful = self._is_new(visit, chart, gain, is_of_use=not moved and (first or opens_up))
            kind = AchievementKind(f"enter {visit.room}" if moved else form(action), gain) if gain > 0 else None
            self._count_repeat(kind, before.achieved, gain)
            if is_useful:
                feat = self._add(before, visit, gain, taken, opens_up, kind)
        self._held |= visit.carried | before.carried
        self._offered.update(visit.actions)
        self._learn(action, is_useful=is_useful or (visit.room not in chart.rooms and not visit.ended))
        if feat is not None:
            visit.achieved |= 1 << feat.bit
        elif not moved:
            visit.clutter += 1
            visit.is_clutter = visit.state != before.state
        if not is_useful and (lost or gain < 0):
            visit.clutter += 2

    def _is_new(self, visit: StateVisit, chart: StateGraph, gain: float, *, is_of_use: bool) -> bool:
        assert visit.action is not None
        if visit.ended:
            return gain > 0
        if gain <= 0 and _is_losing(visit.action):
            return False
        return visit.state not in chart.states and (gain > 0 or (gain == 0 and is_of_use))

    def _is_repeated(
        self, feat: Achievement, before: StateVisit, visit: StateVisit, gain: float, taken: frozenset[str]
    ) -> bool:
        """Whether a known feat succeeded again."""
        self._count_repeat(feat.kind, before.achieved, gain, beside=feat.bit)
        if feat.gain > 0:
            succeeded = gain > 0
        else:
            anew = bool(taken & feat.things) or (feat.opens_up and visit.state != before.state)
            succeeded = gain == 0 and anew and not visit.ended
        feat.attempts += 1
        feat.successes += succeeded
        if succeeded:
            feat.gain = max(feat.gain, gain)
        return succeeded

    def _count_repeat(
        self, kind: AchievementKind | None, achieved: int, gain: float, beside: int | None = None
    ) -> None:
        """Take note of what came of a feat of a kind when another of it was done before."""
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
        preparations = () if moved else tuple(_preparations(before))
        feat = Achievement(bit, before, after, gain, things, opens_up, kind, preparations)
        self.found.append(feat)
        self._by_trial[feat.trial] = feat
        self._worths[bit] = max(feat.worth, self._worths.get(bit, 0.0))
        self._merits.clear()
        if kind is not None:
            self._of_kind[kind] |= 1 << bit
        return feat

    def _opens_up(self, visit: StateVisit, chart: StateGraph) -> bool:
        """Whether promising actions are offered that this room never had.

        Those with a thing that was just put somewhere or used up do not count.
        """
        assert visit.action is not None
        if visit.ended or visit.room not in chart.rooms or visit.state in chart.states:
            return False
        is_doubtful = promise(visit.action) < USEFUL
        handled = things_of(visit.action) if is_doubtful else frozenset()
        return any(
            promise(action) >= USEFUL
            and not (handled and handled & set(action.split()))
            and not (is_doubtful and action in self._offered)
            for action in visit.actions
            if action not in chart.offered[visit.room]
        )

    def _learn(self, action: str, *, is_useful: bool) -> None:
        key = _experience(action)
        self._tries[key] += 1
        self._uses[key] += is_useful
        if not is_useful:
            self._vain[action] += 1

    def relocate(self) -> None:
        """Take note that rooms have got other names."""
        self._by_trial = {feat.trial: feat for feat in self.found}

    # -- what experience tells ----------------------------------------------------------------------------------------

    def usefulness(self, action: str) -> float:
        """How often actions of this form were of use, as a multiple of what is expected of one; at most 3.

        As if three had been tried before, at the rate that is expected.
        """
        key = _experience(action)
        expected, before = 0.3, 3.0
        return min((self._uses[key] + before * expected) / (self._tries[key] + before) / expected, 3.0)

    def in_vain(self, action: str) -> int:
        """How often this very action was of no use, in any room."""
        return self._vain[action]

    def weight(self, feat: Achievement, unit: float, achieved: int = 0) -> float:
        """What doing a feat should be worth.

        Args:
            feat: it.
            unit: points that a feat brings on average.
            achieved: what was done before.
        """
        if feat.gain <= 0:
            return feat.worth * self._reliability(feat)
        gain = feat.gain
        if feat.kind is not None and achieved and self._has_kind(feat.kind, achieved, beside=feat.bit):
            gain *= self._repayment(feat.kind)
        return (POINTS * gain / unit + _BESIDE_POINTS) * self._reliability(feat)

    def _reliability(self, feat: Achievement) -> float:
        """Of feats that went well together once, more than each has by itself."""
        return 1 - (1 - feat.reliability) * (_DOUBT_OF_PROVEN if feat.is_done(self.proven) else 1)

    def _repayment(self, kind: AchievementKind) -> float:
        """The share of feats of a kind that pay when another one did before (with pseudo-counts)."""
        repeats = self._repeats[kind]
        if kind.what.split()[0] in _REPEATED_THEFT:
            return (repeats.paid + 3) / (repeats.tried + 3)
        return (repeats.paid + 1) / (repeats.tried + 2)

    def merit(self, visit: StateVisit, unit: float) -> float:
        """What a visit has achieved, in the unit of :meth:`weight`."""
        achieved = visit.achieved
        merit = self._merits.get(achieved)
        if merit is None:
            merit = sum(worth for bit, worth in self._worths.items() if achieved >> bit & 1)
            self._merits[achieved] = merit
        return POINTS * visit.score / unit + merit

    def unit(self) -> float:
        """Points that a feat brings on average, of those that bring any; 1 when none does."""
        gains = [feat.gain for feat in self.found if feat.gain > 0]
        return sum(gains) / len(gains) if gains else 1.0

    def left(
        self, achieved: int, without: frozenset[StateAction] | set[StateAction] = frozenset()
    ) -> list[Achievement]:
        """Feats that were not done, and may be of use."""
        return [
            feat
            for feat in self.found
            if not feat.is_done(achieved) and feat.trial not in without and not self._is_spent(feat, achieved)
        ]

    def _is_spent(self, feat: Achievement, achieved: int) -> bool:
        """Whether feats of its kind never paid again, and one was done."""
        if feat.kind is None:
            return False
        repeats = self._repeats[feat.kind]
        return repeats.tried > 0 and not repeats.paid and self._has_kind(feat.kind, achieved)

    def _has_kind(self, kind: AchievementKind, achieved: int, beside: int | None = None) -> bool:
        others = self._of_kind[kind] if beside is None else self._of_kind[kind] & ~(1 << beside)
        return bool(achieved & others)


def _experience(action: str) -> str:
    """Under which name experience with an action counts: its form, or one for all moves."""
    return "go" if direction_of(action) else form(action)


def _is_losing(action: str) -> bool:
    told = form(action)
    return action.split()[0] in LOSING or told.endswith(" down") or told.startswith("put down")


def _preparations(before: StateVisit) -> Iterable[str]:
    """The last actions in the same room that changed the world and were of no use by themselves."""
    found: list[str] = []
    for visit in before.way():
        if len(found) == _MOST_BEFORE or not visit.is_clutter or visit.before is None or visit.action is None:
            break
        if visit.before.room != before.room:
            break
        found.append(visit.action)
    return reversed(found)

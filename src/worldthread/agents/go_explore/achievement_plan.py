"""Expeditions: doing on one branch what was achieved on several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from worldthread.agents.go_explore.achievements import Achievement, Achievements
from worldthread.agents.go_explore.commands import is_putting_down, things_of
from worldthread.agents.go_explore.state_graph import StateAction, StateGraph, StateVisit, best_of_places

MOVE: Final = 0.015
"""What a move costs, in the unit of :meth:`Achievements.weight`."""
_PRICE_OF_LOSS: Final = 5.0
"""Moves that one would go to keep a feat of weight 1 within reach."""
_LEAST_GAIN: Final = 0.1
_LOOKED_INTO: Final = 10
"""Visits from which an expedition is thought through."""
_MOST_LOST: Final = 8
"""Times that a way led elsewhere, at most."""
_MOST_KNOWN: Final = 300
"""Moves through known states, at most, before a way is given up."""
_MOST_FAILED: Final = 30
_MOST_PUT_DOWN: Final = 4
_FAILED_ATTEMPT: Final = 0.25
"""What counts as an attempt when a feat's action was not offered."""
_RECENT: Final = 6
_NEEDED: Final = 0.9
_COMMON: Final = 0.3
"""Worth of keeping a thing: one that was in an action which brought points, and any other."""


class AchievementProposal(NamedTuple):
    """An expedition that pays.

    Args:
        start: from where to set out.
        hope: what it should bring beyond ``base``, in the unit of :meth:`Achievements.weight`.
        moves: in how many moves.
        base: the best merit so far.
    """

    start: StateVisit
    hope: float
    moves: int
    base: float


class AchievementPlanner:
    """Finds the branch from which the feats of others are worth doing.

    Args:
        chart: of all branches.
        feats: of all branches.
    """

    def __init__(self, chart: StateGraph, feats: Achievements) -> None:
        self.chart = chart
        self.feats = feats
        self._exhausted: dict[tuple[str, int], int] = {}  # feats that were known when an expedition set out here

    def best_merit(self) -> float:
        """Of all visits from which one can go on."""
        unit = self.feats.unit()
        best = self._best(unit)
        return self.feats.merit(best, unit) if best is not None else 0.0

    def _best(self, unit: float) -> StateVisit | None:
        return max(self.chart.states.values(), key=lambda visit: self.feats.merit(visit, unit), default=None)

    def plan(self) -> AchievementProposal | None:
        """The best expedition; ``None`` when none brings more than what is achieved already.

        Of visits in one room with the same achievements only the best is looked at, and of these the ones that could
        bring the most if everything went well.
        """
        unit = self.feats.unit()
        foremost = self._best(unit)
        if foremost is None:
            return None
        base = self.feats.merit(foremost, unit)
        self.feats.proven = foremost.achieved
        known = len(self.feats)
        places = best_of_places(
            visit for visit in self.chart.states.values() if self._exhausted.get(visit.place) != known
        )
        hopes = sorted(((self._bound(visit, unit), visit.moment, visit) for visit in places.values()), reverse=True)
        best: AchievementProposal | None = None
        for _, _, visit in hopes[:_LOOKED_INTO]:
            merit, moves = self._simulate(visit, unit)
            hope = merit - base - MOVE * moves
            if best is None or hope > best.hope:
                best = AchievementProposal(visit, hope, moves, base)
        return best if best is not None and best.hope > _LEAST_GAIN and best.moves > 0 else None

    def set_out(self, plan: AchievementProposal) -> None:
        """Do not set out from there again until more is known."""
        self._exhausted[plan.start.place] = len(self.feats)

    def next_feat(
        self, room: str, left: Iterable[Achievement], unit: float, blocked: frozenset[StateAction] = frozenset()
    ) -> Achievement | None:
        """The one to do next: near, and leaving few of the others out of reach."""
        routes = self.chart.routes(room, blocked)
        in_reach = [(feat, self.feats.weight(feat, unit)) for feat in left if feat.room in routes]
        weights: defaultdict[int, list[tuple[str, float]]] = defaultdict(list)
        for feat, weight in in_reach:
            weights[feat.bit].append((feat.room, weight))
        best, lowest = None, float("inf")
        lost_after: dict[str, float] = {}
        for feat, _ in in_reach:
            after = self.chart.routes(feat.leads_to)
            if feat.leads_to not in lost_after:
                lost_after[feat.leads_to] = sum(weight for one, weight in in_reach if one.room not in after)
            done = sum(weight for where, weight in weights[feat.bit] if where not in after)
            cost = routes[feat.room].moves + _PRICE_OF_LOSS * (lost_after[feat.leads_to] - done)
            if cost < lowest:
                best, lowest = feat, cost
        return best

    def _bound(self, visit: StateVisit, unit: float) -> float:
        """Merit if every feat that can be reached from there succeeded."""
        routes = self.chart.routes(visit.room)
        best: dict[int, float] = {}
        for feat in self.feats.left(visit.achieved):
            if feat.room in routes:
                best[feat.bit] = max(best.get(feat.bit, 0.0), self.feats.weight(feat, unit, visit.achieved))
        return self.feats.merit(visit, unit) + sum(best.values())

    def _simulate(self, visit: StateVisit, unit: float) -> tuple[float, int]:
        """Merit and moves of an expedition, up to where more moves bring nothing more."""
        left = self.feats.left(visit.achieved)
        room, achieved, moves = visit.room, visit.achieved, 0
        merit = self.feats.merit(visit, unit)
        best = merit, 0
        while left:
            feat = self.next_feat(room, left, unit)
            if feat is None:
                break
            moves += self.chart.routes(room)[feat.room].moves + 1
            merit += self.feats.weight(feat, unit, achieved)
            achieved |= 1 << feat.bit
            room = feat.leads_to
            left = [other for other in left if other.bit != feat.bit]
            if merit - MOVE * moves > best[0] - MOVE * best[1]:
                best = merit, moves
        return best


class PlannedAction(NamedTuple):
    """What an expedition does next: an action at a visit."""

    visit: StateVisit
    action: str
    reason: str


@dataclass
class AchievementPlan:
    """One that is under way: :meth:`next_step` until it has none.

    Args:
        planner: knows what there is to do.
        hope: what it should bring.
        base: the best merit before it.
    """

    planner: AchievementPlanner
    hope: float
    base: float
    _failed: set[StateAction] = field(default_factory=set, init=False)
    _blocked: set[StateAction] = field(default_factory=set, init=False)
    _expected: tuple[StateAction, str] | None = field(default=None, init=False)
    _lost: int = field(default=0, init=False)
    _known: int = field(default=0, init=False)
    _put_down: int = field(default=0, init=False)

    def next_step(self, here: StateVisit) -> PlannedAction | None:
        """Where to act and how: through known states it goes without a move. ``None``: it is over."""
        while not here.ended and self._is_on_the_way(here):
            step = self._next_here(here)
            if step is None:
                return None
            led = self.planner.chart.tried[here.state].get(step.action)
            if led is None:
                return step
            self._known += 1
            if led is here or self._known > _MOST_KNOWN:
                self._blocked.add(StateAction(here.room, step.action))
                self._known = 0
                self._lost += 1
            else:
                here = led
        return None

    def _is_on_the_way(self, here: StateVisit) -> bool:
        """Whether it goes on after the last move, which may have led elsewhere."""
        if self._expected is not None:
            way, room = self._expected
            if here.room != room:
                self._lost += 1
                if here.room == way.room:
                    self._blocked.add(way)
        self._expected = None
        return self._lost <= _MOST_LOST

    def _next_here(self, here: StateVisit) -> PlannedAction | None:
        planner, chart = self.planner, self.planner.chart
        tried = chart.tried[here.state]
        unit = planner.feats.unit()
        while True:
            blocked = frozenset(self._blocked)
            feat = planner.next_feat(here.room, planner.feats.left(here.achieved, self._failed), unit, blocked)
            if feat is None:
                return None
            if feat.room == here.room:
                action = self._towards(feat, here)
                if action is not None:
                    return PlannedAction(
                        here, action, f"to do again what once was of use: {feat.action} in {feat.room}"
                    )
                self._failed.add(feat.trial)
                feat.attempts += _FAILED_ATTEMPT
                continue
            move = chart.routes(here.room, blocked)[feat.room].action
            assert move is not None
            way = StateAction(here.room, move)
            if move not in here.actions or (move in tried and tried[move].ended):
                self._blocked.add(way)
                continue
            there = chart.leads(here.room, move)
            if there is not None:
                self._expected = way, there
            return PlannedAction(here, move, f"on the way to {feat.room}, to do again: {feat.action}")

    def _towards(self, feat: Achievement, here: StateVisit) -> str | None:
        """What to do in the room of a feat: the feat itself, or what it needs; ``None`` when it cannot be done."""
        tried = self.planner.chart.tried[here.state]
        recent = [visit.action for _, visit in zip(range(_RECENT), here.way(), strict=False)]
        action = next((one for one in feat.preparations if one not in recent and one in here.actions), feat.action)
        failed_here = (
            action == feat.action
            and action in tried
            and (tried[action].ended or not feat.is_done(tried[action].achieved))
        )
        if action in here.actions and not failed_here:
            self._blocked = {way for way in self._blocked if way.room != here.room}
            if len(self._failed) < _MOST_FAILED:
                self._failed.clear()
            return action
        if feat.things and action.startswith("take ") and self._put_down < _MOST_PUT_DOWN:
            spare = self._spare(here, feat)
            self._put_down += spare is not None
            return spare
        return None

    def _spare(self, here: StateVisit, feat: Achievement) -> str | None:
        """Hands may be full: a command that puts down a thing that seems of less use than what is to be taken."""
        needed = {word for one in self.planner.feats if one.gain > 0 for word in things_of(one.action)}

        def worth(words: Iterable[str]) -> float:
            return _NEEDED if needed & set(words) else _COMMON

        wanted = max(worth(thing.split()) for thing in feat.things)
        spare = [action for action in here.actions if is_putting_down(action) and worth(things_of(action)) < wanted]
        return min(spare, key=lambda action: worth(things_of(action)), default=None)

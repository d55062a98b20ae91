"""Plans that make on one branch the achievements of several."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from worldthread_lab.agents.go_explore.achievements import Achievement, Achievements, Outlook
from worldthread_lab.agents.go_explore.commands import is_putting_down, things_of
from worldthread_lab.agents.go_explore.settings import DEFAULT_SETTINGS, GoExploreSettings
from worldthread_lab.agents.go_explore.state_graph import StateAction, StateGraph, StateVisit


class AchievementProposal(NamedTuple):
    """A plan that should gain merit.

    Args:
        start: the visit from which to begin.
        hope: the merit that it should gain beyond ``base`` (:meth:`Achievements.weight`).
        moves: the number of moves.
        base: the best merit so far.
    """

    start: StateVisit
    hope: float
    moves: int
    base: float


class AchievementPlanner:
    """Finds the branch from which the achievements of other branches are worth making.

    What it works out is kept until exits or the experience with achievements change, which is seldom.

    Args:
        graph: all branches.
        achievements: those of all branches.
        settings: the costs of moves and losses, and limits.
    """

    def __init__(
        self, graph: StateGraph, achievements: Achievements, settings: GoExploreSettings = DEFAULT_SETTINGS
    ) -> None:
        self.graph = graph
        self.achievements = achievements
        self.settings = settings
        self._exhausted: dict[tuple[str, int], int] = {}  # achievements that were known when a plan began there
        self._known: tuple[StateGraph, int, Hashable] | None = None  # graph, exits and experience of what is kept
        self._unit = 1.0  # see Achievements.unit
        self._outlooks: list[Outlook] = []
        self._weights: dict[Achievement, float] = {}  # see :meth:`Achievements.weight`, with nothing achieved
        self._gains: dict[tuple[int, frozenset[str]], float] = {}  # see :meth:`_gain_in_reach`
        self._bounds: dict[tuple[str, int], tuple[float, int, StateVisit]] = {}  # see :meth:`_best_bounds`
        self._simulated: dict[tuple[str, int, float], tuple[float, int]] = {}  # see :meth:`_simulate`
        self._chosen: dict[tuple[str, tuple[Achievement, ...]], Achievement | None] = {}  # see :meth:`_choose`

    def best_merit(self) -> float:
        """Return the best merit of all visits from which the game goes on."""
        unit = self.achievements.unit()
        best = self._best(unit)
        return self.achievements.merit(best, unit) if best is not None else 0.0

    def _best(self, unit: float) -> StateVisit | None:
        return max(self.graph.first_visits(), key=lambda visit: self.achievements.merit(visit, unit), default=None)

    def plan(self) -> AchievementProposal | None:
        """Find the plan that should gain the most merit.

        Of visits in one room with the same achievements only the best is considered, and of these the ones that could
        gain the most if everything succeeded.

        Returns:
            The best plan; ``None`` when none should gain more than :attr:`GoExploreSettings.min_plan_gain`.
        """
        unit = self.achievements.unit()
        foremost = self._best(unit)
        if foremost is None:
            return None
        base = self.achievements.merit(foremost, unit)
        self.achievements.proven = foremost.achieved
        self._forget_what_changed()
        best: AchievementProposal | None = None
        for _, _, visit in self._best_bounds():
            merit, moves = self._simulate(visit)
            hope = merit - base - self.settings.move_cost * moves
            if best is None or hope > best.hope:
                best = AchievementProposal(visit, hope, moves, base)
        return best if best is not None and best.hope > self.settings.min_plan_gain and best.moves > 0 else None

    def begin(self, plan: AchievementProposal) -> None:
        """Rule out further plans from the same place until another achievement is known."""
        self._exhausted[plan.start.place] = len(self.achievements)

    def next_achievement(
        self, room: str, left: Sequence[Achievement], blocked: frozenset[StateAction] = frozenset()
    ) -> Achievement | None:
        """Choose the achievement to make next: near, and leaving few of the others out of reach.

        Args:
            room: where the player is.
            left: the achievements to choose from.
            blocked: exits that must not be taken.

        Returns:
            The one of the lowest cost; ``None`` when none can be reached.
        """
        self._forget_what_changed()
        return self._choose(room, left, blocked)

    def _forget_what_changed(self) -> None:
        """Forget what is kept if exits or experience have changed since, and take the weights of now."""
        known = self.graph, self.graph.exits_version, self.achievements.experience()
        if known != self._known:
            self._known = known
            self._unit = self.achievements.unit()
            self._outlooks = [self.achievements.outlook(one, self._unit) for one in self.achievements]
            self._weights = {one: outlook.first for one, outlook in zip(self.achievements, self._outlooks, strict=True)}
            for kept in (self._gains, self._bounds, self._simulated, self._chosen):
                kept.clear()

    def _choose(self, room: str, left: Sequence[Achievement], blocked: frozenset[StateAction]) -> Achievement | None:
        routes = self.graph.routes(room, blocked)
        in_reach = [(one, one.room, self._weights[one]) for one in left if one.room in routes]
        weights: defaultdict[int, list[tuple[str, float]]] = defaultdict(list)
        for achievement, where, weight in in_reach:
            weights[achievement.bit].append((where, weight))
        best, lowest = None, float("inf")
        lost_after: dict[frozenset[str], float] = {}
        for achievement, where, _ in in_reach:
            after = self.graph.reachable(achievement.leads_to)
            if after not in lost_after:
                lost_after[after] = sum(weight for _, other, weight in in_reach if other not in after)
            lost = lost_after[after]
            if lost:
                lost -= sum(weight for other, weight in weights[achievement.bit] if other not in after)
            cost = routes[where].moves + self.settings.loss_cost * lost
            if cost < lowest:
                best, lowest = achievement, cost
        return best

    def _best_bounds(self) -> list[tuple[float, int, StateVisit]]:
        """Return what could gain the most: the merit if every achievement in reach succeeded, and the place's visit."""
        places = self.graph.best_visits()
        self._bounds = {
            place: bound if bound is not None and bound[2] is visit else self._bound(visit)
            for place, visit in places.items()
            for bound in (self._bounds.get(place),)
        }
        known = len(self.achievements)
        open_places = (bound for place, bound in self._bounds.items() if self._exhausted.get(place) != known)
        return heapq.nlargest(self.settings.simulated_starts, open_places)

    def _bound(self, visit: StateVisit) -> tuple[float, int, StateVisit]:
        merit = self.achievements.merit(visit, self._unit)
        return merit + self._gain_in_reach(visit.room, visit.achieved), visit.moment, visit

    def _gain_in_reach(self, room: str, achieved: int) -> float:
        """Return the merit that would be gained if every achievement that can be reached from a room succeeded."""
        reachable = self.graph.reachable(room)
        gain = self._gains.get((achieved, reachable))
        if gain is None:
            best: dict[int, float] = {}
            for bit, where, first, repeated, others, spent_by in self._outlooks:
                if where in reachable and not (achieved >> bit & 1 or achieved & spent_by):
                    best[bit] = max(best.get(bit, 0.0), repeated if achieved & others else first)
            gain = self._gains[achieved, reachable] = sum(best.values())
        return gain

    def _simulate(self, visit: StateVisit) -> tuple[float, int]:
        """Return the merit and the moves of a plan, up to where more moves gain nothing more."""
        key = visit.room, visit.achieved, visit.score
        if key not in self._simulated:
            self._simulated[key] = self._find_end(visit)
        return self._simulated[key]

    def _find_end(self, visit: StateVisit) -> tuple[float, int]:
        left = tuple(self.achievements.left(visit.achieved))
        room, achieved, moves = visit.room, visit.achieved, 0
        merit = self.achievements.merit(visit, self._unit)
        best = merit, 0
        cost = self.settings.move_cost
        while left:
            key = room, left
            if key not in self._chosen:
                self._chosen[key] = self._choose(room, left, frozenset())
            achievement = self._chosen[key]
            if achievement is None:
                break
            moves += self.graph.routes(room)[achievement.room].moves + 1
            merit += self.achievements.weight(achievement, self._unit, achieved)
            achieved |= 1 << achievement.bit
            room = achievement.leads_to
            left = tuple(other for other in left if other.bit != achievement.bit)
            if merit - cost * moves > best[0] - cost * best[1]:
                best = merit, moves
        return best


class PlannedAction(NamedTuple):
    """What a plan does next: an action at a visit, and why."""

    visit: StateVisit
    action: str
    reason: str


@dataclass
class AchievementPlan:
    """A plan that is being carried out: call :meth:`next_step` until it returns ``None``.

    Args:
        planner: chooses the achievements.
        hope: the merit that the plan should gain.
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

    @property
    def settings(self) -> GoExploreSettings:
        """The limits of the plan."""
        return self.planner.settings

    def next_step(self, here: StateVisit) -> PlannedAction | None:
        """Choose the next action.

        Args:
            here: the visit to which the last action led.

        Returns:
            What to do, and at which visit: known states are passed without a move. ``None`` when the plan is over.
        """
        while not here.ended and self._is_on_route(here):
            step = self._next_here(here)
            if step is None:
                return None
            there = self.planner.graph.tried[here.state].get(step.action)
            if there is None:
                return step
            self._known += 1
            if there is here or self._known > self.settings.max_known_moves:
                self._blocked.add(StateAction(here.room, step.action))
                self._known = 0
                self._lost += 1
            else:
                here = there
        return None

    def _is_on_route(self, here: StateVisit) -> bool:
        """Return whether the plan goes on after the last move, which may have led elsewhere."""
        if self._expected is not None:
            move, room = self._expected
            if here.room != room:
                self._lost += 1
                if here.room == move.room:
                    self._blocked.add(move)
        self._expected = None
        return self._lost <= self.settings.max_lost

    def _next_here(self, here: StateVisit) -> PlannedAction | None:
        planner, graph = self.planner, self.planner.graph
        tried = graph.tried[here.state]
        while True:
            blocked = frozenset(self._blocked)
            left = planner.achievements.left(here.achieved, self._failed)
            achievement = planner.next_achievement(here.room, left, blocked)
            if achievement is None:
                return None
            if achievement.room == here.room:
                action = self._action_towards(achievement, here)
                if action is not None:
                    reason = f"to do again what once was of use: {achievement.action} in {achievement.room}"
                    return PlannedAction(here, action, reason)
                self._failed.add(achievement.state_action)
                achievement.attempts += self.settings.missing_action_attempt
                continue
            action = graph.routes(here.room, blocked)[achievement.room].action
            assert action is not None
            move = StateAction(here.room, action)
            if action not in here.actions or (action in tried and tried[action].ended):
                self._blocked.add(move)
                continue
            there = graph.destination(here.room, action)
            if there is not None:
                self._expected = move, there
            return PlannedAction(here, action, f"on the way to {achievement.room}, to do again: {achievement.action}")

    def _action_towards(self, achievement: Achievement, here: StateVisit) -> str | None:
        """Choose what to do in the room of an achievement.

        Args:
            achievement: the achievement to make.
            here: a visit in its room.

        Returns:
            Its action, or one that it needs first; ``None`` when it cannot be made.
        """
        tried = self.planner.graph.tried[here.state]
        recent = [visit.action for _, visit in zip(range(self.settings.recent_actions), here.path_back(), strict=False)]
        action = next(
            (one for one in achievement.preparations if one not in recent and one in here.actions), achievement.action
        )
        failed_here = (
            action == achievement.action
            and action in tried
            and (tried[action].ended or not achievement.is_done(tried[action].achieved))
        )
        if action in here.actions and not failed_here:
            self._blocked = {move for move in self._blocked if move.room != here.room}
            if len(self._failed) < self.settings.max_failed:
                self._failed.clear()
            return action
        if achievement.things and action.startswith("take ") and self._put_down < self.settings.max_put_down:
            spare = self._spare(here, achievement)
            self._put_down += spare is not None
            return spare
        return None

    def _spare(self, here: StateVisit, achievement: Achievement) -> str | None:
        """Return a command that puts down a less useful thing, as hands may be full; ``None`` when there is none."""
        needed = {word for one in self.planner.achievements if one.gain > 0 for word in things_of(one.action)}

        def worth(words: Iterable[str]) -> float:
            return self.settings.useful_thing_worth if needed & set(words) else self.settings.other_thing_worth

        wanted = max(worth(thing.split()) for thing in achievement.things)
        spare = [action for action in here.actions if is_putting_down(action) and worth(things_of(action)) < wanted]
        return min(spare, key=lambda action: worth(things_of(action)), default=None)

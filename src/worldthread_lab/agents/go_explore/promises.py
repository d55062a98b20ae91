"""How promising it is to try an action in a room, for every action that is left to try."""

from __future__ import annotations

from collections import defaultdict

from worldthread_lab.agents.go_explore.achievements import Achievements, experience_key
from worldthread_lab.agents.go_explore.commands import form, gives_light, promise, things_of
from worldthread_lab.agents.go_explore.settings import DEFAULT_SETTINGS, GoExploreSettings
from worldthread_lab.agents.go_explore.state_graph import StateAction, StateGraph, StateVisit
from worldthread_lab.game.commands import direction_of


class Promises:
    """The promise of every action in a room that was not tried in the best state there (:attr:`StateGraph.untried`).

    After each visit only the promises that it may have changed are worked out again.

    Args:
        graph: all branches.
        achievements: those of all branches, and the experience with similar actions.
        settings: the numbers that make up a promise.
    """

    def __init__(
        self, graph: StateGraph, achievements: Achievements, settings: GoExploreSettings = DEFAULT_SETTINGS
    ) -> None:
        self.graph = graph
        self.achievements = achievements
        self.settings = settings
        self.highest_score = 0.0
        self._promises: dict[StateAction, float] = {}
        self._by_key: defaultdict[str, set[StateAction]] = defaultdict(set)  # by experience_key
        self._changed: set[StateAction] = set()

    def note(self, visit: StateVisit) -> None:
        """Note which promises a visit may have changed; the graph and the achievements have recorded it."""
        graph, before = self.graph, visit.before
        if visit.score > self.highest_score:
            self.highest_score = visit.score
            self._changed.update(self._promises)
        # a state that was seen with more achievements makes it less promising to go to its room
        self._changed.update(StateAction(there, action) for action, there in graph.entrances(visit.room))
        for room in {visit.room} if before is None else {visit.room, before.room}:
            self._changed.update(StateAction(room, action) for action in graph.offered[room])
        if visit.action is not None:
            self._changed |= self._by_key[experience_key(visit.action)]

    def note_all(self) -> None:
        """Note that all promises may have changed."""
        self._promises.clear()
        self._by_key.clear()
        self._changed = set(self.graph.untried)

    def most_promising(self) -> tuple[StateAction | None, float]:
        """Return the most promising action in a room, and its promise.

        Returns:
            Of equals the first in the order of :attr:`StateGraph.untried`; ``None`` when nothing is promised.
        """
        untried, promises = self.graph.untried, self._promises
        for candidate in self._changed:
            visit = untried.get(candidate)
            if visit is not None:
                promises[candidate] = self.promise(candidate, visit)
                self._by_key[experience_key(candidate.action)].add(candidate)
            elif promises.pop(candidate, None) is not None:
                self._by_key[experience_key(candidate.action)].remove(candidate)
        self._changed.clear()
        best = max(untried, key=promises.__getitem__, default=None)
        return (best, promises[best]) if best is not None and promises[best] > 0 else (None, 0.0)

    def promise(self, candidate: StateAction, visit: StateVisit) -> float:
        """Return how promising it is to try an action at a visit, in whose state it was not tried."""
        graph, achievements, settings = self.graph, self.achievements, self.settings
        room, action = candidate
        is_move = direction_of(action) is not None
        trials = graph.trials[candidate]
        known = graph.destination(room, action) if trials else None
        if known is not None:
            # to see a known room with more achieved than it was ever seen with
            new = (visit.achieved & ~graph.achieved[known]).bit_count()
            worth = settings.new_achievement_promise * min(new, settings.max_new_achievements)
        else:
            worth = promise(action)
            if visit.is_dark and is_move:
                worth = settings.move_in_dark_promise
            elif visit.is_dark and gives_light(action):
                worth = settings.light_in_dark_promise
            worth *= achievements.usefulness(action)
            if not is_move:
                worth /= 1 + graph.forms[StateAction(room, form(action))] / settings.form_halving
                # words without a thing are few, and may be of use in another room
                worth /= (1 + achievements.in_vain(action)) ** (2 if things_of(action) else 1)
            elif graph.leads_back(room, action):
                worth *= settings.return_exit_factor
            if trials:
                fresh = (visit.achieved & ~graph.tried_with[candidate]).bit_count()
                worth *= settings.retry_factor * min(fresh, settings.max_fresh_achievements) / trials
        worth *= settings.death_factor ** graph.deaths[candidate]
        return worth * self.score_factor(visit)

    def score_factor(self, visit: StateVisit) -> float:
        """Return the factor, within [score_floor, 1], by which states of a high score are preferred."""
        floor = self.settings.score_floor
        return floor + (1 - floor) * max(0.0, min(1.0, (visit.score + 1) / (self.highest_score + 1)))

"""What is kept from one decision to the next changes no choice: compared with choices worked out from scratch."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable

import pytest

from worldthread.graph import TemporalGraph
from worldthread_lab.agents.go_explore.achievement_plan import AchievementPlanner, AchievementProposal
from worldthread_lab.agents.go_explore.achievements import Achievement
from worldthread_lab.agents.go_explore.agent import GoExplore
from worldthread_lab.agents.go_explore.promises import Promises
from worldthread_lab.agents.go_explore.settings import GoExploreSettings
from worldthread_lab.agents.go_explore.state_graph import Route, StateAction, StateGraph, StateVisit, best_of_places
from worldthread_lab.envs.fake import ScriptedHouse, ScriptedWorld
from worldthread_lab.play.loop import Play

DIRECTIONS = ("north", "south", "east", "west", "up", "down")


def random_house(seed: int) -> ScriptedHouse:
    """Return a house in which some exits lead back, some elsewhere, and some things are worth points."""
    chance = random.Random(seed)
    rooms = [f"Room {letter}" for letter in "abcdefghijkl"]
    exits: dict[str, dict[str, str]] = {room: {} for room in rooms}
    for number, there in enumerate(rooms[1:], 1):
        room, out = chance.choice(rooms[:number]), chance.randrange(len(DIRECTIONS))
        exits[room][DIRECTIONS[out]] = there
        if chance.random() < 0.8:
            exits[there][DIRECTIONS[out ^ 1]] = room
    for _ in range(4):
        exits[chance.choice(rooms)].setdefault(chance.choice(DIRECTIONS), chance.choice(rooms))
    containers = {"chest": chance.choice(rooms), "crate": chance.choice(rooms)}
    things = {
        f"{name} stone": chance.choice([*rooms, *containers]) for name in ("red", "blue", "green", "grey", "black")
    }
    return ScriptedHouse(
        exits=exits,
        start=rooms[0],
        containers=containers,
        locks={"chest": "closed", "crate": "closed"},
        things=things | {"crown": rooms[-1]},
        rewards={thing: chance.choice((1, 1, 5)) for thing in things},
        prize="crown",
        goal="Get rich.",
    )


def routes(graph: StateGraph, room: str) -> dict[str, Route]:
    anew = {name: graph._find_exits(name) for name in graph.rooms}
    found, waiting = {room: Route(0, None)}, [room]
    for here in waiting:
        for action, there in anew.get(here, []):
            if there not in found:
                found[there] = Route(found[here].moves + 1, found[here].action or action)
                waiting.append(there)
    return found


class PlainPlanner:
    """Plans as :class:`AchievementPlanner`, and keeps nothing."""

    def __init__(self, planner: AchievementPlanner) -> None:
        self.graph, self.achievements, self.settings = planner.graph, planner.achievements, planner.settings
        self.exhausted = planner._exhausted
        self.unit = self.achievements.unit()
        self.routes = {room: routes(self.graph, room) for room in self.graph.rooms}

    def plan(self) -> AchievementProposal | None:
        visits = self.graph.states.values()
        foremost = max(visits, key=self.merit)
        self.achievements.proven = foremost.achieved
        best: AchievementProposal | None = None
        for _, _, visit in self.starts():
            merit, moves = self.simulate(visit)
            hope = merit - self.merit(foremost) - self.settings.move_cost * moves
            if best is None or hope > best.hope:
                best = AchievementProposal(visit, hope, moves, self.merit(foremost))
        return best if best is not None and best.hope > self.settings.min_plan_gain and best.moves > 0 else None

    def starts(self) -> list[tuple[float, int, StateVisit]]:
        known = len(self.achievements)
        visits = (visit for visit in self.graph.states.values() if self.exhausted.get(visit.place) != known)
        bounds = [(self.bound(visit), visit.moment, visit) for visit in best_of_places(visits).values()]
        return sorted(bounds, reverse=True)[: self.settings.simulated_starts]

    def merit(self, visit: StateVisit) -> float:
        return self.achievements.merit(visit, self.unit)

    def bound(self, visit: StateVisit) -> float:
        best: dict[int, float] = {}
        for one in self.achievements.left(visit.achieved):
            if one.room in self.routes[visit.room]:
                weight = self.achievements.weight(one, self.unit, visit.achieved)
                best[one.bit] = max(best.get(one.bit, 0.0), weight)
        return self.merit(visit) + sum(best.values())

    def simulate(self, visit: StateVisit) -> tuple[float, int]:
        left = self.achievements.left(visit.achieved)
        room, achieved, moves = visit.room, visit.achieved, 0
        merit = self.merit(visit)
        best = merit, 0
        cost = self.settings.move_cost
        while (achievement := self.next_achievement(room, left)) is not None:
            moves += self.routes[room][achievement.room].moves + 1
            merit += self.achievements.weight(achievement, self.unit, achieved)
            achieved |= 1 << achievement.bit
            room = achievement.leads_to
            left = [other for other in left if other.bit != achievement.bit]
            if merit - cost * moves > best[0] - cost * best[1]:
                best = merit, moves
        return best

    def next_achievement(self, room: str, left: Iterable[Achievement]) -> Achievement | None:
        in_reach = [(one, self.achievements.weight(one, self.unit)) for one in left if one.room in self.routes[room]]
        same: defaultdict[int, list[tuple[str, float]]] = defaultdict(list)
        for one, weight in in_reach:
            same[one.bit].append((one.room, weight))

        def cost(achievement: Achievement) -> float:
            after = self.routes[achievement.leads_to]
            lost = sum(weight for one, weight in in_reach if one.room not in after)
            done = sum(weight for where, weight in same[achievement.bit] if where not in after)
            return self.routes[room][achievement.room].moves + self.settings.loss_cost * (lost - done)

        return min((one for one, _ in in_reach), key=cost, default=None)


class Compared:
    """Counts how often a fast choice was compared with the plain one."""

    plans = 0
    simulations = 0
    promises = 0


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compared:
    """Compare every choice of the planner, and of what to try, with one that is worked out from scratch."""
    count = Compared()
    fast_plan, fast_choice = AchievementPlanner.plan, Promises.most_promising

    def plan(planner: AchievementPlanner) -> AchievementProposal | None:
        found = fast_plan(planner)
        plain = PlainPlanner(planner)
        assert found == plain.plan()
        starts = planner._best_bounds()
        simulated = [planner._simulate(visit) for _, _, visit in starts]
        assert starts == plain.starts()
        assert simulated == [plain.simulate(visit) for _, _, visit in starts]
        count.plans += 1
        count.simulations += sum(moves > 0 for _, moves in simulated)
        return found

    def most_promising(promises: Promises) -> tuple[StateAction | None, float]:
        best, most = None, 0.0
        for candidate, visit in promises.graph.untried.items():
            promise = promises.promise(candidate, visit)
            if promise > most:
                best, most = candidate, promise
        assert fast_choice(promises) == (best, most)
        count.promises += 1
        return best, most

    monkeypatch.setattr(AchievementPlanner, "plan", plan)
    monkeypatch.setattr(Promises, "most_promising", most_promising)
    return count


@pytest.mark.parametrize("seed", [0, 1, 4, 5])  # houses in which achievements lie on several branches
def test_every_choice_of_a_play_is_the_one_worked_out_from_scratch(seed: int, compared: Compared) -> None:
    graph = TemporalGraph()
    settings = GoExploreSettings(move_cost=0.001, min_plan_gain=0.001)  # so that there is often something to plan
    agent = GoExplore(graph, seed=seed, settings=settings)
    house = random_house(seed)
    game = Play(ScriptedWorld(lambda _: house), agent, graph, seed=seed, max_moves=250, audit=False)
    assert len(list(game)) > 250
    assert min(compared.plans, compared.promises) > 20
    assert compared.simulations > 20
    assert agent._graph.best_visits() == best_of_places(agent._graph.states.values())
    assert list(agent._graph.best_visits()) == list(best_of_places(agent._graph.states.values()))

"""The planner: shortest plans, checked against networkx, and meals cooked with them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from worldthread.graph import TemporalGraph
from worldthread_lab.agents.explorer.agent import Explorer
from worldthread_lab.agents.explorer.planner import Literal, Operator, PlanStep, plan
from worldthread_lab.envs import make
from worldthread_lab.play.loop import Play


def literal(name: str) -> Literal:
    return (name, "is", "so")


def operator(name: str, room: str | None, needs: str = "", adds: str = "", removes: str = "") -> Operator:
    def literals(names: str) -> frozenset[Literal]:
        return frozenset(literal(n) for n in names.split())

    return Operator(name, room, literals(needs), literals(adds), literals(removes), "test")


def cost(start: str, steps: list[PlanStep], distance: dict[str, dict[str, float]]) -> float:
    total, room = 0.0, start
    for step in steps:
        total += distance[room][step.room] + 1
        room = step.room
    return total


def run(steps: list[PlanStep], holds: frozenset[Literal]) -> frozenset[Literal]:
    for step in steps:
        assert step.operator.needs <= holds
        assert step.operator.room in (None, step.room)
        holds = (holds - step.operator.removes) | step.operator.adds
    return holds


@pytest.mark.parametrize("seed", range(60))
def test_plans_are_as_short_as_a_search_of_all_states_finds(seed: int) -> None:
    nx = pytest.importorskip("networkx")
    chance = random.Random(seed)
    house = nx.connected_watts_strogatz_graph(6, 2, 0.3, seed=seed)
    rooms = [str(room) for room in house]
    distance = {
        str(a): {str(b): float(d) for b, d in row.items()} for a, row in nx.all_pairs_shortest_path_length(house)
    }
    names = "abcdef"
    operators = [
        operator(
            f"o{number}",
            chance.choice([*rooms, None]),
            needs=" ".join(chance.sample(names, chance.randint(0, 2))),
            adds=chance.choice(names),
            removes=chance.choice(["", "", *names]),
        )
        for number in range(7)
    ]
    holds = frozenset({literal(chance.choice(names))})
    goal = frozenset(literal(name) for name in chance.sample(names, 2))
    states = nx.DiGraph()
    queue = [("0", holds)]
    seen = set(queue)
    while queue:
        room, now = state = queue.pop()
        for op in operators:
            if op.needs <= now:
                place = op.room or room
                after = (place, (now - op.removes) | op.adds)
                states.add_edge(state, after, weight=distance[room][place] + 1)
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
    states.add_node(("0", holds))
    lengths = nx.single_source_dijkstra_path_length(states, ("0", holds))
    best = min((length for (_, now), length in lengths.items() if goal <= now), default=None)
    found = plan("0", holds, goal, operators, lambda a, b: distance[a][b])
    if best is None:
        assert found is None
    else:
        assert found is not None
        assert goal <= run(found, holds)
        assert cost("0", found, distance) == best


def test_what_fills_the_hands_is_put_down_first() -> None:
    def carry(name: str, room: str) -> Operator:
        there, held = frozenset({(name, "is in", room)}), frozenset({(name, "is in", "inventory")})
        return Operator(f"take {name}", room, there, held, there, "test", takes=1)

    def drop(name: str, room: str) -> Operator:
        there, held = frozenset({(name, "is in", room)}), frozenset({(name, "is in", "inventory")})
        return Operator(f"drop {name}", room, held, there, held, "test", takes=-1)

    holds = frozenset({("stone", "is in", "inventory"), ("gem", "is in", "a")})
    goal = frozenset({("gem", "is in", "inventory")})
    found = plan("a", holds, goal, [carry("gem", "a"), drop("stone", "a")], lambda a, b: 0, room_to_carry=0)
    assert found is not None
    assert [step.operator.action for step in found] == ["drop stone", "take gem"]
    assert plan("a", holds, goal, [carry("gem", "a")], lambda a, b: 0, room_to_carry=0) is None


def test_a_goal_that_holds_needs_no_steps() -> None:
    goal = frozenset({literal("a")})
    assert plan("a", goal, goal, [], lambda a, b: 0) == []


def cook(game: str, *, seed: int = 0, cache: Path | None = None) -> Play:
    graph = TemporalGraph()
    with make(game, seed=seed, cache_dir=cache) as env:
        play = Play(env, Explorer(graph), graph, seed)
        for _ in play:
            pass
        return play


@pytest.mark.games
@pytest.mark.parametrize(
    ("name", "score", "moves"),
    [("cook", 11, 39), ("cook_hard", 14, 54), pytest.param("cook_hardest", 17, 109, marks=pytest.mark.slow)],
)
def test_cooks_the_published_meals_in_the_moves_of_the_paper(
    name: str, score: int, moves: int, textworld_games: Path
) -> None:
    play = cook(f"textworld:{textworld_games / name}.z8")
    assert play.info.score == score, play.auditor.mistakes
    assert play.moves <= moves
    assert play.auditor.result().precision >= 0.99
    assert play.auditor.result().stale_steps == 0


@pytest.mark.games
@pytest.mark.slow
@pytest.mark.parametrize("game", ["cooking", "cooking-hardest", "cooking-level3", "cooking-level4"])
def test_cooks_generated_meals(game: str, game_cache: Path) -> None:
    play = cook(game, seed=1, cache=game_cache)
    assert play.info.won, play.auditor.mistakes
    assert play.auditor.result().precision >= 0.99
    assert play.auditor.result().recall >= 0.95
    assert play.stuck == 0

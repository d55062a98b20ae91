"""The explorer: it wins, it needs no list of actions, and it cannot reach the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import AgentError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread_lab.agents.base import Agent, Percept
from worldthread_lab.agents.explorer.agent import Explorer
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Environment
from worldthread_lab.play.loop import Play


def play(env: Environment, *, max_moves: int = 300, **options: Any) -> Play:
    graph = TemporalGraph()
    game = Play(env, Explorer(graph, **options), graph, max_moves=max_moves)
    for _ in game:
        pass
    return game


@pytest.mark.parametrize("listed", [True, False])
def test_wins_the_small_world(listed: bool) -> None:
    with make("tiny-v1") as env:
        game = play(env, use_valid_actions=listed)
        assert game.info.won
        assert game.auditor.result().precision == 1
        assert game.auditor.result().stale_steps == 0


@pytest.mark.games
@pytest.mark.parametrize(
    ("game_id", "seed"), [("treasure-hunt", 101), pytest.param("treasure-hunt-hard", 102, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("listed", [True, False])
def test_wins_generated_hunts(game_id: str, seed: int, listed: bool, game_cache: Path) -> None:
    with make(game_id, seed=seed, cache_dir=game_cache) as env:
        game = play(env, use_valid_actions=listed)
        summary = game.summary()
        assert summary["won"], game.auditor.mistakes
        assert summary["normalized"] == 1
        assert summary["audit"]["precision"] >= 0.99
        assert summary["audit"]["recall"] >= 0.97
        assert summary["audit"]["stale_steps"] == 0
        assert summary["moves"] >= summary["optimal_moves"]


@pytest.mark.games
@pytest.mark.parametrize(("name", "score", "moves"), [("hunt", 7, 57), ("hunt_hard", 8, 70)])
def test_wins_the_published_hunts_in_the_moves_of_the_paper(
    name: str, score: int, moves: int, textworld_games: Path
) -> None:
    with make(f"textworld:{textworld_games / name}.z8") as env:
        game = play(env)
        assert game.info.score == score
        assert game.moves <= moves


def percept(text: str, action: str | None = None, valid: tuple[str, ...] | None = None, turn: int = 0) -> Percept:
    return Percept(GameStep(text, action, turn=turn), 0, valid)


def test_says_when_it_is_stuck_and_goes_on() -> None:
    agent: Agent = Explorer(TemporalGraph())
    with pytest.raises(AgentError, match="before it perceived"):
        agent.decide()
    agent.perceive(percept("-= Cell =-\nBare walls."))
    decisions = []
    for turn in range(1, 40):
        decisions.append(agent.decide())
        agent.perceive(percept("Nothing happens.", decisions[-1].action, turn=turn))
    assert all(decision.stuck for decision in decisions)
    assert len({decision.action for decision in decisions}) > 5, "it tries different things"


def test_survives_a_world_that_never_says_where_it_is() -> None:
    agent = Explorer(TemporalGraph())
    agent.perceive(percept("What now?", valid=("jump", "sing")))
    actions = set()
    for turn in range(1, 10):
        actions.add(agent.decide().action)
        agent.perceive(percept("What now?", "jump", ("jump", "sing"), turn=turn))
    assert actions <= {"look", "jump", "sing"}


def test_the_map_presumes_that_loose_ends_meet() -> None:
    graph = TemporalGraph()
    agent = Explorer(graph)
    exits = "There is an exit to the {}."
    ring = [
        ("A", None, "east south"),
        ("B", "go east", "west south"),
        ("C", "go south", "north west"),
        ("D", "go west", "east north"),
    ]
    for turn, (room, action, ways) in enumerate(ring):
        text = f"-= {room} =-\n" + " ".join(exits.format(way) for way in ways.split())
        agent.perceive(percept(text, action, turn=turn))
    world = WorldMap(graph.view())
    assert {(e.room, e.direction, e.presumed) for e in world.unexplored} == {("d", "north", "a"), ("a", "south", "d")}
    assert world.path("a", presumed=True) == ["north"], "the presumed way is the short one"
    assert world.path("a") == ["east", "north", "west"], "what is certain is the way that was walked"
    assert world.positions["c"] == (1, 0, 0)


def test_stops_when_nothing_is_left_to_learn_and_repeats_no_refusal() -> None:
    agent = Explorer(TemporalGraph())
    room = "-= Cell =-\nYou are in a cell. You see a heavy anvil on the floor."
    offered = ("eat anvil", "lick wall", "look")
    agent.perceive(Percept(GameStep(room), valid_actions=offered))
    tried: list[str] = []
    for turn in range(1, 60):
        decision = agent.decide()
        tried.append(decision.action)
        if decision.finished:
            break
        text = "The anvil is too heavy." if decision.action.startswith("take") else "Nothing happens."
        agent.perceive(Percept(GameStep(text, decision.action, turn=turn), valid_actions=offered))
    else:
        pytest.fail(f"it never stops: {tried}")
    assert decision.reason == "nothing is left to learn"
    assert {"eat anvil", "lick wall"} <= set(tried)
    assert [action for action in set(tried) - {"look"} if tried.count(action) > 1] == []


def test_tries_again_what_was_refused_when_something_new_is_known() -> None:
    agent = Explorer(TemporalGraph())
    cell = "-= Cell =-\nYou are in a cell."
    offered = ("pull lever", "wave")
    agent.perceive(Percept(GameStep(cell), valid_actions=offered))
    tried: list[str] = []
    for turn in range(1, 60):
        decision = agent.decide()
        tried.append(decision.action)
        if decision.finished:
            break
        fell = "wave" in tried and "wave" not in tried[:-1]
        text = f"{cell} You see a coin on the floor." if fell and decision.action == "wave" else "Nothing happens."
        agent.perceive(Percept(GameStep(text, decision.action, turn=turn), valid_actions=offered))
    assert tried.index("pull lever") < tried.index("wave")
    assert tried.count("pull lever") == 2, "the coin may have changed what the lever does"
    assert decision.finished

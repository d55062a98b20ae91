"""A real story played by a client of the MCP server and by ReflAct: what they remember is right after every move."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from worldthread.errors import GameError, MissingExtraError
from worldthread.extract.base import GameStep
from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents import make_agent
from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.jericho import open_jericho
from worldthread_lab.play.audit_story import StoryAuditor, StoryReport
from worldthread_lab.play.loop import Play
from worldthread_lab.play.true_step import TrueStep

MOVES = 60


def opened() -> Any:
    try:
        return open_jericho("lostpig", id="jericho:lostpig", valid_actions=False, max_moves=math.inf)
    except (GameError, MissingExtraError) as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def story_and_steps() -> tuple[bytes, list[TrueStep]]:
    with opened() as env:
        text, info = env.reset()
        played = [TrueStep(GameStep(text, None, info.inventory), env.true_tree(), {})]
        for turn, action in enumerate(env.truth().walkthrough[:MOVES], 1):
            text, _, _, _, info = env.step(action)
            played.append(TrueStep(GameStep(text, action, info.inventory, turn=turn), env.true_tree(), {}))
        return env.story, played


def client_views(env: Environment, actions: list[str]) -> Iterator[GraphView]:
    """Yield the memory of a client of the MCP server at the beginning and after each of its actions."""
    from worldthread_lab.mcp.game_play import GamePlay

    play = GamePlay(env, seed=0, run="client")
    yield play.memory.view()
    for action in actions:
        play.act(action)
        yield play.memory.view()
    play.close()


def reflact_views(env: Environment, actions: list[str]) -> Iterator[GraphView]:
    """Yield the memory of ReflAct, whose model says these actions, at the beginning and after each of them."""
    graph, left = TemporalGraph(), iter(actions)

    def answer(request: ChatRequest) -> str:
        if request.purpose == "act":
            return json.dumps({"reflection": "so", "objective": "find the pig", "action": next(left)})
        fields = (request.schema or {}).get("properties", {})
        return json.dumps({name: [] if field.get("type") == "array" else "none" for name, field in fields.items()})

    agent = make_agent("reflact", graph, model=FakeChat(answer))
    for _ in Play(env, agent, graph, max_moves=len(actions), audit=False):
        yield graph.view()


@pytest.mark.parametrize(
    "views", [pytest.param(client_views, marks=pytest.mark.mcp), reflact_views], ids=["client", "reflact"]
)
def test_room_and_inventory_are_right_after_every_move(
    story_and_steps: tuple[bytes, list[TrueStep]], views: Callable[[Environment, list[str]], Iterator[GraphView]]
) -> None:
    story, played = story_and_steps
    actions = [true.step.action or "" for true in played[1:]]
    with opened() as env:
        seen = views(env, actions)

        def read(step: GameStep) -> GraphView:
            return next(seen)

        report: StoryReport = StoryAuditor(story, played).audit(read)
    assert report.steps == MOVES + 1
    for kind in ("player", "carried"):
        figures = report.figures[kind]
        assert figures.held > 0
        assert figures.expected > 0
        assert (figures.precision, figures.recall) == (1.0, 1.0), report.mistakes

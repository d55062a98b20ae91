"""Shared by the tests of agents that ask a model: worlds without a limit of moves, and plays with a scripted model."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents import Agent, make_agent
from worldthread_lab.agents.go_explore.achievements import Achievements
from worldthread_lab.agents.go_explore.state_graph import StateGraph, StateVisit
from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.fake import ScriptedHouse, ScriptedWorld
from worldthread_lab.play.loop import Play
from worldthread_lab.play.step_record import StepRecord

HOUSE = ScriptedHouse(
    exits={"Hall": {"east": "Cave"}, "Cave": {"west": "Hall"}},
    start="Hall",
    containers={"chest": "Cave"},
    things={"coin": "Hall", "ruby": "Cave", "crown": "chest", "note": "Hall"},
    locks={"chest": "locked"},
    texts={"note": "The note says: The silver key opens the chest."},
    rewards={"coin": 1, "ruby": 3},
    prize="crown",
    goal="Get rich.",
)


@dataclass
class ScriptedModel:
    """Answers by what a request is for: the next action of a list, or the answer that was laid down for the purpose.

    An answer is a mapping, which becomes JSON, a text, or a function of the request. Where actions run out it looks.
    """

    actions: Sequence[str]
    answers: dict[str, Any]
    requests: list[ChatRequest] = field(default_factory=list)
    given: int = 0

    def __call__(self, request: ChatRequest) -> str:
        self.requests.append(request)
        answer = self.answers.get(request.purpose)
        if answer is None and request.purpose == "act":
            action = self.actions[self.given] if self.given < len(self.actions) else "look"
            self.given += 1
            fields = (request.schema or {})["properties"]
            answer = {name: action if name == "action" else f"{name} {self.given}" for name in fields}
        if callable(answer):
            answer = answer(request)
        return answer if isinstance(answer, str) else json.dumps(answer)


@dataclass
class Played:
    """A play that came to its end."""

    agent: Any
    play: Play
    records: list[StepRecord]
    requests: list[ChatRequest]

    @property
    def reasons(self) -> list[str]:
        return [record.decision.reason for record in self.records if record.decision]

    @property
    def returns(self) -> list[int]:
        """Moments that were returned to."""
        return [r.decision.return_to for r in self.records if r.decision and r.decision.return_to is not None]

    @property
    def by_purpose(self) -> dict[str, list[str]]:
        """What the requests said, all their messages in one, by what they were for."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for request in self.requests:
            found[request.purpose].append("\n".join(message.content for message in request.messages))
        return found


PlayWith = Callable[..., Played]


@pytest.fixture(scope="session")
def play_with() -> PlayWith:
    """Plays an agent with scripted answers: ``play_with(name, actions, answers, moves=..., world=..., **options)``."""

    def run(
        name: str,
        actions: Sequence[str] = (),
        answers: dict[str, Any] | None = None,
        *,
        moves: int = 12,
        world: Environment | None = None,
        model: Callable[[ChatRequest], Any] | None = None,
        **options: Any,
    ) -> Played:
        graph = TemporalGraph()
        script = ScriptedModel(actions, answers or {})
        requests: list[ChatRequest] = script.requests

        def ask(request: ChatRequest) -> Any:
            if model is None:
                return script(request)
            requests.append(request)
            return model(request)

        agent: Agent = make_agent(name, graph, model=FakeChat(ask), **options)
        play = Play(world or ScriptedWorld(lambda seed: HOUSE), agent, graph, max_moves=moves, audit=False)
        return Played(agent, play, list(play), requests)

    return run


@pytest.fixture
def visit() -> Callable[..., StateVisit]:
    """Makes visits, each of the next moment: ``visit(title, before, action, actions=..., score=..., ...)``.

    Without a text it has the title's; without a state it is in one of its own.
    """
    moments = itertools.count()

    def make_visit(title: str, before: StateVisit | None = None, action: str | None = None, **given: Any) -> StateVisit:
        moment = next(moments)
        return StateVisit(
            moment,
            before,
            action,
            title,
            given.get("actions", ()),
            given.get("score", 0),
            given.get("ended", False),
            frozenset(given.get("carried", ())),
            given.get("text", f"{title.title()}\nIt is number {moment}."),
            given.get("state", moment),
        )

    return make_visit


class Story:
    """Visits as they are perceived: each is located, appraised and recorded."""

    def __init__(self, visit: Callable[..., StateVisit]) -> None:
        self.graph, self.achievements = StateGraph(), Achievements()
        self._visit = visit

    def go(
        self, title: str, before: StateVisit | None = None, action: str | None = None, **given: object
    ) -> StateVisit:
        seen = self._visit(title, before, action, **given)
        assert self.graph.locate(seen)
        self.achievements.appraise(seen, self.graph)
        self.graph.record(seen)
        return seen


@pytest.fixture
def story(visit: Callable[..., StateVisit]) -> Story:
    return Story(visit)

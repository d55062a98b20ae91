"""No prompt grows beyond what is promised, however much a world prints, lists and rewards, and a model answers."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from worldthread.models.structured import schema_of
from worldthread_lab.agents.attempts.base import LEAST_PROMPT_CHARACTERS
from worldthread_lab.agents.reflact.agent import PROMPT_CHARACTERS
from worldthread_lab.envs.base import Environment, Info, Truth

LONG = "A very long passage about nothing in particular, room, door and lamp. " * 150


class Wordy(Environment):
    """Prints, lists and rewards too much."""

    id = "wordy-v1"

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.count = 0
        return LONG, self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        self.count += 1
        return f"{self.count} {LONG}", float(self.count % 2), False, False, self._info()

    def truth(self) -> Truth:
        return Truth(frozenset())

    def _info(self) -> Info:
        actions = tuple(sorted(f"put thing {n} under the other thing {n}" for n in range(600)))
        return Info(score=self.count // 2, valid_actions=actions, inventory=LONG, goal=LONG, state=str(self.count))


def long_answer(request: Any) -> str:
    """As long as anything may be; every number is that of a state or a value, every action another one."""

    def fill(schema: Any) -> Any:
        if "$ref" in schema:
            schema = request.schema["$defs"][schema["$ref"].rsplit("/", 1)[1]]
        match schema.get("type"):
            case "object":
                return {name: fill(part) for name, part in schema["properties"].items()}
            case "array":
                return [fill(schema["items"])] * 12
            case "integer":
                return 0
            case "number":
                return 3.5
            case "boolean":
                return True
        return f"{len(request.messages[-1].content)} {LONG[:3000]}"

    return json.dumps(fill(request.schema))


def sizes(played: Any) -> list[int]:
    """Characters of each prompt without what the model itself said in it."""
    return [sum(len(m.content) for m in request.messages if m.role != "assistant") for request in played.requests]


FLAGS = [
    dict(zip(("use_mar", "use_frontier"), values, strict=True)) for values in itertools.product((True, False), repeat=2)
]


@pytest.mark.parametrize("limit", [LEAST_PROMPT_CHARACTERS, pytest.param(60_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "options"),
    [("react", {}), ("reflexion", {}), ("icrl", {}), ("ige", {}), *(("glow", flags) for flags in FLAGS)],
)
def test_agents_that_play_in_attempts(name: str, options: dict[str, Any], limit: int, play_with: Any) -> None:
    played = play_with(
        name, model=long_answer, world=Wordy(), moves=45, attempt_moves=6, prompt_characters=limit, **options
    )
    assert played.play.moves == 45
    assert max(sizes(played)) <= limit
    assert max(sizes(played)) > limit / 4, "there was much to be told"


def test_reflact(play_with: Any) -> None:
    played = play_with("reflact", model=long_answer, world=Wordy(), moves=40)
    assert played.play.moves == 40
    assert 20_000 < max(sizes(played)) <= PROMPT_CHARACTERS


def test_the_long_answers_fit() -> None:
    from worldthread.models.chat import ChatRequest, Message
    from worldthread.models.structured import parse_answer
    from worldthread_lab.agents.attempts.world_memory import GlobalMemory

    request = ChatRequest((Message("user", "x"),), "analyse", schema_of(GlobalMemory))
    assert len(parse_answer(long_answer(request), GlobalMemory).states) == 12

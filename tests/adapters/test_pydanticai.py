"""The tools for Pydantic AI, called by its models for tests."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread import Memory

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from worldthread.adapters.pydanticai import memory_toolset

ADAPTER, PACKAGES = "`memory_toolset` of Pydantic AI", ("pydantic-ai-slim",)


def play(memory: Memory, *calls: tuple[str, dict[str, Any]], **options: Any) -> list[Any]:
    """What the tools return when a model calls them one after another, but for what they send back to it."""
    waiting = list(calls)

    def answer(messages: list[Any], info: Any) -> ModelResponse:
        if waiting:
            name, arguments = waiting.pop(0)
            return ModelResponse([ToolCallPart(name, arguments)])
        return ModelResponse([TextPart("Done.")])

    agent = Agent(FunctionModel(answer), toolsets=[memory_toolset(memory, **options)])
    messages = agent.run_sync("Hello").all_messages()
    returned = (part for message in messages for part in message.parts if isinstance(part, ToolReturnPart))
    return [part.content for part in returned if "must not be empty" not in str(part.content)]


def test_the_test_model_calls_every_tool(memory: Memory) -> None:
    agent = Agent(TestModel(), toolsets=[memory_toolset(memory, can_forget=True)])
    result = agent.run_sync("Hello")
    assert {"remember", "recall", "timeline", "forget"} <= {
        part.tool_name
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }


def test_an_agent_remembers_recalls_and_sees_what_ended(memory: Memory) -> None:
    played = play(
        memory,
        ("remember", {"text": "Anna lives in Rome."}),
        ("remember", {"text": "Anna moved to Paris."}),
        ("recall", {"question": "Where does Anna live?"}),
        ("timeline", {"name": "Anna"}),
        user="anna",
        session="monday",
    )
    assert played[0] == "Remembered (1 new)."
    assert "Paris" in played[2]
    assert any("Rome (ended" in line for line in played[3])
    assert {(e.user, e.session, e.source) for e in memory.episodes()} == {("anna", "monday", "pydantic-ai")}
    assert play(memory, ("recall", {"question": "Where does Anna live?"}), user="bob") == [
        "Nothing is remembered about this."
    ]


def test_forgetting_is_offered_only_if_wanted(memory: Memory) -> None:
    memory.remember("Anna lives in Rome.", user="anna")
    assert "forget" not in memory_toolset(memory).tools
    forgot = play(memory, ("forget", {"name": "Anna"}), ("forget", {"name": "Anna"}), can_forget=True, user="anna")
    assert forgot == ["Forgotten: 1 passages.", "Nothing is remembered about this."]
    assert memory.stats()["episodes"] == 0


def test_an_empty_text_is_sent_back_to_the_model(memory: Memory) -> None:
    empty = [("remember", {"text": " "}), ("recall", {"question": ""}), ("timeline", {"name": ""})]
    played = play(memory, *empty)
    assert played == []
    assert memory.stats()["episodes"] == 0

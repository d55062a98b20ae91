"""The tools for CrewAI, called by its agent with a scripted model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import Field

from worldthread import InputError, Memory

if find_spec("crewai") is None:
    pytest.skip("crewai has an environment of its own", allow_module_level=True)
# before the import, which reads them; only in its own environment, since they switch off the spans of others too
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import Agent, BaseLLM, Crew, Task

from worldthread.adapters.crewai import memory_tools

ADAPTER, PACKAGES = "`memory_tools` of CrewAI", ("crewai", "mcp", "openai")


class Scripted(BaseLLM):  # type: ignore[misc]
    """Gives its answers one after another, and keeps what it was shown."""

    answers: list[str]
    shown: list[str] = Field(default_factory=list)

    def call(self, messages: Any, *arguments: Any, **options: Any) -> str:
        self.shown.append(str(messages))
        return self.answers.pop(0)


def calls(name: str, **arguments: str) -> str:
    return f"Thought: I use it.\nAction: {name}\nAction Input: {json.dumps(arguments)}"


def of(tools: list[Any]) -> dict[str, Callable[..., Any]]:
    return {tool.name: tool.run for tool in tools}


def test_an_agent_remembers_and_recalls(memory: Memory) -> None:
    answers = [
        calls("remember", text="Anna lives in Rome."),
        calls("recall", question="Where does Anna live?"),
        "Thought: I know now.\nFinal Answer: In Rome.",
    ]
    model = Scripted(model="scripted", answers=answers)
    tools = memory_tools(memory, user="anna", session="monday")
    helper = Agent(role="helper", goal="help", backstory="-", llm=model, tools=tools)
    task = Task(description="Where does Anna live?", expected_output="a sentence", agent=helper)
    assert str(Crew(agents=[helper], tasks=[task]).kickoff()) == "In Rome."
    assert "Remembered (1 new)." in model.shown[1]
    assert "Anna lives in Rome" in model.shown[2]
    assert [(e.user, e.session, e.source) for e in memory.episodes()] == [("anna", "monday", "crewai")]


def test_the_tools_keep_users_apart_and_say_what_ended(memory: Memory) -> None:
    anna, bob = of(memory_tools(memory, user="anna")), of(memory_tools(memory, user="bob"))
    anna["remember"](text="Anna lives in Rome.")
    anna["remember"](text="Anna moved to Paris.")
    assert any("Rome (ended" in line for line in anna["timeline"](name="Anna"))
    assert bob["recall"](question="Where does Anna live?") == "Nothing is remembered about this."
    assert "forget" not in anna


def test_forgetting_is_offered_only_if_wanted(memory: Memory) -> None:
    memory.remember("Anna lives in Rome.", user="anna")
    forget = of(memory_tools(memory, user="anna", can_forget=True))["forget"]
    assert [forget(name="Anna"), forget(name="Anna")] == [
        "Forgotten: 1 passages.", "Nothing is remembered about this.",
    ]  # fmt: skip


def test_an_empty_argument_is_refused(memory: Memory) -> None:
    for name, argument in (("remember", "text"), ("recall", "question"), ("timeline", "name")):
        with pytest.raises(InputError, match="must not be empty"):
            of(memory_tools(memory))[name](**{argument: " "})
    assert memory.stats()["episodes"] == 0

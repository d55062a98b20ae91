"""The session for the OpenAI Agents SDK, also in runs of the SDK with a model server on this machine."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from worldthread import InputError, Memory

pytest.importorskip("agents")

from agents import Agent, OpenAIChatCompletionsModel, Runner, SQLiteSession, set_tracing_disabled
from agents.memory import Session
from openai import AsyncOpenAI

from worldthread.adapters.agents_sdk import AgentsSession

set_tracing_disabled(True)

ADAPTER, PACKAGES = "`AgentsSession`", ("openai-agents",)


@pytest.fixture
def session(memory: Memory) -> AgentsSession:
    return AgentsSession(memory, "monday", user="Anna")


@pytest.fixture(scope="module")
def servers() -> Iterator[ModuleType]:
    import sys

    path = Path(__file__).parents[1] / "models" / "chat_server.py"
    spec = importlib.util.spec_from_file_location("chat_server_of_adapters", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "I live in Rome."},
    {"type": "reasoning", "id": "r", "summary": []},
    {"type": "function_call", "call_id": "1", "name": "weather", "arguments": "{\"city\": \"Rome\"}"},
    {"type": "function_call_output", "call_id": "1", "output": "Sunny \0"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is sunny."}]},
    {"role": "user", "content": "long " * 5000},
    {"role": "user", "content": "  "},
    {"role": "user", "content": "I live in Rome."},
]  # fmt: skip


def test_it_does_what_the_session_of_the_sdk_does(session: AgentsSession) -> None:
    async def play(one: Any) -> list[Any]:
        seen: list[Any] = [await one.pop_item(), await one.get_items()]
        await one.add_items(ITEMS[:3])
        await one.add_items([])
        await one.add_items(ITEMS[3:])
        seen += [await one.get_items(), await one.get_items(limit=2), await one.get_items(limit=100)]
        seen += [await one.pop_item(), await one.pop_item(), await one.pop_item(), await one.get_items(limit=1)]
        await one.add_items(ITEMS[:1])
        seen.append(await one.get_items())
        await one.clear_session()
        await one.clear_session()
        return [*seen, await one.get_items(), await one.pop_item()]

    assert isinstance(session, Session)
    assert asyncio.run(play(session)) == asyncio.run(play(SQLiteSession("monday")))


def test_sessions_and_users_are_apart_and_a_restart_changes_nothing(path: Path) -> None:
    async def play() -> None:
        with Memory(path, model="none", embedder="fake") as memory:
            await AgentsSession(memory, "monday", user="Anna").add_items(ITEMS[:1])
            await AgentsSession(memory, "monday", user="Bob").add_items([{"role": "user", "content": "I like tea."}])
        with Memory(path, model="none", embedder="fake") as memory:
            anna, bob = AgentsSession(memory, "tuesday", user="Anna"), AgentsSession(memory, "monday", user="Bob")
            assert await anna.get_items() == []
            assert await AgentsSession(memory, "monday", user="Anna").get_items() == ITEMS[:1]
            assert await bob.get_items() == [{"role": "user", "content": "I like tea."}]
            assert "Rome" in (await anna.recall("Where do I live?")).text
            assert "Rome" not in (await bob.recall("Where does Anna live?")).text
            await AgentsSession(memory, "monday", user="Anna").clear_session()
            assert "Rome" not in (await anna.recall("Where does Anna live?")).text
            assert len(await bob.get_items()) == 1

    asyncio.run(play())


def test_a_session_needs_a_name_and_a_message_has_no_limit(memory: Memory, session: AgentsSession) -> None:
    with pytest.raises(InputError, match="name"):
        AgentsSession(memory, "")
    items = [ITEMS[0], {"type": "computer_call_output", "call_id": "c", "output": {"image_url": "x" * 10**6}}]
    asyncio.run(session.add_items(items))
    assert asyncio.run(session.get_items()) == items


def test_a_run_of_the_sdk_recalls_what_an_earlier_session_said(memory: Memory, servers: ModuleType) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "recall", "arguments": json.dumps({"question": "Where does Anna live?"})},
    }
    script = [
        servers.Reply("Nice city."),
        servers.Reply(None, message={"tool_calls": [call]}, finish_reason="tool_calls"),
        servers.Reply("You live in Rome."),
        servers.Reply("Rome again."),
    ]

    async def play(url: str) -> list[str]:
        client = AsyncOpenAI(base_url=url, api_key="none")
        said = []
        for day, text in (("monday", "I live in Rome."), ("tuesday", "Where do I live?"), ("tuesday", "Are you sure?")):
            session = AgentsSession(memory, day, user="Anna")
            model = OpenAIChatCompletionsModel(model="local", openai_client=client)
            agent = Agent(name="helper", model=model, tools=[session.recall_tool()])
            said.append((await Runner.run(agent, text, session=session)).final_output)
        await client.close()
        return said

    with servers.ChatServer(*script) as server:
        assert asyncio.run(play(server.url)) == ["Nice city.", "You live in Rome.", "Rome again."]
    answer = server.requests[2]["messages"][-1]
    assert answer["role"] == "tool"
    assert "Rome" in answer["content"]
    roles = [message["role"] for message in server.requests[3]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert len(asyncio.run(AgentsSession(memory, "tuesday", user="Anna").get_items())) == 6

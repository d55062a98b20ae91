"""Prompts, completion of names, and several memories on one server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory

pytestmark = pytest.mark.mcp


@pytest.fixture(autouse=True)
def _fast_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    monkeypatch.setenv("WORLDTHREAD_MODEL", "none")


def inside(path: Path, **options: Any) -> Any:
    from mcp import Client

    from worldthread.mcp import SharedMemory, create_server

    return Client(create_server(SharedMemory(path, **options)))


def test_prompts_bring_what_is_remembered_into_the_conversation(tmp_path: Path) -> None:
    from mcp.shared.exceptions import MCPError
    from mcp_types import PromptReference, ResourceTemplateReference

    with Memory(tmp_path / "m") as memory:
        memory.remember("Anna lives in Rome.", at="2023-05-01")
        memory.remember("Anna lives in Paris.", at="2024-03-01")
        memory.remember("Anton lives in Oslo.", at="2024-03-01")

    async def talk() -> None:
        async with inside(tmp_path / "m") as client:
            prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
            assert list(prompts) == ["recall", "history", "save"]
            assert [argument.name for argument in prompts["recall"].arguments] == ["topic"]
            [message] = (await client.get_prompt("recall", {"topic": "Where does Anna live?"})).messages
            assert message.role == "user"
            assert "Anna lives in Paris" in message.content.text
            [message] = (await client.get_prompt("history", {"name": "Anna"})).messages
            assert message.content.text.index("Rome") < message.content.text.index("Paris")
            [message] = (await client.get_prompt("save")).messages
            assert "Remember what will matter" in message.content.text
            with pytest.raises(MCPError):
                await client.get_prompt("history", {"name": ""})

            for ref in (
                PromptReference(type="ref/prompt", name="history"),
                ResourceTemplateReference(type="ref/resource", uri="worldthread://entity/{name}"),
            ):
                found = (await client.complete(ref, {"name": "name", "value": "An"})).completion
                assert (found.values, found.total, found.has_more) == (["anna", "anton"], 2, False)
            other = await client.complete(
                PromptReference(type="ref/prompt", name="recall"), {"name": "topic", "value": "An"}
            )
            assert other.completion.values == []
        async with inside(tmp_path / "m", readonly=True) as client:
            assert "save" not in {prompt.name for prompt in (await client.list_prompts()).prompts}

    asyncio.run(talk())


def test_one_server_has_several_memories(tmp_path: Path) -> None:
    async def talk() -> None:
        async with inside(tmp_path / "m", namespace="work", more_namespaces=["home", "work"]) as client:
            for tool in (await client.list_tools()).tools:
                argument = tool.input_schema["properties"]["namespace"]
                assert "work, home" in argument["description"]
                assert "namespace" not in tool.input_schema.get("required", ())
                assert tool.output_schema
            assert "namespace names one" in client.instructions
            await client.call_tool("remember", {"text": "Anna lives in Rome."})
            await client.call_tool("remember", {"text": "Bob lives in Oslo.", "namespace": "home"})
            for namespace, place in ((None, "Rome"), ("work", "Rome"), ("home", "Oslo")):
                found = await client.call_tool("recall", {"question": "Who lives where?", "namespace": namespace})
                assert place in found.content[0].text
                assert found.content[0].text.count(" lives in ") == 2  # the fact and its passage
            refused = await client.call_tool("stats", {"namespace": "default"})
            assert refused.is_error
            assert "the namespaces are: work, home" in refused.content[0].text
            [state] = (await client.read_resource("worldthread://state")).contents
            assert json.loads(state.text)["namespaces"] == ["work", "home"]
        async with inside(tmp_path / "m", namespace="home") as client:
            assert not any("namespace" in tool.input_schema["properties"] for tool in (await client.list_tools()).tools)

    asyncio.run(talk())

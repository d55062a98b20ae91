"""The memory for AutoGen, in its contexts and with its agent."""

from __future__ import annotations

import asyncio

import pytest

from worldthread import InputError, Memory

pytest.importorskip("autogen_core")

from autogen_core import Image
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import SystemMessage, UserMessage

from worldthread.adapters.autogen import AutoGenMemorySlot

ADAPTER, PACKAGES = "`AutoGenMemorySlot`", ("autogen-core", "autogen-agentchat", "autogen-ext", "protobuf")


def text(content: str, **metadata: object) -> MemoryContent:
    return MemoryContent(content=content, mime_type=MemoryMimeType.TEXT, metadata=metadata or None)


def test_what_was_added_goes_into_the_context_before_an_answer(memory: Memory) -> None:
    async def scenario() -> list[str]:
        slot = AutoGenMemorySlot(memory, user="anna", session="monday")
        await slot.add(text("I live in Rome.", page=3, parts=["not", "kept"]))
        context = UnboundedChatCompletionContext()
        assert (await slot.update_context(context)).memories.results == []  # nobody asked anything
        await context.add_message(UserMessage(content="Where do I live?", source="anna"))
        done = await slot.update_context(context)
        added = (await context.get_messages())[-1]
        assert isinstance(added, SystemMessage)
        assert added.content.startswith("What is remembered:\n")
        return [str(one.content) for one in done.memories.results]

    found = asyncio.run(scenario())
    assert any("Rome" in one for one in found)
    [episode] = memory.episodes()
    assert (episode.user, episode.session, episode.source) == ("anna", "monday", "autogen")
    assert episode.metadata["page"] == 3


def test_a_query_tells_kind_score_and_time_and_no_other_users(memory: Memory) -> None:
    memory.remember("Anna lives in Rome.", at=5, user="anna")
    memory.remember("Anna moved to Paris.", at=9, user="anna")

    async def ask(user: str) -> list[MemoryContent]:
        return (await AutoGenMemorySlot(memory, user=user).query("Where does Anna live?")).results

    found = asyncio.run(ask("anna"))
    fact = next(one for one in found if (one.metadata or {})["kind"] == "fact")
    assert (fact.content, (fact.metadata or {})["valid_from"]) == ("Anna, lives in, Paris", 9)
    assert any((one.metadata or {}).get("at") == 9 for one in found)
    assert asyncio.run(ask("bob")) == []


def test_clear_forgets_what_was_added_here_alone(memory: Memory) -> None:
    memory.remember("Tom likes tea.", user="anna")

    async def scenario() -> None:
        slots = [AutoGenMemorySlot(memory, user="anna", session=name) for name in ("monday", "tuesday")]
        for slot in slots:
            await slot.add(text(f"This is {slot.session}."))
        await slots[0].clear()
        await slots[0].clear()  # nothing is left to clear
        await slots[0].close()

    asyncio.run(scenario())
    assert sorted(episode.text for episode in memory.episodes()) == ["This is tuesday.", "Tom likes tea."]


def test_json_is_kept_as_text_and_pictures_and_nothing_are_refused(memory: Memory) -> None:
    slot = AutoGenMemorySlot(memory)
    asyncio.run(slot.add(MemoryContent(content={"tea": "Täglich"}, mime_type=MemoryMimeType.JSON)))
    assert [episode.text for episode in memory.episodes()] == ['{"tea": "Täglich"}']
    picture = Image.from_base64(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    for content in (
        MemoryContent(content=picture, mime_type=MemoryMimeType.IMAGE),
        MemoryContent(content=b"bytes", mime_type=MemoryMimeType.BINARY),
        text(" "),
    ):
        with pytest.raises(InputError):
            asyncio.run(slot.add(content))
    assert memory.stats()["episodes"] == 1


def test_an_agent_of_autogen_is_shown_what_is_remembered(memory: Memory) -> None:
    agents = pytest.importorskip("autogen_agentchat.agents")
    replay = pytest.importorskip("autogen_ext.models.replay")
    shown: list[str] = []

    class Watched(replay.ReplayChatCompletionClient):  # type: ignore[misc]
        async def create(self, messages: list[object], **options: object) -> object:
            shown.extend(str(getattr(message, "content", "")) for message in messages)
            return await super().create(messages, **options)

    memory.remember("Anna lives in Rome.", user="anna")
    agent = agents.AssistantAgent("helper", Watched(["In Rome."]), memory=[AutoGenMemorySlot(memory, user="anna")])
    result = asyncio.run(agent.run(task="Where does Anna live?"))
    assert result.messages[-1].content == "In Rome."
    assert any("Anna, lives in, Rome" in one or "Anna lives in Rome" in one for one in shown)

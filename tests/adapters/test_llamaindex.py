"""The memory block for LlamaIndex, within LlamaIndex's own memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from worldthread import Memory

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory as LlamaMemory
from llama_index.core.storage.chat_store.sql import MessageStatus

from worldthread.adapters.llamaindex import LlamaIndexMemoryBlock

ADAPTER, PACKAGES = "`LlamaIndexMemoryBlock`", ("llama-index-core",)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def test_what_is_put_is_found_for_the_last_message_of_the_user(memory: Memory) -> None:
    async def play() -> None:
        block = LlamaIndexMemoryBlock(memory=memory, user="Anna")
        assert await block.aget() == ""
        assert await block.aget([user("Where do I live?")]) == ""
        await block.aput(
            [user("I live in Rome."), ChatMessage(role="tool", content="secret"), user(" ")], session_id="s"
        )
        assert "Rome" in await block.aget([user("Where do I live?"), ChatMessage(role="assistant", content="Hm.")])
        other = LlamaIndexMemoryBlock(memory=memory, user="Bob")
        assert "Rome" not in await other.aget([user("Where does Anna live?")])

    asyncio.run(play())
    assert [(e.session, e.user) for e in memory.episodes()] == [("s", "Anna")]


def test_it_takes_only_what_it_is_told_to(memory: Memory) -> None:
    block = LlamaIndexMemoryBlock(memory=memory, accept_short_term_memory=False)
    asyncio.run(block.aput([user("I live in Rome.")], from_short_term_memory=True))
    assert memory.stats()["episodes"] == 0


@pytest.mark.parametrize(("tokens", "left"), [(0, "one\ntwo\nthree"), (1, "one\ntwo"), (2, "one"), (9, None)])
def test_it_is_shortened_by_lines(memory: Memory, tokens: int, left: str | None) -> None:
    assert asyncio.run(LlamaIndexMemoryBlock(memory=memory).atruncate("one\ntwo\nthree", tokens)) == left


@pytest.mark.filterwarnings("ignore")
def test_the_memory_of_llamaindex_lets_go_into_it_and_finds_again(memory: Memory) -> None:
    async def play() -> list[Any]:
        block = LlamaIndexMemoryBlock(memory=memory, user="Anna", priority=0)
        theirs = LlamaMemory.from_defaults(
            session_id="monday", token_limit=120, chat_history_token_ratio=0.4, token_flush_size=20,
            memory_blocks=[block], insert_method="user", tokenizer_fn=str.split,
        )  # fmt: skip
        await theirs.aput(user("I live in Rome."))
        for number in range(8):
            await theirs.aput(user(f"This is small talk of number {number} about nothing at all."))
            await theirs.aput(ChatMessage(role="assistant", content="I see, how very nice of you."))
        await theirs.aput(user("Where do I live?"))
        assert "I live in Rome." not in [message.content for message in await theirs.aget_all(MessageStatus.ACTIVE)]
        return list(await theirs.aget())

    messages = asyncio.run(play())
    assert "Rome" in str(messages[-1].content)
    assert {episode.session for episode in memory.episodes()} == {"monday"}

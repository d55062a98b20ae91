"""A memory block for LlamaIndex: what its short-term memory lets go is remembered and found again."""

from __future__ import annotations

import asyncio
from typing import Any

from worldthread.errors import MissingExtraError
from worldthread.memory.filters import Filter
from worldthread.types import Recall

try:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as error:
    raise MissingExtraError(
        "the memory block for LlamaIndex", extra="llama-index", package="llama-index-core"
    ) from error


class LlamaIndexMemoryBlock(BaseMemoryBlock[str]):  # type: ignore[misc]
    """A memory block for LlamaIndex's ``Memory``.

    Attributes:
        name: the name of the block in the prompt.
        memory: the :class:`~worldthread.Memory`; it stays open.
        user: the person who talks; with one, what other users said is left out.
        k: the maximum number of hits of each kind.
        max_tokens: the limit of the text that goes into the prompt.
        window: how many of the latest messages make the question.
    """

    name: str = "worldthread"
    memory: Any
    user: str = ""
    k: int = 5
    max_tokens: int = 1000
    window: int = 1

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        texts = [message.content for message in messages or [] if message.role.value == "user" and message.content]
        question = "\n".join(texts[-self.window :])
        if not question.strip():
            return ""
        return (await asyncio.to_thread(self._recall, question, self.max_tokens)).text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            if message.role.value in ("user", "assistant") and (message.content or "").strip():
                await asyncio.to_thread(self._remember, message)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Shorten the text of the block by whole lines from its end, which come from the weakest hits.

        Args:
            content: the text.
            tokens_to_truncate: how many tokens must go, of about four characters each.

        Returns:
            The text that is left; ``None`` if nothing is.
        """
        lines = content.split("\n")
        wanted = len(content) - 4 * tokens_to_truncate
        while lines and len("\n".join(lines)) > wanted:
            lines.pop()
        return "\n".join(lines) or None

    def _remember(self, message: ChatMessage) -> None:
        self.memory.remember(
            [{"role": message.role.value, "content": message.content}],
            source="llama-index",
            user=self.user,
            session=str(message.additional_kwargs.get("session_id") or ""),
        )

    def _recall(self, question: str, max_tokens: int) -> Recall:
        where = Filter(user=[self.user, ""]) if self.user else None
        found: Recall = self.memory.recall(question, k=self.k, max_tokens=max_tokens, where=where)
        return found

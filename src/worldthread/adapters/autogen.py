"""A memory for AutoGen: what an agent is told is remembered, and found again before it answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from worldthread.errors import InputError, MissingExtraError, NotFoundError
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.types import Episode, Hit, Recall

try:
    from autogen_core import CancellationToken
    from autogen_core.memory import Memory as AutoGenMemory
    from autogen_core.memory import MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import SystemMessage, UserMessage
except ImportError as error:
    raise MissingExtraError("the memory for AutoGen", extra=None, package="autogen-core") from error

_TEXTS = (MemoryMimeType.TEXT, MemoryMimeType.MARKDOWN, "text/plain", "text/markdown")
_JSON = (MemoryMimeType.JSON, "application/json")


class AutoGenMemorySlot(AutoGenMemory):  # type: ignore[misc]
    """A ``Memory`` of AutoGen's agents: ``AssistantAgent(memory=[...])``.

    Before an agent answers, what fits the last message of the user goes into its context. Agents do not add anything by
    themselves: your program calls :meth:`add`.

    Args:
        memory: holds what is added; it stays open when the slot is closed.
        user: the person whom the agent serves; what is added is theirs, and what other users said is left out.
        session: the conversation in which is added.
        k: the maximum number of hits of each kind.
        max_tokens: the limit of the text that goes into the context.
    """

    def __init__(
        self, memory: Memory, *, user: str = "", session: str = "", k: int = 5, max_tokens: int = 1000
    ) -> None:
        self.memory = memory
        self.user = user
        self.session = session
        self.k = k
        self.max_tokens = max_tokens

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add what fits the last message of the user to the context, as a message of the system."""
        said = [one.content for one in await model_context.get_messages() if isinstance(one, UserMessage)]
        question = said[-1] if said else ""
        if isinstance(question, list):  # with pictures
            question = "\n".join(part for part in question if isinstance(part, str))
        if not question.strip():
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        found = await asyncio.to_thread(self._recall, question)
        if found.text:
            await model_context.add_message(SystemMessage(content=f"What is remembered:\n{found.text}"))
        return UpdateContextResult(memories=_results(found))

    async def query(
        self, query: str | MemoryContent, cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Return what is found for a question: statements and passages, each with its kind, score and time."""
        question = query if isinstance(query, str) else _text(query)
        return _results(await asyncio.to_thread(self._recall, question)) if question.strip() else _results(None)

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Remember a text, Markdown or JSON. Metadata that are texts, numbers or truth values are kept with it.

        Raises:
            InputError: the content is empty, or a picture or bytes.
        """
        text, metadata = _text(content), content.metadata or {}
        if not text.strip():
            raise InputError("the content must not be empty")
        kept = {key: value for key, value in metadata.items() if isinstance(value, str | int | float | bool)}
        await asyncio.to_thread(
            lambda: self.memory.remember(
                text, source="autogen", user=self.user, session=self.session, metadata=kept or None
            )
        )

    async def clear(self) -> None:
        """Forget what was added with this user and this session; everything else in the memory stays."""

        def forget() -> None:
            try:
                self.memory.forget(where=Filter(source="autogen", user=self.user, session=self.session))
            except NotFoundError:
                return

        await asyncio.to_thread(forget)

    async def close(self) -> None:
        """Do nothing: the memory is closed by who opened it."""

    def _recall(self, question: str) -> Recall:
        where = Filter(user=[self.user, ""]) if self.user else None
        return self.memory.recall(question, k=self.k, max_tokens=self.max_tokens, where=where)


def _text(content: MemoryContent) -> str:
    if content.mime_type in _TEXTS and isinstance(content.content, str):
        return content.content
    if content.mime_type in _JSON:
        return content.content if isinstance(content.content, str) else json.dumps(content.content, ensure_ascii=False)
    raise InputError(f"a memory takes text, Markdown and JSON, not {content.mime_type}")


def _results(found: Recall | None) -> MemoryQueryResult:
    return MemoryQueryResult(results=[_content(hit) for hit in found.hits] if found is not None else [])


def _content(hit: Hit) -> MemoryContent:
    item = hit.item
    metadata: dict[str, Any] = {"kind": hit.kind, "score": hit.score}
    if isinstance(item, Episode):
        return MemoryContent(
            content=item.text, mime_type=MemoryMimeType.TEXT, metadata=metadata | {"at": item.at, "id": item.id}
        )
    if hit.version is not None:
        metadata["valid_from"] = hit.version.interval.valid_from
    return MemoryContent(content=str(item), mime_type=MemoryMimeType.TEXT, metadata=metadata)

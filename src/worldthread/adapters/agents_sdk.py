"""A session for the OpenAI Agents SDK, with recall beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from worldthread.adapters.conversation_log import ConversationLog, PastMessage
from worldthread.errors import InputError, MissingExtraError
from worldthread.extract.records import said_in
from worldthread.memory.memory import Memory
from worldthread.types import Recall

try:
    from agents import function_tool
    from agents.memory import SessionABC
except ImportError as error:
    raise MissingExtraError(
        "the session for the OpenAI Agents SDK", extra="openai-agents", package="openai-agents"
    ) from error


class AgentsSession(SessionABC):  # type: ignore[misc]
    """A ``Session`` whose messages are remembered beyond the conversation.

    All items come back as they were, calls of tools included. What the user and the assistant say is read into the
    memory; :meth:`recall_tool` lets the agent ask for it, in this and in any later session.

    Args:
        memory: holds the items; it stays open.
        session_id: the name of the conversation.
        user: the person who talks; with one, recall leaves out what other users said.
        agent: the agent that takes part.

    Examples:
        ::

            session = AgentsSession(Memory("agent.worldthread"), "monday", user="Anna")
            agent = Agent("helper", tools=[session.recall_tool()])
            await Runner.run(agent, "What did I tell you last week?", session=session)
    """

    def __init__(self, memory: Memory, session_id: str, *, user: str = "", agent: str = "") -> None:
        self.session_id = session_id
        self.session_settings = None
        self.log = ConversationLog(memory, session_id, source="openai agents", user=user, agent=agent)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items of the conversation.

        Args:
            limit: the latest so many; ``None`` for all.

        Returns:
            The items, in order.
        """
        return await asyncio.to_thread(self.log.payloads, limit)

    async def add_items(self, items: list[Any]) -> None:
        """Add items to the end, and remember what is said in them.

        Args:
            items: the items.
        """
        await asyncio.to_thread(self.log.add, [_past_message(item) for item in items])

    async def pop_item(self) -> Any | None:
        """Forget the last item.

        Returns:
            The item; ``None`` if there is none.
        """
        return await asyncio.to_thread(self.log.pop)

    async def clear_session(self) -> None:
        """Forget all items of this conversation."""
        await asyncio.to_thread(self.log.clear)

    async def recall(self, query: str, *, k: int = 5, max_tokens: int = 1000) -> Recall:
        """Find what the memory says to a question, from all sessions.

        Args:
            query: the question.
            k: the maximum number of hits of each kind.
            max_tokens: the limit of the text.

        Returns:
            What was found.
        """
        return await asyncio.to_thread(lambda: self.log.recall(query, k=k, max_tokens=max_tokens))

    def recall_tool(self, name: str = "recall") -> Any:
        """Make a tool with which the agent asks the memory.

        Args:
            name: the name of the tool.

        Returns:
            A ``FunctionTool`` of the Agents SDK.
        """

        async def recall(question: str) -> str:
            found = await self.recall(question)
            return found.text or "Nothing is remembered about this."

        wrap: Callable[..., Any] = function_tool(
            name_override=name,
            description_override="Find what is remembered about a question from this and earlier conversations.",
        )
        return wrap(recall)


def _past_message(item: Mapping[str, Any]) -> PastMessage:
    payload = json.loads(json.dumps(item, default=_as_json))
    role, content = payload.get("role"), payload.get("content")
    try:
        text = said_in(content)
    except InputError:  # of a form that nobody knows: it is kept, and not read
        text = ""
    return PastMessage(payload, role if role in ("user", "assistant") else None, text)


def _as_json(value: Any) -> Any:
    """Return an object of the ``openai`` package as JSON values."""
    return value.model_dump(exclude_unset=True) if hasattr(value, "model_dump") else str(value)

"""Tools for Pydantic AI: an agent remembers, recalls and forgets."""

from __future__ import annotations

from typing import Any

from worldthread.errors import MissingExtraError, NotFoundError
from worldthread.filters import Filter
from worldthread.memory import Memory

try:
    from pydantic_ai import FunctionToolset, ModelRetry
except ImportError as error:
    raise MissingExtraError("the tools for Pydantic AI", extra="pydantic-ai", package="pydantic-ai-slim") from error


def memory_toolset(
    memory: Memory, *, user: str = "", session: str = "", max_tokens: int = 1000, can_forget: bool = False
) -> FunctionToolset[Any]:
    """Make a toolset with which an agent uses a memory.

    Args:
        memory: the memory; it stays open.
        user: the person whom the agent serves; what it remembers is theirs, and what other users said is left out.
        session: the conversation in which the agent remembers.
        max_tokens: the limit of what a recall returns.
        can_forget: whether there is a tool that removes what is remembered about a name.

    Returns:
        The tools ``remember``, ``recall``, ``timeline`` and, if wanted, ``forget``: ``Agent(toolsets=[...])``.
    """
    where = Filter(user=[user, ""]) if user else None

    def remember(text: str) -> str:
        """Remember what will matter in later conversations.

        Args:
            text: whole sentences that can be understood by themselves, with names instead of pronouns.
        """
        if not text.strip():
            raise ModelRetry("the text must not be empty")
        done = memory.remember(text, source="pydantic-ai", user=user, session=session)
        return f"Remembered ({done.added} new)."

    def recall(question: str) -> str:
        """Find what is remembered about a question, with the times since when it is so.

        Args:
            question: a whole question.
        """
        if not question.strip():
            raise ModelRetry("the question must not be empty")
        return memory.recall(question, max_tokens=max_tokens, where=where).text or "Nothing is remembered about this."

    def timeline(name: str) -> list[str]:
        """List everything that ever held about a name, in order of time, with what ended.

        Args:
            name: the name of a person, a place or a thing.
        """
        if not name.strip():
            raise ModelRetry("the name must not be empty")
        versions = memory.timeline(name, where=where)
        return [f"{v.statement}{'' if v.interval.is_open else ' (ended: ' + str(v.reason) + ')'}" for v in versions]

    def forget(name: str) -> str:
        """Remove everything that mentions a name, for ever. Only when the user asks for it.

        Args:
            name: the name of a person, a place or a thing.
        """
        if not name.strip():
            raise ModelRetry("the name must not be empty")
        try:
            count = memory.forget(entity=name, where=Filter(user=user) if user else None)
        except NotFoundError:
            return "Nothing is remembered about this."
        return f"Forgotten: {count} passages."

    return FunctionToolset([remember, recall, timeline, *([forget] if can_forget else [])])

"""The tools with which an agent uses a memory, as plain functions for the frameworks that take such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worldthread.errors import InputError, NotFoundError
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory


def memory_functions(
    memory: Memory, source: str, *, user: str = "", session: str = "", max_tokens: int = 1000, can_forget: bool = False
) -> list[Callable[..., Any]]:
    """Make the functions of a memory for a model to call. Their docstrings are written for the model.

    Args:
        memory: the memory; it stays open.
        source: the source of what is remembered.
        user: the person whom the agent serves; what it remembers is theirs, and what other users said is left out.
        session: the conversation in which the agent remembers.
        max_tokens: the limit of what a recall returns.
        can_forget: whether there is a function that removes what is remembered about a name.

    Returns:
        The functions ``remember``, ``recall``, ``timeline`` and, if wanted, ``forget``. An empty argument raises an
        :class:`~worldthread.InputError`, whose message is for the model.
    """
    where = Filter(user=[user, ""]) if user else None

    def remember(text: str) -> str:
        """Remember what will matter in later conversations.

        Args:
            text: whole sentences that can be understood by themselves, with names instead of pronouns.
        """
        done = memory.remember(_given(text, "text"), source=source, user=user, session=session)
        return f"Remembered ({done.added} new)."

    def recall(question: str) -> str:
        """Find what is remembered about a question, with the times since when it is so.

        Args:
            question: a whole question.
        """
        found = memory.recall(_given(question, "question"), max_tokens=max_tokens, where=where)
        return found.text or "Nothing is remembered about this."

    def timeline(name: str) -> list[str]:
        """List everything that ever held about a name, in order of time, with what ended.

        Args:
            name: the name of a person, a place or a thing.
        """
        versions = memory.timeline(_given(name, "name"), where=where)
        return [f"{v.statement}{'' if v.interval.is_open else ' (ended: ' + str(v.reason) + ')'}" for v in versions]

    def forget(name: str) -> str:
        """Remove everything that mentions a name, for ever. Only when the user asks for it.

        Args:
            name: the name of a person, a place or a thing.
        """
        try:
            count = memory.forget(entity=_given(name, "name"), where=Filter(user=user) if user else None)
        except NotFoundError:
            return "Nothing is remembered about this."
        return f"Forgotten: {count} passages."

    return [remember, recall, timeline, *([forget] if can_forget else [])]


def _given(value: str, what: str) -> str:
    if not value.strip():
        raise InputError(f"the {what} must not be empty")
    return value

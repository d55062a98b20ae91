"""Tools for Pydantic AI: an agent remembers, recalls and forgets."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from worldthread.adapters.memory_tools import memory_functions
from worldthread.errors import InputError, MissingExtraError
from worldthread.memory.memory import Memory

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
    functions = memory_functions(
        memory, "pydantic-ai", user=user, session=session, max_tokens=max_tokens, can_forget=can_forget
    )
    return FunctionToolset([_with_retry(function) for function in functions])


def _with_retry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, whose complaint about an argument is sent back to the model."""

    @functools.wraps(function)
    def tool(**arguments: Any) -> Any:
        try:
            return function(**arguments)
        except InputError as error:
            raise ModelRetry(str(error)) from None

    return tool

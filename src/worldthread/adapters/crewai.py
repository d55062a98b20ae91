"""Tools for CrewAI: an agent remembers, recalls and forgets."""

from __future__ import annotations

import inspect
from typing import Any

from worldthread.adapters.memory_tools import memory_functions
from worldthread.errors import MissingExtraError
from worldthread.memory.memory import Memory

try:
    from crewai.tools import BaseTool, tool
except ImportError as error:
    raise MissingExtraError("the tools for CrewAI", extra=None, package="crewai") from error


def memory_tools(
    memory: Memory, *, user: str = "", session: str = "", max_tokens: int = 1000, can_forget: bool = False
) -> list[BaseTool]:
    """Make the tools with which an agent uses a memory.

    Args:
        memory: the memory; it stays open.
        user: the person whom the agent serves; what it remembers is theirs, and what other users said is left out.
        session: the conversation in which the agent remembers.
        max_tokens: the limit of what a recall returns.
        can_forget: whether there is a tool that removes what is remembered about a name.

    Returns:
        The tools ``remember``, ``recall``, ``timeline`` and, if wanted, ``forget``: ``Agent(tools=[...])``.
    """
    functions: list[Any] = memory_functions(
        memory, "crewai", user=user, session=session, max_tokens=max_tokens, can_forget=can_forget
    )
    for function in functions:
        function.__annotations__ = inspect.get_annotations(function, eval_str=True)  # CrewAI does not resolve names
    return [tool(function) for function in functions]

"""Registers the tools of a server, with their titles and annotations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Final

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ToolAnnotations

from worldthread.mcp.reading import ReadingTools
from worldthread.mcp.writing import WritingTools
from worldthread.served_memory import ServedMemory

_READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ADDITIVE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_DESTRUCTIVE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


def add_tools(server: MCPServer[None], shared: ServedMemory) -> None:
    """Add the tools of a memory to a server; those that write only if the memory is not read-only."""
    reading = ReadingTools(shared)
    add_tool(server, reading.recall, "Recall", _READ_ONLY)
    add_tool(server, reading.ask, "Ask the memory", _READ_ONLY)
    add_tool(server, reading.about, "List what holds about something", _READ_ONLY)
    add_tool(server, reading.timeline, "Show the history of something", _READ_ONLY)
    add_tool(server, reading.list_statements, "List statements", _READ_ONLY)
    add_tool(server, reading.stats, "Show the size of the memory", _READ_ONLY)
    if not shared.readonly:
        writing = WritingTools(shared)
        add_tool(server, writing.remember, "Remember", _ADDITIVE)
        add_tool(server, writing.update, "Update", _ADDITIVE)
        add_tool(server, writing.correct, "Correct", _ADDITIVE)
        add_tool(server, writing.merge, "Merge two names", _ADDITIVE)
        add_tool(server, writing.forget, "Forget for good", _DESTRUCTIVE)


def add_tool(
    server: MCPServer[None],
    tool: Callable[..., CallToolResult | Awaitable[CallToolResult]],
    title: str,
    annotations: ToolAnnotations,
) -> None:
    """Add a tool to a server; the tool has the name of the function, and its docstring as the description."""
    description = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(tool) or "")
    server.add_tool(tool, title=title, description=description, annotations=annotations)

"""Which tools a server has, and what they promise."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Final

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ToolAnnotations

from worldthread.mcp.reading import ReadingTools
from worldthread.mcp.shared import SharedMemory
from worldthread.mcp.writing import WritingTools

_LOOKS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_REMOVES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


def add_tools(server: MCPServer[None], shared: SharedMemory) -> None:
    """Give a server the tools of a memory, without those that write where the memory is for reading only."""
    extraction = ReadingTools(shared)
    add_tool(server, extraction.recall, "Recall", _LOOKS)
    add_tool(server, extraction.ask, "Ask the memory", _LOOKS)
    add_tool(server, extraction.about, "What holds about something", _LOOKS)
    add_tool(server, extraction.timeline, "History of something", _LOOKS)
    add_tool(server, extraction.stats, "Size of the memory", _LOOKS)
    if not shared.readonly:
        writing = WritingTools(shared)
        add_tool(server, writing.remember, "Remember", _ADDS)
        add_tool(server, writing.forget, "Forget for good", _REMOVES)


def add_tool(
    server: MCPServer[None],
    tool: Callable[..., CallToolResult | Awaitable[CallToolResult]],
    title: str,
    annotations: ToolAnnotations,
) -> None:
    """Give a server a tool, which is called as the function is and described by its docstring."""
    description = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(tool) or "")
    server.add_tool(tool, title=title, description=description, annotations=annotations)

"""A memory as tools for any MCP client: over standard input and output, or over HTTP with a token.

Needs the extra ``mcp``. The command ``worldthread mcp`` is made of these parts::

    memory = SharedMemory("home.worldthread")
    serve_stdio(create_server(memory), memory.close)
"""

from __future__ import annotations

from worldthread.mcp.access import Access
from worldthread.mcp.server import create_server
from worldthread.mcp.serving import serve_http, serve_stdio
from worldthread.mcp.shared import SharedMemory

__all__ = ["Access", "SharedMemory", "create_server", "serve_http", "serve_stdio"]

"""Serve a memory to MCP clients, over standard input and output or over HTTP with a token.

Needs the extra ``mcp``. The command ``worldthread mcp`` uses these parts::

    memory = SharedMemory("home.worldthread")
    serve_stdio(create_server(memory), memory.close)
"""

from __future__ import annotations

from worldthread.mcp.server import create_reference_server, create_server
from worldthread.mcp.serving import serve_http, serve_stdio
from worldthread.mcp.shared import SharedMemory
from worldthread.support.server_access import Access

__all__ = ["Access", "SharedMemory", "create_reference_server", "create_server", "serve_http", "serve_stdio"]

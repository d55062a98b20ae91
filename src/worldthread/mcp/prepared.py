"""A server of tools that is ready to run, of the memory or of another package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcp.server.mcpserver import MCPServer


@dataclass(frozen=True)
class PreparedServer:
    """A server that is ready to run, with its names and its configuration for clients.

    An entry point of the group :data:`worldthread.support.extensions.TOOLS` names a function that returns one.

    Args:
        server: the server.
        close: releases what it serves.
        title: what it serves, in words.
        name: its name in the configuration of a client.
        stdio_entry: returns that configuration for a client that starts it.
        end_changes: waits for changes that go on, before the process ends.
    """

    server: MCPServer[None]
    close: Callable[[], None]
    title: str
    name: str
    stdio_entry: Callable[[], str]
    end_changes: Callable[[], None] = lambda: None

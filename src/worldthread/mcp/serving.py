"""Runs an MCP server over standard input and output, or over HTTP."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from typing import Any, Final

import anyio
from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from starlette.types import ASGIApp

from worldthread.mcp.access import RequireToken, transport_security
from worldthread.support.server_access import Access, port_of

HTTP_PATH: Final = "/mcp"
"""Path of the URL under which clients reach a server over HTTP."""
_MAX_BODY: Final = 16 * 1024 * 1024  # the longest text that `remember` takes, written with escapes
_SHUTDOWN_SECONDS: Final = 5  # for running calls when the server ends


def serve_stdio(server: MCPServer[Any], close: Callable[[], None]) -> None:
    """Serve one client over standard input and output, until it closes them or a signal ends the process.

    Args:
        server: the server. Its standard output carries only the protocol; the SDK sends printed text to standard error.
        close: releases what the server holds. Called before a signal ends the process; may be called twice.
    """
    anyio.run(_serve_stdio, server, close)


async def _serve_stdio(server: MCPServer[Any], close: Callable[[], None]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, close)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()


async def _end_on_signal(close: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            await to_thread.run_sync(close)
            # a thread waits for the next line of standard input; only the end of the process stops it
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


def http_app(server: MCPServer[Any], access: Access, port: int) -> ASGIApp:
    """Return the server as an ASGI application that requires the token, if there is one."""
    app = server.streamable_http_app(
        streamable_http_path=HTTP_PATH,
        # every call is answered on its own, so that clients survive a restart of the server
        stateless_http=True,
        max_request_body_size=_MAX_BODY,
        transport_security=transport_security(access, port),
        host=access.host,
    )
    return RequireToken(app, access) if access.needs_token else app


def serve_http(
    server: MCPServer[Any], access: Access, listening: socket.socket, stopping: Callable[[], None] = lambda: None
) -> None:
    """Serve any number of clients over streamable HTTP, until a signal ends the process.

    Args:
        server: the server; its lifespan releases what it holds.
        access: the host names and the token of the server.
        listening: a socket from :func:`worldthread.support.server_access.listening_socket`; closed on return.
        stopping: called when the server begins to end; the lifespan ends only after the calls that are running.
    """
    from worldthread.support.server_connections import run_server

    app = http_app(server, access, port_of(listening))
    run_server(app, listening, shutdown_seconds=_SHUTDOWN_SECONDS, has_lifespan=True, stopping=stopping)

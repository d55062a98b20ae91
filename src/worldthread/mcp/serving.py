"""How a server meets its clients: over standard input and output, or over HTTP."""

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

from worldthread.addresses import in_address, port_of
from worldthread.mcp.access import Access, RequireToken

HTTP_PATH: Final = "/mcp"
_MAX_BODY: Final = 16 * 1024 * 1024  # the longest text that `remember` takes, in escapes
_LAST_ANSWERS: Final = 5  # seconds for the calls that are under way when the server ends


def serve_stdio(server: MCPServer[Any], close: Callable[[], None]) -> None:
    """Serve one client over standard input and output, until it closes them or a signal ends the process.

    Args:
        server: its standard output carries the protocol and nothing else; the SDK turns what is printed to the error.
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
            # a thread waits for the next line of standard input, and nothing but the end of the process ends that
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


def url_of(access: Access, listening: socket.socket) -> str:
    """Where clients find the server."""
    return f"http://{in_address(access.names[0] if access.names else access.host)}:{port_of(listening)}{HTTP_PATH}"


def http_app(server: MCPServer[Any], access: Access, port: int) -> ASGIApp:
    """The server as an ASGI application, behind its token."""
    app = server.streamable_http_app(
        streamable_http_path=HTTP_PATH,
        # a call is answered at once and on its own, so that clients outlive a restart of the server
        json_response=True,
        stateless_http=True,
        max_request_body_size=_MAX_BODY,
        transport_security=access.security(port),
        host=access.host,
    )
    return app if access.token is None else RequireToken(app, access.token)


def serve_http(server: MCPServer[Any], access: Access, listening: socket.socket) -> None:
    """Serve any number of clients over streamable HTTP, until a signal ends the process.

    Args:
        server: what it holds is released by its lifespan.
        access: whom to serve.
        listening: made by :func:`worldthread.addresses.listening_socket`; closed when this returns.
    """
    import uvicorn

    config = uvicorn.Config(
        http_app(server, access, port_of(listening)),
        log_config=None,  # uvicorn's own would write to standard output
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    with listening:
        uvicorn.Server(config).run(sockets=[listening])

"""Runs the server of the web pages."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp

_SHUTDOWN_SECONDS: Final = 0.5  # for running requests when the server ends


def serve(app: ASGIApp, listening: socket.socket, stopping: Callable[[], None] = lambda: None) -> None:
    """Serve browsers until a signal ends the process.

    Args:
        app: the application; see :func:`worldthread.web.app.create_app`.
        listening: a socket from :func:`worldthread.support.server_access.listening_socket`; closed on return.
        stopping: called when the server begins to end; it should end what would never end by itself.
    """
    from worldthread.support.server_connections import run_server

    run_server(app, listening, shutdown_seconds=_SHUTDOWN_SECONDS, has_lifespan=False, stopping=stopping)

"""Runs the server of the web pages."""

from __future__ import annotations

import socket
from typing import Final

from starlette.types import ASGIApp

_SHUTDOWN_SECONDS: Final = 1  # for running requests when the server ends; streams would never end


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve browsers until a signal ends the process.

    Args:
        app: the application; see :func:`worldthread.web.app.create_app`.
        listening: a socket from :func:`worldthread.server_access.listening_socket`; closed on return.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    with listening:
        uvicorn.Server(config).run(sockets=[listening])

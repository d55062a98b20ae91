"""Runs the server of the service."""

from __future__ import annotations

import socket
from typing import Final

from starlette.types import ASGIApp

from worldthread.service.state import Service

_IDLE_SECONDS: Final = 75  # longer than clients and proxies keep connections, so that they close them
_SHUTDOWN_SECONDS: Final = 20  # for running requests when the server ends


def serve(app: ASGIApp, service: Service, listening: socket.socket) -> None:
    """Serve clients until a signal ends the process; what is running then is finished first, as far as it is short.

    Args:
        app: the application; see :func:`worldthread.service.app.create_app`.
        service: its service.
        listening: a socket from :func:`worldthread.support.server_access.listening_socket`; closed on return.
    """
    from worldthread.support.server_connections import run_server

    run_server(
        app, listening, shutdown_seconds=_SHUTDOWN_SECONDS, has_lifespan=True, stopping=service.begin_to_end,
        idle_seconds=_IDLE_SECONDS,
    )  # fmt: skip

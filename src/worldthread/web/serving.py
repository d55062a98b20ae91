"""How the server runs."""

from __future__ import annotations

import socket
from typing import Final

from starlette.types import ASGIApp

_LAST_ANSWERS: Final = 1  # second for requests that are under way when the server ends: streams would never


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve browsers until a signal ends the process.

    Args:
        app: made by :func:`worldthread.web.app.create_app`.
        listening: made by :func:`worldthread.server_access.listening_socket`; closed when this returns.
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
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    with listening:
        uvicorn.Server(config).run(sockets=[listening])

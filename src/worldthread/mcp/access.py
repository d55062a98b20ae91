"""Checks of HTTP requests to an MCP server: host names, origins, and the bearer token, which may say whose it is."""

from __future__ import annotations

import logging
from typing import Final

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from worldthread.errors import InputError
from worldthread.memory.served_memory import serving_client
from worldthread.support.server_access import Access, WrongTokens, bearer_token

_log: Final = logging.getLogger(__name__)


def transport_security(access: Access, port: int) -> TransportSecuritySettings:
    """Return the settings with which the SDK rejects foreign hosts and origins, to prevent DNS rebinding."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        # any port: a tunnel to this server may have another one at its far end
        allowed_hosts=[form for name in (*access.own_names, *access.names) for form in (name, f"{name}:*")],
        # the server has no pages of its own, so every other origin is foreign
        allowed_origins=[f"http://{name}:{port}" for name in access.own_names],
    )


class RequireToken:
    """Answers 401 to every HTTP request without the token (RFC 6750), in constant time, and logs wrong tokens.

    While a file of clients cannot be used, it answers 503 to every request.

    Args:
        app: the application behind the check.
        access: holds the token.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._wrong = WrongTokens()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given = bearer_token(Headers(scope=scope).get("authorization", ""))
        try:
            client = self._access.client_of(given)
        except InputError as error:
            _log.error("nobody is let in: %s", error)
            unusable = "the file of clients cannot be used; the log of the server says why"
            response = JSONResponse(
                {"error": "temporarily_unavailable", "error_description": unusable}, 503, {"Retry-After": "5"}
            )
            await response(scope, receive, send)
            return
        if client is not None:
            with serving_client(client.namespaces, writes=client.writes):
                await self._app(scope, receive, send)
            return
        if self._access.is_token(given):
            await self._app(scope, receive, send)
            return
        if given:
            self._wrong.note(scope)
        challenge = 'Bearer realm="worldthread"' + (', error="invalid_token"' if given else "")
        response = JSONResponse(
            {"error": "invalid_token", "error_description": "this server requires its bearer token"},
            status_code=401,
            headers={"WWW-Authenticate": challenge},
        )
        await response(scope, receive, send)

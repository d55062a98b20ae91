"""Who may reach a server over HTTP: a bearer token, and the names under which the server answers."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from worldthread.addresses import in_address, is_every_address, is_loopback
from worldthread.errors import InputError

TOKEN_VARIABLE: Final = "WORLDTHREAD_MCP_TOKEN"
_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Access:
    """Where a server listens and whom it serves. Made by :meth:`of`, which refuses what is not safe.

    Args:
        host: address or name to listen on.
        port: 0 for a free one.
        names: other names under which clients ask for the server, such as that of a proxy.
        token: what a client must show; ``None`` for nothing.
        is_generated: whether the token was made here, so that nobody knows it yet.
    """

    host: str
    port: int
    names: tuple[str, ...] = ()
    token: str | None = field(default=None, repr=False)
    is_generated: bool = False

    @classmethod
    def of(
        cls, host: str, port: int, *, names: Sequence[str] = (), token: str | None = None, no_token: bool = False
    ) -> Access:
        """Check that this is safe, and make a token where none is given.

        A server on loopback wants a token too: every process of the machine can reach it, of whichever user.

        Raises:
            InputError: it is not safe; the message says what to give.
        """
        if no_token and token is not None:
            raise InputError(f"a token is given (--token or ${TOKEN_VARIABLE}) and refused (--no-token): choose one")
        if token is not None and (not token or not token.isascii() or not token.isprintable() or " " in token):
            raise InputError("a token must be printable ASCII without spaces, and not empty")
        if not is_loopback(host) and token is None:
            raise InputError(f"other machines can reach {host}: give a token in ${TOKEN_VARIABLE} (or with --token)")
        if is_every_address(host) and not names:
            raise InputError(
                f"{host} is every address of this machine: say with --allow-host by which name clients ask for it"
            )
        is_generated = token is None and not no_token
        return cls(host, port, tuple(names), secrets.token_urlsafe(32) if is_generated else token, is_generated)

    def security(self, port: int) -> TransportSecuritySettings:
        """The names that a request may ask for, and the pages that may send one: against DNS rebinding."""
        own = (*_LOOPBACK_NAMES, in_address(self.host))
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            # any port: a tunnel to this server has another one at its far end
            allowed_hosts=[form for name in (*own, *self.names) for form in (name, f"{name}:*")],
            # no page is served here, so that pages of other origins are all strangers
            allowed_origins=[f"http://{name}:{port}" for name in own],
        )


class RequireToken:
    """Answers 401 to every HTTP request without the token (RFC 6750). How long that takes tells nothing of it."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        scheme, _, shown = Headers(scope=scope).get("authorization", "").partition(" ")
        given = shown.strip().encode("latin-1") if scheme.lower() == "bearer" else b""
        if secrets.compare_digest(given, self._token):
            await self._app(scope, receive, send)
            return
        challenge = 'Bearer realm="worldthread"' + (', error="invalid_token"' if given else "")
        refusal = JSONResponse(
            {"error": "invalid_token", "error_description": "this server wants its bearer token"},
            status_code=401,
            headers={"WWW-Authenticate": challenge},
        )
        await refusal(scope, receive, send)

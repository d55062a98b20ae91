"""Whom the server serves: which names and pages, and who shows the token. Every answer gets its headers here."""

from __future__ import annotations

import html
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worldthread.addresses import in_address, is_every_address, is_loopback
from worldthread.errors import InputError
from worldthread.web.answers import MAX_BODY, refusal

TOKEN_VARIABLE: Final = "WORLDTHREAD_WEB_TOKEN"
LOGIN_PATH: Final = "/login"
_OPEN_PATHS: Final = frozenset({LOGIN_PATH, "/static/app.css"})
"""What is served without the token: the page that asks for it."""
_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types worldthread",
    )
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # none at all would make browsers send no origin with a form
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_LOGIN: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>worldthread</title><link rel="stylesheet" href="/static/app.css"></head>
<body class="login"><main><h1>worldthread</h1><p>{told}</p>
<form method="post" action="/login"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button class="primary">Open</button></form></main></body></html>
"""
_ASKED: Final = "The server told its token when it was started."


@dataclass(frozen=True)
class Access:
    """Where a server listens and whom it serves. Made by :meth:`of`, which refuses what is not safe.

    Args:
        host: address or name to listen on.
        port: 0 for a free one.
        names: other names under which browsers ask for the server, such as that of a proxy.
        token: what a browser must show; ``None`` for nothing.
        session: what a browser holds that has shown the token.
    """

    host: str
    port: int
    names: tuple[str, ...] = ()
    token: str | None = field(default=None, repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @classmethod
    def of(cls, host: str, port: int, *, names: Sequence[str] = (), token: str | None = None) -> Access:
        """Check that this is safe; a server that other machines can reach gets a token when none is given.

        Raises:
            InputError: it is not safe; the message says what to give.
        """
        if token is not None and (not token or not token.isascii() or not token.isprintable() or " " in token):
            raise InputError("a token must be printable ASCII without spaces, and not empty")
        if is_every_address(host) and not names:
            raise InputError(
                f"{host} is every address of this machine: say with --allow-host by which name browsers ask for it"
            )
        if token is None and not is_loopback(host):
            token = secrets.token_urlsafe(32)
        return cls(host, port, tuple(names), token)

    def is_ours(self, host: str) -> bool:
        """Whether this is a name of the server, as the header ``Host`` tells it: against DNS rebinding."""
        name = host[: host.rfind(":")] if not host.endswith("]") and ":" in host else host
        # any port: a tunnel to this server has another one at its far end
        return name.lower() in {n.lower() for n in (*_LOOPBACK_NAMES, in_address(self.host), *self.names)}

    def url(self, port: int, *, path: str = "/") -> str:
        """Where a browser finds the server."""
        name = self.names[0] if self.names else in_address(self.host)
        return f"http://{name}:{port}{path}"


class Guard:
    """Refuses requests for other hosts, from pages of others, without the token, and with too long a body.

    Args:
        app: what is guarded.
        access: whom to serve.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        request = Request(scope, receive)
        answer = self._refused(request) or await self._login(request)
        await (answer or self._app)(scope, receive, with_headers)

    def _refused(self, request: Request) -> Response | None:
        """Why a request is not served, whoever sent it."""
        headers = request.headers
        host = headers.get("host", "")
        if not self._access.is_ours(host):
            return refusal(421, "UnknownHost", "this server does not answer to that name (--allow-host)")
        if not _is_same_origin(headers, host, is_reading=request.method in _READING):
            return refusal(403, "ForeignPage", "a page of another site may not send this")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            return refusal(413, "TooLong", f"at most {MAX_BODY} bytes are taken")
        return None

    async def _login(self, request: Request) -> Response | None:
        """The answer to who has not shown the token, or shows it just now; ``None`` to who may pass."""
        if self._access.token is None:
            return None
        path = request.url.path
        if path == LOGIN_PATH and request.method == "POST":
            fields = parse_qs((await _body(request)).decode("utf-8", "replace"))
            return self._welcome(request, fields.get("token", [""])[0], "/")
        if "token" in request.query_params and request.method == "GET":
            return self._welcome(request, request.query_params["token"], path)
        if self._is_known(request) or path in _OPEN_PATHS:
            return None
        return _ask(request, _ASKED)

    def _is_known(self, request: Request) -> bool:
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(shown.strip()):
            return True
        cookie = request.cookies.get(_cookie_name(request), "")
        return secrets.compare_digest(cookie.encode(), self._access.session.encode())

    def _is_token(self, shown: str) -> bool:
        return secrets.compare_digest(shown.encode(), (self._access.token or "").encode())

    def _welcome(self, request: Request, shown: str, path: str) -> Response:
        if not self._is_token(shown):
            return _ask(request, "This is not the token.")
        # two slashes would lead to another host
        answer = RedirectResponse("/" + path.lstrip("/"), 303)
        answer.set_cookie(
            _cookie_name(request), self._access.session, httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return answer


def _is_same_origin(headers: Headers, host: str, *, is_reading: bool) -> bool:
    """Whether a request comes from a page of this server, from a person, or from no browser."""
    site = headers.get("sec-fetch-site")
    if not is_reading and site not in (None, "same-origin", "none"):
        return False
    # a link on another page may lead here, its scripts and pictures may not
    if is_reading and site in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def _cookie_name(request: Request) -> str:
    """Servers on other ports of the host get all its cookies: theirs must not be taken for ours."""
    return f"worldthread-{request.url.port or 0}"


def _ask(request: Request, told: str) -> Response:
    """Ask for the token: a person by a page, a program by an error."""
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(_LOGIN.format(told=html.escape(told)), 401)
    answer = refusal(401, "TokenWanted", "this server wants its token")
    answer.headers["www-authenticate"] = 'Bearer realm="worldthread"'
    return answer


async def _body(request: Request) -> bytes:
    """The body, as far as it is taken."""
    parts = b""
    async for part in request.stream():
        parts += part
        if len(parts) > MAX_BODY:
            break
    return parts[:MAX_BODY]

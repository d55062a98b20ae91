"""The middleware in front of the web pages: it checks host, origin and token, and adds security headers."""

from __future__ import annotations

import html
from collections import OrderedDict
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worldthread.support.server_access import Access, WrongTokens, bearer_token, generate_secret
from worldthread.web.answers import MAX_BODY, MAX_UPLOAD, error_response, is_upload

LOGIN_PATH: Final = "/login"
_OPEN_PATHS: Final = frozenset({LOGIN_PATH, "/static/app.css"})
"""Served without the token: the login page and its style sheet."""
_MOST_SESSIONS: Final = 1000
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
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
<body class="login"><main><h1>worldthread</h1><p>{message}</p>
<form method="post" action="/login"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button class="primary">Open</button></form></main></body></html>
"""
_LOGIN_HINT: Final = "The server printed its token when it was started."


class PageGuard:
    """Rejects requests for other hosts, from foreign pages, without the token, or with a body that is too long.

    A browser that has sent the token gets a session cookie, which is valid as long as this object exists.

    Args:
        app: the application behind the checks.
        access: the host names and the token of the server.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._wrong = WrongTokens()
        self._sessions: OrderedDict[str, str] = OrderedDict()  # tokens by cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
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
        response = self._rejection(request) or await self._login(request)
        await (response or self._app)(scope, receive, with_headers)

    def _rejection(self, request: Request) -> Response | None:
        """Return the error for a request that nobody may send; ``None`` if it is allowed."""
        headers = request.headers
        host = headers.get("host", "")
        if not self._access.is_own_host(host):
            return error_response(
                421, "UnknownHost", "this server has another host name; allow this one with --allow-host"
            )
        if not _is_same_origin(headers, host, is_safe=request.method in _SAFE_METHODS):
            return error_response(403, "ForeignPage", "pages of other sites may not send this request")
        length = headers.get("content-length", "0")
        most = MAX_UPLOAD if is_upload(request.url.path) else MAX_BODY
        if not length.isdecimal() or int(length) > most:
            return error_response(413, "TooLong", f"the body must have at most {most} bytes")
        return None

    async def _login(self, request: Request) -> Response | None:
        """Return the login page or the answer to a login; ``None`` if the sender is logged in or needs no token."""
        if not self._access.needs_token:
            return None
        path = request.url.path
        if path == LOGIN_PATH and request.method == "POST":
            fields = parse_qs((await _body(request)).decode("utf-8", "replace"))
            return self._log_in(request, fields.get("token", [""])[0], "/")
        if "token" in request.query_params and request.method == "GET":
            return self._log_in(request, request.query_params["token"], path)
        if self._is_logged_in(request) or path in _OPEN_PATHS:
            return None
        return _login_response(request, _LOGIN_HINT)

    def _is_logged_in(self, request: Request) -> bool:
        given = bearer_token(request.headers.get("authorization", ""))
        if self._access.is_token(given):
            return True
        if given:
            self._wrong.note(request.scope)
        token = self._sessions.get(request.cookies.get(_cookie_name(request), ""))
        return token is not None and self._access.is_token(token)  # it may have been revoked since

    def _log_in(self, request: Request, token: str, path: str) -> Response:
        if not self._access.is_token(token):
            self._wrong.note(request.scope)
            return _login_response(request, "This is not the token.")
        session = generate_secret()
        self._sessions[session] = token
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        # two slashes would redirect to another host
        response = RedirectResponse("/" + path.lstrip("/"), 303)
        response.set_cookie(
            _cookie_name(request), session, httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return response


def _is_same_origin(headers: Headers, host: str, *, is_safe: bool) -> bool:
    """Return whether a request comes from a page of this server, from an address bar, or from no browser."""
    site = headers.get("sec-fetch-site")
    if not is_safe and site not in (None, "same-origin", "none"):
        return False
    # other pages may link to this server, but their scripts and images may not load from it
    if is_safe and site in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def _cookie_name(request: Request) -> str:
    """Return the name of the session cookie; it names the port, since all ports of a host share its cookies."""
    return f"worldthread-{request.url.port or 0}"


def _login_response(request: Request, message: str) -> Response:
    """Return the login page for a browser, or an error for a program."""
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(_LOGIN.format(message=html.escape(message)), 401)
    response = error_response(401, "TokenWanted", "this server requires its token")
    response.headers["www-authenticate"] = 'Bearer realm="worldthread"'
    return response


async def _body(request: Request) -> bytes:
    """Return the body, cut at the longest length that is accepted."""
    parts = b""
    async for part in request.stream():
        parts += part
        if len(parts) > MAX_BODY:
            break
    return parts[:MAX_BODY]

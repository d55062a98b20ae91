"""The middleware in front of the API: tokens, rates, sizes, and how much is done at a time."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from fastapi import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worldthread.errors import InputError
from worldthread.service.clients import ClientDirectory
from worldthread.service.limits import RateLimiter, ServiceLimits
from worldthread.service.metrics import Metrics
from worldthread.service.problems import ProblemError, problem_response, retry_after
from worldthread.support.server_access import Client, WrongTokens, bearer_token

OPEN_PATHS: Final = frozenset({"/health", "/ready", "/openapi.json"})
"""Answered without a token. They tell nothing about any memory."""
_log = logging.getLogger(__name__)
_CHALLENGE: Final = 'Bearer realm="worldthread"'
_HEADERS: Final = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}


class ServiceGuard:
    """Lets requests of known clients through, as many and as long as they may be.

    What comes from nobody who is known is answered before its body is read.

    Args:
        app: the application behind the checks. It finds the client in ``scope["state"]["client"]``.
        directory: knows the clients.
        limits: what clients may ask.
        metrics: counts requests.
    """

    def __init__(self, app: ASGIApp, directory: ClientDirectory, limits: ServiceLimits, metrics: Metrics) -> None:
        self._app = app
        self._directory = directory
        self._limits = limits
        self._rates = RateLimiter(limits.rate, limits.burst)
        self._metrics = metrics
        self._running = 0
        self._wrong = WrongTokens()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        self._running += 1
        self._metrics.running.set(self._running)
        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, with_headers)
            else:
                await self._app(scope, self._bounded(scope, receive), with_headers)
        finally:
            self._running -= 1
            self._metrics.running.set(self._running)
            route = _route(scope)
            self._metrics.requests.labels(route, _method(scope), str(status)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - began)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is sent away; ``None`` lets it through."""
        if scope["path"] in OPEN_PATHS:
            return None
        headers = Headers(scope=scope)
        given = bearer_token(headers.get("authorization", ""))
        try:
            client = self._directory.client_of(given) if given else None
        except InputError as error:
            _log.error("nobody is let in: %s", error)
            return self._refuse("clients", 503, "the file of clients cannot be used; the log of the server says why", 5)
        if client is None:
            if given:
                self._wrong.note(scope)
            what = "this token is not known" if given else "send your token: Authorization: Bearer TOKEN"
            response = self._refuse("token", 401, f"{what}; `worldthread serve token add` makes one")
            response.headers["www-authenticate"] = _CHALLENGE + (', error="invalid_token"' if given else "")
            return response
        scope.setdefault("state", {})["client"] = client
        wait = self._rates.seconds_to_wait(client.name)
        if wait:
            return self._refuse("rate", 429, f"at most {self._limits.rate:g} requests per second: send fewer", wait)
        if self._running > self._limits.requests:
            return self._refuse("load", 503, "the service answers too many requests at the moment: try again", 1)
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            return self._refuse("encoding", 415, "send the body as it is, without Content-Encoding")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return self._refuse("length", 400, "Content-Length must be a number")
        most = self._most_bytes(scope["path"])
        if len(length) > 18 or int(length) > most:
            return self._refuse("length", 413, f"the body must have at most {most:,} bytes: send it in parts")
        return None

    def _refuse(self, reason: str, status: int, detail: str, wait: float = 0.0) -> Response:
        self._metrics.refused.labels(reason).inc()
        headers = {"Retry-After": retry_after(wait)} if wait else None
        return problem_response(status, detail, headers=headers)

    def _most_bytes(self, path: str) -> int:
        end = path.rsplit("/", 1)[-1]
        if end == "import":
            return self._limits.import_bytes
        return self._limits.remember_bytes if end in ("remember", "mcp") else self._limits.body_bytes

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """Return ``receive`` for a body that may be longer than it says, or does not say how long it is."""
        most, received = self._most_bytes(scope["path"]), 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > most:
                    self._metrics.refused.labels("length").inc()
                    raise ProblemError(413, f"the body must have at most {most:,} bytes: send it in parts")
            return message

        return bounded


def client_of(scope: Any) -> Client:
    """Return the client that sends a request, which the guard has found."""
    client = scope["state"]["client"]
    assert isinstance(client, Client)
    return client


def _route(scope: Scope) -> str:
    """Return the route of a request as it is written in the code, so that no name gets into the metrics."""
    route = scope.get("route")
    return str(getattr(route, "path", None) or scope.get("worldthread.route", "other"))


def _method(scope: Scope) -> str:
    """Return the method; one that does not exist gets no counter of its own."""
    method = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"

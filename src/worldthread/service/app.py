"""The service as an ASGI application: the API, the MCP server and the page behind one address."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from anyio import to_thread
from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp, Receive, Scope, Send

from worldthread import __version__
from worldthread.memory.served_memory import serving_client
from worldthread.service import requests as r
from worldthread.service.guard import ServiceGuard, client_of
from worldthread.service.problems import (
    PROBLEM_TYPE,
    Problem,
    ProblemError,
    add_problem_handlers,
    problem_response,
)
from worldthread.service.routes import router
from worldthread.service.state import Service

_ENDING_SECONDS: Final = 20.0  # for jobs that were cancelled
_MCP_PATH: Final = re.compile(r"/v1/namespaces/([^/]+)/mcp")
_API_PATHS: Final = re.compile(r"/(?:v1(?:/.*)?|health|ready|metrics|openapi\.json)", re.DOTALL)
_DESCRIPTION: Final = """\
Memories for agents: what was said, what holds of it, and when it held.

Every request needs a token, which opens some memories (namespaces) and no others: `Authorization: Bearer TOKEN`. Errors
are problem details (RFC 9457) whose `detail` says what to do. What is acknowledged is durable.

Times are dates, dates with times (ISO 8601; UTC if they name no zone), or numbers of turns.
"""
_PROBLEMS: Final = {
    400: "The request cannot be read.",
    401: "There is no token, or nobody has this one.",
    403: "The token does not open this memory, or only reads it.",
    404: "There is no such episode, statement, entity or job.",
    409: "What the memory holds does not allow it, or the Idempotency-Key was used for another request, or is in use.",
    413: "The body is too long.",
    415: "The body has another type than expected.",
    422: "A part of the request cannot be used; the detail says which and why.",
    429: "Too many requests, or too many jobs; Retry-After says when to come again.",
    500: "The service failed.",
    502: "The chat model failed.",
    503: "The memory cannot be used at the moment, or the service is ending; Retry-After says when to come again.",
}


def create_app(service: Service, *, mcp: bool = False, page: ASGIApp | None = None) -> ASGIApp:
    """Return the application.

    Args:
        service: the service. The application ends it when the server ends.
        mcp: whether to offer each memory to MCP clients too, at ``/v1/namespaces/{namespace}/mcp``.
        page: serves all other addresses.

    Returns:
        The application.
    """
    api = _api(service)
    mounted = None
    if mcp:
        from worldthread.service.mcp_mount import mcp_app

        mounted = mcp_app(service.memories)

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        found = _MCP_PATH.fullmatch(scope["path"]) if scope["type"] == "http" and mounted is not None else None
        if found is None or mounted is None:
            await api(scope, receive, send)
            return
        scope["worldthread.route"] = "/v1/namespaces/{namespace}/mcp"
        client = client_of(scope)
        if found[1] not in client.namespaces:
            response = problem_response(403, "this token does not open this memory")
            await response(scope, receive, send)
            return
        with serving_client([found[1]], writes=client.writes):
            await mounted({**scope, "path": "/mcp", "raw_path": b"/mcp"}, receive, send)

    guarded = ServiceGuard(served, service.directory, service.limits, service.metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = service.limits.threads
        async with AsyncExitStack() as stack:
            if mounted is not None:
                await stack.enter_async_context(mounted.router.lifespan_context(mounted))
            try:
                yield
            finally:
                await to_thread.run_sync(service.end, _ENDING_SECONDS)

    api.router.lifespan_context = lifespan

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if page is not None and scope["type"] == "http" and _API_PATHS.fullmatch(scope["path"]) is None:
            await page(scope, receive, send)
        else:
            await guarded(scope, receive, send)

    return app


def description() -> dict[str, Any]:
    """Return the OpenAPI document of the API."""
    return _described(_api(None))


def _api(service: Service | None) -> FastAPI:
    api = FastAPI(title="worldthread", version=__version__, docs_url=None, redoc_url=None)
    api.state.service = service
    add_problem_handlers(api)
    api.openapi = lambda: _described(api)  # type: ignore[method-assign]

    @api.get("/health", summary="Say that the service runs", operation_id="health")
    async def health(request: Request) -> r.HealthResult:
        """Answer as long as the process runs."""
        ending = request.app.state.service.is_ending
        return r.HealthResult(status="ending" if ending else "ok", version=__version__)

    @api.get("/ready", summary="Say whether the memories can be used", operation_id="ready")
    def ready(request: Request) -> r.HealthResult:
        """Read the file or ask the server, and answer 503 if that fails or the service is ending."""
        state: Service = request.app.state.service
        if state.is_ending:
            raise ProblemError(503, "the service is ending", Retry_After="5")
        state.memories.check()
        return r.HealthResult(status="ok", version=__version__)

    @api.get(
        "/metrics",
        summary="Return metrics for Prometheus",
        operation_id="metrics",
        response_class=Response,
        responses={200: {"description": "Metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics(request: Request) -> Response:
        """Return counters in the text format of Prometheus. Any token will do; no name of a memory is in them."""
        state: Service = request.app.state.service
        state.metrics.open_memories.set(state.memories.open_count)
        return Response(state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @api.get("/v1/namespaces", summary="List the memories that the token opens", operation_id="namespaces")
    async def namespaces(request: Request) -> r.NamespacesResult:
        """List them, whether they hold something or not."""
        client = client_of(request.scope)
        found = [r.NamespaceResult(name=name, writes=client.writes) for name in client.namespaces]
        return r.NamespacesResult(namespaces=found)

    api.include_router(router)
    return api


def _described(api: FastAPI) -> dict[str, Any]:
    """Return the document of an API, with its tokens and its errors; it is made once."""
    if api.openapi_schema:
        return api.openapi_schema
    document = get_openapi(
        title="worldthread", version=__version__, description=_DESCRIPTION, routes=api.routes, openapi_version="3.1.0",
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )  # fmt: skip
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    found = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= found.pop("$defs", {})
    schemas["Problem"] = found
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    content = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            answers = operation["responses"]
            answers.pop("422", None)
            if path in ("/health", "/ready"):
                listed: tuple[int, ...] = (500, 503)
            else:
                operation["security"] = [{"token": []}]
                listed = tuple(_PROBLEMS)
            answers |= {str(status): {"description": _PROBLEMS[status], "content": content} for status in listed}
    api.openapi_schema = document
    return document

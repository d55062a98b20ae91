"""Errors of the API as problem details (RFC 9457), each saying what to do."""

from __future__ import annotations

import logging
import math
from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from worldthread.errors import (
    ClosedError,
    ConflictError,
    InputError,
    MissingExtraError,
    ModelError,
    NotFoundError,
    ReadOnlyError,
    StoreLockedError,
    StoreUnavailableError,
    WorldthreadError,
)

PROBLEM_TYPE: Final = "application/problem+json"
_SHOWN: Final = 10  # faults of one request
_STATUS: Final[tuple[tuple[type[WorldthreadError], int], ...]] = (
    (NotFoundError, 404),
    (ConflictError, 409),
    (InputError, 422),
    (ReadOnlyError, 403),
    (StoreLockedError, 503),
    (StoreUnavailableError, 503),
    (ClosedError, 503),
    (MissingExtraError, 501),
    (ModelError, 502),
)
_AGAIN_SECONDS: Final = 5  # after which a client may try again what failed for the moment
_ADVICE: Final = {
    404: "there is nothing at this address; /openapi.json describes the API",
    405: "this address takes other methods; /openapi.json describes the API",
}
_log = logging.getLogger(__name__)


class Fault(BaseModel):
    """A part of a request that cannot be used."""

    place: str = Field(description="Where it is, such as body.where.since")
    message: str


class Problem(BaseModel):
    """What went wrong, and what to do about it (RFC 9457)."""

    title: str = Field(description="The name of the status")
    status: int
    detail: str = Field(description="What is wrong, and what to do")
    faults: list[Fault] = Field(default=[], description="The parts of the request that cannot be used")


class ProblemError(HTTPException):
    """A problem to answer with.

    Args:
        status: the status of HTTP.
        detail: what is wrong, and what to do.
        headers: further headers of the answer.
    """

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, {name.replace("_", "-"): value for name, value in headers.items()} or None)


def problem_response(
    status: int, detail: str, faults: list[Fault] | None = None, headers: dict[str, str] | None = None
) -> Response:
    """Return a problem as a response.

    Args:
        status: the status of HTTP.
        detail: what is wrong, and what to do.
        faults: the parts of the request that cannot be used.
        headers: further headers.

    Returns:
        The response.
    """
    problem = Problem(title=HTTPStatus(status).phrase, status=status, detail=_escaped(detail), faults=faults or [])
    return Response(orjson.dumps(problem.model_dump()), status, headers, PROBLEM_TYPE)


def problem_of(error: WorldthreadError) -> tuple[int, str]:
    """Return what to tell a client of an error of ours. Names of files and servers are for the log alone.

    Args:
        error: the error.

    Returns:
        The status of HTTP and the detail.
    """
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    if status == 500:
        _log.error("a request failed: %s", error)
        return 500, "the memory cannot be used; the log of the server says why"
    if status == 503:
        _log.warning("a request has to wait: %s", error)
        return 503, "the memory cannot be used at the moment: try again"
    if isinstance(error, ReadOnlyError):
        return 403, "this service does not change memories; it was started with --readonly"
    return status, str(error)


def retry_after(seconds: float) -> str:
    """Return the value of a ``Retry-After`` header, in whole seconds."""
    return str(max(1, math.ceil(seconds)))


def add_problem_handlers(app: FastAPI) -> None:
    """Let an application answer every error with a problem; those that are not ours show no message."""

    async def of_http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        detail = error.detail
        if not isinstance(error, ProblemError):
            detail = _ADVICE.get(error.status_code, detail)
        return problem_response(error.status_code, detail, headers=dict(error.headers or {}))

    async def of_form(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = error.errors()
        faults = [Fault(place=_place(one["loc"]), message=_escaped(str(one["msg"]))) for one in found[:_SHOWN]]
        listed = "; ".join(f"{fault.place}: {fault.message}" for fault in faults)
        return problem_response(422, f"the request does not have the expected form: {listed}", faults)

    async def of_ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, WorldthreadError)
        status, detail = problem_of(error)
        headers = {"Retry-After": retry_after(_AGAIN_SECONDS)} if status == 503 else None
        return problem_response(status, detail, headers=headers)

    async def of_others(_: Request, error: Exception) -> Response:
        return problem_response(500, "the service failed; its log says why")

    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_form)
    app.add_exception_handler(WorldthreadError, of_ours)
    app.add_exception_handler(Exception, of_others)


def _place(location: Any) -> str:
    return _escaped(".".join(str(part) for part in location))


def _escaped(text: str) -> str:
    """Return ``text`` with escapes for lone surrogates, which UTF-8 cannot encode; a message may quote them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

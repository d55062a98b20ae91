"""What the server answers: JSON, and errors as JSON in our own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from worldthread.errors import (
    InputError,
    MissingExtraError,
    NotFoundError,
    StoreLockedError,
    UnknownGameError,
    WorldthreadError,
)

MAX_BODY: Final = 64 * 1024
"""Bytes that a request may bring."""
_STATUS: Final[dict[type[WorldthreadError], int]] = {
    NotFoundError: 404,
    UnknownGameError: 404,
    InputError: 400,
    StoreLockedError: 409,
    MissingExtraError: 501,
}
T = TypeVar("T")


def answer(data: Any, status: int = 200) -> Response:
    """Data as JSON."""
    return Response(orjson.dumps(data), status, media_type="application/json")


def refusal(status: int, kind: str, message: str) -> Response:
    """An error as JSON."""
    return answer({"error": {"kind": kind, "message": message}}, status)


async def render_error(_: Request, error: Exception) -> Response:
    """The answer to a request that failed: our own errors in their own words, of all others only that there was one."""
    if isinstance(error, HTTPException):
        return refusal(error.status_code, "HTTPError", error.detail)
    if isinstance(error, WorldthreadError):
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
        return refusal(status, type(error).__name__, _writable(str(error)))
    return refusal(500, "InternalError", "the server failed; its own output tells more")


async def sent(request: Request, kind: type[T]) -> T:
    """The JSON that a request brought, as a value of ``kind``.

    Raises:
        InputError: it is something else.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise InputError("the body must be JSON, with the content type application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise InputError(f"at most {MAX_BODY} bytes are taken")
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as error:
        raise InputError(f"this is not what is taken here: {error}") from None


def text_of(request: Request, name: str) -> str:
    """A parameter of the query that must be there.

    Raises:
        InputError: it is absent.
    """
    value = request.query_params.get(name)
    if value is None:
        raise InputError(f"the parameter {name} is missing")
    return value


def number_of(request: Request, name: str, default: int, most: int) -> int:
    """A parameter of the query that is a whole number from 0 to ``most``.

    Raises:
        InputError: it is none.
    """
    value = request.query_params.get(name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit()) or len(value) > 12 or int(value) > most:
        raise InputError(f"the parameter {name} must be a whole number from 0 to {most}")
    return int(value)


def shown_path(path: Path) -> str:
    """A path for people: from the folder in which the server was started, where it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _writable(text: str) -> str:
    """``text`` with escapes for what UTF-8 cannot write: a message may repeat half a character."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

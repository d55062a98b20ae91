"""JSON responses, errors as JSON, and checked parameters of requests."""

from __future__ import annotations

import re
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
    ReadOnlyError,
    StoreLockedError,
    UnknownGameError,
    WorldthreadError,
)
from worldthread.files.decoding import decode_json
from worldthread.web.work import Cancelled

MAX_BODY: Final = 64 * 1024
"""The most bytes of a request body."""
MAX_UPLOAD: Final = 4 * 1024 * 1024
"""The most bytes of the body of a request that uploads a text or a file."""
_UPLOAD: Final = re.compile(r"/api/memories/[\w-]{1,100}/remember")
_STATUS: Final[dict[type[WorldthreadError], int]] = {
    NotFoundError: 404,
    UnknownGameError: 404,
    InputError: 400,
    ReadOnlyError: 403,
    StoreLockedError: 409,
    MissingExtraError: 501,
}
T = TypeVar("T")


def is_upload(path: str) -> bool:
    """Return whether requests with this path upload a text or a file."""
    return _UPLOAD.fullmatch(path) is not None


def json_response(data: Any, status: int = 200) -> Response:
    """Return data as a JSON response."""
    return Response(orjson.dumps(data), status, media_type="application/json")


def error_response(status: int, kind: str, message: str) -> Response:
    """Return an error as a JSON response."""
    return json_response({"error": {"kind": kind, "message": message}}, status)


async def render_error(_: Request, error: Exception) -> Response:
    """Return the response to a request that failed; only our own errors and HTTP errors show their message."""
    if isinstance(error, HTTPException):
        return error_response(error.status_code, "HTTPError", error.detail)
    if isinstance(error, Cancelled):
        return error_response(409, "Cancelled", str(error))
    if isinstance(error, WorldthreadError):
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
        return error_response(status, type(error).__name__, escape_surrogates(str(error)))
    return error_response(500, "InternalError", "the server failed; see its own output for the reason")


async def read_json(request: Request, type_: type[T], limit: int | None = None) -> T:
    """Return the JSON body of a request.

    Args:
        request: the request.
        type_: the type of the value, which msgspec checks.
        limit: the most bytes of the body; ``None`` for :data:`MAX_BODY`.

    Returns:
        The value.

    Raises:
        InputError: the body is too long, is not JSON, or does not fit the type.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise InputError("the body must be JSON, with the content type application/json")
    most = MAX_BODY if limit is None else limit
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise InputError(f"the body must have at most {most} bytes")
    try:
        return decode_json(bytes(body), type_)
    except msgspec.MsgspecError as error:
        raise InputError(f"the body does not have the expected form: {error}") from None


def text_parameter(request: Request, name: str) -> str:
    """Return a required parameter of the query.

    Args:
        request: the request.
        name: name of the parameter.

    Returns:
        The value as text.

    Raises:
        InputError: the parameter is missing.
    """
    value = request.query_params.get(name)
    if value is None:
        raise InputError(f"the parameter {name} is missing")
    return value


def number_parameter(request: Request, name: str, default: int, maximum: int) -> int:
    """Return a parameter of the query that must be a whole number.

    Args:
        request: the request.
        name: name of the parameter.
        default: the value if the parameter is missing.
        maximum: the largest value; the smallest is 0.

    Returns:
        The number.

    Raises:
        InputError: the parameter is not a number in this range.
    """
    value = request.query_params.get(name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit()) or len(value) > 12 or int(value) > maximum:
        raise InputError(f"the parameter {name} must be a whole number from 0 to {maximum}")
    return int(value)


def shown_path(path: Path) -> str:
    """Return a path as shown to people: relative to the current folder if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def escape_surrogates(text: str) -> str:
    """Return ``text`` with escapes for lone surrogates, which UTF-8 cannot encode; a message may quote them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

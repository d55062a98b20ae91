"""Cursors of paged lists: a place in an order, as text."""

from __future__ import annotations

import math
import re
from typing import Final

from worldthread.errors import InputError

_ID: Final = re.compile(r"[0-9a-f]{32}")


def place_as_text(*parts: float | str) -> str:
    """Return a place as text: times in hexadecimal, which lose nothing, ids and users as they are."""
    return "/".join(part.hex() if isinstance(part, float) else part for part in parts)


def episode_place(cursor: str) -> tuple[float, str]:
    """Return the world time and the id of an episode.

    Args:
        cursor: from :func:`place_as_text`.

    Returns:
        The place.

    Raises:
        InputError: this is not such a place.
    """
    at, id_ = _parts(cursor, 2)
    return _time(at), _id(id_)


def version_place(cursor: str) -> tuple[float, str, float, str]:
    """Return the beginning, the id of the statement, the end, and the user of a version.

    Args:
        cursor: from :func:`place_as_text`.

    Returns:
        The place.

    Raises:
        InputError: this is not such a place.
    """
    start, id_, end, user = _parts(cursor, 4)
    return _time(start), _id(id_), _time(end), user


def _parts(cursor: object, count: int) -> list[str]:
    parts = cursor.split("/", count - 1) if isinstance(cursor, str) else []  # a user may hold the sign itself
    if len(parts) != count:
        raise InputError(f"cursor must be that of a page of this list, not {cursor!r}")
    return parts


def _time(text: str) -> float:
    try:
        time = float.fromhex(text)
    except (ValueError, OverflowError):
        time = math.nan
    if math.isnan(time):
        raise InputError(f"cursor must be that of a page of this list: {text!r} is not a time")
    return time


def _id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise InputError(f"cursor must be that of a page of this list: {text!r} is not an id")
    return text

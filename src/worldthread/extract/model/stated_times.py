"""The days that a model writes, as world time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from worldthread.extract.when import is_date

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?Z?)?)?)?", re.ASCII)
_TURN: Final = re.compile(r"\d{1,8}", re.ASCII)


class StatedTime(NamedTuple):
    """A day, month, year or minute, half-open.

    Args:
        begin: its beginning, in seconds since 1970-01-01 UTC, or a turn.
        end: the first moment after it.
    """

    begin: float
    end: float


def stated_time(text: str, at: float | None) -> StatedTime | None:
    """Return the time that a model writes.

    Args:
        text: ``"2024-05-31"``, ``"2024-05"``, ``"2024"``, or a date with a time; a turn where ``at`` is one.
        at: world time of the passage; ``None`` where it is not known.

    Returns:
        The time; ``None`` when the text is nothing of this, or a date where the memory counts turns.
    """
    text = text.strip()
    if at is not None and not is_date(at):
        return StatedTime(float(text), float(text) + 1) if _TURN.fullmatch(text) else None
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute = (None if part is None else int(part) for part in found.groups())
    try:
        begin = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, tzinfo=UTC)
        if hour is not None:
            end = begin + timedelta(minutes=1)
        elif day is not None:
            end = begin + timedelta(days=1)
        elif month is not None:
            end = (begin + timedelta(days=31)).replace(day=1)
        else:
            end = begin.replace(year=begin.year + 1)
    except (ValueError, OverflowError):
        return None
    return StatedTime(begin.timestamp(), end.timestamp())


def shown_date(at: float) -> str:
    """Return a date with its weekday, such as ``"Friday, 2024-05-17"``; empty where world time counts turns."""
    try:
        return f"{datetime.fromtimestamp(at, UTC):%A, %Y-%m-%d}" if is_date(at) else ""
    except (ValueError, OverflowError, OSError):
        return ""

"""Converts between world times and the dates that people and files write."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from worldthread.errors import InputError
from worldthread.text import cut

_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TURNS: Final = 1e8
_HOUR: Final = 3_600.0
DAY: Final = 86_400.0
"""The seconds of a day."""
_FORMS: Final = (
    'a number (a turn, or seconds since 1970-01-01 UTC), a date or datetime, or a string such as "42", "2024-05-01", '
    '"2024-05-01 10:30" or "2024-05-01T10:30:00+02:00"'
)


def world_time(value: float | datetime | date | str | None, default: float) -> float:
    """Return a time as a finite float: a number unchanged, a date as seconds since 1970-01-01 UTC.

    A date means midnight at its beginning. Without a time zone, UTC is assumed. A string of digits is a number, never
    a date: ``"20240501"`` is 20240501.0.

    Args:
        value: a number, a ``datetime`` or ``date``, a string that holds a number or an ISO 8601 date or date and
            time, or ``None``.
        default: the time to return for ``None``.

    Returns:
        The world time: turns, or seconds since 1970-01-01 UTC.

    Raises:
        InputError: ``value`` is anything else, or not finite.
    """
    if value is None:
        return default
    if isinstance(value, str):
        return _from_string(value)
    if isinstance(value, date):
        return _from_date(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    raise InputError(f"a time must be {_FORMS}, not {type(value).__name__}")


def is_date(at: float) -> bool:
    """Return whether a world time is a date rather than a turn: a turn is nearer to zero than 10**8."""
    return abs(at) >= _TURNS


def shown_time(at: float) -> str:
    """Return a world time as text for people: a number for turns, ISO 8601 in UTC for dates.

    Turns are rounded to three decimals and dates to the second, because the passages of one text are microseconds
    apart.

    Args:
        at: world time.

    Returns:
        A plain number when ``at`` is nearer to zero than 10**8 (which is 1973-03-03) or outside the years 1 to 9999;
        else the date and time, or only the date at midnight.
    """
    if abs(at) >= _TURNS:
        try:
            text = (_EPOCH + timedelta(seconds=round(at))).isoformat().replace("+00:00", "Z")
        except OverflowError:
            pass
        else:
            return text.removesuffix("T00:00:00Z")
    rounded = round(float(at), 3)
    return str(int(rounded)) if rounded.is_integer() and abs(rounded) < 1e16 else str(rounded)


def shown_period(begin: float, end: float) -> str | None:
    """Return a period that ends with a day in words, with the last day that belongs to it.

    Args:
        begin: the world time at which it begins, inclusive.
        end: the world time at which it ends, exclusive.

    Returns:
        Such as "on 2024-03-01", also of a part of a day that is longer than an hour, "in 2024-03", "in 2024",
        "from 2024-03-04 to 2024-03-10"; "until 2024-03-01" where it is the last second of a day, since nothing tells
        its beginning; ``None`` where the period is of turns or does not end with a day in UTC.
    """
    if abs(begin) < _TURNS or end <= begin:
        return None
    if end - begin > _HOUR and begin // DAY == (end - 1) // DAY:
        return f"on {shown_time(begin - begin % DAY)}"
    if end % DAY:
        return None
    first, last = shown_time(begin), shown_time(end - DAY)
    if end - begin == 1:
        return f"until {last}"
    unit = _unit_that_ends(first, end)
    return f"in {unit}" if unit is not None and f"{unit}-01-01".startswith(first) else f"from {first} to {last}"


def shown_beginning(begin: float, begins_by: float, *, is_event: bool) -> str:
    """Return the beginning of what goes on in words, as exactly as it was told.

    Args:
        begin: the earliest world time at which it began.
        begins_by: the first world time at which it had begun for certain.
        is_event: whether an event is told ("joined in May"), not what came of it ("works there since May").

    Returns:
        Such as "on 2024-03-01", "in 2024-03", "in 2024" or "between 2024-03-04 and 2024-03-10" of an event, and else
        "from 2024-03-01", "from 2024-03", "from 2024" or "from a day between 2024-03-04 and 2024-03-10".
    """
    first = shown_time(begin)
    if not is_date(begin) or begins_by % DAY:
        return f"from {first}"
    if begins_by - begin <= DAY:
        return f"{'on' if is_event else 'from'} {shown_time(begin - begin % DAY)}"
    unit = _unit_that_ends(first, begins_by)
    if unit is not None:
        return f"{'in' if is_event else 'from'} {unit}"
    return f"{'' if is_event else 'from a day '}between {first[:10]} and {shown_time(begins_by - DAY)}"


def _unit_that_ends(first: str, end: float) -> str | None:
    """Return the calendar month or year of a day, such as "2024-03" or "2024", that ends at a midnight."""
    last, following = shown_time(end - DAY), shown_time(end)
    if following.endswith("-01") and last.startswith(first[:7]):
        return first[:7]
    return first[:4] if following.endswith("-01-01") and last.startswith(first[:4]) else None


def time_of_saying(at: float) -> float:
    """Return the time against which "today" and "last month" in a passage are understood.

    Messages without times of their own are placed milliseconds before the time that was given for all of them, which
    may be the beginning of a day or a year: to the second, it is that time.

    Args:
        at: world time of the passage.

    Returns:
        The time to the nearest second; turns (see :func:`shown_time`) unchanged.
    """
    return at if abs(at) < _TURNS else float(round(at))


def _from_string(value: str) -> float:
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _finite(float(text))
    try:
        return _from_date(datetime.fromisoformat(text))
    except ValueError:
        raise InputError(f"a time must be {_FORMS}, not {cut(value, 80, '...')!r}") from None


def _from_date(value: date) -> float:
    time = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = math.inf
    if not math.isfinite(number):
        raise InputError("a time must be a finite number, neither infinite, nor NaN, nor beyond 1.8e308")
    return number

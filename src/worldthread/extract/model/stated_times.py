"""The days that a model writes, as world time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from worldthread.extract.when import is_date

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?Z?)?)?)?", re.ASCII)
_TURN: Final = re.compile(r"\d{1,8}", re.ASCII)
_QUARTER: Final = re.compile(r"(\d{4})[- ]?Q([1-4])", re.ASCII)
_WEEK: Final = re.compile(r"(\d{4})-?W(\d{2})", re.ASCII)
_DECADE: Final = re.compile(r"(\d{3}0)s", re.ASCII)
_WITH_OFFSET: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?[+-]\d{2}:?\d{2}", re.ASCII)
_DAYS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}


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


def worded_time(text: str, at: float | None) -> StatedTime | None:
    """Return the time that a model writes, also in forms that it was not asked for and that can mean one thing only.

    Args:
        text: as for :func:`stated_time`; also ``"2024-Q2"``, ``"2024-W20"`` (a week from its Monday on), ``"1980s"``, a
            time with its offset from UTC, and ``"yesterday"``, ``"today"`` and ``"tomorrow"``.
        at: world time of the passage; ``None`` where it is not known.

    Returns:
        The time; ``None`` when the text is nothing of this, or a date where the memory counts turns.
    """
    time = stated_time(text, at)
    if time is not None or (at is not None and not is_date(at)):
        return time
    text = text.strip()
    days = _DAYS.get(text.lower())
    try:
        if days is not None and at is not None:
            return stated_time(f"{datetime.fromtimestamp(at, UTC) + timedelta(days):%Y-%m-%d}", at)
        if (quarter := _QUARTER.fullmatch(text.upper())) is not None:
            year, last = int(quarter[1]), 3 * int(quarter[2])
            return _from_to(stated_time(f"{year:04}-{last - 2:02}", at), stated_time(f"{year:04}-{last:02}", at))
        if (week := _WEEK.fullmatch(text.upper())) is not None:
            monday = datetime.fromisocalendar(int(week[1]), int(week[2]), 1).replace(tzinfo=UTC)
            return StatedTime(monday.timestamp(), (monday + timedelta(weeks=1)).timestamp())
        if (decade := _DECADE.fullmatch(text.lower())) is not None:
            return _from_to(stated_time(decade[1], at), stated_time(f"{int(decade[1]) + 9:04}", at))
        if _WITH_OFFSET.fullmatch(text):
            begin = datetime.fromisoformat(text)
            return StatedTime(begin.timestamp(), (begin + timedelta(minutes=1)).timestamp())
    except (ValueError, OverflowError, OSError):
        pass  # a week, a month or an hour that there is not
    return None


def _from_to(first: StatedTime | None, last: StatedTime | None) -> StatedTime | None:
    return None if first is None or last is None else StatedTime(first.begin, last.end)


def shown_date(at: float) -> str:
    """Return a date with its weekday, such as ``"Friday, 2024-05-17"``; empty where world time counts turns."""
    try:
        return f"{datetime.fromtimestamp(at, UTC):%A, %Y-%m-%d}" if is_date(at) else ""
    except (ValueError, OverflowError, OSError):
        return ""

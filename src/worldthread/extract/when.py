"""Converts between world times and the dates that people and files write."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from worldthread.errors import ConflictError, InputError
from worldthread.support.text import cut

_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_MONTH_OR_YEAR: Final = re.compile(r"(?P<year>[12]\d{3})(?:-(?P<month>\d\d))?", re.ASCII)
_DAY_ALONE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_YEAR: Final = 1000
_END_OF_YEARS: Final = 3000
EARLIEST: Final = (datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()
"""The first number that is a time: the beginning of the year 1000, in seconds since 1970."""
_LATEST: Final = (datetime(_END_OF_YEARS, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()
_AHEAD: Final = 10 * 366 * 86_400.0
TOO_LATE: Final = 1e11  # seconds of the year 5138, and milliseconds of 1973
"""The first number that is no time: neither a turn nor seconds since 1970."""
_LARGEST_TURN: Final = 1e7
_TURNS: Final = 1e8
_HOUR: Final = 3_600.0
DAY: Final = 86_400.0
"""The seconds of a day."""
_WITHOUT_YEAR: Final = re.compile(r"--(?P<month>\d\d)(?:-(?P<day>\d\d))?", re.ASCII)
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_FORMS: Final = (
    'a number (a turn, or seconds since 1970-01-01 UTC), a date or datetime, or a string such as "42", "2024", '
    '"2024-05", "2024-05-01", "2024-05-01 10:30" or "2024-05-01T10:30:00+02:00"'
)


def world_time(
    value: float | datetime | date | str | None, default: float, *, counts_turns: bool = False, zone: tzinfo = UTC
) -> float:
    """Return a time as a finite float: a number unchanged, a date as seconds since 1970-01-01 UTC.

    A date, a month and a year mean midnight at their beginning. Without a time zone, UTC is assumed. Four digits in a
    string are a year (``"2025"``), unless times are turns; any other string of digits is a number, never a date:
    ``"20240501"`` is 20240501.0.

    Args:
        value: a number, a ``datetime`` or ``date``, a string that holds a number or an ISO 8601 date, month, year, or
            date and time, or ``None``.
        default: the time to return for ``None``.
        counts_turns: whether the memory counts turns, so that ``"2025"`` is turn 2025.
        zone: the time zone of dates and times that name none.

    Returns:
        The world time: turns, or seconds since 1970-01-01 UTC.

    Raises:
        InputError: ``value`` is anything else, or not finite, or a number that seems to count milliseconds.
    """
    return default if value is None else _span(value, counts_turns, zone)[0]


def asked_time(
    value: float | datetime | date | str | None, *, counts_turns: bool = False, zone: tzinfo = UTC
) -> float | None:
    """Return the time that is asked about: of a day, a month or a year its last second.

    "As of 2023" so knows what was told in December 2023.

    Args:
        value: as for :func:`world_time`.
        counts_turns: as for :func:`world_time`.
        zone: as for :func:`world_time`.

    Returns:
        The world time; ``None`` for ``None``.

    Raises:
        InputError: as for :func:`world_time`; or it is the number of a year where the memory has dates.
    """
    if value is None:
        return None
    if not counts_turns and isinstance(value, int) and _FIRST_YEAR <= value < _END_OF_YEARS:
        raise InputError(f'{value} is the number of a turn, and this memory holds dates: give "{value}" for the year')
    return _span(value, counts_turns, zone)[1]


def counts_turns(latest: float | None) -> bool | None:
    """Return whether a memory counts turns, by the world time of its latest episode; ``None`` while it is empty."""
    return None if latest is None else abs(latest) < _LARGEST_TURN


def require_time_of_saying(at: float, clock: float, turns: bool | None) -> bool:
    """Check the world time of what is to be remembered.

    Args:
        at: the world time.
        clock: the time by the clock of the memory.
        turns: whether the memory counts turns; ``None`` while it is empty.

    Returns:
        Whether the time is a turn.

    Raises:
        ConflictError: it is a turn, and the memory holds dates, or the reverse; or it is a date more than ten years
            ahead of the clock.
        InputError: it is a date before the year 1000.
    """
    is_turn = abs(at) < _LARGEST_TURN
    if turns is False and is_turn:
        year = f' ("{at:.0f}" for the year)' if _FIRST_YEAR <= at < _END_OF_YEARS else ""
        raise ConflictError(
            f"{shown_time(at)} is the number of a turn, and this memory holds dates, which cannot be compared with "
            f'turns: give a date such as "2024-05-01"{year}, or use another namespace'
        )
    if turns and not is_turn:
        raise ConflictError(
            f"{shown_time(at)} is a date, and this memory counts turns, which cannot be compared with dates: give the "
            "number of the turn as at=..., or use another namespace"
        )
    if is_turn:
        return True
    if at < EARLIEST:
        raise InputError(f"the time {shown_time(at)} lies before the year 1000: the time is when this was told")
    if at > min(clock + _AHEAD if is_date(clock) else _LATEST, _LATEST):
        raise ConflictError(
            f"the time {shown_time(at)} lies more than ten years ahead of the clock, and would count as later than all "
            "that is told before it: the time is when this was told (for another present, give the memory a clock)"
        )
    return False


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


def shown_name(name: str) -> str:
    """Return a name as people write it: a day or a month without a year in words, any other name as it is.

    Args:
        name: the name of a thing, or a date such as ``--09-02``, as the reading of texts names it.

    Returns:
        Such as "2 September" and "September".
    """
    found = _WITHOUT_YEAR.fullmatch(name)
    if found is None or not 1 <= int(found["month"]) <= len(_MONTHS):
        return name
    month = _MONTHS[int(found["month"]) - 1]
    return month if found["day"] is None else f"{int(found['day'])} {month}"


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


def _span(value: float | datetime | date | str, counts_turns: bool, zone: tzinfo) -> tuple[float, float]:
    """Return the first and the last second of a time; of a day, a month or a year they differ."""
    if isinstance(value, str):
        return _span_of_text(value, counts_turns, zone)
    if isinstance(value, datetime):
        return _moment(value, zone)
    if isinstance(value, date):
        return _days(value, value, zone)
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = _require_seconds(_finite(value))
        return number, number
    raise InputError(f"a time must be {_FORMS}, not {type(value).__name__}")


def _span_of_text(value: str, counts_turns: bool, zone: tzinfo) -> tuple[float, float]:
    text = value.strip()
    named = _MONTH_OR_YEAR.fullmatch(text)
    is_number = _NUMBER.fullmatch(text) is not None
    if is_number and (named is None or counts_turns):
        number = _require_seconds(_finite(float(text)))
        return number, number
    try:
        if named is not None:
            first = date(int(named["year"]), int(named["month"] or 1), 1)
            last_month = int(named["month"] or 12)
            return _days(first, date(first.year, last_month, monthrange(first.year, last_month)[1]), zone)
        if _DAY_ALONE.fullmatch(text):
            day = date.fromisoformat(text)
            return _days(day, day, zone)
        return _moment(datetime.fromisoformat(text), zone)
    except ValueError:
        raise InputError(f"a time must be {_FORMS}, not {cut(value, 80, '...')!r}") from None


def _moment(value: datetime, zone: tzinfo) -> tuple[float, float]:
    time = ((value if value.tzinfo else value.replace(tzinfo=zone)) - _EPOCH).total_seconds()
    return time, time


def _days(first: date, last: date, zone: tzinfo) -> tuple[float, float]:
    begin = (datetime(first.year, first.month, first.day, tzinfo=zone) - _EPOCH).total_seconds()
    end = (datetime(last.year, last.month, last.day, 23, 59, 59, tzinfo=zone) - _EPOCH).total_seconds()
    return begin, end


def _require_seconds(number: float) -> float:
    """Return a number that can be a turn or seconds since 1970."""
    if abs(number) < TOO_LATE:
        if number < EARLIEST:
            raise InputError(f"the time {number:.16g} lies before the year 1000, if it counts seconds since 1970")
        return number
    units = (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))
    name, many = next((unit for unit in units if abs(number) / unit[1] < TOO_LATE), ("", 0.0))
    if not name:
        raise InputError(f"the time {number:.16g} is neither a turn nor seconds since 1970: it is too large")
    raise InputError(
        f"the time {number:.16g} looks like {name}; give {number / many:.16g} (seconds since 1970-01-01 UTC)"
    )


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = math.inf
    if not math.isfinite(number):
        raise InputError("a time must be a finite number, neither infinite, nor NaN, nor beyond 1.8e308")
    return number

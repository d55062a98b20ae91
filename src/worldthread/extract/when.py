"""World times as people and files write them."""

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
_FORMS: Final = (
    'a number (a turn, or seconds since 1970-01-01 UTC), a date or datetime, or a string such as "42", "2024-05-01", '
    '"2024-05-01 10:30" or "2024-05-01T10:30:00+02:00"'
)


def world_time(value: float | datetime | date | str | None, default: float) -> float:
    """A time as a finite float: a number as it is, anything with a date as seconds since 1970-01-01 UTC.

    A date is its first moment. What names no zone is taken as UTC. A string of digits is a number, never a date:
    ``"20240501"`` is 20240501.0.

    Args:
        value: a number, a ``datetime`` or ``date``, a string that holds a number or an ISO 8601 date or date and
            time, or ``None``.
        default: what ``None`` means.

    Raises:
        InputError: anything else, and numbers that are not finite.
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


def shown_time(at: float) -> str:
    """A world time for people: a plain number when nearer to zero than 10**8 (turns), else ISO 8601 in UTC.

    The number 10**8 is 1973-03-03. Turns are rounded to three decimals, times to the second, and midnight is shown as
    its date: passages of one text stand microseconds apart, which is nothing to be shown. What lies outside the years
    1 to 9999 is shown as a number too.
    """
    if abs(at) >= _TURNS:
        try:
            moment = (_EPOCH + timedelta(seconds=round(at))).isoformat().replace("+00:00", "Z")
        except OverflowError:
            pass
        else:
            return moment.removesuffix("T00:00:00Z")
    near = round(float(at), 3)
    return str(int(near)) if near.is_integer() and abs(near) < 1e16 else str(near)


def _from_string(value: str) -> float:
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _finite(float(text))
    try:
        return _from_date(datetime.fromisoformat(text))
    except ValueError:
        raise InputError(f"a time must be {_FORMS}, not {cut(value, 80, '...')!r}") from None


def _from_date(value: date) -> float:
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = math.inf
    if not math.isfinite(number):
        raise InputError("a time must be a finite number, neither infinite, nor NaN, nor beyond 1.8e308")
    return number

"""Finds dates in English prose and writes them as ISO 8601, as precisely as they are given."""

from __future__ import annotations

import re
from typing import Final

_MONTHS: Final = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
    "dec": 12,
}  # fmt: skip
MONTH: Final = (
    r"(?:Jan(?:uary|\b\.?)|Feb(?:ruary|\b\.?)|Mar(?:ch|\b\.?)|Apr(?:il|\b\.?)|May|June?\b\.?|July?\b\.?|Aug(?:ust|\b\.?)|"
    r"Sept?(?:ember|\b\.?)|Oct(?:ober|\b\.?)|Nov(?:ember|\b\.?)|Dec(?:ember|\b\.?))"
)
"""Pattern of the name of a month, in full or abbreviated."""

_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
DATE: Final = (
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|{_DAY}(?: of)? {MONTH}(?:,? \d{{4}})?(?!\d)|"
    rf"{MONTH} {_DAY}(?:,? \d{{4}}(?!\d)|(?![\w%]))|{MONTH},? \d{{4}}(?!\d)"
)
"""Pattern of a date that names more than a year; use it where no word character comes before."""

_DAY_FIRST: Final = re.compile(rf"(?P<d>{_DAY})(?: of)? (?P<m>{MONTH})(?:,? (?P<y>\d{{4}}))?")
_MONTH_FIRST: Final = re.compile(rf"(?P<m>{MONTH})(?: (?P<d>{_DAY}))?(?:,? (?P<y>\d{{4}}))?")
_NUMBERS: Final = re.compile(r"(\d{1,2})([./])(\d{1,2})[./](\d{4})")


def iso_date(date: str) -> str:
    """Return a date as ``2020-11-25``, as ``2020-11`` without a day, or as ``--11-25`` without a year.

    Numbers mean day before month, unless only month before day is possible.

    >>> [iso_date(d) for d in ("25.11.2020", "Nov 25, 2020", "25th of November 2020", "11/25/2020", "January 1960")]
    ['2020-11-25', '2020-11-25', '2020-11-25', '2020-11-25', '1960-01']

    Args:
        date: a text that :data:`DATE` matches.

    Returns:
        The date; ``date`` unchanged when it has slashes and both orders are possible, or when no month has the day.
    """
    numbers = _NUMBERS.fullmatch(date)
    if numbers is not None:
        first, second, year = int(numbers[1]), int(numbers[3]), int(numbers[4])
        if numbers[2] == "/" and first <= 12 and second <= 12 and first != second:
            return date
        return _iso(year, first, second, date) if second > 12 else _iso(year, second, first, date)
    words = _DAY_FIRST.fullmatch(date) or _MONTH_FIRST.fullmatch(date)
    if words is None:
        return date
    day = int(re.sub(r"\D", "", words["d"])) if words["d"] else None
    year_number = int(words["y"]) if words["y"] else None
    return _iso(year_number, _MONTHS[words["m"][:3].lower()], day, date)


def _iso(year: int | None, month: int, day: int | None, date: str) -> str:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return date
    return f"{'-' if year is None else f'{year:04d}'}-{month:02d}" + ("" if day is None else f"-{day:02d}")

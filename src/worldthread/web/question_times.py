"""The time that a question names, such as "in 2017", so that it is answered as of that time."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_NAMED: Final = "|".join(_MONTHS)
_YEAR: Final = r"(?P<year>1[5-9]\d\d|20\d\d|21\d\d)"
_FORMS: Final = (
    re.compile(rf"\b{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)\b"),
    re.compile(rf"\b{_YEAR}-(?P<month>\d\d)\b(?!-)"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<named>{_NAMED}),? {_YEAR}\b", re.IGNORECASE),
    re.compile(rf"\b(?P<named>{_NAMED}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}\b", re.IGNORECASE),
    re.compile(rf"\b(?P<named>{_NAMED}),? (?:of )?{_YEAR}\b", re.IGNORECASE),
    re.compile(rf"(?<![\d.,-]){_YEAR}(?![\d.,-]*\d)\b"),
)
# these ask about another time than the one that they name
_OTHER: Final = re.compile(r"\b(?:before|after|since|until|till|from|than|between)\s+(?:the\s+)?$", re.IGNORECASE)


@dataclass(frozen=True)
class QuestionTime:
    """The time that a question names.

    Args:
        words: as written in the question.
        last: the last second of that time, in seconds since 1970-01-01 UTC.
    """

    words: str
    last: float


def question_time(question: str) -> QuestionTime | None:
    """Return the day, month or year that a question asks about.

    Args:
        question: a question in English, or with a date in ISO 8601.

    Returns:
        The time; ``None`` if the question names none, or asks for what was before or after it.
    """
    for form in _FORMS:
        for match in form.finditer(question):
            if _OTHER.search(question[: match.start()]):
                return None
            end = _end(match.groupdict())
            if end is not None:
                return QuestionTime(match[0], end)
    return None


def _end(parts: dict[str, str | None]) -> float | None:
    """Return the last second of a day, month or year; ``None`` if there is no such day."""
    year = int(parts["year"] or 0)
    named, number, day = parts.get("named"), parts.get("month"), parts.get("day")
    month = _MONTHS[named.lower()] if named else int(number) if number else 12
    try:
        last = int(day) if day else calendar.monthrange(year, month)[1]
        end = date(year, month, last) + timedelta(days=1)
    except (ValueError, calendar.IllegalMonthError):
        return None
    return datetime(end.year, end.month, end.day, tzinfo=UTC).timestamp() - 1

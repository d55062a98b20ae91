"""Finds the entries of a diary: passages below a heading that is nothing but a date were written on that day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from worldthread.extract.markdown import LONGEST_HEADING, is_fence
from worldthread.extract.times import time_expressions
from worldthread.extract.times.tables import LANGUAGES

_DAY: Final = 86_400.0
_NOW: Final = 1_704_067_200.0  # any day: a date with its year means the same on each
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST: Final = 40
_MAY_BE_DATE: Final = re.compile(rf"(?=.{{8,{_LONGEST}}}$)(?=.*\d{{4}})(?=.*\d.*\d{{4}}|\d{{4}}.*\d)[\w\s.,/-]+")
_MARK: Final = "###### "  # a heading below all others


def with_headings(text: str) -> str:
    """Return a text in which a line that is nothing but a date, at its beginning or after a blank line, is a heading.

    Args:
        text: the text.
    """
    lines = text.split("\n")
    is_open, changed = False, False
    for number, line in enumerate(lines):
        is_open = is_open != is_fence(line.strip())
        is_first = number == 0 or not lines[number - 1].strip()
        if not is_open and is_first and day_of(line) is not None:
            lines[number], changed = _MARK + line.strip(), True
    return "\n".join(lines) if changed else text


def day_of(heading: str) -> datetime | None:
    """Return the day that a heading names and says nothing else, a weekday aside.

    Args:
        heading: such as "2024-03-01", "March 1, 2024", "Monday, 3 June 2024", "1.3.2024", also in German, French and
            Spanish, without the mark of a heading.

    Returns:
        The beginning of the day, in UTC; ``None`` for anything else, such as 3/4/2024, which has two meanings.
    """
    heading = heading.strip()
    if len(heading) > LONGEST_HEADING or _MAY_BE_DATE.fullmatch(heading) is None:
        return None
    for language in ("en",) if "/" in heading else LANGUAGES:
        found = time_expressions(heading, _NOW, language=language)
        if len(found) != 1 or found[0].role != "at" or (found[0].start, found[0].end) != (0, len(heading)):
            continue
        begin, end = found[0].valid_from, found[0].valid_to
        if begin is not None and end is not None and end - begin == _DAY:
            return _EPOCH + timedelta(seconds=begin)
    return None


def days_of(passages: Sequence[str]) -> list[datetime | None]:
    """Return for each passage of a text the day of the innermost of its headings that is a date.

    Args:
        passages: as :func:`~worldthread.extract.chunks.chunk` divides a text: the first line is their place in it.
    """
    return [
        next((day for part in reversed(one.split("\n", 1)[0].split(" > ")) if (day := day_of(part))), None)
        if "\n" in one
        else None
        for one in passages
    ]

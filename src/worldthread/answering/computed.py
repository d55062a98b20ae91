"""Answers that are computed from dated evidence: the time between two events, which came first, how many there were."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

from worldthread.extract.model.stated_times import StatedTime, stated_time

Operation: TypeAlias = Literal["between", "first", "last", "count", "none"]
"""What is computed; ``"none"`` for nothing."""

_DAY: Final = 86400.0
_LONGEST_MONTH: Final = 31 * _DAY


class DatedEvidence(NamedTuple):
    """An event that an answer is computed from.

    Args:
        number: the number of its quotation.
        date: its date as the model writes it.
        what: the event in a few words.
    """

    number: int
    date: str
    what: str


class ComputedAnswer(NamedTuple):
    """A computed answer.

    Args:
        text: the answer.
        steps: how it was computed.
        numbers: the numbers of the quotations that it rests on.
    """

    text: str
    steps: str
    numbers: tuple[int, ...]


def compute(operation: Operation, unit: str, items: Sequence[DatedEvidence]) -> ComputedAnswer | None:
    """Compute an answer.

    Args:
        operation: what to compute.
        unit: ``"days"``, ``"weeks"``, ``"months"`` or ``"years"`` for the time between two events; days for any other.
        items: the events. One without a usable date counts where no date is needed, and leaves an order open.

    Returns:
        The answer; ``None`` when there are too few events, or their dates do not tell which came first. A time between
        dates of which one has no day is in months or years, and in years where one has no month. Days of a range of at
        most a month are counted from its first.
    """
    if operation == "count" and items:
        steps = "; ".join(f"{item.number}: {item.what} ({item.date})" for item in items)
        return ComputedAnswer(str(len(items)), steps, _numbers(items))
    dated = [(*times, item) for item in items if (times := _times_of(item.date)) is not None]
    if operation == "none" or len(dated) < 2:
        return None
    dated.sort(key=lambda row: row[0])
    used = [item for *_, item in dated]
    steps = "; ".join(f"{item.number}: {item.what} on {item.date}" for item in used)
    (start, begin, first), (end, finish, last) = dated[0], dated[-1]
    if operation == "between":
        return ComputedAnswer(_between(begin, finish, unit), steps, _numbers(used))
    if len(dated) < len(items):
        return None  # what has no date may be the one
    if operation == "first":
        chosen, is_clear = first, start.end <= dated[1][0].begin
    else:
        chosen, is_clear = last, all(time.end <= end.begin for time, *_ in dated[:-1])
    return ComputedAnswer(chosen.what, steps, _numbers(used)) if is_clear else None


def _times_of(date: str) -> tuple[StatedTime, StatedTime] | None:
    """Return the whole time of a date, or of a range "2024-05-20/2024-05-26", and the first day of it."""
    first, _, last = date.partition("/")
    begin, end = stated_time(first.strip(), None), stated_time((last or first).strip(), None)
    return None if begin is None or end is None else (begin._replace(end=max(begin.end, end.end)), begin)


def _numbers(items: Sequence[DatedEvidence]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(item.number for item in items))


def _between(start: StatedTime, end: StatedTime, unit: str) -> str:
    begin, finish = datetime.fromtimestamp(start.begin, UTC), datetime.fromtimestamp(end.begin, UTC)
    longest = max(time.end - time.begin for time in (start, end))
    if longest > _LONGEST_MONTH:
        return _counted((finish.year - begin.year, "year"))
    if longest > _DAY:
        begin, finish = begin.replace(day=1), finish.replace(day=1)
        unit = "years" if unit == "years" else "months"
    days = round((finish - begin).total_seconds() / _DAY)
    if unit == "weeks":
        return _counted((days // 7, "week"), (days % 7, "day"))
    if unit not in ("months", "years"):
        return _counted((days, "day"))
    months = (finish.year - begin.year) * 12 + finish.month - begin.month
    # the 31st of a month is reached on the last day of a shorter one
    day = min(begin.day, calendar.monthrange(finish.year, finish.month)[1])
    months -= finish.day < day
    if unit == "months":
        return _counted((months, "month"))
    return _counted((months // 12, "year"), (months % 12, "month"))


def _counted(*parts: tuple[int, str]) -> str:
    shown = [part for number, part in enumerate(parts) if part[0] or not number]
    if len(shown) > 1 and not shown[0][0]:
        shown = shown[1:]
    return " and ".join(f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in shown)

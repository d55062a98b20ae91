"""WhatsApp's text export: a line or more for each message, with the date as the telephone writes it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from worldthread.errors import InputError
from worldthread.moving.base import DateOrder, Dump, DumpItem, LeftOut, Spacing

SOURCE: Final = "whatsapp"

_MARK: Final = "\u200e"  # what the app itself writes begins with it on iOS
_MARKS: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_MARKED: Final = "[^\\W\\d_]"  # a letter, of any script
_HEAD: Final = re.compile(
    r"(?P<bracket>\[)?(?P<first>[0-9]{1,4})(?:(?P<between>[./-]) ?|(?P<year>[\u5e74\ub144]) ?)"
    r"(?P<second>[0-9]{1,2})(?:(?(year)[\u6708\uc6d4]|(?P=between)) ?)(?P<third>[0-9]{2,4})"
    r"(?P<stop>\.)?[\u65e5\uc77c]?[,\u060c]?\s+"
    rf"(?:(?P<before>{_MARKED}{{1,4}})\s?)?"  # a word such as "at", or the half of the day
    r"(?P<hour>[0-9]{1,2})[:.](?P<minute>[0-9]{2})(?:[:.](?P<seconds>[0-9]{2}))?"
    rf"(?:\s?(?P<after>{_MARKED}{{1,2}}\.?\s?(?:{_MARKED}\.?)?))?(?(bracket)(?:\]\s?)|(?:\s[-\u2013]\s|(?(year),\s|\s-\s)))(?P<rest>.*)"
)
# the halves of a day as the Unicode CLDR abbreviates them for clocks of 12 hours, without stops and spaces
_HALVES: Final = {
    **dict.fromkeys(("am", "\u4e0a\u5348", "\u5348\u524d", "\uc624\uc804", "\u0635", "\u03c0\u03bc"), 0),
    **dict.fromkeys(("pm", "\u4e0b\u5348", "\u5348\u5f8c", "\uc624\ud6c4", "\u0645", "\u03bc\u03bc"), 12),
}
_SPEAKER: Final = re.compile(r"(?P<name>[^:\"\u201c\u201d]{1,100}): ?(?P<text>.*)")
_LONGEST_HEAD: Final = 60
_PLACEHOLDER: Final = re.compile(r"<[^<>]{1,200}>")
_FILE_NAME: Final = re.compile(r"[^\s/][^/\n]{0,200}\.\w{2,5} \([^()\n]{3,40}\)")
_DELETED: Final = ("this message was deleted", "you deleted this message")
_MEDIA: Final = "of media that the export omits"
_SYSTEM: Final = "of the app itself"

_Date = tuple[int, int, int]


@dataclass
class _Message:
    """A message with its lines; the first of them is what follows the date."""

    line: int
    numbers: _Date
    hour: int
    minute: int
    second: int
    has_dots: bool
    lines: list[str] = field(default_factory=list)


def detect(dump: Dump) -> bool:
    """Return whether the file is such an export."""
    start = dump.data[:2000].decode("utf-8-sig", "replace").lstrip()
    return _head(start.partition("\n")[0]) is not None


def read(dump: Dump) -> Iterator[DumpItem]:
    """Yield every message. Times are taken as UTC, because the file names no time zone.

    Args:
        dump: the file.

    Yields:
        The messages in order, and one item for each that is left out.

    Raises:
        FormatError: the file is not such an export, a date does not exist, or nothing tells day and month apart.
    """
    messages = list(_messages(dump))
    date_of = _calendar(dump, messages)
    spacing = Spacing()
    session = dump.path.stem if dump.path.stem != "_chat" else dump.path.parent.stem  # so called in an archive
    for message in messages:
        at = spacing.place(_time(dump, message, date_of))
        assert at is not None  # every message has a date
        first, *more = message.lines
        said = _SPEAKER.fullmatch(first)
        if said is None:
            yield LeftOut(_SYSTEM)
            continue
        text, reason = _said(said["text"], more)
        speaker = _MARKS.sub("", said["name"]).strip()
        if reason or not speaker:
            yield LeftOut(reason or _SYSTEM)
        else:
            yield dump.document(f"line {message.line}", text, at=at, source=SOURCE, speaker=speaker, session=session)


def _head(line: str) -> tuple[re.Match[str], str] | None:
    """Return the match of a line that begins a message, and what follows the head.

    Marks of direction, kinds of spaces and the script of digits do not count in the head.
    """
    places = [place for place, letter in enumerate(line) if place >= _LONGEST_HEAD or not _MARKS.match(letter)]
    letters = "".join(line[place] for place in places)
    begin = "".join(str(unicodedata.decimal(one)) if one.isdecimal() else one for one in letters[:_LONGEST_HEAD])
    head = _HEAD.fullmatch(begin + letters[_LONGEST_HEAD:])
    return None if head is None else (head, line[places[head.start("rest") - 1] + 1 :])


def _style(head: re.Match[str]) -> tuple[object, ...]:
    """Return what all heads of one file share, so that a quoted line of another file is not taken for a head."""
    return head["bracket"], head["between"], head["seconds"] is None, not (head["before"] or head["after"])


def _messages(dump: Dump) -> Iterator[_Message]:
    try:
        text = dump.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise dump.fail(f"this is not UTF-8: {error.reason} at byte {error.start}") from None
    style = message = None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        found = _head(line)
        if found is not None and style is None:
            style = _style(found[0])
        if found is not None and _style(found[0]) == style:
            if message is not None:
                yield message
            message = _begun(dump, number, *found)
        elif message is not None:
            message.lines.append(line)
        elif line.strip():
            raise dump.fail("this does not begin a message: expected a date, a time, a name and a text", number)
    if message is None:
        raise dump.fail("there is no message in the file")
    yield message


def _begun(dump: Dump, number: int, head: re.Match[str], rest: str) -> _Message:
    hour, minute, second = int(head["hour"]), int(head["minute"]), int(head["seconds"] or 0)
    mark = head["before"] if head["before"] in _HALVES else head["after"]
    if mark:
        if not 1 <= hour <= 12:
            raise dump.fail(f"the hour {hour} does not exist on a clock of 12 hours", number)
        half = _HALVES.get("".join(letter for letter in mark.lower() if letter.isalpha()))
        if half is None:
            raise dump.fail(f"whether {mark!r} is before or after noon is not known", number)
        hour = hour % 12 + half
    if hour > 23 or minute > 59 or second > 59:
        raise dump.fail(f"the time {hour}:{minute:02}:{second:02} does not exist", number)
    first = int(head["first"])
    # "24. 3. 15." and the signs of year, month and day begin with the year
    is_year = head["year"] or (head["stop"] and max(len(head["first"]), len(head["third"])) < 3)
    numbers = first + 2000 if is_year and first < 100 else first, int(head["second"]), int(head["third"])
    return _Message(number, numbers, hour, minute, second, head["between"] == ".", [rest])


def _said(first: str, more: list[str]) -> tuple[str, str]:
    """Return the text of a message, and why it is left out (empty if it is not)."""
    text = "\n".join([first, *more]).rstrip()
    written, mark, note = text.rpartition(_MARK)
    if mark and written.strip() and _PLACEHOLDER.fullmatch(note):  # that the message was edited
        text = written.rstrip()
    first = text.partition("\n")[0]
    plain = _MARKS.sub("", first).strip()
    if _PLACEHOLDER.fullmatch(plain) or _FILE_NAME.fullmatch(plain):
        text = text.partition("\n")[2]  # the words that go with a picture follow it
        return text, "" if text.strip() else _MEDIA
    if first.startswith(_MARK):
        return "", _MEDIA if plain.lower().endswith("omitted") else _SYSTEM
    if plain.lower().rstrip(".") in _DELETED:
        return "", "that were deleted"
    return text, ""


def _day_first(numbers: _Date) -> _Date:
    return numbers[2], numbers[1], numbers[0]


def _month_first(numbers: _Date) -> _Date:
    return numbers[2], numbers[0], numbers[1]


def _year_first(numbers: _Date) -> _Date:
    return numbers


_ORDERS: Final[dict[DateOrder, Callable[[_Date], _Date]]] = {"day-first": _day_first, "month-first": _month_first}


def _calendar(dump: Dump, messages: list[_Message]) -> Callable[[_Date], _Date]:
    """Return what turns the three numbers of a date into year, month and day, decided from all dates of the file."""
    if all(message.numbers[0] > 31 for message in messages):
        return _year_first
    if dump.date_order is not None:
        return _ORDERS[dump.date_order]
    days = next((message.line for message in messages if message.numbers[0] > 12), None)
    months = next((message.line for message in messages if message.numbers[1] > 12), None)
    if days is not None and months is not None:
        raise dump.fail(
            f"the dates contradict each other: line {days} has the day first, line {months} has the month first"
        )
    if days is not None or months is not None:
        return _day_first if days is not None else _month_first
    # messages come in the order of their times, which often fits one of the two only
    dates = [message.numbers for message in messages]
    fitting = [order for order in _ORDERS.values() if all(order(a) <= order(b) for a, b in pairwise(dates))]
    if len(fitting) == 1:
        return fitting[0]
    if all(message.has_dots for message in messages) or all(numbers[0] == numbers[1] for numbers in dates):
        return _day_first
    first, second, year = dates[0]
    raise InputError(
        f"{dump.path}: nothing in the file tells whether {first}/{second}/{year} is a day and a month or a month and a "
        'day: say it with --date-order day-first or month-first (from Python: date_order="day-first")'
    )


def _time(dump: Dump, message: _Message, date_of: Callable[[_Date], _Date]) -> float:
    year, month, day = date_of(message.numbers)
    if year < 100:
        year += 2000
    try:
        at = datetime(year, month, day, message.hour, message.minute, message.second, tzinfo=UTC)
    except ValueError as error:
        numbers = "/".join(map(str, message.numbers))
        raise dump.fail(f"the date {numbers} does not exist: {error}", message.line) from None
    return at.timestamp()

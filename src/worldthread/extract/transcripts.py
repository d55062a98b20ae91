"""Parses conversations in plain text: chat exports, IRC logs, transcripts of talks.

A line begins an utterance when it has one of these forms; a line without such a head continues the one above::

    [2024-05-01 10:00] Anna: hello              01.05.24, 10:00 - Anna: hello
    [01/05/2024, 10:00:12] Anna: hello          5/1/24, 10:00 PM - Anna: hello
    2024-05-01T10:00:00Z <anna> hello           [10:02] <anna> hello
    10:02 Anna: hello                           Anna: hello
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple

from worldthread.errors import InputError
from worldthread.extract.when import world_time

_HEAD: Final = re.compile(
    r"[\u200e\u200f\u202a]*(?P<stamp>(?P<bracket>\[)?"
    r"(?:(?P<date>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2}(?:\d\d)?)(?:,?\s{1,3}|T))?"
    r"(?P<clock>\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?)(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?\s?(?P<zone>Z|[+-]\d\d:?\d\d)?"
    r"(?(bracket)\])(?:\s{1,3}[-–]\s{1,3}|:?\s{1,3}))?[\u200e\u200f]*"
    r"(?:(?:<(?P<nick>[^\s<>/][^<>\n]{0,39})>|(?P<bold>\*\*)?(?P<speaker>"
    r"(?:~\s?)?[^\W\d_][^\s:<>*]{0,39}(?:\s[^\s:<>*]{1,30}){0,3}|\+\d[\d\s()-]{5,20})(?(bold)\*\*):)"
    r"(?:\s{1,4}|$))?"
)
# words before a colon in notes, letters and recipes, which are no speakers
_NO_SPEAKERS: Final = frozenset({
    "abstract", "address", "answer", "caution", "cc", "conclusion", "date", "example", "examples", "from", "hint",
    "important", "ingredients", "keywords", "location", "method", "name", "note", "notes", "phone", "place", "ps",
    "question", "remember", "result", "results", "serves", "source", "step", "steps", "subject", "summary", "time",
    "tip", "title", "to", "todo", "url", "warning",
})  # fmt: skip


@dataclass(frozen=True)
class Utterance:
    """One message of a conversation.

    Args:
        speaker: who said it; empty for a line that nobody said ("Anna joined the group").
        text: what was said.
        at: world time, in seconds since 1970-01-01 UTC; ``None`` when it is not known.
    """

    speaker: str
    text: str
    at: float | None = None

    def __str__(self) -> str:
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


class _Head(NamedTuple):
    """The beginning of a line, taken apart.

    Args:
        line: number of the line, from 0.
        date: the date as written; ``None`` without one.
        clock: the time of day as written, with ``AM`` or ``PM`` and the zone; ``None`` without one.
        speaker: the speaker; ``None`` without one.
        text: the rest of the line.
    """

    line: int
    date: str | None
    clock: str | None
    speaker: str | None
    text: str

    @property
    def strength(self) -> int:
        """3 with date and clock, 2 with clock and speaker, 1 with a speaker only, 0 without speaker and date."""
        if self.date is not None:
            return 3
        return 0 if self.speaker is None else 1 + (self.clock is not None)


def utterances(text: str) -> list[Utterance] | None:
    """Return the utterances of a conversation, in order.

    A text is a conversation when a fourth of its non-empty lines begin with a date, a clock and a speaker; or when more
    than half of them begin with a speaker (all with a clock, or all without), at least two speakers speak twice, and
    fewer than half of the lines are by speakers who speak once. Prose with colons, recipes, lists of fields and
    repeated records are not conversations.

    A time without a zone is UTC; a clock without a date gives no time. Whether 01/05/2024 is in January or in May is
    decided once for the whole conversation: by a number above 12; else by the order in which time does not run
    backwards; else the month comes first when the clock says AM or PM, and the day otherwise. With dots, the day always
    comes first.

    Args:
        text: the text of a file.

    Returns:
        The utterances; the text above the first head comes first, without a speaker. ``None`` when ``text`` is not a
        conversation.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    non_empty = sum(1 for line in lines if line.strip())
    heads = [head for number, line in enumerate(lines) if (head := _parse_head(number, line)).strength]
    for strength in (3, 2, 1):
        chosen = [head for head in heads if head.strength == strength]
        with_speaker = [head for head in chosen if head.speaker is not None]
        if (
            strength == 3
            and len(with_speaker) >= 2
            and 2 * len(with_speaker) >= len(chosen)
            and 4 * len(chosen) >= non_empty
        ):
            return list(_utterances_of(lines, chosen))
        if strength < 3 and 2 * len(chosen) > non_empty and _is_dialogue(lines, chosen):
            return list(_utterances_of(lines, chosen))
    return None


def _parse_head(number: int, line: str) -> _Head:
    found = _HEAD.match(line)
    assert found is not None  # every part of the pattern may be absent
    speaker = found["nick"] or found["speaker"]
    if speaker is not None and found["stamp"] is None and speaker.casefold() in _NO_SPEAKERS:
        return _Head(number, None, None, None, line)
    clock = found["clock"]
    if found["half"]:
        clock = f"{clock} {found['half'].upper()}M"
    if clock is not None and found["zone"]:
        clock = f"{clock} {found['zone']}"
    return _Head(number, found["date"], clock, speaker, line[found.end() :])


def _is_dialogue(lines: Sequence[str], heads: Sequence[_Head]) -> bool:
    counts = Counter(head.speaker for head in heads)
    single = sum(1 for count in counts.values() if count == 1)
    if len(counts) - single < 2 or 2 * single >= len(heads):
        return False
    return not _are_records(lines, heads)


def _are_records(lines: Sequence[str], heads: Sequence[_Head]) -> bool:
    """Return whether the lines are fields of records: paragraphs of at least two lines, all with the same labels."""
    labels: list[list[str | None]] = []
    previous = -2
    for head in heads:
        if not labels or any(not lines[number].strip() for number in range(previous + 1, head.line)):
            labels.append([])
        labels[-1].append(head.speaker)
        previous = head.line
    return len(labels) > 1 and len(labels[0]) > 1 and all(paragraph == labels[0] for paragraph in labels)


def _utterances_of(lines: Sequence[str], heads: Sequence[_Head]) -> Iterator[Utterance]:
    """Yield an utterance for each head, with the lines up to the next head."""
    preamble = "\n".join(lines[: heads[0].line]).strip()
    if preamble:
        yield Utterance("", preamble)
    ends = [*(head.line for head in heads[1:]), len(lines)]
    for head, end, at in zip(heads, ends, _times(heads), strict=True):
        text = "\n".join([head.text, *lines[head.line + 1 : end]]).strip()
        if text:
            yield Utterance((head.speaker or "").strip(), text, at)


def _times(heads: Sequence[_Head]) -> list[float | None]:
    """Return the world time of each head; :func:`utterances` explains the order of day and month."""
    by_order = {day_first: [_time(head, day_first) for head in heads] for day_first in (True, False)}
    failures = {day_first: times.count(None) for day_first, times in by_order.items()}
    if failures[True] != failures[False]:
        return by_order[failures[True] < failures[False]]
    rising = {day_first: _is_rising(times) for day_first, times in by_order.items()}
    if rising[True] != rising[False]:
        return by_order[rising[True]]
    return by_order[not any(head.clock is not None and "M" in head.clock for head in heads)]


def _is_rising(times: Sequence[float | None]) -> bool:
    known = [time for time in times if time is not None]
    return all(earlier <= later for earlier, later in pairwise(known))


def _time(head: _Head, day_first: bool) -> float | None:
    """Return the world time of a head; ``None`` without a date, or when there is no such date in this order."""
    if head.date is None or head.clock is None:
        return None
    first, second, third = map(int, re.split(r"[-/.]", head.date))
    if first > 31:
        year, month, day = first, second, third
    else:
        day, month = (first, second) if day_first or "." in head.date else (second, first)
        year = third if third > 99 else 2000 + third
    clock, *rest = head.clock.split(" ")
    hour, colon, minutes = clock.partition(":")
    if rest and rest[0] in ("AM", "PM"):
        hour = str(int(hour) % 12 + 12 * (rest[0] == "PM"))
    zone = rest[-1] if rest and rest[-1] not in ("AM", "PM") else ""
    try:
        timestamp = f"{datetime(year, month, day):%Y-%m-%d}T{int(hour):02}{colon}{minutes}{zone}"
        return world_time(timestamp, 0.0)
    except (ValueError, InputError):
        return None

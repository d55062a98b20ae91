"""Conversations in plain text: chat exports, IRC logs, transcripts of talks.

Lines such as these are understood, where the text that follows without a head belongs to the line above::

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
# what stands before a colon in notes, letters and recipes
_NO_SPEAKERS: Final = frozenset({
    "abstract", "address", "answer", "caution", "cc", "conclusion", "date", "example", "examples", "from", "hint",
    "important", "ingredients", "keywords", "location", "method", "name", "note", "notes", "phone", "place", "ps",
    "question", "remember", "result", "results", "serves", "source", "step", "steps", "subject", "summary", "time",
    "tip", "title", "to", "todo", "url", "warning",
})  # fmt: skip


@dataclass(frozen=True)
class Utterance:
    """What somebody said.

    Args:
        speaker: who; empty for what nobody said ("Anna joined the group").
        text: what was said.
        at: world time; ``None`` when it is not known.
    """

    speaker: str
    text: str
    at: float | None = None

    def __str__(self) -> str:
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


class _Head(NamedTuple):
    """What a line begins with. ``text`` is the rest of it."""

    line: int
    date: str | None
    clock: str | None
    speaker: str | None
    text: str

    @property
    def strength(self) -> int:
        """3 with date and clock, 2 with a clock, 1 with a speaker only, 0 with no speaker and no date."""
        if self.date is not None:
            return 3
        return 0 if self.speaker is None else 1 + (self.clock is not None)


def utterances(text: str) -> list[Utterance] | None:
    """The utterances of a conversation, in order; ``None`` when ``text`` is no conversation.

    It is one when a fourth of its lines that are not empty begin with a date, a clock and a speaker; or when more than
    half begin with a speaker (all of them with a clock or none), at least two speak twice and those who speak once are
    fewer than half of the lines. Prose with colons, recipes, lists of fields and repeated records are none.

    Times without a zone are UTC, clocks without a date give no time. Whether 01/05/2024 is in January or May is decided
    for the whole conversation: by a number above 12, else by the order in which time does not run backwards, else it is
    the month first where the clock says AM or PM, and the day first elsewhere. With dots it is the day first.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    filled = sum(1 for line in lines if line.strip())
    heads = [head for number, line in enumerate(lines) if (head := _head(number, line)).strength]
    for strength in (3, 2, 1):
        chosen = [head for head in heads if head.strength == strength]
        spoken = [head for head in chosen if head.speaker is not None]
        if strength == 3 and len(spoken) >= 2 and 2 * len(spoken) >= len(chosen) and 4 * len(chosen) >= filled:
            return list(_joined(lines, chosen))
        if strength < 3 and 2 * len(chosen) > filled and _is_dialogue(lines, chosen):
            return list(_joined(lines, chosen))
    return None


def _head(number: int, line: str) -> _Head:
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
    once = sum(1 for count in counts.values() if count == 1)
    if len(counts) - once < 2 or 2 * once >= len(heads):
        return False
    return not _are_records(lines, heads)


def _are_records(lines: Sequence[str], heads: Sequence[_Head]) -> bool:
    """Whether the lines are the fields of records: paragraphs of two lines or more with the same labels in each."""
    labels: list[list[str | None]] = []
    previous = -2
    for head in heads:
        if not labels or any(not lines[number].strip() for number in range(previous + 1, head.line)):
            labels.append([])
        labels[-1].append(head.speaker)
        previous = head.line
    return len(labels) > 1 and len(labels[0]) > 1 and all(paragraph == labels[0] for paragraph in labels)


def _joined(lines: Sequence[str], heads: Sequence[_Head]) -> Iterator[Utterance]:
    """Each head with the lines up to the next one."""
    preamble = "\n".join(lines[: heads[0].line]).strip()
    if preamble:
        yield Utterance("", preamble)
    ends = [*(head.line for head in heads[1:]), len(lines)]
    for head, end, at in zip(heads, ends, _times(heads), strict=True):
        text = "\n".join([head.text, *lines[head.line + 1 : end]]).strip()
        if text:
            yield Utterance((head.speaker or "").strip(), text, at)


def _times(heads: Sequence[_Head]) -> list[float | None]:
    """World times; see :func:`utterances` for the order of day and month."""
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
    """``None`` when the head has no date, or one that does not exist when read so."""
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
        moment = f"{datetime(year, month, day):%Y-%m-%d}T{int(hour):02}{colon}{minutes}{zone}"
        return world_time(moment, 0.0)
    except (ValueError, InputError):
        return None

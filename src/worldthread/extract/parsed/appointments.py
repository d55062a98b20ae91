"""Reads the days in notes: "Dentist Tue 14:30", "MOT due 9 Feb"."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from worldthread.extract.prose.key_values import IS_TOLD, NO_KEYS, lower_key
from worldthread.extract.prose.words import WORDS
from worldthread.extract.times import time_expressions
from worldthread.types import Fact

_APPOINTMENT: Final = re.compile(
    r"(?P<what>[^\W\d_][\w'’-]*(?: (?:at|in|of|with|for|and|&)? ?[\w'’-]+){0,4}?)[,:]? "
    r"(?:(?:is )?(?P<due>due|expires?|ends?|starts?|begins?) )?(?:on )?$"
)
_DAYS: Final = {
    "mon": "Monday", "tue": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "fri": "Friday", "sat": "Saturday",
    "sun": "Sunday",
}  # fmt: skip
_DAY: Final = re.compile(
    r"\b(mon|tues?|wed|thur?s?|fri|sat|sun)(?:days?|nesday|urday)?\.? (?:at )?"
    r"(\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m)\b",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(
    r"(?:,? (?:at )?)(?P<clock>\d{1,2}[:.]\d\d(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?)\b", re.IGNORECASE
)


def appointments(sentence: str, about: str | None, at: float) -> list[Fact]:
    """Return when something is, of a sentence that says nothing else: "Dentist Tue 14:30, Dr Pohl", "MOT due 9 Feb".

    Args:
        sentence: the sentence.
        about: what the note is about; ``None`` where it does not say so.
        at: time of the note in seconds since 1970-01-01 UTC.

    Returns:
        One fact, or none.
    """
    day = _DAY.search(sentence)
    if day is not None:
        sentence = f"{sentence[: day.start()]}on {_DAYS[day[1][:3].lower()]} at {day[2]}{sentence[day.end() :]}"
        told = f"It is {sentence[day.start() :]}"
        shift = len(told) - len(sentence)
        found = [
            t._replace(start=t.start - shift, end=t.end - shift) for t in time_expressions(told, at, is_past=False)
        ]
    else:
        found = time_expressions(sentence, at, is_past=False)
    times = [t for t in found if t.role == "at" and t.precision in ("day", "minute", "day part")]
    if not times or times[0].valid_from is None or times[0].valid_from < at - 86400:
        return []
    time = times[0]
    match = _APPOINTMENT.match(sentence[: time.start])
    if match is None or IS_TOLD.search(match["what"].replace("'s ", " ")):
        return []
    what = match["what"].strip()
    words = what.lower().split()
    if (
        words[-1] in WORDS["function"] | WORDS["verbs"]
        or words[0] in (WORDS["function"] - {"next"}) | WORDS["verbs"] | NO_KEYS
        or any(w.endswith("ed") for w in words)
    ):
        return []
    if len(words) == 1 and words[0] in WORDS["months"] | WORDS["weekdays"]:
        return []
    rest = sentence[time.end :].strip().rstrip(".")
    clock = _CLOCK.match(" " + rest) if rest else None
    after = rest[clock.end() - 1 :].strip(" ,") if clock is not None else rest.strip(" ,")
    after = after.partition(". ")[0]
    if (
        IS_TOLD.search(after)
        or len(after.split()) > 6
        or (rest and rest[0].isalpha() and clock is None and not after.startswith(("at ", "in ")))
    ):
        return []
    begins = time.valid_from
    assert begins is not None
    shown = datetime.fromtimestamp(begins, UTC)
    value = f"{shown:%Y-%m-%d}" + (
        f" {shown:%H:%M}" if time.precision == "minute" else f" {clock['clock']}" if clock is not None else ""
    )
    if after and not after.startswith(("and ", "or ")):
        value += f", {after}"
    if words[-1] in ("birthday", "anniversary"):
        value = f"{shown.day} {shown:%B}"
        owner = " ".join(what.split()[:-1]).removesuffix("'s")
        return [Fact(owner, f"has {words[-1]}", value)] if owner and owner[0].isupper() else []
    due = match["due"]
    relation = "is on" if due is None else f"{'is due' if due == 'due' else due} on"
    subject = lower_key(what) if about is None or len(words) > 1 else f"{lower_key(what)} ({about})"
    if due is None and len(words) == 1 and about is None and words[0] in ("meeting", "call", "trip", "test", "visit"):
        return []
    begin = datetime(shown.year, shown.month, shown.day, tzinfo=UTC).timestamp()
    return [
        Fact(subject, relation, value, None, begin, begin + 86400) if due is None else Fact(subject, relation, value)
    ]

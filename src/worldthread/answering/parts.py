"""What a sentence has of what is asked for: a number, what is counted, and the day that it names."""

from __future__ import annotations

import re
from typing import Final

from worldthread.answering.details import asked_detail, lacks_detail
from worldthread.answering.question import ParsedQuestion
from worldthread.answering.tables import LISTS
from worldthread.extract.prose.dates import DATE
from worldthread.extract.times import TimeExpression, time_expressions
from worldthread.extract.when import shown_time
from worldthread.retrieve.words import STOP_STEMS, words_of

_DATE: Final = re.compile(rf"(?<!\w)(?:{DATE})")
_DIGIT: Final = re.compile(r"\d")
_MANY: Final = re.compile(r"\bhow many\s+(?P<noun>\w+)", re.IGNORECASE)


def has_number(text: str) -> bool:
    """Return whether a text has a number, in digits or in words."""
    return bool(_DIGIT.search(text)) or bool(LISTS["number_words"] & set(re.findall(r"\w+", text.casefold())))


def lacks_kind(question: ParsedQuestion, sentence: str) -> bool:
    """Return whether a sentence certainly has nothing of the kind that a question asks for.

    Only numbers and some details are certain: a person may be "my sister", a time is that of the message, a place may
    be "home".

    Args:
        question: the question.
        sentence: a sentence, without the label of a speaker.

    Returns:
        ``True`` for a question for a number and a sentence without one, or without what is counted; and for a sentence
        without the detail that is asked for.
    """
    if lacks_detail(question, sentence):
        return True
    if question.kind != "number" or asked_detail(question) is not None:
        return False
    counted = _counted(question)
    return not has_number(sentence) or not (not counted or counted & set(words_of(sentence)))


def answering_time(sentence: str, at: float) -> str | None:
    """Return the time that a sentence names, such as "last Friday", as a date.

    Args:
        sentence: a sentence, without the label of a speaker.
        at: world time of the sentence.

    Returns:
        A day, a month, a year, or the first and the last day, in ISO 8601; ``None`` when the sentence names no time or
        more than one, or the memory counts turns.
    """
    named = _named_time(sentence, at)
    if named is None or named.valid_from is None or named.valid_to is None:
        return None
    first, last = shown_time(named.valid_from)[:10], shown_time(named.valid_to - 1)[:10]
    if named.precision in ("year", "month"):
        return first[: 4 if named.precision == "year" else 7]
    return first if first == last else f"{first} to {last}"


def says_only_when(question: ParsedQuestion, sentence: str, at: float) -> bool:
    """Return whether a sentence says only what a question asks about and its day, so that the day alone answers.

    Args:
        question: the question.
        sentence: a sentence, without the label of a speaker.
        at: world time of the sentence.

    Returns:
        ``True`` for "When did I sell the goats?" and "I sold the goats yesterday"; ``False`` for "at noon yesterday".
    """
    named = _named_time(sentence, at)
    if named is None or named.precision not in ("day", "month", "year"):
        return False
    rest = f"{sentence[: named.start]} {sentence[named.end :]}"
    return set(words_of(rest)) - STOP_STEMS <= set(words_of(question.text))


def _named_time(sentence: str, at: float) -> TimeExpression | None:
    """Return the one time at which a sentence says something; ``None`` where it names none or more."""
    named = [time for time in time_expressions(sentence, at) if time.role not in ("duration", "recurring")]
    if len(named) != 1 or named[0].role not in ("at", "during"):
        return None
    rest = f"{sentence[: named[0].start]} {sentence[named[0].end :]}"
    return None if _DATE.search(rest) else named[0]  # "was on the 19th, but they moved it to 26 November"


def _counted(question: ParsedQuestion) -> frozenset[str]:
    """Return the stems of what is counted in "how many cars", empty where nothing is."""
    match = _MANY.search(question.text)
    if match is None or match["noun"].casefold() in LISTS["auxiliaries"]:
        return frozenset()
    return frozenset(words_of(match["noun"]))

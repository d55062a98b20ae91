"""The detail that a question asks for: what a sentence must have to give it.

"What is the colour of Anna's car?" is not answered by "My car is a Volvo", however well it fits. A sentence without a
colour certainly does not answer it; the same holds for a name, a duration and a price.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from worldthread.answering.question import ParsedQuestion
from worldthread.answering.tables import LISTS, TABLES
from worldthread.extract.prose.words import WORDS
from worldthread.retrieve.words import STOP_STEMS, words_of

Detail: TypeAlias = Literal["colour", "name", "duration", "price"]
"""A detail that can be seen from the words of a sentence."""


def _any(words: frozenset[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word)))


def _found(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NUMBER: Final = rf"(?:\d[\d.,]*|{_any(LISTS['number_words'])}|an?|few|several|couple of|many)"
_UNIT: Final = r"(?:second|minute|min|hour|hr|day|night|week|weekend|month|year|yr|decade)s?"
_ASKS: Final[dict[Detail, re.Pattern[str]]] = {
    detail: _found(rf"\b(?:{source})") for detail, source in TABLES["asks_detail"].items()
}
_HAS: Final[dict[Detail, re.Pattern[str]]] = {
    "colour": _found(rf"\b(?:{_any(LISTS['colours'])})(?:\w?ish|s)?\b|\bcolou?red\b"),
    "duration": _found(
        rf"\b(?:{_NUMBER})(?:\s|-){{1,3}}(?:\w+\s){{0,2}}{_UNIT}\b(?!\s+(?:ago|before|earlier|later)\b)"
        rf"|\b(?:all|whole|entire)\s+(?:the\s+)?{_UNIT}\b|\b{_UNIT} long\b"
        rf"|\b(?:since|until|till|forever|always)\b|\bfor (?:{_UNIT}|ages|long)\b"
    ),
    "price": _found(
        rf"[$€£¥]|\d\s?k\b|\b(?:{_any(LISTS['currencies'])})\b|\b(?:{_any(LISTS['free'])})\b"
        r"|\b(?!(?:19|20)\d\d\b)\d{2,}\b(?!\s+(?!an?\b|per\b|each\b|for\b)\w)"
    ),
}
_CAPITAL: Final = re.compile(r"(?<![\w'’])[A-Z][\w'’-]*")
_NAMING: Final = _found(r"\b(?:called|named|names?|titled?)\b|[\"“”]")


def asked_detail(question: ParsedQuestion) -> Detail | None:
    """Return the detail that a question asks for; ``None`` when it asks for no such detail.

    Args:
        question: the question.

    Returns:
        ``"colour"`` for "What colour is it?".
    """
    return next((detail for detail, pattern in _ASKS.items() if pattern.search(question.text)), None)


def lacks_detail(question: ParsedQuestion, sentence: str) -> bool:
    """Return whether a sentence certainly does not have the detail that a question asks for.

    Args:
        question: the question.
        sentence: a sentence, without the label of a speaker.

    Returns:
        ``True`` for "What colour is Anna's car?" and "My car is a Volvo".
    """
    detail = asked_detail(question)
    if detail is None:
        return False
    if detail == "name":
        return not _has_name(question, sentence)
    return _HAS[detail].search(sentence) is None


def _has_name(question: ParsedQuestion, sentence: str) -> bool:
    """Return whether a sentence may name something that the question does not: it says so, or has another name."""
    asked = set(words_of(question.text))
    for match in _CAPITAL.finditer(sentence):
        words = set(words_of(match[0]))
        is_date = match[0].casefold() in WORDS["months"] | WORDS["weekdays"]
        if words - STOP_STEMS - asked and not is_date:
            return True
    return _NAMING.search(sentence) is not None

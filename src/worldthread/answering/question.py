"""What a question asks: for what kind of answer, about whom, and with which words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, Literal, TypeAlias, get_args

from worldthread.extract.base import USER
from worldthread.extract.prose.words import WORDS
from worldthread.names import normalise_name
from worldthread.retrieve.query import as_asked_by
from worldthread.retrieve.words import STOP_STEMS, words_of

AnswerKind: TypeAlias = Literal["person", "time", "place", "number", "yes-no", "reason", "manner", "thing"]
"""What a question asks for."""

TABLES: Final[dict[str, Any]] = tomllib.loads(
    files("worldthread.answering").joinpath("words.toml").read_text(encoding="utf-8")
)
"""The tables of ``words.toml``."""

SOMEONE: Final = "someone"
"""Stands for the person that a question names where only the rest of the question counts."""

LISTS: Final[dict[str, frozenset[str]]] = {name: frozenset(words.split()) for name, words in TABLES["lists"].items()}
"""The lists of words of ``words.toml``."""

_NOUN_KINDS: Final = {noun: kind for kind, nouns in TABLES["kinds"].items() for noun in nouns.split()}
_PATTERNS: Final[tuple[tuple[AnswerKind, re.Pattern[str]], ...]] = (
    ("time", re.compile(r"\b(?:when|how long ago|since when|until when)\b", re.IGNORECASE)),
    ("number", re.compile(r"\bhow (?:many|much|old|long|far|often|tall|big|high|large|heavy)\b", re.IGNORECASE)),
    ("person", re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)),
    ("place", re.compile(r"\bwhere\b", re.IGNORECASE)),
    ("reason", re.compile(r"\bwhy\b", re.IGNORECASE)),
    ("manner", re.compile(r"\bhow\b", re.IGNORECASE)),
)
_AUXILIARY: Final = "|".join(sorted(LISTS["auxiliaries"]))
_YES_NO: Final = re.compile(rf"\W*(?:{_AUXILIARY})\b", re.IGNORECASE)
_ASKED_NOUN: Final = re.compile(
    rf"\b(?:what|which)\s+(?P<noun>(?!(?:{_AUXILIARY})\b)[^\W\d]\S*)(?:\s+of\s+(?P<more>\w+))?", re.IGNORECASE
)
_WHAT_IS: Final = re.compile(
    r"\bwhat(?:'s|\s+is|\s+was|\s+are)\s+(?:the\s+|\S+'s?\s+|my\s+|your\s+)?(?P<noun>\w+)", re.I
)
_FIRST_PERSON: Final = re.compile(r"\bI\b(?!\.)|\b(?:me|my|mine|myself)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"(?<![.\w])(?!I\b)[A-Z][\w'’-]*(?:\s+[A-Z][\w-]*)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_QUESTION_WORDS: Final = LISTS["question_words"] | LISTS["auxiliaries"]
_MONTHS_AND_DAYS: Final = WORDS["months"] | WORDS["weekdays"]


@dataclass(frozen=True)
class ParsedQuestion:
    """A question, understood.

    Args:
        text: as asked, with the name of the person who asks in place of "I".
        kind: what it asks for.
        named: normalised names that it mentions, in order.
        subject: the name that it is about: the first one; ``None`` when it names nothing.
        blind: the question with "someone" in place of the subject; the same as ``text`` without one.
        words: stems of its words that say something, without those of its names.
        asked_noun: stems of the noun after "what" or "which", which the answer need not repeat.
    """

    text: str
    kind: AnswerKind
    named: tuple[str, ...]
    subject: str | None
    blind: str
    words: tuple[str, ...]
    asked_noun: frozenset[str]


def analysed(text: str, speakers: Iterable[str] = (), known: Iterable[str] = ()) -> ParsedQuestion:
    """Return what a question asks.

    Args:
        text: the question.
        speakers: normalised names of people who speak in the memory.
        known: further normalised names that the memory knows.

    Returns:
        The question, understood.
    """
    named = _named(text, frozenset(speakers), frozenset(known))
    subject = named[0] if named else None
    blind = text
    if subject == USER and _FIRST_PERSON.search(text):
        blind = as_asked_by(SOMEONE, text)
    elif subject is not None and subject in speakers:
        blind = re.sub(rf"\b{re.escape(subject)}\b", SOMEONE, text, flags=re.IGNORECASE)
    of_names = {word for name in named for word in words_of(name)}
    words = tuple(
        word for word in dict.fromkeys(words_of(_POSSESSIVE.sub("", text))) if _tells(word) and word not in of_names
    )
    return ParsedQuestion(text, _kind(text), named, subject, blind, words, _asked_noun(text))


def _tells(word: str) -> bool:
    return word not in STOP_STEMS and len(word) > 1


def _kind(text: str) -> AnswerKind:
    noun = _noun_kind(text)
    if noun is not None:
        return noun
    if _YES_NO.match(text):
        return "yes-no"
    for kind, pattern in _PATTERNS:
        if pattern.search(text):
            return kind
    return "thing"


def _noun_kind(text: str) -> AnswerKind | None:
    for pattern in (_ASKED_NOUN, _WHAT_IS):
        match = pattern.search(text)
        if match is not None:
            kind = _NOUN_KINDS.get(match["noun"].casefold())
            if kind in get_args(AnswerKind):
                return kind
    return None


def _asked_noun(text: str) -> frozenset[str]:
    match = _ASKED_NOUN.search(text)
    return frozenset() if match is None else frozenset(words_of(f"{match['noun']} {match['more'] or ''}"))


def _named(text: str, speakers: frozenset[str], known: frozenset[str]) -> tuple[str, ...]:
    """Return the names in a question, in order: those that are known, and those that are written like one."""
    at: dict[str, int] = {}
    first = _FIRST_PERSON.search(text)
    if first is not None and USER in speakers:
        at[USER] = first.start()
    folded = text.casefold()
    taken: list[tuple[int, int]] = []
    for name in sorted(speakers | known, key=lambda name: (-len(name), name)):
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) if name and name != USER else None
        if found is not None and not any(a < found.end() and found.start() < b for a, b in taken):
            taken.append(found.span())
            at[name] = found.start()
    for match in _NAME.finditer(text):
        name = normalise_name(_POSSESSIVE.sub("", _without_question_word(match[0], match.start() == 0)) or "-")
        inside = any(a < match.end() and match.start() < b for a, b in taken)
        if not inside and name not in _MONTHS_AND_DAYS and name not in _QUESTION_WORDS and name != "-":
            at.setdefault(name, match.start())
    return tuple(sorted(at, key=lambda name: (at[name], name)))


def _without_question_word(words: str, begins: bool) -> str:
    if not begins:
        return words
    first, _, rest = words.partition(" ")
    return rest if first.casefold() in _QUESTION_WORDS else ("" if not rest else words)

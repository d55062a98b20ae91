"""What a question asks: for what kind of answer, about whom, and with which words."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from worldthread.answering.tables import LISTS, TABLES
from worldthread.answering.wording import ME, Wording, name_at, phrase_key, subject_key, wording
from worldthread.extract.prose.words import WORDS
from worldthread.retrieve.words import STOP_STEMS, words_of

AnswerKind: TypeAlias = Literal["person", "time", "place", "number", "yes-no", "reason", "manner", "thing"]
"""What a question asks for."""

_NOUN_KINDS: Final = {noun: kind for kind, nouns in TABLES["kinds"].items() for noun in nouns.split()}
_PATTERNS: Final[tuple[tuple[AnswerKind, re.Pattern[str]], ...]] = (
    ("time", re.compile(r"\b(?:when|how long ago|since when|until when)\b", re.IGNORECASE)),
    ("number", re.compile(r"\bhow (?:many|much|old|long|far|often|tall|big|high|large|heavy|fast)\b", re.IGNORECASE)),
    ("person", re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)),
    ("place", re.compile(r"\bwhere\b", re.IGNORECASE)),
    ("reason", re.compile(r"\bwhy\b", re.IGNORECASE)),
    ("manner", re.compile(r"\bhow\b", re.IGNORECASE)),
)
_AUXILIARY: Final = "|".join(sorted(LISTS["auxiliaries"]))
_YES_NO: Final = re.compile(rf"\W*(?:and |so )?(?:{_AUXILIARY})(?:n['’]t)?\b", re.IGNORECASE)
_ASKED_NOUN: Final = re.compile(
    rf"\b(?:what|which)\s+(?P<noun>(?!(?:{_AUXILIARY})\b)[^\W\d]\S*)(?:\s+of\s+(?P<more>\w+))?", re.IGNORECASE
)
_WHAT_IS: Final = re.compile(
    r"\bwhat(?:['’]s|\s+is|\s+was|\s+are)\s+(?:the\s+|\S+['’]s?\s+|my\s+|your\s+)?(?P<noun>\w+)", re.I
)
_ASKS_WHAT_DOES: Final = re.compile(r"\W*(?:and )?what (?:do|does|did)\b.*\bdo\b", re.IGNORECASE)
_ASKS_NAME: Final = re.compile(r"\b(?:called|named|names?|surname|nickname)\b", re.IGNORECASE)
_AUXILIARIES: Final = LISTS["auxiliaries"]
_QUESTION_WORDS: Final = LISTS["question_words"] | _AUXILIARIES
_TIMES: Final = WORDS["months"] | WORDS["weekdays"] | LISTS["now_words"]
_PAST: Final = frozenset(["did", "was", "were", "had"])
_DIGITS: Final = re.compile(r"(?<![^\W_])(?:(?=\S{0,64}\d)[^\W_]+(?:[-.:,/_][^\W_]+)*|[^\W\d_]+[#+]+(?!\w))")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class ParsedQuestion:
    """A question, understood.

    Args:
        text: as asked.
        kind: what it asks for.
        wording: what its words say about whose and who.
        names: keys of the names that it mentions, in order.
        subject: the key of whom or what it is about; ``None`` where that is asked for.
        words: stems of its words that say something, without those of names and times.
        asked_noun: stems of the noun after "what" or "which", which the answer need not repeat.
        asks_name: whether it asks what somebody or something is called.
        is_past: whether its verb is in the past.
        identifiers: its words with digits or marks ("C#"), but for years and days.
    """

    text: str
    kind: AnswerKind
    wording: Wording
    names: tuple[str, ...]
    subject: str | None
    words: tuple[str, ...]
    asked_noun: frozenset[str]
    asks_name: bool
    is_past: bool
    identifiers: frozenset[str]


def parsed(text: str, names: Collection[str] = (), time_words: str = "") -> ParsedQuestion:
    """Return what a question asks.

    Args:
        text: the question.
        names: words of names that the memory knows, without case.
        time_words: the words of the question that name the time asked about.

    Returns:
        The question, understood.
    """
    said = wording(text, ME, names)
    kind = _kind(text)
    asked_noun = _asked_noun(text)
    known = tuple(
        dict.fromkeys(
            name_at(said.words, number)
            for number, word in enumerate(said.words)
            if word.is_name
            and word.low not in _QUESTION_WORDS
            and not (number and said.words[number - 1].is_name and not said.words[number - 1].owns)
        )
    )
    of_time = set(words_of(time_words))
    words = [
        word.stem
        for word in said.words
        if not word.is_name
        and word.stem not in STOP_STEMS
        and word.low not in _QUESTION_WORDS
        and word.low not in _TIMES
        and word.stem not in of_time
        and len(word.low) > 1
        and not any(character.isdigit() for character in word.low)
    ]
    if _ASKS_NAME.search(text):
        words = [word for word in words if word not in _NAMING]
    if kind in ("time", "number", "place", "person"):
        words = [word for word in words if word not in asked_noun or word not in _KIND_STEMS]
    if kind == "thing" and not words and _ASKS_WHAT_DOES.match(text):
        words = ["job"]
    numbers = frozenset(
        match
        for match in _DIGITS.findall(text)
        if not _YEAR.fullmatch(match) and match.casefold() not in of_time and not (match.isdecimal() and len(match) < 3)
    )
    low = [word.low for word in said.words]
    return ParsedQuestion(
        text, kind, said, known, _subject(said), tuple(dict.fromkeys(words)), asked_noun,
        _ASKS_NAME.search(text) is not None, bool(_PAST & set(low[:7])), numbers,
    )  # fmt: skip


_NAMING: Final = frozenset(words_of("called named name names"))
_KIND_STEMS: Final = frozenset(stem for nouns in TABLES["kinds"].values() for stem in words_of(nouns))


def _subject(said: Wording) -> str | None:
    words = list(said.words)
    for number, word in enumerate(words[:7]):
        base = re.sub(r"n['’]t$", "", word.low)
        if base in _AUXILIARIES or (word.low in LISTS["question_words"] and word.short):
            rest = words[number + 1 :]
            while rest and rest[0].low in _TIMES:
                rest = rest[1:]
            if not rest:
                return None
            if rest[0].owner or rest[0].is_name or rest[0].low in ("the", "a", "an") or rest[0].owns:
                if rest[0].low in ("the", "a", "an"):
                    rest = rest[1:]
                key = subject_key(rest, ME) if rest and (rest[0].is_name or rest[0].owner) else None
                return key or (phrase_key(rest, 0) if rest else None)
            return subject_key(rest, ME) if rest[0].low in _STARTS else None
    return ME if any(word.low in ("i", "we") for word in words) else None


_STARTS: Final = LISTS["pronouns"]


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
    if match is None:
        return frozenset()
    phrase = re.split(
        rf"\b(?:{_AUXILIARY}|i|we|you|he|she|they|my|our)\b", text[match.start("noun") :], maxsplit=1, flags=re.I
    )[0]
    return frozenset(words_of(" ".join(phrase.split()[:4]))) - STOP_STEMS

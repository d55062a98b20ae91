"""Questions about persons that no single name in a sentence answers: who somebody is, and who a relative is.

"Who is Marc?" asks what is known about Marc, not for the other name in "Marc is a student of Anna". "Who is Liv's
mother?" is not answered by a sentence about her brother; one about a daughter tells it from the other end, without
saying whether the parent is the mother or the father, so that it is the answer as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from worldthread.answering.question import TABLES, ParsedQuestion
from worldthread.retrieve.words import words_of

Telling: TypeAlias = Literal["no", "as a whole", "in part"]
"""How a sentence tells who a relative is: not, as a whole sentence, or by a name in it."""


@dataclass(frozen=True)
class _Relative:
    nouns: re.Pattern[str]
    same: frozenset[str]
    other_end: str


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem for word in words.split() for stem in words_of(word))


def _either(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


def _asked(nouns: str) -> re.Pattern[str]:
    """Return what finds "Liv's mother", "my mother" and "the mother of Liv"."""
    noun = rf"(?:{_either(nouns)})s?"
    return re.compile(rf"(?:['’]s?|\b(?:my|our))\s+{noun}\b|\b{noun}\s+of\b", re.IGNORECASE)


_RELATIVES: Final = tuple(
    _Relative(_asked(row["asked"]), _stems(row["same"]), _either(row["other_end"]))
    for row in TABLES["relatives"].values()
)


def asks_who_somebody_is(question: ParsedQuestion) -> bool:
    """Return whether a question asks who a person is, and nothing else.

    Args:
        question: the question.

    Returns:
        ``True`` for "Who is Marc?", ``False`` for "Who is Marc's teacher?".
    """
    return question.kind == "person" and len(question.named) == 1 and not question.words


def says_who_somebody_is(question: ParsedQuestion, sentence: str) -> bool:
    """Return whether a sentence says what the subject of a question is: "Marc is a student of Anna".

    Args:
        question: the question.
        sentence: a sentence, without the label of a speaker.

    Returns:
        Whether the sentence begins with the subject and a form of "to be".
    """
    subject = re.escape(question.subject or "")
    return (
        re.match(rf"(?:the\s+)?{subject}(?:\s+[A-Z]\w*)?\s+(?:is|was)\s+(?:an?|the|my|our|\S+['’]s)\s", sentence, re.I)
        is not None
    )


def tells_relative(question: ParsedQuestion, sentence: str) -> Telling:
    """Return how a sentence tells who a relative is.

    Args:
        question: the question.
        sentence: a sentence, without the label of a speaker.

    Returns:
        ``"in part"`` also for a question that asks for no relative.
    """
    asked = [one for one in _RELATIVES if question.kind == "person" and one.nouns.search(question.text)]
    if not asked:
        return "in part"
    words = set(words_of(sentence))
    if any(words & one.same for one in asked):
        return "in part"
    name = re.escape(question.subject or "")
    for one in asked:
        # "a daughter named Liv", "their daughter Liv"; "Liv is the daughter of Sofie", "Liv is Sofie's daughter"
        named_after = rf"\b(?:{one.other_end})\b(?:\W+(?!of\b)\w+){{0,2}}\W+{name}\b"
        named_before = rf"\b{name}\b\W+(?:is|was)\b.*\b(?:{one.other_end})\b"
        if name and re.search(f"{named_after}|{named_before}", sentence, re.IGNORECASE):
            return "as a whole"
    return "no"

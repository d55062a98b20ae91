"""What is said as the answer: the end of a fact, a date, "yes" or "no" with the sentence, or the sentence itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from worldthread.answering.agreement import best_clause
from worldthread.answering.candidates import EvidenceCandidate
from worldthread.answering.parts import answering_time, says_only_when
from worldthread.answering.question import ParsedQuestion
from worldthread.answering.tables import LISTS
from worldthread.extract.when import is_date, shown_name, shown_time
from worldthread.retrieve.words import STOP_STEMS, words_of

_LIKES: Final = frozenset(words_of(" ".join(LISTS["likes"])))
_DISLIKES: Final = frozenset(words_of(" ".join(LISTS["dislikes"])))
_PHASES: Final = frozenset(words_of(" ".join(LISTS["phase_verbs"])))


def reply(question: ParsedQuestion, one: EvidenceCandidate) -> str | None:
    """Return the answer that a candidate gives.

    Args:
        question: the question.
        one: a candidate that agrees with it.

    Returns:
        The answer; ``None`` where the candidate gives none.
    """
    if question.kind == "yes-no":
        is_so = _affirms(question, one)
        return None if is_so is None else f"{'Yes' if is_so else 'No'}: {one.text}"
    if question.kind == "time":
        return _time(question, one)
    fact = one.fact
    if fact is None:
        return one.text
    asked = set(words_of(question.text)) - STOP_STEMS
    ends = [
        end
        for end, said in ((fact.object, one.object_said), (fact.subject, one.subject_said))
        if said != "I" and not _is_said_in(end, question.text, asked)
    ]
    if not ends:
        return None
    return shown_name(ends[0])


def _is_said_in(end: str, text: str, asked: set[str]) -> bool:
    """Return whether a question says the end of a fact; one without telling words must stand in it as it is."""
    words = set(words_of(end)) - STOP_STEMS
    return words <= asked if words else end in text


def _time(question: ParsedQuestion, one: EvidenceCandidate) -> str:
    """Return the time that a sentence names as a date, with the sentence if it says more; else it with its own date."""
    named = answering_time(one.sentence, one.at)
    if named is not None:
        return named if says_only_when(question, one.sentence, one.at) else f"{named} ({one.sentence})"
    if one.fact is not None and re.search(r"\d|day\b", one.fact.object):
        return shown_name(one.fact.object)
    return f"{one.text} ({shown_time(one.at)})" if is_date(one.at) else one.text


def _affirms(question: ParsedQuestion, one: EvidenceCandidate) -> bool | None:
    """Return whether a candidate says what is asked; ``None`` where none of its clauses says so much."""
    clause = best_clause(question, one)
    said = [word.stem for word in one.wording.words if word.clause == clause]
    stated = set(said)
    asked = set(words_of(question.text))
    negative = one.wording.is_negated[clause] if clause < len(one.wording.is_negated) else False
    if (_DISLIKES & stated and _LIKES & asked) or (_LIKES & stated and _DISLIKES & asked):
        negative = not negative
        stated |= asked & (_LIKES | _DISLIKES)
    elif _LIKES & stated and _LIKES & asked:
        stated |= asked & _LIKES
    elif phases := _PHASES & stated - asked:
        if any(word in phases for word in said[_first_of(said, question.words) :]):
            return None  # "stopped smoking", but not "smokes, and gives me a headache"
        negative = True
    if len(one.wording.is_negated) > 1 and not set(question.words) <= stated:
        return None
    return negative == any(question.wording.is_negated)


def _first_of(said: Sequence[str], wanted: Collection[str]) -> int:
    """Return the place of the first of some words."""
    return next((place for place, word in enumerate(said) if word in wanted), 0)

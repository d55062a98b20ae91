"""Answers that a fact states exactly: its subject is that of the question, and so is its relation."""

from __future__ import annotations

from typing import Final

from worldthread.answering.parts import fits_kind
from worldthread.answering.question import TABLES, ParsedQuestion
from worldthread.names import normalise_name
from worldthread.retrieve.words import STOP_STEMS, words_of
from worldthread.types import Fact


def _table(key: str) -> dict[str, frozenset[str]]:
    """Return one column of the table of relations: stems of words, or normalised phrases, by name of the relation."""
    found = {}
    for relation, row in TABLES["relations"].items():
        phrases = row[key].split(",")
        parts = map(normalise_name, phrases) if key == "stated" else (stem for one in phrases for stem in words_of(one))
        found[relation] = frozenset(parts)
    return found


_ASKED: Final = _table("asked")
_STATED: Final = _table("stated")
_PLAIN: Final = (frozenset({"has", "have", "had"}), frozenset({"is", "are", "was", "were"}))
_ARTICLES: Final = frozenset({"a", "an", "the"})
_RELATION_WORDS: Final = frozenset().union(*_ASKED.values())


def stated_answer(question: ParsedQuestion, fact: Fact) -> str | None:
    """Return the end of a fact that answers a question exactly.

    The other end is named in the question, and everything else that the question says is in the relation, or in a
    relation of the same meaning.

    Args:
        question: the question.
        fact: a fact that holds at the time asked about.

    Returns:
        The answer, as the fact states it; ``None`` when the fact does not answer the question.
    """
    if question.kind in ("yes-no", "reason", "manner", "time"):
        return None
    asked = {word for word in words_of(question.text) if word not in STOP_STEMS or word in _RELATION_WORDS}
    for known, answer in ((fact.subject, fact.object), (fact.object, fact.subject)):
        if not (_is_asked_about(known, question, least=1 if known is fact.subject else 2)):
            continue
        if _is_asked_about(answer, question):
            continue
        names = set(words_of(known)) | ({"s"} if "'" in question.text or "’" in question.text else set())
        left = asked - names
        if question.subject is not None and known == fact.subject:
            left -= set(words_of(question.subject))
        needed = left - question.asked_noun or left
        is_meant = _means(needed, fact.relation, left) or (not left and _is_plain(fact.relation, question))
        if is_meant and fits_kind(question, answer, fact.relation):
            return answer
    return None


def _is_asked_about(name: str, question: ParsedQuestion, least: int = 2) -> bool:
    """Return whether a question names something, or has all words of it, at least so many that say something."""
    if normalise_name(name) in question.named:
        return True
    words = set(words_of(name)) - STOP_STEMS
    return len(words) >= least and words <= set(words_of(question.text))


def _means(needed: set[str], relation: str, left: set[str]) -> bool:
    """Return whether a relation says what is needed."""
    stems = set(words_of(relation)) - STOP_STEMS
    if needed and needed <= stems:
        return True
    key = normalise_name(relation)
    return any(bool(left) and left <= _ASKED[name] for name, phrases in _STATED.items() if key in phrases)


def _is_plain(relation: str, question: ParsedQuestion) -> bool:
    """Return whether a relation is "has" or "is", and the question asks with the same verb."""
    words = set(normalise_name(relation).split()) - _ARTICLES
    asked = set(normalise_name(question.text).replace("?", " ").split())
    return any(words and words <= forms and asked & forms for forms in _PLAIN)

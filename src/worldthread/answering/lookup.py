"""Looks up the missing part of a fact, where a question says the others word for word."""

from __future__ import annotations

from typing import Final

from worldthread.retrieve.query import is_first_person
from worldthread.retrieve.words import stems_of, tokens_of
from worldthread.types import Fact

_ASKING: Final = frozenset({"what", "where", "which", "who", "whom"})
_OF_EACH: Final = frozenset({"a", "am", "an", "are", "be", "is", "of", "s", "the", "was", "were"})
_OF_QUESTIONS: Final = frozenset({"did", "do", "does", "i", "me", "my"})
_OF_PLACES: Final = frozenset({"at", "in", "on"})


def missing_part(question: str, fact: Fact, own_names: frozenset[str]) -> str | None:
    """Return the end or the subject of a fact, if a question asks for it with the words of the rest and no others.

    >>> missing_part("Where does Anna live?", Fact("Anna", "lives in", "Graz"), frozenset())
    'Graz'
    >>> missing_part("Who lives in Graz?", Fact("Anna", "lives in", "Graz"), frozenset())
    'Anna'
    >>> missing_part("Where does Anna work?", Fact("Anna", "works as", "nurse"), frozenset()) is None
    True

    Args:
        question: the question.
        fact: what may answer it.
        own_names: the names of the person who asks, in lower case.

    Returns:
        The missing part; ``None`` where the fact does not answer.
    """
    tokens = tokens_of(question)
    asking = tokens[0] if tokens else ""
    if asking not in _ASKING:
        return None
    is_own = is_first_person(question)
    asked = _words([token for token in tokens[1:] if token not in _OF_QUESTIONS])
    subject, end = (_side(name, is_own, own_names) for name in (fact.subject, fact.object))
    relation = _words(tokens_of(fact.relation))
    if len(relation) > 1:
        relation -= {"have"}  # "has sister"
    if end is not None and asking != "where" and asked == relation | end and (not is_own or not end):
        return fact.subject
    if subject is None or (is_own and subject):
        return None
    said, places = relation | subject, relation & _OF_PLACES
    is_whole = asked == said or (asking == "where" and bool(places) and asked == said - places)
    return fact.object if is_whole and (subject or is_own) else None


def _side(name: str, is_own: bool, own_names: frozenset[str]) -> frozenset[str] | None:
    """Return the words that a question has for a name: none for who asks; ``None`` for a name without words."""
    if is_own and name.casefold() in own_names:
        return frozenset()
    return _words(tokens_of(name)) or None


def _words(tokens: list[str]) -> frozenset[str]:
    plain = ["have" if token in ("has", "had") else token for token in tokens]
    return frozenset(stems_of([token for token in plain if token not in _OF_EACH]))

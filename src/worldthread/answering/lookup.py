"""Looks up the missing part of a fact, where a question says the others word for word and in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from worldthread.names import normalise_name
from worldthread.retrieve.words import stems_of, tokens_of
from worldthread.types import Fact

_ASKING: Final = frozenset({"what", "where", "which", "who", "whom"})
_ARTICLES: Final = frozenset({"a", "an", "the"})
_DO: Final = ["do", "does", "did"]
_SAME: Final = dict.fromkeys(("am", "are", "is", "was", "were"), "be") | {"has": "have", "had": "have"}
_OF_PLACES: Final = frozenset({"at", "in", "on"})


def missing_part(question: str, fact: Fact, own_names: frozenset[str]) -> str | None:
    """Return the end or the subject of a fact, if a question asks for it with the words of the rest and no others.

    >>> missing_part("Where does Anna live?", Fact("Anna", "lives in", "Graz"), frozenset())
    'Graz'
    >>> missing_part("Who lives in Graz?", Fact("Anna", "lives in", "Graz"), frozenset())
    'Anna'
    >>> missing_part("Who likes Anna?", Fact("Anna", "likes", "Tom"), frozenset()) is None
    True

    Args:
        question: the question.
        fact: what may answer it.
        own_names: the normalised names of the person who asks.

    Returns:
        The missing part; ``None`` where the fact does not answer.
    """
    words, relation = _words(question), _words(fact.relation)
    if not words or words[0] not in _ASKING:
        return None
    asking, asked = words[0], words[1:]
    if asking != "where" and any(asked == [*relation, *end] for end in _names(fact.object, "me", own_names)):
        return fact.subject
    if asking == "where" and relation[-1:] and relation[-1] in _OF_PLACES:
        relations = [relation, relation[:-1]]  # "Where does Anna live?"
    else:
        relations = [relation]
    for subject in _names(fact.subject, "i", own_names):
        if any(asked in _questions(subject, one) for one in relations):
            return fact.object
    return None


def _questions(subject: list[str], relation: list[str]) -> Iterator[list[str]]:
    """Yield the questions for the end of a fact, without the word that asks."""
    for do in _DO:
        yield [do, *subject, *relation]
    if relation[:1] == ["be"]:
        yield ["be", *subject, *relation[1:]]
    if relation[:1] == ["have"] and len(relation) > 1:  # "has sister"
        yield ["be", *(["my"] if subject == ["i"] else [*subject, "s"]), *relation[1:]]
        yield ["be", *relation[1:], "of", *subject]


def _names(name: str, own: str, own_names: frozenset[str]) -> Iterator[list[str]]:
    """Yield the words that a question has for a name: its own, and a pronoun for who asks."""
    if words := _words(name):
        yield words
    if normalise_name(name) in own_names:
        yield [own]


def _words(text: str) -> list[str]:
    """Return the stems of the words of a text but articles; verbs that help to ask stay as they are."""
    tokens = [_SAME.get(token, token) for token in tokens_of(text) if token not in _ARTICLES]
    stems = stems_of(tokens)
    return [token if token in _DO else stem for token, stem in zip(tokens, stems, strict=True)]

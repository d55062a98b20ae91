"""Small pieces of English: sentences, enumerations, and noun phrases with the states that adjectives tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from worldthread.extract.game.vocabulary import CLOSED, CUT_STATES, HEAT_STATES, LOCKED, OPEN

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z\d])|\n+")
_NEXT_ITEM: Final = re.compile(r"(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?=(?:an?|some|the|your)\s)", re.I)
_ARTICLE: Final = re.compile(r"^(?:an?|some|the|your)\s+", re.I)
# what follows the noun phrase that names a thing: a clause, a place, an aside
_PHRASE_END: Final = re.compile(
    r"[.,;:!?()\[\]]|\s+-|-\s|\s+(?:which|that|who|where|with|from|leading|lying|resting|standing|sitting|hanging|"
    r"here|there|nearby|close by|right there|right here|in the|in a|on the|on a|in it|on it|at the|to the|by the|"
    r"is|are|was|were|has|have|contains?|seems?|looks?|appears?|you|so|but)\b",
    re.I,
)
_LOOKING: Final = re.compile(r"^(?:[\w-]+\s+){1,2}looking\s+", re.I)

ADJECTIVE_STATES: Final[dict[str, str | None]] = {
    "open": OPEN, "opened": OPEN, "closed": CLOSED, "shut": CLOSED, "locked": LOCKED, "unlocked": CLOSED, "empty": None,
}  # fmt: skip
"""Adjectives that tell a state when they stand before a noun, with the state that they tell."""

COOKING_STATES: Final[dict[str, str | None]] = {
    **ADJECTIVE_STATES, "burnt": "burned", **{state: state for state in HEAT_STATES | CUT_STATES},
}  # fmt: skip
"""The same where food is prepared. Elsewhere "raw meat" or "grilled cheese" may be the name of a thing."""


@dataclass(frozen=True)
class MentionedThing:
    """A thing as a text mentions it.

    Args:
        name: without article and without the adjectives that tell a state.
        states: what those adjectives told.
    """

    name: str
    states: tuple[str, ...] = ()


def sentences(text: str) -> list[str]:
    """The sentences of ``text``; a line break ends one too."""
    return [part for piece in _SENTENCE_END.split(text) if piece and (part := piece.strip())]


def noun_phrase(text: str) -> str:
    """The beginning of ``text`` up to the end of the noun phrase with which it begins (after its article)."""
    end = _PHRASE_END.search(text)
    return text if end is None else text[: end.start()]


def thing(phrase: str, adjectives: Mapping[str, str | None] = ADJECTIVE_STATES) -> MentionedThing | None:
    """The thing that a noun phrase names; ``None`` when it names none.

    ``adjectives`` are taken from the front of the name, with the state that each tells (``None``: no state).

    >>> thing("a closed oak door")
    Thing(name='oak door', states=('closed',))
    """
    rest = _ARTICLE.sub("", phrase.strip())
    states = []
    while True:  # states and other adjectives mix: "locked sturdy looking chest"
        first, _, after = rest.partition(" ")
        if after and first.lower() in adjectives:
            state = adjectives[first.lower()]
            if state is not None:
                states.append(state)
            rest = after.lstrip()
        elif looking := _LOOKING.match(rest):
            rest = rest[looking.end() :]
        else:
            break
    return MentionedThing(rest, tuple(states)) if rest and any(c.isalnum() for c in rest) else None


def things(enumeration: str, adjectives: Mapping[str, str | None] = ADJECTIVE_STATES) -> list[MentionedThing]:
    """The things of an enumeration inside a sentence, each read up to the end of its noun phrase.

    It is split only where an article follows, so "salt and pepper" stays whole.

    >>> [t.name for t in things("a lamp, a salt and pepper shaker and an old key, which you like")]
    ['lamp', 'salt and pepper shaker', 'old key']
    """
    found = []
    for item in _NEXT_ITEM.split(enumeration.strip()):
        article = _ARTICLE.match(item)
        if article is None:
            continue
        one = thing(noun_phrase(item[article.end() :]), adjectives)
        if one is not None:
            found.append(one)
    return found

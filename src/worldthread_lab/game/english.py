"""Small pieces of English: sentences, enumerations, and noun phrases with adjectives that name a state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from worldthread_lab.game.vocabulary import CLOSED, CUT_STATES, HEAT_STATES, LOCKED, OPEN

_SENTENCE_END: Final = re.compile(
    r"(?<=[.!?])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bProf\.)[\"')\]]*\s+(?=[\"'(\[]?[A-Z\d])|\n+"
)
_NEXT_ITEM: Final = re.compile(r"(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?=(?:an?|some|the|your)\s)", re.I)
_ARTICLE: Final = re.compile(
    r"^(?:an?|some|the|your|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+", re.I
)
# what follows the noun phrase that names a thing: a clause, a place, an aside
_PHRASE_END: Final = re.compile(
    r"[.,;:!?()\[\]]|\s+-|-\s|\s+(?:(?:on|in|at|from|inside) which|of some (?:kind|sort|description)|"
    r"which|that|who|where|with|from|leading|lying|resting|standing|sitting|hanging|connected|attached|fastened|"
    r"used for|made of|bulging|through|further|beside|behind|beneath|underneath|quite|also|"
    r"here|there|nearby|close by|right there|right here|in the|in a|on the|on a|in it|on it|at the|to the|by the|"
    r"(?:upon|under|against|among|amid|over|near|along|across|above|below|around|between|outside|onto) "
    r"(?:the|an?|your|his|her|its|it|them|two|some)|called|named|in front of|next to|on top of|on either side|"
    r"is|are|was|were|has|have|contains?|seems?|looks?|appears?|you|so|but)\b",
    re.I,
)
_JOINED_ADJECTIVES: Final = re.compile(r"[\w-]+ but [\w-]+(?= [\w-])", re.I)
_LOOKING: Final = re.compile(r"^(?:[\w-]+\s+){1,2}looking\s+", re.I)
_LEGIBLE: Final = re.compile(
    r"\b(?:notes?|letter|paper|leaflet|\w*book|sign|map|scroll|page|card|diary|poster)\b",
    re.I,
)
VAGUE: Final = re.compile(
    r"\b(?:one of|number of|couple of|some|other|another|it|which|this|that|all|each|every|any)\b", re.I
)
"""Pattern of words with which a phrase names no particular thing."""

PARTICIPLE: Final = {
    "slice": "sliced", "dice": "diced", "chop": "chopped", "fry": "fried", "roast": "roasted", "grill": "grilled",
    "burnt": "burned",
}  # fmt: skip
"""Verbs of cutting and cooking, each with the state that it leads to."""

ADJECTIVE_STATES: Final[dict[str, str | None]] = {
    "open": OPEN, "opened": OPEN, "closed": CLOSED, "shut": CLOSED, "locked": LOCKED, "unlocked": CLOSED, "empty": None,
}  # fmt: skip
"""Adjectives before a noun that are no part of a name, each with the state that it names; ``None`` for no state."""

COOKING_STATES: Final[dict[str, str | None]] = {
    **ADJECTIVE_STATES, "burnt": "burned", **{state: state for state in HEAT_STATES | CUT_STATES},
}  # fmt: skip
""":data:`ADJECTIVE_STATES` and the states of food, for games in which food is prepared.

Elsewhere "raw meat" or "grilled cheese" may be the name of a thing.
"""


@dataclass(frozen=True)
class MentionedThing:
    """A thing as a text mentions it.

    Args:
        name: without article and without the adjectives that name a state.
        states: the states that those adjectives name.
    """

    name: str
    states: tuple[str, ...] = ()


def is_legible(name: str) -> bool:
    """Return whether the name of a thing suggests that text is written on it ("note", "cookbook")."""
    return _LEGIBLE.search(name) is not None


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text`` without the white space around them; a line break ends a sentence too."""
    return [part for piece in _SENTENCE_END.split(text) if piece and (part := piece.strip())]


def noun_phrase(text: str) -> str:
    """Return the noun phrase with which ``text`` begins; the text begins after the article."""
    joined = _JOINED_ADJECTIVES.match(text)  # "heavy but invisible liquid"
    end = _PHRASE_END.search(text, 0 if joined is None else joined.end())
    return text if end is None else text[: end.start()]


def mentioned_thing(phrase: str, adjectives: Mapping[str, str | None] = ADJECTIVE_STATES) -> MentionedThing | None:
    """Return the thing that a noun phrase names.

    >>> mentioned_thing("a closed oak door")
    MentionedThing(name='oak door', states=('closed',))

    Args:
        phrase: the noun phrase, with or without an article.
        adjectives: adjectives that are taken from the front of the name, each with the state that it names;
            ``None`` for no state.

    Returns:
        The thing; ``None`` when nothing is left for a name.
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


def mentioned_things(enumeration: str, adjectives: Mapping[str, str | None] = ADJECTIVE_STATES) -> list[MentionedThing]:
    """Return the things of an enumeration inside a sentence, each up to the end of its noun phrase.

    The enumeration is split only where an article follows, so "salt and pepper" stays whole.

    >>> [found.name for found in mentioned_things("a lamp, a salt and pepper shaker and an old key, which you like")]
    ['lamp', 'salt and pepper shaker', 'old key']

    Args:
        enumeration: the enumeration; items without an article are left out.
        adjectives: see :func:`mentioned_thing`.

    Returns:
        The things, in order.
    """
    found = []
    for item in _NEXT_ITEM.split(enumeration.strip()):
        article = _ARTICLE.match(item)
        if article is None:
            continue
        thing = mentioned_thing(noun_phrase(item[article.end() :]), adjectives)
        if thing is not None:
            found.append(thing)
    return found

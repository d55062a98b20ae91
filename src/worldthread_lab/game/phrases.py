"""Where a noun phrase of a description ends: at a word of a closed class, or at a verb."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.words import words

DETERMINER: Final = re.compile(
    r"(?:an?|the|some|your|its|these|those|two|three|four|five|six|several|many|another)", re.I
)
"""Pattern of a word with which a noun phrase begins."""
_NOUNS_IN_ED: Final = re.compile(r"(?:bed|shed|eed)$")
_SHORTEST_PARTICIPLE: Final = 4


@lru_cache(maxsize=1)
def closed_words() -> frozenset[str]:
    """Return the words that end a noun phrase: of function, prepositions and directions."""
    return words("function_words") | words("prepositions") | v.OPPOSITE.keys()


@lru_cache(maxsize=1)
def verbs_of_scenes() -> frozenset[str]:
    """Return the forms of the verbs by which descriptions tell how things are."""
    found: set[str] = set()
    for verb in words("verbs_of_scenes"):
        stem = verb.removesuffix("e")
        found |= {verb, f"{verb}s", f"{verb}es", f"{stem}ing", f"{stem}ed", f"{verb}{verb[-1]}ing"}
    return frozenset(found | {f"{verb}s" for verb in words("verbs_in_s")})


def is_verb(word: str, after: str, is_one: bool) -> bool:
    """Return whether a word after a noun is a verb, by what follows it and by the number of the noun.

    Args:
        word: the word, in lower case.
        after: the word or the mark after it, in lower case.
        is_one: whether the determiner says that the noun is singular, so that it cannot end in s.
    """
    goes_on = not after[0].isalnum() or after in closed_words() or DETERMINER.fullmatch(after) is not None
    if word in verbs_of_scenes():
        return True
    if not goes_on:
        return False
    if is_one and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return True
    return after[0].isalnum() and is_participle(word)


def is_participle(word: str) -> bool:
    """Return whether a word has the form of a past participle, and hardly is a noun."""
    return word.endswith("ed") and len(word) >= _SHORTEST_PARTICIPLE and not _NOUNS_IN_ED.search(word)


def without_what_follows(name: str) -> str | None:
    """Return a name without a participle, an adverb and prepositions at its end; ``None`` for a clause with a verb.

    >>> without_what_follows("large egg encrusted"), without_what_follows("dark chimney leads down")
    ('large egg', None)

    Args:
        name: what was taken for a name.
    """
    parts = name.split()
    if any(part.lower() in verbs_of_scenes() and part.lower().endswith("s") for part in parts[1:]):
        return None
    while len(parts) > 1 and (
        parts[-1].lower() in words("prepositions")
        or (len(parts) > 2 and (is_participle(parts[-1].lower()) or parts[-1].endswith("ly")))
    ):
        parts.pop()
    return " ".join(parts)

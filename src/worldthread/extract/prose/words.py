"""The word lists of ``english.toml``, loaded once, and the forms of verbs."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Final

_LISTS: Final = tomllib.loads(files("worldthread.extract.prose").joinpath("english.toml").read_text(encoding="utf-8"))
WORDS: Final = {key: frozenset(value.split()) for key, value in _LISTS.items() if isinstance(value, str)}
"""The word lists by name; all words are in lower case."""

FAMILIES: Final = {word: family for family, words in _LISTS["families"].items() for word in words.split()}
"""Adjectives with the name of their family; adjectives of one family exclude each other ("open", "closed")."""


def is_program(speaker: str) -> bool:
    """Return whether a speaker is a program by its role, such as "assistant": it has no life to tell of."""
    return speaker.lower() in WORDS["programs"]


def third_person(lemma: str) -> str:
    """Return a verb in the third person singular: "lives" for "live", "gives up" for "give up"."""
    verb, _, particle = lemma.partition(" ")
    if verb in ("have", "be"):
        verb = "has" if verb == "have" else "is"
    elif verb.endswith("y") and verb[-2:-1] not in "aeiou":
        verb = verb[:-1] + "ies"
    else:
        verb += "es" if verb.endswith(("s", "sh", "ch", "x", "o", "z")) else "s"
    return f"{verb} {particle}".strip()


def base_form(verb: str) -> str | None:
    """Return the base form of a verb in the third person singular: "live" for "lives"; ``None`` for any other word.

    >>> [base_form(verb) for verb in ("has", "studies", "watches", "is", "bought", "was")]
    ['have', 'study', 'watch', 'be', None, None]

    Args:
        verb: the verb, a single word.
    """
    irregular = {"is": "be", "are": "be", "has": "have", "was": None}
    if verb in irregular:
        return irregular[verb]
    tried = [verb[:-2], verb[:-1]] if verb.endswith(("sses", "xes", "ches", "shes", "oes")) else [verb[:-1]]
    tried = [verb[:-3] + "y", *tried] if verb.endswith("ies") else tried
    return next((one for one in tried if one and third_person(one) == verb), None)


def first_person(relation: str) -> str:
    """Return a relation as the person who has it says it: "am allergic to" for "is allergic to".

    Args:
        relation: the relation; its first word is the verb.
    """
    verb, space, rest = relation.partition(" ")
    base = base_form(verb)
    return relation if base is None else f"{'am' if base == 'be' else base}{space}{rest}"

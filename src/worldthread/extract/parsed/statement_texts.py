"""Writes a fact as its subject would say it: ("Tom", "works at", "Costa") told by Tom is "I work at Costa."."""

from __future__ import annotations

import re
from typing import Final

from worldthread.types import Fact

_IRREGULAR: Final = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was"}
_HISSING: Final = re.compile(r"(?:ss|x|ch|sh|zz)es$")


def statement_text(fact: Fact, speaker: str) -> str:
    """Return a fact as a sentence that a speaker says.

    >>> statement_text(Fact("Tom", "works at", "Costa"), "Tom")
    'I work at Costa.'
    >>> statement_text(Fact("Tom's sister", "lives in", "Rome"), "Tom")
    'My sister lives in Rome.'

    Args:
        fact: the fact.
        speaker: who is "I".
    """
    subject, relation, value = fact.subject, fact.relation, fact.object
    owner = f"{speaker}'s "
    if subject.lower().startswith(owner.lower()):
        subject = f"my {subject[len(owner) :]}"
    value = value.replace(owner, "my ")
    if subject.lower() == speaker.lower():
        subject = "I"
        first, space, rest = relation.partition(" ")
        relation = f"{_first_person(first)}{space}{rest}"
    text = f"{subject} {relation} {value}"
    return f"{text[:1].upper()}{text[1:]}."


def _first_person(verb: str) -> str:
    """Return a verb in the third person as it follows "I"."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if _HISSING.search(verb) is not None:
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb

"""Says which facts of people and things exclude each other, so that a new one ends the old one."""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.parsed.change_tables import TABLE
from worldthread.extract.prose.patterns import aspect_of
from worldthread.types import Fact

_SINGLE: Final = frozenset(TABLE["single"]["names"].split())
_HOURS: Final = re.compile(
    r"(?P<verb>opens|closes|shuts|starts|begins|ends|leaves|departs|arrives|finishes) (?:at|from)"
)
_AMOUNT: Final = re.compile(
    r"[$€£] ?\d[\d.,]*|\d[\d.,]* ?(?:euros?|dollars?|pounds?|francs?|eur|usd|gbp|chf|quid|bucks|[$€£])"
    r"(?: (?:(?:a|an|per|each|every) \w+|(?:net |gross )?(?:monthly|weekly|daily|yearly|hourly|net|gross))){0,2}"
)


def aspect_for(fact: Fact) -> str | None:
    """Return the aspect of a fact as far as its words show, as :func:`~worldthread.extract.prose.patterns.aspect_of`.

    Args:
        fact: the fact; its own aspect is ignored.

    Returns:
        An aspect such as ``"opens of gym"``, ``"price of rent"`` or ``"boss of tom"``; ``None`` for most facts.
    """
    known = aspect_of(fact)
    if known is not None:
        return known
    subject, relation, value = fact.key
    hours = _HOURS.fullmatch(relation)
    if hours is not None:
        return f"{hours['verb']} of {subject}"
    if relation.startswith("has ") and relation.removeprefix("has ") in _SINGLE:
        return f"{relation.removeprefix('has ')} of {subject}"
    if relation in ("is", "costs") and _AMOUNT.fullmatch(value) is not None:
        return f"price of {subject}"
    if relation in ("earns", "makes", "charges", "weighs") and _AMOUNT.fullmatch(value) is not None:
        return f"what {subject} {relation}"
    return None

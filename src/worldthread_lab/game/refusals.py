"""Short answers with which text games refuse a command, or say that they did not understand it."""

from __future__ import annotations

import re
from typing import Final

_SHORT: Final = 200  # characters: a longer answer is no refusal, whatever it says
_REFUSAL: Final = re.compile(
    r"\bI (?:don't|do not|didn't|did not|can't|cannot|only) (?:know|understand|understood|recogni[sz]e|see)\b"
    r"|\b(?:not|isn't one|isn't something) (?:a verb )?I (?:know|understand|recogni[sz]e)\b"
    r"|\bI beg your pardon\b|\bthere (?:was|is) no (?:verb|noun)\b"
    r"|\b(?:doesn't|does not|makes no|make no) (?:make )?sense\b|\bused the word\b|\bunknown (?:command|word|verb)\b"
    r"|\byou (?:can't|cannot|can not|don't|do not|aren't|are not|won't) "
    r"(?:go|see|do|have|reach|find|use|open|take|get|able|hold|holding|carry|need)\b"
    r"|\bthere(?: is|'s| are)? (?:no|nothing|none|isn't|aren't)\b|\bno (?:way|exit|such)\b"
    r"|\bthat's not (?:something|a|the)\b|\bwhat do you want to\b|\bnothing (?:happens|to)\b|\bbe more specific\b",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Return whether a game's answer is a short refusal.

    Args:
        text: the answer of the game.

    Returns:
        Whether it is short, and words a refusal as parsers of text games do.
    """
    text = text.strip()
    return len(text) <= _SHORT and _REFUSAL.search(text) is not None

"""How promising a command is by its words alone: moving, taking and opening lead on, putting down leads back.

The tables hold ordinary English verbs of text games, and nothing of any one game.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from worldthread_lab.game.commands import direction_of

PREPOSITIONS: Final = frozenset(
    {
        *("in", "into", "on", "onto", "at", "to", "with", "from", "off", "down", "up", "under", "behind", "through"),
        *("over", "about", "for", "out", "inside", "around", "against", "across", "of"),
    }
)
LOSING: Final = frozenset({"drop", "throw", "lower", "toss", "discard"})
TAKING: Final = frozenset({"take", "get", "pick"})
_CLOSING: Final = frozenset({"close", "shut", "lock", "extinguish", "douse"})
_OPENING: Final = frozenset({"open", "unlock"})
_PUTTING: Final = frozenset(
    {"put", "insert", "place", "hang", "fill", "pour", "give", "offer", "feed", "shake", "empty", "spill"}
)
_MOVING: Final = frozenset(
    {
        *("go", "enter", "climb", "board", "exit", "leave", "walk", "swim", "jump", "cross", "crawl", "descend"),
        *("ascend", "run"),
    }
)
FIGHTING: Final = frozenset({"kill", "attack", "hit", "fight", "strike", "stab", "punch", "kick"})
_BREAKING: Final = frozenset({"break", "cut", "burn"})
_CONSUMING: Final = frozenset({"eat", "drink", "taste"})
_SWITCHES: Final = frozenset({"turn", "switch", "blow", "put"})
_LIGHT: Final = re.compile(r"(?:light|turn on|turn .* on|switch on|switch .* on|ignite)\b")
_THING: Final = "X"

USEFUL: Final = 1.0
"""Least promise of a command that seems useful; those below mostly undo, lose or use up something."""


@lru_cache(maxsize=100_000)
def form(action: str) -> str:
    """Return an action with ``X`` for each thing in it: ``put X in X``."""
    words: list[str] = []
    for word in action.split():
        if not words or word in PREPOSITIONS:
            words.append(word)
        elif words[-1] != _THING:
            words.append(_THING)
    return " ".join(words)


@lru_cache(maxsize=100_000)
def promise(action: str) -> float:
    """Rate an action that was never tried by its words alone.

    The values were chosen by hand: 3 for what leads on, 2 for a verb that is not known, under 1 for what loses.

    Args:
        action: a command of at least one word.

    Returns:
        Its promise, above 0 and at most 3.
    """
    if direction_of(action):
        return 3.0
    words = set(action.split())
    form_words = form(action).split()
    verb = form_words[0]
    takes_all = "all" in words
    if verb in LOSING or is_putting_down(action) or "inventory" in words:
        return 0.1
    if verb in _CLOSING or (verb in _SWITCHES and ("off" in form_words or "out" in form_words)):
        return 0.2
    if verb in _PUTTING:
        return 0.3
    if takes_all and verb != "take":
        return 0.5
    if verb in TAKING:
        return 1.5 if takes_all else 3.0
    if verb in _OPENING or verb in _MOVING:
        return 3.0
    if verb in _CONSUMING:
        return 0.7
    if verb in FIGHTING:
        return 2.0 if "with" in form_words else 1.5
    if verb in _BREAKING:
        return 1.0
    return 2.0


def is_putting_down(action: str) -> bool:
    """Return whether an action leaves one thing where the player stands."""
    return form(action) in ("put X down", "put down X", "drop X") and "all" not in action.split()


def gives_light(action: str) -> bool:
    """Return whether an action may light something."""
    return _LIGHT.match(action) is not None


def things_of(action: str) -> frozenset[str]:
    """Return the words of an action that name things."""
    return frozenset(action.split()[1:]) - PREPOSITIONS

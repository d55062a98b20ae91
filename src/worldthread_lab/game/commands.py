"""The commands of a player: which of them move, and where to."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from worldthread_lab.game import vocabulary as v

_DIRECTION: Final = "|".join(sorted(v.OPPOSITE, key=len, reverse=True))
_SHORT: Final = {
    "n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down",
    "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
}  # fmt: skip
_GO: Final = re.compile(rf"^(?:(?:go|walk|head|run|move|climb) )?(?P<direction>{_DIRECTION}|{'|'.join(_SHORT)})$", re.I)


@lru_cache(maxsize=100_000)
def direction_of(action: str) -> str | None:
    """Return the direction in which an action moves.

    Args:
        action: the command as typed, such as ``"go north"``, ``"n"`` or ``"take lamp"``.

    Returns:
        The direction in full and in lower case, such as ``"north"``; ``None`` when the action is not a move.
    """
    match = _GO.match(action.strip())
    if match is None:
        return None
    direction = match["direction"].lower()
    return _SHORT.get(direction, direction)

"""Interned strings, and times as integers: the graph stores numbers, and each distinct string once."""

from __future__ import annotations

import math
import struct
from typing import Final

ABSENT: Final = -1
"""Stands for a string, an episode, a time or a row that is not there. As a time, its bits are no number."""

NEVER: Final = struct.unpack("=q", struct.pack("=d", -math.inf))[0]
"""Stands for the time of an ending that says that a statement was never true: the time before all times."""

_FLOAT: Final = struct.Struct("=d")
_INTEGER: Final = struct.Struct("=q")


def time_to_integer(time: float | None) -> int:
    """Return the 64 bits of a time as an integer; :data:`ABSENT` for none."""
    return ABSENT if time is None else int(_INTEGER.unpack(_FLOAT.pack(time))[0])


def integer_to_time(number: int) -> float | None:
    """Return the time of :func:`time_to_integer`."""
    return None if number == ABSENT else float(_FLOAT.unpack(_INTEGER.pack(number))[0])


class StringTable:
    """Every distinct string once, numbered from 0 in order of arrival.

    Args:
        items: the first strings; they are distinct. The list becomes the table's own.
    """

    __slots__ = ("_numbers", "items")

    def __init__(self, items: list[str]) -> None:
        self.items = items
        self._numbers = dict(zip(items, range(len(items)), strict=True))

    def __len__(self) -> int:
        """Return the number of distinct strings."""
        return len(self._numbers)

    def intern(self, text: str) -> int:
        """Return the number of a string; a new one is added."""
        number = self._numbers.setdefault(text, len(self.items))
        if number == len(self.items):
            self.items.append(text)
        return number

    def find(self, text: str) -> int | None:
        """Return the number of a string, or ``None`` when it was never added."""
        return self._numbers.get(text)

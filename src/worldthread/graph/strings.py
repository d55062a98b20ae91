"""Interned strings, and times as integers: the graph stores numbers, and each distinct string once."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph.columns import ABSENT, StringIndex, StringList

__all__ = ["ABSENT", "NEVER", "StringTable", "integer_to_time", "time_to_integer"]

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
        packed: the first strings, as :func:`~worldthread.graph.columns.pack_strings` packs them; they are distinct.
        entries: the :attr:`~worldthread.graph.columns.StringIndex.entries` of their index; ``None`` to make it.
        seed: of their index.

    Raises:
        ValueError: the bytes are not such strings, or the entries are not theirs.
    """

    __slots__ = ("_index", "_numbers", "items")

    def __init__(
        self,
        packed: NDArray[np.uint8] | None = None,
        entries: NDArray[np.uint64] | None = None,
        seed: int | None = None,
    ) -> None:
        self.items = StringList(packed)
        """The strings by number."""
        self._index = StringIndex(self.items, entries, seed)
        self._numbers: dict[str, int] = {}  # of what is not packed yet

    def __len__(self) -> int:
        """Return the number of distinct strings."""
        return len(self.items)

    @property
    def late(self) -> int:
        """How many strings are not packed."""
        return self.items.late

    def intern(self, text: str) -> int:
        """Return the number of a string; a new one is added."""
        number = self._numbers.get(text)
        if number is None:
            number = self._index.find(text)
        if number is None:
            number = self._numbers[text] = len(self.items)
            self.items.append(text)
        return number

    def intern_all(self, texts: Sequence[str]) -> list[int]:
        """Return the numbers of strings; new ones are added, in their order."""
        numbers = self._numbers
        distinct = [text for text in dict.fromkeys(texts) if text not in numbers]
        places = dict(zip(distinct, self._index.find_all(distinct), strict=True))
        for text, number in places.items():
            if number is None:
                numbers[text] = len(self.items)
                self.items.append(text)
        return [numbers[text] if (number := places.get(text)) is None else number for text in texts]

    def find(self, text: str) -> int | None:
        """Return the number of a string, or ``None`` when it was never added."""
        number = self._numbers.get(text)
        return self._index.find(text) if number is None else number

    def settle(self) -> None:
        """Pack all strings, which takes a fraction of the RAM."""
        self.items.settle()
        self._index.extend()
        self._numbers = {}

    def has_twins(self) -> bool:
        """Return whether a packed string comes twice."""
        return any(self._index.find(self.items[number]) != number for number in self._index.alike())

    @property
    def entries(self) -> NDArray[np.uint64]:
        """The entries of the index of the packed strings."""
        return self._index.entries

    @property
    def seed(self) -> int:
        """With which the index hashes strings."""
        return self._index.seed

"""Interned strings: the graph stores numbers, and each distinct string once."""

from __future__ import annotations

from typing import Final

ABSENT: Final = -1
"""Stands for a string, an episode or a row that is not there."""


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

"""Compact containers behind the graph: rows of integers per key, with an immutable base and a small overlay.

A graph that was opened from a snapshot reads its rows from (memory-mapped) arrays and decodes only what is asked for;
what changes afterwards lives in ordinary lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Row: TypeAlias = tuple[int, ...]


class RowTable:
    """For every key 0, 1, 2, ... a list of rows, each a tuple of ``width`` integers.

    Args:
        width: integers per row.
        pointers: shape (keys + 1,), int64: the rows of key *k* are ``rows[pointers[k]:pointers[k + 1]]``.
        rows: shape (n, width), int64.
    """

    __slots__ = ("_keys", "_overlay", "_pointers", "_rows", "width")

    def __init__(
        self,
        width: int,
        pointers: NDArray[np.int64] | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        self.width = width
        self._pointers = pointers if pointers is not None else np.zeros(1, np.int64)
        self._rows = rows if rows is not None else np.zeros((0, width), np.int64)
        self._keys = len(self._pointers) - 1
        self._overlay: dict[int, list[Row]] = {}

    def get(self, key: int) -> Sequence[Row]:
        """The rows of ``key``; empty when it has none. Not to be changed by the caller."""
        changed = self._overlay.get(key)
        return changed if changed is not None else self._from_base(key)

    def count(self, key: int) -> int:
        """How many rows ``key`` has."""
        changed = self._overlay.get(key)
        if changed is not None:
            return len(changed)
        return int(self._pointers[key + 1] - self._pointers[key]) if key < self._keys else 0

    def append(self, key: int, row: Row) -> None:
        """Add a row at the end."""
        self._edit(key).append(row)

    def replace(self, key: int, rows: list[Row]) -> None:
        """Set all rows of ``key``."""
        self._overlay[key] = rows

    def set_last(self, key: int, row: Row) -> None:
        """Overwrite the last row of ``key``."""
        self._edit(key)[-1] = row

    def _edit(self, key: int) -> list[Row]:
        changed = self._overlay.get(key)
        if changed is None:
            changed = self._overlay[key] = self._from_base(key)
        return changed

    def _from_base(self, key: int) -> list[Row]:
        if key >= self._keys:
            return []
        start, stop = self._pointers[key], self._pointers[key + 1]
        return [tuple(row) for row in self._rows[start:stop].tolist()]


def pack_rows(groups: Sequence[Sequence[Row]], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``pointers`` and ``rows`` of a :class:`RowTable` that holds ``groups[k]`` under key *k*."""
    pointers = np.zeros(len(groups) + 1, np.int64)
    np.cumsum([len(group) for group in groups], out=pointers[1:])
    rows = np.array([row for group in groups for row in group], np.int64).reshape(-1, width)
    return pointers, rows


def pack_strings(strings: Sequence[str]) -> NDArray[np.uint8]:
    """Strings as one array of bytes, shape (n,): UTF-8 with a NUL after each (no string may hold one)."""
    return np.frombuffer(("\0".join(strings) + "\0" if strings else "").encode(), np.uint8)


def unpack_strings(packed: NDArray[np.uint8]) -> list[str]:
    """The inverse of :func:`pack_strings`."""
    if not len(packed):
        return []
    return packed.tobytes().decode()[:-1].split("\0")

"""Compact containers of the graph: lists of integer rows by key, and strings packed into one array.

A graph that was opened from a snapshot reads its rows from arrays and decodes only what is used; later changes live in
ordinary lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Row: TypeAlias = tuple[int, ...]


class RowTable:
    """A list of rows, each a tuple of ``width`` integers, for every key 0, 1, 2, ...

    The base is in compressed sparse row form and never changes; an edited key moves to a dictionary of lists. This is
    not :class:`~worldthread.retrieve.integer_table.IntegerTable`, one flat array that grows at the end and is read by
    whole columns: it has no keys and cannot replace rows, and this table has no contiguous columns.

    Args:
        width: integers per row.
        pointers: shape (keys + 1,), int64: the rows of key *k* are ``rows[pointers[k]:pointers[k + 1]]``. ``None`` for
            an empty table.
        rows: shape (n, width), int64. ``None`` for an empty table.
    """

    __slots__ = ("_edited", "_keys", "_pointers", "_rows", "width")

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
        self._edited: dict[int, list[Row]] = {}

    def get(self, key: int) -> Sequence[Row]:
        """Return the rows of ``key``; empty when it has none. The caller must not change them."""
        edited = self._edited.get(key)
        return edited if edited is not None else self._from_base(key)

    def count(self, key: int) -> int:
        """Return the number of rows of ``key``."""
        edited = self._edited.get(key)
        if edited is not None:
            return len(edited)
        return int(self._pointers[key + 1] - self._pointers[key]) if key < self._keys else 0

    def append(self, key: int, row: Row) -> None:
        """Add a row at the end of the rows of ``key``."""
        self._editable(key).append(row)

    def replace(self, key: int, rows: list[Row]) -> None:
        """Set all rows of ``key``. The list becomes the table's own."""
        self._edited[key] = rows

    def set_last(self, key: int, row: Row) -> None:
        """Overwrite the last row of ``key``."""
        self._editable(key)[-1] = row

    def _editable(self, key: int) -> list[Row]:
        edited = self._edited.get(key)
        if edited is None:
            edited = self._edited[key] = self._from_base(key)
        return edited

    def _from_base(self, key: int) -> list[Row]:
        if key >= self._keys:
            return []
        start, stop = self._pointers[key], self._pointers[key + 1]
        return [tuple(row) for row in self._rows[start:stop].tolist()]


def pack_rows(groups: Sequence[Sequence[Row]], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``pointers`` and ``rows`` of a :class:`RowTable` that holds ``groups[k]`` under key *k*."""
    pointers = np.zeros(len(groups) + 1, np.int64)
    np.cumsum([len(group) for group in groups], out=pointers[1:])
    rows = np.array([row for group in groups for row in group], np.int64).reshape(-1, width)
    return pointers, rows


def pack_strings(strings: Sequence[str]) -> NDArray[np.uint8]:
    """Return strings as one array of bytes, shape (n,): UTF-8 with a NUL after each. No string may contain one."""
    return np.frombuffer(("\0".join(strings) + "\0" if strings else "").encode(), np.uint8)


def unpack_strings(packed: NDArray[np.uint8]) -> list[str]:
    """Return the strings that :func:`pack_strings` packed.

    Args:
        packed: shape (n,).

    Returns:
        The strings.

    Raises:
        ValueError: the bytes are not UTF-8, or the last string has no end.
    """
    if not len(packed):
        return []
    if packed[-1]:
        raise ValueError("the last string has no end")
    return str(packed[:-1].data, "utf-8").split("\0")

"""A table of integers that grows at the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FIRST_ROWS = 256


class IntegerTable:
    """A table of int32, shape (len(self), width), to which rows are added at the end.

    Whole columns are read as arrays, which is why this is not :class:`~worldthread.graph.columns.RowTable`: that one
    holds lists of rows by key, which can be replaced, and has no columns.

    Args:
        width: number of columns.
    """

    __slots__ = ("_count", "_rows")

    def __init__(self, width: int) -> None:
        self._rows = np.zeros((_FIRST_ROWS, width), np.int32)
        self._count = 0

    @classmethod
    def of(cls, rows: NDArray[np.int32]) -> IntegerTable:
        """Return a table with these rows, shape (n, width); they are copied when rows are added, and never written."""
        table = cls.__new__(cls)
        table._rows = np.asarray(rows)  # a plain array: slices of a memory-mapped one are slow
        table._count = len(rows)
        return table

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    def extend(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Add rows at the end."""
        count = self._count + len(rows)
        if count > len(self._rows):
            grown = np.zeros((max(count, 2 * len(self._rows), _FIRST_ROWS), self._rows.shape[1]), np.int32)
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        if rows:
            self._rows[self._count : count] = rows
        self._count = count

    @property
    def rows(self) -> NDArray[np.int32]:
        """All rows, shape (len(self), width): a view, valid until the next change."""
        return self._rows[: self._count]

    def column(self, number: int) -> NDArray[np.int32]:
        """Return one column, shape (len(self),): a view, valid until the next change."""
        return self._rows[: self._count, number]

"""Arrays of numbers that grow at the end."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_FIRST_ROWS: Final = 256
_MOST_WAITING: Final = 1 << 16  # numbers
_FEW_NUMBERS: Final = 1 << 10  # so few of an array wait too
_JOINED_SHARE: Final = 8  # rows are joined to those before when one in so many came later


class GrowingArray:
    """Numbers, shape (n,), to which zeros are added at the end.

    Args:
        values: the first numbers; they are changed in place.
    """

    __slots__ = ("_count", "_room")

    def __init__(self, values: NDArray[Any]) -> None:
        self._room = values
        self._count = len(values)

    @property
    def values(self) -> NDArray[Any]:
        """All numbers: a view, valid until the next growth."""
        return self._room[: self._count]

    def grow(self, count: int) -> NDArray[Any]:
        """Return all numbers, at least ``count`` of them, with zeros at the end where there were fewer."""
        if count > len(self._room):
            room = np.zeros(max(count, len(self._room) * 5 // 4), self._room.dtype)
            room[: self._count] = self.values
            self._room = room
        self._count = max(self._count, count)
        return self.values


class IntegerTable:
    """A table of int32, shape (len(self), width), to which rows are added at the end.

    Whole columns are read as arrays, which is why this is not :class:`~worldthread.graph.columns.RowTable`: that one
    holds lists of rows by key, which can be replaced, and has no columns. A few rows that come after many are kept
    apart until somebody wants all rows, so that adding them does not copy the many; and until somebody reads, they
    wait in a list, since numpy takes longer for a row than for a thousand.

    Args:
        width: number of columns.
    """

    __slots__ = ("_count", "_late", "_late_count", "_rows", "_waiting")

    def __init__(self, width: int) -> None:
        self._rows = np.zeros((_FIRST_ROWS, width), np.int32)
        self._count = 0
        self._late = np.zeros((0, width), np.int32)
        self._late_count = 0
        self._waiting: list[int] = []  # one row after the other

    @classmethod
    def of(cls, rows: NDArray[np.int32]) -> IntegerTable:
        """Return a table with these rows, shape (n, width); they are copied when rows are added, and never written."""
        table = cls(rows.shape[1])
        table._rows = np.asarray(rows)  # a plain array: slices of a memory-mapped one are slow
        table._count = len(rows)
        return table

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count + self._late_count + len(self._waiting) // self._rows.shape[1]

    def extend(self, rows: Iterable[tuple[int, ...]]) -> None:
        """Add rows at the end."""
        self._waiting.extend(chain.from_iterable(rows))
        if len(self._waiting) > _MOST_WAITING:
            self._enter()

    def extend_by(self, rows: NDArray[np.integer[Any]]) -> None:
        """Add rows at the end, shape (n, width)."""
        if len(rows) * self._rows.shape[1] < _FEW_NUMBERS:
            self._waiting.extend(rows.ravel().tolist())
            return
        self._enter()
        self._append(rows.astype(np.int32, copy=False))

    def _enter(self) -> None:
        """Put the rows that wait into arrays."""
        if self._waiting:
            rows = np.array(self._waiting, np.int32).reshape(-1, self._rows.shape[1])
            self._waiting.clear()
            self._append(rows)

    def _append(self, rows: NDArray[np.int32]) -> None:
        count = self._count + len(rows)
        if not self._late_count and count <= len(self._rows):
            self._rows[self._count : count] = rows
            self._count = count
            return
        late = self._late_count + len(rows)
        if late > len(self._late):
            grown = np.zeros((max(late, 2 * len(self._late), _FIRST_ROWS), self._late.shape[1]), np.int32)
            grown[: self._late_count] = self._late[: self._late_count]
            self._late = grown
        self._late[self._late_count : late] = rows
        self._late_count = late
        if late * _JOINED_SHARE > self._count:
            self._join()

    def _join(self) -> None:
        count = self._count + self._late_count
        if count > len(self._rows):
            grown = np.zeros((max(count * 5 // 4, _FIRST_ROWS), self._rows.shape[1]), np.int32)
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        self._rows[self._count : count] = self._late[: self._late_count]
        self._count, self._late, self._late_count = count, self._late[:0], 0

    @property
    def rows(self) -> NDArray[np.int32]:
        """All rows, shape (len(self), width): a view, valid until the next change."""
        self._enter()
        if self._late_count:
            self._join()
        return self._rows[: self._count]

    def column(self, number: int) -> NDArray[np.int32]:
        """Return one column, shape (len(self),): a view, valid until the next change."""
        return self.rows[:, number]

    def after(self, start: int) -> NDArray[np.int32]:
        """Return the rows from number ``start`` on: a view, valid until the next change."""
        self._enter()
        if start < self._count:
            return self.rows[start:]
        return self._late[start - self._count : self._late_count]

    def between(self, start: int, stop: int, column: int) -> NDArray[np.int32]:
        """Return what the rows from number ``start`` to before ``stop`` have in one column; do not write to it."""
        if stop <= self._count:
            return self._rows[start:stop, column]
        return self.at(np.arange(start, stop), column)

    def at(self, numbers: NDArray[np.integer[Any]], column: int) -> NDArray[np.int32]:
        """Return what some rows have in one column.

        Args:
            numbers: of rows.
            column: number of the column.
        """
        self._enter()
        if not self._late_count:
            return np.asarray(self._rows[numbers, column])
        is_late = numbers >= self._count
        found = np.empty(len(numbers), np.int32)
        found[~is_late] = self._rows[numbers[~is_late], column]
        found[is_late] = self._late[numbers[is_late] - self._count, column]
        return found

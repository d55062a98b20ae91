"""One matrix of unit vectors in memory, searched row by row: exact, and quick up to some 10,000 rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError

_FIRST_ROWS = 64


class VectorTable:
    """Unit vectors numbered 0, 1, 2, ...; a number without a vector has a row of zeros.

    Args:
        dimensions: length of a vector.
    """

    __slots__ = ("_count", "_filled", "_rows")

    def __init__(self, dimensions: int) -> None:
        self._rows = np.zeros((_FIRST_ROWS, dimensions), np.float32)
        self._filled = np.zeros(_FIRST_ROWS, bool)
        self._count = 0

    def __len__(self) -> int:
        """Number of rows."""
        return self._count

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self._rows.shape[1])

    @property
    def rows(self) -> NDArray[np.float32]:
        """All rows, shape (len(self), dimensions). A view, until the next change."""
        return self._rows[: self._count]

    def extend(self, count: int) -> None:
        """Have at least ``count`` rows; new ones are zeros."""
        if count > len(self._rows):
            grown = np.zeros((max(count, len(self._rows) * 5 // 4, _FIRST_ROWS), self.dimensions), np.float32)
            grown[: self._count] = self.rows
            filled = np.zeros(len(grown), bool)
            filled[: self._count] = self._filled[: self._count]
            self._rows, self._filled = grown, filled
        self._count = max(self._count, count)

    @classmethod
    def of(cls, rows: NDArray[np.floating[Any]], filled: NDArray[np.bool_]) -> VectorTable:
        """A table with ``rows``, shape (n, dimensions); those that are not ``filled``, shape (n,), are missing."""
        table = cls(rows.shape[1])
        table._rows = np.array(rows, np.float32)
        table._filled = np.array(filled)
        table._count = len(rows)
        return table

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which rows were set, shape (len(self),). A view, until the next change."""
        return self._filled[: self._count]

    def put(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Set the rows ``numbers``, shape (n,), to ``vectors``, shape (n, dimensions).

        Raises:
            InputError: the shapes do not fit.
        """
        if vectors.shape != (len(numbers), self.dimensions):
            raise InputError(f"{len(numbers)} rows of {self.dimensions} numbers, not {vectors.shape}")
        if len(numbers):
            self.extend(int(numbers.max()) + 1)
            self._rows[numbers] = vectors
            self._filled[numbers] = True

    def missing(self) -> list[int]:
        """The numbers whose vector was never set."""
        found: list[int] = np.flatnonzero(~self._filled[: self._count]).tolist()
        return found

    def similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Inner product of every row with ``query``, shape (dimensions,): shape (len(self),), each within [-1, 1]."""
        found: NDArray[np.float32] = self.likenesses(query[None])[0]
        return found

    def likenesses(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """:meth:`similarities` for many queries, shape (n, dimensions), at once: shape (n, len(self))."""
        if not self._count or not len(queries):
            return np.zeros((len(queries), self._count), np.float32)
        import simsimd

        # on this thread: BLAS would wake its own, and wait for them on a machine that has other work
        queries = np.ascontiguousarray(queries, np.float32)
        return np.asarray(simsimd.cdist(queries, self.rows, metric="dot"), np.float32)


def best(scores: NDArray[np.float32], k: int, ties: NDArray[np.uint64] | None = None) -> NDArray[np.int64]:
    """Numbers of the ``k`` highest finite scores, best first. Shape (<= k,).

    Args:
        scores: shape (n,).
        k: how many at most.
        ties: among equal scores the lowest of these comes first, shape (n,); ``None``: the lowest number.
    """
    usable = np.flatnonzero(np.isfinite(scores)) if not np.isfinite(scores.sum()) else None
    values = scores if usable is None else scores[usable]
    order: NDArray[Any] = np.arange(len(values)) if ties is None else ties if usable is None else ties[usable]
    if k < len(values):
        chosen = np.argpartition(values, len(values) - k)[len(values) - k :]
        limit = values[chosen].min()
        # which of the equals of the last one are chosen must depend on nothing but scores and ties
        above = np.flatnonzero(values > limit)
        equal = np.flatnonzero(values == limit)
        wanted = k - len(above)
        if wanted < len(equal):
            equal = equal[np.argpartition(order[equal], wanted)[:wanted]]
        chosen = np.concatenate((above, equal))
    else:
        chosen = np.arange(len(values))
    chosen = chosen[np.lexsort((order[chosen], -values[chosen]))]
    return (chosen if usable is None else usable[chosen]).astype(np.int64)

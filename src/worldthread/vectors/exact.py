"""A matrix of unit vectors in RAM, compared row by row: exact, and fast up to about 10,000 rows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.vectors.table import UnitVectorTable

_FIRST_ROWS = 64
_PART: Final = 256  # scores of which the highest is looked at first
_FEWEST_PARTS: Final = 64


class VectorTable(UnitVectorTable):
    """Unit vectors in a matrix.

    Args:
        dimensions: length of a vector.
    """

    __slots__ = ("_rows",)

    def __init__(self, dimensions: int) -> None:
        self._rows = np.zeros((_FIRST_ROWS, dimensions), np.float32)
        self._filled = np.zeros(_FIRST_ROWS, bool)
        self._count = 0

    @property
    def dimensions(self) -> int:
        return int(self._rows.shape[1])

    @property
    def rows(self) -> NDArray[np.float32]:
        """All rows, shape (len(self), dimensions). A view that is valid until the next change."""
        return self._rows[: self._count]

    def extend(self, count: int) -> None:
        if count > len(self._rows):
            grown = np.zeros((max(count, len(self._rows) * 5 // 4, _FIRST_ROWS), self.dimensions), np.float32)
            grown[: self._count] = self.rows
            filled = np.zeros(len(grown), bool)
            filled[: self._count] = self._filled[: self._count]
            self._rows, self._filled = grown, filled
        self._count = max(self._count, count)

    @classmethod
    def of(cls, rows: NDArray[np.floating[Any]], filled: NDArray[np.bool_]) -> VectorTable:
        """Return a table with copies of ``rows``, shape (n, dimensions), and ``filled``, shape (n,): which were set."""
        table = cls(rows.shape[1])
        count = len(rows)
        room = count * 9 // 8 + _FIRST_ROWS  # so that the first rows that are added do not copy all others again
        table._rows, table._filled = np.zeros((room, rows.shape[1]), np.float32), np.zeros(room, bool)
        table._rows[:count], table._filled[:count] = rows, filled
        table._count = count
        return table

    def _set(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self._rows[numbers] = vectors

    def drop(self, numbers: NDArray[np.int64]) -> None:
        """Make some rows as if they had never been set: zeros, and missing."""
        self._rows[numbers] = 0
        self._filled[numbers] = False

    def similarity_matrix(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self._count or not len(queries):
            return np.zeros((len(queries), self._count), np.float32)
        import simsimd

        # simsimd stays on this thread; BLAS would wait for threads of its own on a busy machine
        queries = np.ascontiguousarray(queries, np.float32)
        return np.asarray(simsimd.cdist(queries, self.rows, metric="dot"), np.float32)


def best(scores: NDArray[np.float32], k: int, ties: NDArray[np.uint64] | None = None) -> NDArray[np.int64]:
    """Return the numbers of the highest finite scores.

    Args:
        scores: shape (n,).
        k: the greatest number of results.
        ties: among equal scores the lowest of these comes first, shape (n,); ``None`` for the lowest number.

    Returns:
        At most ``k`` numbers of finite scores, best first.
    """
    likely = _likeliest(scores, k)
    if likely is not None:
        return likely[best(scores[likely], k, None if ties is None else ties[likely])]
    usable = np.flatnonzero(np.isfinite(scores)) if not np.isfinite(scores.sum()) else None
    values = scores if usable is None else scores[usable]
    order: NDArray[Any] = np.arange(len(values)) if ties is None else ties if usable is None else ties[usable]
    if k < len(values):
        chosen = np.argpartition(values, len(values) - k)[len(values) - k :]
        limit = values[chosen].min()
        # the choice among equal scores must depend on scores and ties only, which argpartition does not ensure
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


def _likeliest(scores: NDArray[np.float32], k: int) -> NDArray[np.int64] | None:
    """Return the few numbers, ascending, that can be among the ``k`` best of many scores; ``None`` if they are not few.

    The highest scores of parts of the array say which scores are too low, without a look at the others.
    """
    parts = len(scores) // _PART
    if parts < max(_FEWEST_PARTS, 2 * k):
        return None
    highest = scores[: parts * _PART].reshape(parts, _PART).max(axis=1)
    limit = np.partition(highest, parts - k)[parts - k]  # at least k scores are as high
    found = np.flatnonzero(scores >= limit) if np.isfinite(limit) else np.zeros(0, np.int64)
    is_useful = k <= len(found) < len(scores) // 2 and bool(np.isfinite(scores[found]).all())
    return found if is_useful else None

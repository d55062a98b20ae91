"""One bit for each number of a vector: says in a tenth of the time which rows of a very large table may be similar.

The bit is whether the number is positive. For two vectors at an angle *a* the expected share of bits that differ is
a / pi (Charikar, "Similarity estimation techniques from rounding algorithms", 2002), which gives an estimate of their
cosine. Rows whose estimate is among the highest are then compared in full.

Unlike an index of neighbours (HNSW), the sketch of a row depends on the row alone: what a search finds does not depend
on the order in which rows came, a row is removed at no cost, and nothing has to be trained.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

ROWS: Final = 1 << 15
"""Rows whose bits are kept, and made again, together."""

_WORD_BITS: Final = 64
_THREADS: Final = 2


class SignSketch:
    """The signs of the rows of a table, made when they are first needed.

    Args:
        dimensions: length of a vector.
        codes: returns the numbers of the rows from one to before another, shape (rows, dimensions).
    """

    def __init__(self, dimensions: int, codes: Callable[[int, int], NDArray[np.int8]]) -> None:
        self._dimensions = dimensions
        self._codes = codes
        self._blocks: dict[int, NDArray[np.uint64]] = {}  # by number: shape (words, rows)

    def changed(self, numbers: NDArray[np.int64]) -> None:
        """Note that some rows have other numbers than before."""
        if self._blocks:
            for block in np.unique(numbers // ROWS).tolist():
                self._blocks.pop(block, None)

    def compared(self, query: NDArray[np.int8], count: int) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
        """Compare the first rows with a query.

        Args:
            query: shape (dimensions,).
            count: how many rows.

        Returns:
            For each row in how many signs it differs, and the cosine that this lets expect; both of shape (count,).
        """
        found, cosines = np.zeros(count, np.uint16), np.empty(count, np.float32)
        possible = np.cos(np.pi * np.arange(self._dimensions + 1) / self._dimensions).astype(np.float32)
        (words,) = _signs(query[None]).T[None]

        def compare(block: int) -> None:
            start, end = block * ROWS, min((block + 1) * ROWS, count)
            part = found[start:end]
            for plane, word in zip(self._block(block, start, end), words, strict=True):
                part += np.bitwise_count(plane ^ word)
            cosines[start:end] = possible[part]

        blocks = range(-(-count // ROWS))
        if len(blocks) < 2 * _THREADS:
            for block in blocks:
                compare(block)
        else:
            with ThreadPoolExecutor(_THREADS) as threads:  # numpy lets them run at once
                list(threads.map(compare, blocks))
        return found, cosines

    def _block(self, block: int, start: int, end: int) -> NDArray[np.uint64]:
        planes = self._blocks.get(block)
        if planes is None or planes.shape[1] < end - start:
            planes = self._blocks[block] = np.ascontiguousarray(_signs(self._codes(start, end)).T)
        return planes[:, : end - start]


def likely(distances: NDArray[np.uint16], count: int, counted: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Return the numbers of the rows with the least distances, ascending: at least ``count`` of them, with all equals.

    Args:
        distances: from :meth:`SignSketch.compared`.
        count: how many at least.
        counted: which rows count towards ``count``; ``None`` for all.

    Returns:
        Shape (n,).
    """
    having = np.cumsum(np.bincount(distances if counted is None else distances[counted[: len(distances)]]))
    limit = int(np.searchsorted(having, count))
    return np.flatnonzero(distances <= limit)


def _signs(codes: NDArray[np.int8]) -> NDArray[np.uint64]:
    """Return which numbers are positive, as bits of words, shape (rows, words)."""
    packed = np.packbits(codes > 0, axis=1)
    missing = -packed.shape[1] % (_WORD_BITS // 8)
    return np.pad(packed, ((0, 0), (0, missing))).view(np.uint64)

"""Unit vectors with eight bits a number: a quarter of the RAM and of the time; cosines are off by about 0.002.

Above :data:`SKETCHED_ROWS` rows, only those are compared that are likely to be similar
(:mod:`worldthread.vectors.sketch`); the others have an estimated cosine.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.vectors.sketch import SignSketch, likely
from worldthread.vectors.table import UnitVectorTable

SKETCHED_ROWS: Final = 3_000_000
"""Tables with more rows are searched approximately."""

_LEVELS: Final = 127
_COMPARED_SHARE: Final = 256  # one row in so many is compared in full in a table that is searched approximately
_LEAST_COMPARED: Final = 8192
_ONE_THREAD_ROWS: Final = 200_000  # up to here one thread is faster than starting several
_PART: Final = 1 << 16  # rows to round at a time
_BLOCK: Final = 1 << 15  # rows that are added to a table at a time, so that nothing is copied when it grows


class DecodedRows:
    """The rows of a :class:`QuantisedTable`, indexed like an array and decoded on demand.

    Args:
        table: the table.
    """

    __slots__ = ("_table",)

    def __init__(self, table: QuantisedTable) -> None:
        self._table = table

    def __getitem__(self, numbers: Any) -> NDArray[np.float32]:
        return np.asarray(self._table.codes_of(numbers) * self._table.factors[numbers][..., None], np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, dimensions)."""
        return len(self._table), self._table.dimensions

    @property
    def nbytes(self) -> int:
        """Number of bytes in RAM."""
        return len(self._table) * self._table.dimensions + self._table.factors.nbytes


class QuantisedTable(UnitVectorTable):
    """Like :class:`~worldthread.vectors.exact.VectorTable`, for tables of more than about 10,000 rows.

    Each row is stored as integers from -127 to 127 and one factor, chosen so that its largest number is exact.

    Args:
        dimensions: length of a vector.
    """

    __slots__ = ("_blocks", "_factors", "_first", "_sketch", "counted")

    def __init__(self, dimensions: int) -> None:
        self._first = np.zeros((0, dimensions), np.int8)
        self._blocks: list[NDArray[np.int8]] = []  # of what came later
        self._factors = np.zeros(0, np.float32)
        self._filled = np.zeros(0, bool)
        self._count = 0
        self._sketch = SignSketch(dimensions, lambda start, end: self.codes_of(np.arange(start, end)))
        self.counted: NDArray[np.bool_] | None = None
        """Which rows have a part in how many are compared in an approximate search; ``None`` for all."""

    @classmethod
    def of(cls, codes: NDArray[np.int8], factors: NDArray[np.float32], filled: NDArray[np.bool_]) -> QuantisedTable:
        """Return a table of :attr:`codes`, :attr:`factors` and :attr:`filled`; codes are copied before any change."""
        table = cls(codes.shape[1])
        table._first, table._factors, table._filled = np.asarray(codes), np.array(factors), np.array(filled)
        table._count = len(codes)
        return table

    @property
    def dimensions(self) -> int:
        return int(self._first.shape[1])

    @property
    def codes(self) -> NDArray[np.int8]:
        """Integers, shape (len(self), dimensions); a copy when rows were added."""
        return np.concatenate((self._first, *self._blocks))[: self._count] if self._blocks else self._first

    def codes_of(self, numbers: Any) -> NDArray[np.int8]:
        """Return the codes of some rows, by anything that indexes an array of rows."""
        if not self._blocks:
            return np.asarray(self._first[numbers])
        if not isinstance(numbers, np.ndarray) or numbers.dtype == bool:
            numbers = np.arange(self._count)[numbers]
        wanted = np.asarray(numbers)
        found = np.empty((*wanted.shape, self.dimensions), np.int8)
        block = np.where(wanted < len(self._first), -1, (wanted - len(self._first)) // _BLOCK)
        for number in _numbers_in(block):
            start, codes = (0, self._first) if number < 0 else self._block(number)
            found[block == number] = codes[wanted[block == number] - start]
        return found

    def _block(self, number: int) -> tuple[int, NDArray[np.int8]]:
        """Return the number of the first row of a later block, and the block."""
        return len(self._first) + number * _BLOCK, self._blocks[number]

    @property
    def factors(self) -> NDArray[np.float32]:
        """The factor of each row of :attr:`codes`, shape (len(self),). A view that is valid until the next change."""
        return self._factors[: self._count]

    @property
    def rows(self) -> DecodedRows:
        """All rows, decoded on demand."""
        return DecodedRows(self)

    def extend(self, count: int) -> None:
        while count > len(self._first) + len(self._blocks) * _BLOCK:
            self._blocks.append(np.zeros((_BLOCK, self.dimensions), np.int8))
        if count > len(self._factors):
            size = max(count, len(self._factors) * 5 // 4)
            for name in ("_factors", "_filled"):
                old = getattr(self, name)
                grown = np.zeros(size, old.dtype)
                grown[: self._count] = old[: self._count]
                setattr(self, name, grown)
        self._count = max(self._count, count)

    def _set(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        for start in range(0, len(numbers), _PART):
            part = slice(start, start + _PART)
            codes, factors = _rounded(vectors[part])
            self._set_codes(numbers[part], codes)
            self._factors[numbers[part]] = factors
        self._sketch.changed(numbers)

    def _set_codes(self, numbers: NDArray[np.int64], codes: NDArray[np.int8]) -> None:
        is_first = numbers < len(self._first)
        if is_first.any():
            if not self._first.flags.writeable:
                self._first = np.array(self._first)
            self._first[numbers[is_first]] = codes[is_first]
        block = np.where(is_first, -1, (numbers - len(self._first)) // _BLOCK)
        for number in _numbers_in(block[~is_first]):
            start, rows = self._block(number)
            rows[numbers[block == number] - start] = codes[block == number]

    def drop(self, numbers: NDArray[np.int64]) -> None:
        """Make some rows as if they had never been set: zeros, and missing."""
        self._factors[numbers], self._filled[numbers] = 0, False  # which makes zeros of any codes

    def similarity_matrix(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self._count or not len(queries):
            return np.zeros((len(queries), self._count), np.float32)
        import simsimd

        codes, factors = _rounded(queries)
        if self._count > SKETCHED_ROWS:
            return np.stack([self._estimated(*pair) for pair in zip(codes, factors, strict=True)])
        threads = 0 if self._count > _ONE_THREAD_ROWS else 1  # 0: one for each processor
        found = np.empty((len(queries), self._count), np.float32)  # whole numbers below 2^24, which it holds exactly
        start = 0
        for block in (self._first, *self._blocks):
            end = min(start + len(block), self._count)
            if end > start:
                found[:, start:end] = simsimd.cdist(codes, block[: end - start], metric="dot", threads=threads)
            start = end
        for row, factor in enumerate(factors):
            found[row] *= self.factors * factor
        return found

    def _estimated(self, query: NDArray[np.int8], factor: np.float32) -> NDArray[np.float32]:
        """Return inner products: of the rows that are likely to be similar as of any table, of the others estimates."""
        import simsimd

        distances, found = self._sketch.compared(query, self._count)
        if not self.filled.all():
            found[~self.filled] = 0
        compared = likely(distances, max(_LEAST_COMPARED, self._count // _COMPARED_SHARE), self.counted)
        products = simsimd.cdist(query[None], self.codes_of(compared), metric="dot")
        found[compared] = np.asarray(products, np.float32)[0] * (self.factors[compared] * factor)
        return found


def _numbers_in(blocks: NDArray[np.int64]) -> list[int]:
    """Return the numbers of some blocks, -1 or more, each once, ascending."""
    found: list[int] = (np.flatnonzero(np.bincount(blocks.reshape(-1) + 1)) - 1).tolist()
    return found


def _rounded(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the codes and factors of some rows."""
    factors = np.abs(vectors).max(axis=1) / _LEVELS
    safe = np.where(factors > 0, factors, 1)
    return np.rint(vectors / safe[:, None]).astype(np.int8), factors.astype(np.float32)

"""What tables of unit vectors in RAM have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError


class UnitVectorTable(ABC):
    """Unit vectors numbered 0, 1, 2, ...; a row that was never set is zeros."""

    __slots__ = ("_count", "_filled")

    _count: int
    _filled: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Whether each row was set, shape (len(self),). A view that is valid until the next change."""
        return self._filled[: self._count]

    def missing(self) -> list[int]:
        """Return the numbers of the rows that were never set."""
        found: list[int] = np.flatnonzero(~self.filled).tolist()
        return found

    @abstractmethod
    def extend(self, count: int) -> None:
        """Grow to at least ``count`` rows; new rows are zeros."""

    def put(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Set some rows. The table grows as needed.

        Args:
            numbers: the rows to set, shape (n,).
            vectors: their unit vectors, shape (n, dimensions).

        Raises:
            InputError: the shapes do not fit.
        """
        if vectors.shape != (len(numbers), self.dimensions):
            raise InputError(
                f"{len(numbers)} rows of {self.dimensions} numbers are needed, not an array of shape {vectors.shape}"
            )
        if len(numbers):
            self.extend(int(numbers.max()) + 1)
            self._set(numbers, vectors)
            self._filled[numbers] = True

    @abstractmethod
    def _set(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Write some rows that are there."""

    def similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the inner product of every row with a query (the cosine, since all are unit vectors).

        Args:
            query: a unit vector, shape (dimensions,).

        Returns:
            Shape (len(self),), each in [-1, 1] but for rounding.
        """
        found: NDArray[np.float32] = self.similarity_matrix(query[None])[0]
        return found

    @abstractmethod
    def similarity_matrix(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the :meth:`similarities` of many queries at once.

        Args:
            queries: unit vectors, shape (n, dimensions).

        Returns:
            Inner products, shape (n, len(self)).
        """

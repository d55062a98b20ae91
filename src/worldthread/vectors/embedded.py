"""A store of vectors in the RAM of this process, on the exact or the quantised table. Nothing is kept in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.vectors.base import VectorHit, VectorItem, VectorStore, labels_of
from worldthread.vectors.exact import VectorTable, best
from worldthread.vectors.quantised import QuantisedTable

_FIRST_ROWS: Final = 64


class EmbeddedVectorStore(VectorStore):
    """A store in RAM that compares a question with every vector.

    Args:
        address: ``"exact:"``, or ``"quantised:"`` for a quarter of the RAM and cosines off by about 0.002.
        name: of the table; each store has its own.
        dimensions: length of a vector.

    Raises:
        InputError: an argument cannot be used.
    """

    def __init__(self, address: str, name: str, dimensions: int) -> None:
        super().__init__(address, name, dimensions)
        scheme, _, rest = address.partition(":")
        if rest:
            raise InputError(f"a store of vectors in RAM has the address '{scheme}:', without anything after it")
        self._is_exact = scheme.lower() == "exact"
        self._clear()

    def _clear(self) -> None:
        self._table = (VectorTable if self._is_exact else QuantisedTable)(self._dimensions)
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []  # by row; empty where the row is free
        self._free: list[int] = []
        self._times = np.zeros((2, _FIRST_ROWS))  # begin and end of each row
        self._labels: dict[str, set[int]] = {}
        self._labels_of: dict[int, list[str]] = {}

    def _add(self, items: Sequence[VectorItem], rows: NDArray[np.float32]) -> None:
        self._delete([item.id for item in items])
        numbers = []
        for item in items:
            number = self._free.pop() if self._free else len(self._ids)
            if number == len(self._ids):
                self._ids.append("")
            if number >= self._times.shape[1]:
                self._times = np.concatenate((self._times, np.zeros_like(self._times)), axis=1)
            self._ids[number], self._numbers[item.id] = item.id, number
            self._times[:, number] = item.begin, item.end
            self._labels_of[number] = labels_of(item)
            for label in self._labels_of[number]:
                self._labels.setdefault(label, set()).add(number)
            numbers.append(number)
        self._table.put(np.array(numbers, np.int64), rows)

    def _search(
        self, query: NDArray[np.float32], k: int, labels: Sequence[Sequence[str]], as_of: float | None
    ) -> list[VectorHit]:
        allowed = self._table.filled.copy()
        if as_of is not None:
            begin, end = self._times[:, : len(allowed)]
            allowed &= (begin <= as_of) & (as_of < end)
        for choices in labels:
            has_one = np.zeros(len(allowed), bool)
            for label in choices:
                has_one[list(self._labels.get(label, ()))] = True
            allowed &= has_one
        scores = np.where(allowed, self._table.similarities(query), -np.inf).astype(np.float32)
        return [VectorHit(self._ids[number], float(scores[number])) for number in best(scores, k).tolist()]

    def _ids_of_all(self) -> list[str]:
        return list(self._numbers)

    def _get(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        known = [id_ for id_ in ids if id_ in self._numbers]
        rows = self._table.rows[np.array([self._numbers[id_] for id_ in known], np.int64)]
        return dict(zip(known, np.asarray(rows, np.float32), strict=True))

    def _delete(self, ids: Sequence[str]) -> None:
        gone = [self._numbers.pop(id_) for id_ in ids if id_ in self._numbers]
        for number in gone:
            self._ids[number] = ""
            for label in self._labels_of.pop(number):
                self._labels[label].discard(number)
                if not self._labels[label]:
                    del self._labels[label]
        numbers = np.array(gone, np.int64)
        self._table.put(numbers, np.zeros((len(gone), self._dimensions), np.float32))  # over the numbers themselves
        self._table.drop(numbers)
        self._free += gone

    def _purge(self) -> None:
        """Do nothing: what was deleted is overwritten at once."""

    def _drop(self) -> None:
        self._clear()

    def _count(self) -> int:
        return len(self._numbers)

    def _close(self) -> None:
        self._clear()

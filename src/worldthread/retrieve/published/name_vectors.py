"""Vectors of the names of objects, and the names that mean almost the same.

A vector of a name is computed once in the life of a graph, and so is the likeness of a pair.
"""

from __future__ import annotations

import threading
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.published.linking import Embed
from worldthread.retrieve.published.traversal import VertexGraph
from worldthread.retrieve.sparse import Numbers

Floats: TypeAlias = NDArray[np.float32]

_BATCH: Final = 512  # names embedded or compared at a time


def fill_name_vectors(over: VertexGraph, names: NDArray[np.integer], embed: Embed) -> None:
    """Embed the names, by number, that have no vector yet, and keep the vectors with the graph."""
    table = over.name_vectors
    missing = names[~table.filled[names]].astype(np.int64)
    for start in range(0, len(missing), _BATCH):
        part = missing[start : start + _BATCH]
        table.put(part, embed([over.names[number] for number in part.tolist()]))


class Synonyms:
    """Pairs of names whose vectors have at least a certain inner product; names may come in parts.

    Args:
        least: the inner product.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._known = np.zeros(0, np.int64)
        self._pairs = np.zeros((0, 2), np.int64)  # the later known name first
        self._likeness = np.zeros(0, np.float32)

    def among(self, names: Numbers, vectors: Floats) -> tuple[Numbers, Floats]:
        """All pairs among ``names``, shape (pairs, 2), each once, and their inner products.

        Args:
            names: numbers, without repetition.
            vectors: those of all names, by number; always the same for the same number.
        """
        fresh = np.setdiff1d(names, self._known)
        before = self._known
        for start in range(0, len(fresh), _BATCH):
            block = fresh[start : start + _BATCH]
            others = np.concatenate((before, fresh[: start + len(block)]))
            likeness = vectors[block] @ vectors[others].T
            rows, columns = np.nonzero(likeness >= self._least)
            earlier = columns < len(before) + start + rows  # each pair once, and none with itself
            rows, columns = rows[earlier], columns[earlier]
            self._pairs = np.concatenate((self._pairs, np.stack((block[rows], others[columns]), 1)))
            self._likeness = np.concatenate((self._likeness, likeness[rows, columns]))
        self._known = np.concatenate((before, fresh))
        there = np.isin(self._pairs, names).all(1)
        return self._pairs[there], self._likeness[there]


_LOCK: Final = threading.Lock()
_SYNONYMS: Final[WeakKeyDictionary[VertexGraph, dict[float, Synonyms]]] = WeakKeyDictionary()


def synonyms(over: VertexGraph, names: Numbers, least: float) -> tuple[Numbers, Floats]:
    """Pairs among ``names``, by number, whose vectors have at least this inner product; see :meth:`Synonyms.among`."""
    with _LOCK:
        found = _SYNONYMS.setdefault(over, {}).setdefault(least, Synonyms(least))
        return found.among(names, over.name_vectors.rows)

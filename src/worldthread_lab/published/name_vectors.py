"""Vectors of the names of objects, and pairs of names with similar vectors.

The vector of a name and the similarity of a pair are computed once for each graph.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.cache import CacheKey
from worldthread.retrieve.sparse import Numbers
from worldthread_lab.published.linking import Embed
from worldthread_lab.published.traversal import VertexGraph

Floats: TypeAlias = NDArray[np.float32]

_BATCH: Final = 512  # names embedded or compared at a time


def fill_name_vectors(full: VertexGraph, names: NDArray[np.integer], embed: Embed) -> None:
    """Embed those of ``names``, by number, that have no vector yet, and keep the vectors with the graph."""
    table = full.name_vectors
    missing = names[~table.filled[names]].astype(np.int64)
    for start in range(0, len(missing), _BATCH):
        part = missing[start : start + _BATCH]
        table.put(part, embed([full.names[number] for number in part.tolist()]))


class Synonyms:
    """Pairs of names whose vectors have at least a certain inner product, found as names arrive.

    Args:
        least: the least inner product.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._known = np.zeros(0, np.int64)
        self._pairs = np.zeros((0, 2), np.int64)  # the name that came later first
        self._similarity = np.zeros(0, np.float32)

    def among(self, names: Numbers, vectors: Floats) -> tuple[Numbers, Floats]:
        """Return all pairs among some names.

        Args:
            names: numbers, without repetition.
            vectors: of all names, by number; in every call the same for the same number.

        Returns:
            Pairs, each once, shape (pairs, 2), and their inner products, shape (pairs,).
        """
        fresh = np.setdiff1d(names, self._known)
        before = self._known
        for start in range(0, len(fresh), _BATCH):
            block = fresh[start : start + _BATCH]
            others = np.concatenate((before, fresh[: start + len(block)]))
            similarity = vectors[block] @ vectors[others].T
            rows, columns = np.nonzero(similarity >= self._least)
            earlier = columns < len(before) + start + rows  # each pair once, and none with itself
            rows, columns = rows[earlier], columns[earlier]
            self._pairs = np.concatenate((self._pairs, np.stack((block[rows], others[columns]), 1)))
            self._similarity = np.concatenate((self._similarity, similarity[rows, columns]))
        self._known = np.concatenate((before, fresh))
        there = np.isin(self._pairs, names).all(1)
        return self._pairs[there], self._similarity[there]


def synonyms(full: VertexGraph, names: Numbers, least: float) -> tuple[Numbers, Floats]:
    """Return the pairs among ``names`` whose vectors have at least this inner product; see :meth:`Synonyms.among`."""
    with full.derived.lock:
        found = full.derived.get(CacheKey[Synonyms]("synonyms", (least,)), lambda: Synonyms(least))
        return found.among(names, full.name_vectors.rows)

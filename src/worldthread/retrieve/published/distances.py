"""How far vertices of the graph are from each other: by their vectors, and in steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.paths import Floats
from worldthread.retrieve.published.traversal import EPISODE, KINDS, OBJECT, FilteredGraph
from worldthread.retrieve.sparse import Numbers
from worldthread.vectors.quantised import DecodedRows

NAMES: Final = 1 << 40
"""Added to the number of a name where it stands among labels."""


class VertexVectors:
    """Vectors of vertices. A *source* is a label, or :data:`NAMES` plus the number of an object's name."""

    def __init__(self, corpus: RetrievalIndex, walk: FilteredGraph) -> None:
        self._statements, self._episodes = corpus.statements.rows, corpus.episodes.rows
        self._names, self._named = walk.over.name_vectors.rows, walk.over.name_vectors.filled
        self._walk = walk

    def sources(self, vertices: NDArray[np.int32], labels: NDArray[np.int32]) -> Numbers:
        """Where the vectors of vertices are that were reached over edges with these labels."""
        numbers, kinds = np.divmod(vertices.astype(np.int64), KINDS)
        found = np.where(kinds == OBJECT, labels, np.where(kinds == EPISODE, -1 - numbers, numbers))
        objects = np.flatnonzero(kinds == OBJECT)
        named = objects[self._named[numbers[objects]]]
        found[named] = numbers[named] + NAMES
        return np.asarray(found)

    def inner(self, sources: Numbers, vectors: Floats, rows: Numbers) -> NDArray[np.float64]:
        """Inner product of each with the one of ``vectors`` that ``rows`` tells, shape (len(sources),)."""
        found = np.empty(len(sources))
        for table, at, numbers in self._tables(sources):
            found[at] = np.einsum("ij,ij->i", table[numbers], vectors[rows[at]])
        return found

    def rows(self, sources: Numbers) -> Floats:
        """The vectors, shape (len(sources), dimensions)."""
        found = np.empty((len(sources), self._statements.shape[1]), np.float32)
        for table, at, numbers in self._tables(sources):
            found[at] = table[numbers]
        return found

    def _tables(self, sources: Numbers) -> Iterator[tuple[Floats | DecodedRows, Numbers, Numbers]]:
        """Each table of vectors, which of the sources lie there, and their numbers in it."""
        for table, chosen, numbers in (
            (self._episodes, sources < 0, -1 - sources),
            (self._statements, (sources >= 0) & (sources < NAMES), sources),
            (self._names, sources >= NAMES, sources - NAMES),
        ):
            at = np.nonzero(chosen)[0]
            if len(at):
                yield table, at, numbers[at]

    def around(self, vertex: int) -> Floats:
        """The vector of a start or target."""
        number, kind = divmod(vertex, KINDS)
        if kind != OBJECT:
            return self.rows(np.array([-1 - number if kind == EPISODE else number])).ravel()
        if self._named[number]:
            return self.rows(np.array([NAMES + number])).ravel()
        _, edges = self._walk.steps_from(vertex)
        labels = self._walk.labels[edges]
        total = self._statements[labels[labels >= 0]].sum(0, np.float64)
        total += self._episodes[-1 - labels[labels < 0]].sum(0, np.float64)
        length = np.linalg.norm(total)
        return np.asarray(total / length if length else total, np.float32)


class HopDistances:
    """Steps from vertices to a target, by breadth first search from there, no wider than is asked for."""

    def __init__(self, walk: FilteredGraph, target: int) -> None:
        self._walk = walk
        self._found = np.zeros(walk.size, np.int32)  # 1 + steps; 0: not found yet
        self._found[target] = 1
        self._front = np.array([target])
        self._depth = 0

    def of(self, vertices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Shape (len(vertices),); infinite where there is no way."""
        while len(self._front) and not self._found[vertices].all():
            self._depth += 1
            _, far, _ = self._walk.steps(self._front)
            far = np.unique(far[self._found[far] == 0])
            self._found[far] = self._depth + 1
            self._front = far.astype(np.int64)
        found = self._found[vertices].astype(np.float64) - 1
        found[found < 0] = np.inf
        return np.asarray(found)

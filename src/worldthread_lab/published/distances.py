"""Distances between vertices of the graph: by their vectors, and in steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.stored_table import StoredRows
from worldthread.vectors.quantised import DecodedRows
from worldthread_lab.published.paths import Floats, exact_sum
from worldthread_lab.published.traversal import EPISODE, KINDS, OBJECT, FilteredGraph

NAMES: Final = 1 << 40
"""Added to the number of a name, which makes it distinct from labels."""


class VertexVectors:
    """Vectors of vertices. A *source* says where one is: a label, or :data:`NAMES` plus the number of a name.

    Args:
        index: the index.
        graph: the part of the graph that the query may use.
    """

    def __init__(self, index: RetrievalIndex, graph: FilteredGraph) -> None:
        self._statements, self._episodes = index.statements.rows, index.episodes.rows
        self._names, self._named = graph.full.name_vectors.rows, graph.full.name_vectors.filled
        self._graph = graph

    def sources(self, vertices: NDArray[np.int32], labels: NDArray[np.int32]) -> Numbers:
        """Return the sources of the vectors of vertices that were reached over edges with these labels."""
        numbers, kinds = np.divmod(vertices.astype(np.int64), KINDS)
        found = np.where(kinds == OBJECT, labels, np.where(kinds == EPISODE, -1 - numbers, numbers))
        objects = np.flatnonzero(kinds == OBJECT)
        named = objects[self._named[numbers[objects]]]
        found[named] = numbers[named] + NAMES
        return np.asarray(found)

    def inner(self, sources: Numbers, vectors: Floats, rows: Numbers) -> NDArray[np.float64]:
        """Return the inner product of each source with ``vectors[row]`` for its row, shape (len(sources),)."""
        found = np.empty(len(sources))
        for table, at, numbers in self._tables(sources):
            found[at] = np.einsum("ij,ij->i", table[numbers], vectors[rows[at]])
        return found

    def rows(self, sources: Numbers) -> Floats:
        """Return the vectors, shape (len(sources), dimensions)."""
        found = np.empty((len(sources), self._statements.shape[1]), np.float32)
        for table, at, numbers in self._tables(sources):
            found[at] = table[numbers]
        return found

    def _tables(self, sources: Numbers) -> Iterator[tuple[Floats | DecodedRows | StoredRows, Numbers, Numbers]]:
        """Yield each table of vectors, the positions of the sources in it, and their numbers in it."""
        for table, chosen, numbers in (
            (self._episodes, sources < 0, -1 - sources),
            (self._statements, (sources >= 0) & (sources < NAMES), sources),
            (self._names, sources >= NAMES, sources - NAMES),
        ):
            at = np.nonzero(chosen)[0]
            if len(at):
                yield table, at, numbers[at]

    def around(self, vertex: int) -> Floats:
        """Return the vector of a start or target."""
        number, kind = divmod(vertex, KINDS)
        if kind != OBJECT:
            return self.rows(np.array([-1 - number if kind == EPISODE else number])).ravel()
        if self._named[number]:
            return self.rows(np.array([NAMES + number])).ravel()
        _, edges = self._graph.steps_from(vertex)
        labels = self._graph.labels[edges]
        total = exact_sum(self._statements[labels[labels >= 0]]) + exact_sum(self._episodes[-1 - labels[labels < 0]])
        length = np.linalg.norm(total)
        return np.asarray(total / length if length else total, np.float32)


class HopDistances:
    """Steps from vertices to a target, by breadth-first search from the target, only as far as needed.

    Args:
        graph: the part of the graph that the query may use.
        target: the vertex.
    """

    def __init__(self, graph: FilteredGraph, target: int) -> None:
        self._graph = graph
        self._found = np.zeros(graph.size, np.int32)  # 1 + steps; 0: not found yet
        self._found[target] = 1
        self._frontier = np.array([target])
        self._depth = 0

    def of(self, vertices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return the steps from each of ``vertices``, shape (len(vertices),); infinite when there is no path."""
        while len(self._frontier) and not self._found[vertices].all():
            self._depth += 1
            _, far, _ = self._graph.steps(self._frontier)
            far = np.unique(far[self._found[far] == 0])
            self._found[far] = self._depth + 1
            # an end of another search is reached, but no path leads through it
            self._frontier = far[self._graph.may_pass(far)].astype(np.int64)
        found = self._found[vertices].astype(np.float64) - 1
        found[found < 0] = np.inf
        return np.asarray(found)

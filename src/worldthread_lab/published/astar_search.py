"""The search of A*: many searches advance together, so that the overhead of a step is shared.

What each search has reached is in a row of arrays, in the order in which it was reached. A *place* is a position in
such a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.sparse import Numbers
from worldthread_lab.published.distances import HopDistances, VertexVectors
from worldthread_lab.published.traversal import FilteredGraph

Values = NDArray[np.float64]

_FIRST_PLACES = 256


class Heuristic:
    """The heuristics of :mod:`worldthread_lab.published.astar`.

    Args:
        heuristic: its name.
        index: the index, for vectors.
        graph: the part of the graph that the query may use, with the ends of the searches.
        around: the same part without these ends; the vectors of ends without a name vector come from it.
    """

    def __init__(
        self, heuristic: str, index: RetrievalIndex, graph: FilteredGraph, around: FilteredGraph | None = None
    ) -> None:
        self.vectors = VertexVectors(index, around or graph) if heuristic != "none" else None
        self.weighs = heuristic in ("weighted", "averaged", "unaveraged")
        self.sums_up = heuristic in ("averaged", "unaveraged")
        self._averages = heuristic == "averaged"
        self._graph = graph
        self._hops: dict[int, HopDistances] = {}

    def hops(self, vertices: NDArray[np.integer[Any]], targets: Numbers) -> Values:
        """Return the steps from each of ``vertices`` to its target; infinite when there is no path."""
        found = np.empty(len(vertices))
        for target in np.unique(targets).tolist():
            if target not in self._hops:
                self._hops[target] = HopDistances(self._graph, target)
            mine = targets == target
            found[mine] = self._hops[target].of(vertices[mine])
        return found

    def estimate(self, left: Values, sums: Values, steps: NDArray[np.integer[Any]], hops: Values) -> Values:
        """Return h.

        Args:
            left: d from each vertex to its target.
            sums: d summed along the path to each vertex.
            steps: length of that path.
            hops: steps from each vertex to its target.
        """
        if not self.sums_up:
            return left * hops
        return (sums + left) / (steps + 1 if self._averages else 1) * hops


class BatchedSearch:
    """Many searches, each from one vertex to another.

    Args:
        pairs: start and target of each search, shape (searches, 2).
        graph: the part of the graph that the query may use, with the ends of the searches.
        heuristic: estimates what is left of a path.
    """

    def __init__(self, pairs: Numbers, graph: FilteredGraph, heuristic: Heuristic) -> None:
        self.count = count = len(pairs)
        self._graph = graph
        self._heuristic = heuristic
        self._targets = pairs[:, 1]
        self._placed = np.zeros(count * graph.size, np.int32)  # 1 + the place of a vertex in a search; 0: not reached
        self._reached = np.ones(count, np.int64)
        room = (count, _FIRST_PLACES)
        self._vertices, self._parents = np.zeros(room, np.int32), np.full(room, -1, np.int32)
        self._steps, self._sources = np.zeros(room, np.int32), np.zeros(room, np.int64)
        self._estimates, self._sums = np.full(room, np.inf), np.zeros(room)
        self._vertices[:, 0], self._estimates[:, 0] = pairs[:, 0], 0
        self._placed[np.arange(count) * graph.size + pairs[:, 0]] = 1
        self._last = np.zeros(count, np.int64)  # places expanded last
        self._keys: dict[int, tuple[int, str]] = {}
        if heuristic.weighs:
            self._estimates[np.isinf(heuristic.hops(pairs[:, 0], self._targets)), 0] = np.inf
        if heuristic.vectors is not None:
            around = {vertex: heuristic.vectors.around(vertex) for vertex in np.unique(pairs).tolist()}
            self._from = np.array([around[vertex] for vertex in pairs[:, 0].tolist()])
            self._to = np.array([around[vertex] for vertex in pairs[:, 1].tolist()])

    def run(self, most: int, max_depth: int) -> None:
        """Expand up to ``most`` vertices of each search, all of them less than ``max_depth`` steps from the start."""
        rows = np.arange(self.count)
        for _ in range(most):
            places = self._next(rows)
            going = (self._estimates[rows, places] < np.inf) & (self._vertices[rows, places] != self._targets[rows])
            rows, places = rows[going], places[going]
            if not len(rows):
                return
            self._estimates[rows, places] = np.inf
            near = self._steps[rows, places] < max_depth
            self._last[rows[near]] = places[near]
            self._expand(rows[near], places[near])

    def path(self, row: int, last_expanded: bool) -> list[int] | None:
        """Return the vertices of the path of one search.

        Args:
            row: which search.
            last_expanded: when the target was not reached, return the path to the vertex expanded last.

        Returns:
            From start to target; ``None`` when there is no path.
        """
        at = int(self._placed[row * self._graph.size + self._targets[row]]) - 1
        if at < 0:
            at = int(self._last[row]) if last_expanded else 0
        path = []
        while at >= 0:
            path.append(int(self._vertices[row, at]))
            at = int(self._parents[row, at])
        return path[::-1] if len(path) > 1 else None

    def _next(self, rows: Numbers) -> Numbers:
        """Return for each search the place with the least estimate; equal ones are ordered by name or id."""
        estimates = self._estimates[rows, : int(self._reached.max())]
        places = estimates.argmin(1)
        least = estimates[np.arange(len(rows)), places]
        equal = (estimates == least[:, None]).sum(1)
        for position in np.nonzero((equal > 1) & (least < np.inf))[0].tolist():
            row = int(rows[position])
            choice = np.nonzero(estimates[position] == least[position])[0].tolist()
            places[position] = min(choice, key=lambda place: self._key(int(self._vertices[row, place])))
        return np.asarray(places)

    def _key(self, vertex: int) -> tuple[int, str]:
        key = self._keys.get(vertex)
        if key is None:
            key = self._keys[vertex] = self._graph.key(vertex)
        return key

    def _expand(self, rows: Numbers, places: Numbers) -> None:
        owners, far, edges = self._graph.steps(self._vertices[rows, places])
        rows, parents = rows[owners], places[owners]
        own = self._graph.may_pass(far) | (far == self._targets[rows])  # not the target of another search
        rows, parents, far, edges = rows[own], parents[own], far[own], edges[own]
        flat = rows * self._graph.size + far
        steps = self._steps[rows, parents] + 1
        old = self._placed[flat]
        better = np.nonzero((old == 0) | (self._steps[rows, old - 1] > steps))[0]
        if not len(better):
            return
        rows, parents, far, edges = rows[better], parents[better], far[better], edges[better]
        flat, steps, old = flat[better], steps[better], old[better]
        estimates, sums, sources = self._estimated(rows, parents, far, edges, steps)
        # of several edges to one vertex the best is written last and so remains; of equally good ones, the first by id
        order = np.lexsort((self._ranks(flat, estimates, edges), -estimates, rows))
        marks = np.arange(-1, -1 - len(order), -1, dtype=np.int32)
        self._placed[flat[order]] = marks
        kept = order[self._placed[flat[order]] == marks]
        rows, flat, new = rows[kept], flat[kept], old[kept] - 1
        fresh = np.nonzero(new < 0)[0]
        added = np.bincount(rows[fresh], minlength=self.count)
        before = np.cumsum(added) - added
        new[fresh] = self._reached[rows[fresh]] + np.arange(len(fresh)) - before[rows[fresh]]
        self._reached += added
        self._make_room()
        self._placed[flat] = new + 1
        self._vertices[rows, new] = far[kept]
        self._parents[rows, new] = parents[kept]
        self._steps[rows, new] = steps[kept]
        self._estimates[rows, new] = estimates[kept]
        self._sums[rows, new] = sums[kept]
        self._sources[rows, new] = sources[kept]

    def _ranks(self, flat: Numbers, estimates: Values, edges: NDArray[np.int32]) -> Numbers:
        """Return numbers that are higher for edges whose ids come first, where edges are equally good."""
        found = np.zeros(len(edges), np.int64)
        if not self._heuristic.sums_up:  # the vectors of equally good edges make no difference later
            return found
        order = np.lexsort((estimates, flat))
        equal = (np.diff(flat[order]) == 0) & (np.diff(estimates[order]) == 0)
        tied = order[np.append(equal, False) | np.append(False, equal)]
        labels = self._graph.labels[edges[tied]].tolist()
        by_id = sorted(range(len(tied)), key=lambda at: self._graph.id_of(labels[at]), reverse=True)
        found[tied[by_id]] = np.arange(len(tied))
        return found

    def _make_room(self) -> None:
        room = self._vertices.shape[1]
        needed = int(self._reached.max())
        if needed <= room:
            return
        for name in ("vertices", "parents", "steps", "sources", "estimates", "sums"):
            array = getattr(self, f"_{name}")
            empty = np.full((self.count, max(needed - room, room)), np.inf if name == "estimates" else 0, array.dtype)
            setattr(self, f"_{name}", np.concatenate((array, empty), 1))

    def _estimated(
        self,
        rows: Numbers,
        parents: Numbers,
        far: NDArray[np.int32],
        edges: NDArray[np.int32],
        steps: NDArray[np.integer[Any]],
    ) -> tuple[Values, Values, Numbers]:
        """Return for steps to ``far``: g + h, the sums of d along the paths, and the sources of the vectors."""
        heuristic, vectors = self._heuristic, self._heuristic.vectors
        if vectors is None:
            return steps.astype(np.float64), np.zeros(len(far)), np.zeros(len(far), np.int64)
        sources = vectors.sources(far, self._graph.labels[edges])
        left = 1.0 - vectors.inner(sources, self._to, rows)
        targets = self._targets[rows]
        left[far == targets] = 0
        if not heuristic.weighs:
            return steps + left, np.zeros(len(far)), sources
        sums = np.zeros(len(far))
        if heuristic.sums_up:
            later = parents > 0
            here = self._from[rows]
            here[later] = vectors.rows(self._sources[rows, parents][later])
            sums = self._sums[rows, parents] + 1.0 - vectors.inner(sources, here, np.arange(len(far)))
        return steps + heuristic.estimate(left, sums, steps, heuristic.hops(far, targets)), sums, sources

"""The search of A*: many at once, in step, so that the price of a step is paid once for all of them.

What each search has reached stands in a row of arrays, in order of reaching. A *place* is an index into such a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.distances import HopDistances, VertexVectors
from worldthread.retrieve.published.traversal import FilteredGraph
from worldthread.retrieve.sparse import Numbers

Values = NDArray[np.float64]

_FIRST_PLACES = 256


class Heuristic:
    """The heuristics of :mod:`worldthread.retrieve.published.astar`.

    Args:
        heuristic: its name.
        corpus: the index.
        walk: what may be walked over.
    """

    def __init__(self, heuristic: str, corpus: RetrievalIndex, walk: FilteredGraph) -> None:
        self.vectors = VertexVectors(corpus, walk) if heuristic != "none" else None
        self.weighs = heuristic in ("weighted", "averaged", "unaveraged")
        self.sums_up = heuristic in ("averaged", "unaveraged")
        self._averages = heuristic == "averaged"
        self._walk = walk
        self._hops: dict[int, HopDistances] = {}

    def hops(self, vertices: NDArray[np.integer[Any]], targets: Numbers) -> Values:
        """Steps from each of ``vertices`` to its target; infinite where there is no way."""
        found = np.empty(len(vertices))
        for target in np.unique(targets).tolist():
            if target not in self._hops:
                self._hops[target] = HopDistances(self._walk, target)
            mine = targets == target
            found[mine] = self._hops[target].of(vertices[mine])
        return found

    def estimate(self, left: Values, sums: Values, steps: NDArray[np.integer[Any]], hops: Values) -> Values:
        """h, from d to the target, the sums of d along the paths, and steps made and to be made."""
        if not self.sums_up:
            return left * hops
        return (sums + left) / (steps + 1 if self._averages else 1) * hops


class BatchedSearch:
    """Searches from one vertex to another each.

    Args:
        pairs: start and target of each, shape (searches, 2).
        walk: what may be walked over.
        distance: the heuristic.
    """

    def __init__(self, pairs: Numbers, walk: FilteredGraph, distance: Heuristic) -> None:
        self.count = count = len(pairs)
        self._walk = walk
        self._distance = distance
        self._targets = pairs[:, 1]
        self._placed = np.zeros(count * walk.size, np.int32)  # 1 + the place of a vertex in a search; 0: not reached
        self._reached = np.ones(count, np.int64)
        room = (count, _FIRST_PLACES)
        self._vertices, self._parents = np.zeros(room, np.int32), np.full(room, -1, np.int32)
        self._steps, self._sources = np.zeros(room, np.int32), np.zeros(room, np.int64)
        self._estimates, self._sums = np.full(room, np.inf), np.zeros(room)
        self._vertices[:, 0], self._estimates[:, 0] = pairs[:, 0], 0
        self._placed[np.arange(count) * walk.size + pairs[:, 0]] = 1
        self._last = np.zeros(count, np.int64)  # places expanded last
        self._keys: dict[int, tuple[int, str]] = {}
        if distance.weighs:
            self._estimates[np.isinf(distance.hops(pairs[:, 0], self._targets)), 0] = np.inf
        if distance.vectors is not None:
            around = {vertex: distance.vectors.around(vertex) for vertex in np.unique(pairs).tolist()}
            self._from = np.array([around[vertex] for vertex in pairs[:, 0].tolist()])
            self._to = np.array([around[vertex] for vertex in pairs[:, 1].tolist()])

    def run(self, most: int, max_depth: int) -> None:
        """Expand up to ``most`` vertices of each search, none of them ``max_depth`` or more steps from the start."""
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
        """The vertices of the path of one search; ``None`` when the target was not reached.

        Args:
            row: which search.
            last_expanded: where the target was not reached, the path to the vertex expanded last.
        """
        at = int(self._placed[row * self._walk.size + self._targets[row]]) - 1
        if at < 0:
            at = int(self._last[row]) if last_expanded else 0
        path = []
        while at >= 0:
            path.append(int(self._vertices[row, at]))
            at = int(self._parents[row, at])
        return path[::-1] if len(path) > 1 else None

    def _next(self, rows: Numbers) -> Numbers:
        """Of each search the place with the least estimate; among equals by name or id."""
        estimates = self._estimates[rows, : int(self._reached.max())]
        places = estimates.argmin(1)
        least = estimates[np.arange(len(rows)), places]
        equal = (estimates == least[:, None]).sum(1)
        for index in np.nonzero((equal > 1) & (least < np.inf))[0].tolist():
            row = int(rows[index])
            choice = np.nonzero(estimates[index] == least[index])[0].tolist()
            places[index] = min(choice, key=lambda place: self._key(int(self._vertices[row, place])))
        return np.asarray(places)

    def _key(self, vertex: int) -> tuple[int, str]:
        key = self._keys.get(vertex)
        if key is None:
            key = self._keys[vertex] = self._walk.key(vertex)
        return key

    def _expand(self, rows: Numbers, places: Numbers) -> None:
        owners, far, edges = self._walk.steps(self._vertices[rows, places])
        rows, parents = rows[owners], places[owners]
        flat = rows * self._walk.size + far
        steps = self._steps[rows, parents] + 1
        old = self._placed[flat]
        better = np.nonzero((old == 0) | (self._steps[rows, old - 1] > steps))[0]
        if not len(better):
            return
        rows, parents, far, edges = rows[better], parents[better], far[better], edges[better]
        flat, steps, old = flat[better], steps[better], old[better]
        estimates, sums, sources = self._judged(rows, parents, far, edges, steps)
        # of several edges to one vertex the best is written last, and stays
        order = np.lexsort((-estimates, rows))
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

    def _make_room(self) -> None:
        room = self._vertices.shape[1]
        needed = int(self._reached.max())
        if needed <= room:
            return
        for name in ("vertices", "parents", "steps", "sources", "estimates", "sums"):
            array = getattr(self, f"_{name}")
            empty = np.full((self.count, max(needed - room, room)), np.inf if name == "estimates" else 0, array.dtype)
            setattr(self, f"_{name}", np.concatenate((array, empty), 1))

    def _judged(
        self,
        rows: Numbers,
        parents: Numbers,
        far: NDArray[np.int32],
        edges: NDArray[np.int32],
        steps: NDArray[np.integer[Any]],
    ) -> tuple[Values, Values, Numbers]:
        """Of steps onto ``far``: g + h, the sums of d along the paths, where the vectors are."""
        distance, vectors = self._distance, self._distance.vectors
        if vectors is None:
            return steps.astype(np.float64), np.zeros(len(far)), np.zeros(len(far), np.int64)
        sources = vectors.sources(far, self._walk.labels[edges])
        left = 1.0 - vectors.inner(sources, self._to, rows)
        targets = self._targets[rows]
        left[far == targets] = 0
        if not distance.weighs:
            return steps + left, np.zeros(len(far)), sources
        sums = np.zeros(len(far))
        if distance.sums_up:
            later = parents > 0
            here = self._from[rows]
            here[later] = vectors.rows(self._sources[rows, parents][later])
            sums = self._sums[rows, parents] + 1.0 - vectors.inner(sources, here, np.arange(len(far)))
        return steps + distance.estimate(left, sums, steps, distance.hops(far, targets)), sums, sources

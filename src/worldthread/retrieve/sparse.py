"""Edges by the vertex that they leave, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.integer_table import stable_order

Numbers = NDArray[np.int64]

_LATE_SHARE: Final = 16  # all is sorted anew when this part of the edges came since
_LEAST_LATE: Final = 1024


def ranges(starts: Numbers, counts: Numbers) -> Numbers:
    """``starts[0]``, ``starts[0] + 1``, ... (``counts[0]`` of them), then the same from ``starts[1]``, and so on."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - counts), counts))


@dataclass(frozen=True)
class CSRAdjacency:
    """Every edge from each of its ends, sorted by that end; those that came late in a second, smaller sorted part.

    Args:
        pointers: the early ones of vertex *v* are at ``pointers[v]`` to ``pointers[v + 1]``.
        late: the vertices of the late ones, ascending; they lie behind the early ones.
        far: of each, the vertex at the other end.
        edge: of each, the number of the edge.
        early: how many edges are in the first part.
    """

    pointers: NDArray[np.int32]
    late: NDArray[np.int32]
    far: NDArray[np.int32]
    edge: NDArray[np.int32]
    early: int

    def places(self, vertices: NDArray[np.integer[Any]]) -> tuple[Numbers, Numbers]:
        """Where the half-edges of ``vertices`` lie, one vertex after the other, and how many each has."""
        known = np.minimum(vertices, len(self.pointers) - 2)
        starts = self.pointers[known].astype(np.int64)
        counts = np.where(known == vertices, self.pointers[known + 1] - starts, 0)
        if not len(self.late):
            return ranges(starts, counts), counts
        first = np.searchsorted(self.late, vertices)
        more = np.searchsorted(self.late, vertices, "right") - first
        both = np.stack((starts, int(self.pointers[-1]) + first), 1).ravel()
        return ranges(both, np.stack((counts, more), 1).ravel()), counts + more


def _sorted_ends(edges: NDArray[np.int32], offset: int) -> tuple[NDArray[np.int32], ...]:
    """(near, far, edge) of every edge from both ends, by near end; an edge from a vertex to itself once."""
    numbers = np.arange(offset, offset + len(edges), dtype=np.int32)
    back = edges[:, 0] != edges[:, 1]
    near = np.concatenate((edges[:, 0], edges[back, 1]))
    far = np.concatenate((edges[:, 1], edges[back, 0]))
    order = stable_order(near)
    return near[order], far[order], np.concatenate((numbers, numbers[back]))[order]


def half_edges(edges: NDArray[np.int32], vertices: int, before: CSRAdjacency | None) -> CSRAdjacency:
    """The half-edges of ``edges``.

    Args:
        edges: both vertices of every edge, shape (edges, 2).
        vertices: more than any vertex.
        before: what this gave for the first of the edges; few new ones are then sorted alone.
    """
    if before is None or len(edges) - before.early > max(_LEAST_LATE, len(edges) // _LATE_SHARE):
        near, far, edge = _sorted_ends(edges, 0)
        pointers = np.zeros(vertices + 1, np.int32)
        np.cumsum(np.bincount(near, minlength=vertices), out=pointers[1:])
        return CSRAdjacency(pointers, np.zeros(0, np.int32), far, edge, len(edges))
    near, far, edge = _sorted_ends(edges[before.early :], before.early)
    early = int(before.pointers[-1])
    far, edge = np.concatenate((before.far[:early], far)), np.concatenate((before.edge[:early], edge))
    return CSRAdjacency(before.pointers, near, far, edge, before.early)

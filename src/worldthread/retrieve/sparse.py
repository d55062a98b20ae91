"""Sparse rows (CSR): what belongs to each of many numbers, in two flat arrays.

Everything in the package that groups entries by a number uses this module: names of episodes, postings of words, edges
of vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]
Integers: TypeAlias = NDArray[np.integer[Any]]

_LATE_SHARE: Final = 16  # everything is sorted again when one part in so many came later
_LEAST_LATE_EDGES: Final = 1024


def stable_order(numbers: Integers) -> Numbers:
    """Return ``np.argsort(numbers, kind="stable")`` for numbers from 0 to 2^31 - 1, about ten times as fast.

    Number and position are sorted as one number of 64 bits, which numpy does with vector instructions.

    Args:
        numbers: shape (n,).

    Returns:
        The positions in ascending order of their numbers, shape (n,).
    """
    keys = numbers.astype(np.int64) << 32 | np.arange(len(numbers))
    keys.sort()
    return keys & 0xFFFFFFFF


def starts_of(counts: Integers) -> Numbers:
    """Return where each of several consecutive groups of these sizes begins."""
    return np.cumsum(counts) - counts


def ranges(starts: Numbers, counts: Integers) -> Numbers:
    """Return ``starts[0]``, ``starts[0] + 1``, ... (``counts[0]`` of them), then the same from ``starts[1]``, etc."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - counts), counts))


def row_pointers(rows: Integers, count: int = 0) -> Numbers:
    """Return where each row begins when entries are sorted by row.

    Args:
        rows: the row of every entry, in any order.
        count: how many rows there are at least.

    Returns:
        Shape (number of rows + 1,), from 0 to ``len(rows)``.
    """
    sizes = np.bincount(rows, minlength=count)
    pointers = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=pointers[1:])
    return pointers


def both_directions(edges: Integers) -> tuple[NDArray[Any], NDArray[Any], Numbers]:
    """Return every edge once from each of its ends: the vertex it leaves, the vertex it enters, and its number.

    Args:
        edges: both vertices of every edge, shape (edges, 2). An edge from a vertex to itself is listed once.
    """
    numbers = np.arange(len(edges))
    back = edges[:, 0] != edges[:, 1]
    leaves = np.concatenate((edges[:, 0], edges[back, 1]))
    enters = np.concatenate((edges[:, 1], edges[back, 0]))
    return leaves, enters, np.concatenate((numbers, numbers[back]))


def must_sort_again(count: int, sorted_count: int, least_late: int) -> bool:
    """Return whether too many of ``count`` entries came after the first ``sorted_count`` were sorted."""
    return count - sorted_count > max(least_late, count // _LATE_SHARE)


@dataclass(frozen=True)
class CSRRows:
    """A list of columns for every row.

    Args:
        pointers: the columns of row *r* are ``columns[pointers[r] : pointers[r + 1]]``; shape (rows + 1,).
        columns: shape (entries,).
    """

    pointers: Numbers
    columns: NDArray[np.int32]

    @classmethod
    def of_sorted(cls, rows: Integers, columns: NDArray[np.int32], count: int = 0) -> CSRRows:
        """Return rows from entries whose rows ascend; ``count``: how many rows there are at least."""
        return cls(row_pointers(rows, count), columns)

    @classmethod
    def grouped(cls, rows: Integers, columns: NDArray[np.int32], count: int = 0) -> CSRRows:
        """Return rows from entries in any order, which they keep within a row; ``count``: least number of rows."""
        return cls(row_pointers(rows, count), columns[stable_order(rows)])

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.pointers) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.columns[self.span(row)]

    def span(self, row: int) -> slice:
        """Return where in :attr:`columns` the entries of one row are."""
        return slice(self.pointers[row], self.pointers[row + 1])

    def counts(self, rows: Numbers) -> Numbers:
        """Return how many entries each of ``rows`` has."""
        return self.pointers[rows + 1] - self.pointers[rows]

    def places(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """Return where in :attr:`columns` the entries of ``rows`` are, row after row, and how many each row has."""
        counts = self.counts(rows)
        return ranges(self.pointers[rows], counts), counts

    @cached_property
    def row_of_entry(self) -> NDArray[np.int32]:
        """The row of every entry, ascending."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.pointers))

    @cached_property
    def by_column(self) -> Numbers:
        """The places of all entries, ordered by column, then row."""
        # things are numbered as they come, so columns nearly ascend, and a merge sort makes use of that
        return np.argsort(self.columns, kind="stable").astype(np.int64, copy=False)

    def follow(self, before: CSRRows) -> None:
        """Derive :attr:`by_column` from that of earlier rows, if it is known there and these begin with their entries.

        Args:
            before: the rows before some were added at the end; where they differ otherwise, everything is sorted.
        """
        early = len(before.columns)
        if "by_column" not in vars(before) or not np.array_equal(self.columns[:early], before.columns):
            return
        later = self.columns[early:]
        order = np.argsort(later, kind="stable")
        places = np.searchsorted(before.columns[before.by_column], later[order], "right")
        vars(self)["by_column"] = np.insert(before.by_column, places, early + order)

    def transposed(self, count: int = 0) -> CSRRows:
        """Return for every column its rows, ascending; ``count``: how many columns there are at least."""
        return CSRRows(row_pointers(self.columns, count), self.row_of_entry[self.by_column])

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Which rows have an entry, shape (rows,)."""
        return np.diff(self.pointers) > 0

    @cached_property
    def _first(self) -> NDArray[np.int32]:
        """The first column of every row; 0 for an empty row."""
        first = np.zeros(len(self.filled), np.int32)
        first[self.filled] = self.columns[self.pointers[:-1][self.filled]]
        return first

    @cached_property
    def _long(self) -> tuple[Numbers, NDArray[np.int32], Numbers]:
        """The rows with several columns, their columns, and where those of each begin."""
        rows = np.flatnonzero(np.diff(self.pointers) > 1)
        places, counts = self.places(rows)
        return rows, self.columns[places], starts_of(counts)

    def maxima(self, values: NDArray[np.float32], missing: float = 0.0) -> NDArray[np.float32]:
        """Return for every row the highest of ``values`` at its columns.

        Args:
            values: by column.
            missing: the value of an empty row.

        Returns:
            Shape (rows,).
        """
        if not len(self.columns):
            return np.full(len(self.filled), missing, np.float32)
        found = values[self._first]
        rows, columns, starts = self._long
        if len(rows):
            found[rows] = np.maximum.reduceat(values[columns], starts)
        if not self.filled.all():
            found[~self.filled] = missing
        return found


@dataclass(frozen=True)
class CSRAdjacency:
    """Every edge from each of its ends, sorted by that end; edges that came late are in a second, smaller sorted part.

    Args:
        pointers: the early entries of vertex *v* are at ``pointers[v]`` to ``pointers[v + 1]``.
        late: the vertices that the late entries leave, ascending; these entries are stored after the early ones.
        far: for each entry, the vertex at the other end.
        edge: for each entry, the number of the edge.
        early_edges: how many edges are in the first part.
    """

    pointers: Numbers
    late: NDArray[np.int32]
    far: NDArray[np.int32]
    edge: NDArray[np.int32]
    early_edges: int

    def span(self, vertex: int) -> slice | None:
        """Return where the entries of one vertex are; ``None`` when some may be in the late part."""
        if len(self.late) or vertex + 1 >= len(self.pointers):
            return None
        return slice(self.pointers[vertex], self.pointers[vertex + 1])

    def places(self, vertices: Integers) -> tuple[Numbers, Numbers]:
        """Return where the entries of ``vertices`` are, vertex after vertex, and how many each vertex has."""
        known = np.minimum(vertices, len(self.pointers) - 2)
        starts = self.pointers[known]
        counts = np.where(known == vertices, self.pointers[known + 1] - starts, 0)
        if not len(self.late):
            return ranges(starts, counts), counts
        first = np.searchsorted(self.late, vertices)
        more = np.searchsorted(self.late, vertices, "right") - first
        both = np.stack((starts, int(self.pointers[-1]) + first), 1).ravel()
        return ranges(both, np.stack((counts, more), 1).ravel()), counts + more


def make_adjacency(edges: NDArray[np.int32], vertices: int, before: CSRAdjacency | None = None) -> CSRAdjacency:
    """Return the adjacency of a graph that grows.

    Args:
        edges: both vertices of every edge, shape (edges, 2).
        vertices: more than any vertex.
        before: the adjacency of the first of these edges; when few edges are new, only these are sorted.

    Returns:
        The adjacency of all edges.
    """
    sort_all = before is None or must_sort_again(len(edges), before.early_edges, _LEAST_LATE_EDGES)
    first = 0 if before is None or sort_all else before.early_edges
    leaves, enters, numbers = both_directions(edges[first:])
    order = stable_order(leaves)
    leaves, far, edge = leaves[order], enters[order], (first + numbers[order]).astype(np.int32)
    if before is None or sort_all:
        return CSRAdjacency(row_pointers(leaves, vertices), np.zeros(0, np.int32), far, edge, len(edges))
    early = int(before.pointers[-1])
    far, edge = np.concatenate((before.far[:early], far)), np.concatenate((before.edge[:early], edge))
    return CSRAdjacency(before.pointers, leaves, far, edge, before.early_edges)

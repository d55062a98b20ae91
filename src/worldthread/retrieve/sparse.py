"""Sparse rows (CSR): what belongs to each of many numbers, in two flat arrays.

Everything in the package that groups entries by a number uses this module: names of episodes, postings of words, edges
of vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]
Integers: TypeAlias = NDArray[np.integer[Any]]
IntegerT = TypeVar("IntegerT", bound=np.integer[Any])

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


def distinct(numbers: NDArray[IntegerT]) -> NDArray[IntegerT]:
    """Return ``np.unique(numbers)`` in half the time for some thousands; the first call of that imports more."""
    ascending = np.sort(numbers)
    is_first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]


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
        found[self._empty] = missing
        return found

    @cached_property
    def _empty(self) -> Numbers:
        """The rows without an entry."""
        return np.flatnonzero(~self.filled)


class GrowingRows:
    """A list of columns for every row, to which entries are added.

    The entries are in two sorted parts: many early ones, and few that came late.

    Args:
        early: the first entries.
    """

    _nothing: ClassVar[Numbers] = np.zeros(0, np.int64)

    def __init__(self, early: CSRRows) -> None:
        self._early = early
        self._rows = len(early)
        self._late_rows = np.zeros(0, np.int64)
        self._late_columns = np.zeros(0, np.int32)
        self._has_late = np.zeros(0, bool)  # by row, where there are late entries
        self._filled: NDArray[np.bool_] | None = None

    @classmethod
    def of_sorted(cls, rows: Integers, columns: NDArray[np.int32], count: int = 0) -> GrowingRows:
        """Return rows from entries whose rows ascend; ``count``: how many rows there are at least."""
        return cls(CSRRows.of_sorted(rows, columns, count))

    @classmethod
    def grouped(cls, rows: Integers, columns: NDArray[np.int32], count: int = 0) -> GrowingRows:
        """Return rows from entries in any order, which they keep within a row; ``count``: least number of rows."""
        return cls(CSRRows.grouped(rows, columns, count))

    def __len__(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def entries(self) -> int:
        """Number of entries of all rows."""
        return len(self._early.columns) + len(self._late_rows)

    def extend(self, rows: Integers, columns: NDArray[np.int32], count: int = 0) -> None:
        """Add entries, each after the others of its row.

        Args:
            rows: the row of every entry, in any order.
            columns: the columns.
            count: how many rows there are from now on at least.
        """
        self._rows = max(self._rows, count, int(rows.max(initial=-1)) + 1)
        self._filled = None
        if len(self._has_late) < self._rows and (len(rows) or len(self._late_rows)):
            has_late = np.zeros(self._rows * 9 // 8 + 1, bool)
            has_late[self._late_rows] = True
            self._has_late = has_late
        if not len(rows):
            return
        order = np.argsort(rows, kind="stable")
        ascending = rows[order].astype(np.int64)
        places = np.searchsorted(self._late_rows, ascending, "right")
        self._late_rows = np.insert(self._late_rows, places, ascending)
        self._late_columns = np.insert(self._late_columns, places, columns[order])
        self._has_late[ascending] = True
        if must_sort_again(self.entries, len(self._early.columns), _LEAST_LATE_EDGES):
            self.merged()

    def merged(self) -> CSRRows:
        """Return all entries, sorted; they stay so until others come."""
        early = self._early
        if len(self._late_rows) or len(early) < self._rows:
            pointers = np.full(self._rows + 1, early.pointers[-1])
            pointers[: len(early.pointers)] = early.pointers
            columns = np.insert(early.columns, pointers[self._late_rows + 1], self._late_columns)
            pointers[1:] += np.cumsum(np.bincount(self._late_rows, minlength=self._rows))
            self._early = CSRRows(pointers, columns)
            self._has_late[self._late_rows] = False
            self._late_rows, self._late_columns = self._late_rows[:0], self._late_columns[:0]
        return self._early

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        early = self._early[row] if row < len(self._early) else self._early.columns[:0]
        if not len(self._late_rows):
            return early
        first, end = np.searchsorted(self._late_rows, (row, row + 1))
        return np.concatenate((early, self._late_columns[first:end])) if first < end else early

    def counts(self, rows: Integers) -> Numbers:
        """Return how many entries each of ``rows`` has."""
        _, counts = self._early_spans(rows)
        late, _, more = self._late_spans(rows)
        counts[late] += more
        return counts

    def columns_of(self, rows: Integers) -> tuple[NDArray[np.int32], Numbers]:
        """Return the columns of ``rows``, row after row, and how many each row has."""
        starts, counts = self._early_spans(rows)
        found = self._early.columns[ranges(starts, counts)]
        late, first, more = self._late_spans(rows)
        if len(late):
            ends = np.cumsum(counts)[late]
            found = np.insert(found, np.repeat(ends, more), self._late_columns[ranges(first, more)])
            counts[late] += more
        return found, counts

    def _early_spans(self, rows: Integers) -> tuple[Numbers, Numbers]:
        """Return where the early entries of rows begin, and how many there are."""
        pointers, last = self._early.pointers, len(self._early)
        known = np.minimum(rows, last)
        starts = pointers[known]
        return starts, pointers[np.minimum(known + 1, last)] - starts

    def _late_spans(self, rows: Integers) -> tuple[Numbers, Numbers, Numbers]:
        """Return which of rows have late entries, by place, where these begin, and how many there are."""
        if not len(self._late_rows):
            return self._nothing, self._nothing, self._nothing
        places = np.flatnonzero(self._has_late[rows])
        late = rows[places]
        first = np.searchsorted(self._late_rows, late)
        return places, first, np.searchsorted(self._late_rows, late, "right") - first

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which rows have an entry, shape (rows,)."""
        if self._filled is None:
            self._filled = np.zeros(self._rows, bool)
            self._filled[: len(self._early)] = self._early.filled
            self._filled[self._late_rows] = True
        return self._filled

    def maxima(self, values: NDArray[np.float32], missing: float = 0.0) -> NDArray[np.float32]:
        """Return for every row the highest of ``values`` at its columns.

        Args:
            values: by column.
            missing: the value of an empty row.

        Returns:
            Shape (rows,).
        """
        early = self._early.maxima(values, missing)
        if len(early) == self._rows and not len(self._late_rows):
            return early
        found = np.full(self._rows, missing, np.float32)
        found[: len(early)] = early
        known = self._late_rows < len(early)
        is_new = ~known
        is_new[known] = ~self._early.filled[self._late_rows[known]]
        found[self._late_rows[is_new]] = -np.inf
        np.maximum.at(found, self._late_rows, values[self._late_columns])
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

"""A table of an index whose vectors are in a store of vectors, not in the RAM of this process.

The record of the memory is the truth, and the store follows it: what it lacks is added again, and what is no longer in
the graph is deleted. An item of the store is named by what it stands for and by its labels, so that an item with
outdated labels, or of another form of a statement, is another item.

A store returns the most similar items, not the cosine of every row. A row that is not among them has the lowest cosine
that was found, or 0, the usual cosine of texts that have nothing to do with each other, if that is lower.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.graph.conditions import All, Condition, LabelIn
from worldthread.provenance import Labels
from worldthread.vectors import VectorItem, VectorStore
from worldthread.vectors.base import MOST_HITS
from worldthread.vectors.embedded import EmbeddedVectorStore

HITS: Final = 1000
"""Hits that are asked of a server in one search."""

_FIELDS: Final = ("user", "agent", "session")
_SEVERAL: Final = "*"  # the label of a statement whose episodes differ in it; no digest is written so


@dataclass(frozen=True)
class ItemName:
    """What a row is called in the store.

    Args:
        id: names the row, its form and its labels.
        labels: what searches are restricted by.
        begin: the first world time at which the row can be found.
    """

    id: str
    labels: Mapping[str, str]
    begin: float = -np.inf


@dataclass(frozen=True)
class Restriction:
    """What the store can leave out of a search, because the caller drops it anyway.

    Args:
        labels: for each name the values that will do.
        as_of: a world time; ``None`` for any.
    """

    labels: Mapping[str, Collection[str]] = field(default_factory=dict)
    as_of: float | None = None

    @classmethod
    def of(cls, condition: Condition | None, at: float | None) -> Restriction | None:
        """Return the restriction that a condition and a world time imply; ``None`` for none.

        Only users, agents and sessions that the condition asks for in any case count.
        """
        parts = condition.parts if isinstance(condition, All) else () if condition is None else (condition,)
        labels: dict[str, Collection[str]] = {
            part.field: {_SEVERAL, *map(_digest, part.values)}
            for part in parts
            if isinstance(part, LabelIn) and part.field in _FIELDS
        }
        return cls(labels, at) if labels or at is not None else None


class StoredTable:
    """Like :class:`~worldthread.vectors.exact.VectorTable`, with the vectors in a store.

    Args:
        store: a table of the store that nobody else uses but for the same memory.
        name_of: returns what a row is called now.
        writes: whether this process keeps the store up to date. If not, vectors that the store lacks stay in RAM.
    """

    def __init__(self, store: VectorStore, name_of: Callable[[int], ItemName], *, writes: bool) -> None:
        self._store = store
        self._name_of = name_of
        self._writes = writes
        self._hits = MOST_HITS if isinstance(store, EmbeddedVectorStore) else HITS
        self._ids: list[str] = []  # by row; empty where it is not in the store
        self._numbers: dict[str, int] = {}
        self._filled = np.zeros(0, bool)
        self._own: dict[int, NDArray[np.float32]] = {}  # rows that are not in the store: see put
        self._unmatched: set[str] | None = None  # ids in the store without a row; None: not read yet
        self._gone: set[str] = set()  # ids to delete
        self.restriction: Restriction | None = None
        """What the next searches need not find."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._ids)

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._store.dimensions

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Whether each row was set, shape (len(self),). A view that is valid until the next change."""
        return self._filled

    @property
    def rows(self) -> StoredRows:
        """All rows, read on demand."""
        return StoredRows(self)

    def missing(self) -> list[int]:
        """Return the numbers of the rows that were never set."""
        found: list[int] = np.flatnonzero(~self._filled).tolist()
        return found

    def extend(self, count: int) -> None:
        """Grow to at least ``count`` rows; new rows are not set."""
        more = count - len(self._ids)
        if more > 0:
            self._ids += [""] * more
            self._filled = np.concatenate((self._filled, np.zeros(more, bool)))

    def put(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Set some rows. The table grows as needed.

        Args:
            numbers: the rows to set, shape (n,).
            vectors: their unit vectors, shape (n, dimensions).

        Raises:
            StoreError: the store cannot be written; no row was set.
        """
        if not len(numbers):
            return
        self.extend(int(numbers.max()) + 1)
        stored = vectors.any(axis=1) if self._writes else np.zeros(len(numbers), bool)  # a store takes no zeros
        names = [self._name_of(number) for number in numbers[stored].tolist()]
        self._store.add(
            VectorItem(name.id, vector, name.labels, name.begin)
            for name, vector in zip(names, vectors[stored], strict=True)
        )
        self._match(numbers[stored].tolist(), [name.id for name in names])
        self._own |= dict(zip(numbers[~stored].tolist(), np.array(vectors[~stored], np.float32), strict=True))
        self._filled[numbers] = True

    def _match(self, numbers: Iterable[int], ids: Iterable[str]) -> None:
        """Note that rows are in the store under some ids."""
        for number, id_ in zip(numbers, ids, strict=True):
            self._ids[number], self._numbers[id_] = id_, number
            self._filled[number] = True
            self._gone.discard(id_)

    def drop(self, numbers: NDArray[np.int64]) -> None:
        """Make some rows as if they had never been set; :meth:`follow` deletes them from the store."""
        for number in numbers.tolist():
            self._own.pop(number, None)
            id_, self._ids[number] = self._ids[number], ""
            if id_:
                del self._numbers[id_]
                self._gone.add(id_)
        self._filled[numbers] = False

    def follow(self, present: NDArray[np.bool_], touched: Iterable[int] = ()) -> None:
        """Bring the table and the store in line with the graph, but for rows that the store lacks.

        Args:
            present: which rows are in the graph, shape (n,).
            touched: rows whose name may have changed.

        Raises:
            StoreError: the store cannot be read or written; the next call goes on.
        """
        self.extend(len(present))
        self.drop(np.flatnonzero(self._filled & ~present))
        renamed = [n for n in touched if self._ids[n] and self._name_of(n).id != self._ids[n]]
        self.drop(np.array(renamed, np.int64))
        is_first = self._unmatched is None
        if self._unmatched is None:
            self._unmatched = set(self._store.ids())
        missing = np.flatnonzero(present & ~self._filled).tolist()
        ids = [self._name_of(number).id for number in missing]
        if not self._writes and not is_first and ids:  # a process that writes may have added them
            self._unmatched = set(self._store.get(ids))
        there = [(number, id_) for number, id_ in zip(missing, ids, strict=True) if id_ in self._unmatched]
        self._match([number for number, _ in there], [id_ for _, id_ in there])
        self._unmatched -= {id_ for _, id_ in there}
        if not self._writes:
            self._gone.clear()
            return
        self._gone |= self._unmatched
        self._unmatched.clear()
        if self._gone:
            self._store.delete(self._gone)
            self._gone.clear()

    def similarities(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the inner product of a query with the most similar rows, and an estimate for the others.

        Args:
            query: a unit vector, shape (dimensions,).

        Returns:
            Shape (len(self),), each about in [-1, 1].

        Raises:
            StoreError: the store cannot be read.
        """
        found = np.full(len(self._ids), np.nan, np.float32)
        if self._numbers:
            hits = self._store.search(query, min(len(self._numbers), self._hits))
            limits = self.restriction
            if limits is not None and len(self._numbers) > self._hits:
                hits += self._store.search(query, self._hits, labels=limits.labels, as_of=limits.as_of)
            for hit in hits:
                number = self._numbers.get(hit.id)
                if number is not None:
                    found[number] = hit.score
        for number, vector in self._own.items():
            found[number] = vector @ query
        is_found = np.isfinite(found)
        return np.where(is_found, found, found[is_found].min(initial=0.0))

    def similarity_matrix(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the :meth:`similarities` of several queries.

        Args:
            queries: unit vectors, shape (n, dimensions).

        Returns:
            Shape (n, len(self)).
        """
        if not len(queries):
            return np.zeros((0, len(self)), np.float32)
        return np.stack([self.similarities(query) for query in queries])

    def read(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return some rows; one that is not in the store is zeros.

        Args:
            numbers: the rows, shape (n,).

        Returns:
            Shape (n, dimensions).

        Raises:
            StoreError: the store cannot be read.
        """
        wanted = {id_ for number in numbers.tolist() if (id_ := self._ids[number])}
        vectors = self._store.get(wanted)
        nothing = np.zeros(self.dimensions, np.float32)
        rows = [self._own.get(number, vectors.get(self._ids[number], nothing)) for number in numbers.tolist()]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)


class StoredRows:
    """The rows of a :class:`StoredTable`, indexed like an array and read on demand.

    Args:
        table: the table.
    """

    __slots__ = ("_table",)

    def __init__(self, table: StoredTable) -> None:
        self._table = table

    def __getitem__(self, numbers: Any) -> NDArray[np.float32]:
        wanted = np.arange(len(self._table))[numbers]
        return self._table.read(np.asarray(wanted).reshape(-1)).reshape(*np.shape(wanted), self._table.dimensions)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, dimensions)."""
        return len(self._table), self._table.dimensions

    @property
    def nbytes(self) -> int:
        """Number of bytes in RAM: of those that the store lacks."""
        return len(self._table._own) * self._table.dimensions * np.dtype(np.float32).itemsize


def episode_name(graph: TemporalGraph, number: int) -> ItemName:
    """Return what the text of an episode is called in a store."""
    record = graph.numbered_episode(number)
    assert record is not None
    return ItemName(record.id, _labels([record.provenance.labels]), record.at)


def statement_name(graph: TemporalGraph, number: int, form: int) -> ItemName:
    """Return what a statement in words is called in a store.

    Args:
        graph: the graph.
        number: of the statement.
        form: a digest of the form in which it is shown.

    Returns:
        Its name. Statements have no times there: when they hold, the graph says.
    """
    statement = graph.numbered_statement(number)
    assert statement is not None
    labels = _labels([graph.episode(id_).provenance.labels for id_ in graph.asserting(number)])
    return ItemName(f"{statement.id}:{_digest(f'{form} {sorted(labels.items())}')}", labels)


def _labels(all_labels: list[Labels]) -> dict[str, str]:
    """Return the labels of a row: digests, so that a server of vectors learns of no user by name."""
    found = {}
    for name in _FIELDS:
        values = {getattr(labels, name) for labels in all_labels}
        found[name] = _digest(values.pop()) if len(values) == 1 else _SEVERAL
    return found


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

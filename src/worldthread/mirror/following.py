"""Follows a memory into a graph database: what differs is changed, and what was changed is compared."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from worldthread.errors import InputError, StoreError
from worldthread.memory.memory import Memory
from worldthread.mirror.graph_server import GraphServer
from worldthread.mirror.tables import TABLES, MirrorTable, Row, rows_of
from worldthread.support.arguments import require_query
from worldthread.support.progress import Progress, show_progress
from worldthread.types import Episode

_BATCH: Final = 500  # rows in one statement
_PAGE: Final = 2000  # rows that are read at once
_ENDS: Final = ("from_id", "to_id")
_REMOVALS: Final[tuple[LiteralString, ...]] = tuple(table.remove_some for table in TABLES if not table.is_edge)


@dataclass(frozen=True)
class MirrorCounts:
    """What an update of a mirror did.

    Args:
        vertices: vertices of the mirror.
        edges: its edges.
        written: vertices and edges that were added or changed.
        removed: those that were removed.
        compared: rows that were read back and compared.
        state_hash: the digest of the memory that the mirror shows.
    """

    vertices: int
    edges: int
    written: int
    removed: int
    compared: int
    state_hash: str


class Mirror:
    """The mirror of one memory in a graph database.

    What the database holds is read once, at the first update; so an interrupted update is completed, whatever it had
    done. Afterwards every update compares what it changed, row by row, and the number of rows of every kind. Nobody
    else may change the vertices and edges of the mirror.

    Takes RAM and time linear in the memory for every update.

    Args:
        memory: the memory.
        graph: the database.
        name: the name of the mirror, which all its vertices have as ``memory``; ``None`` for the namespace.
        place: where the memory is, so that another one does not take its mirror; ``None`` for its file.

    Raises:
        InputError: the name is empty.
    """

    def __init__(
        self, memory: Memory, graph: GraphServer, name: str | None = None, *, place: str | None = None
    ) -> None:
        self._memory = memory
        self._graph = graph
        self._name = require_query(memory.namespace if name is None else name, "the name of a mirror")
        if place is None:
            place = "" if memory.path is None else str(memory.path.resolve())
        self._place = hashlib.blake2b(f"{place}\0{memory.namespace}".encode(), digest_size=16).hexdigest()
        self._texts: dict[str, Episode] = {}
        self._there: dict[str, dict[str, Row]] | None = None

    @property
    def name(self) -> str:
        """The name of the mirror."""
        return self._name

    def update(self, progress: bool | Progress | None = False) -> MirrorCounts:
        """Make the mirror show what the memory holds now.

        Args:
            progress: see :func:`~worldthread.support.progress.show_progress`.

        Returns:
            What was done.

        Raises:
            StoreUnavailableError: the database cannot be reached; the next update goes on.
            StoreError: the database refuses, or holds something else than was written.
        """
        with self._memory.record.read_lock():  # the rows and the digest are of one moment
            wanted = rows_of(self._memory.record, self._texts)
            digest = self._memory.record.state_hash()
        if self._there is None:
            self._begin()
            self._there = {table.name: self._read(table) for table in TABLES}
        there, self._there = self._there, None  # after an error it is read again
        shown = {name: self._shown(rows) for name, rows in wanted.items()}
        written: dict[str, list[Row]] = {}
        removed: dict[str, list[Row]] = {}
        for table in TABLES:
            new, old = _difference(there[table.name], shown[table.name])
            written[table.name] = [wanted[table.name][id_] for id_ in new]
            removed[table.name] = [there[table.name][id_] for id_ in old]
        removals, writes = sum(map(len, removed.values())), sum(map(len, written.values()))
        if removals or writes:
            self._note("")
        with show_progress(progress, "mirroring", removals + writes) as advance:
            for table in reversed(TABLES):  # edges before vertices
                self._send(table.remove, table, removed[table.name], advance)
            for table in TABLES:  # and after them
                self._send(table.write, table, written[table.name], advance)
        for table in TABLES:
            self._compare(table, written[table.name])
        self._require_counts(wanted)
        self._there = shown
        self._note(digest)
        edges = sum(len(wanted[table.name]) for table in TABLES if table.is_edge)
        return MirrorCounts(sum(map(len, wanted.values())) - edges, edges, writes, removals, writes, digest)

    def verify(self) -> int:
        """Compare everything that the mirror holds with what it should hold.

        Returns:
            How many rows were compared.

        Raises:
            StoreError: something differs; the message says what.
        """
        wanted = rows_of(self._memory.record, self._texts)
        for table in TABLES:
            there = self._read(table)
            written, removed = _difference(there, self._shown(wanted[table.name]))
            if written or removed:
                raise self._differs(table, next(iter(written or removed)))
        return sum(map(len, wanted.values()))

    def follow(self, seconds: float = math.inf, on_update: Callable[[MirrorCounts], None] | None = None) -> None:
        """Update the mirror, and again after every change of the memory.

        Args:
            seconds: how long to wait for a change, before this returns.
            on_update: is told of every update.

        Raises:
            StoreError: see :meth:`update`.
        """
        while True:
            counts = self.update()
            if on_update is not None:
                on_update(counts)
            if not self._memory.record.wait_for_change(seconds):
                return

    def remove(self) -> int:
        """Remove the mirror from the database, and nothing else.

        Returns:
            How many vertices were removed.
        """
        removed = 0
        self._there = None
        for query in _REMOVALS:
            while count := self._removed(query):
                removed += count
        self._graph.run("MATCH (n:Mirror {memory: $memory}) DETACH DELETE n", memory=self._name)
        return removed

    def _removed(self, query: LiteralString) -> int:
        rows = self._graph.run(query, memory=self._name, limit=_BATCH)
        return int(rows[0][0]) if rows else 0

    def state_hash(self) -> str:
        """Return the digest of the memory that the mirror shows; empty while an update is not complete."""
        rows = self._graph.run("MATCH (n:Mirror {memory: $memory}) RETURN n.state_hash", memory=self._name)
        return str(rows[0][0]) if rows else ""

    def _begin(self) -> None:
        rows = self._graph.run("MATCH (n:Mirror {memory: $memory}) RETURN n.place", memory=self._name)
        if rows and rows[0][0] != self._place:
            raise InputError(
                f"{self._graph.address} has a mirror {self._name!r} of another memory: give this one another name, or "
                "remove that one"
            )
        for table in TABLES:
            for index in table.index:
                self._graph.create_index(index)
        self._graph.run(
            "MERGE (n:Mirror {memory: $memory}) SET n.place = $place, n.state_hash = ''",
            memory=self._name,
            place=self._place,
        )

    def _note(self, digest: str) -> None:
        self._graph.run(
            "MATCH (n:Mirror {memory: $memory}) SET n.state_hash = $digest", memory=self._name, digest=digest
        )

    def _read(self, table: MirrorTable) -> dict[str, Row]:
        found: dict[str, Row] = {}
        after = -1
        while True:
            rows = self._graph.run(table.read, memory=self._name, after=after, limit=_PAGE)
            for values in rows:
                row = _row(table, values[:-1])
                found[row["id"]] = row
            if len(rows) < _PAGE:
                return found
            after = rows[-1][-1]

    def _send(self, query: LiteralString, table: MirrorTable, rows: list[Row], advance: Callable[[int], None]) -> None:
        for start in range(0, len(rows), _BATCH):
            part = [self._sent(table, row) for row in rows[start : start + _BATCH]]
            self._graph.run(query, memory=self._name, rows=part)
            advance(len(part))

    def _sent(self, table: MirrorTable, row: Row) -> Row:
        """Return a row as its statement takes it."""
        if not table.is_edge:
            return row | {"memory": self._name}
        properties = {name: value for name, value in row.items() if name not in _ENDS}
        return {"id": row["id"], "from_id": row["from_id"], "to_id": row["to_id"], "properties": properties}

    def _compare(self, table: MirrorTable, written: list[Row]) -> None:
        """Read back what was written, and raise StoreError where it differs."""
        for start in range(0, len(written), _BATCH):
            part = written[start : start + _BATCH]
            keys = [{"id": row["id"], "from_id": row.get("from_id")} for row in part]
            found = [_row(table, values) for values in self._graph.run(table.look_up, memory=self._name, rows=keys)]
            read = {row["id"]: row for row in found}
            for row in part:
                if read.get(row["id"]) != self._as_shown(row):
                    raise self._differs(table, row["id"])
            if len(found) != len(part):  # one is there twice
                raise self._differs(table, found[0]["id"])

    def _require_counts(self, wanted: Mapping[str, dict[str, Row]]) -> None:
        for table in TABLES:
            rows = self._graph.run(table.count, memory=self._name)
            count = int(rows[0][0]) if rows else 0
            if count != len(wanted[table.name]):
                raise StoreError(
                    f"the mirror holds {count:,} of kind {table.name} instead of {len(wanted[table.name]):,}: nobody "
                    "else may change it; the next update repairs it",
                    path=self._graph.address,
                )

    def _shown(self, rows: dict[str, Row]) -> dict[str, Row]:
        return {id_: self._as_shown(row) for id_, row in rows.items()}

    def _as_shown(self, row: Row) -> Row:
        return {name: self._graph.rounded(v) if isinstance(v, float) else v for name, v in row.items()}

    def _differs(self, table: MirrorTable, id_: str) -> StoreError:
        return StoreError(
            f"the mirror differs from the memory in {table.name} {id_!r}: nobody else may change it; the next update "
            "repairs it",
            path=self._graph.address,
        )


def _difference(there: dict[str, Row], wanted: dict[str, Row]) -> tuple[dict[str, Row], dict[str, Row]]:
    """Return the rows to write and the rows to remove.

    An edge whose ends have changed is removed and written anew.
    """
    written = {id_: row for id_, row in wanted.items() if there.get(id_) != row}
    removed = {
        id_: row
        for id_, row in there.items()
        if id_ not in wanted or any(row.get(end) != wanted[id_].get(end) for end in _ENDS)
    }
    return written, removed


def _row(table: MirrorTable, values: list[Any]) -> Row:
    """Return the row of a result, without what is not set."""
    names = (*table.properties, "from_id", "to_id") if table.is_edge else table.properties
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}

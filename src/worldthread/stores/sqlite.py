"""The default store: the record in one SQLite file, and the graph that follows from it in RAM.

A change is one transaction. The graph of a namespace is made on first use: from the newest snapshot and the changes
after it, or else from the whole record. It then follows the changes of this process and those of a writer in another
process, which SQLite's ``data_version`` announces.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import DamagedFileError, InputError, StoreError, StoreLockedError
from worldthread.graph import TemporalGraph
from worldthread.graph.conditions import Condition
from worldthread.stores.base import DEFAULT_NAMESPACE, Durability, KnownRecord, NamespaceSize
from worldthread.stores.codec import encode_episode
from worldthread.stores.connected_store import ConnectedStore
from worldthread.stores.database import Database, pack_time, unpack_time
from worldthread.stores.namespace_state import NamespaceState, SnapshotContent
from worldthread.stores.rows import (
    TOKEN_BYTES,
    batched,
    checksum_of,
    digest_of,
    packed_vector,
    require_episode,
    require_id,
    require_name,
    text_digest,
    texts_of,
    vector_matrix,
)
from worldthread.stores.snapshots import ChangePosition, Snapshots
from worldthread.stores.vector_rows import VectorRows
from worldthread.support.arguments import require_iterable, require_path
from worldthread.types import Episode

_CHUNK: Final = 500  # parameters of one SQL statement; SQLite may allow no more than 999
_OVERWRITTEN_ROWS: Final = 1000
_STORED_VECTORS: Final = 500  # in one change, which keeps other writers out for about 20 ms
_LOOKED_UP: Final = 2000  # texts whose vectors are looked up one by one in any case
_LOOKED_UP_SHARE: Final = 16  # and one in so many of the vectors there are
_CLOSING_SECONDS: Final = 1.0  # the longest wait for another writer to save a snapshot at the end
_TRIMMED_CHANGES: Final = 1000  # every so many changes, old ones are trimmed
_KEPT_CHANGES: Final = 4000  # at least; a reader that is further behind reads everything
_REMOVED: Final = 0  # in place of a row: an episode was removed


class _FileState(NamespaceState):
    """The graph of one namespace of an open file.

    Args:
        name: name of the namespace.
        path: the file; ``None`` for RAM, which has no snapshots.
    """

    def __init__(self, name: str, path: Path | None) -> None:
        super().__init__(name)
        self.snapshots = None if path is None else Snapshots(path, name)
        self.data_version = -1
        """What SQLite said when the graph was compared with the file."""
        self.is_compared = False
        """Whether the graph shows all changes of this connection. False from before a change begins until it is
        applied, so that whatever interrupts it, the next use compares the graph with the file."""


@dataclass
class _PendingChange:
    """What an unfinished transaction makes of a namespace.

    Args:
        graph: the graph before the change.
        namespace: number of the namespace.
        position: its last change so far.
        episodes: number of its episodes so far.
    """

    graph: TemporalGraph
    namespace: int
    position: ChangePosition
    episodes: int


class _Changing:
    """A transaction that changes one namespace, as a context manager. Hold the lock while using it.

    Args:
        store: a store of the namespace.
    """

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store
        self._transaction = store._database.transaction()

    def __enter__(self) -> _PendingChange:
        if self._store._database.running_transaction() is None:
            self._store._database.renew_mark()
        self._transaction.__enter__()
        try:
            self._change = self._store._begin_change()
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise
        return self._change

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._store._end_change(self._change)
        except BaseException as failure:
            self._transaction.__exit__(type(failure), failure, failure.__traceback__)
            raise
        self._transaction.__exit__(kind, error, trace)


class SQLiteStore(ConnectedStore[Database, _FileState]):
    """One namespace of a memory in an SQLite file, or in RAM. Use :meth:`open` to make one.

    Args:
        database: the open file.
        namespace: name of the namespace.
        clock: gives the recorded time, in seconds since 1970-01-01 UTC.
        states: the open namespaces of the file by name, shared by all its stores.
    """

    def __init__(
        self,
        database: Database,
        namespace: str,
        clock: Callable[[], float],
        states: MutableMapping[str, _FileState],
    ):
        super().__init__(database, namespace, clock, states)
        self._vectors_asked = 0
        self._vector_rows: dict[tuple[int | None, str], VectorRows] = {}  # by namespace and model

    def _new_state(self, namespace: str) -> _FileState:
        return _FileState(namespace, self._database.path)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        readonly: bool = False,
        durability: Durability = "normal",
        wait: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open a memory, or create one where there is no file.

        Args:
            path: the file; ``None`` for a memory in RAM, which is lost when it is closed.
            namespace: name of the namespace.
            readonly: never write. Any number of readers can use the file beside one writer, and follow its changes.
            durability: what an acknowledged change survives, see :data:`~worldthread.stores.base.Durability`.
            wait: seconds to wait for another writer; ``math.inf`` for as long as it takes.
            clock: gives the recorded time of new episodes, in seconds since 1970-01-01 UTC.

        Returns:
            The store; close it, or use it as a context manager.

        Raises:
            InputError: an argument cannot be used.
            ForeignFileError: the file is not a memory; it was not touched.
            DamagedFileError: the file is a damaged memory; it was not touched.
            FileVersionError: a newer release wrote the file; it was not touched.
            StoreLockedError: another writer did not finish in time.
            StoreError: the file cannot be opened; the message says why.
        """
        require_name(namespace, "the namespace")
        database = Database(_resolved(path), readonly=readonly, durability=durability, wait=wait)
        return cls(database, namespace, clock, weakref.WeakValueDictionary())

    @staticmethod
    def namespaces(path: str | os.PathLike[str]) -> list[str]:
        """Return the names of all namespaces of a file.

        Args:
            path: the file of a memory.

        Returns:
            The names, sorted.

        Raises:
            StoreError: the file cannot be opened; its subclasses are those of :meth:`open`.
        """
        database = Database(_resolved(path), readonly=True)
        try:
            return sorted(_namespace_names(database))
        finally:
            database.close()

    def list_namespaces(self) -> list[NamespaceSize]:
        with self._database.lock:
            self._begin_use()
            with self._database.read_transaction():
                _namespace_names(self._database)  # so that none is overlooked
                rows = self._database.fetch_all(
                    "SELECT name, episodes, (SELECT TOTAL(LENGTH(content)) FROM current"
                    " JOIN record ON record.number = current.record"
                    " WHERE current.namespace = namespace.number AND id != zeroblob(16)) FROM namespace"
                )
        return sorted((NamespaceSize(name, n, int(size)) for name, n, size in rows if n), key=lambda one: one.name)

    @property
    def path(self) -> Path | None:
        return self._database.path

    # -- the record -------------------------------------------------------------------------------------------------

    def append(self, episode: Episode) -> Episode:
        require_episode(episode)
        with self._database.writing(), self._database.lock:
            if episode.id in self._writable_graph():
                return self._known(episode)
            recorded = self._recorded(episode)
            with _Changing(self) as change:
                if recorded.id in change.graph:
                    return self._known(recorded)
                self._insert(change, recorded)
            self._apply(change, added=[recorded])
            return recorded

    def _known(self, episode: Episode) -> Episode:
        """Return the recorded form of an episode that the graph has."""
        assert self._state.graph is not None
        self._state.graph.add(episode)  # raises when the extractions differ
        return self._fetch(episode.id)

    def append_many(self, episodes: Iterable[Episode]) -> int:
        require_iterable(episodes, "episodes")
        with self._database.writing(), self._database.lock:
            self._writable_graph()
            with _Changing(self) as change:
                before = change.position.number
                for episode in episodes:
                    require_episode(episode)
                    known = self._find(change.namespace, episode.id)
                    if known is None:
                        self._insert(change, self._recorded(episode))
                    elif known.extraction.digest != episode.extraction.digest:
                        raise InputError(
                            f"episode {episode.id} is recorded with another extraction: replace it, or forget it first"
                        )
            # a batch can be large and in any order, so it is read back sorted and in chunks
            self._follow()
            self._database.purge_log(wait=False)
            added = change.position.number - before
            self._write_snapshot_if_worthwhile(added)
            return added

    def replace(self, episode: Episode) -> Episode:
        require_episode(episode)
        with self._database.writing(), self._database.lock:
            self._writable_graph()
            with _Changing(self) as change:
                old = self._fetch(episode.id)
                recorded = self._read_again(episode, old)
                self._remove_vectors(change, texts_of(old) - texts_of(recorded))
                self._overwrite(change, recorded.id)
                self._insert(change, recorded)
            self._apply(change, removed=[recorded.id], added=[recorded])
            self._reclaim_space_if_worthwhile()
            return recorded

    def forget_many(self, episode_ids: Sequence[str]) -> None:
        ids = list(dict.fromkeys(map(require_id, episode_ids)))
        with self._database.writing(), self._database.lock:
            self._writable_graph()
            if not ids:
                return
            with _Changing(self) as change:
                texts = {text for id_ in ids for text in texts_of(self._fetch(id_))}
                self._remove_snapshots()
                for id_ in ids:
                    self._overwrite(change, id_)
                    self._log_change(change, _REMOVED)
                self._remove_vectors(change, texts)
                self._database.expect_forgotten()
            self._apply(change, removed=ids)
            self._database.purge_log(wait=True)
            self._reclaim_space_if_worthwhile()

    def clear(self) -> None:
        with self._database.writing(), self._database.lock:
            self._writable_graph()
            self._database.renew_mark()
            with self._database.transaction():
                self._state.is_compared = False
                self._remove_snapshots()
                self._database.execute("DELETE FROM namespace WHERE name = ?", (self._state.name,))
                self._database.rewrite_tables()
                self._database.expect_forgotten()
            self._follow()
            self._database.purge_log(wait=True)

    def episode(self, episode_id: str) -> Episode:
        require_id(episode_id)
        with self._database.lock:
            self._up_to_date_graph()
            return self._fetch(episode_id)

    def texts(self, episode_ids: Sequence[str]) -> list[str]:
        ids = list(map(require_id, episode_ids))
        with self._database.lock:
            graph = self._up_to_date_graph()
            for episode_id in ids:
                if episode_id not in graph:
                    graph.episode(episode_id)  # raises
            parts = batched(ids, _CHUNK)
            return [one.text for part in parts for one in self._episodes_of(part, with_extractions=False)]

    def episodes(self, condition: Condition | None = None) -> Iterator[Episode]:
        with self._database.lock:
            graph = self._up_to_date_graph()
            ids = graph.episodes() if condition is None else graph.selected_episodes(condition)
        for chunk in batched(ids, _CHUNK):
            with self._database.lock:
                graph = self._up_to_date_graph()
                found = list(self._episodes_of([episode_id for episode_id in chunk if episode_id in graph]))
            yield from found

    # -- the graph --------------------------------------------------------------------------------------------------

    @contextmanager
    def read_lock(self) -> Iterator[TemporalGraph]:
        with self._database.lock:
            self._begin_use()
            with self._database.read_transaction():
                yield self._up_to_date_graph()

    def _writable_graph(self) -> TemporalGraph:
        """Begin a change of the store, and return the graph, which the transaction will compare with the file."""
        self._begin_use()
        self._database.require_writable()
        state = self._state
        if state.graph is None or state.is_torn or not state.is_compared or self._database.is_shared:
            self._follow()
        assert state.graph is not None
        return state.graph

    @contextmanager
    def write_lock(self) -> Iterator[TemporalGraph]:
        with self._database.writing(), self._database.lock:
            self._database.require_writable()
            outer, self._lock_holder = self._lock_holder, threading.get_ident()
            try:
                yield self._up_to_date_graph()
            finally:
                self._lock_holder = outer

    def share_file(self) -> None:
        self._database.share()

    def _follow(self) -> None:
        state, database = self._state, self._database
        around = database.running_transaction()
        is_changing = around is not None and around.writes
        if (
            state.graph is not None
            and not state.is_torn
            and (state.is_compared or is_changing)  # an unfinished change is not to be seen
            and database.data_version() == state.data_version
        ):
            return
        is_new = state.graph is None or state.is_torn
        with database.read_transaction():
            version = database.data_version()
            self._update_graph()
            if not is_changing:
                state.data_version = version
                state.is_compared = True
        if is_new and database.is_writing and not is_changing:
            # the last process may have been killed before it wrote one
            self._write_snapshot_if_worthwhile(self._changes_since_snapshot())

    def _update_graph(self) -> None:
        """Make the graph show the record as it is now."""
        state = self._state
        if state.is_torn:
            state.graph = None
        row = self._database.fetch_one(
            "SELECT namespace.number, changes, episodes, token FROM namespace LEFT JOIN change"
            " ON change.namespace = namespace.number AND change.number = changes WHERE name = ?",
            (state.name,),
        )
        if row is None:
            if state.name in _namespace_names(self._database):
                raise DamagedFileError("the list of namespaces cannot be read", path=self._database.location)
            if state.graph is None or state.number is not None:
                state.start_over(None)
                state.is_torn = False
            return
        number, changes, episodes = _integers(row[:3], self._database)
        graph, position = state.graph, ChangePosition(changes, row[3] or b"")
        if graph is not None and (number, position, episodes) == (state.number, state.position, len(graph)):
            return
        if not isinstance(position.token, bytes) or bool(changes) != bool(position.token):
            raise DamagedFileError(f"change {changes} cannot be found", path=self._database.location)
        self._catch_up(number, position, episodes)

    def _load_snapshot(self, number: int) -> None:
        state = self._state
        found = state.snapshots and state.snapshots.load(lambda position: self._is_on_record(number, position))
        if found:
            state.graph, state.position = found
            state.latest_snapshot = state.numbering_snapshot = state.position

    def _token(self, number: int, change: int) -> Any:
        row = self._database.fetch_one("SELECT token FROM change WHERE namespace = ? AND number = ?", (number, change))
        return row and row[0]

    def _apply_changes(self, last: ChangePosition, episodes: int) -> int:
        state = self._state
        graph = state.graph
        assert graph is not None
        if state.position == last:
            return len(graph)
        numbering = graph.numbering
        rows: list[tuple[object, object]]
        if not state.position.number:
            rows = self._database.fetch_all(
                "SELECT id, at FROM current WHERE namespace = ? AND id != zeroblob(16)", (state.number,)
            )
        else:
            changes = self._database.fetch_all(
                "SELECT change.record, id, at, change.number, token FROM change"
                " LEFT JOIN current ON current.record = change.record"
                " WHERE change.namespace = ? AND change.number > ?",
                (state.number, state.position.number),
            )
            if not _are_whole(changes, last.number - state.position.number):
                state.start_over(state.number)
                return self._apply_changes(last, episodes)
            # an episode that was added and removed since has no id any more
            rows = list({(key, at) for _, key, at, *_ in changes if key is not None and key != bytes(16)})
            if any(record == _REMOVED for record, *_ in changes):
                self._drop_forgotten(graph)
        present = sorted(self._ordered(row) for row in rows)
        # a graph grows fastest in the order of world time
        for ids in batched([episode_id for _, episode_id in present], _CHUNK):
            graph.put_many(self._episodes_of(ids))
        state.note_change(state.number, last, numbering)
        return len(graph)

    def _drop_forgotten(self, graph: TemporalGraph) -> None:
        """Remove the episodes from the graph that are not on record any more."""
        rows = self._database.fetch_all("SELECT id FROM current WHERE namespace = ?", (self._state.number,))
        for episode_id in set(graph.episodes()) - {key.hex() for (key,) in rows if isinstance(key, bytes)}:
            graph.forget(episode_id)

    def _ordered(self, row: tuple[object, object]) -> tuple[float, str]:
        """Return the world time and the id of an episode, from its row."""
        key, at = row
        if not isinstance(key, bytes) or not isinstance(at, bytes) or len(at) != len(pack_time(0)):
            raise DamagedFileError("the list of episodes cannot be read", path=self._database.location)
        return unpack_time(at), key.hex()

    # -- rows -------------------------------------------------------------------------------------------------------

    def _episodes_of(self, ids: Sequence[str], *, with_extractions: bool = True) -> Iterator[Episode]:
        """Yield the episodes with these ids, in this order; at most as many as one SQL statement can take."""
        keys = [bytes.fromhex(episode_id) for episode_id in ids]
        asked = _padded(keys)
        rows = self._database.fetch_all(
            "SELECT id, digest, content FROM current JOIN record ON record.number = current.record"
            f" WHERE namespace = ? AND prefix IN ({_placeholders(asked)}) AND id IN ({_placeholders(asked)})",
            (self._state.number, *(key[:2] for key in asked), *asked),
        )
        found = {key: (digest, content) for key, digest, content in rows}
        for key in keys:
            if key not in found:
                raise DamagedFileError(f"episode {key.hex()} cannot be found", path=self._database.location)
            yield self._decoded(key.hex(), *found[key], with_extraction=with_extractions)

    def _fetch(self, episode_id: str) -> Episode:
        state = self._state
        assert state.graph is not None
        state.graph.episode(episode_id)  # raises when there is none
        episode = None if state.number is None else self._find(state.number, episode_id)
        if episode is None:
            raise DamagedFileError(f"episode {episode_id} cannot be found", path=self._database.location)
        return episode

    def _find(self, number: int, episode_id: str) -> Episode | None:
        row = self._database.fetch_one(
            "SELECT digest, content FROM current JOIN record ON record.number = current.record"
            " WHERE namespace = ? AND prefix = ? AND id = ?",
            (number, (key := bytes.fromhex(episode_id))[:2], key),
        )
        return row and self._decoded(episode_id, *row)

    # -- changing ---------------------------------------------------------------------------------------------------

    def _begin_change(self) -> _PendingChange:
        """Compare the graph with the file, inside a transaction that is going to change both."""
        state, database = self._state, self._database
        self._update_graph()
        assert state.graph is not None
        state.is_compared = False
        number = state.number
        if number is None:
            number = database.execute(
                "INSERT INTO namespace (name, changes, episodes) VALUES (?, 0, 0)", (state.name,)
            ).lastrowid
            assert number is not None
        return _PendingChange(state.graph, number, state.position, len(state.graph))

    def _end_change(self, change: _PendingChange) -> None:
        """Write what the transaction made of the namespace."""
        self._database.execute(
            "UPDATE namespace SET changes = ?, episodes = ? WHERE number = ?",
            (change.position.number, change.episodes, change.namespace),
        )

    def _apply(self, change: _PendingChange, *, removed: Sequence[str] = (), added: Sequence[Episode] = ()) -> None:
        """Apply a committed change to the graph."""
        self._state.apply(change.namespace, change.position, removed=removed, added=added)
        self._state.is_compared = True
        self._database.purge_log(wait=False)

    def _insert(self, change: _PendingChange, episode: Episode) -> None:
        content = encode_episode(episode)
        row = self._database.execute(
            "INSERT INTO record (digest, content) VALUES (?, ?)", (digest_of(content), content)
        ).lastrowid
        key = bytes.fromhex(episode.id)
        self._database.execute(
            "INSERT INTO current (record, namespace, prefix, id, at) VALUES (?, ?, ?, ?, ?)",
            (row, change.namespace, key[:2], key, pack_time(episode.at)),
        )
        change.episodes += 1
        assert row is not None
        self._log_change(change, row)

    def _overwrite(self, change: _PendingChange, episode_id: str) -> None:
        """Remove an episode and overwrite its rows in place."""
        key = bytes.fromhex(episode_id)
        row = self._database.fetch_one(
            "SELECT record FROM current WHERE namespace = ? AND prefix = ? AND id = ?",
            (change.namespace, key[:2], key),
        )
        if row is None:
            raise DamagedFileError(f"episode {episode_id} cannot be found", path=self._database.location)
        self._database.execute(
            "UPDATE record SET digest = zeroblob(length(digest)), content = zeroblob(length(content)) WHERE number = ?",
            row,
        )
        self._database.execute(
            "UPDATE current SET prefix = zeroblob(2), id = zeroblob(16), at = zeroblob(8) WHERE record = ?", row
        )
        change.episodes -= 1
        self._database.overwritten += 1

    def _log_change(self, change: _PendingChange, record: int) -> None:
        """Record that the row of an episode is new, or that an episode was removed."""
        number, random = change.position.number + 1, secrets.token_bytes(TOKEN_BYTES)
        change.position = ChangePosition(number, random + _change_checksum(random, number, record))
        self._database.execute(
            "INSERT INTO change (namespace, number, token, record) VALUES (?, ?, ?, ?)",
            (change.namespace, change.position.number, change.position.token, record),
        )
        if change.position.number % _TRIMMED_CHANGES == 0:
            last = change.position.number - max(_KEPT_CHANGES, change.episodes)
            self._database.execute("DELETE FROM change WHERE namespace = ? AND number <= ?", (change.namespace, last))

    def _remove_vectors(self, change: _PendingChange, texts: Iterable[str]) -> None:
        """Overwrite the vectors of some texts in place."""
        self._vector_rows.clear()
        for keys in map(_padded, batched([text_digest(text) for text in texts], _CHUNK)):
            found = self._database.execute(
                "UPDATE vector SET prefix = zeroblob(2), text = zeroblob(16), vector = zeroblob(length(vector))"
                f" WHERE namespace = ? AND prefix IN ({_placeholders(keys)}) AND text IN ({_placeholders(keys)})",
                (change.namespace, *(key[:2] for key in keys), *keys),
            )
            self._database.overwritten += found.rowcount

    def _remove_snapshots(self) -> None:
        """Remove the snapshots, before a change that removes text which they may hold."""
        if self._state.snapshots is not None:
            self._state.latest_snapshot = self._state.numbering_snapshot = ChangePosition()
            try:
                self._state.snapshots.remove()
            except OSError as error:
                raise StoreError(
                    f"nothing was forgotten, because a snapshot cannot be removed: {error}",
                    path=self._database.location,
                ) from error

    # -- vectors ----------------------------------------------------------------------------------------------------

    def _packed_vectors(self, model: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, Any]]:
        for part in batched(keys, _CHUNK):
            yield from self._vectors_of(self._state.number, model, part, "text, vector")

    def _vectors_of(self, number: int | None, model: str, keys: Sequence[bytes], columns: str) -> list[Any]:
        """Return columns of the rows with the vectors of texts; at most as many as one SQL statement can take.

        Args:
            number: of the namespace.
            model: name of the embedder.
            keys: digests of the texts.
            columns: of the table; the first is ``text``.
        """
        self._vectors_asked += len(keys)
        last = self._database.fetch_one("SELECT max(number) FROM vector")[0] or 0
        if self._vectors_asked < max(_LOOKED_UP, last // _LOOKED_UP_SHARE):
            asked = _padded(keys)
            return self._database.fetch_all(
                f"SELECT {columns} FROM vector WHERE namespace = ? AND model = ?"
                f" AND prefix IN ({_placeholders(asked)}) AND text IN ({_placeholders(asked)})",
                (number, model, *(key[:2] for key in asked), *asked),
            )
        rows = self._vector_rows.setdefault((number, model), VectorRows())
        if rows.last != last:
            if rows.last > last:
                rows = self._vector_rows[number, model] = VectorRows()
            new = self._database.fetch_all(
                "SELECT number, substr(text, 1, 8) FROM vector NOT INDEXED"
                " WHERE number > ? AND namespace = ? AND model = ?",
                (rows.last, number, model),
            )
            rows.enter([row for row in new if isinstance(row[1], bytes) and len(row[1]) == 8], last)
        wanted = set(keys)
        found: list[Any] = []
        for likely in batched(rows.find(keys), _CHUNK):
            numbers = [*likely, *[likely[-1]] * (_CHUNK - len(likely))]  # one statement for all
            found += self._database.fetch_all(
                f"SELECT {columns} FROM vector WHERE namespace = ? AND model = ?"
                f" AND number IN ({_placeholders(numbers)})",
                (number, model, *numbers),
            )
        return [row for row in found if row[0] in wanted]

    def put_vectors(
        self,
        model: str,
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        *,
        known: KnownRecord | None = None,
    ) -> None:
        require_name(model, "the name of a model")
        matrix = vector_matrix(len(texts), vectors)
        keys = [text_digest(text) for text in texts]
        if self.readonly or not keys or self._database.is_read_by_this_thread():
            with self._database.lock:
                self._up_to_date_graph()
            return
        for start in range(0, len(keys), _STORED_VECTORS):
            part = slice(start, start + _STORED_VECTORS)
            self._put_vectors(model, keys[part], matrix[part], known)

    def _put_vectors(
        self, model: str, keys: Sequence[bytes], matrix: NDArray[np.float16], known: KnownRecord | None
    ) -> None:
        """Store some vectors in one change, unless something was forgotten since."""
        with self._database.writing(), self._database.lock:
            self._writable_graph()
            with _Changing(self) as change:
                if known is not None and not known.lacks_nothing_in(change.graph):
                    return
                stored = {key for (key,) in self._vectors_of(change.namespace, model, keys, "text")}
                new: list[tuple[int, str, bytes, bytes, bytes]] = []
                # a text may come twice: its last vector is stored
                for key, vector in dict(zip(keys, matrix, strict=True)).items():
                    packed = packed_vector(key, vector)
                    if key not in stored:
                        new.append((change.namespace, model, key[:2], key, packed))
                        continue
                    self._database.execute(
                        "UPDATE vector SET vector = ? WHERE namespace = ? AND prefix = ? AND model = ? AND text = ?",
                        (packed, change.namespace, key[:2], model, key),
                    )
                self._database.execute_many(
                    "INSERT INTO vector (namespace, model, prefix, text, vector) VALUES (?, ?, ?, ?, ?)", new
                )
            self._apply(change)

    def save_index(self, name: str, arrays: Mapping[str, NDArray[Any]], graph: TemporalGraph, numbering: int) -> bool:
        with self._database.lock:
            self._database.require_writable()
            self._up_to_date_graph()
            content = self._snapshot_content()  # before other writers are kept out
        with self._database.writing(), self._database.lock:
            self._up_to_date_graph()
            state = self._state
            if state.snapshots is None or state.graph is not graph or graph.numbering != numbering:
                return False
            if not graph.is_compact:
                return False
            try:
                self._write_snapshot(content)
                state.snapshots.write_index(state.latest_snapshot, name, arrays)
            except OSError as error:
                raise StoreError(f"the index cannot be written: {error}", path=self._database.location) from error
            return True

    def load_index(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        with self._database.lock:
            self._up_to_date_graph()
            state = self._state
            if state.snapshots is None or not state.numbering_snapshot.number:
                return None
            return state.snapshots.load_index(state.numbering_snapshot, name)

    def vector_models(self, texts: Sequence[str]) -> set[str]:
        distinct = list(dict.fromkeys(map(text_digest, texts)))
        counts: Counter[str] = Counter()
        with self._database.lock:
            self._up_to_date_graph()
            for keys in map(_padded, batched(distinct, _CHUNK)):
                rows = self._database.fetch_all(
                    "SELECT model, COUNT(*) FROM vector WHERE namespace = ?"
                    f" AND prefix IN ({_placeholders(keys)}) AND text IN ({_placeholders(keys)}) GROUP BY model",
                    (self._state.number, *(key[:2] for key in keys), *keys),
                )
                counts.update(dict(rows))
        return {model for model, count in counts.items() if count == len(distinct)}

    def clear_vectors(self, *, keep: str | None = None) -> None:
        with self._database.writing(), self._database.lock:
            self._writable_graph()
            with _Changing(self) as change:
                self._database.execute(
                    "DELETE FROM vector WHERE namespace = ? AND model IS NOT ?", (change.namespace, keep)
                )
                self._database.rewrite_vectors()
            self._vector_rows.clear()
            self._apply(change)
            if self._state.snapshots is not None:
                with suppress(OSError):  # an index that stays costs space, and nobody reads it
                    self._state.snapshots.remove_indexes(keep)

    # -- maintenance --------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, int]:
        with self._database.lock:
            graph = self._up_to_date_graph()
            row = self._database.fetch_one(
                "SELECT COUNT(*) FROM vector WHERE namespace = ? AND text != zeroblob(16)", (self._state.number,)
            )
            return {**graph.counts(), "vectors": row[0]}

    def checkpoint(self) -> None:
        with self._database.writing(), self._database.lock:
            self._database.require_writable()
            self._up_to_date_graph()
            try:
                self._write_snapshot()
            except OSError as error:
                raise StoreError(f"the snapshot cannot be written: {error}", path=self._database.location) from error
            self._reclaim_space()
            self._database.truncate_log()

    def _reclaim_space_if_worthwhile(self) -> None:
        """Reclaim space after a change that overwrote rows, when so much was overwritten that it may pay."""
        if self._database.overwritten > max(_OVERWRITTEN_ROWS, len(self._state.graph or ())):
            with suppress(StoreError):  # the change itself is done
                self._reclaim_space()

    def _reclaim_space(self) -> None:
        self._database.overwritten = 0
        overwritten, rows = self._database.overwritten_rows()
        if overwritten > max(_OVERWRITTEN_ROWS, rows // 2):
            with self._database.transaction():
                self._database.rewrite_tables()
        self._database.return_pages()

    def _snapshot_content(self) -> SnapshotContent | None:
        """Return what a snapshot would hold now; ``None`` when none would be written. Hold the lock."""
        return None if self._state.snapshots is None else self._state.snapshot_content()

    def _write_snapshot(self, prepared: SnapshotContent | None = None) -> None:
        """Write a snapshot of the graph if the newest one is older.

        Args:
            prepared: what to write, made before other writers were kept out. The graph may have grown since.
        """
        state = self._state
        if state.snapshots is None or state.graph is None or state.position == state.latest_snapshot:
            return
        content = prepared if prepared is not None and prepared.fits(state.graph) else self._snapshot_content()
        assert content is not None
        state.snapshots.write(content.arrays, content.position, state.numbering_base())
        state.note_snapshot(content.position)

    def _write_snapshot_if_worthwhile(self, changes: int, prepared: SnapshotContent | None = None) -> None:
        if not self._state.is_snapshot_worthwhile(changes):
            return
        try:
            self._write_snapshot(prepared)
        except OSError as error:
            # nothing is lost: the next opening reads the record instead
            warnings.warn(
                f"{self._database.location}: no snapshot for fast opening could be written: {error}", stacklevel=2
            )

    def _changes_since_snapshot(self) -> int:
        return self._state.position.number - self._state.latest_snapshot.number

    def close(self) -> None:
        database, state = self._database, self._state
        prepared = self._prepare_closing()
        with ExitStack() as stack:
            may_write = not self.readonly and not self._closed
            try:
                stack.enter_context(database.writing(_CLOSING_SECONDS))
            except (StoreLockedError, InputError):  # maintenance only saves the next opening some time
                may_write = False
            stack.enter_context(database.lock)
            was_open = not self._closed
            self._closed = True  # an interrupt can end this method anywhere: the next call then does the rest
            try:
                if was_open and may_write and set(state.users) == {self}:
                    self._maintain(prepared)
            finally:
                self._release()

    def _prepare_closing(self) -> SnapshotContent | None:
        """Return the snapshot that closing would write; ``None`` without one, or where no other writer waits for us."""
        state = self._state
        with self._database.lock:
            if self._closed or not self._database.is_shared or not state.is_compared or state.is_torn:
                return None
            return (
                self._snapshot_content() if self._state.is_snapshot_worthwhile(self._changes_since_snapshot()) else None
            )

    def _maintain(self, prepared: SnapshotContent | None) -> None:
        """Write a snapshot and reclaim space where that pays, before closing.

        Args:
            prepared: the snapshot, if it was made already.
        """
        state = self._state
        try:
            self._database.begin_use()
            if state.is_compared and not state.is_torn:
                self._follow()  # what another process has forgotten must not come back with the snapshot
        except StoreError:
            return  # the path leads to another file, which has nothing to do with this one, or nothing can be read
        if state.is_compared and not state.is_torn:
            self._write_snapshot_if_worthwhile(self._changes_since_snapshot(), prepared)
        if self._database.overwritten:
            self._reclaim_space()


def _resolved(path: str | os.PathLike[str] | None) -> Path | None:
    """Return the file behind all links, so that the lock beside it is the same under every name of the file."""
    if path is None:
        return None
    return Path(os.path.realpath(require_path(path, "path")))


def _integers(row: Sequence[object], database: Database) -> list[int]:
    if not all(isinstance(value, int) for value in row):
        raise DamagedFileError("the list of namespaces cannot be read", path=database.location)
    return [value for value in row if isinstance(value, int)]


def _change_checksum(random: bytes, number: object, record: object) -> bytes:
    return checksum_of(random + f" {number} {record}".encode())


def _are_whole(changes: Sequence[tuple[Any, ...]], expected: int) -> bool:
    """Return whether these are all the changes after a position, none of them damaged.

    Args:
        changes: rows of record, id, world time, number, and token. Tokens of older releases have no checksum.
        expected: how many there must be.
    """
    for record, _, _, number, token in changes:
        if not isinstance(token, bytes) or len(token) < TOKEN_BYTES:
            return False
        random, checksum = token[:TOKEN_BYTES], token[TOKEN_BYTES:]
        if checksum and checksum != _change_checksum(random, number, record):
            return False
    return len(changes) == expected


def _namespace_names(database: Database) -> list[str]:
    """Return the names of all namespaces, in no particular order.

    Raises:
        DamagedFileError: the table and its index differ, so a namespace could be overlooked.
    """
    names = [name for (name,) in database.fetch_all("SELECT name FROM namespace NOT INDEXED")]
    indexed = [name for (name,) in database.fetch_all("SELECT name FROM namespace ORDER BY name")]
    if not all(isinstance(name, str) for name in (*names, *indexed)) or sorted(names) != sorted(indexed):
        raise DamagedFileError("the list of namespaces cannot be read", path=database.location)
    return names


def _padded(keys: Sequence[bytes]) -> Sequence[bytes]:
    """Return keys with the last one repeated until there are as many as a power of two.

    Every other number of keys is another statement; a connection keeps 128 of them, up to 0.2 MB each.

    Args:
        keys: at most as many as one statement can take.

    Returns:
        As many as a power of two, or as one statement can take.
    """
    size = min(_CHUNK, 1 << max(0, len(keys) - 1).bit_length())
    return [*keys, *list(keys[-1:]) * (size - len(keys))]


def _placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))

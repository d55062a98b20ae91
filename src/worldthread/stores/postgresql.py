"""A memory in a PostgreSQL database, for many writers and readers in many processes and on many machines.

A change is one transaction. It locks the row of its namespace, compares the graph in RAM with the record, and writes;
so changes of a namespace happen one after another, and those of other namespaces beside them. Every use begins with one
question to the server, whether the record has changed. The server also announces changes (``NOTIFY``) to whoever waits
for one (:meth:`PostgresStore.wait_for_change`).

What ``COMMIT`` did when its answer was lost is found out from the random token of the change, on a new connection.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, LiteralString, Self

import numpy as np
import orjson
from numpy.typing import NDArray

from worldthread.errors import ClosedError, DamagedFileError, InputError, StoreError, StoreUnavailableError
from worldthread.graph import TemporalGraph
from worldthread.graph.conditions import Condition
from worldthread.stores.base import DEFAULT_NAMESPACE, Durability, KnownRecord, NamespaceSize
from worldthread.stores.codec import encode_episode
from worldthread.stores.connected_store import ConnectedStore
from worldthread.stores.connection import StoreTransaction
from worldthread.stores.namespace_state import NamespaceState, SnapshotContent
from worldthread.stores.postgresql_connection import (
    PostgresAddress,
    PostgresConnection,
    PostgresTransaction,
    Statement,
)
from worldthread.stores.rows import (
    TOKEN_BYTES,
    batched,
    digest_of,
    packed_vector,
    require_episode,
    require_id,
    require_name,
    text_digest,
    text_digests,
    texts_of,
    vector_matrix,
)
from worldthread.stores.snapshots import ChangePosition, array_digest, array_of_file, write_array
from worldthread.support.arguments import require_iterable
from worldthread.types import Episode

if TYPE_CHECKING:
    import psycopg

_CHUNK: Final = 1000  # rows of one statement
_STREAMED: Final = 2000  # episodes from which on they are fetched bit by bit
_PART_BYTES: Final = 8_000_000  # of an array in one row
_TRIMMED_CHANGES: Final = 1000  # every so many changes, old ones are trimmed
_KEPT_CHANGES: Final = 10_000  # a reader that is further behind reads everything
_LISTENING_SECONDS: Final = 1.0  # between two looks whether the store was closed
_RETRY_SECONDS: Final = 0.2
_SNAPSHOT: Final = b""  # in place of the name of an index
_MANIFEST_FORMAT: Final = 1

_ROW: Final[LiteralString] = (
    "SELECT number, changes, episodes, token FROM worldthread.namespace WHERE sha256(name) = sha256(%b)"
)
_LOCKED_ROW: Final[LiteralString] = _ROW + " FOR NO KEY UPDATE"
_INSERT_VECTORS: Final[LiteralString] = (
    "INSERT INTO worldthread.vector (namespace, model, text, vector) SELECT own.number, %b, rows.*"
    " FROM worldthread.namespace AS own, unnest(%b::bytea[], %b::bytea[]) AS rows"
    " WHERE sha256(own.name) = sha256(%b)"
    " ON CONFLICT (namespace, text, model) DO UPDATE SET vector = excluded.vector"
)
_NEW_ROW: Final[LiteralString] = (
    "INSERT INTO worldthread.namespace (name) VALUES (%b) ON CONFLICT ((sha256(name))) DO NOTHING"
)


class _ServedState(NamespaceState):
    """The graph of one namespace on a server.

    Args:
        name: name of the namespace.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.key = name.encode()
        digest = hashlib.sha256(b"worldthread " + self.key).digest()
        self.lock_number = int.from_bytes(digest[:8], "big", signed=True)
        """Number of the lock that keeps other writers out for more than one transaction."""
        self.channel = f"worldthread_{digest[:16].hex()}"
        """Where changes are announced."""
        self.compared_in: weakref.ref[StoreTransaction] | None = None
        """The last transaction in which the graph was compared with the record."""
        self.batch: weakref.ref[_Change] | None = None
        """The last change of :meth:`PostgresStore.batch`."""


class _Change:
    """A transaction that changes one namespace, as a context manager. Hold the lock while using it.

    Args:
        store: a store of the namespace.
    """

    graph: TemporalGraph
    namespace: int

    def __init__(self, store: PostgresStore) -> None:
        state, connection = store._state, store._database
        self._store = store
        self._connection = connection
        self._transaction = PostgresTransaction(
            connection,
            writes=True,
            opening=[("SELECT pg_advisory_xact_lock_shared(%s)", (state.lock_number,)), (_LOCKED_ROW, (state.key,))],
        )
        self._statements: list[Statement] = []
        self._is_logged = self._removes = False
        self._pending: list[Episode] = []
        self.position = ChangePosition()
        """The last change so far."""
        self.episodes = 0
        """Number of episodes so far."""

    def __enter__(self) -> Self:
        self._transaction.__enter__()
        try:
            self._store._require_kept_lock()  # it may have begun on a new connection
            rows = self._transaction.answers[1]
            state = self._store._state
            if not rows:
                rows = self._connection.run((_NEW_ROW, (state.key,)), (_LOCKED_ROW, (state.key,)))[1]
            self._store._update_graph(rows[0])
            state.compared_in = weakref.ref(self._transaction)
            assert state.graph is not None
            self.graph, self.namespace = state.graph, rows[0][0]
            self.position, self.episodes = state.position, len(state.graph)
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def log(self, *, removes: bool = False) -> int:
        """Number this change, unless that is done, and return its number."""
        self._removes |= removes
        if not self._is_logged:
            self._is_logged = True
            self.position = ChangePosition(self.position.number + 1, secrets.token_bytes(TOKEN_BYTES))
        return self.position.number

    def later(self, sql: LiteralString, *values: Any) -> None:
        """Run a statement together with the end of the transaction."""
        self._statements.append((sql, values))

    @property
    def is_running(self) -> bool:
        """Whether its block has begun and has not ended."""
        return self._connection.running_transaction() is self._transaction

    def insert(self, episodes: Sequence[Episode]) -> None:
        """Insert episodes together with the end of the transaction, or with those that come after them."""
        self._pending += episodes
        self.episodes += len(episodes)
        self.log()
        if len(self._pending) >= _CHUNK:
            self.flush()

    def _insert_pending(self) -> None:
        episodes, self._pending = self._pending, []
        if not episodes:
            return
        contents = [encode_episode(episode) for episode in episodes]
        self.later(
            "INSERT INTO worldthread.episode (namespace, change, id, at, digest, content) SELECT %s, %s, rows.*"
            " FROM unnest(%b::bytea[], %b::double precision[], %b::bytea[], %b::bytea[]) AS rows",
            self.namespace,
            self.log(),
            [bytes.fromhex(episode.id) for episode in episodes],
            [float(episode.at) for episode in episodes],
            [digest_of(content) for content in contents],
            contents,
        )

    def flush(self) -> None:
        """Run the statements that wait for the end."""
        self._insert_pending()
        statements, self._statements = self._statements, []
        self._connection.run(*statements)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            self._transaction.__exit__(kind, error, trace)

    def _commit(self) -> None:
        self._insert_pending()
        if self._is_logged:
            number, token = self.position.number, self.position.token
            self.later(
                "INSERT INTO worldthread.change (namespace, number, token, removes) VALUES (%s, %s, %b, %s)",
                self.namespace, number, token, self._removes,
            )  # fmt: skip
            self.later(
                "UPDATE worldthread.namespace SET changes = %s, token = %b, episodes = %s WHERE number = %s",
                number, token, self.episodes, self.namespace,
            )  # fmt: skip
            if number % _TRIMMED_CHANGES == 0:
                self.later(
                    "DELETE FROM worldthread.change WHERE namespace = %s AND number <= %s",
                    self.namespace, number - _KEPT_CHANGES,
                )  # fmt: skip
            self.later("SELECT pg_notify(%s, %s)", self._store._state.channel, str(number))
        self.later("COMMIT")
        try:
            self.flush()
        except StoreUnavailableError as error:
            if not self._was_kept(error):
                raise

    def _was_kept(self, error: StoreUnavailableError) -> bool:
        """Return whether the server did what it could not confirm any more."""
        connection, state = self._connection, self._store._state
        unknown = StoreUnavailableError(
            "the connection to the server was lost at the end of a change, so it is not known whether the change"
            " was kept. Every earlier one is safe; to do the same again is safe too, nothing is recorded twice",
            path=connection.location,
        )
        if not self._is_logged:
            raise unknown from error
        connection.transaction_reference = None
        try:
            connection._connect(max(connection.wait, 1.0))
            # a transaction that still runs holds the row: this waits for its end
            answers = connection.run(
                ("BEGIN", ()),
                (_LOCKED_ROW, (state.key,)),
                (
                    "SELECT true FROM worldthread.change WHERE namespace = %s AND number = %s AND token = %b",
                    (self.namespace, self.position.number, self.position.token),
                ),
                ("COMMIT", ()),
            )
        except StoreError:
            raise unknown from error
        return bool(answers[2])


class PostgresStore(ConnectedStore[PostgresConnection, _ServedState]):
    """One namespace of a memory in a PostgreSQL database. Use :meth:`open` to make one.

    Args:
        database: the connection to the server.
        namespace: name of the namespace.
        clock: gives the recorded time, in seconds since 1970-01-01 UTC.
        states: the open namespaces by name, shared by all stores of the connection.
    """

    def __init__(
        self,
        database: PostgresConnection,
        namespace: str,
        clock: Callable[[], float],
        states: MutableMapping[str, _ServedState],
    ):
        super().__init__(database, namespace, clock, states)
        self._lock_depth = 0
        self._lock_generation = 0
        self._listener: psycopg.Connection[Any] | None = None

    def _new_state(self, namespace: str) -> _ServedState:
        return _ServedState(namespace)

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
        """Open a memory in a database; its tables are made where there are none.

        Args:
            path: what follows ``postgresql://`` in the address, as libpq defines it: ``user@host:5432/database``, with
                options such as ``?sslmode=verify-full``.
            namespace: name of the namespace.
            readonly: never write. A role that may only read must say so.
            durability: ``"normal"`` leaves it to the server's ``synchronous_commit``, which is on unless somebody
                turned it off: what is acknowledged survives a crash of the server and of its machine. ``"full"`` turns
                it on.
            wait: seconds to wait for another writer, at least 10 in any case, and for a server that does not answer;
                ``math.inf`` for as long as it takes.
            clock: gives the recorded time of new episodes, in seconds since 1970-01-01 UTC.

        Returns:
            The store; close it, or use it as a context manager.

        Raises:
            InputError: an argument cannot be used.
            MissingExtraError: psycopg is not installed.
            ForeignFileError: the database has a schema of that name that is not a memory.
            FileVersionError: a newer release of worldthread made the tables.
            StoreUnavailableError: the server cannot be reached.
            StoreError: the server refuses; the message says why.
        """
        require_name(namespace, "the namespace")
        if not isinstance(path, str):
            raise InputError("the address of the server must be a string: postgresql://USER@HOST/DATABASE")
        connection = PostgresConnection(
            PostgresAddress(path), readonly=readonly, durability=durability, wait=wait
        )  # fmt: skip
        return cls(connection, namespace, clock, weakref.WeakValueDictionary())

    def list_namespaces(self) -> list[NamespaceSize]:
        with self._database.lock:
            self._begin_use()
            rows = self._retried_rows(
                "SELECT name, episodes, (SELECT coalesce(sum(octet_length(content)), 0)::bigint"
                " FROM worldthread.episode WHERE namespace = number) FROM worldthread.namespace WHERE episodes > 0"
            )
        return sorted((NamespaceSize(bytes(name).decode(), n, size) for name, n, size in rows), key=lambda o: o.name)

    @property
    def path(self) -> Path | None:
        return None

    @property
    def location(self) -> str:
        return self._database.location

    @property
    def keeps_indexes(self) -> bool:
        return True

    # -- the record -------------------------------------------------------------------------------------------------

    def append(self, episode: Episode) -> Episode:
        require_episode(episode)
        with self._database.lock:
            batch = self._running_batch()
            if batch is not None:
                return self._append_to(batch, episode)
            self._begin_change()
            with _Change(self) as change:
                if episode.id in change.graph:
                    change.graph.add(episode)  # raises when the extractions differ
                    return self._fetch(episode.id)
                recorded = self._recorded(episode)
                change.insert([recorded])
            self._state.apply(change.namespace, change.position, added=[recorded])
            return recorded

    def _append_to(self, batch: _Change, episode: Episode) -> Episode:
        """Append an episode to the batch whose block is running. Its graph shows it at once."""
        if episode.id in batch.graph:
            batch.graph.add(episode)  # raises when the extractions differ
            batch.flush()
            return self._fetch(episode.id)
        recorded = self._recorded(episode)
        self._state.is_torn = True  # until the server has it
        batch.insert([recorded])
        batch.graph.add(recorded)
        return recorded

    @contextmanager
    def batch(self) -> Iterator[None]:
        state = self._state
        with self._database.lock:
            if self._running_batch() is not None:
                yield
                return
            self._begin_change()
            with _Change(self) as change:
                state.batch = weakref.ref(change)
                numbering = change.graph.numbering
                yield
            if state.is_torn:
                state.note_change(change.namespace, change.position, numbering)
                state.is_torn = False

    def _running_batch(self) -> _Change | None:
        """Return the batch of this namespace whose block is running; ``None`` when there is none. Hold the lock."""
        batch = None if self._state.batch is None else self._state.batch()
        return batch if batch is not None and batch.is_running else None

    def append_many(self, episodes: Iterable[Episode]) -> int:
        require_iterable(episodes, "episodes")
        with self._database.lock:
            self._begin_change()
            with _Change(self) as change:
                before = change.episodes
                new: dict[str, str] = {}  # the digest of the extraction of each
                pending: list[Episode] = []
                for episode in episodes:
                    require_episode(episode)
                    if episode.id in change.graph:
                        change.graph.add(episode)  # raises when the extractions differ
                    elif new.setdefault(episode.id, episode.extraction.digest) != episode.extraction.digest:
                        raise InputError(
                            f"episode {episode.id} comes twice, with different extractions: leave one of them out"
                        )
                    elif len(new) > change.episodes - before + len(pending):
                        pending.append(self._recorded(episode))
                    if len(pending) >= _CHUNK:
                        change.insert(pending)
                        change.flush()
                        pending = []
                if pending:
                    change.insert(pending)
                added = change.episodes - before
            # a batch can be large and in any order, so it is read back sorted and in chunks
            with suppress(StoreUnavailableError):  # the batch is kept, and the next use reads it
                self._follow()
                self._write_snapshot_if_worthwhile(added)
            return added

    def replace(self, episode: Episode) -> Episode:
        require_episode(episode)
        with self._database.lock:
            self._begin_change()
            with _Change(self) as change:
                change.graph.episode(episode.id)  # raises when there is none
                old = self._fetch(episode.id)
                recorded = self._read_again(episode, old)
                self._remove_vectors(change, texts_of(old) - texts_of(recorded))
                self._remove(change, [recorded.id])
                change.insert([recorded])
            self._state.apply(change.namespace, change.position, removed=[recorded.id], added=[recorded])
            return recorded

    def forget(self, episode_id: str) -> None:
        """Remove an episode. Afterwards the graph is as if the episode had never been recorded.

        Its rows are deleted when this method returns: no statement of SQL finds them. PostgreSQL keeps the bytes in its
        files until :meth:`checkpoint` or ``VACUUM FULL`` writes the tables anew, in its write-ahead log until that is
        recycled, and in backups of the server.

        Args:
            episode_id: id of the episode.

        Raises:
            InputError: ``episode_id`` is not a string.
            NotFoundError: there is no such episode.
        """
        self.forget_many([episode_id])

    def forget_many(self, episode_ids: Sequence[str]) -> None:
        ids = list(dict.fromkeys(map(require_id, episode_ids)))
        with self._database.lock:
            self._begin_change()
            if not ids:
                return
            with _Change(self) as change:
                for id_ in ids:
                    change.graph.episode(id_)  # raises when there is none
                episodes = (episode for chunk in batched(ids, _CHUNK) for episode in self._episodes_of(chunk))
                texts = {text for episode in episodes for text in texts_of(episode)}
                self._remove_snapshots(change)
                for chunk in batched(ids, _CHUNK):
                    self._remove(change, chunk)
                self._remove_vectors(change, texts)
                change.log(removes=True)
            self._state.latest_snapshot = self._state.numbering_snapshot = ChangePosition()
            self._state.apply(change.namespace, change.position, removed=ids)

    def clear(self) -> None:
        with self._database.lock:
            self._begin_change()
            state = self._state
            with _Change(self) as change:
                change.later("DELETE FROM worldthread.namespace WHERE number = %s", change.namespace)
                change.later("SELECT pg_notify(%s, '')", state.channel)
            with suppress(StoreUnavailableError):  # it is done, and the next use sees it
                self._follow()

    def episode(self, episode_id: str) -> Episode:
        require_id(episode_id)
        with self._database.lock, self._unchanging() as graph:
            graph.episode(episode_id)  # raises when there is none
            return self._fetch(episode_id)

    def episodes(self, condition: Condition | None = None) -> Iterator[Episode]:
        with self._database.lock:
            graph = self._up_to_date_graph()
            ids = graph.episodes() if condition is None else graph.selected_episodes(condition)
        for chunk in batched(ids, _CHUNK):
            with self._database.lock, self._unchanging() as graph:
                found = list(self._episodes_of([episode_id for episode_id in chunk if episode_id in graph]))
            yield from found

    # -- the graph --------------------------------------------------------------------------------------------------

    @contextmanager
    def read_lock(self) -> Iterator[TemporalGraph]:
        with self._database.lock, self._unchanging() as graph:
            yield graph

    @contextmanager
    def _unchanging(self) -> Iterator[TemporalGraph]:
        """Read the graph and the record as they are at one moment. Hold the lock."""
        batch = self._running_batch()
        if batch is not None:
            batch.flush()
        self._begin_use()
        if self._is_compared_in(self._database.running_transaction()):
            assert self._state.graph is not None
            yield self._state.graph
            return
        with PostgresTransaction(self._database, writes=False, opening=[(_ROW, (self._state.key,))]) as transaction:
            self._follow_in(self._database.running_transaction(), transaction.answers[0])
            assert self._state.graph is not None
            yield self._state.graph

    @contextmanager
    def write_lock(self) -> Iterator[TemporalGraph]:
        connection, number = self._database, self._state.lock_number
        with connection.lock:
            batch = self._running_batch()
            if batch is not None:  # it keeps others out already
                yield batch.graph
                return
            self._begin_change()
            if connection.running_transaction() is not None:
                raise InputError("the memory cannot be locked for writing inside a block that reads it")
            if not self._lock_depth:
                connection.retried(lambda: connection.fetch_one("SELECT pg_advisory_lock(%s)", (number,)))
                self._lock_generation = connection.generation
            outer, self._lock_holder = self._lock_holder, threading.get_ident()
            self._lock_depth += 1
            try:
                yield self._up_to_date_graph()
            finally:
                self._lock_depth -= 1
                self._lock_holder = outer
                if not self._lock_depth and connection.generation == self._lock_generation:
                    with suppress(StoreUnavailableError, ClosedError):  # the lock ends with the connection
                        connection.fetch_one("SELECT pg_advisory_unlock(%s)", (number,))

    def wait_for_change(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            try:
                listener = self._listening()
                # what was announced while nobody listened is found now
                if self.refresh():
                    return True
                if left <= 0:
                    return False
                self._await_notice(listener, min(left, _LISTENING_SECONDS))
            except ClosedError:  # another thread closed the store, perhaps before this one connected
                self._stop_listening()
                raise
            except StoreUnavailableError:
                self._stop_listening()
                if left <= 0:
                    raise
                time.sleep(min(left, _RETRY_SECONDS))

    def _listening(self) -> psycopg.Connection[Any]:
        """Return the connection that receives announcements."""
        from psycopg import Error
        from psycopg.sql import SQL, Identifier

        if self._listener is None or self._listener.closed:
            self._listener = self._database.address.connect()
            try:
                self._listener.execute(SQL("LISTEN {}").format(Identifier(self._state.channel)))
            except Error as error:
                raise StoreUnavailableError(
                    f"the server does not announce changes: {error.diag.message_primary or error}", path=self.location
                ) from None
        return self._listener

    def _await_notice(self, listener: psycopg.Connection[Any], seconds: float) -> None:
        from psycopg import Error

        try:
            for _ in listener.notifies(timeout=seconds, stop_after=1):
                return
        except Error as error:
            raise StoreUnavailableError(f"the connection to the server was lost: {error}", path=self.location) from None

    def _stop_listening(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(Exception):
                listener.close()

    # -- following --------------------------------------------------------------------------------------------------

    def _begin_change(self) -> None:
        self._begin_use()
        self._database.require_writable()
        self._require_kept_lock()

    def _require_kept_lock(self) -> None:
        if self._lock_depth and self._database.generation != self._lock_generation:
            raise StoreUnavailableError(
                "the connection to the server was lost inside a block that keeps other writers out, so others may have"
                " written: begin the block again",
                path=self.location,
            )

    def _up_to_date_graph(self) -> TemporalGraph:
        batch = self._running_batch()
        if batch is not None:  # nobody else can write
            return batch.graph
        return super()._up_to_date_graph()

    def _retried_rows(self, sql: LiteralString, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement; outside of a transaction, it survives a connection that broke before."""
        if self._database.running_transaction() is not None:
            return self._database.fetch_all(sql, values)
        return self._database.retried(lambda: self._database.fetch_all(sql, values))

    def _follow(self) -> None:
        running = self._database.running_transaction()
        if self._is_compared_in(running):
            return
        rows = self._retried_rows(_ROW, (self._state.key,))
        if running is not None:
            self._follow_in(running, rows)
        elif not self._shows(rows[0] if rows else None):
            is_new = self._state.graph is None
            with PostgresTransaction(self._database, writes=False, opening=[(_ROW, (self._state.key,))]) as now:
                self._follow_in(now, now.answers[0])
            if is_new and not self.readonly:
                self._write_snapshot_if_worthwhile(None)

    def _follow_in(self, running: StoreTransaction | None, rows: Sequence[Any]) -> None:
        """Update the graph once in a transaction, which shows the record as it is at one moment."""
        assert running is not None
        if not self._is_compared_in(running):
            self._update_graph(rows[0] if rows else None)
            self._state.compared_in = weakref.ref(running)

    def _is_compared_in(self, running: StoreTransaction | None) -> bool:
        """Return whether the graph was compared with the record in a transaction: there is no need to ask again."""
        state = self._state
        return (
            running is not None
            and state.graph is not None
            and state.compared_in is not None
            and state.compared_in() is running
        )

    def _shows(self, row: Any) -> bool:
        """Return whether the graph shows the record, given the row of its namespace."""
        state = self._state
        if state.graph is None or state.is_torn:
            return False
        if row is None:
            return state.number is None
        number, changes, episodes, token = row
        return (number, ChangePosition(changes, bytes(token)), episodes) == (
            state.number, state.position, len(state.graph),
        )  # fmt: skip

    def _update_graph(self, row: Any) -> None:
        """Make the graph show the record as it is now, inside a transaction.

        Args:
            row: the row of the namespace; ``None`` when there is none.

        Raises:
            DamagedFileError: episodes are missing.
        """
        state = self._state
        if self._shows(row):
            return
        if state.is_torn:
            state.graph = None
        if row is None:
            state.start_over(None)
            state.is_torn = False
            return
        number, changes, episodes, token = row
        self._catch_up(number, ChangePosition(changes, bytes(token)), episodes)

    def _token(self, number: int, change: int) -> bytes | None:
        row = self._database.fetch_one(
            "SELECT token FROM worldthread.change WHERE namespace = %s AND number = %s", (number, change)
        )
        return None if row is None else bytes(row[0])

    def _apply_changes(self, last: ChangePosition, episodes: int) -> int:
        state, connection = self._state, self._database
        graph = state.graph
        assert graph is not None
        if state.position == last:
            return len(graph)
        numbering = graph.numbering
        begin = state.position.number
        if begin:
            count, removes = connection.fetch_one(
                "SELECT count(*), coalesce(bool_or(removes), false) FROM worldthread.change"
                " WHERE namespace = %s AND number > %s AND number <= %s",
                (state.number, begin, last.number),
            )
            if count != last.number - begin:
                state.start_over(state.number)
                return self._apply_changes(last, episodes)
            if removes:
                rows = connection.fetch_all("SELECT id FROM worldthread.episode WHERE namespace = %s", (state.number,))
                for episode_id in set(graph.episodes()) - {key.hex() for (key,) in rows}:
                    graph.forget(episode_id)
        for chunk in self._changed_episodes(begin, episodes - len(graph)):
            graph.put_many(chunk)
        state.note_change(state.number, last, numbering)
        return len(graph)

    def _changed_episodes(self, begin: int, expected: int) -> Iterator[list[Episode]]:
        """Yield the episodes that changes after ``begin`` recorded, in fold order: a graph grows fastest in it."""
        sql: LiteralString = (
            "SELECT id, digest, content FROM worldthread.episode WHERE namespace = %s AND change > %s ORDER BY at, id"
        )
        values = (self._state.number, begin)
        is_long = expected > _STREAMED
        rows = self._database.stream(sql, values) if is_long else iter(self._database.fetch_all(sql, values))
        chunk = []
        for key, digest, content in rows:
            chunk.append(self._decoded(key.hex(), digest, content))
            if len(chunk) >= _CHUNK:
                yield chunk
                chunk = []
        yield chunk

    # -- rows -------------------------------------------------------------------------------------------------------

    def _episodes_of(self, ids: Sequence[str]) -> Iterator[Episode]:
        """Yield the episodes with these ids, in this order."""
        if not ids:
            return
        rows = self._database.fetch_all(
            "SELECT id, digest, content FROM worldthread.episode WHERE namespace = %s AND id = ANY(%b::bytea[])",
            (self._state.number, [bytes.fromhex(episode_id) for episode_id in ids]),
        )
        found = {key.hex(): (digest, content) for key, digest, content in rows}
        for episode_id in ids:
            if episode_id not in found:
                raise DamagedFileError(f"episode {episode_id} cannot be found", path=self.location)
            yield self._decoded(episode_id, *found[episode_id])

    def _fetch(self, episode_id: str) -> Episode:
        return next(self._episodes_of([episode_id]))

    def _remove(self, change: _Change, ids: Sequence[str]) -> None:
        change.later(
            "DELETE FROM worldthread.episode WHERE namespace = %s AND id = ANY(%b::bytea[])",
            change.namespace, [bytes.fromhex(episode_id) for episode_id in ids],
        )  # fmt: skip
        change.episodes -= len(ids)

    # -- vectors ----------------------------------------------------------------------------------------------------

    def _packed_vectors(self, model: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, Any]]:
        for part in batched(keys, _CHUNK):
            yield from self._retried_rows(
                "SELECT text, vector FROM worldthread.vector"
                " WHERE namespace = %s AND model = %b AND text = ANY(%b::bytea[])",
                (self._state.number, model.encode(), part),
            )

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
        # in one order everywhere, so that two writers of the same vectors cannot wait for each other
        rows = dict(sorted(zip(map(text_digest, texts), matrix, strict=True), key=lambda row: row[0]))
        with self._database.lock:
            if self.readonly or not rows or self._database.is_read_by_this_thread():
                self._up_to_date_graph()
                return
            self._begin_change()
            values = [
                (model.encode(), keys, [packed_vector(key, rows[key]) for key in keys], self._state.key)
                for keys in batched(list(rows), _CHUNK)
            ]
            if known is None:
                for one in values:
                    self._put_vectors((_INSERT_VECTORS, one))
                return
            with _Change(self) as change:  # whoever forgets waits for its end
                if known.lacks_nothing_in(change.graph):
                    for one in values:
                        change.later(_INSERT_VECTORS, *one)

    def _put_vectors(self, insert: Statement) -> None:
        connection = self._database
        if not connection.retried(lambda: connection.run(insert))[0][0][0]:
            connection.retried(lambda: connection.run((_NEW_ROW, (self._state.key,)), insert))

    def _remove_vectors(self, change: _Change, texts: Iterable[str]) -> None:
        for keys in batched([text_digest(text) for text in texts], _CHUNK):
            change.later(
                "DELETE FROM worldthread.vector WHERE namespace = %s AND text = ANY(%b::bytea[])",
                change.namespace, keys,
            )  # fmt: skip

    def vector_models(self, texts: Sequence[str]) -> set[str]:
        keys = list(text_digests(texts))
        if not keys:
            return set()
        with self._database.lock:
            self._up_to_date_graph()
            rows = self._retried_rows(
                "SELECT model FROM worldthread.vector WHERE namespace = %s AND text = ANY(%b::bytea[])"
                " GROUP BY model HAVING count(*) = %s",
                (self._state.number, keys, len(keys)),
            )
        return {bytes(model).decode() for (model,) in rows}

    def clear_vectors(self, *, keep: str | None = None) -> None:
        with self._database.lock:
            self._begin_change()
            kept = None if keep is None else keep.encode("utf-8", "surrogatepass")
            with _Change(self) as change:
                change.later(
                    "DELETE FROM worldthread.vector WHERE namespace = %s AND model IS DISTINCT FROM %b::bytea",
                    change.namespace, kept,
                )  # fmt: skip
                change.later(
                    "DELETE FROM worldthread.snapshot WHERE namespace = %s AND index <> ''"
                    " AND index IS DISTINCT FROM %b::bytea",
                    change.namespace, kept,
                )  # fmt: skip

    def stats(self) -> dict[str, int]:
        with self._database.lock:
            graph = self._up_to_date_graph()
            rows = self._retried_rows(
                "SELECT count(*) FROM worldthread.vector WHERE namespace = %s", (self._state.number,)
            )
            return {**graph.counts(), "vectors": rows[0][0]}

    # -- snapshots and indexes --------------------------------------------------------------------------------------

    def save_index(self, name: str, arrays: Mapping[str, NDArray[Any]], graph: TemporalGraph, numbering: int) -> bool:
        with self._database.lock:
            self._begin_change()
            self._up_to_date_graph()
            content = self._state.snapshot_content()  # before other writers are kept out
            with _Change(self) as change:
                state = self._state
                if state.graph is not graph or graph.numbering != numbering or not graph.is_compact:
                    return False
                if change.episodes == 0:
                    return False
                written = self._write_snapshot(change, content)
                self._write_arrays(change, name.encode(), written or state.latest_snapshot, arrays)
            if written is not None:
                state.note_snapshot(written)
            return True

    def load_index(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        with self._database.lock, self._unchanging():
            state = self._state
            if state.number is None or not state.numbering_snapshot.number:
                return None
            found = self._load_arrays(state.number, name.encode("utf-8", "surrogatepass"))
        return found[1] if found is not None and found[0] == state.numbering_snapshot else None

    def checkpoint(self) -> None:
        """Write a snapshot for fast opening, and write the tables anew, so that nothing deleted is left in their files.

        The second part needs the owner of the tables, and keeps everybody else waiting for a time that is linear in the
        tables (``VACUUM FULL``); for another role it is left out. The write-ahead log and the backups of the server
        still hold what was deleted, until they are recycled.
        """
        with self._database.lock:
            self._begin_change()
            self._up_to_date_graph()
            content = self._state.snapshot_content()
            if len(self._state.graph or ()):
                with _Change(self) as change:
                    written = self._write_snapshot(change, content)
                if written is not None:
                    self._state.note_snapshot(written)
            for table in ("episode", "vector", "snapshot_part", "snapshot", "change"):
                self._rewrite_table(table)

    def _rewrite_table(self, table: LiteralString) -> None:
        (owned,) = self._database.fetch_one(
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid = %s::regclass",
            (f"worldthread.{table}",),
        )
        if owned:
            self._database.run((f"VACUUM (FULL, ANALYZE) worldthread.{table}", ()))

    def _write_snapshot(self, change: _Change, prepared: SnapshotContent | None = None) -> ChangePosition | None:
        """Write a snapshot of the graph if the newest one is older.

        Args:
            change: keeps other writers out.
            prepared: what to write, made before. The graph may have grown since.

        Returns:
            Its position; ``None`` when none was written.
        """
        state = self._state
        assert state.graph is not None
        if state.position == state.latest_snapshot:
            return None
        content = prepared if prepared is not None and prepared.fits(state.graph) else state.snapshot_content()
        assert content is not None
        base = state.numbering_base()
        change.later(
            "UPDATE worldthread.snapshot SET change = %s, token = %b"
            " WHERE namespace = %s AND index <> '' AND change = %s AND token = %b",
            content.position.number, content.position.token, change.namespace,
            0 if base is None else base.number, b"" if base is None else base.token,
        )  # fmt: skip
        self._write_arrays(change, _SNAPSHOT, content.position, content.arrays)
        change.later(
            "DELETE FROM worldthread.snapshot WHERE namespace = %s AND index <> '' AND (change <> %s OR token <> %b)",
            change.namespace, content.position.number, content.position.token,
        )  # fmt: skip
        return content.position

    def _write_arrays(
        self, change: _Change, index: bytes, position: ChangePosition, arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Write the arrays of a snapshot, or of an index, in place of older ones."""
        digests = {name: array_digest(array) for name, array in arrays.items()}
        change.later("DELETE FROM worldthread.snapshot WHERE namespace = %s AND index = %b", change.namespace, index)
        change.later(
            "INSERT INTO worldthread.snapshot (namespace, index, change, token, manifest)"
            " VALUES (%s, %b, %s, %b, %b)",
            change.namespace, index, position.number, position.token,
            orjson.dumps({"format": _MANIFEST_FORMAT, "arrays": digests}),
        )  # fmt: skip
        for name, array in arrays.items():
            stream = io.BytesIO()
            write_array(stream, array)
            content = stream.getvalue()
            for part, start in enumerate(range(0, len(content), _PART_BYTES)):
                change.later(
                    "INSERT INTO worldthread.snapshot_part (namespace, index, array_name, part, content)"
                    " VALUES (%s, %b, %s, %s, %b)",
                    change.namespace, index, name, part, content[start : start + _PART_BYTES],
                )  # fmt: skip

    def _load_arrays(self, number: int, index: bytes) -> tuple[ChangePosition, dict[str, NDArray[Any]]] | None:
        """Return the arrays of a snapshot or an index, and its position; ``None`` when they cannot be used."""
        values = (number, index)
        row = self._database.fetch_one(
            "SELECT change, token, manifest FROM worldthread.snapshot WHERE namespace = %s AND index = %b", values
        )
        if row is None:
            return None
        parts: dict[str, list[bytes]] = {}
        for name, part in self._database.fetch_all(
            "SELECT array_name, content FROM worldthread.snapshot_part WHERE namespace = %s AND index = %b"
            " ORDER BY array_name, part",
            values,
        ):
            parts.setdefault(name, []).append(part)
        arrays = {}
        with suppress(Exception):  # whatever is wrong with a snapshot, the record is still there
            document = orjson.loads(row[2])
            if document["format"] == _MANIFEST_FORMAT:
                for name, digest in document["arrays"].items():
                    array = array_of_file(np.frombuffer(b"".join(parts[name]), np.uint8))
                    if array is None or array_digest(array) != digest:
                        return None
                    arrays[name] = array
                return ChangePosition(row[0], bytes(row[1])), arrays
        return None

    def _load_snapshot(self, number: int) -> None:
        state = self._state
        found = self._load_arrays(number, _SNAPSHOT)
        if found is None or not found[0].number or not self._is_on_record(number, found[0]):
            return
        with suppress(Exception):
            state.graph = TemporalGraph.from_arrays(found[1])
            state.position = state.latest_snapshot = state.numbering_snapshot = found[0]

    def _remove_snapshots(self, change: _Change) -> None:
        change.later("DELETE FROM worldthread.snapshot WHERE namespace = %s", change.namespace)

    def _write_snapshot_if_worthwhile(self, changes: int | None) -> None:
        """Write a snapshot if that saves the next opening enough.

        Args:
            changes: number of episodes that the next opening would have to fold; ``None`` to ask the server.

        Raises:
            StoreUnavailableError: the server cannot be reached.
        """
        state = self._state
        if state.graph is None or state.number is None or not state.is_snapshot_worthwhile(len(state.graph)):
            return
        if changes is None:
            # another process may have written one meanwhile
            changes = self._database.fetch_one(
                "SELECT count(*) FROM worldthread.episode WHERE namespace = %s AND change > coalesce("
                "(SELECT change FROM worldthread.snapshot WHERE namespace = %s AND index = ''), 0)",
                (state.number, state.number),
            )[0]
        if not state.is_snapshot_worthwhile(changes):
            return
        content = state.snapshot_content()
        try:
            with _Change(self) as change:
                written = self._write_snapshot(change, content)
            if written is not None:
                state.note_snapshot(written)
        except StoreUnavailableError:
            raise
        except StoreError as error:
            # nothing is lost: the next opening reads the record instead
            warnings.warn(f"no snapshot for fast opening could be written: {error}", stacklevel=2)

    # -- closing ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        connection, state = self._database, self._state
        with connection.lock:
            was_open, self._closed = not self._closed, True
            try:
                if was_open and not self.readonly and set(state.users) == {self} and state.graph is not None:
                    with suppress(StoreError):  # maintenance only saves the next opening some time
                        connection.begin_use()
                        if connection.running_transaction() is None:
                            self._write_snapshot_if_worthwhile(None)
            finally:
                self._stop_listening()
                self._release()

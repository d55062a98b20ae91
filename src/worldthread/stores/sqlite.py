"""The default store: the record in one SQLite file, and the graph that follows from it in RAM.

A change is one transaction. The graph of a namespace is made on first use: from the newest snapshot and the changes
after it, or else from the whole record. It then follows the changes of this process and those of a writer in another
process, which SQLite's ``data_version`` announces.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from worldthread.arguments import require_iterable, require_path, require_unicode
from worldthread.errors import ClosedError, DamagedFileError, InputError, StoreError
from worldthread.graph import TemporalGraph
from worldthread.stores.base import DEFAULT_NAMESPACE, Durability, Store
from worldthread.stores.codec import decode_episode, encode_episode
from worldthread.stores.database import Database
from worldthread.stores.snapshots import ChangePosition, Snapshots
from worldthread.types import Episode, Fact

_CHUNK: Final = 500  # parameters of one SQL statement; SQLite may allow no more than 999
_TOKEN_BYTES: Final = 8
_DIGEST_BYTES: Final = 16
_CHECKSUM_BYTES: Final = 4
_SNAPSHOT_CHANGES: Final = 200  # folding this many takes about 50 ms
_SNAPSHOT_FRACTION: Final = 16
_OVERWRITTEN_ROWS: Final = 1000

_Item = TypeVar("_Item")


class _NamespaceState:
    """The graph of one namespace of an open file, and its position in the history of changes.

    Args:
        name: name of the namespace.
        path: the file; ``None`` for RAM, which has no snapshots.
    """

    def __init__(self, name: str, path: Path | None) -> None:
        self.name = name
        self.snapshots = None if path is None else Snapshots(path, name)
        self.graph: TemporalGraph | None = None
        self.number: int | None = None
        """Number of the namespace in the file; ``None`` while the namespace is empty."""
        self.position = ChangePosition()
        """The last change that the graph shows."""
        self.latest_snapshot = ChangePosition()
        """The position of the snapshot that the next opening will find."""
        self.numbering_snapshot = ChangePosition()
        """The position of a snapshot that numbers episodes and statements as the graph does."""
        self.data_version = -1
        self.users = 0

    def start_over(self, number: int | None) -> TemporalGraph:
        """Begin with an empty graph, and return it."""
        self.number = number
        self.position = self.latest_snapshot = self.numbering_snapshot = ChangePosition()
        self.graph = TemporalGraph()
        return self.graph


@dataclass
class _PendingChange:
    """What an unfinished transaction makes of a namespace.

    Args:
        namespace: number of the namespace.
        position: its last change so far.
        episodes: number of its episodes so far.
    """

    namespace: int
    position: ChangePosition
    episodes: int


class SQLiteStore(Store):
    """One namespace of a memory in an SQLite file, or in RAM. Use :meth:`open` to make one.

    Args:
        database: the open file.
        namespace: name of the namespace.
        clock: gives the recorded time, in seconds since 1970-01-01 UTC.
        states: the open namespaces of the file by name, shared by all its stores.
    """

    def __init__(
        self, database: Database, namespace: str, clock: Callable[[], float], states: dict[str, _NamespaceState]
    ):
        _require_name(namespace, "the namespace")
        self._database = database
        self._clock = clock
        self._states = states
        self._state = states.setdefault(namespace, _NamespaceState(namespace, database.path))
        self._state.users += 1
        database.users += 1
        self._closed = False
        self._log_holds_forgotten = False
        self._has_overwritten = False

    def __repr__(self) -> str:
        mode = "closed" if self._closed else "readonly" if self.readonly else "writable"
        return f"<SQLiteStore {str(self._database.location)!r}, namespace {self.namespace!r}, {mode}>"

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
        _require_name(namespace, "the namespace")
        database = Database(_resolved(path), readonly=readonly, durability=durability, wait=wait)
        return cls(database, namespace, clock, {})

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
            return sorted(name for (name,) in database.fetch_all("SELECT name FROM namespace"))
        finally:
            database.close()

    def open_namespace(self, namespace: str) -> Self:
        with self._database.lock:
            self._require_open()
            return type(self)(self._database, namespace, self._clock, self._states)

    @property
    def namespace(self) -> str:
        return self._state.name

    @property
    def path(self) -> Path | None:
        return self._database.path

    @property
    def readonly(self) -> bool:
        return self._database.readonly

    # -- the record -------------------------------------------------------------------------------------------------

    def require_writable(self) -> None:
        with self._database.lock:
            self._require_open()
            self._database.require_writable()

    def append(self, episode: Episode) -> Episode:
        _require_episode(episode)
        with self._writing() as graph:
            if episode.id in graph:
                graph.add(episode)  # raises when the extractions differ
                return self._fetch(episode.id)
            recorded = self._recorded(episode)
            with self._change() as change:
                self._insert(change, recorded)
            with self._applying(change):
                graph.add(recorded)
            return recorded

    def append_many(self, episodes: Iterable[Episode]) -> int:
        require_iterable(episodes, "episodes")
        with self._writing():
            before = self._state.position.number
            with self._change() as change:
                for episode in episodes:
                    _require_episode(episode)
                    known = self._find(change.namespace, episode.id)
                    if known is None:
                        self._insert(change, self._recorded(episode))
                    elif known.extraction.digest != episode.extraction.digest:
                        raise InputError(
                            f"episode {episode.id} is recorded with another extraction: replace it, or forget it first"
                        )
            # a batch can be large and in any order, so it is read back sorted and in chunks
            self._state.number = change.namespace
            self._update_graph()
            self._purge_log(wait=False)
            added = change.position.number - before
            self._write_snapshot_if_worthwhile(added)
            return added

    def replace(self, episode: Episode) -> Episode:
        _require_episode(episode)
        with self._writing() as graph:
            known = graph.episode(episode.id)
            recorded = replace(episode, recorded_at=known.recorded_at, extracted_at=graph.recorded_time(self._clock()))
            with self._change() as change:
                self._overwrite(change, recorded.id)
                self._insert(change, recorded)
            with self._applying(change):
                graph.forget(recorded.id)
                graph.add(recorded)
            return recorded

    def forget(self, episode_id: str) -> None:
        with self._writing() as graph:
            texts = _texts_of(self._fetch(_require_id(episode_id)))
            with self._change() as change:
                self._remove_snapshots()
                self._overwrite(change, episode_id)
                self._log_change(change, episode_id)
                for keys in _batched([_text_digest(text) for text in texts]):
                    self._database.execute(
                        f"DELETE FROM vector WHERE namespace = ? AND text IN ({_placeholders(keys)})",
                        (change.namespace, *keys),
                    )
            self._log_holds_forgotten = True
            with self._applying(change):
                graph.forget(episode_id)
            self._purge_log(wait=True)

    def clear(self) -> None:
        with self._writing():
            with self._database.transaction():
                self._remove_snapshots()
                self._database.execute("DELETE FROM namespace WHERE number = ?", (self._state.number,))
                self._database.rewrite_record()
            self._state.start_over(None)
            self._log_holds_forgotten = True
            self._purge_log(wait=True)

    def episode(self, episode_id: str) -> Episode:
        _require_id(episode_id)
        with self._reading():
            return self._fetch(episode_id)

    def episodes(self) -> Iterator[Episode]:
        with self._reading() as graph:
            ids = graph.episodes()
        for chunk in _batched(ids):
            with self._reading() as graph:
                found = list(self._episodes_of([episode_id for episode_id in chunk if episode_id in graph]))
            yield from found

    # -- the graph --------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> TemporalGraph:
        with self._reading() as graph:
            return graph

    @contextmanager
    def read_lock(self) -> Iterator[TemporalGraph]:
        with self._database.lock:
            self._require_open()
            with self._database.read_transaction(), self._reading() as graph:
                yield graph

    @contextmanager
    def _reading(self) -> Iterator[TemporalGraph]:
        """Hold the lock, and give the graph, up to date."""
        with self._database.lock:
            self._require_open()
            self._follow_other_writers()
            assert self._state.graph is not None
            yield self._state.graph

    @contextmanager
    def _writing(self) -> Iterator[TemporalGraph]:
        """Hold the lock of a store that may be written, and give the graph, up to date."""
        with self._reading() as graph:
            self._database.require_writable()
            yield graph

    def refresh(self) -> bool:
        with self._database.lock:
            self._require_open()
            before = (self._state.graph, self._state.number, self._state.position)
            self._follow_other_writers()
            return before != (self._state.graph, self._state.number, self._state.position)

    def _follow_other_writers(self) -> None:
        """Update the graph if another process has written since the last call."""
        state, database = self._state, self._database
        if state.graph is not None and database.data_version() == state.data_version:
            return
        with database.read_transaction():
            version = database.data_version()
            is_new = state.graph is None
            self._update_graph()
            state.data_version = version
        if is_new and not self.readonly:
            # the last process may have been killed before it wrote one
            self._write_snapshot_if_worthwhile(self._changes_since_snapshot())

    def _update_graph(self) -> None:
        """Make the graph show the record as it is now."""
        state = self._state
        try:
            row = self._database.fetch_one(
                "SELECT number, changes, episodes FROM namespace WHERE name = ?", (state.name,)
            )
            if row is None:
                if state.graph is None or state.number is not None:
                    state.start_over(None)
                return
            number, changes, episodes = _integers(row, self._database)
            if state.graph is None or state.number != number or not self._is_on_record(number, state.position):
                state.start_over(number)
                self._load_snapshot(number)
            found = self._apply_changes(changes)
            if found != episodes and state.latest_snapshot.number:
                # the snapshot is wrong, so the graph is made from the record alone
                state.start_over(number)
                found = self._apply_changes(changes)
            if found != episodes:
                raise DamagedFileError(f"{found} of {episodes} episodes can be found", path=self._database.location)
        except BaseException:
            state.graph = None  # it may show only some of the changes
            raise

    def _load_snapshot(self, number: int) -> None:
        state = self._state
        found = state.snapshots and state.snapshots.load(lambda position: self._is_on_record(number, position))
        if found:
            state.graph, state.position = found
            state.latest_snapshot = state.numbering_snapshot = state.position

    def _is_on_record(self, number: int, position: ChangePosition) -> bool:
        """Return whether a position belongs to the history of namespace ``number``."""
        if not position.number:
            return not position.token
        return bool(self._token(number, position.number) == position.token)

    def _token(self, number: int, change: int) -> Any:
        row = self._database.fetch_one("SELECT token FROM change WHERE namespace = ? AND number = ?", (number, change))
        return row and row[0]

    def _apply_changes(self, last: int) -> int:
        """Apply the changes after the position of the graph, up to number ``last``; return the number of episodes."""
        state = self._state
        graph = state.graph
        assert graph is not None
        if state.position.number == last:
            return len(graph)
        token = self._token(state.number or 0, last)
        if not isinstance(token, bytes):
            raise DamagedFileError(f"change {last} cannot be found", path=self._database.location)
        rows = self._database.fetch_all(
            "SELECT DISTINCT change.episode, at FROM change LEFT JOIN current"
            " ON current.namespace = change.namespace AND current.id = change.episode"
            " WHERE change.namespace = ? AND change.number > ?",
            (state.number, state.position.number),
        )
        for key, _ in rows:
            if key.hex() in graph:
                graph.forget(key.hex())
        # a graph grows fastest in the order of world time; an episode without one was forgotten
        present = sorted((at, key.hex()) for key, at in rows if at is not None)
        for ids in _batched([episode_id for _, episode_id in present]):
            graph.add_many(self._episodes_of(ids))
        state.position = ChangePosition(last, token)
        return len(graph)

    # -- rows -------------------------------------------------------------------------------------------------------

    def _episodes_of(self, ids: Sequence[str]) -> Iterator[Episode]:
        """Yield the episodes with these ids, in this order; at most as many as one SQL statement can take."""
        keys = [bytes.fromhex(episode_id) for episode_id in ids]
        rows = self._database.fetch_all(
            "SELECT id, digest, content FROM current JOIN record ON record.number = current.record"
            f" WHERE namespace = ? AND id IN ({_placeholders(keys)})",
            (self._state.number, *keys),
        )
        found = {key: (digest, content) for key, digest, content in rows}
        for key in keys:
            if key not in found:
                raise DamagedFileError(f"episode {key.hex()} cannot be found", path=self._database.location)
            yield self._decoded(key.hex(), *found[key])

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
            " WHERE namespace = ? AND id = ?",
            (number, bytes.fromhex(episode_id)),
        )
        return row and self._decoded(episode_id, *row)

    def _decoded(self, episode_id: str, digest: object, content: object) -> Episode:
        try:
            if not isinstance(content, bytes) or _digest(content) != digest:
                raise ValueError("its bytes have changed")
            episode = decode_episode(content)
            if episode.id != episode_id:
                raise ValueError("another episode is in its place")
        except ValueError as error:
            raise DamagedFileError(
                f"episode {episode_id} cannot be read: {error}", path=self._database.location
            ) from error
        return episode

    # -- changing ---------------------------------------------------------------------------------------------------

    def _recorded(self, episode: Episode) -> Episode:
        if episode.recorded_at is not None:
            return episode
        assert self._state.graph is not None
        return replace(episode, recorded_at=self._state.graph.recorded_time(self._clock()))

    @contextmanager
    def _change(self) -> Iterator[_PendingChange]:
        """Run a transaction that changes this namespace."""
        state, database = self._state, self._database
        assert state.graph is not None
        with database.transaction():
            number = state.number
            if number is None:
                number = database.execute(
                    "INSERT INTO namespace (name, changes, episodes) VALUES (?, 0, 0)", (state.name,)
                ).lastrowid
                assert number is not None
            change = _PendingChange(number, state.position, len(state.graph))
            yield change
            database.execute(
                "UPDATE namespace SET changes = ?, episodes = ? WHERE number = ?",
                (change.position.number, change.episodes, number),
            )

    @contextmanager
    def _applying(self, change: _PendingChange) -> Iterator[None]:
        """Run a block that applies a committed change to the graph."""
        state = self._state
        try:
            yield
        except BaseException:
            state.graph = None  # the graph lacks the change, so the next use makes it anew
            raise
        state.number, state.position = change.namespace, change.position
        self._purge_log(wait=False)

    def _insert(self, change: _PendingChange, episode: Episode) -> None:
        content = encode_episode(episode)
        row = self._database.execute(
            "INSERT INTO record (digest, content) VALUES (?, ?)", (_digest(content), content)
        ).lastrowid
        self._database.execute(
            "INSERT INTO current (namespace, id, at, record) VALUES (?, ?, ?, ?)",
            (change.namespace, bytes.fromhex(episode.id), episode.at, row),
        )
        change.episodes += 1
        self._log_change(change, episode.id)

    def _overwrite(self, change: _PendingChange, episode_id: str) -> None:
        """Remove an episode and overwrite its row in place."""
        key = bytes.fromhex(episode_id)
        self._database.execute(
            "UPDATE record SET digest = zeroblob(length(digest)), content = zeroblob(length(content))"
            " WHERE number = (SELECT record FROM current WHERE namespace = ? AND id = ?)",
            (change.namespace, key),
        )
        self._database.execute("DELETE FROM current WHERE namespace = ? AND id = ?", (change.namespace, key))
        change.episodes -= 1
        self._has_overwritten = True

    def _log_change(self, change: _PendingChange, episode_id: str) -> None:
        """Record that an episode has changed."""
        change.position = ChangePosition(change.position.number + 1, secrets.token_bytes(_TOKEN_BYTES))
        self._database.execute(
            "INSERT INTO change (namespace, number, token, episode) VALUES (?, ?, ?, ?)",
            (change.namespace, change.position.number, change.position.token, bytes.fromhex(episode_id)),
        )

    def _remove_snapshots(self) -> None:
        """Remove the snapshots, before a change that removes text which they may hold."""
        if self._state.snapshots is not None:
            try:
                self._state.snapshots.remove()
            except OSError as error:
                raise StoreError(
                    f"nothing was forgotten, because a snapshot cannot be removed: {error}",
                    path=self._database.location,
                ) from error
            self._state.latest_snapshot = ChangePosition()

    def _purge_log(self, *, wait: bool) -> None:
        """Empty the log if it holds something forgotten; when a reader prevents it, the next call tries again."""
        if self._log_holds_forgotten:
            self._log_holds_forgotten = not self._database.truncate_log(wait=wait)

    # -- vectors ----------------------------------------------------------------------------------------------------

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        _require_name(model, "the name of a model")
        texts_by_key = {_text_digest(text): text for text in texts}
        found: dict[str, NDArray[np.float32]] = {}
        with self._reading():
            for keys in _batched(list(texts_by_key)):
                rows = self._database.fetch_all(
                    "SELECT text, vector FROM vector"
                    f" WHERE namespace = ? AND model = ? AND text IN ({_placeholders(keys)})",
                    (self._state.number, model, *keys),
                )
                for key, packed in rows:
                    if not isinstance(packed, bytes) or _checksum(packed[_CHECKSUM_BYTES:]) != packed[:_CHECKSUM_BYTES]:
                        raise DamagedFileError(
                            f"a vector of {model} cannot be read: its bytes have changed", path=self._database.location
                        )
                    found[texts_by_key[key]] = np.frombuffer(packed, "<f2", offset=_CHECKSUM_BYTES).astype(np.float32)
        return found

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        _require_name(model, "the name of a model")
        matrix = np.ascontiguousarray(vectors, "<f2")
        if matrix.ndim != 2 or matrix.shape[0] != len(texts) or not matrix.shape[1]:
            raise InputError(f"{len(texts)} texts need vectors of shape ({len(texts)}, dimensions), not {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise InputError("a vector holds a number that is not finite")
        keys = [_text_digest(text) for text in texts]
        with self._reading():
            if self.readonly or not keys:
                return
            with self._change() as change:
                for key, vector in zip(keys, matrix, strict=True):
                    numbers = vector.tobytes()
                    self._database.execute(
                        "INSERT INTO vector (namespace, model, text, vector) VALUES (?, ?, ?, ?)"
                        " ON CONFLICT DO UPDATE SET vector = excluded.vector",
                        (change.namespace, model, key, _checksum(numbers) + numbers),
                    )
            self._state.number = change.namespace

    def save_index(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> bool:
        with self._writing():
            state = self._state
            if state.snapshots is None or state.graph is None or not state.graph.is_compact:
                return False
            try:
                self._write_snapshot()
                state.snapshots.write_index(state.position, name, arrays)
            except OSError as error:
                raise StoreError(f"the index cannot be written: {error}", path=self._database.location) from error
            return True

    def load_index(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        with self._reading():
            state = self._state
            if state.snapshots is None or not state.numbering_snapshot.number:
                return None
            return state.snapshots.load_index(state.numbering_snapshot, name)

    def clear_vectors(self) -> None:
        with self._writing(), self._database.transaction():
            self._database.execute("DELETE FROM vector WHERE namespace = ?", (self._state.number,))

    # -- maintenance --------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, int]:
        with self._reading() as graph:
            row = self._database.fetch_one("SELECT COUNT(*) FROM vector WHERE namespace = ?", (self._state.number,))
            return {**graph.counts(), "vectors": row[0]}

    def checkpoint(self) -> None:
        with self._writing():
            try:
                self._write_snapshot()
            except OSError as error:
                raise StoreError(f"the snapshot cannot be written: {error}", path=self._database.location) from error
            self._reclaim_space()
            self._log_holds_forgotten = not self._database.truncate_log()

    def _reclaim_space(self) -> None:
        overwritten, rows = self._database.overwritten_rows()
        if overwritten > max(_OVERWRITTEN_ROWS, rows // 2):
            with self._database.transaction():
                self._database.rewrite_record()

    def _write_snapshot(self) -> None:
        state = self._state
        if state.snapshots is None or state.graph is None or state.position == state.latest_snapshot:
            return
        # the snapshot of a graph from which something was forgotten has new numbers
        base = state.numbering_snapshot if state.graph.is_compact else ChangePosition()
        state.snapshots.write(state.graph, state.position, base if base.number else None)
        state.latest_snapshot = state.position
        state.numbering_snapshot = state.position if state.graph.is_compact else ChangePosition()

    def _write_snapshot_if_worthwhile(self, changes: int) -> None:
        """Write a snapshot when that saves the next opening enough folding.

        Folding one change takes about four times as long as writing one episode of a snapshot, which holds them all.

        Args:
            changes: number of changes that the next opening would have to fold.
        """
        graph = self._state.graph
        if graph is None or changes <= max(_SNAPSHOT_CHANGES, len(graph) // _SNAPSHOT_FRACTION):
            return
        try:
            self._write_snapshot()
        except OSError as error:
            # nothing is lost: the next opening reads the record instead
            warnings.warn(
                f"{self._database.location}: no snapshot for fast opening could be written: {error}", stacklevel=2
            )

    def _changes_since_snapshot(self) -> int:
        return self._state.position.number - self._state.latest_snapshot.number

    def close(self) -> None:
        with self._database.lock:
            if self._closed:
                return
            self._closed = True
            self._state.users -= 1
            self._database.users -= 1
            try:
                if not self.readonly and not self._state.users:
                    self._write_snapshot_if_worthwhile(self._changes_since_snapshot())
                    if self._has_overwritten:
                        self._reclaim_space()
            finally:
                if not self._database.users:
                    self._database.close()

    def _require_open(self) -> None:
        if self._closed:
            raise ClosedError("the memory was closed: open it again", path=self._database.location)


def _resolved(path: str | os.PathLike[str] | None) -> Path | None:
    """Return the file behind all links, so that the lock beside it is the same under every name of the file."""
    if path is None:
        return None
    return Path(os.path.realpath(require_path(path, "path")))


def _require_name(name: object, what: str) -> None:
    if not require_unicode(name, what):
        raise InputError(f"{what} must not be empty")


def _require_episode(episode: object) -> None:
    if not isinstance(episode, Episode):
        raise InputError(f"an Episode is needed, not {type(episode).__name__}")


def _require_id(episode_id: object) -> str:
    if not isinstance(episode_id, str):
        raise InputError(f"the id of an episode must be a string, not {type(episode_id).__name__}")
    return episode_id


def _integers(row: Sequence[object], database: Database) -> list[int]:
    if not all(isinstance(value, int) for value in row):
        raise DamagedFileError("the list of namespaces cannot be read", path=database.location)
    return [value for value in row if isinstance(value, int)]


def _texts_of(episode: Episode) -> set[str]:
    """Return all texts of an episode that may have been embedded: its text, statements, names and reasons."""
    extraction = episode.extraction
    texts = {episode.text, episode.source, *(ending.reason for ending in extraction.endings)}
    for statement in (*extraction.statements, *(ending.statement for ending in extraction.endings)):
        names = (statement.subject, statement.relation, statement.object) if isinstance(statement, Fact) else ()
        texts.update((str(statement), *names, *getattr(statement, "objects", ())))
    return texts


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _text_digest(text: str) -> bytes:
    if not isinstance(text, str):
        raise InputError(f"a text must be a string, not {type(text).__name__}")
    return _digest(text.encode("utf-8", "surrogatepass"))


def _checksum(numbers: bytes) -> bytes:
    return zlib.crc32(numbers).to_bytes(_CHECKSUM_BYTES, "big")


def _placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _batched(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]

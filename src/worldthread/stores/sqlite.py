"""The default store: one SQLite file as the truth, and the graph in memory on top of it.

A change is one transaction. The graph of a namespace is made when it is first asked for: from the newest snapshot and
the changes after it, or else from the whole record. It then follows the changes, one's own and those of the writer in
another process, which show by SQLite's ``data_version``.
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

_CHUNK: Final = 500  # parameters of one statement; SQLite may allow no more than 999
_TOKEN_BYTES: Final = 8
_DIGEST_BYTES: Final = 16
_CHECKSUM_BYTES: Final = 4
_SNAPSHOT_CHANGES: Final = 200  # folding so many takes some 50 ms
_SNAPSHOT_PART: Final = 16
_BLANK_ROWS: Final = 1000

_Item = TypeVar("_Item")


class _NamespaceState:
    """One namespace of an open file: its graph, and the position in the history that the graph shows."""

    def __init__(self, name: str, path: Path | None) -> None:
        self.name = name
        self.snapshots = None if path is None else Snapshots(path, name)
        self.graph: TemporalGraph | None = None
        self.number: int | None = None
        """In the file; ``None`` while the namespace holds nothing."""
        self.position = ChangePosition()
        self.snapshot = ChangePosition()
        """The position of the snapshot that the next opening will find."""
        self.base = ChangePosition()
        """The position of the snapshot in which everything has the numbers that it has in the graph."""
        self.data_version = -1
        self.users = 0

    def start_over(self, number: int | None) -> TemporalGraph:
        """Begin with an empty graph."""
        self.number, self.position, self.snapshot, self.base = (
            number,
            ChangePosition(),
            ChangePosition(),
            ChangePosition(),
        )
        self.graph = TemporalGraph()
        return self.graph


@dataclass
class _PendingChange:
    """A change in the making: the namespace, its last change and how many episodes it has."""

    namespace: int
    position: ChangePosition
    episodes: int


class SQLiteStore(Store):
    """One namespace of a memory in an SQLite file, or in RAM. Made by :meth:`open`."""

    def __init__(
        self, database: Database, namespace: str, clock: Callable[[], float], shelves: dict[str, _NamespaceState]
    ):
        _require_name(namespace, "the namespace")
        self._database = database
        self._clock = clock
        self._shelves = shelves
        self._shelf = shelves.setdefault(namespace, _NamespaceState(namespace, database.path))
        self._shelf.users += 1
        database.users += 1
        self._closed = False
        self._log_holds_forgotten = False
        self._has_overwritten = False

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
        """Open a memory, or make a new one where there is no file.

        Args:
            path: the file; ``None`` for a memory in RAM, gone when it is closed.
            namespace: which memory of the file.
            readonly: never write. Any number of readers may stand beside the one writer, and follow it.
            durability: what an acknowledged change survives, see :data:`~worldthread.stores.base.Durability`.
            wait: seconds to wait for another writer; ``math.inf`` for as long as it takes.
            clock: the recorded time of what is written, in seconds since 1970-01-01 UTC.

        Raises:
            InputError: an argument cannot be used.
            ForeignFileError, DamagedFileError, FileVersionError: the file was left as it was.
            StoreLockedError: another writer did not finish in time.
            StoreError: the file cannot be opened; the message says why.
        """
        _require_name(namespace, "the namespace")
        database = Database(_resolved(path), readonly=readonly, durability=durability, wait=wait)
        return cls(database, namespace, clock, {})

    @staticmethod
    def namespaces(path: str | os.PathLike[str]) -> list[str]:
        """The names of all namespaces of a file, sorted.

        Raises:
            StoreError: as for :meth:`open`.
        """
        database = Database(_resolved(path), readonly=True)
        try:
            return sorted(name for (name,) in database.all("SELECT name FROM namespace"))
        finally:
            database.close()

    def open_namespace(self, namespace: str) -> Self:
        with self._database.lock:
            self._require_open()
            return type(self)(self._database, namespace, self._clock, self._shelves)

    @property
    def namespace(self) -> str:
        return self._shelf.name

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
                graph.add(episode)  # raises when the readings differ
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
            before = self._shelf.position.number
            with self._change() as change:
                for episode in episodes:
                    _require_episode(episode)
                    known = self._find(change.namespace, episode.id)
                    if known is None:
                        self._insert(change, self._recorded(episode))
                    elif known.extraction.digest != episode.extraction.digest:
                        raise InputError(
                            f"episode {episode.id} is recorded with another reading: replace it, or forget it first"
                        )
            # a batch may be large and in any order: read it back sorted and in pieces rather than hold all of it
            self._shelf.number = change.namespace
            self._bring_up()
            self._purge_log(patiently=False)
            added = change.position.number - before
            self._write_snapshot_if_it_pays(added)
            return added

    def replace(self, episode: Episode) -> Episode:
        _require_episode(episode)
        with self._writing() as graph:
            recorded = replace(episode, recorded_at=graph.episode(episode.id).recorded_at)
            with self._change() as change:
                self._blank(change, recorded.id)
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
                self._blank(change, episode_id)
                self._note(change, episode_id)
                for keys in _batched([_text_digest(text) for text in texts]):
                    self._database.execute(
                        f"DELETE FROM vector WHERE namespace = ? AND text IN ({_marks(keys)})",
                        (change.namespace, *keys),
                    )
            self._log_holds_forgotten = True
            with self._applying(change):
                graph.forget(episode_id)
            self._purge_log(patiently=True)

    def clear(self) -> None:
        with self._writing():
            with self._database.transaction():
                self._remove_snapshots()
                self._database.execute("DELETE FROM namespace WHERE number = ?", (self._shelf.number,))
                self._database.rewrite_record()
            self._shelf.start_over(None)
            self._log_holds_forgotten = True
            self._purge_log(patiently=True)

    def episode(self, episode_id: str) -> Episode:
        _require_id(episode_id)
        with self._using():
            return self._fetch(episode_id)

    def episodes(self) -> Iterator[Episode]:
        with self._using() as graph:
            ids = graph.episodes()
        for chunk in _batched(ids):
            with self._using() as graph:
                found = list(self._rows([episode_id for episode_id in chunk if episode_id in graph]))
            yield from found

    # -- the graph --------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> TemporalGraph:
        with self._using() as graph:
            return graph

    @contextmanager
    def read_lock(self) -> Iterator[TemporalGraph]:
        with self._database.lock:
            self._require_open()
            with self._database.one_moment(), self._using() as graph:
                yield graph

    @contextmanager
    def _using(self) -> Iterator[TemporalGraph]:
        """The graph, up to date, and the lock."""
        with self._database.lock:
            self._require_open()
            self._follow()
            assert self._shelf.graph is not None
            yield self._shelf.graph

    @contextmanager
    def _writing(self) -> Iterator[TemporalGraph]:
        """The same, of a store that may be written."""
        with self._using() as graph:
            self._database.require_writable()
            yield graph

    def refresh(self) -> bool:
        with self._database.lock:
            self._require_open()
            before = (self._shelf.graph, self._shelf.number, self._shelf.position)
            self._follow()
            return before != (self._shelf.graph, self._shelf.number, self._shelf.position)

    def _follow(self) -> None:
        """Take in what others wrote since the last look."""
        shelf, database = self._shelf, self._database
        if shelf.graph is not None and database.data_version() == shelf.data_version:
            return
        with database.one_moment():
            version = database.data_version()
            is_new = shelf.graph is None
            self._bring_up()
            shelf.data_version = version
        if is_new and not self.readonly:
            # the last process was killed before it could
            self._write_snapshot_if_it_pays(self._changes_since_snapshot())

    def _bring_up(self) -> None:
        """Make the graph show the record as it is."""
        shelf = self._shelf
        try:
            row = self._database.one("SELECT number, changes, episodes FROM namespace WHERE name = ?", (shelf.name,))
            if row is None:
                if shelf.graph is None or shelf.number is not None:
                    shelf.start_over(None)
                return
            number, changes, episodes = _whole_numbers(row, self._database)
            if shelf.graph is None or shelf.number != number or not self._is_on_record(number, shelf.position):
                shelf.start_over(number)
                self._load_snapshot(number)
            found = self._apply_changes(changes)
            if found != episodes and shelf.snapshot.number:
                # the snapshot misleads: the record itself decides
                shelf.start_over(number)
                found = self._apply_changes(changes)
            if found != episodes:
                raise DamagedFileError(f"{found} of {episodes} episodes can be found", path=self._database.place)
        except BaseException:
            shelf.graph = None  # it may show half of the changes
            raise

    def _load_snapshot(self, number: int) -> None:
        shelf = self._shelf
        found = shelf.snapshots and shelf.snapshots.load(lambda position: self._is_on_record(number, position))
        if found:
            shelf.graph, shelf.position = found
            shelf.snapshot = shelf.base = shelf.position

    def _is_on_record(self, number: int, position: ChangePosition) -> bool:
        """Whether a position belongs to the history of namespace ``number``."""
        if not position.number:
            return not position.token
        return bool(self._token(number, position.number) == position.token)

    def _token(self, number: int, change: int) -> Any:
        row = self._database.one("SELECT token FROM change WHERE namespace = ? AND number = ?", (number, change))
        return row and row[0]

    def _apply_changes(self, last: int) -> int:
        """Apply the changes after the shelf's position, up to number ``last``: how many episodes there are then."""
        shelf = self._shelf
        graph = shelf.graph
        assert graph is not None
        if shelf.position.number == last:
            return len(graph)
        token = self._token(shelf.number or 0, last)
        if not isinstance(token, bytes):
            raise DamagedFileError(f"change {last} cannot be found", path=self._database.place)
        rows = self._database.all(
            "SELECT DISTINCT change.episode, at FROM change LEFT JOIN current"
            " ON current.namespace = change.namespace AND current.id = change.episode"
            " WHERE change.namespace = ? AND change.number > ?",
            (shelf.number, shelf.position.number),
        )
        for key, _ in rows:
            if key.hex() in graph:
                graph.forget(key.hex())
        # in the order of world time, in which a graph grows fastest; what has no time is gone
        present = sorted((at, key.hex()) for key, at in rows if at is not None)
        for ids in _batched([episode_id for _, episode_id in present]):
            graph.add_many(self._rows(ids))
        shelf.position = ChangePosition(last, token)
        return len(graph)

    # -- rows -------------------------------------------------------------------------------------------------------

    def _rows(self, ids: Sequence[str]) -> Iterator[Episode]:
        """The episodes ``ids`` in this order, at most as many as one statement takes."""
        keys = [bytes.fromhex(episode_id) for episode_id in ids]
        rows = self._database.all(
            "SELECT id, digest, content FROM current JOIN record ON record.number = current.record"
            f" WHERE namespace = ? AND id IN ({_marks(keys)})",
            (self._shelf.number, *keys),
        )
        found = {key: (digest, content) for key, digest, content in rows}
        for key in keys:
            if key not in found:
                raise DamagedFileError(f"episode {key.hex()} cannot be found", path=self._database.place)
            yield self._decoded(key.hex(), *found[key])

    def _fetch(self, episode_id: str) -> Episode:
        shelf = self._shelf
        assert shelf.graph is not None
        shelf.graph.episode(episode_id)  # raises when there is none
        episode = None if shelf.number is None else self._find(shelf.number, episode_id)
        if episode is None:
            raise DamagedFileError(f"episode {episode_id} cannot be found", path=self._database.place)
        return episode

    def _find(self, number: int, episode_id: str) -> Episode | None:
        row = self._database.one(
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
                f"episode {episode_id} cannot be read: {error}", path=self._database.place
            ) from error
        return episode

    # -- changing ---------------------------------------------------------------------------------------------------

    def _recorded(self, episode: Episode) -> Episode:
        return episode if episode.recorded_at is not None else replace(episode, recorded_at=self._clock())

    @contextmanager
    def _change(self) -> Iterator[_PendingChange]:
        """A transaction that changes this namespace."""
        shelf, database = self._shelf, self._database
        assert shelf.graph is not None
        with database.transaction():
            number = shelf.number
            if number is None:
                number = database.execute(
                    "INSERT INTO namespace (name, changes, episodes) VALUES (?, 0, 0)", (shelf.name,)
                ).lastrowid
                assert number is not None
            change = _PendingChange(number, shelf.position, len(shelf.graph))
            yield change
            database.execute(
                "UPDATE namespace SET changes = ?, episodes = ? WHERE number = ?",
                (change.position.number, change.episodes, number),
            )

    @contextmanager
    def _applying(self, change: _PendingChange) -> Iterator[None]:
        """The block brings the graph up to a change that is committed."""
        shelf = self._shelf
        try:
            yield
        except BaseException:
            shelf.graph = None  # it is behind the record: the next look makes it again
            raise
        shelf.number, shelf.position = change.namespace, change.position
        self._purge_log(patiently=False)

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
        self._note(change, episode.id)

    def _blank(self, change: _PendingChange, episode_id: str) -> None:
        """Take an episode away and overwrite its row in place."""
        key = bytes.fromhex(episode_id)
        self._database.execute(
            "UPDATE record SET digest = zeroblob(length(digest)), content = zeroblob(length(content))"
            " WHERE number = (SELECT record FROM current WHERE namespace = ? AND id = ?)",
            (change.namespace, key),
        )
        self._database.execute("DELETE FROM current WHERE namespace = ? AND id = ?", (change.namespace, key))
        change.episodes -= 1
        self._has_overwritten = True

    def _note(self, change: _PendingChange, episode_id: str) -> None:
        """Log that an episode has changed."""
        change.position = ChangePosition(change.position.number + 1, secrets.token_bytes(_TOKEN_BYTES))
        self._database.execute(
            "INSERT INTO change (namespace, number, token, episode) VALUES (?, ?, ?, ?)",
            (change.namespace, change.position.number, change.position.token, bytes.fromhex(episode_id)),
        )

    def _remove_snapshots(self) -> None:
        """Before a change that takes text away: a snapshot must not outlive it."""
        if self._shelf.snapshots is not None:
            try:
                self._shelf.snapshots.remove()
            except OSError as error:
                raise StoreError(
                    f"nothing was forgotten, because a snapshot cannot be removed: {error}", path=self._database.place
                ) from error
            self._shelf.snapshot = ChangePosition()

    def _purge_log(self, *, patiently: bool) -> None:
        """After something was forgotten: empty the log, now or when no reader prevents it any more."""
        if self._log_holds_forgotten:
            self._log_holds_forgotten = not self._database.truncate_log(patiently=patiently)

    # -- vectors ----------------------------------------------------------------------------------------------------

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        _require_name(model, "the name of a model")
        texts_by_key = {_text_digest(text): text for text in texts}
        found: dict[str, NDArray[np.float32]] = {}
        with self._using():
            for keys in _batched(list(texts_by_key)):
                rows = self._database.all(
                    f"SELECT text, vector FROM vector WHERE namespace = ? AND model = ? AND text IN ({_marks(keys)})",
                    (self._shelf.number, model, *keys),
                )
                for key, packed in rows:
                    if not isinstance(packed, bytes) or _checksum(packed[_CHECKSUM_BYTES:]) != packed[:_CHECKSUM_BYTES]:
                        raise DamagedFileError(
                            f"a vector of {model} cannot be read: its bytes have changed", path=self._database.place
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
        with self._using():
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
            self._shelf.number = change.namespace

    def save_index(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> bool:
        with self._writing():
            shelf = self._shelf
            if shelf.snapshots is None or shelf.graph is None or not shelf.graph.is_compact:
                return False
            try:
                self._write_snapshot()
                shelf.snapshots.write_index(shelf.position, name, arrays)
            except OSError as error:
                raise StoreError(f"the index cannot be written: {error}", path=self._database.place) from error
            return True

    def load_index(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        with self._using():
            shelf = self._shelf
            if shelf.snapshots is None or not shelf.base.number:
                return None
            return shelf.snapshots.load_index(shelf.base, name)

    def clear_vectors(self) -> None:
        with self._writing(), self._database.transaction():
            self._database.execute("DELETE FROM vector WHERE namespace = ?", (self._shelf.number,))

    # -- care -------------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, int]:
        with self._using() as graph:
            row = self._database.one("SELECT COUNT(*) FROM vector WHERE namespace = ?", (self._shelf.number,))
            return {**graph.counts(), "vectors": row[0]}

    def checkpoint(self) -> None:
        with self._writing():
            try:
                self._write_snapshot()
            except OSError as error:
                raise StoreError(f"the snapshot cannot be written: {error}", path=self._database.place) from error
            self._give_back_space()
            self._log_holds_forgotten = not self._database.truncate_log()

    def _give_back_space(self) -> None:
        blank, rows = self._database.blank_rows()
        if blank > max(_BLANK_ROWS, rows // 2):
            with self._database.transaction():
                self._database.rewrite_record()

    def _write_snapshot(self) -> None:
        shelf = self._shelf
        if shelf.snapshots is None or shelf.graph is None or shelf.position == shelf.snapshot:
            return
        # the snapshot of a graph with gaps numbers everything anew
        base = shelf.base if shelf.graph.is_compact else ChangePosition()
        shelf.snapshots.write(shelf.graph, shelf.position, base if base.number else None)
        shelf.snapshot = shelf.position
        shelf.base = shelf.position if shelf.graph.is_compact else ChangePosition()

    def _write_snapshot_if_it_pays(self, changes: int) -> None:
        """Write a snapshot when folding ``changes`` is worth avoiding.

        Folding one takes some four times as long as writing one episode of a snapshot, of which all must be written.
        """
        graph = self._shelf.graph
        if graph is None or changes <= max(_SNAPSHOT_CHANGES, len(graph) // _SNAPSHOT_PART):
            return
        try:
            self._write_snapshot()
        except OSError as error:
            # nothing is lost: the next opening reads the record
            warnings.warn(f"{self._database.place}: no snapshot for quick opening: {error}", stacklevel=2)

    def _changes_since_snapshot(self) -> int:
        return self._shelf.position.number - self._shelf.snapshot.number

    def close(self) -> None:
        with self._database.lock:
            if self._closed:
                return
            self._closed = True
            self._shelf.users -= 1
            self._database.users -= 1
            try:
                if not self.readonly and not self._shelf.users:
                    self._write_snapshot_if_it_pays(self._changes_since_snapshot())
                    if self._has_overwritten:
                        self._give_back_space()
            finally:
                if not self._database.users:
                    self._database.close()

    def _require_open(self) -> None:
        if self._closed:
            raise ClosedError("the memory was closed: open it again", path=self._database.place)


def _resolved(path: str | os.PathLike[str] | None) -> Path | None:
    """The file behind all links: the lock beside it must be the same by whatever name it is opened."""
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
        raise InputError(f"the id of an episode is a string, not {type(episode_id).__name__}")
    return episode_id


def _whole_numbers(row: Sequence[object], database: Database) -> list[int]:
    if not all(isinstance(value, int) for value in row):
        raise DamagedFileError("the list of namespaces cannot be read", path=database.place)
    return [value for value in row if isinstance(value, int)]


def _texts_of(episode: Episode) -> set[str]:
    """Whatever of an episode may have been embedded: its text, its statements, their names and reasons."""
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


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _batched(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]

"""The contract of a store, which holds one namespace of a file or another place for memories."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import FormatError, InputError, StoreError
from worldthread.graph import TemporalGraph
from worldthread.graph.conditions import Condition
from worldthread.stores.exchange import LineReader, write_lines, written_file
from worldthread.support.arguments import require_methods, require_path
from worldthread.support.closeable import Closeable
from worldthread.types import Episode

Durability: TypeAlias = Literal["normal", "full"]
"""What an acknowledged change survives.

``"normal"``: the end of the process by any means, ``kill -9`` included. A crash of the operating system or a loss of
power can lose the last changes; the file stays intact and holds everything up to some earlier change.

``"full"``: a crash of the operating system and a loss of power too. Every change waits until the disk has it, which
costs one ``fsync`` each.
"""

DEFAULT_NAMESPACE: Final = "default"
_LOOK_SECONDS: Final = 0.05
_FILE_OR_STREAM: Final = "the name of a file, or a stream"


PIECE_MARK: Final = "\x1f"
"""Stands in the name of a stored index between that of the index and the number of a piece of it."""


@dataclass(frozen=True)
class KnownRecord:
    """What a record held when texts were read from it, so that nothing is kept of what it has forgotten since.

    Args:
        graph: its graph.
        numbering: the :attr:`~worldthread.graph.TemporalGraph.numbering` of the graph at that time.
        removed: the :attr:`~worldthread.graph.TemporalGraph.unused_size` of the graph at that time.
    """

    graph: TemporalGraph
    numbering: int
    removed: int

    @classmethod
    def of(cls, graph: TemporalGraph) -> Self:
        """Return what a record holds now.

        Args:
            graph: its graph; the caller holds the lock of the store.
        """
        return cls(graph, graph.numbering, graph.unused_size)

    def lacks_nothing_in(self, graph: TemporalGraph) -> bool:
        """Return whether nothing was forgotten or replaced since, as far as that is known of this graph.

        Args:
            graph: the graph of the record, up to date; the caller holds the lock of the store.
        """
        return self.graph is graph and (self.numbering, self.removed) == (graph.numbering, graph.unused_size)


class ImportCounts(NamedTuple):
    """The result of an import.

    Args:
        added: number of new episodes.
        known: number of episodes that the store had already; they were not changed.
    """

    added: int
    known: int


@dataclass(frozen=True)
class NamespaceSize:
    """How much a namespace holds.

    Args:
        name: the name of the namespace.
        episodes: the number of its episodes.
        bytes: the size of their records, without vectors and indexes.
    """

    name: str
    episodes: int
    bytes: int


class Store(Closeable):
    """The recorded episodes of one namespace, with their graph and their vectors. Thread-safe.

    :attr:`graph` and its views are live: while other threads write, read them inside
    ``with store.read_lock() as graph``. Do not use a store after a fork of the process.

    Every method raises :class:`~worldthread.errors.ClosedError` after :meth:`close`,
    :class:`~worldthread.errors.DamagedFileError` when something cannot be read, and
    :class:`~worldthread.errors.StoreError` with the reason when the disk or its permissions refuse. Methods that write
    raise :class:`~worldthread.errors.ReadOnlyError` when the store was opened for reading only.
    """

    @classmethod
    @abstractmethod
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
        """Open a store, or create one where there is none.

        Args:
            path: the file or the address; ``None`` for a store in RAM, which is lost when it is closed.
            namespace: name of the namespace.
            readonly: never write.
            durability: what an acknowledged change survives, see :data:`Durability`.
            wait: seconds to wait for another writer; ``math.inf`` for as long as it takes.
            clock: gives the recorded time of new episodes, in seconds since 1970-01-01 UTC.

        Returns:
            The store; close it, or use it as a context manager.

        Raises:
            InputError: an argument cannot be used.
            StoreError: the store cannot be opened; the message says why.
        """

    @property
    @abstractmethod
    def namespace(self) -> str:
        """Name of the namespace. Nothing of one namespace is visible from another."""

    @property
    @abstractmethod
    def path(self) -> Path | None:
        """The file of the store; ``None`` when it is in RAM or on a server."""

    @property
    def location(self) -> str:
        """Where the memory is, for messages: its file, or its address without a password."""
        return "in RAM" if self.path is None else str(self.path)

    @property
    def keeps_indexes(self) -> bool:
        """Whether an index that is saved is there when the store is opened again."""
        return self.path is not None

    @property
    @abstractmethod
    def readonly(self) -> bool:
        """Whether the store was opened for reading only."""

    @abstractmethod
    def require_writable(self) -> None:
        """Raise unless the store may be written.

        Raises:
            ReadOnlyError: the store was opened for reading only.
        """

    # -- the record -------------------------------------------------------------------------------------------------

    @abstractmethod
    def append(self, episode: Episode) -> Episode:
        """Record an episode durably.

        The change is acknowledged when the method returns, see :data:`Durability`. An episode that is recorded already
        with the same extraction is not recorded again.

        Args:
            episode: the episode. Without a recorded time it gets that of the store's clock.

        Returns:
            The episode as recorded (as recorded first, when it was there already).

        Raises:
            InputError: ``episode`` is not an episode, or is recorded with another extraction (see :meth:`replace`).
        """

    @abstractmethod
    def append_many(self, episodes: Iterable[Episode]) -> int:
        """Record many episodes in one transaction.

        The batch is acknowledged as a whole: if ``episodes`` raises an error, or contains something unusable, none of
        them is recorded.

        Args:
            episodes: in any order. They are consumed one by one; the iterable must not change the store.

        Returns:
            How many of them are new.

        Raises:
            InputError: as for :meth:`append`, or ``episodes`` is not iterable or changes the store.
        """

    @abstractmethod
    def replace(self, episode: Episode) -> Episode:
        """Replace the extraction of a recorded episode. Its id and its recorded time stay; ``extracted_at`` is now.

        Vectors of statements and names that only the older extraction had are removed.

        Args:
            episode: the recorded episode with its new extraction.

        Returns:
            The episode as recorded now.

        Raises:
            InputError: ``episode`` is not an episode.
            NotFoundError: there is no such episode.
        """

    @abstractmethod
    def forget(self, episode_id: str) -> None:
        """Remove an episode. Afterwards the graph is as if the episode had never been recorded.

        Its text and its extraction are overwritten in every file of the memory before this method returns, unless
        another process is in the middle of a long read of the record: then the write-ahead log keeps a copy until the
        next change, or :meth:`close`, after that read. Vectors of its text, its statements and their names are removed;
        vectors of other excerpts stay, as numbers without their text.

        Args:
            episode_id: id of the episode.

        Raises:
            InputError: ``episode_id`` is not a string.
            NotFoundError: there is no such episode.
        """

    def forget_many(self, episode_ids: Sequence[str]) -> None:
        """Remove many episodes, as :meth:`forget` removes one. In a file: all of them or, after an error, none.

        Args:
            episode_ids: ids of the episodes.

        Raises:
            InputError: an id is not a string.
            NotFoundError: there is no such episode.
        """
        for episode_id in episode_ids:
            self.forget(episode_id)

    @abstractmethod
    def clear(self) -> None:
        """Remove every episode and vector of this namespace. Older views keep showing the graph as it was."""

    @abstractmethod
    def episode(self, episode_id: str) -> Episode:
        """Return a recorded episode.

        Args:
            episode_id: id of the episode.

        Returns:
            The episode with its text and its extraction.

        Raises:
            InputError: ``episode_id`` is not a string.
            NotFoundError: there is no such episode.
        """

    def texts(self, episode_ids: Sequence[str]) -> list[str]:
        """Return the texts of recorded episodes, which may be quicker than :meth:`episode` for each.

        Args:
            episode_ids: ids of episodes.

        Returns:
            One text for each, in the same order.

        Raises:
            InputError: an id is not a string.
            NotFoundError: there is no such episode.
        """
        return [self.episode(episode_id).text for episode_id in episode_ids]

    @abstractmethod
    def episodes(self, condition: Condition | None = None) -> Iterator[Episode]:
        """Iterate over the recorded episodes.

        Args:
            condition: only those that meet it; ``None`` for all.

        Yields:
            Episodes in fold order (world time, then id), without those that are forgotten in the meantime.
        """

    # -- the graph --------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def graph(self) -> TemporalGraph:
        """The graph, brought up to date with what other processes wrote. Do not change it."""

    @abstractmethod
    def read_lock(self) -> AbstractContextManager[TemporalGraph]:
        """Keep the graph and the record as they are until the block ends. The block itself cannot change them either.

        Returns:
            A context manager that gives the graph.
        """

    def is_read_by_this_thread(self) -> bool:
        """Say whether the calling thread has the memory locked.

        Returns:
            Whether it is inside a :meth:`read_lock` or :meth:`write_lock`; such a thread must not wait for another one.
        """
        return False

    @contextmanager
    def write_lock(self) -> Iterator[TemporalGraph]:
        """Keep every other writer, in this process and in others, from changing the store until the block ends.

        Yields:
            The graph, up to date; the block may change the store.

        Raises:
            ReadOnlyError: the store was opened for reading only.
            StoreLockedError: another writer did not finish in time.
        """
        self.require_writable()
        yield self.graph

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Record together what the block appends with :meth:`append`, where that is quicker.

        A store on a server commits once, at the end of the block: all of it is recorded then, in its order, or after
        an error nothing of it. The block reads what it has appended; nobody else does before its end, and other writers
        wait for it, so it must not wait for anybody. It makes no other change. In other stores, each episode is
        recorded when it is appended.

        Yields:
            Nothing.

        Raises:
            ReadOnlyError: the store was opened for reading only.
            StoreLockedError: another writer did not finish in time.
        """
        self.require_writable()
        yield

    def share_file(self) -> None:
        """From now on, let other processes write between the changes of this store.

        A store that was opened for writing otherwise keeps all other writers out until it is closed. A change then
        waits for other writers as long as opening did. A store that nobody else can write has nothing to share.
        """

    @abstractmethod
    def refresh(self) -> bool:
        """Bring the graph up to date with what other processes wrote. Every method that reads does so by itself.

        Returns:
            Whether anything changed.
        """

    def wait_for_change(self, seconds: float) -> bool:
        """Wait until somebody else has written, and bring the graph up to date.

        A store on a server is told of changes, and connects again when its connection breaks; others look several times
        a second.

        Args:
            seconds: the longest time to wait; ``math.inf`` for as long as it takes.

        Returns:
            Whether anything changed since the graph was last brought up to date.

        Raises:
            StoreUnavailableError: the server could not be reached until the end of that time.
        """
        deadline = time.monotonic() + seconds
        while not self.refresh():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(_LOOK_SECONDS, left))
        return True

    # -- vectors ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the stored vectors of some texts.

        Args:
            model: name of the embedding model.
            texts: the texts to look up.

        Returns:
            Vector by text, float32, shape (dimensions,); only for texts that have one.

        Raises:
            InputError: the name of the model is empty, or a text is not a string.
        """

    @abstractmethod
    def put_vectors(
        self,
        model: str,
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        *,
        known: KnownRecord | None = None,
    ) -> None:
        """Store the vectors of some texts, in half precision. The texts themselves are not stored.

        A store that was opened for reading only ignores the call.

        Args:
            model: name of the embedding model.
            texts: distinct texts.
            vectors: shape (len(texts), dimensions); row ``i`` belongs to ``texts[i]``.
            known: what the record held when the texts were read from it. Nothing is stored if it has forgotten
                anything since, because that may be one of the texts.

        Raises:
            InputError: the shapes do not fit, a number is not finite, the name of the model is empty, or a text is not
                a string.
        """

    @abstractmethod
    def save_index(self, name: str, arrays: Mapping[str, NDArray[Any]], graph: TemporalGraph, numbering: int) -> bool:
        """Store an index of the graph, which refers to episodes and statements by their numbers.

        This is not possible after something was forgotten, until the store is opened again: the numbers of the graph
        then have gaps, and those of a snapshot have none.

        Args:
            name: name of the index, with a version. What follows a :data:`PIECE_MARK` says which piece of it this is.
            arrays: arrays by name; the names are used as file names.
            graph: the graph whose numbers the arrays use.
            numbering: its :attr:`~worldthread.graph.TemporalGraph.numbering` at that time.

        Returns:
            Whether the index was stored; not if the store has another graph or other numbers by now.
        """

    @abstractmethod
    def load_index(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        """Return the index that was stored under a name. The graph may have grown since, and lost episodes.

        Args:
            name: name of the index, with a version.

        Returns:
            Arrays by name; ``None`` when no stored index fits the numbers of the graph.
        """

    @abstractmethod
    def vector_models(self, texts: Sequence[str]) -> set[str]:
        """Return the embedding models that have a vector of every one of some texts.

        Args:
            texts: a few texts; for none, no model is returned.

        Returns:
            The names under which the vectors are stored.

        Raises:
            InputError: a text is not a string.
        """

    @abstractmethod
    def clear_vectors(self, *, keep: str | None = None) -> None:
        """Remove the vectors of this namespace, and the indexes that hold them: all of them or, after an error, none.

        Args:
            keep: name of the embedding model whose vectors and indexes stay; ``None`` to remove all.
        """

    # -- maintenance --------------------------------------------------------------------------------------------------

    @abstractmethod
    def checkpoint(self) -> None:
        """Write a snapshot for fast opening, reclaim space and empty the log.

        :meth:`close` does each of these where it pays off.
        """

    @abstractmethod
    def stats(self) -> dict[str, int]:
        """Count what the namespace holds.

        Returns:
            The numbers of :meth:`TemporalGraph.counts`, and ``vectors``.
        """

    @abstractmethod
    def open_namespace(self, namespace: str) -> Self:
        """Open another namespace of the same file. Close each store; the last one closes the file.

        Args:
            namespace: name of the namespace.

        Returns:
            A store of that namespace, which shares the file.

        Raises:
            InputError: the name is empty or not valid Unicode.
        """

    @abstractmethod
    def list_namespaces(self) -> list[NamespaceSize]:
        """List the namespaces of the file that hold something, with their sizes.

        Returns:
            The namespaces, sorted by name.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the file. May be called again."""

    # -- export and import ------------------------------------------------------------------------------------------

    def export(self, target: str | os.PathLike[str] | IO[bytes] | IO[str], condition: Condition | None = None) -> int:
        """Write every episode as JSON Lines (:mod:`worldthread.stores.exchange`).

        Args:
            target: a file, which is written whole or not at all and is private to its owner; or a pipe, a device, or an
                open stream.
            condition: only episodes that meet it; ``None`` for all.

        Returns:
            The number of episodes.

        Raises:
            InputError: ``target`` is a file of this memory, or neither a file nor a stream.
            StoreError: ``target`` cannot be written.
        """
        with self.read_lock() as graph:
            count = len(graph) if condition is None else len(graph.selected_episodes(condition))
            if not isinstance(target, str | os.PathLike):
                require_methods(target, ("write",), "the target of an export", _FILE_OR_STREAM)
                write_lines(target, self.episodes(condition), count)
                return count
            path = require_path(target, "the target of an export")
            own = str(self.path) if self.path else None
            if own and str(path.resolve()) in (own, *(own + ending for ending in ("-wal", "-shm", "-lock"))):
                raise InputError(f"{path} belongs to the memory itself: export to another file")
            with written_file(path) as stream:
                write_lines(stream, self.episodes(condition), count)
            return count

    def import_(self, source: str | os.PathLike[str] | IO[bytes] | IO[str]) -> ImportCounts:
        """Record every episode of an export with its recorded time, all or nothing. Known episodes are skipped.

        Args:
            source: a file or an open stream; it is read line by line.

        Returns:
            How many episodes are new, and how many were known.

        Raises:
            InputError: ``source`` is neither a file nor a stream.
            FormatError: a line is malformed, or an episode is recorded here with another extraction.
            StoreError: ``source`` cannot be read.
        """
        if not isinstance(source, str | os.PathLike):
            require_methods(source, ("read",), "the source of an import", _FILE_OR_STREAM)
            return self._import_lines(LineReader(source))
        path = require_path(source, "the source of an import")
        try:
            stream = path.open("rb")
        except OSError as error:
            raise StoreError(f"cannot be read: {error.strerror or error}", path=path) from error
        with stream:
            return self._import_lines(LineReader(stream, path))

    def _import_lines(self, reader: LineReader) -> ImportCounts:
        try:
            added = self.append_many(reader)
        except FormatError:
            raise
        except InputError as error:
            raise reader.error(str(error)) from error
        return ImportCounts(added, reader.count - added)

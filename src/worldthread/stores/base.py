"""The contract of a store: one namespace of one place where memories are kept."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.arguments import require_methods, require_path
from worldthread.errors import FormatError, InputError, StoreError
from worldthread.graph import TemporalGraph
from worldthread.stores.exchange import LineReader, write_lines, written_file
from worldthread.types import Episode

Durability: TypeAlias = Literal["normal", "full"]
"""What an acknowledged change survives.

``"normal"``: the end of the process by any means, ``kill -9`` included. A crash of the operating system or a loss of
power can take the last changes with it; the file stays sound and holds everything up to some moment before.

``"full"``: that too. Every change waits until the disk has it, which costs one ``fsync`` each.
"""

DEFAULT_NAMESPACE: Final = "default"
_PLACE: Final = "the name of a file, or a stream"


class ImportCounts(NamedTuple):
    """What an import did.

    Args:
        added: episodes that are new.
        known: episodes that were there already, and were left alone.
    """

    added: int
    known: int


class Store(ABC):
    """The record of one namespace, its graph and its vectors.

    Every method may be called from several threads. :attr:`graph` and its views are live: while other threads write,
    read them inside ``with store.read_lock() as graph``. A store does not survive a fork of the process.

    Every method raises :class:`~worldthread.errors.ClosedError` after :meth:`close`,
    :class:`~worldthread.errors.DamagedFileError` when it meets what cannot be read, and
    :class:`~worldthread.errors.StoreError` with the reason when the disk or its permissions refuse; those that write
    raise :class:`~worldthread.errors.ReadOnlyError` when the store was opened for reading.
    """

    @property
    @abstractmethod
    def namespace(self) -> str:
        """Name of the namespace. Nothing of one namespace can be seen from another."""

    @property
    @abstractmethod
    def path(self) -> Path | None:
        """The file; ``None`` when there is none."""

    @property
    @abstractmethod
    def readonly(self) -> bool:
        """Whether the store was opened for reading only."""

    @abstractmethod
    def require_writable(self) -> None:
        """Do nothing, where the store may be written.

        Raises:
            ReadOnlyError: the store was opened for reading.
        """

    # -- the record -------------------------------------------------------------------------------------------------

    @abstractmethod
    def append(self, episode: Episode) -> Episode:
        """Record an episode durably: the episode with its recorded time (the clock's, unless it brings one).

        An episode that is known already, with the same reading, is not recorded again: what is returned is as it was
        recorded first. The change is acknowledged by the return: see :data:`Durability`.

        Raises:
            InputError: not an episode, or one that is recorded with another reading (see :meth:`replace`).
        """

    @abstractmethod
    def append_many(self, episodes: Iterable[Episode]) -> int:
        """Record many in one transaction: how many were new.

        The batch is acknowledged as a whole: if ``episodes`` raises, or holds something unusable, nothing of it is
        recorded. ``episodes`` is consumed one by one and must not change the store.

        Raises:
            InputError: as for :meth:`append`.
        """

    @abstractmethod
    def replace(self, episode: Episode) -> Episode:
        """Give a recorded episode a new reading (its id and recorded time stay): the episode as it is now recorded.

        Raises:
            InputError: not an episode.
            NotFoundError: no such episode.
        """

    @abstractmethod
    def forget(self, episode_id: str) -> None:
        """Remove an episode: afterwards the graph is the one in which it never happened.

        Its text and its reading are overwritten in every file of the memory before this returns, unless another
        process is in the middle of a long read of the record: then the write-ahead log keeps a copy until the next
        change, or :meth:`close`, after that read. Vectors of its text, its statements and their names are removed;
        vectors of other excerpts stay, as numbers without their text.

        Raises:
            NotFoundError: no such episode.
        """

    @abstractmethod
    def clear(self) -> None:
        """Remove every episode and vector of this namespace. Views taken before show the graph as it was."""

    @abstractmethod
    def episode(self, episode_id: str) -> Episode:
        """An episode with its text and its reading.

        Raises:
            NotFoundError: no such episode.
        """

    @abstractmethod
    def episodes(self) -> Iterator[Episode]:
        """The episodes in fold order (world time, then id). Those forgotten in the meantime are left out."""

    # -- the graph --------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def graph(self) -> TemporalGraph:
        """The graph, brought up to date with what other processes wrote. Not to be changed."""

    @abstractmethod
    def read_lock(self) -> AbstractContextManager[TemporalGraph]:
        """The graph and the record as at one moment: nobody can change them until the block ends, nor can the block."""

    @abstractmethod
    def refresh(self) -> bool:
        """Take in what other processes wrote: whether there was anything. Every method that reads does so too."""

    # -- vectors ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """The vectors, shape ``(dimensions,)``, of those ``texts`` that are kept for ``model``, by text. Read-only."""

    @abstractmethod
    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep row ``i`` of ``vectors``, shape ``(len(texts), dimensions)``, for ``texts[i]``. The texts are distinct.

        The vectors are kept in half precision, the texts are not. A store that was opened for reading keeps nothing.

        Raises:
            InputError: the shapes do not fit, or a number is not finite.
        """

    @abstractmethod
    def save_index(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Keep what was derived from the graph as it is now, by the numbers that it gives: whether that was possible.

        It is not after something was forgotten, until the next opening: the numbers of the graph then have gaps, which
        a snapshot has not.

        Args:
            name: of the index, with a version.
            arrays: by names that may be names of files.
        """

    @abstractmethod
    def load_index(self, name: str) -> Mapping[str, NDArray[Any]] | None:
        """What was kept under a name, memory-mapped; ``None`` when there is nothing that fits the numbers of the graph.

        The graph may have grown since, and lost episodes.
        """

    @abstractmethod
    def clear_vectors(self) -> None:
        """Remove all vectors of this namespace."""

    # -- care -------------------------------------------------------------------------------------------------------

    @abstractmethod
    def checkpoint(self) -> None:
        """Write a snapshot for quick opening, give back space, empty the log. :meth:`close` does of this what pays."""

    @abstractmethod
    def stats(self) -> dict[str, int]:
        """Numbers of episodes, statements (see :meth:`TemporalGraph.counts`) and vectors."""

    @abstractmethod
    def open_namespace(self, namespace: str) -> Self:
        """Another namespace of the same place. Each is closed on its own; the place, with the last of them.

        Raises:
            InputError: the name is empty or not valid Unicode.
        """

    @abstractmethod
    def close(self) -> None:
        """Release everything. May be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- export and import ------------------------------------------------------------------------------------------

    def export(self, target: str | os.PathLike[str] | IO[bytes] | IO[str]) -> int:
        """Write every episode as JSON Lines (:mod:`worldthread.stores.exchange`): how many.

        Args:
            target: a file, written whole or not at all; a pipe or device, or a stream.

        Raises:
            InputError: ``target`` is the file of this memory, or neither a file nor a stream.
            StoreError: ``target`` cannot be written.
        """
        with self.read_lock() as graph:
            count = len(graph)
            if not isinstance(target, str | os.PathLike):
                require_methods(target, ("write",), "the target of an export", _PLACE)
                write_lines(target, self.episodes(), count)
                return count
            path = require_path(target, "the target of an export")
            own = str(self.path) if self.path else None
            if own and str(path.resolve()) in (own, *(own + ending for ending in ("-wal", "-shm", "-lock"))):
                raise InputError(f"{path} belongs to the memory itself: export to another file")
            with written_file(path) as stream:
                write_lines(stream, self.episodes(), count)
            return count

    def import_(self, source: str | os.PathLike[str] | IO[bytes] | IO[str]) -> ImportCounts:
        """Record every episode of an export, with its recorded time; all or nothing. Known episodes are skipped.

        Args:
            source: a file or a stream; read line by line.

        Raises:
            InputError: ``source`` is neither a file nor a stream.
            FormatError: a line is not what it should be, or an episode is recorded here with another reading.
            StoreError: ``source`` cannot be read.
        """
        if not isinstance(source, str | os.PathLike):
            require_methods(source, ("read",), "the source of an import", _PLACE)
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

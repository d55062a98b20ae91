"""A memory: the record of what was seen, and the graph of it. Wiring only; the work is done by what it holds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.cached import VectorCache
from worldthread.stores import DEFAULT_NAMESPACE, Durability, ImportCounts, SQLiteStore, Store
from worldthread.types import Episode


class Memory:
    """What was seen, in one file or in RAM.

    ::

        with Memory("home.worldthread") as memory:
            memory.add(Episode("The key is in the chest.", at=1, reading=Reading("by hand", (fact,))))
            memory.view().facts(subject="key")

    May be used from several threads; while others write, read the graph and its views inside
    ``with memory.reading() as graph``. Every call raises :class:`~worldthread.errors.ClosedError` after
    :meth:`close`, and :class:`~worldthread.errors.StoreError` with the reason when the file cannot be read or written.

    Args:
        path: the file, made when it does not exist; ``None`` for a memory in RAM, gone when it is closed.
        namespace: which memory of the file. Memories of one file never see each other.
        readonly: never write. Any number of readers may stand beside the one writer, and follow it.
        durability: what an acknowledged change survives. ``"normal"``: the end of the process by any means; a loss of
            power can take the last changes with it, never the file. ``"full"``: that too, at one ``fsync`` a change.
        wait: seconds to wait for another writer; ``math.inf`` for as long as it takes.
        clock: the recorded time of what is written, in seconds since 1970-01-01 UTC.

    Raises:
        InputError: an argument cannot be used.
        ForeignFileError, DamagedFileError, FileVersionError: the file was left as it was.
        StoreLockedError: another writer did not finish in time.
        StoreError: the file cannot be opened; the message says why.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        readonly: bool = False,
        durability: Durability = "normal",
        wait: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store: Store = SQLiteStore.open(
            path, namespace=namespace, readonly=readonly, durability=durability, wait=wait, clock=clock
        )

    def open_namespace(self, namespace: str) -> Memory:
        """Another memory of the same file. Each is closed on its own; the file, with the last of them.

        Raises:
            InputError: the name is empty or not valid Unicode.
        """
        memory = object.__new__(type(self))
        memory._store = self._store.open_namespace(namespace)
        return memory

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for a memory in RAM."""
        return self._store.path

    @property
    def namespace(self) -> str:
        """Which memory of the file."""
        return self._store.namespace

    @property
    def readonly(self) -> bool:
        """Whether it was opened for reading only."""
        return self._store.readonly

    # -- the record -------------------------------------------------------------------------------------------------

    def add(self, episode: Episode) -> Episode:
        """Record an episode durably: the episode with its recorded time. See :meth:`Store.append`.

        Raises:
            InputError: not an episode, or one that is recorded with another reading.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.append(episode)

    def add_many(self, episodes: Iterable[Episode]) -> int:
        """Record many, all or nothing: how many were new. See :meth:`Store.append_many`.

        Raises:
            InputError: as for :meth:`add`.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.append_many(episodes)

    def replace(self, episode: Episode) -> Episode:
        """Give a recorded episode a new reading: the episode as it is now recorded.

        Raises:
            NotFoundError: no such episode.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.replace(episode)

    def forget(self, episode_id: str) -> None:
        """Remove an episode, its text and all that came from it alone, as if it had never happened.

        What is overwritten, and when, is described at :meth:`Store.forget`.

        Raises:
            NotFoundError: no such episode.
            ReadOnlyError: the memory was opened for reading.
        """
        self._store.forget(episode_id)

    def episode(self, episode_id: str) -> Episode:
        """An episode with its text and its reading.

        Raises:
            NotFoundError: no such episode.
        """
        return self._store.episode(episode_id)

    def episodes(self) -> Iterator[Episode]:
        """The episodes in fold order (world time, then id)."""
        return self._store.episodes()

    # -- the graph --------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> TemporalGraph:
        """The graph, up to date and live. Not to be changed."""
        return self._store.graph

    def reading(self) -> AbstractContextManager[TemporalGraph]:
        """The graph and the record as at one moment: nobody can change them until the block ends, nor can the block."""
        return self._store.reading()

    def view(self, at: float | None = None) -> GraphView:
        """What holds now, or held at world time ``at``; live."""
        return self.graph.view(at)

    def as_of(self, world_time: float | None = None, recorded_time: float | None = None) -> GraphView:
        """What held when only the episodes up to a world time and up to a recorded time (both inclusive) were known."""
        with self.reading() as graph:
            return graph.as_of(world_time, recorded_time).view()

    def state_hash(self) -> str:
        """64 hexadecimal digits, equal exactly when the episodes and all that follows from them are."""
        with self.reading() as graph:
            return graph.state_hash()

    def refresh(self) -> bool:
        """Take in what another process wrote: whether there was anything. Every other call does so too."""
        return self._store.refresh()

    # -- care -------------------------------------------------------------------------------------------------------

    @property
    def vectors(self) -> VectorCache:
        """Keeps vectors by model and text, in the file."""
        return self._store

    def stats(self) -> dict[str, int]:
        """Numbers of episodes, facts, theses (ever stated, and holding now), ended versions and vectors."""
        return self._store.stats()

    def export(self, target: str | Path | IO[bytes] | IO[str]) -> int:
        """Write every episode as JSON Lines to a file or a stream: how many. See :meth:`Store.export`.

        Raises:
            StoreError: the file cannot be written.
        """
        return self._store.export(target)

    def import_(self, source: str | Path | IO[bytes] | IO[str]) -> ImportCounts:
        """Record every episode of an export, all or nothing: how many were new, and how many were known.

        Raises:
            FormatError: a line is not what it should be; the message says which.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.import_(source)

    def checkpoint(self) -> None:
        """Write a snapshot for quick opening, give back space, empty the log. :meth:`close` does of this what pays.

        Raises:
            ReadOnlyError: the memory was opened for reading.
        """
        self._store.checkpoint()

    def close(self) -> None:
        """Release the file. May be called again."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

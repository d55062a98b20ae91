"""The open memories of the server: the one that it was started for, and those of runs."""

from __future__ import annotations

import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from worldthread.errors import InputError
from worldthread.graph import NameLinks, TemporalGraph
from worldthread.memory.memory import Memory
from worldthread.web.cluster_drawing import ClusterPictures
from worldthread.web.clusters import NameClusters
from worldthread.web.names import NameIndex
from worldthread.web.overview import CountedTime, Overview, StatementCounts, counts_of, overview_of

_MAX_OPEN: Final = 8
_MAX_CLUSTERED: Final = 2  # graphs whose clusters are kept: what is known, and what was recorded by some time
_MAX_COUNTED: Final = 200_000  # the most statements of a graph for which all counts are computed
_ANY_TIME: Final = CountedTime()


@dataclass(frozen=True)
class MemoryLocation:
    """The location of a memory: a file, and a namespace in it."""

    path: Path
    namespace: str


@dataclass
class OpenMemory:
    """A memory that is open for reading, and follows its writers."""

    path: Path
    memory: Memory
    names: NameIndex = field(default_factory=NameIndex)
    _counts: tuple[tuple[TemporalGraph, int, CountedTime], StatementCounts] | None = field(default=None, init=False)
    _links: tuple[tuple[TemporalGraph, int], NameLinks] | None = field(default=None, init=False)
    _overview: tuple[tuple[TemporalGraph, int, CountedTime], Overview] | None = field(default=None, init=False)
    _opening: str = field(default_factory=lambda: secrets.token_hex(4), init=False)
    _changes: int = field(default=0, init=False)
    _seen: tuple[TemporalGraph, int] | None = field(default=None, init=False)
    _counting: threading.Lock = field(default_factory=threading.Lock, init=False)
    _recorded: tuple[TemporalGraph, int, float, TemporalGraph, NameIndex] | None = field(default=None, init=False)
    _clustering: threading.Lock = field(default_factory=threading.Lock, init=False)
    _clustered: list[tuple[TemporalGraph, int, Future[ClusterPictures]]] = field(default_factory=list, init=False)

    def clusters(self, graph: TemporalGraph) -> Future[ClusterPictures]:
        """Look for the clusters of a graph in a thread of their own, again only after a change.

        Args:
            graph: the graph, locked for reading; the thread needs it no longer.

        Returns:
            The clusters, once they are found.
        """
        with self._clustering:
            for other, changes, found in self._clustered:
                if other is graph and changes == graph.change_count:
                    return found
            found = Future()
            others = [one for one in self._clustered if one[0] is not graph]
            self._clustered = [(graph, graph.change_count, found), *others][:_MAX_CLUSTERED]
            links, numbering = graph.name_links(), graph.numbering
        # a process that ends does not wait for it
        threading.Thread(target=_find_clusters, args=(links, numbering, found), daemon=True).start()
        return found

    def counts(self, graph: TemporalGraph, names: NameIndex, time: CountedTime) -> dict[str, int]:
        """Return what the first page counts, computed again only after a change.

        Args:
            graph: the graph, locked for reading.
            names: its names.
            time: what of the time counts.

        Returns:
            ``names`` and ``statements``, of these ``current``, and how often one has ``ended``; for a very large graph
            at any time the first two alone, since the others take long.
        """
        return self._kept_counts(graph, names, time)[0]

    def strongest(self, graph: TemporalGraph, names: NameIndex, time: CountedTime) -> list[tuple[str, int]]:
        """Return the names that most statements mention, with how many these are; see :meth:`counts`."""
        return self._kept_counts(graph, names, time)[1]

    def _kept_counts(
        self, graph: TemporalGraph, names: NameIndex, time: CountedTime
    ) -> tuple[dict[str, int], list[tuple[str, int]]]:
        if time == _ANY_TIME and len(graph.statement_numbers) > _MAX_COUNTED:
            told = {"names": len(names), "statements": int(graph.asserted().sum())}
            return told, [(name, names.weight(name)) for name in names.strongest]
        key = graph, graph.change_count, time
        if self._counts is None or self._counts[0] != key:
            found = counts_of(self._links_of(graph), time)
            self._counts = key, found
        return self._counts[1].as_json(), self._counts[1].strongest

    def _links_of(self, graph: TemporalGraph) -> NameLinks:
        key = graph, graph.change_count
        if self._links is None or self._links[0] != key:
            self._links = key, graph.name_links()
        return self._links[1]

    def overview(self, graph: TemporalGraph, time: CountedTime) -> Overview:
        """Return the overview of a graph, computed again only after a change.

        Args:
            graph: the graph, locked for reading.
            time: what of the time counts.
        """
        key = graph, graph.change_count, time
        if self._overview is None or self._overview[0] != key:
            self._overview = key, overview_of(graph, time)
        return self._overview[1]

    def state(self) -> dict[str, Any]:
        """Return which state the memory is in.

        Returns:
            ``change``, a text that is another one after every change of the memory, by whomever: two parts joined by a
            hyphen, of which the second is a number that rises and the first tells when it began anew; and ``now``, the
            world time of the last episode, or ``None``.
        """
        with self.memory.record.read_lock() as graph, self._counting:
            if self._seen is None or self._seen != (graph, graph.change_count):
                self._seen = graph, graph.change_count
                self._changes += 1
            now = graph.now
            return {"change": f"{self._opening}-{self._changes}", "now": now if math.isfinite(now) else None}

    def graph_recorded(self, time: float) -> tuple[TemporalGraph, NameIndex]:
        """Return the graph of what was recorded up to and including a time, with its names; the last one is kept.

        Args:
            time: seconds since 1970-01-01 UTC.

        Raises:
            InputError: the memory is too large to compute it while somebody waits.
        """
        with self.read_lock() as (graph, _):
            cached = self._recorded
            # a graph that was made anew may have changed as often
            if cached is None or cached[0] is not graph or cached[1:3] != (graph.change_count, time):
                if len(graph.statement_numbers) > _MAX_COUNTED:
                    raise InputError(
                        f"a memory of more than {_MAX_COUNTED:,} statements is not shown as it was recorded: "
                        "use Memory.as_of(recorded_time=...)"
                    )
                past, names = graph.as_of(None, time), NameIndex()
                names.update(past)
                cached = self._recorded = graph, graph.change_count, time, past, names
        return cached[3], cached[4]

    @contextmanager
    def read_lock(self) -> Iterator[tuple[TemporalGraph, NameIndex]]:
        """Lock the graph against changes until the block ends; yields the graph and its names."""
        with self.memory.record.read_lock() as graph:
            self.names.update(graph)
            yield graph, self.names


def _find_clusters(links: NameLinks, numbering: int, found: Future[ClusterPictures]) -> None:
    try:
        clusters = NameClusters(links)
        clusters.prepare()
        found.set_result(ClusterPictures(clusters, numbering))
    except BaseException as error:  # whoever waits for it gets the error
        found.set_exception(error)


@dataclass
class _Opening:
    """A memory that is open, or is being opened by the one who holds the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    memory: OpenMemory | None = None
    users: int = 0

    def close(self) -> None:
        if self.memory is not None:
            self.memory.memory.close()


class OpenMemories:
    """Opens memories at their first use, and keeps the last used ones open. Thread-safe.

    Call :meth:`close` at the end.

    Args:
        open_memory: opens a memory for reading.
    """

    def __init__(self, open_memory: Callable[[MemoryLocation], Memory]) -> None:
        self._open_memory = open_memory
        self._lock = threading.Lock()
        self._open: OrderedDict[MemoryLocation, _Opening] = OrderedDict()

    @contextmanager
    def using(self, location: MemoryLocation) -> Iterator[OpenMemory]:
        """Open a memory. While a large one opens, only those who want the same one wait.

        Args:
            location: the location of the memory.

        Yields:
            The memory, which stays open at least until the block ends.

        Raises:
            StoreError: the file cannot be opened; the message says why.
        """
        with self._lock:
            opening = self._open.setdefault(location, _Opening())
            self._open.move_to_end(location)
            opening.users += 1
        try:
            with opening.lock:
                if opening.memory is None:
                    opening.memory = OpenMemory(location.path, self._open_memory(location))
            self._close_unused()
            yield opening.memory
        finally:
            with self._lock:
                opening.users -= 1
                if opening.memory is None and not opening.users and self._open.get(location) is opening:
                    del self._open[location]  # it could not be opened

    def _close_unused(self) -> None:
        with self._lock:
            unused = [location for location, opening in self._open.items() if not opening.users]
            excess = max(len(self._open) - _MAX_OPEN, 0)
            closing = [self._open.pop(location) for location in unused[:excess]]
        for opening in closing:
            opening.close()

    def close(self) -> None:
        """Close all of them. May be called again."""
        with self._lock:
            closing = list(self._open.values())
            self._open.clear()
        for opening in closing:
            opening.close()

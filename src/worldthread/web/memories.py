"""The memories that pages can show: the one that the server was started for, and those of the runs."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from worldthread.graph import TemporalGraph
from worldthread.memory import Memory
from worldthread.web.names import NameIndex

_KEPT_OPEN: Final = 8
_COUNTED: Final = 200_000  # statements up to which what holds and what ended are counted


@dataclass(frozen=True)
class MemoryLocation:
    """Where a memory lies: a file, and a namespace of it."""

    path: Path
    namespace: str


@dataclass
class OpenMemory:
    """A memory that is open for reading, and follows whoever writes it."""

    path: Path
    memory: Memory
    names: NameIndex = field(default_factory=NameIndex)
    _counts: tuple[TemporalGraph, int, dict[str, int]] | None = field(default=None, init=False)

    def counts(self, graph: TemporalGraph) -> dict[str, int]:
        """Numbers of what there is, as :meth:`~worldthread.memory.Memory.stats` has them; counted after a change.

        Of a very large graph episodes and statements alone: all others would wait for the rest.
        """
        if len(graph.statement_numbers) > _COUNTED:
            return {"episodes": len(graph), "statements": len(graph.statement_numbers)}
        known = self._counts
        if known is None or known[0] is not graph or known[1] != graph.change_count:
            known = self._counts = graph, graph.change_count, graph.counts()
        return known[2]

    @contextmanager
    def read_lock(self) -> Iterator[tuple[TemporalGraph, NameIndex]]:
        """The graph, which nobody can change until the block ends, and its names."""
        with self.memory.record.read_lock() as graph:
            self.names.update(graph)
            yield graph, self.names


class Memories:
    """Opens memories when they are first asked for, and keeps the last ones open. May be used from several threads.

    Use as a context manager, or call :meth:`close`.

    Args:
        opens: opens a memory for reading.
    """

    def __init__(self, opens: Callable[[MemoryLocation], Memory]) -> None:
        self._opens = opens
        self._lock = threading.Lock()
        self._open: OrderedDict[MemoryLocation, OpenMemory] = OrderedDict()
        self._users: dict[MemoryLocation, int] = {}

    @contextmanager
    def using(self, place: MemoryLocation) -> Iterator[OpenMemory]:
        """A memory; it stays open at least until the block ends.

        Raises:
            StoreError: the file cannot be opened; the message says why.
        """
        with self._lock:
            found = self._open.get(place)
            if found is None:
                found = self._open[place] = OpenMemory(place.path, self._opens(place))
            self._open.move_to_end(place)
            self._users[place] = self._users.get(place, 0) + 1
            self._close_unused()
        try:
            yield found
        finally:
            with self._lock:
                self._users[place] -= 1

    def _close_unused(self) -> None:
        for place in list(self._open):
            if len(self._open) <= _KEPT_OPEN:
                return
            if not self._users.get(place):
                self._users.pop(place, None)
                self._open.pop(place).memory.close()

    def close(self) -> None:
        """Close all of them. May be called again."""
        with self._lock:
            for opened in self._open.values():
                opened.memory.close()
            self._open.clear()

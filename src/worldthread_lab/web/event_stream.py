"""The events of a play as server-sent events (HTML standard), for any number of watchers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import orjson

_HEARTBEAT: Final = (
    10.0  # seconds between signs of life: a browser that has gone is noticed, and it notices a dead line
)
_AT_ONCE: Final = 100  # events that are sent together: a watcher that does not read must not fill the memory
_MOST_WATCHERS: Final = 64


class Watchers:
    """The watchers of all streams of a server. Used by the thread of the event loop only.

    One watcher too many ends the oldest, whose browser connects again if somebody still looks at it.

    Args:
        most: the most watchers at a time. As many again may be ending, because they do not read.
    """

    def __init__(self, most: int = _MOST_WATCHERS) -> None:
        self._most = most
        self._watching: dict[asyncio.Event, None] = {}
        self._open = 0
        self._is_closed = False

    @property
    def has_room(self) -> bool:
        """Whether another watcher may come: not while too many do not read, nor when the server is ending."""
        return not self._is_closed and self._open < 2 * self._most

    def is_watching(self, changed: asyncio.Event) -> bool:
        """Return whether a watcher may go on."""
        return changed in self._watching

    @contextmanager
    def watching(self, changed: asyncio.Event) -> Iterator[None]:
        """Add a watcher until the block ends, and end the oldest if there are too many.

        Args:
            changed: is set when the watcher has to look, also at its end.

        Yields:
            Nothing.
        """
        self._open += 1
        self._watching[changed] = None
        if len(self._watching) > self._most:
            self._end(next(iter(self._watching)))
        try:
            yield
        finally:
            self._watching.pop(changed, None)
            self._open -= 1

    def _end(self, changed: asyncio.Event) -> None:
        del self._watching[changed]
        changed.set()

    def close(self) -> None:
        """End all watchers, and let no others come."""
        self._is_closed = True
        for changed in list(self._watching):
            self._end(changed)


class EventStream:
    """Events that one thread adds, and that any number of watchers follow from any number on.

    In addition, there is a snapshot of the present state; watchers get only its latest version.

    Args:
        watchers: the watchers of all streams of the server; ``None`` for those of this stream alone.
    """

    def __init__(self, watchers: Watchers | None = None) -> None:
        self.watchers = watchers or Watchers()
        self._lock = threading.Lock()
        self._events: list[bytes] = []
        self._snapshot = b""
        self._snapshot_count = 0
        self._is_over = False
        self._watchers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self._events)

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """Add an event, which every watcher gets."""
        with self._lock:
            self._events.append(_event(kind, data, len(self._events) + 1))
            self._wake()

    def set_snapshot(self, data: dict[str, Any]) -> None:
        """Replace the snapshot of the present state."""
        with self._lock:
            self._snapshot = _event("picture", data)
            self._snapshot_count += 1
            self._wake()

    def end(self) -> None:
        """End the stream after the events so far."""
        with self._lock:
            self._is_over = True
            self._wake()

    def _wake(self) -> None:
        for event, loop in self._watchers.items():
            loop.call_soon_threadsafe(event.set)

    async def follow(self, after: int = 0) -> AsyncIterator[bytes]:
        """Yield the events from a number on, then new ones as they come, until the stream ends.

        Args:
            after: how many events to skip: those that the watcher has already.

        Yields:
            Server-sent events, one or more at a time, and ``alive`` while nothing happens.
        """
        changed = asyncio.Event()
        with self._lock:
            self._watchers[changed] = asyncio.get_running_loop()
        try:
            with self.watchers.watching(changed):
                async for part in self._follow(after, changed):
                    yield part
        finally:
            with self._lock:
                del self._watchers[changed]

    async def _follow(self, after: int, changed: asyncio.Event) -> AsyncIterator[bytes]:
        shown = 0
        while self.watchers.is_watching(changed):
            with self._lock:
                fresh = self._events[after : after + _AT_ONCE]
                after += len(fresh)
                has_all = after >= len(self._events)
                snapshot, snapshot_count = self._snapshot, self._snapshot_count
                is_over = self._is_over
                if has_all:
                    changed.clear()
            if fresh:
                yield b"".join(fresh)
            if not has_all:
                continue
            if snapshot_count > shown:
                shown = snapshot_count
                yield snapshot
            if is_over:
                yield _event("over", {})
                return
            if not self.watchers.is_watching(changed):
                return
            try:
                await asyncio.wait_for(changed.wait(), _HEARTBEAT)
            except TimeoutError:
                yield _event("alive", {})


def _event(kind: str, data: dict[str, Any], number: int | None = None) -> bytes:
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"event: %s\ndata: %s\n\n" % (kind.encode(), orjson.dumps(data))

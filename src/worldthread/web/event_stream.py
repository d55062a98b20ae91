"""The events of a play as server-sent events (HTML standard), for any number of watchers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any, Final

import orjson

_HEARTBEAT: Final = 15.0  # seconds between comments, which detect that a browser has disconnected


class EventStream:
    """Events that one thread adds, and that any number of watchers follow from any number on.

    In addition, there is a snapshot of the present state; watchers get only its latest version.
    """

    def __init__(self) -> None:
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
            Server-sent events, one or more at a time, and comments while nothing happens.
        """
        changed = asyncio.Event()
        with self._lock:
            self._watchers[changed] = asyncio.get_running_loop()
        shown = 0
        try:
            while True:
                with self._lock:
                    fresh = self._events[after:]
                    snapshot, snapshot_count = self._snapshot, self._snapshot_count
                    is_over = self._is_over
                    changed.clear()
                after += len(fresh)
                if fresh:
                    yield b"".join(fresh)
                if snapshot_count > shown:
                    shown = snapshot_count
                    yield snapshot
                if is_over:
                    yield _event("over", {})
                    return
                try:
                    await asyncio.wait_for(changed.wait(), _HEARTBEAT)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            with self._lock:
                del self._watchers[changed]


def _event(kind: str, data: dict[str, Any], number: int | None = None) -> bytes:
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"event: %s\ndata: %s\n\n" % (kind.encode(), orjson.dumps(data))

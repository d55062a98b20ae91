"""What is told of a play to whoever watches it, as it happens: server-sent events, as the HTML standard has them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any, Final

import orjson

_HEARTBEAT: Final = 15.0  # seconds: a browser that went away is noticed by it


class EventStream:
    """Events in order, which one thread adds and any number of watchers follow from wherever they were.

    Beside them stands a picture, of which a watcher gets the latest alone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[bytes] = []
        self._picture = b""
        self._pictures = 0
        self._is_over = False
        self._watchers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def __len__(self) -> int:
        """How many events there are."""
        return len(self._events)

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """Tell of something that every watcher gets."""
        with self._lock:
            self._events.append(_event(kind, data, len(self._events) + 1))
            self._wake()

    def show(self, picture: dict[str, Any]) -> None:
        """Tell how things stand now."""
        with self._lock:
            self._picture = _event("picture", picture)
            self._pictures += 1
            self._wake()

    def end(self) -> None:
        """Nothing more will come."""
        with self._lock:
            self._is_over = True
            self._wake()

    def _wake(self) -> None:
        for event, loop in self._watchers.items():
            loop.call_soon_threadsafe(event.set)

    async def follow(self, after: int = 0) -> AsyncIterator[bytes]:
        """The events from number ``after`` on (counted from 0), and then what comes, until the end."""
        news = asyncio.Event()
        with self._lock:
            self._watchers[news] = asyncio.get_running_loop()
        shown = 0
        try:
            while True:
                with self._lock:
                    fresh = self._events[after:]
                    picture, pictures = self._picture, self._pictures
                    is_over = self._is_over
                    news.clear()
                after += len(fresh)
                if fresh:
                    yield b"".join(fresh)
                if pictures > shown:
                    shown = pictures
                    yield picture
                if is_over:
                    yield _event("over", {})
                    return
                try:
                    await asyncio.wait_for(news.wait(), _HEARTBEAT)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            with self._lock:
                del self._watchers[news]


def _event(kind: str, data: dict[str, Any], number: int | None = None) -> bytes:
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"event: %s\ndata: %s\n\n" % (kind.encode(), orjson.dumps(data))

"""Long work on a memory: how far it is, and how people end it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Cancelled(Exception):
    """Ends work that nobody wants any longer; what was done stays."""


class Work:
    """Counts what long work on one memory has done. Thread-safe.

    Embedding and remembering call :meth:`report` after each batch; there they end after :meth:`cancel`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = 0  # work that began before a cancellation ends
        self._is_closed = False
        self._shown: dict[int, tuple[str, int, int | None, float]] = {}
        self._local = threading.local()

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Show the reports of this thread as ``what`` until the block ends.

        Args:
            what: what is done: ``"indexing"`` or ``"remembering"``.

        Yields:
            Nothing.
        """
        with self._lock:
            self._local.what, self._local.generation, self._local.begin = what, self._generation, time.monotonic()
        try:
            yield
        finally:
            self._local.what = None
            with self._lock:
                self._shown.pop(threading.get_ident(), None)

    def report(self, done: int, total: int | None) -> None:
        """Note how much the work of this thread has done.

        Args:
            done: the number of items done.
            total: the number of all items; ``None`` when it is not known.

        Raises:
            Cancelled: the work was cancelled, or the server ends.
        """
        what = getattr(self._local, "what", None)
        with self._lock:
            if self._is_closed or (what is not None and self._local.generation < self._generation):
                raise Cancelled("cancelled: what was done so far is kept")
            if what is not None:
                self._shown[threading.get_ident()] = what, done, total, self._local.begin

    def cancel(self) -> None:
        """End the work that goes on now; what begins later is not affected."""
        with self._lock:
            self._generation += 1

    def close(self) -> None:
        """End all work, also what begins later."""
        with self._lock:
            self._is_closed = True

    def as_json(self) -> list[dict[str, Any]]:
        """Return what goes on: ``what``, ``done`` of ``total``, and for how many ``seconds``."""
        now = time.monotonic()
        with self._lock:
            return [
                {"what": what, "done": done, "total": total, "seconds": round(now - begin, 1)}
                for what, done, total, begin in self._shown.values()
            ]

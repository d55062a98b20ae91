"""Reads what was recorded unread, on a thread of its own or in whoever asks next."""

from __future__ import annotations

import logging
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from worldthread.errors import StoreError
from worldthread.stores import Store
from worldthread.types import Episode

MOST_WAITING: Final = 64
"""Episodes that may wait; whoever records more reads first."""

_log = logging.getLogger(__name__)


class BackgroundReading:
    """Reads episodes in the order in which they were recorded. Thread-safe.

    The thread ends when nothing is left to read, or the store fails. Whoever calls :meth:`finish` next then reads the
    rest; a store that cannot be written is a warning.

    Args:
        store: a thread that has it locked never waits for the reading.
        read: reads recorded episodes, and replaces their extractions.
    """

    def __init__(self, store: Store, read: Callable[[Sequence[Episode]], object]) -> None:
        self._store, self._read = store, read
        self._waiting: deque[Sequence[Episode]] = deque()
        self._turn = threading.Lock()  # held by the one that reads
        self._reader: int | None = None
        self._guard = threading.Lock()  # of the following, held for a moment
        self._thread: threading.Thread | None = None
        self._is_warned = False

    def __len__(self) -> int:
        with self._guard:
            return sum(map(len, self._waiting))

    def add(self, episodes: Sequence[Episode]) -> None:
        """Have episodes read soon; at once, where too many wait.

        Args:
            episodes: what was recorded, in order.
        """
        if not episodes:
            return
        with self._guard:
            self._waiting.append(episodes)
            if self._thread is None:
                thread = threading.Thread(target=self._read_on, name="worldthread-reading")
                thread.start()
                self._thread = thread  # not before it runs: an interrupt may come between
        if len(self) > MOST_WAITING:
            self.finish()

    def finish(self, advance: Callable[[int], None] | None = None) -> None:
        """Return when everything is read. A thread that has the memory locked does not wait.

        Args:
            advance: is called with the number of episodes that were read meanwhile, after every few.
        """
        if not self._waiting or self._reader == threading.get_ident() or self._store.is_read_by_this_thread():
            return
        try:
            while self._read_next(advance):
                pass
        except StoreError as error:
            # one can ask on a full disk: what waits has a text, and is read when there is room
            if not self._is_warned:
                self._is_warned = True
                warnings.warn(f"{len(self)} texts could not be read: {error}", stacklevel=4)

    def _read_on(self) -> None:
        try:
            while self._read_next(None):
                pass
        except Exception as error:
            # the episodes still wait: the next question reads them, and raises this where it must be seen
            _log.debug("reading in the background stopped: %s", error)
            with self._guard:
                self._thread = None

    def _read_next(self, advance: Callable[[int], None] | None) -> bool:
        """Read what was recorded first, and say whether there was something."""
        with self._turn:
            with self._guard:
                if not self._waiting:
                    if self._thread is threading.current_thread():
                        self._thread = None
                    return False
                episodes = self._waiting[0]
            try:
                self._reader = threading.get_ident()
                self._read(episodes)
            finally:
                self._reader = None
            self._is_warned = False
            with self._guard:
                self._waiting.popleft()
        if advance is not None:
            advance(len(episodes))
        return True

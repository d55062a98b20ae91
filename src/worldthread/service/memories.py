"""The memories of the service, which stay open for reading and for writing while other processes use them too."""

from __future__ import annotations

import logging
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from worldthread.errors import ClosedError, StoreError
from worldthread.memory.memory import Memory
from worldthread.models import chat_model
from worldthread.models.configured import NO_MODEL
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.support.closeable import Closeable

_LOCK_SECONDS: Final = 60.0  # the longest wait for another writer
_PLACE: Final = "the service"
_CONNECTIONS: Final = 4  # to a server, over which the namespaces are spread

_log = logging.getLogger(__name__)


@dataclass
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    memory: Memory | None = None
    users: int = 0


class ServiceMemories(Closeable):
    """Opens the memories of one file or server at their first use, and keeps those that were used last. Thread-safe.

    Other processes can use the same file or server at the same time, to read and to write. Use it as a context manager,
    or call :meth:`close`.

    Args:
        location: the file, which is created if it does not exist, or the address.
        readonly: never write.
        model: name of a chat model; see :class:`~worldthread.Memory`.
        embedder: name of an embedder; see :class:`~worldthread.Memory`.
        most_open: how many stay open.
        first: a namespace that is sure to be used.

    Raises:
        ModelConfigError: the model cannot be used as configured.
        StoreError: the file or the server cannot be used; the message says why.
    """

    def __init__(
        self,
        location: str | Path,
        *,
        readonly: bool = False,
        model: str | None = None,
        embedder: str | None = None,
        most_open: int = 256,
        first: str = DEFAULT_NAMESPACE,
    ) -> None:
        self.readonly = readonly
        self._most_open = most_open
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._is_ending = False
        self._is_closed = False
        self._roots: list[Memory] = []
        chat = chat_model(model) or NO_MODEL
        try:
            for _ in range(_CONNECTIONS if isinstance(location, str) else 1):
                kept = self._roots[0] if self._roots else None
                root = Memory(
                    location, namespace=first, readonly=readonly, wait=_LOCK_SECONDS, model=chat,
                    embedder=kept.embedder if kept else embedder,
                )  # fmt: skip
                self._roots.append(root)
                if not readonly:
                    root.share_file()
        except BaseException:
            self.close()
            raise

    @property
    def model(self) -> str:
        """The name of the chat model; empty without one."""
        model = self._roots[0].model
        return model.name if model else ""

    @property
    def open_count(self) -> int:
        """How many memories are open."""
        return len(self._slots)

    @contextmanager
    def using(self, namespace: str) -> Iterator[Memory]:
        """Open a memory.

        Args:
            namespace: its name.

        Yields:
            The memory, which stays open at least until the block ends.

        Raises:
            ClosedError: the service has ended.
            StoreError: it cannot be opened; the message says why.
        """
        with self._lock:
            if self._is_closed:
                raise ClosedError("the service has ended", path=_PLACE)
            slot = self._slots.setdefault(namespace, _Slot())
            self._slots.move_to_end(namespace)
            slot.users += 1
        try:
            with slot.lock:  # others need not wait while a large memory is opened
                if slot.memory is None:
                    slot.memory = self._root_of(namespace).open_namespace(namespace)
            yield slot.memory
        finally:
            with self._lock:
                slot.users -= 1
                idle = self._take_idle()
            for memory in idle:
                memory.close()

    def _root_of(self, namespace: str) -> Memory:
        return self._roots[zlib.crc32(namespace.encode()) % len(self._roots)]

    def _take_idle(self) -> list[Memory]:
        """Remove the memories that are open without need; the caller closes them. Hold the lock."""
        taken = []
        for namespace, slot in list(self._slots.items()):
            if len(self._slots) <= self._most_open:
                break
            if not slot.users:
                del self._slots[namespace]
                if slot.memory is not None:
                    taken.append(slot.memory)
        return taken

    def warm_up(self) -> None:
        """Load what the first requests would have to wait for: the parser, the embedder, and what answers.

        Nothing of it touches the memories. A chat model, or an embedder on a server, is not asked.
        """
        root = self._roots[0]
        embedder = "fake" if hasattr(root.embedder, "meter") else root.embedder
        reads = root.model is None and not self.readonly
        with Memory(None, model=NO_MODEL, embedder=embedder) as scratch:
            scratch.remember("Anna lives in Rome." if reads else [("Anna", "lives in", "Rome")], at=0)
            scratch.ask("Where does Anna live?")

    def check(self) -> None:
        """Read something, to see whether the file or the server can be used.

        Raises:
            StoreError: it cannot; the message says why.
        """
        for root in self._roots:
            root.record.refresh()

    def require_open(self) -> None:
        """Check that the service is not ending.

        Raises:
            ClosedError: it is.
        """
        if self._is_ending:
            raise ClosedError("the service is ending: only what came before is recorded", path=_PLACE)

    def end_changes(self) -> None:
        """Begin no further change, and end a long one at its next batch."""
        self._is_ending = True

    def close(self) -> None:
        """Close all memories. May be called again."""
        self.end_changes()
        with self._lock:
            self._is_closed = True
            slots, self._slots = self._slots, OrderedDict()
        opened = [slot.memory for slot in slots.values() if slot.memory is not None]
        for memory in (*opened, *self._roots):
            try:
                memory.close()
            except StoreError as error:  # a lost server, say: what was acknowledged is safe, and the others are closed
                _log.warning("a memory was closed without a snapshot: %s", error)

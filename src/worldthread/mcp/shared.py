"""A memory that a server keeps open for hours while other processes write to the same file."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from worldthread.errors import ClosedError, ReadOnlyError
from worldthread.extract.base import Extractor, settles_locally
from worldthread.extract.groups import EpisodeGroup, GroupExtractor
from worldthread.graph import GraphView
from worldthread.memory.memory import Memory
from worldthread.memory.served_memory import chosen_of, client_writes, served_namespaces
from worldthread.models import chat_model
from worldthread.models.configured import NO_MODEL
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.types import Extraction

_LOCK_SECONDS: Final = 60.0  # the longest wait for another writer, which may be a program that keeps the file
_OPEN_READERS: Final = 256  # memories of clients that stay open; opening another one takes a few milliseconds
_SHUTDOWN_SECONDS: Final = 5.0  # the longest wait for a running change when the server ends


class SharedMemory:
    """A memory that is open for reading while the server runs, and for writing only during a change. Thread-safe.

    A :class:`~worldthread.Memory` that may write locks out all other writers until it is closed, so two clients
    that each start a server for the same file would block each other. The reader follows every writer.

    Args:
        path: the file; created if it does not exist, unless ``readonly``.
        namespace: the memory in the file.
        more_namespaces: further memories in the file, which calls may name.
        readonly: never write.
        model: name of a chat model; see :class:`~worldthread.Memory`.
        wait: the most seconds that a change waits for another writer.
        per_client: every call sees the memories that its client is held to (:mod:`worldthread.memory.served_memory`),
            instead of ``namespace``.
        offers_choice: whether calls can name one of several memories; ``None`` if there are ``more_namespaces``.

    Raises:
        ModelConfigError: the model cannot be used as configured.
        StoreError: the file cannot be opened; the message says why.
    """

    def __init__(
        self,
        path: Path,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        more_namespaces: Sequence[str] = (),
        readonly: bool = False,
        model: str | None = None,
        wait: float = _LOCK_SECONDS,
        per_client: bool = False,
        offers_choice: bool | None = None,
    ) -> None:
        self.path = path.expanduser().absolute()
        self._namespaces = tuple(dict.fromkeys([namespace, *more_namespaces]))
        self.offers_choice = len(self._namespaces) > 1 if offers_choice is None else offers_choice
        self._per_client = per_client
        self._readers: OrderedDict[str, Memory] = OrderedDict()  # of clients, the latest last
        self.readonly = readonly
        self._wait = wait
        self._model = chat_model(model) or NO_MODEL
        self._idle = threading.Condition()
        self._changes = 0  # that are running
        self._closed = False
        if not readonly and not (self.path.exists() and self.path.stat().st_size):
            Memory(self.path, namespace=namespace, wait=wait).close()
        self._reader = Memory(self.path, namespace=namespace, readonly=True, model=self._model)
        self._embedder = self._reader.embedder  # loaded once, for all changes

    @property
    def location(self) -> str:
        """The file."""
        return str(self.path)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The memories in the file that the present call may use, the one for calls that name none first.

        Raises:
            InputError: the server holds each client to its memories, and the call comes from none.
        """
        return served_namespaces() if self._per_client else self._namespaces

    @property
    def is_per_client(self) -> bool:
        """Whether every client has memories of its own."""
        return self._per_client

    @property
    def namespace(self) -> str:
        """The memory in the file that the present call uses.

        Raises:
            InputError: as for :attr:`namespaces`, or the call names a memory that it may not use.
        """
        return chosen_of(self.namespaces)

    @property
    def memory(self) -> Memory:
        """The reader of that memory.

        Raises:
            InputError: as for :attr:`namespace`.
        """
        namespace = self.namespace
        if not self._per_client and namespace == self._namespaces[0]:
            return self._reader
        with self._idle:
            reader = self._readers.pop(namespace, None) or self._reader.open_namespace(namespace)
            self._readers[namespace] = reader
            if len(self._readers) > _OPEN_READERS:
                self._readers.popitem(last=False)  # not closed: a call may use it, and frees it at its end
        return reader

    @contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Memory]:
        """Open the memory for a change, which is in the file when the block ends. Several changes can run at a time.

        Args:
            alone: keep all other writers of the file out until the block ends, for a change that depends on what it
                read before.

        Yields:
            The memory, open for writing.

        Raises:
            StoreLockedError: another writer did not finish in time.
            ClosedError: the server is ending.
            ReadOnlyError: the client may only read.
            StoreError: the file cannot be written.
        """
        if self._per_client and not client_writes():
            raise ReadOnlyError("your token only reads this memory", path=self.path)
        with self._idle:
            self.require_open()
            self._changes += 1
        try:
            with Memory(
                self.path,
                namespace=self.namespace,
                wait=self._wait,
                model=self._model,
                extractor=_until_closed(self._reader.extractor, self.require_open),
                embedder=self._embedder,
            ) as memory:
                if not alone:
                    memory.share_file()
                yield memory
        finally:
            with self._idle:
                self._changes -= 1
                self._idle.notify_all()

    def require_open(self) -> None:
        """Check that the server is not ending.

        Raises:
            ClosedError: the server is ending.
        """
        if self._closed:
            raise ClosedError("the server is ending: only what came before is recorded", path=self.path)

    def end_changes(self) -> None:
        """Begin no further change, and end a long one at its next passage."""
        self._closed = True

    def close(self) -> None:
        """Wait a few seconds for running changes, and release the file. May be called again."""
        self.end_changes()
        with self._idle:
            self._idle.wait_for(lambda: not self._changes, _SHUTDOWN_SECONDS)
        for reader in self._readers.values():
            reader.close()
        self._reader.close()


def _until_closed(extractor: Extractor, require_open: Callable[[], None]) -> Extractor:
    """Return what reads as an extractor does until the server is ending."""
    if isinstance(extractor, GroupExtractor):
        return _GroupsUntilClosed(extractor, require_open)
    return _UntilClosed(extractor, require_open)


class _UntilClosed(Extractor):
    """Reads passages until the server is ending, which does not wait for the rest of a long text.

    Args:
        extractor: reads the passages.
        require_open: raises when the server is ending.
    """

    def __init__(self, extractor: Extractor, require_open: Callable[[], None]) -> None:
        self._extractor = extractor
        self._require_open = require_open

    @property
    def name(self) -> str:
        return self._extractor.name

    @property
    def concurrency(self) -> int:
        return self._extractor.concurrency

    @property
    def settles_locally(self) -> bool:
        return settles_locally(self._extractor)

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        self._require_open()
        return self._extractor.extract(text, speaker, at)

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        return self._extractor.outdate(text, extraction, view, speaker, at)


class _GroupsUntilClosed(_UntilClosed):
    """Reads the messages of a conversation together, like :class:`_UntilClosed`."""

    def extract_group(self, group: EpisodeGroup) -> list[Extraction]:
        self._require_open()
        assert isinstance(self._extractor, GroupExtractor)
        return self._extractor.extract_group(group)

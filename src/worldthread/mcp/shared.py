"""A memory that a server keeps open for hours while other processes write to the same file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from worldthread.errors import ClosedError
from worldthread.memory import Memory
from worldthread.models import chat_model, embedder
from worldthread.models.configured import NO_MODEL
from worldthread.stores import DEFAULT_NAMESPACE

_WAIT: Final = 60.0  # for another writer: a long text, or a model that reads one
_LAST_WRITE: Final = 5.0  # at the end, for a change that is under way


class SharedMemory:
    """One reader for as long as the server runs, and a writer for the length of a change.

    A :class:`~worldthread.memory.Memory` that may write keeps all others from writing until it is closed; two clients
    that each start a server on one file would shut each other out. The reader follows every writer. May be used from
    several threads.

    Args:
        path: the file, made when it does not exist and may be written.
        namespace: which memory of the file.
        readonly: never write.
        model: name of a chat model, as for :class:`~worldthread.memory.Memory`.
        wait: seconds that a change waits for another writer.

    Raises:
        ModelConfigError: no such model can be reached as configured.
        StoreError: the file cannot be opened; the message says why.
    """

    def __init__(
        self,
        path: Path,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        readonly: bool = False,
        model: str | None = None,
        wait: float = _WAIT,
    ) -> None:
        self.path = path.expanduser().absolute()
        self.namespace = namespace
        self.readonly = readonly
        self._wait = wait
        self._model = chat_model(model) or NO_MODEL
        self._embedder = embedder()
        self._turn = threading.Lock()
        self._closed = False
        if not readonly and not (self.path.exists() and self.path.stat().st_size):
            Memory(self.path, namespace=namespace, wait=wait).close()
        self.memory = Memory(self.path, namespace=namespace, readonly=True, model=self._model, embedder=self._embedder)
        """The reader."""

    @contextmanager
    def writing(self) -> Iterator[Memory]:
        """The same memory, for a change. What is recorded is on its way to the disk when the block ends.

        Raises:
            StoreLockedError: another writer did not finish in time.
            ClosedError: the server is ending.
            StoreError: the file cannot be written.
        """
        with self._turn:
            if self._closed:
                raise ClosedError("the server is ending: nothing was changed", path=self.path)
            with Memory(
                self.path,
                namespace=self.namespace,
                wait=self._wait,
                model=self._model,
                extractor=self.memory.extractor,
                embedder=self._embedder,
            ) as memory:
                yield memory

    def close(self) -> None:
        """Let a change that is under way finish, for some seconds, and release the file. May be called again."""
        self._closed = True
        finished = self._turn.acquire(timeout=_LAST_WRITE)
        try:
            self.memory.close()
        finally:
            if finished:
                self._turn.release()

"""The state behind the pages: the memories, and what other packages add."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from worldthread.errors import ExtensionError, InputError, NotFoundError, ReadOnlyError, WorldthreadError
from worldthread.memory.memory import Memory
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.support.closeable import Closeable
from worldthread.support.extensions import PAGES, extensions, load_extension
from worldthread.web.answers import shown_path
from worldthread.web.edits import Edits
from worldthread.web.graph_drawing import is_small
from worldthread.web.memories import MemoryLocation, OpenMemories, OpenMemory
from worldthread.web.work import Work

if TYPE_CHECKING:
    from worldthread.models import Embedder
    from worldthread.web.added_pages import AddedPages

_log = logging.getLogger(__name__)

FILE_KEY: Final = "file"
"""The key of the memory that the server was started for."""
_NAMESPACE_PREFIX: Final = "namespace-"
_MAX_LISTED: Final = 200
_WARM: Final = 10.0  # seconds after which what the first question needs is loaded, if nobody opens the page
_WAIT: Final = 5.0  # seconds for which a change waits while another process writes


def namespace_key(namespace: str) -> str:
    """Return the key of another memory in the file that the server was started for."""
    return _NAMESPACE_PREFIX + hashlib.blake2b(namespace.encode(), digest_size=8).hexdigest()


class AppState(Closeable):
    """The memories of one server, and the pages that other packages add to it.

    Use it as a context manager, or call :meth:`close`.

    Args:
        memory: the file of a memory; it need not exist yet.
        namespace: the memory in the file.
        runs: the folder of what was played, for the pages that show it; it need not exist yet.
        model: name of the chat model; ``None`` for the one that the environment configures.
        embedder: an embedder or its name; see :class:`~worldthread.Memory`.
        editable: whether people may change the memory.
        only_this: show no other memory of the file and none of another package, and answer without a model: those who
            see the page may know nothing else.

    Attributes:
        location: the memory that the server was started for.
        editable: whether people may change it.
        only_this: whether nothing else is shown.
        runs: the folder of what was played.
    """

    def __init__(
        self,
        memory: Path,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        runs: Path = Path("runs"),
        model: str | None = None,
        embedder: Embedder | str | None = None,
        editable: bool = False,
        only_this: bool = False,
    ) -> None:
        self.only_this = only_this
        self.editable = editable
        self._edits: dict[MemoryLocation, Edits] = {}
        self._work: dict[MemoryLocation, Work] = {}
        self.location = MemoryLocation(memory.expanduser().absolute(), namespace)
        self._embedder = embedder
        self._model = model
        self._memories = OpenMemories(self._open)
        self._asking = OpenMemories(self._open_with_model)
        self.runs = runs
        self._making = threading.Lock()
        self._added: tuple[AddedPages, ...] | None = None
        self._is_stopping = False
        self._page_was_shown = threading.Event()

    @property
    def added(self) -> tuple[AddedPages, ...]:
        """The pages that other packages add (:data:`worldthread.support.extensions.PAGES`).

        A package that is broken is logged and left out: the pages of the memory do without it.
        """
        with self._making:
            if self._added is None:
                added: list[AddedPages] = []
                try:
                    for name in extensions(PAGES):
                        added.append(load_extension(PAGES, name)(self))
                except ExtensionError as error:
                    _log.warning("%s", error)
                self._added = tuple(added)
                if self._is_stopping:
                    for pages in self._added:
                        pages.stop()
            return self._added

    @property
    def chosen_model(self) -> str | None:
        """The name of the chat model that the server was started with; ``None``: the configured one."""
        return self._model

    def _open(self, location: MemoryLocation) -> Memory:
        return self._opened(location, "none")

    def _opened(self, location: MemoryLocation, model: str | None) -> Memory:
        memory = Memory(
            location.path, namespace=location.namespace, readonly=True, model=model, embedder=self._embedder
        )  # fmt: skip
        memory.watch_indexing(self._work_on(location).report)
        return memory

    def _open_with_model(self, location: MemoryLocation) -> Memory:
        return self._opened(location, self._model)

    def edits(self, key: str) -> Edits:
        """Return the changes that people make to a memory, for as long as the server runs.

        Args:
            key: :data:`FILE_KEY`, or a :func:`namespace_key`.

        Returns:
            The changes.

        Raises:
            NotFoundError: there is no such memory, or nobody may change it, as that of a run.
        """
        location = self.location if key == FILE_KEY else self._location_of(key)
        if location.path != self.location.path:
            raise NotFoundError("the memories of runs are never changed")

        @contextmanager
        def open_for_writing() -> Iterator[Memory]:
            # texts are read without a model, so that no change asks a model for money
            memory = Memory(
                location.path, namespace=location.namespace, wait=_WAIT, model="none", embedder=self._embedder
            )
            with memory:
                memory.share_file()
                yield memory

        return self._edits.setdefault(location, Edits(open_for_writing, self._work_on(location)))

    def work(self, key: str) -> Work:
        """Return the long work on the memory with a key; see :meth:`memory`."""
        return self._work_on(self.location if key == FILE_KEY else self._location_of(key))

    def _work_on(self, location: MemoryLocation) -> Work:
        return self._work.setdefault(location, Work())

    def require_editable(self) -> None:
        """Raise an error unless people may change the memory.

        Raises:
            ReadOnlyError: they may not.
        """
        if not self.editable:
            raise ReadOnlyError(
                "this server only shows the memory; start it with --edit to change it here", path=self.location.path
            )

    @property
    def is_to_be_made(self) -> bool:
        """Whether there is no file of the memory yet, and people may make one."""
        return self.editable and not self.location.path.exists()

    @contextmanager
    def memory(self, key: str) -> Iterator[OpenMemory]:
        """Open the memory with a key.

        Args:
            key: :data:`FILE_KEY`, a :func:`namespace_key`, or one of another package.

        Yields:
            The memory, which stays open at least until the block ends.

        Raises:
            NotFoundError: there is no such memory.
            StoreError: the file cannot be opened; the message says why.
        """
        with self._memories.using(self._location_of(key)) as opened:
            yield opened

    @contextmanager
    def asking_memory(self, key: str) -> Iterator[OpenMemory]:
        """Open the memory with a key so that it answers with the model of the server.

        Args:
            key: see :meth:`memory`.

        Yields:
            The memory.

        Raises:
            InputError: the server has no model.
            ModelConfigError: the model cannot be reached as configured.
            NotFoundError: there is no such memory.
            StoreError: the file cannot be opened.
        """
        if not self.model:
            raise InputError("this server has no model: start it with --model NAME, or set $WORLDTHREAD_MODEL")
        with self._asking.using(self._location_of(key)) as opened:
            yield opened

    @property
    def model(self) -> str:
        """The name of the chat model that answers questions; empty without one."""
        from worldthread.models.config import FAKE_MODEL, model_name

        if self.only_this:
            return ""
        try:
            name = model_name(self._model)
        except WorldthreadError:  # reported when a play needs it
            return ""
        return "" if name == FAKE_MODEL else name

    def warm(self) -> None:
        """Open the memory and count its names, if it exists, so that the first page appears sooner.

        Once the page was shown, or a moment later, load what the first question needs.
        """
        with suppress(WorldthreadError), self.memory(FILE_KEY) as opened:
            with opened.read_lock() as (graph, names):
                if not is_small(graph, names):
                    opened.clusters(graph)
            self._page_was_shown.wait(_WARM)
            if not self._is_stopping:
                opened.memory.warm_up()

    def note_shown(self) -> None:
        """Note that a browser has the first page: from now on, what comes later may be prepared."""
        self._page_was_shown.set()

    def _location_of(self, key: str) -> MemoryLocation:
        if key.startswith(_NAMESPACE_PREFIX):
            for namespace in self._other_namespaces():
                if namespace_key(namespace) == key:
                    return MemoryLocation(self.location.path, namespace)
        if key != FILE_KEY:
            for pages in () if self.only_this else self.added:
                if (location := pages.location_of(key)) is not None:
                    return location
            raise NotFoundError("this memory does not exist, or was removed")
        if not self.location.path.exists():
            raise NotFoundError(
                f"{shown_path(self.location.path)} does not exist yet: create it with `worldthread remember FILE...`"
            )
        return self.location

    def memory_list(self) -> list[dict[str, Any]]:
        """Return the memories that can be shown; the one that the server was started for comes first."""
        own = {"key": FILE_KEY, "label": self.location.path.name, "exists": self.location.path.exists()}
        others = [
            {"key": namespace_key(one), "label": f"{self.location.path.name}: {one}", "exists": True}
            for one in self._other_namespaces()[:_MAX_LISTED]
        ]
        added = [] if self.only_this else [one for pages in self.added for one in pages.memories()]
        return [own, *others, *added[:_MAX_LISTED]]

    def _other_namespaces(self) -> list[str]:
        """Return the other memories that may be seen and hold something; none where there is no file yet."""
        if self.only_this or not self.location.path.exists():
            return []
        with self.memory(FILE_KEY) as opened:
            return [one.name for one in opened.memory.namespaces() if one.name != self.location.namespace]

    def stop(self) -> None:
        """Let long work end, and what other packages do, without waiting for it."""
        for work in list(self._work.values()):
            work.close()
        with self._making:
            self._is_stopping = True
            added = self._added or ()
        self._page_was_shown.set()
        for pages in added:
            pages.stop()

    def close(self) -> None:
        """Stop all work, and close the memories. May be called again."""
        self.stop()
        for pages in self._added or ():
            pages.close()
        self._memories.close()
        self._asking.close()

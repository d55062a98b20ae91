"""The state behind the pages: the memories, the runs, and the running plays."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from worldthread.errors import InputError, NotFoundError, ReadOnlyError, WorldthreadError
from worldthread.memory import Memory
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.web.answers import shown_path
from worldthread.web.edits import Edits
from worldthread.web.graph_drawing import is_small
from worldthread.web.memories import MemoryLocation, OpenMemories, OpenMemory
from worldthread.web.work import Work

if TYPE_CHECKING:
    from worldthread.models import Embedder
    from worldthread.web.plays import Plays
    from worldthread.web.run_folder import RunFolder

FILE_KEY: Final = "file"
"""The key of the memory that the server was started for; all other keys belong to runs."""
_RUN_PREFIX: Final = "run-"
_NAMESPACE_PREFIX: Final = "namespace-"
_MAX_LISTED: Final = 200
_WARM: Final = 10.0  # seconds after which what the first question needs is loaded, if nobody opens the page
_WAIT: Final = 5.0  # seconds for which a change waits while another process writes


def run_key(id_: str) -> str:
    """Return the key of the memory of a run."""
    return _RUN_PREFIX + id_


def namespace_key(namespace: str) -> str:
    """Return the key of another memory in the file that the server was started for."""
    return _NAMESPACE_PREFIX + hashlib.blake2b(namespace.encode(), digest_size=8).hexdigest()


class AppState:
    """The memories, the folder of runs, and the plays of one server.

    Use it as a context manager, or call :meth:`close`.

    Args:
        memory: the file of a memory; it need not exist yet.
        namespace: the memory in the file.
        runs: the folder of runs; it need not exist yet.
        model: name of the chat model for agents; ``None`` for the one that the environment configures.
        embedder: an embedder or its name; see :class:`~worldthread.memory.Memory`.
        editable: whether people may change the memory.
        only_this: show no other memory of the file and none of a run, and answer without a model: those who see the
            page may know nothing else.

    Attributes:
        location: the memory that the server was started for.
        editable: whether people may change it.
        only_this: whether nothing else is shown.
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
        self._run_root = runs
        self._making = threading.Lock()
        self._runs: RunFolder | None = None
        self._plays: Plays | None = None
        self._is_stopping = False
        self._page_was_shown = threading.Event()

    # Agents and games are imported when the first page was shown: it needs none of them, and they take longer than it.

    @property
    def runs(self) -> RunFolder:
        """The runs."""
        from worldthread.web.run_folder import RunFolder

        with self._making:
            if self._runs is None:
                self._runs = RunFolder(self._run_root)
            return self._runs

    @property
    def plays(self) -> Plays:
        """The plays."""
        from worldthread.web.plays import Plays

        runs = self.runs
        with self._making:
            if self._plays is None:
                self._plays = Plays(runs.root, runs.id_of, self._model)
                if self._is_stopping:
                    self._plays.stop()
            return self._plays

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
            # texts are read by rule, so that no change asks a model for money
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
            key: :data:`FILE_KEY`, or a :func:`run_key`.

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
        from worldthread_lab.play.run_model import FAKE_MODEL, model_name

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
        if key.startswith(_RUN_PREFIX) and not self.only_this:
            return self.runs.memory_of(key.removeprefix(_RUN_PREFIX))
        if key.startswith(_NAMESPACE_PREFIX):
            for namespace in self._other_namespaces():
                if namespace_key(namespace) == key:
                    return MemoryLocation(self.location.path, namespace)
        if key != FILE_KEY:
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
        of_runs = [
            {"key": run_key(run["id"]), "label": run["name"], "exists": True}
            for run in ([] if self.only_this else self.runs.runs())
            if run.get("has_memory")
        ]
        return [own, *others, *of_runs[:_MAX_LISTED]]

    def _other_namespaces(self) -> list[str]:
        """Return the other memories that may be seen and hold something; none where there is no file yet."""
        if self.only_this or not self.location.path.exists():
            return []
        with self.memory(FILE_KEY) as opened:
            return [one.name for one in opened.memory.namespaces() if one.name != self.location.namespace]

    def stop(self) -> None:
        """Let plays, their watchers and long work end, without waiting for them."""
        for work in list(self._work.values()):
            work.close()
        with self._making:
            self._is_stopping = True
            plays = self._plays
        self._page_was_shown.set()
        if plays is not None:
            plays.stop()

    def close(self) -> None:
        """Stop the plays, and close the memories. May be called again."""
        self.stop()
        if self._plays is not None:
            self._plays.close()
        self._memories.close()
        self._asking.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""The state behind the pages: the memories, the runs, and the running plays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from worldthread.errors import NotFoundError, ReadOnlyError, WorldthreadError
from worldthread.memory import Memory
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.web.edits import Edits
from worldthread.web.memories import Memories, MemoryLocation, OpenMemory
from worldthread.web.plays import Plays
from worldthread.web.run_folder import RunFolder

if TYPE_CHECKING:
    from worldthread.models import Embedder

FILE_KEY: Final = "file"
"""The key of the memory that the server was started for; all other keys belong to runs."""
_RUN_PREFIX: Final = "run-"
_MAX_LISTED: Final = 200
_WAIT: Final = 5.0  # seconds for which a change waits while another process writes


def run_key(id_: str) -> str:
    """Return the key of the memory of a run."""
    return _RUN_PREFIX + id_


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

    Attributes:
        location: the memory that the server was started for.
        editable: whether people may change it.
        edits: the changes that people make to it.
        runs: the runs.
        plays: the plays.
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
    ) -> None:
        self.editable = editable
        self.edits = Edits(self._open_for_writing)
        self.location = MemoryLocation(memory.expanduser().absolute(), namespace)
        self._embedder = embedder
        self._memories = Memories(self._open)
        self.runs = RunFolder(runs)
        self.plays = Plays(self.runs.root, model)

    def _open(self, location: MemoryLocation) -> Memory:
        return Memory(
            location.path, namespace=location.namespace, readonly=True, model="none", embedder=self._embedder
        )  # fmt: skip

    @contextmanager
    def _open_for_writing(self) -> Iterator[Memory]:
        """Open the memory for one change; texts are read by rule, so that no change asks a model for money."""
        memory = Memory(
            self.location.path, namespace=self.location.namespace, wait=_WAIT, model="none", embedder=self._embedder
        )
        with memory:
            memory.share_file()
            yield memory

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

    def warm(self) -> None:
        """Open the memory and count its names, if it exists, so that the first page appears sooner."""
        with suppress(WorldthreadError), self.memory(FILE_KEY) as opened, opened.read_lock():
            pass

    def _location_of(self, key: str) -> MemoryLocation:
        if key.startswith(_RUN_PREFIX):
            return self.runs.memory_of(key.removeprefix(_RUN_PREFIX))
        if key != FILE_KEY:
            raise NotFoundError("this memory does not exist, or was removed")
        if not self.location.path.exists():
            raise NotFoundError(
                f"{self.location.path} does not exist yet: create it with `worldthread remember FILE...`"
            )
        return self.location

    def memory_list(self) -> list[dict[str, Any]]:
        """Return the memories that can be shown; the one that the server was started for comes first."""
        own = {"key": FILE_KEY, "label": self.location.path.name, "exists": self.location.path.exists()}
        of_runs = [
            {"key": run_key(run["id"]), "label": run["name"], "exists": True}
            for run in self.runs.runs()
            if run.get("has_memory")
        ]
        return [own, *of_runs[:_MAX_LISTED]]

    def close(self) -> None:
        """Stop the plays, and close the memories. May be called again."""
        self.plays.close()
        self._memories.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

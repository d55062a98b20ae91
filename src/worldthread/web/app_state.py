"""All that the pages are about, in one place: the memory, the runs, and the plays that go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from worldthread.errors import NotFoundError, WorldthreadError
from worldthread.memory import Memory
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.web.memories import Memories, MemoryLocation, OpenMemory
from worldthread.web.plays import Plays
from worldthread.web.run_folder import RunFolder

if TYPE_CHECKING:
    from worldthread.models import Embedder

FILE_KEY: Final = "file"
"""The key of the memory that the server was started for; all others are those of runs."""
_RUN: Final = "run-"
_MOST_LISTED: Final = 200


def run_key(id_: str) -> str:
    """The key of the memory of a run."""
    return _RUN + id_


class AppState:
    """Use as a context manager, or call :meth:`close`.

    Args:
        memory: the file of a memory; it need not be there yet.
        namespace: which memory of the file.
        runs: the folder with the runs; it need not be there yet.
        model: name of a chat model that agents may ask; ``None`` for what the environment says.
        embedder: name of an embedder, or one, for questions; see :class:`~worldthread.memory.Memory`.
    """

    def __init__(
        self,
        memory: Path,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        runs: Path = Path("runs"),
        model: str | None = None,
        embedder: Embedder | str | None = None,
    ) -> None:
        self.place = MemoryLocation(memory.expanduser().absolute(), namespace)
        self._embedder = embedder
        self._memories = Memories(self._open)
        self.runs = RunFolder(runs)
        self.plays = Plays(self.runs.root, model)

    def _open(self, place: MemoryLocation) -> Memory:
        return Memory(
            place.path, namespace=place.namespace, readonly=True, model="none", embedder=self._embedder
        )  # fmt: skip

    @contextmanager
    def memory(self, key: str) -> Iterator[OpenMemory]:
        """A memory by its key.

        Raises:
            NotFoundError: there is no such memory.
            StoreError: the file cannot be opened; the message says why.
        """
        with self._memories.using(self._place_of(key)) as opened:
            yield opened

    def warm(self) -> None:
        """Make ready for the first page, where there is a memory: open it, and count its names."""
        with suppress(WorldthreadError), self.memory(FILE_KEY) as opened, opened.read_lock():
            pass

    def _place_of(self, key: str) -> MemoryLocation:
        if key.startswith(_RUN):
            return self.runs.memory_of(key.removeprefix(_RUN))
        if key != FILE_KEY:
            raise NotFoundError("there is no such memory (any more)")
        if not self.place.path.exists():
            raise NotFoundError(f"nothing is remembered yet in {self.place.path}: worldthread remember FILE...")
        return self.place

    def memory_list(self) -> list[dict[str, Any]]:
        """The memories that can be shown, that of the server first."""
        own = {"key": FILE_KEY, "label": self.place.path.name, "exists": self.place.path.exists()}
        of_runs = [
            {"key": run_key(run["id"]), "label": run["name"], "exists": True}
            for run in self.runs.runs()
            if run.get("has_memory")
        ]
        return [own, *of_runs[:_MOST_LISTED]]

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

"""A memory for asynchronous programs: every call runs on a thread while the event loop goes on."""

from __future__ import annotations

import asyncio
import functools
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar

from worldthread.errors import InputError
from worldthread.extract.base import USER
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.stores import DEFAULT_NAMESPACE, Durability
from worldthread.types import Episode

if TYPE_CHECKING:
    from worldthread.extract.base import Extractor
    from worldthread.memory.record import Record
    from worldthread.models import Embedder
    from worldthread.models.chat import ChatModel

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_BATCH: Final = 256  # episodes that one thread fetches


def _on_thread(
    method: Callable[Concatenate[Memory, _Parameters], _Result],
) -> Callable[Concatenate[AsyncMemory, _Parameters], Coroutine[Any, Any, _Result]]:
    """Return a coroutine function that calls a method of the memory on a thread, with its parameters and docstring."""

    async def call(self: AsyncMemory, /, *args: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        # shielded, so that a call that waits for a thread when its task is cancelled is not dropped: it would be
        # neither done nor reported
        return await asyncio.shield(asyncio.to_thread(method, self.memory, *args, **options))

    functools.update_wrapper(call, method)
    call.__module__ = __name__
    call.__qualname__ = f"AsyncMemory.{method.__name__}"
    return call


class AsyncMemory:
    """A :class:`~worldthread.Memory` whose methods are awaited.

    The methods have the parameters, results and errors of those of :class:`~worldthread.Memory`. Each call runs on a
    thread of the event loop's default executor; calls may run at the same time. A call whose task is cancelled still
    begins and finishes on its thread, as long as the event loop runs; its error, if there is one, is logged by asyncio.

    Use it as an asynchronous context manager: the file is opened when the block begins and closed when it ends. The
    errors of opening are raised there.

    Args:
        path: see :class:`~worldthread.Memory`, as for all other arguments.
        namespace: which memory of the file.
        readonly: never write.
        durability: what a recorded change survives.
        wait: seconds to wait for another writer to finish.
        clock: returns the time in seconds since 1970-01-01 UTC.
        model: a chat model or the name of one.
        extractor: turns text into statements.
        embedder: an embedder or the name of one.
        vectors: where vectors are searched.
        user: the name of the person whom the memory serves.

    Examples:
        ::

            async with AsyncMemory("home.worldthread") as memory:
                await memory.remember("Anna lives in Rome.", at="2023-05-01")
                found = await memory.recall("Where does Anna live?")
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        readonly: bool = False,
        durability: Durability = "normal",
        wait: float = 0.0,
        clock: Callable[[], float] = time.time,
        model: ChatModel | str | None = None,
        extractor: Extractor | str | None = None,
        embedder: Embedder | str | None = None,
        vectors: str | None = None,
        user: str = USER,
        timezone: str | None = None,
    ) -> None:
        self._open = functools.partial(
            Memory, path, namespace=namespace, readonly=readonly, durability=durability, wait=wait, clock=clock,
            model=model, extractor=extractor, embedder=embedder, vectors=vectors, user=user,
            timezone=timezone,
        )  # fmt: skip
        self._memory: Memory | None = None

    def __repr__(self) -> str:
        return "AsyncMemory(not open)" if self._memory is None else f"Async{self._memory!r}"

    @property
    def memory(self) -> Memory:
        """The synchronous memory that does the work; it may be used from threads at the same time.

        Raises:
            InputError: the memory was not opened.
        """
        if self._memory is None:
            raise InputError("the memory is not open: use `async with AsyncMemory(...) as memory`")
        return self._memory

    @property
    def record(self) -> Record:
        """The episodes and their graph; its methods are synchronous and may wait for the disk."""
        return self.memory.record

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for a memory in RAM."""
        return self.memory.path

    @property
    def namespace(self) -> str:
        """The name of this memory within its file."""
        return self.memory.namespace

    @property
    def readonly(self) -> bool:
        """Whether the memory was opened for reading only."""
        return self.memory.readonly

    async def open_namespace(self, namespace: str) -> AsyncMemory:
        """Open another memory of the same file.

        Each of them is closed on its own; the file is released when the last of them is closed.

        Args:
            namespace: the name of the memory; it is created when it does not exist.

        Returns:
            The memory, which is open; use it as a context manager, or await :meth:`close`.

        Raises:
            InputError: the name is empty or not valid Unicode.
        """
        other = object.__new__(type(self))
        other._open = self._open
        other._memory = await asyncio.to_thread(self.memory.open_namespace, namespace)
        return other

    remember = _on_thread(Memory.remember)
    remember_many = _on_thread(Memory.remember_many)
    reading_done = _on_thread(Memory.reading_done)
    unread = _on_thread(Memory.unread)
    retry = _on_thread(Memory.retry)
    reembed = _on_thread(Memory.reembed)
    forget = _on_thread(Memory.forget)
    correct = _on_thread(Memory.correct)
    update = _on_thread(Memory.update)
    merge = _on_thread(Memory.merge)
    suggest_merges = _on_thread(Memory.suggest_merges)
    recall = _on_thread(Memory.recall)
    ask = _on_thread(Memory.ask)
    about = _on_thread(Memory.about)
    timeline = _on_thread(Memory.timeline)
    entities = _on_thread(Memory.entities)
    view = _on_thread(Memory.view)
    as_of = _on_thread(Memory.as_of)
    episode = _on_thread(Memory.episode)
    list_episodes = _on_thread(Memory.list_episodes)
    list_statements = _on_thread(Memory.list_statements)
    namespaces = _on_thread(Memory.namespaces)
    delete_namespace = _on_thread(Memory.delete_namespace)
    stats = _on_thread(Memory.stats)
    export = _on_thread(Memory.export)
    import_ = _on_thread(Memory.import_)
    share_file = _on_thread(Memory.share_file)
    watch_indexing = _on_thread(Memory.watch_indexing)
    warm_up = _on_thread(Memory.warm_up)
    checkpoint = _on_thread(Memory.checkpoint)
    close = _on_thread(Memory.close)

    async def episodes(self, where: Filter | None = None) -> AsyncIterator[Episode]:
        """Iterate over the episodes: ``async for episode in memory.episodes()``.

        Args:
            where: only episodes that meet this filter.

        Yields:
            The episodes in order of world time, then id. Episodes that are forgotten in the meantime are left out.
        """
        episodes = self.memory.episodes(where)
        while batch := await asyncio.to_thread(lambda: list(islice(episodes, _BATCH))):
            for episode in batch:
                yield episode

    async def __aenter__(self) -> Self:
        if self._memory is None:
            self._memory = await asyncio.to_thread(self._open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

"""The asynchronous twin of a memory."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from worldthread import AsyncMemory, ClosedError, Episode, ForeignFileError, InputError, Memory, NotFoundError


def run(work):  # type: ignore[no-untyped-def]
    return asyncio.run(work())


def test_it_opens_when_the_block_begins_and_closes_when_it_ends(tmp_path: Path) -> None:
    async def work() -> None:
        unopened = AsyncMemory(tmp_path / "m", embedder="fake", model="none")
        assert not (tmp_path / "m").exists()
        with pytest.raises(InputError, match="not open"):
            await unopened.remember("Anna lives in Rome.")
        async with unopened as memory:
            assert memory is unopened
            assert (memory.path, memory.namespace, memory.readonly) == (tmp_path / "m", "default", False)
            assert (await memory.remember("Anna lives in Rome.", at=1)).added == 1
            assert repr(memory) == "AsyncMemory('m', namespace='default', 1 episode)"
        with pytest.raises(ClosedError):
            await memory.recall("Anna")
        await memory.close()

    run(work)
    with Memory(tmp_path / "m", readonly=True) as memory:
        assert [e.text for e in memory.episodes()] == ["Anna lives in Rome."]


def test_errors_are_those_of_a_memory(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear Anna, " * 100)

    async def work() -> None:
        with pytest.raises(ForeignFileError):
            async with AsyncMemory(tmp_path / "letter"):
                pass
        async with AsyncMemory(embedder="fake", model="none") as memory:
            with pytest.raises(NotFoundError):
                await memory.forget(entity="Zoe")
            with pytest.raises(InputError):
                await memory.recall("")

    run(work)


def test_episodes_namespaces_and_the_record() -> None:
    async def work() -> None:
        async with AsyncMemory(embedder="fake", model="none") as memory:
            memory.record.add_many(Episode(f"step {at}", at) for at in range(600))
            assert [e.at async for e in memory.episodes()] == list(range(600))
            async with await memory.open_namespace("other") as other:
                assert other.namespace == "other"
                assert [e async for e in other.episodes()] == []
            assert len(await memory.unread()) == 600
            assert (await memory.view(3)).facts() == []

    run(work)


def test_the_event_loop_goes_on_and_a_cancelled_call_finishes() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        name = "slow"
        concurrency = 1

        def complete(self, request):  # type: ignore[no-untyped-def]
            begun.set()
            assert go_on.wait(30)
            raise InputError("an odd model")

    async def work() -> None:
        async with AsyncMemory(embedder="fake", model=Slow()) as memory:
            task = asyncio.create_task(memory.remember("Anna lives in Rome.", at=1))
            while not begun.is_set():
                await asyncio.sleep(0.001)
            assert (await memory.stats())["episodes"] == 0
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            go_on.set()

    run(work)


def test_a_call_that_waits_for_a_thread_when_it_is_cancelled_is_done_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "memory.worldthread"

    async def work() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        memory = AsyncMemory(path, embedder="fake", model="none")
        await memory.__aenter__()
        go_on = threading.Event()
        busy = loop.run_in_executor(None, go_on.wait, 30)
        tasks = [asyncio.create_task(memory.remember("Anna lives in Rome.", at=1)), asyncio.create_task(memory.close())]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        go_on.set()
        await busy
        await loop.run_in_executor(None, int)  # behind them

    run(work)
    with Memory(path, embedder="fake", model="none") as memory:
        assert [episode.text for episode in memory.episodes()] == ["Anna lives in Rome."]

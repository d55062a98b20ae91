"""The order of locks: a read lock, a recall and a write in different threads never wait for each other in a circle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread import Memory
from worldthread.models import embedder
from worldthread.types import Episode

PATIENCE = 60.0


class SlowEmbedder:
    """An embedder that stops in the middle of its work while others are held, except in one thread."""

    name = "slow"

    def __init__(self) -> None:
        self._plain = embedder("fake")
        self.dimensions = self._plain.dimensions
        self.may_go_on = threading.Event()
        self.began = threading.Event()
        self.quick_thread = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if threading.get_ident() != self.quick_thread and len(texts) > 1:
            self.began.set()
            assert self.may_go_on.wait(PATIENCE)
        return self._plain.embed(texts)


def run(*works: Callable[[], object]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


@pytest.fixture
def slow() -> SlowEmbedder:
    return SlowEmbedder()


@pytest.fixture
def memory(tmp_path: Path, slow: SlowEmbedder) -> Memory:
    memory = Memory(tmp_path / "memory", embedder=slow, model="none")
    memory.record.add_many(Episode(f"Anna has book {number}.", number) for number in range(8))
    return memory


def test_a_reader_that_recalls_does_not_wait_for_a_recall_that_waits_for_it(memory: Memory, slow: SlowEmbedder) -> None:
    found = []

    def recall() -> None:
        found.append(len(memory.recall("What does Anna have?").episodes))

    def read_and_recall() -> None:
        slow.quick_thread = threading.get_ident()
        assert slow.began.wait(PATIENCE)
        with memory.record.read_lock():
            slow.may_go_on.set()  # the other thread now needs the lock that this one holds
            recall()

    for thread in run(recall, read_and_recall):
        thread.join(PATIENCE)
        assert not thread.is_alive(), "deadlock"
    assert found == [5, 5]
    memory.close()


def test_nobody_waits_for_an_embedding(memory: Memory, slow: SlowEmbedder) -> None:
    (recall,) = run(lambda: memory.recall("What does Anna have?"))
    assert slow.began.wait(PATIENCE)
    for work in (
        lambda: memory.record.add(Episode("Anna sold a book.", 100)),
        lambda: memory.record.forget(Episode("Anna has book 3.", 3).id),
        lambda: memory.record.graph,
        lambda: memory.unread(),
    ):
        (thread,) = run(work)
        thread.join(PATIENCE)
        assert not thread.is_alive(), "waits for the embedder"
    slow.may_go_on.set()
    recall.join(PATIENCE)
    assert not recall.is_alive()
    assert "Anna sold a book." in memory.recall("Who sold a book?", k=8).text
    memory.close()

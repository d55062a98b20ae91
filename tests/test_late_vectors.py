"""What is forgotten while it is embedded leaves no vector."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread import Memory
from worldthread.models.fake import FakeEmbedder

SECRET = "Zoe hides the key under the blue pot."


class HeldEmbedder(FakeEmbedder):
    """Waits with the texts that hold a word until it is let go."""

    name = "held/1"  # type: ignore[misc]

    def __init__(self) -> None:
        self.begun, self.goes_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("pot" in text for text in texts):
            self.begun.set()
            assert self.goes_on.wait(30)
        return super().embed(texts)


def recall(memory: Memory) -> None:
    memory.recall("Where is the key?")


def reembed(memory: Memory) -> None:
    memory.reembed()


def remember(memory: Memory) -> None:
    memory.remember(SECRET, at=1)


@pytest.mark.parametrize("work", [recall, reembed, remember])
def test_what_is_forgotten_while_it_is_embedded_leaves_no_vector(
    work: Callable[[Memory], None], tmp_path: Path
) -> None:
    path = tmp_path / "memory.worldthread"
    embedder = HeldEmbedder()
    with Memory(path, model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1)
        if work is not remember:
            memory.remember(SECRET, at=1)
    with Memory(path, model="none", embedder=embedder) as memory:
        thread = threading.Thread(target=work, args=(memory,))
        thread.start()
        assert embedder.begun.wait(30)
        secret = next(episode for episode in memory.episodes() if "pot" in episode.text)
        memory.forget(secret.id)
        embedder.goes_on.set()
        thread.join(30)
        assert not thread.is_alive()
        texts = [secret.text, *map(str, secret.extraction.statements)]
        assert memory.record.vectors.get_vectors(embedder.name, texts) == {}
        memory.recall("Where does Anna live?")
        left = memory.record.vectors.get_vectors(embedder.name, ["Anna lives in Rome."])
        assert set(left) == {"Anna lives in Rome."}, "what holds has its vector"
    with Memory(path, model="none", embedder=embedder) as memory:
        assert memory.record.vectors.get_vectors(embedder.name, texts) == {}

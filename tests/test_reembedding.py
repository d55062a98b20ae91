"""Another embedder for a memory: resumed after a kill, and never without the vectors of one of them."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread import AsyncMemory, Memory, ReadOnlyError, StoreError
from worldthread.errors import ModelCallError
from worldthread.models import default_embedder
from worldthread.models.fake import FakeEmbedder

SENTENCES = [f"Anna keeps item {number} in room {number % 7}." for number in range(40)]


class Other(FakeEmbedder):
    """Another embedder, with shorter vectors, that counts what it embeds and may fail."""

    name = "other-128/1"  # type: ignore[misc]
    dimensions = 128  # type: ignore[misc]

    def __init__(self, fails_after: int | None = None) -> None:
        self.embedded: list[str] = []
        self._fails_after = fails_after

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._fails_after is not None and len(self.embedded) >= self._fails_after:
            raise ModelCallError("the server is down", status=503, attempts=1)
        self.embedded += texts
        vectors = FakeEmbedder().embed(texts)[:, :128]
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("WORLDTHREAD_EMBEDDER", "WORLDTHREAD_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "notes.worldthread"
    with Memory(file, model="none", embedder="fake") as memory:
        memory.remember_many(SENTENCES, at=1, progress=False)
    return file


def models_in(path: Path) -> dict[str, int]:
    """How many vectors of each embedder the file has."""
    with sqlite3.connect(path) as connection:
        return dict(connection.execute("SELECT model, COUNT(*) FROM vector GROUP BY model"))


def test_the_vectors_of_the_old_embedder_go_when_those_of_the_new_one_are_there(path: Path) -> None:
    before = models_in(path)["fake-256/1"]
    seen: list[tuple[int, int | None]] = []
    other = Other()
    with Memory(path, model="none", embedder=other) as memory:
        assert memory.reembed(progress=lambda done, total: seen.append((done, total))) == before
        assert memory.stats()["vectors"] == before
        found = memory.recall("Where is item 3?", method="dense", k=1)
        assert memory.embedder is other
    assert models_in(path) == {"other-128/1": before}
    assert seen[-1] == (before, before)
    assert len(other.embedded) == before + 1, "each text once, and the question"
    with Memory(path, model="none", embedder=Other()) as memory:
        assert memory.recall("Where is item 3?", method="dense", k=1) == found
        assert memory.reembed(progress=False) == 0


def test_it_goes_on_where_it_stopped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread.memory.index._BATCH", 16)
    before = models_in(path)
    total = before["fake-256/1"]
    with Memory(path, model="none", embedder=Other(fails_after=32)) as memory:
        with pytest.raises(ModelCallError):
            memory.reembed(progress=False)
        assert models_in(path) == before | {"other-128/1": 32}
    again = Other()
    with Memory(path, model="none", embedder=again) as memory:
        assert memory.reembed(progress=False) == total - 32
    assert len(again.embedded) == total - 32
    assert models_in(path) == {"other-128/1": total}


def test_the_old_vectors_stay_when_a_new_one_cannot_be_stored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = models_in(path)

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("is the disk full?", path=path)

    with Memory(path, model="none", embedder=Other()) as memory:
        monkeypatch.setattr("worldthread.stores.SQLiteStore.put_vectors", refuse)
        with pytest.raises(StoreError, match="disk full"):
            memory.reembed(progress=False)
    assert models_in(path) == before


def test_other_namespaces_keep_their_vectors(path: Path) -> None:
    with Memory(path, namespace="second", model="none", embedder="fake") as second:
        second.remember("Ben lives in Oslo.", at=1, wait=True)
    with Memory(path, model="none", embedder=Other()) as memory:
        memory.reembed(progress=False)
    assert models_in(path)["fake-256/1"] == 2


def test_a_saved_index_of_the_old_embedder_goes_too(path: Path) -> None:
    with Memory(path, model="none", embedder="fake") as memory:
        memory.recall("item 3")
        memory.checkpoint()
    folder = path.with_name(path.name + "-snapshot")
    (old,) = folder.glob("*/index-*")
    with Memory(path, model="none", embedder=Other()) as memory:
        memory.reembed(progress=False)
        memory.checkpoint()
        assert not list(folder.glob(f"*/{old.name}"))
        memory.recall("item 3")
        memory.checkpoint()
        assert list(folder.glob("*/index-*"))


def test_a_reader_cannot_reembed(path: Path) -> None:
    with Memory(path, readonly=True, model="none", embedder=Other()) as memory, pytest.raises(ReadOnlyError):
        memory.reembed()


def test_the_asynchronous_twin(path: Path) -> None:
    async def work() -> int:
        async with AsyncMemory(path, model="none", embedder=Other()) as memory:
            return await memory.reembed(progress=False)

    before = models_in(path)["fake-256/1"]
    assert asyncio.run(work()) == before


CHILD = """
import sys, time
from worldthread import Memory
from worldthread.memory import index as memory_index
from worldthread.models.fake import FakeEmbedder

class Slow(FakeEmbedder):
    name = "slow-256/1"

    def embed(self, texts):
        time.sleep(0.02)
        return -super().embed(texts)

memory_index._BATCH = 8
memory = Memory(sys.argv[1], model="none", embedder=Slow())
print("open", flush=True)
memory.reembed(progress=lambda done, total: print(done, total, flush=True))
print("end", flush=True)
memory.close()
print("closed", flush=True)
"""


class Negative(FakeEmbedder):
    """What the processes of the test below embed with, without the delay."""

    name = "slow-256/1"  # type: ignore[misc]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return -super().embed(texts)


def reembed_until_killed(path: Path, lines: int) -> list[str]:
    """What a process printed that re-embeds and is killed after it printed some lines."""
    with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        printed = [line.strip() for _, line in zip(range(lines), child.stdout, strict=False)]
        child.kill()
        printed += [line.strip() for line in child.stdout if line.endswith("\n")]
        child.wait()
    return printed


def test_a_kill_loses_no_old_vector_before_all_new_ones_are_there(path: Path) -> None:
    old = models_in(path)["fake-256/1"]
    done = 0
    for lines in (1, 2, 4, 1, 3, 50):
        printed = reembed_until_killed(path, lines)
        found = models_in(path)
        new = found.get("slow-256/1", 0)
        assert new >= done, "what was embedded is kept"
        if "fake-256/1" in found:
            assert found["fake-256/1"] == old
        else:
            assert new == old
        done = new
        with Memory(path, readonly=True, model="none", embedder=Negative()) as memory:
            texts = [episode.text for episode in memory.episodes()]
            assert len(texts) == len(SENTENCES)
            for name, sign in (("fake-256/1", 1), ("slow-256/1", -1)):
                kept: Any = memory.record.vectors.get_vectors(name, texts)
                for text, vector in kept.items():
                    np.testing.assert_allclose(vector, sign * FakeEmbedder().embed([text])[0], atol=1e-3)
    assert printed[-1] == "closed"
    assert models_in(path) == {"slow-256/1": old}


def test_a_memory_takes_the_embedder_of_its_vectors(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing is to be embedded anew")

    with Memory(path, readonly=True, model="none") as memory:
        assert memory.embedder.name == "fake-256/1"
        monkeypatch.setattr("worldthread.stores.SQLiteStore.put_vectors", refuse)
        assert memory.recall("Where is item 3?").hits


def test_the_environment_goes_before_the_embedder_of_the_vectors(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "wordllama")
    with Memory(path, readonly=True, model="none") as memory:
        assert memory.embedder.name.startswith("wordllama")


def test_a_memory_half_embedded_anew_has_its_old_embedder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread.memory.index._BATCH", 16)
    with Memory(path, model="none", embedder=Other(fails_after=32)) as memory, pytest.raises(ModelCallError):
        memory.reembed(progress=False)
    with Memory(path, readonly=True, model="none") as memory:
        assert memory.embedder.name == "fake-256/1"


def test_the_embedder_of_stored_vectors() -> None:
    assert default_embedder(lambda: {"multilingual-e5-small-q4/1"}).name == "multilingual-e5-small-q4/1"


@pytest.mark.parametrize(
    "stored",
    [
        "ollama/nomic-embed-text:v1.5+abcdef-768/1",
        "vllm/intfloat/multilingual-e5-base@gpu:8000+abcdef-768/1",
        "sentence-transformers/all-mpnet-base-v2-768/1",
        "letters/1",
        "letters/anna-3/1",
    ],
)
def test_the_names_in_a_file_reach_no_server(stored: str) -> None:
    with pytest.warns(UserWarning, match="not used unless you name it"):
        assert default_embedder(lambda: {stored}).name.startswith("all-minilm")

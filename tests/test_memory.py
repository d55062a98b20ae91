"""A memory as a user meets it."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread import Ending, Episode, Extraction, Fact, Memory, Thesis, WorldthreadError
from worldthread.errors import ClosedError, InputError, NotFoundError, ReadOnlyError, StoreLockedError
from worldthread.models import CachedEmbedder, embedder


def place(thing: str, where: str) -> Fact:
    return Fact(thing, "is in", where, aspect=f"place of {thing}")


def step(at: float, *statements: Fact | Thesis, ends: tuple[Ending, ...] = ()) -> Episode:
    return Episode(f"step {at}", at, extraction=Extraction("test/1", statements, ends))


def test_a_life(tmp_path: Path) -> None:
    path = tmp_path / "home.worldthread"
    ticks = iter(range(100, 200))
    with Memory(path, clock=lambda: float(next(ticks))) as memory:
        assert (memory.path, memory.namespace, memory.readonly) == (path, "default", False)
        found = memory.record.add(step(1, place("key", "chest"), Thesis("The chest is old.", ("chest",))))
        assert found.recorded_at == 100
        view = memory.view()
        taken = memory.record.add(step(5, place("key", "hand")))
        assert view.value("key", "is in") == "hand", "views are live"
        assert memory.record.add_many([step(3, place("lamp", "hall")), taken]) == 1
        assert memory.view(at=4).value("key", "is in") == "chest"
        assert memory.as_of(world_time=4).value("key", "is in") == "chest"
        assert memory.as_of(recorded_time=101).facts("lamp") == [], "the lamp was recorded at 102"
        assert memory.as_of(recorded_time=102).facts("lamp") == [place("lamp", "hall")]
        assert [e.at for e in memory.episodes()] == [1, 3, 5]
        assert memory.stats() == {
            "episodes": 3, "unread": 0, "failed": 0,
            "facts": 3, "theses": 1, "current_facts": 2, "current_theses": 1, "ended": 1, "vectors": 0,
        }  # fmt: skip
        memory.record.replace(Episode("step 3", 3, extraction=Extraction("test/2", (place("lamp", "cellar"),))))
        assert view.value("lamp", "is in") == "cellar"
        memory.forget(taken.id)
        assert view.value("key", "is in") == "chest"
        with pytest.raises(NotFoundError):
            memory.episode(taken.id)
        before = memory.record.state_hash()
        memory.checkpoint()
    with Memory(path, readonly=True) as memory:
        assert memory.record.state_hash() == before
        assert memory.episode(found.id) == found
        with memory.record.read_lock() as graph:
            assert len(graph) == len(memory.record.graph) == 2
        with pytest.raises(ReadOnlyError):
            memory.record.add(taken)
    with pytest.raises(ClosedError):
        memory.view()


def test_export_and_import(tmp_path: Path) -> None:
    with Memory() as memory, Memory() as other:
        memory.record.add_many([step(at, place("key", f"room {at % 3}")) for at in range(20)])
        stream = io.BytesIO()
        assert memory.export(stream) == memory.export(tmp_path / "out.jsonl") == 20
        assert stream.getvalue() == (tmp_path / "out.jsonl").read_bytes()
        other.record.add(step(3, place("key", "room 0")))
        counts = other.import_(tmp_path / "out.jsonl")
        assert (counts.added, counts.known) == (19, 1)
        assert other.record.state_hash() == memory.record.state_hash()


def test_memories_of_one_file_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    with Memory(path, namespace="anna") as anna, anna.open_namespace("ben") as ben:
        anna.record.add(step(1, place("key", "room")))
        assert ben.view().about("key") == []
        ben.record.add(step(2, place("cup", "shelf")))
        with pytest.raises(StoreLockedError, match="wait=SECONDS"):
            Memory(path, namespace="carl")
        with Memory(path, namespace="ben", readonly=True) as reader:
            assert [e.at for e in reader.episodes()] == [2]
            ben.record.add(step(3))
            assert reader.record.refresh()
            assert len(reader.record.graph) == 2
    with Memory(path) as memory:
        assert memory.record.graph.counts()["episodes"] == 0


def test_vectors_survive(tmp_path: Path) -> None:
    texts = ["a rusty key", "a door"]
    with Memory(tmp_path / "memory") as memory:
        expected = CachedEmbedder(embedder("fake"), memory.record.vectors).embed(texts)
    with Memory(tmp_path / "memory") as memory:
        found = memory.record.vectors.get_vectors(embedder("fake").name, texts)
        assert [pytest.approx(row, abs=1e-3) for row in expected.tolist()] == [found[text].tolist() for text in texts]
        assert memory.stats()["vectors"] == 2


def test_wrong_arguments_are_errors_of_ours(tmp_path: Path) -> None:
    for arguments in ({"namespace": ""}, {"durability": "very"}, {"wait": -1.0}, {"readonly": True}):
        with pytest.raises(InputError):
            Memory(None, **arguments)  # type: ignore[arg-type]
    with pytest.raises(WorldthreadError, match="does not exist"):
        Memory(tmp_path / "no" / "memory")
    with Memory(clock=lambda: float("nan")) as memory, pytest.raises(InputError, match="recorded_at"):
        memory.record.add(step(1))


def test_a_memory_that_nobody_closed_is_whole(tmp_path: Path) -> None:
    code = "import sys; from worldthread import *; Memory(sys.argv[1]).record.add(Episode('left open', 1))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "memory")], check=True)
    with Memory(tmp_path / "memory") as memory:
        assert [e.text for e in memory.episodes()] == ["left open"]


def test_what_the_first_question_needs_is_loaded_before_it_comes(tmp_path: Path) -> None:
    """In a process of its own: here everything was imported long ago."""
    path = tmp_path / "home.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        memory.record.add(step(1, place("key", "chest")))
        memory.recall("Where is the key?")
        memory.checkpoint()
    code = f"""
import sys
from worldthread import Memory
with Memory({str(path)!r}, readonly=True, model="none", embedder="fake") as memory:
    computed = []
    memory.watch_indexing(lambda done, total: computed.append(total))
    memory.warm_up()
    memory.warm_up()
    before = set(sys.modules)
    assert memory.ask("Where is the key?").recall.hits
    print(sorted(name for name in set(sys.modules) - before if name.startswith("worldthread")), computed)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[] []\n", "")


class CountingEmbedder:
    """An embedder that a user brought, which may ask a server."""

    name, dimensions = "counting", 256

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return embedder("fake").embed(texts)


def test_nothing_is_embedded_to_warm_up(tmp_path: Path) -> None:
    counting = CountingEmbedder()
    with Memory(tmp_path / "home.worldthread", model="none", embedder=counting) as memory:
        memory.record.add(step(1, place("key", "chest")))
        memory.warm_up()
        assert counting.texts == []
        assert memory.recall("Where is the key?").hits
    assert counting.texts

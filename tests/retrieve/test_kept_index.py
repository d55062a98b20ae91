"""An index that is kept beside the file answers as one that is made anew, whatever happened since."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from worldthread import Memory
from worldthread.graph import TemporalGraph
from worldthread.memory import index as memory_index
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import RetrievalIndex
from worldthread.retrieve import index as index_module
from worldthread.types import Episode
from worldthread.vectors.quantised import QuantisedTable

QUESTIONS = ("Where does Ann3 live?", "Who owns a boat in Town7?", "What is in the cellar of Town2?")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_index, "_WORTH_SAVING", 20)


class Counting(FakeEmbedder):
    """Counts what it is asked to embed."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts):  # type: ignore[no-untyped-def]
        self.texts += texts
        return super().embed(texts)


def texts(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    people, towns = [f"Ann{n}" for n in range(8)], [f"Town{n}" for n in range(9)]
    return [
        f"{chance.choice(people)} {chance.choice(['lives in', 'owns a boat in', 'saw the cellar of'])} "
        f"{chance.choice(towns)}. Entry {seed}.{n} says so."
        for n in range(count)
    ]


def opened(path: Path, **options: object) -> Memory:
    return Memory(path, model="none", embedder=Counting(), **options)  # type: ignore[arg-type]


def answers(memory: Memory) -> list[list[tuple[str, float]]]:
    return [
        [(str(h.item), round(h.score, 5)) for h in memory.recall(q, k=20, only_current=False).hits] for q in QUESTIONS
    ]


def anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, float]]]:
    """The answers of an index made from the record."""
    with monkeypatch.context() as patch:
        patch.setattr(RetrievalIndex, "restore", lambda self, graph, *pieces: False)
        with opened(path, readonly=True) as memory:
            return answers(memory)


def kept_index(path: Path) -> list[Path]:
    return sorted(Path(f"{path}-snapshot").glob("*/index-*"))


def test_a_kept_index_answers_the_same_without_reading_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory"
    with opened(path) as memory:
        memory.remember_many(texts(60, 1), at=1)
        expected = answers(memory)
    assert len(kept_index(path)) == 1
    assert anew(path, monkeypatch) == expected
    with opened(path, readonly=True) as reader:
        monkeypatch.setattr(reader._index._store, "texts", lambda ids: pytest.fail("no text is needed") if ids else [])
        assert answers(reader) == expected
        assert set(reader._models._shared.named_embedder.texts) == set(QUESTIONS)  # type: ignore[attr-defined]


def test_what_came_later_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory"
    with opened(path) as memory:
        memory.remember_many(texts(60, 1), at=1)
    with opened(path) as memory:
        memory.remember_many(texts(5, 2), at=2)
        expected = answers(memory)
    assert answers(opened(path, readonly=True)) == expected == anew(path, monkeypatch)
    with opened(path) as memory:
        memory.remember_many(texts(90, 3), at=3)
        memory.checkpoint()
        expected = answers(memory)
    assert answers(opened(path, readonly=True)) == expected == anew(path, monkeypatch)


def test_a_new_snapshot_takes_the_index_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory"
    with opened(path) as memory:
        memory.remember_many(texts(60, 1), at=1)
    before = kept_index(path)
    with opened(path) as memory:
        memory.remember("Ann1 lives in Town8.", at=2)
        memory.checkpoint()
    assert len(kept_index(path)) == 1
    assert kept_index(path) != before
    with opened(path, readonly=True) as reader:
        assert answers(reader) == anew(path, monkeypatch)
        assert len(reader._models._shared.named_embedder.texts) < 10  # type: ignore[attr-defined]


def test_what_is_forgotten_is_in_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory"
    with opened(path) as memory:
        memory.remember_many(texts(60, 1), at=1)
    with opened(path) as memory:
        answers(memory)
        memory.forget(entity="Ann3")
        assert kept_index(path) == []
        memory.remember_many(texts(40, 2), at=2)
        memory.forget(entity="Ann3")
        after = answers(memory)
    assert kept_index(path) == [], "the numbers of a graph with gaps fit no snapshot"
    assert after == anew(path, monkeypatch)
    with opened(path) as memory:
        memory.remember_many(texts(30, 4), at=4)
    assert len(kept_index(path)) == 1
    assert answers(opened(path, readonly=True)) == anew(path, monkeypatch)


@pytest.mark.parametrize("damage", ["cut", "swap", "manifest", "embedder"])
def test_a_damaged_index_is_made_anew(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory"
    with opened(path) as memory:
        memory.remember_many(texts(60, 1), at=1)
        expected = answers(memory)
    (folder,) = kept_index(path)
    if damage == "cut":
        (folder / "statements.npy").write_bytes((folder / "statements.npy").read_bytes()[:-7])
    elif damage == "swap":
        np.save(folder / "mentioned.npy", np.zeros((3, 3), np.int32))
    elif damage == "manifest":
        (folder / "manifest.json").write_text("[]")
    else:
        monkeypatch.setattr(Counting, "name", "another/1")
    assert answers(opened(path, readonly=True)) == expected


def test_a_large_index_is_quantised_and_kept_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "EXACT_ROWS", 50)
    path = tmp_path / "memory"
    with opened(path) as memory:
        memory.remember_many(texts(40, 1), at=1)
        first = answers(memory)
        memory.remember_many(texts(40, 2), at=2)  # the index passes the limit while it is in use
        expected = answers(memory)
        with memory.record.index() as index:
            assert isinstance(index.statements, QuantisedTable)
    assert first != expected
    with opened(path, readonly=True) as reader:
        assert answers(reader) == expected
    monkeypatch.setattr(index_module, "EXACT_ROWS", 10**6)
    exact = anew(path, monkeypatch)
    for found, wanted in zip(expected, exact, strict=True):
        assert {name for name, _ in found[:3]} <= {name for name, _ in wanted[:6]}


def test_an_empty_memory_has_nothing_to_keep(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        assert memory.recall(QUESTIONS[0]).hits == ()
        memory.checkpoint()
        memory.remember("Ann1 lives in Town1.", at=1)
        memory.checkpoint()
        assert len(kept_index(tmp_path / "memory")) == 1


def test_vectors_that_half_precision_would_change_are_kept_whole() -> None:
    episodes = [Episode(text, number) for number, text in enumerate(texts(30, 1))]
    vectors = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    class Plain(FakeEmbedder):
        dimensions = 2  # type: ignore[misc]

    graph = TemporalGraph(episodes)
    index, again = RetrievalIndex(Plain()), RetrievalIndex(Plain())
    for part in index.take(graph, lambda ids: [one.text for one in episodes[: len(ids)]]):
        index.put(part, vectors)
    assert again.restore(graph, index.to_arrays())
    np.testing.assert_array_equal(again.episodes.rows, index.episodes.rows)

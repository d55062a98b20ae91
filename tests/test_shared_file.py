"""Several writers on one file: a long text does not keep the others out, and what is recorded is exact."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread import Episode, Extraction, Fact, Memory
from worldthread.errors import InputError, NotFoundError, StoreLockedError
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.graph import TemporalGraph
from worldthread.stores import SQLiteStore
from worldthread.stores.database import Database

TEXTS = [f"Person{number} lives in town {number}." for number in range(150)]


@pytest.fixture(autouse=True)
def rules_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories read by rules, as :class:`Meddler` does, so that their states can be compared."""
    monkeypatch.setenv("WORLDTHREAD_EXTRACTOR", "prose")


class Meddler(ProseExtractor):
    """Reads texts by rules, and calls a function before each."""

    def __init__(self, meddle: Callable[[str, str], None]) -> None:
        super().__init__()
        self._meddle = meddle

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        self._meddle("extract", text)
        return super().extract(text)

    def outdate(
        self, text: str, extraction: Extraction, view: Any, speaker: str = "", at: float | None = None
    ) -> Extraction:
        self._meddle("outdate", text)
        return super().outdate(text, extraction, view, speaker, at)


class MeddlingEmbedder:
    """Returns one vector for all texts, and calls a function first."""

    name = "meddling"
    dimensions = 4

    def __init__(self, meddle: Callable[[str, str], None]) -> None:
        self._meddle = meddle

    def embed(self, texts: Any) -> Any:
        self._meddle("embed", "")
        return np.ones((len(texts), 4), dtype=np.float32)


def shared(path: Path, **options: Any) -> Memory:
    memory = Memory(path, **{"model": "none", "embedder": "fake", **options})
    memory.share_file()
    return memory


def state(path: Path) -> tuple[str, int]:
    with Memory(path, readonly=True, model="none", embedder="fake") as memory:
        return memory.record.state_hash(), memory.stats()["episodes"]


@pytest.fixture
def alone(tmp_path: Path) -> str:
    """The state after one process alone has remembered the texts."""
    with Memory(tmp_path / "alone", model="none", embedder="fake") as memory:
        memory.remember_many(TEXTS, at=1)
    return state(tmp_path / "alone")[0]


def test_the_file_is_free_while_a_text_is_read_and_embedded(tmp_path: Path) -> None:
    path = tmp_path / "m"
    came: list[str] = []

    def other_writes(moment: str, text: str) -> None:
        came.append(moment)
        if len(came) % 20 == 1 or moment == "embed":
            with Memory(path, wait=0, model="none", embedder="fake") as other:
                other.record.add(Episode(f"meanwhile {len(came)}", float(len(came))))

    with shared(path, extractor=Meddler(other_writes), embedder=MeddlingEmbedder(other_writes)) as memory:
        done = memory.remember_many(TEXTS, at=1)
        assert (done.added, done.known) == (len(TEXTS), 0)
        written = sum(episode.text.startswith("meanwhile") for episode in memory.episodes())
        assert memory.stats()["episodes"] == len(TEXTS) + written
        assert memory.recall("Where does person7 live?").hits
    assert set(came) == {"extract", "outdate", "embed"}
    assert written > 10


def test_without_sharing_others_are_kept_out(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", model="none", embedder="fake"), pytest.raises(StoreLockedError):
        Memory(tmp_path / "m")


def test_two_who_remember_the_same_record_it_once(tmp_path: Path, alone: str) -> None:
    path = tmp_path / "m"
    others = []

    def other_remembers(moment: str, text: str) -> None:
        if moment == "outdate" and TEXTS.index(text) % 3 == 0:
            with shared(path, wait=0) as other:
                others.append(other.remember(text, at=1, wait=True))

    with shared(path, extractor=Meddler(other_remembers)) as memory:
        done = memory.remember_many(TEXTS, at=1)
    assert (done.added, done.known) == (100, 50)
    assert len(done.episodes) == 150
    assert sum(other.added for other in others) == 50
    assert state(path) == (alone, 150)


def test_what_a_stop_leaves_is_completed_by_remembering_again(tmp_path: Path, alone: str) -> None:
    path = tmp_path / "m"

    def stop(moment: str, text: str) -> None:
        if text == TEXTS[100]:
            raise KeyboardInterrupt

    with shared(path, extractor=Meddler(stop)) as memory, pytest.raises(KeyboardInterrupt):
        memory.remember_many(TEXTS, at=1)
    assert state(path)[1] == 64
    with shared(path) as memory:
        done = memory.remember_many(TEXTS, at=1)
    assert (done.added, done.known) == (86, 64)
    assert state(path) == (alone, 150)


def test_many_threads_and_memories_lose_nothing(tmp_path: Path, alone: str) -> None:
    path = tmp_path / "m"
    shared(path).close()
    problems: list[BaseException] = []
    counts: list[int] = []

    def work(memory: Memory, part: int) -> None:
        try:
            for start in range(0, len(TEXTS), 10):
                own = TEXTS[start : start + 10]
                counts.append(memory.remember_many(own[part % 2 :], at=1).added)
                memory.recall(own[0], k=2)
        except BaseException as error:
            problems.append(error)

    memories = [shared(path, wait=600) for _ in range(2)]
    threads = [threading.Thread(target=work, args=(memories[part // 2], part)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for memory in memories:
        memory.close()
    assert problems == []
    assert sum(counts) == 150
    assert state(path) == (alone, 150)


def test_what_another_has_forgotten_does_not_come_back_with_a_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with shared(path) as memory:
        memory.record.add_many(
            Episode(f"text {n}", float(n), "", Extraction("given/1", (Fact(f"zebra{n}", "is in", "town"),)))
            for n in range(300)
        )
        with shared(path, wait=0) as other:
            other.forget(entity="zebra77")
    left = [file for file in tmp_path.rglob("*") if file.is_file() and b"zebra77" in file.read_bytes()]
    assert left == []
    assert (tmp_path / "m-snapshot").is_dir()


def fill(store: SQLiteStore, count: int) -> None:
    """Record episodes one by one, so that no snapshot is written before the store is closed."""
    for n in range(count):
        store.append(Episode(f"text {n}", float(n), "", Extraction("given/1", (Fact(f"zebra{n}", "is in", "town"),))))


def test_closing_writes_no_snapshot_of_what_another_has_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with SQLiteStore.open(path) as store:
        store.share_file()
        fill(store, 300)
        with SQLiteStore.open(path) as other:
            other.forget(next(episode.id for episode in other.episodes() if episode.text == "text 77"))
    left = [file for file in tmp_path.rglob("*") if file.is_file() and b"zebra77" in file.read_bytes()]
    assert left == []
    assert (tmp_path / "m-snapshot").is_dir()


def test_others_write_between_the_parts_of_many_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    writing = Database.writing

    def noted(self: Database, wait: float | None = None) -> Any:
        with closing(sqlite3.connect(tmp_path / "m")) as reader:
            sizes.append(reader.execute("SELECT COUNT(*) FROM vector").fetchone()[0])
        return writing(self, wait)

    texts = [f"text {n}" for n in range(1100)]
    vectors = np.arange(1, 2201, dtype=np.float32).reshape(-1, 2)
    with SQLiteStore.open(tmp_path / "m") as store:
        store.share_file()
        monkeypatch.setattr(Database, "writing", noted)
        store.put_vectors("model", texts, vectors)
        monkeypatch.undo()
        assert sizes == [0, 500, 1000]
        found = store.get_vectors("model", texts)
    assert np.array_equal([found[text] for text in texts], vectors.astype(np.float16).astype(np.float32))


Meanwhile = Callable[[SQLiteStore], object]


@pytest.fixture
def while_arrays_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Meanwhile], list[int]]:
    """Let another writer change the file whenever a graph is turned into arrays; fails when it is kept out."""

    def start(meanwhile: Meanwhile) -> list[int]:
        calls: list[int] = []
        to_arrays = TemporalGraph.to_arrays

        def slow(graph: TemporalGraph) -> Any:
            monkeypatch.setattr(TemporalGraph, "to_arrays", to_arrays)  # the other writer may write a snapshot too
            arrays = to_arrays(graph)
            with SQLiteStore.open(tmp_path / "m", wait=0) as other:
                meanwhile(other)
            calls.append(len(graph))
            return arrays

        monkeypatch.setattr(TemporalGraph, "to_arrays", slow)
        return calls

    return start


def test_others_write_while_a_snapshot_is_made(
    tmp_path: Path, while_arrays_are_made: Callable[[Meanwhile], list[int]]
) -> None:
    path = tmp_path / "m"
    with SQLiteStore.open(path) as store:
        store.share_file()
        fill(store, 300)
        rows = {"rows": np.arange(6, dtype=np.int32).reshape(-1, 3)}
        calls = while_arrays_are_made(lambda other: other.append(Episode("meanwhile", 1000.0)))
        graph = store.graph
        assert store.save_index("index/1", rows, graph, graph.numbering)
        assert calls == [300]
        with SQLiteStore.open(path, readonly=True) as reader:
            assert len(reader.graph) == 301
            assert reader.load_index("index/1") is not None
        for n in range(250):
            store.append(Episode(f"later {n}", 2000.0 + n))
        calls = while_arrays_are_made(lambda other: other.append(Episode("at the end", 3000.0)))
    assert calls == [551]
    with SQLiteStore.open(path, readonly=True) as store:
        assert len(store.graph) == 552
        assert store.graph.state_hash() == TemporalGraph(store.episodes()).state_hash()


def test_an_index_is_not_saved_when_another_forgets_meanwhile(
    tmp_path: Path, while_arrays_are_made: Callable[[Meanwhile], list[int]]
) -> None:
    path = tmp_path / "m"
    with SQLiteStore.open(path) as store:
        store.share_file()
        fill(store, 300)
        graph = store.graph
        gone = next(episode.id for episode in store.episodes() if episode.text == "text 77")
        calls = while_arrays_are_made(lambda other: other.forget(gone))
        assert not store.save_index("index/1", {"rows": np.zeros((2, 3), np.int32)}, graph, graph.numbering)
        assert calls == [300]
    left = [file for file in tmp_path.rglob("*") if file.is_file() and b"zebra77" in file.read_bytes()]
    assert left == []
    with SQLiteStore.open(path, readonly=True) as store:
        assert len(store.graph) == 299


def test_an_episode_that_another_has_forgotten_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with shared(path) as memory:
        memory.record.add_many(
            Episode(text, float(n), "", Extraction(failures=("broken",))) for n, text in enumerate(TEXTS[:3])
        )

    def forget(moment: str, text: str) -> None:
        if moment == "outdate" and text == TEXTS[1]:
            with shared(path, wait=0) as other:
                other.forget(next(episode for episode in other.episodes() if episode.text == text))

    with shared(path, extractor=Meddler(forget)) as memory:
        assert memory.retry().added == 2
        assert memory.stats()["episodes"] == 2


def test_a_change_inside_a_block_that_reads_is_an_error_and_waits_for_nobody(tmp_path: Path) -> None:
    with shared(tmp_path / "m") as memory:
        memory.remember("Anna lives in Rome.", wait=True)
        with memory.record.read_lock(), pytest.raises(InputError, match="inside a block that reads"):
            memory.remember("Anna lives in Paris.", wait=True)
        assert memory.remember("Anna lives in Paris.", wait=True).added == 1


def test_a_change_waits_for_another_writer_and_then_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with shared(path) as memory:
        with Memory(path, model="none", embedder="fake"), pytest.raises(StoreLockedError):
            memory.remember("Anna lives in Rome.", wait=True)
        assert memory.remember("Anna lives in Rome.", wait=True).added == 1


def test_a_series_of_changes_leaves_gaps_in_which_others_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from worldthread.stores import database

    now = 0.0
    pauses: list[float] = []

    class Clock:
        @staticmethod
        def monotonic() -> float:
            nonlocal now
            now += 0.004
            return now

        @staticmethod
        def sleep(seconds: float) -> None:
            nonlocal now
            now += seconds
            pauses.append(seconds)

    with shared(tmp_path / "m") as memory:
        monkeypatch.setattr(database, "time", Clock)
        for number in range(100):
            memory.record.add(Episode(f"text {number}", float(number)))
        monkeypatch.undo()
    assert 3 <= len(pauses) <= 6
    assert min(pauses) > 2 * database._POLL_SECONDS


@pytest.fixture
def purges(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """How often the log was emptied, and whether readers were waited for."""
    calls: list[bool] = []
    empty = Database.truncate_log

    def counted(self: Database, **options: bool) -> bool:
        calls.append(options.get("wait", True))
        return empty(self, **options)

    monkeypatch.setattr(Database, "truncate_log", counted)
    return calls


def test_forgetting_an_entity_is_one_change_beside_a_long_read(tmp_path: Path, purges: list[bool]) -> None:
    path = tmp_path / "m"
    with Memory(path, model="none", embedder="fake") as memory:
        for number in range(20):
            memory.remember(f"Anna has {number} cats.", at=number, wait=True)
        one = memory.episode(memory.remember("Olga lives in Rome.", wait=True).episodes[0])
        memory.forget(one)
        for_one = len(purges)
        purges.clear()
        with (
            Memory(path, readonly=True, model="none", embedder="fake") as reader,
            reader.record.read_lock() as graph,
        ):
            assert memory.forget(entity="Anna") == 20
            assert len(graph) == 20
            assert len(purges) <= for_one
            assert sum(purges) == 1  # readers are waited for once
        assert memory.stats()["episodes"] == 0
        with pytest.raises(NotFoundError):
            memory.forget(entity="Anna")
    assert b"cats" not in path.read_bytes()


def test_what_another_has_forgotten_can_be_recorded_again(tmp_path: Path) -> None:
    episode = Episode("Anna lives in Rome.", 1.0)
    with shared(tmp_path / "m") as one, shared(tmp_path / "m") as two:
        one.record.add(episode)
        assert len(two.record.graph) == 1
        one.forget(episode)
        assert two.record.add(episode).id == episode.id
        assert [e.text for e in one.episodes()] == [episode.text]

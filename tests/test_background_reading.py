"""Writing does not wait for reading, and whatever is asked does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from worldthread import Extraction, Fact, Memory
from worldthread.errors import StoreError
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.memory.background_reading import MOST_WAITING


class SlowReader(ProseExtractor):
    """Reads by rules, in the background, when it may."""

    takes_time = True

    def __init__(self) -> None:
        super().__init__()
        self.may = threading.Event()
        self.readers: list[str] = []

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        assert self.may.wait(30)
        self.readers.append(threading.current_thread().name)
        return super().extract(text, speaker, at)


def facts(memory: Memory, entity: str) -> list[str]:
    return [str(one.statement) for one in memory.about(entity) if isinstance(one.statement, Fact)]


def test_remembering_returns_before_the_text_is_read(tmp_path: Path) -> None:
    slow = SlowReader()
    with Memory(tmp_path / "m", extractor=slow, embedder="fake") as memory:
        told = memory.remember("Anna lives in Rome.", at=1)
        assert (told.added, told.unread) == (1, 0)
        assert not slow.readers
        slow.may.set()
        assert facts(memory, "Anna") == ["Anna, lives in, Rome"]
        assert memory.unread() == []


def test_whoever_waits_finds_it_read(tmp_path: Path) -> None:
    slow = SlowReader()
    slow.may.set()
    with Memory(tmp_path / "m", extractor=slow, embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1, wait=True)
        memory.remember_many(["Ben lives in Oslo."], at=2)
        assert slow.readers == ["MainThread"] * 2
        memory.remember("Cid lives in Bonn.", at=3)
        memory.reading_done(progress=False)
        assert len(slow.readers) == 3


TOLD: list[Any] = [
    "I live in Rome.",
    "I moved to Paris.",
    [("user", "lives in", "Lima")],
    "My sister Ana lives in Bonn.",
    [{"role": "user", "content": "I live in Oslo."}, {"role": "user", "content": "Ben lives in Graz."}],
]


@pytest.mark.parametrize("extractor", [None, "prose"])
def test_the_memory_is_the_same_as_if_everything_had_been_read_at_once(extractor: str | None) -> None:
    hashes = []
    for wait in (True, False):
        with Memory(model="none", extractor=extractor, embedder="fake") as memory:
            for at, content in enumerate(TOLD):
                memory.remember(content, at=f"2024-05-0{at + 1}", wait=wait)
            hashes.append(memory.record.state_hash())
    assert hashes[0] == hashes[1]


def test_questions_changes_and_the_record_wait() -> None:
    for ask in (
        lambda memory: memory.recall("Where does Anna live?").facts,
        lambda memory: memory.correct(Fact("Anna", "lives in", "Rome")),
        lambda memory: memory.record.graph.view().facts("Anna"),
        lambda memory: memory.list_statements().items,
        lambda memory: memory.forget(entity="Anna"),
    ):
        slow = SlowReader()
        with Memory(extractor=slow, embedder="fake") as memory:
            record = memory.record
            memory.remember("Anna lives in Rome.", at=1)
            threading.Timer(0.05, slow.may.set).start()
            assert ask(memory)
            assert record.view().facts("Anna") is not None


def test_a_thread_that_has_the_memory_locked_does_not_wait() -> None:
    slow = SlowReader()
    with Memory(extractor=slow, embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1, wait=False)
        slow.may.set()
        with memory.record.read_lock():
            memory.about("Anna")
        assert memory.about("Anna")


def test_only_so_much_may_wait() -> None:
    slow = SlowReader()
    slow.may.set()
    with Memory(extractor=slow, embedder="fake") as memory:
        text = [{"role": "user", "content": f"I like tea {n}."} for n in range(MOST_WAITING + 1)]
        memory.remember(text, at=1)
        assert len(slow.readers) == MOST_WAITING + 1


def test_closing_reads_the_rest(tmp_path: Path) -> None:
    slow = SlowReader()
    memory = Memory(tmp_path / "m", extractor=slow, embedder="fake")
    memory.remember("Anna lives in Rome.", at=1)
    threading.Timer(0.05, slow.may.set).start()
    memory.close()
    with Memory(tmp_path / "m", readonly=True, embedder="fake") as memory:
        assert memory.about("Anna")


KILLED = """
import sys, threading, time
from worldthread import Memory
from worldthread.extract.reader.extractor import ReaderExtractor

class Slow(ReaderExtractor):
    def extract_group(self, group):
        time.sleep(60)

memory = Memory(sys.argv[1], extractor=Slow(), embedder="fake")
memory.remember("I live in Rome.", at="2024-05-01")
memory.remember("I moved to Paris.", at="2024-05-02")
print("told", flush=True)
time.sleep(60)
"""


def test_a_killed_process_leaves_the_rest_to_the_next(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "m"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "told\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Memory(tmp_path / "m", readonly=True, embedder="fake", model="none") as memory:
        assert [episode.text for episode in memory.unread()] == ["I live in Rome.", "I moved to Paris."]
    with Memory(tmp_path / "m", embedder="fake", model="none") as memory:
        assert facts(memory, "user") == ["user, lives in, Paris"]
        assert memory.unread() == []


def test_what_the_extractor_fails_at_stays_unread_and_the_rest_is_read() -> None:
    class Failing(SlowReader):
        def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
            if "Anna" in text:
                raise ValueError("a fault of the extractor")
            return super().extract(text, speaker, at)

    slow = Failing()
    talk = [{"role": "user", "content": f"{name} lives in Rome."} for name in ("Ben", "Anna", "Cid")]
    with Memory(extractor=slow, embedder="fake") as memory:
        memory.remember(talk, at=1)
        threading.Timer(0.1, slow.may.set).start()
        with pytest.warns(UserWarning, match="kept unread: ValueError: a fault of the extractor"):
            memory.reading_done(progress=False)
        assert facts(memory, "Cid") == ["Cid, lives in, Rome"]
        (failed,) = memory.unread()
        assert failed.extraction.failures == ("ValueError: a fault of the extractor",)
        assert "Anna" in memory.recall("Where does Anna live?").text


def test_what_cannot_be_written_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowReader()
    with Memory(extractor=slow, embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1)

        def full(*_: object) -> None:
            raise StoreError("the disk is full", path="m")

        with monkeypatch.context() as patched:
            patched.setattr(type(memory._opened), "replace", full)
            slow.may.set()
            with pytest.warns(UserWarning, match="1 texts could not be read: m: the disk is full"):
                assert "Rome" in memory.recall("Where does Anna live?").text
        assert memory.about("Anna")


def test_every_text_can_be_read_again_and_what_was_given_stays() -> None:
    with Memory(extractor=ProseExtractor(), embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1)
        memory.remember([("Ben", "lives in", "Oslo")], at=2)
        memory.correct(Fact("Ben", "lives in", "Oslo"), Fact("Ben", "lives in", "Bonn"), at=3)
        before = memory.record.state_hash()
        assert memory.retry(progress=False).added == 0
        assert memory.retry(everything=True, progress=False).added == 1
        assert memory.record.state_hash() == before


def test_a_memory_that_is_read_anew_is_as_if_it_had_been_read_so_when_it_was_told() -> None:
    with Memory(model="none", embedder="fake") as memory:
        for at, content in enumerate(TOLD):
            memory.remember(content, at=f"2024-05-0{at + 1}")
        memory.remember("Ben has left Graz.", at="2024-06-01")
        told = memory.record.state_hash()
        for _ in range(2):
            memory.retry(everything=True, progress=False)
            assert memory.record.state_hash() == told


def test_a_text_was_never_in_the_memory_without_what_was_read_from_it(tmp_path: Path) -> None:
    times = iter(range(10, 99))
    slow = SlowReader()
    slow.may.set()
    with Memory(tmp_path / "m", extractor=slow, embedder="fake", clock=lambda: next(times)) as memory:
        memory.remember("Anna lives in Rome.", at=1)
        (episode,) = memory.episodes()
        assert episode.extracted_at is None
        assert "Rome" in str([*memory.as_of(recorded_time=episode.recorded_at).about("Anna")])
        memory.retry(everything=True, progress=False)
        (episode,) = memory.episodes()
        assert episode.extracted_at is not None
        assert episode.extracted_at > (recorded := episode.recorded_at or 0)
        assert not memory.as_of(recorded_time=recorded).about("Anna"), "it was read anew since"


def test_what_was_recorded_before_an_interrupt_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowReader()
    slow.may.set()
    with Memory(extractor=slow, embedder="fake") as memory:

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(memory._index_of_texts, "embed", interrupted)
            with pytest.raises(KeyboardInterrupt):
                memory.remember("Anna lives in Rome.", at=1)
        assert facts(memory, "Anna") == ["Anna, lives in, Rome"]
        assert memory.unread() == []


def test_a_memory_that_fails_to_open_holds_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from worldthread.memory.ingestion import Ingestion

    def fail(_: Ingestion) -> None:
        raise StoreError("a read failed", path="m")

    with monkeypatch.context() as patched:
        patched.setattr(Ingestion, "read_on", fail)
        with pytest.raises(StoreError, match="a read failed"):
            Memory(tmp_path / "m", embedder="fake")
    Memory(tmp_path / "m", embedder="fake").close()

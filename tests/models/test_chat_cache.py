from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldthread.caches import sqlite as sqlite_cache
from worldthread.errors import (
    ClosedError,
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    InputError,
    ModelCallError,
    StoreError,
    StoreLockedError,
)
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Message, Usage
from worldthread.models.chat_cache import CachedChat, KeptAnswers, answers_in_file


class Counting:
    """Numbers its answers, each after ``pause`` seconds; fails at the first ``failures`` calls."""

    def __init__(
        self, name: str = "toy", *, finish_reason: str = "stop", pause: float = 0.0, failures: int = 0
    ) -> None:
        self.name = name
        self.concurrency = 4
        self.calls = 0
        self._finish_reason = finish_reason
        self._pause = pause
        self._failures = failures
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest) -> ChatAnswer:
        with self._lock:
            self.calls += 1
            number = self.calls
        time.sleep(self._pause)
        if number <= self._failures:
            raise ModelCallError("the server is down")
        return ChatAnswer(f"answer {number}", "toy-1", Usage(10, 5, 2), self._finish_reason, 0.25, 2)


def asking(text: str = "a key", purpose: str = "extract", **fields: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), purpose, **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[KeptAnswers]:
    with answers_in_file(path) as cache:
        yield cache


# -- the model ---------------------------------------------------------------------------------------------------------


def test_a_request_is_asked_once(cache: KeptAnswers) -> None:
    counting = Counting()
    model = CachedChat(counting, cache)
    assert isinstance(model, ChatModel)
    assert (model.name, model.concurrency) == ("toy", 4)
    assert model.complete(asking()) == ChatAnswer("answer 1", "toy-1", Usage(10, 5, 2), "stop", 0.25, 2)
    assert model.complete(asking(purpose="plan")) == ChatAnswer("answer 1", "toy-1", Usage(), "stop", 0.0, 0)
    assert counting.calls == 1
    model.complete(asking("another key"))
    model.complete(asking(max_tokens=5))
    assert counting.calls == 3
    assert len(cache) == 3


def test_answers_outlive_the_process_and_belong_to_one_model(path: Path) -> None:
    for calls, name in ((1, "toy"), (0, "toy"), (1, "other")):
        counting = Counting(name)
        with answers_in_file(path) as cache:
            assert CachedChat(counting, cache).complete(asking()).text == "answer 1"
        assert counting.calls == calls


@pytest.mark.parametrize("reason", ["length", "content_filter", ""])
def test_only_whole_answers_are_kept(reason: str, cache: KeptAnswers) -> None:
    model = CachedChat(Counting(finish_reason=reason), cache)
    assert [model.complete(asking()).text for _ in range(2)] == ["answer 1", "answer 2"]
    assert len(cache) == 0


def test_an_error_is_not_kept(cache: KeptAnswers) -> None:
    model = CachedChat(Counting(failures=1), cache)
    with pytest.raises(ModelCallError):
        model.complete(asking())
    assert [model.complete(asking()).text for _ in range(2)] == ["answer 2", "answer 2"]


def test_samples_are_drawn_anew_unless_wanted_otherwise(cache: KeptAnswers) -> None:
    model = CachedChat(Counting(), cache)
    assert [model.complete(asking(temperature=0.7)).text for _ in range(2)] == ["answer 1", "answer 2"]
    assert len(cache) == 0
    assert [model.complete(asking(temperature=0.7, seed=1)).text for _ in range(2)] == ["answer 3", "answer 3"]
    sampled = CachedChat(Counting(), cache, sampled=True)
    assert [sampled.complete(asking(temperature=0.7)).text for _ in range(2)] == ["answer 1", "answer 1"]
    assert len(cache) == 2


def test_threads_that_ask_the_same_make_one_call(cache: KeptAnswers) -> None:
    counting = Counting(pause=0.05)
    model = CachedChat(counting, cache)
    requests = [asking(f"key {i % 3}") for i in range(24)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(model.complete, requests))
    assert counting.calls == 3
    assert sum(answer.attempts > 0 for answer in answers) == 3
    for i in range(3):
        assert len({answer.text for answer in answers[i::3]}) == 1


def test_when_the_first_of_them_fails_the_next_one_asks(cache: KeptAnswers) -> None:
    counting = Counting(pause=0.02, failures=1)
    model = CachedChat(counting, cache)

    def one(_: int) -> str:
        try:
            return model.complete(asking()).text
        except ModelCallError:
            return "failed"

    with ThreadPoolExecutor(6) as pool:
        answers = sorted(pool.map(one, range(6)))
    assert answers == ["answer 2"] * 5 + ["failed"]
    assert counting.calls == 2


def test_a_request_that_is_no_json_is_not_sent(cache: KeptAnswers) -> None:
    counting = Counting()
    with pytest.raises(InputError):
        CachedChat(counting, cache).complete(asking(schema={"a": {1}}))
    assert counting.calls == 0


# -- the file ----------------------------------------------------------------------------------------------------------


def test_the_first_answer_under_a_key_stays(cache: KeptAnswers) -> None:
    assert cache.get("k") is None
    cache.put("k", ChatAnswer("one"))
    cache.put("k", ChatAnswer("two"))
    known = cache.get("k")
    assert known is not None
    assert known.text == "one"


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptAnswers]:
    with answers_in_file(tmp_path_factory.mktemp("shared") / "answers") as cache:
        yield cache


@given(text=st.text(st.characters()), model=st.text(st.characters()))
def test_every_text_comes_back_as_it_was(text: str, model: str, shared_cache: KeptAnswers) -> None:
    key = str(len(shared_cache))
    shared_cache.put(key, ChatAnswer(text, model))
    known = shared_cache.get(key)
    assert known is not None
    assert (known.text, known.model) == (text, model)


def test_clearing_forgets_what_was_said(path: Path) -> None:
    with answers_in_file(path) as cache:
        for i in range(100):
            cache.put(f"{i}", ChatAnswer(f"the rusty secret {i}"))
        assert len(cache) == 100
        cache.clear()
        assert len(cache) == 0
        assert cache.get("5") is None
        files = list(path.parent.iterdir())
        assert all(b"rusty secret" not in file.read_bytes() for file in files)


def test_many_processes_may_write_at_once(path: Path) -> None:
    code = """
import sys
from pathlib import Path
from worldthread.models.chat import ChatAnswer
from worldthread.models.chat_cache import answers_in_file
cache = answers_in_file(Path(sys.argv[1]))
for i in range(100):
    cache.put(f"{sys.argv[2]}-{i}", ChatAnswer(sys.argv[2]))
    cache.put(f"shared-{i}", ChatAnswer(sys.argv[2]))
    assert cache.get(f"shared-{i}") is not None
"""
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    with answers_in_file(path) as cache:
        assert len(cache) == 500


def test_a_closed_cache_says_so(cache: KeptAnswers) -> None:
    cache.close()
    cache.close()
    with pytest.raises(ClosedError):
        cache.get("k")


def test_a_new_folder_is_made(tmp_path: Path) -> None:
    with answers_in_file(tmp_path / "new" / "folder" / "answers") as cache:
        assert len(cache) == 0


@pytest.mark.parametrize(
    "content", [b"a diary of some length, and not a database\n" * 30, b"SQLite format 3\0" + b"\7" * 4096]
)
def test_a_file_that_is_no_cache_is_left_alone(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"answers\.sqlite: not a cache, or a damaged one"):
        answers_in_file(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["answers.sqlite"]


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE diary (day TEXT)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(ForeignFileError):
        answers_in_file(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["answers.sqlite"]


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_file_of_a_newer_release_is_left_alone(path: Path, cache: KeptAnswers) -> None:
    cache.close()
    change(path, "PRAGMA user_version = 2")
    with pytest.raises(FileVersionError, match="upgrade"):
        answers_in_file(path)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE entry",
        "ALTER TABLE entry RENAME COLUMN value TO text",
    ],
)
def test_a_cache_with_other_tables_is_damaged(statement: str, path: Path, cache: KeptAnswers) -> None:
    cache.close()
    change(path, statement)
    with pytest.raises(DamagedFileError):
        answers_in_file(path)


@pytest.mark.parametrize("content", ["''", "'{'", "'{\"text\":1}'", "'[]'", "x'ff'", "CAST(x'ff' AS TEXT)", "7"])
def test_an_answer_that_is_damaged_is_no_answer(content: str, path: Path, cache: KeptAnswers) -> None:
    cache.put("k", ChatAnswer("yes"))
    change(path, f"UPDATE entry SET value = {content}")
    with pytest.raises(DamagedFileError, match=r"answers\.sqlite"):
        cache.get("k")


def test_pages_that_were_overwritten_are_an_error(path: Path) -> None:
    with answers_in_file(path) as cache:
        for i in range(500):
            cache.put(f"{i:03}", ChatAnswer("yes" * 50))
    content = bytearray(path.read_bytes())
    content[-4096:] = b"\xa5" * 4096
    path.write_bytes(content)
    with answers_in_file(path) as cache:
        with pytest.raises(DamagedFileError, match="malformed"):
            [cache.get(f"{i:03}") for i in range(500)]
        with pytest.raises(DamagedFileError, match="malformed"):
            cache.clear()
    assert path.stat().st_size == len(content)


def test_a_file_that_another_program_holds(path: Path, cache: KeptAnswers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_cache, "_BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with answers_in_file(path) as other:
        assert other.get("k") is None
        with pytest.raises(StoreLockedError, match="another program"):
            other.put("k", ChatAnswer("yes"))
        holder.execute("ROLLBACK")
        holder.close()
        other.put("k", ChatAnswer("yes"))
    assert len(cache) == 1


def test_a_path_that_cannot_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open"):
        answers_in_file(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Not a directory|File exists"):
        answers_in_file(tmp_path / "file" / "answers")

"""The file: whose it is, who may write it, what damage does, and what is left after forgetting."""

from __future__ import annotations

import io
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread import Memory
from worldthread.errors import (
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    InputError,
    ReadOnlyError,
    StoreError,
    StoreLockedError,
    WorldthreadError,
)
from worldthread.graph import fold, state_hash
from worldthread.stores import SQLiteStore, database
from worldthread.types import Episode, Extraction, Fact


def seen(at: float, text: str = "") -> Episode:
    facts = (Fact("key", "is in", f"room {at % 7}", "place of key"), Fact(f"thing {at}", "is a", "thing"))
    return Episode(text or f"seen at {at}", at, "test", Extraction("test/1", facts))


def fill(path: Path, count: int = 60, *, checkpoint: bool = False) -> list[Episode]:
    episodes = [seen(at) for at in range(count)]
    with SQLiteStore.open(path) as store:
        store.append_many(episodes)
        store.put_vectors("model", ["a", "b"], np.ones((2, 4), np.float32))
        if checkpoint:
            store.checkpoint()
    return episodes


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything below a folder: contents and times of change."""
    return {
        str(file.relative_to(folder)): (file.read_bytes() if file.is_file() else b"", file.stat().st_mtime_ns)
        for file in folder.rglob("*")
    }


def run_child(code: str, *arguments: object, check: bool = True, **options: object) -> str:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **options)  # type: ignore[call-overload]
    if check and run.returncode:
        raise AssertionError(run.stderr)
    return str(run.stdout)


def expect_hash(episodes: list[Episode]) -> str:
    return state_hash(fold(episodes).rows())


# -- whose file -----------------------------------------------------------------------------------------------------


def _other_database(path: Path, application: int = 0) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE record (number INTEGER)")
    connection.execute(f"PRAGMA application_id = {application}")
    connection.close()


FOREIGN: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("dear diary\n" * 100),
    "short text": lambda path: path.write_text("x"),
    "random": lambda path: path.write_bytes(random.Random(1).randbytes(10_000)),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "database": _other_database,
    "database of another": lambda path: _other_database(path, 0x12345678),
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/null"),
}


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_refused_and_not_touched(kind: str, readonly: bool, path: Path) -> None:
    FOREIGN[kind](path)
    before = {} if kind == "pipe" else files(path.parent)
    with pytest.raises(ForeignFileError, match=r"memory|another program|regular|folder") as caught:
        SQLiteStore.open(path, readonly=readonly)
    assert caught.value.path == path.resolve()
    assert os.listdir(path.parent) == [path.name]
    assert before == ({} if kind == "pipe" else files(path.parent))


@pytest.mark.parametrize("readonly", [False, True])
def test_a_file_of_a_newer_release_is_refused_and_not_touched(readonly: bool, path: Path) -> None:
    fill(path)
    with path.open("r+b") as file:
        file.seek(60)
        file.write((99).to_bytes(4, "big"))
    Path(f"{path}-lock").unlink()
    before = files(path.parent)
    with pytest.raises(FileVersionError, match=r"newer release.*99.*upgrade"):
        SQLiteStore.open(path, readonly=readonly)
    assert files(path.parent) == before


@pytest.mark.parametrize("readonly", [False, True])
def test_a_truncated_file_is_refused_and_not_touched(readonly: bool, path: Path) -> None:
    fill(path, 100)
    Path(f"{path}-lock").unlink()
    whole = path.read_bytes()
    for length in (1, 10, 16, 40, 72, 99, 100, 101, 1000, 4095, 4096, 4097, 8192, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        before = files(path.parent)
        with pytest.raises(DamagedFileError):
            SQLiteStore.open(path, readonly=readonly)
        assert files(path.parent) == before, length
    path.write_bytes(whole)
    with SQLiteStore.open(path, readonly=readonly) as store:
        assert len(store.graph) == 100


@pytest.mark.parametrize("checkpoint", [False, True])
def test_flipped_bytes_are_found_or_do_no_harm(checkpoint: bool, path: Path) -> None:
    episodes = fill(path, 60, checkpoint=checkpoint)
    whole = path.read_bytes()
    expected = expect_hash(episodes)
    chance = random.Random(7)
    found = 0
    for attempt in range(160):
        damaged = bytearray(whole)
        start = chance.randrange(len(whole))
        if attempt % 4 == 0:  # a page that was lost, or a stretch of rubbish
            start -= start % 4096
            damaged[start : start + 4096] = bytes(4096) if attempt % 8 else chance.randbytes(4096)
        else:
            if attempt % 4 == 1:  # in the middle of a reading, where a name may become another name
                start = whole.index(b"thing", start % (len(whole) // 2)) + chance.randrange(8)
            damaged[start] ^= chance.randrange(1, 256)
        path.write_bytes(damaged)
        try:
            with SQLiteStore.open(path, readonly=bool(attempt % 2)) as store:
                assert store.graph.state_hash() == expected, start
                assert list(store.episodes()) == sorted(episodes, key=lambda e: (e.at, e.id)), start
                vectors = store.get_vectors("model", ["a", "b"])
                assert all((vector == 1).all() for vector in vectors.values())
        except (DamagedFileError, ForeignFileError, FileVersionError):
            found += 1
        for ending in ("-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
    assert found > 30


def test_a_row_that_does_not_decode_names_its_episode(path: Path) -> None:
    (episode, *_) = fill(path, 3)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE record SET content = CAST(replace(content, 'room', 'rook') AS BLOB) WHERE number = 1")
    connection.commit()
    connection.close()
    with (
        SQLiteStore.open(path) as store,
        pytest.raises(DamagedFileError, match=f"episode {episode.id} cannot be read: its bytes have changed"),
    ):
        store.graph  # noqa: B018


def test_lost_rows_are_noticed(path: Path) -> None:
    episodes = fill(path, 3)
    for damage, words in (
        ("DELETE FROM record WHERE number = 2", "cannot be found"),
        ("DELETE FROM current WHERE record = 3", "2 of 3 episodes|cannot be found"),
        ("DELETE FROM change WHERE number = 3", "cannot be found"),
        ("UPDATE namespace SET episodes = 'many'", "namespaces"),
        ("DROP TABLE vector", "tables"),
        ("CREATE TABLE extra (x)", "tables"),
    ):
        copy = path.with_name("copy")
        shutil.copy(path, copy)
        connection = sqlite3.connect(copy)
        connection.execute(damage)
        connection.commit()
        connection.close()
        with pytest.raises(DamagedFileError, match=words):
            SQLiteStore.open(copy).graph  # noqa: B018
    with SQLiteStore.open(path) as store:
        assert list(store.episodes()) == episodes


def test_a_representation_names_the_file_and_the_namespace(path: Path) -> None:
    with SQLiteStore.open(path, namespace="house") as store:
        assert repr(store) == f"<SQLiteStore {str(path.resolve())!r}, namespace 'house', writable>"
    assert repr(store).endswith("closed>")


def test_an_empty_file_becomes_a_memory(path: Path) -> None:
    path.touch()
    with pytest.raises(StoreError, match="open it once for writing"):
        SQLiteStore.open(path, readonly=True)
    assert fill(path, 2) == list(SQLiteStore.open(path, readonly=True).episodes())


def test_paths_that_cannot_be(path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        SQLiteStore.open(path / "no" / "memory")
    with pytest.raises(StoreError, match="no memory here"):
        SQLiteStore.open(path, readonly=True)
    path.write_text("in the way")
    with pytest.raises(StoreError):
        SQLiteStore.open(path / "memory")
    for wrong in ("", "a\0b", 5, b"bytes"):
        with pytest.raises(InputError, match="path"):
            SQLiteStore.open(wrong)  # type: ignore[arg-type]
    for options in ({"durability": "none"}, {"wait": -1}, {"wait": float("nan")}, {"wait": "1"}, {"namespace": ""}):
        with pytest.raises(InputError):
            SQLiteStore.open(path, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to open"):
        SQLiteStore.open(None, readonly=True)
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("name", ["a b?c#d%20&e=f", "quote'\"", "ünï–鍵", ":memory:", "-x", "back\\slash", "new\nline"])
def test_names_of_files_may_be_odd(name: str, path: Path) -> None:
    odd = path.with_name(name)
    episodes = fill(odd, 300)
    with SQLiteStore.open(odd, readonly=True) as store:
        assert list(store.episodes()) == episodes
    assert set(os.listdir(path.parent)) >= {name, f"{name}-lock", f"{name}-snapshot"}


# -- who may write --------------------------------------------------------------------------------------------------

WRITER = """
import sys, time
from worldthread.stores import SQLiteStore
store = SQLiteStore.open(sys.argv[1])
print("open", flush=True)
time.sleep(float(sys.argv[2]))
store.close()
"""


def test_a_second_writer_is_told(path: Path) -> None:
    fill(path, 2)
    with SQLiteStore.open(path) as store:
        for other in (path, path.parent / "link"):
            if other != path:
                other.symlink_to(path)
            with pytest.raises(StoreLockedError, match="readonly=True") as caught:
                SQLiteStore.open(other)
            assert str(path) in str(caught.value)
        code = "import sys; from worldthread.stores import SQLiteStore; SQLiteStore.open(sys.argv[1])"
        run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert "StoreLockedError" in run.stderr
        store.append(seen(10))
    SQLiteStore.open(path).close()


def test_a_second_writer_waits_when_asked(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "0.7"], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        start = time.monotonic()
        with pytest.raises(StoreLockedError):
            SQLiteStore.open(path, wait=0.1)
        assert time.monotonic() - start >= 0.1
        with SQLiteStore.open(path, wait=30) as store:
            assert writer.wait() == 0
            store.append(seen(1))


def test_the_lock_dies_with_its_process(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), "60"], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        with pytest.raises(StoreLockedError):
            SQLiteStore.open(path)
        writer.kill()
        writer.wait()
    SQLiteStore.open(path).close()


READER = """
import sys
from worldthread.stores import SQLiteStore
store = SQLiteStore.open(sys.argv[1], readonly=True)
view = store.graph.view()
print("ready", flush=True)
for line in sys.stdin:
    moved = store.refresh() if line == "refresh\\n" else None
    print(len(store.graph), view.value("key", "is in"), moved, store.graph.state_hash(), flush=True)
"""


def test_a_reader_in_another_process_follows(path: Path) -> None:
    with SQLiteStore.open(path) as store, store.open_namespace("other") as other:
        store.append(seen(0))
        with subprocess.Popen(
            [sys.executable, "-c", READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"

            def ask(line: str = "look") -> list[str]:
                assert reader.stdin is not None
                assert reader.stdout is not None
                reader.stdin.write(line + "\n")
                reader.stdin.flush()
                return reader.stdout.readline().split()

            assert ask()[0] == "1"
            store.append(seen(1))
            assert ask() == ["2", "room", "1", "None", store.graph.state_hash()]
            assert ask("refresh")[3] == "False"
            store.append_many([seen(at) for at in range(2, 9)])
            assert ask("refresh") == ["9", "room", "1", "True", store.graph.state_hash()]
            other.append_many([seen(at) for at in range(100)])
            assert ask("refresh")[3] == "False", "another namespace is none of its business"
            store.forget(seen(8).id)
            assert ask() == ["8", "room", "0", "None", store.graph.state_hash()]
            store.replace(
                Episode("seen at 7", 7, "test", Extraction("test/2", (Fact("key", "is in", "hand", "place of key"),)))
            )
            assert ask()[:2] == ["8", "hand"]
            store.forget(seen(7).id)
            store.append(seen(7))
            store.checkpoint()
            assert ask()[-1] == store.graph.state_hash()
            store.clear()
            assert ask()[0] == "0"
            store.append(seen(3))
            assert ask()[-1] == store.graph.state_hash()
            reader.stdin.close()
            assert reader.wait() == 0


def test_a_reader_cannot_write(path: Path) -> None:
    (episode, *_) = fill(path, 3)
    with SQLiteStore.open(path, readonly=True) as store:
        for change in (
            lambda: store.append(seen(9)),
            lambda: store.append(episode),
            lambda: store.append_many([]),
            lambda: store.replace(episode),
            lambda: store.forget(episode.id),
            lambda: store.clear(),
            lambda: store.clear_vectors(),
            lambda: store.checkpoint(),
            lambda: store.import_(io.BytesIO()),
        ):
            with pytest.raises(ReadOnlyError, match="readonly=True"):
                change()
        store.put_vectors("model", ["c"], np.ones((1, 4), np.float32))  # a cache that keeps nothing
        assert set(store.get_vectors("model", ["a", "c"])) == {"a"}


def test_opening_twice_in_one_process_keeps_the_locks(path: Path) -> None:
    # closing any handle of a file drops the process's POSIX locks on it: then another process that comes and goes would
    # take itself for the last one, and delete the log under us
    fill(path, 3)
    touch = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute('SELECT 1 FROM record').fetchall())"
    with SQLiteStore.open(path) as store:
        store.append(seen(10))
        with pytest.raises(StoreLockedError):
            SQLiteStore.open(path)
        SQLiteStore.open(path, readonly=True).close()
        assert SQLiteStore.namespaces(path) == ["default"]
        run_child(touch, path)
        assert Path(f"{path}-wal").exists()
        store.append(seen(11))
        with SQLiteStore.open(path, readonly=True) as reader:
            assert len(reader.graph) == 5


def test_an_export_is_of_one_moment(path: Path, tmp_path: Path) -> None:
    writer = SQLiteStore.open(path)
    writer.append_many([seen(at) for at in range(1500)])
    reader = SQLiteStore.open(path, readonly=True)

    class Meddling:
        lines = 0

        def write(self, line: bytes) -> None:
            self.lines += 1
            if self.lines == 10:
                writer.append(seen(5000))
                writer.replace(Episode("seen at 1400", 1400, "test"))

    stream = Meddling()
    with writer, reader:
        assert reader.export(stream) == 1500  # type: ignore[arg-type]
        assert stream.lines == 1501
        assert len(reader.graph) == 1501


def test_an_export_never_leaves_half_a_file(path: Path, tmp_path: Path) -> None:
    fill(path, 5)
    target = tmp_path / "out.jsonl"
    target.write_text("precious")
    with SQLiteStore.open(path) as store:
        for own in (path, f"{path}-lock", f"{path}-wal"):
            with pytest.raises(InputError, match="belongs to the memory"):
                store.export(own)
        with pytest.raises(StoreError, match="cannot be written"):
            store.export(tmp_path)
        with pytest.raises(StoreError, match="cannot be written"):
            store.export(target / "where")
        with pytest.raises(StoreError, match="cannot be read"):
            store.import_(tmp_path / "absent")
        with pytest.raises(StoreError, match="cannot be read"):
            store.import_(tmp_path)
        assert target.read_text() == "precious"
        assert store.export(target) == 5
        assert len(target.read_text().splitlines()) == 6
        assert store.export(tmp_path / "no" / "where") == 5
        assert (tmp_path / "no" / "where").read_bytes() == target.read_bytes()
    assert not list(tmp_path.rglob("*.part"))


# -- permissions and space ------------------------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def as_nobody(work: Callable[[], str]) -> str:
    """The result of ``work`` in a forked process without privileges."""
    if os.geteuid() != 0:
        return work()
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            os.write(sending, work().encode())
        finally:
            os._exit(0)
    os.close(sending)
    os.waitpid(child, 0)
    with os.fdopen(receiving) as stream:
        return stream.read()


def error_of(work: Callable[[], object]) -> Callable[[], str]:
    def attempt() -> str:
        try:
            return repr(work())
        except WorldthreadError as error:
            return f"{type(error).__name__}: {error}"

    return attempt


def test_a_memory_in_a_folder_that_cannot_be_written_can_be_read(open_folder: Path) -> None:
    path = open_folder / "memory"
    path.touch()
    path.chmod(0o644)  # which it keeps, with all files beside it
    episodes = fill(path, 300)
    os.chmod(open_folder, 0o555)
    before = files(open_folder)

    def read() -> str:
        with SQLiteStore.open(path, readonly=True) as store:
            assert list(store.episodes()) == episodes
            return store.graph.state_hash()

    assert as_nobody(error_of(read)) == repr(expect_hash(episodes))
    assert "StoreError" in as_nobody(error_of(lambda: SQLiteStore.open(path)))
    assert files(open_folder) == before
    os.chmod(open_folder, 0o755)


def test_missing_permissions_are_named(open_folder: Path) -> None:
    path = open_folder / "memory"
    fill(path, 3)
    os.chmod(open_folder, 0o777)
    os.chmod(path, 0o444)
    assert "cannot be written" in as_nobody(error_of(lambda: SQLiteStore.open(path)))
    os.chmod(path, 0o000)
    for readonly in (True, False):
        answer = as_nobody(error_of(lambda readonly=readonly: SQLiteStore.open(path, readonly=readonly)))  # type: ignore[misc]
        assert answer.startswith("StoreError"), answer
        assert str(path) in answer
    os.chmod(open_folder, 0o700)
    assert as_nobody(error_of(lambda: SQLiteStore.open(path, readonly=True))).startswith("StoreError")


FULL_DISK = """
import resource, sys
from worldthread.errors import StoreError
from worldthread.stores import SQLiteStore
from worldthread.types import Episode
store = SQLiteStore.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
acknowledged = 0
try:
    while True:
        store.append(Episode(f"{acknowledged} " + "x" * 3000, acknowledged))
        acknowledged += 1
except StoreError as error:
    assert type(error) is StoreError, error
    assert sys.argv[1] in str(error), error
    print(type(error).__name__, acknowledged, error)
assert len(store.graph) == acknowledged
assert len(list(store.episodes())) == acknowledged
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.append(Episode("again", acknowledged))
store.close()
print(acknowledged + 1)
"""


def test_a_full_disk_is_an_error_and_no_damage(path: Path) -> None:
    # a limit on the size of files stands for the end of the disk: SQLite sees a write that fails
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    *_, count = run_child(FULL_DISK, path).split()
    assert int(count) > 10
    with SQLiteStore.open(path, readonly=True) as store:
        assert len(list(store.episodes())) == int(count)


def test_a_file_that_sqlite_opened_for_reading_only_is_not_open_for_writing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQLite does so where it cannot open the file for writing, for instance after one error of the disk
    fill(path, 3)
    connect = sqlite3.connect

    def connect_for_reading(address: str, **settings: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(address.replace("mode=rw", "mode=ro"), **settings)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect_for_reading)
        with pytest.raises(StoreError, match="readonly database"):
            SQLiteStore.open(path)
    with SQLiteStore.open(path) as store:
        store.append(seen(3))
        assert len(store.graph) == 4


def test_what_a_failed_commit_left_in_the_log_is_overwritten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execute = database.Database.execute
    failures = commits = 0

    def failing(self: database.Database, sql: str, parameters: tuple[object, ...] = ()) -> sqlite3.Cursor:
        nonlocal failures, commits
        commits += sql == "COMMIT"
        if sql == "COMMIT" and failures:
            failures -= 1
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
            raise self._store_error(error) from error
        return execute(self, sql, parameters)

    with SQLiteStore.open(path) as store:
        store.append(seen(0))
        monkeypatch.setattr(database.Database, "execute", failing)
        failures = 1
        with pytest.raises(StoreError, match="Nothing of this change was kept; every earlier change is safe"):
            store.append(seen(1))
        assert (failures, commits) == (0, 2)
        failures = 2
        with pytest.raises(StoreError, match="Nothing of this change is kept, unless the program"):
            store.append(seen(1))
        assert (failures, commits) == (0, 4)
        assert store.graph.episodes() == [seen(0).id]
        assert commits == 5, "the next use tries again"
        assert store.graph.episodes() == [seen(0).id]
        assert commits == 5
        store.append(seen(1))
    with SQLiteStore.open(path) as store:
        assert len(store.graph) == 2


# -- forgetting -----------------------------------------------------------------------------------------------------


def holds_any(folder: Path, words: set[str]) -> set[str]:
    """Which of ``words`` stand in any file below ``folder``; another process looks, as files may be open here."""
    code = """
import json, pathlib, sys
data = b"|".join(f.read_bytes() for f in pathlib.Path(sys.argv[1]).rglob("*") if f.is_file())
print(json.dumps([w for w in json.load(sys.stdin) if w.encode() in data]))
"""
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        input=json.dumps(sorted(words)),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(run.stdout))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_what_is_forgotten_is_in_no_file(seed: int, path: Path) -> None:
    chance = random.Random(seed)
    kept: dict[str, set[str]] = {}
    gone: set[str] = set()
    with SQLiteStore.open(path) as store, store.open_namespace("other") as other:
        for step in range(300):
            # sizes around those at which SQLite moves rows to other pages
            marks = {
                f"{kind}{seed}x{step}x" for kind in ("text", "tail", "source", "fact", "aspect", "reader", "failure")
            }
            text, tail, source, fact, aspect, reader, failure = sorted(
                marks, key=lambda m: "tefars".find(m[0]) * 100 + len(m)
            )
            filling = "." * chance.choice([0, 10, 100, 800, 3000, 4000, 9000])
            extraction = Extraction(reader, (Fact(fact, "is", "here", aspect),), failures=(failure,))
            episode = store.append(Episode(text + filling + tail, step % 50, source, extraction))
            kept[episode.id] = marks
            if step % 7 == 0:
                other.append(Episode("unrelated" + filling, step))
            if chance.random() < 0.3:
                victim = chance.choice(sorted(kept))
                store.forget(victim)
                gone |= kept.pop(victim)
            if step % 100 == 99:
                store.put_vectors("model", sorted(gone)[:50], np.ones((min(50, len(gone)), 3), np.float32))
                store.checkpoint()
                assert Path(f"{path}-snapshot").exists()
                victim = chance.choice(sorted(kept))
                store.forget(victim)
                gone |= kept.pop(victim)
                # at once, with everything still open, and with a snapshot that had just been written
                assert holds_any(path.parent, gone) == set()
        left = {mark for marks in kept.values() for mark in marks}
        assert holds_any(path.parent, left) == left, "the search finds what is there"
        other.clear()
        assert holds_any(path.parent, gone | {"unrelated"}) == set()
        assert len(list(store.episodes())) == len(kept)
        store.clear()
        assert holds_any(path.parent, left) == set()


@pytest.mark.slow
def test_forgotten_rows_leave_no_copies(path: Path) -> None:
    # deleting a row makes SQLite move others to another page and leave copies of them, to be found when those are
    # forgotten; it is rare, so it takes many: deleting with secure_delete leaves four here
    chance = random.Random(0)
    live: dict[str, str] = {}
    with SQLiteStore.open(path, clock=lambda: 5.0) as store:
        for number in range(1200):
            mark = f"mark{number}mark"
            text = mark + "." * chance.choice([0, 100, 500])
            live[store.append(Episode(text, 0, extraction=Extraction("r", failures=(mark,)))).id] = mark
            if chance.random() < 0.6:
                gone = chance.choice(sorted(live))
                store.forget(gone)
                del live[gone]
    assert set(re.findall(rb"mark[0-9]+mark", path.read_bytes())) == {mark.encode() for mark in live.values()}


def test_what_a_killed_process_forgot_is_gone_at_the_next_opening(path: Path) -> None:
    (episode, *_) = fill(path, 30)
    code = """
import os, sys
from worldthread.stores import SQLiteStore, database
database._BUSY_SECONDS = 0.1
SQLiteStore.open(sys.argv[1]).forget(sys.argv[2])
os.kill(os.getpid(), 9)
"""
    with SQLiteStore.open(path, readonly=True) as reader, reader.read_lock():
        run_child(code, path, episode.id, check=False)
        assert holds_any(path.parent, {episode.text + '"'}), "the reader keeps the log from being emptied"
    with SQLiteStore.open(path) as store:
        assert holds_any(path.parent, {episode.text + '"'}) == set()
        assert episode.id not in store.graph


def test_a_reader_in_the_middle_delays_only_the_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.5)
    (episode, *_) = fill(path, 300)
    with SQLiteStore.open(path) as store, SQLiteStore.open(path, readonly=True) as reader:
        with reader.read_lock() as graph:
            store.forget(episode.id)
            assert len(graph) == 300, "one moment"
            assert reader.episode(episode.id) == episode
            monkeypatch.setattr(database, "_BUSY_SECONDS", 600)  # the test would not end if this waited too
            store.append(seen(999))
        assert len(reader.graph) == 300
        store.append(seen(1000))
        assert holds_any(path.parent, {episode.text + '"'}) == set()


def test_space_is_given_back(path: Path) -> None:
    with SQLiteStore.open(path) as store, store.open_namespace("other") as other:
        other.append(seen(1, "kept " * 1000))
        store.append_many([seen(at, f"{at} " + "x" * 2000) for at in range(300)])
        sizes = []
        for turn in range(12):
            for at in range(300):
                store.replace(Episode(f"{at} " + "x" * 2000, at, "test", Extraction(f"test/{turn}")))
            store.checkpoint()
            sizes.append(path.stat().st_size)
        assert max(sizes) < 1.1 * max(sizes[:4]), "without, it would be three times as much"
        assert min(sizes[2:]) < sizes[0], "free pages are given back"
        assert {e.extraction.extractor for e in store.episodes()} == {"test/11"}
        assert list(other.episodes()) == [seen(1, "kept " * 1000)]


# -- snapshots and opening ------------------------------------------------------------------------------------------


def snapshot_files(path: Path) -> list[Path]:
    return sorted(file for file in Path(f"{path}-snapshot").rglob("*") if file.is_file())


def test_a_damaged_snapshot_is_ignored(path: Path) -> None:
    episodes = fill(path, 40, checkpoint=True)
    folder = Path(f"{path}-snapshot")
    whole = folder.with_name("whole")
    shutil.copytree(folder, whole)
    expected = expect_hash(episodes)
    chance = random.Random(3)
    originals = [file.relative_to(folder) for file in snapshot_files(path)]
    assert len(originals) > 15

    def damages(file: Path) -> Iterator[Callable[[], object]]:
        content = file.read_bytes()
        yield lambda: file.unlink()
        yield lambda: file.write_bytes(b"")
        yield lambda: file.write_bytes(content[:-3])
        yield lambda: file.write_bytes(chance.randbytes(len(content)))
        flipped = bytearray(content)
        flipped[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        yield lambda: file.write_bytes(flipped)

    for name in originals:
        for damage in damages(folder / name):
            damage()
            with SQLiteStore.open(path, readonly=True) as store:
                assert store.graph.state_hash() == expected
                assert store.graph.view(at=3).value("key", "is in") == "room 3"
            shutil.rmtree(folder)
            shutil.copytree(whole, folder)
    (folder / "stranger").write_text("not ours")
    with SQLiteStore.open(path) as store:
        store.append(seen(100))
        store.checkpoint()
        assert store.graph.state_hash() == expect_hash([*episodes, seen(100)])
    assert (folder / "stranger").read_text() == "not ours"


def test_a_snapshot_of_another_history_is_ignored(path: Path) -> None:
    first = fill(path, 40, checkpoint=True)
    older = path.with_name("older")
    shutil.copy(path, older)
    with SQLiteStore.open(path) as store:
        store.append_many([seen(at) for at in range(40, 50)])
        store.checkpoint()
    # the file goes back to an earlier state, as a loss of power or a restored copy does, and the snapshot is ahead
    shutil.copy(older, path)
    with SQLiteStore.open(path) as store:
        assert store.graph.state_hash() == expect_hash(first)
        # as many changes as the snapshot has, and others
        store.append_many([seen(at) for at in range(100, 110)])
    with SQLiteStore.open(path, readonly=True) as store:
        assert store.graph.state_hash() == expect_hash([*first, *(seen(at) for at in range(100, 110))])
    # and a memory that gets the snapshots of another one
    other = path.with_name("another")
    fill(other, 50)
    shutil.copytree(f"{path}-snapshot", f"{other}-snapshot")
    with SQLiteStore.open(other, readonly=True) as store:
        assert store.graph.state_hash() == expect_hash([seen(at) for at in range(50)])


def test_a_snapshot_is_written_when_it_pays_and_used(path: Path) -> None:
    episodes = fill(path, 20)
    assert snapshot_files(path) == [], "not for so few"
    with SQLiteStore.open(path) as store:
        for at in range(20, 320):
            store.append(seen(at))
        assert snapshot_files(path) == [], "never while single steps are added"
    assert snapshot_files(path)
    code = """
import sys
from worldthread.stores import SQLiteStore, rows
from worldthread.stores.codec import decode_episode
def forbidden(data):
    raise AssertionError("a text was read")
rows.decode_episode = forbidden
with SQLiteStore.open(sys.argv[1], readonly=True) as store:
    print(store.graph.state_hash())
"""
    expected = expect_hash([*episodes, *(seen(at) for at in range(20, 320))])
    assert run_child(code, path).strip() == expected


def test_a_killed_process_leaves_a_snapshot_to_the_next(path: Path) -> None:
    code = """
import os, sys
from worldthread.stores import SQLiteStore
from worldthread.types import Episode
store = SQLiteStore.open(sys.argv[1])
for at in range(400):
    store.append(Episode(f"at {at}", at))
os.kill(os.getpid(), 9)
"""
    run_child(code, path, check=False)
    assert snapshot_files(path) == []
    with SQLiteStore.open(path) as store:
        assert len(store.graph) == 400
        assert snapshot_files(path)


@pytest.mark.slow
def test_opening_does_not_read_the_texts(path: Path) -> None:
    with SQLiteStore.open(path) as store:
        store.append_many(seen(at, f"{at} " + "text " * 20_000) for at in range(300))
    assert path.stat().st_size > 30_000_000
    code = """
import sys
from worldthread.stores import SQLiteStore
def read():
    return int(open("/proc/self/io").readline().split()[1])
before = read()
with SQLiteStore.open(sys.argv[1], readonly=sys.argv[2] == "1") as store:
    assert store.graph.view().value("key", "is in")
    print(read() - before)
"""
    for readonly in (0, 1):
        assert int(run_child(code, path, readonly)) < 2_000_000


def test_half_written_snapshots_are_swept_up(path: Path) -> None:
    fill(path, 300)
    (snapshot,) = Path(f"{path}-snapshot").iterdir()
    part = snapshot.with_name(snapshot.name.split("-")[0] + ".0123.part")
    shutil.copytree(snapshot, part)
    with SQLiteStore.open(path) as store:
        store.append(seen(1000))
        store.checkpoint()
        assert len(list(snapshot.parent.iterdir())) == 1


def test_a_snapshot_that_cannot_be_written_is_shown(path: Path) -> None:
    Path(f"{path}-snapshot").write_text("in the way")
    with pytest.warns(UserWarning, match="no snapshot"):
        episodes = fill(path, 300)
    store = SQLiteStore.open(path)
    with pytest.warns(UserWarning, match="no snapshot"):
        found = list(store.episodes())
    assert found == episodes
    with pytest.raises(StoreError, match="snapshot cannot be written"):
        store.checkpoint()
    with pytest.warns(UserWarning, match="no snapshot"):
        store.close()
    assert Path(f"{path}-snapshot").read_text() == "in the way"


# -- the file itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("durability", "level"), [("normal", 1), ("full", 2)])
def test_durability_reaches_sqlite(durability: str, level: int, path: Path) -> None:
    opened = database.Database(path, durability=durability)  # type: ignore[arg-type]
    assert opened.fetch_one("PRAGMA synchronous") == (level,)
    assert opened.fetch_one("PRAGMA journal_mode") == ("wal",)
    assert opened.fetch_one("PRAGMA secure_delete") == (1,)
    assert opened.fetch_one("PRAGMA foreign_keys") == (1,)
    opened.close()


def test_a_file_of_version_3_is_read_as_it_is_and_upgraded_when_written(path: Path) -> None:
    episodes = fill(path, 5)
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.executescript(
        "DROP INDEX current_prefix; CREATE INDEX current_prefix ON current (prefix, namespace);"
        "DROP INDEX vector_prefix; CREATE INDEX vector_prefix ON vector (prefix, namespace);"
        f"PRAGMA user_version = {version - version % 256 + 3}"
    )
    connection.close()
    with SQLiteStore.open(path, readonly=True) as store:
        assert list(store.episodes()) == episodes
    with SQLiteStore.open(path) as store:
        assert list(store.episodes()) == episodes
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] % 256 == 4
    indexes = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'current_prefix'").fetchone()
    assert "(namespace, prefix)" in indexes[0]
    connection.close()


def test_migrations_bring_a_file_up_one_transaction_each(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = fill(path, 5)
    migrations = list(database.MIGRATIONS)
    broken = [*migrations, "ALTER TABLE namespace ADD COLUMN note TEXT; INSERT INTO nowhere VALUES (1);"]
    monkeypatch.setattr(database, "MIGRATIONS", broken)
    with pytest.raises(StoreError, match="older release"):
        SQLiteStore.open(path, readonly=True)
    with pytest.raises(DamagedFileError, match="nowhere"):
        SQLiteStore.open(path)
    monkeypatch.setattr(database, "MIGRATIONS", [*migrations, "ALTER TABLE namespace ADD COLUMN note TEXT;"])
    with SQLiteStore.open(path) as store:
        assert list(store.episodes()) == episodes
        store.append(seen(9))
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] % 256 == len(migrations) + 1
    assert connection.execute("SELECT episodes, note FROM namespace").fetchall() == [(6, None)]
    connection.close()
    monkeypatch.setattr(database, "MIGRATIONS", migrations)
    with pytest.raises(FileVersionError):
        SQLiteStore.open(path)


def test_closing_leaves_one_file_and_its_lock(path: Path) -> None:
    fill(path, 5)
    assert sorted(os.listdir(path.parent)) == ["memory", "memory-lock"]
    SQLiteStore.open(path, readonly=True).close()
    assert Path(f"{path}-lock").stat().st_size == 0


@pytest.mark.parametrize("is_text", [False, True])
def test_a_line_of_an_export_is_not_read_without_end(monkeypatch: pytest.MonkeyPatch, is_text: bool) -> None:
    """As when a small compressed file is unpacked into a pipe."""
    import io

    from worldthread.errors import FormatError
    from worldthread.stores import exchange

    monkeypatch.setattr(exchange, "LONGEST_LINE", 1000)
    read: list[int] = []

    class Endless:
        def __init__(self) -> None:
            self._header = b'{"format":"worldthread-episodes","version":1,"episodes":1}\n'

        def read(self, size: int = -1) -> Any:
            raise AssertionError("read as a whole")

        def readline(self, size: int = -1) -> Any:
            assert 0 < size <= 1001
            line, self._header = self._header or b"x" * size, b""
            read.append(len(line))
            return line.decode() if is_text else line

        def __iter__(self) -> Any:
            raise AssertionError("lines without a limit")

    with SQLiteStore.open(None) as store:
        with pytest.raises(FormatError, match="line 2: the line has more than 1,000 bytes"):
            store.import_(Endless())
        assert sum(read) < 1100
        exported = io.BytesIO()
        store.export(exported)
        exported.seek(0)
        assert store.import_(exported) == (0, 0)


def test_a_connection_keeps_few_statements_whatever_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    statements: set[str] = set()
    fetch_all = database.Database.fetch_all

    def noted(self: database.Database, sql: str, parameters: Any = ()) -> list[Any]:
        statements.add(sql)
        return fetch_all(self, sql, parameters)

    texts = [f"text {number}" for number in range(520)]
    vectors = np.arange(1, len(texts) * 2 + 1, dtype=np.float32).reshape(-1, 2)
    with SQLiteStore.open(None) as store:
        store.append_many([Episode(text, number) for number, text in enumerate(texts)])
        store.put_vectors("model", texts, vectors)
        monkeypatch.setattr(database.Database, "fetch_all", noted)
        for count in (0, *range(1, len(texts) + 1, 7)):
            found = store.get_vectors("model", texts[:count])
            assert [found[text].tolist() for text in texts[:count]] == vectors[:count].tolist()
        assert [episode.text for episode in store.episodes()] == texts
    assert len([sql for sql in statements if " vector " in sql]) <= 13
    assert max(sql.count("?") for sql in statements) <= 1002


def test_the_name_that_sqlite_has_for_ram_makes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory(":memory:") as memory:
        memory.remember("Anna lives in Rome.", wait=True)
        assert memory.path is None
        assert len(memory.record.graph) > 0
    assert list(tmp_path.iterdir()) == []

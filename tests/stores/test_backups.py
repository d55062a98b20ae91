"""Backup and restore: beside a writer, over an old log, and killed at every step."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldthread.errors import (
    DamagedFileError,
    ForeignFileError,
    InputError,
    StoreError,
    StoreLockedError,
    WorldthreadError,
)
from worldthread.graph import TemporalGraph
from worldthread.stores import BackupCounts, SQLiteStore, backup, database, restore
from worldthread.stores.codec import encode_episode
from worldthread.types import Episode, Extraction, Fact


def seen(at: float, text: str = "") -> Episode:
    facts = (Fact("key", "is in", f"room {at % 7}", "place of key"),)
    return Episode(text or f"seen at {at}", at, "test", Extraction("test/1", facts), recorded_at=1000.0)


def fill(path: Path, *times: float) -> list[Episode]:
    episodes = [seen(at) for at in times]
    with SQLiteStore.open(path) as store:
        store.append_many(episodes)
    return episodes


def held(path: Path) -> list[Episode]:
    with SQLiteStore.open(path, readonly=True) as store:
        found = list(store.episodes())
        assert store.graph.state_hash() == TemporalGraph(found).state_hash()
        return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere" / "copy"


def test_a_backup_holds_everything_and_its_owner_alone_can_read_it(path: Path, copy: Path) -> None:
    episodes = fill(path, *range(50))
    with SQLiteStore.open(path, namespace="other") as store:
        store.append(seen(1000))
    reported: list[tuple[int, int | None]] = []
    counts = backup(path, copy, progress=lambda done, total: reported.append((done, total)))
    assert counts == BackupCounts(2, 51, copy.stat().st_size)
    assert reported[-1] == (counts.size, counts.size)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert os.listdir(copy.parent) == ["copy"]
    assert held(copy) == episodes


def test_a_backup_beside_a_writer_is_the_state_of_one_moment(path: Path, copy: Path) -> None:
    code = """
import sys
from worldthread.stores import SQLiteStore
from worldthread.types import Episode
with SQLiteStore.open(sys.argv[1]) as store:
    print("ready", flush=True)
    for at in range(100_000):
        store.append(Episode("x" * 3000, at))
        if at % 7 == 6:
            store.forget(Episode("x" * 3000, at - 3).id)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        newest: list[int] = []  # what each backup saw last; how many it held may fall, as a writer forgets
        try:
            while len(newest) < 5 or newest[-1] < 20:
                count = backup(path, copy, force=True).episodes
                numbers = [int(episode.at) for episode in held(copy)]
                last = max(numbers, default=-1)
                newest.append(last)
                wanted = {at for at in range(last + 1) if at % 7 != 3 or at + 3 >= last}
                assert wanted - set(numbers) <= {last - 3}
                assert len(numbers) == count
                for ending in ("-wal", "-shm"):
                    Path(f"{copy}{ending}").unlink(missing_ok=True)
        finally:
            child.kill()
    assert newest == sorted(newest)


def test_no_existing_file_is_overwritten(path: Path, copy: Path) -> None:
    fill(path, 1)
    copy.write_text("precious")
    with pytest.raises(InputError, match="--force"):
        backup(path, copy)
    assert copy.read_text() == "precious"
    backup(path, copy, force=True)
    assert held(copy) == [seen(1)]
    for own in (path, Path(f"{path}-wal"), Path(f"{path}-lock"), path.parent):
        with pytest.raises(InputError):
            backup(path, own, force=True)
    with pytest.raises(InputError, match="--force"):
        restore(copy, path)
    with SQLiteStore.open(copy), pytest.raises(InputError, match="in use"):
        backup(path, copy, force=True)


def test_what_is_not_a_memory_is_neither_copied_nor_replaced(path: Path, copy: Path) -> None:
    fill(path, 1)
    foreign = path.with_name("foreign")
    foreign.write_text("a diary")
    with pytest.raises(ForeignFileError):
        backup(foreign, copy)
    with pytest.raises(ForeignFileError):
        restore(foreign, copy)
    with pytest.raises(ForeignFileError):
        restore(path, foreign, force=True)
    with pytest.raises(StoreError, match="no memory here"):
        backup(path.with_name("absent"), copy)
    with pytest.raises(StoreError, match="its folder cannot be made"):
        backup(path, path / "x" / "y")
    assert foreign.read_text() == "a diary"
    assert os.listdir(copy.parent) == []


def test_a_damaged_memory_is_not_backed_up_and_a_damaged_backup_not_restored(path: Path, copy: Path) -> None:
    episodes = fill(path, *range(60))
    whole = path.read_bytes()
    chance = random.Random(4)
    refused = 0
    with SQLiteStore.open(copy) as store:
        store.append(seen(7))
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(8):
            damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        other = path.with_name("damaged")
        other.write_bytes(damaged)
        try:
            backup(other, path.with_name("made"), force=True)
        except StoreError:
            refused += 1
            with pytest.raises(StoreError):
                restore(other, copy, force=True)
            assert held(copy) == [seen(7)]
        else:
            assert held(path.with_name("made")) == episodes
            for ending in ("-wal", "-shm"):
                Path(f"{path.with_name('made')}{ending}").unlink(missing_ok=True)
    assert refused > 30
    assert not list(path.parent.glob(".*"))


def test_a_backup_that_is_put_back_is_what_it_was_whatever_the_log_holds(path: Path, copy: Path) -> None:
    episodes = fill(path, *range(20))
    backup(path, copy)
    code = """
import os, sys
from worldthread.stores import SQLiteStore
from worldthread.types import Episode
store = SQLiteStore.open(sys.argv[1])
for at in range(20, 40):
    store.append(Episode(f"later {at}", at))
store.checkpoint()
for at in range(40, 60):
    store.append(Episode(f"later {at}", at))
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert Path(f"{path}-wal").stat().st_size
    assert restore(copy, path, force=True).episodes == 20
    assert sorted(os.listdir(path.parent)) == ["elsewhere", "memory", "memory-lock"]
    assert os.listdir(copy.parent) == ["copy"]
    assert held(path) == episodes
    with SQLiteStore.open(path) as store:
        store.append(seen(99))
    assert held(path) == [*episodes, seen(99)]


def test_a_memory_that_is_open_for_writing_is_not_replaced(path: Path, copy: Path) -> None:
    fill(path, 1, 2)
    backup(path, copy)
    with SQLiteStore.open(path) as store:
        with pytest.raises(StoreLockedError, match="open for writing"):
            restore(copy, path, force=True)
        store.append(seen(3))
    assert held(path) == [seen(1), seen(2), seen(3)]


def test_a_reader_of_the_old_file_is_told(path: Path, copy: Path) -> None:
    fill(path, 1, 2)
    backup(path, copy)
    fill(path, 3)
    with SQLiteStore.open(path, readonly=True) as reader:
        assert len(reader.graph) == 3
        restore(copy, path, force=True)
        with SQLiteStore.open(path) as store:
            assert len(store.graph) == 2
            store.append(seen(5))
    assert held(path) == [seen(1), seen(2), seen(5)]


def test_a_damaged_memory_can_be_replaced_and_keeps_its_permissions(path: Path, copy: Path) -> None:
    fill(path, *range(30))
    backup(path, copy)
    path.chmod(0o640)
    content = bytearray(path.read_bytes())
    content[100:4096] = bytes(3996)
    path.write_bytes(content)
    with pytest.raises(DamagedFileError):
        SQLiteStore.open(path)
    restore(copy, path, force=True)
    assert len(held(path)) == 30
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_backup_of_an_older_release_is_restored(path: Path, copy: Path) -> None:
    content = encode_episode(seen(1))
    connection = sqlite3.connect(copy)
    connection.executescript(
        f"PRAGMA application_id = {database.APPLICATION_ID}; PRAGMA user_version = 1; {database.MIGRATIONS[0]}"
    )
    connection.execute("INSERT INTO namespace VALUES (1, 'default', 1, 1)")
    digest = hashlib.blake2b(content, digest_size=16).digest()
    connection.execute("INSERT INTO record VALUES (1, ?, ?)", (digest, content))
    connection.execute("INSERT INTO current VALUES (1, ?, 1.0, 1)", (bytes.fromhex(seen(1).id),))
    connection.execute("INSERT INTO change VALUES (1, 1, ?, ?)", (b"12345678", bytes.fromhex(seen(1).id)))
    connection.commit()
    connection.close()
    assert restore(copy, path).episodes == 1
    with SQLiteStore.open(path) as store:
        assert list(store.episodes()) == [seen(1)]


# -- killed at every step -------------------------------------------------------------------------------------------

KILLED = """
import os, shutil, sqlite3, sys
from worldthread.stores import backups

verb, source, target, last = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
steps = 0

def counted(function):
    def run(*arguments, **options):
        global steps
        for _ in range(2):  # before it and after it
            steps += 1
            if steps == last:
                os.kill(os.getpid(), 9)
            if _ == 0:
                result = function(*arguments, **options)
        return result
    return run

for module, names in (
    (os, ["open", "replace", "rename", "link", "unlink", "fsync", "rmdir", "chmod"]),
    (backups, ["_copy_pages", "_check", "_settle"]),
):
    for name in names:
        setattr(module, name, counted(getattr(module, name)))
getattr(backups, verb)(source, target, force=True)
print(steps)
"""


def killed_at_every_step(verb: str, make: Callable[[], tuple[Path, Path]]) -> Iterator[tuple[Path, bool]]:
    """Run a verb again and again, killed one step later each time; give the target and whether it was finished."""
    for last in range(1, 200):
        source, target = make()
        run = subprocess.run(
            [sys.executable, "-c", KILLED, verb, str(source), str(target), str(last)], capture_output=True, check=False
        )
        assert run.returncode in (0, -signal.SIGKILL), run.stderr
        yield target, run.returncode == 0
        if run.returncode == 0:
            assert last > 10
            return
    raise AssertionError("it does not end")


@pytest.mark.slow
def test_a_killed_restore_leaves_the_old_memory_or_the_new_one(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    new = [seen(at) for at in range(1000, 1020)]
    with SQLiteStore.open(made / "backup") as store:
        store.append_many(new)
    code = """
import os, sys
from worldthread.stores import SQLiteStore
from worldthread.types import Episode
store = SQLiteStore.open(sys.argv[1])
store.append_many([Episode(f"old {at}", at) for at in range(20)])
store.checkpoint()
store.append_many([Episode(f"old {at}", at) for at in range(20, 40)])
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code, str(made / "memory")], check=False)
    numbers = iter(range(1000))

    def make() -> tuple[Path, Path]:
        folder = tmp_path / str(next(numbers))
        shutil.copytree(made, folder)
        assert (folder / "memory-wal").stat().st_size
        return folder / "backup", folder / "memory"

    seen_states = set()
    for target, finished in killed_at_every_step("restore", make):
        found = [episode.text for episode in held(target)]
        is_new = found == [episode.text for episode in new]
        assert is_new or found == [f"old {at}" for at in range(40)]
        assert is_new or not finished
        seen_states.add(is_new)
        restore(target.with_name("backup"), target, force=True)
        assert held(target) == new
        assert not list(target.parent.glob(".*")), "the part that was left is gone"
        assert held(target.with_name("backup")) == new
    assert seen_states == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("exists", [False, True])
def test_a_killed_backup_leaves_no_half_file(exists: bool, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    episodes = fill(memory, *range(30))
    numbers = iter(range(1000))

    def make() -> tuple[Path, Path]:
        target = tmp_path / f"backup {next(numbers)} [x]"
        if exists:
            fill(target, 5)
            Path(f"{target}-lock").unlink()
        return memory, target

    for target, finished in killed_at_every_step("backup", make):
        found = held(target) if target.exists() else None
        assert found in ([[seen(5)], episodes] if exists else [None, episodes])
        assert found == episodes or not finished
        for ending in ("-wal", "-shm"):
            Path(f"{target}{ending}").unlink(missing_ok=True)
        backup(memory, target, force=True)
        assert held(target) == episodes
    assert not list(tmp_path.glob(".*")), "no part is left"


@pytest.mark.parametrize("verb", [backup, restore])
def test_an_error_at_any_step_leaves_what_was_there(
    verb: Callable[..., BackupCounts], path: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path, 1, 2)
    fill(copy, 3)
    for ending in ("-lock", "-wal", "-shm"):
        Path(f"{copy}{ending}").unlink(missing_ok=True)
    for name in ("open", "fsync", "replace", "chmod"):
        function = getattr(os, name)
        for fails_at in range(1, 4):
            calls = 0

            def failing(*arguments: object, **options: object) -> object:
                nonlocal calls
                calls += 1
                if calls == fails_at:  # noqa: B023
                    raise OSError(28, "No space left on device")
                return function(*arguments, **options)  # noqa: B023

            with monkeypatch.context() as patch:
                patch.setattr(os, name, failing)
                try:
                    verb(path, copy, force=True)
                except WorldthreadError as error:
                    told = str(error)
                else:
                    told = ""
            assert not told or "No space left" in told
            found = held(copy)
            assert found in ([seen(3)], [seen(1), seen(2)])
            assert not list(copy.parent.glob(".*"))
            for ending in ("-wal", "-shm"):
                Path(f"{copy}{ending}").unlink(missing_ok=True)

"""The file, its log, and what may come between them: replaced, removed, cut short, copied back."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from worldthread.errors import DamagedFileError, StoreError
from worldthread.graph import fold, state_hash
from worldthread.stores import SQLiteStore, backup, database
from worldthread.types import Episode, Extraction, Fact


def seen(at: float) -> Episode:
    facts = (Fact("key", "is in", f"room {at % 7}", "place of key"), Fact(f"thing {at}", "is a", "thing"))
    return Episode(f"seen at {at}", at, "test", Extraction("test/1", facts))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def fill(path: Path, start: int, stop: int) -> None:
    with SQLiteStore.open(path) as store:
        store.append_many([seen(at) for at in range(start, stop)])


KILLED = """
import os, sys
from worldthread.stores import SQLiteStore
from worldthread.types import Episode, Extraction, Fact
path, start, stop, limit = sys.argv[1], *map(int, sys.argv[2:5])
from worldthread.stores import database
database._LOG_BYTES = limit
def seen(at):
    facts = (Fact("key", "is in", f"room {at % 7}", "place of key"), Fact(f"thing {at}", "is a", "thing"))
    return Episode(f"seen at {at}", at, "test", Extraction("test/1", facts))
store = SQLiteStore.open(path)
for at in range(start, stop):
    store.append(seen(at))
os.kill(os.getpid(), 9)
"""


def write_and_be_killed(path: Path, start: int, stop: int, limit: int = 4_000_000) -> None:
    """Append in a process that is killed."""
    subprocess.run([sys.executable, "-c", KILLED, str(path), *map(str, (start, stop, limit))], check=False)
    assert Path(f"{path}-wal").stat().st_size > 0


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}


def numbers(path: Path) -> list[float]:
    with SQLiteStore.open(path) as store:
        assert store.graph.state_hash() == state_hash(fold(store.episodes()).rows())
        return [e.at for e in store.episodes()]


# -- beneath a running process --------------------------------------------------------------------------------------


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize("harm", ["replaced", "removed", "log removed", "log replaced"])
def test_what_happens_to_an_open_file_is_noticed_at_once(harm: str, readonly: bool, path: Path) -> None:
    fill(path, 0, 5)
    other = path.with_name("other")
    fill(other, 10, 20)
    log = Path(f"{path}-wal")
    words = harm.replace("log", "log memory-wal was")
    with SQLiteStore.open(path) as store:
        store.append(seen(5))
        reader = SQLiteStore.open(path, readonly=True) if readonly else store
        assert len(reader.graph) == 6
        match harm:
            case "replaced":
                other.replace(path)
            case "removed":
                path.unlink()
            case "log removed":
                log.unlink()
            case "log replaced":
                shutil.copy(log, other)
                other.replace(log)
        for use in (
            lambda: reader.graph,
            lambda: reader.episode(seen(1).id),
            lambda: list(reader.episodes()),
            lambda: reader.get_vectors("m", ["a"]),
            lambda: reader.stats(),
            lambda: store.append(seen(99)),
            lambda: store.append_many([seen(99)]),
            lambda: store.forget(seen(1).id),
            lambda: store.clear(),
        ):
            with pytest.raises(StoreError, match=f"{words}.* while .*open.*open it again"):
                use()
        reader.close()
        if harm == "removed":
            assert not path.exists(), "no empty file was made"
    if harm.startswith("log"):
        log.unlink(missing_ok=True)
        assert numbers(path) == [*range(6)], "closing moved the log that it had into the file"


def test_a_closing_process_leaves_the_log_of_the_file_that_took_the_place_of_its_own(path: Path) -> None:
    fill(path, 0, 5)
    store = SQLiteStore.open(path)
    store.append(seen(5))
    path.rename(path.with_name("old"))
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").rename(f"{path}{ending}.old")
    Path(f"{path}-lock").unlink()  # as after moving a whole folder away
    with SQLiteStore.open(path) as new:
        new.append(seen(100))
        store.close()
        assert Path(f"{path}-wal").exists()
        new.append(seen(101))
        assert len(new.graph) == 2
    assert numbers(path) == [100, 101]


@pytest.mark.parametrize("pages", [1, 3])
def test_a_file_that_was_cut_short_beneath_is_noticed(pages: int, path: Path) -> None:
    fill(path, 0, 50)
    with SQLiteStore.open(path) as store:
        store.append(seen(50))
        os.truncate(path, path.stat().st_size - 4096 * pages)
        with pytest.raises(DamagedFileError, match="cut short"):
            store.graph  # noqa: B018
        with pytest.raises(DamagedFileError, match="cut short"):
            store.append(seen(51))


# -- a log that is left over ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize("limit", [4_000_000, 200_000])
def test_a_backup_that_is_copied_back_is_told_from_the_file_of_the_log(
    limit: int, readonly: bool, path: Path, tmp_path: Path
) -> None:
    fill(path, 0, 20)
    backup = tmp_path / "backup"
    shutil.copy2(path, backup)  # at rest: with all its changes
    write_and_be_killed(path, 20, 60, limit)
    right = tmp_path / "right"
    shutil.copy2(path, right)
    shutil.copy2(backup, path)
    before = contents(path)
    with pytest.raises(StoreError, match=r"log memory-wal does not belong.*worldthread restore"):
        SQLiteStore.open(path, readonly=readonly)
    after = contents(path)
    assert {name: after[name] for name in before} == before
    # one way on: the right file
    shutil.copy2(right, path)
    assert numbers(path) == [*range(60)]
    # the other: the backup without the log
    shutil.copy2(backup, path)
    assert numbers(path) == [*range(20)]


def test_an_older_copy_of_an_open_file_is_told_from_it(path: Path, tmp_path: Path) -> None:
    fill(path, 0, 20)
    with SQLiteStore.open(path) as store:
        store.append(seen(20))
        store.checkpoint()
        shutil.copy(path, tmp_path / "backup")
    write_and_be_killed(path, 30, 40)
    shutil.copy(tmp_path / "backup", path)
    with pytest.raises(StoreError, match="does not belong"):
        SQLiteStore.open(path)


def test_a_log_without_its_file_is_not_dropped(path: Path) -> None:
    fill(path, 0, 5)
    write_and_be_killed(path, 5, 10)
    whole = path.read_bytes()
    path.unlink()
    log = Path(f"{path}-wal").read_bytes()
    with pytest.raises(StoreError, match="does not belong"):
        SQLiteStore.open(path)
    assert not path.exists()
    path.touch()
    with pytest.raises(StoreError, match="does not belong"):
        SQLiteStore.open(path)
    assert Path(f"{path}-wal").read_bytes() == log
    path.write_bytes(whole)
    assert numbers(path) == [*range(10)]


def test_a_file_and_its_log_may_be_copied_together(path: Path, tmp_path: Path) -> None:
    fill(path, 0, 5)
    write_and_be_killed(path, 5, 30)
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / "other name"
    shutil.copy(path, copy)
    shutil.copy(f"{path}-wal", f"{copy}-wal")
    path.chmod(0o640)
    os.utime(path)
    assert numbers(copy) == numbers(path) == [*range(30)]


def test_other_programs_may_move_the_log_into_the_file(path: Path) -> None:
    fill(path, 0, 5)
    for turn, mode in enumerate(("PASSIVE", "FULL", "RESTART", "TRUNCATE")):
        with SQLiteStore.open(path) as store:
            for at in range(3):
                store.append(seen(100 * turn + 10 + at))
                connection = sqlite3.connect(path)
                connection.execute(f"PRAGMA wal_checkpoint({mode})")
                connection.close()
        write_and_be_killed(path, 100 * turn + 50, 100 * turn + 52)
        connection = sqlite3.connect(path)
        connection.execute("SELECT COUNT(*) FROM record").fetchall()
        connection.execute(f"PRAGMA wal_checkpoint({mode})")
        connection.close()
        assert len(numbers(path)) == 5 * (turn + 2)


def test_a_backup_has_a_mark_of_its_own(path: Path, tmp_path: Path) -> None:
    fill(path, 0, 5)
    write_and_be_killed(path, 5, 10)
    copy = tmp_path / "copy"
    backup(path, copy)
    write_and_be_killed(path, 10, 12)
    shutil.copy(copy, path)
    with pytest.raises(StoreError, match="does not belong"):
        SQLiteStore.open(path)
    Path(f"{path}-wal").unlink()
    assert numbers(path) == [*range(10)]


CHECKPOINTS = """
import os, sys, threading, time
from worldthread.stores import SQLiteStore, database
from worldthread.types import Episode, Extraction, Fact
database._LOG_BYTES = 60_000
path, start, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
def seen(at):
    facts = (Fact("key", "is in", f"room {at % 7}", "place of key"), Fact(f"thing {at}", "is a", "thing"))
    return Episode(f"seen at {at}", at, "test", Extraction("test/1", facts))
def die():
    time.sleep(seconds)
    os.kill(os.getpid(), 9)
threading.Thread(target=die, daemon=True).start()
with SQLiteStore.open(path) as store:
    for at in range(start, start + 100_000):
        store.append(seen(at))
        os.write(1, b"%d\\n" % at)
        if at % 9 == 0:
            store.checkpoint()
"""


@pytest.mark.slow
def test_kills_give_no_false_alarm_and_every_backup_is_told(path: Path, tmp_path: Path) -> None:
    kills = int(os.environ.get("WORLDTHREAD_KILLS", "12"))
    chance = random.Random(3)
    acknowledged: set[int] = set()
    told = tried = 0
    for _ in range(kills):
        backup = tmp_path / "backup"
        if path.exists():
            SQLiteStore.open(path).close()
            shutil.copy2(path, backup)
        start = max(acknowledged, default=-1) + 1
        if len(acknowledged) > 150:
            for file in tmp_path.iterdir():
                shutil.rmtree(file) if file.is_dir() else file.unlink()
            acknowledged, start = set(), 0
        run = subprocess.run(
            [sys.executable, "-c", CHECKPOINTS, str(path), str(start), str(chance.uniform(0, 0.3))],
            stdout=subprocess.PIPE,
            check=False,
        )
        acknowledged |= {int(line) for line in run.stdout.split()}
        log = Path(f"{path}-wal")
        if backup.exists() and log.exists() and run.stdout and database._marks_of_log(log) is not None:
            tried += 1
            right = path.read_bytes()
            shutil.copy2(backup, path)
            try:
                SQLiteStore.open(path)
            except StoreError as error:
                told += "does not belong" in str(error)
            path.write_bytes(right)
        if path.exists():
            found = {int(at) for at in numbers(path)}
            assert acknowledged <= found
            assert found <= acknowledged | {max(acknowledged, default=-1) + 1}
            acknowledged = found
    print(f"{kills} kills, {told} of {tried} backups told")
    assert told == tried


@pytest.mark.parametrize("readonly", [False, True])
def test_a_memory_that_was_cut_to_nothing_is_not_taken_for_a_new_one(path: Path, readonly: bool) -> None:
    fill(path, 0, 3)
    before = path.read_bytes()
    path.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(DamagedFileError, match=r"memory-lock.* says that it was opened as a memory"):
            SQLiteStore.open(path, readonly=readonly)
        assert path.read_bytes() == b"", "it was left as it is"
    path.write_bytes(before)
    with SQLiteStore.open(path, readonly=readonly) as store:
        assert len(store.graph) == 3


def test_an_empty_file_with_nothing_beside_it_becomes_a_memory(path: Path) -> None:
    path.touch(0o640)
    inode = path.stat().st_ino
    fill(path, 0, 3)
    assert (path.stat().st_ino, path.stat().st_mode & 0o777) == (inode, 0o640)
    with SQLiteStore.open(path, readonly=True) as store:
        assert len(store.graph) == 3


def test_a_new_memory_appears_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="No space left"):
            SQLiteStore.open(path)
    assert [file.name for file in path.parent.iterdir()] == ["memory-lock"]
    Path(f"{path}-new").write_bytes(b"of a process that was killed")
    fill(path, 0, 3)
    assert not Path(f"{path}-new").exists()
    assert path.stat().st_mode & 0o777 == 0o600

"""A log that was damaged before its end, compared with what SQLite makes of it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from worldthread.stores import SQLiteStore
from worldthread.stores.log_damage import is_damaged_inside
from worldthread.types import Episode

CHANGES = 40


@pytest.fixture(params=[512, 4096])
def database(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A database as a killed process leaves it: its log holds one transaction of one or more pages for each change."""
    path, chance = tmp_path / "made", random.Random(1)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in (f"page_size = {request.param}", "journal_mode = WAL", "wal_autocheckpoint = 0"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("CREATE TABLE change (content BLOB)")
        for _ in range(CHANGES):
            connection.execute("INSERT INTO change VALUES (?)", (chance.randbytes(chance.randrange(9000)),))
        shutil.copy(path, tmp_path / "left")
        shutil.copy(f"{path}-wal", tmp_path / "left-wal")
    return tmp_path / "left"


def changes_left(path: Path) -> int:
    Path(f"{path}-shm").unlink(missing_ok=True)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT COUNT(*) FROM change").fetchone()[0])
        except sqlite3.OperationalError:  # not even the table is left
            return 0


def test_what_sqlite_leaves_out_is_noticed(database: Path) -> None:
    log = Path(f"{database}-wal")
    whole, chance = log.read_bytes(), random.Random(2)
    assert changes_left(database) == CHANGES
    assert not is_damaged_inside(log)
    lost = 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        log.write_bytes(damaged)
        left = changes_left(database)
        # damage to the last change is like a change that a killed process did not finish
        assert is_damaged_inside(log) == (left < CHANGES - 1) or left == CHANGES - 1
        lost += CHANGES - left
    assert lost > 60


def test_a_log_that_a_process_did_not_finish_is_not_damaged(database: Path) -> None:
    log = Path(f"{database}-wal")
    whole, chance = log.read_bytes(), random.Random(3)
    for size in (0, 1, 31, 32, 33, 56, 600, *(chance.randrange(len(whole)) for _ in range(40))):
        log.write_bytes(whole[:size])
        assert not is_damaged_inside(log), size


@pytest.mark.parametrize("readonly", [False, True])
def test_a_memory_says_that_its_log_is_damaged(tmp_path: Path, readonly: bool) -> None:
    path, left = tmp_path / "memory", tmp_path / "left"
    with SQLiteStore.open(path) as store:
        for number in range(20):
            store.append(Episode(f"text {number}", number))
        shutil.copy(path, left)
        log = bytearray(Path(f"{path}-wal").read_bytes())
    log[len(log) // 2] ^= 1
    Path(f"{left}-wal").write_bytes(log)
    with (
        pytest.warns(UserWarning, match="left-wal is damaged.* the last changes of .* may be lost"),
        SQLiteStore.open(left, readonly=readonly) as store,
    ):
        assert 0 < len(store.graph) < 20

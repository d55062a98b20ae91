"""What an error of SQLite says about a file."""

from __future__ import annotations

import sqlite3

import pytest

from worldthread.files.sqlite_errors import SQLiteFault, fault_of


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (None, SQLiteFault.DAMAGED),
        (sqlite3.SQLITE_CORRUPT, SQLiteFault.DAMAGED),
        (sqlite3.SQLITE_CORRUPT_VTAB, SQLiteFault.DAMAGED),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, SQLiteFault.DAMAGED),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, SQLiteFault.LOCKED),
        (sqlite3.SQLITE_FULL, SQLiteFault.WRITE_FAILED),
        (sqlite3.SQLITE_IOERR_FSYNC, SQLiteFault.WRITE_FAILED),
        (sqlite3.SQLITE_IOERR_READ, SQLiteFault.OTHER),
        (sqlite3.SQLITE_READONLY_DIRECTORY, SQLiteFault.NO_ACCESS),
        (sqlite3.SQLITE_CANTOPEN, SQLiteFault.NO_ACCESS),
    ],
)
def test_a_code_has_one_meaning(code: int | None, fault: SQLiteFault) -> None:
    error = sqlite3.OperationalError("it failed")
    if code is not None:
        error.sqlite_errorcode = code
    assert fault_of(error) is fault

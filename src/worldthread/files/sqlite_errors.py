"""What the errors of SQLite mean for a file of ours: one table for every module that keeps something in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from typing import Final

from worldthread.errors import DamagedFileError, StoreError, StoreLockedError

SQLITE_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)
"""What a call of :mod:`sqlite3` raises on a damaged file. Its message can quote damaged text that is not UTF-8."""


class SQLiteFault(Enum):
    """What an error of SQLite says about the file."""

    DAMAGED = auto()
    """The file is not what it was when it was written, or is not a file of ours."""
    LOCKED = auto()
    """Another connection holds the file."""
    WRITE_FAILED = auto()
    """The disk refused a write; most often it is full."""
    NO_ACCESS = auto()
    """The file, or the files that SQLite needs beside it, cannot be opened or written."""
    OTHER = auto()


_BY_PRIMARY_CODE: Final = {
    sqlite3.SQLITE_CORRUPT: SQLiteFault.DAMAGED,
    sqlite3.SQLITE_NOTADB: SQLiteFault.DAMAGED,
    sqlite3.SQLITE_FORMAT: SQLiteFault.DAMAGED,
    # our statements are constant, so a missing table or a failed constraint means that the file has changed
    sqlite3.SQLITE_ERROR: SQLiteFault.DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: SQLiteFault.DAMAGED,
    sqlite3.SQLITE_MISMATCH: SQLiteFault.DAMAGED,
    sqlite3.SQLITE_BUSY: SQLiteFault.LOCKED,
    sqlite3.SQLITE_LOCKED: SQLiteFault.LOCKED,
    sqlite3.SQLITE_PROTOCOL: SQLiteFault.LOCKED,  # a process stands still while it opens the log
    sqlite3.SQLITE_FULL: SQLiteFault.WRITE_FAILED,
    sqlite3.SQLITE_CANTOPEN: SQLiteFault.NO_ACCESS,
    sqlite3.SQLITE_READONLY: SQLiteFault.NO_ACCESS,
}
_BY_EXTENDED_CODE: Final = {
    sqlite3.SQLITE_IOERR_WRITE: SQLiteFault.WRITE_FAILED,
    sqlite3.SQLITE_IOERR_FSYNC: SQLiteFault.WRITE_FAILED,
    sqlite3.SQLITE_IOERR_TRUNCATE: SQLiteFault.WRITE_FAILED,
    sqlite3.SQLITE_IOERR_SHMSIZE: SQLiteFault.WRITE_FAILED,
}


def fault_of(error: Exception) -> SQLiteFault:
    """Return what an error says about the file.

    Args:
        error: one of :data:`SQLITE_ERRORS`, raised while a statement without a mistake of ours was run.

    Returns:
        The meaning of its code. An error without a code comes from Python's module, which found text that is not
        UTF-8: damage.
    """
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return SQLiteFault.DAMAGED
    return _BY_EXTENDED_CODE.get(code) or _BY_PRIMARY_CODE.get(code & 0xFF, SQLiteFault.OTHER)


def damaged_cache(path: Path, kind: str, reason: str) -> DamagedFileError:
    """Return the error that says that a file is no cache, or a damaged one.

    Args:
        path: the file.
        kind: what it should be, such as ``"cache of answers"``.
        reason: what is wrong with it.

    Returns:
        The error.
    """
    return DamagedFileError(
        f"not a {kind}, or a damaged one ({reason}). Move the file away to start with an empty cache", path=path
    )


@contextmanager
def cache_errors(path: Path, kind: str) -> Iterator[None]:
    """Translate the errors of SQLite into those of worldthread.

    Args:
        path: the file of a cache.
        kind: what it is, such as ``"cache of answers"``.

    Yields:
        Nothing.

    Raises:
        DamagedFileError: the file is no such cache, or is damaged.
        StoreLockedError: another program holds it.
        StoreError: it cannot be read or written.
    """
    try:
        yield
    except SQLITE_ERRORS as error:
        fault = fault_of(error)
        if fault is SQLiteFault.DAMAGED:
            damage = damaged_cache(path, kind, str(error))
            raise damage from error
        if fault is SQLiteFault.LOCKED:
            raise StoreLockedError(f"another program holds the {kind}: {error}", path=path) from error
        raise StoreError(f"SQLite cannot read or write the {kind}: {error}", path=path) from error

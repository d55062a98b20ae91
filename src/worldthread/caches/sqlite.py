"""A cache in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock

from worldthread.caches.base import Cache, CacheLimits
from worldthread.errors import (
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    InputError,
    StoreError,
)
from worldthread.files.paths import FILE_MODE, make_private_file, make_private_folder
from worldthread.files.sqlite_errors import cache_errors, damaged_cache

APPLICATION_ID: Final = 0x77746365
"""At byte 68 of every file of ours: "wtce"."""

VERSION: Final = 1
"""Version of the file that is written, and the newest that is read."""

_TABLE: Final = (
    "CREATE TABLE entry (kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, size INTEGER NOT NULL, "
    "created REAL NOT NULL, used REAL NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID"
)
_INDEX: Final = "CREATE INDEX entry_used ON entry (kind, used, size, created)"
_BUSY_SECONDS: Final = 30.0
_KIND: Final = "cache"  # in messages
_MOST_KEYS: Final = 500  # in one statement


class SQLiteCache(Cache):
    """A cache in an SQLite file, which is made, with its folder, if it does not exist.

    Args:
        address: ``"sqlite:PATH"`` or ``"sqlite://PATH"``.
        kind: which entries.
        limits: how long and how much is kept.

    Raises:
        InputError: the address names no file.
        ForeignFileError: the file is an SQLite file of another program; it was not touched.
        DamagedFileError: the file cannot be read; it was not touched.
        FileVersionError: a newer release wrote the file; it was not touched.
        StoreError: the file cannot be opened.
    """

    def __init__(self, address: str, kind: str, limits: CacheLimits) -> None:
        super().__init__(address, kind, limits)
        name = address.partition(":")[2].removeprefix("//")
        if not name:
            raise InputError("the address of a cache in a file is sqlite:PATH")
        self._path = Path(name).expanduser()
        self._shown = str(self._path)
        lock_file = self._path.with_name(self._path.name + "-lock")
        is_new = not lock_file.exists()
        try:
            make_private_folder(self._path.parent)
            with FileLock(lock_file, mode=FILE_MODE):  # two processes must not create the file at the same time
                make_private_file(self._path)
                with self._translated():
                    self._connection = sqlite3.connect(
                        self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
                    )
                    self._prepare()
        except OSError as error:
            raise StoreError(f"the cache cannot be opened: {error.strerror or error}", path=self._path) from error
        except BaseException as error:
            if hasattr(self, "_connection"):
                self._connection.close()
            if is_new and isinstance(error, StoreError):  # probably not a file of ours: leave nothing beside it
                lock_file.unlink(missing_ok=True)
            raise

    def _prepare(self) -> None:
        connection = self._connection
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        schema = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
        if application != APPLICATION_ID and (application or version or schema):
            raise ForeignFileError("an SQLite file of another program, not a cache", path=self._path)
        if version > VERSION:
            raise FileVersionError(
                f"written by a newer release (version {version}, this one reads {VERSION}): upgrade, or use another "
                "file",
                path=self._path,
            )
        if version and schema != {_TABLE, _INDEX}:  # a view or a trigger would run at every question
            raise self._damaged("it has other tables than a cache")
        if not version:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_TABLE}; {_INDEX}; PRAGMA application_id = {APPLICATION_ID}; "
                f"PRAGMA user_version = {VERSION}; COMMIT;"
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")

    def _get(self, keys: list[str], now: float, oldest: float) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._translated():
            for start in range(0, len(keys), _MOST_KEYS):
                part = keys[start : start + _MOST_KEYS]
                marks = ", ".join("?" * len(part))
                rows = self._connection.execute(
                    f"SELECT key, value FROM entry WHERE kind = ? AND created >= ? AND key IN ({marks})",
                    (self._kind, oldest, *part),
                ).fetchall()
                if self._limits.size is not None and rows:
                    used = [(now, self._kind, key) for key, _ in rows]
                    with self._transaction() as connection:
                        connection.executemany("UPDATE entry SET used = ? WHERE kind = ? AND key = ?", used)
                for key, value in rows:
                    if not isinstance(key, str) or not isinstance(value, bytes):
                        raise self._damaged(f"the entry {key!r} is of another type")
                    found[key] = value
        return found

    def _put(self, values: Mapping[str, bytes], now: float, oldest: float) -> None:
        with self._transaction() as connection:
            connection.executemany(
                "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET "
                "value = excluded.value, size = excluded.size, created = excluded.created, used = excluded.used "
                "WHERE entry.created < ?",
                [(self._kind, k, v, len(k.encode()) + len(v), now, now, oldest) for k, v in values.items()],
            )

    def _count(self, oldest: float) -> int:
        with self._translated():
            rows = self._connection.execute(
                "SELECT COUNT(*) FROM entry WHERE kind = ? AND created >= ?", (self._kind, oldest)
            ).fetchall()
        return int(rows[0][0])

    def _total(self) -> int:
        with self._translated():
            rows = self._connection.execute(
                "SELECT COALESCE(SUM(size), 0) FROM entry WHERE kind = ?", (self._kind,)
            ).fetchall()
        return int(rows[0][0])

    def _remove_before(self, oldest: float) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM entry WHERE kind = ? AND created < ?", (self._kind, oldest))
        with self._translated():  # otherwise the log still holds them
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _remove_least_used(self, size: int) -> None:
        with self._transaction() as connection:
            freed, keys = 0, []
            for key, bytes_ in connection.execute(
                "SELECT key, size FROM entry WHERE kind = ? ORDER BY used, key", (self._kind,)
            ):
                if freed >= size:
                    break
                keys.append((self._kind, key))
                freed += bytes_
            connection.executemany("DELETE FROM entry WHERE kind = ? AND key = ?", keys)

    def _close(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _translated(self) -> AbstractContextManager[None]:
        return cache_errors(self._path, _KIND)

    def _damaged(self, reason: str) -> DamagedFileError:
        return damaged_cache(self._path, _KIND, reason)

"""One open SQLite file: checks before opening, the writer lock, transactions, and error messages.

Files beside the memory: ``-wal`` and ``-shm`` (SQLite's write-ahead log), ``-lock`` (empty; held by the writer),
``-snapshot/`` (:mod:`worldthread.stores.snapshots`).
"""

from __future__ import annotations

import math
import os
import sqlite3
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from filelock import FileLock, Timeout

from worldthread.errors import (
    ClosedError,
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    InputError,
    ReadOnlyError,
    StoreError,
    StoreLockedError,
)
from worldthread.sqlite_errors import SQLiteFault, fault_of
from worldthread.stores.base import Durability

APPLICATION_ID: Final = 0x77746872
"""At byte 68 of every memory: "wthr"."""

_RECORD_COLUMNS: Final = "(number INTEGER PRIMARY KEY, digest BLOB NOT NULL, content BLOB NOT NULL)"

MIGRATIONS: list[str] = [
    # record is append-only: a row is never deleted or resized, and a forgotten row is overwritten with zeros.
    # SQLite's secure_delete alone leaves copies of moved rows in the gaps of pages; rows that are only appended and
    # overwritten are never moved.
    # current: the episodes of each namespace, and their rows in record.
    # change: which episode each change was about; the other tables hold its present state.
    # vector.text: the digest of a text.
    f"""
    CREATE TABLE record {_RECORD_COLUMNS};
    CREATE TABLE namespace (
        number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
        changes INTEGER NOT NULL, episodes INTEGER NOT NULL
    );
    CREATE TABLE current (
        namespace INTEGER NOT NULL REFERENCES namespace ON DELETE CASCADE,
        id BLOB NOT NULL, at REAL NOT NULL, record INTEGER NOT NULL,
        PRIMARY KEY (namespace, id)
    ) WITHOUT ROWID;
    CREATE TABLE change (
        namespace INTEGER NOT NULL REFERENCES namespace ON DELETE CASCADE,
        number INTEGER NOT NULL, token BLOB NOT NULL, episode BLOB NOT NULL,
        PRIMARY KEY (namespace, number)
    ) WITHOUT ROWID;
    CREATE TABLE vector (
        namespace INTEGER NOT NULL REFERENCES namespace ON DELETE CASCADE,
        model TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL,
        UNIQUE (namespace, model, text)
    );
    """,
    # vectors are kept in half precision from here on; they can always be computed again
    "DELETE FROM vector",
]
"""SQL that takes a file from version *i* to version *i* + 1, each in one transaction; statements end with ``;``."""

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_BUSY_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.01  # between two looks whether the writer lock is free
_PAUSE_SECONDS: Final = 2.5 * _POLL_SECONDS  # in which another process looks at least once
_BUSY_CHANGES_SECONDS: Final = 0.2  # of changes in quick succession, after which others get a pause

_CHANGE_LOST: Final = "nothing of this change was kept: close the memory, put the file back, and open it again"

# Closing any handle of a file drops every POSIX lock that the process holds on it, also those of SQLite, which knows of
# its own handles only. So the header of a file that this process has open must not be read again with open().
_open_files: Counter[tuple[int, int]] = Counter()
_open_files_guard = threading.Lock()


class Database:
    """A connection to a file, or to a database in RAM, with one lock for all threads.

    Args:
        path: the file; it is created when it does not exist and may be written. ``None`` for RAM.
        readonly: never write. Any number of readers can use the file beside one writer.
        durability: see :data:`~worldthread.stores.base.Durability`.
        wait: seconds to wait for another writer; ``math.inf`` for as long as it takes.

    Raises:
        InputError: an argument cannot be used.
        ForeignFileError: the file is not a memory; it was not touched.
        DamagedFileError: the file is a damaged memory; it was not touched.
        FileVersionError: a newer release wrote the file; it was not touched.
        StoreLockedError: another writer did not finish in time.
        StoreError: the file cannot be opened; the message says why.
    """

    def __init__(
        self, path: Path | None, *, readonly: bool = False, durability: Durability = "normal", wait: float = 0.0
    ) -> None:
        if durability not in ("normal", "full"):
            raise InputError(f"durability must be 'normal' or 'full', not {durability!r}")
        if isinstance(wait, bool) or not isinstance(wait, int | float) or not wait >= 0:
            raise InputError(f"wait must be a number of seconds from 0, not {wait!r}")
        if path is None and readonly:
            raise InputError("a memory without a file starts empty: there is nothing to open for reading only")
        self.path = path
        self.readonly = readonly
        self.lock = threading.RLock()
        self.users = 0
        """Number of stores that share this connection."""
        self._durability = durability
        self._wait = wait
        self._writer_lock: FileLock | None = None
        self._is_shared = False
        self._change_lock = threading.RLock()  # of the thread that holds the writer lock while the file is shared
        self._changes = 0  # how often that thread has entered `writing`
        self._last_release = self._first_change = -math.inf  # of changes in quick succession
        self._file: tuple[int, int] | None = None
        self._is_changing = False
        self._size = 0  # of the file, in bytes; it never shrinks while it is open
        self._connection: sqlite3.Connection | None = None
        try:
            if path is None:
                self._connect(":memory:", uri=False)
                self._migrate()
            elif readonly:
                self._open_for_reading(path)
            else:
                self._open_for_writing(path, wait)
        except OSError as error:
            self._release()
            raise StoreError(f"cannot be opened: {error.strerror or error}", path=self.location) from error
        except BaseException:
            self._release()
            raise

    # -- opening ----------------------------------------------------------------------------------------------------

    def _open_for_reading(self, path: Path) -> None:
        if not path.exists():
            raise StoreError("there is no memory here to read", path=path)
        self._register(path)
        if path.stat().st_size == 0:
            raise StoreError("the file is empty: open it once for writing to make it a memory", path=path)
        # a reader takes part in SQLite's locking, for which it needs files beside the memory; where the folder cannot
        # be written and holds no log, nobody writes, and the file can be read without locks
        try:
            if self._is_at_rest(path):
                self._probe(path)
            self._connect(_uri(path, "mode=ro"))
            self._check_tables()
        except StoreError as error:
            cause = error.__cause__
            can_read_alone = isinstance(cause, sqlite3.Error) and fault_of(cause) is SQLiteFault.NO_ACCESS
            if not (can_read_alone and self._is_complete(path)):
                raise
            self._disconnect()
            self._connect(_uri(path, "mode=ro&immutable=1"))
            self._check_tables()

    def _open_for_writing(self, path: Path, wait: float) -> None:
        # checked before anything is written: a foreign file must not even get a lock beside it
        _check_file(path)
        if path.exists() and not os.access(path, os.W_OK):
            raise StoreError("the file cannot be written: pass readonly=True, or change its permissions", path=path)
        lock_file = path.with_name(path.name + "-lock")
        is_new = not lock_file.exists()
        self._acquire(path, lock_file, wait)
        try:
            if not path.exists():
                path.touch()
            self._register(path)
            if path.stat().st_size and self._is_at_rest(path):
                self._probe(path)
            self._connect(_uri(path, "mode=rw"))
            self._configure()
            self._migrate()
            self._check_tables()
            # a process that was killed may have left forgotten text in the log
            self.truncate_log()
        except (ForeignFileError, DamagedFileError, FileVersionError):
            self._disconnect()
            if is_new:
                lock_file.unlink(missing_ok=True)
            raise

    def _acquire(self, path: Path, lock_file: Path, wait: float) -> None:
        self._acquire_lock(FileLock(lock_file, thread_local=False), path, wait)

    def _acquire_lock(self, lock: FileLock, path: Path, wait: float) -> None:
        try:
            lock.acquire(timeout=-1 if wait == math.inf else wait, poll_interval=_POLL_SECONDS)
        except Timeout:
            raise StoreLockedError(
                "another process, or another memory object of this one, is writing: close it, wait for it "
                "(wait=SECONDS in Python, --wait SECONDS on the command line), or read beside it (readonly=True)",
                path=path,
            ) from None
        except OSError as error:
            raise StoreError(
                f"the lock {lock.lock_file} cannot be created: {error.strerror or error}", path=path
            ) from error
        self._writer_lock = lock

    def share(self) -> None:
        """Release the writer lock, and hold it only inside :meth:`writing` from now on."""
        with self._change_lock:
            if self._writer_lock is not None and not self._is_shared:
                self._is_shared = True
                self._writer_lock.release()

    @property
    def is_writing(self) -> bool:
        """Whether no other process can write, since this one holds the writer lock."""
        return self._writer_lock is not None and (not self._is_shared or self._changes > 0)

    @contextmanager
    def writing(self, wait: float | None = None) -> Iterator[None]:
        """Keep all other writers out until the block ends. Enter it before taking the lock of the threads.

        Args:
            wait: seconds to wait for another writer; ``None`` for as many as when the file was opened.

        Raises:
            StoreLockedError: another writer did not finish in time.
            InputError: the thread is inside a block that reads.
        """
        if not self._is_shared or self._writer_lock is None or self.path is None:
            yield
            return
        if self.lock.acquire(blocking=False):
            try:
                # whoever reads holds the lock: to wait here for a writer that waits for the lock would never end
                if not self._changes:
                    self._require_no_transaction()
            finally:
                self.lock.release()
        with self._change_lock:
            if not self._changes:
                self._let_others_write()
                self._acquire_lock(self._writer_lock, self.path, self._wait if wait is None else wait)
            self._changes += 1
            try:
                yield
            finally:
                self._changes -= 1
                if not self._changes and self._writer_lock is not None:
                    self._writer_lock.release()
                    self._last_release = time.monotonic()

    def _let_others_write(self) -> None:
        """Pause now and then in a series of changes: others, who look from time to time, hardly find a gap in it."""
        now = time.monotonic()
        if now - self._last_release > _PAUSE_SECONDS:
            self._first_change = now
        elif now - self._first_change > _BUSY_CHANGES_SECONDS:
            time.sleep(_PAUSE_SECONDS)
            self._first_change = time.monotonic()

    def _register(self, path: Path) -> None:
        """Check the header, and note that the file is open in this process."""
        with _open_files_guard:
            _check_unless_open(path)
            status = path.stat()
            self._file = (status.st_dev, status.st_ino)
            _open_files[self._file] += 1

    @staticmethod
    def _is_at_rest(path: Path) -> bool:
        """Return whether no log lies beside the file: nobody has it open, and it holds all changes."""
        return not any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))

    @staticmethod
    def _is_complete(path: Path) -> bool:
        """Return whether the file holds all changes. A reader may have left an empty log."""
        sidecars = (path.with_name(path.name + ending) for ending in ("-wal", "-journal"))
        return not any(sidecar.exists() and sidecar.stat().st_size for sidecar in sidecars)

    def _probe(self, path: Path) -> None:
        """Check the tables and the size through a connection that creates no file and takes no lock."""
        self._connect(_uri(path, "mode=ro&immutable=1"))
        try:
            self._check_tables()
            pages, page_bytes = self.fetch_one("PRAGMA page_count")[0], self.fetch_one("PRAGMA page_size")[0]
            if path.stat().st_size < pages * page_bytes:
                raise DamagedFileError("the end of the file is missing", path=path)
        except DamagedFileError:
            if self._is_at_rest(path):
                raise
            # otherwise somebody wrote in the meantime, and the real connection decides
        self._disconnect()

    def _connect(self, address: str, *, uri: bool = True) -> None:
        with self.translated():
            self._connection = sqlite3.connect(
                address, uri=uri, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "foreign_keys = ON"):
                self._connection.execute(f"PRAGMA {pragma}")

    def _configure(self) -> None:
        # the log of an empty file is started in _migrate: its first tables are created in one transaction with its id
        if self.fetch_one("PRAGMA application_id") == (APPLICATION_ID,):
            self._start_log()
        self.execute(f"PRAGMA synchronous = {self._durability.upper()}")
        self.execute("PRAGMA secure_delete = ON")

    def _start_log(self) -> None:
        mode = self.fetch_one("PRAGMA journal_mode = WAL")
        if mode not in (("wal",), ("memory",)):
            raise StoreError("SQLite cannot keep a write-ahead log on this file system", path=self.location)

    def _migrate(self) -> None:
        version = self._version()
        for target in range(version + 1, len(MIGRATIONS) + 1):
            with self.transaction():
                if target == 1:
                    self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                for statement in MIGRATIONS[target - 1].split(";"):
                    self.execute(statement)
                self.execute(f"PRAGMA user_version = {target}")
            if target == 1:
                self._start_log()

    def _version(self) -> int:
        version: int = self.fetch_one("PRAGMA user_version")[0]
        if version > len(MIGRATIONS):
            raise _too_new(version, self.location)
        return version

    def _check_tables(self) -> None:
        version = self._version()
        rows = self.fetch_all("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
        if version == len(MIGRATIONS):
            expected = {("table", name) for name in ("record", "namespace", "current", "change", "vector")}
            if set(rows) != expected:
                raise DamagedFileError("the file does not have the tables of a memory", path=self.location)
        elif self.readonly:
            raise StoreError("written by an older release: open it once for writing to upgrade it", path=self.location)

    # -- using ------------------------------------------------------------------------------------------------------

    @property
    def location(self) -> Path | str:
        """The path, or the words "memory in RAM"; for error messages."""
        return self.path or "memory in RAM"

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one SQL statement."""
        if self._connection is None:
            raise ClosedError("the memory was closed: open it again", path=self.location)
        with self.translated():
            return self._connection.execute(sql, parameters)

    def fetch_all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run one SQL statement and return all its rows."""
        cursor = self.execute(sql, parameters)
        with self.translated():
            return cursor.fetchall()

    def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Run one SQL statement and return its first row, or ``None`` when there is none."""
        cursor = self.execute(sql, parameters)
        with self.translated():
            return cursor.fetchone()

    def require_writable(self) -> None:
        """Raise ReadOnlyError when the file was opened for reading only."""
        if self.readonly:
            raise ReadOnlyError("the memory was opened for reading only (readonly=True)", path=self.location)

    def _require_file(self) -> None:
        """Raise when the path does not lead to the open file: SQLite would write where nobody finds it any more."""
        if self.path is None:
            return
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise StoreError(
                f"the file does not exist any more ({error.strerror or error}); {_CHANGE_LOST}", path=self.path
            ) from error
        if (status.st_dev, status.st_ino) != self._file:
            raise StoreError(f"the file was replaced while it was open; {_CHANGE_LOST}", path=self.path)
        if status.st_size < self._size:
            raise DamagedFileError(f"the file was cut short while it was open; {_CHANGE_LOST}", path=self.path)
        self._size = status.st_size

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Apply all changes of the block or none. Hold the lock while using it."""
        self.require_writable()
        self._require_no_transaction()
        self._require_file()
        self._is_changing = True
        try:
            self.execute("BEGIN IMMEDIATE")
            yield
            self.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._is_changing = False

    def _require_no_transaction(self) -> None:
        if self._is_in_transaction():
            raise InputError(
                "the memory cannot be changed inside a block that reads it, or by the iterable of episodes to record"
            )

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Let all reads of the block see the same state of the file. Hold the lock while using it."""
        if self._is_in_transaction():
            yield
            return
        try:
            self.execute("BEGIN")
            yield
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        # some errors (a full disk) end the transaction by themselves; an error here must not hide the first one
        if self._connection is not None and self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _is_in_transaction(self) -> bool:
        return self._connection is not None and self._connection.in_transaction

    def data_version(self) -> int:
        """Return a number that changes when another connection has changed the file."""
        version: int = self.fetch_one("PRAGMA data_version")[0]
        return version

    def truncate_log(self, *, wait: bool = True) -> bool:
        """Move the log into the file and empty it.

        Args:
            wait: give readers in the middle of a read some seconds to finish.

        Returns:
            Whether the log was emptied; a reader can prevent it.
        """
        if self.path is None:
            return True
        if not wait:
            self.execute("PRAGMA busy_timeout = 0")
        try:
            busy, *_ = self.fetch_one("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")
        return not busy

    def overwritten_rows(self) -> tuple[int, int]:
        """Return the number of overwritten rows of the record, and the number of all its rows."""
        rows, used = self.fetch_one("SELECT (SELECT COUNT(*) FROM record), (SELECT COUNT(*) FROM current)")
        return rows - used, rows

    def rewrite_record(self) -> None:
        """Reclaim the space of overwritten rows, inside a transaction.

        SQLite overwrites the pages of a dropped table completely, so nothing of the old rows is left.
        """
        self.execute(f"CREATE TABLE fresh {_RECORD_COLUMNS}")
        self.execute(
            "INSERT INTO fresh SELECT record.* FROM record JOIN current ON current.record = record.number"
            " ORDER BY record.number"
        )
        self.execute("DROP TABLE record")
        self.execute("ALTER TABLE fresh RENAME TO record")

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise a :class:`StoreError` in place of an error of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._store_error(error) from error

    def _store_error(self, error: sqlite3.Error) -> StoreError:
        fault = fault_of(error)
        if fault is SQLiteFault.DAMAGED:
            return DamagedFileError(f"the memory cannot be read: {error}", path=self.location)
        if fault is SQLiteFault.LOCKED:
            return StoreLockedError(f"another program holds the file: {error}", path=self.location)
        if fault is SQLiteFault.WRITE_FAILED:
            kept = "Nothing of this change was kept; every" if self._is_changing else "Every"
            return StoreError(
                f"SQLite cannot write the file: {error}; is the disk full? {kept} earlier change is safe",
                path=self.location,
            )
        return StoreError(f"SQLite cannot read or write the file: {error}", path=self.location)

    # -- closing ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Empty the log and release the file and the lock. May be called again."""
        try:
            if self._connection is not None and not self.readonly:
                self.truncate_log(wait=not self._is_shared)
        finally:
            self._release()

    def _release(self) -> None:
        self._disconnect()
        if self._file is not None:
            with _open_files_guard:
                _open_files[self._file] -= 1
                if not _open_files[self._file]:
                    del _open_files[self._file]
            self._file = None
        if self._writer_lock is not None:
            self._writer_lock.release()
            self._writer_lock = None

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _uri(path: Path, parameters: str) -> str:
    return f"file:{quote(os.fsencode(path))}?{parameters}"


def _check_file(path: Path) -> None:
    with _open_files_guard:
        _check_unless_open(path)


def _check_unless_open(path: Path) -> None:
    """Raise unless a file can be opened as a memory. An absent or empty file can become one.

    Args:
        path: the file; it is not changed.

    Raises:
        ForeignFileError: it is not a memory.
        DamagedFileError: it was a memory and is damaged.
        FileVersionError: a newer release wrote it.
        StoreError: it cannot be read, or its folder does not exist.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise StoreError(f"the folder {path.parent} does not exist", path=path) from None
        return
    except OSError as error:
        raise StoreError(f"cannot be opened: {error.strerror or error}", path=path) from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise ForeignFileError(f"is {kind}, not a memory", path=path)
    if not status.st_size or _open_files[status.st_dev, status.st_ino]:
        return
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise StoreError(f"cannot be opened: {error.strerror or error}", path=path) from error
    _check_header(header, path)


def _check_header(header: bytes, path: Path) -> None:
    is_memory = int.from_bytes(header[68:72], "big") == APPLICATION_ID
    if len(header) < _HEADER_BYTES and _MAGIC.startswith(header[: len(_MAGIC)]):
        raise DamagedFileError(f"only {len(header)} bytes are left of the file", path=path)
    if not header.startswith(_MAGIC):
        if is_memory:
            raise DamagedFileError("the beginning of the file is overwritten", path=path)
        raise ForeignFileError("is not a memory of worldthread; it was left as it is", path=path)
    if not is_memory:
        raise ForeignFileError("is an SQLite database of another program; it was left as it is", path=path)
    version = int.from_bytes(header[60:64], "big")
    if version > len(MIGRATIONS):
        raise _too_new(version, path)


def _too_new(version: int, location: Path | str) -> FileVersionError:
    return FileVersionError(
        f"written by a newer release of worldthread (file version {version}, this release knows up to "
        f"{len(MIGRATIONS)}): upgrade worldthread",
        path=location,
    )

"""One open SQLite file: checks before opening, the writer lock, transactions, and error messages.

Files beside the memory: ``-wal`` and ``-shm`` (SQLite's write-ahead log), ``-lock`` (empty; held by the writer),
``-snapshot/`` (:mod:`worldthread.stores.snapshots`). A new memory is made under the name ``-new`` and appears whole. So
a file of 0 bytes with one of the others beside it was a memory, and is not made a new one.

A log that a killed process left must not be replayed over another file, such as a backup that was copied back. So the
file has a *mark*: random bits of ``user_version``, in its first page. The mark changes whenever the log is moved into
the file, and before the first write of a process; and the first transaction of every log writes the first page, and so
the mark of the file that the log continues. A log whose marks do not include that of the file belongs to another one.
"""

from __future__ import annotations

import math
import os
import secrets
import sqlite3
import stat
import struct
import threading
import time
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final
from urllib.parse import quote

from filelock import FileLock, Timeout

from worldthread.errors import (
    ClosedError,
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    InputError,
    StoreError,
    StoreLockedError,
)
from worldthread.files.sqlite_errors import SQLITE_ERRORS, SQLiteFault, fault_of
from worldthread.stores.base import Durability
from worldthread.stores.connection import CHANGE_INSIDE_READ, StoreConnection, StoreTransaction
from worldthread.stores.log_damage import is_damaged_inside

APPLICATION_ID: Final = 0x77746872
"""At byte 68 of every memory: "wthr"."""

_RECORD_COLUMNS: Final = "(number INTEGER PRIMARY KEY, digest BLOB NOT NULL, content BLOB NOT NULL)"
_CURRENT_COLUMNS: Final = (
    "(record INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespace ON DELETE CASCADE,"
    " prefix BLOB NOT NULL, id BLOB NOT NULL, at BLOB NOT NULL)"
)
_CURRENT_INDEX: Final = "CREATE INDEX current_prefix ON current (namespace, prefix)"
_VECTOR_COLUMNS: Final = (
    "(number INTEGER PRIMARY KEY, namespace INTEGER NOT NULL REFERENCES namespace ON DELETE CASCADE,"
    " model TEXT NOT NULL, prefix BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL)"
)
_VECTOR_INDEX: Final = "CREATE INDEX vector_prefix ON vector (namespace, prefix)"

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
    # an id is a digest of a text, so it must not stay either: current and vector become append-only like record, with
    # an index of two bytes of each id or digest, and change names rows of record; 0 says that an episode was removed.
    # change is trimmed: a reader that is too far behind reads everything again
    f"""
    CREATE TABLE fresh {_CURRENT_COLUMNS};
    INSERT INTO fresh SELECT record, namespace, substr(id, 1, 2), id, packed_time(at) FROM current ORDER BY record;
    CREATE TABLE numbered (
        namespace INTEGER NOT NULL REFERENCES namespace ON DELETE CASCADE,
        number INTEGER NOT NULL, token BLOB NOT NULL, record INTEGER NOT NULL,
        PRIMARY KEY (namespace, number)
    ) WITHOUT ROWID;
    INSERT INTO numbered SELECT change.namespace, change.number, token, coalesce(record, 0)
        FROM change LEFT JOIN current ON current.namespace = change.namespace AND current.id = change.episode;
    CREATE TABLE vectors {_VECTOR_COLUMNS};
    INSERT INTO vectors (namespace, model, prefix, text, vector)
        SELECT namespace, model, substr(text, 1, 2), text, vector FROM vector;
    DROP TABLE current;
    DROP TABLE change;
    DROP TABLE vector;
    ALTER TABLE fresh RENAME TO current;
    ALTER TABLE numbered RENAME TO change;
    ALTER TABLE vectors RENAME TO vector;
    {_CURRENT_INDEX};
    {_VECTOR_INDEX};
    """,
    # the namespace comes first, so that what belongs to one of thousands is found without reading the others
    f"""
    DROP INDEX current_prefix;
    DROP INDEX vector_prefix;
    {_CURRENT_INDEX};
    {_VECTOR_INDEX};
    """,
]
"""SQL that takes a file from version *i* to version *i* + 1, each in one transaction; statements end with ``;``."""

_PRIVATE: Final = 0o600  # of a new memory: nobody else reads it
_SIDECARS: Final = ("-lock", "-wal", "-shm", "-journal", "-snapshot")
_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_BUSY_SECONDS: Final = 5.0
_ERASE_SECONDS: Final = 0.5  # between attempts to remove what was forgotten from the log
_POLL_SECONDS: Final = 0.01  # between two looks whether the writer lock is free
_PAUSE_SECONDS: Final = 2.5 * _POLL_SECONDS  # in which another process looks at least once
_BUSY_CHANGES_SECONDS: Final = 0.2  # of changes in quick succession, after which others get a pause
_LOG_BYTES: Final = 4_000_000  # a log that is longer is moved into the file
_USER_VERSION_OFFSET: Final = 60  # in the header of a file
_VERSION_BITS: Final = 8  # of user_version; the mark has the rest of 31
_MARKED_VERSION: Final = 3
_SAME_TABLES: Final = {4: 3}  # version -> the oldest one that a reader can read as it is, which has other indexes only
_VACUUM_PAGES: Final = 250  # free pages from which on they are given back

_OPEN_AGAIN: Final = "nothing was read or written: close the memory, put the right file in its place, and open it again"

# Closing any handle of a file drops every POSIX lock that the process holds on it, also those of SQLite, which knows of
# its own handles only. So the header of a file that this process has open must not be read again with open().
_databases: weakref.WeakSet[Database] = weakref.WeakSet()
_databases_guard = threading.Lock()


class Transaction(StoreTransaction):
    """A transaction on a file, as a context manager. Hold the lock while using it.

    While an interrupt that ended its block is handled, the interrupt still holds the object: until then, uses see the
    file as the transaction does, and changes are refused.
    """

    _connection: Database

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE" if self.writes else "BEGIN")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.writes and kind is None:
                self._connection.commit()
        finally:
            super().__exit__(kind, error, trace)


class Database(StoreConnection):
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
        super().__init__(readonly=readonly, durability=durability, wait=wait)
        if path is None and readonly:
            raise InputError("a memory without a file starts empty: there is nothing to open for reading only")
        self.path = path
        self.overwritten = 0
        """How many rows were overwritten since anybody looked whether their space can be reclaimed."""
        self._log_holds_forgotten = False
        self._eraser: threading.Thread | None = None  # while a reader keeps what was forgotten in the log
        self._closed = threading.Event()
        self._log_holds_failed_commit = False
        self._waits = True
        self._wait = wait
        self._writer_lock: FileLock | None = None
        self.is_shared = False
        """Whether other processes may write between the changes of this one; see :meth:`share`."""
        self._change_lock = threading.RLock()  # of the thread that holds the writer lock while the file is shared
        self._changes = 0  # how often that thread has entered `writing`
        self._changing_thread: int | None = None
        self._last_release = self._first_change = -math.inf  # of changes in quick succession
        self._file: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None
        self._log_bytes = 0
        self._longest_log = _LOG_BYTES
        self._log_is_marked = False
        self._is_renewed = False
        self._unlocked_state: tuple[int, int] | None = None  # of a file that is read without locks
        self._reconnections = 0
        self._size = 0  # of the file, in bytes; nobody else makes it smaller while it is open for writing
        self._connection: sqlite3.Connection | None = None
        try:
            if path is None:
                self._connect(":memory:", uri=False)
                self._migrate()
            elif readonly:
                self._open_for_reading(path)
            else:
                self._open_for_writing(path, wait)
            self._note_log()
            self._require_file()
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
        give_up = time.monotonic() + _BUSY_SECONDS
        while True:
            is_being_written = _is_locked(path) and time.monotonic() < give_up
            try:
                check_log(path)
                if path.stat().st_size == 0:
                    if not is_being_written and _sidecars(path):
                        raise _emptied(path)
                    raise _UnfinishedError("the file is empty: open it once for writing to make it a memory", path=path)
                if not is_being_written:
                    _warn_of_damaged_log(path)
                self._connect_for_reading(path)
                return
            except _UnfinishedError:
                self._disconnect()
                if not is_being_written:
                    raise
                time.sleep(_POLL_SECONDS)  # another process makes it a memory, or upgrades it, just now

    def _connect_for_reading(self, path: Path) -> None:
        # a reader takes part in SQLite's locking, for which it needs files beside the memory; where the folder cannot
        # be written and holds no log, the file can be read without locks, until somebody else writes it
        self._unlocked_state = None
        try:
            if self._is_at_rest(path):
                self._probe(path)
            self._connect(_uri(path, "mode=ro"))
            self._check_tables()
        except StoreError as error:
            cause = error.__cause__
            is_without_access = isinstance(cause, sqlite3.Error) and fault_of(cause) is SQLiteFault.NO_ACCESS
            if not (is_without_access and self._is_complete(path) and not os.access(path.parent, os.W_OK)):
                raise
            self._disconnect()
            self._unlocked_state = _state_of(path)
            self._connect(_uri(path, "mode=ro&immutable=1"))
            self._check_tables()

    def _follow_without_locks(self, path: Path) -> None:
        """Connect again if somebody has written the file that is read without locks."""
        if self._unlocked_state is not None and not (
            self._unlocked_state == _state_of(path) and self._is_complete(path)
        ):
            self._disconnect()
            self._reconnections += 1
            self._connect_for_reading(path)

    def _open_for_writing(self, path: Path, wait: float) -> None:
        # checked before anything is written: a foreign file must not even get a lock beside it
        check_file(path)
        if path.exists() and not os.access(path, os.W_OK):
            raise StoreError("the file cannot be written: pass readonly=True, or change its permissions", path=path)
        lock_file = path.with_name(path.name + "-lock")
        is_new = not lock_file.exists()
        was_opened = bool(_sidecars(path))
        self._acquire(path, lock_file, wait)
        try:
            if not path.exists():
                check_log(path)
                self._create(path)
            elif was_opened and not path.stat().st_size:
                check_log(path)  # a log may hold the last changes, and says more
                raise _emptied(path)
            self._register(path)
            check_log(path)
            _warn_of_damaged_log(path)
            if path.stat().st_size and self._is_at_rest(path):
                self._probe(path)
            self._connect(_uri(path, "mode=rw"))
            self._configure()
            self._migrate()
            self._check_tables()
            self._try_to_write()
            # a process that was killed may have left forgotten text in the log
            self.truncate_log()
        except (ForeignFileError, DamagedFileError, FileVersionError):
            self._disconnect()
            if is_new:
                lock_file.unlink(missing_ok=True)
            raise

    def _create(self, path: Path) -> None:
        """Make a new memory that only its owner can read, whatever the umask. It appears whole or not at all."""
        unfinished = path.with_name(f"{path.name}-new")
        unfinished.unlink(missing_ok=True)  # a process was killed here
        handle = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE)
        try:
            os.fchmod(handle, _PRIVATE)
            self._connect(_uri(unfinished, "mode=rw"))
            self.fetch_one("PRAGMA journal_mode = MEMORY")
            self.execute("PRAGMA synchronous = OFF")
            self.execute("BEGIN")
            for target in range(1, len(MIGRATIONS) + 1):
                self._run_migration(target)
            self.execute("COMMIT")
            self._disconnect()
            os.fsync(handle)
            unfinished.rename(path)
        finally:
            os.close(handle)
            self._disconnect()
            unfinished.unlink(missing_ok=True)

    def _try_to_write(self) -> None:
        """Raise StoreError unless the file can be changed.

        Where SQLite cannot open the file or its log for writing, it opens it for reading and says nothing.
        """
        try:
            self.execute("BEGIN IMMEDIATE")
            self.execute(f"PRAGMA user_version = {self._user_version()}")
        finally:
            self.roll_back()

    def _acquire(self, path: Path, lock_file: Path, wait: float) -> None:
        # whoever may write the memory may write beside it
        mode = stat.S_IMODE(path.stat().st_mode) & 0o666 if path.exists() else _PRIVATE
        self._acquire_lock(FileLock(lock_file, thread_local=False, mode=mode), path, wait)

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
        """Release the writer lock, and hold it only inside :meth:`writing` from now on.

        Raises:
            InputError: the thread is inside a block that reads.
        """
        self._require_not_reading()
        with self._change_lock:
            if self._writer_lock is not None and not self.is_shared:
                self.is_shared = True
                self._writer_lock.release()

    @property
    def is_writing(self) -> bool:
        """Whether no other process can write, since this one holds the writer lock."""
        if self.path is None:
            return True
        return self._writer_lock is not None and (not self.is_shared or self._changes > 0)

    def writing(self, wait: float | None = None) -> AbstractContextManager[None]:
        """Keep all other writers out until the block ends. Enter it before taking the lock of the threads.

        Args:
            wait: seconds to wait for another writer; ``None`` for as many as when the file was opened.

        Returns:
            A context manager. Entering it raises StoreLockedError when another writer does not finish in time, and
            InputError when the thread is inside a block that reads.
        """
        if not self.is_shared or self._writer_lock is None or self.path is None:
            return nullcontext()
        return self._writing_shared(self._writer_lock, self.path, self._wait if wait is None else wait)

    @contextmanager
    def _writing_shared(self, writer_lock: FileLock, path: Path, wait: float) -> Iterator[None]:
        self._require_not_reading()
        with self._change_lock:
            if not self._changes:
                self._let_others_write()
                self._acquire_lock(writer_lock, path, wait)
            self._changes += 1
            self._changing_thread = threading.get_ident()
            try:
                yield
            finally:
                self._changes -= 1
                if not self._changes and self._writer_lock is not None:
                    self._changing_thread = None
                    self._writer_lock.release()
                    self._last_release = time.monotonic()

    def _require_not_reading(self) -> None:
        """Raise when the thread reads and does not write: it must not wait for a writer that waits for it to end."""
        if self.is_read_by_this_thread() and self._changing_thread != threading.get_ident():
            raise InputError(CHANGE_INSIDE_READ)

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
        with _databases_guard:
            _check_unless_open(path)
            self._file = _identity(path.stat())
            _databases.add(self)

    @property
    def file(self) -> tuple[int, int] | None:
        """Device and inode of the open file; ``None`` in RAM, and after closing."""
        return self._file

    def is_open_elsewhere(self, file: tuple[int, int]) -> bool:
        """Return whether this object has a file open in SQLite."""
        return self._connection is not None and self._file == file

    def _note_log(self) -> None:
        """Remember which file the log is: it stays the same for as long as anybody has the memory open."""
        if self.path is not None:
            with suppress(FileNotFoundError):  # a file that is read without locks has none
                self._log = _identity(os.stat(f"{self.path}-wal"))

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
        try:
            self._connection = sqlite3.connect(
                address, uri=uri, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except SQLITE_ERRORS as error:
            raise self._store_error(error) from error
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "foreign_keys = ON"):
            self.execute(f"PRAGMA {pragma}")

    def _configure(self) -> None:
        # the log of an empty file is started in _migrate: its first tables are created in one transaction with its id
        if self.fetch_one("PRAGMA application_id") == (APPLICATION_ID,):
            self._start_log()
        self.execute(f"PRAGMA synchronous = {self._durability.upper()}")
        self.execute("PRAGMA secure_delete = ON")
        self.fetch_one("PRAGMA wal_autocheckpoint = 0")  # the mark must change with every checkpoint

    def _start_log(self) -> None:
        mode = self.fetch_one("PRAGMA journal_mode = WAL")
        if mode not in (("wal",), ("memory",)):
            raise StoreError("SQLite cannot keep a write-ahead log on this file system", path=self.location)

    def _migrate(self) -> None:
        version = self._version()
        for target in range(version + 1, len(MIGRATIONS) + 1):
            if target > 1 and not self._log_is_marked:
                self._mark_log()
            with self.transaction():
                self._log_is_marked = True  # by its change of user_version
                self._run_migration(target)
            if target == 1:
                self._log_is_marked = False
                self._start_log()

    def _run_migration(self, target: int) -> None:
        """Take the tables to a version from the one before it, inside a transaction."""
        assert self._connection is not None
        self._connection.create_function("packed_time", 1, pack_time, deterministic=True)
        if target == 1:
            self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for statement in MIGRATIONS[target - 1].split(";"):
            self.execute(statement)
        self.execute(f"PRAGMA user_version = {_fresh_mark(target) if target >= _MARKED_VERSION else target}")

    def _version(self) -> int:
        version = self._user_version() % (1 << _VERSION_BITS)
        if version > len(MIGRATIONS):
            raise _too_new(version, self.location)
        return version

    def _user_version(self) -> int:
        version: int = self.fetch_one("PRAGMA user_version")[0]
        return version % (1 << 32)

    def _check_tables(self) -> None:
        version = self._version()
        rows = self.fetch_all("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
        if version >= _SAME_TABLES.get(len(MIGRATIONS), len(MIGRATIONS)):
            expected = {("table", name) for name in ("record", "namespace", "current", "change", "vector")}
            expected |= {("index", name) for name in ("current_prefix", "vector_prefix")}
            if set(rows) != expected:
                raise DamagedFileError("the file does not have the tables of a memory", path=self.location)
        elif self.readonly:
            raise _UnfinishedError(
                "written by an older release: open it once for writing to upgrade it", path=self.location
            )

    # -- using ------------------------------------------------------------------------------------------------------

    @property
    def location(self) -> Path | str:
        """The path, or the words "memory in RAM"; for error messages."""
        return self.path or "memory in RAM"

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one SQL statement that returns no rows."""
        if self._connection is None:
            raise ClosedError("the memory was closed: open it again", path=self.location)
        try:
            return self._connection.execute(sql, parameters)
        except SQLITE_ERRORS as error:
            raise self._store_error(error) from error
        except UnicodeDecodeError as error:
            raise DamagedFileError(f"the memory cannot be read: {error}", path=self.location) from error

    def execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one SQL statement that returns no rows for each of some lists of parameters."""
        if self._connection is None:
            raise ClosedError("the memory was closed: open it again", path=self.location)
        try:
            self._connection.executemany(sql, rows)
        except SQLITE_ERRORS as error:
            raise self._store_error(error) from error

    def fetch_all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run one SQL statement and return all its rows."""
        if self._connection is None:
            raise ClosedError("the memory was closed: open it again", path=self.location)
        try:
            # no variable holds the cursor: after an interrupt it would keep a read open for as long as the error lives
            return self._connection.execute(sql, parameters).fetchall()
        except SQLITE_ERRORS as error:
            raise self._store_error(error) from error
        except UnicodeDecodeError as error:  # a text is not what was written; Python's module decodes it unasked
            raise DamagedFileError(f"the memory cannot be read: {error}", path=self.location) from error

    def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Run one SQL statement and return its first row, or ``None`` when there is none."""
        rows = self.fetch_all(sql, parameters)
        return rows[0] if rows else None

    def begin_use(self) -> None:
        """Prepare for a use of the file by whoever has just taken the lock.

        What an interrupt left open is rolled back, and the path must still lead to the open file.

        Raises:
            ClosedError: the file was closed.
            StoreError: the file or its log was replaced or removed.
            DamagedFileError: the file was cut short.
        """
        if self._connection is None:
            raise ClosedError("the memory was closed: open it again", path=self.location)
        if self.running_transaction() is not None:
            return
        self.roll_back()
        self.transaction_reference = None
        self._set_patience(True)
        self._require_file()
        if self._log_holds_failed_commit and self.is_writing:
            self._overwrite_failed_commit()
        if self.path is not None:
            self._follow_without_locks(self.path)

    def running_transaction(self) -> StoreTransaction | None:
        is_open = self._connection is not None and self._connection.in_transaction
        return super().running_transaction() if is_open else None

    def _require_file(self) -> None:
        """Raise when the path does not lead to the open file: SQLite would write where nobody finds it any more."""
        if self.path is None:
            return
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise StoreError(
                f"the file was removed while it was open ({error.strerror or error}); {_OPEN_AGAIN}", path=self.path
            ) from error
        if _identity(status) != self._file:
            raise StoreError(f"the file was replaced by another while it was open; {_OPEN_AGAIN}", path=self.path)
        if status.st_size < self._size:
            raise DamagedFileError(f"the file was cut short while it was open; {_OPEN_AGAIN}", path=self.path)
        self._size = 0 if self.readonly or self.is_shared else status.st_size  # another may make it smaller
        if self._log is not None:
            try:
                log = os.stat(f"{self.path}-wal")
            except OSError as error:
                raise StoreError(
                    f"its log {self.path.name}-wal was removed while the memory was open"
                    f" ({error.strerror or error}), and the last changes with it; {_OPEN_AGAIN}",
                    path=self.path,
                ) from error
            if log.st_size < self._log_bytes:
                self._log_is_marked = False  # another program has emptied it
            self._log_bytes = log.st_size
            if _identity(log) != self._log:
                raise StoreError(
                    f"its log {self.path.name}-wal was replaced by another while the memory was open; {_OPEN_AGAIN}",
                    path=self.path,
                )

    def transaction(self) -> Transaction:
        """Return a transaction that applies all changes of its block or none. Hold the lock while using it."""
        self.require_writable()
        return Transaction(self, writes=True)

    def read_transaction(self) -> Transaction:
        """Return a transaction in which all reads see the same state of the file. Hold the lock while using it."""
        return Transaction(self, writes=False)

    def commit(self) -> None:
        """End the open transaction with its changes."""
        if not self._log_is_marked:
            self.execute(f"PRAGMA user_version = {self._user_version()}")
        try:
            self.execute("COMMIT")
        except StoreError as error:
            self.roll_back()
            if self.path is not None and _size_of(f"{self.path}-wal"):
                self._log_holds_failed_commit = True
                self._overwrite_failed_commit()
            if self._log_holds_failed_commit:
                raise StoreError(
                    f"SQLite cannot write the file: {error.__cause__}; is the disk full? Nothing of this change is"
                    " kept, unless the program or the machine fails before the memory is used again; every earlier"
                    " change is safe",
                    path=self.location,
                ) from error
            raise
        self._log_is_marked = True

    def _overwrite_failed_commit(self) -> None:
        """Overwrite what a failed commit may have left in the log, as a later change would.

        That can be all of the change, for instance when only the synchronisation failed. SQLite does not see it, but
        whoever opened the file after a crash would.
        """
        try:
            self.execute("BEGIN IMMEDIATE")
            self.execute(f"PRAGMA user_version = {self._user_version()}")
            self.execute("COMMIT")
            self._log_holds_failed_commit = False
        except StoreError:  # the next use tries again
            self.roll_back()

    def _mark_log(self, mark: int | None = None) -> None:
        """Write the first page into the log, with a new mark or with that which it has."""
        with self.transaction():
            self._log_is_marked = True
            self.execute(f"PRAGMA user_version = {self._user_version() if mark is None else mark}")

    def renew_mark(self) -> None:
        """Give the file a new mark, before the first change of this process, so that older copies differ from it."""
        if not self._is_renewed and self.path is not None and not self.readonly:
            self._log_is_marked = False
            self.truncate_log(wait=False, even_if_empty=True)
            self._is_renewed = True

    def roll_back(self) -> None:
        # some errors (a full disk) end the transaction by themselves; an error here must not hide the first one
        if self._connection is not None and self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def data_version(self) -> int:
        """Return a number that changes when another connection has changed the file."""
        version: int = self.fetch_one("PRAGMA data_version")[0]
        return self._reconnections << 40 | version

    def truncate_log(self, *, wait: bool = True, even_if_empty: bool = False) -> bool:
        """Move the log into the file and empty it.

        Args:
            wait: give readers in the middle of a read some seconds to finish.
            even_if_empty: do so although the log is empty, for a new mark.

        Returns:
            Whether the log was emptied; a reader can prevent it.
        """
        if self.path is None:
            return True
        version = self._version()
        if version >= _MARKED_VERSION and (even_if_empty or _size_of(f"{self.path}-wal") != 0):
            if not self._log_is_marked:
                self._mark_log()
            self._mark_log(_fresh_mark(version))
        self._set_patience(wait)
        try:
            self._log_is_marked = False
            busy, *_ = self.fetch_one("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreLockedError:
            busy = True  # this connection itself is reading: an interrupt may have left rows of it
        finally:
            self._set_patience(True)
        if not busy:
            self._log_holds_forgotten = False
            self._longest_log = _LOG_BYTES
        # this process may just have made the files smaller
        self._size, self._log_bytes = _size_of(self.path) or 0, 0
        return not busy

    def _set_patience(self, waits: bool) -> None:
        """Set whether SQLite waits for others."""
        if waits != self._waits:
            self._waits = False  # if this is interrupted, the next use sets it again
            self.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000) if waits else 0}")
            self._waits = waits

    def expect_forgotten(self) -> None:
        """Note that the log is about to hold something that is forgotten."""
        self._log_holds_forgotten = True

    def purge_log(self, *, wait: bool) -> None:
        """Empty the log if it is long or holds something forgotten.

        When a reader prevents the latter, a thread goes on trying until it is done or the file is closed, and this
        warns.

        Args:
            wait: give readers in the middle of a read some seconds to finish.
        """
        if self._log_holds_forgotten:
            if not self.truncate_log(wait=wait) and self._eraser is None:
                self._eraser = threading.Thread(target=_erase, args=(weakref.ref(self), self._closed), daemon=True)
                self._eraser.start()
                warnings.warn(
                    f"a reader of {self.location} is in the middle of a read, so the text of what was forgotten is"
                    " still in the log of the file; it is removed as soon as the reader has finished",
                    stacklevel=2,
                )
        elif self._log_bytes > self._longest_log:
            self._longest_log = self._log_bytes + _LOG_BYTES  # should a reader prevent it
            self.truncate_log(wait=False)

    def erase(self) -> bool:
        """Try once more to empty a log that holds something forgotten; return whether nothing is left to do."""
        with self.writing(), self.lock:
            is_done = self._connection is None or not self._log_holds_forgotten or self.truncate_log(wait=False)
            if is_done:
                self._eraser = None
            return is_done

    def overwritten_rows(self) -> tuple[int, int]:
        """Return the number of overwritten rows of episodes and vectors, and the number of all their rows."""
        overwritten, rows = self.fetch_one(
            "SELECT (SELECT COUNT(*) FROM current WHERE prefix = zeroblob(2) AND id = zeroblob(16))"
            " + (SELECT COUNT(*) FROM vector WHERE prefix = zeroblob(2) AND text = zeroblob(16)),"
            " (SELECT COUNT(*) FROM current) + (SELECT COUNT(*) FROM vector)"
        )
        return overwritten, rows

    def rewrite_tables(self) -> None:
        """Reclaim the space of overwritten rows, inside a transaction.

        SQLite overwrites the pages of a dropped table completely, so nothing of the old rows is left.
        """
        self.execute(f"CREATE TABLE fresh {_RECORD_COLUMNS}")
        self.execute(
            "INSERT INTO fresh SELECT record.* FROM record JOIN current ON current.record = record.number"
            " WHERE id != zeroblob(16) ORDER BY record.number"
        )
        self._replace_table("record")
        self.execute(f"CREATE TABLE fresh {_CURRENT_COLUMNS}")
        self.execute("INSERT INTO fresh SELECT * FROM current WHERE id != zeroblob(16) ORDER BY record")
        self._replace_table("current")
        self.execute(_CURRENT_INDEX)
        self.rewrite_vectors()

    def rewrite_vectors(self) -> None:
        """Do for vectors what :meth:`rewrite_tables` does for everything."""
        self.execute(f"CREATE TABLE fresh {_VECTOR_COLUMNS}")
        self.execute("INSERT INTO fresh SELECT * FROM vector WHERE text != zeroblob(16) ORDER BY number")
        self._replace_table("vector")
        self.execute(_VECTOR_INDEX)

    def _replace_table(self, name: str) -> None:
        self.execute(f"DROP TABLE {name}")
        self.execute(f"ALTER TABLE fresh RENAME TO {name}")

    def return_pages(self) -> None:
        """Make the file smaller when most of it is free. Hold the lock, outside of a transaction."""
        free, pages = self.fetch_one("PRAGMA freelist_count")[0], self.fetch_one("PRAGMA page_count")[0]
        if self.path is not None and free > max(_VACUUM_PAGES, pages // 2):
            self.execute("VACUUM")

    def _store_error(self, error: Exception) -> StoreError:
        fault = fault_of(error)
        if fault is SQLiteFault.DAMAGED:
            return DamagedFileError(f"the memory cannot be read: {error}", path=self.location)
        if fault is SQLiteFault.LOCKED:
            return StoreLockedError(f"another program holds the file: {error}", path=self.location)
        if fault is SQLiteFault.WRITE_FAILED:
            running = self.transaction_reference and self.transaction_reference()
            kept = "Nothing of this change was kept; every" if running and running.writes else "Every"
            return StoreError(
                f"SQLite cannot write the file: {error}; is the disk full? {kept} earlier change is safe",
                path=self.location,
            )
        return StoreError(f"SQLite cannot read or write the file: {error}", path=self.location)

    # -- closing ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Empty the log and release the file and the lock. May be called again."""
        self._closed.set()
        try:
            if self._connection is not None and self.is_writing:
                self.truncate_log(wait=not self.is_shared)
        finally:
            self._release()

    def _release(self) -> None:
        self._disconnect()
        self._file = None
        if self._writer_lock is not None:
            self._writer_lock.release()
            self._writer_lock = None

    def _disconnect(self) -> None:
        # an interrupt must not leave a closed connection behind; one that is dropped is closed
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class _UnfinishedError(StoreError):
    """The file is no memory of this release yet. A writer may be about to make it one."""


def _erase(database: weakref.ref[Database], closed: threading.Event) -> None:
    """Empty the log of a database as soon as no reader prevents it."""
    while not closed.wait(_ERASE_SECONDS):
        one = database()
        if one is None:
            return
        with suppress(StoreError):  # another process writes, or the disk fails: tried again
            if one.erase():
                return
        del one


def _is_locked(path: Path) -> bool:
    """Return whether some process, or another object of this one, holds the writer lock of a memory."""
    lock_file = path.with_name(path.name + "-lock")
    if not lock_file.exists():
        return False
    try:
        with FileLock(lock_file, thread_local=False).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # in a folder, or a file, that cannot be written
        return False


def _uri(path: Path, parameters: str) -> str:
    return f"file:{quote(os.fsencode(path))}?{parameters}"


def _size_of(path: Path | str) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:  # removed: that is found at the next use
        return None


def _state_of(path: Path) -> tuple[int, int]:
    """Return what changes when a file is written: its size and its time."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def check_file(path: Path) -> None:
    """Raise unless a file can be opened as a memory; see :func:`_check_unless_open`.

    Args:
        path: the file; it is not changed.
    """
    with _databases_guard:
        _check_unless_open(path)


def _check_unless_open(path: Path) -> None:
    """Raise unless a file can be opened as a memory. An absent file, or an empty one, may become one.

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
    if not status.st_size or any(database.file == _identity(status) for database in _databases):
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
    version = int.from_bytes(header[60:64], "big") % (1 << _VERSION_BITS)
    if version > len(MIGRATIONS):
        raise _too_new(version, path)


def _too_new(version: int, location: Path | str) -> FileVersionError:
    return FileVersionError(
        f"written by a newer release of worldthread (file version {version}, this release knows up to "
        f"{len(MIGRATIONS)}): upgrade worldthread",
        path=location,
    )


def _sidecars(path: Path) -> list[Path]:
    """Return what lies beside a file that was opened as a memory."""
    return [found for ending in _SIDECARS if (found := path.with_name(path.name + ending)).exists()]


def _emptied(path: Path) -> DamagedFileError:
    names = ", ".join(sidecar.name for sidecar in _sidecars(path))
    return DamagedFileError(
        f"the file is empty, but what lies beside it ({names}) says that it was opened as a memory. Put a backup in its"
        " place with `worldthread restore`; or, to begin a new memory here, remove these files",
        path=path,
    )


def pack_time(at: float) -> bytes:
    """Return a time as bytes that always have the same length, so that they can be overwritten in place."""
    return struct.pack(">d", at)


def unpack_time(packed: bytes) -> float:
    """Return the time that :func:`pack_time` packed."""
    at: float = struct.unpack(">d", packed)[0]
    return at


# -- marks ----------------------------------------------------------------------------------------------------------


def give_fresh_mark(file: int) -> None:
    """Give a copy of a memory a mark of its own, so that no log of the original is taken for one of the copy.

    Args:
        file: descriptor of the copy, which is open for reading and writing, and has no log.
    """
    version = int.from_bytes(os.pread(file, 4, _USER_VERSION_OFFSET), "big") % (1 << _VERSION_BITS)
    if version >= _MARKED_VERSION:
        os.pwrite(file, _fresh_mark(version).to_bytes(4, "big"), _USER_VERSION_OFFSET)


def _fresh_mark(version: int) -> int:
    """Return a ``user_version`` with a random mark."""
    return secrets.randbits(31 - _VERSION_BITS) << _VERSION_BITS | version


def check_log(path: Path) -> None:
    """Raise unless the log beside a file, if there is one, belongs to the file.

    Args:
        path: the file; neither it nor the log is changed.

    Raises:
        StoreError: the log belongs to another file.
    """
    log = path.with_name(path.name + "-wal")
    for _ in range(_LOG_LOOKS):
        # a writer at work changes both, but never so that they do not fit at one moment
        before = _mark_of(path)
        marks = _marks_of_log(log)
        if marks is None or before in marks or before is _UNKNOWN:
            return
        if _mark_of(path) == before and _marks_of_log(log) == marks:
            raise StoreError(
                f"the log {log.name} does not belong to this file: the file was replaced or removed after a program"
                " that wrote to it was killed. Nothing was changed. Either put back the file that the log belongs to;"
                " or, to keep a backup and drop the log, put it in place with `worldthread restore`",
                path=path,
            )


def _warn_of_damaged_log(path: Path) -> None:
    """Warn if the log beside a file, which nobody writes just now, was damaged before its end: SQLite says nothing."""
    log = path.with_name(f"{path.name}-wal")
    with suppress(FileNotFoundError):
        if log.stat().st_size and is_damaged_inside(log):
            warnings.warn(
                f"the log {log.name} is damaged, and cannot be read to its end: the last changes of {path} may be"
                " lost. To save what another program can still read in it, copy both files before anything is written",
                stacklevel=2,
            )


_UNKNOWN: Final = -1
_LOG_LOOKS: Final = 20


def _mark_of(path: Path) -> int | None:
    """Return the ``user_version`` in the header of a file; ``None`` when there is no file or nothing in it."""
    with _databases_guard:
        try:
            status = path.stat()
            if any(database.is_open_elsewhere(_identity(status)) for database in _databases):
                return _UNKNOWN
            with path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except FileNotFoundError:
            return None
        except OSError:
            return _UNKNOWN
    return int.from_bytes(header[60:64], "big") if len(header) == _HEADER_BYTES else None


def _marks_of_log(log: Path) -> set[int] | None:
    """Return every ``user_version`` that a log gives the file; ``None`` when that says nothing.

    The log is a header of 32 bytes and frames: a header of 24 bytes (number of the page; size of the file in pages if
    the frame ends a transaction, else 0; the two salts of the log; checksums) and the page.
    """
    marks = set()
    is_committed = False
    try:
        with log.open("rb") as file:
            header = file.read(32)
            if len(header) < 32 or int.from_bytes(header[:4], "big") not in (0x377F0682, 0x377F0683):
                return None
            page_bytes = int.from_bytes(header[8:12], "big")
            place = 32
            while len(frame := file.read(24 + _HEADER_BYTES)) == 24 + _HEADER_BYTES and frame[8:16] == header[16:24]:
                if frame[:4] == b"\0\0\0\1":
                    marks.add(int.from_bytes(frame[84:88], "big"))
                is_committed |= frame[4:8] != b"\0\0\0\0"
                place += 24 + page_bytes
                file.seek(place)
    except OSError:
        return None
    # a log of an older release, or of another program, need not write the first page
    return marks if is_committed and any(mark >> _VERSION_BITS for mark in marks) else None

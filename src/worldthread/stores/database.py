"""One open SQLite file: whose it is, who may write, transactions, and errors in plain words.

Files beside the memory: ``-wal`` and ``-shm`` (SQLite's write-ahead log), ``-lock`` (empty; held by the writer),
``-snapshot/`` (:mod:`worldthread.stores.snapshots`).
"""

from __future__ import annotations

import math
import os
import sqlite3
import stat
import threading
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
from worldthread.stores.base import Durability

APPLICATION_ID: Final = 0x77746872
"""At byte 68 of every file of ours: "wthr"."""

_RECORD_COLUMNS: Final = "(number INTEGER PRIMARY KEY, digest BLOB NOT NULL, content BLOB NOT NULL)"

MIGRATIONS: list[str] = [
    # record is append-only: a row is never deleted or resized, and what is forgotten is overwritten with as many zeros.
    # SQLite's secure_delete alone leaves copies of moved rows in the gaps of pages; rows that are only appended and
    # overwritten are never moved.
    # current holds the episodes that a namespace has, and where they are in the record.
    # change says which episode each change was about: what it is like now is in the other tables.
    # vector.text is the digest of a text.
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

_DAMAGE: Final = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        # our statements are constant: what they meet when a table is missing or a constraint fails is damage
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        None,
    }
)
_FAILED_WRITES: Final = frozenset(
    {
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
    }
)
_LOST: Final = "nothing of this change was kept: close the memory, put the file back, and open it again"
_LOCKED: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})

# Closing any handle of a file drops every POSIX lock that the process holds on it, SQLite's too; SQLite knows of its
# own handles only. So a file that is open here must not be opened here with open(): its header is not read again.
_open_files: Counter[tuple[int, int]] = Counter()
_open_files_guard = threading.Lock()


class Database:
    """A connection to the file at ``path``, or to a database in RAM, with one lock for all threads.

    Args:
        path: the file; made when it does not exist and may be written. ``None`` for RAM.
        readonly: never write. Any number of readers may stand beside one writer.
        durability: see :data:`~worldthread.stores.base.Durability`.
        wait: seconds to wait for another writer; ``math.inf`` for as long as it takes.

    Raises:
        InputError: an argument cannot be used.
        ForeignFileError, DamagedFileError, FileVersionError: the file was not touched.
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
        """How many stores share this connection."""
        self._durability = durability
        self._writer_lock: FileLock | None = None
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
            raise StoreError(f"cannot be opened: {error.strerror or error}", path=self.place) from error
        except BaseException:
            self._release()
            raise

    # -- opening ----------------------------------------------------------------------------------------------------

    def _open_for_reading(self, path: Path) -> None:
        if not path.exists():
            raise StoreError("there is no memory here to read", path=path)
        self._claim(path)
        if path.stat().st_size == 0:
            raise StoreError("the file is empty: open it once for writing to make it a memory", path=path)
        # two ways in: a reader takes part in SQLite's locking, for which it needs files beside the memory; where the
        # folder cannot be written and no log waits there, nobody writes, and the file can be read as it lies
        try:
            if self._is_at_rest(path):
                self._probe(path)
            self._connect(_uri(path, "mode=ro"))
            self._check_tables()
        except StoreError as error:
            cause = error.__cause__
            if not (isinstance(cause, sqlite3.Error) and _code(cause) in _NEEDS_FOLDER and self._is_complete(path)):
                raise
            self._disconnect()
            self._connect(_uri(path, "mode=ro&immutable=1"))
            self._check_tables()

    def _open_for_writing(self, path: Path, wait: float) -> None:
        # before anything is written: a file that is not ours must not even get a lock beside it
        _inspect(path)
        if path.exists() and not os.access(path, os.W_OK):
            raise StoreError("the file may not be written: pass readonly=True, or change its permissions", path=path)
        lock_file = path.with_name(path.name + "-lock")
        is_new = not lock_file.exists()
        self._acquire(path, lock_file, wait)
        try:
            if not path.exists():
                path.touch()
            self._claim(path)
            if path.stat().st_size and self._is_at_rest(path):
                self._probe(path)
            self._connect(_uri(path, "mode=rw"))
            self._configure()
            self._migrate()
            self._check_tables()
            # what a process that was killed left in the log, forgotten text included
            self.truncate_log()
        except (ForeignFileError, DamagedFileError, FileVersionError):
            self._disconnect()
            if is_new:
                lock_file.unlink(missing_ok=True)
            raise

    def _acquire(self, path: Path, lock_file: Path, wait: float) -> None:
        lock = FileLock(lock_file, timeout=-1 if wait == math.inf else wait, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise StoreLockedError(
                "another process, or another memory object of this one, is writing: close it, wait for it "
                "(wait=SECONDS in Python, --wait SECONDS on the command line), or read beside it (readonly=True)",
                path=path,
            ) from None
        except OSError as error:
            raise StoreError(f"the lock {lock_file} cannot be made: {error.strerror or error}", path=path) from error
        self._writer_lock = lock

    def _claim(self, path: Path) -> None:
        """Look at the header, and remember that the file is open in this process."""
        with _open_files_guard:
            _inspect_unless_open(path)
            status = path.stat()
            self._file = (status.st_dev, status.st_ino)
            _open_files[self._file] += 1

    @staticmethod
    def _is_at_rest(path: Path) -> bool:
        """Whether nobody has the file open, and nothing waits beside it to be moved into it."""
        return not any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))

    @staticmethod
    def _is_complete(path: Path) -> bool:
        """Whether nothing waits beside the file to be moved into it (an empty log may be left by a reader)."""
        sidecars = (path.with_name(path.name + ending) for ending in ("-wal", "-journal"))
        return not any(sidecar.exists() and sidecar.stat().st_size for sidecar in sidecars)

    def _probe(self, path: Path) -> None:
        """Look inside without a trace: such a connection makes no file and takes no lock."""
        self._connect(_uri(path, "mode=ro&immutable=1"))
        try:
            self._check_tables()
            pages, page_bytes = self.one("PRAGMA page_count")[0], self.one("PRAGMA page_size")[0]
            if path.stat().st_size < pages * page_bytes:
                raise DamagedFileError("the end of the file is missing", path=path)
        except DamagedFileError:
            if self._is_at_rest(path):
                raise  # else somebody wrote while we looked: the real connection will tell
        self._disconnect()

    def _connect(self, address: str, *, uri: bool = True) -> None:
        with self.translated():
            self._connection = sqlite3.connect(
                address, uri=uri, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "foreign_keys = ON"):
                self._connection.execute(f"PRAGMA {pragma}")

    def _configure(self) -> None:
        # an empty file becomes ours in one transaction with its first tables (see _migrate), so the log comes later
        if self.one("PRAGMA application_id") == (APPLICATION_ID,):
            self._start_log()
        self.execute(f"PRAGMA synchronous = {self._durability.upper()}")
        self.execute("PRAGMA secure_delete = ON")

    def _start_log(self) -> None:
        mode = self.one("PRAGMA journal_mode = WAL")
        if mode not in (("wal",), ("memory",)):
            raise StoreError("SQLite cannot keep a write-ahead log on this file system", path=self.place)

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
        version: int = self.one("PRAGMA user_version")[0]
        if version > len(MIGRATIONS):
            raise _too_new(version, self.place)
        return version

    def _check_tables(self) -> None:
        version = self._version()
        rows = self.all("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
        if version == len(MIGRATIONS):
            expected = {("table", name) for name in ("record", "namespace", "current", "change", "vector")}
            if set(rows) != expected:
                raise DamagedFileError("the tables of a memory are not there, or others are", path=self.place)
        elif self.readonly:
            raise StoreError("written by an older release: open it once for writing to bring it up", path=self.place)

    # -- using ------------------------------------------------------------------------------------------------------

    @property
    def place(self) -> Path | str:
        """The path, or words for RAM; for errors."""
        return self.path or "memory in RAM"

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        if self._connection is None:
            raise ClosedError("the memory was closed: open it again", path=self.place)
        with self.translated():
            return self._connection.execute(sql, parameters)

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows."""
        cursor = self.execute(sql, parameters)
        with self.translated():
            return cursor.fetchall()

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first row; ``None`` without one."""
        cursor = self.execute(sql, parameters)
        with self.translated():
            return cursor.fetchone()

    def require_writable(self) -> None:
        """Raise ReadOnlyError when the file was opened for reading only."""
        if self.readonly:
            raise ReadOnlyError("the memory was opened for reading only (readonly=True)", path=self.place)

    def _require_file(self) -> None:
        """Raise when the path leads to another file, or to none: SQLite would write where nobody finds it any more."""
        if self.path is None:
            return
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise StoreError(
                f"the file cannot be found any more ({error.strerror or error}); {_LOST}", path=self.path
            ) from error
        if (status.st_dev, status.st_ino) != self._file:
            raise StoreError(f"the file was replaced while it was open; {_LOST}", path=self.path)
        if status.st_size < self._size:
            raise DamagedFileError(f"the file was cut short while it was open; {_LOST}", path=self.path)
        self._size = status.st_size

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block or nothing. To be used with the lock held."""
        self.require_writable()
        if self._is_in_transaction():
            raise InputError(
                "the memory cannot be changed inside a block that reads it, or by the iterable that feeds it"
            )
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

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """All reads of the block see the file as at one moment. To be used with the lock held."""
        if self._is_in_transaction():
            yield
            return
        try:
            self.execute("BEGIN")
            yield
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        # some errors (a full disk) have ended the transaction already, and others must not hide what led here
        if self._connection is not None and self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _is_in_transaction(self) -> bool:
        return self._connection is not None and self._connection.in_transaction

    def data_version(self) -> int:
        """Changes when another connection has changed the file."""
        version: int = self.one("PRAGMA data_version")[0]
        return version

    def truncate_log(self, *, patiently: bool = True) -> bool:
        """Move the log into the file and empty it: whether nothing stood in the way (a reader can)."""
        if self.path is None:
            return True
        if not patiently:
            self.execute("PRAGMA busy_timeout = 0")
        try:
            busy, *_ = self.one("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")
        return not busy

    def blank_rows(self) -> tuple[int, int]:
        """How many rows of the record are overwritten, of how many."""
        rows, used = self.one("SELECT (SELECT COUNT(*) FROM record), (SELECT COUNT(*) FROM current)")
        return rows - used, rows

    def rewrite_record(self) -> None:
        """Give back the space of overwritten rows. Part of a transaction.

        The pages of a dropped table are overwritten whole, so nothing of the old rows is left.
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
        """Turn SQLite's errors into ours."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._in_plain_words(error) from error

    def _in_plain_words(self, error: sqlite3.Error) -> StoreError:
        code = _code(error)
        if code in _DAMAGE:
            return DamagedFileError(f"the memory cannot be read: {error}", path=self.place)
        if code in _LOCKED:
            return StoreLockedError(f"another program holds the file: {error}", path=self.place)
        if code == sqlite3.SQLITE_FULL or getattr(error, "sqlite_errorcode", None) in _FAILED_WRITES:
            kept = "Nothing of this change was kept; what" if self._is_changing else "What"
            return StoreError(
                f"SQLite cannot write it: {error}; is the disk full? {kept} was acknowledged before is safe",
                path=self.place,
            )
        return StoreError(f"SQLite cannot read or write it: {error}", path=self.place)

    # -- closing ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Empty the log and release the file and the lock. May be called again."""
        try:
            if self._connection is not None and not self.readonly:
                self.truncate_log()
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


_NEEDS_FOLDER: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


def _code(error: sqlite3.Error) -> int | None:
    """SQLite's primary result code; ``None`` when the error comes from Python's module (text that is not UTF-8)."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _uri(path: Path, parameters: str) -> str:
    return f"file:{quote(os.fsencode(path))}?{parameters}"


def _inspect(path: Path) -> None:
    with _open_files_guard:
        _inspect_unless_open(path)


def _inspect_unless_open(path: Path) -> None:
    """Whose file is it? Nothing is changed; an absent or empty file may become ours.

    Raises:
        ForeignFileError, DamagedFileError, StoreError: it cannot be used.
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
    _judge(header, path)


def _judge(header: bytes, path: Path) -> None:
    ours = int.from_bytes(header[68:72], "big") == APPLICATION_ID
    if len(header) < _HEADER_BYTES and _MAGIC.startswith(header[: len(_MAGIC)]):
        raise DamagedFileError(f"only {len(header)} bytes are left of the file", path=path)
    if not header.startswith(_MAGIC):
        if ours:
            raise DamagedFileError("the beginning of the file is overwritten", path=path)
        raise ForeignFileError("is not a memory of worldthread; it was left as it is", path=path)
    if not ours:
        raise ForeignFileError("is an SQLite database of another program; it was left as it is", path=path)
    version = int.from_bytes(header[60:64], "big")
    if version > len(MIGRATIONS):
        raise _too_new(version, path)


def _too_new(version: int, place: Path | str) -> FileVersionError:
    return FileVersionError(
        f"written by a newer release of worldthread (file version {version}, this release knows up to "
        f"{len(MIGRATIONS)}): upgrade worldthread",
        path=place,
    )

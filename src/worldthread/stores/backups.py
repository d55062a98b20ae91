"""Backup and restore of a whole memory file, with all its namespaces.

A copy of the file that is made beside a process that writes lacks the last changes, or mixes two moments. A copy that
is put back beside the log of another state is read together with that log. :func:`backup` copies through SQLite, which
gives the state of one moment; :func:`restore` merges the old log into the old file and removes it before the new file
takes its place.

Both write a file named ``.<name>.<random>.part`` beside the final one, check it, and rename it. A process that is
killed leaves that file; the next backup or restore of the same name removes it.
"""

from __future__ import annotations

import fcntl
import hashlib
import math
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from filelock import FileLock, Timeout

from worldthread.errors import DamagedFileError, InputError, StoreError, StoreLockedError
from worldthread.files.paths import make_private_folder
from worldthread.files.sqlite_errors import SQLITE_ERRORS, SQLiteFault, fault_of
from worldthread.stores.codec import decode_episode
from worldthread.stores.database import check_file, check_log, give_fresh_mark
from worldthread.support.arguments import require_path
from worldthread.support.progress import Progress, show_progress

_PAGES: Final = 2048  # copied at a time
_ROWS: Final = 256  # checked at a time
_BUSY_SECONDS: Final = 5.0
_NOT_FORGOTTEN: Final = "current.id != zeroblob(16)"
_SIDECARS: Final = ("-wal", "-shm", "-journal")


class BackupCounts(NamedTuple):
    """What a backup holds.

    Args:
        namespaces: number of its namespaces.
        episodes: number of episodes in all of them.
        size: of the file, in bytes.
    """

    namespaces: int
    episodes: int
    size: int


def backup(
    path: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: bool | Progress | None = False,
) -> BackupCounts:
    """Copy a memory as it is at one moment, also while other processes read and write it.

    The copy is checked completely before it gets its name. It is readable by its owner only, as are folders that are
    made for it.

    Args:
        path: the file of the memory.
        destination: the file to write.
        force: replace an existing file.
        progress: see :func:`~worldthread.support.progress.show_progress`; counts bytes.

    Returns:
        What the copy holds.

    Raises:
        InputError: ``destination`` exists and ``force`` is false, or it is in use or belongs to the memory itself.
        DamagedFileError: the memory is damaged; nothing was written.
        StoreError: the memory cannot be read, or the copy cannot be written.
    """
    source = Path(os.path.realpath(require_path(path, "the memory to back up")))
    target = Path(os.path.realpath(require_path(destination, "the destination of a backup")))
    _require_apart(source, target)
    if target.exists() and not force:
        raise InputError(f"{target} exists: choose another name, or replace it (force=True, --force)")
    if any(Path(f"{target}{ending}").exists() for ending in _SIDECARS):
        raise InputError(f"{target} is a memory in use: choose another name, or use worldthread restore to replace it")
    _require_memory(source)
    _make_folder_of(target)
    with _checked_copy(source, target, progress) as (part, counts):
        if force:
            part.replace(target)
        else:
            _rename_to_new(part, target)
        _sync_folder(target.parent)
    return counts


def restore(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    wait: float = 0.0,
    progress: bool | Progress | None = False,
) -> BackupCounts:
    """Put a backup in the place of a memory.

    The backup is checked completely before anything is touched. If the process is killed, the memory is the old one or
    the new one, never a mixture. A process that reads the old file gets an error that says that it was replaced.

    Args:
        source: a file that :func:`backup` wrote, or another memory.
        path: the file of the memory; it need not exist.
        force: replace an existing file.
        wait: seconds to wait for a process that has the memory open for writing; ``math.inf`` for as long as it takes.
        progress: see :func:`~worldthread.support.progress.show_progress`; counts bytes.

    Returns:
        What the memory holds now.

    Raises:
        InputError: ``path`` exists and ``force`` is false, or both are the same file.
        ForeignFileError: one of the files is not a memory; nothing was changed.
        DamagedFileError: the backup is damaged; nothing was changed.
        StoreLockedError: another process has the memory open for writing, or is in the middle of a read.
        StoreError: a file cannot be read or written; the memory is the old one.
    """
    origin = Path(os.path.realpath(require_path(source, "the backup to restore")))
    target = Path(os.path.realpath(require_path(path, "the memory to restore")))
    _require_apart(origin, target)
    if target.exists() and not force:
        raise InputError(f"{target} exists: give force=True, or --force, to replace it by the backup")
    _require_memory(origin)
    _make_folder_of(target)
    with suppress(DamagedFileError):  # which is a reason to restore
        check_file(target)
    with _writer_lock(target, wait), _checked_copy(origin, target, progress) as (part, counts):
        _settle(target)
        try:
            shutil.rmtree(f"{target}-snapshot", ignore_errors=True)
            for ending in _SIDECARS:
                Path(f"{target}{ending}").unlink(missing_ok=True)
            # after a loss of power, the old log must not lie beside the new file
            _sync_folder(target.parent)
            if target.exists():
                part.chmod(target.stat().st_mode & 0o777)
            part.replace(target)
            _sync_folder(target.parent)
        except OSError as error:
            raise StoreError(f"cannot be replaced: {error.strerror or error}", path=target) from error
    return counts


def _require_apart(source: Path, target: Path) -> None:
    belonging = [source, *(Path(f"{source}{ending}") for ending in (*_SIDECARS, "-lock", "-snapshot"))]
    if target in belonging or (target.exists() and source.exists() and target.samefile(source)):
        raise InputError(f"{target} belongs to the memory that is copied: choose another file")
    if target.is_dir():
        raise InputError(f"{target} is a folder: give the name of a file")


def _make_folder_of(path: Path) -> None:
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise StoreError(f"its folder cannot be made: {error.strerror or error}", path=path) from error


def _require_memory(path: Path) -> None:
    if not path.exists() or not path.stat().st_size:
        raise StoreError("there is no memory here", path=path)
    check_file(path)


@contextmanager
def _writer_lock(path: Path, wait: float) -> Iterator[None]:
    """Hold the lock that the writer of a memory holds."""
    lock = FileLock(f"{path}-lock", timeout=-1 if wait == math.inf else wait, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise StoreLockedError(
            "nothing was changed, because a process has the memory open for writing: close it first, or wait for it "
            "(wait=SECONDS in Python, --wait SECONDS on the command line)",
            path=path,
        ) from None
    except OSError as error:
        raise StoreError(f"its lock cannot be created: {error.strerror or error}", path=path) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _checked_copy(source: Path, target: Path, progress: bool | Progress | None) -> Iterator[tuple[Path, BackupCounts]]:
    """Yield a complete and checked copy of a memory beside ``target``. It is removed unless the block renames it."""
    _remove_old_parts(target)
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"the copy cannot be written: {error.strerror or error}", path=target) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)  # says that somebody is writing it
        with _translated(source):
            size = _copy(source, part, progress)
            give_fresh_mark(file)
            namespaces, episodes = _check(part, source)
        os.fsync(file)
        yield part, BackupCounts(namespaces, episodes, size)
    except OSError as error:
        raise StoreError(f"the copy cannot be written: {error.strerror or error}", path=target) from error
    finally:
        part.unlink(missing_ok=True)
        os.close(file)


def _remove_old_parts(target: Path) -> None:
    """Remove the files that killed processes left."""
    for part in target.parent.glob(f".{_escaped(target.name)}.{'[0-9a-f]' * 16}.part"):
        with suppress(OSError):
            file = os.open(part, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
            finally:
                os.close(file)


def _escaped(name: str) -> str:
    """Return a pattern that only ``name`` matches."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _copy(source: Path, part: Path, progress: bool | Progress | None) -> int:
    """Copy all pages of a database at one moment; return their size in bytes."""
    before = _state_at_rest(source)
    if before is not None:
        # immutable: SQLite makes no file beside a backup
        size = _copy_pages(source, "mode=ro&immutable=1", part, progress)
        if _state_at_rest(source) == before:
            return size
    return _copy_pages(source, "mode=ro", part, progress)


def _state_at_rest(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written; ``None`` when somebody may have it open, or was killed."""
    if any(Path(f"{path}{ending}").exists() for ending in _SIDECARS):
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _copy_pages(source: Path, parameters: str, part: Path, progress: bool | Progress | None) -> int:
    with closing(_connected(source, parameters)) as origin, closing(_connected(part, "mode=rw")) as copy:
        # the copy is synchronised once, at its end
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):
            copy.execute(f"PRAGMA {pragma}")
        # a transaction around all steps: otherwise each write of another process makes the copy begin again
        origin.execute("BEGIN")
        origin.execute("SELECT COUNT(*) FROM namespace").fetchone()
        page_size = int(origin.execute("PRAGMA page_size").fetchone()[0])
        pages = int(origin.execute("PRAGMA page_count").fetchone()[0])
        with show_progress(progress, "copying", pages * page_size) as report:
            origin.backup(copy, pages=_PAGES, progress=_reporting(report, pages, page_size))
    return pages * page_size


def _reporting(report: Callable[[int], None], pages: int, page_size: int) -> Callable[[int, int, int], None]:
    left = pages

    def step(_status: int, remaining: int, _total: int) -> None:
        nonlocal left
        report(max(left - remaining, 0) * page_size)
        left = remaining

    return step


def _check(part: Path, source: Path) -> tuple[int, int]:
    """Check every page, every row and every text of a copy.

    Args:
        part: the copy.
        source: the file that errors name.

    Returns:
        The number of namespaces, and that of episodes.

    Raises:
        DamagedFileError: the copy is damaged, and so is what it was made from.
    """
    # immutable: SQLite makes no file beside it
    with closing(_connected(part, "mode=ro&immutable=1")) as connection:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != ("ok",):
            raise DamagedFileError(f"the memory is damaged: {found[0]}", path=source)
        if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise DamagedFileError("the memory is damaged: something belongs to a namespace that is lost", path=source)
        counts = connection.execute(
            "SELECT namespace.name, namespace.episodes, COUNT(record.number) FROM namespace"
            f" LEFT JOIN current ON current.namespace = namespace.number AND {_NOT_FORGOTTEN}"
            " LEFT JOIN record ON record.number = current.record GROUP BY namespace.number"
        ).fetchall()
        for name, expected, count in counts:
            if expected != count:
                raise DamagedFileError(
                    f"the memory is damaged: {count} of {expected} episodes of {name!r} can be found", path=source
                )
        columns = {name for _, name, *_ in connection.execute("PRAGMA table_info(current)")}
        prefix = "prefix" if "prefix" in columns else "substr(current.id, 1, 2)"  # older releases have no prefixes
        rows = connection.execute(
            f"SELECT current.id, {prefix}, digest, content FROM current"
            f" JOIN record ON record.number = current.record WHERE {_NOT_FORGOTTEN}"
        )
        while batch := rows.fetchmany(_ROWS):
            for row in batch:
                if not _is_whole(*row):
                    name = row[0].hex() if isinstance(row[0], bytes) else repr(row[0])
                    raise DamagedFileError(f"the memory is damaged: episode {name} cannot be read", path=source)
        return len(counts), sum(count for _, _, count in counts)


def _is_whole(key: object, prefix: object, digest: object, content: object) -> bool:
    """Return whether an episode can be found by its id and read."""
    if not (isinstance(key, bytes) and isinstance(content, bytes)) or prefix != key[:2]:
        return False
    if hashlib.blake2b(content, digest_size=16).digest() != digest:
        return False
    try:
        return decode_episode(content).id == key.hex()
    except ValueError:
        return False


def _settle(target: Path) -> None:
    """Move the log of the old memory into its file, so that the file alone is the old memory."""
    if not target.exists() or not target.stat().st_size:
        return
    try:
        check_log(target)
    except StoreError:
        return  # the log belongs to another file: the file is what it is without the log
    try:
        with closing(_connected(target, "mode=rw")) as connection:
            connection.execute("SELECT COUNT(*) FROM sqlite_schema")  # rolls back what a killed process left half done
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except SQLITE_ERRORS as error:
        # a memory that is damaged is a reason to restore; nothing of its log can be used
        if fault_of(error) is not SQLiteFault.DAMAGED:
            raise _store_error(error, target) from error
        return
    if busy:
        raise StoreLockedError(
            "nothing was changed, because a process is in the middle of reading the memory: try again", path=target
        )


def _rename_to_new(part: Path, target: Path) -> None:
    """Rename a file, but not over an existing one."""
    try:
        os.link(part, target)  # fails when the name is taken, which a rename does not
    except FileExistsError:
        raise InputError(f"{target} exists: choose another name, or replace it (force=True, --force)") from None
    except OSError:  # a file system without links
        if target.exists():
            raise InputError(f"{target} exists: choose another name, or replace it (force=True, --force)") from None
        part.replace(target)


def _connected(path: Path, parameters: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?{parameters}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Raise a :class:`StoreError` in place of an error of SQLite."""
    try:
        yield
    except SQLITE_ERRORS as error:
        raise _store_error(error, path) from error


def _store_error(error: Exception, path: Path) -> StoreError:
    fault = fault_of(error)
    if fault is SQLiteFault.DAMAGED:
        return DamagedFileError(f"the memory cannot be read: {error}", path=path)
    if fault is SQLiteFault.LOCKED:
        return StoreLockedError(f"another program holds the file: {error}", path=path)
    if fault is SQLiteFault.WRITE_FAILED:
        return StoreError(f"the copy cannot be written: {error}; is the disk full?", path=path)
    return StoreError(f"SQLite cannot read or write the file: {error}", path=path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""One process at a time writes a file of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worldthread.errors import InputError

if TYPE_CHECKING:
    from filelock import FileLock


def hold(path: Path, *, taken: str) -> FileLock:
    """Keep others from writing a file, until the lock is released; the file's folder is made.

    Args:
        path: the file; a file beside it, with ``.lock`` added to its name, stands for the right to write.
        taken: the message when another process holds it.

    Raises:
        InputError: another process holds it, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise InputError(taken) from None
    except OSError as error:
        raise InputError(f"cannot write to the folder {path.parent}: {error.strerror}") from error
    return lock

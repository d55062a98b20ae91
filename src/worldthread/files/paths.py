"""Default locations of files, and files and folders that nobody but their owner can read.

What people said, asked and were answered is private. Every file that may hold some of it is made here: with mode 0600,
in folders with mode 0700, whatever the umask says. The mode of what exists already is never widened.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

CACHE_VARIABLE = "WORLDTHREAD_CACHE"
"""The environment variable that sets :func:`default_cache_dir`."""

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


def default_cache_dir() -> Path:
    """Return ``$WORLDTHREAD_CACHE``, else ``$XDG_CACHE_HOME/worldthread``, else ``~/.cache/worldthread``."""
    own = os.environ.get(CACHE_VARIABLE)
    if own:
        return Path(own).expanduser()
    # the XDG specification says that relative paths must be ignored
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".cache") / "worldthread"


def make_private_folder(folder: Path, *, exist_ok: bool = True) -> None:
    """Make a folder, with its missing parents, that only its owner can open.

    Args:
        folder: the folder; one that exists keeps its mode.
        exist_ok: whether the folder may exist.

    Raises:
        FileExistsError: it exists, and may not, or is not a folder.
        FileNotFoundError: it cannot be made there.
        OSError: it cannot be made.
    """
    try:
        folder.mkdir(mode=FOLDER_MODE)
    except FileNotFoundError:
        if folder.parent.is_dir():  # some file systems cannot hold a folder
            raise
        make_private_folder(folder.parent)
        make_private_folder(folder, exist_ok=exist_ok)
    except OSError:  # for a folder that exists, some systems complain of permissions or of a read-only disk
        if not exist_ok or not folder.is_dir():
            raise


def private_opener(path: str, flags: int) -> int:
    """Open a file; a new one can be read by its owner only. It is the ``opener`` of :func:`open`."""
    return os.open(path, flags, FILE_MODE)


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner can read, for a library to fill; one that exists stays as it is.

    Args:
        path: the file.

    Raises:
        OSError: it cannot be made.
    """
    with suppress(FileExistsError):
        os.close(private_opener(os.fspath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def write_private_file(path: Path, content: str | bytes, *, fsync: bool = False) -> None:
    """Replace a file as a whole, or not at all; see :func:`replaced_file`.

    Args:
        path: the file.
        content: its new content; text is written as UTF-8.
        fsync: wait until the content is on the disk.

    Raises:
        OSError: it cannot be written.
    """
    with replaced_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
        if fsync:
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def replaced_file(path: Path) -> Iterator[IO[bytes]]:
    """Replace a file as a whole: with what the block writes or, if the block fails, not at all.

    The new file can be read by its owner only, and has no permission that the old one lacks. A symbolic link stays: the
    file that it points to is replaced. Pipes and devices, such as ``/dev/stdout``, are written directly.

    Until the block ends, the file has no name where the system allows it (``O_TMPFILE`` of Linux), so a process that is
    killed leaves nothing. Elsewhere it has a hidden name beside the old file; what a killed process left there is
    removed the next time that the same file is replaced.

    Args:
        path: the file to replace.

    Yields:
        The stream to write to.

    Raises:
        IsADirectoryError: it is a folder.
        OSError: it cannot be written.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    place = Path(os.path.realpath(path))
    mode = FILE_MODE & (stat.S_IMODE(place.stat().st_mode) if place.is_file() else FILE_MODE)
    prefix = f".worldthread-{hashlib.blake2b(os.fsencode(place.name), digest_size=8).hexdigest()}-"
    for left in place.parent.glob(f"{prefix}*.part"):
        _remove_if_left(left)
    part = place.parent / f"{prefix}{secrets.token_hex(8)}.part"
    try:
        with _new_file(part) as stream:
            yield stream
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            if not part.exists():
                _give_name(stream, place, part)
            if part.exists():  # renamed before its lock ends with the stream
                part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _new_file(part: Path) -> IO[bytes]:
    """Open a locked file without a name in the folder of ``part`` or, where that is impossible, ``part`` itself."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):  # not every file system can
            stream = os.fdopen(os.open(part.parent, os.O_TMPFILE | os.O_RDWR, FILE_MODE), "wb")
            _lock(stream)
            return stream
    while True:
        stream = open(part, "xb", opener=private_opener)  # noqa: SIM115
        _lock(stream)
        if part.exists():
            return stream
        stream.close()  # another process took it for left over, in the instant before it was locked


def _give_name(stream: IO[bytes], place: Path, part: Path) -> None:
    """Name a file without a name: ``place`` or, if that exists, ``part``."""
    source = f"/proc/self/fd/{stream.fileno()}"
    folder = os.open(place.parent, os.O_PATH)
    try:
        # with the folder, because os.link follows the link in /proc only when it calls linkat
        os.link(source, place.name, dst_dir_fd=folder, follow_symlinks=True)
    except FileExistsError:
        os.link(source, part.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _lock(stream: IO[bytes]) -> None:
    """Show that the file is in use, as long as the stream is open."""
    with suppress(OSError):  # not every file system can
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX)


def _remove_if_left(part: Path) -> None:
    """Remove a file that a killed process left; keep it if a process is writing it."""
    with suppress(OSError), part.open("rb") as stream:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()

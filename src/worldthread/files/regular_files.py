"""Files from outside are opened only if they are regular files of a bounded size.

Opening a named pipe waits for its writer, a device may never end, and a link in a folder that somebody else made can
lead to any file of the user.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final

from worldthread.errors import FormatError

MAX_BYTES: Final = 1 << 31
"""The most bytes of a file that is read as a whole."""

_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


def open_regular(path: Path, *, max_bytes: int = MAX_BYTES) -> BinaryIO:
    """Open a regular file for reading; a link to one is followed.

    Args:
        path: the file.
        max_bytes: the most bytes that it may have.

    Returns:
        The file, to be closed after use.

    Raises:
        FormatError: it is not a regular file, and was not opened; or it is too large.
        OSError: it cannot be opened.
    """
    _require_regular(path, os.stat(path))
    # it may have been replaced since: O_NONBLOCK, so that opening a pipe returns at once
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        _require_regular(path, found)
        if found.st_size > max_bytes:
            raise FormatError(f"the file has {found.st_size} bytes, and at most {max_bytes} are read", path=path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def require_openable(path: Path) -> None:
    """Check that opening a path does not wait for somebody else, whatever comes of it.

    Args:
        path: the path.

    Raises:
        FormatError: it is a named pipe, a socket or a device.
    """
    try:
        found = os.stat(path)
    except OSError:  # reported when the file is opened
        return
    if not stat.S_ISDIR(found.st_mode):
        _require_regular(path, found)


def require_no_links(paths: Iterable[Path]) -> None:
    """Check that none of some paths leads elsewhere: each is a regular file, a folder, or absent.

    Args:
        paths: the paths.

    Raises:
        FormatError: one is a link, a named pipe, a socket or a device.
        OSError: one cannot be examined.
    """
    for path in paths:
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(found.st_mode):
            _require_regular(path, found)


def _require_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise FormatError(f"expected a regular file, and this is {kind}: it was not opened", path=path)

"""The files to import: one, or those of a ZIP archive or a folder. Nothing is unpacked onto the disk."""

from __future__ import annotations

import codecs
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from worldthread.errors import FormatError, StoreError
from worldthread.files.regular_files import open_regular
from worldthread.moving.base import MAX_DUMP_BYTES
from worldthread.support.arguments import whole_characters

_ZIP: Final = b"PK\x03\x04"
_READ: Final = (".json", ".txt")  # in an archive or a folder; all else is pictures, sound, pages
_MOST_FILES: Final = 10_000
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)  # and others, where an offset is wrong
_UTF_16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def files_of(path: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the files to import.

    Args:
        path: a file, a ZIP archive or a folder.

    Yields:
        The name of each file, for an archive below that of the archive; and its bytes, with text in UTF-8.

    Raises:
        FormatError: there is no file to import, or the files are too large or damaged.
        StoreError: a file cannot be read.
    """
    if path.is_dir():
        total = count = 0
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                if name.lower().endswith(_READ) and not name.startswith("."):
                    data = _read(Path(folder, name), MAX_DUMP_BYTES - total)
                    total, count = total + len(data), count + 1
                    _require_few(count, path)
                    yield Path(folder, name), _in_utf8(data, path)
        if not count:
            raise FormatError("this is a folder with no file in it whose name ends in .json or .txt", path=path)
        return
    data = _read(path, MAX_DUMP_BYTES)
    if data.startswith(_ZIP):
        yield from _in_archive(path, data)
    else:
        yield path, _in_utf8(data, path)


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        with open_regular(path, max_bytes=max_bytes) as stream:
            return stream.read(max_bytes + 1)
    except OSError as error:
        raise StoreError(f"the file cannot be read: {error.strerror or error}", path=path) from error


def _in_archive(path: Path, data: bytes) -> Iterator[tuple[Path, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.lower().endswith(_READ)]
            _require_few(len(entries), path)
            if not entries:
                raise FormatError("there is no file in it whose name ends in .json or .txt", path=path)
            left = MAX_DUMP_BYTES
            for entry in entries:
                with archive.open(entry) as stream:  # what the archive says of its sizes need not be so
                    found = stream.read(left + 1)
                if len(found) > left:
                    raise FormatError(f"its files have more than {MAX_DUMP_BYTES} bytes", path=path)
                left -= len(found)
                yield path / Path(entry.filename).name, _in_utf8(found, path)
    except FormatError:
        raise
    except (*_DAMAGED, OSError, RuntimeError, ValueError) as error:
        raise FormatError(f"this ZIP archive cannot be read: {error}", path=path) from error


def _require_few(count: int, path: Path) -> None:
    if count > _MOST_FILES:
        raise FormatError(f"it has more than {_MOST_FILES} files", path=path)


def _in_utf8(data: bytes, path: Path) -> bytes:
    """Return text in UTF-8 without a byte-order mark; what has no mark is returned as it is."""
    encoding = _UTF_16.get(data[:2])
    if encoding is None:
        return data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data[2:].decode(encoding, "surrogatepass")
    except UnicodeDecodeError as error:
        raise FormatError(f"its text, in {encoding.upper()}, ends in the middle of a character", path=path) from error
    return whole_characters(text).encode("utf-8", "replace")

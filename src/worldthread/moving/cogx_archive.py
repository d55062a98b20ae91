"""COGX archives, cognee's format of exchange: a folder, or that folder as ``.cogx.tar.gz``, with a file for each kind.

Both are read as a tar file, so that a folder is checked and imported exactly as its packed form is.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

import orjson

from worldthread.errors import FormatError, StoreError
from worldthread.files.regular_files import open_regular, require_no_links
from worldthread.moving.base import JsonPart

VERSION: Final = "0.1"
MANIFEST: Final = "manifest.json"
RECORDS: Final[Mapping[str, str]] = {
    "document": "documents.jsonl",
    "episode": "episodes.jsonl",
    "entity": "entities.jsonl",
    "fact": "facts.jsonl",
    "memory": "memories.jsonl",
    "memory_block": "memory_blocks.jsonl",
    "raw_node": "nodes.jsonl",
}
"""The file of each kind of record, one JSON value a line."""

_NAMES: Final = (MANIFEST, *RECORDS.values())
_GZIP: Final = b"\x1f\x8b"
_TAR_MARK: Final = slice(257, 262)


def is_archive(data: bytes) -> bool:
    """Return whether these are the bytes of a packed archive: of a tar file, compressed or not."""
    return data[:2] == _GZIP or data[_TAR_MARK] == b"ustar"


def is_archive_folder(path: Path) -> bool:
    """Return whether a path is the folder of an archive."""
    return path.is_dir() and (path / MANIFEST).is_file()


def read_folder(path: Path, max_bytes: int) -> bytes:
    """Return the files of an archive's folder as a tar file.

    Args:
        path: the folder.
        max_bytes: the most bytes that its files may have together.

    Raises:
        FormatError: a file is not a regular file, or they are too large.
        StoreError: a file cannot be read.
    """
    packed, left = io.BytesIO(), max_bytes
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in _NAMES:
            try:
                require_no_links([path / name])  # somebody else made the folder
                if not (path / name).exists():
                    continue
                with open_regular(path / name, max_bytes=left) as stream:
                    data = stream.read(left + 1)
            except OSError as error:
                raise StoreError(f"the file cannot be read: {error.strerror or error}", path=path / name) from error
            left -= len(data)
            _add(archive, name, data)
    return packed.getvalue()


def unpack(data: bytes, path: Path, max_bytes: int) -> dict[str, bytes]:
    """Return the files of a packed archive by name.

    Args:
        data: a tar file, compressed with gzip or not.
        path: the file, for errors.
        max_bytes: the most bytes that it may unpack to.

    Raises:
        FormatError: it is damaged, is not such an archive, or is too large.
    """
    if data[:2] == _GZIP:
        data = _unzipped(data, path, max_bytes)
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                if not member.isreg() or name not in _NAMES:
                    continue
                if name in found:
                    raise FormatError(f"the archive holds {name} twice", path=path)
                if member.size > len(data):  # of a sparse file, whose holes would be filled with zeros
                    raise FormatError(f"{name} is cut off", path=path)
                stream = archive.extractfile(member)
                found[name] = stream.read() if stream is not None else b""
                if len(found[name]) != member.size:
                    raise FormatError(f"{name} is cut off", path=path)
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError, OSError) as error:
        raise FormatError(f"the archive is damaged: {error}", path=path) from None
    if not found:
        raise FormatError(f"this is not a COGX archive: it holds none of {', '.join(_NAMES)}", path=path)
    return found


def manifest_of(files: Mapping[str, bytes], path: Path) -> JsonPart:
    """Return the manifest; null when the archive has none.

    Raises:
        FormatError: it is damaged, or the archive is of a later version.
    """
    if MANIFEST not in files:
        return JsonPart(None, MANIFEST, path)
    manifest = _parsed(files[MANIFEST], MANIFEST, path).require(dict)
    version = manifest.text("cogx_version") or VERSION
    major = version.partition(".")[0]
    if not (major.isascii() and major.isdigit()) or int(major[:9]) > int(VERSION.partition(".")[0]):
        raise manifest.get("cogx_version").fail(f"the version {version[:40]!r} cannot be read; {VERSION} can")
    return manifest


def records_of(files: Mapping[str, bytes], kind: str, path: Path) -> Iterator[JsonPart]:
    """Yield the records of a kind.

    Raises:
        FormatError: a line is damaged; the message names the file and the line.
    """
    name = RECORDS[kind]
    for number, line in enumerate(files.get(name, b"").split(b"\n"), 1):
        if line.strip():
            yield _parsed(line, f"{name}, line {number}", path).require(dict)


class ArchiveWriter:
    """Collects the records of an archive, and packs them.

    Args:
        system: the name of the program that exports.
    """

    def __init__(self, system: str) -> None:
        self._system = system
        self._lines: dict[str, bytearray] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, record: Mapping[str, Any]) -> None:
        """Add a record without its kind and system."""
        line = orjson.dumps({"external_system": self._system, "kind": kind, **record}, option=orjson.OPT_APPEND_NEWLINE)
        self._lines.setdefault(kind, bytearray()).extend(line)
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def write(self, stream: IO[bytes], exported_at: str) -> None:
        """Write the archive as ``.tar.gz``.

        Args:
            stream: is written to.
            exported_at: the time of the export, ISO 8601.
        """
        manifest = {
            "cogx_version": VERSION, "source_system": self._system, "exported_at": exported_at,
            "counts": self._counts, "notes": [],
        }  # fmt: skip
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for kind, lines in self._lines.items():
                _add(archive, RECORDS[kind], bytes(lines))
            _add(archive, MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))


def _parsed(data: bytes, place: str, path: Path) -> JsonPart:
    try:
        return JsonPart(orjson.loads(data), place, path)
    except orjson.JSONDecodeError as error:
        raise FormatError(f"{place}: this is not JSON: {error}", path=path) from None


def _unzipped(data: bytes, path: Path, max_bytes: int) -> bytes:
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        unpacked = unzip.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise FormatError(f"the archive is damaged: {error}", path=path) from None
    if len(unpacked) > max_bytes:
        raise FormatError(f"the archive unpacks to more than {max_bytes} bytes", path=path)
    if not unzip.eof:
        raise FormatError("the archive is cut off", path=path)
    return unpacked


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    archive.addfile(member, io.BytesIO(data))

"""Loads files as documents to remember: plain text, Markdown, JSON, JSON Lines and conversations."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Final, cast

from worldthread.errors import FormatError, InputError
from worldthread.extract.records import Document, documents_of
from worldthread.extract.transcripts import Utterance, utterances
from worldthread.files.foreign_json import read_json

__all__ = ["STANDARD_INPUT", "SUFFIXES", "Document", "Utterance", "load", "load_all"]

STANDARD_INPUT: Final = "-"
"""The path that means standard input."""

_MARKDOWN: Final = (".md", ".markdown")
_LINES: Final = (".jsonl", ".ndjson")
SUFFIXES: Final = (".txt", ".text", *_MARKDOWN, ".json", *_LINES)
"""The endings of the files that are loaded from a folder; each may be followed by ``.gz``."""

_GZIP: Final = b"\x1f\x8b"
_BLOCK: Final = 1 << 20  # bytes read at a time
_UNPACKED_FREELY: Final = 64 << 20  # bytes that compressed data may unpack to, however few they are
_UNPACKED_TIMES: Final = 200  # what comes beyond that, as a multiple of what was read: text has some 3 to 30
_LONGEST_TEXT: Final = 256 << 20  # characters of a line, or of a file that is read as a whole
_MOST_EMPTY_LINES: Final = 100_000  # before the first text, which are kept in memory
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def load(path: str | os.PathLike[str], *, skipped: Counter[str] | None = None) -> Iterator[Document]:
    """Yield the documents of a file in its order, reading the file lazily.

    * Markdown (``.md``, ``.markdown``): one document.
    * JSON Lines (``.jsonl``, ``.ndjson``): one document for each line, read line by line. A text is a mapping with
      ``text`` (or ``content``, ``passage``, ``body``) and optionally ``title``, ``at`` (or ``time``, ``timestamp``,
      ``date``, ``created_at``) and ``source`` (or ``id``). A message is a mapping with ``role`` (or ``speaker``,
      ``name``, ``user``, ``from``) and ``content`` (or ``text``, ``message``).
    * JSON (``.json``): a list of such mappings, or a mapping with a list of ``messages``.
    * Any other file, and standard input (``"-"``): JSON Lines or JSON when it is valid as such, else a conversation
      when it looks like one (:func:`~worldthread.extract.transcripts.utterances`), else one document of plain text.

    A file compressed with gzip is unpacked, unless it unpacks to more than 64 MB and 200 times its size. Lines, and
    files that are read as a whole (all but JSON Lines), may have 256 million characters. Texts are UTF-8, or UTF-16
    with a byte-order mark. An empty file has no documents. The source is ``path`` as given, unless the file names one.
    An utterance without a time gets none; its place in the order says what came first.

    Args:
        path: the file, or ``"-"`` for standard input.
        skipped: counts turns of a conversation that have no text, by reason.

    Yields:
        The documents.

    Raises:
        FormatError: the file is binary or damaged, its encoding is another one, it is too long or unpacks to
            too much, or a line has none of the forms above.
        InputError: the file cannot be opened, or is a folder.
    """
    if os.fspath(path) == STANDARD_INPUT:
        yield from _documents(sys.stdin.buffer, "standard input", None, skipped)
        return
    path = Path(path)
    try:
        with path.open("rb") as stream:
            yield from _documents(stream, str(path), path, skipped)
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name the files in it, or use load_all") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def load_all(paths: Iterable[str | os.PathLike[str]], *, skipped: Counter[str] | None = None) -> Iterator[Document]:
    """Yield the documents of files and folders, in the order given.

    Of a folder, all files in it and in its subfolders are loaded, sorted by name, whose names end in one of
    :data:`SUFFIXES`; names that begin with a dot are left out.

    Args:
        paths: files and folders; ``"-"`` is standard input.
        skipped: see :func:`load`.

    Yields:
        The documents.

    Raises:
        FormatError: see :func:`load`.
        InputError: see :func:`load`; or a folder has no file to load.
    """
    for entry in paths:
        if os.fspath(entry) != STANDARD_INPUT and Path(entry).is_dir():
            for file in _files_in(Path(entry)):
                yield from load(file, skipped=skipped)
        else:
            yield from load(entry, skipped=skipped)


def _files_in(folder: Path) -> list[Path]:
    def raise_error(error: OSError) -> None:
        raise InputError(f"{error.filename} cannot be read: {error.strerror or error}") from error

    found = []
    for parent, folders, files in os.walk(folder, onerror=raise_error):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [
            Path(parent, name) for name in sorted(files) if not name.startswith(".") and _suffix(name) in SUFFIXES
        ]
    if not found:
        raise InputError(f"the folder {folder} holds no file that ends in {', '.join(SUFFIXES)}")
    return found


def _suffix(name: str) -> str:
    """Return the ending of a file's name in lower case, without ``.gz``."""
    path = Path(name.lower())
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def _documents(stream: IO[bytes], source: str, path: Path | None, skipped: Counter[str] | None) -> Iterator[Document]:
    suffix = _suffix(source) if path is not None else ""
    texts = _decoded(stream, path)
    if suffix in _LINES:
        yield from _json_lines(_lines(texts, path), source, path, skipped)
        return
    if suffix in _MARKDOWN:
        yield from _plain("".join(_limited(texts, path)), source, path)
        return
    # the first non-empty line shows whether this is JSON Lines, which may be too long to be read at once
    lines = _lines(texts, path)
    seen: list[str] = []
    for line in lines:
        seen.append(line)
        if line.strip():
            break
        if len(seen) > _MOST_EMPTY_LINES:
            raise FormatError(f"it begins with more than {_MOST_EMPTY_LINES:,} empty lines", path=path)
    if suffix != ".json" and seen and _is_json(seen[-1], "{"):
        yield from _json_lines(chain(seen, lines), source, path, skipped)
        return
    text = "\n".join(_limited(chain(seen, lines), path))
    if suffix == ".json" or _is_json(text, "{["):
        yield from _whole_json(text, source, path, skipped)
        return
    conversation = utterances(text)
    if conversation is None:
        yield from _plain(text, source, path)
    else:
        yield from (Document(each.text, each.at, source, each.speaker) for each in conversation)


def _plain(text: str, source: str, path: Path | None) -> Iterator[Document]:
    if text.strip():
        yield Document(text, None, source)


def _is_json(text: str, beginnings: str) -> bool:
    if not text.lstrip().startswith(tuple(beginnings)):
        return False
    try:
        read_json(text)
    except ValueError:
        return False
    return True


def _json_lines(
    lines: Iterable[str], source: str, path: Path | None, skipped: Counter[str] | None
) -> Iterator[Document]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield from documents_of(read_json(line), source, skipped=skipped)
        except ValueError as error:
            reason = f"not JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)
            raise FormatError(reason, path=path, line=number) from error


def _whole_json(text: str, source: str, path: Path | None, skipped: Counter[str] | None) -> Iterator[Document]:
    if not text.strip():
        return
    try:
        value = read_json(text)
    except json.JSONDecodeError as error:
        lines = text.split("\n")
        if _is_json(next(filter(str.strip, lines)), "{"):  # JSON Lines under another name
            yield from _json_lines(lines, source, path, skipped)
            return
        raise FormatError(f"not JSON: {error}", path=path) from error
    for number, record in enumerate(value if isinstance(value, list) else [value], start=1):
        try:
            yield from documents_of(record, source, skipped=skipped)
        except InputError as error:
            where = f"entry {number}: " if isinstance(value, list) else ""
            raise FormatError(f"{where}{error}", path=path) from error


def _lines(texts: Iterable[str], path: Path | None) -> Iterator[str]:
    """Yield the lines, without their ends, of a text that comes in blocks."""
    parts: list[str] = []
    length = 0
    for text in texts:
        first, *others = text.split("\n")
        parts.append(first)
        length += len(first)
        _require_length(length, "a line", path)
        for other in others:
            yield "".join(parts)
            parts, length = [other], len(other)
    if parts != [""]:
        yield "".join(parts)


def _limited(texts: Iterable[str], path: Path | None) -> Iterator[str]:
    """Yield the parts of a text that is kept in memory as a whole; it may not be too long."""
    length = 0
    for text in texts:
        length += len(text) + 1
        _require_length(length, "the text", path)
        yield text


def _require_length(length: int, what: str, path: Path | None) -> None:
    if length > _LONGEST_TEXT:
        raise FormatError(
            f"{what} has more than {_LONGEST_TEXT:,} characters: split it, or save its parts as JSON Lines", path=path
        )


def _decoded(stream: IO[bytes], path: Path | None) -> Iterator[str]:
    """Yield the text of a file in blocks.

    Args:
        stream: the file.
        path: its path for error messages; ``None`` for standard input.

    Yields:
        The blocks, none of which is empty.

    Raises:
        FormatError: the file is not text, or its gzip data are damaged or unpack to far more than text does. Offsets
            count the unpacked bytes.
    """
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stream))
    is_gzip = buffered.peek(2)[:2] == _GZIP
    try:
        yield from _blocks(_Unpacked(buffered, path) if is_gzip else buffered, path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"damaged gzip data: {error}", path=path) from error


class _Unpacked:
    """Unpacks gzip data, unless there is far more in them than in compressed text.

    Args:
        stream: the compressed data.
        path: their path for error messages; ``None`` for standard input.
    """

    def __init__(self, stream: IO[bytes], path: Path | None) -> None:
        self._packed = _Counted(stream)
        self._unpacked = gzip.GzipFile(fileobj=cast("IO[bytes]", self._packed))
        self._path = path
        self._bytes = 0

    def read(self, size: int) -> bytes:
        data = self._unpacked.read(size)
        self._bytes += len(data)
        if self._bytes > _UNPACKED_FREELY + _UNPACKED_TIMES * self._packed.bytes:
            raise FormatError(
                f"the gzip data unpack to more than {_UNPACKED_TIMES} times their size, as no text does; if you trust "
                "them, unpack them first (gunzip)",
                path=self._path,
            )
        return data


class _Counted:
    """Counts the bytes that are read from a stream.

    Args:
        stream: the stream.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.bytes = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.bytes += len(data)
        return data


def _blocks(stream: IO[bytes] | _Unpacked, path: Path | None) -> Iterator[str]:
    data = stream.read(_BLOCK)
    mark, encoding = next((pair for pair in _MARKS if data.startswith(pair[0])), (b"", "utf-8"))
    decoder = codecs.getincrementaldecoder(encoding)()
    data, offset_of_block = data[len(mark) :], len(mark)
    while True:
        pending = len(decoder.getstate()[0])  # bytes of a character that was cut between two blocks
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            offset = offset_of_block - pending + error.start
            raise FormatError(
                f"byte {offset} is not {encoding.upper()} ({error.reason}); save the file as UTF-8, or as UTF-16 with "
                "a byte-order mark; binary files cannot be read",
                path=path,
            ) from None
        if "\0" in text:
            offset = offset_of_block - pending + len(text[: text.index("\0")].encode(encoding))
            raise FormatError(
                f"byte {offset} is the character NUL: a binary file, or UTF-16 without a byte-order mark", path=path
            )
        if text:
            yield text
        if not data:
            return
        offset_of_block += len(data)
        data = stream.read(_BLOCK)

"""Readers of data set files: JSON Lines, and long JSON arrays entry by entry, gzipped or not."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NoReturn, TypeVar, cast

import msgspec

from worldthread.errors import FormatError, InputError
from worldthread.files.decoding import convert, decoder_of
from worldthread.types import Fact

T = TypeVar("T")

_BLOCK: Final = 1 << 20  # characters read at a time
_GZIP: Final = b"\x1f\x8b"
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\r\n"
_AFTER_NUMBER: Final = re.compile(r"[,\]}\s]")


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Open a UTF-8 text file, compressed with gzip or not.

    Args:
        path: the file.

    Yields:
        The open file.

    Raises:
        InputError: the file cannot be opened.
        FormatError: raised while the block reads: the gzip data is damaged, or the text is not UTF-8.
    """
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == _GZIP
        opened = cast("IO[str]", (gzip.open if packed else open)(path, "rt", encoding="utf-8-sig"))
        with opened as stream:
            yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"damaged gzip data: {error}", path=path) from error
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8: {error.reason} at byte {error.start} of a block", path=path) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def read_lines(path: Path, kind: type[T], expected: str) -> Iterator[T]:
    """Decode the lines of a JSON Lines file; skip empty lines.

    Args:
        path: the file, compressed with gzip or not.
        kind: type of each line.
        expected: description of a valid line, for error messages.

    Yields:
        The decoded lines.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a line cannot be decoded.
    """
    decoder = decoder_of(kind)
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError as error:
                raise FormatError(f"{error}; expected {expected}", path=path, line=number) from error


def read_array(path: Path, kind: type[T], expected: str, *, member: str | None = None) -> Iterator[T]:
    """Decode the entries of a JSON array one by one, so that the caller can stop before the end of a long file.

    Args:
        path: the file, compressed with gzip or not.
        kind: type of each entry.
        expected: description of a valid file, for error messages.
        member: name of the object member that is the array; ``None`` when the array is the whole file.

    Yields:
        The decoded entries.

    Raises:
        InputError: the file cannot be opened.
        FormatError: the file is not such an array, or an entry cannot be decoded.
    """
    with open_text(path) as stream:
        scanner = _JsonArrayScanner(stream, path, expected)
        if member is not None:
            scanner.enter(member)
        for number, entry in enumerate(scanner.entries(), start=1):
            try:
                yield convert(entry, kind)
            except msgspec.ValidationError as error:
                raise FormatError(f"entry {number}: {error}; expected {expected}", path=path) from error


def first_character(path: Path) -> str:
    """Return the first character that is not white space; empty for an empty file."""
    with open_text(path) as stream:
        while block := stream.read(_BLOCK):
            if stripped := block.lstrip():
                return stripped[0]
    return ""


def facts_of(triples: Iterable[Iterable[object]], counts: dict[str, int], what: str) -> tuple[Fact, ...]:
    """Return the triples as facts; count those that are not valid facts in ``counts`` under ``what``."""
    facts = []
    for triple in triples:
        try:
            subject, relation, object_ = triple
            facts.append(Fact(cast("str", subject), cast("str", relation), cast("str", object_)))
        except ValueError:  # not three parts, or an invalid name (an InputError is a ValueError)
            counts[what] = counts.get(what, 0) + 1
    return tuple(facts)


class _JsonArrayScanner:
    """Scans the values of a JSON text that is read in blocks."""

    def __init__(self, stream: IO[str], path: Path, expected: str) -> None:
        self._stream, self._path, self._expected = stream, path, expected
        self._text, self._place, self._ended = "", 0, False

    def entries(self) -> Iterator[Any]:
        """Yield the entries of the array that begins here."""
        self._take("[")
        if self._peek() == "]":
            return
        while True:
            yield self._value()
            if self._take(",]") == "]":
                return

    def enter(self, member: str) -> None:
        """Skip to the value of a member of the object that begins here."""
        self._take("{")
        while True:
            name = self._value()
            self._take(":")
            if name == member:
                return
            self._value()
            if self._take(",}") == "}":
                self._refuse(f"no member {member!r}")

    def _value(self) -> Any:
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                if not self._more():
                    self._refuse(f"not JSON: {error.msg}")
                continue
            # a number may continue in the next block unless a delimiter follows it
            if isinstance(value, int | float) and not _AFTER_NUMBER.search(self._text, end) and self._more():
                continue
            self._place = end
            return value

    def _take(self, wanted: str) -> str:
        character = self._peek()
        if not character or character not in wanted:
            found = repr(character) if character else "the end of the file"
            self._refuse(f"found {found} instead of {' or '.join(wanted)}")
        self._place += 1
        return character

    def _peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            while self._place < len(self._text):
                if self._text[self._place] not in _SPACE:
                    return self._text[self._place]
                self._place += 1
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read another block; return whether there was one."""
        if self._ended:
            return False
        block = self._stream.read(_BLOCK)
        self._ended = not block
        self._text, self._place = self._text[self._place :] + block, 0
        return not self._ended

    def _refuse(self, reason: str) -> NoReturn:
        raise FormatError(f"{reason}; expected {self._expected}", path=self._path)

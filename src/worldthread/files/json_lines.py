"""Append-only files of JSON Lines: one JSON value on each line, each line ended by a line feed.

A process that is killed while it writes can leave a torn line at the end of the file: one that lacks its end and is
not JSON. A last line that lacks only its end is whole. :class:`JsonLinesReader` reads lines and knows the number of
each; :class:`JsonLinesWriter` appends lines, one process at a time, and cuts off a torn line first.
"""

from __future__ import annotations

import gzip
import io
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import orjson
from filelock import FileLock, Timeout

from worldthread.errors import ClosedError, FormatError, InputError, StoreError, StoreLockedError
from worldthread.files.paths import FILE_MODE, make_private_folder, private_opener
from worldthread.support.closeable import Closeable

_LINE_END: Final = b"\n"


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line of a file.

    Args:
        number: the line's number, counted from 1.
        content: the line as it is in the file, without its end.
        value: what the line says, decoded.
    """

    number: int
    content: bytes | str
    value: Any


class JsonLinesReader:
    """Reads the lines of a stream one by one.

    Args:
        stream: the lines, each with its end: a binary or a text file that is open for reading.
        path: the file that errors name; ``None`` for a stream without a path.
        skip_torn: leave out a torn last line instead of raising an error.
        decode: turns a line into its value; raises ``ValueError`` if the line is not JSON.

    Attributes:
        number: number of the line that was read last, counted from 1; at the end of the stream, one more.
        end: length of all whole lines read so far (in bytes for a binary stream).
        is_terminated: whether the last whole line has its end.
        torn: the torn line that was left out; empty if there was none.
    """

    def __init__(
        self,
        stream: Iterable[bytes] | Iterable[str],
        path: Path | None = None,
        *,
        skip_torn: bool = False,
        decode: Callable[[bytes | str], Any] = orjson.loads,
    ) -> None:
        self._lines: Iterator[bytes | str] = iter(stream)
        self._path = path
        self._skip_torn = skip_torn
        self._decode = decode
        self.number = 0
        self.end = 0
        self.is_terminated = True
        self.torn: bytes | str = b""

    def __iter__(self) -> Iterator[JsonLine]:
        """Yield the lines that were not read yet, decoded.

        Yields:
            Each line with its number.

        Raises:
            FormatError: a line is not JSON.
        """
        for line in self.raw_lines():
            content = line.removesuffix("\n") if isinstance(line, str) else line.removesuffix(_LINE_END)
            is_terminated = len(content) < len(line)
            try:
                value = self._decode(content)
            except (ValueError, RecursionError) as error:
                if self._skip_torn and not is_terminated:
                    self.torn = line
                    return
                raise self.error(f"not JSON: {error}") from error
            self.end += len(line)
            self.is_terminated = is_terminated
            yield JsonLine(self.number, content, value)

    def raw_lines(self) -> Iterator[bytes | str]:
        """Yield the lines that were not read yet, as they are in the stream.

        Yields:
            Each line with its end.

        Raises:
            FormatError: a text stream holds bytes of another encoding, or a compressed one is damaged.
        """
        while True:
            self.number += 1
            try:
                line = next(self._lines, None)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise self.error(f"damaged gzip data: {error}") from error
            except ValueError as error:
                raise self.error(f"not UTF-8: {error}") from error
            if line is None:
                return
            yield line

    def error(self, message: str) -> FormatError:
        """Return an error about the line that was read last."""
        return FormatError(message, path=self._path, line=self.number)

    def header(self, kind: str, newest: int, what: str) -> dict[str, Any]:
        """Read the first line, which must be a header: ``{"format": kind, "version": n, ...}``.

        Args:
            kind: the name of the format.
            newest: the newest version of the format that can be read.
            what: the kind of file in words, for errors: "a trajectory".

        Returns:
            The fields of the header, those of the caller unchecked.

        Raises:
            FormatError: the file is empty, its first line is not such a header, or a newer release wrote it.
        """
        line = self.header_line(kind, newest, what)
        if line is None:
            self.number = 1
            state = "was cut short in its first line" if self.torn else "is empty"
            raise self.error(f"the file {state}: it is not {what}")
        header: dict[str, Any] = line.value
        return header

    def header_line(self, kind: str, newest: int, what: str) -> JsonLine | None:
        """Read the first line as :meth:`header` does, and accept a file that is to be begun.

        Args:
            kind: see :meth:`header`.
            newest: see :meth:`header`.
            what: see :meth:`header`.

        Returns:
            The line; ``None`` if the file is empty or holds only a torn header.

        Raises:
            FormatError: the first line is not such a header, or a newer release wrote it.
        """
        line = next(iter(self), None)
        start = f'{{"format":"{kind}"'
        if line is None:
            torn = self.torn if isinstance(self.torn, bytes) else self.torn.encode()
            is_header = torn.startswith(start.encode()) or start.encode().startswith(torn)
        else:
            is_header = isinstance(line.value, dict) and line.value.get("format") == kind
        if not is_header:
            raise self.error(f"not the header of {what}, which begins {start}")
        if line is not None:
            self.require_version(line.value.get("version"), newest)
        return line

    def require_version(self, version: object, newest: int) -> None:
        """Check the version that the line states.

        Args:
            version: the version as written.
            newest: the newest version that can be read.

        Raises:
            FormatError: it is not a whole number from 1, or a newer release wrote the line.
        """
        if type(version) is not int or version < 1:
            raise self.error(f"the version must be a whole number from 1, not {version!r}")
        if version > newest:
            raise self.error(f"written by a newer release (version {version}, this one reads {newest}): upgrade")


class JsonLinesWriter(Closeable):
    """Appends lines to a file that no other writer has open. Thread-safe.

    A line is in the file when :meth:`append` returns, also if the process is killed right after; ``fsync=True`` makes
    that hold for a loss of power too. Use as a context manager, or call :meth:`close`.

    Args:
        path: the file; its folder is made at once, the file with the first line. Both are private to their owner.
        busy: what the error says if another writer has the file open.
        lock_suffix: added to the file's name, it names the lock: an empty file beside this one.
        decode: see :class:`JsonLinesReader`.

    Raises:
        StoreLockedError: another writer, in this process or another one, has the file open.
        StoreError: the file cannot be read, or its folder cannot be written.
    """

    def __init__(
        self,
        path: Path,
        *,
        busy: str,
        lock_suffix: str = ".lock",
        decode: Callable[[bytes | str], Any] = orjson.loads,
    ) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._source: IO[bytes] | None = None  # read until the end of the last whole line is known
        self._stream: Any = None
        self._end = 0
        self._tail = b""  # the line end that the last whole line lacks
        self._is_torn = False  # whether something that is not a whole line is behind _end
        self._is_closed = False
        lock_file = path.with_name(path.name + lock_suffix)
        self._new_lock_file = None if lock_file.exists() else lock_file
        self._lock = FileLock(lock_file, timeout=0, thread_local=False, mode=FILE_MODE)
        try:
            make_private_folder(path.parent)
            self._lock.acquire()
        except Timeout:
            raise StoreLockedError(busy, path=path) from None
        except OSError as error:
            raise self._failed(error) from error
        try:
            self._source = path.open("rb") if path.exists() else io.BytesIO()
        except OSError as error:
            self.close()
            raise self._failed(error) from error
        self._reader = JsonLinesReader(self._source, path, skip_torn=True, decode=decode)

    def _failed(self, error: OSError, message: str = "the file cannot be written") -> StoreError:
        return StoreError(f"{message}: {error.strerror or error}", path=self._path)

    @contextmanager
    def opening(self) -> Iterator[JsonLinesReader]:
        """Read what the file holds, and prepare to append; an error inside the block closes the file.

        Yields:
            A reader of the lines that are in the file; it skips a torn last line.

        Raises:
            FormatError: a line is not JSON.
            StoreError: the file cannot be read or written.
        """
        try:
            yield self._reader
            with self._guard:
                self._finish_reading()
        except BaseException as error:
            self.close()
            if self._new_lock_file is not None and isinstance(error, InputError):
                self._new_lock_file.unlink(missing_ok=True)  # the file is not ours: leave nothing beside it
            if isinstance(error, OSError):
                raise self._failed(error) from error
            raise

    def _finish_reading(self) -> None:
        """Find the end of the last whole line, from where the next one is written."""
        if self._source is None:
            return
        for _ in self._reader:
            pass
        self._source.close()
        self._source = None
        self._end = self._reader.end
        self._is_torn = bool(self._reader.torn)
        self._tail = b"" if self._reader.is_terminated else _LINE_END

    def require_open(self) -> None:
        """Do nothing if the file is open.

        Raises:
            ClosedError: the file was closed.
        """
        with self._guard:
            self._require_open()

    def _require_open(self) -> None:
        if self._is_closed:
            raise ClosedError("the file was closed: open it again to write on", path=self._path)

    def _opened(self) -> Any:
        """Return the stream to append to, unbuffered; everything behind the last whole line is still there."""
        self._require_open()
        self._finish_reading()
        if self._stream is None:
            self._stream = open(self._path, "ab", buffering=0, opener=private_opener)  # noqa: SIM115
        return self._stream

    def open(self) -> None:
        """Open the file now rather than with the next line, to find out early whether it can be written.

        Raises:
            StoreError: it cannot be written.
        """
        with self._guard:
            try:
                self._opened()
            except OSError as error:
                raise self._failed(error) from error

    def repair(self) -> None:
        """Cut off a torn line, and end the last line, now rather than before the next line.

        Raises:
            StoreError: the file cannot be written.
        """
        with self._guard:
            try:
                self._finish_reading()
                if self._is_torn or self._tail:
                    self._write(b"")
            except OSError as error:
                raise self._failed(error) from error

    def clear(self) -> None:
        """Remove all lines.

        Raises:
            StoreError: the file cannot be written.
        """
        with self._guard:
            self._require_open()
            if self._source is not None:
                self._source.close()
                self._source = None
            self._end, self._tail, self._is_torn = 0, b"", True
            try:
                self._write(b"")
            except OSError as error:
                raise self._failed(error) from error

    def append(self, line: bytes, *, fsync: bool = False, failure: str = "the line cannot be written") -> None:
        """Write a line; afterwards it is in the file as a whole or, after an error, not at all.

        Args:
            line: JSON without a line end.
            fsync: wait until the line is on the disk.
            failure: begins the message of the error if the line cannot be written.

        Raises:
            ClosedError: the file was closed.
            FormatError: the file holds a line that is not JSON.
            StoreError: the line cannot be written, for example because the disk is full.
        """
        with self._guard:
            try:
                self._write(line + _LINE_END, fsync=fsync)
            except OSError as error:
                raise self._failed(error, failure) from error

    def _write(self, line: bytes, *, fsync: bool = False) -> None:
        stream = self._opened()
        if self._is_torn:
            stream.truncate(self._end)
            self._is_torn = False
        data = self._tail + line
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[stream.write(rest) :]
            if fsync:
                os.fsync(stream.fileno())
        except BaseException:
            self._is_torn = True
            with suppress(OSError):  # if this fails too, the next call tries again
                stream.truncate(self._end)
                self._is_torn = False
            raise
        self._end += len(data)
        self._tail = b""

    def sync(self) -> None:
        """Wait until all lines are on the disk.

        Raises:
            ClosedError: the file was closed.
            StoreError: the disk reports an error.
        """
        with self._guard:
            try:
                os.fsync(self._opened().fileno())
            except OSError as error:
                raise self._failed(error) from error

    def close(self) -> None:
        """Close the file and let others write it. May be called again."""
        with self._guard:
            self._is_closed = True
            for stream in (self._stream, self._source):
                if stream is not None:
                    stream.close()
            self._stream = self._source = None
            self._lock.release()

"""Export and import as JSON Lines, streamed: a header line, then one line for each episode.

The header is ``{"format": "worldthread-episodes", "version": 1, "episodes": n}``; the number of episodes tells a whole
file from one that was cut short. The other lines are described in :mod:`worldthread.stores.codec`.
"""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import orjson

from worldthread.errors import FormatError, StoreError
from worldthread.stores.codec import decode_episode, encode_episode
from worldthread.types import Episode

FORMAT: Final = "worldthread-episodes"
VERSION: Final = 1
"""Version of the export format that is written, and the newest that is read."""


def write_lines(stream: IO[bytes] | IO[str], episodes: Iterable[Episode], count: int) -> None:
    """Write the header and ``count`` episodes to a binary or text stream."""
    header = orjson.dumps({"format": FORMAT, "version": VERSION, "episodes": count})
    _write_line(stream, header)
    for episode in episodes:
        _write_line(stream, encode_episode(episode))


def _write_line(stream: IO[Any], line: bytes) -> None:
    if isinstance(stream, io.TextIOBase):
        stream.write(line.decode() + "\n")
    else:
        stream.write(line + b"\n")


@contextmanager
def written_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of ``path`` when the block ends well, and leaves nothing when it does not.

    A link stays one: the file that it leads to is replaced. What is no file (a pipe, ``/dev/stdout``) is written to as
    it comes.

    Raises:
        StoreError: the file cannot be written.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            with path.open("wb") as stream:
                yield stream
            return
        place = Path(os.path.realpath(path))
        part = place.parent / f".worldthread-{secrets.token_hex(8)}.part"
        try:
            with part.open("xb") as stream:
                yield stream
            part.replace(place)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(f"the export cannot be written: {error.strerror or error}", path=path) from error


class LineReader:
    """Reads the episodes of an export one by one.

    Args:
        stream: binary or text.
        path: named in errors.

    Attributes:
        line: number of the line that was read last, counted from 1.
        count: episodes read so far.
    """

    def __init__(self, stream: Iterable[bytes] | Iterable[str], path: Path | None = None) -> None:
        self._lines: Iterator[bytes | str] = iter(stream)
        self._path = path
        self.line = 0
        self.count = 0

    def __iter__(self) -> Iterator[Episode]:
        """The episodes, in the order of the file.

        Raises:
            FormatError: a line is not what it should be, or the file ends too early or too late.
        """
        expected = self._header()
        for line in self._remaining():
            if self.count == expected:
                raise self.error(f"more lines than the {expected} episodes that the header announces")
            try:
                episode = decode_episode(line)
            except (ValueError, OverflowError) as error:
                raise self.error(f"not an episode: {error}") from error
            self.count += 1
            yield episode
        if self.count != expected:
            raise self.error(f"the file ends after {self.count} of {expected} episodes: it was cut short")

    def error(self, message: str) -> FormatError:
        """An error about the line that was read last."""
        return FormatError(message, path=self._path, line=self.line)

    def _remaining(self) -> Iterator[bytes | str]:
        while True:
            self.line += 1
            try:
                line: bytes | str | None = next(self._lines, None)
            except ValueError as error:  # a text stream that meets bytes of another encoding
                raise self.error(f"not UTF-8: {error}") from error
            if line is None:
                return
            yield line

    def _header(self) -> int:
        line = next(self._remaining(), b"")
        try:
            header = orjson.loads(line)
        except ValueError as error:
            raise self.error(f"not the header of an export of worldthread: {error}") from error
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise self.error(f'not the header of an export of worldthread, which begins {{"format":"{FORMAT}"')
        version, count = header.get("version"), header.get("episodes")
        if type(version) is not int or version < 1:
            raise self.error(f"the version must be a whole number from 1, not {version!r}")
        if version > VERSION:
            raise self.error(f"written by a newer release (format {version}, this one reads {VERSION}): upgrade")
        if type(count) is not int or count < 0:
            raise self.error(f"the number of episodes must be a whole number, not {count!r}")
        return count

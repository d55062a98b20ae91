"""Export and import as JSON Lines, streamed: a header line, then one line for each episode.

The header is ``{"format": "worldthread-episodes", "version": 1, "episodes": n}``; the number of episodes shows whether
the file is whole or was cut short. :mod:`worldthread.stores.codec` describes the other lines.
"""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import orjson

from worldthread.errors import FormatError, StoreError
from worldthread.json_lines import JsonLinesReader
from worldthread.stores.codec import decode_episode, encode_episode
from worldthread.types import Episode

FORMAT: Final = "worldthread-episodes"
VERSION: Final = 1
"""Version of the export format that is written, and the newest that is read."""
LONGEST_LINE: Final = 1 << 28
"""The most bytes (of a text stream: characters) of a line that is read."""


def write_lines(stream: IO[bytes] | IO[str], episodes: Iterable[Episode], count: int) -> None:
    """Write an export to a stream.

    Args:
        stream: binary or text.
        episodes: the episodes, in order.
        count: how many there are.
    """
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
    """Replace a file as a whole: with what the block writes or, if the block fails, not at all.

    A symbolic link stays: the file that it points to is replaced. Pipes and devices, such as ``/dev/stdout``, are
    written directly.

    Args:
        path: the file to replace.

    Yields:
        The stream to write to.

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


def _bounded(stream: Any) -> Iterator[bytes | str]:
    """Yield the lines of a stream; of one that is too long, the beginning."""
    while line := stream.readline(LONGEST_LINE + 1):
        yield line
        if len(line) > LONGEST_LINE:
            return


class LineReader:
    """Reads the episodes of an export one by one.

    Args:
        stream: the lines of the export, binary or text.
        path: the file that errors name; ``None`` for a stream without a path.

    Attributes:
        count: episodes read so far.
    """

    def __init__(self, stream: Iterable[bytes] | Iterable[str], path: Path | None = None) -> None:
        # without a limit, what decompresses into a pipe could fill the memory with one line
        lines = _bounded(stream) if hasattr(stream, "readline") else stream
        self._reader = JsonLinesReader(cast("Iterable[bytes]", lines), path)
        self.count = 0

    def __iter__(self) -> Iterator[Episode]:
        """Yield the episodes in the order of the file.

        Yields:
            Each episode as recorded.

        Raises:
            FormatError: a line is damaged, or the file holds fewer or more episodes than its header states.
        """
        expected = self._header()
        for line in self._reader.raw_lines():
            if self.count == expected:
                raise self.error(f"more lines than the {expected} episodes that the header states")
            if len(line) > LONGEST_LINE:
                raise self.error(f"the line has more than {LONGEST_LINE:,} bytes")
            try:
                episode = decode_episode(line)
            except (ValueError, OverflowError) as error:
                raise self.error(f"not an episode: {error}") from error
            self.count += 1
            yield episode
        if self.count != expected:
            raise self.error(f"the file ends after {self.count} of {expected} episodes: it was cut short")

    def error(self, message: str) -> FormatError:
        """Return an error about the line that was read last."""
        return self._reader.error(message)

    def _header(self) -> int:
        count = self._reader.header(FORMAT, VERSION, "an export of worldthread").get("episodes")
        if type(count) is not int or count < 0:
            raise self.error(f"the number of episodes must be a whole number, not {count!r}")
        return count

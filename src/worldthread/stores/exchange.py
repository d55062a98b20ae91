"""Export and import as JSON Lines, streamed: a header line, then one line for each episode.

The header is ``{"format": "worldthread-episodes", "version": 2, "episodes": n}``; the number of episodes shows whether
the file is whole or was cut short. :mod:`worldthread.stores.codec` describes the other lines. The last field of each
is ``"digest"``: the BLAKE2b hash (16 bytes, hexadecimal) of the digest of the line before and of the line without this
field. Before the first episode stands the number of episodes in decimal digits. So a change of any line is found.

Version 1 has no digests. To import lines that were written or edited by hand, leave out ``"digest"`` and state version
1.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import orjson

from worldthread.errors import FormatError, StoreError
from worldthread.files.json_lines import JsonLinesReader
from worldthread.files.paths import make_private_folder, replaced_file
from worldthread.stores.codec import decode_episode, encode_episode
from worldthread.types import Episode

FORMAT: Final = "worldthread-episodes"
VERSION: Final = 2
"""Version of the export format that is written, and the newest that is read."""
LONGEST_LINE: Final = 1 << 28
"""The most bytes (of a text stream: characters) of a line that is read."""

_FIRST_WITH_DIGESTS: Final = 2
_DIGEST_FIELD: Final = b',"digest":"'
_DIGEST_END: Final = b'"}'
_DIGEST_DIGITS: Final = 32


def write_lines(stream: IO[bytes] | IO[str], episodes: Iterable[Episode], count: int) -> None:
    """Write an export to a stream.

    Args:
        stream: binary or text.
        episodes: the episodes, in order.
        count: how many there are.
    """
    header = orjson.dumps({"format": FORMAT, "version": VERSION, "episodes": count})
    _write_line(stream, header)
    digest = b"%d" % count
    for episode in episodes:
        document = encode_episode(episode)
        digest = _digest(digest, document)
        _write_line(stream, document.removesuffix(b"}") + _DIGEST_FIELD + digest + _DIGEST_END)


def _digest(before: bytes, document: bytes) -> bytes:
    return hashlib.blake2b(before + document, digest_size=16).hexdigest().encode()


def _write_line(stream: IO[Any], line: bytes) -> None:
    if isinstance(stream, io.TextIOBase):
        stream.write(line.decode() + "\n")
    else:
        stream.write(line + b"\n")


@contextmanager
def written_file(path: Path) -> Iterator[IO[bytes]]:
    """Replace a file as a whole, or not at all; see :func:`worldthread.files.paths.replaced_file`.

    Args:
        path: the file to replace; its folder is made if it is missing.

    Yields:
        The stream to write to.

    Raises:
        StoreError: the file cannot be written.
    """
    try:
        make_private_folder(path.parent)
        with replaced_file(path) as stream:
            yield stream
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
        version, expected = self._header()
        digest = b"%d" % expected
        for line in self._reader.raw_lines():
            if self.count == expected:
                raise self.error(f"more lines than the {expected} episodes that the header states")
            if len(line) > LONGEST_LINE:
                raise self.error(f"the line has more than {LONGEST_LINE:,} bytes")
            try:
                document = line.encode() if isinstance(line, str) else line
                if version >= _FIRST_WITH_DIGESTS:
                    document, digest = _checked(document, digest)
                episode = decode_episode(document)
            except (ValueError, OverflowError) as error:
                raise self.error(f"not an episode: {error}") from error
            self.count += 1
            yield episode
        if self.count != expected:
            raise self.error(f"the file ends after {self.count} of {expected} episodes: it was cut short")

    def error(self, message: str) -> FormatError:
        """Return an error about the line that was read last."""
        return self._reader.error(message)

    def _header(self) -> tuple[int, int]:
        """Return the version and the number of episodes."""
        header = self._reader.header(FORMAT, VERSION, "an export of worldthread")
        count = header.get("episodes")
        if type(count) is not int or count < 0:
            raise self.error(f"the number of episodes must be a whole number, not {count!r}")
        return header["version"], count


def _checked(line: bytes, before: bytes) -> tuple[bytes, bytes]:
    """Return the document of a line and its digest; ``before`` is the digest of the line before."""
    content = line.rstrip(b"\r\n")
    head, digest = content[: -_DIGEST_DIGITS - len(_DIGEST_END)], content[-_DIGEST_DIGITS - len(_DIGEST_END) :]
    if not head.endswith(_DIGEST_FIELD) or not digest.endswith(_DIGEST_END):
        raise ValueError('its last field is not "digest"')
    document, stated = head.removesuffix(_DIGEST_FIELD) + b"}", digest.removesuffix(_DIGEST_END)
    if _digest(before, document) != stated:
        raise ValueError("the line, or one before it, was changed after it was exported")
    return document, stated

"""The file of a play: JSON Lines, one line a step, written as the step happens.

The first line is a header: ``{"format": "worldthread-trajectory", "version": 2, ...}``. The last one, if the play came
to its end, is ``{"summary": ...}``. Nothing in the file depends on the time that anything took, so the same play gives
the same bytes: that is how a play that was cut off goes on (what is in the file already is compared, not written
again), and how a replay proves itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from worldthread.errors import FormatError, InputError
from worldthread.play.file_lock import hold

TRAJECTORY_FORMAT: Final = "worldthread-trajectory"
TRAJECTORY_VERSION: Final = 2
"""Version that is written. Version 1 had no moments, and timings in its summary; it is read, and not continued."""
READABLE_VERSIONS: Final = (1, 2)

TRAJECTORY_FILE: Final = "trajectory.jsonl"
"""Name of the file in the folder of a run."""

_NOT_COMPARED: Final = frozenset({"release", "memory", "namespace", "asked_for"})
"""Fields of the header that say by whom and where, and how the model was named, not how the play goes."""
_SHOWN: Final = 80  # characters of a value in the message about a difference


@dataclass(frozen=True)
class Trajectory:
    """A trajectory file, read.

    Args:
        header: its first line.
        steps: its steps, in order.
        summary: its summary; empty when the play was cut off.
    """

    header: dict[str, Any]
    steps: list[dict[str, Any]]
    summary: dict[str, Any]


def read_trajectory(path: Path) -> Trajectory:
    """Read a trajectory of any version; a last line that was cut off is left out.

    Raises:
        FormatError: the file is no trajectory, is of a newer version, or a line other than the last is damaged.
        InputError: the file cannot be read.
    """
    parsed = [_parse(line, path, number) for number, line in enumerate(_whole_lines(path), 1)]
    header = require_header(parsed, path)
    steps = [line for line in parsed[1:] if "summary" not in line]
    summary: dict[str, Any] = next((line["summary"] for line in parsed if "summary" in line), {})
    return Trajectory(header, steps, summary)


def require_header(lines: list[dict[str, Any]], path: Path) -> dict[str, Any]:
    """The first of the parsed lines of a trajectory.

    Raises:
        FormatError: it is no header, or one of a version that is not read.
    """
    if not lines or lines[0].get("format") != TRAJECTORY_FORMAT:
        raise FormatError("this is no trajectory", path=path, line=1)
    version = lines[0].get("version")
    if version not in READABLE_VERSIONS:
        known = " and ".join(map(str, READABLE_VERSIONS))
        raise FormatError(f"a trajectory of version {version}; this release reads {known}", path=path, line=1)
    return lines[0]


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a file that came to their end.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise FormatError(str(error), path=path, line=number) from error
    if not isinstance(value, dict):
        raise FormatError("not an object", path=path, line=number)
    return value


class TrajectoryWriter:
    """Writes a play to its file, each line flushed when it is written.

    Use as a context manager, or call :meth:`close`: until then nobody else can write the file.

    Args:
        path: the file; its folder is made.
        header: what the first line tells beside format and version.
        resume: go on with what the file holds: a line that is there is compared with the one that would be written,
            and a last line that was cut short is dropped. Without it, the file is made anew.

    Raises:
        InputError: another play writes the file, or it cannot be written.
        FormatError: the file is no trajectory, or of another version, or its header tells of another play.
    """

    def __init__(self, path: Path, header: dict[str, Any], *, resume: bool = False) -> None:
        self.path = path
        self._lock = hold(path, taken=f"{path.parent} is being played in by another process: wait for its end")
        try:
            earlier = _whole_lines(path) if resume and path.exists() else []
            self._earlier = TrajectoryComparison(path, earlier)
            self._file = path.open("r+b" if earlier else "wb")
            end = sum(len(line) + 1 for line in earlier)
            self._file.truncate(end)
            self._file.seek(end)
            self.write({"format": TRAJECTORY_FORMAT, "version": TRAJECTORY_VERSION, **header})
        except BaseException:
            self.close()
            raise

    def write(self, line: dict[str, Any]) -> None:
        """Write one line, or find it in the file.

        Raises:
            FormatError: the file holds another line in this place; the message tells how it differs.
        """
        written = orjson.dumps(line)
        if self._earlier.left:
            self._earlier.take(written)
        else:
            self._file.write(written + b"\n")
            self._file.flush()

    def finish(self, summary: dict[str, Any]) -> None:
        """Write the summary; the file is on the disk when this returns.

        Raises:
            FormatError: as for :meth:`write`, or the file tells of more steps.
        """
        self.write({"summary": summary})
        self._earlier.require_end()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Release the file. May be called again."""
        if hasattr(self, "_file"):
            self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TrajectoryComparison:
    """Compares the lines of a play, one by one, with those that a file holds.

    Args:
        path: the file, for messages.
        lines: its whole lines, without their ends; ``None`` reads them.

    Raises:
        FormatError: the first line is no header that is read, or of a version that is not written any more.
        InputError: the file cannot be read.
    """

    def __init__(self, path: Path, lines: list[bytes] | None = None) -> None:
        self._path = path
        self._lines = _whole_lines(path) if lines is None else lines
        self._next = 0
        if lines is None or lines:
            header = require_header([_parse(line, path, 1) for line in self._lines[:1]], path)
            if header["version"] != TRAJECTORY_VERSION:
                raise FormatError(
                    f"a trajectory of version {header['version']}, which can be read and not played again: play it "
                    "anew in another folder",
                    path=path,
                    line=1,
                )

    @property
    def header(self) -> dict[str, Any]:
        """The first line."""
        return _parse(self._lines[0], self._path, 1)

    @property
    def left(self) -> int:
        """How many lines of the file were not compared yet."""
        return len(self._lines) - self._next

    @property
    def compared(self) -> int:
        """How many lines were compared, and were the same."""
        return self._next

    @property
    def is_complete(self) -> bool:
        """Whether the file tells of a play that came to its end."""
        return bool(self._lines) and self._lines[-1].startswith(b'{"summary":')

    def take(self, line: bytes) -> None:
        """Compare the next line.

        Raises:
            FormatError: the file holds another one, or none.
        """
        if not self.left:
            raise self._error(f"the file ends here, and the play goes on with {_shown(line.decode())}")
        earlier = self._lines[self._next]
        if earlier != line:
            difference = self._difference(earlier, line)
            if difference is not None:
                raise self._error(difference)
        self._next += 1

    def require_end(self) -> None:
        """Raise :class:`FormatError` when the file holds more lines."""
        if self.left:
            raise self._error(
                f"the play ends here, and the file goes on with {_shown(self._lines[self._next].decode())}"
            )

    def _difference(self, earlier: bytes, line: bytes) -> str | None:
        """In which field two lines differ; ``None`` for headers that differ in what is not compared."""
        old, new = _parse(earlier, self._path, self._next + 1), orjson.loads(line)
        if ("summary" in old) != ("summary" in new):
            return "it ends here" if "summary" in new else "it does not end here"
        if "summary" in old:
            old, new = old["summary"], new["summary"]
        ignored = _NOT_COMPARED if self._next == 0 else frozenset()
        for name in dict.fromkeys((*new, *old)):
            if name not in ignored and old.get(name) != new.get(name):
                pair = [_shown(orjson.dumps(fields.get(name)).decode()) for fields in (old, new)]
                return f"{name} was {pair[0]}, and is {pair[1]} now"
        return None if self._next == 0 else "the fields stand in another order"

    def _error(self, what: str) -> FormatError:
        return FormatError(
            f"this play goes another way than the one in the file: {what}. Something that decides it has changed (the "
            "program, the file of the game, the recording, or a setting). Play it anew in another folder, or remove "
            "this one",
            path=self._path,
            line=self._next + 1,
        )


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]} ..."

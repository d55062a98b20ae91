"""The file of a play: JSON Lines, one line for each step, written as the step happens.

The first line is a header: ``{"format": "worldthread-trajectory", "version": 2, ...}``. The last line of a finished
play is ``{"summary": ...}``. Nothing in the file depends on how long anything took, so the same play gives the same
bytes. A play that was cut off relies on this when it continues (lines that are in the file are compared instead of
written again), and so does a replay.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import orjson

from worldthread.errors import FormatError, InputError
from worldthread.files.decoding import convert
from worldthread.files.json_lines import JsonLine, JsonLinesReader, JsonLinesWriter
from worldthread.files.regular_files import MAX_BYTES, open_regular, require_no_links
from worldthread.support.closeable import Closeable
from worldthread.support.text import cut
from worldthread_lab.play.run_summary import require_figures

TRAJECTORY_FORMAT: Final = "worldthread-trajectory"
TRAJECTORY_VERSION: Final = 2
"""The version that is written. Version 1 had timings in its summary and no saved states; it is read, not continued."""

TRAJECTORY_FILE: Final = "trajectory.jsonl"
"""Name of the file in the folder of a run."""

_WHAT: Final = "a trajectory"
_NOT_COMPARED: Final = frozenset({"release", "memory", "namespace", "asked_for"})
"""Fields of the header that do not decide how the play goes: the release, where it is kept, how the model was named."""
_Count = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
_Number = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
_SHOWN: Final = 80  # characters of a value in the message about a difference


@dataclass(frozen=True)
class Trajectory:
    """The content of a trajectory file.

    Args:
        header: the first line.
        steps: the steps, in order.
        summary: the summary; empty if the play was cut off.
    """

    header: dict[str, Any]
    steps: list[dict[str, Any]]
    summary: dict[str, Any]


class _Header(msgspec.Struct):
    """The fields of a header that are used without being checked again; older releases wrote less."""

    game: str = ""
    agent: str = ""
    seed: int | None = None
    name: str = ""
    settings: dict[str, Any] | None = None
    release: str = ""
    asked_for: str | None = None
    memory: str = ""
    namespace: str = ""


class _Recalled(msgspec.Struct):
    text: str
    path: list[str]


class _Step(msgspec.Struct):
    """The fields of a step; older releases wrote less."""

    turn: _Count | None = None
    moment: _Count | None = None
    before: _Count | None = None
    action: str | None = None
    return_to: _Count | None = None
    problem: str | None = None
    valid: bool | None = None
    reason: str | None = None
    new_decision: bool | None = None
    stuck: bool | None = None
    finished: bool | None = None
    recalled: list[_Recalled] = []
    observation: str = ""
    inventory: str | None = None
    score: _Number | None = None
    reward: _Number | None = None
    over: bool | None = None
    state: str | None = None
    valid_actions: list[str] | None = None
    learned: list[str] = []
    ended: list[tuple[str, str]] = []
    facts: _Count = 0
    vertices: _Count = 0
    model_calls: _Count | None = None
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None


def read_trajectory(path: Path, *, max_bytes: int = MAX_BYTES) -> Trajectory:
    """Read a trajectory of any version; a torn last line is left out.

    Args:
        path: the file.
        max_bytes: the most bytes that the file may have.

    Returns:
        The header, the steps and the summary.

    Raises:
        FormatError: the file is not a trajectory, a newer release wrote it, or a line is damaged; or it is too large,
            or not a regular file.
        InputError: the file cannot be read.
    """
    with _reader(path, max_bytes) as reader:
        header = _checked(reader.header(TRAJECTORY_FORMAT, TRAJECTORY_VERSION, _WHAT), reader, is_header=True)
        lines = [_fields(line, reader) for line in reader]
    steps = [line for line in lines if "summary" not in line]
    summary: dict[str, Any] = next((line["summary"] for line in lines if "summary" in line), {})
    return Trajectory(header, steps, summary)


def decode_header(line: bytes, path: Path) -> dict[str, Any]:
    """Decode the first line of a trajectory.

    Args:
        line: the line.
        path: the file that errors name.

    Returns:
        The fields of the header.

    Raises:
        FormatError: it is not the header of a trajectory, or a newer release wrote it.
    """
    reader = JsonLinesReader([line], path, skip_torn=True)
    return _checked(reader.header(TRAJECTORY_FORMAT, TRAJECTORY_VERSION, _WHAT), reader, is_header=True)


def decode_last_line(line: bytes, path: Path) -> dict[str, Any]:
    """Decode the last line of a trajectory, whose beginning may be missing.

    Args:
        line: the line, or its end.
        path: the file that errors name.

    Returns:
        The fields of the step or the summary; none if the line is the header, or not whole.

    Raises:
        FormatError: the line is neither a step nor a summary.
    """
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(fields, dict) or "format" in fields:
        return {}
    return _checked(fields, JsonLinesReader([], path))


@contextmanager
def _reader(path: Path, max_bytes: int = MAX_BYTES) -> Iterator[JsonLinesReader]:
    try:
        with open_regular(path, max_bytes=max_bytes) as stream:
            yield JsonLinesReader(stream, path, skip_torn=True)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _fields(line: JsonLine, reader: JsonLinesReader) -> dict[str, Any]:
    if not isinstance(line.value, dict):
        raise reader.error("not an object")
    return _checked(line.value, reader)


def _checked(line: dict[str, Any], reader: JsonLinesReader, *, is_header: bool = False) -> dict[str, Any]:
    """Return a line whose fields have the types that are written; raise FormatError for any other."""
    try:
        if is_header:
            convert(line, _Header)
        elif "summary" in line:
            require_figures(line["summary"])
        else:
            convert(line, _Step)
        orjson.dumps(line)  # what cannot be written, such as 300 lists in each other, was not written by us
    except (msgspec.ValidationError, InputError, TypeError) as error:
        raise reader.error(f"not a line of a trajectory: {error}") from None
    return line


def _comparable(reader: JsonLinesReader) -> list[JsonLine]:
    """Read the lines of a trajectory that can be played again; none if the file is empty.

    Args:
        reader: at the start of the file.

    Returns:
        All lines, the header included.

    Raises:
        FormatError: the file is not a trajectory, it has another version than the one that is written, or a line is
            damaged.
    """
    first = reader.header_line(TRAJECTORY_FORMAT, TRAJECTORY_VERSION, _WHAT)
    if first is None:
        return []
    if first.value["version"] != TRAJECTORY_VERSION:
        raise reader.error(
            f"a trajectory of version {first.value['version']}, which can be read but not played again: play it anew "
            "in another folder"
        )
    _checked(first.value, reader, is_header=True)
    lines = [first]
    for line in reader:
        _fields(line, reader)
        lines.append(line)
    return lines


class TrajectoryWriter(Closeable):
    """Writes a play to its file; each line is in the file when :meth:`write` returns.

    Use as a context manager, or call :meth:`close`: until then nobody else can write the file.

    Args:
        path: the file; its folder is made if it does not exist.
        header: what the first line holds beside format and version.
        resume: continue what the file holds: lines that are there are compared with those that would be written, and a
            torn last line is dropped. Without it, the file is cleared first.

    Raises:
        StoreLockedError: the file is being written elsewhere.
        StoreError: the file cannot be written.
        FormatError: the file is not a trajectory, has another version, or belongs to another play; or it is a link.
    """

    def __init__(self, path: Path, header: dict[str, Any], *, resume: bool = False) -> None:
        self.path = path
        require_no_links([path])
        self._log = JsonLinesWriter(path, busy="another process plays in this folder: wait for its end")
        with self._log.opening() as reader:
            self._earlier = TrajectoryComparison(path, _comparable(reader) if resume else [])
            if not resume:
                self._log.clear()
            self.write({"format": TRAJECTORY_FORMAT, "version": TRAJECTORY_VERSION, **header})
            self._log.repair()

    def write(self, line: dict[str, Any]) -> None:
        """Write one line, or compare it with the one in the file.

        Args:
            line: the fields of the line.

        Raises:
            FormatError: the file holds a different line in this place; the message shows the difference.
            StoreError: the line cannot be written.
        """
        written = orjson.dumps(line)
        if self._earlier.left:
            self._earlier.take(written)
        else:
            self._log.append(written)

    def finish(self, summary: dict[str, Any]) -> None:
        """Write the summary; the file is on the disk when this returns.

        Args:
            summary: the figures of the play.

        Raises:
            FormatError: as for :meth:`write`, or the file holds more steps.
            StoreError: the line cannot be written.
        """
        self.write({"summary": summary})
        self._earlier.require_end()
        self._log.sync()

    def close(self) -> None:
        """Close the file and let others write it. May be called again."""
        self._log.close()


class TrajectoryComparison:
    """Compares the lines of a play, one by one, with the lines of a file.

    Args:
        path: the file.
        lines: the lines of the file, the header first; ``None`` reads them.

    Raises:
        FormatError: the file is not a trajectory, or has another version than the one that is written.
        InputError: the file cannot be read.
    """

    def __init__(self, path: Path, lines: list[JsonLine] | None = None) -> None:
        self._path = path
        if lines is None:
            with _reader(path) as reader:
                lines = _comparable(reader)
                if not lines:
                    raise reader.error("the file is empty: it is not a trajectory")
        self._lines = lines
        self._next = 0

    @property
    def header(self) -> dict[str, Any]:
        """The first line."""
        header: dict[str, Any] = self._lines[0].value
        return header

    @property
    def left(self) -> int:
        """How many lines of the file were not compared yet."""
        return len(self._lines) - self._next

    @property
    def compared(self) -> int:
        """How many lines were compared and found equal."""
        return self._next

    @property
    def is_complete(self) -> bool:
        """Whether the play in the file was finished."""
        return bool(self._lines) and "summary" in self._lines[-1].value

    def take(self, line: bytes) -> None:
        """Compare the next line.

        Args:
            line: the line as it would be written, without its end.

        Raises:
            FormatError: the file holds a different line, or none.
        """
        if not self.left:
            raise self._error(f"the file ends here, and the play goes on with {_shortened(line)}")
        earlier = self._lines[self._next]
        if earlier.content != line:
            difference = self._difference(earlier.value, orjson.loads(line))
            if difference is not None:
                raise self._error(difference)
        self._next += 1

    def require_end(self) -> None:
        """Do nothing if every line of the file was compared.

        Raises:
            FormatError: the file holds more lines.
        """
        if self.left:
            raise self._error(
                f"the play ends here, and the file goes on with {_shortened(self._lines[self._next].content)}"
            )

    def _difference(self, old: dict[str, Any], new: dict[str, Any]) -> str | None:
        """Describe the first field that differs; ``None`` for headers that differ only in what is not compared."""
        if ("summary" in old) != ("summary" in new):
            return "it ends here" if "summary" in new else "it does not end here"
        if "summary" in old:
            old, new = old["summary"], new["summary"]
        ignored = _NOT_COMPARED if self._next == 0 else frozenset()
        for name in dict.fromkeys((*new, *old)):
            if name not in ignored and old.get(name) != new.get(name):
                pair = [_shortened(orjson.dumps(fields.get(name))) for fields in (old, new)]
                return f"{name} was {pair[0]}, and is {pair[1]} now"
        return None if self._next == 0 else "the fields are in another order"

    def _error(self, difference: str) -> FormatError:
        return FormatError(
            f"this play differs from the one in the file: {difference}. Something that decides how it goes has changed "
            "(the program, the file of the game, the recording, or a setting). Play it anew in another folder, or "
            "remove this one",
            path=self._path,
            line=self._next + 1,
        )


def _shortened(line: bytes | str) -> str:
    return cut(line if isinstance(line, str) else line.decode(), _SHOWN, " ...")

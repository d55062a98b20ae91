"""The file of recorded calls of a chat model.

It is a text file of JSON Lines, in ASCII. The header is ``{"format": "worldthread-recording", "version": 1, "model":
name}``. Every other line is one call: ``{"request": {...}, "answer": {...}}``, or ``{"request": {...}, "error":
{"message", "status", "attempts"}}``, with the fields of :class:`~worldthread.models.chat.ChatRequest` and
:class:`~worldthread.models.chat.ChatAnswer`. Lines stand in the order in which the calls ended. A line with
``"replaces": n`` holds what came of asking again the request whose call failed in line *n* (the header is line 1).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec
from filelock import FileLock, Timeout

from worldthread.errors import ClosedError, FormatError, InputError, ModelCallError, StoreError, StoreLockedError
from worldthread.models.chat import ChatAnswer, ChatRequest
from worldthread.models.request_key import request_key, to_json

FORMAT: Final = "worldthread-recording"
VERSION: Final = 1
"""Version of the format that is written, and the newest that is read."""


@dataclass(frozen=True)
class RecordedCall:
    """One call.

    Args:
        line: where it stands in the file, counted from 1.
        key: see :func:`~worldthread.models.request_key.request_key`; equal for equal requests.
        request: what the model was asked.
        outcome: what it answered, or the error that the call ended with.
    """

    line: int
    key: str
    request: ChatRequest
    outcome: ChatAnswer | ModelCallError


@dataclass(frozen=True)
class Recording:
    """What a file of recorded calls holds.

    Args:
        model: name of the model that was asked.
        calls: as they stand in the file; what came of asking again stands in the place of the call that failed.
    """

    model: str
    calls: tuple[RecordedCall, ...]


def read_recording(path: str | Path) -> Recording:
    """The calls in the file at ``path``. A last line that was cut short, as by the end of the process, is left out.

    Raises:
        FormatError: a line is not what it should be, or was written by a newer release.
        StoreError: the file cannot be read.
    """
    path = Path(path)
    reader = _Reader(path)
    try:
        with path.open("rb") as stream:
            return reader.read(stream)
    except OSError as error:
        raise StoreError(f"the recording cannot be read: {error.strerror or error}", path=path) from error


class RecordingFile:
    """A recording that is open for appending. Safe for threads.

    Args:
        path: made when it does not exist, its folder too.
        model: name of the model whose calls it is to hold.

    Attributes:
        recording: what the file held when it was opened.

    Raises:
        InputError: the file holds calls of another model.
        FormatError: the file is not a recording, or is damaged; it was not touched.
        StoreLockedError: another one has the file open for recording.
        StoreError: the file cannot be written.
    """

    def __init__(self, path: Path, model: str) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._stream: Any = None
        lock_file = path.with_name(path.name + "-lock")
        self._lock = FileLock(lock_file, timeout=0, thread_local=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            is_new = not lock_file.exists()
            self._lock.acquire()
            try:
                self.recording = self._open(model)
            except BaseException as error:
                self.close()
                if is_new and isinstance(error, InputError):  # not a file of ours: nothing is left beside it
                    lock_file.unlink(missing_ok=True)
                raise
        except Timeout:
            raise StoreLockedError(
                "another run is recording into this file: wait for its end, or record into another file", path=path
            ) from None
        except OSError as error:
            raise StoreError(f"the recording cannot be written: {error.strerror or error}", path=path) from error

    def _open(self, model: str) -> Recording:
        header = to_json({"format": FORMAT, "version": VERSION, "model": model}) + b"\n"
        reader = _Reader(self._path)
        recording = Recording(model, ())
        if self._path.exists() and not self._is_begun(header):
            with self._path.open("rb") as stream:
                recording = reader.read(stream)
            if recording.model != model:
                raise InputError(
                    f"{self._path} holds calls of the model {recording.model!r}: calls of {model!r} need another file"
                )
        self._stream = self._path.open("ab", buffering=0)
        self._end = reader.end
        self._is_torn = True  # what is there behind the last whole line, if anything is
        if not reader.end:
            self._write(header)
        elif not reader.is_ended:
            self._write(b"\n")
        return recording

    def _is_begun(self, header: bytes) -> bool:
        """Whether the file is empty, or its header was cut short while it was written."""
        return self._path.stat().st_size < len(header) and header.startswith(self._path.read_bytes())

    def require_open(self) -> None:
        """Raise ClosedError when it was closed."""
        with self._guard:
            self._require_open()

    def _require_open(self) -> None:
        if self._stream is None:
            raise ClosedError("the recording was closed: make a new one to go on", path=self._path)

    def append(self, content: dict[str, object]) -> None:
        """Write a line; it is whole in the file, or not there at all.

        Raises:
            InputError: the content cannot be written as JSON.
            StoreError: it cannot be written, for one because the disk is full.
        """
        line = to_json(content) + b"\n"
        with self._guard:
            self._require_open()
            try:
                self._write(line)
            except OSError as error:
                raise StoreError(
                    f"a call cannot be recorded, and its answer is lost: {error.strerror or error}", path=self._path
                ) from error

    def _write(self, line: bytes) -> None:
        if self._is_torn:
            self._stream.truncate(self._end)
            self._is_torn = False
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._stream.write(rest) :]
        except BaseException:
            self._is_torn = True
            with suppress(OSError):  # else before the next line
                self._stream.truncate(self._end)
                self._is_torn = False
            raise
        self._end += len(line)

    def close(self) -> None:
        """Release the file. May be called again."""
        with self._guard:
            if self._stream is not None:
                self._stream.close()
                self._stream = None
            self._lock.release()


class _Failure(msgspec.Struct, forbid_unknown_fields=True):
    message: str
    status: int | None
    attempts: int


class _CallLine(msgspec.Struct, forbid_unknown_fields=True):
    request: ChatRequest
    answer: ChatAnswer | None = None
    error: _Failure | None = None
    replaces: int | None = None


class _Reader:
    """Reads the lines of a recording.

    Attributes:
        end: how many bytes of the file are whole lines; all that were read when a line was cut short.
        is_ended: whether the last of them ends with the line's end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = 0
        self._places: dict[int, int] = {}  # of calls among all calls, by the number of the line
        self.end = 0
        self.is_ended = True

    def read(self, stream: Iterable[bytes]) -> Recording:
        model: str | None = None
        calls: list[RecordedCall] = []
        for self._number, line in enumerate(stream, start=1):
            is_ended = line.endswith(b"\n")
            try:
                content = json.loads(line, parse_constant=_no_number)
            except (ValueError, RecursionError) as error:
                if not is_ended and model is not None:
                    break  # the last line, and cut short: no part of a call is one
                raise self._error(f"not JSON: {error}") from error
            if model is None:
                model = self._model(content)
            else:
                self._place(content, model, calls)
            self.end += len(line)
            self.is_ended = is_ended
        if model is None:
            self._number = 1
            raise self._error("the file is empty: it is not a recording of calls")
        return Recording(model, tuple(calls))

    def _model(self, header: object) -> str:
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise self._error(f'not the header of a recording of calls, which begins {{"format":"{FORMAT}"')
        version, model = header.get("version"), header.get("model")
        if type(version) is not int or version < 1:
            raise self._error(f"the version must be a whole number from 1, not {version!r}")
        if version > VERSION:
            raise self._error(f"written by a newer release (format {version}, this one reads {VERSION}): upgrade")
        if not isinstance(model, str):
            raise self._error(f"the model must be a name, not {model!r}")
        return model

    def _place(self, content: object, model: str, calls: list[RecordedCall]) -> None:
        """Put the call of a line behind ``calls``, or in the place of the one that it replaces."""
        try:
            line = msgspec.convert(content, _CallLine)
            key = request_key(model, line.request)
        except (msgspec.ValidationError, InputError) as error:
            raise self._error(f"not a call: {error}") from error
        if line.answer is not None and line.error is None:
            outcome: ChatAnswer | ModelCallError = line.answer
        elif line.error is not None and line.answer is None:
            outcome = ModelCallError(line.error.message, status=line.error.status, attempts=line.error.attempts)
        else:
            raise self._error("not a call: it must have either an answer or an error")
        call = RecordedCall(self._number, key, line.request, outcome)
        if line.replaces is None:
            place = len(calls)
            calls.append(call)
        else:
            place = self._places.get(line.replaces, -1)
            if place < 0 or calls[place].key != key or isinstance(calls[place].outcome, ChatAnswer):
                raise self._error(f"it replaces line {line.replaces}, which is no failed call of the same request")
            calls[place] = call
            del self._places[line.replaces]
        self._places[call.line] = place

    def _error(self, message: str) -> FormatError:
        return FormatError(message, path=self._path, line=self._number)


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")

"""The file of recorded calls of a chat model.

The file is JSON Lines, in ASCII. The header is ``{"format": "worldthread-recording", "version": 1, "model": name}``.
Every other line is one call: ``{"request": {...}, "answer": {...}}``, or ``{"request": {...}, "error": {"message",
"status", "attempts"}}``, with the fields of :class:`~worldthread.models.chat.ChatRequest` and
:class:`~worldthread.models.chat.ChatAnswer`; the recorded form stands in place of a random mark
(:mod:`worldthread.models.boundary`). Lines are in the order in which the calls ended. A line with
``"replaces": n`` repeats the request whose call failed in line *n* (the header is line 1); its outcome replaces the
error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

from worldthread.errors import InputError, ModelCallError, StoreError
from worldthread.files.decoding import convert
from worldthread.files.json_lines import JsonLine, JsonLinesReader, JsonLinesWriter
from worldthread.files.regular_files import MAX_BYTES, open_regular, require_openable
from worldthread.models.chat import ChatAnswer, ChatRequest
from worldthread.models.request_key import request_key, to_json
from worldthread.support.arguments import require_unicode

FORMAT: Final = "worldthread-recording"
VERSION: Final = 1
"""Version of the format that is written, and the newest that is read."""
_WHAT: Final = "a recording of calls"
_LARGEST: Final = 2**53


@dataclass(frozen=True)
class RecordedCall:
    """One call.

    Args:
        line: number of its line in the file, counted from 1.
        key: see :func:`~worldthread.models.request_key.request_key`; equal for equal requests.
        request: the request that the model got.
        outcome: the answer, or the error that the call ended with.
    """

    line: int
    key: str
    request: ChatRequest
    outcome: ChatAnswer | ModelCallError


@dataclass(frozen=True)
class Recording:
    """The content of a file of recorded calls.

    Args:
        model: name of the model that was called.
        calls: the calls in the order of the file; a repeated call is in the place of the one that failed.
    """

    model: str
    calls: tuple[RecordedCall, ...]


def read_recording(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Recording:
    """Read the calls in a file; a torn last line is left out.

    Args:
        path: the file.
        max_bytes: the most bytes that the file may have.

    Returns:
        The model's name and the calls.

    Raises:
        FormatError: a line is damaged, or a newer release wrote the file; or it is too large, or not a regular file.
        StoreError: the file cannot be read.
    """
    path = Path(path)
    try:
        with open_regular(path, max_bytes=max_bytes) as stream:
            reader = JsonLinesReader(stream, path, skip_torn=True, decode=_decode)
            return _read(reader, reader.header(FORMAT, VERSION, _WHAT))
    except OSError as error:
        raise StoreError(f"the recording cannot be read: {error.strerror or error}", path=path) from error


class RecordingFile:
    """A recording that is open for appending. Thread-safe.

    Args:
        path: the file; it is made, with its folder, if it does not exist.
        model: name of the model whose calls are recorded.

    Attributes:
        recording: the content of the file when it was opened.

    Raises:
        InputError: the file holds calls of another model, or the name of the model is not Unicode.
        FormatError: the file is not a recording, or is damaged; it was not touched.
        StoreLockedError: the file is open for recording elsewhere.
        StoreError: the file cannot be written.
    """

    def __init__(self, path: Path, model: str) -> None:
        require_unicode(model, "the name of a model")  # a reader refuses any other
        require_openable(path)
        busy = "another run is recording into this file: wait for its end, or record into another file"
        self._log = JsonLinesWriter(path, busy=busy, lock_suffix="-lock", decode=_decode)
        with self._log.opening() as reader:
            header = reader.header_line(FORMAT, VERSION, _WHAT)
            self.recording = Recording(model, ()) if header is None else _read(reader, header.value)
            if self.recording.model != model:
                raise InputError(
                    f"{path} holds calls of the model {self.recording.model!r}: record calls of {model!r} into "
                    "another file"
                )
            self._log.open()
            if header is None:
                self._log.append(to_json({"format": FORMAT, "version": VERSION, "model": model}))

    def require_open(self) -> None:
        """Do nothing if the recording is open.

        Raises:
            ClosedError: it was closed.
        """
        self._log.require_open()

    def append(self, content: dict[str, object]) -> None:
        """Write a line; afterwards it is in the file as a whole or, after an error, not at all.

        Args:
            content: the fields of the line.

        Raises:
            InputError: the content cannot be written as JSON.
            ClosedError: the recording was closed.
            StoreError: the line cannot be written, for example because the disk is full.
        """
        self._log.append(to_json(content), failure="a call cannot be recorded, and its answer is lost")

    def close(self) -> None:
        """Close the file and let others write it. May be called again."""
        self._log.close()


class _Failure(msgspec.Struct, forbid_unknown_fields=True):
    message: str
    status: int | None
    attempts: int


class _CallLine(msgspec.Struct, forbid_unknown_fields=True):
    request: ChatRequest
    answer: ChatAnswer | None = None
    error: _Failure | None = None
    replaces: int | None = None


def _read(reader: JsonLinesReader, header: dict[str, Any]) -> Recording:
    model = header.get("model")
    if not isinstance(model, str) or any("\ud800" <= sign <= "\udfff" for sign in model):
        raise reader.error(f"the model must be a name, not {model!r}")
    calls: list[RecordedCall] = []
    places: dict[int, int] = {}  # index in `calls` by the number of the line
    for line in reader:
        call, replaced = _call(line, model, reader)
        if replaced is None:
            place = len(calls)
            calls.append(call)
        else:
            place = places.get(replaced, -1)
            if place < 0 or calls[place].key != call.key or isinstance(calls[place].outcome, ChatAnswer):
                raise reader.error(f"it replaces line {replaced}, which is not a failed call of the same request")
            calls[place] = call
            del places[replaced]
        places[line.number] = place
    return Recording(model, tuple(calls))


def _call(line: JsonLine, model: str, reader: JsonLinesReader) -> tuple[RecordedCall, int | None]:
    """Return the call that a line records, and the number of the line that it replaces."""
    try:
        fields = convert(line.value, _CallLine)
        key = request_key(model, fields.request)
        _require_figures(fields)
    except (msgspec.ValidationError, InputError) as error:
        raise reader.error(f"not a call: {error}") from error
    if fields.request.mark is not None or fields.request.today:
        raise reader.error("not a call: a recorded request has no random mark and no date of the clock")
    if fields.answer is not None and fields.error is None:
        outcome: ChatAnswer | ModelCallError = fields.answer
    elif fields.error is not None and fields.answer is None:
        outcome = ModelCallError(fields.error.message, status=fields.error.status, attempts=fields.error.attempts)
    else:
        raise reader.error("not a call: it must have either an answer or an error")
    return RecordedCall(line.number, key, fields.request, outcome), fields.replaces


def _require_figures(line: _CallLine) -> None:
    """Raise InputError for numbers that no call has, and that sums or JSON could not hold."""
    numbers: list[float | None] = [line.request.temperature, line.request.max_tokens, line.request.seed]
    if line.answer is not None:
        usage = line.answer.usage
        numbers += [usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens]
        numbers += [line.answer.seconds, line.answer.attempts]
    if line.error is not None:
        numbers += [line.error.status, line.error.attempts]
    for number in numbers:
        if number is not None and not -_LARGEST <= number <= _LARGEST:
            raise InputError(f"the number {number!r} is too large")


def _decode(line: bytes | str) -> Any:
    """Read every string that :func:`to_json` writes, among them lone surrogates, which orjson refuses."""
    return json.loads(line, parse_constant=_refuse_constant)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")

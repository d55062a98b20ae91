"""Two chat models around a file of recorded calls: one writes it, the other answers from it without a call.

The file is described in :mod:`worldthread.models.recording_file`.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from worldthread.errors import ModelCallError, ReplayError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Usage
from worldthread.models.recording_file import RecordedCall, Recording, RecordingFile, read_recording
from worldthread.models.request_key import describe_nearest, request_fields, request_key, to_json


class ReplayChat:
    """Answers from a recording and makes no call.

    Of equal requests the first gets the first answer that was recorded for it, the second the second, and so on;
    different requests may come in any order and from any thread. Errors that were recorded are raised again. An answer
    has neither usage nor seconds, and 0 attempts.

    Args:
        path: the recording.
        with_costs: answers bear the usage, the seconds and the attempts that were recorded instead.

    Raises:
        FormatError, StoreError: see :func:`read_recording`.
    """

    def __init__(self, path: str | Path, *, with_costs: bool = False) -> None:
        self._path = Path(path)
        self._with_costs = with_costs
        self._recording = read_recording(self._path)
        self._outcomes = _Outcomes(self._recording)

    @property
    def name(self) -> str:
        """The name of the model that was recorded."""
        return self._recording.model

    @property
    def concurrency(self) -> int:
        """1: there is nothing to wait for."""
        return 1

    @property
    def unused(self) -> int:
        """How many of the recorded calls were not asked for so far."""
        return self._outcomes.left

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """The answer that was recorded for ``request``.

        Raises:
            ReplayError: there is none, or all of them were given; the message tells what is different from the nearest
                request of the recording.
            ModelCallError: the call that was recorded failed.
        """
        call = self._outcomes.take(request)
        if call is None:
            raise ReplayError(self._explain(request))
        if isinstance(call.outcome, ModelCallError):
            # a new error each time: one that is raised twice gathers the tracebacks of both
            raise ModelCallError(str(call.outcome), status=call.outcome.status, attempts=call.outcome.attempts)
        return call.outcome if self._with_costs else without_costs(call.outcome)

    def _explain(self, request: ChatRequest) -> str:
        start = f"{self._path} holds no answer for this request (purpose {request.purpose!r}): "
        end = ". Record the run anew, or let it go on with RecordingChat(model, path, resume=True)"
        recorded = self._outcomes.count(request)
        if recorded:
            times = "once" if recorded == 1 else f"{recorded} times"
            return f"{start}it was recorded {times} and is asked once more{end}"
        if not self._recording.calls:
            return f"{start}it holds no calls at all{end}"
        requests = ((call.line, call.request) for call in self._recording.calls)
        return f"{start}{describe_nearest(request, requests)}{end}"


class RecordingChat:
    """Asks ``model`` and appends every call to a file, errors of the call included.

    A call that was answered is in the file even when the process is killed right after; a line that was cut short then
    is removed before the next one is written. Not so when the machine loses its power. The answers to equal requests
    that are made at the same time can stand in the file in either order.

    Args:
        model: answers the requests.
        path: the recording; made when it does not exist, continued when it does. One process may write at a time:
            ``<path>-lock`` is held until :meth:`close`.
        resume: whether requests that are in the file are answered from there, as in :class:`ReplayChat`, so that a run
            that was interrupted asks nothing twice. What ended in an error is asked again, and takes its place.
        with_costs: answers from the file bear the usage, the seconds and the attempts that were recorded, instead of
            none: what counts them comes to what the whole run used, however often it was interrupted.

    Raises:
        InputError: the file holds calls of another model.
        FormatError: the file is not a recording, or is damaged; it was not touched.
        StoreLockedError: another one has the file open for recording.
        StoreError: the file cannot be written.
    """

    def __init__(self, model: ChatModel, path: str | Path, *, resume: bool = False, with_costs: bool = False) -> None:
        self._model = model
        self._with_costs = with_costs
        self._file = RecordingFile(Path(path), model.name)
        self._outcomes = _Outcomes(self._file.recording) if resume else None

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def concurrency(self) -> int:
        """That of the model behind."""
        return self._model.concurrency

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """See :meth:`worldthread.models.chat.ChatModel.complete`.

        Raises:
            InputError: the request cannot be written as JSON.
            ClosedError: the recording was closed; no call was made.
            StoreError: the model answered, and the answer cannot be written.
        """
        call = self._outcomes.take(request) if self._outcomes is not None else None
        if call is not None and isinstance(call.outcome, ChatAnswer):
            return call.outcome if self._with_costs else without_costs(call.outcome)
        # before the call, so that nothing is paid for that cannot be kept
        content: dict[str, object] = {"request": request_fields(request)}
        if call is not None:
            content["replaces"] = call.line
        to_json(content, sort_keys=True)
        self._file.require_open()
        try:
            answer = self._model.complete(request)
        except ModelCallError as error:
            failure = {"message": str(error), "status": error.status, "attempts": error.attempts}
            self._file.append({**content, "error": failure})
            raise
        self._file.append({**content, "answer": asdict(answer)})
        return answer

    def close(self) -> None:
        """Release the file. May be called again."""
        self._file.close()

    def __enter__(self) -> RecordingChat:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def without_costs(answer: ChatAnswer) -> ChatAnswer:
    """``answer`` as it is given when no call was made for it."""
    return replace(answer, usage=Usage(), seconds=0.0, attempts=0)


class _Outcomes:
    """The calls of a recording, handed out one by one. Safe for threads."""

    def __init__(self, recording: Recording) -> None:
        self._model = recording.model
        self._lock = threading.Lock()
        self._counts = Counter(call.key for call in recording.calls)
        self._waiting: dict[str, deque[RecordedCall]] = {}
        for call in recording.calls:
            self._waiting.setdefault(call.key, deque()).append(call)

    @property
    def left(self) -> int:
        with self._lock:
            return sum(len(calls) for calls in self._waiting.values())

    def take(self, request: ChatRequest) -> RecordedCall | None:
        key = request_key(self._model, request)
        with self._lock:
            calls = self._waiting.get(key)
            return calls.popleft() if calls else None

    def count(self, request: ChatRequest) -> int:
        """How often ``request`` was recorded."""
        return self._counts[request_key(self._model, request)]

"""Two chat models for a file of recorded calls: one records calls, the other replays them without a call.

:mod:`worldthread.models.recording_file` describes the file.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import asdict, replace
from pathlib import Path

from worldthread.errors import ModelCallError, ReplayError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Usage, WrappedChat
from worldthread.models.recording_file import RecordedCall, Recording, RecordingFile, read_recording
from worldthread.models.request_key import describe_nearest, recorded_answer, request_fields, request_key, to_json
from worldthread.support.closeable import Closeable


class ReplayChat:
    """Answers requests from a recording and makes no call. Thread-safe.

    Of equal requests the first gets the first recorded answer, the second the second, and so on; different requests may
    come in any order. Recorded errors are raised again. An answer has no usage, no seconds and 0 attempts.

    Args:
        path: the recording.
        with_costs: whether answers have the recorded usage, seconds and attempts instead.

    Raises:
        FormatError: the recording is damaged; see :func:`read_recording`.
        StoreError: the recording cannot be read.
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
        """Always 1: a replay does not wait."""
        return 1

    @property
    def unused(self) -> int:
        """How many recorded calls were not replayed yet."""
        return self._outcomes.left

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the next recorded answer to a request.

        Args:
            request: the request.

        Returns:
            The recorded answer.

        Raises:
            ReplayError: there is none, or all were used; the message shows how the nearest recorded request differs.
            ModelCallError: the recorded call failed.
        """
        call = self._outcomes.take(request)
        if call is None:
            raise ReplayError(self._explain(request))
        if isinstance(call.outcome, ModelCallError):
            # a new error each time: one that is raised twice collects the tracebacks of both
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


class RecordingChat(WrappedChat, Closeable):
    """Calls ``model`` and appends every call to a file, failed calls included. Thread-safe.

    A call that was answered is in the file even if the process is killed right after, but not necessarily after a loss
    of power. A torn last line is removed before the next one is written. Equal requests that are made at the same time
    can be in either order in the file.

    Args:
        model: answers the requests.
        path: the recording; it is made if it does not exist, else continued. One process may write at a time:
            ``<path>-lock`` is held until :meth:`close`.
        resume: whether requests that are in the file are answered from there, as by :class:`ReplayChat`, so that an
            interrupted run repeats no call. A call that failed is repeated, and its new outcome replaces the error.
        with_costs: whether answers from the file have the recorded usage, seconds and attempts, so that their sum is
            what the whole run used, however often it was interrupted.

    Raises:
        InputError: the file holds calls of another model.
        FormatError: the file is not a recording, or is damaged; it was not touched.
        StoreLockedError: the file is open for recording elsewhere.
        StoreError: the file cannot be written.
    """

    def __init__(self, model: ChatModel, path: str | Path, *, resume: bool = False, with_costs: bool = False) -> None:
        super().__init__(model)
        self._with_costs = with_costs
        self._file = RecordingFile(Path(path), model.name)
        self._outcomes = _Outcomes(self._file.recording) if resume else None

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request and record it; see :meth:`worldthread.models.chat.ChatModel.complete`.

        Args:
            request: the request.

        Returns:
            The answer of the model or, with ``resume``, the recorded one.

        Raises:
            InputError: the request cannot be written as JSON.
            ClosedError: the recording was closed; no call was made.
            StoreError: the model answered, but the answer cannot be written.
            ModelCallError: the call failed; the error is recorded.
        """
        call = self._outcomes.take(request) if self._outcomes is not None else None
        if call is not None and isinstance(call.outcome, ChatAnswer):
            return call.outcome if self._with_costs else without_costs(call.outcome)
        # check before the call, so that every answer that is paid for can be recorded
        content: dict[str, object] = {"request": request_fields(request)}
        if call is not None:
            content["replaces"] = call.line
        to_json(content, sort_keys=True)
        self._file.require_open()
        try:
            answer = recorded_answer(request, self._model.complete(request))
        except ModelCallError as error:
            failure = {"message": str(error), "status": error.status, "attempts": error.attempts}
            self._file.append({**content, "error": failure})
            raise
        self._file.append({**content, "answer": asdict(answer)})
        return answer

    def close(self) -> None:
        """Close the file and let others write it. May be called again."""
        self._file.close()


def without_costs(answer: ChatAnswer) -> ChatAnswer:
    """Return ``answer`` with no usage, no seconds and 0 attempts, as if no call was made."""
    return replace(answer, usage=Usage(), seconds=0.0, attempts=0)


class _Outcomes:
    """The calls of a recording, taken one by one. Thread-safe."""

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
        """Return how often ``request`` was recorded."""
        return self._counts[request_key(self._model, request)]

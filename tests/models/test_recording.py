from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.errors import (
    BudgetError,
    ClosedError,
    FormatError,
    InputError,
    ModelCallError,
    ReplayError,
    StoreError,
    StoreLockedError,
)
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Message, Usage
from worldthread.models.recording import RecordingChat, ReplayChat
from worldthread.models.recording_file import read_recording
from worldthread.models.request_key import request_key


class Counting:
    """Numbers its answers; fails when it is asked to."""

    def __init__(self, name: str = "toy") -> None:
        self.name = name
        self.concurrency = 4
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest) -> ChatAnswer:
        text = request.messages[-1].content
        with self._lock:
            self.asked.append(text)
            number = len(self.asked)
        if text.startswith("fail"):
            raise ModelCallError("the server is down", status=503, attempts=3)
        if text.startswith("spent"):
            raise BudgetError("no more")
        return ChatAnswer(f"{text} #{number}", "toy-1", Usage(10, 5, 2), "stop", 0.25, 2)


def asking(text: str, purpose: str = "extract", **fields: Any) -> ChatRequest:
    return ChatRequest((Message("system", "Be brief."), Message("user", text)), purpose, **fields)


def record(path: Path, *texts: str) -> list[str]:
    with RecordingChat(Counting(), path) as model:
        return [model.complete(asking(text)).text for text in texts]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


# -- the key -----------------------------------------------------------------------------------------------------------


def test_a_key_is_the_same_in_every_process_and_release() -> None:
    request = asking("a key", schema={"type": "object", "required": ["a"]}, temperature=0.5, max_tokens=9, seed=3)
    assert request_key("toy", request) == "d359aba1804f6374f42405bccad8175ddcb12f28efd11eb924811fb467e6b829"


def test_the_purpose_and_the_order_of_a_schema_do_not_count() -> None:
    one = asking("a key", schema={"a": 1, "b": {"c": 2, "d": 3}})
    other = asking("a key", "plan", schema=MappingProxyType({"b": MappingProxyType({"d": 3, "c": 2}), "a": 1}))
    assert request_key("toy", one) == request_key("toy", other)
    assert request_key("toy", asking("x", temperature=0)) == request_key("toy", asking("x", temperature=-0.0))


def test_all_that_is_sent_counts() -> None:
    requests = [
        asking("a key"),
        asking("a key "),
        asking("a key", schema={}),
        asking("a key", schema={"a": [1, 2]}),
        asking("a key", schema={"a": [2, 1]}),
        asking("a key", temperature=0.1),
        asking("a key", max_tokens=1),
        asking("a key", seed=1),
        ChatRequest((Message("user", "Be brief."), Message("user", "a key")), "extract"),
        ChatRequest((Message("user", "a key"), Message("system", "Be brief.")), "extract"),
        ChatRequest((Message("system", "Be brief.a key"),), "extract"),
    ]
    keys = [request_key("toy", request) for request in requests] + [request_key("toys", requests[0])]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("schema", [{"a": {1, 2}}, {"a": float("nan")}, {"a": object()}, {1: 2, "a": 3}])
def test_a_request_that_is_no_json_is_refused(schema: Any, path: Path) -> None:
    model = Counting()
    with pytest.raises(InputError, match="cannot be written as JSON"), RecordingChat(model, path) as recording:
        recording.complete(asking("a key", schema=schema))
    assert model.asked == []


# -- recording and replaying -------------------------------------------------------------------------------------------


def test_the_file_is_lines_of_json(path: Path) -> None:
    record(path, "a key", "a dóor")
    header, *lines = [json.loads(line) for line in path.read_bytes().decode("ascii").splitlines()]
    assert header == {"format": "worldthread-recording", "version": 1, "model": "toy"}
    assert lines[1] == {
        "request": {
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "a dóor"}],
            "purpose": "extract",
            "schema": None,
            "temperature": 0.0,
            "max_tokens": None,
            "seed": None,
        },
        "answer": {
            "text": "a dóor #2",
            "model": "toy-1",
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 2},
            "finish_reason": "stop",
            "seconds": 0.25,
            "attempts": 2,
        },
    }


def test_a_recording_is_a_model_and_hands_answers_through(path: Path) -> None:
    with RecordingChat(Counting(), path) as model:
        assert isinstance(model, ChatModel)
        assert (model.name, model.concurrency) == ("toy", 4)
        assert model.complete(asking("a key")) == ChatAnswer("a key #1", "toy-1", Usage(10, 5, 2), "stop", 0.25, 2)


def test_a_replay_gives_the_answers_without_their_costs(path: Path) -> None:
    record(path, "a key")
    replay = ReplayChat(path)
    assert isinstance(replay, ChatModel)
    assert (replay.name, replay.concurrency, replay.unused) == ("toy", 1, 1)
    assert replay.complete(asking("a key", "plan")) == ChatAnswer("a key #1", "toy-1", Usage(), "stop", 0.0, 0)
    assert replay.unused == 0


def test_equal_requests_get_their_answers_in_turn(path: Path) -> None:
    record(path, "a", "b", "a", "a", "b")
    replay = ReplayChat(path)
    texts = [replay.complete(asking(text)).text for text in "bbaaa"]
    assert texts == ["b #2", "b #5", "a #1", "a #3", "a #4"]
    with pytest.raises(ReplayError, match=r"calls\.jsonl.*'extract'.*recorded 3 times and is asked once more"):
        replay.complete(asking("a"))


def test_errors_are_raised_again(path: Path) -> None:
    with RecordingChat(Counting(), path) as model:
        with pytest.raises(ModelCallError):
            model.complete(asking("fail"))
        with pytest.raises(BudgetError):
            model.complete(asking("spent"))
    replay = ReplayChat(path)
    assert replay.unused == 1  # no call was made when the budget was spent
    with pytest.raises(ModelCallError, match="the server is down") as caught:
        replay.complete(asking("fail"))
    assert (caught.value.status, caught.value.attempts) == (503, 3)


def test_threads_may_ask_in_any_order(path: Path) -> None:
    texts = [f"question {i % 50}" for i in range(400)]
    with RecordingChat(Counting(), path) as model, ThreadPoolExecutor(8) as pool:
        recorded = list(pool.map(lambda text: model.complete(asking(text)).text, texts))
    replay = ReplayChat(path)
    with ThreadPoolExecutor(8) as pool:
        replayed = list(pool.map(lambda text: replay.complete(asking(text)).text, reversed(texts)))
    assert Counter(recorded) == Counter(replayed)
    assert replay.unused == 0


@settings(deadline=None)
@given(text=st.text(st.characters()), answer=st.text(st.characters()), schema=st.dictionaries(st.text(), st.integers()))
def test_every_text_comes_back_as_it_was(
    text: str, answer: str, schema: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    class Parrot(Counting):
        def complete(self, request: ChatRequest) -> ChatAnswer:
            return ChatAnswer(answer)

    path = tmp_path_factory.mktemp("parrot") / "calls.jsonl"
    request = asking(text, schema=schema)
    name = text.encode(errors="replace").decode()
    with RecordingChat(Parrot(name), path) as model:
        model.complete(request)
    recording = read_recording(path)
    assert recording.model == name
    assert recording.calls[0].request == request
    assert ReplayChat(path).complete(request).text == answer


def test_a_model_whose_name_no_reader_takes_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the name of a model"):
        RecordingChat(Counting("\ud800"), tmp_path / "calls.jsonl")
    assert not list(tmp_path.iterdir())


# -- requests that are not in the recording ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (asking("where is the golden key?", "plan"), "message 2 (user), from character 14 on: recorded"),
        (asking("where is the rusty key?", temperature=0.7), "temperature, from character 3 on: recorded '0.0', asked"),
        (asking("where is the rusty key?", schema={"type": "object"}), "schema, from"),
        (asking("where is the rusty key?", max_tokens=5), "max_tokens, from"),
        (asking("where is the rusty key?", seed=5), "seed, from"),
        (ChatRequest((Message("system", "Be brief."),), "plan"), "the number of messages: recorded 2, asked 1"),
        (
            ChatRequest((Message("system", "Be brief."), Message("assistant", "where is the rusty key?")), "plan"),
            "the role of message 2: recorded 'user', asked 'assistant'",
        ),
    ],
)
def test_a_request_that_was_not_recorded_is_named(request_: ChatRequest, words: str, path: Path) -> None:
    record(path, "who are you?", "where is the rusty key?", "when?")
    replay = ReplayChat(path)
    with pytest.raises(ReplayError) as caught:
        replay.complete(request_)
    message = str(caught.value)
    assert words in message
    assert f"purpose {request_.purpose!r}" in message
    assert "(line 3, purpose 'extract')" in message or request_.messages[1:] == ()
    assert "resume=True" in message
    assert replay.unused == 3


def test_the_difference_is_shown_and_not_the_whole_text(path: Path) -> None:
    record(path, "x" * 5000 + "rusty" + "y" * 5000)
    with pytest.raises(ReplayError) as caught:
        ReplayChat(path).complete(asking("x" * 5000 + "golden" + "y" * 5000))
    assert "from character 5001 on" in str(caught.value)
    assert "xrustyy" in str(caught.value)
    assert "xgoldeny" in str(caught.value)
    assert len(str(caught.value)) < 700


def test_a_recording_without_calls_answers_nothing(path: Path) -> None:
    record(path)
    with pytest.raises(ReplayError, match="no calls at all"):
        ReplayChat(path).complete(asking("a key"))


# -- going on ----------------------------------------------------------------------------------------------------------


def test_a_resumed_run_asks_nothing_twice(path: Path) -> None:
    record(path, "a", "b", "a")
    model = Counting()
    with RecordingChat(model, path, resume=True) as resumed:
        answers = [resumed.complete(asking(text)) for text in "abaac"]
    assert [answer.text for answer in answers] == ["a #1", "b #2", "a #3", "a #1", "c #2"]
    assert [answer.attempts for answer in answers] == [0, 0, 0, 2, 2]
    assert model.asked == ["a", "c"]
    replay = ReplayChat(path)
    assert [replay.complete(asking(text)).text for text in "abaac"] == [answer.text for answer in answers]


def test_without_resume_a_file_is_continued_and_all_is_asked(path: Path) -> None:
    assert record(path, "a") == record(path, "a")
    assert len(read_recording(path).calls) == 2


def test_a_resumed_run_asks_again_what_failed(path: Path) -> None:
    with RecordingChat(Counting(), path) as model:
        for text in ("fail", "a", "fail"):
            if text == "a":
                model.complete(asking(text))
            else:
                with pytest.raises(ModelCallError):
                    model.complete(asking(text))

    class Mended(Counting):
        def complete(self, request: ChatRequest) -> ChatAnswer:
            self.asked.append(request.messages[-1].content)
            return ChatAnswer(f"mended {len(self.asked)}")

    with RecordingChat(Counting(), path, resume=True) as model, pytest.raises(ModelCallError):
        model.complete(asking("fail"))  # fails once more
    mended = Mended()
    with RecordingChat(mended, path, resume=True) as model:
        assert [model.complete(asking(text)).text for text in ("fail", "a", "fail", "fail")] == [
            "mended 1",
            "a #2",
            "mended 2",
            "mended 3",
        ]
    replay = ReplayChat(path)
    assert [replay.complete(asking("fail")).text for _ in range(3)] == ["mended 1", "mended 2", "mended 3"]
    assert replay.unused == 1


def test_a_file_with_calls_of_another_model_is_not_continued(path: Path) -> None:
    record(path, "a")
    before = path.read_bytes()
    with pytest.raises(InputError, match="calls of the model 'toy'"):
        RecordingChat(Counting("other"), path)
    assert path.read_bytes() == before
    record(path, "b")  # it was released


def test_one_at_a_time_may_record(path: Path) -> None:
    with RecordingChat(Counting(), path):
        with pytest.raises(StoreLockedError, match=r"calls\.jsonl: another run"):
            RecordingChat(Counting(), path)
        code = (
            "import sys; from worldthread.models.recording_file import RecordingFile; from pathlib import Path\n"
            "RecordingFile(Path(sys.argv[1]), 'toy')"
        )
        other = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert "StoreLockedError" in other.stderr
        assert ReplayChat(path).unused == 0  # reading is open to all
    record(path, "a")


def test_a_closed_recording_makes_no_call(path: Path) -> None:
    counting = Counting()
    model = RecordingChat(counting, path)
    model.close()
    model.close()
    with pytest.raises(ClosedError):
        model.complete(asking("a"))
    assert counting.asked == []


# -- damage ------------------------------------------------------------------------------------------------------------


def test_a_file_that_was_cut_anywhere_is_read_and_continued(path: Path) -> None:
    record(path, "a", "b")
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    around = {end + offset for end in [*ends, len(whole)] for offset in (-2, -1, 0, 1)}
    for length in sorted({*range(0, len(whole), 7), *around} - {len(whole), len(whole) + 1}):
        path.write_bytes(whole[:length])
        # a line that lacks nothing but its end is whole
        calls = sum(length >= end - 1 for end in ends[1:])
        if length >= ends[0]:
            assert ReplayChat(path).unused == calls
            assert path.stat().st_size == length
        with RecordingChat(Counting(), path) as model:
            assert path.read_bytes().startswith(whole[:length])
            model.complete(asking("c"))
        texts = [call.request.messages[-1].content for call in read_recording(path).calls]
        assert texts == [*["a", "b"][:calls], "c"]


@pytest.mark.parametrize(
    ("line", "change", "words"),
    [
        (1, b"", "not JSON"),
        (1, b"hello", "not JSON"),
        (1, b"[]", "not the header"),
        (1, b'{"format":"other"}', "not the header"),
        (1, b'{"format":"worldthread-recording","version":2,"model":"toy"}', "newer release"),
        (1, b'{"format":"worldthread-recording","version":true,"model":"toy"}', "whole number"),
        (1, b'{"format":"worldthread-recording","version":1,"model":3}', "must be a name"),
        (2, b"", "not JSON"),
        (2, b"\xff\xfe", "not JSON"),
        (2, b"[" * 200_000, "not JSON"),
        (2, b'{"request":', "not JSON"),
        (2, b"{}", "missing required field `request`"),
        (2, b'{"request":{"messages":[],"purpose":"p"},"answer":{"text":""}}', "at least one message"),
        (2, b'{"request":{"messages":[{"role":"user","content":""}],"purpose":"p"}}', "either an answer or an error"),
        (
            2,
            b'{"request":{"messages":[{"role":"user","content":""}],"purpose":"p","temperature":NaN}}',
            "NaN is not JSON",
        ),
        (
            3,
            b'{"request":{"messages":[{"role":"user","content":""}],"purpose":"p"},"answer":{"text":""},"replaces":2}',
            "replaces line 2",
        ),
    ],
)
def test_a_damaged_line_is_named_and_the_file_is_left_alone(line: int, change: bytes, words: str, path: Path) -> None:
    record(path, "a", "b", "c")
    lines = path.read_bytes().split(b"\n")
    lines[line - 1] = change
    path.write_bytes(b"\n".join(lines))
    before = path.read_bytes()
    with pytest.raises(FormatError, match=words) as caught:
        ReplayChat(path)
    assert (caught.value.line, caught.value.path) == (line, path)
    with pytest.raises(FormatError):
        RecordingChat(Counting(), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"\0" * 50, b"a diary", b'{"format":"worldthread-episodes"}\n'])
def test_another_file_is_never_written_over(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        RecordingChat(Counting(), path)
    assert caught.value.line == 1
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_that_is_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"):
        ReplayChat(tmp_path / "none.jsonl")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(FormatError, match="empty"):
        ReplayChat(empty)
    record(empty, "a")
    with pytest.raises(StoreError, match="Is a directory"):
        RecordingChat(Counting(), tmp_path)
    record(tmp_path / "new" / "folder" / "calls.jsonl", "a")


def test_a_full_disk_is_an_error_and_leaves_whole_lines(path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with RecordingChat(Counting(), path) as model:
            model.complete(asking("a"))
            size = path.stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, hard))
            with pytest.raises(StoreError, match=r"calls\.jsonl: a call cannot be recorded"):
                model.complete(asking("b"))
            assert path.stat().st_size == size
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            model.complete(asking("c"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert [call.request.messages[-1].content for call in read_recording(path).calls] == ["a", "c"]


SCRIPT = """
import sys
from worldthread.models.chat import ChatAnswer, ChatRequest, Message
from worldthread.models.recording import RecordingChat

class Toy:
    name = "toy"
    concurrency = 1
    def complete(self, request):
        return ChatAnswer(request.messages[0].content * 50)

model = RecordingChat(Toy(), sys.argv[1], resume=True)
for i in range(10**6):
    answer = model.complete(ChatRequest((Message("user", f"question {i}"),), "plan"))
    if answer.attempts:
        print(i, flush=True)
"""


def test_a_killed_run_goes_on_where_it_was(path: Path) -> None:
    acknowledged = -1
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        first = int(process.stdout.readline())
        # of the line that was being written when the process was killed it is not known whether it is there
        assert first in (acknowledged + 1, acknowledged + 2)
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read().split("\n")
        process.wait()
        acknowledged = max([first, *(int(number) for number in rest[:-1])])
        calls = read_recording(path).calls
        assert len(calls) in (acknowledged + 1, acknowledged + 2)
        assert [call.request.messages[0].content for call in calls] == [f"question {i}" for i in range(len(calls))]
    replay = ReplayChat(path)
    for i in range(acknowledged + 1):
        assert replay.complete(ChatRequest((Message("user", f"question {i}"),), "plan")).text == f"question {i}" * 50

"""What every chat model must do, run over all models and wrappers that need no network."""

from __future__ import annotations

import copy
import importlib.util
import math
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from worldthread.errors import InputError, ModelCallError, WorldthreadError
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, Message, Usage
from worldthread.models.chat_cache import CachedChat, answers_in_file
from worldthread.models.config import load_config
from worldthread.models.configured import ConfiguredChat
from worldthread.models.fake_chat import FakeAnswer, FakeChat
from worldthread.models.meter import Meter
from worldthread.models.openai_chat import OpenAIChat
from worldthread.models.recording import RecordingChat, ReplayChat
from worldthread.models.structured import complete_structured, parse_answer, schema_of
from worldthread_lab.play.fake_player import FakePlayer

if "chat_server" not in sys.modules:
    _path = Path(__file__).parents[1] / "models" / "chat_server.py"
    _spec = importlib.util.spec_from_file_location("chat_server", _path)
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["chat_server"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["chat_server"])
chat_server = sys.modules["chat_server"]

MakeModel = Callable[[], ChatModel]


class Room(msgspec.Struct, forbid_unknown_fields=True):
    """A room."""

    name: str


def asking(text: str, purpose: str = "test", **settings: Any) -> ChatRequest:
    return ChatRequest((Message("system", "Be brief."), Message("user", text)), purpose, **settings)


FREE = asking("Where is the rusty key?")
UNICODE = asking("Où est la clé ? 钥匙在哪里 🗝️")
SURROGATE = asking("half of a pair: \ud83d")
OBJECT = asking("Name a room.", schema=schema_of(Room))
SAMPLED = asking("Say something.", temperature=0.7, seed=3, max_tokens=20)
CUT_OFF = asking("Tell a long story.")
EMPTY = asking("Say nothing.")
FAILING = asking("Please fail.")
MANY = [asking(f"Question {number}") for number in range(24)]
ALL = [FREE, UNICODE, SURROGATE, OBJECT, SAMPLED, CUT_OFF, EMPTY, FAILING, *MANY]


def outcome(text: str, *, wants_object: bool) -> ChatAnswer | ModelCallError:
    """The answer to the last message of a request, where answers can be laid down."""
    if text == FAILING.messages[-1].content:
        return ModelCallError("the server refused", status=400)
    if text == CUT_OFF.messages[-1].content:
        return ChatAnswer("Once upon a", usage=Usage(8, 3), finish_reason="length")
    if text == EMPTY.messages[-1].content:
        return ChatAnswer("", usage=Usage(8, 0))
    said = '{"name": "kitchen"}' if wants_object else f"I heard: {text}"
    return ChatAnswer(said, model="toy-1", usage=Usage(len(text.split()) + 2, len(said.split())), seconds=0.01)


def scripted() -> FakeChat:
    def answer(request: ChatRequest) -> FakeAnswer:
        return outcome(request.messages[-1].content, wants_object=request.schema is not None)

    return FakeChat(answer, name="toy", concurrency=3)


def serve(body: dict[str, Any]) -> Any:
    found = outcome(body["messages"][-1]["content"], wants_object="response_format" in body)
    if isinstance(found, ModelCallError):
        return chat_server.Reply(status=400, error={"message": "I refuse"})
    return chat_server.Reply(found.text, finish_reason=found.finish_reason)


@pytest.fixture(
    params=[
        "fake",
        "player",
        "cached",
        "meter",
        "recording",
        "resumed",
        "replay",
        "replay with costs",
        pytest.param("openai", marks=pytest.mark.model),
        pytest.param("configured", marks=pytest.mark.model),
    ]
)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeModel]:
    """A function that makes a new model of one kind."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    numbers = iter(range(100))
    with ExitStack() as stack:

        def recorded() -> Path:
            """A recording in which every request of this file is answered three times."""
            path = tmp_path / f"recording-{next(numbers)}.jsonl"
            with RecordingChat(scripted(), path) as model:
                for request in ALL * 3:
                    if request is FAILING:
                        with pytest.raises(ModelCallError):
                            model.complete(request)
                    else:
                        model.complete(request)
            return path

        def server_url() -> str:
            server = stack.enter_context(chat_server.ChatServer(default=serve))
            return str(server.url)

        def configured() -> ConfiguredChat:
            config = load_config(
                "tiny", base_url=server_url(), timeout=30.0, retries=0, environ={"HOME": str(tmp_path)}
            )
            model = ConfiguredChat(config)
            stack.callback(model.close)
            return model

        makers: dict[str, MakeModel] = {
            "fake": scripted,
            "player": lambda: FakePlayer(7, concurrency=2),
            "cached": lambda: CachedChat(
                scripted(), stack.enter_context(answers_in_file(tmp_path / f"cache-{next(numbers)}.sqlite"))
            ),
            "meter": lambda: Meter(scripted(), max_tokens=10**6),
            "recording": lambda: stack.enter_context(
                RecordingChat(scripted(), tmp_path / f"calls-{next(numbers)}.jsonl")
            ),
            "resumed": lambda: stack.enter_context(RecordingChat(scripted(), recorded(), resume=True)),
            "replay": lambda: ReplayChat(recorded()),
            "replay with costs": lambda: ReplayChat(recorded(), with_costs=True),
            "openai": lambda: OpenAIChat("tiny", base_url=server_url(), backoff=0.01, timeout=30.0),
            "configured": configured,
        }
        yield makers[kind]


@pytest.fixture
def model(make: MakeModel) -> ChatModel:
    return make()


@pytest.fixture
def can_be_scripted(kind: str) -> None:
    """Skips models whose answers cannot be laid down."""
    if kind == "player":
        pytest.skip("this model makes up its answers")


def test_it_meets_the_protocol(model: ChatModel) -> None:
    assert isinstance(model, ChatModel)
    before = model.name, model.concurrency
    assert isinstance(model.name, str)
    assert model.name
    assert type(model.concurrency) is int
    assert model.concurrency >= 1
    model.complete(FREE)
    assert (model.name, model.concurrency) == before


@pytest.mark.parametrize("request_", [FREE, UNICODE, OBJECT, SAMPLED], ids=["free", "unicode", "object", "sampled"])
def test_an_answer_is_complete(model: ChatModel, request_: ChatRequest) -> None:
    answer = model.complete(request_)
    assert type(answer) is ChatAnswer
    assert isinstance(answer.text, str)
    assert answer.text
    assert isinstance(answer.model, str)
    assert answer.finish_reason == "stop"
    assert math.isfinite(answer.seconds)
    assert answer.seconds >= 0
    assert answer.attempts >= 0
    assert 0 <= answer.usage.cached_tokens <= answer.usage.prompt_tokens
    if answer.attempts:
        assert answer.usage.prompt_tokens > 0
        assert answer.usage.completion_tokens > 0
    else:
        assert (answer.usage, answer.seconds) == (Usage(), 0.0), "no call was made"


def test_a_schema_may_be_any_mapping(model: ChatModel) -> None:
    request = replace(OBJECT, schema=MappingProxyType(schema_of(Room)))
    assert parse_answer(model.complete(request).text, Room)


def test_a_request_is_not_changed(model: ChatModel) -> None:
    for request in (FREE, OBJECT, SAMPLED):
        before = copy.deepcopy(request)
        model.complete(request)
        assert request == before


def test_equal_requests_get_equal_answers(make: MakeModel) -> None:
    """At temperature 0, from one model and from another of its kind, whatever was asked in between."""
    one, other = make(), make()
    first = one.complete(FREE).text
    one.complete(UNICODE)
    assert one.complete(FREE).text == first
    assert other.complete(copy.deepcopy(FREE)).text == first


def test_the_purpose_does_not_decide_the_answer(model: ChatModel) -> None:
    texts = {model.complete(replace(FREE, purpose=purpose)).text for purpose in ("plan", "act", "any other")}
    assert len(texts) == 1


def test_a_schema_is_honoured(model: ChatModel) -> None:
    assert isinstance(parse_answer(model.complete(OBJECT).text, Room), Room)
    unset = replace(OBJECT, schema=None)
    assert isinstance(complete_structured(model, unset, Room), Room), "the schema is made from the type"


def test_strings_that_utf_8_cannot_hold_are_no_problem(model: ChatModel) -> None:
    assert isinstance(model.complete(SURROGATE).text, str)


@pytest.mark.usefixtures("can_be_scripted")
def test_texts_and_finish_reasons_are_handed_on(model: ChatModel) -> None:
    assert model.complete(UNICODE).text == f"I heard: {UNICODE.messages[-1].content}"
    cut_off, empty = model.complete(CUT_OFF), model.complete(EMPTY)
    assert (cut_off.text, cut_off.finish_reason) == ("Once upon a", "length")
    assert (empty.text, empty.finish_reason) == ("", "stop")


@pytest.mark.usefixtures("can_be_scripted")
def test_a_failed_call_is_an_error_of_ours_and_the_model_goes_on(model: ChatModel) -> None:
    errors = []
    for _ in range(2):
        with pytest.raises(ModelCallError) as caught:
            model.complete(FAILING)
        errors.append(caught.value)
    for error in errors:
        assert isinstance(error, WorldthreadError)
        assert error.status == 400
        assert error.attempts >= 1
        assert str(error)
    assert model.complete(FREE).text


def test_what_json_cannot_express_is_refused_or_answered(model: ChatModel) -> None:
    with suppress(InputError):  # no other error comes out
        model.complete(asking("Name a room.", schema={"type": "object", "default": object()}))
    assert model.complete(FREE).text


def test_threads_get_their_own_answers(make: MakeModel) -> None:
    alone = make()
    expected = [alone.complete(request).text for request in MANY]
    assert len(set(expected)) > 1
    model = make()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(model.complete, MANY * 2))
    assert [answer.text for answer in answers] == expected * 2


@pytest.mark.usefixtures("can_be_scripted")
def test_threads_survive_the_failures_of_others(model: ChatModel) -> None:
    def complete(request: ChatRequest) -> str:
        try:
            return model.complete(request).text
        except ModelCallError:
            return "failed"

    requests = [each for request in MANY[:3] for each in (request, FAILING)]
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(complete, requests))
    assert texts[1::2] == ["failed"] * 3
    assert texts[::2] == [f"I heard: {request.messages[-1].content}" for request in MANY[:3]]

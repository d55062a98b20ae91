from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import InputError, MissingExtraError, ModelCallError, ModelConfigError
from worldthread.models.chat import ChatModel, ChatRequest, Message, Usage
from worldthread.models.openai_chat import OpenAIChat

spec = importlib.util.spec_from_file_location("chat_server", Path(__file__).with_name("chat_server.py"))
assert spec is not None
assert spec.loader is not None
chat_server = sys.modules["chat_server"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(chat_server)
Reply = chat_server.Reply

KEY = "sk-very-secret-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
FREE = ChatRequest((Message("system", "Be brief."), Message("user", "ping")), "test")
OBJECT = replace(FREE, schema=SCHEMA)
ROOM = '{"name": "kitchen"}'

needs_openai = pytest.mark.model


@pytest.fixture
def server() -> Iterator[Any]:
    with chat_server.ChatServer() as running:
        yield running


def chat(server: Any, **settings: Any) -> OpenAIChat:
    return OpenAIChat("tiny", **{"base_url": server.url, "api_key": KEY, "backoff": 0.01, "timeout": 5.0, **settings})


@needs_openai
def test_an_answer_with_its_usage(server: Any) -> None:
    model = chat(server)
    assert isinstance(model, ChatModel)
    answer = model.complete(replace(FREE, max_tokens=7, seed=3))
    assert (answer.text, answer.model, answer.finish_reason, answer.attempts) == ("pong", "tiny-2026", "stop", 1)
    assert answer.usage == Usage(10, 3, 4)
    assert answer.seconds > 0
    assert server.requests == [
        {
            "model": "tiny",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ping"}],
            "temperature": 0.0,
            "max_tokens": 7,
            "seed": 3,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@needs_openai
def test_a_server_of_ones_own_needs_no_key_and_gets_none(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert chat(server, api_key=None).complete(FREE).text == "pong"
    assert KEY not in server.headers[0]["authorization"]


@needs_openai
@pytest.mark.parametrize(
    "bad",
    [
        Reply(status=429),
        Reply(status=500),
        Reply(status=503),
        Reply(status=408),
        Reply(drop=True),
        Reply(body=b"<html>busy</html>"),
        Reply(body=b'{"choices": []}'),
        Reply(body=b'{"choices": [{"message": {"content": 5}}]}'),
        Reply(body=b'{"error": {"message": "upstream is down"}}'),
        Reply(body=b"[" * 100_000),
        Reply(body=b"\xff\xfe"),
    ],
)
def test_what_may_pass_is_tried_again(server: Any, bad: Any) -> None:
    server.script = [bad, bad]
    answer = chat(server).complete(FREE)
    assert (answer.text, answer.attempts, len(server.requests)) == ("pong", 3, 3)


@needs_openai
@pytest.mark.parametrize(
    ("reply", "status", "says"),
    [
        (Reply(status=500), 500, "the server failed: no luck"),
        (Reply(status=429), 429, "too many requests"),
        (Reply(drop=True), None, "no connection"),
        (Reply(body=b"null"), 200, "no chat answer"),
        (Reply(body=b'{"error": {"message": "upstream is down"}}'), 200, "upstream is down"),
    ],
)
def test_after_all_retries_it_fails(server: Any, reply: Any, status: int | None, says: str) -> None:
    server.default = reply
    with pytest.raises(ModelCallError, match=says) as caught:
        chat(server, retries=2).complete(FREE)
    assert (caught.value.status, caught.value.attempts, len(server.requests)) == (status, 3, 3)
    assert "3 attempts" in str(caught.value)
    assert server.url in str(caught.value)


@needs_openai
@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(status=401, error={"message": f"Incorrect API key provided: {KEY}"}), "WORLDTHREAD_API_KEY"),
        (Reply(status=403, error=f"{KEY} may not"), "the key was refused"),
        (Reply(status=404, error={"message": "model 'tiny' not found"}), "model 'tiny' not found"),
        (Reply(status=400, error={"message": f"bad {KEY}"}), "refused: bad"),
        (Reply(status=422, body=b'{"detail": [{"loc": ["body"]}]}'), "loc"),
        (Reply(status=429, error={"message": "Pay!", "code": "insufficient_quota"}), "no credit left: Pay!"),
        (Reply(status=400, body=b"x" * 1_000_000), "x"),
        (Reply(status=400, error={"message": "odd", "code": "unsupported_value", "param": [{}]}), "refused: odd"),
    ],
)
def test_what_cannot_pass_is_not_tried_again_and_the_key_stays_secret(server: Any, reply: Any, says: str) -> None:
    server.default = reply
    model = chat(server)
    with pytest.raises(ModelCallError, match=says) as caught:
        model.complete(FREE)
    assert (caught.value.status, caught.value.attempts, len(server.requests)) == (reply.status, 1, 1)
    assert len(str(caught.value)) < 1000
    error: BaseException | None = caught.value
    assert KEY not in repr(model) + str(error) + repr(error)
    while error is not None:  # a traceback may show the errors before it
        assert KEY not in str(error) + repr(error)
        error = error.__context__


@needs_openai
@pytest.mark.parametrize("headers", [{"Retry-After": "0.3"}, {"retry-after-ms": "300"}])
def test_retry_after_is_heeded(server: Any, headers: dict[str, str]) -> None:
    server.script = [Reply(status=429, headers=headers)]
    assert chat(server, backoff=0.001).complete(FREE).attempts == 2
    assert 0.3 <= server.times[1] - server.times[0] < 2


@needs_openai
def test_a_wait_of_hours_is_not_granted(server: Any) -> None:
    server.default = Reply(status=429, headers={"Retry-After": "7200"})
    with pytest.raises(ModelCallError, match="asks to wait 7200 seconds") as caught:
        chat(server).complete(FREE)
    assert caught.value.attempts == 1


@needs_openai
def test_waits_are_random_and_grow(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, float]] = []
    monkeypatch.setattr("random.uniform", lambda low, high: asked.append((low, high)) or 0.0)
    server.default = Reply(status=503)
    with pytest.raises(ModelCallError):
        chat(server, backoff=2.0, retries=4).complete(FREE)
    assert asked[:4] == [(0, 2.0), (0, 4.0), (0, 8.0), (0, 8.0)]


@needs_openai
def test_a_slow_server(server: Any) -> None:
    server.script = [Reply(delay=20.0)]  # the second attempt has five seconds on a busy machine
    assert chat(server, timeout=5).complete(FREE).attempts == 2
    server.script = [Reply(delay=20.0)]
    with pytest.raises(ModelCallError, match=r"no answer within 0\.5 seconds") as caught:
        chat(server, timeout=0.5, retries=0).complete(FREE)
    assert (caught.value.status, caught.value.attempts) == (None, 1)


@needs_openai
def test_no_server() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ModelCallError, match="is the server running") as caught:
        OpenAIChat("tiny", base_url=url, retries=1, backoff=0.0).complete(FREE)
    assert url in str(caught.value)
    assert (caught.value.status, caught.value.attempts) == (None, 2)


@needs_openai
def test_no_more_calls_at_once_than_allowed(server: Any) -> None:
    server.default = Reply("pong", delay=0.05)
    model = chat(server, concurrency=3)
    assert model.concurrency == 3
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(model.complete, [FREE] * 12))
    assert [answer.text for answer in answers] == ["pong"] * 12
    assert server.busiest == 3


@needs_openai
def test_a_failed_call_gives_its_turn_back(server: Any) -> None:
    server.script = [Reply(status=401)]
    model = chat(server, concurrency=1)
    with pytest.raises(ModelCallError):
        model.complete(FREE)
    assert model.complete(FREE).text == "pong"


@needs_openai
def test_other_ends_of_an_answer(server: Any) -> None:
    server.script = [
        Reply("cut o", finish_reason="length"),
        Reply(None, message={"refusal": "I will not."}),
        Reply(None),
        Reply(body=b'{"choices": [{"message": {"content": "half \\ud83d"}}]}'),
    ]
    model = chat(server)
    cut, refused, empty, half = (model.complete(FREE) for _ in range(4))
    assert (cut.text, cut.finish_reason) == ("cut o", "length")
    assert (refused.text, refused.finish_reason) == ("I will not.", "refusal")
    assert empty.text == ""
    assert (half.text, half.usage, half.model) == ("half \ufffd", Usage(), "")


@needs_openai
def test_text_that_utf8_cannot_hold_is_mended(server: Any) -> None:
    chat(server).complete(ChatRequest((Message("user", "a\ud800b 😀"),), "test"))
    assert server.requests[0]["messages"][0]["content"] == "a\ufffdb 😀"


@needs_openai
@pytest.mark.parametrize(
    ("refuses", "works"),
    [
        ({}, "json_schema"),
        ({"json_schema": 400}, "json_object_schema"),
        ({"json_schema": 500}, "json_object_schema"),
        ({"json_schema": 422, "json_object_schema": 400}, "json_object"),
        ({"json_schema": 500, "json_object_schema": 500, "json_object": 400}, "words"),
    ],
)
def test_the_way_that_works_is_found_and_kept(server: Any, refuses: dict[str, int], works: str) -> None:
    server.refuses, server.default = refuses, Reply(ROOM)
    modes: dict[str, str] = {}
    model = chat(server, schema_modes=modes)
    first = model.complete(OBJECT)
    assert (first.text, first.attempts) == (ROOM, len(server.requests))
    assert modes == {model.schema_mode_key: works}
    before = len(server.requests)
    assert model.complete(OBJECT).attempts == 1
    later = chat(server, schema_modes=modes)
    assert later.complete(OBJECT).attempts == 1
    assert server.formats[before:] == ["none" if works == "words" else works] * 2
    last = server.requests[-1]["messages"][-1]["content"]
    assert last.startswith("ping")
    assert ('"additionalProperties"' in last) == (works != "json_schema")


@needs_openai
def test_what_is_sent_as_a_schema(server: Any) -> None:
    server.default = Reply(ROOM)
    model = chat(server)
    model.complete(OBJECT)
    loose = {**SCHEMA, "required": []}
    model.complete(replace(FREE, schema=loose))
    sent = [body["response_format"]["json_schema"] for body in server.requests]
    assert [(each["strict"], each["schema"]) for each in sent] == [(True, SCHEMA), (False, loose)]
    server.refuses = {"json_schema": 400}
    model.complete(OBJECT)
    assert server.requests[-1]["response_format"] == {"type": "json_object", "schema": SCHEMA}


@needs_openai
def test_a_server_that_passes_over_the_schema_is_found_out(server: Any) -> None:
    server.default = lambda body: Reply(
        ROOM if "JSON schema" in body["messages"][-1]["content"] else "It is a kitchen."
    )
    answer = (model := chat(server)).complete(OBJECT)
    assert (answer.text, answer.attempts, answer.usage) == (ROOM, 2, Usage(20, 6, 8))
    assert model.complete(OBJECT).attempts == 1


@needs_openai
@pytest.mark.parametrize("reply", [Reply("I will not."), Reply(None, message={"refusal": "No."}), Reply("{", 400)])
def test_nothing_is_kept_when_no_way_works(server: Any, reply: Any) -> None:
    server.default = reply
    modes: dict[str, str] = {}
    model = chat(server, schema_modes=modes)
    if reply.status == 200:
        assert model.complete(OBJECT).text == (reply.text or "No.")
    else:
        with pytest.raises(ModelCallError, match="no luck") as caught:
            model.complete(OBJECT)
        assert caught.value.attempts == len(server.requests) == 4
    assert modes == {}
    server.default = Reply(ROOM)
    model.complete(OBJECT)
    assert modes == {model.schema_mode_key: "json_schema"}


@needs_openai
@pytest.mark.parametrize("failures", [1, 8])
def test_an_outage_demotes_no_server(server: Any, failures: int) -> None:
    server.script, server.default = [Reply(status=500)] * failures, Reply(ROOM)
    modes: dict[str, str] = {}
    model = chat(server, schema_modes=modes)
    if failures == 8:  # twice in each of the four modes
        with pytest.raises(ModelCallError) as caught:
            model.complete(OBJECT)
        assert (caught.value.status, caught.value.attempts, modes) == (500, 8, {})
    assert model.complete(OBJECT).text == ROOM
    assert modes == {model.schema_mode_key: "json_schema"}
    server.script = [Reply(status=500)] * 5
    with pytest.raises(ModelCallError):
        model.complete(OBJECT)
    assert set(server.formats[-5:]) == {"json_schema"}, "a mode that worked is not doubted for a failure of the server"
    assert modes == {model.schema_mode_key: "json_schema"}


@needs_openai
def test_a_proven_way_is_doubted_only_for_what_concerns_it(server: Any) -> None:
    server.default = Reply(ROOM)
    model = chat(server)
    model.complete(OBJECT)
    server.script = [Reply(status=400, error={"message": "the context window is full"})]
    with pytest.raises(ModelCallError, match="context window") as caught:
        model.complete(OBJECT)
    assert caught.value.attempts == 1
    server.refuses = {"json_schema": 400}
    assert model.complete(OBJECT).attempts == 2


@needs_openai
def test_a_way_from_elsewhere_that_works_no_more_is_replaced(server: Any) -> None:
    server.refuses, server.default = {"json_schema": 500}, Reply(ROOM)
    modes = {f"{server.url} tiny": "json_schema"}
    assert chat(server, schema_modes=modes).complete(OBJECT).text == ROOM
    assert modes == {f"{server.url} tiny": "json_object_schema"}
    modes = {f"{server.url} tiny": "by pigeon"}
    assert chat(server, schema_modes=modes).complete(OBJECT).text == ROOM


@needs_openai
def test_parameters_that_a_model_does_not_take_are_left_out(server: Any) -> None:
    def picky(body: dict[str, Any]) -> Any:
        for name, code in (("max_tokens", "unsupported_parameter"), ("temperature", "unsupported_value")):
            if name in body:
                return Reply(status=400, error={"message": f"not {name}", "param": name, "code": code})
        return Reply("pong")

    server.default = picky
    model = chat(server)
    asked = replace(FREE, max_tokens=9)
    assert model.complete(asked).attempts == 3
    assert model.complete(asked).attempts == 1
    assert server.requests[-1]["max_completion_tokens"] == 9
    assert "temperature" not in server.requests[-1]


def test_openai_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelConfigError, match="WORLDTHREAD_API_KEY"):
        OpenAIChat("gpt-4o-mini")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert OpenAIChat("gpt-4o-mini").name == "gpt-4o-mini"


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x/v1", "http://", "http://[", "http://h:99999999"])
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(ModelConfigError, match="base URL"):
        OpenAIChat("tiny", base_url=url)


def test_secrets_in_the_url_and_in_broken_keys_are_not_shown() -> None:
    model = OpenAIChat("tiny", base_url="http://me:hunter2@localhost:99/v1/")
    assert repr(model) == "OpenAIChat('tiny', base_url='http://localhost:99/v1')"
    assert model.schema_mode_key == "http://localhost:99/v1 tiny"
    for key in ("sk-hunter2 sk", "ключ-hunter2"):
        with pytest.raises(ModelConfigError, match="copy it again") as caught:
            OpenAIChat("tiny", base_url="http://localhost:99", api_key=key)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"retries": -1}, {"concurrency": 0}, {"backoff": -1.0}])
def test_settings_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        OpenAIChat("tiny", base_url="http://localhost:99", **wrong)


def test_without_the_client_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[model\]'?"):
        OpenAIChat("tiny", base_url="http://localhost:99").complete(FREE)


def test_importing_does_not_load_the_client() -> None:
    code = "import sys, worldthread.models.openai_chat; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"openai", "httpx", "pydantic"} & set(run.stdout.split())


@needs_openai
def test_many_threads_share_one_client(server: Any) -> None:
    server.refuses, server.default = {"json_schema": 400}, Reply(ROOM)
    model = chat(server, concurrency=8)
    ready = threading.Barrier(8)

    def ask(_: int) -> str:
        ready.wait()
        return model.complete(OBJECT).text

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [ROOM] * 8

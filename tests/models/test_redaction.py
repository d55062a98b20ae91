"""Secrets that a server repeats: every form in which they come back, in every place, with the real client library."""

from __future__ import annotations

import base64
import html
import importlib.util
import json
import logging
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldthread import Memory
from worldthread.errors import ModelCallError, ModelConfigError
from worldthread.extract.model import ModelExtractor
from worldthread.models import configured
from worldthread.models.chat import ChatRequest, Message
from worldthread.models.chat_cache import CachedChat, answers_in_file
from worldthread.models.config import ChatConfig
from worldthread.models.configured import ConfiguredChat
from worldthread.models.openai_chat import OpenAIChat
from worldthread.models.recording import RecordingChat
from worldthread.models.redaction import REDACTED, Redactor, redactor_of

spec = importlib.util.spec_from_file_location("chat_server_of_secrets", Path(__file__).with_name("chat_server.py"))
assert spec is not None
assert spec.loader is not None
chat_server = sys.modules["chat_server_of_secrets"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(chat_server)
Reply = chat_server.Reply

USER, PASSWORD, KEY = "anna.lund", "p/ß+w%41 \"&'d\\x", "sk-proj-0/1+2=3&4%5"

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "percent": lambda text: quote(text, safe=""),
    "percent, lower case": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent, where needed": quote,
    "percent, twice": lambda text: quote(quote(text, safe=""), safe=""),
    "percent, four times": lambda text: quote(quote(quote(quote(text, safe=""), safe=""), safe=""), safe=""),
    "form": lambda text: quote(text, safe="").replace("%20", "+"),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON, all characters": lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
    "JSON of PHP": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "percent in JSON": lambda text: json.dumps(quote(text)),
    "JSON in percent": lambda text: quote(json.dumps(text)),
    "bytes of Python": lambda text: repr(text.encode()),
    "text of Python": repr,
    "HTML": html.escape,
    "HTML, decimal": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "HTML, hexadecimal": lambda text: "".join(f"&#x{ord(character):04X};" for character in text),
    "HTML, twice": lambda text: html.escape(html.escape(text)),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal, upper case": lambda text: text.encode().hex().upper(),
    "Base64": lambda text: base64.b64encode(text.encode()).decode(),
    "Base64 without end": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    "Base64 for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "Base64 in percent": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
    "Base64 in JSON of PHP": lambda text: base64.b64encode(text.encode()).decode().replace("/", "\\/"),
    "Base64 of a longer text, 1": lambda text: base64.b64encode(f"a{text}b".encode()).decode(),
    "Base64 of a longer text, 2": lambda text: base64.b64encode(f"ab{text}cd".encode()).decode(),
    "Base64 of a longer text, 3": lambda text: base64.b64encode(f"abc{text}def".encode()).decode(),
    "Authorization": lambda text: "Basic " + base64.b64encode(f"{USER}:{text}".encode()).decode(),
    "a URL": lambda text: f"https://{quote(USER)}:{quote(text, safe='')}@host/v1",
    "a URL, decoded": lambda text: f"https://{USER}:{text}@host/v1",
}
SECRETS = {"password": PASSWORD, "key": KEY}


def assert_gone(form: str, secret: str, shown: str) -> None:
    encoded = FORMS[form](secret)
    inner = encoded
    for frame in ("https://", "Basic ", "@host/v1", f"{quote(USER)}:", f"{USER}:"):
        inner = inner.replace(frame, "")
    assert inner not in shown
    assert inner[5:-5] not in shown
    assert secret not in shown


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))
@pytest.mark.parametrize("frame", ["{}", "bad '{}', try another", "{}{}", "50% of \\ are & {} or %zz", "x={}&y={}"])
def test_every_form_is_found(form: str, secret: str, frame: str) -> None:
    redactor = redactor_of(f"https://{USER}:{quote(PASSWORD, safe='')}@host/v1", KEY)
    said = frame.replace("{}", FORMS[form](secret))
    shown = redactor.redact(said)
    assert REDACTED in shown
    assert_gone(form, secret, shown)
    before, _, after = frame.partition("{}")
    assert shown.startswith(before)
    assert shown.endswith(after.rpartition("{}")[2])


@given(st.text())
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert Redactor([PASSWORD, KEY], [USER]).redact(text) == text


@given(st.text(min_size=8), st.text("ab %\\&;u0041x#", max_size=20), st.text("ab %\\&;u0041x#", max_size=20))
def test_a_secret_is_found_wherever_it_stands(secret: str, before: str, after: str) -> None:
    shown = Redactor([secret]).redact(before + secret + after)
    assert REDACTED in shown
    assert secret not in shown.replace(REDACTED, "\0")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the key me is wrong", "the key *** is wrong"),
        ("some memory, home, ME", "some memory, home, ME"),
        ("https%3A%2F%2Fme%40host", "https%3A%2F%2F***%40host"),
        ("\\nme\\n", "\\n***\\n"),
        ("me:me", "***:***"),
    ],
)
def test_a_short_secret_is_no_part_of_a_word(text: str, shown: str) -> None:
    assert Redactor(["me"]).redact(text) == shown


def test_a_megabyte_of_escapes_is_read_in_linear_time(time_growth: Any) -> None:
    redactor = Redactor([KEY, PASSWORD])
    for piece in ("\\", "%25", "&amp;", "%", "s"):
        assert time_growth(lambda size, piece=piece: redactor.redact(piece * size), 500) < 16


def test_what_was_sent_may_be_quoted_in_the_answer() -> None:
    redactor = Redactor(["ollama"], ["anna"])
    assert redactor.redact_answer("ollama is a program of anna", ["What is ollama?"]) == "ollama is a program of anna"
    assert redactor.redact_answer("ollama is a program of anna", ["What is it?"]) == "*** is a program of anna"


# -- with a server ----------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[Any]:
    with chat_server.ChatServer() as running:
        yield running


def url_of(server: Any) -> str:
    return str(server.url).replace("http://", f"http://{quote(USER)}:{quote(PASSWORD, safe='')}@")


def chat(server: Any, **settings: Any) -> OpenAIChat:
    return OpenAIChat("tiny", **{"base_url": url_of(server), "api_key": KEY, "backoff": 0.0, "retries": 1, **settings})


def quoted(words: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": words}}], "model": words}).encode()


PLACES: dict[str, Callable[[str], Any]] = {
    "the message of an error": lambda words: Reply(status=400, error={"message": words}),
    "a refused key": lambda words: Reply(status=401, error={"message": words, "code": words, "param": words}),
    "an error that is a text": lambda words: Reply(status=403, error=words),
    "another field of an error": lambda words: Reply(status=404, body=json.dumps({"request": [words]}).encode()),
    "a page": lambda words: Reply(status=502, body=f"<p>{words}</p>".encode(), headers={"Content-Type": "text/html"}),
    "an error with status 200": lambda words: Reply(body=json.dumps({"error": {"message": words}}).encode()),
    "no JSON with status 200": lambda words: Reply(body=words.encode()),
    "an answer": lambda words: Reply(words),
    "a refusal": lambda words: Reply(None, message={"refusal": words}),
    "the name of the model": lambda words: Reply(body=quoted(words)),
    "the reason of an end": lambda words: Reply("{", finish_reason=words),
    "an extraction": lambda words: Reply(json.dumps({"facts": [], "theses": [{"text": words, "objects": [words]}]})),
    "a redirect": lambda words: Reply(
        status=307, headers={"Location": f"https://elsewhere/{quote(words, safe='%/:+=&')}"}
    ),
}


@pytest.mark.model
@pytest.mark.parametrize(
    "place", [pytest.param(place, marks=[] if place == "an extraction" else pytest.mark.slow) for place in PLACES]
)
def test_nothing_that_a_server_repeats_is_shown_or_kept(
    place: str, server: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    model = chat(server)
    shown = [repr(model)]
    cache, recording = answers_in_file(tmp_path / "cache"), RecordingChat(model, tmp_path / "calls.jsonl")
    reader = ModelExtractor(CachedChat(recording, cache), outdated=False)
    path = tmp_path / "memory.worldthread"
    said = [(form, secret) for form in FORMS for secret in SECRETS.values()]
    with cache, recording, Memory(path, extractor=reader, embedder="fake") as memory:
        for number, (form, secret) in enumerate(said):
            server.default = PLACES[place](FORMS[form](secret))
            try:
                memory.remember(f"Lamp number {number} is in the attic.")
            except ModelCallError as raised:
                shown += traceback.format_exception(raised)
                error: BaseException | None = raised
                while error is not None:
                    shown += [str(error), repr(error)]
                    error = error.__cause__ or error.__context__
        memory.export(tmp_path / "export.jsonl")
        shown.append(repr(memory.recall("lamp", k=100)))
    shown += [file.read_bytes().decode("utf-8", "replace") for file in tmp_path.rglob("*") if file.is_file()]
    text = "\n".join([*shown, caplog.text, *capfd.readouterr()])
    for form, secret in said:
        assert_gone(form, secret, text)
        assert quote(secret, safe="") not in text
    assert REDACTED in text
    assert server.headers[0]["authorization"] == "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@pytest.mark.model
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("is_own", [False, True])
def test_a_redirect_is_refused_and_says_where_to(status: int, is_own: bool, server: Any) -> None:
    with chat_server.ChatServer() as other:
        target = server.url.replace("/v1", "/v2") if is_own else other.url
        server.script = [Reply(status=status, headers={"Location": f"{target}/chat/completions"})]
        with pytest.raises(ModelCallError, match="base URL") as raised:
            chat(server, retries=4).complete(ChatRequest((Message("user", "my secret passage"),), "extract"))
        assert target in str(raised.value)
        assert (raised.value.status, raised.value.attempts) == (status, 1)
        assert not other.requests
        assert len(server.requests) == 1


@pytest.mark.model
def test_a_passage_for_this_machine_never_goes_through_a_proxy(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server.ChatServer() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        request = ChatRequest((Message("user", "ping"),), "extract")
        assert chat(server).complete(request).text == "pong"
        assert chat(server, base_url=server.url.replace("127.0.0.1", "localhost")).complete(request).text == "pong"
        assert not proxy.headers
        with pytest.raises(ModelCallError):  # any other server is reached through it
            chat(server, base_url="http://model.invalid/v1", retries=0).complete(request)
        assert len(proxy.headers) == 1


@pytest.mark.model
@pytest.mark.parametrize("proxy", ["gopher://me:hunter2-hunter2@proxy:1", "http://me:hunter2-hunter2@[proxy:x"])
def test_a_proxy_that_cannot_be_used_is_an_error_without_its_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("all_proxy", proxy)
    with pytest.raises(ModelConfigError, match="proxy") as raised:
        OpenAIChat("tiny", base_url="http://127.0.0.1:9/v1").complete(
            ChatRequest((Message("user", "ping"),), "extract")
        )
    assert "hunter2" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.model
def test_what_belongs_to_another_server_is_not_sent(
    server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password netrc-password\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-of-the-administrator")
    monkeypatch.setenv("OPENAI_ORG_ID", "my-organisation")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "my-project")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: my-gateway\nAuthorization: my-authorization")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    request = ChatRequest((Message("user", "ping"),), "extract")
    chat(server, base_url=server.url, api_key=None).complete(request)
    chat(server, base_url=server.url, api_key="own").complete(request)
    for headers, authorization in zip(server.headers, ("Bearer none", "Bearer own"), strict=True):
        assert headers["authorization"] == authorization
        for word in ("my-", "sk-of", "someone", base64.b64encode(b"someone:netrc-password").decode()):
            assert word not in str(headers)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    chat(server, base_url=server.url, api_key="own").complete(request)
    assert server.headers[-1]["openai-organization"] == "my-organisation"
    assert server.headers[-1]["x-gateway"] == "my-gateway"


def test_a_configuration_shows_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_CACHE", str(tmp_path))
    kinds = set()
    for password in ("hunter2", "hunter3"):
        config = ChatConfig("tiny", base_url=f"http://me:{password}@127.0.0.1:9/v1", api_key="sk-hunter2")
        assert "hunter" not in repr(config)
        with_cache = ConfiguredChat(config)
        assert "hunter" not in repr(with_cache)
        with_cache.close()
        kinds.add(configured._server_digest(config))
    assert len(kinds) == 1, "where answers are kept depends on a password"


def test_a_password_with_a_slash_is_not_taken_for_a_path() -> None:
    with pytest.raises(ModelConfigError, match="%2F") as raised:
        OpenAIChat("tiny", base_url="http://me:12/hunter2@127.0.0.1/v1")
    assert "hunter2" not in str(raised.value)

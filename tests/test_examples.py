"""The examples run and print what they promise; the README shows the shortest of them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from worldthread import Memory
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.models import FakeChat

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("WORLDTHREAD_")}
    apart = {"WORLDTHREAD_EMBEDDER": "fake", "WORLDTHREAD_MODEL": "none", "WORLDTHREAD_CACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=folder,
        env=kept | apart,
        input="",
        capture_output=True,
        text=True,
        timeout=600,
    )


def imported(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_five_lines_are_those_of_the_readme_and_print_what_it_shows(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    code = re.search(r"^```python\n(.*?)^```", readme, re.M | re.S)
    assert code is not None
    assert (EXAMPLES / "five_lines.py").read_text("utf-8") == code[1]
    shown = re.search(r"^```\n(Facts:\n.*?)^```", readme, re.M | re.S)
    assert shown is not None
    for _ in range(2):  # the second finds the file that the first made
        done = run("five_lines.py", tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == shown[1]
    assert (tmp_path / "notes.worldthread").is_file()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "asynchronous.py",
            "Where does Anna live? Anna, lives in, Paris\nWho does Bob work for? Bob, works for, Globex\n",
        ),
        (
            "record_and_replay.py",
            "stand-in: 1 passage, 0 not read\n" * 2 + "the same memory (0 calls not asked for)\n",
        ),
    ],
)
def test_an_example_prints_what_it_promises_and_leaves_nothing_behind(name: str, shown: str, tmp_path: Path) -> None:
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_chat_agent_asks_for_a_model(tmp_path: Path) -> None:
    done = run("chat_agent.py", tmp_path)
    assert done.returncode == 1
    assert "WORLDTHREAD_MODEL" in done.stderr
    assert list(tmp_path.glob("*.worldthread")) == []


def test_the_chat_agent_shows_the_model_what_was_said_in_an_earlier_conversation(tmp_path: Path) -> None:
    agent = imported("chat_agent")
    path = tmp_path / "chat.worldthread"
    answers = FakeChat(["How nice!", "In Paris."])
    with Memory(path, model=answers, extractor=ProseExtractor(), embedder="fake") as memory:
        assert agent.reply(memory, answers, "Anna", "I moved to Paris.") == "How nice!"
    with Memory(path, model=answers, extractor=ProseExtractor(), embedder="fake") as memory:
        assert agent.reply(memory, answers, "Anna", "Where do I live?") == "In Paris."
    first, second = (request.messages[0].content for request in answers.requests)
    assert "(nothing yet)" in first
    assert "Anna lives in Paris (known since " in second


def test_every_example_is_tried_here() -> None:
    tried = {"five_lines.py", "asynchronous.py", "record_and_replay.py", "chat_agent.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == tried

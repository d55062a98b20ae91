"""What several models make of one frontier: taken from a recording, word by word, and asked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread.errors import InputError
from worldthread.models.chat import ChatRequest, Message
from worldthread.models.fake_chat import FakeChat
from worldthread.models.recording import RecordingChat
from worldthread.models.structured import complete_structured
from worldthread_lab.agents.attempts.world_memory import GlobalMemory
from worldthread_lab.bench.world_memories import analyse_with, chosen_analysis, recorded_analyses
from worldthread_lab.play.run_model import RECORDING_FILE

FIRST, SECOND = (ChatRequest((Message("user", f"Frontier {number}."),), "analyse") for number in (1, 2))


def memory(goal: str) -> str:
    state = {"state": "the cave", "achieved": 5, "potential": 9, "reason": "it has a door"}
    return json.dumps({"rewards": [], "obstacles": [], "states": [state], "goals": [goal]})


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run that analysed two frontiers, the second after a repair, and asked for an action between them."""
    answers = iter([memory("open the door"), "north", "no JSON at all", memory("take the lamp")])
    folder = tmp_path / "run"
    with RecordingChat(FakeChat(lambda request: next(answers)), folder / RECORDING_FILE) as model:
        complete_structured(model, FIRST, GlobalMemory)
        model.complete(ChatRequest((Message("user", "What next?"),), "act"))
        complete_structured(model, SECOND, GlobalMemory)
    return folder


def goals(found: Any) -> list[str] | None:
    return None if found.memory is None else found.memory.goals


def test_each_analysis_has_its_request_and_its_own_answer(run_folder: Path) -> None:
    first, second = recorded_analyses(run_folder)
    assert [analysis.request.messages for analysis in (first, second)] == [FIRST.messages, SECOND.messages]
    assert (goals(first.own), goals(second.own)) == (["open the door"], ["take the lamp"]), "after the repair"
    assert chosen_analysis((first, second), None) is second
    assert chosen_analysis((first, second), 1) is first
    with pytest.raises(InputError, match="no number 3"):
        chosen_analysis((first, second), 3)


def test_a_model_gets_the_request_word_by_word_and_a_bad_answer_is_stated(run_folder: Path) -> None:
    request = recorded_analyses(run_folder)[0].request
    seen: list[ChatRequest] = []

    def answer(asked: ChatRequest) -> str:
        seen.append(asked)
        return memory("drink the water")

    assert goals(analyse_with(FakeChat(answer), request)) == ["drink the water"]
    assert seen == [request]
    bad = analyse_with(FakeChat(lambda asked: "I cannot say"), request)
    assert bad.memory is None
    assert "no usable answer" in bad.problem


def test_runs_without_an_analysis_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no recording\.jsonl"):
        recorded_analyses(tmp_path)
    with RecordingChat(FakeChat(lambda request: "north"), tmp_path / RECORDING_FILE) as model:
        model.complete(ChatRequest((Message("user", "What next?"),), "act"))
    with pytest.raises(InputError, match="only the agent glow does"):
        recorded_analyses(tmp_path)


def test_the_command_shows_all_models_beside_each_other(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Named(FakeChat):
        def close(self) -> None:
            pass

    answers = {"good": memory("[bold]swim[/bold]"), "bad": "no"}
    monkeypatch.setattr("worldthread.models.chat_model", lambda name: Named(lambda request: answers[name]))
    good = CliRunner().invoke(app, ["bench", "world-memories", str(run_folder), "--model", "good"])
    assert good.exit_code == 0, good.output
    assert "take the lamp" in good.output
    assert "[bold]swim[/bold]" in good.output, "what a model wrote is no markup"
    words = ["bench", "world-memories", str(run_folder), "--model", "good,bad", "--analysis", "1", "--json"]
    both = CliRunner().invoke(app, words)
    assert both.exit_code == 1
    found = json.loads(both.stdout)
    assert found["analysis"] == 1
    assert [one["memory"] and one["memory"]["goals"] for one in found["memories"]] == [
        ["open the door"],
        ["[bold]swim[/bold]"],
        None,
    ]

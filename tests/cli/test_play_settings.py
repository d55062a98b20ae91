"""Settings and prompts on the command line: they reach the play, are recorded with it, and mistakes are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread import Memory
from worldthread.cli.main import app
from worldthread_lab.play.run_files import MODULE_MEMORY_FILE, read_summary
from worldthread_lab.play.trajectory import read_trajectory


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORLDTHREAD_PROMPTS", raising=False)


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "160"})


def play(*arguments: str, out: str = "run") -> Any:
    done = call("play", "tiny", "--agent", "ariadne", "--model", "fake", "--json", "--out", out, *arguments)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


def settings_in_trajectory(out: str = "run") -> dict[str, Any]:
    settings: dict[str, Any] = read_trajectory(Path(out) / "trajectory.jsonl").header["settings"]
    return settings


def test_settings_from_a_file_and_the_command_line_reach_the_play() -> None:
    Path("mine.toml").write_text('[agent]\nrecent = 3\ncalls = "three"\n[memory]\nrooms = 4\n')
    figures = play(
        "--settings", "mine.toml", "--set", "agent.recent=1", "--option", "explore=false", "--decisions", "4"
    )
    assert (figures["decisions"], figures["ended_by"]) == (4, "decisions")
    assert figures["by_purpose"].keys() == {"act", "plan"}
    settings = settings_in_trajectory()
    assert json.loads(settings["options"]) == {"calls": "three", "explore": False, "recent": 1}
    assert json.loads(settings["memory_options"]) == {"rooms": 4}
    assert settings["decisions"] == 4
    assert call("replay", "run").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "memory.wdth=3"], "no memory module here has the setting 'wdth'; settings are: worldthread: statem"),
        (["--set", "agent.heat=3"], "no agent here has the setting 'heat'; settings are: ariadne: "),
        (["--set", "game.heat=3"], "no game here has the setting 'heat'; settings are: tiny-v1: none"),
        (["--set", "world.heat=3"], "parts are: agent, memory, game"),
        (["--set", "memory.rooms=many"], "must be of type int, not 'many'"),
        (["--set", "memory.method=bean"], "no retrieval method is called 'bean'"),
        (["--settings", "none.toml"], "cannot read the settings in none.toml"),
        (["--prompts", "none"], "none has no prompt"),
    ],
)
def test_mistakes_are_named_before_the_play(arguments: list[str], says: str) -> None:
    done = call("play", "tiny", "--agent", "ariadne", "--model", "fake", "--out", "run", *arguments)
    assert done.exit_code == 2
    assert says in " ".join(done.output.split())
    assert not Path("run").exists()


@pytest.mark.games  # brings the statistics of a sweep
def test_settings_go_to_those_that_have_them_in_a_sweep() -> None:
    done = call(
        "sweep", "tiny", "--agent", "ariadne", "--memory", "none,arigraph", "--model", "fake", "--seeds", "1", "--jobs",
        "1", "--decisions", "3", "--set", "memory.width=2", "--out", "sweep", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    lines = Path("sweep/results.jsonl").read_text().splitlines()
    runs = [json.loads(line)["run"] for line in lines]
    assert {run["memory"]: run.get("memory_options") for run in runs} == {"none": None, "arigraph": '{"width":2}'}


def test_the_graph_of_a_memory_module_is_saved_counted_and_audited() -> None:
    figures = play("--memory-module", "arigraph", "--decisions", "6")
    assert figures["module_memory"]["episodes"] == 6
    assert figures["module_memory"]["facts"] > 0
    assert figures["module_audit"]["steps"] == figures["moves"]
    assert figures["module_audit"]["recall"] < figures["audit"]["recall"], "the fake model reads nothing"
    with Memory(Path("run") / MODULE_MEMORY_FILE, model="none") as memory:
        episodes = list(memory.episodes())
        assert len(episodes) == 6
        assert all(episode.text for episode in episodes)
        assert len(memory.view().facts()) == figures["module_memory"]["facts"]
    steps = read_trajectory(Path("run/trajectory.jsonl")).steps
    assert steps[-1]["module"]["facts"] == figures["module_memory"]["facts"]
    assert sum(len(step["module"]["learned"]) for step in steps) >= figures["module_memory"]["facts"]
    assert call("replay", "run").exit_code == 0
    assert read_summary(Path("run")) is not None
    play("--decisions", "2", out="other")
    assert not (Path("other") / MODULE_MEMORY_FILE).exists()


def test_own_prompts_are_copied_changed_used_recorded_and_replayed() -> None:
    done = call("prompts", "ariadne", "--copy", "mine")
    assert done.stdout == f"{Path('mine/agents/ariadne.md')}\n"
    file = Path("mine/agents/ariadne.md")
    file.write_text(file.read_text().replace("You play a text game.", "You play for the paper."))
    play("--prompts", "mine", "--decisions", "3")
    assert Path("run/recording.jsonl").read_text().count("You play for the paper.") == 3
    header = read_trajectory(Path("run/trajectory.jsonl")).header
    assert header["prompts"].keys() == {"agents/ariadne"}
    file.unlink()
    assert call("replay", "run").exit_code == 0, "the texts are in the trajectory"
    assert call("prompts", "--copy", "mine").exit_code == 0
    assert call("prompts", "--copy", "mine").exit_code == 2, "nothing is overwritten"


def test_prompts_and_settings_are_listed() -> None:
    lines = [json.loads(line) for line in call("prompts", "--json").stdout.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert by_name["agents/ariadne"]["variables"] == ["actions", "planning", "situation"]
    assert "agents/ariadne " in call("prompts").stdout
    assert call("prompts", "agents/ariadne").stdout == by_name["agents/ariadne"]["text"]
    assert "there are: agents/reflect, memory_modules/reflect" in call("prompts", "reflect").output
    assert "memory: none, full_history" in call("settings").stdout
    (width, _, moments) = (
        json.loads(line) for line in call("settings", "memory.arigraph", "--json").stdout.splitlines()
    )
    assert (width["name"], width["default"], width["type"]) == ("width", 6, ["int"])
    assert moments["meaning"].startswith("past observations that are recalled")
    assert "hints that are kept for a room" in call("settings", "agent.reflact").stdout
    assert "has no settings" in call("settings", "game.tiny").stdout
    for name in ("weather.x", "memory", "memory.x", "game.x", "method.x", "agent.x"):
        assert call("settings", name).exit_code == 2

"""Plays and sweeps as a user runs, kills, resumes and replays them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread import Memory
from worldthread.cli.main import app
from worldthread_lab.play.trajectory import read_trajectory

PLAYERS = str(Path(__file__).parents[1] / "play")
"""Where the agents of the tests are."""


def environment() -> dict[str, str]:
    places = os.pathsep.join([PLAYERS, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONPATH": places}


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "worldthread", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, env=environment())


def call(*arguments: str, typed: str = "") -> Any:
    """A command in this process."""
    return CliRunner().invoke(app, arguments, input=typed)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(PLAYERS)
    monkeypatch.setenv("NO_COLOR", "1")


def started(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "worldthread", *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=cwd, env=environment(), start_new_session=True, **quiet)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it began, at once."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


MINE = ["--allow-code", "game_players"]
SLOW = ["play", "tiny", "--seed", "1", "--agent", "game_players:Slow", "--model", "fake", "--steps", "40", *MINE]


@pytest.mark.slow
def test_a_killed_play_resumes_and_is_replayed(tmp_path: Path) -> None:
    whole = call(*SLOW, "--out", "whole/play", "--json")
    assert whole.exit_code == 0, whole.stderr
    expected = (tmp_path / "whole" / "play" / "trajectory.jsonl").read_bytes()
    process = started(*SLOW, "--out", "play", cwd=tmp_path)
    trajectory = tmp_path / "play" / "trajectory.jsonl"
    deadline = time.monotonic() + 600
    while not trajectory.exists() or trajectory.read_bytes().count(b"\n") < 15:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    kill(process)
    cut = trajectory.read_bytes()
    assert 15 <= cut.count(b"\n") < expected.count(b"\n")
    refused = call("play", "tiny", "--out", "play")
    assert (refused.exit_code, "--resume" in refused.stderr) == (2, True)
    changed = call("play", "--out", "play", "--resume", "--seed", "2")
    assert (changed.exit_code, "leave out --seed" in changed.stderr) == (2, True)
    part = call("replay", "play", *MINE)
    assert (part.exit_code, "unfinished" in part.stdout) == (0, True)
    done = call("play", "--out", "play", "--resume", "--json", *MINE)
    assert done.exit_code == 0, done.stderr
    named = trajectory.read_bytes()
    assert named.startswith(cut[: cut.rfind(b"\n") + 1]), "nothing that was written is written again"
    assert named == expected
    summary, undisturbed = (json.loads(text.stdout.splitlines()[-1]) for text in (done, whole))
    for name in ("score", "curve", "moves", "returns", "model_calls", "prompt_tokens", "memory", "audit"):
        assert summary[name] == undisturbed[name]
    with Memory(tmp_path / "play" / "memory.worldthread", readonly=True) as memory:
        assert len(memory.record.graph) == summary["memory"]["episodes"], (
            "what was remembered before the kill is not there twice"
        )
    again = call("play", "--out", "play", "--resume", "--json", *MINE)
    assert json.loads(again.stdout.splitlines()[-1])["moves"] == summary["moves"], (
        "a finished play prints its summary again"
    )
    replayed = call("replay", "play", "--json", *MINE)
    printed = json.loads(replayed.stdout)
    assert (replayed.exit_code, printed["same"], printed["complete"], printed["model_calls"]) == (0, True, True, 0)
    assert printed["model_requests"] == summary["model_calls"]


def test_a_replay_that_differs(tmp_path: Path) -> None:
    assert call("play", "tiny", "--seed", "1", "--out", "play").exit_code == 0
    path = tmp_path / "play" / "trajectory.jsonl"
    good = call("replay", "play")
    assert (good.exit_code, good.stdout) == (
        0,
        f"all {path.read_bytes().count(10)} lines are the same, byte for byte\n",
    )
    path.write_bytes(path.read_bytes().replace(b'"turn":3', b'"turn":33', 1))
    bad = call("replay", "play")
    assert (bad.exit_code, bad.stdout) == (1, "")
    assert "line 5" in bad.stderr
    assert "turn was 33, and is 3 now" in bad.stderr
    assert "Traceback" not in bad.stderr
    printed = json.loads(call("replay", "play", "--json").stdout)
    assert (printed["same"], printed["lines"]) == (False, 4)
    path.write_text("nonsense\n")
    assert call("replay", "play").exit_code == 2


def test_a_person_plays(tmp_path: Path) -> None:
    typed = "?\n\ngo north\nundo\nundo\ndance\n go  west \n"
    done = call("play", "tiny", "--seed", "1", "--agent", "human", "--out", "mine", typed=typed)
    assert done.exit_code == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "go west\ninventory\nlook" in done.stdout, "the valid actions, on request"
    assert "There is nothing to undo." in done.stdout
    assert "That's not a verb I recognise." in done.stdout
    assert "49 moves left" in done.stdout
    trajectory = read_trajectory(tmp_path / "mine" / "trajectory.jsonl")
    did = [(step["action"], step["return_to"], step["valid"]) for step in trajectory.steps[1:]]
    assert did == [("go north", None, True), ("", 0, None), ("dance", None, False), ("go  west", None, True)]
    assert (trajectory.summary["agent"], trajectory.summary["ended_by"], trajectory.summary["moves"]) == (
        "human",
        "agent",
        3,
    )
    assert trajectory.summary["audit"]["recall"] == 1
    assert call("replay", "mine").exit_code == 0


def test_what_a_person_typed_is_not_asked_again(tmp_path: Path) -> None:
    first = ["go north", "take silver key", "go south"]
    play = ["play", "tiny", "--seed", "1", "--agent", "human", "--json"]
    call(*play, "--out", "mine", typed="\n".join(first) + "\n")
    path = tmp_path / "mine" / "trajectory.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]) + lines[-2][:40])  # cut off in the third move
    (tmp_path / "mine" / "summary.json").unlink()
    done = call("play", "--out", "mine", "--resume", "--json", typed="drop silver key\n")
    assert done.exit_code == 0, done.stderr
    assert "> take silver key" in done.stderr, "shown again"
    summary = json.loads(done.stdout)
    assert (summary["moves"], summary["best_score"]) == (3, 1)
    actions = [step["action"] for step in read_trajectory(path).steps]
    assert actions == [None, "go north", "take silver key", "drop silver key"]


@pytest.mark.games
def test_a_sweep_of_agents_and_memories(tmp_path: Path) -> None:
    arguments = ["sweep", "tiny", "--agent", "explorer,ariadne", "--memory", "none", "--memory", "full_history"]
    arguments += ["--model", "fake", "--seeds", "1-2", "--attempts", "2", "--steps", "8", "--jobs", "2"]
    done = call(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["failures"] == []
    shown = [(g["game"], g["agent"], g["memory"], g["runs"], g["attempts"]) for g in printed["groups"]]
    assert shown == [
        ("tiny-v1", "explorer", None, 2, 1),
        ("tiny-v1", "ariadne", "none", 4, 2),
        ("tiny-v1", "ariadne", "full_history", 4, 2),
    ]
    for group in printed["groups"]:
        assert group["counted"] == "all runs"
        for name in ("score", "best_score", "moves", "decisions", "probes", "tokens", "dollars"):
            assert group[name].keys() == {"mean", "sd", "interval"}
    assert [g["tokens"]["mean"] > 0 for g in printed["groups"]] == [False, True, True]
    folders = [path.parent for path in sorted((tmp_path / "runs" / "sweep").rglob("trajectory.jsonl"))]
    assert len(folders) == 10
    asking = [folder for folder in folders if "ariadne" in str(folder)]
    assert all((folder / "recording.jsonl").exists() for folder in asking)
    assert all((folder / "summary.json").exists() for folder in folders)
    assert call("replay", str(asking[0])).exit_code == 0
    table = call(*arguments, "--best", "1")
    assert "ariadne+full_history" in table.stdout
    assert "counted: the best 1 of 2 attempts at each seed" in table.stdout
    assert "\x1b" not in table.stdout


SWEEP = [
    *("sweep", "tiny", "--agent", "game_players:Slow,random", "--model", "fake", "--seeds", "1-2", "--attempts", "2"),
    *("--steps", "30", "--jobs", "2", "--json", *MINE),
]


def files_of(folder: Path) -> dict[str, bytes]:
    """Trajectories and recordings of a sweep."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*.jsonl")
        if path.name in ("trajectory.jsonl", "recording.jsonl")
    }


def figures_of(done: subprocess.CompletedProcess[str]) -> Any:
    """The figures that a sweep printed, without those that depend on the machine."""
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    for group in printed["groups"]:
        del group["seconds"], group["overhead_ms"]
    return printed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    return folder / "out", figures_of(run(*SWEEP, "--out", "out", cwd=folder))


@pytest.mark.games
@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_sweep_that_is_killed_loses_and_repeats_nothing(
    kills: int, undisturbed: tuple[Path, Any], tmp_path: Path
) -> None:
    """kill -9 of the whole sweep at random moments; then the files are those of a sweep that nobody disturbed."""
    whole, expected = undisturbed
    chance = random.Random(kills)
    out = tmp_path / "out"
    unfinished = 0
    for _ in range(kills):
        process = started(*SWEEP, "--out", "out", cwd=tmp_path)
        before = files_of(out)
        deadline = time.monotonic() + 600
        while files_of(out) == before and process.poll() is None and chance.random() < 0.95:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(chance.uniform(0, 0.4))
        kill(process)
        unfinished += any(
            name not in files_of(out) or text != files_of(out)[name] for name, text in files_of(whole).items()
        )
    assert unfinished >= 2, "the kills came too late to disturb anything"
    assert figures_of(run(*SWEEP, "--out", "out", cwd=tmp_path)) == expected
    assert files_of(out) == files_of(whole)
    results = (out / "results.jsonl").read_bytes().splitlines()
    assert len(results) == len({json.dumps(json.loads(line)["run"]) for line in results}) == 8


@pytest.mark.games
@pytest.mark.slow
def test_ctrl_c_ends_a_sweep_quietly_and_it_resumes(undisturbed: tuple[Path, Any], tmp_path: Path) -> None:
    whole, expected = undisturbed
    command = [sys.executable, "-m", "worldthread", *SWEEP, "--out", "out"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 600
    while not files_of(tmp_path / "out"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert figures_of(run(*SWEEP, "--out", "out", cwd=tmp_path)) == expected
    assert files_of(tmp_path / "out") == files_of(whole)

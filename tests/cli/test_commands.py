"""The commands as a user runs them, in a fresh folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread import Memory
from worldthread.cli.main import app
from worldthread.stores import SQLiteStore
from worldthread_lab.play.trajectory import read_trajectory

KEYS = {
    *("game", "agent", "seed", "score", "max_score", "normalized", "won", "moves", "decisions", "probes"),
    *("model_calls", "prompt_tokens", "completion_tokens", "cost_usd", "seconds", "memory", "audit", "trajectory"),
}


def run(*arguments: str, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "worldthread", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, env=environment, **more)


def test_play_leaves_a_run_that_can_be_read(tmp_path: Path) -> None:
    done = run("play", "tiny", "--seed", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary.keys() >= KEYS
    assert summary["memory"].keys() >= {"episodes", "facts", "ended"}
    assert summary["audit"].keys() >= {"precision", "recall", "stale_steps", "mapped"}
    assert summary["won"]
    assert (summary["score"], summary["model_calls"], summary["audit"]["stale_steps"]) == (summary["max_score"], 0, 0)
    trajectory = read_trajectory(tmp_path / summary["trajectory"])
    assert len(trajectory.steps) == summary["moves"] + 1
    assert trajectory.summary["score"] == summary["score"]
    assert trajectory.steps[0]["action"] is None
    memory_file = (tmp_path / summary["trajectory"]).with_name("memory.worldthread")
    with Memory(memory_file, readonly=True) as memory:
        assert len(memory.record.graph) == summary["memory"]["episodes"]
        assert memory.view().value("player", "is in") is not None


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_and_runs_do_not_overwrite(tmp_path: Path) -> None:
    texts = []
    for name in ("tiny-v1-explorer-seed0", "tiny-v1-explorer-seed0-2"):
        assert run("play", "tiny", cwd=tmp_path).returncode == 0
        texts.append(
            [step["observation"] for step in read_trajectory(tmp_path / "runs" / name / "trajectory.jsonl").steps]
        )
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_output_that_is_no_terminal_has_no_control_codes(tmp_path: Path) -> None:
    done = run("play", "tiny", cwd=tmp_path)
    assert "\x1b" not in done.stdout + done.stderr
    assert "won" in done.stdout


@pytest.mark.slow
def test_no_steps_and_no_valid_actions(tmp_path: Path) -> None:
    none = json.loads(run("play", "tiny", "--steps", "0", "--json", cwd=tmp_path).stdout.splitlines()[-1])
    assert (none["moves"], none["memory"]["episodes"]) == (0, 1)
    blind = json.loads(run("play", "tiny", "--no-valid-actions", "--json", cwd=tmp_path).stdout.splitlines()[-1])
    assert blind["won"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["play", "treasure-hnt"], "treasure-hunt"),
        (["play", "textworld:nowhere.z8"], "no such file"),
        (["play", "tiny", "--agent", "explorr"], "did you mean 'explorer'"),
        (["play", "tiny", "--seed", "-1"], "0"),
        (["play", "tiny", "--out", "/proc/none"], "cannot create the folder"),
        (["sweep", "tiny", "--seeds", "9-3"], "last seed must not be smaller"),
        (["sweep", "tiny", "--seeds", "many"], "must be numbers"),
        (["sweep", "tiny", "--agent", "explorer,human"], "a sweep cannot ask a person"),
        (["sweep", "tiny", "--best", "3"], "needs at least 3 attempts"),
        (["sweep", "tiny", "--agent", "explorer", "--memory", "rag"], "uses a memory module"),
        (["play", "tiny", "--agent", "react", "--model", "none"], "needs a chat model: give --model NAME"),
        (["play", "tiny", "--option", "temperature"], "NAME=VALUE"),
        (["play", "--resume"], "--out FOLDER"),
        (["play", "--resume", "--out", "nowhere"], "no play to resume"),
        (["replay", "nowhere"], "cannot read"),
        pytest.param(["sweep", "no-such-game"], "no game", marks=pytest.mark.games),
        pytest.param(["report", "nowhere"], "not the folder of a run", marks=pytest.mark.games),
    ],
)
def test_mistakes_get_a_message_and_no_traceback(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, type(done.exception)) == (2, SystemExit)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistake_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = run("replay", "nowhere", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot read" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_help_teaches(tmp_path: Path) -> None:
    for command in ("play", "sweep", "games", "replay", "report"):
        done = run(command, "--help", cwd=tmp_path)
        assert done.returncode == 0
        assert "Usage" in done.stdout
    assert "worldthread play treasure-hunt-hardest --seed 7" in run("play", "--help", cwd=tmp_path).stdout
    assert run("--version", cwd=tmp_path).stdout.startswith("worldthread ")


def test_games_are_listed(tmp_path: Path) -> None:
    listed = [json.loads(line) for line in run("games", "--json", cwd=tmp_path).stdout.splitlines()]
    assert {"tiny-v1", "treasure-hunt-v1", "cooking-v1", "cleaning-v1"} <= {game["id"] for game in listed}
    assert "treasure-hunt" in run("games", cwd=tmp_path).stdout


@pytest.mark.games
@pytest.mark.slow
def test_a_sweep_continues_after_a_kill(tmp_path: Path) -> None:
    arguments = ["sweep", "tiny", "--seeds", "1-40", "--jobs", "2", "--json"]
    command = [sys.executable, "-m", "worldthread", *arguments]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    results = tmp_path / "runs" / "sweep" / "results.jsonl"
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and (not results.exists() or results.read_bytes().count(b"\n") < 3):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = results.read_bytes().count(b"\n")
    assert kept >= 3
    with results.open("ab") as file:  # a line that was being written
        file.write(b'{"run": {"game": "ti')
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (figures,) = json.loads(done.stdout.splitlines()[-1])["groups"]
    assert (figures["runs"], figures["wins"]) == (40, 40)
    lines = results.read_bytes().splitlines()
    assert len(lines) == 40, "nothing was played twice and nothing was lost"
    again = run(*arguments, cwd=tmp_path)
    assert again.stdout == done.stdout


def test_a_play_that_was_cut_off_leaves_a_readable_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "worldthread", "play", "tiny", "--delay", "5"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    (folder,) = (tmp_path / "runs").iterdir()
    trajectory = read_trajectory(folder / "trajectory.jsonl")
    assert len(trajectory.steps) == 1
    assert trajectory.summary == {}
    with Memory(folder / "memory.worldthread") as memory:
        assert len(memory.record.graph) == 1


def children(pid: int) -> set[int]:
    return {
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    }


def players(pid: int) -> set[int]:
    """The processes of a sweep that play."""
    found = set()
    for child in children(pid):
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            found.add(child)
    return found


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def running_sweep(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A sweep of 40 plays, of which some have ended."""
    command = [sys.executable, "-m", "worldthread", "sweep", "tiny", "--seeds", "1-40", "--jobs", "2", "--json"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    results = tmp_path / "runs" / "sweep" / "results.jsonl"
    # one more than the tests ask for: a row just written is withdrawn if Ctrl-C comes before it is acknowledged
    wait_for(lambda: results.exists() and results.read_bytes().count(b"\n") >= 3)
    yield process, results
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.games
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
@pytest.mark.slow
def test_a_sweep_survives_the_death_of_a_player(running_sweep: tuple[subprocess.Popen[str], Path]) -> None:
    process, _ = running_sweep
    os.kill(min(players(process.pid)), signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    printed = json.loads(stdout.splitlines()[-1])
    assert (printed["groups"][0]["runs"], printed["failures"]) == (40, [])


@pytest.mark.games
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.slow
def test_no_player_outlives_its_sweep(running_sweep: tuple[subprocess.Popen[str], Path], end: signal.Signals) -> None:
    process, results = running_sweep
    playing = players(process.pid)
    assert playing
    process.send_signal(end)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == (130 if end == signal.SIGINT else -end)
    assert "Traceback" not in stderr
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in playing), 10)
    assert 2 <= results.read_bytes().count(b"\n") < 40


@pytest.mark.slow
def test_ctrl_c_ends_a_play_quietly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "worldthread", "play", "tiny", "--delay", "5"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "the steps so far are in runs" in stderr
    assert run("report", "runs/tiny-v1-explorer-seed0", cwd=tmp_path).returncode in (0, 2)


@pytest.mark.slow
def test_one_file_holds_the_memories_of_several_plays(tmp_path: Path) -> None:
    for seed in ("1", "2", "1"):
        done = run("play", "tiny", "--seed", seed, "--memory", "all.worldthread", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout.splitlines()[-1])
        assert summary["audit"]["stale_steps"] == 0, "what another play left is not believed"
    names = ["tiny-v1-explorer-seed1", "tiny-v1-explorer-seed1-2", "tiny-v1-explorer-seed2"]
    assert SQLiteStore.namespaces(tmp_path / "all.worldthread") == names
    with Memory(tmp_path / "all.worldthread", namespace=names[1], readonly=True) as memory:
        assert len(memory.record.graph) == summary["memory"]["episodes"]


def test_a_file_that_is_no_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a memory " * 100)
    done = run("play", "tiny", "--memory", "notes.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert "notes.txt" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "notes.txt").read_text() == "not a memory " * 100


@pytest.mark.games
@pytest.mark.slow
def test_a_report_that_cannot_be_written_is_an_error_and_the_memory_may_be_elsewhere(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("play", "tiny", "--memory", "all.worldthread", "--out", name, cwd=tmp_path).returncode == 0
    page = tmp_path / "one" / "report.html"
    first = page.read_text("utf-8")
    assert 'class="map"' in first
    assert run("report", "one", "--memory", "all.worldthread", cwd=tmp_path).returncode == 0
    assert page.read_text("utf-8") == first, "the same run gives the same page"
    assert run("report", "one", cwd=tmp_path).returncode == 0  # a run does not say which memory is opened
    assert "The memory of this run is not in its folder" in page.read_text("utf-8")
    page.unlink()
    page.mkdir()
    done = run("report", "one", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "report.html: Is a directory" in done.stderr

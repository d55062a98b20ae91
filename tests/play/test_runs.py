"""Runs in their folders: cut off anywhere they go on to the same end, and a replay proves them."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from worldthread.errors import FormatError, InputError, ModelCallError, ModelConfigError, UnknownGameError
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatAnswer, ChatRequest
from worldthread.models.config import model_name
from worldthread.models.recording_file import read_recording
from worldthread_lab.play.fake_player import FakePlayer
from worldthread_lab.play.run import Run, file_name
from worldthread_lab.play.run_files import play_in, read_summary, replay
from worldthread_lab.play.runs import limit_of, make_player, require_playable
from worldthread_lab.play.trajectory import read_trajectory

MINE = ["game_players"]
RESTLESS = Run("tiny-v1", "game_players:Restless", 1, steps=30, model="fake", attempt=3)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ChatRequest]:
    """What the model of all runs is asked."""
    requests: list[ChatRequest] = []
    answer = FakePlayer.complete

    def complete(self: FakePlayer, request: ChatRequest) -> ChatAnswer:
        requests.append(request)
        return answer(self, request)

    monkeypatch.setattr(FakePlayer, "complete", complete)
    return requests


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run to its end."""
    folder = tmp_path_factory.mktemp("undisturbed")
    play_in(folder, RESTLESS, "fake", allow_code=MINE)
    return folder


def contents(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "trajectory.jsonl").read_bytes(), (folder / "recording.jsonl").read_bytes()


def figures(folder: Path) -> dict[str, Any]:
    """A summary without what depends on the machine."""
    summary = read_summary(folder)
    assert summary is not None
    return {name: value for name, value in summary.items() if "second" not in name and name != "overhead_ms"}


def test_the_run_is_one_worth_disturbing(undisturbed: Path) -> None:
    summary = read_summary(undisturbed)
    assert summary is not None
    assert summary["returns"] > 2
    assert summary["unparsable"] > 2
    assert summary["replayed_moves"] > 0
    assert summary["model_calls"] == len(read_recording(undisturbed / "recording.jsonl").calls) > 10
    assert summary["attempt"] == 3


@pytest.mark.parametrize("seed", range(25))
def test_a_run_resumes_from_any_line_to_the_same_end(
    seed: int, undisturbed: Path, tmp_path: Path, asked: list[ChatRequest]
) -> None:
    """Any beginning of the trajectory, with an answer or two beyond it in the recording, as a killed process leaves."""
    trajectory, recording = contents(undisturbed)
    chance = random.Random(seed)
    end = chance.randrange(len(trajectory) + 1)
    paid = sum(json.loads(line).get("model_calls", 0) for line in trajectory[:end].split(b"\n")[:-1])
    calls = recording.splitlines(keepends=True)
    kept = b"".join(calls[: 1 + paid + chance.randrange(2)])
    rest = recording[len(kept) :]
    kept += rest[: chance.randrange(min(len(rest), 60) + 1)]
    (tmp_path / "trajectory.jsonl").write_bytes(trajectory[:end])
    (tmp_path / "recording.jsonl").write_bytes(kept)
    known = len(read_recording(tmp_path / "recording.jsonl").calls)
    play_in(tmp_path, RESTLESS, "fake", allow_code=MINE)
    assert contents(tmp_path) == (trajectory, recording)
    assert len(asked) == len(calls) - 1 - known, "no answer is paid for twice"
    assert figures(tmp_path) == figures(undisturbed)


def test_a_run_resumes_after_a_failed_call(undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, asked = FakePlayer.complete, []

    def complete(self: FakePlayer, request: ChatRequest) -> ChatAnswer:
        asked.append(request)
        if len(asked) in (5, 9, 10):
            raise ModelCallError("the server is on fire", attempts=5)
        return answer(self, request)

    monkeypatch.setattr(FakePlayer, "complete", complete)
    for _ in range(3):
        with pytest.raises(ModelCallError, match="on fire"):
            play_in(tmp_path, RESTLESS, "fake", allow_code=MINE)
        assert read_summary(tmp_path) is None
    play_in(tmp_path, RESTLESS, "fake", allow_code=MINE)
    assert contents(tmp_path)[0] == contents(undisturbed)[0]
    assert len(asked) == len(read_recording(undisturbed / "recording.jsonl").calls) + 3
    assert figures(tmp_path) == figures(undisturbed)


def test_a_replay_makes_no_call(undisturbed: Path, asked: list[ChatRequest], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_MODEL", "ollama/nothing-there")
    before = contents(undisturbed)
    result = replay(undisturbed, allow_code=MINE)
    assert result.difference is None
    assert result.is_complete
    assert result.lines == len(before[0].splitlines())
    assert result.model_requests == len(read_recording(undisturbed / "recording.jsonl").calls)
    assert asked == []
    assert contents(undisturbed) == before


def test_a_replay_finds_what_was_changed(undisturbed: Path, tmp_path: Path) -> None:
    trajectory, recording = contents(undisturbed)
    lines = trajectory.splitlines(keepends=True)

    def replayed(changed: list[bytes], answers: bytes = recording) -> Any:
        (tmp_path / "trajectory.jsonl").write_bytes(b"".join(changed))
        (tmp_path / "recording.jsonl").write_bytes(answers)
        return replay(tmp_path, allow_code=MINE)

    number = next(n for n, line in enumerate(lines) if n > 5 and b'"facts":' in line)
    step = orjson.loads(lines[number])
    forged = orjson.dumps({**step, "facts": step["facts"] + 1}) + b"\n"
    result = replayed([*lines[:number], forged, *lines[number + 1 :]])
    assert f"line {number + 1}: " in result.difference
    assert f"facts was {step['facts'] + 1}, and is {step['facts']} now" in result.difference
    assert (
        "best_score was 99"
        in replayed([*lines[:-1], lines[-1].replace(b'"best_score":', b'"best_score":99')]).difference
    )
    cut = replayed(lines[:9])
    assert (cut.difference, cut.is_complete, cut.lines) == (None, False, 9)
    assert replayed(lines[:1]).difference is None
    without = replayed(lines, b"".join(recording.splitlines(keepends=True)[:4]))
    assert "holds no answer" in without.difference
    with pytest.raises(InputError, match="cannot read"):
        replay(tmp_path / "nowhere")


def test_a_change_of_what_decides_the_play_is_refused(undisturbed: Path, tmp_path: Path) -> None:
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    with pytest.raises(FormatError, match=r"line 1: .*seed was 1, and is 2 now"):
        play_in(tmp_path, replace(RESTLESS, seed=2), "fake", allow_code=MINE)
    assert contents(tmp_path) == contents(undisturbed)


def test_the_budget_counts_what_was_used_before_the_run_was_cut_off(tmp_path: Path, asked: list[ChatRequest]) -> None:
    run = replace(RESTLESS, budget_tokens=900)
    summary = play_in(tmp_path / "whole", run, "fake", allow_code=MINE)
    assert summary["ended_by"] == "budget"
    trajectory, recording = contents(tmp_path / "whole")
    used = len(asked)
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "trajectory.jsonl").write_bytes(trajectory[: len(trajectory) // 2])
    (cut / "recording.jsonl").write_bytes(recording)
    again = play_in(cut, run, "fake", allow_code=MINE)
    assert len(asked) == used
    assert contents(cut) == (trajectory, recording)
    assert again["prompt_tokens"] == summary["prompt_tokens"]
    assert replay(cut, allow_code=MINE).difference is None


@pytest.mark.parametrize("agent", ["explorer", "random"])
def test_agents_without_a_model(agent: str, tmp_path: Path) -> None:
    run = Run("tiny-v1", agent, 2, attempt=1)
    play_in(tmp_path, run)
    whole = (tmp_path / "trajectory.jsonl").read_bytes()
    assert not (tmp_path / "recording.jsonl").exists()
    assert replay(tmp_path, allow_code=MINE).difference is None
    (tmp_path / "trajectory.jsonl").write_bytes(whole[:-300])
    (tmp_path / "summary.json").unlink()
    play_in(tmp_path, run)
    assert (tmp_path / "trajectory.jsonl").read_bytes() == whole


def test_only_the_oracle_gets_the_true_state(tmp_path: Path) -> None:
    with_truth = []
    for memory in ("oracle", "none"):
        play_in(tmp_path / memory, Run("tiny-v1", "ariadne", 1, steps=3, memory=memory, model="fake"), "fake")
        with_truth.append(b"All that is true now" in (tmp_path / memory / "recording.jsonl").read_bytes())
    assert with_truth == [True, False]


@pytest.mark.games
def test_a_textworld_run(textworld_games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLDTHREAD_GAMES", raising=False)
    run = replace(RESTLESS, game=f"textworld:{textworld_games / 'cook.z8'}", steps=15)
    play_in(tmp_path, run, "fake", allow_code=MINE)
    whole = contents(tmp_path)
    with pytest.raises(InputError, match="--allow-code textworld:/"):
        replay(tmp_path, allow_code=MINE)
    assert replay(tmp_path, allow_code=[*MINE, run.game]).difference is None
    monkeypatch.setenv("WORLDTHREAD_GAMES", str(textworld_games))
    assert replay(tmp_path, allow_code=MINE).difference is None, "a game of mine"
    (tmp_path / "trajectory.jsonl").write_bytes(whole[0][: len(whole[0]) // 2])
    play_in(tmp_path, run, "fake", allow_code=MINE)
    assert contents(tmp_path) == whole


def test_settings_reach_the_agent() -> None:
    run = Run("tiny-v1", "react", 0, attempt=4, model="fake", valid_actions=False, options='{"temperature": 0.25}')
    agent: Any = make_player(run, TemporalGraph(), name="mine", model=FakePlayer(0))
    assert (agent.seed, agent.temperature, agent.use_valid_actions, agent.run) == (4, 0.25, False, "mine")
    explorer = make_player(Run("tiny-v1", "explorer", 0, attempt=4), TemporalGraph())
    assert explorer.name == "explorer", "what it does not take is not given"


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (Run("tiny", "explorr", 0), InputError, "did you mean 'explorer'"),
        (Run("tiny", "game_players:Nobody", 0), InputError, "cannot be imported"),
        (Run("tiny", "json:JSONDecoder", 0), InputError, "is not an agent"),
        (Run("tiny", "explorer", 0, options='{"temperature": 1}'), InputError, "has no setting 'temperature'"),
        (Run("tiny", "react", 0, options='{"seed": 1}', model="fake"), InputError, "has no setting 'seed'"),
        (Run("tiny", "react", 0, options="hot", model="fake"), InputError, "JSON object"),
        (Run("tiny", "explorer", 0, memory="rag"), InputError, "does not use a memory module"),
        (Run("tiny", "react", 0), ModelConfigError, "give --model NAME"),
        (Run("tny", "explorer", 0), UnknownGameError, "tiny"),
    ],
)
def test_mistakes_are_reported_before_the_play(run: Run, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        require_playable(run, "fake", allow_code=["game_players", "json"])


def test_limits_and_names() -> None:
    assert limit_of(Run("tiny", "explorer", 0)) == 50
    assert limit_of(Run("tiny", "explorer", 0, steps=7)) == 7
    assert limit_of(Run("textworld:any.z8", "explorer", 0)) == 500
    assert file_name("textworld:/some where/my game.z8") == "textworld-my-game"
    assert file_name("../..") == "run"
    one, two = Run("tiny-v1", "ariadne", 1, memory="rag"), Run("tiny-v1", "ariadne", 1, memory="rag", steps=5)
    assert str(one.folder).startswith("tiny-v1/ariadne+rag/seed1-")
    assert one.folder != two.folder
    assert Run(**asdict(two)) == two


def test_the_model_is_named_by_argument_or_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("WORLDTHREAD_MODEL", raising=False)
    assert model_name(None) == ""
    assert model_name("fake") == "fake"
    monkeypatch.setenv("WORLDTHREAD_MODEL", "ollama/small")
    assert model_name(None) == "small"
    assert model_name("none") == ""


def test_a_header_without_settings(tmp_path: Path) -> None:
    (tmp_path / "trajectory.jsonl").write_text('{"format": "worldthread-trajectory", "version": 2}\n')
    assert read_trajectory(tmp_path / "trajectory.jsonl").steps == []
    with pytest.raises(FormatError, match="does not describe the run"):
        replay(tmp_path, allow_code=MINE)

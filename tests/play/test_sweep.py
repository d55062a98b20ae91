"""Seeds, kept results, combinations and figures."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from worldthread import __version__
from worldthread.errors import FormatError, InputError, ModelConfigError, StoreLockedError
from worldthread_lab.cli.running import PlaySettings, names_in, runs_of, seeds_in, settings_in
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import read_summary
from worldthread_lab.play.sweep import RunProgress, SweepResults, play_run, read_progress, sweep
from worldthread_lab.play.sweep_figures import aggregate, best_attempts, groups_of


def test_seeds() -> None:
    assert seeds_in("1-3") == [1, 2, 3]
    assert seeds_in("7, 2-3,3") == [7, 2, 3]
    for bad in ("", "a", "3-1", "1-", "-4", "1,,2"):
        with pytest.raises(InputError, match="--seeds"):
            seeds_in(bad)


def test_settings() -> None:
    found = settings_in(["temperature=0.2", "name=a=b", "on=true"])
    assert found == PlaySettings(agent={"temperature": 0.2, "name": "a=b", "on": True})
    assert settings_in(None) == PlaySettings()
    for bad in ("temperature", "=3", "two words=1"):
        with pytest.raises(InputError, match="NAME=VALUE"):
            settings_in([bad])
    assert names_in([" a, b,a,,", "b"], "--agent") == ["a", "b"]
    assert names_in([], "--agent") == []
    with pytest.raises(InputError, match="--agent needs a name"):
        names_in([" ,"], "--agent")


def combined(agents: list[str], memories: list[str], **more: Any) -> list[Run]:
    given: dict[str, Any] = {"model": "fake", "settings": PlaySettings(), **more}
    return runs_of(["tiny", "tiny-v1"], agents, memories, [1, 2], range(2), **given)


def test_every_combination_that_makes_a_difference() -> None:
    runs = combined(["explorer", "random", "ariadne"], ["none", "worldthread"], budget_tokens=1000)
    assert len(set(runs)) == len(runs)
    assert {run.game for run in runs} == {"tiny-v1"}
    assert {run.version for run in runs} == {__version__}
    counts = {player: sum(run.player == player for run in runs) for player in dict.fromkeys(run.player for run in runs)}
    assert counts == {"explorer": 2, "random": 4, "ariadne+none": 4, "ariadne+worldthread": 4}
    asked = {run.agent: (run.model, run.budget_tokens) for run in runs}
    assert asked == {"explorer": ("", None), "random": ("", None), "ariadne": ("fake", 1000)}
    assert {run.attempt for run in runs if run.agent == "ariadne"} == {0, 1}


def test_settings_go_to_the_agents_that_take_them() -> None:
    runs = combined(["explorer", "react"], [], settings=PlaySettings(agent={"temperature": 0.2}))
    assert {run.agent: run.options for run in runs} == {"explorer": "{}", "react": '{"temperature":0.2}'}
    for more, message in (
        (
            {"agents": ["explorer"], "memories": [], "settings": PlaySettings(agent={"temperature": 1})},
            "no agent here has the setting",
        ),
        ({"agents": ["explorer"], "memories": ["rag"]}, "no agent here uses a memory module"),
        ({"agents": ["ariadne"], "memories": ["rga"]}, "did you mean 'rag'"),
    ):
        with pytest.raises(InputError, match=message):
            combined(**more)
    with pytest.raises(ModelConfigError, match="--model"):
        combined(["react"], [], model="none")


def test_results_are_kept_and_a_torn_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run = Run("tiny", "explorer", 1)
    summary = play_run(run, tmp_path / run.folder)
    with SweepResults(path) as results:
        results.add(run, summary)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    with SweepResults(path) as results:
        assert results.done == {run: summary}
        assert path.read_bytes() == whole
        assert replace(run, steps=3) not in results.done, "other settings are another run"
        assert replace(run, version="0.0.1") not in results.done, "another version plays otherwise"
        with pytest.raises(StoreLockedError, match="another sweep"):
            SweepResults(path)
    path.write_bytes(b'{"run": 1}\n' + whole)
    for _ in range(2):  # the refusal leaves nothing locked
        with pytest.raises(FormatError, match="line 1"):
            SweepResults(path)


def test_results_of_other_releases(tmp_path: Path) -> None:
    """What an older release kept is left alone and counts for nothing; what a newer one kept is not touched."""
    path = tmp_path / "results.jsonl"
    old = {"game": "tiny", "agent": "explorer", "seed": 1, "steps": None, "audit": True, "valid_actions": True}
    line = orjson.dumps({"run": {**old, "version": ""}, "summary": {"score": 2}}) + b"\n"
    path.write_bytes(line)
    with SweepResults(path) as results:
        assert results.done == {}
        results.add(Run("tiny", "explorer", 1), play_run(Run("tiny", "explorer", 1), tmp_path / "one"))
    assert path.read_bytes().startswith(line)
    with SweepResults(path) as results:
        assert set(results.done) == {Run("tiny", "explorer", 1)}
    newer = orjson.dumps({"version": 3, "run": {"galaxy": 1}, "summary": {}}) + b"\n"
    path.write_bytes(newer)
    with pytest.raises(FormatError, match="newer release"):
        SweepResults(path)
    assert path.read_bytes() == newer


def test_a_failed_run_is_reported_and_not_kept(tmp_path: Path) -> None:
    good, bad = Run("tiny", "explorer", 1), Run("textworld:missing.z8", "explorer", 1)
    ended: dict[Run, object] = {}
    with SweepResults(tmp_path / "results.jsonl") as results:
        failures = sweep([good, bad, good], results, jobs=2, on_done=ended.__setitem__)
        assert set(results.done) == {good}
    assert list(failures) == [bad]
    assert "missing.z8" in failures[bad]
    assert "GameFileError" in failures[bad]
    assert set(ended) == {good, bad}
    assert read_summary(tmp_path / good.folder) == ended[good]


def test_the_progress_of_a_run(tmp_path: Path) -> None:
    run = Run("tiny-v1", "explorer", 1)
    assert read_progress(run, tmp_path) is None
    play_run(run, tmp_path)
    path = tmp_path / "trajectory.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for cut, expected in ((1, None), (3, (1, 0)), (4, (2, 1))):
        path.write_bytes(b"".join(lines[:cut]) + b'{"turn":')
        assert read_progress(run, tmp_path) == (None if expected is None else RunProgress(run, *expected))


def test_a_sweep_reports_the_progress_of_its_runs(tmp_path: Path) -> None:
    runs = [Run("tiny-v1", "game_players:Slow", seed, steps=40, model="fake") for seed in (1, 2)]
    seen: list[RunProgress] = []
    with SweepResults(tmp_path / "results.jsonl") as results:
        sweep(
            runs, results, jobs=2, on_done=lambda *_: None, on_tick=seen.extend, argument="fake",
            allow_code=["game_players"],
        )  # fmt: skip
        assert set(results.done) == set(runs)
    assert {progress.run for progress in seen} == set(runs)
    assert max(progress.moves for progress in seen) > 0


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The summary of a real run, with figures that are easy to reckon with."""
    summary = play_run(Run("tiny", "explorer", 1), tmp_path_factory.mktemp("base"))
    figures = {"game": "g", "agent": "a", "won": True, "score": 2, "best_score": 2, "moves": 30, "optimal_moves": 20}
    return {**summary, **figures, "normalized": 1.0, "best_normalized": 1.0, "audit_figures": None}


@pytest.mark.games
def test_figures(base: dict[str, Any]) -> None:
    runs = [base | {"seed": n, "moves": 20 + 10 * n, "cost_usd": 0.1 * n} for n in range(1, 4)]
    lost = {"seed": 9, "won": False, "score": 0, "normalized": 0.0, "best_normalized": 0.5, "best_score": 1}
    runs.append(base | lost | {"moves": 100, "cost_usd": 0.0, "prompt_tokens": 400})
    figures = aggregate(runs)
    assert (figures["runs"], figures["wins"], figures["not_won"]) == (4, 3, [9])
    assert (figures["score"]["mean"], figures["score"]["sd"]) == (1.5, 1.0)
    assert (figures["normalized"]["mean"], figures["best_normalized"]["mean"]) == (0.75, 0.875)
    low, high = figures["best_normalized"]["interval"]
    assert 0.5 <= low < 0.875 < high <= 1
    assert figures["dollars"]["mean"] == pytest.approx(0.15)
    assert figures["tokens"]["mean"] == 100
    low, high = figures["win_interval"]
    assert low == pytest.approx(0.3006, abs=1e-3), "Wilson, 3 of 4"
    assert high == pytest.approx(0.9544, abs=1e-3)
    assert (figures["median_moves"], figures["median_ratio"]) == (45, 2.0)
    assert figures["moves"]["mean"] == 55
    assert figures["audit"] is None
    same = aggregate([base, base])
    assert same["score"] == {"mean": 2.0, "sd": 0.0, "interval": [2.0, 2.0]}, "no spread, no interval"
    unpriced = aggregate([base | {"cost_usd": None, "normalized": None}, base])
    assert (unpriced["dollars"], unpriced["normalized"]) == (None, None), "no mean of what is known in part"


@pytest.mark.games
def test_the_best_attempts_are_counted_only_when_asked_and_labelled(base: dict[str, Any]) -> None:
    scores = {1: [3, 9, 1, 5, 7], 2: [2, 2, 8, 4, 4]}
    runs = [
        base | {"seed": seed, "attempt": number, "score": score, "best_score": score, "moves": 50 - number}
        for seed, values in scores.items()
        for number, score in enumerate(values)
    ]
    everything = aggregate(runs)
    assert (everything["runs"], everything["attempts"], everything["counted"]) == (10, 5, "all runs")
    assert everything["score"]["mean"] == 4.5
    best = aggregate(runs, best=3)
    assert best["counted"] == "the best 3 of 5 attempts at each seed"
    assert (best["runs"], best["attempts"]) == (6, 5)
    assert best["score"]["mean"] == pytest.approx((9 + 7 + 5 + 8 + 4 + 4) / 6, abs=1e-5)
    assert aggregate(runs[:1], best=3)["counted"] == "all runs"
    assert [s["attempt"] for s in best_attempts(runs[5:], 3)] == [2, 4, 3], "of equals, the one with fewer moves"


def test_groups() -> None:
    one, two = Run("g", "a", 1), Run("g", "a", 2)
    other, third = Run("g", "a", 1, memory="rag"), Run("h", "a", 1)
    done: list[tuple[Run, dict[str, Any]]] = [(r, asdict(r)) for r in (one, other, third, two)]
    assert [[s["seed"] for s in group] for group in groups_of(done)] == [[1, 2], [1], [1]]

"""Seeds, kept results and figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldthread.bench.sweep import Results, Run, aggregate, play_once, sweep
from worldthread.cli.sweep import parse_seeds
from worldthread.errors import FormatError, InputError


def test_seeds() -> None:
    assert parse_seeds("1-3") == [1, 2, 3]
    assert parse_seeds("7, 2-3,3") == [7, 2, 3]
    for bad in ("", "a", "3-1", "1-", "-4", "1,,2"):
        with pytest.raises(InputError, match="--seeds"):
            parse_seeds(bad)


def test_results_are_kept_and_a_torn_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    summary = play_once(Run("tiny", "explorer", 1))
    with Results(path) as results:
        results.add(Run("tiny", "explorer", 1), summary)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    with Results(path) as results:
        assert set(results.done) == {Run("tiny", "explorer", 1)}
        assert path.read_bytes() == whole
        assert Run("tiny", "explorer", 1, steps=3) not in results.done, "other settings are another run"
        assert Run("tiny", "explorer", 1, version="0.0.1") not in results.done, "another version plays otherwise"
        with pytest.raises(InputError, match="another sweep"):
            Results(path)
    path.write_bytes(b'{"run": 1}\n' + whole)
    for _ in range(2):  # the refusal leaves nothing locked
        with pytest.raises(FormatError, match="line 1"):
            Results(path)


def test_a_failed_run_is_told_and_not_kept(tmp_path: Path) -> None:
    good, bad = Run("tiny", "explorer", 1), Run("textworld:missing.z8", "explorer", 1)
    ended: dict[Run, object] = {}
    with Results(tmp_path / "results.jsonl") as results:
        failures = sweep([good, bad, good], results, jobs=2, on_done=ended.__setitem__)
        assert set(results.done) == {good}
    assert list(failures) == [bad]
    assert "missing.z8" in failures[bad]
    assert "GameFileError" in failures[bad]
    assert set(ended) == {good, bad}


@pytest.mark.games
def test_figures() -> None:
    base = {
        "game": "g", "agent": "a", "seed": 1, "won": True, "normalized": 1.0, "moves": 30, "decisions": 20, "stuck": 0,
        "optimal_moves": 20, "model_calls": 0, "seconds": 1.0, "audit_figures": None,
    }  # fmt: skip
    runs = [base | {"seed": n, "moves": 20 + 10 * n} for n in range(1, 4)]
    runs.append(base | {"seed": 9, "won": False, "normalized": 0.5, "moves": 100})
    figures = aggregate(runs)
    assert (figures["runs"], figures["wins"], figures["not_won"]) == (4, 3, [9])
    assert figures["score"] == 0.875
    low, high = figures["score_interval"]
    assert 0.5 <= low < 0.875 < high <= 1
    low, high = figures["win_interval"]
    assert low == pytest.approx(0.3006, abs=1e-3), "Wilson, 3 of 4"
    assert high == pytest.approx(0.9544, abs=1e-3)
    assert (figures["median_moves"], figures["median_ratio"]) == (45, 2.0)
    assert figures["audit"] is None
    same = aggregate([base, base])
    assert same["score_interval"] == (1.0, 1.0), "no spread, no interval"

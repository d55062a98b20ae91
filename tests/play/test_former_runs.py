"""Runs that were recorded with former rules of play, agents and prompts still open and replay byte for byte."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from worldthread.errors import InputError
from worldthread_lab.play.run import RULES, Run, decode_run, run_settings
from worldthread_lab.play.run_files import header_of, replay
from worldthread_lab.play.trajectory import read_trajectory

RECORDED = Path(__file__).parent / "former_runs"


@pytest.mark.parametrize(("recorded", "rules"), [("ariadne", 1), ("reflact", 1), ("reflact-2", 2)])
def test_runs_of_earlier_rules_replay(recorded: str, rules: int, tmp_path: Path) -> None:
    """``worldthread play tiny --agent AGENT --model fake --seed 3 --steps 20`` of releases with these rules."""
    for name in ("trajectory.jsonl", "recording.jsonl"):
        (tmp_path / name).write_bytes(gzip.decompress((RECORDED / f"{recorded}-{name}.gz").read_bytes()))
    result = replay(tmp_path)
    assert result.difference is None
    assert (result.lines, result.moves, result.is_complete) == (23, 20, True)
    header = read_trajectory(tmp_path / "trajectory.jsonl").header
    run = decode_run({**header["settings"], "version": header["release"]})
    assert run.rules == rules
    assert header_of(run, header["name"])["settings"] == header["settings"], "so that it resumes, too"


def test_settings_that_are_not_used_are_not_written() -> None:
    former = Run("tiny-v1", "explorer", 1, rules=1)
    assert run_settings(former).keys() & {"rules", "decisions", "memory_options", "game_options", "prompts"} == set()
    present = Run("tiny-v1", "explorer", 1, decisions=5, memory_options='{"width":5}')
    assert run_settings(present)["rules"] == RULES
    assert decode_run(run_settings(present)) == present
    assert former.folder != Run("tiny-v1", "explorer", 1).folder


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"rules": RULES + 1}, "use a newer release"),
        ({"memory_options": "[]"}, "memory_options must be a JSON object"),
        ({"prompts": '{"agents/nothing": "x"}'}, "no prompt is called 'agents/nothing'"),
        ({"prompts": '{"agents/ariadne": 1}'}, "must be a JSON object of texts"),
        ({"decisions": -1}, "decisions must be a number from 0"),
    ],
)
def test_bad_settings_are_named(changed: dict[str, object], says: str) -> None:
    settings = orjson.loads(orjson.dumps(run_settings(Run("tiny-v1", "explorer", 1))))
    with pytest.raises(InputError, match=says):
        decode_run({**settings, **changed})

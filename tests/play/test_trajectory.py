"""The file of a play: written, continued, compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldthread.errors import FormatError, StoreLockedError
from worldthread_lab.play.trajectory import TRAJECTORY_FORMAT, TrajectoryComparison, TrajectoryWriter, read_trajectory

HEADER = {"game": "tiny-v1", "release": "1.0"}
STEPS = [{"turn": 0, "action": None}, {"turn": 1, "action": "look"}, {"turn": 2, "action": "go north"}]


def written(path: Path, steps: list[dict[str, object]] = STEPS, *, resume: bool = False, ends: bool = True) -> bytes:
    with TrajectoryWriter(path, HEADER, resume=resume) as writer:
        for step in steps:
            writer.write(step)
        if ends:
            writer.finish({"score": 1})
    return path.read_bytes()


def test_what_was_cut_off_anywhere_goes_on(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole")
    path = tmp_path / "cut"
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        assert written(path, resume=True) == whole, f"cut after {end} bytes"
    assert written(path) == whole, "without resuming it is made anew"


def test_another_play_is_named_by_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    whole = written(path)
    other = [*STEPS[:2], {"turn": 2, "action": "go south"}]
    with pytest.raises(FormatError, match=r'line 4: .*action was "go north", and is "go south" now.*another folder'):
        written(path, other, resume=True)
    with pytest.raises(FormatError, match=r"line 4: .*it ends here"):
        written(path, STEPS[:2], resume=True)
    with pytest.raises(FormatError, match=r"line 5: .*it does not end here"):
        written(path, [*STEPS, {"turn": 3}], resume=True)
    with pytest.raises(FormatError, match=r'line 1: .*game was "tiny-v1", and is "other" now'):
        TrajectoryWriter(path, {"game": "other"}, resume=True)
    assert path.read_bytes() == whole, "a refusal changes nothing"


def test_another_release_may_go_on(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    whole = written(path, ends=False)
    with TrajectoryWriter(path, {**HEADER, "release": "2.0", "memory": "elsewhere"}, resume=True) as writer:
        for step in [*STEPS, {"turn": 3}]:
            writer.write(step)
    assert path.read_bytes() == whole + b'{"turn":3}\n'


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    with TrajectoryWriter(path, HEADER), pytest.raises(StoreLockedError, match="another process"):
        TrajectoryWriter(path, HEADER, resume=True)
    TrajectoryWriter(path, HEADER, resume=True).close()


def test_a_comparison(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    lines = written(path).splitlines()
    comparison = TrajectoryComparison(path)
    assert comparison.is_complete
    for line in lines:
        comparison.take(line)
    comparison.require_end()
    assert (comparison.compared, comparison.left) == (5, 0)
    with pytest.raises(FormatError, match="the file ends here"):
        comparison.take(b"{}")
    reordered = TrajectoryComparison(path)
    reordered.take(lines[0])
    with pytest.raises(FormatError, match="another order"):
        reordered.take(b'{"action":null,"turn":0}')
    path.write_bytes(b"\n".join(lines[:3]) + b'\n{"tur')
    cut = TrajectoryComparison(path)
    assert (cut.is_complete, cut.left) == (False, 3)


def test_versions(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    path.write_text(
        f'{{"format": "{TRAJECTORY_FORMAT}", "version": 1}}\n{{"turn": 0}}\n{{"summary": {{"score": 2}}}}\n'
    )
    assert read_trajectory(path).summary == {"score": 2}, "older ones are read"
    with pytest.raises(FormatError, match=r"version 1, which can be read but not played again"):
        TrajectoryWriter(path, HEADER, resume=True)
    with pytest.raises(FormatError, match="version 1"):
        TrajectoryComparison(path)
    path.write_text(f'{{"format": "{TRAJECTORY_FORMAT}", "version": 3}}\n')
    for read in (read_trajectory, TrajectoryComparison, lambda path: TrajectoryWriter(path, HEADER, resume=True)):
        with pytest.raises(FormatError, match=r"newer release \(version 3, this one reads 2\)"):
            read(path)

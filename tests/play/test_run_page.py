"""The page of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.errors import FormatError, InputError
from worldthread.extract.base import GameStep
from worldthread_lab.agents import make_agent
from worldthread_lab.agents.base import Percept
from worldthread_lab.play.run_page import map_drawing, write_report
from worldthread_lab.play.trajectory import TRAJECTORY_FORMAT, TrajectoryWriter, read_trajectory

HOSTILE = "<script>alert(1)</script> {{ 7 * 7 }} {% raw %} \"'&"


@pytest.mark.games
def test_hostile_text_stays_text(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.worldthread") as memory:
        text = f"-= Hall {HOSTILE} =-\nYou see a {HOSTILE}. There is an exit to the north."
        make_agent("explorer", memory.record).perceive(Percept(GameStep(text)))
    step = {
        "turn": 0, "action": HOSTILE, "reason": HOSTILE, "observation": HOSTILE, "inventory": HOSTILE, "score": 0,
        "learned": [HOSTILE], "ended": [[HOSTILE, HOSTILE]], "facts": 1, "vertices": 2,
    }  # fmt: skip
    with TrajectoryWriter(tmp_path / "trajectory.jsonl", {"game": HOSTILE, "agent": HOSTILE, "seed": 0}) as writer:
        writer.write(step)
    page = write_report(tmp_path).read_text("utf-8")
    assert page.count("<script>") == 1, "only our own"
    assert "alert(1)" in page
    assert "&lt;script&gt;" in page
    assert "{{ 7 * 7 }}" in page, "shown, not evaluated"
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ), "nothing is fetched"
    assert "src=" not in page


def test_the_map_has_rooms_ways_and_exits(tmp_path: Path) -> None:
    with Memory() as memory:
        agent = make_agent("explorer", memory.record)
        agent.perceive(Percept(GameStep("-= A =-\nThere is an exit to the east. There is an exit to the south.")))
        agent.perceive(Percept(GameStep("-= B =-\nYou see a lamp. There is an exit to the west.", "go east", turn=1)))
        drawing = map_drawing(memory.view())
    assert {(room["name"], room["here"], tuple(room["things"])) for room in drawing["rooms"]} == {
        ("A", False, ()),
        ("B", True, ("lamp",)),
    }
    assert len(drawing["ways"]) == 1
    assert len(drawing["exits"]) == 1
    a, b = sorted(drawing["rooms"], key=lambda room: room["name"])
    assert b["x"] > a["x"]
    assert b["y"] == a["y"]


def test_trajectories_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "trajectory.jsonl"
    with pytest.raises(InputError, match="cannot read"):
        read_trajectory(file)
    for content in ("", "{}\n", "not json\n", "[1]\n", '{"format": "other"}\n'):
        file.write_text(content)
        with pytest.raises(FormatError):
            read_trajectory(file)
    file.write_text(f'{{"format": "{TRAJECTORY_FORMAT}", "version": 99}}\n')
    with pytest.raises(FormatError, match="version 99"):
        read_trajectory(file)
    file.write_text(f'{{"format": "{TRAJECTORY_FORMAT}", "version": 1}}\n{{"turn": 0}}\n{{"tur')
    assert read_trajectory(file).steps == [{"turn": 0}]

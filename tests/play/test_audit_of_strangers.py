"""The memory of stories that were written for this project by people who did not see its rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldthread_lab.play.audit_story import audit_games

STORIES = Path(__file__).parent / "stories"
STEPS = 70


@pytest.mark.parametrize("name", ["wreckers.z5", "halfway.z5", "bequest.z8"])
def test_what_is_remembered_of_a_stranger_s_story_is_right(name: str) -> None:
    pytest.importorskip("jericho")
    walkthrough = STORIES / f"{Path(name).stem}.walkthrough.txt"
    ((_, report),) = audit_games([str(STORIES / name)], STEPS, walkthroughs=[walkthrough])
    assert report.steps == STEPS + 1
    assert (report.merged, report.split, report.wrong_ways) == (0, 0, 0)
    assert report.figures["player"].precision == report.figures["carried"].precision == 1
    assert report.figures["carried"].recall == 1
    assert report.total.precision > 0.96
    assert report.total.recall > 0.82


def test_a_story_in_words_of_its_own_is_told_little_of_and_nothing_wrong_of_its_map() -> None:
    pytest.importorskip("jericho")
    story = STORIES / "neptune.z5"
    ((_, report),) = audit_games([str(story)], STEPS, walkthroughs=[STORIES / "neptune.walkthrough.txt"])
    assert report.wrong_ways == 0
    assert report.figures["carried"].precision == 1
    assert report.total.precision > 0.92
    assert report.total.recall > 0.4


def test_the_saltworks_are_remembered() -> None:
    pytest.importorskip("jericho")
    story = STORIES / "saltworks.z5"
    ((_, report),) = audit_games([str(story)], STEPS, walkthroughs=[STORIES / "saltworks.walkthrough.txt"])
    assert report.wrong_ways == 0
    assert report.total.precision > 0.92
    assert report.total.recall > 0.9

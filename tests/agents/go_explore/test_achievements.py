"""What counts as an achievement, and what it is worth."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread_lab.agents.go_explore.settings import DEFAULT_SETTINGS


def test_points_make_an_achievement_and_failing_again_makes_it_less_reliable(story: Any) -> None:
    start = story.go("hall")
    paid = story.go("hall", start, "pray", score=10)
    (achievement,) = story.achievements
    assert (achievement.gain, achievement.room, achievement.action) == (10, "hall", "pray")
    assert achievement.is_done(paid.achieved)
    assert not achievement.is_done(start.achieved)
    assert story.achievements.unit() == 10
    assert story.achievements.weight(achievement, 10) == pytest.approx(DEFAULT_SETTINGS.points + 0.1)
    story.go("hall", story.go("hall", start, "wait"), "pray")
    assert achievement.reliability == 0.5
    assert len(story.achievements) == 1
    assert story.achievements.merit(paid, 10) - story.achievements.merit(start, 10) > DEFAULT_SETTINGS.points


def test_a_thing_is_an_achievement_when_it_is_taken_first(story: Any) -> None:
    start = story.go("hall")
    taken = story.go("hall", start, "take coin", carried={"coin"})
    dropped = story.go("hall", taken, "drop coin", state="dropped")
    story.go("hall", dropped, "get coin", carried={"coin"}, state="again")
    (achievement,) = story.achievements
    assert (achievement.action, achievement.things) == ("take coin", {"coin"})
    assert dropped.clutter > taken.clutter
    assert taken.quality > dropped.quality


def test_new_possibilities_are_an_achievement_and_leaving_things_is_none(story: Any) -> None:
    start = story.go("hall", actions=("open chest", "look"))
    opened = story.go("hall", start, "open chest", actions=("close chest", "take crown"))
    (achievement,) = story.achievements
    assert achievement.opens_up
    assert achievement.is_done(opened.achieved)
    held = story.go("hall", opened, "take crown", actions=("close chest", "drop crown"), carried={"crown"})
    story.go("hall", held, "drop crown", actions=("close chest", "climb crown"))
    assert [achievement.action for achievement in story.achievements] == ["open chest", "take crown"]


def test_entering_a_room_for_points_is_one_event_whichever_way(story: Any) -> None:
    start = story.go("hall", actions=("go east", "go north"))
    story.go("cave", start, "go east", score=5)
    story.go("cave", story.go("loft", start, "go north"), "go down", score=5)
    one, other = story.achievements
    assert one.bit == other.bit
    assert one.room != other.room
    assert not story.achievements.left(1 << one.bit)


def test_a_kind_that_pays_once_is_left_out_after_that(story: Any) -> None:
    start = story.go("hall")
    first = story.go("hall", start, "greet queen", score=5)
    story.go("hall", story.go("hall", start, "wait"), "greet king", score=5)
    queen, king = story.achievements
    assert queen.kind == king.kind
    assert king in story.achievements.left(first.achieved)
    doubtful = story.achievements.weight(king, 5, first.achieved)
    assert doubtful < story.achievements.weight(king, 5)
    story.go("hall", first, "greet king", score=5)
    assert king not in story.achievements.left(first.achieved), "to greet a second one brought nothing"


def test_what_changed_the_world_in_vain_may_have_been_a_preparation(story: Any) -> None:
    start = story.go("hall")
    ready = story.go("hall", start, "wave rod", state="changed")
    story.go("hall", ready, "say word", score=5)
    (achievement,) = story.achievements
    assert achievement.preparations == ("wave rod",)


def test_experience_tells_of_forms_and_of_actions(story: Any) -> None:
    start = story.go("hall")
    assert story.achievements.usefulness("take stone") == pytest.approx(1)
    story.go("hall", start, "take coin", carried={"coin"})
    story.go("hall", start, "rub lamp")
    story.go("hall", start, "rub ring")
    assert story.achievements.usefulness("take stone") > 1 > story.achievements.usefulness("rub stone")
    assert story.achievements.in_vain("rub lamp") == 1
    assert story.achievements.in_vain("take coin") == 0


def test_death_is_no_achievement_unless_it_pays(story: Any) -> None:
    start = story.go("hall")
    story.go("hall", start, "jump", ended=True, carried={"wings"})
    assert not len(story.achievements)
    story.go("hall", start, "fly", ended=True, score=1)
    assert [achievement.action for achievement in story.achievements] == ["fly"]

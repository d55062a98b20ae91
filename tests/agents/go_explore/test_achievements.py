"""What counts as a feat, and what it is worth."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread.agents.go_explore.achievements import POINTS


def test_points_make_a_feat_and_failing_again_makes_it_less_reliable(story: Any) -> None:
    start = story.go("hall")
    paid = story.go("hall", start, "pray", score=10)
    (feat,) = story.feats
    assert (feat.gain, feat.room, feat.action) == (10, "hall", "pray")
    assert feat.is_done(paid.achieved)
    assert not feat.is_done(start.achieved)
    assert story.feats.unit() == 10
    assert story.feats.weight(feat, 10) == pytest.approx(POINTS + 0.1)
    story.go("hall", story.go("hall", start, "wait"), "pray")
    assert feat.reliability == 0.5
    assert len(story.feats) == 1
    assert story.feats.merit(paid, 10) - story.feats.merit(start, 10) > POINTS


def test_a_thing_is_a_feat_when_it_is_taken_first(story: Any) -> None:
    start = story.go("hall")
    taken = story.go("hall", start, "take coin", carried={"coin"})
    dropped = story.go("hall", taken, "drop coin", state="dropped")
    story.go("hall", dropped, "get coin", carried={"coin"}, state="again")
    (feat,) = story.feats
    assert (feat.action, feat.things) == ("take coin", {"coin"})
    assert dropped.clutter > taken.clutter
    assert taken.quality > dropped.quality


def test_new_possibilities_are_a_feat_and_leaving_things_is_none(story: Any) -> None:
    start = story.go("hall", actions=("open chest", "look"))
    opened = story.go("hall", start, "open chest", actions=("close chest", "take crown"))
    (feat,) = story.feats
    assert feat.opens_up
    assert feat.is_done(opened.achieved)
    held = story.go("hall", opened, "take crown", actions=("close chest", "drop crown"), carried={"crown"})
    story.go("hall", held, "drop crown", actions=("close chest", "climb crown"))
    assert [feat.action for feat in story.feats] == ["open chest", "take crown"]


def test_entering_a_room_for_points_is_one_event_whichever_way(story: Any) -> None:
    start = story.go("hall", actions=("go east", "go north"))
    story.go("cave", start, "go east", score=5)
    story.go("cave", story.go("loft", start, "go north"), "go down", score=5)
    one, other = story.feats
    assert one.bit == other.bit
    assert one.room != other.room
    assert not story.feats.left(1 << one.bit)


def test_a_kind_that_pays_once_is_left_out_after_that(story: Any) -> None:
    start = story.go("hall")
    first = story.go("hall", start, "greet queen", score=5)
    story.go("hall", story.go("hall", start, "wait"), "greet king", score=5)
    queen, king = story.feats
    assert queen.kind == king.kind
    assert king in story.feats.left(first.achieved)
    doubtful = story.feats.weight(king, 5, first.achieved)
    assert doubtful < story.feats.weight(king, 5)
    story.go("hall", first, "greet king", score=5)
    assert king not in story.feats.left(first.achieved), "to greet a second one brought nothing"


def test_what_changed_the_world_in_vain_may_have_been_a_preparation(story: Any) -> None:
    start = story.go("hall")
    ready = story.go("hall", start, "wave rod", state="changed")
    story.go("hall", ready, "say word", score=5)
    (feat,) = story.feats
    assert feat.preparations == ("wave rod",)


def test_experience_tells_of_forms_and_of_actions(story: Any) -> None:
    start = story.go("hall")
    assert story.feats.usefulness("take stone") == pytest.approx(1)
    story.go("hall", start, "take coin", carried={"coin"})
    story.go("hall", start, "rub lamp")
    story.go("hall", start, "rub ring")
    assert story.feats.usefulness("take stone") > 1 > story.feats.usefulness("rub stone")
    assert story.feats.in_vain("rub lamp") == 1
    assert story.feats.in_vain("take coin") == 0


def test_death_is_no_feat_unless_it_pays(story: Any) -> None:
    start = story.go("hall")
    story.go("hall", start, "jump", ended=True, carried={"wings"})
    assert not len(story.feats)
    story.go("hall", start, "fly", ended=True, score=1)
    assert [feat.action for feat in story.feats] == ["fly"]

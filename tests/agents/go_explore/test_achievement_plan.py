"""Doing on one branch what was achieved on several."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread_lab.agents.go_explore.achievement_plan import AchievementPlan, AchievementPlanner


class Branches:
    """A hall with a coin, and a cave east of it with a ruby: each was taken on a branch of its own."""

    def __init__(self, story: Any) -> None:
        self.go, self.achievements = story.go, story.achievements
        self.planner = AchievementPlanner(story.graph, story.achievements)
        self.start = self.go("hall", actions=("go east", "take coin"), state="start")
        self.coin = self.go("hall", self.start, "take coin", actions=("go east",), carried={"coin"}, score=5)
        self.cave = self.go("cave", self.start, "go east", actions=("go west", "take ruby"), state="cave")
        self.ruby = self.go("cave", self.cave, "take ruby", actions=("go west",), carried={"ruby"}, score=5)


@pytest.fixture
def branches(story: Any) -> Branches:
    return Branches(story)


def test_the_shortest_way_to_have_both(branches: Branches) -> None:
    plan = branches.planner.plan()
    assert plan is not None
    assert plan.start is branches.coin or plan.start is branches.ruby
    assert plan.moves == 2
    assert plan.hope > 1
    branches.planner.begin(plan)
    other = branches.planner.plan()
    assert other is None or other.start is not plan.start, "not from there again before more is known"


def test_a_step_at_a_time_until_all_is_done(branches: Branches) -> None:
    carried_out = AchievementPlan(branches.planner, 1.0, branches.planner.best_merit())
    first = carried_out.next_step(branches.coin)
    assert first is not None
    assert (first.visit, first.action) == (branches.coin, "go east")
    cave = branches.go(
        "cave", branches.coin, "go east", actions=("go west", "take ruby"), carried={"coin"}, score=5, state="rich"
    )
    second = carried_out.next_step(cave)
    assert second is not None
    assert second.action == "take ruby"
    both = branches.go("cave", cave, "take ruby", actions=("go west",), carried={"coin", "ruby"}, score=10)
    assert carried_out.next_step(both) is None
    assert branches.planner.best_merit() > carried_out.base
    assert branches.planner.plan() is None, "nothing is left to do"


def test_known_states_are_passed_without_a_move(branches: Branches) -> None:
    carried_out = AchievementPlan(branches.planner, 1.0, 0.0)
    cave = branches.go(
        "cave", branches.coin, "go east", actions=("go west", "take ruby"), carried={"coin"}, score=5, state="rich"
    )
    step = carried_out.next_step(branches.coin)
    assert step is not None
    assert (step.visit, step.action) == (cave, "take ruby")


def test_an_achievement_that_is_not_on_offer_fails_and_counts_as_an_attempt(branches: Branches) -> None:
    ruby = next(achievement for achievement in branches.achievements if achievement.action == "take ruby")
    gone = branches.go("cave", branches.coin, "go east", actions=("go west",), carried={"coin"}, score=5, state="gone")
    assert AchievementPlan(branches.planner, 1.0, 0.0).next_step(gone) is None
    assert ruby.reliability < 1


def test_full_hands_put_down_what_never_brought_points(branches: Branches) -> None:
    laden = branches.go(
        "cave",
        branches.coin,
        "go east",
        actions=("go west", "drop coin", "drop twig"),
        carried={"coin", "twig"},
        score=5,
        state="laden",
    )
    step = AchievementPlan(branches.planner, 1.0, 0.0).next_step(laden)
    assert step is not None
    assert step.action == "drop twig"


def test_the_end_of_a_game_ends_it(branches: Branches) -> None:
    dead = branches.go("cave", branches.coin, "go east", ended=True, score=5)
    assert AchievementPlan(branches.planner, 1.0, 0.0).next_step(dead) is None

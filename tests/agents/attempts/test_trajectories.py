"""Trajectories: their values, the frontier, and that what is told of them fits."""

from __future__ import annotations

import random
from typing import Any

import pytest

from worldthread_lab.agents.attempts.trajectories import (
    AttemptTrajectory,
    Frontier,
    TrajectoryStep,
    render_steps,
    render_trajectories,
    render_trajectory,
)
from worldthread_lab.agents.prompting import first_lines, offered_text, shorten
from worldthread_lab.agents.valid_actions import valid_actions_in


def steps(*scores: float, text: str = "Nothing happens.") -> tuple[TrajectoryStep, ...]:
    """The beginning and one step for each further score, its number as moment and in its action."""
    return tuple(
        TrajectoryStep(n, f"do {n}" if n else None, f"{n}: {text}", score, score - scores[max(n - 1, 0)])
        for n, score in enumerate(scores)
    )


def trajectory(number: int, *scores: float, **options: Any) -> AttemptTrajectory:
    return AttemptTrajectory(number, steps(*scores), **options)


def test_the_value_is_the_highest_score_after_a_move() -> None:
    assert trajectory(1, 0, 5, 15, 5).value == 15
    assert trajectory(1, 0, 5, 15, 15).moves_to_value == 2
    assert trajectory(1, 0, -10, -10).value == -10, "the beginning is no achievement"
    assert (trajectory(1, 3).value, trajectory(1, 3).moves_to_value) == (3, 0)


def test_the_frontier_keeps_the_best_and_ranks_them() -> None:
    frontier = Frontier(3)
    for one in (trajectory(1, 0, 0, 5), trajectory(2, 0, 10), trajectory(3, 0, 5, 5, 5), trajectory(4, 0, 0, 0, 0, 7)):
        frontier.add(one)
    assert [one.number for one in frontier.trajectories] == [2, 4, 3], "5 in one move before 5 in two"
    frontier.add(trajectory(5, 0, 1))
    assert [one.number for one in frontier.trajectories] == [2, 4, 3]
    frontier.add(trajectory(6, 0, 10))  # the actions of number 2
    assert [one.number for one in frontier.trajectories] == [2, 4, 3]
    frontier.add(trajectory(7, 0, 0, 0, 0, 0, 99))
    assert [one.number for one in frontier.trajectories] == [7, 2, 4]


def test_the_frontier_of_a_hand_worked_example() -> None:
    """Equation 1 with k = 2, worked by hand.

    v is the highest sum of rewards, not the last one. A (rewards +5, +10, -10) has v = 15, B (0, +5, +5) 10, C (+10, 0,
    0) 10, D (-5, +25) 20, E (0, 0) 0. After A and B: A, B. C has the value of B and reached it after one move, so it
    takes B's place. D is better than both: D, A. E changes nothing. A state on the way of D and of A has the achieved
    value of the better one, 20 (section 3.1).
    """
    rewards = {1: (5, 10, -10), 2: (0, 5, 5), 3: (10, 0, 0), 4: (-5, 25), 5: (0, 0)}
    made = {
        number: AttemptTrajectory(
            number,
            tuple(
                TrajectoryStep(
                    100 * number + n,
                    f"{number}.{n}" if n else None,
                    "Hall.",
                    sum(given[:n]),
                    state="hall" if n == 1 else None,
                )
                for n in range(len(given) + 1)
            ),
        )
        for number, given in rewards.items()
    }
    assert {number: one.value for number, one in made.items()} == {1: 15, 2: 10, 3: 10, 4: 20, 5: 0}
    frontier = Frontier(2)
    expected = {1: [1], 2: [1, 2], 3: [1, 3], 4: [4, 1], 5: [4, 1]}
    for number, one in made.items():
        frontier.add(one)
        assert [kept.number for kept in frontier.trajectories] == expected[number], f"after {number}"
    through = [one for one in frontier.trajectories if any(each.state == "hall" for each in one.steps)]
    assert max(one.value for one in through) == 20


def test_what_is_too_long_loses_its_middle() -> None:
    assert shorten(" a  b\n c ", 10) == "a b c"
    cut = shorten("the beginning " + "x" * 500 + " the end", 40)
    assert len(cut) == 40
    assert cut.startswith("the beginning ")
    assert cut.endswith(" the end")
    assert "[...]" in cut
    assert first_lines(["one", "two", "three"], 8) == "one\ntwo"


def test_a_step_tells_score_points_action_and_text() -> None:
    rendered = render_steps(steps(0, 5, 5), 1000, start=1, remarks={1: ["thought: well done"]})
    assert rendered.splitlines() == [
        "[0] 0: Nothing happens.",
        "[5, +5] > do 1: 1: Nothing happens.",
        "  (thought: well done)",
        "(from here on: this attempt)",
        "[5] > do 2: 2: Nothing happens.",
    ]


def test_the_last_observation_is_told_at_greater_length() -> None:
    rendered = render_steps(steps(0, 0, 0, text="word " * 400), 9000)
    _, before, last = rendered.splitlines()
    assert len(before) < 700 < 1900 < len(last)


@pytest.mark.parametrize("limit", [200, 500, 2000, 16_000])
def test_steps_always_fit(limit: int) -> None:
    chance = random.Random(limit)
    for _ in range(30):
        scores = [0.0]
        for _ in range(chance.randint(0, 120)):
            scores.append(scores[-1] + chance.choice((0, 0, 0, 5, -1)))
        text = "word " * chance.randint(0, 300)
        remarks = {n: ["because " * chance.randint(0, 100)] * chance.randint(0, 3) for n in range(len(scores))}
        rendered = render_steps(steps(*scores, text=text), limit, start=len(scores) // 2, remarks=remarks)
        assert 0 < len(rendered) <= limit


def test_moves_without_points_are_left_out_first() -> None:
    rendered = render_steps(steps(*[0] * 50, 5, *[5] * 60), 1500)
    lines = rendered.splitlines()
    assert any(line.startswith("[5, +5] > do 50:") for line in lines)
    assert lines[-1].startswith("[5] > do 110:")
    assert lines[0] == "... (50 moves left out)"
    left_out = sum(int(line.split("(")[1].split()[0]) for line in lines if "left out" in line)
    assert left_out + sum("left out" not in line for line in lines) == 111


def test_trajectories_share_what_there_is() -> None:
    many = [trajectory(n, *[n] * 80) for n in range(1, 6)]
    rendered = render_trajectories(many, 6000)
    assert len(rendered) <= 6000
    assert [f"Trajectory {n}: best score {n}" in rendered for n in range(1, 6)] == [True] * 5
    short = [trajectory(1, 0, 0), trajectory(2, *[0] * 80)]
    assert "left out" not in render_trajectories(short, 4000), "what the first does not need, the second gets"
    assert render_trajectories([], 4000) == ""


def test_only_the_part_since_the_start() -> None:
    rendered = render_trajectory(trajectory(4, 0, 5, 5, 6, start=2), 1000, whole=False)
    assert rendered.splitlines() == [
        "Trajectory 4: best score 6, last score 6, 1 moves",
        "[5] 2: Nothing happens.",
        "[6, +1] > do 3: 3: Nothing happens.",
    ]


def test_valid_actions_are_bounded_and_can_be_read_back() -> None:
    actions = tuple(f"take thing {n}" for n in range(100))
    text = offered_text(actions, 300)
    assert len(text) < 360
    shown = valid_actions_in(text)
    assert shown == actions[: len(shown or ())]
    assert f"({100 - len(shown or ())} more are not shown.)" in text
    assert valid_actions_in(offered_text(None, 300)) is None

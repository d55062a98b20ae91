"""In-context reinforcement learning: earlier trajectories with their points stand in the prompt."""

from __future__ import annotations

import re
from typing import Any


def test_earlier_trajectories_stand_in_the_prompt_with_their_points(play_with: Any) -> None:
    actions = ["take coin", "go east", "go east", "take ruby"]
    played = play_with("icrl", actions, moves=6, attempt_moves=2)
    assert set(played.by_purpose) == {"act"}, "nothing is asked but actions"
    prompts = played.by_purpose["act"]
    assert "Trajectory" not in prompts[1]
    assert "Trajectory 1: best score 1, last score 1, 2 moves" in prompts[2]
    assert "[1, +1] > take coin: You pick up the coin" in prompts[2]
    third = prompts[4]
    assert third.index("Trajectory 1: best score 1") < third.index("Trajectory 2: best score 3")
    assert "[3, +3] > take ruby:" in third


def test_all_attempts_stand_in_the_prompt_without_a_window(play_with: Any) -> None:
    prompts = play_with("icrl", [], moves=14, attempt_moves=1, window=None).by_purpose["act"]
    assert re.findall(r"^Trajectory (\d+):", prompts[13], re.M) == [str(number) for number in range(1, 14)]


def test_the_window_slides(play_with: Any) -> None:
    prompts = play_with("icrl", [], moves=14, attempt_moves=1).by_purpose["act"]
    told = [list(map(int, re.findall(r"^Trajectory (\d+):", prompt, re.M))) for prompt in prompts]
    assert told[:3] == [[], [1], [1, 2]]
    assert told[10] == list(range(1, 11))
    assert told[13] == list(range(4, 14))
    narrow = play_with("icrl", [], moves=5, attempt_moves=1, window=2).by_purpose["act"]
    assert re.findall(r"^Trajectory (\d+):", narrow[-1], re.M) == ["3", "4"]

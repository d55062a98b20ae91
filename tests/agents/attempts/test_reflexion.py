"""Reflexion: a note after each attempt, which the next ones are told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents.attempts.reflexion import ReflexionAgent


def reflections() -> Any:
    given = iter(range(1, 100))

    def answer(request: Any) -> str:
        number = next(given)
        return json.dumps({"diagnosis": f"diagnosis {number}", "plan": f"plan {number}"})

    return answer


def test_a_reflection_follows_each_attempt_and_is_told_in_the_next_ones(play_with: Any) -> None:
    actions = ["take coin", "go east", "look", "look", "take coin"]
    played = play_with("reflexion", actions, {"reflect": reflections()}, moves=6, attempt_moves=2)
    prompts = played.by_purpose
    assert len(prompts["reflect"]) == 2
    assert "Trajectory 1: best score 1, last score 1, 2 moves" in prompts["reflect"][0]
    assert "[1, +1] > take coin: You pick up the coin" in prompts["reflect"][0]
    assert "Earlier notes:\n(none)" in prompts["reflect"][0]
    assert "diagnosis 1" in prompts["reflect"][1]
    assert "diagnosis" not in prompts["act"][1]
    assert "Attempt 1 (best score 1): diagnosis 1\n  Plan: plan 1" in prompts["act"][2]
    third = prompts["act"][4]
    assert third.index("diagnosis 1") < third.index("diagnosis 2") < third.index("So far, from the beginning")
    assert "pick up the coin" not in third, "the note is told, and not the attempt"


def test_only_the_latest_reflections_are_told(play_with: Any) -> None:
    played = play_with("reflexion", [], {"reflect": reflections()}, moves=14, attempt_moves=1)
    shown = [[n for n in range(1, 15) if f"diagnosis {n}\n" in prompt] for prompt in played.by_purpose["act"]]
    assert shown[:3] == [[], [1], [1, 2]]
    assert shown[10] == list(range(1, 11))
    assert shown[13] == list(range(4, 14))


def test_a_reflection_that_cannot_be_used_is_left_out_and_told(play_with: Any) -> None:
    answers = {"reflect": "I learned a lot."}
    played = play_with("reflexion", [], answers, moves=5, attempt_moves=2)
    assert played.agent.failures == {"reflect": 2}
    assert played.play.unparsable == 0
    assert len(played.agent.lessons) == 0
    assert "no use could be made of the answer for 'reflect'" in played.reasons[2]
    assert "attempt 1 is over" in played.reasons[2]


def test_a_window_is_at_least_one() -> None:
    with pytest.raises(InputError, match="window must be at least 1"):
        ReflexionAgent(TemporalGraph(), FakeChat([]), window=0)

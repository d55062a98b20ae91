"""ReAct: attempts from the beginning, a free choice of actions, and answers that cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread.errors import AgentError, BudgetError, InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents.attempts.base import LEAST_PROMPT_CHARACTERS
from worldthread_lab.agents.attempts.react import ReAct
from worldthread_lab.envs.fake import ScriptedWorld, tiny_house
from worldthread_lab.play.fake_player import FakePlayer


def test_attempts_begin_at_the_beginning_again(play_with: Any) -> None:
    played = play_with("react", ["take coin", "go east", "take ruby", "look", "go east"], moves=10, attempt_moves=4)
    assert played.returns == [0, 0]
    assert [record.percept.score for record in played.records] == [0, 1, 1, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0]
    assert played.play.moves == 10
    assert played.agent.attempts == 3
    assert len(played.by_purpose["act"]) == 10
    first, *_, last_of_first, first_of_second = played.by_purpose["act"][:5]
    assert "Moves left in this attempt: 4." in first
    assert "[1, +1] > take coin: You pick up the coin from the ground." in last_of_first
    assert "thought: thought 1" in last_of_first
    assert "Moves left in this attempt: 1." in last_of_first
    assert "coin from the ground" not in first_of_second, "attempts know nothing of each other"
    assert first_of_second.split("Moves left")[0] == first.split("Moves left")[0]
    assert "Moves left in this attempt: 2." in played.by_purpose["act"][8], "no more than the play has"


def test_the_memory_holds_the_attempt_and_nothing_else(play_with: Any) -> None:
    played = play_with("react", ["take coin", "go east", "take ruby"], moves=3, attempt_moves=2)
    view = played.play.graph.view()
    assert [record.label for record in played.records][-2:] == ["(back to moment 0)", "take ruby"]
    assert view.value("player", "is in") == "Hall"
    assert view.value("coin", "is in") == "Hall", "it was taken in the attempt before, which did not happen"


def test_the_end_of_the_game_ends_an_attempt(play_with: Any) -> None:
    world = ScriptedWorld(tiny_house, max_moves=3)
    played = play_with("react", world=world, moves=8, attempt_moves=50)
    assert [record.percept.ended for record in played.records].count(True) == 2
    assert played.returns == [0, 0]


def test_any_command_may_be_chosen(play_with: Any) -> None:
    played = play_with("react", ["dance with the coin"], moves=1)
    assert played.records[-1].decision.action == "dance with the coin"
    assert "\nValid actions:\n" in played.by_purpose["act"][0]
    assert "- take coin\n" in played.by_purpose["act"][0]
    untold = play_with("react", ["look"], moves=1, use_valid_actions=False)
    assert "take coin" not in untold.by_purpose["act"][0]


def test_an_answer_that_cannot_be_used_does_nothing_and_is_told(play_with: Any) -> None:
    played = play_with("react", [], {"act": "I would rather not."}, moves=5, attempt_moves=3)
    assert played.agent.failures == {"act": 5}
    assert played.play.unparsable == 5
    assert {record.percept.score for record in played.records} == {0}
    assert played.returns == [0], "moves without an action are moves of the attempt"
    prompts = [p for p in played.by_purpose["act"] if "I would rather not" not in p]
    assert prompts[1].count("nothing was done:") == 1
    assert prompts[2].count("nothing was done:") == 2, "no prompt is asked twice: the answer would be the same"


def test_a_command_of_several_lines_is_one_and_an_empty_one_none(play_with: Any) -> None:
    played = play_with("react", ["go\n east", "  ", "\u0007"], moves=3)
    assert [record.decision.action for record in played.records[1:]] == ["go east", "", ""]
    assert played.agent.failures == {"act": 2}


def test_a_budget_that_is_spent_ends_the_play(play_with: Any) -> None:
    def model(request: Any) -> Any:
        return BudgetError("spent")

    assert play_with("react", model=model).play.ended_by == "budget"


@pytest.mark.parametrize("name", ["react", "reflexion", "icrl", "ige", "glow"])
def test_plays_on_and_on_and_the_same_again(name: str, play_with: Any) -> None:
    def run() -> Any:
        world = ScriptedWorld(tiny_house, seed=4)
        return play_with(name, model=FakePlayer(2).complete, world=world, moves=64, attempt_moves=9, temperature=0.7)

    first, second = run(), run()
    assert first.play.moves == 64
    assert len(first.returns) == 7
    assert [r.decision for r in first.records] == [r.decision for r in second.records]
    assert first.requests == second.requests
    assert not first.agent.failures
    assert {request.temperature for request in first.requests} == {0.7}


@pytest.mark.parametrize("name", ["react", "reflexion", "icrl", "ige", "glow"])
def test_bad_answers_of_all_kinds_end_nothing(name: str, play_with: Any) -> None:
    model = FakePlayer(5, damaged=0.5).complete
    played = play_with(name, model=model, moves=60, attempt_moves=5)
    assert played.play.ended_by == "moves"
    assert played.agent.failures["act"] > 3
    assert played.play.unparsable == played.agent.failures["act"]


def test_what_cannot_be() -> None:
    model = FakeChat([])
    with pytest.raises(InputError, match="attempt_moves must be at least 1, not 0"):
        ReAct(TemporalGraph(), model, attempt_moves=0)
    with pytest.raises(InputError, match="prompt_characters must be at least"):
        ReAct(TemporalGraph(), model, prompt_characters=LEAST_PROMPT_CHARACTERS - 1)
    with pytest.raises(AgentError, match="before it perceived"):
        ReAct(TemporalGraph(), model).decide()

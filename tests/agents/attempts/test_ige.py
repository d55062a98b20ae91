"""IGE: an archive of states, and the model chooses where to go on."""

from __future__ import annotations

import json
import re
from typing import Any


def choose(*numbers: int) -> Any:
    left = iter(numbers)

    def answer(request: Any) -> str:
        return json.dumps({"thought": "because", "index": next(left)})

    return answer


def test_exploration_goes_on_from_the_state_that_was_chosen(play_with: Any) -> None:
    actions = ["take coin", "go east", "take ruby", "look"]
    played = play_with("ige", actions, {"select": choose(1)}, moves=4, attempt_moves=2)
    (selection,) = played.by_purpose["select"]
    listed = re.findall(r"^(\d+): score (\d), (\d) moves from the beginning, .* in (\w+)$", selection, re.M)
    assert listed == [("0", "0", "0", "Hall"), ("1", "1", "1", "Hall"), ("2", "1", "2", "Cave")]
    assert "0: score 0, 0 moves from the beginning, reached 1 times, chosen 1 times in Hall" in selection
    assert "carries: You are carrying: a coin." in selection
    assert not any("carrying" in asked for asked in played.by_purpose["act"]), "GLoW adds no inventory to observations"
    assert played.returns == [1]
    assert "exploration goes on from state 1 (score 1, 1 moves from the beginning): because" in played.reasons[2]
    explored = played.by_purpose["act"][2]
    assert re.search(r"^\[1, \+1\] > take coin: You pick up .*\n\(from here on: this attempt\)$", explored, re.M)
    assert "go east" not in explored.split("Valid actions:")[0], "the move after the chosen state did not happen"
    view = played.play.graph.view()
    assert view.value("coin", "is in") == "inventory"
    assert view.value("player", "is in") == "Hall"


def test_a_number_that_was_not_offered_is_counted_and_told(play_with: Any) -> None:
    actions = ["take coin", "go east"]
    played = play_with("ige", actions, {"select": choose(7, -1)}, moves=6, attempt_moves=2)
    assert played.agent.failures == {"select": 2}
    assert played.returns[0] == 2, "the highest score, and of those the one that lies the farthest"
    assert "the model chose state 7, which was not offered" in played.reasons[2]
    assert "chose none, and this one is the most promising" in played.reasons[2]


def test_an_answer_that_cannot_be_used_is_counted_once(play_with: Any) -> None:
    played = play_with("ige", ["take coin", "go east"], {"select": "the second"}, moves=3, attempt_moves=2)
    assert played.agent.failures == {"select": 1}
    assert played.returns == [2]
    assert "no use could be made of the answer for 'select'" in played.reasons[2]


def test_its_own_temperature(play_with: Any) -> None:
    played = play_with("ige", ["take coin"], {"select": choose(0)}, moves=3, attempt_moves=2)
    assert {request.temperature for request in played.requests} == {0.3}
    assert played.agent.archive.states[0].chosen == 2, "the first attempt began there, too"


def test_a_single_state_is_no_choice(play_with: Any) -> None:
    played = play_with("ige", ["examine moon"] * 4, {"act": {"thought": "", "action": ""}}, moves=4, attempt_moves=2)
    assert "select" not in played.by_purpose
    assert played.returns == [0]
    assert "it is the only one" in played.reasons[2]


def test_the_model_may_remove_states_from_which_nothing_more_is_to_be_had(play_with: Any) -> None:
    answers = iter([{"index": 2, "remove": [1, 2, 9]}, {"index": 0, "remove": []}])
    played = play_with(
        "ige",
        ["take coin", "go east", "go west", "look"],
        {"select": lambda request: json.dumps({"thought": "because"} | next(answers))},
        moves=6,
        attempt_moves=2,
        removes_states=True,
    )
    first, second = (re.findall(r"^(\d+): score", asked, re.M) for asked in played.by_purpose["select"])
    assert first == ["0", "1", "2"]
    assert second == ["0", "2", "3"], "the chosen state stays"
    assert played.agent.failures == {"select": 1}
    assert "the model removed state 9, which was not offered" in played.reasons[2]
    assert not any('"remove"' in asked for asked in play_with("ige", moves=3, attempt_moves=2).by_purpose["select"])

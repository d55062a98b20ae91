"""GLoW: frontier, global and local memory, what each prompt holds, and every ablation."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents.attempts.glow import Glow

# two moves an attempt, three attempts a state: scores 1, 3 and 0; then from the state that is chosen
ACTIONS = ["take coin", "look", "go east", "take ruby", "look", "look", "go east", "take ruby", "look", "look"]


def numbered(make: Any) -> Any:
    given = itertools.count(1)
    return lambda request: json.dumps(make(next(given)))


def answers() -> dict[str, Any]:
    return {
        "analyse": numbered(
            lambda n: {
                "rewards": [f"reward {n}"],
                "obstacles": ["the chest is locked"],
                "states": [
                    {"state": f"low state {n}", "achieved": 1, "potential": 1.5, "reason": "done"},
                    {"state": f"high state {n}", "achieved": 1, "potential": 9, "reason": "the chest"},
                ],
                "goals": ["find the key"],
            }
        ),
        "advantages": numbered(
            lambda n: {
                "states": [
                    {
                        "state": f"the hall {n}",
                        "advantages": [
                            {"action": "take coin", "is_better": True, "effect": "a point"},
                            {"action": "look", "is_better": False, "effect": "nothing"},
                        ],
                        "best": "coin first",
                    }
                ],
                "insights": [f"insight {n}"],
            }
        ),
        "reflect": numbered(lambda n: {"diagnosis": f"diagnosis {n}", "plan": f"plan {n}"}),
        "select": {"thought": "it is rich", "index": 2},
    }


def played_by(play_with: Any, *, moves: int = 10, changes: dict[str, Any] | None = None, **options: Any) -> Any:
    return play_with("glow", ACTIONS, answers() | (changes or {}), moves=moves, attempt_moves=2, **options)


def told(prompt: str) -> list[int]:
    return list(map(int, re.findall(r"^Trajectory (\d+):", prompt, re.M)))


def test_what_is_asked_in_which_order(play_with: Any) -> None:
    played = played_by(play_with)
    purposes = [request.purpose for request in played.requests]
    phase = ["act", "act", "advantages"] * 2 + ["act", "act"]
    assert purposes == [*phase, "analyse", "select", "act", "act", "advantages", "act", "act"]
    assert played.returns == [0, 0, 2, 2]
    assert [t.number for t in played.agent.frontier.trajectories] == [2, 1, 3]
    assert [t.value for t in played.agent.frontier.trajectories] == [3, 1, 0]


def test_the_local_memory_guides_the_next_attempt_from_the_state(play_with: Any) -> None:
    played = played_by(play_with)
    prompts = played.by_purpose
    assert told(prompts["act"][0]) == []
    assert told(prompts["act"][2]) == [1]
    assert told(prompts["act"][4]) == [1, 2]
    assert (
        "At: the hall 1:\n- best: coin first\n- do: take coin -> a point\n- avoid: look -> nothing" in prompts["act"][2]
    )
    assert "insight 1" not in prompts["act"][4]
    assert "insight 2" in prompts["act"][4], "the latest comparison takes the place of the one before"
    first, second, third = prompts["advantages"]
    assert (told(first), told(second)) == ([1], [1, 2])
    assert "Found after the attempt before:\n(none)" in first
    assert "insight 1" in second
    assert "The best trajectories so far, the best first. In" in second
    assert ":\n(none)\n\nThe attempts from one state" in second, "the frontier takes in a phase when it is over"
    assert "insight" not in prompts["act"][6], "another state has a memory of its own"
    assert third.index("The attempts from one state") < third.index("Trajectory 4")


def test_the_global_memory_decides_where_to_go_on(play_with: Any) -> None:
    played = played_by(play_with)
    (analysis,) = played.by_purpose["analyse"]
    assert told(analysis) == [2, 1, 3], "the frontier, the best first"
    (selection,) = played.by_purpose["select"]
    assert told(selection) == []
    assert selection.index("achieved 1, potential 9: high state 1 (the chest)") < selection.index("low state 1")
    assert "the chest is locked" in selection
    assert "find the key" in selection
    assert "exploration goes on from state 2 (score 1, 2 moves from the beginning): it is rich" in played.reasons[8]
    assert played.agent.archive.states[2].chosen == 1


def test_trajectories_go_back_to_the_beginning_of_the_world(play_with: Any) -> None:
    played = played_by(play_with)
    fourth = played.agent.tried[0]
    assert fourth.actions == (None, "take coin", "look", "go east", "take ruby")
    assert (fourth.start, fourth.value) == (2, 4), "the coin of the way there counts"
    explored = played.by_purpose["act"][6]
    assert told(explored) == [2, 1, 3]
    frontier, so_far = explored.split("So far, from the beginning")
    assert "best trajectories through the game" in frontier
    assert "(from here on: this attempt)" in so_far
    later = played.by_purpose["act"][8]
    assert told(later) == [2, 1, 3, 4], "the frontier, then the attempts from this state"
    attempts = later.split("Earlier attempts from this state")[1]
    assert "> go east" in attempts
    assert "> take coin" not in attempts.split("So far, from")[0], "told from the state on"


def test_an_analysis_is_made_anew_only_when_the_frontier_has_changed(play_with: Any) -> None:
    played = played_by(play_with, moves=14, explorations=1)
    assert "advantages" not in played.by_purpose, "with one attempt nothing is compared"
    assert len(played.by_purpose["select"]) == 6
    assert len(played.by_purpose["analyse"]) == 6
    idle = play_with("glow", [], answers(), moves=14, attempt_moves=2, explorations=1)
    assert len(idle.by_purpose["select"]) == 0, "there is one state only"
    assert len(idle.by_purpose["analyse"]) < 6


@pytest.mark.parametrize("use_frontier", [True, False])
@pytest.mark.parametrize("use_global_memory", [True, False])
@pytest.mark.parametrize("use_mar", [True, False])
def test_every_ablation(use_mar: bool, use_global_memory: bool, use_frontier: bool, play_with: Any) -> None:
    flags = {"use_mar": use_mar, "use_global_memory": use_global_memory, "use_frontier": use_frontier}
    prompts = played_by(play_with, **flags).by_purpose
    assert ("advantages" in prompts) is use_mar
    assert ("reflect" in prompts) is not use_mar
    assert ("insight 2" in prompts["act"][4]) is use_mar
    assert ("Plan: plan 2" in prompts["act"][4]) is not use_mar
    assert ("Plan: plan 1" in prompts["act"][4]) is not use_mar
    assert "Plan:" not in prompts["act"][6]
    assert told(prompts["act"][4]) == [1, 2], "attempts from the state are told in any case"
    assert ("analyse" in prompts) is (use_global_memory and use_frontier)
    (selection,) = prompts["select"]
    assert ("high state" in selection) is (use_global_memory and use_frontier)
    assert told(selection) == ([2, 1, 3] if use_frontier and not use_global_memory else [])
    assert told(prompts["act"][6]) == ([2, 1, 3] if use_frontier else [])
    comparison = prompts["advantages" if use_mar else "reflect"][-1]
    assert told(comparison) == ([4] if not use_mar else [2, 1, 3, 4] if use_frontier else [4])


def test_what_cannot_be_used_leaves_the_memory_as_it_was(play_with: Any) -> None:
    given = itertools.count()
    good = answers()["advantages"]
    changes = {"advantages": lambda request: "no" if next(given) else good(request), "analyse": "a fine game"}
    played = played_by(play_with, changes=changes)
    assert played.agent.failures == {"advantages": 2, "analyse": 1}
    assert "insight 1" in played.by_purpose["act"][4]
    assert told(played.by_purpose["select"][0]) == [2, 1, 3], "without an analysis the frontier is told as it is"
    assert "no use could be made of the answer for 'analyse'" in played.reasons[8]


def test_the_frontier_keeps_k(play_with: Any) -> None:
    played = played_by(play_with, frontier_size=1)
    assert told(played.by_purpose["act"][6]) == [2]
    with pytest.raises(InputError, match="frontier_size must be at least 1"):
        Glow(TemporalGraph(), FakeChat([]), frontier_size=0)
    with pytest.raises(InputError, match="explorations must be at least 1"):
        Glow(TemporalGraph(), FakeChat([]), explorations=0)


def test_the_defaults_of_the_paper() -> None:
    agent = Glow(TemporalGraph(), FakeChat([]))
    assert (agent.explorations, agent.frontier.k, agent.attempt_moves, agent.temperature) == (3, 5, 50, 0.5)
    assert agent.use_mar
    assert agent.use_global_memory
    assert agent.use_frontier

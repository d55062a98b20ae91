"""The play loop: its counts, its returns, the percepts of the agent, and that the true state stays inside."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from game_players import Restless, Returning, Savable, Scripted, act, back

from worldthread.errors import AgentError, ContractError
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatAnswer, ChatRequest, Usage
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents import make_agent
from worldthread_lab.agents.base import Decision
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Environment, Truth
from worldthread_lab.envs.fake import ScriptedWorld, tiny_house
from worldthread_lab.play.fake_player import FakePlayer
from worldthread_lab.play.loop import Play
from worldthread_lab.play.run_model import RunModel
from worldthread_lab.play.step_record import StepRecord
from worldthread_lab.play.trajectory import TrajectoryWriter

# tiny-v1 with seed 1: north of the Library is the Kitchen with the key; west and south of it the Parlour with the chest
TO_THE_CHEST = ["go north", "take silver key", "go south", "go west", "go south", "unlock oak chest with silver key"]
WINNING = [*TO_THE_CHEST, "open oak chest", "take gem from oak chest"]


def tiny(agent: str = "explorer", *, seed: int = 1, max_moves: int | None = None, audit: bool = True) -> Play:
    graph = TemporalGraph()
    return Play(make("tiny", seed=seed), make_agent(agent, graph), graph, seed, max_moves, audit)


def scripted(
    script: list[Decision | str], *, kind: type[Scripted] = Returning, env: Environment | None = None, **options: Any
) -> tuple[Play, Any, list[StepRecord]]:
    """A play by a script in the house of seed 1: the play, the agent, the records."""
    graph = TemporalGraph()
    agent = kind(graph, script)
    play = Play(env or ScriptedWorld(tiny_house, seed=1), agent, graph, 1, **options)
    return play, agent, list(play)


def test_a_play_to_the_end() -> None:
    play = tiny()
    records = list(play)
    assert [record.turn for record in records] == list(range(play.moves + 1))
    assert records[0].decision is None
    assert all(record.decision is not None for record in records[1:])
    assert sum(record.reward for record in records) == records[-1].info.score
    summary = play.summary()
    assert summary["won"]
    assert (summary["normalized"], summary["best_normalized"]) == (1, 1)
    assert summary["decisions"] == sum(record.decision.is_new for record in records[1:] if record.decision)
    assert summary["memory"]["episodes"] == play.moves + 1
    assert summary["memory"]["facts"] == records[-1].facts == len(play.graph.view().facts())
    assert summary["memory"]["ended"] == sum(len(record.ended) for record in records)
    assert summary["optimal_moves"] <= summary["moves"]
    assert summary["audit"]["steps"] == play.moves + 1
    assert summary["ended_by"] == "won"
    assert (summary["returns"], summary["replayed_moves"], summary["unparsable"], summary["invalid"]) == (0, 0, 0, 0)
    assert summary["valid_share"] == 1


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_limit_of_moves(limit: int) -> None:
    play = tiny(max_moves=limit)
    assert len(list(play)) == limit + 1
    summary = play.summary()
    assert (summary["moves"], summary["won"], summary["ended_by"]) == (limit, False, "moves")


def test_without_an_audit_nothing_privileged_is_asked() -> None:
    play = tiny(audit=False)
    assert all(record.audit is None for record in play)
    summary = play.summary()
    assert (summary["audit"], summary["optimal_moves"]) == (None, None)
    assert summary["won"]


class Tacit(ScriptedWorld):
    """A house whose true state holds only the places of things."""

    def truth(self) -> Truth:
        truth = super().truth()
        return replace(truth, propositions=frozenset(p for p in truth.propositions if p[0] in ("at", "in", "on")))


def test_a_world_whose_true_state_holds_too_little_is_not_audited() -> None:
    play, _, records = scripted(["look"], env=Tacit(tiny_house, seed=1))
    assert [record.audit for record in records] == [None, None]
    assert play.summary()["audit"] is None


def test_chance_is_repeatable_and_loses_to_the_explorer() -> None:
    actions = [[r.decision.action for r in tiny("random", max_moves=30) if r.decision] for _ in range(2)]
    assert actions[0] == actions[1]
    assert len(set(actions[0])) > 3
    explorer, chance = tiny(), tiny("random")
    assert len(list(explorer)) < len(list(chance))


def test_the_percepts_of_the_agent() -> None:
    _, agent, _ = scripted(WINNING, kind=Scripted, max_moves=20)
    percepts = agent.percepts
    assert [percept.moment for percept in percepts] == list(range(9))
    assert [percept.before for percept in percepts] == [None, *range(8)]
    assert [percept.moves_left for percept in percepts] == list(range(20, 11, -1))
    assert [percept.ended for percept in percepts] == [False] * 8 + [True]
    assert [percept.step.turn for percept in percepts] == list(range(9))
    assert [percept.step.goal != "" for percept in percepts] == [True] + [False] * 8
    assert not any(percept.returned or percept.problem for percept in percepts)


# -- coming back ------------------------------------------------------------------------------------------------------


def memory_of(actions: list[str]) -> str:
    """The state of the memory of an agent that did just this."""
    play, _, _ = scripted(list(actions), kind=Scripted)
    return play.graph.state_hash()


@pytest.mark.parametrize("saves", [True, False])
def test_an_agent_returns(saves: bool) -> None:
    env = Savable(seed=1) if saves else ScriptedWorld(tiny_house, seed=1)
    script = ["go north", "take silver key", "go south", back(1), "examine note", back(0), "go west"]
    play, agent, records = scripted(script, env=env)
    seen = [(p.moment, p.before, p.returned, p.step.turn) for p in agent.percepts]
    assert seen == [
        (0, None, False, 0), (1, 0, False, 1), (2, 1, False, 2), (3, 2, False, 3), (1, 0, True, 1), (4, 1, False, 2),
        (0, None, True, 0), (5, 0, False, 1),
    ]  # fmt: skip
    first, again = agent.percepts[1], agent.percepts[4]
    assert again == replace(first, returned=True, moves_left=None), "all else is as it was the first time"
    assert play.graph.state_hash() == memory_of(["go west"]), "the fold of the way alone"
    summary = play.summary()
    assert (summary["moves"], summary["returns"], summary["score"], summary["best_score"]) == (5, 2, 0, 1)
    assert summary["curve"] == [[0, 0], [2, 1]]
    assert (summary["won"], summary["ended_by"]) == (False, "agent")
    assert summary["replayed_moves"] == (0 if saves else 1), "moves of the way back are no moves"
    assert [record.turn for record in records] == [0, 1, 2, 3, 3, 4, 4, 5]
    assert [(record.learned != (), record.ended != ()) for record in records][4] == (False, False)
    if isinstance(env, Savable):
        assert (env.resets, env.restores) == (1, 2)
    audit = play.auditor.result()
    assert (audit.steps, audit.precision, audit.recall, audit.stale_steps) == (8, 1, 1, 0), play.auditor.mistakes


def test_the_audit_expects_nothing_that_has_not_happened() -> None:
    """Back at the beginning the key lies in the Kitchen, and nobody can know: neither wrong nor missed."""
    play, _, _ = scripted(["go north", "take silver key", back(0), back(2), back(0)])
    figures = play.auditor.result()
    assert (figures.precision, figures.recall, figures.stale_steps) == (1, 1, 0), play.auditor.mistakes
    held = [0, *(scripted(["go north", "take silver key"][:n])[0].auditor.result().held for n in range(3))]
    start, _, taken = (after - before for before, after in pairwise(held))
    assert figures.held == held[3] + start + taken + start, "each return is audited as what it is"


@pytest.mark.parametrize("digests", [True, False])
def test_equal_states_are_saved_once(digests: bool) -> None:
    env = Savable(seed=1, digests=digests)
    scripted(["look", "go north", "go south", "look", back(2), "go south"], env=env)
    assert env.saves == (2 if digests else 6), "two places, and nothing else changed"
    assert env.restores == 1
    quiet = Savable(seed=1)
    scripted(["look", "go north"], kind=Scripted, env=quiet)
    assert quiet.saves == 0, "an agent that never comes back needs no saved states"


def test_an_agent_returns_from_the_end_and_others_do_not() -> None:
    play, agent, _ = scripted([*WINNING, back(3), "look"])
    assert (play.summary()["won"], play.summary()["score"], play.summary()["best_score"]) == (True, 1, 2)
    assert [percept.ended for percept in agent.percepts] == [False] * 8 + [True, False, False]
    assert play.ended_by == "agent"
    once, agent, records = scripted([*WINNING, back(3), "look"], kind=Scripted)
    assert (len(records), once.ended_by) == (9, "won")
    stays, agent, records = scripted([*WINNING, "look"])
    assert (len(records), stays.ended_by, stays.decisions) == (9, "won", 8), "an action after the end is none"


def test_to_return_and_return_again_uses_moves_up() -> None:
    play, agent, _ = scripted([back(0)] * 20, max_moves=5)
    assert (play.moves, play.returns, play.ended_by) == (5, 6, "moves")
    assert agent.percepts[-1].moves_left == 0


def test_returning_to_a_state_that_does_not_exist() -> None:
    for number in (-1, 2):
        with pytest.raises(AgentError, match=f"state {number}; the states so far are 0 to 1"):
            scripted(["look", back(number)])


class Moody(ScriptedWorld):
    """A house that describes itself otherwise every time."""

    times = 0

    def step(self, action: str) -> Any:
        self.times += 1
        observation, *rest = super().step(action)
        return (f"{observation} ({self.times})", *rest)


def test_a_world_that_does_not_repeat_itself_is_refused() -> None:
    with pytest.raises(ContractError, match=r"return to state 1 \(after 'look'\): the text was .*\(1\).* and is"):
        scripted(["look", "go north", back(1)], env=Moody(tiny_house, seed=1))


@pytest.mark.games
@pytest.mark.parametrize("name", ["hunt", "cook"])
def test_coming_back_in_a_textworld_game(name: str, textworld_games: Path) -> None:
    """Wander, come back by playing the way again, wander on: the memory and its audit are those of the way."""
    with make(f"textworld:{textworld_games / name}.z8", max_moves=float("inf")) as env:
        graph = TemporalGraph()
        model = RunModel(FakePlayer(3), local=True)
        play = Play(env, Restless(graph, model, seed=5), graph, 0, max_moves=40, model=model)
        records = list(play)
        summary = play.summary()
        assert summary["returns"] >= 3
        assert summary["replayed_moves"] > 0
        assert summary["audit"]["precision"] >= 0.99
        way = [records[-1].percept]
        moments = {record.percept.moment: record.percept for record in records}
        while way[-1].before is not None:
            way.append(moments[way[-1].before])
        assert len(graph) == len(way) == summary["memory"]["episodes"]
        actions: list[Decision | str] = [p.step.action for p in reversed(way[:-1]) if p.step.action is not None]
        direct, _, _ = scripted(actions, kind=Scripted, env=env)
        assert {str(f) for f in direct.graph.view().facts()} == {str(f) for f in graph.view().facts()}


# -- decisions that cannot be used ------------------------------------------------------------------------------------


def test_a_decision_without_an_action_costs_a_move() -> None:
    nothing = Decision("", "", problem="half an answer: \ud800")
    play, agent, records = scripted(["go north", nothing, nothing, "look"], max_moves=4)
    assert (play.moves, play.decisions, play.unparsable, play.ended_by) == (4, 4, 2, "moves")
    assert play.info.moves == 2, "nothing was done in the world"
    percept = agent.percepts[2]
    assert percept == replace(agent.percepts[1], problem=nothing.problem, moves_left=2)
    assert agent.percepts[4].problem == ""
    line = orjson.loads(orjson.dumps(records[2].as_json()))
    assert (line["turn"], line["moment"], line["problem"]) == (2, 1, "half an answer: \\ud800")
    assert (line["learned"], line["ended"], line["valid"], line["reward"]) == ([], [], None, 0)
    assert len(play.graph) == 3
    assert play.auditor.result().steps == 3


def test_what_is_no_line_of_text_is_not_given_to_the_world() -> None:
    play, agent, _ = scripted(["look\x00", "look"])
    assert "single line" in agent.percepts[1].problem
    assert (play.unparsable, play.moves, play.info.moves) == (1, 2, 1)


def test_actions_that_were_not_offered_are_counted() -> None:
    play, _, records = scripted(["go north", "dance", "Take  silver KEY", back(0), "go north"], kind=Returning)
    assert [record.valid for record in records] == [None, True, False, True, None, True]
    summary = play.summary()
    assert (summary["invalid"], summary["valid_share"], summary["probes"]) == (1, 0.75, 5)


def test_an_agent_that_is_done() -> None:
    play, _, records = scripted(["look", act("go north", finished=True), "look"], kind=Scripted)
    assert (len(records), play.ended_by, play.moves) == (3, "agent", 2)
    left, _, records = scripted(["look"], kind=Scripted)
    assert (len(records), left.ended_by, left.decisions) == (2, "agent", 1), "to leave is no decision about the world"


# -- the model --------------------------------------------------------------------------------------------------------


def priced(request: ChatRequest) -> ChatAnswer:
    """An answer of 100 and 10 tokens that took half a second."""
    text = json.dumps({"thought": "Why not?", "action": "look"})
    return ChatAnswer(text, model="gpt-4o-mini", usage=Usage(100, 10), seconds=0.5)


def test_the_usage_of_the_model_is_recorded_step_by_step() -> None:
    graph = TemporalGraph()
    model = RunModel(FakeChat(priced, name="gpt-4o-mini"))
    play = Play(make("tiny", seed=1), Restless(graph, model, seed=1), graph, 1, max_moves=12, model=model)
    lines = [record.as_json() for record in play]
    summary = play.summary() | play.costs()
    asked = sum(line["model_calls"] for line in lines)
    assert summary["model_calls"] == asked == len([line for line in lines if line["action"]])
    assert summary["prompt_tokens"] == sum(line["prompt_tokens"] for line in lines) == 100 * asked
    assert summary["completion_tokens"] == sum(line["completion_tokens"] for line in lines) == 10 * asked
    assert summary["by_purpose"] == {
        "act": {"calls": asked, "prompt_tokens": 100 * asked, "completion_tokens": 10 * asked}
    }
    assert summary["cost_usd"] == pytest.approx(asked * (100 * 0.15 + 10 * 0.60) / 1e6)
    assert summary["model_seconds"] == 0.5 * asked
    assert summary["seconds_without_model"] < 1, "the calls took no time here, whatever they say that they took"
    assert 0 < summary["overhead_ms"]["p50"] <= summary["overhead_ms"]["p95"] < 1000
    assert not any("second" in name for line in lines for name in line)
    assert not any("second" in name or "cost" in name for name in play.summary())


def test_a_spent_budget_ends_the_play_with_what_was_reached() -> None:
    graph = TemporalGraph()
    model = RunModel(FakeChat(priced, name="gpt-4o-mini"), max_tokens=400)
    play = Play(make("tiny", seed=1), Restless(graph, model, seed=1), graph, 1, max_moves=30, model=model)
    records = list(play)
    summary = play.summary()
    assert summary["ended_by"] == "budget"
    assert summary["prompt_tokens"] + summary["completion_tokens"] == 440, "the last call may go beyond"
    assert summary["moves"] == records[-1].turn < 30


def test_every_step_is_on_the_disk_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trajectory.jsonl"
    play = tiny()
    with TrajectoryWriter(path, {"game": "tiny-v1"}) as writer:
        for number, record in enumerate(play, 2):
            writer.write(record.as_json())
            assert path.read_bytes().count(b"\n") == number
        writer.finish(play.summary())
    header, *steps, last = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert header == {"format": "worldthread-trajectory", "version": 2, "game": "tiny-v1"}
    assert last == {"summary": play.summary()}
    assert steps[0].keys() == steps[-1].keys() == {
        "turn", "moment", "before", "action", "return_to", "problem", "valid", "reason", "new_decision", "stuck",
        "finished", "recalled", "observation", "inventory", "score", "reward", "over", "state", "valid_actions",
        "learned", "ended", "facts", "vertices", "model_calls", "prompt_tokens", "completion_tokens",
    }, "what the player saw and thought; nothing of the truth"  # fmt: skip


# -- rules 2 ----------------------------------------------------------------------------------------------------------


class Talkative(ScriptedWorld):
    """Lists two actions, and understands others."""

    lists_all_actions = False

    def __init__(self) -> None:
        super().__init__(tiny_house, seed=1)

    def step(self, action: str) -> Any:
        if action == "sing":
            _, reward, terminated, truncated, info = super().step("look")
            return "You sing, and the house listens.", reward, terminated, truncated, info
        if action == "xyzzy":
            _, reward, terminated, truncated, info = super().step("look")
            return 'I don\'t know the word "xyzzy".', reward, terminated, truncated, info
        return super().step(action)


@pytest.mark.parametrize("rules", [1, 2])
def test_an_action_that_is_not_listed_counts_by_its_effect(rules: int) -> None:
    script = ["look", "sing", "xyzzy", "go north"]
    play, _, records = scripted(script, kind=Scripted, env=Talkative(), max_moves=4, rules=rules)
    assert [record.valid for record in records] == [None, True, rules > 1, False, True]
    assert play.summary()["valid_share"] == (0.75 if rules > 1 else 0.5)
    assert [record.percept.lists_all for record in records] == [rules == 1] * 5
    assert records[0].percept.max_score == 2


def test_a_limit_of_decisions_counts_a_walk_once() -> None:
    answers = iter(["go north", "go south", "go west", "go to kitchen", "look"])
    model = FakeChat(lambda request: json.dumps({"thought": "", "done": [], "plan": None, "action": next(answers)}))
    graph = TemporalGraph()
    agent = make_agent("ariadne", graph, model=model)
    with make("tiny", seed=1) as env:
        play = Play(env, agent, graph, 1, max_decisions=4, audit=False)
        actions = [record.decision.action for record in play if record.decision]
    assert play.ended_by == "decisions"
    assert (play.decisions, play.moves) == (4, 5)
    assert actions[-1] == "go north", "the walk of the last decision ends where it leads"


@pytest.mark.parametrize("rules", [1, 2])
def test_an_agent_that_pays_for_calls_stops_when_everything_is_won(rules: int) -> None:
    actions = iter([*WINNING, *["look"] * 90])
    model = FakeChat(lambda request: json.dumps({"thought": "", "action": next(actions)}))
    graph = TemporalGraph()
    agent = make_agent("react", graph, model=model, attempt_moves=20)
    play = Play(ScriptedWorld(tiny_house, seed=1), agent, graph, 1, max_moves=30, audit=False, rules=rules)
    list(play)
    assert play.won
    assert (play.ended_by, play.moves) == (("moves", 30) if rules == 1 else ("won", len(WINNING)))

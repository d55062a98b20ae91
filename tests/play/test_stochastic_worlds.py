"""Returns in worlds of chance (GLoW paper, appendix I): where the same moves lead elsewhere, the state is a new one."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from game_players import Returning, back

from worldthread.graph import TemporalGraph
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents import make_agent
from worldthread_lab.agents.base import Decision
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Info
from worldthread_lab.envs.fake import ScriptedHouse, ScriptedWorld
from worldthread_lab.play.fake_player import FakePlayer
from worldthread_lab.play.loop import Play
from worldthread_lab.play.step_record import StepRecord

HOUSE = ScriptedHouse(
    exits={"Hall": {"east": "Cave"}, "Cave": {"west": "Hall", "north": "Loft"}, "Loft": {"south": "Cave"}},
    start="Hall",
    things={"coin": "Hall", "ruby": "Cave", "crown": "Loft"},
    rewards={"coin": 1, "ruby": 3, "crown": 5},
    prize="crown",
    goal="Get rich.",
)


class Foggy(ScriptedWorld):
    """A house in fog: after some resets, some moves lead nowhere."""

    is_stochastic = True

    def __init__(self, lost: dict[int, set[int]] | None = None, **options: Any) -> None:
        super().__init__(lambda seed: HOUSE, **options)
        self._lost = lost  # by number of the reset, the moves that lead nowhere; None: one of three, drawn
        self.resets = 0
        self.step_of_play = 0

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.resets += 1
        self.step_of_play = 0
        self._chance = random.Random(f"{seed} {self.resets}")
        return super().reset(seed)

    def step(self, action: str) -> Any:
        self.step_of_play += 1
        drawn = self._chance.random() < 1 / 3
        is_lost = drawn if self._lost is None else self.step_of_play in self._lost.get(self.resets, ())
        return super().step("wander" if is_lost and action.startswith("go ") else action)


def scripted(script: list[Decision | str], env: Foggy, **options: Any) -> tuple[Play, Any, list[StepRecord]]:
    graph = TemporalGraph()
    agent = Returning(graph, script)
    play = Play(env, agent, graph, 1, **options)
    return play, agent, list(play)


def seen(agent: Any) -> list[tuple[int, int | None, str | None, bool, bool]]:
    return [(p.moment, p.before, p.step.action, p.returned, p.rerouted) for p in agent.percepts]


def test_a_return_that_chance_leaves_alone_is_as_any_other() -> None:
    play, agent, records = scripted(["take coin", "go east", back(1), "go east"], Foggy({}))
    assert seen(agent)[3:] == [(1, 0, "take coin", True, False), (3, 1, "go east", False, False)]
    assert (play.moves, play.returns, play.summary()["replayed_moves"]) == (3, 1, 1)
    assert not any("rerouted" in record.as_json() for record in records)


def test_where_the_same_moves_lead_elsewhere_the_states_are_new() -> None:
    script: list[Decision | str] = ["take coin", "go east", "take ruby", "look", back(3), "go east"]
    play, agent, records = scripted([*script, "look", back(2)], Foggy({2: {2}}))
    assert seen(agent)[5:] == [
        (5, 1, "go east", True, True), (6, 5, "take ruby", True, True),  # in the fog, and then there is no ruby
        (7, 6, "go east", False, False), (8, 7, "look", False, False), (2, 1, "go east", True, False),
    ]  # fmt: skip
    assert agent.percepts[5].step.text == "That's not a verb I recognise."
    assert [percept.step.turn for percept in agent.percepts[5:7]] == [2, 3]
    assert play.moves == 4 + 2 + 2, "moves to new states count, those to known ones do not"
    assert play.summary()["replayed_moves"] == 1 + 2
    first, second = (record.as_json() for record in records[5:7])
    assert (first["moment"], first["before"], first["return_to"], first["action"]) == (5, 1, 3, "go east")
    assert (second["moment"], second["return_to"], second["reason"], second["action"]) == (6, None, None, "take ruby")
    assert first["rerouted"]
    assert second["rerouted"]
    assert records[6].label == "take ruby"


def test_the_memory_holds_the_way_that_was_taken() -> None:
    script: list[Decision | str] = ["go east", "take ruby", "go west", "take coin", "look", back(3), "look"]
    play, _, _ = scripted(script, Foggy({2: {1}}))
    plain, _, _ = scripted(["wander", "take ruby", "go west", "look"], Foggy({}))
    assert {str(fact) for fact in play.graph.view().facts()} == {str(fact) for fact in plain.graph.view().facts()}
    assert play.graph.view().value("player", "is in") == "Hall"
    assert play.graph.view().value("ruby", "is in") is None, "never seen on this way"
    figures = play.auditor.result()
    assert (figures.precision, figures.recall, figures.stale_steps) == (1, 1, 0), play.auditor.mistakes


def test_a_later_state_may_be_the_wanted_one_again() -> None:
    _, agent, _ = scripted(["go east", "go east", "look", "go west", back(3)], Foggy({1: {2}, 2: {1}}))
    last, wanted = agent.percepts[-1], agent.percepts[3]
    assert last.rerouted
    assert (last.step.text, last.score, last.step.turn) == (wanted.step.text, wanted.score, wanted.step.turn)
    _, agent, _ = scripted(["go east", "look", "look", back(2), "look"], Foggy({2: {1}}))
    assert agent.percepts[-1].step.text.startswith("-= Hall =-"), "chance decides, and the play goes on from there"


def test_where_chance_led_can_be_returned_to_as_any_state() -> None:
    script: list[Decision | str] = ["go east", "look", back(1), Decision("", "", problem="no idea"), "look"]
    play, agent, records = scripted([*script, back(3), "take coin"], Foggy({2: {1}, 3: {1}}))
    assert seen(agent)[3:] == [
        (3, 0, "go east", True, True), (3, 0, "go east", False, False),  # in the fog; nothing was done there
        (4, 3, "look", False, False), (3, 0, "go east", True, False), (5, 3, "take coin", False, False),
    ]  # fmt: skip
    assert [percept.problem for percept in agent.percepts] == ["", "", "", "", "no idea", "", "", ""]
    assert [bool(record.as_json().get("rerouted")) for record in records] == [False] * 3 + [True] + [False] * 4
    assert agent.path_to(5) == [0, 3, 5]
    assert play.graph.view().value("coin", "is in") == "inventory"


def test_a_limit_of_moves_ends_the_way_back() -> None:
    play, agent, _ = scripted(["go east", "look", "look", "look", back(3)], Foggy({2: {1}}), max_moves=6)
    assert (play.moves, play.ended_by) == (6, "moves")
    assert [percept.moves_left for percept in agent.percepts[-2:]] == [1, 0]
    assert len(agent.percepts) == 7


def test_another_beginning_is_a_new_beginning() -> None:
    class Windy(Foggy):
        def reset(self, seed: int | None = None) -> tuple[str, Info]:
            text, info = super().reset(seed)
            return f"{text}\n\nThe wind is {self.resets}.", info

    play, agent, _ = scripted(["take coin", back(0), "look"], Windy({}))
    assert seen(agent)[2:] == [(2, None, None, True, True), (3, 2, "look", False, False)]
    assert play.graph.view().value("coin", "is in") == "Hall"
    assert (play.moves, len(play.graph.episodes())) == (2, 2)


@pytest.mark.parametrize("name", ["go_explore", "ige", "glow"])
def test_agents_that_return_play_in_a_world_of_chance(name: str) -> None:
    plays = []
    for _ in range(2):
        graph = TemporalGraph()
        options: dict[str, Any] = {} if name == "go_explore" else {"model": FakePlayer(), "attempt_moves": 4}
        agent: Any = make_agent(name, graph, **options)
        play = Play(Foggy(), agent, graph, 3, max_moves=80)
        plays.append([record.as_json() for record in play])
        rerouted = [line for line in plays[-1] if line.get("rerouted")]
        assert play.ended_by == "moves" or play.won
        assert rerouted, "chance led somewhere else at least once"
        assert play.returns > 3
        audit = play.auditor.result()
        assert (audit.precision, audit.stale_steps) == (1, 0), play.auditor.mistakes
        assert len(graph.episodes()) == len(agent.episodes_to(agent.percept.moment))
    assert plays[0] == plays[1], "the same seeds and the same chance: an interrupted play can go on"


def test_an_attempt_begins_where_chance_led() -> None:
    """GLoW compares the attempts from a state together, wherever chance let each of them begin."""
    graph = TemporalGraph()
    actions = iter(["go east", "take ruby", "go west"])
    answers = {"select": {"thought": "rich", "index": 2}}

    def answer(request: Any) -> str:
        return json.dumps(answers.get(request.purpose) or {"thought": "so", "action": next(actions, "look")})

    agent: Any = make_agent("glow", graph, model=FakeChat(answer), attempt_moves=3, explorations=1)
    lost: dict[int, set[int]] = {2: {1}, 3: set()}
    play = Play(Foggy(lost), agent, graph, 1, max_moves=9, audit=False)
    records = list(play)
    rerouted = [record.percept for record in records if record.percept.rerouted]
    assert [(p.moment, p.before, p.step.action) for p in rerouted] == [(4, 0, "go east"), (5, 4, "take ruby")]
    first, second = sorted(agent.frontier.trajectories, key=lambda attempt: attempt.number)[:2]
    assert (first.number, first.actions, first.start) == (1, (None, "go east", "take ruby", "go west"), 0)
    assert (second.number, second.start) == (2, 2), "two percepts of one return are one attempt"
    assert second.actions == (None, "go east", "take ruby", "look", "look", "look"), "the way that was taken"
    assert (first.value, second.value) == (3, 0)
    assert play.returns == 2
    assert {4, 5} <= {state.step.moment for state in agent.archive.states}, "new states can be returned to"


@pytest.mark.nethack
def test_chance_in_nethack_differs_in_the_same_dungeon() -> None:
    with make("nethack", seed=3, stochastic=True) as env:
        played = []
        for _ in range(3):
            texts = [env.reset()[0]]
            texts += [env.step("explore")[0] for _ in range(6)]
            played.append(texts)
    assert len({texts[0] for texts in played}) == 1, "one dungeon, one beginning"
    assert len({tuple(texts) for texts in played}) > 1
    with make("nethack", seed=3, stochastic=True) as env, make("nethack", seed=3) as plain:
        env.reset()
        assert [env.step("explore")[0] for _ in range(6)] == played[0][1:], "two environments, the same chance"
        plain.reset()
        assert [plain.step("explore")[0] for _ in range(6)] == played[0][1:]
        assert not plain.is_stochastic


@pytest.mark.nethack
@pytest.mark.parametrize("name", ["go_explore", "glow"])
def test_returns_in_a_stochastic_nethack(name: str) -> None:
    with make("nethack", seed=3, stochastic=True) as env:
        graph = TemporalGraph()
        options: dict[str, Any] = {} if name == "go_explore" else {"model": FakePlayer(), "attempt_moves": 6}
        play = Play(env, make_agent(name, graph, **options), graph, 3, max_moves=60, audit=False)
        records = list(play)
    assert play.returns > 0
    assert any(record.percept.rerouted for record in records)
    assert play.moves >= 60


@pytest.mark.games
def test_chance_in_a_z_machine_game(jericho_games: Any) -> None:
    with make(f"jericho:{jericho_games / 'zork1.z5'}", valid_actions=False, inventory=False, stochastic=True) as env:
        first = env.reset(0)[0]
        fights = []
        for _ in range(3):
            env.reset(0)
            for action in ("n", "e", "open window", "west", "west", "take sword", "move rug", "open trap door"):
                env.step(action)
            env.step("take lantern")
            env.step("turn on lantern")
            env.step("down")
            env.step("n")
            fights.append([env.step("kill troll with sword")[0] for _ in range(2)])
    assert "white house" in first
    assert len({str(fight) for fight in fights}) > 1

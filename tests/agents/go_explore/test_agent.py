"""Go-Explore without a model, on worlds that can be returned to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory
from worldthread.errors import AgentError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread_lab.agents import make_agent
from worldthread_lab.agents.base import Percept
from worldthread_lab.envs import make
from worldthread_lab.envs.fake import ScriptedHouse, ScriptedWorld
from worldthread_lab.play.loop import Play
from worldthread_lab.play.step_record import StepRecord

# each thing is far from the others, and there is more to do in vain than to any purpose
HOUSE = ScriptedHouse(
    exits={
        "Hall": {"east": "Cave", "west": "Loft", "north": "Yard"},
        "Cave": {"west": "Hall"},
        "Loft": {"east": "Hall"},
        "Yard": {"south": "Hall"},
    },
    start="Hall",
    containers={"chest": "Cave", "crate": "Yard"},
    supporters={"shelf": "Loft"},
    things={"coin": "Hall", "ruby": "crate", "crown": "chest", "note": "shelf", "silver key": "shelf", "twig": "Yard"},
    locks={"chest": "locked", "crate": "closed"},
    keys={"chest": "silver key"},
    texts={"note": "The note says: The silver key opens the chest."},
    rewards={"coin": 1, "ruby": 3, "crown": 5},
    prize="crown",
    goal="Get rich.",
)


def play(moves: int, **options: Any) -> tuple[Play, list[StepRecord]]:
    graph = TemporalGraph()
    agent = make_agent("go_explore", graph, **options)
    game = Play(ScriptedWorld(lambda seed: HOUSE), agent, graph, max_moves=moves, audit=False)
    return game, list(game)


def test_it_collects_all_points_of_a_house() -> None:
    game, records = play(150)
    assert game.won
    assert game.curve[-1][1] == 9, "what lies on other branches too, not only the prize"
    assert game.returns > 0
    assert game.invalid == 0
    assert all(record.decision.reason for record in records if record.decision)


def test_the_same_again_for_the_same_seed() -> None:
    runs = [[record.as_json() for record in play(120, seed=seed)[1]] for seed in (3, 3)]
    assert runs[0] == runs[1]


def test_without_a_list_of_valid_actions_it_still_finds_rooms() -> None:
    graph = TemporalGraph()
    agent = make_agent("go_explore", graph, use_valid_actions=False)
    game = Play(ScriptedWorld(lambda seed: HOUSE), agent, graph, max_moves=60, audit=False)
    seen = {record.percept.step.text.split("=-")[0] for record in game}
    assert game.curve[-1][1] >= 1
    assert len(seen) >= 4


def test_when_everything_was_tried_chance_decides() -> None:
    game, records = play(400)
    assert game.moves == 400
    chance = [record for record in records if record.decision and "chance" in record.decision.reason]
    assert chance


def test_a_dead_end_leads_back() -> None:
    agent = make_agent("go_explore", TemporalGraph())
    agent.perceive(Percept(GameStep("-= Hall =-\nA hall.", None), 0, ("jump", "wait")))
    first = agent.decide()
    agent.perceive(
        Percept(GameStep("You die.", first.action, turn=1), 0, (), moment=1, before=0, ended=True, state="dead")
    )
    second = agent.decide()
    assert second.return_to == 0
    agent.perceive(Percept(GameStep("-= Hall =-\nA hall.", None), 0, ("jump", "wait"), returned=True))
    third = agent.decide()
    assert {first.action, third.action} == {"jump", "wait"}


def test_it_must_perceive_before_it_decides() -> None:
    with pytest.raises(AgentError):
        make_agent("go_explore", TemporalGraph()).decide()


@pytest.mark.games
def test_a_real_game_gains_points_and_plays_the_same_again(
    jericho_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLDTHREAD_GAMES", str(jericho_games))

    def scores() -> list[dict[str, Any]]:
        graph = TemporalGraph()
        agent = make_agent("go_explore", graph, seed=1)
        game = Play(make("detective"), agent, graph, seed=1, max_moves=25, audit=False)
        with game.env:
            return [record.as_json() for record in game]

    first = scores()
    assert first == scores()
    assert max(record["score"] for record in first) >= 30


def test_a_return_changes_a_memory_in_a_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time that something is forgotten, the file is emptied of it, which takes as long as for many at once."""
    _, expected = play(60)
    with Memory(tmp_path / "play.worldthread", embedder="fake", model="none") as memory:
        forgotten: list[int] = []
        forget_many = memory.record.forget_many

        def counted(episodes: Sequence[str]) -> object:
            forgotten.append(len(episodes))
            return forget_many(episodes)

        monkeypatch.setattr(memory.record, "forget_many", counted)
        agent = make_agent("go_explore", memory.record)
        game = Play(ScriptedWorld(lambda seed: HOUSE), agent, memory.record.graph, max_moves=60, audit=False)
        assert [record.observation for record in game] == [record.observation for record in expected]
        assert game.returns == len(forgotten) > 0
        assert max(forgotten) > 1

"""TextWorldExpress and ScienceWorld with their real engines, at their smallest sizes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread_lab.agents import make_agent
from worldthread_lab.envs import games, make
from worldthread_lab.envs.base import Environment
from worldthread_lab.play.fake_player import FakePlayer
from worldthread_lab.play.loop import Play

pytestmark = pytest.mark.worlds

SMALL_HOUSE = {"parameters": "numLocations=3,numDistractorItems=2,includeDoors=1"}


@pytest.fixture(scope="module")
def house() -> Iterator[Environment]:
    with make("textworldexpress-coin", seed=3, **SMALL_HOUSE) as env:
        yield env


def played(env: Environment, agent: str, moves: int, **options: Any) -> Play:
    graph = TemporalGraph()
    play = Play(env, make_agent(agent, graph, **options), graph, 3, max_moves=moves)
    for _ in play:
        pass
    return play


def test_the_explorer_finds_the_coin_and_the_memory_is_true(house: Environment) -> None:
    play = played(house, "explorer", 60)
    assert play.info.won
    assert play.auditor.result().precision >= 0.98
    assert play.auditor.result().recall >= 0.9


@pytest.mark.parametrize("agent", ["react", "ariadne"])
def test_agents_with_a_model_play_unchanged(house: Environment, agent: str) -> None:
    play = played(house, agent, 8, model=FakePlayer(3))
    assert play.moves == 8 or play.info.won


def test_parameters_that_the_engine_does_not_know_are_named() -> None:
    with (
        make("textworldexpress-coin", parameters="numRooms=3") as env,
        pytest.raises(InputError, match="textworldexpress-coin-v1 cannot be generated with 'numRooms=3'"),
    ):
        env.reset()


def test_as_printed_changes_nothing() -> None:
    with make("textworldexpress-coin", seed=3, as_printed=True, valid_actions=False, **SMALL_HOUSE) as env:
        text, info = env.reset()
        assert "\n\nYou are in the " in text
        assert info.valid_actions is None
        assert env.step("look")[0].startswith("Unknown action")


def test_no_java_is_left_behind() -> None:
    program = (
        "from worldthread_lab.envs import make\n"
        "env = make('textworldexpress-simonsays')\nenv.reset()\n"
        "print(env._engine._gateway.java_process.pid)\nenv.close()\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert not run.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(run.stdout), 0)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["explorer", "react", "ariadne"])
def test_scienceworld_is_played_and_audited(agent: str) -> None:
    options: dict[str, Any] = {} if agent == "explorer" else {"model": FakePlayer(3)}
    with make("scienceworld-find-living-thing", seed=3, simplifications="easy") as env:
        play = played(env, agent, 6, **options)
    assert play.moves == 6 or play.info.lost
    assert play.auditor.result().expected > 10
    assert play.auditor.result().precision > 0.8


@pytest.mark.slow
def test_every_task_of_the_engines_is_registered() -> None:
    from scienceworld import ScienceWorldEnv
    from textworld_express.constants import GAME_NAMES

    ids = {spec.name for spec in games()}
    assert {name for name in ids if name.startswith("textworldexpress-")} == {
        f"textworldexpress-{name}" for name in GAME_NAMES
    }
    engine = ScienceWorldEnv()
    assert {name for name in ids if name.startswith("scienceworld-")} == {
        f"scienceworld-{name}" for name in engine.get_task_names()
    }
    engine.close()

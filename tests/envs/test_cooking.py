"""Cooking: the settings of the paper's games, and the games generated with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from worldthread_lab.envs import Environment, Info, games, make
from worldthread_lab.envs.check import check_env
from worldthread_lab.envs.cooking import GOAL, TASKS

# id: rooms, ingredients, max score, file of the paper's game
EXPECTED = {
    "cooking-v1": (9, 3, 11, "cook"),
    "cooking-hard-v1": (12, 4, 14, "cook_hard"),
    "cooking-hardest-v1": (12, 5, 17, "cook_hardest"),
    "cooking-level1-v1": (1, 1, 4, "cook_level1_a"),
    "cooking-level2-v1": (1, 1, 5, "cook_level2_a"),
    "cooking-level3-v1": (9, 1, 3, "cook_level3_a"),
    "cooking-level4-v1": (6, 3, 11, "cook_level4_a"),
}


def replay(env: Environment, seed: int) -> tuple[float, Info]:
    """Play the walkthrough to its end: sum of the rewards, and the last info."""
    env.reset(seed)
    total = 0.0
    commands = env.truth().walkthrough
    for number, command in enumerate(commands, start=1):
        _, reward, terminated, _, info = env.step(command)
        total += reward
        assert terminated == (number == len(commands)), command
    return total, info


def test_every_registered_cooking_game_has_its_settings() -> None:
    assert {spec.id for spec in games() if spec.name.startswith("cooking")} == set(TASKS) == set(EXPECTED)


@pytest.mark.parametrize("id", EXPECTED)
def test_settings_are_those_of_the_papers_games(id: str, textworld_games: Path) -> None:
    rooms, ingredients, max_score, name = EXPECTED[id]
    metadata = json.loads((textworld_games / f"{name}.json").read_text("utf-8"))["metadata"]
    settings = TASKS[id]
    assert {key: metadata["settings"][key] for key in settings} == settings
    assert (settings["go"], settings["recipe"], metadata["max_score"]) == (rooms, ingredients, max_score)


# generating one of the larger games takes a quarter of a minute
@pytest.mark.games
@pytest.mark.parametrize(
    "id",
    ["cooking-level2-v1", *(pytest.param(id, marks=pytest.mark.slow) for id in EXPECTED if id != "cooking-level2-v1")],
)
class TestGeneratedGame:
    @pytest.fixture
    def game(self, id: str, game_cache: Path) -> Environment:
        return make(id, seed=0, cache_dir=game_cache)

    def test_the_walkthrough_wins_with_full_score(self, id: str, game: Environment) -> None:
        with game:
            total, info = replay(game, 0)
        assert (info.score, info.max_score, info.won, info.lost) == (EXPECTED[id][2], EXPECTED[id][2], True, False)
        assert total == info.score

    def test_size(self, id: str, game: Environment) -> None:
        with game:
            game.reset()
            propositions = game.truth().propositions
        rooms = {p[2] for p in propositions if p[0] == "at"} | {
            room for p in propositions if p[0].endswith("_of") for room in p[1:]
        }
        assert len(rooms) == EXPECTED[id][0]
        assert len({p[1] for p in propositions if p[0] == "base"}) == EXPECTED[id][1]
        hardest = id == "cooking-hardest-v1"
        assert any(p[0] == "closed" for p in propositions) == hardest
        slots = [p for p in propositions if p[0] in ("free", "used") and len(p) == 2]
        assert len(slots) == (5 if hardest else 0)

    def test_the_task_is_stated_once_with_the_use_of_the_appliances(self, id: str, game: Environment) -> None:
        with game:
            observation, info = game.reset()
        assert info.goal == GOAL
        assert observation.count("hungry") == 1
        assert observation.startswith(GOAL)


@pytest.mark.games
def test_the_contract(game_cache: Path) -> None:
    with make("cooking-level2-v1", cache_dir=game_cache) as game:
        check_env(game, steps=15)


@pytest.mark.games
def test_the_wrong_appliance_loses(game_cache: Path) -> None:
    with make("cooking-level2-v1", cache_dir=game_cache) as game:
        game.reset(0)
        terminated = False
        for command in game.truth().walkthrough:
            if command.startswith("cook "):
                wrong = {"stove": "oven", "oven": "stove"}[command.rpartition(" ")[2]]
                command = f"{command.rpartition(' ')[0]} {wrong}"
            _, _, terminated, _, info = game.step(command)
            if terminated:
                break
    assert terminated
    assert (info.won, info.lost) == (False, True)


@pytest.mark.games
@pytest.mark.slow
def test_no_more_than_five_things_can_be_carried(game_cache: Path) -> None:
    with make("cooking-hardest-v1", cache_dir=game_cache) as game:
        game.reset(0)
        walkthrough = game.truth().walkthrough
        # the walkthrough gathers all five ingredients first, and then has to drop one for the knife
        for command in walkthrough[: next(n for n, one in enumerate(walkthrough) if one.startswith("drop "))]:
            game.step(command)
        carried = {p[1] for p in game.truth().propositions if p[0] == "in" and p[2] == "I"}
        take_knife = next(command for command in walkthrough if command.startswith("take knife"))
        game.step(take_knife)
        still = {p[1] for p in game.truth().propositions if p[0] == "in" and p[2] == "I"}
    assert len(carried) == 5
    assert still == carried


@pytest.mark.slow
@pytest.mark.games
def test_seeds_give_different_games(game_cache: Path) -> None:
    with make("cooking-level2-v1", cache_dir=game_cache) as game:
        game.reset(0)
        first = game.truth().propositions
        game.reset(1)
        second = game.truth().propositions
    assert first != second


@pytest.mark.games
@pytest.mark.slow
def test_the_same_game_in_another_process(game_cache: Path, tmp_path: Path) -> None:
    with make("cooking-hardest-v1", cache_dir=game_cache) as game:
        game.reset(0)
    code = (
        "import sys; from worldthread_lab.envs import make; make('cooking-hardest-v1', cache_dir=sys.argv[1]).reset(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env={**os.environ, "PYTHONHASHSEED": "1"})
    (other,) = tmp_path.glob("games/cooking-hardest-v1/*.json")
    here = game_cache / other.relative_to(tmp_path)
    assert here.read_text("utf-8") == other.read_text("utf-8")
    # the header holds the date of the compilation
    assert here.with_suffix(".z8").read_bytes()[64:] == other.with_suffix(".z8").read_bytes()[64:]

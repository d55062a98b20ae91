"""Cleaning: the score, the generated houses, and games that bring their own table of right places."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from worldthread.errors import GameFileError
from worldthread_lab.envs import Environment, Info, make
from worldthread_lab.envs.check import check_env
from worldthread_lab.envs.cleaning import (
    GOAL,
    MISPLACED,
    ROOMS,
    CleaningEnvironment,
    CleaningHouse,
    Place,
    TidyingScore,
    build_house,
    draw_house,
    places_file,
)
from worldthread_lab.envs.household import ALWAYS, HOUSEHOLD
from worldthread_lab.envs.houses import grow_house

CARRIED: Place = ("in", "I")
SINK: Place = ("on", "bathroom sink")
BED: Place = ("on", "double bed")
FLOOR: Place = ("at", "Gym")


@pytest.fixture
def tidying() -> TidyingScore:
    """One misplaced thing, the toothbrush on the bed, and one in its place, the duvet."""
    return TidyingScore({"toothbrush": SINK}, {"toothbrush": BED, "duvet": BED})


def scores(tidying: TidyingScore, *states: dict[str, Place]) -> list[int]:
    """The score after each state of the world."""
    result = []
    for state in states:
        tidying.update(state)
        result.append(tidying.score)
    return result


class TestTidyingScore:
    def test_a_point_for_picking_up_and_a_point_for_putting_right(self, tidying: TidyingScore) -> None:
        assert not tidying.tidy
        assert scores(tidying, {"toothbrush": CARRIED, "duvet": BED}, {"toothbrush": SINK, "duvet": BED}) == [1, 2]
        assert tidying.tidy
        assert tidying.max_score == 2

    def test_picking_up_again_earns_nothing(self, tidying: TidyingScore) -> None:
        carried, dropped = {"toothbrush": CARRIED, "duvet": BED}, {"toothbrush": FLOOR, "duvet": BED}
        assert scores(tidying, carried, dropped, carried, dropped, carried) == [1, 1, 1, 1, 1]

    def test_putting_right_again_earns_nothing_and_taking_away_costs_a_point_each_time(
        self, tidying: TidyingScore
    ) -> None:
        carried, right = {"toothbrush": CARRIED, "duvet": BED}, {"toothbrush": SINK, "duvet": BED}
        assert scores(tidying, carried, right, carried, right, carried, right) == [1, 2, 1, 1, 0, 0]
        assert tidying.tidy

    def test_a_thing_in_its_place_costs_a_point_each_time_it_leaves_it(self, tidying: TidyingScore) -> None:
        carried, dropped = {"toothbrush": BED, "duvet": CARRIED}, {"toothbrush": BED, "duvet": FLOOR}
        at_rest: dict[str, Place] = {"toothbrush": BED, "duvet": BED}
        assert scores(tidying, carried, dropped, carried, at_rest, carried) == [-1, -1, -1, -1, -2]

    def test_a_thing_that_moves_twice_within_one_action_counts_as_picked_up(self, tidying: TidyingScore) -> None:
        assert scores(tidying, {"toothbrush": SINK, "duvet": BED}) == [2]

    def test_a_thing_that_vanishes_leaves_its_place_once(self, tidying: TidyingScore) -> None:
        assert scores(tidying, {"toothbrush": BED}, {"toothbrush": BED}) == [-1, -1]

    def test_things_unknown_at_the_start_do_not_count(self, tidying: TidyingScore) -> None:
        at_rest: dict[str, Place] = {"toothbrush": BED, "duvet": BED}
        assert scores(tidying, {**at_rest, "crumb": FLOOR}, {**at_rest, "crumb": CARRIED}) == [0, 0]

    def test_an_untidy_house_is_not_tidy_because_something_vanished(self) -> None:
        tidying = TidyingScore({"toothbrush": SINK, "snorkel": FLOOR}, {"toothbrush": BED, "snorkel": BED})
        tidying.update({"toothbrush": SINK})
        assert not tidying.tidy


class TestDrawnHouses:
    HOUSES = tuple(draw_house(seed) for seed in range(60))

    def test_size(self) -> None:
        for house in self.HOUSES:
            assert len(set(house.rooms)) == len(house.plan.exits) == ROOMS == 9
            assert set(ALWAYS) <= set(house.rooms)
            assert len(house.belongs) == MISPLACED == 11

    def test_misplaced_things_lie_in_a_wrong_room_and_belong_to_different_furniture(self) -> None:
        for house in self.HOUSES:
            room_of = {piece.name: room for room in house.rooms for piece in HOUSEHOLD[room]}
            room_of.update({room: room for room in house.rooms})
            assert len(set(house.belongs.values())) == MISPLACED
            for thing, (_, right) in house.belongs.items():
                relation, wrong = house.start[thing]
                assert relation in ("at", "on")
                assert room_of[wrong] != room_of[right]

    def test_all_other_things_are_in_place_and_no_furniture_is_empty(self) -> None:
        for house in self.HOUSES:
            pieces = {piece.name: piece for room in house.rooms for piece in HOUSEHOLD[room]}
            own = {thing: place for thing, place in house.start.items() if thing not in house.belongs}
            for thing, (relation, where) in own.items():
                assert thing in pieces[where].things
                assert relation == pieces[where].relation
            held = Counter(where for _, where in own.values())
            assert set(held) == set(pieces)
            assert set(held.values()) <= {1, 2}

    def test_seeds_differ_and_repeat(self) -> None:
        assert len({tuple(sorted(house.start.items())) for house in self.HOUSES}) == len(self.HOUSES)
        assert draw_house(7) == self.HOUSES[7]
        assert draw_house(7).walkthrough == self.HOUSES[7].walkthrough

    def test_every_room_is_drawn_sometimes(self) -> None:
        assert {room for house in self.HOUSES for room in house.rooms} == set(HOUSEHOLD)

    def test_walkthroughs_take_and_put_each_thing_once(self) -> None:
        for house in self.HOUSES:
            verbs = Counter(command.split()[0] for command in house.walkthrough)
            assert verbs["take"] == verbs["put"] + verbs["insert"] == MISPLACED
            assert len(house.walkthrough) < 100


@pytest.fixture
def house(game_cache: Path) -> Environment:
    return make("cleaning-v1", seed=0, cache_dir=game_cache)


def replay(env: Environment, seed: int | None = None) -> tuple[list[float], Info]:
    """Play the walkthrough to its end: rewards, and the last info."""
    env.reset(seed)
    rewards: list[float] = []
    commands = env.truth().walkthrough
    for number, command in enumerate(commands, start=1):
        _, reward, terminated, _, info = env.step(command)
        rewards.append(reward)
        assert terminated == (number == len(commands)), command
    return rewards, info


@pytest.mark.games
class TestGeneratedGame:
    @pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
    def test_the_walkthrough_wins_with_full_score(self, house: Environment, seed: int) -> None:
        with house:
            rewards, info = replay(house, seed)
        assert (info.score, info.max_score, info.won, info.lost) == (22, 22, True, False)
        assert Counter(rewards)[1.0] == 22
        assert set(rewards) == {0.0, 1.0}

    def test_the_contract(self, house: Environment) -> None:
        with house:
            check_env(house, steps=15)

    def test_the_engine_has_the_house_that_was_drawn(self, house: Environment) -> None:
        with house:
            house.reset(0)
            truth = house.truth()
        drawn = draw_house(0)
        assert {(relation, thing, where) for thing, (relation, where) in drawn.start.items()} <= truth.propositions
        assert ("at", "P", drawn.rooms[0]) in truth.propositions
        joined = {(p[0], p[1], p[2]) for p in truth.propositions if p[0].endswith("_of")}
        assert joined == {
            (f"{direction}_of", drawn.rooms[there], drawn.rooms[here])
            for here, exits in enumerate(drawn.plan.exits)
            for direction, there in exits.items()
        }
        closed = {piece.name for room in drawn.rooms for piece in HOUSEHOLD[room] if piece.kind == "closed"}
        assert {p[1] for p in truth.propositions if p[0] == "closed"} == closed

    def test_only_the_truth_contains_the_right_places(self, house: Environment) -> None:
        with house:
            observation, info = house.reset(0)
            truth = house.truth()
        right = {p[1:] for p in truth.propositions if p[0] == "belongs"}
        assert right == {(thing, *place) for thing, place in draw_house(0).belongs.items()}
        assert info.goal == GOAL
        assert observation.count(GOAL) == 1
        assert info.score == 0

    def test_disorder_makes_the_score_negative(self, house: Environment) -> None:
        drawn = draw_house(0)
        in_reach = [
            (thing, where)
            for thing, (relation, where) in drawn.start.items()
            if thing not in drawn.belongs
            and relation == "on"
            and where in {piece.name for piece in HOUSEHOLD[drawn.rooms[0]]}
        ]
        thing, where = in_reach[0]
        with house:
            house.reset(0)
            play = [f"take {thing} from {where}", f"put {thing} on {where}", f"take {thing} from {where}", "look"]
            results = [house.step(command) for command in play]
        assert [reward for _, reward, *_ in results] == [-1, 0, -1, 0]
        assert [info.score for *_, info in results] == [-1, -1, -2, -2]

    def test_reset_starts_a_new_episode(self, house: Environment) -> None:
        with house:
            replay(house, 0)
            _, info = house.reset(0)
            assert (info.score, info.won, info.moves) == (0, False, 0)
            rewards, _ = replay(house, 0)
        assert sum(rewards) == 22

    @pytest.mark.slow
    def test_the_same_game_in_another_process(self, house: Environment, game_cache: Path, tmp_path: Path) -> None:
        with house:
            house.reset(0)
        code = "import sys; from worldthread_lab.envs import make; make('cleaning-v1', cache_dir=sys.argv[1]).reset(0)"
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], check=True, env={**os.environ, "PYTHONHASHSEED": "1"}
        )
        (other,) = tmp_path.glob("games/cleaning-v1/*.json")
        here = game_cache / other.relative_to(tmp_path)
        assert here.read_text("utf-8") == other.read_text("utf-8")
        # the header holds the date of the compilation
        assert here.with_suffix(".z8").read_bytes()[64:] == other.with_suffix(".z8").read_bytes()[64:]

    @pytest.mark.parametrize("half", [0, 1])
    @pytest.mark.slow
    def test_every_name_of_the_vocabulary_can_be_played_with(self, half: int, tmp_path: Path) -> None:
        """Houses that hold everything of their rooms, and all of it lies on the floor of the first."""
        rooms = tuple(HOUSEHOLD)[half::2]
        pieces = [piece for room in rooms for piece in HOUSEHOLD[room]]
        belongs = {thing: (piece.relation, piece.name) for piece in pieces for thing in piece.things}
        plan = grow_house(len(rooms), loops=4, rng=random.Random(0))
        house = CleaningHouse(plan, rooms, dict.fromkeys(belongs, ("at", rooms[0])), belongs)
        path = tmp_path / "everything.z8"
        build_house(house, 0, path)
        with CleaningEnvironment(lambda _: path, id="everything") as env:
            rewards, info = replay(env)
            propositions = env.truth().propositions
        assert info.won
        assert sum(rewards) == info.max_score == 2 * len(belongs)
        assert {(relation, thing, where) for thing, (relation, where) in belongs.items()} <= propositions


@pytest.mark.games
class TestTableOfRightPlaces:
    @pytest.fixture
    def game(self, house: Environment, game_cache: Path, tmp_path: Path) -> Path:
        """A copy of a generated game, without a table yet."""
        with house:
            house.reset(0)
        (source,) = game_cache.glob("games/cleaning-v1/0-*.z8")
        for suffix in (".z8", ".json"):
            shutil.copy(source.with_suffix(suffix), tmp_path / f"home{suffix}")
        return tmp_path / "home.z8"

    def test_the_table_of_right_places_decides_the_score(self, game: Path) -> None:
        thing, place = next(iter(draw_house(0).belongs.items()))
        places_file(game).write_text(json.dumps({"belongs": {thing: place}}), "utf-8")
        with make(f"textworld:{game}", goal="Tidy up.") as env:
            _, info = env.reset()
            assert (info.max_score, info.goal) == (2, "Tidy up.")
            for command in env.truth().walkthrough:
                *_, terminated, _, info = env.step(command)
                if terminated:
                    break
        assert info.won
        # the other misplaced things count as being in their place
        assert info.score < 2

    def test_a_game_without_a_table_has_no_score(self, game: Path) -> None:
        with make(f"textworld:{game}") as env:
            env.reset()
            assert not any(p[0] == "belongs" for p in env.truth().propositions)

    @pytest.mark.parametrize(
        "text",
        [
            "{",
            "[]",
            '{"belongs": {}}',
            '{"belongs": {"snorkel": "rack"}}',
            '{"belongs": {"snorkel": ["by", "rack"]}}',
            '{"belongs": {"snorkel": ["on", 3]}}',
        ],
    )
    def test_a_bad_table_is_refused(self, game: Path, text: str) -> None:
        places_file(game).write_text(text, "utf-8")
        with pytest.raises(GameFileError, match=r"home_places\.json"):
            make(f"textworld:{game}")

    def test_names_that_are_not_in_the_game_are_refused(self, game: Path) -> None:
        places_file(game).write_text(json.dumps({"belongs": {"unicorn": ["in", "stable"]}}), "utf-8")
        with make(f"textworld:{game}") as env, pytest.raises(GameFileError, match=r"stable.*unicorn"):
            env.reset()

    def test_things_that_are_not_misplaced_are_refused(self, game: Path) -> None:
        drawn = draw_house(0)
        thing = next(thing for thing in drawn.start if thing not in drawn.belongs)
        places_file(game).write_text(json.dumps({"belongs": {thing: drawn.start[thing]}}), "utf-8")
        with make(f"textworld:{game}") as env, pytest.raises(GameFileError, match=f"not misplaced.*{thing}"):
            env.reset()


@pytest.mark.games
class TestThePapersGame:
    @pytest.fixture
    def game(self, textworld_games: Path) -> Path:
        return textworld_games / "clean.z8"

    def test_scoring(self, game: Path) -> None:
        with make(f"textworld:{game}") as env:
            _, info = env.reset()
            assert (info.score, info.max_score, info.goal) == (0, 22, GOAL)
            play = {
                "take toothbrush from dining table": 1,
                "take candles from dining table": -1,
                "go west": 0,
                "open dishwasher": 0,
                "take business suit from cook table": 1,
                "drop business suit": 0,
                "take business suit": 0,
                "go north": 0,
                "put toothbrush on bathroom sink": 1,
                "take toothbrush from bathroom sink": -1,
            }
            assert {command: env.step(command)[1] for command in play} == play
            assert env.step("put toothbrush on bathroom sink")[1] == 0

    def test_the_table_is_the_given_one(self, game: Path) -> None:
        table = json.loads(places_file(game).read_text("utf-8"))["belongs"]
        with make(f"textworld:{game}") as env:
            env.reset()
            right = {p[1:] for p in env.truth().propositions if p[0] == "belongs"}
        assert right == {(thing, *place) for thing, place in table.items()}

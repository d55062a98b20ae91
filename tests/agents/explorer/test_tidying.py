"""Where things belong, guessed from names alone."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

import pytest

from worldthread.graph import TemporalGraph
from worldthread.models import embedder
from worldthread_lab.agents.explorer.agent import Explorer
from worldthread_lab.agents.explorer.tidying import Tidier
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Environment, Info, Truth
from worldthread_lab.play.loop import Play

FURNITURE = {
    "bookcase": "library",
    "reading chair": "library",
    "bathroom sink": "bathroom",
    "towel rack": "bathroom",
    "workbench": "garage",
    "tool cabinet": "garage",
}
IN_PLACE = {
    "novel": "bookcase",
    "atlas": "bookcase",
    "soap": "bathroom sink",
    "bath towel": "towel rack",
    "hammer": "tool cabinet",
    "screwdriver": "tool cabinet",
}


def test_what_lies_far_from_its_kind_is_found_and_the_rest_is_left() -> None:
    tidier = Tidier(embedder())
    assert tidier.suggest(IN_PLACE, FURNITURE) == []
    mixed = {**IN_PLACE, "poetry book": "towel rack", "wrench": "reading chair", "hand towel": "workbench"}
    found = tidier.suggest(mixed, FURNITURE)
    assert {s.thing for s in found} == {"poetry book", "wrench", "hand towel"}
    places = {s.thing: s.place for s in found}
    assert places["poetry book"] == "bookcase"
    assert FURNITURE[places["wrench"]] == "garage"
    assert FURNITURE[places["hand towel"]] == "bathroom"
    assert [s.gain for s in found] == sorted((s.gain for s in found), reverse=True)


def test_what_lies_on_the_floor_has_a_place_too() -> None:
    (found,) = Tidier(embedder()).suggest({**IN_PLACE, "pliers": "library"}, FURNITURE)
    assert (found.thing, FURNITURE[found.place]) == ("pliers", "garage")


def test_what_is_known_to_be_misplaced_gets_the_best_place_left() -> None:
    tidier = Tidier(embedder())
    things = {**IN_PLACE, "wrench": "towel rack"}
    (found,) = tidier.suggest(things, FURNITURE, {"wrench": ()})
    assert FURNITURE[found.place] == "garage"
    (other,) = tidier.suggest(things, FURNITURE, {"wrench": (found.place,)})
    assert other.place not in (found.place, "towel rack")
    assert tidier.suggest(things, FURNITURE, {}) == []
    assert tidier.suggest(things, FURNITURE, {"wrench": tuple(FURNITURE)}) == []


def test_nothing_to_judge_gives_no_suggestion() -> None:
    assert Tidier(embedder("fake")).suggest({}, FURNITURE) == []
    assert Tidier(embedder("fake")).suggest({"novel": "library"}, {}) == []


def tidy(game: str, cache: Path | None = None) -> Play:
    graph = TemporalGraph()
    with make(game, seed=2, cache_dir=cache) as env:
        play = Play(env, Explorer(graph), graph, 2)
        for _ in play:
            pass
        return play


@pytest.mark.games
def test_tidies_the_published_house(textworld_games: Path) -> None:
    play = tidy(f"textworld:{textworld_games / 'clean.z8'}")
    assert play.info.score >= 18
    assert play.auditor.result().precision >= 0.99
    assert play.auditor.result().stale_steps == 0
    assert play.moves < 200, "it knows when it has done what it can"


@pytest.mark.games
@pytest.mark.slow
def test_tidies_a_generated_house(game_cache: Path) -> None:
    play = tidy("cleaning", game_cache)
    assert play.info.score >= 13
    assert play.auditor.result().recall >= 0.95


def test_household_knowledge_names_no_ingredient_and_nothing_to_tidy(textworld_games: Path) -> None:
    table = tomllib.loads(files("worldthread_lab.agents.explorer").joinpath("household.toml").read_text("utf-8"))
    words = set(re.findall(r"[a-z]+", json.dumps(table).casefold()))
    phrases = {name for group in table.values() for names in group.values() for name in names}
    items = set(json.loads((textworld_games / "clean_places.json").read_text("utf-8"))["belongs"])
    for file in textworld_games.glob("*.json"):
        game = json.loads(file.read_text("utf-8"))
        items |= {info["name"].casefold() for _, info in game.get("infos", []) if info.get("type") == "f"}
    assert len(items) > 30
    assert not items & (words | phrases)


def made_house(path: Path, *, says: bool, scores: bool) -> Path:
    """Write a game that states no task.

    Args:
        path: the file.
        says: whether the descriptions of things say what is misplaced.
        scores: whether the world gives a point for each misplaced thing that comes to its place.
    """
    pytest.importorskip("textworld")
    from textworld import GameMaker, GameOptions, g_rng
    from textworld.generator import compile_game
    from textworld.generator.game import Event, Quest

    g_rng.set_seed(3)
    maker = GameMaker()
    rooms = {name: maker.new_room(name) for name in ("kitchen", "bathroom", "garage")}
    maker.connect(rooms["kitchen"].east, rooms["bathroom"].west)
    maker.connect(rooms["kitchen"].north, rooms["garage"].south)
    maker.set_player(rooms["kitchen"])
    furniture = {}
    for room, name in (("kitchen", "kitchen counter"), ("bathroom", "towel rail"), ("garage", "workbench")):
        furniture[name] = maker.new(type="s", name=name)
        rooms[room].add(furniture[name])
    quests = []
    for name, place, right in (
        ("loaf of bread", "kitchen counter", ""),
        ("wet towel", "kitchen counter", "towel rail"),
        ("hammer", "towel rail", "workbench"),
        ("screwdriver", "workbench", ""),
    ):
        description = f"The {name} seems out of place here." if right and says else f"A plain {name}."
        thing = maker.new(type="o", name=name, desc=description)
        furniture[place].add(thing)
        if right:
            quests.append(
                Quest(win_events=[Event(conditions={maker.new_fact("on", thing, furniture[right])})], reward=1)
            )
    if scores:
        maker.quests = quests
    game = maker.build(validate=False)
    game.objective = ""
    options = GameOptions()
    options.path = str(path)
    compile_game(game, options)
    return path


@pytest.mark.games
@pytest.mark.parametrize(("says", "scores"), [(True, False), (False, True)])
def test_finds_out_what_is_misplaced_when_nobody_states_a_task(says: bool, scores: bool, tmp_path: Path) -> None:
    graph = TemporalGraph()
    with make(f"textworld:{made_house(tmp_path / 'house.z8', says=says, scores=scores)}") as env:
        play = Play(env, Explorer(graph), graph, 0)
        for _ in play:
            pass
        assert play.info.score == (2 if scores else 0)
    view = graph.view()
    assert view.value("wet towel", "is on") == "towel rail"
    assert view.value("hammer", "is on") == "workbench"
    assert view.value("loaf of bread", "is on") == "kitchen counter"
    assert view.value("screwdriver", "is on") == "workbench"
    assert play.moves < 60, "it stops when everything is where it seems to belong"


@pytest.mark.games
def test_brings_back_what_was_moved_where_nothing_is_rewarded(tmp_path: Path) -> None:
    graph = TemporalGraph()
    with make(f"textworld:{made_house(tmp_path / 'house.z8', says=False, scores=False)}") as env:
        play = Play(env, Explorer(graph), graph, 0)
        taken, back = False, False
        for _ in play:
            place = graph.view().value("hammer", "is on")
            taken = taken or place is None
            back = back or (taken and place == "towel rail")
    assert back
    assert play.ended_by == "agent"


class PayingHouse(Environment):
    """Two rooms, whose task is to tidy up: a point when a misplaced thing is taken, one when it is put right."""

    rooms: ClassVar[dict[str, str]] = {"kitchen": "hat rack", "hall": "spice rack"}
    """The room -> its furniture: names say nothing of what belongs where."""
    belongs: ClassVar[dict[str, str]] = {"felt hat": "spice rack", "pepper": "spice rack"}
    id = "paying-house-v1"

    def __init__(self, goal: str) -> None:
        self.goal = goal

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.room, self.score, self.moves = "kitchen", 0, 0
        self.places = {"felt hat": "hall", "pepper": "spice rack"}
        self.taken: set[str] = set()
        self.log: list[str] = []
        return self._look(), self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        before, text = self.score, "Nothing happens."
        self.moves += 1
        self.log.append(action)
        if action in ("go east", "go west"):
            self.room = "hall" if action == "go east" else "kitchen"
            text = self._look()
        for thing, place in self.places.items():
            if action.startswith(f"take {thing}") and place in (self.room, self.rooms[self.room]):
                self.score += -1 if place == self.belongs[thing] else thing not in self.taken
                self.taken.add(thing)
                self.places[thing], text = "I", f"You pick up the {thing}."
            elif action == f"put {thing} on {self.rooms[self.room]}" and place == "I":
                self.places[thing], text = self.rooms[self.room], f"You put the {thing} on the {self.rooms[self.room]}."
                self.score += self.belongs[thing] == self.rooms[self.room]
            elif action == f"drop {thing}" and place == "I":
                self.places[thing], text = self.room, f"You drop the {thing}."
        return text, float(self.score - before), False, False, self._info()

    def truth(self) -> Truth:
        return Truth(frozenset())

    def _look(self) -> str:
        piece = self.rooms[self.room]
        lying = [f"On the {piece} you see a {t}." for t, p in self.places.items() if p == piece]
        lying += [f"There is a {t} on the floor." for t, p in self.places.items() if p == self.room]
        empty = "" if any(p == piece for p in self.places.values()) else " But there is nothing on it."
        way = "east" if self.room == "kitchen" else "west"
        return f"-= {self.room} =-\nYou see a {piece}.{empty} {' '.join(lying)}\nThere is an exit to the {way}."

    def _info(self) -> Info:
        carried = [thing for thing, place in self.places.items() if place == "I"]
        inventory = f"You are carrying: {', '.join(f'a {thing}' for thing in carried)}" if carried else None
        return Info(self.score, None, None, inventory, self.goal, self.moves)


def tidied(goal: str) -> PayingHouse:
    house, graph = PayingHouse(goal), TemporalGraph()
    for _ in Play(house, Explorer(graph), graph, 1, max_moves=30, audit=False):
        pass
    return house


def test_what_brings_no_point_where_it_is_put_is_tried_elsewhere() -> None:
    house = tidied("Tidy up: put each thing where it belongs.")
    assert house.log.count("put felt hat on hat rack") == 1, "the name says that it belongs there"
    assert house.places["felt hat"] == "spice rack"
    assert house.score == 2


def test_what_lies_in_the_wrong_room_does_not_belong_beside_it() -> None:
    house = tidied("Tidy up: some things lie in the wrong room.")
    assert "put felt hat on spice rack" not in house.log

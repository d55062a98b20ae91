"""The parts of the NetHack world that need no game: names of things, ways, rooms."""

from __future__ import annotations

import pytest

from worldthread.errors import InputError
from worldthread_lab.envs.nethack.console import _epitaph
from worldthread_lab.envs.nethack.engine import COLUMNS, character_options
from worldthread_lab.envs.nethack.items import FOOD, InventoryItem, find_item, fits, plain_name
from worldthread_lab.envs.nethack.level import Level, direction_of, in_sight
from worldthread_lab.envs.nethack.paths import ShortestPaths
from worldthread_lab.envs.nethack.targets import find_door, read_direction
from worldthread_lab.envs.nethack.terrain import Ground
from worldthread_lab.envs.nethack.words import offset, with_article

SIGNS = {
    " ": Ground.UNKNOWN, "-": Ground.WALL, "|": Ground.WALL, ".": Ground.FLOOR, "#": Ground.CORRIDOR,
    ":": Ground.DOORWAY, "/": Ground.OPEN_DOOR, "+": Ground.CLOSED_DOOR, "<": Ground.UP, ">": Ground.DOWN,
    "^": Ground.TRAP, "}": Ground.LIQUID, "%": Ground.COVERED,
}  # fmt: skip


def level(*rows: str) -> Level:
    """A level as drawn, from row 0 and column 0 on."""
    made = Level("level 1")
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            made.learn(at(column, row), SIGNS[sign])
    return made


def at(column: int, row: int) -> int:
    return row * COLUMNS + column


ROOMS = (
    "-----      -----",
    "|...|      |...|",
    "|.../###   |...|",
    "|...|  ####:...|",
    "-----      -----",
)


def test_paths_lead_straight_through_open_doors() -> None:
    ways = ShortestPaths(level(*ROOMS), at(3, 1))
    # the door is a diagonal step away
    assert ways.steps_to(at(5, 2)) == [at(3, 2), at(4, 2), at(5, 2)]
    # but a doorway without a door can be left diagonally
    assert ways.steps_to(at(12, 2))[-2:] == [at(11, 3), at(12, 2)]
    assert not ways.reaches(at(0, 0))


def test_paths_end_at_traps_and_are_blocked_by_boulders_and_creatures() -> None:
    hall = level("-----", "..^..", "-----")
    assert ShortestPaths(hall, at(0, 1)).reaches(at(2, 1))
    assert not ShortestPaths(hall, at(0, 1)).reaches(at(3, 1))
    free = level(".....")
    assert ShortestPaths(free, at(0, 0)).cost[at(4, 0)] == 4
    blocked = ShortestPaths(free, at(0, 0), occupied=[at(2, 0)])
    assert blocked.reaches(at(2, 0))
    assert not blocked.reaches(at(3, 0))
    free.impossible_steps.add((at(0, 0), at(1, 0)))
    assert ShortestPaths(free, at(0, 0)).cost == {at(0, 0): 0}


def test_rooms_and_corridors_keep_their_names_while_they_are_discovered() -> None:
    known = level(*ROOMS)
    left, right, corridor = (known.place_at(at(*where)) for where in ((1, 1), (13, 2), (6, 2)))
    assert left is not None
    assert right is not None
    assert corridor is not None
    assert known.name_of(right) == "room 1 of level 1"
    assert known.name_of(left) == "room 2 of level 1"
    assert known.name_of(corridor) == "corridor 1 of level 1"
    assert known.place_at(at(3, 2)) is left
    for row in (1, 2, 3):
        known.learn(at(15, row), Ground.FLOOR)
    grown = known.place_at(at(15, 2))
    assert grown is not None
    assert known.name_of(grown) == "room 1 of level 1"
    assert known.place_at(at(0, 0)) is None
    assert known.joined == []


def test_places_that_turn_out_to_be_one_are_reported() -> None:
    cave = level("... ...")
    names = [cave.name_of(place) for place in cave.places()]
    assert sorted(names) == ["room 1 of level 1", "room 2 of level 1"]
    cave.learn(at(3, 0), Ground.FLOOR)
    assert [cave.name_of(place) for place in cave.places()] == ["room 1 of level 1"]
    assert cave.joined == [("room 2 of level 1", "room 1 of level 1")]


def test_doors_are_numbered_when_they_are_first_named() -> None:
    known = level(*ROOMS)
    assert known.door_name(at(11, 3)) == "doorway 1 of level 1"
    assert known.door_name(at(4, 2)) == "door 2 of level 1"
    known.learn(at(4, 2), Ground.DOORWAY)  # it was broken
    assert known.door_name(at(4, 2)) == "door 2 of level 1"
    assert find_door(known, "door 2") == find_door(known, "Door 2 of level 1") == at(4, 2)
    assert find_door(known, "door 2 of level 7") is None
    assert find_door(known, "room 2") is None


def test_squares_with_hidden_ground_belong_to_the_place_around_them() -> None:
    known = level("##%##", "     ", ".%.  ")
    corridor, room = known.place_at(at(2, 0)), known.place_at(at(1, 2))
    assert corridor is not None
    assert room is not None
    assert (corridor.kind, room.kind) == ("corridor", "room")


def test_the_frontier_borders_on_squares_never_seen_from_nearby() -> None:
    known = level("    ", " ## ", "    ")
    assert known.is_frontier(at(2, 1))
    known.visited.add(at(2, 1))
    assert not known.is_frontier(at(2, 1))
    walled = level("---", "|.|", "---")
    assert not walled.is_frontier(at(1, 1))


@pytest.mark.parametrize(
    ("target", "direction", "told"),
    [
        ((5, 4), "north", "1 north"),
        ((9, 5), "east", "4 east"),
        ((9, 6), "east", "4 east and 1 south"),
        ((8, 8), "southeast", "3 east and 3 south"),
        ((2, 5), "west", "3 west"),
        ((5, 5), "", ""),
    ],
)
def test_directions_and_offsets(target: tuple[int, int], direction: str, told: str) -> None:
    assert direction_of(at(5, 5), at(*target)) == direction
    assert offset(at(5, 5), at(*target)) == told


def test_a_wall_blocks_the_line_of_sight() -> None:
    known = level("...|..")

    def is_clear(square: int) -> bool:
        return known.is_walkable(square)

    assert in_sight(at(0, 0), at(2, 0), is_clear)
    assert not in_sight(at(0, 0), at(5, 0), is_clear)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a +1 long sword (weapon in hand)", "long sword"),
        ("an uncursed +3 small shield (being worn)", "small shield"),
        ("2 blessed scrolls labeled ZELGO MER", "scrolls labeled ZELGO MER"),
        ("4 potions of holy water", "potions of holy water"),
        ("a partly eaten food ration", "food ration"),
        ("a very rusty dagger named Sting", "dagger"),
    ],
)
def test_the_name_of_a_thing_is_without_its_state(text: str, name: str) -> None:
    assert plain_name(text) == name
    assert fits(name, text)


def test_things_are_found_by_letter_or_by_any_of_their_words() -> None:
    items = [
        InventoryItem("a", "a +1 long sword (weapon in hand)", 2),
        InventoryItem("d", "2 uncursed food rations", FOOD),
    ]
    assert find_item("d", items) == find_item("food ration", items) == find_item("ration", items) == items[1]
    assert find_item("sword", items) == items[0]
    assert find_item("axe", items) is None
    assert find_item("", items) is None
    assert items[1].verbs() == ("eat",)
    assert items[0].verbs() == ()


def test_words() -> None:
    assert [with_article(name) for name in ("jackal", "orc", "a dagger", "3 darts")] == [
        "a jackal", "an orc", "a dagger", "3 darts",
    ]  # fmt: skip
    assert read_direction("NE") == read_direction("north-east") == "northeast"
    assert read_direction("upwards") is None


def test_the_tombstone_is_read_without_its_date() -> None:
    screen = [
        "                  |      Agent       |",
        "                  |      482 Au      |",
        "                  |   killed by a    |",
        "                  |      kobold      |",
        "                  |       2026       |",
        "                 *|     *  *  *      | *",
        "        _________)/\\\\_//(\\/(/\\)/\\//\\/|_)_______",
        "Aloha Agent the Tourist...",
        "You died in The Dungeons of Doom on dungeon level 1 with 4 points,",
        "and 482 pieces of gold, after 1057 moves.",
        "--More--",
    ]
    assert _epitaph(screen) == [
        "Killed by a kobold.",
        "You died in The Dungeons of Doom on dungeon level 1 with 4 points, and 482 pieces of gold, after 1057 moves.",
    ]


def test_characters_are_named_in_full_or_by_three_letters() -> None:
    assert character_options("random")[-4:] == ["role:random", "race:random", "align:random", "gender:random"]
    assert character_options("@") == character_options("random")
    assert character_options("Valkyrie")[-4:] == ["role:valkyrie", "race:random", "align:random", "gender:random"]
    assert character_options("wiz-elf-cha-mal")[-4:] == ["role:wizard", "race:elf", "align:chaotic", "gender:male"]
    for nonsense in ("plumber", "val-wiz", "val--fem", "", "v"):
        with pytest.raises(InputError, match=r"role: archeologist"):
            character_options(nonsense)

"""What a player means by a name: a direction, a door, a room or corridor, a creature, a thing."""

from __future__ import annotations

import re
from typing import Final

from worldthread.envs.nethack.game import Game
from worldthread.envs.nethack.items import fits
from worldthread.envs.nethack.level import AROUND, DIRECTIONS, Level
from worldthread.envs.nethack.skills import beside
from worldthread.envs.nethack.terrain import Ground

_SHORT: Final = {
    "n": "north", "s": "south", "e": "east", "w": "west",
    "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
}  # fmt: skip
_NUMBERED: Final = re.compile(r"(?P<kind>room|corridor|door|doorway) (?P<number>\d+)(?: of (?P<level>.+))?", re.I)


def read_direction(text: str) -> str | None:
    """A compass direction in full, of its name or its letters; ``None`` when it is none."""
    word = text.strip().lower().replace("-", "")
    word = _SHORT.get(word, word)
    return word if word in DIRECTIONS else None


def find_door(level: Level, name: str) -> int | None:
    """The square of a door that was spoken of, by its name."""
    match = _NUMBERED.fullmatch(name.strip())
    if match is None or not match["kind"].lower().startswith("door") or not _is_on(level, match):
        return None
    return next((square for square, (number, _) in level.doors.items() if number == int(match["number"])), None)


def find_squares(game: Game, name: str) -> set[int]:
    """Where to walk when one wants to go to something: empty when nothing on this level is called so.

    For a creature or a closed door these are the squares beside it; for a room or corridor, all of its squares.
    """
    level = game.level
    match = _NUMBERED.fullmatch(name.strip())
    if match is not None:
        door = find_door(level, name)
        if door is not None:
            return beside([door], straight=True) if level.ground[door] == Ground.CLOSED_DOOR else {door}
        if not _is_on(level, match):
            return set()
        return {
            square
            for place in level.places()
            if place.kind == match["kind"].lower() and place.number == int(match["number"])
            for square in place.squares
            if level.is_walkable(square)
        }
    for sight in game.sights():
        if fits(name, sight.name):
            return {sight.square}
    for monster in game.monsters():
        if fits(name, monster.name):
            return set(AROUND[monster.square])
    return set()


def find_thing(game: Game, name: str) -> int | None:
    """The square of the nearest thing on the ground, not under the player, that is called so."""
    return next((one.square for one in game.sights() if one.ground is None and fits(name, one.name)), None)


def _is_on(level: Level, match: re.Match[str]) -> bool:
    return match["level"] is None or match["level"].lower() == level.name.lower()

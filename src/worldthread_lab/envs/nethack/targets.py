"""Resolution of the names in an action: directions, doors, rooms and corridors, creatures, things."""

from __future__ import annotations

import re
from typing import Final

from worldthread_lab.envs.nethack.game import Game
from worldthread_lab.envs.nethack.items import fits
from worldthread_lab.envs.nethack.level import AROUND, DIRECTIONS, Level
from worldthread_lab.envs.nethack.skills import beside
from worldthread_lab.envs.nethack.terrain import Ground

_SHORT: Final = {
    "n": "north", "s": "south", "e": "east", "w": "west",
    "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
}  # fmt: skip
_NUMBERED: Final = re.compile(r"(?P<kind>room|corridor|door|doorway) (?P<number>\d+)(?: of (?P<level>.+))?", re.I)


def read_direction(text: str) -> str | None:
    """Return the full name of a compass direction given as its name or letters; ``None`` for other texts."""
    word = text.strip().lower().replace("-", "")
    word = _SHORT.get(word, word)
    return word if word in DIRECTIONS else None


def find_door(level: Level, name: str) -> int | None:
    """Return the square of a door that an observation has named; ``None`` when there is none of this name."""
    match = _NUMBERED.fullmatch(name.strip())
    if match is None or not match["kind"].lower().startswith("door") or not _is_on(level, match):
        return None
    return next((square for square, (number, _) in level.doors.items() if number == int(match["number"])), None)


def find_squares(game: Game, name: str) -> set[int]:
    """Return the squares to walk to in order to reach something by its name.

    Args:
        game: the game.
        name: the name of a door, room, corridor, thing, kind of ground, or creature.

    Returns:
        The squares: for a creature or a closed door those beside it; for a room or corridor all that can be walked on;
        empty when nothing on this level has the name.
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
    for feature in game.features():
        if fits(name, feature.name):
            return {feature.square}
    for monster in game.monsters():
        if fits(name, monster.name):
            return set(AROUND[monster.square])
    return set()


def find_thing(game: Game, name: str) -> int | None:
    """Return the square of the nearest thing on the ground with this name, other than on the player's square."""
    return next(
        (feature.square for feature in game.features() if feature.ground is None and fits(name, feature.name)), None
    )


def _is_on(level: Level, match: re.Match[str]) -> bool:
    return match["level"] is None or match["level"].lower() == level.name.lower()

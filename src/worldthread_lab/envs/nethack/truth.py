"""What NetHack's map shows of the player's level, for audits and tests and never for an agent.

NetHack keeps on its map what was seen of a level, so the map is the truth as far as a player can know it: a thing that
was carried off out of sight is still on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from worldthread_lab.envs.nethack.game import Game
from worldthread_lab.envs.nethack.level import AROUND, LevelRegion, direction_of
from worldthread_lab.envs.nethack.skills import beside
from worldthread_lab.envs.nethack.terrain import DOORS, GlyphKind, Ground
from worldthread_lab.envs.nethack.view import View

_STAIRS = {Ground.UP: "up", Ground.DOWN: "down"}


@dataclass(frozen=True)
class TrueDoor:
    """A door that an observation has named.

    Args:
        name: its name, such as ``"door 3 of level 1"``.
        state: ``"open"`` or ``"closed"``; empty for a doorway without a door.
        sides: each direction in which it leads out of a named place, with that place.
        beyond: each direction of a step from its square into a named place, with that place.
    """

    name: str
    state: str
    sides: frozenset[tuple[str, str]]
    beyond: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class TrueLevel:
    """What the map shows of the player's level, by the names that observations use.

    Args:
        level: its name, such as ``"level 3"``.
        here: the player's square.
        place: the player's room or corridor; empty when it is unknown or has no name.
        places: the named rooms and corridors.
        carried: what the player carries, each as a line of the inventory.
        underfoot: what lies on the player's square; ``None`` when the player cannot look.
        things: by square, the uppermost thing on it.
        creatures: names of the creatures on the map, each with the named places of its square.
        places_of: by square, the named places to which it belongs: two for a door.
        doors: the doors.
        stairs: ``"up"`` or ``"down"``, each with the named places of its square.
        told_things: squares of the things that the present observation describes.
        told_creatures: the creatures that the present observation describes as in the player's place.
        told_doors: names of the doors that the present observation describes, with the state that it tells.
        told_stairs: the stairs that the present observation describes.
    """

    level: str
    here: int
    place: str
    places: frozenset[str]
    carried: tuple[str, ...]
    underfoot: tuple[str, ...] | None
    things: Mapping[int, str]
    creatures: tuple[tuple[str, frozenset[str]], ...]
    places_of: Mapping[int, frozenset[str]]
    doors: tuple[TrueDoor, ...]
    stairs: frozenset[tuple[str, str]]
    told_things: frozenset[int]
    told_creatures: tuple[str, ...]
    told_doors: frozenset[tuple[str, str]]
    told_stairs: frozenset[str]


def read_level(game: Game, view: View) -> TrueLevel | None:
    """Return what the map shows of the player's level.

    Args:
        game: the game.
        view: the part of the level that the present observation describes.

    Returns:
        The level; ``None`` when the map shows nothing: the game is over, or a creature has swallowed the player.
    """
    if game.is_over or game.swallowed:
        return None
    level = game.level
    named = [place for place in level.places() if place.number]
    names = {id(place): level.name_of(place) for place in named}

    def places_at(square: int) -> frozenset[str]:
        found = {names[id(place)] for place in named if square in place.squares}
        if level.ground[square] in DOORS:
            found |= {names[id(place)] for place in named if not place.squares.isdisjoint(AROUND[square])}
        return frozenset(found)

    place = view.place
    described = [place, *view.other_places()]
    features = [feature for one in described for feature in view.features_in(one)]
    stairs = {
        (direction, name)
        for ground, direction in _STAIRS.items()
        for square in level.ground_squares(ground)
        for name in places_at(square)
    }
    told_stairs = {_STAIRS[feature.ground] for feature in features if feature.ground in _STAIRS}
    if level.ground[game.here] in _STAIRS and game.here in level.ground_names:
        told_stairs.add(_STAIRS[Ground(level.ground[game.here])])
    things = {
        feature.square: feature.name
        for feature in game.features()
        if feature.ground is None and level.shows(feature.square) in (GlyphKind.THING, GlyphKind.BOULDER)
    }
    creatures = tuple((monster.name, places_at(monster.square)) for monster in view.monsters)
    return TrueLevel(
        level=level.name,
        here=game.here,
        place=names.get(id(place), ""),
        places=frozenset(names.values()),
        carried=tuple(item.text for item in game.items()),
        underfoot=game.things_here if "blind" not in game.stats.conditions else None,
        things=things,
        creatures=creatures,
        places_of={square: places_at(square) for square in {*things, game.here}},
        doors=tuple(_doors(game, [(names[id(one)], one) for one in named])),
        stairs=frozenset(stairs),
        told_things=frozenset(feature.square for feature in features if feature.square in things),
        told_creatures=tuple(monster.name for monster in view.monsters if place and view.is_inside(monster)),
        told_doors=frozenset((door.name, door.state) for one in described if one for door in view.doors_of(one)),
        told_stairs=frozenset(told_stairs),
    )


def _doors(game: Game, named: list[tuple[str, LevelRegion]]) -> Iterator[TrueDoor]:
    level = game.level
    for square, (_, noun) in level.doors.items():
        ground = level.ground[square]
        state = "closed" if ground == Ground.CLOSED_DOOR else "open"
        if ground == Ground.DOORWAY and noun == "doorway":
            state = ""
        sides = {
            (direction_of(inside, square), name)
            for name, place in named
            for inside in (beside([square], straight=True) & place.squares or beside([square]) & place.squares)
        }
        beyond = {
            (direction_of(square, n), name) for name, place in named for n in AROUND[square] if n in place.squares
        }
        yield TrueDoor(level.door_name(square), state, frozenset(sides), frozenset(beyond))

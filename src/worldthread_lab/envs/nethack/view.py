"""The part of the level that an observation describes: all that is known of it, or only the player's surroundings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from worldthread_lab.envs.nethack.game import Game, Monster, VisibleFeature
from worldthread_lab.envs.nethack.level import AROUND, LevelRegion, direction_of, in_sight
from worldthread_lab.envs.nethack.paths import ShortestPaths
from worldthread_lab.envs.nethack.skills import beside
from worldthread_lab.envs.nethack.terrain import DOORS, GlyphKind, Ground

Mode: TypeAlias = Literal["room", "level"]

NEARBY: Final = 10
"""Steps within which squares of the present room or corridor are described even when the player cannot see them."""

_CLEAR: Final = frozenset(set(Ground) - {Ground.UNKNOWN, Ground.WALL, Ground.CLOSED_DOOR, Ground.BARRIER})


@dataclass(frozen=True)
class Door:
    """A door as an observation describes it.

    Args:
        square: its square.
        name: such as ``"door 3 of level 1"``.
        state: ``"open"``, ``"closed"``, or empty for a doorway without a door.
        direction: the direction in which it leads out of the described place; empty when unknown.
        unexplored: whether the player has not looked through it yet.
    """

    square: int
    name: str
    state: str
    direction: str
    unexplored: bool


class View:
    """The player's surroundings, in one of two modes.

    Args:
        game: the game.
        mode: ``"room"``: what is in the present room or corridor and is in sight or nearby; ``"level"``: everything
            that the map shows. Both include all creatures on the map, since the map shows those that are in sight now.

    Attributes:
        paths: shortest paths from the player's square, ignoring creatures.
        place: the room or corridor in which the player is; ``None`` when it is unknown.
        monsters: the creatures, the nearest first.
        features: things and notable ground, the nearest first.
    """

    def __init__(self, game: Game, mode: Mode) -> None:
        self._game = game
        self._mode = mode
        # creatures are ignored because they move: one in a door does not make the room behind it unreachable
        self.paths = ShortestPaths(game.level, game.here)
        self.place = game.place()
        if self.place is not None:
            self.place.entered = True
        self.monsters = game.monsters()
        self.features = [feature for feature in game.features() if mode == "level" or self._is_around(feature.square)]

    def is_inside(self, monster: Monster) -> bool:
        """Whether a creature is in the present place, rather than only in sight from there."""
        return self._game.level.place_at(monster.square) is self.place

    def features_in(self, place: LevelRegion | None) -> list[VisibleFeature]:
        """Return the things and notable ground in a place. Doors of the present place count as part of it."""
        return [feature for feature in self.features if self._is_described_with(feature.square, place)]

    def doors_of(self, place: LevelRegion) -> list[Door]:
        """Return the doors of a place, the nearest first."""
        level = self._game.level
        squares = level.doors_of(place)
        if self._mode == "room":
            squares = [square for square in squares if square == self._game.here or self._is_near_or_seen(square)]
        # the nearest door is numbered first
        squares.sort(key=lambda square: (self.steps_to(square) is None, self.steps_to(square) or 0, square))
        return [self._door(square, place) for square in squares]

    def passages(self, place: LevelRegion) -> dict[str, int]:
        """Return the directions in which a place is unexplored, with the steps to there, the nearest first."""
        level, here = self._game.level, self._game.here
        found: dict[str, int] = {}
        for square in place.squares:
            steps = self.paths.cost.get(square)
            if steps is None or not level.is_walkable(square) or not level.is_frontier(square):
                continue
            if self._mode == "level" or self._is_near_or_seen(square):
                direction = direction_of(here, square)
                found[direction] = min(steps, found.get(direction, steps))
        return dict(sorted(found.items(), key=lambda entry: (entry[1], entry[0])))

    def steps_to(self, square: int) -> int | None:
        """Return the steps to a square, counted through a neighbour if it is closed; ``None`` if no path is known."""
        cost = self.paths.cost
        if square in cost:
            return cost[square]
        return min((cost[near] + 1 for near in beside([square], straight=True) if near in cost), default=None)

    def other_places(self) -> list[LevelRegion]:
        """Return the other rooms and corridors to describe, the nearest first."""
        if self._mode == "room":
            return []
        others = [place for place in self._game.level.places() if place is not self.place]
        cost = self.paths.cost
        return sorted(others, key=lambda place: (min(cost.get(s, 1 << 20) for s in place.squares), min(place.squares)))

    def _door(self, square: int, place: LevelRegion) -> Door:
        level = self._game.level
        ground = level.ground[square]
        name = level.door_name(square)
        state = "closed" if ground == Ground.CLOSED_DOOR else "open"
        if ground == Ground.DOORWAY and name.startswith("doorway"):
            state = ""
        inside = sorted(beside([square], straight=True) & place.squares) or sorted(beside([square]) & place.squares)
        direction = direction_of(inside[0], square) if inside else ""
        unexplored = square not in level.visited if state == "closed" else level.is_frontier(square)
        return Door(square, name, state, direction, unexplored)

    def _is_described_with(self, square: int, place: LevelRegion | None) -> bool:
        if self._is_at_door(square):
            return place is self.place
        return self._game.level.place_at(square) is place

    def _is_at_door(self, square: int) -> bool:
        if self.place is None or self._game.level.ground[square] not in DOORS:
            return False
        return not self.place.squares.isdisjoint(AROUND[square])

    def _is_around(self, square: int) -> bool:
        is_here = self._is_at_door(square) or self._game.level.place_at(square) is self.place
        return is_here and self._is_near_or_seen(square)

    def _is_near_or_seen(self, square: int) -> bool:
        is_near = self.paths.cost.get(square, NEARBY + 1) <= NEARBY
        return is_near or in_sight(self._game.here, square, self._is_clear)

    def _is_clear(self, square: int) -> bool:
        level = self._game.level
        return level.ground[square] in _CLEAR and level.shows(square) != GlyphKind.BOULDER

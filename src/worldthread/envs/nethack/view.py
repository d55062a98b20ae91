"""What is told of the level: all that is remembered of it, or only what is around the player."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from worldthread.envs.nethack.game import Game, Monster, VisibleFeature
from worldthread.envs.nethack.level import AROUND, LevelRegion, direction_of, in_sight
from worldthread.envs.nethack.paths import ShortestPaths
from worldthread.envs.nethack.skills import beside
from worldthread.envs.nethack.terrain import DOORS, GlyphKind, Ground

Mode: TypeAlias = Literal["room", "level"]

NEARBY: Final = 10
"""Steps within which the player knows the present room or corridor also where it cannot be overlooked."""

_CLEAR: Final = frozenset(set(Ground) - {Ground.UNKNOWN, Ground.WALL, Ground.CLOSED_DOOR, Ground.BARRIER})


@dataclass(frozen=True)
class Door:
    """A door as it is told.

    Args:
        square: where.
        name: such as ``"door 3 of level 1"``.
        state: ``"open"``, ``"closed"``, or empty for a doorway without a door.
        direction: where it leads, seen from the place that is described; empty when that is not known.
        unexplored: nobody looked through it yet.
    """

    square: int
    name: str
    state: str
    direction: str
    unexplored: bool


class View:
    """What the player's surroundings are, in one of two modes.

    Args:
        game: the game.
        mode: ``"room"``: what is in the present room or corridor and can be seen from here or is nearby;
            ``"level"``: everything that the map shows. Creatures are told in both, since the map shows those that are
            in sight now.
    """

    def __init__(self, game: Game, mode: Mode) -> None:
        self._game = game
        self._mode = mode
        # creatures come and go: what stands in a door does not make the room behind it unreachable
        self.ways = ShortestPaths(game.level, game.here)
        self.place = game.place()
        if self.place is not None:
            self.place.entered = True
        self.monsters = game.monsters()
        self.sights = [one for one in game.sights() if mode == "level" or self._is_around(one.square)]

    def is_inside(self, monster: Monster) -> bool:
        """Whether a creature is in the present place, and not only in sight from there."""
        return self._game.level.place_at(monster.square) is self.place

    def sights_in(self, place: LevelRegion | None) -> list[VisibleFeature]:
        """Things and ground worth a word in a place. What lies in a door of the present one counts as being in it."""
        return [one for one in self.sights if self._is_told_with(one.square, place)]

    def doors_of(self, place: LevelRegion) -> list[Door]:
        """Doors of a place, the nearest first."""
        level = self._game.level
        squares = level.doors_of(place)
        if self._mode == "room":
            squares = [one for one in squares if one == self._game.here or self._is_near_or_seen(one)]
        # the nearest gets its number first
        squares.sort(key=lambda one: (self.steps_to(one) is None, self.steps_to(one) or 0, one))
        return [self._door(square, place) for square in squares]

    def passages(self, place: LevelRegion) -> dict[str, int]:
        """Directions in which a place goes on unexplored, with the steps to there."""
        level, here = self._game.level, self._game.here
        found: dict[str, int] = {}
        for square in place.squares:
            steps = self.ways.cost.get(square)
            if steps is None or not level.is_walkable(square) or not level.is_frontier(square):
                continue
            if self._mode == "level" or self._is_near_or_seen(square):
                direction = direction_of(here, square)
                found[direction] = min(steps, found.get(direction, steps))
        return dict(sorted(found.items(), key=lambda one: (one[1], one[0])))

    def steps_to(self, square: int) -> int | None:
        """Steps to a square, or beside it when it is closed; ``None`` when no way is known."""
        if square in self.ways.cost:
            return self.ways.cost[square]
        costs = [self.ways.cost[one] + 1 for one in beside([square], straight=True) if one in self.ways.cost]
        return min(costs, default=None)

    def other_places(self) -> list[LevelRegion]:
        """The other rooms and corridors that are told of, the nearest first."""
        if self._mode == "room":
            return []
        others = [one for one in self._game.level.places() if one is not self.place]
        cost = self.ways.cost
        return sorted(others, key=lambda one: (min(cost.get(s, 1 << 20) for s in one.squares), min(one.squares)))

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

    def _is_told_with(self, square: int, place: LevelRegion | None) -> bool:
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
        return self.ways.cost.get(square, NEARBY + 1) <= NEARBY or self._is_overlooked(square)

    def _is_overlooked(self, square: int) -> bool:
        return in_sight(self._game.here, square, self._is_clear)

    def _is_clear(self, square: int) -> bool:
        level = self._game.level
        return level.ground[square] in _CLEAR and level.shows(square) != GlyphKind.BOULDER

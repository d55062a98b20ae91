"""What is known of one level: its ground, where the player has been and searched, and its rooms, corridors and doors.

A square is a number: row times :data:`COLUMNS` plus column. Rooms and corridors are numbered when an observation first
names them, and keep their names while the player discovers more of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread_lab.envs.nethack.engine import COLUMNS, ROWS, NetHackEngine
from worldthread_lab.envs.nethack.terrain import DOORS, WALKABLE, GlyphKind, Ground, glyph_tables

SQUARES: Final = ROWS * COLUMNS

DIRECTIONS: Final = {
    "north": (-1, 0, "k"), "south": (1, 0, "j"), "east": (0, 1, "l"), "west": (0, -1, "h"),
    "northeast": (-1, 1, "u"), "northwest": (-1, -1, "y"), "southeast": (1, 1, "n"), "southwest": (1, -1, "b"),
}  # fmt: skip
"""For each direction the rows and columns to add, and NetHack's key."""

_ROOM: Final = frozenset({Ground.FLOOR, Ground.UP, Ground.DOWN, Ground.FEATURE})
_EITHER: Final = frozenset({Ground.COVERED, Ground.TRAP, Ground.HOLE})


def _neighbours(square: int) -> dict[str, int]:
    row, column = divmod(square, COLUMNS)
    return {
        name: (row + rows) * COLUMNS + column + columns
        for name, (rows, columns, _) in DIRECTIONS.items()
        if 0 <= row + rows < ROWS and 0 <= column + columns < COLUMNS
    }


NEIGHBOURS: Final = tuple(_neighbours(square) for square in range(SQUARES))
"""Neighbours of each square, by direction."""

AROUND: Final = tuple(tuple(near.values()) for near in NEIGHBOURS)
"""Neighbours of each square, in the order of :data:`DIRECTIONS`: the straight ones first."""


@dataclass(eq=False)
class LevelRegion:
    """A room or a corridor.

    Args:
        kind: ``"room"`` or ``"corridor"``.
        squares: its squares, as far as they were seen.
        number: counted from 1 for each kind on a level; 0 until an observation names the place.
        entered: whether an observation has described the place with the player in it.
    """

    kind: str
    squares: set[int]
    number: int = 0
    entered: bool = False


@dataclass
class Level:
    """The memory of one level.

    Args:
        name: such as ``"level 3"``.
        ground: :class:`Ground` of each square.
        visited: squares on which the player stood.
        near: squares next to those.
        impossible_steps: steps, as a square and the next, that turned out to be impossible.
        failed_steps: how often a step, as a square and the next, failed.
        searched: how often the player searched beside a square.
        pushed: how often a path through boulders to a square was tried.
        forced: how often each door was tried.
        leave_shut: whether the level has a door that must not be forced.
        met: hostile creatures that ended a skill by coming into view, as square and name.
        passed: hostile creatures that ended a skill by coming next to the player, as square and name.
        doors: the number and the noun ("door" or "doorway") of each door that an observation has named.
        ground_names: the names of notable ground, by square.
        joined: names of places that turned out to be part of others, with the names of those; the next observation
            reports and clears them.
    """

    name: str
    ground: bytearray = field(default_factory=lambda: bytearray(SQUARES))
    visited: set[int] = field(default_factory=set)
    near: set[int] = field(default_factory=set)
    impossible_steps: set[tuple[int, int]] = field(default_factory=set)
    failed_steps: Counter[tuple[int, int]] = field(default_factory=Counter)
    searched: Counter[int] = field(default_factory=Counter)
    pushed: Counter[int] = field(default_factory=Counter)
    forced: Counter[int] = field(default_factory=Counter)
    leave_shut: bool = False
    met: set[tuple[int, str]] = field(default_factory=set)
    passed: set[tuple[int, str]] = field(default_factory=set)
    doors: dict[int, tuple[int, str]] = field(default_factory=dict)
    ground_names: dict[int, str] = field(default_factory=dict)
    joined: list[tuple[str, str]] = field(default_factory=list)
    _sorts: NDArray[np.int8] = field(default_factory=lambda: np.zeros(SQUARES, np.int8))
    _places: list[LevelRegion] = field(default_factory=list)
    _place_of: dict[int, LevelRegion] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _stale: bool = True

    def look(self, engine: NetHackEngine, here: int) -> bool:
        """Update the level from the screen; return ``False``, without an update, when the player is swallowed."""
        tables = glyph_tables()
        glyphs = engine.glyphs.ravel()
        sorts = tables.sort[glyphs]
        if np.any(sorts == GlyphKind.SWALLOWED):
            return False
        self._sorts = sorts
        before = bytes(self.ground)
        known = np.frombuffer(self.ground, np.int8)
        shown = tables.ground[glyphs]
        # a thing on a square hides its ground, which may have been seen before
        covered = shown == Ground.COVERED
        shows_ground = (shown > Ground.UNKNOWN) & (~covered | (known == Ground.UNKNOWN))
        known[shows_ground] = shown[shows_ground]
        # nothing can lie in a closed door, so the door has been opened or broken
        known[covered & (known == Ground.CLOSED_DOOR)] = Ground.DOORWAY
        if here not in self.visited:
            self.visited.add(here)
            self.near.update(AROUND[here])
        if before != bytes(self.ground):
            self._stale = True
        return True

    def learn(self, square: int, ground: Ground) -> None:
        """Set the ground of a square that became known by other means than sight."""
        if self.ground[square] != ground:
            self.ground[square] = ground
            self._stale = True

    def squares_of(self, *sorts: GlyphKind) -> list[int]:
        """Return the squares that show one of these kinds of glyph now."""
        return _squares_where(self._sorts, sorts)

    def shows(self, square: int) -> GlyphKind:
        """Return the kind of glyph that a square shows now."""
        return GlyphKind(int(self._sorts[square]))

    def ground_squares(self, *kinds: Ground) -> list[int]:
        """Return the squares whose ground is known to be one of these."""
        return _squares_where(np.frombuffer(self.ground, np.int8), kinds)

    def is_walkable(self, square: int) -> bool:
        """Whether the ground can be walked on without harm."""
        return self.ground[square] in WALKABLE

    def is_frontier(self, square: int) -> bool:
        """Whether the player would see unknown squares from this square that were never next to the player."""
        if square in self.visited:
            return False
        around = tuple(_straight(square)) if self.ground[square] in DOORS else AROUND[square]
        return any(self.ground[neighbour] == Ground.UNKNOWN and neighbour not in self.near for neighbour in around)

    # -- rooms and corridors ----------------------------------------------------------------------------------------

    def place_at(self, square: int) -> LevelRegion | None:
        """Return the room or corridor of a square. A door belongs to the room beside it, else to the corridor."""
        self._divide()
        place = self._place_of.get(square)
        if place is None and self.ground[square] in DOORS:
            beside = [found for neighbour in AROUND[square] if (found := self._place_of.get(neighbour)) is not None]
            place = min(beside, key=lambda found: (found.kind == "corridor", found.number or SQUARES), default=None)
        return place

    def places(self) -> list[LevelRegion]:
        """Return all rooms and corridors."""
        self._divide()
        return list(self._places)

    def name_of(self, place: LevelRegion) -> str:
        """Return the permanent name of a place, such as ``"room 2 of level 1"``."""
        if not place.number:
            place.number = self._counts[place.kind] = self._counts.get(place.kind, 0) + 1
        return f"{place.kind} {place.number} of {self.name}"

    def door_name(self, square: int) -> str:
        """Return the permanent name of a door, such as ``"door 3 of level 1"``."""
        if square not in self.doors:
            noun = "doorway" if self.ground[square] == Ground.DOORWAY else "door"
            self.doors[square] = (len(self.doors) + 1, noun)
        number, noun = self.doors[square]
        return f"{noun} {number} of {self.name}"

    def doors_of(self, place: LevelRegion) -> list[int]:
        """Return the doors beside a place, sorted."""
        beside = {
            neighbour
            for square in place.squares
            for neighbour in (AROUND[square] if place.kind == "corridor" else tuple(_straight(square)))
            if self.ground[neighbour] in DOORS
        }
        return sorted(beside)

    def _divide(self) -> None:
        """Recompute the places if the ground has changed; numbered places keep their numbers."""
        if not self._stale:
            return
        self._stale = False
        kinds = dict.fromkeys(self.ground_squares(*_ROOM), "room")
        kinds.update(dict.fromkeys(self.ground_squares(Ground.CORRIDOR), "corridor"))
        kinds.update({square: self._kind_around(square) for square in self.ground_squares(*_EITHER)})
        former = self._places
        self._places, self._place_of = [], {}
        for squares, kind in _components(kinds):
            held = [region for region in former if region.kind == kind and not region.squares.isdisjoint(squares)]
            held.sort(key=lambda region: (region.number == 0, region.number))
            place = held.pop(0) if held else LevelRegion(kind, squares)
            former = [region for region in former if region is not place and region not in held]
            for other in held:
                place.entered |= other.entered
                if other.number:
                    self.joined.append((self.name_of(other), self.name_of(place)))
            place.squares = squares
            self._places.append(place)
            self._place_of.update(dict.fromkeys(squares, place))

    def _kind_around(self, square: int) -> str:
        """Return the kind of place that a square with hidden ground belongs to."""
        around = [self.ground[neighbour] for neighbour in AROUND[square]]
        return "corridor" if Ground.CORRIDOR in around and not _ROOM.intersection(around) else "room"


def _squares_where(values: NDArray[np.int8], wanted: Sequence[int]) -> list[int]:
    hits: list[int] = np.flatnonzero(np.isin(values, wanted)).tolist()
    return hits


def _straight(square: int) -> Iterator[int]:
    for name in ("north", "south", "east", "west"):
        if name in NEIGHBOURS[square]:
            yield NEIGHBOURS[square][name]


def _components(kinds: dict[int, str]) -> Iterable[tuple[set[int], str]]:
    """Yield the sets of squares of one kind that touch each other, with their kinds."""
    left = dict(kinds)
    while left:
        first, kind = left.popitem()
        squares, open_ends = {first}, [first]
        while open_ends:
            for neighbour in AROUND[open_ends.pop()]:
                if left.get(neighbour) == kind:
                    del left[neighbour]
                    squares.add(neighbour)
                    open_ends.append(neighbour)
        yield squares, kind


def direction_of(origin: int, target: int) -> str:
    """Return the nearest compass direction; an empty string for the same square."""
    row, column = divmod(origin, COLUMNS)
    down, right = target // COLUMNS - row, target % COLUMNS - column
    vertical = "" if 2 * abs(down) < abs(right) else ("south" if down > 0 else "north" if down < 0 else "")
    horizontal = "" if 2 * abs(right) < abs(down) else ("east" if right > 0 else "west" if right < 0 else "")
    return vertical + horizontal


def distance(first: int, second: int) -> int:
    """Return the number of steps between two squares on open ground."""
    return max(abs(first // COLUMNS - second // COLUMNS), abs(first % COLUMNS - second % COLUMNS))


def in_sight(origin: int, target: int, is_clear: Callable[[int], bool]) -> bool:
    """Whether all squares on the straight line between two squares are clear, without the two."""
    row, column = divmod(origin, COLUMNS)
    down, right = target // COLUMNS - row, target % COLUMNS - column
    steps = max(abs(down), abs(right))
    return all(
        is_clear((row + round(down * step / steps)) * COLUMNS + column + round(right * step / steps))
        for step in range(1, steps)
    )

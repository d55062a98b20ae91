"""Where to draw the rooms of a map: every room gets a cell of its own on a grid, one grid for each storey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from worldthread.agents.worldmap import Exit, WorldMap
from worldthread.extract.game import vocabulary as v
from worldthread.graph import GraphView

Cell: TypeAlias = tuple[int, int, int]
"""Column (growing eastwards), row (growing southwards) and storey (growing upwards)."""


@dataclass(frozen=True)
class Link:
    """A way between two rooms, drawn once for both directions.

    Args:
        start: normalised name of a room.
        end: normalised name of the other.
        direction: the way from ``start``.
        is_presumed: nobody went there: two loose ends that meet were taken for one way.
    """

    start: str
    end: str
    direction: str
    is_presumed: bool = False


@dataclass(frozen=True)
class MapLayout:
    """A map, ready to be drawn.

    Args:
        here: normalised name of the player's room, if it is known.
        cells: of every room; no two rooms share one. The smallest column and row are 0.
        links: ways between rooms.
        loose: ways that were seen and not taken, and lead to no known room.
        names: of rooms, as the game writes them.
    """

    here: str | None
    cells: dict[str, Cell]
    links: tuple[Link, ...]
    loose: tuple[Exit, ...]
    names: dict[str, str]

    @property
    def columns(self) -> int:
        """Width of the grid in cells."""
        return max((cell[0] for cell in self.cells.values()), default=-1) + 1

    @property
    def rows(self) -> int:
        """Height of the grid in cells."""
        return max((cell[1] for cell in self.cells.values()), default=-1) + 1


def lay_out(world: WorldMap, names: dict[str, str] | None = None) -> MapLayout:
    """Give every room of ``world`` a cell.

    A room stands where dead reckoning puts it. When that cell is taken (the ways contradict each other), or dead
    reckoning does not reach the room, it stands in the nearest free cell, beside a room that it is linked to if there
    is one.

    Args:
        world: the map.
        names: of rooms as the game writes them, by normalised name; normalised names are shown for the others.
    """
    at = {room: (x, -y, z) for room, (x, y, z) in world.positions.items()}
    cells: dict[str, Cell] = {}
    taken: set[Cell] = set()
    reckoned = sorted(at, key=lambda room: (room != world.here, at[room], room))
    for room in (*reckoned, *sorted(world.rooms - at.keys())):
        cell = _free(at[room] if room in at else _beside(room, world, cells), taken)
        cells[room] = cell
        taken.add(cell)
    left = min((cell[0] for cell in cells.values()), default=0)
    top = min((cell[1] for cell in cells.values()), default=0)
    shifted = {room: (column - left, row - top, storey) for room, (column, row, storey) in cells.items()}
    written = {room: (names or {}).get(room, room) for room in shifted}
    loose = tuple(exit_ for exit_ in world.unexplored if exit_.presumed is None and exit_.room in shifted)
    return MapLayout(world.here, shifted, tuple(_links(world)), loose, written)


def _links(world: WorldMap) -> list[Link]:
    found: dict[frozenset[str], Link] = {}
    for room, ways in sorted(world.exits.items()):
        for direction, there in sorted(ways.items()):
            found.setdefault(frozenset((room, there)), Link(room, there, direction))
    for exit_ in world.unexplored:
        if exit_.presumed is not None:
            link = Link(exit_.room, exit_.presumed, exit_.direction, is_presumed=True)
            found.setdefault(frozenset((exit_.room, exit_.presumed)), link)
    return list(found.values())


def _beside(room: str, world: WorldMap, cells: dict[str, Cell]) -> Cell:
    """The cell of a room that is linked to ``room`` and has one; else the corner of the map."""
    for other, ways in sorted(world.exits.items()):
        if other in cells and room in ways.values():
            return cells[other]
    for other in world.exits.get(room, {}).values():
        if other in cells:
            return cells[other]
    return 0, 0, 0


def _free(wanted: Cell, taken: set[Cell]) -> Cell:
    """``wanted`` or the free cell of the same storey nearest to it."""
    column, row, storey = wanted
    radius = 0
    while True:
        ring = [
            (column + x, row + y, storey)
            for y in range(-radius, radius + 1)
            for x in range(-radius, radius + 1)
            if max(abs(x), abs(y)) == radius
        ]
        free = [cell for cell in ring if cell not in taken]
        if free:
            return min(free, key=lambda cell: ((cell[0] - column) ** 2 + (cell[1] - row) ** 2, cell))
        radius += 1


def room_names(view: GraphView) -> dict[str, str]:
    """Rooms as the game writes them, by normalised name."""
    facts = view.facts(relation=v.IS_A, object="room")
    return {fact.key[0]: fact.subject for fact in facts}

"""The layout of a map: each room gets its own cell of a grid, and each storey its own grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from worldthread.graph import GraphView
from worldthread_lab.agents.worldmap import Exit, WorldMap
from worldthread_lab.game import vocabulary as v

Cell: TypeAlias = tuple[int, int, int]
"""Column (increasing eastwards), row (increasing southwards) and storey (increasing upwards)."""


@dataclass(frozen=True)
class Link:
    """A connection between two rooms, drawn once for both directions.

    Args:
        start: the normalised name of one room.
        end: the normalised name of the other room.
        direction: the direction from ``start`` to ``end``.
        is_presumed: whether the connection is a guess: the player never took it, and two unexplored exits seem to meet.
    """

    start: str
    end: str
    direction: str
    is_presumed: bool = False


@dataclass(frozen=True)
class MapLayout:
    """A map that is ready to be drawn.

    Args:
        here: the normalised name of the player's room; ``None`` when it is unknown.
        cells: the cell of each room; no two rooms share a cell. The smallest column and the smallest row are 0.
        links: the connections between rooms.
        loose: the unexplored exits that do not lead to a known room.
        names: the names of the rooms as the game writes them.
    """

    here: str | None
    cells: dict[str, Cell]
    links: tuple[Link, ...]
    loose: tuple[Exit, ...]
    names: dict[str, str]

    @property
    def columns(self) -> int:
        """The width of the grid in cells."""
        return max((cell[0] for cell in self.cells.values()), default=-1) + 1

    @property
    def rows(self) -> int:
        """The height of the grid in cells."""
        return max((cell[1] for cell in self.cells.values()), default=-1) + 1


def lay_out(world: WorldMap, names: dict[str, str] | None = None) -> MapLayout:
    """Assign a cell to every room of a map.

    A room gets the cell that dead reckoning yields. When that cell is taken (the directions contradict each other), or
    dead reckoning does not reach the room, it gets the nearest free cell, if possible next to a room that it is
    connected to.

    Args:
        world: the map.
        names: the names of rooms as the game writes them, by normalised name; other rooms get their normalised name.

    Returns:
        The layout.
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
    """Return each connection once, the presumed ones last."""
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
    """Return the cell of a room that is connected to ``room``; the corner of the map when none has a cell."""
    for other, ways in sorted(world.exits.items()):
        if other in cells and room in ways.values():
            return cells[other]
    for other in world.exits.get(room, {}).values():
        if other in cells:
            return cells[other]
    return 0, 0, 0


def _free(wanted: Cell, taken: set[Cell]) -> Cell:
    """Return ``wanted``, or the nearest free cell of the same storey."""
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
    """Return the names of rooms as the game writes them, by normalised name."""
    facts = view.facts(relation=v.IS_A, object="room")
    return {fact.key[0]: fact.subject for fact in facts}

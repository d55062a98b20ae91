"""Maps of generated houses: rooms on a grid, connected to their neighbours, with a few loops."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

Cell = tuple[int, int]
"""Column and row; east is +1 in the column, north is +1 in the row."""

STEPS: dict[str, Cell] = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}


@dataclass(frozen=True)
class HouseMap:
    """The map of a house. Rooms are numbered from 0, where the player starts.

    Args:
        exits: for each room, the room that each direction leads to. Every exit has one that leads back.
    """

    exits: tuple[dict[str, int], ...]

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """Return a shortest path as directions, the same in every process; empty when ``start`` is ``end``."""
        came_from: dict[int, tuple[int, str]] = {}
        queue = deque([start])
        while queue and end not in came_from and start != end:
            room = queue.popleft()
            for direction, neighbour in self.exits[room].items():
                if neighbour not in came_from and neighbour != start:
                    came_from[neighbour] = (room, direction)
                    queue.append(neighbour)
        path: list[str] = []
        room = end
        while room != start:
            room, direction = came_from[room]
            path.append(direction)
        return tuple(reversed(path))

    def distances(self, start: int) -> tuple[int, ...]:
        """Return the number of moves from ``start`` to each room, indexed by room."""
        found = {start: 0}
        queue = deque([start])
        while queue:
            room = queue.popleft()
            for neighbour in self.exits[room].values():
                if neighbour not in found:
                    found[neighbour] = found[room] + 1
                    queue.append(neighbour)
        return tuple(found[room] for room in range(len(self.exits)))


def grow_house(rooms: int, *, loops: int, rng: random.Random) -> HouseMap:
    """Draw a random connected house.

    Rooms are added one by one next to a room with a free side, most often next to a recent one, which makes corridors;
    then some walls between neighbours are opened.

    Args:
        rooms: number of rooms.
        loops: number of walls to open; fewer when there are not so many.
        rng: source of randomness.

    Returns:
        The map.
    """
    cells: list[Cell] = [(0, 0)]
    number: dict[Cell, int] = {(0, 0): 0}
    exits: list[dict[str, int]] = [{}]
    while len(cells) < rooms:
        recent = cells[-3:] if rng.random() < 0.6 else cells
        old = rng.choice(recent)
        free = [direction for direction in STEPS if _beside(old, direction) not in number]
        if not free:
            continue
        direction = rng.choice(free)
        new = _beside(old, direction)
        number[new] = len(cells)
        cells.append(new)
        exits.append({})
        _join(exits, number[old], direction, number[new])
    walls = [
        (number[cell], direction, number[_beside(cell, direction)])
        for cell in cells
        for direction in ("north", "east")
        if _beside(cell, direction) in number and direction not in exits[number[cell]]
    ]
    for here, direction, there in rng.sample(walls, min(loops, len(walls))):
        _join(exits, here, direction, there)
    return HouseMap(tuple({direction: room[direction] for direction in STEPS if direction in room} for room in exits))


def opposite(direction: str) -> str:
    """Return the opposite compass direction."""
    return {"north": "south", "south": "north", "east": "west", "west": "east"}[direction]


def _beside(cell: Cell, direction: str) -> Cell:
    step = STEPS[direction]
    return cell[0] + step[0], cell[1] + step[1]


def _join(exits: list[dict[str, int]], here: int, direction: str, there: int) -> None:
    exits[here][direction] = there
    exits[there][opposite(direction)] = here

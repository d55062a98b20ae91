"""Shortest paths over the squares of a level that are known to be walkable."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import Final

import numpy as np

from worldthread_lab.envs.nethack.engine import COLUMNS
from worldthread_lab.envs.nethack.level import AROUND, Level
from worldthread_lab.envs.nethack.terrain import WALKABLE, GlyphKind, Ground

_TRAP: Final = 40
_BOULDER: Final = 12
_NEVER: Final = 1 << 30


class ShortestPaths:
    """All shortest paths from one square, found with Dijkstra's algorithm.

    A step costs 1. A path enters a trap only as its target, leads through boulders only with ``push``, and never enters
    or leaves a door diagonally.

    Args:
        level: the level as far as it is known.
        origin: the square where the paths begin.
        occupied: squares that block paths, such as those of monsters. They can still be targets.
        push: whether paths may lead through boulders.

    Attributes:
        cost: cost of every square that can be reached.
    """

    def __init__(self, level: Level, origin: int, *, occupied: Collection[int] = (), push: bool = False) -> None:
        self.origin = origin
        self.cost: dict[int, int] = {origin: 0}
        self._before: dict[int, int] = {}
        self._search(level, set(occupied), push)

    def reaches(self, square: int) -> bool:
        return square in self.cost

    def steps_to(self, square: int) -> list[int]:
        """Return the squares to step on, up to the target; empty when it is the origin or cannot be reached."""
        steps: list[int] = []
        while square != self.origin and square in self._before:
            steps.append(square)
            square = self._before[square]
        return steps[::-1]

    def nearest(self, squares: Iterable[int]) -> int | None:
        """Return the square that costs least to reach, the first in reading order among equals; ``None`` if none."""
        reachable = (square for square in squares if square in self.cost)
        return min(reachable, key=lambda square: (self.cost[square], square), default=None)

    def _search(self, level: Level, occupied: set[int], push: bool) -> None:
        costs = _STEP_COSTS[np.frombuffer(level.ground, np.int8)]
        boulders = level.squares_of(GlyphKind.BOULDER)
        costs[boulders] = _BOULDER if push else _NEVER
        # a target may be a trap, or be occupied, but no path leads on from there
        ends = occupied.union(level.ground_squares(Ground.TRAP, Ground.HOLE)) - {self.origin}
        doors = set(level.ground_squares(Ground.OPEN_DOOR))
        step_costs: list[int] = costs.tolist()
        impossible, cost_of, before = level.impossible_steps, self.cost, self._before
        queue = [(0, self.origin)]
        while queue:
            cost, square = heapq.heappop(queue)
            if cost > cost_of[square] or square in ends:
                continue
            for neighbour in AROUND[square]:
                after = cost + step_costs[neighbour]
                if after >= cost_of.get(neighbour, _NEVER) or (square, neighbour) in impossible:
                    continue
                if (square in doors or neighbour in doors) and abs(neighbour - square) not in (1, COLUMNS):
                    continue
                cost_of[neighbour] = after
                before[neighbour] = square
                heapq.heappush(queue, (after, neighbour))


_STEP_COSTS: Final = np.full(len(Ground), _NEVER)
_STEP_COSTS[list(WALKABLE)] = 1
_STEP_COSTS[[Ground.TRAP, Ground.HOLE]] = _TRAP

"""Shortest ways over the squares of a level that are known to be walkable."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import Final

import numpy as np

from worldthread.envs.nethack.engine import COLUMNS
from worldthread.envs.nethack.level import AROUND, Level
from worldthread.envs.nethack.terrain import WALKABLE, GlyphKind, Ground

_TRAP: Final = 40
_BOULDER: Final = 12
_NEVER: Final = 1 << 30


class ShortestPaths:
    """All shortest ways from one square.

    A step costs 1. Traps are walked into only when they are the target, and boulders are pushed only when that is
    allowed. One cannot step diagonally into or out of a door.

    Args:
        level: the level as it is known.
        origin: where the ways begin.
        occupied: squares that are in the way, such as those of monsters. They can still be targets.
        push: whether ways may lead through boulders.
    """

    def __init__(self, level: Level, origin: int, *, occupied: Collection[int] = (), push: bool = False) -> None:
        self.origin = origin
        self.cost: dict[int, int] = {origin: 0}
        self._before: dict[int, int] = {}
        self._search(level, set(occupied), push)

    def reaches(self, square: int) -> bool:
        return square in self.cost

    def steps_to(self, square: int) -> list[int]:
        """The squares to step on, up to the target; empty when it is the origin or cannot be reached."""
        steps: list[int] = []
        while square != self.origin and square in self._before:
            steps.append(square)
            square = self._before[square]
        return steps[::-1]

    def nearest(self, squares: Iterable[int]) -> int | None:
        """The one of these squares that costs least to reach; the first in reading order among equals."""
        return min((one for one in squares if one in self.cost), key=lambda one: (self.cost[one], one), default=None)

    def _search(self, level: Level, occupied: set[int], push: bool) -> None:
        costs = _STEP_COSTS[np.frombuffer(level.ground, np.int8)]
        boulders = level.squares_of(GlyphKind.BOULDER)
        costs[boulders] = _BOULDER if push else _NEVER
        # a target may be a trap, or be occupied, but no way leads on from there
        ends = occupied.union(level.ground_squares(Ground.TRAP, Ground.HOLE)) - {self.origin}
        doors = set(level.ground_squares(Ground.OPEN_DOOR))
        step_costs: list[int] = costs.tolist()
        shut, cost_of, before = level.shut, self.cost, self._before
        queue = [(0, self.origin)]
        while queue:
            cost, square = heapq.heappop(queue)
            if cost > cost_of[square] or square in ends:
                continue
            for one in AROUND[square]:
                after = cost + step_costs[one]
                if after >= cost_of.get(one, _NEVER) or (square, one) in shut:
                    continue
                if (square in doors or one in doors) and abs(one - square) not in (1, COLUMNS):
                    continue
                cost_of[one] = after
                before[one] = square
                heapq.heappush(queue, (after, one))


_STEP_COSTS: Final = np.full(len(Ground), _NEVER)
_STEP_COSTS[list(WALKABLE)] = 1
_STEP_COSTS[[Ground.TRAP, Ground.HOLE]] = _TRAP

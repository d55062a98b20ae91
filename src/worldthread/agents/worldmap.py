"""The map that a memory holds: rooms, ways, doors, and how to get from one place to another."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

from worldthread.extract.game import vocabulary as v
from worldthread.graph import GraphView
from worldthread.names import normalise_name

_OFFSETS = {
    "north": (0, 1, 0), "south": (0, -1, 0), "east": (1, 0, 0), "west": (-1, 0, 0), "up": (0, 0, 1), "down": (0, 0, -1),
    "northeast": (1, 1, 0), "northwest": (-1, 1, 0), "southeast": (1, -1, 0), "southwest": (-1, -1, 0),
}  # fmt: skip


@dataclass(frozen=True)
class Exit:
    """A way out of a room that was seen and not yet taken.

    Args:
        room: normalised name.
        direction: where it leads.
        door: normalised name of the door in the way, if any.
        presumed: the known room that it should lead to by dead reckoning, if any.
    """

    room: str
    direction: str
    door: str | None = None
    presumed: str | None = None


class WorldMap:
    """A reading of the map in ``view``, made anew for each decision; names are normalised."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self.here = normalise_name(view.value(v.PLAYER, v.IS_IN) or "") or None
        self.rooms = {fact.key[0] for fact in view.facts(relation=v.IS_A, object="room")}
        self.ways: dict[str, dict[str, str]] = {room: {} for room in self.rooms}
        """room -> direction -> room, for ways that were taken."""
        for relation, direction in v.DIRECTION_OF.items():
            for fact in view.facts(relation=relation):
                there, _, here = fact.key
                self.ways.setdefault(here, {})[direction] = there
        self.doors: dict[tuple[str, str], str] = {}
        """(room, direction) -> door."""
        for relation, direction in v.DOOR_LEADS.items():
            for fact in view.facts(relation=relation):
                self.doors[fact.key[2], direction] = fact.key[0]
        self.positions = self._reckon()
        self.unexplored = self._unexplored()
        self._cache: dict[str, dict[str, tuple[int, tuple[str, ...]]]] = {}
        self._presumed = {(e.room, e.direction): e.presumed for e in self.unexplored if e.presumed is not None}

    def _reckon(self) -> dict[str, tuple[int, int, int]]:
        """Grid positions by dead reckoning from the ways taken, as far as they do not contradict each other."""
        positions: dict[str, tuple[int, int, int]] = {}
        if self.here is None:
            return positions
        positions[self.here] = (0, 0, 0)
        queue = deque([self.here])
        while queue:
            room = queue.popleft()
            x, y, z = positions[room]
            for direction, there in sorted(self.ways.get(room, {}).items()):
                if there not in positions and direction in _OFFSETS:
                    dx, dy, dz = _OFFSETS[direction]
                    positions[there] = (x + dx, y + dy, z + dz)
                    queue.append(there)
        return positions

    def _unexplored(self) -> list[Exit]:
        """Ways seen and not taken (Algorithm 3 of the AriGraph paper)."""
        exits = {
            (fact.key[0], fact.key[2])
            for fact in self._view.facts(relation=v.HAS_EXIT)
            if fact.key[2] not in self.ways.get(fact.key[0], {})
        }
        at = {position: room for room, position in self.positions.items()}
        found = []
        for room, direction in sorted(exits):
            presumed = None
            if room in self.positions and direction in _OFFSETS:
                target = at.get(tuple(a + b for a, b in zip(self.positions[room], _OFFSETS[direction], strict=True)))  # type: ignore[arg-type]
                # two loose ends that meet are taken for one way
                if target is not None and (target, v.OPPOSITE[direction]) in exits:
                    presumed = target
            found.append(Exit(room, direction, self.doors.get((room, direction)), presumed))
        return found

    def is_locked(self, door: str | None) -> bool:
        """Whether the memory holds that ``door`` is locked."""
        return door is not None and bool(self._view.facts(door, v.IS, v.LOCKED))

    def is_shut(self, door: str | None) -> bool:
        """Whether the memory holds that ``door`` is closed."""
        return door is not None and bool(self._view.facts(door, v.IS, v.CLOSED))

    def distances(self) -> dict[str, int]:
        """Moves from here to every room that can be reached: steps, and doors to open on the way.

        Doors that are known to be locked are not passed.
        """
        return {} if self.here is None else {room: cost for room, (cost, _) in self._ways_from(self.here).items()}

    def distance(self, start: str, end: str) -> float:
        """Moves from one room to another; infinite when no way is known."""
        found = self._ways_from(start).get(end)
        return float("inf") if found is None else found[0]

    def path(self, room: str) -> list[str] | None:
        """Directions of a shortest way from here to ``room``; ``None`` when no way is known."""
        found = None if self.here is None else self._ways_from(self.here).get(room)
        return None if found is None else list(found[1])

    def _ways_from(self, start: str) -> dict[str, tuple[int, tuple[str, ...]]]:
        """Every room that can be reached from ``start``, with the moves and the directions (Dijkstra 1959)."""
        known = self._cache.get(start)
        if known is not None:
            return known
        found: dict[str, tuple[int, tuple[str, ...]]] = {}
        queue: list[tuple[int, tuple[str, ...], str]] = [(0, (), start)]
        while queue:
            cost, path, room = heapq.heappop(queue)
            if room in found:
                continue
            found[room] = (cost, path)
            presumed = {way: there for (begin, way), there in self._presumed.items() if begin == room}
            for direction, there in (self.ways.get(room, {}) | presumed).items():
                door = self.doors.get((room, direction))
                if there not in found and not self.is_locked(door):
                    heapq.heappush(queue, (cost + 1 + self.is_shut(door), (*path, direction), there))
        self._cache[start] = found
        return found


def shown_name(name: str, view: GraphView) -> str:
    """A thing's name as the game writes it."""
    places = view.facts(name, v.IS_IN) or view.facts(name, v.IS_ON)
    return places[0].subject if places else name

"""The map in a memory: rooms, exits, doors, and the shortest paths between rooms."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread_lab.game import vocabulary as v

_OFFSETS = {
    "north": (0, 1, 0), "south": (0, -1, 0), "east": (1, 0, 0), "west": (-1, 0, 0), "up": (0, 0, 1), "down": (0, 0, -1),
    "northeast": (1, 1, 0), "northwest": (-1, 1, 0), "southeast": (1, -1, 0), "southwest": (-1, -1, 0),
}  # fmt: skip


@dataclass(frozen=True)
class Exit:
    """An exit that was seen or is presumed, and that was not yet taken.

    Args:
        room: normalised name of the room.
        direction: the direction of the exit.
        door: normalised name of the door in it; ``None`` when there is none.
        presumed: the known room to which it should lead, by dead reckoning or since it is the way back of one that was
            taken; ``None`` when there is none.
    """

    room: str
    direction: str
    door: str | None = None
    presumed: str | None = None


class WorldMap:
    """The map in a view of a memory, computed anew for each decision. All names are normalised.

    Args:
        view: what the memory holds.

    Attributes:
        here: the room of the player; ``None`` when it is not known.
        rooms: the known rooms.
        exits: room -> direction -> room, for exits that were taken.
        presumed: room -> direction -> room, for ways that were taken in the opposite direction only. They may not exist
            or lead elsewhere: paths use them only where that is asked for.
        doors: (room, direction) -> door.
        positions: room -> (x, y, z) by dead reckoning; a move in a direction is one step, east is +x, north +y, up +z.
        unexplored: the exits that were seen or are presumed, and that were not taken.
    """

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self.here = normalise_name(view.value(v.PLAYER, v.IS_IN) or "") or None
        self.rooms = {fact.key[0] for fact in view.facts(relation=v.IS_A, object="room")}
        self.exits: dict[str, dict[str, str]] = {room: {} for room in self.rooms}
        for relation, direction in v.DIRECTION_OF.items():
            for fact in view.facts(relation=relation):
                there, _, here = fact.key
                self.exits.setdefault(here, {})[direction] = there
        self.presumed: dict[str, dict[str, str]] = {}
        for relation, direction in v.PRESUMED_DIRECTION_OF.items():
            for fact in view.facts(relation=relation):
                there, _, here = fact.key
                if direction not in self.exits.get(here, {}):
                    self.presumed.setdefault(here, {})[direction] = there
        self.doors: dict[tuple[str, str], str] = {}
        for relation, direction in v.DOOR_LEADS.items():
            for fact in view.facts(relation=relation):
                self.doors[fact.key[2], direction] = fact.key[0]
        self.positions = self._reckon()
        self.unexplored = self._unexplored()
        self._cache: dict[tuple[str, bool], dict[str, tuple[int, tuple[str, ...]]]] = {}
        self._guessed: dict[str, dict[str, str]] = {room: dict(ways) for room, ways in self.presumed.items()}
        for exit_ in self.unexplored:
            if exit_.presumed is not None:
                self._guessed.setdefault(exit_.room, {}).setdefault(exit_.direction, exit_.presumed)

    def _reckon(self) -> dict[str, tuple[int, int, int]]:
        """Return the positions of rooms by dead reckoning over the exits taken; the first one found counts."""
        positions: dict[str, tuple[int, int, int]] = {}
        if self.here is None:
            return positions
        positions[self.here] = (0, 0, 0)
        queue = deque([self.here])
        while queue:
            room = queue.popleft()
            x, y, z = positions[room]
            ways = self.presumed.get(room, {}) | self.exits.get(room, {})
            for direction, there in sorted(ways.items()):
                if there not in positions and direction in _OFFSETS:
                    dx, dy, dz = _OFFSETS[direction]
                    positions[there] = (x + dx, y + dy, z + dz)
                    queue.append(there)
        return positions

    def _unexplored(self) -> list[Exit]:
        """Return the exits seen and not taken (AriGraph paper, Algorithm 3)."""
        exits = {
            (fact.key[0], fact.key[2])
            for fact in self._view.facts(relation=v.HAS_EXIT)
            if fact.key[2] not in self.exits.get(fact.key[0], {})
            and fact.key[2] not in self.presumed.get(fact.key[0], {})
        }
        at = {position: room for room, position in self.positions.items()}
        found = []
        for room, direction in sorted(exits):
            presumed = None
            if room in self.positions and direction in _OFFSETS:
                target = at.get(tuple(a + b for a, b in zip(self.positions[room], _OFFSETS[direction], strict=True)))  # type: ignore[arg-type]
                # two unexplored exits that meet are assumed to be one connection
                if target is not None and (target, v.OPPOSITE[direction]) in exits:
                    presumed = target
            found.append(Exit(room, direction, self.doors.get((room, direction)), presumed))
        for room, ways in self.presumed.items():
            found += [Exit(room, way, self.doors.get((room, way)), there) for way, there in ways.items()]
        return sorted(found, key=lambda exit_: (exit_.room, exit_.direction))

    def is_locked(self, door: str | None) -> bool:
        """Return whether the memory holds that ``door`` is locked."""
        return door is not None and bool(self._view.facts(door, v.IS, v.LOCKED))

    def is_shut(self, door: str | None) -> bool:
        """Return whether the memory holds that ``door`` is closed."""
        return door is not None and bool(self._view.facts(door, v.IS, v.CLOSED))

    def distances(self, *, presumed: bool = False) -> dict[str, int]:
        """Return the distances from here.

        Args:
            presumed: whether to use ways too that are presumed and were never taken.

        Returns:
            By room that can be reached the number of moves: steps, and doors to open. Paths avoid doors that are
            known to be locked.
        """
        if self.here is None:
            return {}
        return {room: cost for room, (cost, _) in self._paths_from(self.here, presumed).items()}

    def distance(self, start: str, end: str, *, presumed: bool = False) -> float:
        """Return the moves from one room to another; infinite when no path is known."""
        found = self._paths_from(start, presumed).get(end)
        return float("inf") if found is None else found[0]

    def path(self, room: str, *, presumed: bool = False) -> list[str] | None:
        """Return the directions of a shortest path from here to ``room``.

        Args:
            room: the normalised name of the room.
            presumed: whether to use ways too that are presumed and were never taken.

        Returns:
            The directions; ``None`` when no path is known.
        """
        found = None if self.here is None else self._paths_from(self.here, presumed).get(room)
        return None if found is None else list(found[1])

    def _paths_from(self, start: str, presumed: bool) -> dict[str, tuple[int, tuple[str, ...]]]:
        """Return the moves and directions to every room that can be reached from ``start`` (Dijkstra 1959)."""
        known = self._cache.get((start, presumed))
        if known is not None:
            return known
        found: dict[str, tuple[int, tuple[str, ...]]] = {}
        queue: list[tuple[int, tuple[str, ...], str]] = [(0, (), start)]
        while queue:
            cost, path, room = heapq.heappop(queue)
            if room in found:
                continue
            found[room] = (cost, path)
            guessed = self._guessed.get(room, {}) if presumed else {}
            for direction, there in (guessed | self.exits.get(room, {})).items():
                door = self.doors.get((room, direction))
                if there not in found and not self.is_locked(door):
                    heapq.heappush(queue, (cost + 1 + self.is_shut(door), (*path, direction), there))
        self._cache[start, presumed] = found
        return found


def shown_name(name: str, view: GraphView) -> str:
    """Return a thing's name as the game writes it."""
    places = view.facts(name, v.IS_IN) or view.facts(name, v.IS_ON)
    return places[0].subject if places else name

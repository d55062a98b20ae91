"""Where things are, as the memory of a game knows it: by every name of theirs, and through what holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from worldthread.graph import GraphView
from worldthread.names import match_name, normalise_name
from worldthread.types import Fact
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary as v

_NO_THINGS = frozenset({v.PLAYER, v.INVENTORY, v.DARKNESS, v.KNOWN_ROOMS, v.GOAL, v.RECIPE})


class Whereabouts:
    """The places of things in a view of a memory, computed anew for each question. All names are normalised.

    Args:
        view: what the memory holds.
        world: the map in it.
    """

    def __init__(self, view: GraphView, world: WorldMap) -> None:
        self._view = view
        self._rooms = world.rooms
        self._places = {
            fact.key[0]: fact
            for relation in (v.IS_ON, v.IS_IN)
            for fact in view.facts(relation=relation)
            if fact.key[0] != v.PLAYER
        }
        self._seen: dict[str, list[str]] = {}
        for fact in view.facts(relation=v.IS_SEEN_IN):
            self._seen.setdefault(fact.key[0], []).append(fact.object)
        self._doors: dict[str, list[tuple[str, str]]] = {}
        for relation, direction in v.DOOR_LEADS.items():
            for fact in view.facts(relation=relation):
                self._doors.setdefault(fact.key[0], []).append((direction, fact.object))
        self._called: dict[str, list[str]] = {}
        for fact in view.facts(relation=v.IS_CALLED):
            self._called.setdefault(fact.key[2], []).append(fact.key[0])

    @cached_property
    def things(self) -> frozenset[str]:
        """The names of all that is said to be somewhere, in some state, of some kind, or to unlock another."""
        holders = {fact.key[2] for fact in self._places.values()}
        known = {fact.key[0] for relation in (v.IS, v.IS_A) for fact in self._view.facts(relation=relation)}
        locks = [fact for relation in (v.UNLOCKS, v.DOES_NOT_UNLOCK) for fact in self._view.facts(relation=relation)]
        named = {name for fact in locks for name in (fact.key[0], fact.key[2])}
        placed = {*self._places, *self._seen, *self._doors}  # the altar of a room called Altar, too
        return frozenset(placed | ({*holders, *known, *named} - self._rooms)) - _NO_THINGS

    def called(self, name: str) -> tuple[str, ...]:
        """Return the things that a name may mean.

        Args:
            name: as a person or a model writes it.

        Returns:
            The things of this name, in any spelling or under another name of theirs, and those of which it is the noun
            ("egg", "coil of rope"); where there are none, those that have all of its words.
        """
        known = self.things | self._called.keys()
        found = dict.fromkeys(_with_spellings(name, known))
        words = _words(normalise_name(name))
        alike = [other for other in sorted(known) if words and set(words) <= set(_words(other))]
        headed = [other for other in alike if words[-1] in (_words(other)[-1], _words(other.split(" of ")[0])[-1])]
        found |= dict.fromkeys(headed or (() if found else alike))
        things = dict.fromkeys(thing for other in found for thing in self._now_called(other, ()))
        placed = [thing for thing in things if self._has_place(thing)]
        return tuple(placed or things)

    def _now_called(self, name: str, before: tuple[str, ...]) -> Iterable[str]:
        """Yield the thing of a name, when it is known by it, and the things of which this is another name."""
        others = [other for other in self._called.get(name, ()) if other not in before]
        if name in self.things and (self._has_place(name) or not others):
            yield name
        for other in others:
            yield from self._now_called(other, (*before, name))

    def _has_place(self, thing: str) -> bool:
        return thing in self._places or thing in self._seen or thing in self._doors

    def told(self, thing: str) -> str:
        """Return a sentence on where a thing is."""
        steps, place, met = [], thing, {thing}
        last: Fact | None = None
        while place in self._places and (last is None or place not in met):
            met.add(place)
            last = self._places[place]
            steps.append(f"{last.relation.removeprefix('is ')} {last.object}")
            place = last.key[2]
        if last is not None:
            room = None if place in self._rooms or place == v.INVENTORY else self.room_of(last)
            return f"{thing} is {', '.join(steps)}{f' (in {room})' if room else ''}."
        if thing in self._doors:
            sides = [f"{room} (it leads {direction})" for direction, room in self._doors[thing]]
            return f"{thing} is in {', in '.join(sides)}."
        if thing in self._seen:
            return f"{thing} is seen in {', in '.join(self._seen[thing])}."
        return f"It is not known where {thing} is."

    def room_of(self, fact: Fact) -> str | None:
        """Return the room in which the player was when a place of a thing was learned; ``None``: not known.

        Tables of several rooms may go by one name: what lies on a table is where the player saw it.
        """
        versions = self._view.versions(fact)
        since = versions[-1].interval.valid_from if versions else 0.0
        rooms = [room for moment, room in self._ways if moment <= since]
        return rooms[-1] if rooms and rooms[-1] != v.DARKNESS else None

    @cached_property
    def _ways(self) -> list[tuple[float, str]]:
        """When the player came to each room, in order."""
        return [
            (version.interval.valid_from, statement.object)
            for version in self._view.timeline(v.PLAYER)
            if isinstance(statement := version.statement, Fact) and statement.key[:2] == (v.PLAYER, v.IS_IN)
        ]

    def placed_in(self, room: str) -> set[str]:
        """Return what is in a room, and what holds things there and has no place of its own."""
        placed = {name for name, fact in self._places.items() if fact.key[2] == room}
        return placed | set(map(normalise_name, self.holders_in(room)))

    def holders_in(self, room: str) -> list[str]:
        """Return what holds things in a room, and has itself no place of its own, as the texts name it."""
        found: dict[str, str] = {}
        for fact in self._places.values():
            holder = fact.key[2]
            if holder in self._places or holder in self._rooms or holder in _NO_THINGS or holder in found:
                continue
            if normalise_name(self.room_of(fact) or "") == room:
                found[holder] = fact.object
        return list(found.values())


def _words(name: str) -> list[str]:
    return name.replace("-", " ").split()


def _with_spellings(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names that equal a name, but for grammatical number, spaces and hyphens."""
    known = frozenset(known)
    found = match_name(name, known)
    joined = _joined(normalise_name(name))
    return found or tuple(sorted(other for other in known if _joined(other) == joined))


def _joined(name: str) -> str:
    return re.sub(r"[ -]", "", name)

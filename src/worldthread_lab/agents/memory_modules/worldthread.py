"""What the agent's own memory holds: extracted without a model, kept up to date, and searched by retrieval."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from typing import ClassVar, Final, TypeAlias

from worldthread.errors import InputError
from worldthread.graph import GraphView, TemporalGraph
from worldthread.names import normalise_name
from worldthread.retrieve import DEFAULT_METHOD
from worldthread.retrieve import method as retrieval_method
from worldthread.retrieve.query import names_in
from worldthread.support.text import count_of
from worldthread.types import Episode, Fact, Hit, Kind, Thesis
from worldthread_lab.agents.base import RecalledItem
from worldthread_lab.agents.memory_modules.base import (
    MemoryModule,
    ModuleContext,
    Situation,
    indented,
    joined,
    listed,
    render_step,
)
from worldthread_lab.agents.memory_modules.index import EpisodeIndex, NoVectors
from worldthread_lab.agents.prompting import shorten
from worldthread_lab.agents.worldmap import WorldMap, shown_name
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.room_title import find_room_title

_ON_THE_MAP: Final = frozenset({v.IS_A, v.HAS_EXIT, v.HAS_NO_EXIT, *v.DIRECTION_OF, *v.DOOR_LEADS, *v.BOOKKEEPING})
"""Relations that are on the map, or add nothing to a name."""
_ELSEWHERE: Final = _ON_THE_MAP | {v.IS_IN, v.IS_ON, v.IS}
"""Relations that are rendered with a thing's place and state."""
_MOMENT_LIMIT: Final = 400
"""Characters of a past observation in a brief recall; chosen by hand, not tuned."""
_SEARCHED: Final = 50
"""Hits of each kind to choose from, as many are rendered already or on the map; chosen by hand, not tuned."""

Search: TypeAlias = Callable[[str, int, Collection[Kind]], tuple[Hit, ...]]
"""Returns the best hits for a question: takes the question, the number of hits, and the kinds."""


class WorldthreadModule(MemoryModule):
    """Recalls from the agent's own memory. No calls of the model.

    It recalls what is known of the present room, what is carried, where the things are that the goal and the plan
    name, and what retrieval finds for goal, plan and room.

    Retrieval is by words, which takes a millisecond. With an embedder in the context it is the default method, which
    embeds every observation and statement: some 50 ms for each decision with MiniLM, under 1 ms with a static one.

    The memory is the graph of the game extractor: things that changed are rendered as they are now. The map with its
    unexplored exits comes from it too.

    Args:
        context: its memory is a :class:`~worldthread.memory.record.Record`, or a bare
            :class:`~worldthread.graph.TemporalGraph`.
        statements: how many statements retrieval adds at most. The default was chosen by hand.
        moments: how many past observations it adds at most. The default equals that of the published AriGraph code.
        rooms: of how many other rooms, the nearest first, a brief recall lists the things. The default was chosen by
            hand.
        method: the retrieval method; ``None`` takes "lexical" without an embedder in the context, else the default.

    Raises:
        InputError: the memory is of another type, a number is below 0, or there is no such method.
    """

    name: ClassVar[str] = "worldthread"
    lists_rooms: ClassVar[bool] = True

    def __init__(
        self,
        context: ModuleContext,
        *,
        statements: int = 8,
        moments: int = 2,
        rooms: int = 16,
        method: str | None = None,
    ) -> None:
        super().__init__(context)
        if min(statements, moments, rooms) < 0:
            raise InputError(f"statements, moments and rooms must be at least 0, not {statements}, {moments}, {rooms}")
        if method is not None:
            retrieval_method(method)  # raises for an unknown name
        self._statements = statements
        self._moments = moments
        self._rooms = rooms
        self._method = method
        self._search = self._make_search()

    def _make_search(self) -> Search:
        from worldthread.memory.record import Record

        memory = self.context.memory
        graph = memory.graph if isinstance(memory, Record) else memory
        if not isinstance(graph, TemporalGraph):
            raise InputError(
                "the memory module 'worldthread' searches the record of a memory (memory.record) or a TemporalGraph, "
                f"not {type(memory).__name__}"
            )
        by_words = self.context.embedder is None
        index = EpisodeIndex(graph, NoVectors() if by_words else self.context.load_embedder())
        method = self._method or ("lexical" if by_words else DEFAULT_METHOD)

        def search(query: str, k: int, kinds: Collection[Kind]) -> tuple[Hit, ...]:
            for step in self.path:
                index.keep(step.episode)
            return index.search(query, method=method, k=k, kinds=kinds)

        return search

    def world_map(self) -> WorldMap:
        return WorldMap(self.context.memory.view())

    def recall(self, situation: Situation) -> str:
        if situation.brief:
            return self._brief_recall(situation)
        view = self.context.memory.view()
        world = WorldMap(view)
        wanted = _named(f"{situation.goal}\n{situation.plan}", view)
        here = [] if world.here is None else list(_about_here(world.here, world, view))
        carried = [_with_states(name, view) for name in _held(v.INVENTORY, view)]
        named = dict.fromkeys(line for name in wanted for line in _about(name, world, view))
        statements, moments = self._find(situation, world, view, set(wanted))
        self.recalled = (*statements, *moments)
        return joined(
            listed("Known of this place:", here),
            listed("Carried:", [", ".join(carried)] if carried else []),
            listed("Known of what the task and the plan name:", named),
            listed("Also known:", [one.text for one in statements]),
            listed("Moments from the past:", [indented(one.text) for one in moments]),
        )

    def _brief_recall(self, situation: Situation) -> str:
        view = self.context.memory.view()
        world = WorldMap(view)
        shown = situation.observation.casefold()
        here = [] if world.here is None else list(_about_here(world.here, world, view))
        # the observation shows what is in a room that it describes, and says nothing of where known ways lead
        here = [line for line in here if line.startswith("ways: ") or not _is_said(line, shown)]
        carried = [_with_states(name, view) for name in _held(v.INVENTORY, view)]
        carried = [name for name in carried if not _is_said(name, situation.inventory.casefold())]
        listed_rooms = dict(self._other_rooms(world, view))
        wanted = _named(f"{situation.goal}\n{situation.plan}", view)
        named = dict.fromkeys(
            _in_words(fact)
            for name in wanted
            for fact in (*view.facts(subject=name), *view.facts(object=name))
            if fact.key[1] not in _ELSEWHERE
        )
        statements, moments = self._find(situation, world, view, set(wanted))
        in_rooms = {*listed_rooms, *filter(None, [world.here])}
        new = [one for one in statements if one.text not in named and not self._is_listed(one, in_rooms, view)]
        lists_all = bool(self.path) and self.path[-1].percept.lists_all
        seen = [one for one in moments if not (lists_all and _describes_room(one.text))]
        self.recalled = (*new, *seen)
        return joined(
            listed("Known of this place:", here),
            listed("Carried:", [", ".join(carried)] if carried else []),
            listed("Other places, the nearest first:", listed_rooms.values()),
            listed("Also known:", [*named, *(one.text for one in new)]),
            listed("Moments from the past:", [shorten(one.text, _MOMENT_LIMIT) for one in seen]),
        )

    def _other_rooms(self, world: WorldMap, view: GraphView) -> Iterator[tuple[str, str]]:
        """Yield the nearest other rooms, with a line for each: how far it is, and what is there."""
        distances = world.distances()
        rooms = sorted(world.rooms - {world.here}, key=lambda room: (distances.get(room, math.inf), room))
        for room in rooms[: self._rooms]:
            things = [_with_contents(name, view) for name in _held(room, view) if normalise_name(name) != v.PLAYER]
            yield room, f"{room} ({_distance(distances.get(room))}): {'; '.join(things) or 'nothing known'}"

    def _is_listed(self, item: RecalledItem, rooms: Collection[str], view: GraphView) -> bool:
        """Return whether a statement says what the lists of rooms and of what is carried say."""
        facts = (fact for relation in (v.IS_IN, v.IS_ON, v.IS) for fact in view.facts(relation=relation))
        listed_places = {*rooms, v.INVENTORY}
        return any(
            _in_words(fact) == item.text and ({fact.key[2], *_places(fact.key[0], view)} & listed_places)
            for fact in facts
        )

    def _find(
        self, situation: Situation, world: WorldMap, view: GraphView, wanted: set[str]
    ) -> tuple[list[RecalledItem], list[RecalledItem]]:
        """Return statements and past observations that retrieval finds, without those that the prompt shows anyway."""
        texts = {step.episode.id: step.percept.step.text for step in self.path}
        shown = {texts.get(episode.id, episode.text) for episode in situation.shown}  # a room looks the same again
        query = "\n".join(filter(None, (situation.goal, situation.plan, world.here)))
        hits = self._search(query, _SEARCHED, ("fact", "thesis", "episode"))
        here = {name for name in (world.here, v.INVENTORY) if name}
        statements: list[RecalledItem] = []
        moments: list[tuple[Episode, tuple[str, ...]]] = []
        for hit in hits:
            if isinstance(hit.item, Episode):
                text = texts.get(hit.item.id, hit.item.text)
                if text not in shown:
                    shown.add(text)
                    moments.append((hit.item, hit.path))
            elif isinstance(hit.item, Thesis):
                if v.GOAL not in hit.item.key[1]:
                    statements.append(RecalledItem(hit.item.text, hit.path))
            elif hit.item.key[1] not in _ON_THE_MAP and not {hit.item.key[0], hit.item.key[2]} & (wanted | here):
                statements.append(RecalledItem(_in_words(hit.item), hit.path))
        nearest = sorted(moments[: self._moments], key=lambda found: found[0].at)
        return statements[: self._statements], [RecalledItem(render_step(episode), path) for episode, path in nearest]


def _is_said(text: str, shown: str) -> bool:
    """Return whether all words of a line are in a text, in any order."""
    return all(word in shown for word in re.findall(r"\w+", text.casefold()) if word != "with")


def _describes_room(text: str) -> bool:
    """Return whether a past observation shows a room, whose things are listed."""
    shown = text.partition("] ")[2]  # without the number of the move
    first, _, answer = shown.partition("\n")
    action = first.removeprefix("> ") if first.startswith("> ") else None
    return find_room_title(shown if action is None else answer, action, lambda name: False) is not None


def _named(text: str, view: GraphView) -> list[str]:
    """Return the normalised names of known things that ``text`` mentions, in order of mention."""
    names = list(dict.fromkeys(name for fact in view.facts() for name in (fact.key[0], fact.key[2])))
    numbers = {name: number for number, name in enumerate(names)}
    left_out = {v.PLAYER, v.INVENTORY, *v.OPPOSITE, *v.KINDS, *v.LOCK_STATES, *v.HEAT_STATES, *v.CUT_STATES}
    return [names[number] for number in names_in(text, numbers.get) if names[number] not in left_out]


def _about_here(here: str, world: WorldMap, view: GraphView) -> Iterator[str]:
    """Yield the exits that were taken, the doors, and what is in the room with its contents."""
    exits = [f"{direction} to {there}" for direction, there in sorted(world.exits.get(here, {}).items())]
    if exits:
        yield f"ways: {', '.join(exits)}"
    for (room, direction), door in sorted(world.doors.items()):
        if room == here:
            yield f"{_with_states(door, view)} leads {direction}"
    for name in _held(here, view):
        if normalise_name(name) != v.PLAYER:
            yield _with_contents(name, view)


def _about(name: str, world: WorldMap, view: GraphView) -> Iterator[str]:
    """Yield where something is, its state, and what else is known of it except exits."""
    distances = world.distances()
    if name in world.rooms:
        if name != world.here:
            yield f"{name}: {_distance(distances.get(name))}"
        return
    places = _places(name, view)
    shown = _with_contents(shown_name(name, view), view)
    if v.INVENTORY in places:
        yield f"{shown}: carried"
    elif places:
        where = "not seen so far"
        if places[-1] in world.rooms:
            where = "here" if places[-1] == world.here else _distance(distances.get(places[-1]))
        yield f"{shown}: in {', '.join(places)} ({where})"
    for fact in (*view.facts(subject=name), *view.facts(object=name)):
        if fact.key[1] not in _ELSEWHERE:
            yield _in_words(fact)


def _places(name: str, view: GraphView) -> list[str]:
    """Return what holds a thing, what holds that, and so on: normalised names, the room last."""
    places: list[str] = []
    while True:
        held = view.facts(name, v.IS_IN) or view.facts(name, v.IS_ON)
        if not held or held[0].key[2] in places:
            return places
        name = held[0].key[2]
        places.append(name)


def _distance(moves: int | None) -> str:
    if moves is None:
        return "no way is known"
    return f"{count_of(moves, 'move')} away"


def _held(place: str, view: GraphView) -> list[str]:
    """Return the names of what is in or on something, as written."""
    return [fact.subject for relation in (v.IS_IN, v.IS_ON) for fact in view.facts(relation=relation, object=place)]


def _with_states(name: str, view: GraphView) -> str:
    states = [fact.object for fact in view.facts(name, v.IS)]
    return f"{name} ({', '.join(states)})" if states else name


def _with_contents(name: str, view: GraphView) -> str:
    held = [_with_states(thing, view) for thing in _held(name, view)]
    return f"{_with_states(name, view)}, with {', '.join(held)}" if held else _with_states(name, view)


def _in_words(fact: Fact) -> str:
    return f"{fact.subject} {fact.relation} {fact.object}"

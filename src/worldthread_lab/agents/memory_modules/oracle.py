"""The true state of the world: an upper bound for what any memory could be worth."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar, Final

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.memory_modules.base import MemoryModule, ModuleContext, Situation, listed
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary as v

PLAYER: Final = "P"
INVENTORY: Final = "I"
_NAMES: Final = {PLAYER: v.PLAYER, INVENTORY: v.INVENTORY}
_DIRECTIONS: Final = {f"{direction}_of": direction for direction in v.OPPOSITE}


class OracleModule(MemoryModule):
    """Recalls all that is true now, and knows the true map. No calls of the model.

    It is privileged: it measures what a memory could be worth. Exits and doors come from the predicates of TextWorld
    (``north_of``, ``link``, ``closed``, ``locked``).

    Args:
        context: with ``truth``.

    Raises:
        InputError: the context has no ``truth``.
    """

    name: ClassVar[str] = "oracle"
    lists_rooms: ClassVar[bool] = True

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        if not callable(context.truth):
            raise InputError(
                "the memory module 'oracle' needs the true state of the world: give truth=..., a function without "
                "arguments that returns the propositions that hold now, such as lambda: env.truth().propositions"
            )
        self._truth = context.truth

    def recall(self, situation: Situation) -> str:
        return listed("All that is true now:", sorted(map(_in_words, self._truth())))

    def world_map(self) -> WorldMap:
        facts = tuple(_map_facts(self._truth()))
        return WorldMap(TemporalGraph([Episode("the true map", 0, extraction=Extraction("truth", facts))]).view())


def _in_words(proposition: tuple[str, ...]) -> str:
    predicate = proposition[0].replace("_", " ")
    names = [_NAMES.get(name, name) for name in proposition[1:]]
    if len(names) == 1:
        return f"{names[0]} is {predicate}"
    if len(names) == 2:
        return f"{names[0]} {predicate} {names[1]}"
    return f"{predicate}: {', '.join(names)}"


def _map_facts(propositions: Collection[tuple[str, ...]]) -> Iterator[Fact]:
    """Yield the facts of the map in the vocabulary of the game extractor."""
    directions: dict[tuple[str, str], str] = {}  # (from, to)
    for predicate, *names in sorted(propositions):
        if predicate in _DIRECTIONS and len(names) == 2:
            there, here = names
            directions[here, there] = _DIRECTIONS[predicate]
            yield v.kind(here, "room")
            yield v.link(there, _DIRECTIONS[predicate], here)
        elif predicate == "at" and names[:1] == [PLAYER]:
            yield v.place(v.PLAYER, v.IS_IN, names[1])
        elif predicate in (v.CLOSED, v.LOCKED) and len(names) == 1:
            yield v.state(names[0], predicate)
    for predicate, *names in sorted(propositions):
        if predicate == "link" and len(names) == 3 and (names[0], names[2]) in directions:
            yield v.door_of(names[1], directions[names[0], names[2]], names[0])

"""The true state of the world: what a perfect memory of everything, seen or not, would be worth."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar, Final

from worldthread.agents.memory_modules.base import MemoryModule, ModuleContext, Situation, listed
from worldthread.agents.worldmap import WorldMap
from worldthread.errors import InputError
from worldthread.extract.game import vocabulary as v
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact

PLAYER: Final = "P"
INVENTORY: Final = "I"
_NAMES: Final = {PLAYER: v.PLAYER, INVENTORY: v.INVENTORY}
_WAYS: Final = {f"{direction}_of": direction for direction in v.OPPOSITE}


class OracleModule(MemoryModule):
    """Tells all that is true now, and walks by the true map. No calls. Privileged: it measures what memory is worth.

    Ways and doors are known from the predicates of TextWorld (``north_of``, ``link``, ``closed``, ``locked``).

    Args:
        means: gives the truth.

    Raises:
        InputError: nobody gives the truth.
    """

    name: ClassVar[str] = "oracle"

    def __init__(self, means: ModuleContext) -> None:
        super().__init__(means)
        if not callable(means.truth):
            raise InputError(
                "the memory module 'oracle' needs the true state of the world: give truth=..., a function without "
                "arguments that returns the propositions that hold now, such as lambda: env.truth().propositions"
            )
        self._truth = means.truth

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
    """The map in our own words."""
    directions: dict[tuple[str, str], str] = {}  # (from, to)
    for predicate, *names in sorted(propositions):
        if predicate in _WAYS and len(names) == 2:
            there, here = names
            directions[here, there] = _WAYS[predicate]
            yield v.kind(here, "room")
            yield v.link(there, _WAYS[predicate], here)
        elif predicate == "at" and names[:1] == [PLAYER]:
            yield v.place(v.PLAYER, v.IS_IN, names[1])
        elif predicate in (v.CLOSED, v.LOCKED) and len(names) == 1:
            yield v.state(names[0], predicate)
    for predicate, *names in sorted(propositions):
        if predicate == "link" and len(names) == 3 and (names[0], names[2]) in directions:
            yield v.door_of(names[1], directions[names[0], names[2]], names[0])

"""AriGraph (Anokhin et al. 2024): a graph of triplets that a model extracts and prunes, with two searches in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.base import Percept, RecalledItem
from worldthread_lab.agents.memory_modules.base import (
    MemoryModule,
    ModuleContext,
    ObservedStep,
    Situation,
    indented,
    joined,
    listed,
    prompt,
    render_step,
)
from worldthread_lab.agents.memory_modules.index import EpisodeIndex
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.arigraph.extractor import DIRECTIONS, AriGraphExtractor, RoomChange
from worldthread_lab.game import vocabulary as v
from worldthread_lab.published.arigraph import episodic_relevance, search_for_items

WIDTH: Final = 6
"""Triplets that a query finds, as in the published code."""
DEEPEST: Final = 2
"""Largest depth of search of an item."""
MOMENTS: Final = 2
"""Past observations that are recalled, as in the published code."""
ITEMS_TEMPERATURE: Final = 0.7
"""Temperature of the answer that names the crucial items; no source is recorded."""
EXTRACTION_TEMPERATURE: Final = 0.001
"""Temperature of extraction and of outdating; no source is recorded."""
_EXIT_WORDS: Final = ("exit", "lead", "entr", "path")


class Item(msgspec.Struct, forbid_unknown_fields=True):
    """Something that matters now, and how far around it the graph is searched."""

    name: str
    depth: Annotated[int, Meta(ge=1, le=DEEPEST)]


class Items(msgspec.Struct, forbid_unknown_fields=True):
    """What matters now."""

    items: Annotated[list[Item], Meta(max_length=12)]


class AriGraphModule(MemoryModule):
    """The memory of the AriGraph paper. Three calls of the model for each decision: "items", "extract", "outdated".

    1. The model names the *crucial items* of the observation and the plan, each with a depth of search, 1 or 2.
    2. It extracts triplets from the observation, and says which known triplets about the same things the new ones
       replace (not asked when there are none); those end. A move adds a triplet of how the two rooms lie.
    3. Each item is a query of the *semantic search* (Algorithm 2; the best ``width`` triplets for each query); what
       this observation itself stated is left out. The *episodic search* (equation 1) ranks past observations by the
       found triplets that they hold.

    Rules and formats are those of :mod:`worldthread_lab.arigraph.extractor` and
    :mod:`worldthread_lab.published.arigraph`; the words of the prompts are ours. As published, only the last step
    of a ``go to`` is extracted, the map is that of the visited rooms joined by triplets of direction, and unexplored
    exits are found in the triplets (Algorithm 3). Unlike the published code, the present room comes from the game's
    text instead of the engine, the room moved from is the one before the last move, and an observation that the prompt
    shows anyway is not recalled.

    An answer about triplets that can be read only in part counts as a failure; the part is used.

    Args:
        context: asks the model, embeds; its memory knows where the player is.
        width: triplets that each query finds, at least 1.
        least: triplets with a lower cosine similarity to the query are not found, within [-1, 1]; ``None`` for no
            limit. The published code has .75, for Contriever.
        moments: past observations that are recalled, 0 for none ("without episodic memory").

    Raises:
        InputError: ``width`` is below 1, or ``moments`` below 0.
    """

    name: ClassVar[str] = "arigraph"

    def __init__(
        self, context: ModuleContext, *, width: int = WIDTH, least: float | None = None, moments: int = MOMENTS
    ) -> None:
        super().__init__(context)
        if width < 1 or moments < 0:
            raise InputError(f"width must be at least 1 and moments at least 0, not {width} and {moments}")
        self.graph: TemporalGraph = TemporalGraph()
        """The triplets that hold, and those that ended; an episode for each observation that was read."""
        self._width = width
        self._least = least
        self._moments = moments
        self._index = EpisodeIndex(self.graph, context.load_embedder())
        self._extractor = AriGraphExtractor(self._ask_triplets, self._ask_outdated)
        self._extracted: dict[int, Episode] = {}  # by number of the state
        self._rooms: list[str | None] = []  # by number of the state, as the game writes them
        self._found: dict[int, list[Fact]] = {}  # by number of the state: what the search found

    # -- learning -----------------------------------------------------------------------------------------------------

    def observe(self, percept: Percept, episode: Episode) -> None:
        super().observe(percept, episode)
        if percept.is_new:
            self._rooms.append(self.context.memory.view().value(v.PLAYER, v.IS_IN))

    def _returned(self, left: Sequence[ObservedStep]) -> None:
        for id_ in self.graph.episodes():
            self.graph.forget(id_)
        self.graph.add_many(
            self._extracted[moment] for step in self.path if (moment := step.percept.moment) in self._extracted
        )

    def graph_episodes(self) -> tuple[Episode, ...]:
        moments = (step.percept.moment for step in self.path)
        return tuple(self._extracted[moment] for moment in moments if moment in self._extracted)

    def _learn(self) -> Episode:
        """Extract the present observation, unless that was done already, and return its episode."""
        observed = self.path[-1]
        moment, step = observed.percept.moment, observed.percept.step
        if moment not in self._extracted:
            text = step.text if not step.goal or step.goal in step.text else f"{step.text}\n\n{step.goal}"
            extraction = self._extract(text)
            episode = Episode(text.strip() or "(nothing)", observed.episode.at, observed.episode.source, extraction)
            self._extracted[moment] = episode
            self._index.keep(episode)
            self.graph.add(episode)
        return self._extracted[moment]

    def _extract(self, text: str) -> Extraction:
        failures = self.context.caller.failures
        extracted = self._extractor.extract(text)
        if extracted.failures:
            failures["extract"] += 1
        extraction = self._extractor.outdate(
            text, extracted, self.graph.view(), rooms=[room.lower() for room in self._visited()], move=self._last_move()
        )
        if len(extraction.failures) > len(extracted.failures):
            failures["outdated"] += 1
        return extraction

    def _visited(self) -> set[str]:
        """Return the rooms of all states on the path."""
        return {room for step in self.path if (room := self._rooms[step.percept.moment]) is not None}

    def _last_move(self) -> RoomChange | None:
        if len(self.path) < 2:
            return None
        before, after = (self._rooms[step.percept.moment] for step in self.path[-2:])
        action = self.path[-1].percept.step.action
        return RoomChange(before, after, action) if before and after and action else None

    def _ask_triplets(self, text: str) -> str:
        before = (self._found.get(step.percept.moment) for step in reversed(self.path[:-1]))
        example = "; ".join(map(str, next(filter(None, before), ()))) or "(none so far)"
        messages = prompt("triplets", example=example, observation=text)
        return self.context.caller.ask_text("extract", messages, temperature=EXTRACTION_TEMPERATURE)

    def _ask_outdated(self, known: Sequence[Fact], new: Sequence[Fact]) -> str:
        if not known or not new:
            return "[]"
        messages = prompt("replaced", known=_quoted(known), new=_quoted(new))
        return self.context.caller.ask_text("outdated", messages, temperature=EXTRACTION_TEMPERATURE)

    # -- recalling ----------------------------------------------------------------------------------------------------

    def recall(self, situation: Situation) -> str:
        items = self._crucial_items(situation)
        now = self._learn()
        found = self._semantic_search(items)
        stated = set(now.extraction.statements)
        remembered = {fact: item for fact, item in found.items() if fact not in stated}
        self._found[self.path[-1].percept.moment] = list(remembered)
        shown = {episode.id for episode in situation.shown}
        past = self._episodic_search(found, [step for step in self.path[:-1] if step.episode.id not in shown])
        triplets = [RecalledItem(str(fact), (item,)) for fact, item in remembered.items()]
        observations = [RecalledItem(render_step(episode)) for episode in past]
        self.recalled = (*triplets, *observations)
        return joined(
            listed("Triplets from the memory that may matter now:", [one.text for one in triplets]),
            listed("Past observations that may matter now:", [indented(one.text) for one in observations]),
        )

    def _crucial_items(self, situation: Situation) -> list[Item]:
        messages = prompt("items", observation=situation.observation, plan=situation.plan or "(none so far)")
        answer = self.context.caller.ask_optional("items", messages, Items, temperature=ITEMS_TEMPERATURE)
        return [] if answer is None else [item for item in answer.items if item.name.strip()]

    def _semantic_search(self, items: Iterable[Item]) -> dict[Fact, str]:
        """Return what is found, and for which item first, in the order of items and hits (Algorithm 1)."""
        depths = {item.name.strip().lower(): item.depth for item in items}
        if not depths:
            return {}
        index, embed = self._index.retrieval_index(), self._index.embedder.embed
        numbers = search_for_items(depths, index, embed, self._width, self._least)
        statements = ((self.graph.numbered_statement(number), name) for number, name in numbers.items())
        return {statement: name for statement, name in statements if isinstance(statement, Fact)}

    def _episodic_search(self, found: Collection[Fact], steps: Iterable[ObservedStep]) -> list[Episode]:
        """Rank past observations by equation 1 of the paper.

        Args:
            found: the triplets that the semantic search found.
            steps: the observations to rank.

        Returns:
            The best, in order of time. The score is n / max(N, 1) x ln(max(N, 1)) for n found triplets among the N of
            an observation; observations with n = 0 are left out.
        """
        scored: list[tuple[float, float, Episode]] = []
        for step in steps:
            extracted = self._extracted.get(step.percept.moment)
            stated = set() if extracted is None else set(extracted.extraction.statements)
            n = len(stated.intersection(found))
            if n:
                scored.append((episodic_relevance(n, len(stated)), step.episode.at, step.episode))
        best = sorted(scored, key=lambda entry: (-entry[0], -entry[1]))[: self._moments]
        return [episode for _, _, episode in sorted(best, key=lambda entry: entry[1])]

    # -- the map ------------------------------------------------------------------------------------------------------

    def world_map(self) -> WorldMap:
        return WorldMap(TemporalGraph([Episode("the map", 0, extraction=Extraction("map", tuple(self._map())))]).view())

    def _map(self) -> Iterator[Fact]:
        """Yield the visited rooms and the exits between them, in the vocabulary of the game extractor."""
        visited = {normalise_name(room) for room in self._visited()}
        here = self._rooms[self.path[-1].percept.moment] if self.path else None
        if here is not None:
            yield v.place(v.PLAYER, v.IS_IN, here)
        for room in sorted(visited):
            yield v.kind(room, "room")
        for relation, direction in v.DIRECTION_OF.items():
            for fact in self.graph.view().facts(relation=relation):
                if {fact.key[0], fact.key[2]} <= visited:
                    yield v.link(fact.key[0], direction, fact.key[2])

    def unexplored(self) -> list[tuple[str, str]]:
        """Return the exits of visited rooms in the triplets that lead to no known room (Algorithm 3)."""
        view = self.graph.view()
        here = normalise_name(self._rooms[self.path[-1].percept.moment] or "") if self.path else ""
        exits: set[tuple[str, str]] = set()
        for room in map(normalise_name, self._visited()):
            found = {direction for fact in view.facts(subject=room) for direction in _exits_in(fact)}
            taken = {v.DIRECTION_OF.get(fact.key[1]) for fact in view.facts(object=room)}
            exits.update((room, direction) for direction in found - taken)
        return sorted(exits, key=lambda exit: (exit[0] != here, exit))


def _exits_in(fact: Fact) -> Iterator[str]:
    """Yield the directions of the exits that a triplet about a room states."""
    _, relation, object_ = fact.key
    if "has exit" in relation and object_ in v.OPPOSITE:
        yield object_
    elif any(word in relation for word in _EXIT_WORDS):
        words = {*relation.split(), *object_.split()}
        yield from (direction for direction in DIRECTIONS if direction in words)


def _quoted(facts: Iterable[Fact]) -> str:
    return "; ".join(f'"{fact}"' for fact in facts)

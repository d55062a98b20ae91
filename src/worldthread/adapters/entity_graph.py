"""Entities, relations and observations, as the reference memory server of the Model Context Protocol keeps them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from worldthread.errors import InputError, NotFoundError
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.provenance import LONGEST_VALUE, MetadataValue
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis

SOURCE: Final = "entity graph"
"""The source of the episodes of an :class:`EntityGraph`."""
_EXTRACTOR: Final = "entity graph/1"
_ENTITY, _OBSERVATION, _RELATION = "entity", "observation", "relation"


@dataclass(frozen=True)
class Entity:
    """A node of the graph.

    Args:
        name: its name; upper and lower case differ.
        entity_type: what it is.
        observations: what is known about it, one sentence each.
    """

    name: str
    entity_type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """An edge of the graph.

    Args:
        source: the name of the entity where it starts.
        target: the name of the entity where it ends.
        relation_type: the relation, in active voice.
    """

    source: str
    target: str
    relation_type: str


@dataclass(frozen=True)
class EntitiesAndRelations:
    """The graph, or a part of it.

    Args:
        entities: the entities, the oldest first.
        relations: the relations, the oldest first.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


@dataclass
class _Node:
    """An entity as recorded: its episodes beside its values."""

    number: int
    episode: str
    name: str
    entity_type: str
    observations: list[tuple[str, str]] = field(default_factory=list)  # episode and text

    def value(self) -> Entity:
        return Entity(self.name, self.entity_type, tuple(text for _, text in self.observations))


class EntityGraph:
    """The operations of the reference memory server on a memory, with its answers.

    Every entity, observation and relation is an episode of its own: a relation is a fact, an observation a thesis about
    its entity. So recall, questions, the page and exports find them beside everything else that is remembered, with the
    time at which they were written. What is deleted is forgotten: nothing of it stays. The graph has only what was
    written through it, and shows it as it was written.

    A change reads the graph before it writes; two of them at a time could write one entity twice. Let one memory that
    is open for writing make them, one after the other.

    Args:
        memory: holds the episodes; it can hold others beside them.
        clock: returns the time in seconds since 1970-01-01 UTC.

    Examples:
        >>> with Memory(embedder="fake") as memory:
        ...     graph = EntityGraph(memory)
        ...     _ = graph.create_entities([Entity("Anna", "person", ("Speaks Spanish",))])
        ...     _ = graph.create_relations([Relation("Anna", "Acme", "works at")])
        ...     [str(version.statement) for version in memory.about("Acme")]
        ['Anna, works at, Acme']
    """

    def __init__(self, memory: Memory, clock: Callable[[], float] = time.time) -> None:
        self._memory = memory
        self._clock = clock

    # -- reading ----------------------------------------------------------------------------------------------------

    def read(self) -> EntitiesAndRelations:
        """Return the whole graph."""
        state = self._state()
        return EntitiesAndRelations(
            tuple(node.value() for node in state.nodes), tuple(relation for _, relation in state.edges)
        )

    def search(self, query: str) -> EntitiesAndRelations:
        """Find entities by words that their name, type or observations contain, in any case.

        Args:
            query: the words, as they follow each other.

        Returns:
            The entities, and the relations that one of them has.
        """
        wanted = query.lower()
        return self._part(
            lambda entity: any(
                wanted in text.lower() for text in (entity.name, entity.entity_type, *entity.observations)
            )
        )

    def open(self, names: Iterable[str]) -> EntitiesAndRelations:
        """Return entities by their names.

        Args:
            names: the names, as they were written.

        Returns:
            Those of them that there are, and the relations that one of them has.
        """
        wanted = frozenset(names)
        return self._part(lambda entity: entity.name in wanted)

    def _part(self, fits: Callable[[Entity], bool]) -> EntitiesAndRelations:
        whole = self.read()
        entities = tuple(entity for entity in whole.entities if fits(entity))
        names = {entity.name for entity in entities}
        relations = tuple(edge for edge in whole.relations if edge.source in names or edge.target in names)
        return EntitiesAndRelations(entities, relations)

    # -- writing ----------------------------------------------------------------------------------------------------

    def create_entities(self, entities: Iterable[Entity]) -> list[Entity]:
        """Add the entities whose names are new.

        Args:
            entities: the entities.

        Returns:
            Those that were added.

        Raises:
            InputError: one of them cannot be recorded; then nothing is.
        """
        state = self._state()
        known = {node.name for node in state.nodes}
        added = [entity for entity in entities if entity.name not in known]
        at, number, episodes = self._clock(), state.last, []
        for entity in added:
            number += 1
            node = number
            episodes.append(_entity_episode(entity, node, at))
            for text in entity.observations:
                number += 1
                episodes.append(_observation_episode(entity.name, text, node, number, at))
        self._memory.record.add_many(episodes)
        return added

    def create_relations(self, relations: Iterable[Relation]) -> list[Relation]:
        """Add the relations that are new. Their ends need not be entities of the graph.

        Args:
            relations: the relations.

        Returns:
            Those that were added.

        Raises:
            InputError: one of them cannot be recorded; then nothing is.
        """
        state = self._state()
        known = {relation for _, relation in state.edges}
        added = [relation for relation in relations if relation not in known]
        at = self._clock()
        episodes = [_relation_episode(edge, state.last + index, at) for index, edge in enumerate(added, start=1)]
        self._memory.record.add_many(episodes)
        return added

    def add_observations(self, additions: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add the observations that are new to their entities.

        Args:
            additions: names of entities, each with texts.

        Returns:
            The names in the same order, each with the texts that were added.

        Raises:
            NotFoundError: there is no entity of that name; then nothing is recorded.
            InputError: a text cannot be recorded; then nothing is.
        """
        state = self._state()
        at, number, episodes = self._clock(), state.last, []
        results: list[tuple[str, list[str]]] = []
        for name, texts in additions:
            node = next((node for node in state.nodes if node.name == name), None)
            if node is None:
                raise NotFoundError(f"Entity with name {name} not found")
            known = {text for _, text in node.observations}
            added = [text for text in texts if text not in known]
            for text in added:
                number += 1
                episode = _observation_episode(name, text, node.number, number, at)
                node.observations.append((episode.id, text))
                episodes.append(episode)
            results.append((name, added))
        self._memory.record.add_many(episodes)
        return results

    def delete_entities(self, names: Iterable[str]) -> int:
        """Forget entities, with their observations and relations.

        Args:
            names: their names; those that there are not are passed over.

        Returns:
            How many episodes were forgotten.
        """
        wanted, state = frozenset(names), self._state()
        gone = [node for node in state.nodes if node.name in wanted]
        ids = [id_ for node in gone for id_ in (node.episode, *(id_ for id_, _ in node.observations))]
        ids += [id_ for id_, edge in state.edges if edge.source in wanted or edge.target in wanted]
        return self._forget(ids)

    def delete_observations(self, deletions: Iterable[tuple[str, Iterable[str]]]) -> int:
        """Forget observations.

        Args:
            deletions: names of entities, each with texts; what there is not is passed over.

        Returns:
            How many episodes were forgotten.
        """
        state, ids = self._state(), dict[str, None]()
        for name, texts in deletions:
            unwanted = frozenset(texts)
            node = next((node for node in state.nodes if node.name == name), None)
            if node is not None:
                ids |= {id_: None for id_, text in node.observations if text in unwanted}
        return self._forget(list(ids))

    def delete_relations(self, relations: Iterable[Relation]) -> int:
        """Forget relations.

        Args:
            relations: the relations; those that there are not are passed over.

        Returns:
            How many episodes were forgotten.
        """
        unwanted = frozenset(relations)
        return self._forget([id_ for id_, relation in self._state().edges if relation in unwanted])

    def _forget(self, ids: Sequence[str]) -> int:
        return len(self._memory.record.forget_many(ids)) if ids else 0

    # -- within -----------------------------------------------------------------------------------------------------

    def _state(self) -> _GraphState:
        found = [(int(episode.metadata["number"]), episode) for episode in self._memory.episodes(Filter(source=SOURCE))]
        found.sort(key=lambda pair: (pair[0], pair[1].id))
        nodes: dict[int, _Node] = {}
        edges: list[tuple[str, Relation]] = []
        for number, episode in found:
            item, values = episode.metadata["item"], _values(episode)
            if item == _ENTITY:
                name, entity_type = values
                nodes[number] = _Node(number, episode.id, name, entity_type)
            elif item == _RELATION:
                edges.append((episode.id, Relation(*values)))
        for _, episode in found:
            owner = nodes.get(int(episode.metadata.get("entity", 0)))
            if owner is not None:  # else its entity was forgotten on another way
                owner.observations.append((episode.id, _values(episode)[1]))
        return _GraphState(list(nodes.values()), edges, found[-1][0] if found else 0)


@dataclass
class _GraphState:
    nodes: list[_Node]
    edges: list[tuple[str, Relation]]
    last: int  # the highest number of an item; the order of the numbers is that of writing


def _entity_episode(entity: Entity, number: int, at: float) -> Episode:
    name, kind = entity.name, entity.entity_type
    return _episode(
        _ENTITY, (name, kind), f"{name} ({kind})", number, at, {}, lambda: Fact(_plain(name), "is a", _plain(kind))
    )


def _observation_episode(name: str, text: str, entity: int, number: int, at: float) -> Episode:
    # the name comes first, because a sentence such as "Speaks Spanish" says nothing without it
    said = f"{name}: {text}"
    return _episode(
        _OBSERVATION, (name, text), said, number, at, {"entity": entity}, lambda: Thesis(_plain(said), (_plain(name),))
    )


def _relation_episode(edge: Relation, number: int, at: float) -> Episode:
    values = (edge.source, edge.target, edge.relation_type)
    said = f"{edge.source} {edge.relation_type} {edge.target}"
    return _episode(
        _RELATION, values, said, number, at, {},
        lambda: Fact(_plain(edge.source), _plain(edge.relation_type), _plain(edge.target)),
    )  # fmt: skip


def _episode(
    item: str,
    values: Sequence[str],
    said: str,
    number: int,
    at: float,
    more: Mapping[str, MetadataValue],
    statement: Callable[[], Statement],
) -> Episode:
    """Return the episode of an item. Its metadata keep the values as given, which its text may not be able to."""
    payload = json.dumps(values)  # ASCII: NUL and half surrogates survive
    if len(payload) > LONGEST_VALUE:
        border = len(json.dumps(values[:-1]))
        if border > LONGEST_VALUE or not said.endswith(values[-1]) or _plain(said) != said:
            raise InputError(f"a {item} is too long: names and types may have some {LONGEST_VALUE:,} characters")
        payload = json.dumps([*values[:-1], len(values[-1])])  # the last value is the end of the text
    try:
        statements: tuple[Statement, ...] = (statement(),)
    except InputError:  # nothing that can be named, such as an empty name: text alone
        statements = ()
    text = _plain(said)
    metadata: dict[str, MetadataValue] = {"item": item, "number": number, "values": payload, **more}
    return Episode(
        text if text.strip() else "(empty)",
        at=at,
        source=SOURCE,
        extraction=Extraction(_EXTRACTOR, statements),
        metadata=metadata,
    )


def _values(episode: Episode) -> list[str]:
    values: list[Any] = json.loads(str(episode.metadata["values"]))
    if isinstance(values[-1], int):
        values[-1] = episode.text[len(episode.text) - values[-1] :]
    return values


def _plain(text: str) -> str:
    """Return a text that can be recorded."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()

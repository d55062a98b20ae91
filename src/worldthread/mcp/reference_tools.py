"""The tools of the reference memory server; their docstrings are the descriptions that models see."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Final

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from worldthread.adapters.entity_graph import EntitiesAndRelations, Entity, EntityGraph, Relation
from worldthread.errors import NotFoundError
from worldthread.mcp.shared import SharedMemory
from worldthread.mcp.tool_results import render_errors
from worldthread.schemas.arguments import MAX_ITEMS, MAX_NAME, MAX_TEXT

GRAPH_URI: Final = "memory://knowledge-graph"
"""The resource that holds the whole graph."""


# the names of arguments and fields are those of the reference server, so they are in camel case


class EntityArgument(BaseModel):
    """An entity, in the spelling of the reference server."""

    name: str = Field(max_length=MAX_NAME, description="The name of the entity")
    entityType: str = Field(max_length=MAX_NAME, description="The type of the entity")
    observations: list[Annotated[str, Field(max_length=MAX_TEXT)]] = Field(
        max_length=MAX_ITEMS, description="What is known about it, one sentence each"
    )


class RelationArgument(BaseModel):
    """A relation, in the spelling of the reference server."""

    from_: str = Field(alias="from", max_length=MAX_NAME, description="The name of the entity where it starts")
    to: str = Field(max_length=MAX_NAME, description="The name of the entity where it ends")
    relationType: str = Field(max_length=MAX_NAME, description="The relation, in active voice")


class Addition(BaseModel):
    """New observations of one entity."""

    entityName: str = Field(max_length=MAX_NAME, description="The name of the entity")
    contents: list[Annotated[str, Field(max_length=MAX_TEXT)]] = Field(
        max_length=MAX_ITEMS, description="The observations to add"
    )


class Deletion(BaseModel):
    """Observations of one entity that are no longer wanted."""

    entityName: str = Field(max_length=MAX_NAME, description="The name of the entity")
    observations: list[Annotated[str, Field(max_length=MAX_TEXT)]] = Field(
        max_length=MAX_ITEMS, description="The observations to delete, as they were written"
    )


class EntitiesResult(BaseModel):
    """The entities that were added."""

    entities: list[EntityArgument]


class RelationsResult(BaseModel):
    """The relations that were added."""

    relations: list[RelationArgument]


class GraphResult(BaseModel):
    """The graph, or a part of it."""

    entities: list[EntityArgument]
    relations: list[RelationArgument]


class Added(BaseModel):
    """The observations that were added to one entity."""

    entityName: str
    addedObservations: list[str]


class AddedResult(BaseModel):
    """The observations that were added."""

    results: list[Added]


class DeletedResult(BaseModel):
    """That something is no longer there."""

    success: bool
    message: str


Entities = Annotated[list[EntityArgument], Field(max_length=MAX_ITEMS)]
Relations = Annotated[list[RelationArgument], Field(max_length=MAX_ITEMS)]
Names = Annotated[list[Annotated[str, Field(max_length=MAX_NAME)]], Field(max_length=MAX_ITEMS)]


class ReferenceTools:
    """The tools of the reference memory server, on a memory.

    Args:
        shared: the memory.
    """

    def __init__(self, shared: SharedMemory) -> None:
        self._shared = shared

    @property
    def _graph(self) -> EntityGraph:
        return EntityGraph(self._shared.memory)

    @render_errors
    def create_entities(self, entities: Entities) -> Annotated[CallToolResult, EntitiesResult]:
        """Create multiple new entities in the knowledge graph. Entities whose names are known are passed over."""
        given = [Entity(one.name, one.entityType, tuple(one.observations)) for one in entities]
        with self._shared.writing(alone=True) as memory:
            added = EntityGraph(memory).create_entities(given)
        shown = [_shown_entity(entity) for entity in added]
        return _result(shown, {"entities": shown})

    @render_errors
    def create_relations(self, relations: Relations) -> Annotated[CallToolResult, RelationsResult]:
        """Create multiple new relations between entities in the knowledge graph. Use active voice."""
        with self._shared.writing(alone=True) as memory:
            added = EntityGraph(memory).create_relations(_relations(relations))
        shown = [_shown_relation(relation) for relation in added]
        return _result(shown, {"relations": shown})

    @render_errors
    def add_observations(
        self, observations: Annotated[list[Addition], Field(max_length=MAX_ITEMS)]
    ) -> Annotated[CallToolResult, AddedResult]:
        """Add new observations to existing entities in the knowledge graph."""
        given = [(one.entityName, one.contents) for one in observations]
        try:
            with self._shared.writing(alone=True) as memory:
                results = EntityGraph(memory).add_observations(given)
        except NotFoundError as error:  # raised on, the SDK would put words before the message
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
        shown = [{"entityName": name, "addedObservations": texts} for name, texts in results]
        return _result(shown, {"results": shown})

    @render_errors
    def delete_entities(self, entityNames: Names) -> Annotated[CallToolResult, DeletedResult]:
        """Delete multiple entities with their relations from the knowledge graph. Nothing of them is kept."""
        with self._shared.writing(alone=True) as memory:
            EntityGraph(memory).delete_entities(entityNames)
        return _deleted("Entities")

    @render_errors
    def delete_observations(
        self, deletions: Annotated[list[Deletion], Field(max_length=MAX_ITEMS)]
    ) -> Annotated[CallToolResult, DeletedResult]:
        """Delete specific observations from entities in the knowledge graph. Nothing of them is kept."""
        with self._shared.writing(alone=True) as memory:
            EntityGraph(memory).delete_observations([(one.entityName, one.observations) for one in deletions])
        return _deleted("Observations")

    @render_errors
    def delete_relations(self, relations: Relations) -> Annotated[CallToolResult, DeletedResult]:
        """Delete multiple relations from the knowledge graph. Nothing of them is kept."""
        with self._shared.writing(alone=True) as memory:
            EntityGraph(memory).delete_relations(_relations(relations))
        return _deleted("Relations")

    @render_errors
    def read_graph(self) -> Annotated[CallToolResult, GraphResult]:
        """Read the entire knowledge graph."""
        return _graph_result(self._graph.read())

    @render_errors
    def search_nodes(
        self,
        query: Annotated[
            str, Field(max_length=MAX_TEXT, description="Words that a name, a type or an observation contains")
        ],
    ) -> Annotated[CallToolResult, GraphResult]:
        """Search for nodes in the knowledge graph based on a query."""
        return _graph_result(self._graph.search(query))

    @render_errors
    def open_nodes(self, names: Names) -> Annotated[CallToolResult, GraphResult]:
        """Open specific nodes in the knowledge graph by their names."""
        return _graph_result(self._graph.open(names))


def whole_graph(shared: SharedMemory) -> str:
    """Return the graph of a memory as JSON, in the form of the reference server."""
    return as_json(_shown_graph(EntityGraph(shared.memory).read()))


def as_json(value: Any) -> str:
    """Return a value as JSON in the layout of the reference server, letter for letter."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _relations(given: Sequence[RelationArgument]) -> list[Relation]:
    return [Relation(one.from_, one.to, one.relationType) for one in given]


def _shown_entity(entity: Entity) -> dict[str, Any]:
    return {"name": entity.name, "entityType": entity.entity_type, "observations": list(entity.observations)}


def _shown_relation(relation: Relation) -> dict[str, Any]:
    return {"from": relation.source, "to": relation.target, "relationType": relation.relation_type}


def _shown_graph(graph: EntitiesAndRelations) -> dict[str, Any]:
    return {
        "entities": [_shown_entity(entity) for entity in graph.entities],
        "relations": [_shown_relation(relation) for relation in graph.relations],
    }


def _graph_result(graph: EntitiesAndRelations) -> CallToolResult:
    shown = _shown_graph(graph)
    return _result(shown, shown)


def _deleted(what: str) -> CallToolResult:
    message = f"{what} deleted successfully"
    return CallToolResult(
        content=[TextContent(type="text", text=message)], structured_content={"success": True, "message": message}
    )


def _result(text: Any, data: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=as_json(text))], structured_content=data)

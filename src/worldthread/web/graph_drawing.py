"""Drawings of a graph: all of a small graph, or the neighbourhood of a name.

A drawing has vertices and edges. A fact is an edge between two names; a thesis is a vertex with an edge to each of its
objects; an episode is a vertex with an edge to each name that it mentions. Every edge has the intervals in which it
held, so that a browser can show any time without another request.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from worldthread.extract.when import shown_name
from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name
from worldthread.support.text import cut, one_line
from worldthread.types import Fact, Statement, Thesis, Version
from worldthread.web.name_kinds import name_kind
from worldthread.web.names import NameIndex

MAX_WHOLE: Final = 5000
"""The most vertices of a graph that is drawn as a whole."""
MAX_STATEMENTS: Final = 20_000
"""The most statements of a graph that is drawn as a whole."""
_LABEL: Final = 80  # characters
_MAX_SEARCHED: Final = 200  # a neighbour with more statements is not searched for facts about other neighbours
_MAX_BETWEEN: Final = 400  # facts between neighbours
_SOURCES: Final = 3  # episodes drawn for one statement


@dataclass
class GraphDrawing:
    """The vertices and edges of a drawing, each once.

    Args:
        graph: the graph; it must not change while it is drawn.
        names: gives the weights of vertices.
        with_episodes: also draw episodes.
    """

    graph: TemporalGraph
    names: NameIndex
    with_episodes: bool = False

    def __post_init__(self) -> None:
        self._vertices: dict[str, dict[str, Any]] = {}
        self._edges: dict[str, dict[str, Any]] = {}
        self._statements: set[int] = set()

    def as_json(self) -> dict[str, Any]:
        """Return the drawing as data for JSON.

        Returns:
            ``vertices``, each with ``id``, ``kind``, ``label``, ``name`` and ``type`` (of an entity; see
            :func:`~worldthread.web.name_kinds.name_kind`) and ``weight`` (the number of statements about it); and
            ``edges``, each with ``id``, ``from``, ``to``, ``kind``, ``relation``, ``number`` (of the statement),
            ``episode``, ``restates`` (whether it belongs to a thesis that says what a drawn fact says), ``alone`` (of a
            thesis: whether it has one object), and ``held``: half-open intervals of world time, with ``null`` for an
            open end.
        """
        return {"vertices": list(self._vertices.values()), "edges": list(self._edges.values())}

    def add_entity(self, name: str, label: str | None = None) -> str:
        """Draw a name, and return the id of its vertex."""
        id_ = f"e:{name}"
        vertex = self._vertices.get(id_)
        if vertex is None:
            self._vertices[id_] = {
                "id": id_, "kind": "entity", "label": _label(shown_name(label or name)), "name": name,
                "weight": self.names.weight(name), "type": name_kind(self.graph, name),
            }  # fmt: skip
        elif label is not None and vertex["label"] == name:
            vertex["label"] = _label(shown_name(label))
        return id_

    def add_statement(self, number: int) -> None:
        """Draw a statement with its names; leave it out if no episode asserts it."""
        if number in self._statements:
            return
        self._statements.add(number)
        versions = self.graph.lasting_versions(number)
        if not versions:
            return
        statement, held = versions[0].statement, intervals(versions)
        written = written_names(statement)
        if isinstance(statement, Fact):
            subject, _, object_ = statement.key
            ends = self.add_entity(subject, written.get(subject)), self.add_entity(object_, written.get(object_))
            self._add_edge(f"s:{number}", *ends, "fact", statement.relation, held, number)
        else:
            vertex = f"t:{number}"
            objects = self.graph.names_of(number)
            self._vertices[vertex] = {
                "id": vertex, "kind": "thesis", "label": _label(statement.text), "number": number,
                "weight": len(objects),
            }  # fmt: skip
            restates = restated_fact(self.graph, number) is not None
            for index, name in enumerate(objects):
                end = self.add_entity(name, written.get(name))
                id_ = f"s:{number}:{index}"
                self._add_edge(id_, vertex, end, "thesis", "speaks of", held, number, restates=restates)
                self._edges[id_]["alone"] = len(objects) == 1
        if self.with_episodes:
            for id_ in dict.fromkeys(source for version in versions for source in version.sources[:_SOURCES]):
                self._connect_episode(id_, number)

    def add_episode(self, number: int) -> None:
        """Draw the episode with a number and its statements; leave it out if it was forgotten."""
        record = self.graph.numbered_episode(number)
        if record is None:
            return
        self._episode_vertex(record.id)
        for statement in self.graph.statements_of(number):
            self.add_statement(statement)
            self._connect_episode(record.id, statement)

    def _episode_vertex(self, id_: str) -> tuple[str, float]:
        vertex, record = f"p:{id_}", self.graph.episode(id_)
        if vertex not in self._vertices:
            self._vertices[vertex] = {
                "id": vertex, "kind": "episode", "label": _label(record.source or "episode"), "episode": id_,
                "at": record.at, "weight": 1,
            }  # fmt: skip
        return vertex, record.at

    def _connect_episode(self, id_: str, statement: int) -> None:
        """Connect an episode with a statement: with the thesis, or with the two names of a fact."""
        vertex, at = self._episode_vertex(id_)
        is_fact = self.graph.is_fact(statement)
        ends = [f"e:{name}" for name in self.graph.names_of(statement)] if is_fact else [f"t:{statement}"]
        for end in ends:
            self._add_edge(f"{vertex}>{end}", vertex, end, "episode", "tells of", [[at, None]], None, id_)

    def _add_edge(
        self, id_: str, start: str, end: str, kind: str, relation: str, held: list[list[float | None]],
        number: int | None, episode: str | None = None, *, restates: bool = False,
    ) -> None:  # fmt: skip
        self._edges.setdefault(
            id_,
            {"id": id_, "from": start, "to": end, "kind": kind, "relation": _label(relation), "held": held,
             "number": number, "episode": episode, "restates": restates},
        )  # fmt: skip


def is_small(graph: TemporalGraph, names: NameIndex, *, with_episodes: bool = False) -> bool:
    """Return whether a graph is drawn as a whole."""
    statements = graph.statement_numbers
    if len(statements) > MAX_STATEMENTS or len(names) > MAX_WHOLE:
        return False
    theses = sum(1 for number in statements if not graph.is_fact(number))
    return len(names) + theses + (len(graph) if with_episodes else 0) <= MAX_WHOLE


def whole(graph: TemporalGraph, names: NameIndex, *, with_episodes: bool = False) -> GraphDrawing:
    """Return a drawing of the whole graph, including the past."""
    drawing = GraphDrawing(graph, names, with_episodes)
    for number in graph.statement_numbers:
        drawing.add_statement(number)
    return drawing


def neighbourhood(
    graph: TemporalGraph, names: NameIndex, name: str, *, offset: int, limit: int, with_episodes: bool = False
) -> tuple[GraphDrawing, int]:
    """Draw a name with some of the statements about it, the names in those, and facts between these names.

    Statements that hold now come first, and among them those with the strongest names.

    Args:
        graph: the graph.
        names: gives the weights of names.
        name: the name at the centre.
        offset: how many statements to skip.
        limit: how many statements to draw.
        with_episodes: also draw episodes.

    Returns:
        The drawing, and the number of all statements about the name.
    """
    key = normalise_name(name)
    numbers = graph.numbers_about(key)
    drawing = GraphDrawing(graph, names, with_episodes)
    drawing.add_entity(key)

    def rank(number: int) -> tuple[bool, int, int]:
        others = (names.weight(other) for other in graph.names_of(number) if other != key)
        return not graph.lasts(number), -max(others, default=0), number

    shown = heapq.nsmallest(offset + limit, numbers, key=rank)[offset:]
    for number in shown:
        drawing.add_statement(number)
    _add_between(drawing, (other for number in shown for other in graph.names_of(number) if other != key))
    return drawing, len(numbers)


def _add_between(drawing: GraphDrawing, others: Iterable[str]) -> None:
    """Draw facts between two of these names."""
    graph = drawing.graph
    known = set(others)
    left = _MAX_BETWEEN
    for name in sorted(known):
        if drawing.names.weight(name) > _MAX_SEARCHED:
            continue
        for number in graph.numbers_about(name):
            if graph.is_fact(number) and known.issuperset(graph.names_of(number)):
                drawing.add_statement(number)
                left -= 1
                if not left:
                    return


def restated_fact(graph: TemporalGraph, number: int) -> int | None:
    """Return the number of a fact that says what a thesis says, so that one of both is enough to show.

    The fact comes from an episode of the thesis and is about two of its objects; both state the same aspect, or the
    sentence has the first long word of the relation.

    Args:
        graph: the graph.
        number: the number of the thesis.

    Returns:
        The number; ``None`` if there is no such fact, or the number is one of a fact.
    """
    thesis = graph.numbered_statement(number)
    if not isinstance(thesis, Thesis):
        return None
    objects = set(graph.names_of(number))
    words = set(normalise_name(thesis.text).split())
    for id_ in graph.asserting(number)[:_SOURCES]:
        for other in graph.extracted(id_):
            if not isinstance(other, Fact):
                continue
            subject, relation, object_ = other.key
            if not objects.issuperset((subject, object_)):
                continue
            telling = max(relation.split(), key=len, default="")
            if (thesis.aspect is not None and other.aspect == thesis.aspect) or telling in words:
                return graph.number_of(other, id_)
    return None


def intervals(versions: Iterable[Version]) -> list[list[float | None]]:
    """Return the intervals in which a statement held, with ``None`` for an open end."""
    return [[v.interval.valid_from, None if v.interval.is_open else v.interval.valid_to] for v in versions]


def written_names(statement: Statement) -> dict[str, str]:
    """Return the names in a statement as they were written, by normalised name."""
    names = (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects
    return {normalise_name(name): name for name in names}


def _label(text: str) -> str:
    return cut(one_line(text), _LABEL)

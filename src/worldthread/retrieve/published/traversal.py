"""The graph that paths are sought in: objects (O), theses (T) and episodes (E) as vertices, in arrays.

Edges, all walked in both directions (PersonalAI, sections III.A and III.D):

* a fact joins its subject and its object, and is the edge's label;
* a thesis is joined to each of its objects; its number is the label of these edges;
* an episode is joined to each thesis that it asserts and each object of its statements; the episode is the label.

A *vertex* is one whole number: three times the number of the object, statement or episode, plus its kind. A *label* is
the number of a statement, or -1 minus the number of an episode. Edges are kept for everything that was ever asserted
and only added to; what holds at a moment is looked up where a :class:`FilteredGraph` comes by, and remembered until the
graph changes. So taking in an episode costs no more in a large graph than in a small one.
"""

from __future__ import annotations

import threading
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.integer_table import IntegerTable
from worldthread.retrieve.sparse import CSRAdjacency, Numbers, half_edges
from worldthread.vectors.exact import VectorTable

OBJECT: Final = 0
THESIS: Final = 1
EPISODE: Final = 2
KINDS: Final = 3
LETTERS: Final = "OTE"
"""Letters of the kinds of vertices, by kind."""

_UNKNOWN: Final = 0
_OPEN: Final = 1
_SHUT: Final = 2
_KEPT_WALKS: Final = 4


def vertex_of(number: int, kind: int) -> int:
    """The vertex of an object, statement (a thesis) or episode."""
    return KINDS * number + kind


class VertexGraph:
    """Vertices and edges of one temporal graph; follows it with :meth:`take`.

    Args:
        graph: the graph.
        dimensions: length of the vectors of names.
    """

    def __init__(self, graph: TemporalGraph, dimensions: int) -> None:
        self.graph = graph
        self.names: list[str] = []
        """Normalised names of the objects, by number."""
        self.name_vectors = VectorTable(dimensions)
        """Vectors of the names of objects; filled by whoever has an embedder, rows of zeros until then."""
        self._objects: dict[str, int] = {}
        self._edges = IntegerTable(3)  # (vertex, vertex, label)
        self._statements = self._episodes = 0  # numbers before these are in the edges
        self._half: CSRAdjacency | None = None
        self._sorted = 0  # edges before this one are in it
        self._change_count = -1
        self._walks: dict[tuple[float | None, bool, str], FilteredGraph] = {}

    def find(self, name: str) -> int | None:
        """The number of the object with a normalised name."""
        return self._objects.get(name)

    @property
    def labels(self) -> NDArray[np.int32]:
        """The label of every edge."""
        return self._edges.column(2)

    @property
    def ends(self) -> NDArray[np.int32]:
        """Both vertices of every edge, shape (edges, 2); of a fact its subject, then its object."""
        return self._edges.rows[:, :2]

    def counts(self) -> dict[str, int]:
        """Numbers of objects and of edges by kind, of all that was ever asserted."""
        kinds = np.where(self.labels < 0, EPISODE, self.ends[:, 0] % KINDS)
        by_kind = np.bincount(kinds, minlength=KINDS)
        return {
            "objects": len(self.names),
            **{f"{name}_edges": int(by_kind[kind]) for kind, name in enumerate(("object", "thesis", "episodic"))},
        }

    def take(self) -> None:
        """Take in what is new in the graph."""
        graph = self.graph
        if graph.change_count == self._change_count:
            return
        self._change_count = graph.change_count
        self.look_again()
        edges: list[tuple[int, ...]] = []
        for number in range(self._statements, len(graph.statement_numbers)):
            objects = [KINDS * self._object(name) + OBJECT for name in graph.names_of(number)]
            if graph.is_fact(number):
                edges.append((*objects, number))
            else:
                thesis = vertex_of(number, THESIS)
                edges += [(thesis, object_, number) for object_ in dict.fromkeys(objects)]
        self._statements = len(graph.statement_numbers)
        for number in range(self._episodes, len(graph.episode_numbers)):
            edges += self._edges_of_episode(number)
        self._episodes = len(graph.episode_numbers)
        self._edges.extend(edges)
        self.name_vectors.extend(len(self.names))

    def look_again(self) -> None:
        """Forget what holds, as after a change."""
        self._walks.clear()

    def _edges_of_episode(self, number: int) -> list[tuple[int, ...]]:
        graph, objects = self.graph, self._objects
        far: dict[int, None] = {}
        for statement in graph.statements_of(number):
            if not graph.is_fact(statement):
                far[vertex_of(statement, THESIS)] = None
            for name in graph.names_of(statement):
                far[KINDS * objects[name] + OBJECT] = None
        episode = vertex_of(number, EPISODE)
        return [(episode, vertex, -1 - number) for vertex in far]

    def _object(self, name: str) -> int:
        number = self._objects.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    @property
    def half(self) -> CSRAdjacency:
        """The edges by vertex."""
        if self._half is None or self._sorted < len(self._edges):
            vertices = KINDS * max(len(self.names), self._statements, self._episodes, 1)
            self._half = half_edges(self.ends, vertices, self._half)
            self._sorted = len(self._edges)
        return self._half

    def walk(self, at: float | None = None, only_current: bool = True, vertices: str = LETTERS) -> FilteredGraph:
        """What may be walked over.

        Args:
            at: a moment of world time; ``None`` for now. Episodes after it are left out.
            only_current: leave out statements that do not hold at that moment, and episodes of which nothing does.
            vertices: the letters of the kinds that may be stepped on, of :data:`LETTERS`.

        Raises:
            InputError: ``vertices`` has another letter.
        """
        if not set(vertices) <= set(LETTERS):
            raise InputError(f"vertices are some of the letters {LETTERS}, not {vertices!r}")
        key = (at, only_current, "".join(sorted(set(vertices))))
        found = self._walks.get(key)
        if found is None:
            if len(self._walks) >= _KEPT_WALKS:
                self._walks.pop(next(iter(self._walks)))
            found = self._walks[key] = FilteredGraph(self, at, only_current, vertices)
        return found


class FilteredGraph:
    """A vertex graph as one query may walk it. Remembers what it looked up; valid until the graph changes."""

    def __init__(self, over: VertexGraph, at: float | None, only_current: bool, vertices: str) -> None:
        self.over = over
        self.labels = over.labels
        self.half = over.half
        self._graph = over.graph
        self._at = at
        self._only_current = only_current
        self.may = np.array([letter in vertices for letter in LETTERS])
        """Of each kind, whether it may be stepped on."""
        self._states = np.zeros(len(self.half.far), np.int8)  # of half-edges
        self._statements = np.zeros(len(over.graph.statement_numbers), np.int8)
        self._episodes = np.zeros(len(over.graph.episode_numbers), np.int8)

    @property
    def size(self) -> int:
        """More than any vertex."""
        return KINDS * max(len(self.over.names), len(self._statements), len(self._episodes), 1)

    def steps(self, vertices: NDArray[np.integer[Any]]) -> tuple[Numbers, NDArray[np.int32], NDArray[np.int32]]:
        """Every step from any of ``vertices``: (index into ``vertices``, vertex stepped on, edge)."""
        places, counts = self.half.places(vertices)
        owners = np.repeat(np.arange(len(vertices)), counts)
        states = self._states[places]
        if not states.all():
            self._look_at(places[states == _UNKNOWN])
            states = self._states[places]
        is_open = states == _OPEN
        places = places[is_open]
        return owners[is_open], self.half.far[places], self.half.edge[places]

    def steps_from(self, vertex: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Every step from one vertex: (vertex stepped on, edge). The quickest way."""
        half = self.half
        if len(half.late) or vertex + 1 >= len(half.pointers):
            return self.steps(np.array([vertex]))[1:]
        span = slice(half.pointers[vertex], half.pointers[vertex + 1])
        states = self._states[span]
        if not states.all():
            self._look_at(span.start + np.flatnonzero(states == _UNKNOWN))
        far, edge = half.far[span], half.edge[span]
        if _SHUT in states:
            is_open = states == _OPEN
            return far[is_open], edge[is_open]
        return far, edge

    def _look_at(self, places: Numbers) -> None:
        """Find out which half-edges are open."""
        far = self.half.far[places]
        labels = self.labels[self.half.edge[places]]
        numbers, kinds = np.divmod(far, KINDS)
        is_open = self.may[kinds]
        for chosen, lookup, those in (
            (labels >= 0, self.holds, labels),
            (labels < 0, self.present, -1 - labels),
            ((labels < 0) & (kinds == THESIS), self.holds, numbers),
        ):
            where = np.flatnonzero(chosen & is_open)
            is_open[where] = lookup(those[where])
        self._states[places] = np.where(is_open, _OPEN, _SHUT)

    def holds(self, statements: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Which of the statements hold; or are asserted at all, when those that do not hold may be used too."""
        states = self._statements
        for number in np.unique(statements[states[statements] == _UNKNOWN]).tolist():
            if self._only_current:
                holds = self._graph.statement_holds(number, self._at)
            else:
                holds = self._graph.numbered_statement(number) is not None
            states[number] = _OPEN if holds else _SHUT
        return np.asarray(states[statements] == _OPEN)

    def present(self, episodes: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Which of the episodes may be used: those that are there, not later, and not outdated as a whole."""
        states = self._episodes
        for number in np.unique(episodes[states[episodes] == _UNKNOWN]).tolist():
            states[number] = _OPEN if self._is_present(number) else _SHUT
        return np.asarray(states[episodes] == _OPEN)

    def _is_present(self, number: int) -> bool:
        record = self._graph.numbered_episode(number)
        if record is None or (self._at is not None and record.at > self._at):
            return False
        stated = np.array(self._graph.statements_of(number) if self._only_current else (), np.int64)
        return not len(stated) or bool(self.holds(stated).any())

    def key(self, vertex: int) -> tuple[int, str]:
        """What tells vertices apart by their content alone, however they are numbered. For breaking ties."""
        number, kind = divmod(vertex, KINDS)
        if kind == OBJECT:
            return kind, self.over.names[number]
        return kind, self.id_of(number if kind == THESIS else -1 - number)

    def id_of(self, label: int) -> str:
        """The id of the statement or episode of a label; empty when it is gone."""
        of = self._graph.numbered_statement(label) if label >= 0 else self._graph.numbered_episode(-1 - label)
        return "" if of is None else of.id


_LOCK: Final = threading.Lock()
_GRAPHS: Final[WeakKeyDictionary[RetrievalIndex, VertexGraph]] = WeakKeyDictionary()


def vertex_graph(corpus: RetrievalIndex) -> VertexGraph:
    """The vertices and edges of a corpus' graph, up to date."""
    with _LOCK:
        found = _GRAPHS.get(corpus)
        if found is None or found.graph is not corpus.graph:
            found = _GRAPHS[corpus] = VertexGraph(corpus.graph, corpus.statements.dimensions)
        found.take()
        return found

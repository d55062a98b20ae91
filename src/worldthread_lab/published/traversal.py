"""The graph in which paths are searched: objects (O), theses (T) and episodes (E) as vertices, in arrays.

Edges, all usable in both directions (PersonalAI, sections III.A and III.D):

* a fact joins its subject and its object, and is the edge's label;
* a thesis is joined to each of its objects; its number is the label of these edges;
* an episode is joined to each thesis that it asserts and each object of its statements; the episode is the label.

A *vertex* is one integer: three times the number of the object, statement or episode, plus its kind. A *label* is the
number of a statement, or -1 minus the number of an episode. The edges of everything that was ever asserted are kept and
only added to; what holds at a time is looked up where a search in a :class:`FilteredGraph` comes to it, and remembered
until the graph changes. So adding an episode costs no more in a large graph than in a small one.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.retrieve.cache import CacheKey, DerivedCache
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.integer_table import IntegerTable
from worldthread.retrieve.sparse import CSRAdjacency, Numbers, make_adjacency
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
_KEPT_GRAPHS: Final = 4


def vertex_of(number: int, kind: int) -> int:
    """Return the vertex of an object, a thesis (``number`` is that of the statement) or an episode."""
    return KINDS * number + kind


class VertexGraph:
    """All vertices and edges of one temporal graph, kept up to date by :meth:`take`.

    Args:
        graph: the temporal graph.
        dimensions: length of the vectors of names.
    """

    def __init__(self, graph: TemporalGraph, dimensions: int) -> None:
        self.graph = graph
        self.names: list[str] = []
        """Normalised names of the objects, by number."""
        self.name_vectors = VectorTable(dimensions)
        """Vectors of the names of objects; rows of zeros until somebody with an embedder fills them."""
        self.derived = DerivedCache()
        """Values computed from the graph, which hold as it grows."""
        self._name_ties = np.zeros(0, np.uint64)
        self._objects: dict[str, int] = {}
        self._edges = IntegerTable(3)  # (vertex, vertex, label)
        self._statements = self._episodes = 0  # those with lower numbers are in the edges
        self._adjacency: CSRAdjacency | None = None
        self._sorted = 0  # edges before this one are in the adjacency
        self._change_count = -1
        self._filtered: dict[tuple[float | None, bool, str], FilteredGraph] = {}

    def find(self, name: str) -> int | None:
        """Return the number of the object with a normalised name; ``None`` when there is none."""
        return self._objects.get(name)

    @property
    def name_ties(self) -> NDArray[np.uint64]:
        """For every name a number that depends on the name alone: it orders names where their numbers must not."""
        late = self.names[len(self._name_ties) :]
        if late:
            self._name_ties = np.concatenate((self._name_ties, np.array([_tie(name) for name in late], np.uint64)))
        return self._name_ties

    @property
    def labels(self) -> NDArray[np.int32]:
        """The label of every edge, shape (edges,)."""
        return self._edges.column(2)

    @property
    def ends(self) -> NDArray[np.int32]:
        """Both vertices of every edge, shape (edges, 2); for a fact the subject, then the object."""
        return self._edges.rows[:, :2]

    def counts(self) -> dict[str, int]:
        """Return the number of objects and of edges of each kind, of everything that was ever asserted."""
        kinds = np.where(self.labels < 0, EPISODE, self.ends[:, 0] % KINDS)
        by_kind = np.bincount(kinds, minlength=KINDS)
        return {
            "objects": len(self.names),
            **{f"{name}_edges": int(by_kind[kind]) for kind, name in enumerate(("object", "thesis", "episodic"))},
        }

    def take(self) -> None:
        """Add what is new in the temporal graph."""
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
        """Drop what was looked up about what holds, as after a change."""
        self._filtered.clear()

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
    def adjacency(self) -> CSRAdjacency:
        """The edges by vertex, up to date."""
        if self._adjacency is None or self._sorted < len(self._edges):
            vertices = KINDS * max(len(self.names), self._statements, self._episodes, 1)
            self._adjacency = make_adjacency(self.ends, vertices, self._adjacency)
            self._sorted = len(self._edges)
        return self._adjacency

    def filtered(self, at: float | None = None, only_current: bool = True, vertices: str = LETTERS) -> FilteredGraph:
        """Return the part of the graph that a query may use.

        Args:
            at: a world time; ``None`` for now. Episodes after it are left out.
            only_current: leave out statements that do not hold at that time, and episodes of which nothing holds.
            vertices: the letters (of :data:`LETTERS`) of the kinds that may be stepped on.

        Returns:
            A graph that is valid until the temporal graph changes; the last few are kept.

        Raises:
            InputError: ``vertices`` has another letter.
        """
        if not set(vertices) <= set(LETTERS):
            raise InputError(f"vertices must be some of the letters {LETTERS}, not {vertices!r}")
        key = (at, only_current, "".join(sorted(set(vertices))))
        found = self._filtered.get(key)
        if found is None:
            if len(self._filtered) >= _KEPT_GRAPHS:
                self._filtered.pop(next(iter(self._filtered)))
            found = self._filtered[key] = FilteredGraph(self, at, only_current, vertices)
        return found


class FilteredGraph:
    """The part of a vertex graph that a query may use; see :meth:`VertexGraph.filtered`.

    What holds is looked up when a search comes to it, and remembered.

    Args:
        full: the whole graph.
        at: a world time; ``None`` for now.
        only_current: leave out what does not hold at that time.
        vertices: letters of the kinds that may be stepped on.
        ends: vertices that may be stepped on whatever their kind.
    """

    def __init__(
        self,
        full: VertexGraph,
        at: float | None,
        only_current: bool,
        vertices: str,
        ends: NDArray[np.integer[Any]] | None = None,
    ) -> None:
        self.full = full
        self.labels = full.labels
        self.adjacency = full.adjacency
        self._graph = full.graph
        self._at = at
        self._only_current = only_current
        self._vertices = vertices
        self._ends = ends
        self.may = np.array([letter in vertices for letter in LETTERS])
        """For each kind, whether it may be stepped on."""
        self._states = np.zeros(len(self.adjacency.far), np.int8)  # of entries of the adjacency
        self._statements = np.zeros(len(full.graph.statement_numbers), np.int8)
        self._episodes = np.zeros(len(full.graph.episode_numbers), np.int8)

    def with_ends(self, ends: NDArray[np.integer[Any]]) -> FilteredGraph:
        """Return this graph with some vertices that may be stepped on whatever their kind.

        Args:
            ends: the vertices, such as the starts and targets of searches, shape (n,).

        Returns:
            A graph that is valid as long as this one; this one if the kinds of ``ends`` may be stepped on.
        """
        if self.may_pass(ends).all():
            return self
        return FilteredGraph(self.full, self._at, self._only_current, self._vertices, np.unique(ends))

    def may_pass(self, vertices: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return which vertices are of a kind that may be stepped on, shape (len(vertices),)."""
        return np.asarray(self.may[vertices % KINDS])

    @property
    def size(self) -> int:
        """More than any vertex."""
        return KINDS * max(len(self.full.names), len(self._statements), len(self._episodes), 1)

    def steps(self, vertices: NDArray[np.integer[Any]]) -> tuple[Numbers, NDArray[np.int32], NDArray[np.int32]]:
        """Return every step from any of ``vertices``.

        Args:
            vertices: where the steps begin, shape (n,).

        Returns:
            For each step the position in ``vertices`` that it begins at, the vertex that it leads to, and the edge.
        """
        places, counts = self.adjacency.places(vertices)
        owners = np.repeat(np.arange(len(vertices)), counts)
        states = self._states[places]
        if not states.all():
            self._look_at(places[states == _UNKNOWN])
            states = self._states[places]
        is_open = states == _OPEN
        places = places[is_open]
        return owners[is_open], self.adjacency.far[places], self.adjacency.edge[places]

    def steps_from(self, vertex: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return every step from one vertex: the vertices that the steps lead to, and the edges."""
        adjacency = self.adjacency
        span = adjacency.span(vertex)
        if span is None:
            return self.steps(np.array([vertex]))[1:]
        states = self._states[span]
        if not states.all():
            self._look_at(span.start + np.flatnonzero(states == _UNKNOWN))
        far, edge = adjacency.far[span], adjacency.edge[span]
        if _SHUT in states:
            is_open = states == _OPEN
            return far[is_open], edge[is_open]
        return far, edge

    def _look_at(self, places: Numbers) -> None:
        """Look up which entries of the adjacency may be used."""
        far = self.adjacency.far[places]
        labels = self.labels[self.adjacency.edge[places]]
        numbers, kinds = np.divmod(far, KINDS)
        is_open = self.may[kinds]
        if self._ends is not None:
            is_open |= np.isin(far, self._ends)
        for chosen, lookup, those in (
            (labels >= 0, self.holds, labels),
            (labels < 0, self.present, -1 - labels),
            ((labels < 0) & (kinds == THESIS), self.holds, numbers),
        ):
            where = np.flatnonzero(chosen & is_open)
            is_open[where] = lookup(those[where])
        self._states[places] = np.where(is_open, _OPEN, _SHUT)

    def holds(self, statements: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return which statements may be used: those that hold or, unless only current ones may, that exist."""
        states = self._statements
        for number in np.unique(statements[states[statements] == _UNKNOWN]).tolist():
            if self._only_current:
                holds = self._graph.statement_holds(number, self._at)
            else:
                holds = self._graph.numbered_statement(number) is not None
            states[number] = _OPEN if holds else _SHUT
        return np.asarray(states[statements] == _OPEN)

    def present(self, episodes: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return which episodes may be used: those that exist, are not later, and are not outdated as a whole."""
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
        """Return a sort key that depends on the content of a vertex, not on its number; it breaks ties."""
        number, kind = divmod(vertex, KINDS)
        if kind == OBJECT:
            return kind, self.full.names[number]
        return kind, self.id_of(number if kind == THESIS else -1 - number)

    def id_of(self, label: int) -> str:
        """Return the id of the statement or episode of a label; empty when it was forgotten."""
        item = self._graph.numbered_statement(label) if label >= 0 else self._graph.numbered_episode(-1 - label)
        return "" if item is None else item.id


def _tie(name: str) -> int:
    data = name.encode("utf-8", "surrogatepass")
    return zlib.crc32(data) << 32 | zlib.crc32(data[::-1])  # a third of the time of a digest


_VERTEX_GRAPH: Final = CacheKey["VertexGraph"]("vertex graph")


def vertex_graph(index: RetrievalIndex) -> VertexGraph:
    """Return the vertices and edges of an index's graph, up to date."""
    kept = index.derived_by_graph
    with kept.lock:
        found = kept.get(_VERTEX_GRAPH, lambda: VertexGraph(index.graph, index.statements.dimensions))
        found.take()
        return found

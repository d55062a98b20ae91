"""A*: what is on short paths between the things that a question names (PersonalAI, section III.D).

There is one search for every pair of starts, from the one named first. Every step costs 1, g is the number of steps so
far, and the vertex with the least g + h is expanded next. With e the vectors of vertices, n the vertex, t the target,
and d(a, b) = 1 - <e_a, e_b>:

* ``ip``: h = d(n, t);
* ``weighted``: h = d(n, t) x steps of the shortest path from n to t;
* ``averaged``: h = the mean of d over the steps of the path to n and of d(n, t), times the same. The published code
  takes the sum instead of the mean: ``unaveraged``;
* ``none``: h = 0, which finds a shortest path.

All triples between neighbours on the path are found. A thesis or episode has its own vector. An object has the vector
of its name, if there is one (:func:`~worldthread_lab.published.linking.pending_names`), else that of the statement
or episode by which it was reached; a start or target has the mean of those around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal

import numpy as np

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread_lab.published.astar_search import BatchedSearch, Heuristic
from worldthread_lab.published.linking import entities_of
from worldthread_lab.published.paths import GraphPath, QuestionSimilarity, labels_on, nothing, scores
from worldthread_lab.published.traversal import KINDS, LETTERS, OBJECT, FilteredGraph, vertex_graph

HEURISTICS: Final = ("ip", "weighted", "averaged", "unaveraged", "none")

_ROOM: Final = 1 << 24  # pairs searched at once, times vertices


@dataclass(frozen=True)
class AStarSettings:
    """Settings of :func:`astar`; the defaults are those of PersonalAI, Appendix E.

    Args:
        heuristic: see the module.
        max_depth: vertices this many steps from the start are not expanded.
        max_passed_vertices: how many vertices one search expands at most, at least 1.
        neighbourhood: when no path is found, as with a single start, return what is next to the starts. PersonalAI
            has no such step: it finds nothing for a single start.
        last_expanded: when the target is not reached, return the path to the vertex expanded last, as the published
            code does.
        vertices: letters of the kinds of vertices that a path may pass; a start or target may be of any kind.
        nearest: see :func:`~worldthread_lab.published.linking.entities_of`.
    """

    heuristic: Literal["ip", "weighted", "averaged", "unaveraged", "none"] = "ip"
    max_depth: int = 10
    max_passed_vertices: int = 150
    neighbourhood: bool = False
    last_expanded: bool = False
    vertices: str = LETTERS
    nearest: int = 0

    def __post_init__(self) -> None:
        if self.heuristic not in HEURISTICS:
            raise InputError(f"no heuristic is called {self.heuristic!r}; there are: {', '.join(HEURISTICS)}")
        if self.max_passed_vertices < 1:
            raise InputError(f"max_passed_vertices must be at least 1, not {self.max_passed_vertices}")


def astar(
    query: Query,
    index: RetrievalIndex,
    settings: AStarSettings | None = None,
    *,
    entities: tuple[str, ...] | None = None,
) -> Scores:
    """Return what is on the paths between the starts.

    Args:
        query: the question.
        index: the index.
        settings: the defaults unless given.
        entities: names of the objects to begin from, instead of those that the question names.

    Returns:
        For everything on a path its similarity with the question minus the number of edges of the path; ``-inf`` for
        everything else.
    """
    settings = settings or AStarSettings()
    graph = vertex_graph(index).filtered(query.at, query.only_current, settings.vertices)
    similarity = QuestionSimilarity(index, query.vector)
    named = entities_of(query, index, graph, entities, nearest=settings.nearest).starts
    starts = named.tolist()
    found: dict[int, GraphPath] = {}
    for path in sorted(paths_between(list(combinations(starts, 2)), graph, index, settings), key=len):
        for label, through in _triples(path, graph.with_ends(named)):
            found.setdefault(label, through)
    if not found and settings.neighbourhood:
        for start in starts:
            far, edges = graph.steps_from(start)
            steps = list(zip(far.tolist(), edges.tolist(), strict=True))
            if start % KINDS != OBJECT:  # several steps from a thesis have its label
                steps.sort(key=lambda step: (graph.key(step[0]), graph.id_of(int(graph.labels[step[1]]))))
            for vertex, edge in steps:
                for label in labels_on(graph, np.array([vertex]), np.array([edge])):
                    found.setdefault(label, GraphPath((start, vertex), (edge,)))
    if not found:
        return nothing(index)
    labels = np.array(list(found))
    lengths = np.array([len(path.edges) for path in found.values()], np.float32)
    return scores(index, graph, labels, similarity.of(labels) - lengths, found.__getitem__)


def _triples(path: list[int], graph: FilteredGraph) -> list[tuple[int, GraphPath]]:
    """Return the labels of all edges between neighbours on a path, each with the whole path."""
    between = []
    for near, far in pairwise(path):
        ends, edges = graph.steps_from(near)
        between.append(sorted(edges[ends == far].tolist(), key=lambda edge: graph.id_of(int(graph.labels[edge]))))
    first = [joining[0] for joining in between]
    found = []
    for position, joining in enumerate(between):
        for edge in joining:
            through = GraphPath(path, [*first[:position], edge, *first[position + 1 :]])
            found += [(label, through) for label in labels_on(graph, np.array([path[position + 1]]), np.array([edge]))]
    return found


def paths_between(
    pairs: list[tuple[int, int]], graph: FilteredGraph, index: RetrievalIndex, settings: AStarSettings
) -> list[list[int]]:
    """Return the paths that A* finds.

    Args:
        pairs: start and target of each search.
        graph: the part of the graph that the query may use.
        index: the index, for vectors.
        settings: of the search.

    Returns:
        The vertices of each path; a search that finds none is left out.
    """
    if not pairs:
        return []
    opened = graph.with_ends(np.unique(pairs))
    heuristic = Heuristic(settings.heuristic, index, opened, graph)
    together = max(1, _ROOM // graph.size)
    found = []
    for first in range(0, len(pairs), together):
        search = BatchedSearch(np.array(pairs[first : first + together]), opened, heuristic)
        search.run(settings.max_passed_vertices, settings.max_depth)
        found += [path for row in range(search.count) if (path := search.path(row, settings.last_expanded))]
    return found

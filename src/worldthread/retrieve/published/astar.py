"""A*: what lies on short paths between the things that a question names (PersonalAI, section III.D).

For every pair of starts one search, from the one named first. Every step costs 1, g is the number of steps so far, and
what has the least g + h is expanded next. With e the vectors of vertices, n the vertex, t the target, and d(a, b) =
1 - <e_a, e_b>:

* ``ip``: h = d(n, t);
* ``weighted``: h = d(n, t) x steps of the shortest path from n to t;
* ``averaged``: h = the mean of d over the steps of the path to n and of d(n, t), times the same. The published code
  takes the sum for the mean: ``unaveraged``;
* ``none``: h = 0, which finds a shortest path.

All triples between neighbours on the path are found. The vector of a thesis or episode is its own; that of an object is
of its name, where there is one (:func:`~worldthread.retrieve.published.linking.pending_names`), else of the statement
or episode by which it was reached, and for a start or target the mean of those around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal

import numpy as np

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.astar_search import BatchedSearch, Heuristic
from worldthread.retrieve.published.linking import NEAREST, entities_of
from worldthread.retrieve.published.paths import GraphPath, QuestionSimilarity, labels_on, nothing, scores
from worldthread.retrieve.published.traversal import LETTERS, FilteredGraph, vertex_graph
from worldthread.retrieve.query import Query, Scores

HEURISTICS: Final = ("ip", "weighted", "averaged", "unaveraged", "none")

_ROOM: Final = 1 << 24  # pairs searched at once, times vertices


@dataclass(frozen=True)
class AStarSettings:
    """Settings of :func:`astar`; the defaults are those of PersonalAI, Appendix E, but for ``neighbourhood``.

    Args:
        heuristic: see the module.
        max_depth: vertices this many steps from the start are not expanded.
        max_passed_vertices: how many vertices one search expands.
        neighbourhood: where no path is found, as with a single start, what the starts are joined to is returned. The
            published code returns nothing for a single start.
        last_expanded: where the target is not reached, the path to the vertex expanded last counts, as in the published
            code.
        vertices: letters of the kinds of vertices that may be stepped on; the target is no exception.
        nearest: see :func:`~worldthread.retrieve.published.linking.entities_of`.
    """

    heuristic: Literal["ip", "weighted", "averaged", "unaveraged", "none"] = "ip"
    max_depth: int = 10
    max_passed_vertices: int = 150
    neighbourhood: bool = True
    last_expanded: bool = False
    vertices: str = LETTERS
    nearest: int = NEAREST

    def __post_init__(self) -> None:
        if self.heuristic not in HEURISTICS:
            raise InputError(f"no heuristic is called {self.heuristic!r}; there are: {', '.join(HEURISTICS)}")
        if self.max_passed_vertices < 1:
            raise InputError(f"max_passed_vertices must be at least 1, not {self.max_passed_vertices}")


def astar(
    query: Query,
    corpus: RetrievalIndex,
    settings: AStarSettings | None = None,
    *,
    entities: tuple[str, ...] | None = None,
) -> Scores:
    """What lies between the starts: of each its similarity with the question, minus the length of its path.

    Args:
        query: the question.
        corpus: the index.
        settings: the published ones unless given.
        entities: names of the objects to begin from, instead of those that the question names.
    """
    settings = settings or AStarSettings()
    walk = vertex_graph(corpus).walk(query.at, query.only_current, settings.vertices)
    likeness = QuestionSimilarity(corpus, query.vector)
    starts = entities_of(query, corpus, walk, entities, nearest=settings.nearest).starts.tolist()
    found: dict[int, GraphPath] = {}
    for path in sorted(paths_between(list(combinations(starts, 2)), walk, corpus, settings), key=len):
        for label, trail in _triples(path, walk):
            found.setdefault(label, trail)
    if not found and settings.neighbourhood:
        for start in starts:
            far, edges = walk.steps_from(start)
            for vertex, edge in zip(far.tolist(), edges.tolist(), strict=True):
                for label in labels_on(walk, np.array([vertex]), np.array([edge])):
                    found.setdefault(label, GraphPath((start, vertex), (edge,)))
    if not found:
        return nothing(corpus)
    labels = np.array(list(found))
    lengths = np.array([len(trail.edges) for trail in found.values()], np.float32)
    return scores(corpus, walk, labels, likeness.of(labels) - lengths, found.__getitem__)


def _triples(path: list[int], walk: FilteredGraph) -> list[tuple[int, GraphPath]]:
    """The labels of all edges between neighbours on a path, each with the whole path."""
    between = []
    for near, far in pairwise(path):
        ends, edges = walk.steps_from(near)
        between.append(sorted(edges[ends == far].tolist(), key=lambda edge: walk.id_of(int(walk.labels[edge]))))
    first = [joining[0] for joining in between]
    found = []
    for position, joining in enumerate(between):
        for edge in joining:
            trail = GraphPath(path, [*first[:position], edge, *first[position + 1 :]])
            found += [(label, trail) for label in labels_on(walk, np.array([path[position + 1]]), np.array([edge]))]
    return found


def paths_between(
    pairs: list[tuple[int, int]], walk: FilteredGraph, corpus: RetrievalIndex, settings: AStarSettings
) -> list[list[int]]:
    """The vertices of the path that A* finds from the first to the second vertex of each pair, where it finds one."""
    if not pairs:
        return []
    distance = Heuristic(settings.heuristic, corpus, walk)
    together = max(1, _ROOM // walk.size)
    found = []
    for first in range(0, len(pairs), together):
        search = BatchedSearch(np.array(pairs[first : first + together]), walk, distance)
        search.run(settings.max_passed_vertices, settings.max_depth)
        found += [path for row in range(search.count) if (path := search.path(row, settings.last_expanded))]
    return found

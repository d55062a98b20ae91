"""Beam search: the paths from what a question names that are most similar to it (PersonalAI, section III.D).

Each start has its own search. A step over an edge costs ``-ln(similarity of the edge with the question)``; the edge of
a fact or thesis has the vector of that statement, and that of an episode the vector of its text. At every depth all
paths are extended by one step, and the ``max_paths`` with the least sum of costs survive. (The published code first
cuts the extensions of each path to as many, which cannot change the survivors.) A path that cannot be extended has
*ended*; one that has reached ``max_depth`` is *continuous*. Paths are ranked by S = (sum of costs) / edges^mean_alpha,
ascending: with an exponent below 1, longer paths rank lower.

Equal costs (all edges of an episode have one vector) are ordered by the similarity of the vertex that the step leads
to, then by its name or id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers
from worldthread_lab.published.linking import entities_of
from worldthread_lab.published.paths import (
    GraphPath,
    QuestionSimilarity,
    descending,
    labels_on,
    lowest,
    nothing,
    scores,
)
from worldthread_lab.published.traversal import LETTERS, FilteredGraph, vertex_graph

LEAST_SIMILARITY: Final = 1e-6
"""Similarities below this cost as much as this one, so that a cost is finite."""

_Steps: TypeAlias = tuple[Numbers, NDArray[np.int32], NDArray[np.int32]]
"""For every step the path that it extends, the vertex that it leads to, and the edge."""


@dataclass(frozen=True)
class BeamSettings:
    """Settings of :func:`beam`; the defaults are those of PersonalAI, Appendix E.

    Args:
        max_depth: the most edges of a path, at least 1.
        max_paths: how many paths survive at each depth and are returned for each start, at least 1.
        same_path_intersection_by_vertex: a path may visit a vertex again. It never uses an edge twice, and never steps
            straight back.
        diff_paths_intersection_by_vertex: a path may step on a vertex of another surviving path. Two paths may always
            step on the same new vertex at once.
        diff_paths_intersection_by_edge: a path may use an edge of another surviving path.
        mean_alpha: exponent of the length of a path in its rank.
        final_sorting_mode: which paths are returned: the best of all ("mixed"), or first the best ended
            ("ended_first") or continuous ones ("continuous_first").
        vertices: letters of the kinds of vertices that may be stepped on.
        nearest: see :func:`~worldthread_lab.published.linking.entities_of`.
    """

    max_depth: int = 5
    max_paths: int = 10
    same_path_intersection_by_vertex: bool = False
    diff_paths_intersection_by_vertex: bool = False
    diff_paths_intersection_by_edge: bool = False
    mean_alpha: float = 0.75
    final_sorting_mode: Literal["mixed", "ended_first", "continuous_first"] = "mixed"
    vertices: str = LETTERS
    nearest: int = 0

    def __post_init__(self) -> None:
        if self.max_depth < 1 or self.max_paths < 1:
            raise InputError("max_depth and max_paths must be at least 1")
        if self.final_sorting_mode not in ("mixed", "ended_first", "continuous_first"):
            raise InputError(
                f"final_sorting_mode must be mixed, ended_first or continuous_first, not {self.final_sorting_mode!r}"
            )


@dataclass(frozen=True)
class Beam:
    """Paths of one length from one start.

    Args:
        vertices: shape (paths, edges of a path + 1).
        edges: shape (paths, edges of a path).
        costs: the sum of costs of each path, shape (paths,).
    """

    vertices: Numbers
    edges: Numbers
    costs: NDArray[np.float64]

    def chosen(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Beam:
        """Return some of the paths."""
        return Beam(self.vertices[rows], self.edges[rows], self.costs[rows])

    def ranks(self, mean_alpha: float) -> NDArray[np.float64]:
        """Return S of every path; lower is better."""
        return np.asarray(self.costs / self.edges.shape[1] ** mean_alpha)


def beam(
    query: Query,
    index: RetrievalIndex,
    settings: BeamSettings | None = None,
    *,
    entities: tuple[str, ...] | None = None,
) -> Scores:
    """Return the statements and episodes on the best paths.

    Args:
        query: the question.
        index: the index.
        settings: the defaults unless given.
        entities: names of the objects to begin from, instead of those that the question names.

    Returns:
        For everything on a returned path -S of its best path, minimally less for each further edge of it; ``-inf`` for
        everything else.
    """
    settings = settings or BeamSettings()
    graph = vertex_graph(index).filtered(query.at, query.only_current, settings.vertices)
    similarity = QuestionSimilarity(index, query.vector)
    starts = entities_of(query, index, graph, entities, nearest=settings.nearest).starts
    paths = [path for start in starts.tolist() for path in paths_from(start, graph, similarity, settings)]
    paths.sort(key=lambda path: path[1])
    found: dict[int, tuple[GraphPath, float]] = {}
    for path, rank in paths:
        for end, edge in enumerate(path.edges, start=1):
            for label in labels_on(graph, np.array(path.vertices[end : end + 1]), np.array([edge])):
                if label not in found:
                    found[label] = (GraphPath(path.vertices[: end + 1], path.edges[:end]), rank)
    if not found:
        return nothing(index)
    values = descending(np.array([-rank for _, rank in found.values()]))
    return scores(index, graph, np.array(list(found)), values, lambda label: found[label][0])


def paths_from(
    start: int, graph: FilteredGraph, similarity: QuestionSimilarity, settings: BeamSettings
) -> list[tuple[GraphPath, float]]:
    """Return the best paths from one vertex and S of each, best first."""
    alive = Beam(np.array([[start]]), np.zeros((1, 0), np.int64), np.zeros(1))
    ended: list[Beam] = []
    for depth in range(settings.max_depth):
        if not len(alive.costs):
            break
        steps = _allowed(alive, graph, settings)
        stuck = np.ones(len(alive.costs), bool)
        stuck[steps[0]] = False
        if depth and stuck.any():
            ended.append(alive.chosen(stuck))
        alive = _extended(alive, steps, graph, similarity, settings.max_paths)
    pools = {
        "mixed": [[*ended, alive]],
        "ended_first": [ended, [alive]],
        "continuous_first": [[alive], ended],
    }[settings.final_sorting_mode]
    found: list[tuple[GraphPath, float]] = []
    for pool in pools:
        ranked = [
            (GraphPath(vertices, edges), rank)
            for part in pool
            if part.edges.shape[1]
            for vertices, edges, rank in zip(
                part.vertices.tolist(), part.edges.tolist(), part.ranks(settings.mean_alpha).tolist(), strict=True
            )
        ]
        found += sorted(ranked, key=lambda path: path[1])[: settings.max_paths - len(found)]
    return found


def _allowed(alive: Beam, graph: FilteredGraph, settings: BeamSettings) -> _Steps:
    """Return every step by which a path may be extended."""
    owners, far, edges = graph.steps(alive.vertices[:, -1])
    allowed = np.ones(len(owners), bool)
    if alive.edges.shape[1]:
        allowed &= far != alive.vertices[owners, -2]
    own_edge, other_edge = _on_paths(alive.edges, owners, edges)
    allowed &= ~own_edge
    if not settings.diff_paths_intersection_by_edge:
        allowed &= ~other_edge
    if not (settings.same_path_intersection_by_vertex and settings.diff_paths_intersection_by_vertex):
        own_vertex, other_vertex = _on_paths(alive.vertices, owners, far)
        if not settings.same_path_intersection_by_vertex:
            allowed &= ~own_vertex
        if not settings.diff_paths_intersection_by_vertex:
            allowed &= ~other_vertex
    return owners[allowed], far[allowed], edges[allowed]


def _on_paths(
    items: Numbers, owners: Numbers, candidates: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each candidate whether it is on the path that it would extend, and whether it is on another.

    Args:
        items: vertices or edges of every path, shape (paths, any).
        owners: for each candidate, the path that it would extend.
        candidates: vertices or edges.
    """
    own = np.zeros(len(candidates), bool)
    known, rows = np.unique(items, return_inverse=True)
    if not len(known):
        return own, own
    holds = np.zeros((len(items), len(known)), bool)
    holds[np.repeat(np.arange(len(items)), items.shape[1]), rows.ravel()] = True
    at = np.minimum(np.searchsorted(known, candidates), len(known) - 1)
    on_some = known[at] == candidates
    own = on_some & holds[owners, at]
    return own, on_some & (holds.sum(0)[at] > own)


def _extended(alive: Beam, steps: _Steps, graph: FilteredGraph, similarity: QuestionSimilarity, count: int) -> Beam:
    """Return the ``count`` cheapest extensions."""
    owners, far, edges = steps
    similarities = similarity.of(graph.labels[edges]).astype(np.float64)
    totals = alive.costs[owners] - np.log(np.clip(similarities, LEAST_SIMILARITY, 1))
    if len(totals) > count:
        near = np.flatnonzero(totals <= np.partition(totals, count - 1)[count - 1])
        owners, far, edges, totals = owners[near], far[near], edges[near], totals[near]
    chosen = lowest(
        totals,
        -similarity.of_vertices(far, graph).astype(np.float64),
        count,
        lambda row: (graph.key(int(far[row])), graph.id_of(int(graph.labels[edges[row]])), int(owners[row])),
    )
    before = alive.chosen(owners[chosen])
    return Beam(
        np.column_stack((before.vertices, far[chosen])), np.column_stack((before.edges, edges[chosen])), totals[chosen]
    )

"""Beam search: the paths from what a question names that are most like the question (PersonalAI, section III.D).

From every start by itself. A step over an edge costs ``-ln(similarity of the edge with the question)``; the edge of a
fact or thesis has the vector of that statement, and that of an episode the vector of its text. At every depth all paths
are extended by one step, and the ``max_paths`` with the least sum of costs live on. (The published code first cuts the
extensions of each path to as many; that cannot change which ones are left.) A path that cannot be extended has *ended*;
one that has reached ``max_depth`` is *continuous*. Rank is by S = (sum of costs) / edges^mean_alpha, ascending: with an
exponent below 1, long paths pay for their length.

Equal costs (an episode has one vector for all of its edges) are ordered by the likeness of the vertex that is stepped
on, then by its name or id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.linking import NEAREST, entities_of
from worldthread.retrieve.published.paths import (
    GraphPath,
    QuestionSimilarity,
    descending,
    labels_on,
    lowest,
    nothing,
    scores,
)
from worldthread.retrieve.published.traversal import LETTERS, FilteredGraph, vertex_graph
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers

LEAST_SIMILARITY: Final = 1e-6
"""Similarities below this cost as much as this one, so that a cost is finite."""

_Steps: TypeAlias = tuple[Numbers, NDArray[np.int32], NDArray[np.int32]]
"""Of every step the path that it extends, the vertex stepped on, and the edge."""


@dataclass(frozen=True)
class BeamSettings:
    """Settings of :func:`beam`; the defaults are those of PersonalAI, Appendix E.

    Args:
        max_depth: most edges of a path.
        max_paths: paths that live on at each depth, and that are returned for each start.
        same_path_intersection_by_vertex: a path may come to a vertex again. It never uses an edge twice, and never
            steps straight back.
        diff_paths_intersection_by_vertex: a path may step on a vertex of another path that is alive. Two paths may
            step on the same new vertex at once.
        diff_paths_intersection_by_edge: a path may use an edge of another path that is alive.
        mean_alpha: exponent of the length of a path in its rank.
        final_sorting_mode: which paths are returned: the best of all, or first the best ended, or continuous, ones.
        vertices: letters of the kinds of vertices that may be stepped on.
        nearest: see :func:`~worldthread.retrieve.published.linking.entities_of`.
    """

    max_depth: int = 5
    max_paths: int = 10
    same_path_intersection_by_vertex: bool = False
    diff_paths_intersection_by_vertex: bool = False
    diff_paths_intersection_by_edge: bool = False
    mean_alpha: float = 0.75
    final_sorting_mode: Literal["mixed", "ended_first", "continuous_first"] = "mixed"
    vertices: str = LETTERS
    nearest: int = NEAREST

    def __post_init__(self) -> None:
        if self.max_depth < 1 or self.max_paths < 1:
            raise InputError("max_depth and max_paths must be at least 1")
        if self.final_sorting_mode not in ("mixed", "ended_first", "continuous_first"):
            raise InputError(
                f"final_sorting_mode is mixed, ended_first or continuous_first, not {self.final_sorting_mode!r}"
            )


@dataclass(frozen=True)
class Beam:
    """Paths of one length from one start.

    Args:
        vertices: shape (paths, edges of a path + 1).
        edges: shape (paths, edges of a path).
        costs: sums, shape (paths,).
    """

    vertices: Numbers
    edges: Numbers
    costs: NDArray[np.float64]

    def chosen(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Beam:
        """Some of the paths."""
        return Beam(self.vertices[rows], self.edges[rows], self.costs[rows])

    def ranks(self, mean_alpha: float) -> NDArray[np.float64]:
        """S of every path; lower is better."""
        return np.asarray(self.costs / self.edges.shape[1] ** mean_alpha)


def beam(
    query: Query,
    corpus: RetrievalIndex,
    settings: BeamSettings | None = None,
    *,
    entities: tuple[str, ...] | None = None,
) -> Scores:
    """The statements and episodes on the best paths; of each -S of its best path, and less by a hair along the path.

    Args:
        query: the question.
        corpus: the index.
        settings: the published ones unless given.
        entities: names of the objects to begin from, instead of those that the question names.
    """
    settings = settings or BeamSettings()
    walk = vertex_graph(corpus).walk(query.at, query.only_current, settings.vertices)
    likeness = QuestionSimilarity(corpus, query.vector)
    starts = entities_of(query, corpus, walk, entities, nearest=settings.nearest).starts
    paths = [path for start in starts.tolist() for path in paths_from(start, walk, likeness, settings)]
    paths.sort(key=lambda path: path[1])
    found: dict[int, tuple[GraphPath, float]] = {}
    for trail, rank in paths:
        for end, edge in enumerate(trail.edges, start=1):
            for label in labels_on(walk, np.array(trail.vertices[end : end + 1]), np.array([edge])):
                if label not in found:
                    found[label] = (GraphPath(trail.vertices[: end + 1], trail.edges[:end]), rank)
    if not found:
        return nothing(corpus)
    values = descending(np.array([-rank for _, rank in found.values()]))
    return scores(corpus, walk, np.array(list(found)), values, lambda label: found[label][0])


def paths_from(
    start: int, walk: FilteredGraph, likeness: QuestionSimilarity, settings: BeamSettings
) -> list[tuple[GraphPath, float]]:
    """The best paths from one vertex, and S of each; best first."""
    alive = Beam(np.array([[start]]), np.zeros((1, 0), np.int64), np.zeros(1))
    ended: list[Beam] = []
    for depth in range(settings.max_depth):
        if not len(alive.costs):
            break
        steps = _allowed(alive, walk, settings)
        stuck = np.ones(len(alive.costs), bool)
        stuck[steps[0]] = False
        if depth and stuck.any():
            ended.append(alive.chosen(stuck))
        alive = _extended(alive, steps, walk, likeness, settings.max_paths)
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


def _allowed(alive: Beam, walk: FilteredGraph, settings: BeamSettings) -> _Steps:
    """Every step by which a path may be extended."""
    owners, far, edges = walk.steps(alive.vertices[:, -1])
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
    """Of each candidate whether it is on the path that it would extend, and whether it is on another.

    Args:
        items: vertices or edges of every path, shape (paths, any).
        owners: of each candidate, its path.
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


def _extended(alive: Beam, steps: _Steps, walk: FilteredGraph, likeness: QuestionSimilarity, count: int) -> Beam:
    """The cheapest extensions."""
    owners, far, edges = steps
    similarities = likeness.of(walk.labels[edges]).astype(np.float64)
    totals = alive.costs[owners] - np.log(np.clip(similarities, LEAST_SIMILARITY, 1))
    if len(totals) > count:
        near = np.flatnonzero(totals <= np.partition(totals, count - 1)[count - 1])
        owners, far, edges, totals = owners[near], far[near], edges[near], totals[near]
    chosen = lowest(
        totals,
        -likeness.of_vertices(far, walk).astype(np.float64),
        count,
        lambda index: (walk.key(int(far[index])), walk.id_of(int(walk.labels[edges[index]])), int(owners[index])),
    )
    before = alive.chosen(owners[chosen])
    return Beam(
        np.column_stack((before.vertices, far[chosen])), np.column_stack((before.edges, edges[chosen])), totals[chosen]
    )

"""Water circles: circles spread from what a question names; what lies where they meet counts (PersonalAI, III.D).

From every start a circle spreads from object to object over facts, in both directions, ``depth`` steps far. On the way
it touches the theses and episodes of every object that it leaves from; it does not pass through these.

* A fact that a circle passes is *primary* when it touches another entity of the question, or when the circle crosses it
  outwards to an object that the circle of another start reaches in no more steps than the object where the fact begins.
  All other facts are *secondary*. Facts are ranked by how many other entities they touch. With ``strict_filter``, when
  some primary fact touches more than one, only those that touch the most are kept.
* Theses and episodes are ranked by how many entities they name besides the one whose circle touches them: 1 for a
  proper name or number, 1/2 for a common noun.

Equal ranks are ordered by similarity to the question, where PersonalAI leaves the order to the database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers
from worldthread_lab.published.linking import Entities, entities_of
from worldthread_lab.published.paths import GraphPath, QuestionSimilarity, lowest, nothing, scores
from worldthread_lab.published.traversal import (
    EPISODE,
    KINDS,
    LETTERS,
    OBJECT,
    THESIS,
    FilteredGraph,
    vertex_graph,
    vertex_of,
)

_Part: TypeAlias = tuple[NDArray[np.integer[Any]], NDArray[np.float64], Callable[[int], GraphPath]]

_FAR: Final = 1 << 20  # distance of what a circle has not reached
_PRIMARY: Final = 1.0
_SIMILARITY: Final = 0.49  # of the score; below the least difference of two counts


@dataclass(frozen=True)
class WaterCirclesSettings:
    """Settings of :func:`water_circles`; the defaults are those of PersonalAI, Appendix E, but for ``depth``.

    Args:
        strict_filter: see the module.
        hyper_num: the most theses that are returned.
        episodic_num: the most episodes that are returned.
        chain_triplets_num: the most primary facts that are returned.
        other_triplets_num: the most secondary facts that are returned.
        depth: the radius of a circle in steps, at least 1. Appendix E does not name it, and the published code takes 1;
            at 1 two circles meet only where one of them touches the start of the other.
        vertices: letters of the kinds of vertices that may be stepped on.
        nearest: see :func:`~worldthread_lab.published.linking.entities_of`.
    """

    strict_filter: bool = True
    hyper_num: int = 15
    episodic_num: int = 15
    chain_triplets_num: int = 25
    other_triplets_num: int = 6
    depth: int = 2
    vertices: str = LETTERS
    nearest: int = 0

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError(f"depth must be at least 1, not {self.depth}")


@dataclass(frozen=True)
class Circle:
    """The circle of one start.

    Args:
        start: the vertex at its centre.
        vertices: the start and the objects within the circle, ascending.
        steps: for each of them, the distance from the start.
        passed: edges of the facts that the circle passes, ascending.
        texts: theses and episodes that the circle touches, ascending.
    """

    start: int
    vertices: Numbers
    steps: Numbers
    passed: Numbers
    texts: Numbers

    def distances(self, vertices: NDArray[np.integer[Any]]) -> Numbers:
        """Return the steps from the start to some vertices; very many for vertices outside the circle."""
        at = np.minimum(np.searchsorted(self.vertices, vertices), len(self.vertices) - 1)
        return np.where(self.vertices[at] == vertices, self.steps[at], _FAR)

    def path_to(self, vertex: int, graph: FilteredGraph) -> GraphPath:
        """Return the shortest path from the start to a vertex in the circle or touched by it; ties go by name."""
        vertices, edges = [vertex], list[int]()
        while vertices[-1] != self.start:
            vertex, edge = self._step_before(vertices[-1], graph)
            vertices.append(vertex)
            edges.append(edge)
        return GraphPath(vertices[::-1], edges[::-1])

    def _step_before(self, vertex: int, graph: FilteredGraph) -> tuple[int, int]:
        far, edges = graph.steps_from(self.start)
        near = np.full(len(far), self.start)
        if vertex not in far:
            near, edges = graph.steps_from(vertex)
            far = np.full(len(near), vertex)
        steps = self.distances(near)
        nearest = np.flatnonzero((far == vertex) & (steps == steps[far == vertex].min()))
        steps_back = [(int(near[at]), int(edges[at])) for at in nearest.tolist()]
        return min(steps_back, key=lambda step: (graph.key(step[0]), graph.id_of(int(graph.labels[step[1]]))))


def water_circles(
    query: Query,
    index: RetrievalIndex,
    settings: WaterCirclesSettings | None = None,
    *,
    entities: tuple[str, ...] | None = None,
) -> Scores:
    """Return the best facts, theses and episodes around the starts.

    The score of a thesis or episode is its count; the score of a fact is its count, plus 1 when it is primary; up to
    .49 for similarity is added to both.

    Args:
        query: the question.
        index: the index.
        settings: the defaults unless given.
        entities: names of the objects to begin from, instead of those that the question names.

    Returns:
        Scores of what was chosen; ``-inf`` for everything else.
    """
    settings = settings or WaterCirclesSettings()
    graph = vertex_graph(index).filtered(query.at, query.only_current, settings.vertices)
    similarity = QuestionSimilarity(index, query.vector)
    named = entities_of(query, index, graph, entities, nearest=settings.nearest)
    circles = [circle_around(start, graph, settings.depth) for start in named.starts.tolist()]
    if not circles:
        return nothing(index)
    parts = [*_facts(circles, named, graph, similarity, settings), *_texts(circles, named, graph, similarity, settings)]
    labels = np.concatenate([labels for labels, _, _ in parts])
    values = np.concatenate([values for _, values, _ in parts]).astype(np.float32)
    paths = {label: path for part, _, path in parts for label in part.tolist()}
    return scores(index, graph, labels, values, lambda label: paths[label](label))


def circle_around(start: int, graph: FilteredGraph, depth: int) -> Circle:
    """Return the circle of one start, by breadth-first search over facts."""
    vertices, steps = np.array([start]), np.zeros(1, np.int64)
    passed: list[Numbers] = []
    texts: list[Numbers] = [] if start % KINDS == OBJECT else [vertices]
    ring = vertices
    for step in range(1, depth + 1):
        owners, far, edges = graph.steps(ring)
        is_object = far % KINDS == OBJECT
        is_fact = is_object & (ring[owners] % KINDS == OBJECT)
        passed.append(edges[is_fact].astype(np.int64))
        texts.append(far[~is_object].astype(np.int64))
        # a start that is not an object spreads to its objects
        ring = np.unique(far[is_object]).astype(np.int64)
        at = np.minimum(np.searchsorted(vertices, ring), len(vertices) - 1)
        ring = ring[vertices[at] != ring]
        if not len(ring):
            break
        vertices, steps = np.concatenate((vertices, ring)), np.concatenate((steps, np.full(len(ring), step)))
        order = np.argsort(vertices)
        vertices, steps = vertices[order], steps[order]
    return Circle(start, vertices, steps, np.unique(np.concatenate(passed)), np.unique(np.concatenate(texts)))


def _facts(
    circles: list[Circle],
    named: Entities,
    graph: FilteredGraph,
    similarity: QuestionSimilarity,
    settings: WaterCirclesSettings,
) -> list[_Part]:
    """Return the chosen facts, first primary, then secondary: labels, scores, and what returns the path of a label."""
    edges = np.unique(np.concatenate([circle.passed for circle in circles]))
    if not len(edges):
        return []
    steps = np.array([circle.distances(graph.full.ends[edges].ravel()).reshape(-1, 2) for circle in circles])
    passes = steps.min(2) < settings.depth  # (circles, edges)
    is_primary = np.zeros(len(edges), bool)
    count = np.zeros(len(edges), np.int64)
    ends = graph.full.ends[edges]
    touched = (ends[:, :, None] == named.vertices).any(1)  # (edges, entities)
    for i, circle in enumerate(circles):
        others = touched[:, named.vertices != circle.start].sum(1)
        count = np.maximum(count, np.where(passes[i], others, 0))
        for near, far in ((0, 1), (1, 0)):
            outwards = passes[i] & (steps[i, :, near] < steps[i, :, far])
            for j in range(len(circles)):
                if j != i:
                    limit = np.minimum(settings.depth, steps[j, :, near])
                    is_primary |= outwards & (steps[j, :, far] <= limit)
    is_primary |= count > 0
    secondary = np.flatnonzero(~is_primary)
    if settings.strict_filter and count.max() > 1:
        is_primary &= count == count.max()
    labels = graph.labels[edges]
    path = partial(_path_of_fact, circles, dict(zip(labels.tolist(), edges.tolist(), strict=True)), graph)
    found: list[_Part] = []
    for rows, base, most in (
        (np.flatnonzero(is_primary), _PRIMARY, settings.chain_triplets_num),
        (secondary, 0.0, settings.other_triplets_num),
    ):
        chosen, values = _best(labels[rows], count[rows].astype(np.float64), most, graph, similarity)
        found.append((chosen, values + base, path))
    return found


def _path_of_fact(circles: list[Circle], edges: dict[int, int], graph: FilteredGraph, label: int) -> GraphPath:
    """Return the shortest path from a start over a fact."""
    ends = graph.full.ends[edges[label]]
    steps = np.array([circle.distances(ends) for circle in circles])
    row, column = np.unravel_index(steps.argmin(), steps.shape)
    before = circles[row].path_to(int(ends[column]), graph)
    return GraphPath([*before.vertices, int(ends[1 - column])], [*before.edges, edges[label]])


def _texts(
    circles: list[Circle],
    named: Entities,
    graph: FilteredGraph,
    similarity: QuestionSimilarity,
    settings: WaterCirclesSettings,
) -> list[_Part]:
    """Return the chosen theses, then episodes: labels, scores, and what returns the path of a label."""
    texts = np.unique(np.concatenate([circle.texts for circle in circles]))
    names = np.zeros((len(named.vertices), len(texts)), bool)
    for i, vertex in enumerate(named.vertices.tolist()):
        names[i] = np.isin(texts, graph.steps_from(vertex)[0])
    total = named.weights @ names
    count = np.zeros(len(texts))
    for circle in circles:
        own = (named.weights * (named.vertices == circle.start)) @ names
        count = np.maximum(count, np.where(np.isin(texts, circle.texts, assume_unique=True), total - own, 0))
    numbers, kinds = np.divmod(texts, KINDS)
    found: list[_Part] = []
    for kind, most in ((THESIS, settings.hyper_num), (EPISODE, settings.episodic_num)):
        rows = np.flatnonzero(kinds == kind)
        labels = -1 - numbers[rows] if kind == EPISODE else numbers[rows]
        chosen, values = _best(labels, count[rows], most, graph, similarity)
        found.append((chosen, values, partial(_path_of_text, circles, graph)))
    return found


def _path_of_text(circles: list[Circle], graph: FilteredGraph, label: int) -> GraphPath:
    """Return the shortest path from a start to a thesis or episode."""
    text = vertex_of(label, THESIS) if label >= 0 else vertex_of(-1 - label, EPISODE)
    paths = [circle.path_to(text, graph) for circle in circles if text in circle.texts]
    return min(paths, key=lambda path: len(path.edges))


def _best(
    labels: NDArray[np.integer[Any]],
    count: NDArray[np.float64],
    most: int,
    graph: FilteredGraph,
    similarity: QuestionSimilarity,
) -> tuple[NDArray[np.integer[Any]], NDArray[np.float64]]:
    """Return the ``most`` labels with the highest count, then similarity, and their scores."""
    if most < len(labels):
        least = np.partition(count, len(count) - most)[len(count) - most] if most else np.inf
        labels, count = labels[count >= least], count[count >= least]
    like = similarity.of(labels).astype(np.float64)
    chosen = lowest(-count, -like, most, lambda row: graph.id_of(int(labels[row])))
    return labels[chosen], count[chosen] + _SIMILARITY * (1 + like[chosen]) / 2

"""Water circles: fronts that spread from what a question names, and what lies where they meet (PersonalAI, III.D).

From every start a front goes from object to object over facts, in both directions, ``depth`` steps wide. On its way it
touches the theses and episodes of every object that it leaves from; these are not gone through.

* A fact that a front passes is *primary* when it touches another entity of the question, or when that front carries it
  outwards to an object that the front of another start has reached no later than the object it comes from. All other
  facts are *secondary*. Facts rank by how many other entities they touch. With ``strict_filter``, where any primary
  fact touches more than one, only those that touch the most are kept.
* Theses and episodes rank by how many entities they name besides the one whose front came to them: 1 for a proper name
  or number, 1/2 for a common noun.

Equals are ordered by likeness to the question, where PersonalAI leaves the order to the database.
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
from worldthread.retrieve.published.linking import NEAREST, Entities, entities_of
from worldthread.retrieve.published.paths import GraphPath, QuestionSimilarity, lowest, nothing, scores
from worldthread.retrieve.published.traversal import (
    EPISODE,
    KINDS,
    LETTERS,
    OBJECT,
    THESIS,
    FilteredGraph,
    vertex_graph,
    vertex_of,
)
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers

_Part: TypeAlias = tuple[NDArray[np.integer[Any]], NDArray[np.float64], Callable[[int], GraphPath]]

_FAR: Final = 1 << 20  # steps to what a front has not reached
_PRIMARY: Final = 1.0
_LIKENESS: Final = 0.49  # of the score; below the least difference of two counts


@dataclass(frozen=True)
class WaterCirclesSettings:
    """Settings of :func:`water_circles`; the defaults are those of PersonalAI, Appendix E, which does not name a depth.

    Args:
        strict_filter: see the module.
        hyper_num: most theses.
        episodic_num: most episodes.
        chain_triplets_num: most primary facts.
        other_triplets_num: most secondary facts.
        depth: steps that a front spreads.
        vertices: letters of the kinds of vertices that may be stepped on.
        nearest: see :func:`~worldthread.retrieve.published.linking.entities_of`.
    """

    strict_filter: bool = True
    hyper_num: int = 15
    episodic_num: int = 15
    chain_triplets_num: int = 25
    other_triplets_num: int = 6
    depth: int = 2
    vertices: str = LETTERS
    nearest: int = NEAREST

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError(f"depth must be at least 1, not {self.depth}")


@dataclass(frozen=True)
class Front:
    """What the front of one start has reached.

    Args:
        start: the vertex that it comes from.
        vertices: what it has gone to, ascending: the start and objects.
        steps: of each, how far from the start.
        passed: edges of the facts that it passes, ascending.
        texts: theses and episodes that it touches, ascending.
    """

    start: int
    vertices: Numbers
    steps: Numbers
    passed: Numbers
    texts: Numbers

    def steps_to(self, vertices: NDArray[np.integer[Any]]) -> Numbers:
        """How far vertices are from the start; very far when the front has not gone to them."""
        at = np.minimum(np.searchsorted(self.vertices, vertices), len(self.vertices) - 1)
        return np.where(self.vertices[at] == vertices, self.steps[at], _FAR)

    def trail(self, vertex: int, walk: FilteredGraph) -> GraphPath:
        """The shortest way from the start to what it has gone to or touched; among equals by names and ids."""
        vertices, edges = [vertex], list[int]()
        while vertices[-1] != self.start:
            vertex, edge = self._step_before(vertices[-1], walk)
            vertices.append(vertex)
            edges.append(edge)
        return GraphPath(vertices[::-1], edges[::-1])

    def _step_before(self, vertex: int, walk: FilteredGraph) -> tuple[int, int]:
        far, edges = walk.steps_from(self.start)
        near = np.full(len(far), self.start)
        if vertex not in far:
            near, edges = walk.steps_from(vertex)
            far = np.full(len(near), vertex)
        steps = self.steps_to(near)
        nearest = np.flatnonzero((far == vertex) & (steps == steps[far == vertex].min()))
        ways = [(int(near[at]), int(edges[at])) for at in nearest.tolist()]
        return min(ways, key=lambda way: (walk.key(way[0]), walk.id_of(int(walk.labels[way[1]]))))


def water_circles(
    query: Query,
    corpus: RetrievalIndex,
    settings: WaterCirclesSettings | None = None,
    *,
    entities: tuple[str, ...] | None = None,
) -> Scores:
    """The best facts, theses and episodes around the starts.

    The score of a text is its count; that of a fact its count, and 1 more when it is primary; and on top of both up to
    .49 for likeness.

    Args:
        query: the question.
        corpus: the index.
        settings: the published ones unless given.
        entities: names of the objects to begin from, instead of those that the question names.
    """
    settings = settings or WaterCirclesSettings()
    walk = vertex_graph(corpus).walk(query.at, query.only_current, settings.vertices)
    likeness = QuestionSimilarity(corpus, query.vector)
    named = entities_of(query, corpus, walk, entities, nearest=settings.nearest)
    fronts = [spread(start, walk, settings.depth) for start in named.starts.tolist()]
    if not fronts:
        return nothing(corpus)
    parts = [*_facts(fronts, named, walk, likeness, settings), *_texts(fronts, named, walk, likeness, settings)]
    labels = np.concatenate([labels for labels, _, _ in parts])
    values = np.concatenate([values for _, values, _ in parts]).astype(np.float32)
    trails = {label: trail for part, _, trail in parts for label in part.tolist()}
    return scores(corpus, walk, labels, values, lambda label: trails[label](label))


def spread(start: int, walk: FilteredGraph, depth: int) -> Front:
    """The front of one start: breadth first over facts."""
    vertices, steps = np.array([start]), np.zeros(1, np.int64)
    passed: list[Numbers] = []
    texts: list[Numbers] = [] if start % KINDS == OBJECT else [vertices]
    ring = vertices
    for step in range(1, depth + 1):
        owners, far, edges = walk.steps(ring)
        is_object = far % KINDS == OBJECT
        is_fact = is_object & (ring[owners] % KINDS == OBJECT)
        passed.append(edges[is_fact].astype(np.int64))
        texts.append(far[~is_object].astype(np.int64))
        # a start that is no object spreads to its objects
        ring = np.unique(far[is_object]).astype(np.int64)
        at = np.minimum(np.searchsorted(vertices, ring), len(vertices) - 1)
        ring = ring[vertices[at] != ring]
        if not len(ring):
            break
        vertices, steps = np.concatenate((vertices, ring)), np.concatenate((steps, np.full(len(ring), step)))
        order = np.argsort(vertices)
        vertices, steps = vertices[order], steps[order]
    return Front(start, vertices, steps, np.unique(np.concatenate(passed)), np.unique(np.concatenate(texts)))


def _facts(
    fronts: list[Front],
    named: Entities,
    walk: FilteredGraph,
    likeness: QuestionSimilarity,
    settings: WaterCirclesSettings,
) -> list[_Part]:
    """The chosen facts: (labels, values, trail of a label), primary and secondary."""
    edges = np.unique(np.concatenate([front.passed for front in fronts]))
    if not len(edges):
        return []
    steps = np.array([front.steps_to(walk.over.ends[edges].ravel()).reshape(-1, 2) for front in fronts])
    passes = steps.min(2) < settings.depth  # (fronts, edges)
    is_primary = np.zeros(len(edges), bool)
    count = np.zeros(len(edges), np.int64)
    ends = walk.over.ends[edges]
    touched = (ends[:, :, None] == named.vertices).any(1)  # (edges, entities)
    for i, front in enumerate(fronts):
        others = touched[:, named.vertices != front.start].sum(1)
        count = np.maximum(count, np.where(passes[i], others, 0))
        for near, far in ((0, 1), (1, 0)):
            outwards = passes[i] & (steps[i, :, near] < steps[i, :, far])
            for j in range(len(fronts)):
                if j != i:
                    limit = np.minimum(settings.depth, steps[j, :, near])
                    is_primary |= outwards & (steps[j, :, far] <= limit)
    is_primary |= count > 0
    secondary = np.flatnonzero(~is_primary)
    if settings.strict_filter and count.max() > 1:
        is_primary &= count == count.max()
    labels = walk.labels[edges]
    trail = partial(_trail_of_fact, fronts, dict(zip(labels.tolist(), edges.tolist(), strict=True)), walk)
    found: list[_Part] = []
    for rows, base, most in (
        (np.flatnonzero(is_primary), _PRIMARY, settings.chain_triplets_num),
        (secondary, 0.0, settings.other_triplets_num),
    ):
        chosen, values = _best(labels[rows], count[rows].astype(np.float64), most, walk, likeness)
        found.append((chosen, values + base, trail))
    return found


def _trail_of_fact(fronts: list[Front], edges: dict[int, int], walk: FilteredGraph, label: int) -> GraphPath:
    """The shortest way from a start over the fact."""
    ends = walk.over.ends[edges[label]]
    steps = np.array([front.steps_to(ends) for front in fronts])
    row, column = np.unravel_index(steps.argmin(), steps.shape)
    before = fronts[row].trail(int(ends[column]), walk)
    return GraphPath([*before.vertices, int(ends[1 - column])], [*before.edges, edges[label]])


def _texts(
    fronts: list[Front],
    named: Entities,
    walk: FilteredGraph,
    likeness: QuestionSimilarity,
    settings: WaterCirclesSettings,
) -> list[_Part]:
    """The chosen theses and episodes: (labels, values, trail of a label)."""
    texts = np.unique(np.concatenate([front.texts for front in fronts]))
    names = np.zeros((len(named.vertices), len(texts)), bool)
    for i, vertex in enumerate(named.vertices.tolist()):
        names[i] = np.isin(texts, walk.steps_from(vertex)[0])
    total = named.weights @ names
    count = np.zeros(len(texts))
    for front in fronts:
        own = (named.weights * (named.vertices == front.start)) @ names
        count = np.maximum(count, np.where(np.isin(texts, front.texts, assume_unique=True), total - own, 0))
    numbers, kinds = np.divmod(texts, KINDS)
    found: list[_Part] = []
    for kind, most in ((THESIS, settings.hyper_num), (EPISODE, settings.episodic_num)):
        rows = np.flatnonzero(kinds == kind)
        labels = -1 - numbers[rows] if kind == EPISODE else numbers[rows]
        chosen, values = _best(labels, count[rows], most, walk, likeness)
        found.append((chosen, values, partial(_trail_of_text, fronts, walk)))
    return found


def _trail_of_text(fronts: list[Front], walk: FilteredGraph, label: int) -> GraphPath:
    """The shortest way from a start to a thesis or episode."""
    text = vertex_of(label, THESIS) if label >= 0 else vertex_of(-1 - label, EPISODE)
    trails = [front.trail(text, walk) for front in fronts if text in front.texts]
    return min(trails, key=lambda trail: len(trail.edges))


def _best(
    labels: NDArray[np.integer[Any]],
    count: NDArray[np.float64],
    most: int,
    walk: FilteredGraph,
    likeness: QuestionSimilarity,
) -> tuple[NDArray[np.integer[Any]], NDArray[np.float64]]:
    """The ``most`` labels of the highest count, then likeness; and their scores."""
    if most < len(labels):
        least = np.partition(count, len(count) - most)[len(count) - most] if most else np.inf
        labels, count = labels[count >= least], count[count >= least]
    like = likeness.of(labels).astype(np.float64)
    chosen = lowest(-count, -like, most, lambda index: walk.id_of(int(labels[index])))
    return labels[chosen], count[chosen] + _LIKENESS * (1 + like[chosen]) / 2

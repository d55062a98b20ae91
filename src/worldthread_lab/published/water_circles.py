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

The paper returns the best of each kind, up to the limits of :class:`WaterCirclesSettings`. The published code, with
``selection="code"``, chooses for each of n starts separately:

* primary facts as this start's circle has them: all of ``chain_triplets_num`` when n is 1, half when 2, else 3/10. The
  strict filter compares the facts of one circle;
* theses and episodes that name another entity, or any of the kind when none does; a text belongs to the first start
  whose circle touches it. With the strict filter all of ``hyper_num`` and ``episodic_num`` when n is 1, .67 when 2,
  else 1/2 and .67; without the filter .67;
* secondary facts only where little else was found: with the strict filter, ``other_triplets_num`` when there is no
  primary fact and fewer than two texts; without the filter, 3/2 of it when texts and facts, counted for each start,
  are fewer than 20. This is the limit for each start, direction of the fact and step from the start; primary facts can
  take places, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product
from typing import Any, Final, Literal, TypeAlias

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
_Best: TypeAlias = Callable[
    [NDArray[np.integer[Any]], NDArray[np.float64], int], tuple[NDArray[np.integer[Any]], NDArray[np.float64]]
]

_FAR: Final = 1 << 20  # distance of what a circle has not reached
_PRIMARY: Final = 1.0
_SIMILARITY: Final = 0.49  # of the score; below the least difference of two counts
_FACT_SHARES: Final = (1.0, 0.5, 0.3)  # of a limit, for each of one, two, and three or more starts
_THESIS_SHARES: Final = (1.0, 0.67, 0.5)
_EPISODE_SHARES: Final = (1.0, 0.67, 0.67)
_LOOSE_SHARES: Final = (0.67, 0.67, 0.67)  # of texts without the strict filter
_FEW_TEXTS: Final = 2
_FEW_RESULTS: Final = 20


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
        selection: what is returned of what the circles find, as in the "paper" or as in the published "code"; see the
            module.
    """

    strict_filter: bool = True
    hyper_num: int = 15
    episodic_num: int = 15
    chain_triplets_num: int = 25
    other_triplets_num: int = 6
    depth: int = 2
    vertices: str = LETTERS
    nearest: int = 0
    selection: Literal["paper", "code"] = "paper"

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError(f"depth must be at least 1, not {self.depth}")
        if self.selection not in ("paper", "code"):
            raise InputError(f"selection must be 'paper' or 'code', not {self.selection!r}")


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
    facts = _passed_facts(circles, named, graph, settings.depth)
    texts = _touched_texts(circles, named, graph)
    best = partial(_best, graph=graph, similarity=similarity)
    choose = _as_in_the_code if settings.selection == "code" else _as_in_the_paper
    parts = choose(facts, texts, settings, best)
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


@dataclass(frozen=True)
class _PassedFacts:
    """The facts that circles pass.

    Args:
        labels: of the facts, shape (facts,).
        steps: from the start of each circle to the two ends of each fact, shape (circles, facts, 2).
        count: how many other entities a fact touches, 0 where the circle does not pass it, shape (circles, facts).
        is_primary: whether a fact is primary as a circle passes it, shape (circles, facts).
        path: returns the shortest path from a start over the fact of a label.
    """

    labels: NDArray[np.integer[Any]]
    steps: Numbers
    count: NDArray[np.float64]
    is_primary: NDArray[np.bool_]
    path: Callable[[int], GraphPath]


@dataclass(frozen=True)
class _TouchedTexts:
    """The theses or the episodes that circles touch.

    Args:
        labels: of the texts, shape (texts,).
        touched: whether a circle touches a text, shape (circles, texts).
        count: how many other entities a text names, 0 where the circle does not touch it, shape (circles, texts).
        path: returns the shortest path from a start to the text of a label.
    """

    labels: NDArray[np.integer[Any]]
    touched: NDArray[np.bool_]
    count: NDArray[np.float64]
    path: Callable[[int], GraphPath]


def _passed_facts(circles: list[Circle], named: Entities, graph: FilteredGraph, depth: int) -> _PassedFacts:
    edges = np.unique(np.concatenate([circle.passed for circle in circles]))
    ends, labels = graph.full.ends[edges], graph.labels[edges]
    steps = np.array([circle.distances(ends.ravel()).reshape(-1, 2) for circle in circles])
    passes = steps.min(2) < depth
    touched = (ends[:, :, None] == named.vertices).any(1)  # (edges, entities)
    others = np.array([touched[:, named.vertices != circle.start].sum(1) for circle in circles])
    count = np.where(passes, others, 0)
    is_primary = count > 0
    for (i, j), (near, far) in product(permutations(range(len(circles)), 2), ((0, 1), (1, 0))):
        outwards = passes[i] & (steps[i, :, near] < steps[i, :, far])
        is_primary[i] |= outwards & (steps[j, :, far] <= np.minimum(depth, steps[j, :, near]))
    path = partial(_path_of_fact, circles, dict(zip(labels.tolist(), edges.tolist(), strict=True)), graph)
    return _PassedFacts(labels, steps, count.astype(np.float64), is_primary, path)


def _touched_texts(circles: list[Circle], named: Entities, graph: FilteredGraph) -> tuple[_TouchedTexts, _TouchedTexts]:
    """Return the theses and the episodes."""
    texts = np.unique(np.concatenate([circle.texts for circle in circles]))
    names = np.zeros((len(named.vertices), len(texts)), bool)
    for i, vertex in enumerate(named.vertices.tolist()):
        names[i] = np.isin(texts, graph.steps_from(vertex)[0])
    others = np.array([(named.weights * (named.vertices != circle.start)) @ names for circle in circles])
    touched = np.array([np.isin(texts, circle.texts, assume_unique=True) for circle in circles])
    count = np.where(touched, others, 0)
    numbers, kinds = np.divmod(texts, KINDS)
    labels = np.where(kinds == EPISODE, -1 - numbers, numbers)
    path = partial(_path_of_text, circles, graph)
    theses, episodes = (
        _TouchedTexts(labels[of_kind], touched[:, of_kind], count[:, of_kind], path)
        for of_kind in (kinds == THESIS, kinds == EPISODE)
    )
    return theses, episodes


def _as_in_the_paper(
    facts: _PassedFacts, texts: tuple[_TouchedTexts, _TouchedTexts], settings: WaterCirclesSettings, best: _Best
) -> list[_Part]:
    """Return what is chosen by limits for everything: labels, scores, and what returns the path of a label."""
    count, is_primary = facts.count.max(0), facts.is_primary.any(0)
    secondary = np.flatnonzero(~is_primary)
    if settings.strict_filter and count.max(initial=0) > 1:
        is_primary &= count == count.max()
    primary = np.flatnonzero(is_primary)
    labels, values = best(facts.labels[primary], count[primary] + _PRIMARY, settings.chain_triplets_num)
    chosen: list[_Part] = [
        (labels, values, facts.path),
        (*best(facts.labels[secondary], count[secondary], settings.other_triplets_num), facts.path),
    ]
    for of_kind, most in zip(texts, (settings.hyper_num, settings.episodic_num), strict=True):
        chosen.append((*best(of_kind.labels, of_kind.count.max(0), most), of_kind.path))
    return chosen


def _as_in_the_code(
    facts: _PassedFacts, texts: tuple[_TouchedTexts, _TouchedTexts], settings: WaterCirclesSettings, best: _Best
) -> list[_Part]:
    """Return what is chosen by limits for each start: labels, scores, and what returns the path of a label."""
    at = min(len(facts.steps), len(_FACT_SHARES)) - 1
    chosen: list[_Part] = []
    for of_kind, number, shares in (
        (texts[0], settings.hyper_num, _THESIS_SHARES),
        (texts[1], settings.episodic_num, _EPISODE_SHARES),
    ):
        most = int(number * (shares if settings.strict_filter else _LOOSE_SHARES)[at])
        chosen += _texts_of_each_start(of_kind, most, best)
    found = sum(len(labels) for labels, _, _ in chosen)
    values: dict[int, float] = {}  # of facts, by label
    most = int(settings.chain_triplets_num * _FACT_SHARES[at])
    for own, is_primary in zip(facts.count, facts.is_primary, strict=True):
        is_best = is_primary & (own > 1) if settings.strict_filter and own.max(initial=0) > 1 else is_primary
        primary = best(facts.labels[is_best], own[is_best] + _PRIMARY, most)
        _keep_highest(values, primary)
        found += len(primary[0])
    if (not values and found < _FEW_TEXTS) if settings.strict_filter else found < _FEW_RESULTS:
        most = settings.other_triplets_num if settings.strict_filter else int(1.5 * settings.other_triplets_num)
        for own, near, step in product(facts.steps, (0, 1), range(settings.depth)):
            labels = facts.labels[own[:, near] == step]
            _keep_highest(values, best(labels, np.zeros(len(labels)), most))
    return [*chosen, (np.array(list(values), np.int64), np.array(list(values.values())), facts.path)]


def _texts_of_each_start(texts: _TouchedTexts, most: int, best: _Best) -> list[_Part]:
    """Return up to ``most`` theses, or episodes, for each start, as the published code chooses them."""
    first = texts.touched.argmax(0)
    count = texts.count[first, np.arange(len(first))]
    is_usable = count > 0 if (count > 0).any() else np.ones(len(count), bool)
    owned = (is_usable & (first == i) for i in range(len(texts.touched)))
    return [(*best(texts.labels[own], count[own], most), texts.path) for own in owned]


def _keep_highest(values: dict[int, float], found: tuple[NDArray[np.integer[Any]], NDArray[np.float64]]) -> None:
    """Keep the scores of what was found where they are higher than those that are known."""
    for label, value in zip(*(part.tolist() for part in found), strict=True):
        values[label] = max(value, values.get(label, value))


def _path_of_fact(circles: list[Circle], edges: dict[int, int], graph: FilteredGraph, label: int) -> GraphPath:
    """Return the shortest path from a start over a fact."""
    ends = graph.full.ends[edges[label]]
    steps = np.array([circle.distances(ends) for circle in circles])
    row, column = np.unravel_index(steps.argmin(), steps.shape)
    before = circles[row].path_to(int(ends[column]), graph)
    return GraphPath([*before.vertices, int(ends[1 - column])], [*before.edges, edges[label]])


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

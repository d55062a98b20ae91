"""Paths through the graph, what is found on them, and its similarity with a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Scores
from worldthread.retrieve.sparse import Numbers
from worldthread.types import Fact
from worldthread_lab.published.traversal import EPISODE, KINDS, OBJECT, THESIS, FilteredGraph

Floats: TypeAlias = NDArray[np.float32]

THROUGH_EPISODE: Final = "is named with"
"""The relation between two objects of one episode, in a path."""

_UNITS: Final = np.float64(2**35)  # in which vectors are summed: 52 bits hold the sum exactly


@dataclass(frozen=True)
class GraphPath:
    """A path.

    Args:
        vertices: in order.
        edges: between each two neighbours, one fewer than vertices.
    """

    vertices: Sequence[int]
    edges: Sequence[int]


class QuestionSimilarity:
    """Cosine similarities with a question, computed on demand.

    Each is computed by itself, so that its bits do not depend on the others.

    Args:
        index: the index.
        vector: of the question, shape (dimensions,).
    """

    def __init__(self, index: RetrievalIndex, vector: Floats) -> None:
        self._index = index
        self._vector = vector
        # by label; labels of episodes are negative, so they index from the end
        self._known = np.full(len(index.statements) + len(index.episodes), np.nan, np.float32)

    def of(self, labels: NDArray[np.integer[Any]]) -> Floats:
        """Return those of statements and episodes, by label: shape (len(labels),), each in [-1, 1]."""
        known = self._known
        unknown = labels[np.isnan(known[labels])]
        if len(unknown):
            statements, episodes = unknown[unknown >= 0], unknown[unknown < 0]
            known[statements] = inner(self._index.statements.rows[statements], self._vector)
            known[episodes] = inner(self._index.episodes.rows[-1 - episodes], self._vector)
        return np.asarray(known[labels])

    def of_vertices(self, vertices: NDArray[np.integer[Any]], graph: FilteredGraph) -> Floats:
        """Return those of vertices; an object's is by its name, and 0 when the name has no vector."""
        numbers, kinds = np.divmod(vertices, KINDS)
        found = np.zeros(len(vertices), np.float32)
        objects, others = np.flatnonzero(kinds == OBJECT), np.flatnonzero(kinds != OBJECT)
        found[others] = self.of(np.where(kinds == EPISODE, -1 - numbers, numbers)[others])
        found[objects] = inner(graph.full.name_vectors.rows[numbers[objects]], self._vector)
        return found


def inner(rows: Floats, vector: Floats) -> Floats:
    """Return the inner product of each row with ``vector``; unlike with BLAS, its bits do not depend on other rows."""
    return np.asarray(np.einsum("ij,j->i", rows, vector), np.float32)


def exact_sum(rows: Floats) -> NDArray[np.float64]:
    """Return the sum of up to 2^17 vectors of length 1 or less, shape (dimensions,): the same bits in any order."""
    return np.asarray(np.rint(rows * _UNITS).sum(0) / _UNITS)


def lowest(values: NDArray[np.float64], second: NDArray[np.float64], k: int, key: Callable[[int], object]) -> Numbers:
    """Return the rows of the ``k`` lowest, in order.

    Args:
        values: what to order by, shape (n,).
        second: orders equal values, shape (n,).
        k: how many at most.
        key: orders rows that are equal in both; called only for these.

    Returns:
        Shape (<= k,).
    """
    chosen = np.arange(len(values))
    if k < len(values):
        chosen = np.flatnonzero(values <= np.partition(values, k - 1)[k - 1])
    chosen = chosen[np.lexsort((second[chosen], values[chosen]))]
    first, then = values[chosen], second[chosen]
    if k < len(chosen):
        inside = (first < first[k - 1]) | (then <= then[k - 1])
        chosen, first, then = chosen[inside], first[inside], then[inside]
    if ((first[1:] == first[:-1]) & (then[1:] == then[:-1])).any():
        ordered = sorted(chosen.tolist(), key=lambda row: (values[row], second[row], key(row)))
        chosen = np.array(ordered, np.int64)
    return chosen[:k]


def labels_on(graph: FilteredGraph, far: NDArray[np.integer[Any]], edges: NDArray[np.integer[Any]]) -> list[int]:
    """Return what steps over ``edges`` to ``far`` find, in order: labels, and the theses that episodes lead to."""
    found: list[int] = []
    for vertex, label in zip(far.tolist(), graph.labels[edges].tolist(), strict=True):
        found.append(label)
        if label < 0 and vertex % KINDS == THESIS:
            found.append(vertex // KINDS)
    return found


def descending(values: NDArray[np.float64]) -> Floats:
    """Return values that do not ascend, changed by at most a few bits so that each is less than the one before."""
    found = values.astype(np.float32)
    for row in range(1, len(found)):
        if found[row] >= found[row - 1]:
            found[row] = np.nextafter(found[row - 1], np.float32(-np.inf))
    return found


def scores(
    index: RetrievalIndex,
    graph: FilteredGraph,
    labels: NDArray[np.integer[Any]],
    values: Floats,
    path: Callable[[int], GraphPath],
) -> Scores:
    """Return the scores of what was found, ``-inf`` for everything else.

    Args:
        index: the index.
        graph: the part of the graph that was searched.
        labels: of statements and episodes, without repetition.
        values: their scores, shape (len(labels),).
        path: returns the path that leads to a label; called only for what is shown.
    """
    of_statements = np.full(len(index.statements), -np.inf, np.float32)
    of_episodes = np.full(len(index.episodes), -np.inf, np.float32)
    are_statements = labels >= 0
    statements, episodes = labels[are_statements], -1 - labels[~are_statements]
    of_statements[statements], of_episodes[episodes] = values[are_statements], values[~are_statements]
    return Scores(
        of_episodes,
        of_statements,
        PathDescriptions(statements, lambda number: in_words(graph, path(number))),
        PathDescriptions(episodes, lambda number: in_words(graph, path(-1 - number))),
    )


def nothing(index: RetrievalIndex) -> Scores:
    """Return the scores when nothing was found: ``-inf`` for everything."""
    return Scores(
        np.full(len(index.episodes), -np.inf, np.float32), np.full(len(index.statements), -np.inf, np.float32)
    )


class PathDescriptions(Mapping[int, tuple[str, ...]]):
    """Paths in words by number, computed on access.

    Args:
        numbers: the statements or episodes that have a path.
        words: returns the path of a number.
    """

    def __init__(self, numbers: NDArray[np.integer[Any]], words: Callable[[int], tuple[str, ...]]) -> None:
        self._numbers = dict.fromkeys(numbers.tolist())
        self._words = words

    def __getitem__(self, number: int) -> tuple[str, ...]:
        if number not in self._numbers:
            raise KeyError(number)
        return self._words(number)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def in_words(graph: FilteredGraph, path: GraphPath) -> tuple[str, ...]:
    """Return the objects of a path and, between each two, what joins them: a relation, thesis or episode."""
    words: list[str] = []
    through = ""
    for position, vertex in enumerate(path.vertices):
        if position:
            label = int(graph.labels[path.edges[position - 1]])
            statement = graph.full.graph.numbered_statement(label) if label >= 0 else None
            if isinstance(statement, Fact):
                through = statement.relation
            elif statement is None:
                through = THROUGH_EPISODE
            else:
                through = through or statement.text
        if vertex % KINDS == OBJECT:
            words += [through, graph.full.names[vertex // KINDS]] if words else [graph.full.names[vertex // KINDS]]
            through = ""
    return tuple(words)

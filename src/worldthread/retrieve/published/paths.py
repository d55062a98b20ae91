"""Trails through the graph, what is found on them, and how like a question it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.traversal import EPISODE, KINDS, OBJECT, THESIS, FilteredGraph
from worldthread.retrieve.query import Scores
from worldthread.retrieve.sparse import Numbers
from worldthread.types import Fact

Floats: TypeAlias = NDArray[np.float32]

THROUGH_EPISODE: Final = "is named with"
"""The relation between two objects of one episode, in a path."""


@dataclass(frozen=True)
class GraphPath:
    """Vertices in order, and the edges between them: one fewer."""

    vertices: Sequence[int]
    edges: Sequence[int]


class QuestionSimilarity:
    """Cosine similarities with a question, computed when they are asked for.

    Every one is computed by itself, so that it does not depend on what else is asked for.
    """

    def __init__(self, corpus: RetrievalIndex, vector: Floats) -> None:
        self._corpus = corpus
        self._vector = vector
        # by label: those of episodes are negative, so they lie at the end
        self._known = np.full(len(corpus.statements) + len(corpus.episodes), np.nan, np.float32)

    def of(self, labels: NDArray[np.integer[Any]]) -> Floats:
        """Of statements and episodes, by label: shape (len(labels),), each within [-1, 1]."""
        known = self._known
        unknown = labels[np.isnan(known[labels])]
        if len(unknown):
            statements, episodes = unknown[unknown >= 0], unknown[unknown < 0]
            known[statements] = inner(self._corpus.statements.rows[statements], self._vector)
            known[episodes] = inner(self._corpus.episodes.rows[-1 - episodes], self._vector)
        return np.asarray(known[labels])

    def of_vertices(self, vertices: NDArray[np.integer[Any]], walk: FilteredGraph) -> Floats:
        """Of vertices: of theses and episodes as above, of objects by name; 0 where a name has no vector."""
        numbers, kinds = np.divmod(vertices, KINDS)
        found = np.zeros(len(vertices), np.float32)
        objects, others = np.flatnonzero(kinds == OBJECT), np.flatnonzero(kinds != OBJECT)
        found[others] = self.of(np.where(kinds == EPISODE, -1 - numbers, numbers)[others])
        found[objects] = inner(walk.over.name_vectors.rows[numbers[objects]], self._vector)
        return found


def inner(rows: Floats, vector: Floats) -> Floats:
    """Inner product of each row with ``vector``; the bits of one do not depend on the other rows, unlike with BLAS."""
    return np.asarray(np.einsum("ij,j->i", rows, vector), np.float32)


def lowest(values: NDArray[np.float64], second: NDArray[np.float64], k: int, key: Callable[[int], object]) -> Numbers:
    """Indices of the ``k`` lowest by ``values``, then ``second``, then ``key`` of the index; in that order.

    ``key`` is asked only where the others leave a choice.
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
        ordered = sorted(chosen.tolist(), key=lambda index: (values[index], second[index], key(index)))
        chosen = np.array(ordered, np.int64)
    return chosen[:k]


def labels_on(walk: FilteredGraph, far: NDArray[np.integer[Any]], edges: NDArray[np.integer[Any]]) -> list[int]:
    """What steps over ``edges`` onto ``far`` find, in order: labels, and the theses that episodes lead to."""
    found: list[int] = []
    for vertex, label in zip(far.tolist(), walk.labels[edges].tolist(), strict=True):
        found.append(label)
        if label < 0 and vertex % KINDS == THESIS:
            found.append(vertex // KINDS)
    return found


def descending(values: NDArray[np.float64]) -> Floats:
    """``values``, which descend, so that each is less than the one before it, if only by the last bit."""
    found = values.astype(np.float32)
    for index in range(1, len(found)):
        if found[index] >= found[index - 1]:
            found[index] = np.nextafter(found[index - 1], np.float32(-np.inf))
    return found


def scores(
    corpus: RetrievalIndex,
    walk: FilteredGraph,
    labels: NDArray[np.integer[Any]],
    values: Floats,
    trail: Callable[[int], GraphPath],
) -> Scores:
    """Scores of what was found; ``-inf`` for all else.

    Args:
        corpus: the index.
        walk: what was walked over.
        labels: of statements and episodes, without repetition.
        values: their scores.
        trail: gives the trail that led to a label; asked only for what is shown.
    """
    of_statements = np.full(len(corpus.statements), -np.inf, np.float32)
    of_episodes = np.full(len(corpus.episodes), -np.inf, np.float32)
    are_statements = labels >= 0
    statements, episodes = labels[are_statements], -1 - labels[~are_statements]
    of_statements[statements], of_episodes[episodes] = values[are_statements], values[~are_statements]
    return Scores(
        of_episodes,
        of_statements,
        PathDescriptions(statements, lambda number: in_words(walk, trail(number))),
        PathDescriptions(episodes, lambda number: in_words(walk, trail(-1 - number))),
    )


def nothing(corpus: RetrievalIndex) -> Scores:
    """Scores when nothing was found."""
    return Scores(
        np.full(len(corpus.episodes), -np.inf, np.float32), np.full(len(corpus.statements), -np.inf, np.float32)
    )


class PathDescriptions(Mapping[int, tuple[str, ...]]):
    """Paths by number, put into words when they are asked for."""

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


def in_words(walk: FilteredGraph, trail: GraphPath) -> tuple[str, ...]:
    """The objects of a trail and, between each two, the relation, thesis or episode that joins them."""
    words: list[str] = []
    through = ""
    for position, vertex in enumerate(trail.vertices):
        if position:
            label = int(walk.labels[trail.edges[position - 1]])
            statement = walk.over.graph.numbered_statement(label) if label >= 0 else None
            if isinstance(statement, Fact):
                through = statement.relation
            elif statement is None:
                through = THROUGH_EPISODE
            else:
                through = through or statement.text
        if vertex % KINDS == OBJECT:
            words += [through, walk.over.names[vertex // KINDS]] if words else [walk.over.names[vertex // KINDS]]
            through = ""
    return tuple(words)

"""The default method: likeness of passages and of their statements, spread over the objects that they share.

Vertices are episodes and the objects that they speak of; an edge joins each episode to each of its objects. With cosine
similarities *s*, all scaled to [0, 1] by their extremes:

1. base(episode) = 1/2 s(question, episode) + 1/2 max over its statements of s(question, statement)
2. Seeds: the objects that the question names, each weighted 1 / (number of episodes that speak of it), together .9; and
   the :data:`PASSAGE_SEEDS` best episodes by base, together .1. Without named objects the episodes have all the weight.
3. rank = personalised PageRank from the seeds, damping :data:`DAMPING`, :data:`ITERATIONS` steps.
4. score(episode) = 1/2 log(rank + 1e-6), scaled, + 1/2 base
5. score(statement) = 1/2 s(question, statement) + 1/2 max over the episodes that assert it of score(episode)
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import Corpus, Links
from worldthread.retrieve.query import Query, Scores
from worldthread.vectors.exact import best

DAMPING: Final = 0.7
ITERATIONS: Final = 12
PASSAGE_SEEDS: Final = 400
NAMED_WEIGHT: Final = 0.9
_FLOOR: Final = 1e-6
_NEGLIGIBLE: Final = 1e-7


def thread(query: Query, corpus: Corpus) -> Scores:
    """See the module. With no object named and no episode, plain similarities."""
    links = corpus.links
    of_episodes = scaled(corpus.episodes.similarities(query.vector))
    of_statements = scaled(corpus.statements.similarities(query.vector))
    base = mean(of_episodes, scaled(row_max(links.statements_of_episode, of_statements)))
    rank = _rank(links, _seeds(query, links, base))
    episodes = mean(scaled(np.log(rank + _FLOOR)), base)
    return Scores(episodes, mean(of_statements, row_max(links.episodes_of_statement, episodes)))


def mean(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of two arrays of one shape, entry by entry."""
    return ((first + second) / 2).astype(np.float32)


def scaled(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """``values`` mapped to [0, 1] by their extremes; zeros when all are equal."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return ((values - low) / (high - low)).astype(np.float32) if high > low else np.zeros_like(values)


def row_max(matrix: object, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """For every row of a sparse matrix the highest of ``values`` at its columns; 0 for an empty row."""
    pointers, columns = matrix.indptr, matrix.indices  # type: ignore[attr-defined]
    found = np.zeros(len(pointers) - 1, np.float32)
    filled = np.flatnonzero(np.diff(pointers))
    if len(filled):
        found[filled] = np.maximum.reduceat(values[columns], pointers[filled])
    return found


def _seeds(query: Query, links: Links, base: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Restart weights of episodes and of names; together 1."""
    names = np.zeros(links.episodes_of_name.shape[0], np.float32)
    chosen = np.array(query.names, np.int64)
    if len(chosen):
        spoken = np.diff(links.episodes_of_name.indptr)[chosen]
        weights = 1 / np.maximum(spoken, 1)
        names[chosen] = NAMED_WEIGHT * weights / weights.sum()
    episodes = np.zeros_like(base)
    likely = best(base, PASSAGE_SEEDS)
    total = base[likely].sum()
    if total > 0:
        episodes[likely] = base[likely] / total * (1 - names.sum())
    return episodes, names


def _rank(links: Links, seeds: tuple[NDArray[np.float32], NDArray[np.float32]]) -> NDArray[np.float32]:
    """Personalised PageRank of the episodes on the graph of episodes and names.

    Weights that would give each neighbour less than :data:`_NEGLIGIBLE` are not passed on.
    """
    restart_episodes, restart_names = seeds
    episodes, names = restart_episodes, restart_names
    for _ in range(ITERATIONS):
        episodes, names = (
            (1 - DAMPING) * restart_episodes + _passed_on(links.episodes_of_name, names, len(episodes)),
            (1 - DAMPING) * restart_names + _passed_on(links.names_of_episode, episodes, len(names)),
        )
    return episodes


def _passed_on(matrix: object, weights: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """What each column gets when every row shares :data:`DAMPING` of its weight among its columns; shape (size,)."""
    pointers, columns = matrix.indptr, matrix.indices  # type: ignore[attr-defined]
    rows = np.flatnonzero(weights > _NEGLIGIBLE)
    starts, counts = pointers[rows], pointers[rows + 1] - pointers[rows]
    shares = DAMPING * weights[rows] / np.maximum(counts, 1)
    kept = (shares > _NEGLIGIBLE) & (counts > 0)
    starts, counts, shares = starts[kept], counts[kept], shares[kept]
    ends = np.cumsum(counts)
    if not len(ends):
        return np.zeros(size, np.float32)
    places = np.arange(ends[-1]) + np.repeat(starts - (ends - counts), counts)
    return np.bincount(columns[places], np.repeat(shares, counts), size).astype(np.float32)

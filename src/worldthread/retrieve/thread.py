"""The default method: similarity of passages and sentences, PageRank over shared names, and chains of two passages.

It needs no model and no triples; facts help through the names that they connect. Episodes with a speaker are scored by
:mod:`worldthread.retrieve.spoken` instead of steps 1 to 5: a message is short, has no title, and is understood with the
messages around it. Scores of episodes are at most 1, so what was written and what was said are ranked together. With
cosine similarities, *s* scaled to [0, 1] by its extremes, and the weights of :mod:`worldthread.retrieve.links`:

1. base(episode) = 1/2 s(question, episode) + 1/2 s(max over its statements of (question, statement)).
2. Seeds of the PageRank: names that the question has word for word, each rarity^-1.5; and names of which the question
   has, in words that those do not cover, the share c >= 1/2 of their mass, each
   c^2 max(df, least tdf of the words it has)^-1.5. Together they have the weight .9; the :data:`PASSAGE_SEEDS` best
   episodes by base have the rest, or everything when no name is found.
3. rank = personalised PageRank from the seeds on the graph of episodes and names, with damping :data:`DAMPING` and
   :data:`STEPS` steps. Weights below :data:`NEGLIGIBLE` are not passed on, so the work does not grow with the graph.
   HippoRAG 2 (Gutierrez et al. 2025) ranks similarly on a graph of facts.
4. score = 1/2 s(log(rank + 1e-6)) + 1/2 base.
5. The :data:`CANDIDATES` best are scored again as the second link of a chain from one of the :data:`ANCHORS` best. What
   an anchor leaves of the question is the part orthogonal to the anchor's direction (its passage plus its statement
   nearest the question). The new score is score(p) + max over anchors a of
   (1/4 score(a) + 1/4 link(a, p) + 1/5 rest(a, p)), where link is the weight of the best name that both mention and the
   question does not, halved unless it is the title of one of them, and rest is the similarity of p, and of its best
   statement, with what the anchor leaves. All scores are divided by the highest that there can be.
6. A statement has 3/4 of its own similarity s, and 1/4 of the score of the best episode that asserts it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.links import Floats, Links, WeightedRows
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers, starts_of
from worldthread.retrieve.spoken import scaled, spoken_scores
from worldthread.retrieve.words import STOP_STEMS, words_of
from worldthread.vectors.exact import best

NAMED: Final = 0.9
RARITY_POWER: Final = -1.5
LEAST_SHARE: Final = 0.5
PASSAGE_SEEDS: Final = 400
DAMPING: Final = 0.85
STEPS: Final = 12
CANDIDATES: Final = 100
ANCHORS: Final = 5
CHAIN: Final = 0.25
LINK: Final = 0.25
REST: Final = 0.2
NOT_A_TITLE: Final = 0.5
NEGLIGIBLE: Final = 1e-5
_FLOOR: Final = 1e-6
_UNITS: Final = np.float64(2**50)  # in which weights are summed
OWN: Final = np.float32(0.75)
_BELOW: Final = 2.0  # subtracted from everything but the candidates
_HIGHEST: Final = 1 + CHAIN + LINK + REST  # the greatest score of step 5, before it is divided by this


def thread(query: Query, index: RetrievalIndex) -> Scores:
    """Return the scores of the default method; the module has the formulas.

    Args:
        query: the question; its text, vector and names are used.
        index: the index.

    Returns:
        Finite scores for everything in the index. What was forgotten has some score too, and influences no other.
    """
    links, conversation = index.links, index.conversation
    of_statements = _among(index.statements.similarities(query.vector), links.episodes_of.filled)
    of_episodes = _among(index.episodes.similarities(query.vector), links.present)
    if not links.episodes:
        return Scores(of_episodes, of_statements)
    lowest = float(of_statements.min(initial=1.0))
    of_sentences = _among(links.statements_of.maxima(of_statements, lowest), links.present)
    if conversation is None or len(conversation) < links.episodes:
        scores = _written_scores(query, index, links, of_episodes, of_sentences, of_statements)
    else:
        scores = np.zeros(len(links.present), np.float32)
    if conversation is not None:
        scores[conversation.episodes] = spoken_scores(query, index, conversation, of_episodes, of_sentences)
    scores = _among(scores, links.present)
    through_episodes = links.episodes_of.maxima(scaled(scores))
    return Scores(scores, OWN * scaled(of_statements) + (1 - OWN) * through_episodes)


def _written_scores(
    query: Query,
    index: RetrievalIndex,
    links: Links,
    of_episodes: Floats,
    of_sentences: Floats,
    of_statements: Floats,
) -> Floats:
    """Return the scores of all episodes by steps 1 to 5."""
    base = np.where(links.present, _mean(scaled(of_episodes), scaled(of_sentences)), np.float32(0))
    names = _seeds(query, index, links)
    if names.any():
        names *= np.float32(NAMED / _exact_sum(names))
    rank = _rank(links, _passage_seeds(base, 1 - _exact_sum(names), index.episode_ties), names)
    scores = _mean(scaled(_among(np.log(rank + _FLOOR), links.present)), base)
    return _chained(query, index, links, scores, names, of_statements) / np.float32(_HIGHEST)


def _among(values: Floats, present: NDArray[np.bool_]) -> Floats:
    """Return ``values`` with the lowest present value wherever nothing is present, so that extremes stay the same."""
    return values if present.all() else np.where(present, values, values[present].min(initial=1.0)).astype(np.float32)


def _mean(first: Floats, second: Floats) -> Floats:
    return ((first + second) / 2).astype(np.float32)


def _seeds(query: Query, index: RetrievalIndex, links: Links) -> Floats:
    """Return the weights of the names that the question mentions, shape (names,)."""
    weights = np.zeros(len(links.df), np.float32)
    vocabulary, names = index.vocabulary, index.names
    covered = set(STOP_STEMS)
    for name in query.names:
        if links.df[name]:
            weights[name] = links.rarity(name) ** RARITY_POWER
            covered.update(words_of(names.names[name]))
    holding: list[NDArray[np.int32]] = []
    gains: list[float] = []
    frequencies: list[int] = []
    for text in dict.fromkeys(words_of(query.text)):
        word = vocabulary.find(text)
        if word is None or word >= len(links.word_df) or text in covered:  # no episode and no name has the word
            continue
        frequency = max(int(links.word_df[word]), 1)
        holding.append(names.holding(word))
        gains.append(float(np.log(1 + links.episodes / frequency)))
        frequencies.append(frequency)
    if not holding:
        return weights
    counts = [len(part) for part in holding]
    hit, places = np.unique(np.concatenate(holding), return_inverse=True)
    mass = np.maximum(links.mass(hit).astype(np.float32), 1e-9)
    shares = np.bincount(places, np.repeat(gains, counts), len(hit)) / mass
    rarest = np.full(len(hit), np.iinfo(np.int64).max)
    np.minimum.at(rarest, places, np.repeat(frequencies, counts))
    kept = (shares >= LEAST_SHARE) & (links.df[hit] > 0)
    hit, shares, rarest = hit[kept], shares[kept], rarest[kept]
    weighted = shares**2 * np.maximum(rarest, links.df[hit]).astype(np.float64) ** RARITY_POWER
    weights[hit] = np.maximum(weights[hit], weighted)
    return weights


def _exact_sum(values: Floats) -> float:
    """Return the correctly rounded sum: names are numbered as they arrive, and the sum must not depend on that."""
    return math.fsum(values[values != 0].tolist())


def _passage_seeds(base: Floats, weight: float, ties: NDArray[np.uint64]) -> Floats:
    """Return ``weight`` shared among the best episodes in proportion to their ``base``."""
    seeds = np.zeros_like(base)
    likely = best(base, PASSAGE_SEEDS, ties)
    total = _exact_sum(base[likely])
    if total > 0:
        seeds[likely] = base[likely] / np.float32(total) * weight
    return seeds


def _rank(links: Links, episode_seeds: Floats, name_seeds: Floats) -> Floats:
    """Return the personalised PageRank of the episodes, without passing on weights below :data:`NEGLIGIBLE`.

    Only vertices that are reached are stored, so the work depends on the seeds, not on the size of the graph.
    """
    episodes, names = _Reached(episode_seeds), _Reached(name_seeds)
    for _ in range(STEPS):
        to_episodes = _passed_on(links.episodes_of_name, names)
        to_names = _passed_on(links.names_of, episodes)
        episodes.receive(*to_episodes)
        names.receive(*to_names)
    return episodes.dense()


class _Reached:
    """The vertices of one kind that PageRank has reached, with their weights.

    Args:
        seeds: restart weights of all vertices of the kind, most of them 0.
    """

    def __init__(self, seeds: Floats) -> None:
        self.numbers = np.flatnonzero(seeds)
        self.weights = seeds[self.numbers]
        self._seeds = seeds
        self._places = np.full(len(seeds), -1, np.int32)  # where a vertex is in both arrays; -1: not reached
        self._places[self.numbers] = np.arange(len(self.numbers), dtype=np.int32)

    def receive(self, numbers: NDArray[np.int32], weights: Floats) -> None:
        """Replace all weights by the sums of the received ones and the restart weights.

        Args:
            numbers: the vertex of each weight, with repetitions.
            weights: what these vertices receive.
        """
        places = self._places[numbers]
        fresh = np.unique(numbers[places < 0])
        if len(fresh):
            count = len(self.numbers)
            self.numbers = np.concatenate((self.numbers, fresh))
            self._places[fresh] = np.arange(count, count + len(fresh), dtype=np.int32)
            places = self._places[numbers]
        # multiples of a power of two are summed exactly, so in any order; all weights together are about 1
        received = np.bincount(places, np.rint(weights * _UNITS), len(self.numbers)) / _UNITS
        self.weights = ((1 - DAMPING) * self._seeds[self.numbers] + received).astype(np.float32)

    def dense(self) -> Floats:
        """Return the weights of all vertices of the kind."""
        found = np.zeros(len(self._seeds), np.float32)
        found[self.numbers] = self.weights
        return found


def _passed_on(to: WeightedRows, reached: _Reached) -> tuple[NDArray[np.int32], Floats]:
    """Return the neighbours, with repetitions, and the part of :data:`DAMPING` times the weights that each receives.

    A vertex takes part when the mean share of its weight is not negligible.
    """
    likely = reached.weights > NEGLIGIBLE  # a vertex without neighbours takes no part
    numbers, weights = reached.numbers[likely], reached.weights[likely]
    counts = to.counts(numbers)
    kept = (weights > NEGLIGIBLE * counts) & (counts > 0)
    columns, shares, counts = to.passed_on(numbers[kept])
    return columns, DAMPING * shares * np.repeat(weights[kept], counts)


def _chained(
    query: Query, index: RetrievalIndex, links: Links, scores: Floats, seeds: Floats, of_statements: Floats
) -> Floats:
    """Return ``scores`` with the gains of step 5; everything but the candidates is far below them."""
    candidates = best(np.where(links.present, scores, -np.inf), CANDIDATES, index.episode_ties)
    anchors = candidates[:ANCHORS]
    rest = _rest(query, index, links, anchors, candidates, of_statements)
    gain = np.full(len(candidates), -np.inf)
    for position, anchor in enumerate(anchors):
        link = _links_to(links, int(anchor), candidates, seeds)
        through = CHAIN * scores[anchor] + LINK * link + REST * rest[position]
        through[position] = -np.inf  # an anchor is not the second link of its own chain
        gain = np.maximum(gain, through)
    chained = scores - _BELOW
    chained[candidates] = scores[candidates] + np.where(np.isfinite(gain), gain, 0)
    return chained


def _rest(
    query: Query,
    index: RetrievalIndex,
    links: Links,
    anchors: Numbers,
    candidates: Numbers,
    of_statements: Floats,
) -> Floats:
    """Return the similarity of each candidate with what each anchor leaves of the question: (anchors, candidates)."""
    episodes, statements = index.episodes.rows, index.statements.rows
    directions = episodes[anchors].copy()
    for row, anchor in enumerate(anchors.tolist()):
        own = links.statements_of[anchor]
        if len(own):
            directions[row] += statements[own[np.lexsort((index.statement_ties[own], -of_statements[own]))[0]]]
    directions = _unit(directions)
    left = _unit(query.vector - _products(directions, query.vector[None]) * directions)
    similarity = _products(left, episodes[candidates])
    stated, counts = links.statements_of.columns_of(candidates)
    filled = np.flatnonzero(counts)
    if len(filled):
        each = _products(left, statements[stated])
        starts = starts_of(counts)[filled]
        similarity[:, filled] = (similarity[:, filled] + np.maximum.reduceat(each, starts, axis=1)) / 2
    return similarity


def _links_to(links: Links, anchor: int, candidates: Numbers, seeds: Floats) -> Floats:
    """Return how strongly a name that is not a seed links each candidate with an anchor, shape (candidates,)."""
    own = links.names_of.entries(np.array([anchor]))
    found = np.zeros(len(candidates), np.float32)
    if not len(own.columns):
        return found
    strength = links.idf(own.columns) / np.log(1 + links.episodes) * own.weights * (seeds[own.columns] == 0)
    others = links.names_of.entries(candidates)
    at = np.minimum(np.searchsorted(own.columns, others.columns), len(own.columns) - 1)
    is_title = others.titles | own.titles[at]
    is_same = own.columns[at] == others.columns
    values = strength[at] * others.weights * np.where(is_title, 1.0, NOT_A_TITLE) * is_same
    filled = np.flatnonzero(others.counts)
    if len(filled):
        found[filled] = np.maximum.reduceat(values, starts_of(others.counts)[filled])
    return found


def _products(first: Floats, second: Floats) -> Floats:
    """Return the inner products of all rows with all: unlike those of BLAS, they do not depend on where a row is."""
    return np.asarray(np.einsum("ij,kj->ik", first, second), np.float32)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), np.float32)

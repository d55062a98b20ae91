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
from typing import Final, TypeVar

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
_NEGLIGIBLE: Final = float(np.float32(NEGLIGIBLE))
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

    In a large graph only vertices that are reached are stored, so the work depends on the seeds, not on its size.
    """
    if links.names_of.together:
        return _steps(_All(episode_seeds, links.names_of), _All(name_seeds, links.episodes_of_name))
    return _steps(_Reached(episode_seeds, links.names_of), _Reached(name_seeds, links.episodes_of_name))


def _steps(episodes: _Vertices, names: _Vertices) -> Floats:
    for _ in range(STEPS):
        to_episodes, to_names = names.passed_on(episodes), episodes.passed_on(names)
        episodes.receive(to_episodes)
        names.receive(to_names)
    return episodes.dense()


def _summed(targets: Numbers, shares: Floats, weights: Floats, count: int) -> NDArray[np.float64]:
    """Return what each of ``count`` targets receives of what weights have to pass on, the same in any order.

    Multiples of a power of two are summed exactly; all weights together are about 1.
    """
    passed = (shares * weights).astype(np.float64)
    passed *= _UNITS
    np.rint(passed, out=passed)
    return np.asarray(np.bincount(targets, passed, count) / _UNITS)


class _All:
    """All vertices of one kind, with their weights in PageRank.

    Args:
        seeds: restart weights of the vertices.
        links: what each vertex passes on, and to which of the other kind.
    """

    def __init__(self, seeds: Floats, links: WeightedRows) -> None:
        entries = links.all_entries()
        self._weights = seeds
        self._restart = (1 - DAMPING) * seeds
        self._counts = entries.counts
        self._limits = _limits(entries.counts)
        self._targets = entries.columns.astype(np.int64)
        self._shares = DAMPING * entries.shares

    def passed_on(self, others: _All) -> NDArray[np.float64]:
        """Return what each vertex of the other kind receives; see :meth:`_Reached.passed_on`."""
        weights = np.where(self._weights > self._limits, self._weights, np.float32(0))
        return _summed(self._targets, self._shares, np.repeat(weights, self._counts), len(others._weights))

    def receive(self, received: NDArray[np.float64]) -> None:
        """Replace all weights by what was received and the restart weights."""
        self._weights = (self._restart + received).astype(np.float32)

    def dense(self) -> Floats:
        """Return the weights of all vertices."""
        return self._weights


class _Reached:
    """The vertices of one kind that PageRank has reached, with their weights, in the order in which they were reached.

    Args:
        seeds: restart weights of all vertices of the kind, most of them 0.
        links: what each vertex of the kind passes on, and to which of the other kind.
    """

    def __init__(self, seeds: Floats, links: WeightedRows) -> None:
        self.numbers = np.flatnonzero(seeds)
        self.weights = seeds[self.numbers]
        self._links = links
        self._restart = (1 - DAMPING) * self.weights
        self._limits = np.full(len(self.numbers), _NEGLIGIBLE)  # a vertex takes part when its weight is above
        self._looked_up = np.zeros(len(self.numbers), np.int8)  # of its number of neighbours: 1 the least, 2 exactly
        self._count = len(seeds)
        self._places = np.full(len(seeds), -1, np.int32)  # where a vertex is in the arrays above; -1: not reached
        self._places[self.numbers] = np.arange(len(self.numbers), dtype=np.int32)
        # of the vertices that took part in any step: their places, and their entries one after the other
        self._takes_part = np.zeros(len(self.numbers), bool)
        self._sources = np.zeros(0, np.int64)
        self._entries = np.zeros(0, np.int64)
        self._targets = np.zeros(0, np.int64)
        self._shares = np.zeros(0, np.float32)

    def passed_on(self, others: _Reached) -> NDArray[np.float64]:
        """Return what each of the vertices of the other kind receives, by place; those that had no place get one.

        A vertex takes part when the mean share of its weight is not negligible.

        Args:
            others: the vertices of the other kind.
        """
        for known, counts_of in enumerate((self._links.least_counts, self._links.counts)):
            asked = np.flatnonzero((self.weights > self._limits) & (self._looked_up == known))
            if len(asked):
                self._limits[asked] = _limits(counts_of(self.numbers[asked]), is_exact=known > 0)
                self._looked_up[asked] = known + 1
        takes_part = self.weights > self._limits
        fresh = np.flatnonzero(takes_part & ~self._takes_part)
        if len(fresh):
            self._takes_part[fresh] = True
            columns, shares, entries = self._links.passed_on(self.numbers[fresh])
            self._sources = np.concatenate((self._sources, fresh))
            self._entries = np.concatenate((self._entries, entries))
            self._targets = np.concatenate((self._targets, others.places_of(columns)))
            self._shares = np.concatenate((self._shares, DAMPING * shares))
        weights = np.where(takes_part, self.weights, np.float32(0))[self._sources]
        return _summed(self._targets, self._shares, np.repeat(weights, self._entries), len(others.numbers))

    def places_of(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the places of some vertices; those that were not reached yet are, with the weight 0."""
        places = self._places[numbers]
        unknown = numbers[places < 0]
        if not len(unknown):
            return places
        order = np.arange(len(unknown), dtype=np.int32)
        self._places[unknown] = order
        fresh = unknown[self._places[unknown] == order]  # each once
        count = len(self.numbers)
        self._places[fresh] = np.arange(count, count + len(fresh), dtype=np.int32)
        self.numbers = np.concatenate((self.numbers, fresh))
        nothing = np.zeros(len(fresh), np.float32)
        self.weights = np.concatenate((self.weights, nothing))
        self._restart = np.concatenate((self._restart, nothing))
        self._limits = np.concatenate((self._limits, np.full(len(fresh), _NEGLIGIBLE)))
        self._looked_up = np.concatenate((self._looked_up, np.zeros(len(fresh), np.int8)))
        self._takes_part = np.concatenate((self._takes_part, np.zeros(len(fresh), bool)))
        return self._places[numbers]

    def receive(self, received: NDArray[np.float64]) -> None:
        """Replace all weights by what was received and the restart weights.

        Args:
            received: by place.
        """
        self.weights = (self._restart + received).astype(np.float32)

    def dense(self) -> Floats:
        """Return the weights of all vertices of the kind."""
        found = np.zeros(self._count, np.float32)
        found[self.numbers] = self.weights
        return found


_Vertices = TypeVar("_Vertices", _All, _Reached)


def _limits(counts: Numbers, *, is_exact: bool = True) -> NDArray[np.float64]:
    """Return above which weights vertices with so many neighbours, or at least so many, take part."""
    limits = NEGLIGIBLE * np.maximum(counts, 1)
    return np.where(counts > 0, limits, np.inf) if is_exact else limits  # one without neighbours takes no part


def _chained(
    query: Query, index: RetrievalIndex, links: Links, scores: Floats, seeds: Floats, of_statements: Floats
) -> Floats:
    """Return ``scores`` with the gains of step 5; everything but the candidates is far below them."""
    candidates = best(np.where(links.present, scores, -np.inf), CANDIDATES, index.episode_ties)
    anchors = candidates[:ANCHORS]
    rest = _rest(query, index, links, anchors, candidates, of_statements)
    link = _links_between(links, candidates, len(anchors), seeds)
    gain = np.full(len(candidates), -np.inf)
    for position, anchor in enumerate(anchors):
        through = CHAIN * scores[anchor] + LINK * link[position] + REST * rest[position]
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


def _links_between(links: Links, candidates: Numbers, anchors: int, seeds: Floats) -> Floats:
    """Return how strongly a name that is not a seed links each candidate with each of the first ones, the anchors.

    Args:
        links: the links.
        candidates: numbers of episodes.
        anchors: how many of them are anchors.
        seeds: the weights of the names that the question mentions.

    Returns:
        Shape (anchors, candidates).
    """
    entries = links.names_of.entries(candidates)
    names, counts = entries.columns, entries.counts
    found = np.zeros((anchors, len(candidates)), np.float32)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return found
    strength = links.idf(names) / np.log(1 + links.episodes) * entries.weights * (seeds[names] == 0)
    starts = starts_of(counts)
    for anchor in range(anchors):
        own = slice(starts[anchor], starts[anchor] + counts[anchor])
        if not counts[anchor]:
            continue
        at = np.minimum(np.searchsorted(names[own], names), counts[anchor] - 1)
        is_title = entries.titles | entries.titles[own][at]
        is_same = names[own][at] == names
        values = strength[own][at] * entries.weights * np.where(is_title, 1.0, NOT_A_TITLE) * is_same
        found[anchor, filled] = np.maximum.reduceat(values, starts[filled])
    return found


def _products(first: Floats, second: Floats) -> Floats:
    """Return the inner products of all rows with all: unlike those of BLAS, they do not depend on where a row is."""
    return np.asarray(np.einsum("ij,kj->ik", first, second), np.float32)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), np.float32)

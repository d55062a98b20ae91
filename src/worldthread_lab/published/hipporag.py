"""PageRank from the facts that fit the question: the five steps of HippoRAG 2 (Gutierrez et al. 2025).

With s(x) for values scaled to [0, 1] by their extremes:

1. The facts that hold and are most similar to the question, at most :attr:`PageRankSettings.facts`, have
   score(fact) = s(<question, fact>). ``keep``, for instance a model, may drop some. When none is left, everything is
   ranked by similarity alone, as in ``dense``.
2. weight(entity) = mean, over the remaining facts that have it as an end, of score(fact) / number of episodes that
   name it in a fact. Only the :attr:`PageRankSettings.entities` best entities keep their weights.
3. weight(episode) = :attr:`PageRankSettings.episode_weight` x s(<question, episode>).
4. rank = personalised PageRank on the undirected graph of episodes and entities, restarted by these weights. Edges:
   an episode and an entity of its facts, 1; two entities, twice the number of (episode, fact) pairs that join them;
   but where the vectors of the names of two entities are similar, instead their cosine for each of the two that has
   the other among its :data:`NEIGHBOURS` nearest. The factor 2 is not in the paper: the published code adds such an
   edge from both ends to an undirected graph.
5. Episodes are ordered by rank; the score of a statement is half its own s(similarity) plus half the s(rank) of the
   best episode that asserts it.

Unlike in the published code, the graph is made from what the memory holds now: it does not depend on how the memory
grew, and what was forgotten leaves no edge. Entities are the ends of facts; theses matter in step 5 only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.cache import CacheKey
from worldthread.retrieve.dense import dense
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.select import best_holding
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.spoken import scaled
from worldthread.types import Fact
from worldthread_lab.published.linking import Embed
from worldthread_lab.published.name_vectors import Floats, fill_name_vectors, synonyms
from worldthread_lab.published.paths import PathDescriptions
from worldthread_lab.published.personalized_pagerank import PersonalizedPageRank
from worldthread_lab.published.traversal import KINDS, OBJECT, VertexGraph, vertex_graph

NEIGHBOURS: Final = 100
"""How many synonyms a name has at most."""

_SHORTEST: Final = 3  # letters and digits of a name that has synonyms
_NO_LETTER: Final = re.compile("[^a-z0-9]")

FactFilter: TypeAlias = Callable[[Query, list[Fact]], list[Fact]]
"""Returns which of the facts matter, given a question and the facts most similar to it, best first."""


@dataclass(frozen=True)
class PageRankSettings:
    """Settings of :func:`pagerank`; the defaults are those of HippoRAG 2.

    Args:
        facts: how many facts are considered, at least 1.
        entities: how many entities are seeds, at least 1.
        episode_weight: weight of the episode most similar to the question, above 0.
        damping: the share of rank that is passed on, in [0, 1); the rest restarts.
        synonyms: least cosine of the vectors of two names that get an edge as synonyms.
        keep: drops facts that do not matter.
        embed: embeds names. Without it there are no edges between synonyms.
    """

    facts: int = 5
    entities: int = 5
    episode_weight: float = 0.05
    damping: float = 0.5
    synonyms: float = 0.8
    keep: FactFilter | None = None
    embed: Embed | None = None

    def __post_init__(self) -> None:
        if self.facts < 1 or self.entities < 1:
            raise InputError(f"facts and entities must be at least 1, not {self.facts} and {self.entities}")
        if self.episode_weight <= 0:
            raise InputError(f"episode_weight must be above 0, not {self.episode_weight}")
        if not 0 <= self.damping < 1:
            raise InputError(f"damping must be at least 0 and below 1, not {self.damping}")


def pagerank(query: Query, index: RetrievalIndex, settings: PageRankSettings | None = None) -> Scores:
    """Return the scores of HippoRAG 2; the module has the formulas.

    Args:
        query: the question.
        index: the index.
        settings: the defaults unless given.

    Returns:
        Scores of everything that is not forgotten. The facts that are kept have paths, as have the episodes that
        assert them.
    """
    settings = settings or PageRankSettings()
    entity_graph = _entity_graph(index, settings)
    links = index.links
    of_statements = index.statements.similarities(query.vector)
    likeliest = _likeliest(query, index, entity_graph.facts, of_statements, settings.facts)
    chosen = _kept(query, index, settings, likeliest)
    if not len(chosen):
        return dense(query, index)
    lowest, highest = float(of_statements[entity_graph.facts].min()), float(of_statements[likeliest].max())
    spread = highest - lowest
    fact_scores = (of_statements[chosen] - lowest) / spread if spread > 0 else np.ones(len(chosen), np.float32)
    of_episodes = index.episodes.similarities(query.vector)
    restart = np.zeros(entity_graph.pagerank.size, np.float32)
    restart[: len(of_episodes)][links.present] = settings.episode_weight * scaled(of_episodes[links.present])
    entities, weights = _seeds(entity_graph, chosen, fact_scores, settings.entities)
    restart[len(of_episodes) + entities] = weights
    if not restart.any():
        return dense(query, index)
    rank = entity_graph.pagerank.rank(restart, settings.damping)[: len(of_episodes)]
    rank[~links.present] = -np.inf
    asserted = links.episodes_of.filled
    through = np.zeros(len(of_episodes), np.float32)
    through[links.present] = scaled(rank[links.present])
    statements = np.full(len(of_statements), -np.inf, np.float32)
    statements[asserted] = (scaled(of_statements[asserted]) + links.episodes_of.maxima(through)[asserted]) / 2
    return Scores(rank, statements, *_paths(index, chosen))


@dataclass(frozen=True)
class _EntityGraph:
    """Facts and their entities.

    Args:
        facts: numbers of the statements that are facts and asserted, ascending.
        ends: both entities of each statement, shape (statements, 2); -1 for a thesis.
        episodes_naming: for each entity, in how many episodes a fact has it.
        pagerank: on the graph whose nodes are the episodes, then the entities.
    """

    facts: Numbers
    ends: Numbers
    episodes_naming: Numbers
    pagerank: PersonalizedPageRank


def _entity_graph(index: RetrievalIndex, settings: PageRankSettings) -> _EntityGraph:
    key = CacheKey[_EntityGraph]("entity graph", (settings.synonyms if settings.embed else None,))
    return index.derived.get(key, lambda: _made(index, settings))


def _ends(full: VertexGraph) -> tuple[Numbers, Numbers]:
    """Return the numbers of all facts that were ever asserted, and both entities of each, shape (facts, 2)."""
    are_facts = (full.labels >= 0) & (full.ends[:, 0] % KINDS == OBJECT)
    return full.labels[are_facts].astype(np.int64), full.ends[are_facts].astype(np.int64) // KINDS


def _made(index: RetrievalIndex, settings: PageRankSettings) -> _EntityGraph:
    full = vertex_graph(index)
    statements_of = index.links.statements_of.merged()
    numbers, both = _ends(full)
    ends = np.full((len(index.statements), 2), -1, np.int64)
    ends[numbers] = both
    facts = np.sort(numbers[index.links.episodes_of.filled[numbers]])
    count = len(full.names)
    episodes = statements_of.row_of_entry.astype(np.int64)
    joined = ends[statements_of.columns]
    episodes, joined = episodes[joined[:, 0] >= 0], joined[joined[:, 0] >= 0]
    naming = np.unique(np.concatenate((episodes * count + joined[:, 0], episodes * count + joined[:, 1])))
    episodes, entities = np.divmod(naming, max(count, 1))
    pairs, weights = _entity_edges(full, np.unique(entities), joined, settings)
    first = len(statements_of)
    edges = np.concatenate((np.stack((episodes, first + entities), 1), first + pairs))
    ties = np.concatenate((index.episode_ties, full.name_ties))
    weights = np.concatenate((np.ones(len(episodes), np.float32), weights))
    ranks = PersonalizedPageRank(first + count, edges, weights, ties)
    return _EntityGraph(facts, ends, np.bincount(entities, minlength=count), ranks)


def _entity_edges(
    full: VertexGraph, entities: Numbers, joined: Numbers, settings: PageRankSettings
) -> tuple[Numbers, NDArray[np.float32]]:
    """Return pairs of entities, each once, and their weights (step 4)."""
    count = max(len(full.names), 1)
    low, high = joined.min(1), joined.max(1)
    keys, times = np.unique((low * count + high)[low < high], return_counts=True)
    weights = (2.0 * times).astype(np.float64)
    if settings.embed is not None:
        fill_name_vectors(full, entities, settings.embed)
        synonym_keys, synonym_weights = _synonym_edges(full, *synonyms(full, entities, settings.synonyms))
        others = ~np.isin(keys, synonym_keys)
        keys, weights = np.concatenate((keys[others], synonym_keys)), np.concatenate((weights[others], synonym_weights))
    return np.stack(np.divmod(keys, count), 1), weights.astype(np.float32)


def _synonym_edges(full: VertexGraph, pairs: Numbers, similarity: Floats) -> tuple[Numbers, NDArray[np.float64]]:
    """Return pairs of synonyms, as lower number x names + higher number, and the weights of their edges."""
    listed, similarity = np.concatenate((pairs, pairs[:, ::-1])), np.concatenate((similarity, similarity))
    long_enough = [len(_NO_LETTER.sub("", full.names[number])) >= _SHORTEST for number in listed[:, 0].tolist()]
    listed, similarity = listed[long_enough], similarity[long_enough]
    order = np.lexsort((full.name_ties[listed[:, 1]], -similarity, listed[:, 0]))
    listed, similarity = listed[order], similarity[order]
    place = np.arange(len(listed)) - np.searchsorted(listed[:, 0], listed[:, 0])
    near = place < NEIGHBOURS
    keys, where = np.unique(listed[near].min(1) * len(full.names) + listed[near].max(1), return_inverse=True)
    return keys.astype(np.int64), np.bincount(where, similarity[near], len(keys)).astype(np.float64)


def _likeliest(query: Query, index: RetrievalIndex, facts: Numbers, of_statements: Floats, count: int) -> Numbers:
    """Return the facts that hold and are most similar to the question, best first."""
    holds = vertex_graph(index).filtered(query.at, query.only_current).holds
    found = best_holding(of_statements[facts], count, lambda rows: holds(facts[rows]), index.statement_ties[facts])
    return facts[found]


def _kept(query: Query, index: RetrievalIndex, settings: PageRankSettings, chosen: Numbers) -> Numbers:
    if settings.keep is None or not len(chosen):
        return chosen
    graph = index.graph
    offered = {fact: n for n in chosen.tolist() if isinstance(fact := graph.numbered_statement(n), Fact)}
    kept = settings.keep(query, list(offered))
    return np.array([number for fact, number in offered.items() if fact in kept], np.int64)


def _seeds(entity_graph: _EntityGraph, facts: Numbers, scores: Floats, count: int) -> tuple[Numbers, Floats]:
    """Return the best entities of the facts, and their weights (step 2)."""
    total: dict[int, float] = {}
    times: dict[int, int] = {}
    for fact, score in zip(facts.tolist(), scores.tolist(), strict=True):
        for entity in dict.fromkeys(entity_graph.ends[fact].tolist()):
            total[entity] = total.get(entity, 0.0) + score / float(entity_graph.episodes_naming[entity])
            times[entity] = times.get(entity, 0) + 1
    weights = {entity: value / times[entity] for entity, value in total.items()}
    chosen = sorted(weights, key=lambda entity: -weights[entity])[:count]
    return np.array(chosen, np.int64), np.array([weights[entity] for entity in chosen], np.float32)


def _paths(index: RetrievalIndex, facts: Numbers) -> tuple[PathDescriptions, PathDescriptions]:
    graph, episodes_of = index.graph, index.links.episodes_of
    through: dict[int, int] = {}
    for fact in facts.tolist():
        for episode in episodes_of[fact].tolist():
            through.setdefault(episode, fact)

    def in_words(number: int) -> tuple[str, ...]:
        fact = graph.numbered_statement(number)
        subject, object_ = graph.names_of(number)
        return (subject, fact.relation, object_) if isinstance(fact, Fact) else ()

    return PathDescriptions(facts, in_words), PathDescriptions(
        np.array(list(through), np.int64), lambda episode: in_words(through[episode])
    )

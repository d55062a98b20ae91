"""Retrieval by a walk from the facts that fit the question: the five steps of HippoRAG 2 (Gutierrez et al. 2025).

With s(x) for values scaled to [0, 1] by their extremes:

1. The facts that hold and are most like the question, at most :attr:`PageRankSettings.facts`, have
   score(fact) = s(<question, fact>). ``keep``, for instance a model, may drop some. Where none is left, everything is
   ranked by likeness alone, as in ``dense``.
2. weight(entity) = mean, over the facts left that have it as an end, of score(fact) / episodes that name it in a fact.
   The best few entities keep theirs.
3. weight(episode) = :attr:`PageRankSettings.episode_weight` x s(<question, episode>).
4. rank = personalised PageRank on the undirected graph of episodes and entities, restarted by these weights. Edges:
   an episode and an entity of its facts, 1; two entities, twice the number of (episode, fact) pairs that join them;
   instead of that, where names have vectors and these are alike, their cosine for either entity that has the other
   among its :data:`NEIGHBOURS` nearest. The factor is not in the paper: the published code enters such an edge from
   both ends, into an undirected graph.
5. Episodes are ordered by rank; a statement has half of its own s(likeness) and half of s(rank) of the best episode
   that asserts it.

Unlike in the published code the graph is made from what is there, so it is the same however it grew, and what was
forgotten leaves no edge. Entities are the ends of facts; theses take part in step 5 only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.dense import dense
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.linking import Embed
from worldthread.retrieve.published.name_vectors import Floats, fill_name_vectors, synonyms
from worldthread.retrieve.published.paths import PathDescriptions
from worldthread.retrieve.published.personalized_pagerank import PersonalizedPageRank
from worldthread.retrieve.published.traversal import KINDS, OBJECT, VertexGraph, vertex_graph
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.thread import scaled
from worldthread.types import Fact
from worldthread.vectors.exact import best

NEIGHBOURS: Final = 100
_SHORTEST: Final = 3  # letters and digits of a name that looks for names like it
_NO_LETTER: Final = re.compile("[^a-z0-9]")
_MORE: Final = 4  # how many more facts are looked at when too few of the first hold

FactFilter: TypeAlias = Callable[[Query, list[Fact]], list[Fact]]
"""Given a question and the facts that are most like it, best first: those that matter."""


@dataclass(frozen=True)
class PageRankSettings:
    """Settings of :func:`pagerank`; the defaults are those of HippoRAG 2.

    Args:
        facts: how many facts are looked at.
        entities: how many entities the walk starts from.
        episode_weight: weight of the episode that is most like the question.
        damping: share of the walk that goes on; the rest restarts.
        synonyms: least cosine of the vectors of two names that are joined.
        keep: drops facts that do not matter.
        embed: gives the vectors of names. Without it no two names are joined for being alike.
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


def pagerank(query: Query, corpus: RetrievalIndex, settings: PageRankSettings | None = None) -> Scores:
    """See the module. The kept facts are the paths to themselves and to the episodes that assert them."""
    settings = settings or PageRankSettings()
    graph = _entity_graph(corpus, settings)
    links = corpus.links
    of_statements = corpus.statements.similarities(query.vector)
    likeliest = _likeliest(query, corpus, graph.facts, of_statements, settings.facts)
    chosen = _kept(query, corpus, settings, likeliest)
    if not len(chosen):
        return dense(query, corpus)
    lowest, highest = float(of_statements[graph.facts].min()), float(of_statements[likeliest].max())
    spread = highest - lowest
    fact_scores = (of_statements[chosen] - lowest) / spread if spread > 0 else np.ones(len(chosen), np.float32)
    of_episodes = corpus.episodes.similarities(query.vector)
    restart = np.zeros(graph.spread.size, np.float32)
    restart[: len(of_episodes)][links.present] = settings.episode_weight * scaled(of_episodes[links.present])
    entities, weights = _seeds(graph, chosen, fact_scores, settings.entities)
    restart[len(of_episodes) + entities] = weights
    if not restart.any():
        return dense(query, corpus)
    rank = graph.spread.rank(restart, settings.damping)[: len(of_episodes)]
    rank[~links.present] = -np.inf
    asserted = links.episodes_of.filled
    through = np.zeros(len(of_episodes), np.float32)
    through[links.present] = scaled(rank[links.present])
    statements = np.full(len(of_statements), -np.inf, np.float32)
    statements[asserted] = (scaled(of_statements[asserted]) + links.episodes_of.maxima(through)[asserted]) / 2
    return Scores(rank, statements, *_paths(corpus, chosen))


@dataclass(frozen=True)
class _EntityGraph:
    """Facts and their entities.

    Args:
        facts: numbers of the statements that are facts and asserted, ascending.
        ends: both entities of each statement, shape (statements, 2); -1 for a thesis.
        episodes_naming: of each entity, in how many episodes a fact has it.
        spread: the walk over episodes, then entities.
    """

    facts: Numbers
    ends: Numbers
    episodes_naming: Numbers
    spread: PersonalizedPageRank


def _entity_graph(corpus: RetrievalIndex, settings: PageRankSettings) -> _EntityGraph:
    key = f"pagerank, names alike: {settings.synonyms if settings.embed else None}"
    if key not in corpus.derived:
        corpus.derived[key] = _made(corpus, settings)
    found: _EntityGraph = corpus.derived[key]
    return found


def _ends(over: VertexGraph) -> tuple[Numbers, Numbers]:
    """Statements that are facts, ever asserted, and both entities of each, shape (facts, 2)."""
    are_facts = (over.labels >= 0) & (over.ends[:, 0] % KINDS == OBJECT)
    return over.labels[are_facts].astype(np.int64), over.ends[are_facts].astype(np.int64) // KINDS


def _made(corpus: RetrievalIndex, settings: PageRankSettings) -> _EntityGraph:
    over = vertex_graph(corpus)
    statements_of = corpus.links.statements_of
    numbers, both = _ends(over)
    ends = np.full((len(corpus.statements), 2), -1, np.int64)
    ends[numbers] = both
    facts = np.sort(numbers[np.diff(corpus.links.episodes_of.pointers)[numbers] > 0])
    count = len(over.names)
    episodes = np.repeat(np.arange(len(statements_of.pointers) - 1), np.diff(statements_of.pointers))
    joined = ends[statements_of.columns]
    episodes, joined = episodes[joined[:, 0] >= 0], joined[joined[:, 0] >= 0]
    naming = np.unique(np.concatenate((episodes * count + joined[:, 0], episodes * count + joined[:, 1])))
    episodes, entities = np.divmod(naming, max(count, 1))
    pairs, weights = _entity_edges(over, np.unique(entities), joined, settings)
    first = len(statements_of.pointers) - 1
    edges = np.concatenate((np.stack((episodes, first + entities), 1), first + pairs))
    spread = PersonalizedPageRank(first + count, edges, np.concatenate((np.ones(len(episodes), np.float32), weights)))
    return _EntityGraph(facts, ends, np.bincount(entities, minlength=count), spread)


def _entity_edges(
    over: VertexGraph, entities: Numbers, joined: Numbers, settings: PageRankSettings
) -> tuple[Numbers, NDArray[np.float32]]:
    """Pairs of entities, each once, and their weights; see step 4."""
    count = max(len(over.names), 1)
    low, high = joined.min(1), joined.max(1)
    keys, times = np.unique((low * count + high)[low < high], return_counts=True)
    weights = (2.0 * times).astype(np.float64)
    if settings.embed is not None:
        fill_name_vectors(over, entities, settings.embed)
        like_keys, like_weights = _like_names(over, *synonyms(over, entities, settings.synonyms))
        instead = ~np.isin(keys, like_keys)
        keys, weights = np.concatenate((keys[instead], like_keys)), np.concatenate((weights[instead], like_weights))
    return np.stack(np.divmod(keys, count), 1), weights.astype(np.float32)


def _like_names(over: VertexGraph, pairs: Numbers, likeness: Floats) -> tuple[Numbers, NDArray[np.float64]]:
    """Pairs of like names, as lower number x names + higher number, and the weights of their edges."""
    listed, likeness = np.concatenate((pairs, pairs[:, ::-1])), np.concatenate((likeness, likeness))
    long_enough = [len(_NO_LETTER.sub("", over.names[number])) >= _SHORTEST for number in listed[:, 0].tolist()]
    listed, likeness = listed[long_enough], likeness[long_enough]
    order = np.lexsort((-likeness, listed[:, 0]))
    listed, likeness = listed[order], likeness[order]
    place = np.arange(len(listed)) - np.searchsorted(listed[:, 0], listed[:, 0])
    near = place < NEIGHBOURS
    keys, where = np.unique(listed[near].min(1) * len(over.names) + listed[near].max(1), return_inverse=True)
    return keys.astype(np.int64), np.bincount(where, likeness[near], len(keys)).astype(np.float64)


def _likeliest(query: Query, corpus: RetrievalIndex, facts: Numbers, of_statements: Floats, count: int) -> Numbers:
    """The facts that hold and are most like the question, best first."""
    walk = vertex_graph(corpus).walk(query.at, query.only_current)
    likeness = of_statements[facts]
    width = 2 * count
    while True:
        found = facts[best(likeness, width, corpus.statement_ties[facts])]
        holding = found[walk.holds(found)][:count]
        if len(holding) == count or width >= len(facts):
            return holding
        width *= _MORE


def _kept(query: Query, corpus: RetrievalIndex, settings: PageRankSettings, chosen: Numbers) -> Numbers:
    if settings.keep is None or not len(chosen):
        return chosen
    graph = corpus.graph
    offered = {fact: n for n in chosen.tolist() if isinstance(fact := graph.numbered_statement(n), Fact)}
    kept = settings.keep(query, list(offered))
    return np.array([number for fact, number in offered.items() if fact in kept], np.int64)


def _seeds(graph: _EntityGraph, facts: Numbers, scores: Floats, count: int) -> tuple[Numbers, Floats]:
    """The best entities of the facts, and their weights: step 2."""
    total: dict[int, float] = {}
    times: dict[int, int] = {}
    for fact, score in zip(facts.tolist(), scores.tolist(), strict=True):
        for entity in dict.fromkeys(graph.ends[fact].tolist()):
            total[entity] = total.get(entity, 0.0) + score / float(graph.episodes_naming[entity])
            times[entity] = times.get(entity, 0) + 1
    weights = {entity: value / times[entity] for entity, value in total.items()}
    chosen = sorted(weights, key=lambda entity: -weights[entity])[:count]
    return np.array(chosen, np.int64), np.array([weights[entity] for entity in chosen], np.float32)


def _paths(corpus: RetrievalIndex, facts: Numbers) -> tuple[PathDescriptions, PathDescriptions]:
    graph, episodes_of = corpus.graph, corpus.links.episodes_of
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

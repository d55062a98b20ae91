"""The five steps of HippoRAG 2, against networkx and against the same steps in plain loops."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Query, RetrievalIndex, Scores
from worldthread.types import Episode, Extraction, Fact, Thesis
from worldthread_lab.published.hipporag import PageRankSettings, pagerank
from worldthread_lab.published.name_vectors import Synonyms
from worldthread_lab.published.personalized_pagerank import PersonalizedPageRank

networkx = pytest.importorskip("networkx")
pytest.importorskip("scipy")  # networkx ranks with it

EMBEDDER = FakeEmbedder()


def indexed(graph: TemporalGraph, by_id: dict[str, Episode], index: RetrievalIndex | None = None) -> RetrievalIndex:
    index = index or RetrievalIndex(EMBEDDER)
    for part in index.take(graph, lambda ids: [by_id[i].text for i in ids]):
        index.put(part, EMBEDDER.embed(part.texts))
    return index


def index_of(*episodes: Episode) -> RetrievalIndex:
    return indexed(TemporalGraph(episodes), {episode.id: episode for episode in episodes})


def asked(text: str, at: float | None = None) -> Query:
    return Query(text, EMBEDDER.embed([text])[0], at=at)


def passage(at: float, text: str, *facts: tuple[str, str, str], aspect: str | None = None) -> Episode:
    statements = tuple(Fact(*fact, aspect=aspect) for fact in facts)
    return Episode(text, at, extraction=Extraction("by hand", (*statements, Thesis(f"It says {text}"))))


def some_episodes(seed: int, count: int = 25) -> list[Episode]:
    rng = np.random.default_rng(seed)
    names = [f"{word} {n}" for n in range(6) for word in ("alpha", "beta", "gamma")]
    return [
        passage(n, f"Passage {n} of {rng.integers(9)}.", *(
            (names[a], f"relation {rng.integers(4)}", names[b])
            for a, b in rng.integers(0, len(names), (rng.integers(0, 5), 2)).tolist()
        ))
        for n in range(count)
    ]  # fmt: skip


def by_content(index: RetrievalIndex, scores: Scores) -> dict[str, float]:
    """Scores of what is there, by id."""
    found = {}
    for numbers, values, of in (
        (index.graph.episode_numbers, scores.episodes, index.graph.numbered_episode),
        (index.graph.statement_numbers, scores.statements, index.graph.numbered_statement),
    ):
        found |= {item.id: float(values[n]) for n in numbers if (item := of(n)) is not None}
    return found


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85])
@pytest.mark.parametrize("seed", range(4))
def test_rank_is_that_of_networkx(seed: int, damping: float) -> None:
    """On random graphs with hubs, weights over three orders of magnitude, and nodes without an edge."""
    rng = np.random.default_rng(seed)
    size = 120
    pairs = {tuple(sorted(pair)) for pair in (rng.pareto(0.7, (400, 2)) * 8).astype(int).tolist() if max(pair) < 100}
    edges = np.array([pair for pair in pairs if pair[0] != pair[1]])
    weights = (10 ** rng.uniform(-1, 2, len(edges))).astype(np.float32)
    restart = rng.random(size).astype(np.float32) * (rng.random(size) < 0.3)
    graph = networkx.Graph()
    graph.add_nodes_from(range(size))
    for (near, far), weight in zip(edges.tolist(), weights.tolist(), strict=True):
        graph.add_edge(near, far, weight=weight)
    assert max(dict(graph.degree).values()) > 20
    assert networkx.number_of_isolates(graph) > 10
    expected = networkx.pagerank(
        graph, damping, dict(enumerate(restart.tolist())), max_iter=1000, tol=1e-12, dangling=None
    )
    found = PersonalizedPageRank(size, edges, weights).rank(restart, damping)
    np.testing.assert_allclose(found, [expected[node] for node in range(size)], rtol=2e-5, atol=1e-7)


def test_a_graph_without_edges_ranks_by_the_restart() -> None:
    found = PersonalizedPageRank(3, np.zeros((0, 2), np.int64), np.zeros(0, np.float32)).rank(
        np.array([1, 0, 3], np.float32), 0.5
    )
    np.testing.assert_allclose(found, [0.25, 0, 0.75], atol=1e-6)


def in_plain_loops(index: RetrievalIndex, query: Query, *, synonyms: float | None) -> dict[str, float]:
    """The five steps by dictionaries and networkx."""
    graph = index.graph
    numbers = [n for n in graph.statement_numbers if graph.is_fact(n) and graph.numbered_statement(n) is not None]
    similarity = {n: float(index.statements.rows[n] @ query.vector) for n in numbers}
    low, high = min(similarity.values()), max(similarity.values())
    chosen = sorted(numbers, key=lambda n: -similarity[n])[:5]
    naming: defaultdict[str, set[int]] = defaultdict(set)
    together: Counter[tuple[str, ...]] = Counter()
    episodes = [n for n in graph.episode_numbers if graph.numbered_episode(n) is not None]
    for episode in episodes:
        for statement in graph.statements_of(episode):
            if graph.is_fact(statement):
                ends = graph.names_of(statement)
                naming[ends[0]].add(episode)
                naming[ends[1]].add(episode)
                together[tuple(sorted(ends))] += 2
    filtered = networkx.Graph()
    filtered.add_nodes_from(episodes)
    filtered.add_edges_from((name, n, {"weight": 1}) for name, those in naming.items() for n in those)
    filtered.add_edges_from((a, b, {"weight": times}) for (a, b), times in together.items() if a != b)
    if synonyms is not None:
        vectors = dict(zip(naming, EMBEDDER.embed(list(naming)), strict=True))
        for a in naming:
            for b in naming:
                if a < b and float(vectors[a] @ vectors[b]) >= synonyms:
                    filtered.add_edge(a, b, weight=2 * float(vectors[a] @ vectors[b]))
    weights: defaultdict[str, list[float]] = defaultdict(list)
    for n in chosen:
        for name in set(graph.names_of(n)):
            weights[name].append((similarity[n] - low) / (high - low) / len(naming[name]))
    means = {name: float(np.mean(values)) for name, values in weights.items()}
    best = sorted(means, key=lambda name: -means[name])[:5]
    dense = {n: float(index.episodes.rows[n] @ query.vector) for n in episodes}
    least, most = min(dense.values()), max(dense.values())
    restart = {n: 0.05 * (dense[n] - least) / (most - least) for n in episodes} | {name: means[name] for name in best}
    ranks = networkx.pagerank(filtered, 0.5, restart, max_iter=1000, tol=1e-12)
    return {record.id: ranks[n] for n in episodes if (record := graph.numbered_episode(n)) is not None}


@pytest.mark.parametrize("synonyms", [None, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_the_five_steps_in_plain_loops_give_the_same(seed: int, synonyms: float | None) -> None:
    index = index_of(*some_episodes(seed))
    query = asked("Which relation 2 has alpha 3?")
    settings = PageRankSettings() if synonyms is None else PageRankSettings(synonyms=synonyms, embed=EMBEDDER.embed)
    expected = in_plain_loops(index, query, synonyms=synonyms)
    found = by_content(index, pagerank(query, index, settings))
    assert {i: found[i] for i in expected} == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_growing_and_forgetting_end_where_a_fresh_build_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    episodes = some_episodes(seed)
    by_id = {episode.id: episode for episode in episodes}
    graph = TemporalGraph()
    index = RetrievalIndex(EMBEDDER)
    settings = PageRankSettings(synonyms=0.6, embed=EMBEDDER.embed)
    query = asked("Which relation 2 has alpha 3?")
    for position in rng.permutation(len(episodes)).tolist():
        graph.add(episodes[position])
        if rng.random() < 0.2:
            graph.forget(graph.episodes()[0])
        pagerank(query, indexed(graph, by_id, index), settings)
    fresh = indexed(TemporalGraph(e for e in episodes if e.id in graph), by_id)
    grown = by_content(index, pagerank(query, index, settings))
    assert grown == pytest.approx(by_content(fresh, pagerank(query, fresh, settings)), rel=1e-4, abs=1e-6)
    assert len(fresh.graph) < len(episodes)


def test_an_entity_leads_to_a_passage_that_is_not_like_the_question() -> None:
    near = passage(1, "A kiln in a village.", ("Marwitz kiln", "stands in", "Velten"))
    far = passage(2, "She was a potter.", ("Velten", "was home of", "Hedwig Bollhagen"))
    index = index_of(near, far, *(passage(3 + n, f"Number {n}.", (f"a{n}", "is", f"b{n}")) for n in range(20)))
    scores = pagerank(asked("Where does the Marwitz kiln stand in?"), index, PageRankSettings(facts=1))
    best = np.argsort(-scores.episodes)[:2].tolist()
    assert [index.graph.numbered_episode(n).id for n in best] == [near.id, far.id]  # type: ignore[union-attr]
    assert scores.episode_paths[best[0]] == ("marwitz kiln", "stands in", "velten")
    assert scores.paths[int(np.argmax(scores.statements))] == ("marwitz kiln", "stands in", "velten")


def test_pagerank_starts_from_facts_that_hold() -> None:
    first = passage(1, "One.", ("Anna", "lives in", "Rome"), aspect="home of Anna")
    second = passage(2, "Two.", ("Anna", "lives in", "Paris"), aspect="home of Anna")
    other = passage(3, "Three.", ("Ben", "works for", "Acme"))
    index = index_of(first, second, other)
    offered: list[Fact] = []

    def keep(query: Query, facts: list[Fact]) -> list[Fact]:
        offered[:] = facts
        return facts

    pagerank(asked("Anna lives in Rome"), index, PageRankSettings(keep=keep))
    assert offered == [Fact("Anna", "lives in", "Paris"), Fact("Ben", "works for", "Acme")]
    pagerank(asked("Anna lives in Rome", at=1), index, PageRankSettings(keep=keep))
    assert offered == [Fact("Anna", "lives in", "Rome")]


def test_without_a_fact_left_similarity_decides() -> None:
    index = index_of(*some_episodes(0))
    query = asked("Passage 7")
    dropped = pagerank(query, index, PageRankSettings(keep=lambda query, facts: []))
    np.testing.assert_array_equal(dropped.episodes, index.episodes.similarities(query.vector))
    bare = index_of(Episode("Passage 7.", 1), Episode("Else.", 2))
    assert np.argmax(pagerank(query, bare).episodes) == 0


def test_a_dropped_fact_has_no_part() -> None:
    index = index_of(*some_episodes(1))
    query = asked("Which relation 2 has alpha 3?")
    one = pagerank(query, index, PageRankSettings(keep=lambda query, facts: facts[:1]))
    np.testing.assert_allclose(one.episodes, pagerank(query, index, PageRankSettings(facts=1)).episodes)
    assert len(one.paths) == 1


def test_one_fact_alone_counts_in_full() -> None:
    index = index_of(passage(1, "Near.", ("Anna", "likes", "tea")), Episode("Anna likes tea, too", 2))
    scores = pagerank(asked("Anna likes tea"), index)
    assert np.isfinite(scores.episodes).all()
    assert np.argmax(scores.episodes) == 0, "the passage of the fact, though the other is more like the question"


def test_like_names_that_come_in_parts_are_all_paired() -> None:
    vectors = np.random.default_rng(0).normal(size=(1300, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = np.random.default_rng(1).permutation(1300)
    synonyms = Synonyms(0.97)
    synonyms.among(order[:400], vectors)
    pairs, similarity = synonyms.among(np.sort(order[100:]), vectors)
    wanted = np.zeros(1300, bool)
    wanted[order[100:]] = True
    expected = np.argwhere(np.triu(vectors @ vectors.T >= 0.97, 1) & wanted & wanted[:, None])
    assert {tuple(sorted(pair)) for pair in pairs.tolist()} == {tuple(pair) for pair in expected.tolist()}
    assert len(pairs) == len(expected)
    np.testing.assert_allclose(similarity, (vectors[pairs[:, 0]] * vectors[pairs[:, 1]]).sum(1), atol=1e-6)


def test_only_the_least_likely_fact_of_the_only_passage_is_kept() -> None:
    """Every weight is then 0."""
    index = index_of(passage(1, "Near.", ("Anna", "likes", "tea"), ("Ben", "hates", "milk")))
    scores = pagerank(asked("Anna likes tea"), index, PageRankSettings(keep=lambda query, facts: facts[-1:]))
    assert np.isfinite(scores.episodes).all()


@pytest.mark.parametrize("wrong", [{"facts": 0}, {"entities": 0}, {"damping": 1.0}, {"episode_weight": 0.0}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        PageRankSettings(**wrong)  # type: ignore[arg-type]

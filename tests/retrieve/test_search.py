"""Search over small worlds whose right answers are plain to see."""

from __future__ import annotations

import numpy as np
import pytest

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import RetrievalIndex, methods
from worldthread.retrieve import thread as retrieve_thread
from worldthread.retrieve.links import Links
from worldthread.retrieve.query import names_in
from worldthread.retrieve.search import search
from worldthread.retrieve.thread import DAMPING, NEGLIGIBLE, STEPS, _rank, scaled
from worldthread.types import KINDS, Episode, Extraction, Fact, Hit, Thesis


def passage(text: str, at: float, *objects: str, aspect: str | None = None) -> Episode:
    """An episode whose only thesis is its text."""
    return Episode(text, at, extraction=Extraction("by hand", (Thesis(text, objects, aspect=aspect),)))


class World:
    """Episodes, their graph, and an index that follows."""

    def __init__(self, *episodes: Episode) -> None:
        self.graph = TemporalGraph()
        self.embedder = FakeEmbedder()
        self.index = RetrievalIndex(self.embedder)
        self.texts: dict[str, Episode] = {}
        self.add(*episodes)

    def add(self, *episodes: Episode) -> None:
        for episode in episodes:
            self.graph.add(episode)
            self.texts[episode.id] = episode
        self.take()

    def take(self, graph: TemporalGraph | None = None) -> None:
        pending = self.index.take(graph or self.graph, lambda ids: [self.texts[i].text for i in ids])
        for part in pending:
            self.index.put(part, self.embedder.embed(part.texts))

    def search(self, text: str, method: str = "thread", **options: object) -> tuple[Hit, ...]:
        settings = {"k": 3, "kinds": KINDS, "at": None, "only_current": True, **options}
        vector = self.embedder.embed([text])[0]
        return search(self.index, text, vector, method=method, episode_of=self.texts.__getitem__, **settings)  # type: ignore[arg-type]


HOMES = (
    passage("Anna lives in Rome.", 1, "Anna", "Rome", aspect="home of anna"),
    passage("Ben lives in Oslo.", 2, "Ben", "Oslo", aspect="home of ben"),
    passage("Anna lives in Paris.", 3, "Anna", "Paris", aspect="home of anna"),
    passage("Rome is the capital of Italy.", 4, "Rome", "Italy"),
)


WITH_SETTINGS = ["astar:neighbourhood=true,nearest=3" if name == "astar" else name for name in methods()]
"""A* of the paper finds paths between two names or more, and these questions have one."""


@pytest.mark.parametrize("method", WITH_SETTINGS)
def test_what_has_ended_is_not_found_unless_asked_for(method: str) -> None:
    world = World(*HOMES)
    now = [str(hit.item) for hit in world.search("Where does Anna live?", method) if hit.kind == "thesis"]
    assert now[0] == "Anna lives in Paris."
    assert "Anna lives in Rome." not in now
    episodes = [hit.item for hit in world.search("Where does Anna live?", method, k=9) if hit.kind == "episode"]
    assert HOMES[0] not in episodes, "an episode of which nothing holds is outdated"
    everything = world.search("Where does Anna live?", method, k=9, only_current=False)
    assert {"Anna lives in Rome.", "Anna lives in Paris."} <= {str(h.item) for h in everything if h.kind == "thesis"}


@pytest.mark.parametrize("method", WITH_SETTINGS)
def test_a_moment_of_the_past_is_answered_as_it_was(method: str) -> None:
    then = World(*HOMES).search("Where does Anna live?", method, k=9, at=1)
    assert [str(h.item) for h in then if h.kind == "thesis"] == ["Anna lives in Rome."]
    assert [h.item for h in then if h.kind == "episode"] == [HOMES[0]]
    assert then[0].version is not None
    assert then[0].version.interval.valid_to == 3


def test_the_index_grows_with_the_graph_and_forgets_with_it() -> None:
    world = World(*HOMES[:2])
    assert world.index.names.find("paris") is None
    world.add(*HOMES[2:])
    fresh = World(*HOMES)
    for question in ("Where does Anna live?", "capital of Italy"):
        assert world.search(question) == fresh.search(question)
    world.graph.forget(HOMES[2].id)
    world.take()
    assert str(world.search("Where does Anna live?")[0].item) == "Anna lives in Rome."
    assert all(h.item != HOMES[2] for h in world.search("Where does Anna live?", k=9))


def test_another_graph_starts_the_index_over() -> None:
    world = World(*HOMES)
    world.take(TemporalGraph(HOMES[:1]))
    assert [str(h.item) for h in world.search("Where?", k=9) if h.kind == "thesis"] == ["Anna lives in Rome."]


def test_a_shared_object_leads_to_what_is_not_like_the_question() -> None:
    """The second passage has no word of the question; a bridge leads to it."""
    far = passage("Its founder was Hedwig Bollhagen.", 2, "Velten", "Hedwig Bollhagen")
    noise = [passage(f"Town {n} has a river and a mill.", 3 + n, f"Town {n}") for n in range(30)]
    world = World(passage("The Marwitz kiln stands in Velten.", 1, "Marwitz kiln", "Velten"), far, *noise)
    found = [hit.item for hit in world.search("Who began the town of the Marwitz kiln?", k=2) if hit.kind == "episode"]
    assert far in found
    path = next(h.path for h in world.search("Who began the town of the Marwitz kiln?", k=2) if h.item == far)
    assert path == ("marwitz kiln", "is named with", "velten")


def test_the_path_of_a_fact_begins_where_the_question_points() -> None:
    fact = Fact("Anna", "works for", "Acme")
    world = World(Episode("Anna works for Acme.", 1, extraction=Extraction("by hand", (fact,))))
    assert world.search("Who is employed by Acme?")[0].path == ("acme", "works for", "anna")


def test_names_are_found_longest_first_and_across_number() -> None:
    known = {"new york": 0, "york": 1, "locker": 2, "the who": 3, "anna": 4}
    found = names_in("Did Anna's lockers in New York open for The Who?", known.get)
    assert found == (4, 2, 0), "'the who' is normalised without its article, and 'who' names nothing"


def test_an_unknown_method_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no retrieval method is called 'magic'; there are: .*thread"):
        World(*HOMES).search("x", "magic")


@pytest.mark.parametrize("method", methods())
def test_an_empty_memory_finds_nothing(method: str) -> None:
    assert World().search("anything", method) == ()


@pytest.mark.parametrize("method", [method for method in methods() if method != "lexical"])
def test_scores_are_finite_when_nothing_is_like_the_question(method: str) -> None:
    hits = World(passage("?", 1), passage("!", 2)).search("zzz", method)
    from_names = method in ("astar", "water_circles", "beam", "mixture")  # the question has none
    assert bool(hits) != from_names
    assert all(np.isfinite(hit.score) for hit in hits)


def test_without_a_word_in_common_nothing_is_found_by_words() -> None:
    assert World(passage("?", 1), passage("a cat", 2)).search("zzz", "lexical") == ()


def test_words_that_only_statements_have_are_no_trouble_to_other_methods() -> None:
    world = World(
        passage("Ann is here.", 1),
        Episode("Silent.", 2, extraction=Extraction("test", (Fact("Ann", "owns", "zebras"),))),
    )
    before = world.search("Who owns zebras?", "thread")
    assert [str(hit.item) for hit in world.search("owns", "lexical")] == ["Ann, owns, zebras"]
    assert world.search("Who owns zebras?", "thread") == before


@pytest.mark.parametrize("seed", range(5))
def test_pagerank_is_that_of_networkx(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps approach the personalised PageRank that networkx finds on the directed graph with the same weights."""
    networkx = pytest.importorskip("networkx")
    pytest.importorskip("scipy")
    rng = np.random.default_rng(seed)
    episodes = [
        passage(f"Text {n}.", n, *(f"Name {m}" for m in rng.choice(12, rng.integers(1, 5), replace=False)))
        for n in range(30)
    ]
    links: Links = World(*episodes).index.links
    seeds = (np.zeros(30, np.float32), np.zeros(len(links.df), np.float32))
    seeds[0][:3], seeds[1][:2] = 0.1 / 3, 0.45
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(30))
    for episode in range(30):
        entries = links.names_of.entries(np.array([episode]))
        for name, weight in zip(entries.columns.tolist(), entries.weights.tolist(), strict=True):
            graph.add_edge(episode, f"name {name}", weight=weight * float(links.idf(np.array([name]))[0]))
            graph.add_edge(f"name {name}", episode, weight=weight)
    start = {n: float(w) for n, w in enumerate(seeds[0])} | {f"name {n}": float(w) for n, w in enumerate(seeds[1])}
    expected = networkx.pagerank(graph, alpha=DAMPING, personalization=start, max_iter=1000)
    monkeypatch.setattr(retrieve_thread, "NEGLIGIBLE", 0.0)
    found = _rank(links, *seeds)
    np.testing.assert_allclose(found, [expected[n] for n in range(30)], atol=DAMPING**STEPS / 20)
    monkeypatch.undo()
    np.testing.assert_allclose(_rank(links, *seeds), found, atol=100 * NEGLIGIBLE)


def test_scaling_maps_to_the_unit_interval() -> None:
    assert scaled(np.array([2, 4, 3], np.float32)).tolist() == [0, 1, 0.5]
    assert scaled(np.array([2, 2], np.float32)).tolist() == [0, 0]
    assert scaled(np.zeros(0, np.float32)).tolist() == []


def test_a_note_that_is_written_again_and_again_takes_one_place() -> None:
    note = [
        Episode(text, at) for at, text in enumerate(["The key is red.", "the key  is\nred.", "THE KEY IS RED."] * 2)
    ]
    world = World(*note, Episode("Red keys open the shed.", 9), Episode("The key is under the mat.", 10))
    texts = [hit.item.text for hit in world.search("Where is the red key?") if isinstance(hit.item, Episode)]
    assert len(texts) == 3
    assert {"Red keys open the shed.", "The key is under the mat."} < set(texts)


def test_equal_texts_of_two_users_or_of_two_items_are_two() -> None:
    world = World(
        Episode("I like tea.", 1, user="anna"),
        Episode("I like tea.", 2, user="ben"),
        passage("I like tea.", 3, "item 1"),
        passage("I like tea.", 4, "item 2"),
    )
    assert len([hit for hit in world.search("Who likes tea?", k=9) if hit.kind == "episode"]) == 4

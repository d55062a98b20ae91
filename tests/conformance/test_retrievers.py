"""What every retrieval method must do, whatever it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from worldthread import Memory
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Query, RetrievalIndex, Scores, method, methods
from worldthread.retrieve.query import names_in
from worldthread.retrieve.search import search
from worldthread.types import KINDS, Episode, Extraction, Fact, Hit, Statement, Thesis

pytestmark = pytest.mark.parametrize("name", methods())

EMBEDDER = FakeEmbedder()
PEOPLE = ("Anna", "Ben", "Carla Moss", "Moss", "Dora")
PLACES = ("Rome", "Oslo", "the Moss house", "Lima 7")
QUESTION = "Where do Anna and Carla Moss live?"
QUESTIONS = (QUESTION, "Who knows Ben?", "what was in the house", "zzz")
HOSTILE = (
    "",
    " \n\t\x00",
    "?!.,;:-'\"()[]{}",
    "'; DROP TABLE episodes; --",
    "\u202eanna\u0301\u0301\u200b 🗝️",
    "anna " * 3000,
    "Anna'" * 200,
    "%s {0} \\d+ (.*)* [",
)


def random_episodes(count: int = 24) -> list[Episode]:
    """Return episodes of few people and places, of which later ones end what earlier ones state."""
    rng = np.random.default_rng(0)
    episodes = []
    for number in range(count):
        person, other = rng.permutation(PEOPLE)[:2].tolist()
        place, source = rng.permutation(PLACES)[:2].tolist()
        statements: tuple[Statement, ...] = (
            Fact(person, "lives in", place, aspect=f"home of {person}"),
            Fact(person, "knows", other),
            Thesis(f"{person} came from {source} in year {number}.", (person, source, str(number))),
        )[: 1 + number % 3]
        text = f"{person} and {place}\n{' '.join(map(str, statements))} Entry {number}."
        episodes.append(Episode(text, float(number), extraction=Extraction("test", statements)))
    return episodes


EPISODES = random_episodes()


class World:
    """Episodes, their graph and an index of it."""

    def __init__(self, episodes: Sequence[Episode] = ()) -> None:
        self.graph = TemporalGraph()
        self.index = RetrievalIndex(EMBEDDER)
        self.episodes: dict[str, Episode] = {}
        self.add(*episodes)

    def add(self, *episodes: Episode) -> None:
        for episode in episodes:
            self.graph.add(episode)
            self.episodes[episode.id] = episode
        self.follow()

    def forget(self, *episodes: Episode) -> None:
        for episode in episodes:
            self.graph.forget(episode.id)
        self.follow()

    def follow(self) -> None:
        while pending := self.index.take(self.graph, lambda ids: [self.episodes[i].text for i in ids]):
            for part in pending:
                self.index.put(part, EMBEDDER.embed(part.texts))

    def scores(self, name: str, text: str = QUESTION, at: float | None = None) -> Scores:
        query = Query(text, EMBEDDER.embed([text])[0], names_in(text, self.index.names.find), at)
        return method(name)(query, self.index)

    def hits(self, name: str, text: str = QUESTION, k: int = 1000, at: float | None = None) -> tuple[Hit, ...]:
        return search(
            self.index, text, EMBEDDER.embed([text])[0], method=name, k=k, kinds=KINDS, at=at, only_current=True,
            episode_of=self.episodes.__getitem__,
        )  # fmt: skip


@pytest.fixture(scope="module")
def world() -> World:
    """A world that no test changes."""
    return World(EPISODES)


@pytest.mark.parametrize("text", QUESTIONS)
def test_every_episode_and_statement_has_a_score(name: str, text: str, world: World) -> None:
    scores = world.scores(name, text)
    assert scores.episodes.shape == (len(world.graph.episode_numbers),)
    assert scores.statements.shape == (len(world.graph.statement_numbers),)
    for values in (scores.episodes, scores.statements):
        assert values.dtype == np.float32
        assert not np.isnan(values).any()
        assert not np.isposinf(values).any()
    assert all(scores.statements[number] > -np.inf for number in scores.paths)
    assert all(scores.episodes[number] > -np.inf for number in scores.episode_paths)
    for paths in (scores.paths, scores.episode_paths):
        assert all(isinstance(part, str) for path in paths.values() for part in path)


def test_the_index_and_the_query_are_left_as_they_are(name: str, world: World) -> None:
    vector = EMBEDDER.embed([QUESTION])[0]
    before = {key: array.copy() for key, array in world.index.to_arrays().items()}
    method(name)(Query(QUESTION, vector, names_in(QUESTION, world.index.names.find)), world.index)
    np.testing.assert_array_equal(vector, EMBEDDER.embed([QUESTION])[0])
    after = world.index.to_arrays()
    assert before.keys() == after.keys()
    for key in before.keys() - {"token"}:  # a random number, which names what is written
        np.testing.assert_array_equal(before[key], after[key])


def test_scores_belong_to_the_caller(name: str, world: World) -> None:
    first = world.scores(name)
    episodes, statements = first.episodes.copy(), first.statements.copy()
    first.episodes[:] = 7
    first.statements[:] = 7
    again = world.scores(name)
    np.testing.assert_array_equal(again.episodes, episodes)
    np.testing.assert_array_equal(again.statements, statements)


@pytest.mark.parametrize("text", QUESTIONS)
def test_equal_queries_have_equal_scores(name: str, text: str, world: World) -> None:
    for fresh in (world, World(EPISODES)):
        first, again = world.scores(name, text), fresh.scores(name, text)
        np.testing.assert_array_equal(first.episodes, again.episodes)
        np.testing.assert_array_equal(first.statements, again.statements)
        assert dict(first.paths) == dict(again.paths)
        assert dict(first.episode_paths) == dict(again.episode_paths)
        assert world.hits(name, text) == fresh.hits(name, text)


@pytest.mark.parametrize("at", [None, 0.0, 7.0, 15.5, 99.0])
def test_only_what_holds_at_the_time_is_found(name: str, at: float | None, world: World) -> None:
    hits = world.hits(name, at=at)
    assert hits or name == "astar"  # which finds nothing where a question names a single object, as at 0.0
    graph = world.graph
    current = {str(graph.numbered_statement(n)) for n in graph.statement_numbers if graph.statement_holds(n, at)}
    for hit in hits:
        if isinstance(hit.item, Episode):
            assert at is None or hit.item.at <= at
            assert any(str(statement) in current for statement in hit.item.extraction.statements)
        else:
            assert str(hit.item) in current
            assert hit.version is not None
            interval = hit.version.interval
            assert interval.is_open if at is None else at in interval


def test_nothing_is_found_before_the_first_episode(name: str, world: World) -> None:
    assert world.hits(name, at=-1.0) == ()


def test_nothing_of_a_forgotten_episode_is_found(name: str) -> None:
    world = World(EPISODES)
    world.hits(name)
    gone = EPISODES[::3]
    world.forget(*gone)
    left = [episode for episode in EPISODES if episode not in gone]
    stated = {statement.id for episode in left for statement in episode.extraction.statements}
    for text in (QUESTION, *(episode.text for episode in gone)):
        for hit in world.hits(name, text):
            if isinstance(hit.item, Episode):
                assert hit.item not in gone
            else:
                assert hit.item.id in stated
    world.forget(*left)
    assert world.hits(name) == ()


def test_after_forgetting_the_results_are_those_of_a_new_index(name: str) -> None:
    world = World(EPISODES)
    world.hits(name)
    world.forget(*EPISODES[::3])
    fresh = World([episode for episode in EPISODES if episode not in EPISODES[::3]])
    for text in QUESTIONS:
        assert world.hits(name, text) == fresh.hits(name, text)


def backwards(episodes: list[Episode]) -> World:
    return World(episodes[::-1])


def one_by_one(episodes: list[Episode]) -> World:
    world = World()
    for number in np.random.default_rng(1).permutation(len(episodes)).tolist():
        world.add(episodes[number])
    return world


def forgotten_and_added_again(episodes: list[Episode]) -> World:
    world = World(episodes)
    world.forget(*episodes[2:9])
    world.add(*episodes[8:1:-1])
    return world


@pytest.mark.parametrize("arrival", [backwards, one_by_one, forgotten_and_added_again])
def test_the_order_of_arrival_does_not_matter(
    name: str, arrival: Callable[[list[Episode]], World], world: World
) -> None:
    other = arrival(EPISODES)
    assert other.graph.state_hash() == world.graph.state_hash()
    for text in QUESTIONS:
        for k in (3, 1000):
            assert other.hits(name, text, k=k) == world.hits(name, text, k=k)


def test_more_hits_than_the_memory_holds_can_be_wanted(name: str, world: World) -> None:
    everything = world.hits(name, k=10**6)
    assert everything == world.hits(name, k=1000)
    for kind in KINDS:
        scores = [hit.score for hit in everything if hit.kind == kind]
        assert scores == sorted(scores, reverse=True)
        assert len({hit.item.id for hit in everything if hit.kind == kind}) == len(scores)
    few = world.hits(name, k=2)
    for kind in KINDS:
        expected = [hit for hit in everything if hit.kind == kind]
        assert [hit for hit in few if hit.kind == kind] == expected[:2]


@pytest.mark.parametrize("text", [QUESTION, *HOSTILE])
def test_an_empty_memory_has_nothing(name: str, text: str) -> None:
    empty = World()
    scores = empty.scores(name, text)
    assert scores.episodes.shape == scores.statements.shape == (0,)
    assert dict(scores.paths) == dict(scores.episode_paths) == {}
    assert empty.hits(name, text) == ()


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_can_be_asked(name: str, text: str, world: World) -> None:
    scores = world.scores(name, text)
    assert not np.isnan(scores.episodes).any()
    assert not np.isnan(scores.statements).any()
    assert all(np.isfinite(hit.score) for hit in world.hits(name, text, k=5))


@pytest.mark.parametrize("episode", [Episode("-", 1), Episode("Nobody is here.", 1), Episode("\n\n?", 1)])
def test_a_memory_without_statements_is_searched(name: str, episode: Episode) -> None:
    assert {hit.item for hit in World([episode]).hits(name)} <= {episode}


def test_a_namespace_never_shows_another(name: str, tmp_path: Path) -> None:
    path = tmp_path / "memory"
    ours, theirs = EPISODES[::2], EPISODES[1::2]
    for namespace, episodes in (("ours", ours), ("theirs", theirs)):
        with Memory(path, model="none", embedder=EMBEDDER, namespace=namespace) as memory:
            memory.record.add_many(episodes)
    with Memory(path, model="none", embedder=EMBEDDER, namespace="ours") as memory:
        stated = {statement.id for episode in ours for statement in episode.extraction.statements}
        found = [memory.recall(text, k=100, method=name).hits for text in (QUESTION, *(e.text for e in theirs[:4]))]
        assert any(found)
        for hit in (hit for hits in found for hit in hits):
            if isinstance(hit.item, Episode):
                assert hit.item in ours
            else:
                assert hit.item.id in stated

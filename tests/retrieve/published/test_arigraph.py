"""AriGraph's two searches, against the algorithm in plain loops and the equation by hand."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Query, RetrievalIndex
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis
from worldthread_lab.published.arigraph import AriGraphSettings, arigraph

EMBEDDER = FakeEmbedder()


def index_of(*episodes: Episode) -> RetrievalIndex:
    index = RetrievalIndex(EMBEDDER)
    by_id = {episode.id: episode for episode in episodes}
    for part in index.take(TemporalGraph(episodes), lambda ids: [by_id[i].text for i in ids]):
        index.put(part, EMBEDDER.embed(part.texts))
    return index


def asked(text: str, at: float | None = None) -> Query:
    return Query(text, EMBEDDER.embed([text])[0], at=at)


def passage(at: float, *statements: Statement, text: str = "") -> Episode:
    return Episode(text or f"Passage {at}.", at, extraction=Extraction("by hand", statements))


def some_episodes(seed: int) -> list[Episode]:
    rng = np.random.default_rng(seed)
    names = [f"{word}{n}" for n in range(8) for word in ("alpha ", "beta ", "gamma ")]
    return [
        passage(n, *(Fact(names[a], f"relation {r}", names[b]) for a, b, r in rng.integers(0, 24, (4, 3)).tolist()))
        for n in range(20)
    ]


def found_by(index: RetrievalIndex, query: Query, settings: AriGraphSettings) -> set[Statement]:
    scores = arigraph(query, index, settings)
    return {
        statement
        for number in np.flatnonzero(np.isfinite(scores.statements)).tolist()
        if (statement := index.graph.numbered_statement(number)) is not None
    }


def algorithm_2(index: RetrievalIndex, query: Query, depth: int, width: int) -> set[Statement]:
    """With one queue, a query at a time."""
    graph = index.graph
    facts = [graph.numbered_statement(n) for n in graph.statement_numbers]
    vectors = EMBEDDER.embed([str(fact) for fact in facts])
    queue = deque([(query.vector, 0)])
    seen: set[str] = set()
    found: set[Statement] = set()
    while queue:
        vector, distance = queue.popleft()
        if distance >= depth:
            continue
        for place in np.argsort(-(vectors @ vector), kind="stable")[:width].tolist():
            fact = facts[place]
            assert isinstance(fact, Fact)
            found.add(fact)
            for name in (fact.key[0], fact.key[2]):
                if name not in seen:
                    seen.add(name)
                    queue.append((EMBEDDER.embed([name])[0], distance + 1))
    return found


@pytest.mark.parametrize(("depth", "width"), [(1, 5), (2, 3), (3, 2), (4, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_semantic_search_is_algorithm_2(seed: int, depth: int, width: int) -> None:
    index = index_of(*some_episodes(seed))
    query = asked("What is the relation 5 of alpha 3?")
    settings = AriGraphSettings(depth=depth, width=width, embed=EMBEDDER.embed)
    assert found_by(index, query, settings) == algorithm_2(index, query, depth, width)


def test_what_is_found_first_is_above_what_is_found_later() -> None:
    index = index_of(*some_episodes(0))
    query = asked("What is the relation 5 of alpha 3?")
    first = arigraph(query, index, AriGraphSettings(depth=1)).statements
    both = arigraph(query, index, AriGraphSettings(depth=2)).statements
    at_once = np.isfinite(first)
    assert at_once.sum() == 6
    np.testing.assert_array_equal(both[at_once], first[at_once])
    later = np.isfinite(both) & ~at_once
    assert later.any()
    assert both[later].max() < first[at_once].min()


def test_episodes_are_scored_by_equation_1() -> None:
    key, door, room = (Fact("key", "is in", place) for place in ("drawer", "box", "hall"))
    noise = [Fact(f"thing {n}", "has colour", f"colour {n}") for n in range(9)]
    index = index_of(
        passage(1, key, door, *noise[:2]), passage(2, room), passage(3, key, *noise[:7]), passage(4, *noise)
    )
    scores = arigraph(asked("key is in"), index, AriGraphSettings(depth=1, width=3)).episodes
    assert scores.tolist() == pytest.approx([2 / 4 * math.log(4), 0, 1 / 8 * math.log(8), -math.inf])


def test_episodes_are_scored_as_the_published_code_does_when_asked_to() -> None:
    key = Fact("key", "is in", "drawer")
    noise = [Fact(f"thing {n}", "has colour", f"colour {n}") for n in range(9)]
    index = index_of(
        passage(1, key, noise[0], text="key"), passage(2, key, *noise), passage(3, *noise, text="key is in")
    )
    query = asked("key is in")
    settings = AriGraphSettings(depth=1, width=1, episodic="code")
    similarity = index.episodes.similarities(query.vector)
    relevance = np.array([math.log(2) / 2, math.log(10) / 10, 0])
    expected = relevance / relevance.max() + similarity / similarity.max()
    np.testing.assert_allclose(arigraph(query, index, settings).episodes, expected, rtol=1e-5)


def test_what_is_less_like_a_query_than_asked_for_is_not_found() -> None:
    index = index_of(passage(1, Fact("key", "is in", "drawer"), Fact("pot", "stands on", "stove")))
    query = asked("key, is in, drawer")
    assert found_by(index, query, AriGraphSettings()) == {
        Fact("key", "is in", "drawer"),
        Fact("pot", "stands on", "stove"),
    }
    assert found_by(index, query, AriGraphSettings(depth=1, least=0.75)) == {Fact("key", "is in", "drawer")}
    nothing = arigraph(asked("zzz"), index, AriGraphSettings(least=0.75))
    assert not np.isfinite(nothing.statements).any()
    assert not np.isfinite(nothing.episodes).any()


def test_what_has_ended_takes_no_place_of_what_holds() -> None:
    rooms = [Fact("key", "is in", f"room {n}", aspect="place of key") for n in range(20)]
    index = index_of(*(passage(n, room) for n, room in enumerate(rooms)), passage(99, Fact("pot", "is on", "stove")))
    settings = AriGraphSettings(depth=1, width=2)
    assert found_by(index, asked("key is in room"), settings) == {rooms[-1], Fact("pot", "is on", "stove")}
    assert found_by(index, asked("key is in room", at=7), settings) == {rooms[7]}


def test_theses_are_edges_between_all_their_objects() -> None:
    thesis = Thesis("Anna met Ben at the opera.", ("Anna", "Ben", "opera"))
    house = Fact("opera", "was built in", "1908")
    index = index_of(
        passage(1, thesis), passage(2, house), *(passage(3 + n, Fact(f"x{n}", "y", f"z{n}")) for n in range(9))
    )
    query = asked("Whom did Anna meet?")
    settings = AriGraphSettings(width=1, embed=EMBEDDER.embed)
    assert found_by(index, query, settings) == {thesis, house}
    assert thesis not in found_by(index, query, AriGraphSettings(theses=False))
    scores = arigraph(query, index, settings)
    paths = {index.graph.numbered_statement(number): path for number, path in scores.paths.items()}
    assert paths[thesis] == ("anna",)
    assert paths[house] == ("anna", "Anna met Ben at the opera.", "opera", "was built in", "1908")


def test_paths_lead_over_what_was_queried() -> None:
    works, is_in, like = (
        Fact("Anna", "works for", "Acme"), Fact("Acme", "has its seat in", "Oslo"), Fact("Oslow", "trades with", "Bern")
    )  # fmt: skip
    index = index_of(passage(1, works), passage(2, is_in), passage(3, like))
    scores = arigraph(asked("Anna works for"), index, AriGraphSettings(depth=3, width=2, embed=EMBEDDER.embed))
    paths = {index.graph.numbered_statement(number): path for number, path in scores.paths.items()}
    assert paths[works] == ("anna", "works for", "acme")
    assert paths[is_in] == ("acme", "has its seat in", "oslo"), "the question found it, too"
    assert paths[like] == ("acme", "has its seat in", "oslo", "is like", "oslow", "trades with", "bern")


def test_an_object_without_a_vector_stands_for_what_is_said_about_it() -> None:
    """The mean of the statements about Acme finds another statement like those, though no name is shared."""
    episodes = [
        passage(1, Fact("Anna", "works for", "Acme")),
        passage(2, Fact("Acme", "has its seat in", "Oslo")),
        passage(3, Fact("Globex", "has its seat in", "Bern")),
        *(passage(4 + n, Fact(f"x{n}", "y", f"z{n}")) for n in range(9)),
    ]
    index = index_of(*episodes)
    found = found_by(index, asked("Anna works for"), AriGraphSettings(depth=2, width=3))
    assert {fact for episode in episodes[:3] for fact in episode.extraction.statements} <= found


def test_names_are_embedded_once_in_the_life_of_a_graph() -> None:
    index = index_of(*some_episodes(0))
    given: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        given.extend(texts)
        return EMBEDDER.embed(texts)

    for _ in range(2):
        arigraph(asked("What is alpha 3?"), index, AriGraphSettings(embed=embed))
    assert given
    assert len(given) == len(set(given))


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"width": 0}, {"episodic": "best"}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        AriGraphSettings(**wrong)  # type: ignore[arg-type]

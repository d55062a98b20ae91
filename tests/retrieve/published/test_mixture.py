"""The mixture, and what holds of all traversals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.retrieve import Query, RetrievalIndex, Scores, method
from worldthread_lab.published.astar import AStarSettings, astar
from worldthread_lab.published.beam import BeamSettings, beam
from worldthread_lab.published.mixture import MixtureSettings, mixture
from worldthread_lab.published.water_circles import WaterCirclesSettings, water_circles

QUESTIONS = ("What joins Name1 and Name2?", "Name3, Name4 and Name5", "Name6?", "who works for whom?")
TRAVERSALS = ("astar", "water_circles", "beam", "mixture")


def finds(scores: Scores) -> tuple[set[int], set[int]]:
    return set(np.flatnonzero(np.isfinite(scores.statements))), set(np.flatnonzero(np.isfinite(scores.episodes)))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_mixture_is_the_union_by_similarity(random_graph: Any, question: str) -> None:
    graph = random_graph(4)
    query = graph.query(question)
    parts = [finds(run(query, graph.index)) for run in (astar, water_circles, beam)]
    scores = mixture(query, graph.index)
    assert finds(scores) == (set.union(*(part[0] for part in parts)), set.union(*(part[1] for part in parts)))
    similarity = graph.index.statements.similarities(query.vector)
    found = np.flatnonzero(np.isfinite(scores.statements))
    np.testing.assert_allclose(scores.statements[found], similarity[found], atol=1e-6)


def test_the_path_is_of_the_first_method_that_found_it(random_graph: Any) -> None:
    graph = random_graph(4)
    query = graph.query(QUESTIONS[0])
    for first, second in ((beam, water_circles), (water_circles, beam)):
        both = mixture(query, graph.index, MixtureSettings((first, second)))
        alone, other = first(query, graph.index), second(query, graph.index)
        assert dict(both.paths) == dict(other.paths) | dict(alone.paths)
        assert dict(both.episode_paths) == dict(other.episode_paths) | dict(alone.episode_paths)


@pytest.mark.parametrize("most", [1, 4, 1000])
def test_the_filter_keeps_those_most_like_the_question(random_graph: Any, most: int) -> None:
    graph = random_graph(5)
    query = graph.query(QUESTIONS[0])
    everything, few = mixture(query, graph.index), mixture(query, graph.index, MixtureSettings(most=most))
    values = np.concatenate((everything.statements, everything.episodes))
    kept = np.isfinite(np.concatenate((few.statements, few.episodes)))
    assert kept.sum() == min(most, np.isfinite(values).sum())
    assert values[kept].min() >= values[~kept & np.isfinite(values)].max(initial=-np.inf)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(InputError, match="at least one method"):
        MixtureSettings(())
    with pytest.raises(InputError, match="at least 1, or None, not 0"):
        MixtureSettings(most=0)


@pytest.mark.parametrize("name", TRAVERSALS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
@pytest.mark.slow
def test_a_graph_that_grew_and_forgot_gives_the_same_as_one_built_at_once(
    episodes_of: Any, small: Any, name: str, data: st.DataObject
) -> None:
    episodes = episodes_of(data.draw(st.integers(0, 40)))
    question = data.draw(st.sampled_from(QUESTIONS))
    at = data.draw(st.sampled_from([None, 5.0]))
    run = method(name)
    grown = small()
    for number in data.draw(st.permutations(range(len(episodes)))):
        grown.add(episodes[number])
        if data.draw(st.booleans()):
            run(grown.query(question), grown.index)
    dropped = data.draw(st.sets(st.integers(0, len(episodes) - 1), max_size=4))
    for number in dropped:
        grown.forget(episodes[number])
    fresh = small(episode for number, episode in enumerate(episodes) if number not in dropped)
    one, other = run(grown.query(question, at=at), grown.index), run(fresh.query(question, at=at), fresh.index)
    assert grown.found(one) == fresh.found(other)
    assert grown.paths(one) == fresh.paths(other)


def unrestricted(name: str, vertices: str) -> Any:
    kinds = {
        "astar": (astar, AStarSettings(vertices=vertices)),
        "beam": (beam, BeamSettings(vertices=vertices)),
        "water_circles": (water_circles, WaterCirclesSettings(vertices=vertices)),
    }
    run, given = kinds[name]
    return partial(run, settings=given)


@pytest.mark.parametrize("name", TRAVERSALS[:3])
@pytest.mark.parametrize("seed", range(4))
def test_restrictions_and_time_are_respected_and_answers_repeat(random_graph: Any, name: str, seed: int) -> None:
    graph = random_graph(seed)
    for question in QUESTIONS:
        for vertices in ("O", "OT", "OE", "OTE"):
            run = unrestricted(name, vertices)
            for at in (None, 4.0):
                query = graph.query(question, at=at)
                scores: Scores = run(query, graph.index)
                check(graph, query, scores, vertices)
                again: Scores = run(query, graph.index)
                assert (again.statements == scores.statements).all()
                assert (again.episodes == scores.episodes).all()


def check(graph: Any, query: Query, scores: Scores, vertices: str) -> None:
    statements, episodes = finds(scores)
    for number in statements:
        assert graph.graph.statement_holds(number, query.at), "nothing that has ended, or has not begun"
        assert "T" in vertices or graph.graph.is_fact(number)
    for number in episodes:
        assert "E" in vertices
        assert query.at is None or graph.graph.numbered_episode(number).at <= query.at


@pytest.mark.parametrize("name", TRAVERSALS)
def test_an_empty_memory_finds_nothing(small: Any, name: str) -> None:
    graph = small()
    assert graph.found(method(name)(graph.query("anything"), graph.index)) == {}


def test_a_mixture_takes_any_method(random_graph: Any) -> None:
    graph = random_graph(1)

    def nobody(query: Query, index: RetrievalIndex) -> Scores:
        return Scores(
            np.full(len(index.episodes), -np.inf, np.float32), np.full(len(index.statements), -np.inf, np.float32)
        )

    query = graph.query(QUESTIONS[0])
    assert graph.found(mixture(query, graph.index, MixtureSettings((nobody,)))) == {}

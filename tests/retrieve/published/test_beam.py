"""Beam search against the same rules written plainly, path by path, and its properties."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.types import Fact, Thesis
from worldthread_lab.published.beam import LEAST_SIMILARITY, BeamSettings, beam, paths_from
from worldthread_lab.published.paths import QuestionSimilarity
from worldthread_lab.published.traversal import KINDS, LETTERS, OBJECT

SETTINGS = st.builds(
    BeamSettings,
    max_depth=st.integers(1, 5),
    max_paths=st.integers(1, 8),
    same_path_intersection_by_vertex=st.booleans(),
    diff_paths_intersection_by_vertex=st.booleans(),
    diff_paths_intersection_by_edge=st.booleans(),
    mean_alpha=st.sampled_from([0.0, 0.75, 1.0]),
    final_sorting_mode=st.sampled_from(["mixed", "ended_first", "continuous_first"]),
    vertices=st.sampled_from(["O", "OT", "OE", "OTE"]),
)

Path = tuple[tuple[int, ...], tuple[int, ...], float]  # vertices, edges, sum of costs


def plain_paths(
    start: int, filtered: Any, similarity: QuestionSimilarity, given: BeamSettings
) -> list[tuple[Path, float]]:
    """The rules, path by path."""
    alive: list[Path] = [((start,), (), 0.0)]
    ended: list[Path] = []
    for _ in range(given.max_depth):
        candidates: list[tuple[tuple[Any, ...], Path]] = []
        for number, (vertices, edges, cost) in enumerate(alive):
            others = [path for n, path in enumerate(alive) if n != number]
            extensions = []
            for far, edge in zip(*(part.tolist() for part in filtered.steps_from(vertices[-1])), strict=True):
                if len(vertices) > 1 and far == vertices[-2]:
                    continue
                if edge in edges or (not given.same_path_intersection_by_vertex and far in vertices):
                    continue
                if not given.diff_paths_intersection_by_vertex and any(far in path[0] for path in others):
                    continue
                if not given.diff_paths_intersection_by_edge and any(edge in path[1] for path in others):
                    continue
                label = int(filtered.labels[edge])
                of_edge = float(similarity.of(np.array([label]))[0])
                total = cost - math.log(min(max(of_edge, LEAST_SIMILARITY), 1.0))
                second = -float(similarity.of_vertices(np.array([far]), filtered)[0])
                order = (total, second, filtered.key(far), filtered.id_of(label), number)
                extensions.append((order, ((*vertices, far), (*edges, edge), total)))
            if not extensions and edges:
                ended.append(alive[number])
            candidates += sorted(extensions)[: given.max_paths]
        alive = [path for _, path in sorted(candidates)[: given.max_paths]]

    def ranked(paths: list[Path]) -> list[tuple[Path, float]]:
        scored = [(path, path[2] / len(path[1]) ** given.mean_alpha) for path in paths]
        return sorted(scored, key=lambda pair: pair[1])

    first = {"mixed": ended + alive, "ended_first": ended, "continuous_first": alive}[given.final_sorting_mode]
    then = {"mixed": [], "ended_first": alive, "continuous_first": ended}[given.final_sorting_mode]
    found = ranked(first)[: given.max_paths]
    return found + ranked(then)[: given.max_paths - len(found)]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 30), start=st.integers(0, 9), given=SETTINGS)
def test_the_paths_are_those_of_the_rules(random_graph: Any, seed: int, start: int, given: BeamSettings) -> None:
    graph = random_graph(seed, count=10, objects=12)
    start = KINDS * (start % len(graph.full.names)) + OBJECT
    filtered = graph.full.filtered(vertices=given.vertices)
    similarity = QuestionSimilarity(graph.index, graph.query("Name1 works for Name2, who is near Name3").vector)
    found = paths_from(start, filtered, similarity, given)
    expected = plain_paths(start, filtered, similarity, given)
    assert [(tuple(path.vertices), tuple(path.edges)) for path, _ in found] == [path[:2] for path, _ in expected]
    np.testing.assert_allclose([rank for _, rank in found], [rank for _, rank in expected])


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 30), given=SETTINGS)
def test_a_path_uses_no_edge_twice_and_never_steps_straight_back(
    random_graph: Any, seed: int, given: BeamSettings
) -> None:
    graph = random_graph(seed)
    filtered = graph.full.filtered(vertices=given.vertices)
    similarity = QuestionSimilarity(graph.index, graph.query("Name4 likes Name5").vector)
    for start in range(0, KINDS * len(graph.full.names), KINDS):
        found = paths_from(start, filtered, similarity, given)
        assert len(found) <= given.max_paths
        for path, _ in found:
            assert 1 <= len(path.edges) <= given.max_depth
            assert len(set(path.edges)) == len(path.edges)
            assert all(before != after for before, after in zip(path.vertices, path.vertices[2:], strict=False))
            assert given.same_path_intersection_by_vertex or len(set(path.vertices)) == len(path.vertices)
            assert all(LETTERS[vertex % KINDS] in given.vertices for vertex in path.vertices[1:])
            for (near, far), edge in zip(pairwise(path.vertices), path.edges, strict=True):
                assert {near, far} == set(graph.full.ends[edge].tolist())


def star(small: Any) -> Any:
    graph = small()
    graph.state(Fact("Hub", "paints red boats for", "Anna"), at=1)
    graph.state(Fact("Anna", "sells red boats to", "Ben"), at=2)
    graph.state(Fact("Hub", "is a kind of", "wheel"), at=3)
    return graph


def test_the_best_path_comes_first_with_its_way(small: Any) -> None:
    graph = star(small)
    scores = beam(graph.query("Hub: who buys red boats?"), graph.index, BeamSettings(vertices="O"))
    found = graph.found(scores)
    assert sorted(found, key=found.__getitem__, reverse=True)[0] == "Hub, paints red boats for, Anna"
    way = ("hub", "paints red boats for", "anna", "sells red boats to", "ben")
    assert graph.paths(scores)["Anna, sells red boats to, Ben"] == way
    assert found["Hub, is a kind of, wheel"] < found["Anna, sells red boats to, Ben"]


def test_ended_and_continuous_paths_take_turns(small: Any) -> None:
    graph = star(small)
    given = BeamSettings(max_depth=2, max_paths=1, vertices="O", diff_paths_intersection_by_vertex=True)
    query = graph.query("Hub: who buys red boats?")
    best = {"Hub, paints red boats for, Anna", "Anna, sells red boats to, Ben"}
    assert graph.found(beam(query, graph.index, given)).keys() == best
    two = replace(given, max_paths=2, final_sorting_mode="ended_first")
    filtered, similarity = graph.full.filtered(vertices="O"), QuestionSimilarity(graph.index, query.vector)
    lengths = [len(path.edges) for path, _ in paths_from(graph.vertex("hub"), filtered, similarity, two)]
    assert lengths == [1, 2], "the path to the wheel ended before the depth"
    other = replace(two, final_sorting_mode="continuous_first")
    assert [len(t.edges) for t, _ in paths_from(graph.vertex("hub"), filtered, similarity, other)] == [2, 1]


def test_paths_lead_over_theses_and_episodes_and_find_them(small: Any) -> None:
    graph = small()
    thesis, other = Thesis("Anna lives in Oslo", ("Anna", "Oslo")), Thesis("Ben skis", ("Ben",))
    episode = graph.state(thesis, other)
    assert graph.found(beam(graph.query("Anna?"), graph.index)).keys() == {str(thesis), str(other), episode.text}
    no_episodes = beam(graph.query("Anna?"), graph.index, BeamSettings(vertices="OT"))
    assert graph.found(no_episodes).keys() == {str(thesis)}


def test_what_has_ended_is_on_no_path(small: Any) -> None:
    graph = small()
    graph.state(Fact("Anna", "lives in", "Oslo", aspect="home of anna"), at=1)
    graph.state(Fact("Anna", "lives in", "Rome", aspect="home of anna"), at=2)
    assert "Anna, lives in, Oslo" not in graph.found(beam(graph.query("Anna?"), graph.index))
    then = graph.found(beam(graph.query("Anna?", at=1.0), graph.index))
    assert "Anna, lives in, Oslo" in then
    assert "Anna, lives in, Rome" not in then


def test_a_question_that_names_nothing_finds_something_only_by_our_own_step(small: Any) -> None:
    graph = star(small)
    assert graph.found(beam(graph.query("who buys boats?"), graph.index, BeamSettings(nearest=3)))
    assert graph.found(beam(graph.query("who buys boats?"), graph.index)) == {}


@pytest.mark.parametrize("wrong", [{"max_depth": 0}, {"max_paths": 0}, {"final_sorting_mode": "best"}])
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        BeamSettings(**wrong)

"""The graph of objects, theses and episodes: who is joined to whom, at which time, and where a search begins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import sparse
from worldthread.types import Fact, Thesis
from worldthread_lab.published.linking import COMMON, PROPER, entities_of, link, pending_names
from worldthread_lab.published.paths import THROUGH_EPISODE, GraphPath, descending, in_words, inner, lowest
from worldthread_lab.published.traversal import EPISODE, KINDS, LETTERS, OBJECT, THESIS, FilteredGraph

ANNA = Thesis("Anna lives in Oslo", ("Anna", "Oslo"), aspect="home of anna")
LATER = Thesis("Anna lives in Rome", ("Anna", "Rome"), aspect="home of anna")
CAPITAL = Fact("Oslo", "is the capital of", "Norway")


def around(small: Any, filtered: FilteredGraph, vertex: int) -> set[tuple[tuple[int, str], str]]:
    """The neighbours of a vertex by content, each with the label of the edge."""
    far, edges = filtered.steps_from(vertex)
    return {
        (filtered.key(v), filtered.id_of(label))
        for v, label in zip(far.tolist(), filtered.labels[edges].tolist(), strict=True)
    }


def test_facts_theses_and_episodes_join_what_they_should(small: Any) -> None:
    graph = small()
    episode = graph.state(ANNA, CAPITAL)
    filtered = graph.full.filtered()
    oslo = {
        ((OBJECT, "norway"), CAPITAL.id),
        ((THESIS, ANNA.id), ANNA.id),
        ((EPISODE, episode.id), episode.id),
    }
    assert around(graph, filtered, graph.vertex("oslo")) == oslo
    thesis = {((OBJECT, "anna"), ANNA.id), ((OBJECT, "oslo"), ANNA.id), ((EPISODE, episode.id), episode.id)}
    assert around(graph, filtered, graph.vertex(ANNA)) == thesis
    assert len(around(graph, filtered, EPISODE)) == 4, "a thesis and three objects"
    assert graph.full.counts() == {"objects": 3, "object_edges": 1, "thesis_edges": 2, "episodic_edges": 4}


def test_what_has_ended_is_left_out_unless_asked_for(small: Any) -> None:
    graph = small()
    first = graph.state(ANNA, at=1)
    graph.state(LATER, at=2)
    anna = graph.vertex("anna")
    now = {key for key, _ in around(graph, graph.full.filtered(), anna)}
    assert (THESIS, ANNA.id) not in now
    assert (EPISODE, first.id) not in now, "an episode of which nothing holds"
    then = {key for key, _ in around(graph, graph.full.filtered(at=1), anna)}
    assert then == {(THESIS, ANNA.id), (EPISODE, first.id)}
    ever = {key for key, _ in around(graph, graph.full.filtered(only_current=False), anna)}
    assert {(THESIS, ANNA.id), (THESIS, LATER.id), (EPISODE, first.id)} < ever


def test_a_statement_that_ends_is_noticed_and_one_that_comes_back_too(small: Any) -> None:
    graph = small()
    graph.state(ANNA, at=1)
    assert len(graph.full.filtered().steps_from(graph.vertex("oslo"))[0]) == 2
    later = graph.state(LATER, at=2)
    assert len(graph.full.filtered().steps_from(graph.vertex("oslo"))[0]) == 0
    graph.forget(later)
    assert len(graph.full.filtered().steps_from(graph.vertex("oslo"))[0]) == 2


@pytest.mark.parametrize("letters", ["", "O", "T", "E", "OT", "OE", "TE", "OTE"])
def test_only_vertices_of_the_kinds_named_are_stepped_on(random_graph: Any, letters: str) -> None:
    graph = random_graph(1)
    filtered, free = graph.full.filtered(vertices=letters), graph.full.filtered()
    for vertex in range(filtered.size):
        far, edges = filtered.steps_from(vertex)
        all_far, all_edges = free.steps_from(vertex)
        allowed = np.array([LETTERS[v % KINDS] in letters for v in all_far.tolist()], bool)
        assert far.tolist() == all_far[allowed].tolist()
        assert edges.tolist() == all_edges[allowed].tolist()


def test_another_letter_is_refused(random_graph: Any) -> None:
    with pytest.raises(InputError, match="letters OTE, not 'OX'"):
        random_graph(1).full.filtered(vertices="OX")


@pytest.mark.parametrize("least_late", [1, 8, 1000])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_graph_that_grew_and_forgot_is_the_graph_built_at_once(
    episodes_of: Any, small: Any, least_late: int, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "_LEAST_LATE_EDGES", least_late)
        episodes = episodes_of(data.draw(st.integers(0, 50)))
        grown = small()
        for number in data.draw(st.permutations(range(len(episodes)))):
            grown.add(episodes[number])
            if data.draw(st.booleans()):
                assert len(grown.full.adjacency.far) >= 0  # sorted now, or more at once later
        dropped = data.draw(st.sets(st.integers(0, len(episodes) - 1), max_size=4))
        for number in dropped:
            grown.forget(episodes[number])
        fresh = small(episode for number, episode in enumerate(episodes) if number not in dropped)
        at = data.draw(st.sampled_from([None, 3.0, 8.0]))
        only_current = data.draw(st.booleans())
        assert edges_by_content(grown, at, only_current) == edges_by_content(fresh, at, only_current)


def edges_by_content(graph: Any, at: float | None, only_current: bool) -> set[tuple[Any, ...]]:
    filtered = graph.full.filtered(at, only_current)
    together = set()
    for vertex in range(filtered.size):
        for far, edge in zip(*(part.tolist() for part in filtered.steps_from(vertex)), strict=True):
            together.add((filtered.key(vertex), filtered.key(far), filtered.id_of(int(filtered.labels[edge]))))
    owners, far, edges = filtered.steps(np.arange(filtered.size))
    at_once = {
        (filtered.key(v), filtered.key(f), filtered.id_of(int(filtered.labels[e])))
        for v, f, e in zip(owners.tolist(), far.tolist(), edges.tolist(), strict=True)
    }
    assert together == at_once
    return together


def test_names_are_linked_exactly_then_across_number_then_by_vector(small: Any) -> None:
    graph = small()
    graph.state(Fact("Locker", "is in", "Hall"), Fact("Barack Obama", "was born in", "Honolulu"))
    assert link(["the lockers", "HALL", "Obama"], graph.index) == ("locker", "hall")
    embed = FakeEmbedder().embed
    assert link(["Obama"], graph.index, embed) == (), "no name has a vector yet"
    for part in pending_names(graph.index):
        graph.index.put(part, embed(part.texts))
    assert link(["Obama", "lockers"], graph.index, embed) == ("barack obama", "locker")
    assert pending_names(graph.index) == []
    graph.state(Fact("Anna", "knows", "Locker"))
    assert [part.texts for part in pending_names(graph.index)] == [["anna"]], "only what is new"


def test_a_search_begins_from_proper_names_and_counts_common_nouns_half(small: Any) -> None:
    graph = small()
    graph.state(Thesis("Oslo has a harbour", ("Oslo", "harbour")))
    filtered = graph.full.filtered()
    found = entities_of(graph.query("Which harbour is in Oslo?"), graph.index, filtered)
    assert found.starts.tolist() == [graph.vertex("oslo")]
    assert found.vertices.tolist() == [graph.vertex("oslo"), graph.vertex("harbour")]
    assert found.weights.tolist() == [PROPER, COMMON]
    common = entities_of(graph.query("which harbour?"), graph.index, filtered)
    assert common.starts.tolist() == [graph.vertex("harbour")]
    given = entities_of(graph.query("Where?"), graph.index, filtered, ("harbour", "Oslo", "Atlantis"))
    assert given.starts.tolist() == [graph.vertex("harbour"), graph.vertex("oslo")]
    assert given.weights.tolist() == [COMMON, PROPER]


def test_where_nothing_is_named_a_search_begins_at_what_is_most_like_the_question(small: Any) -> None:
    graph = small()
    graph.state(ANNA, at=1)
    graph.state(LATER, at=2)
    graph.state(Fact("Ben", "works for", "Acme"), at=3)
    filtered = graph.full.filtered()
    query = graph.query("she lives where")
    assert entities_of(query, graph.index, filtered, nearest=1).starts.tolist() == [graph.vertex(LATER)]
    no_theses = graph.full.filtered(vertices="OE")
    starts = entities_of(query, graph.index, no_theses, nearest=1).starts.tolist()
    assert starts == [graph.vertex("anna"), graph.vertex("rome")]
    assert len(entities_of(query, graph.index, filtered, nearest=0).starts) == 0
    both = entities_of(query, graph.index, filtered, nearest=9).starts.tolist()
    assert both == [graph.vertex(LATER), graph.vertex("ben"), graph.vertex("acme")], "what has ended is no start"


def test_a_path_in_words_alternates_objects_and_what_joins_them(small: Any) -> None:
    graph = small()
    graph.state(ANNA, text="first")
    graph.state(CAPITAL, Fact("Norway", "is in", "Europe"), text="second")
    anna, oslo, norway, europe = map(graph.vertex, ("anna", "oslo", "norway", "europe"))
    filtered = graph.full.filtered()

    def path(*vertices: int) -> GraphPath:
        edges = []
        for near, far in pairwise(vertices):
            ends, numbers = filtered.steps_from(near)
            edges.append(int(numbers[ends == far][0]))
        return GraphPath(vertices, edges)

    thesis, second = graph.vertex(ANNA), KINDS + EPISODE
    assert in_words(filtered, path(anna, thesis, oslo, norway)) == (
        "anna",
        "Anna lives in Oslo",
        "oslo",
        "is the capital of",
        "norway",
    )
    assert in_words(filtered, path(oslo, second, europe)) == ("oslo", THROUGH_EPISODE, "europe")
    assert in_words(filtered, path(anna, thesis)) == ("anna",)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 99)), max_size=30, unique=True),
    st.integers(1, 12),
)
def test_the_lowest_are_those_of_a_sort(rows: list[tuple[int, int, int]], k: int) -> None:
    values, second = (np.array([row[n] for row in rows], np.float64) for n in (0, 1))
    expected = sorted(range(len(rows)), key=rows.__getitem__)[:k]
    assert lowest(values, second, k, lambda index: rows[index][2]).tolist() == expected


def test_inner_products_do_not_depend_on_their_company() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 384)).astype(np.float32)
    together = inner(rows, rows[0])
    alone = np.array([inner(rows[n : n + 1], rows[0])[0] for n in range(500)])
    assert (together == alone).all()
    np.testing.assert_allclose(together, rows @ rows[0], rtol=1e-3, atol=1e-3)


def test_equal_values_are_made_to_descend() -> None:
    found = descending(np.array([2.0, 1.0, 1.0, 1.0, 0.0]))
    assert (np.diff(found) < 0).all()
    np.testing.assert_allclose(found, [2, 1, 1, 1, 0], atol=1e-6)

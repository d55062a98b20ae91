"""A* against networkx, against the same search written plainly, and on graphs whose answers are plain to see."""

from __future__ import annotations

import heapq
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from worldthread.errors import InputError
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Fact, Thesis
from worldthread_lab.published.astar import HEURISTICS, AStarSettings, astar, paths_between
from worldthread_lab.published.astar_search import BatchedSearch, Heuristic
from worldthread_lab.published.linking import pending_names
from worldthread_lab.published.traversal import EPISODE, KINDS, OBJECT

networkx = pytest.importorskip("networkx")
pytest.importorskip("scipy")  # networkx ranks with it

FACTS = (
    Fact("Anna", "works for", "Acme"),
    Fact("Acme", "is based in", "Oslo"),
    Fact("Oslo", "hosts", "Acme"),
    Fact("Oslo", "is in", "Norway"),
    Fact("Ben", "likes", "Oslo"),
)


def chain(small: Any) -> Any:
    graph = small()
    for at, fact in enumerate(FACTS):
        graph.state(fact, at=at)
    return graph


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("vertices", ["OTE", "O", "OT"])
def test_without_a_heuristic_paths_are_as_short_as_those_of_networkx(
    random_graph: Any, seed: int, vertices: str
) -> None:
    graph = random_graph(seed, count=30, objects=40)
    filtered = graph.full.filtered(vertices=vertices)
    expected = graph.networkx(filtered)
    ends = [KINDS * n + OBJECT for n in range(0, len(graph.full.names), 3)]
    pairs = list(combinations(ends, 2))
    settings = AStarSettings("none", max_depth=99, max_passed_vertices=10_000)
    found = {(path[0], path[-1]): path for path in paths_between(pairs, filtered, graph.index, settings)}
    reachable = {pair for pair in pairs if networkx.has_path(expected, *pair)}
    assert found.keys() == reachable
    for pair, path in found.items():
        assert len(path) - 1 == networkx.shortest_path_length(expected, *pair)
        assert networkx.is_path(expected, path)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("vertices", ["TE", "E", "OE"])
def test_start_and_target_may_be_of_a_kind_that_paths_may_not_pass(random_graph: Any, seed: int, vertices: str) -> None:
    graph = random_graph(seed, count=30, objects=40)
    filtered = graph.full.filtered(vertices=vertices)
    whole = graph.networkx(graph.full.filtered())
    closed = {vertex for vertex in whole if "OTE"[vertex % KINDS] not in vertices}
    ends = [vertex for vertex in sorted(whole) if vertex in closed][:9]
    pairs = list(combinations(ends, 2))
    for heuristic in ("none", "weighted"):
        settings = AStarSettings(heuristic, max_depth=99, max_passed_vertices=10_000, vertices=vertices)  # type: ignore[arg-type]
        found = {(path[0], path[-1]): path for path in paths_between(pairs, filtered, graph.index, settings)}
        for pair in pairs:
            expected = whole.subgraph(whole.nodes - (closed - set(pair)))
            assert (pair in found) == networkx.has_path(expected, *pair)
            if pair in found:
                assert networkx.is_path(expected, found[pair])
                assert heuristic != "none" or len(found[pair]) - 1 == networkx.shortest_path_length(expected, *pair)
    assert any(len(path) > 2 for path in found.values())


class Plain:
    """A* as a textbook writes it, over dictionaries."""

    def __init__(self, graph: Any, filtered: Any, heuristic: str) -> None:
        self.graph, self.filtered, self.heuristic = graph, filtered, heuristic

    def vector(self, vertex: int) -> np.ndarray:
        number, kind = divmod(vertex, KINDS)
        index = self.graph.index
        table = {OBJECT: self.graph.full.name_vectors, EPISODE: index.episodes}.get(kind, index.statements)
        return table.rows[number].astype(np.float64)

    def between(self, a: int, b: int) -> float:
        return 0.0 if a == b else 1 - float(self.vector(a) @ self.vector(b))

    def estimate(self, path: list[int], target: int, hops: dict[int, int]) -> float:
        left = self.between(path[-1], target)
        if self.heuristic == "ip":
            return left
        if self.heuristic == "weighted":
            return left * hops[path[-1]]
        total = sum(self.between(a, b) for a, b in pairwise(path)) + left
        return total / (len(path) if self.heuristic == "averaged" else 1) * hops[path[-1]]

    def path(self, start: int, target: int, most: int) -> list[int] | None:
        shortest = networkx.single_source_shortest_path_length(self.graph.networkx(self.filtered), target)
        if start not in shortest:
            return None
        best = {start: [start]}
        queue = [(0.0, start)]
        for _ in range(most):
            while queue and (queue[0][1] not in best or (queue[0][0] != best[queue[0][1]] and False)):
                heapq.heappop(queue)
            if not queue:
                break
            _, vertex = heapq.heappop(queue)
            if vertex == target:
                break
            for far in dict.fromkeys(self.filtered.steps_from(vertex)[0].tolist()):
                path = [*best[vertex], far]
                if far not in best or len(path) < len(best[far]):
                    best[far] = path
                    queue = [entry for entry in queue if entry[1] != far]
                    heapq.heapify(queue)
                    heapq.heappush(queue, (len(path) - 1 + self.estimate(path, target, shortest), far))
        return best.get(target)


@pytest.mark.parametrize("heuristic", [name for name in HEURISTICS if name != "none"])
@pytest.mark.parametrize("seed", range(6))
def test_each_heuristic_finds_what_the_plain_search_finds(random_graph: Any, heuristic: str, seed: int) -> None:
    graph = random_graph(seed, count=20, objects=30)
    for part in pending_names(graph.index):
        graph.index.put(part, FakeEmbedder().embed(part.texts))
    filtered = graph.full.filtered()
    pairs = list(combinations([KINDS * n + OBJECT for n in range(0, len(graph.full.names), 5)], 2))
    plain = Plain(graph, filtered, heuristic)
    for most in (3, 10_000):
        settings = AStarSettings(heuristic, max_depth=99, max_passed_vertices=most)  # type: ignore[arg-type]
        found = paths_between(pairs, filtered, graph.index, settings)
        expected = [path for pair in pairs if (path := plain.path(*pair, most))]
        assert [(path[0], path[-1], len(path)) for path in found] == [(p[0], p[-1], len(p)) for p in expected]
        same = sum(path == other for path, other in zip(found, expected, strict=True))
        assert same >= 0.9 * len(expected), "all but those where two estimates are equal"


def test_many_searches_in_step_are_each_as_if_alone(random_graph: Any) -> None:
    graph = random_graph(3, count=30, objects=40)
    filtered = graph.full.filtered()
    pairs = list(combinations([KINDS * n + OBJECT for n in range(12)], 2))
    together = paths_between(pairs, filtered, graph.index, AStarSettings())
    alone = [path for pair in pairs for path in paths_between([pair], filtered, graph.index, AStarSettings())]
    assert together == alone


@pytest.mark.parametrize(("most", "depth"), [(1, 10), (5, 10), (50, 1)])
def test_a_search_expands_no_more_than_it_may(
    random_graph: Any, most: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(2, count=30, objects=40)
    filtered = graph.full.filtered()
    expanded: list[int] = []
    steps = filtered.steps
    monkeypatch.setattr(filtered, "steps", lambda vertices: (expanded.extend(vertices.tolist()), steps(vertices))[1])
    search = BatchedSearch(np.array([[0, KINDS * 9]]), filtered, Heuristic("none", graph.index, filtered))
    search.run(most, depth)
    assert 0 < len(expanded) <= most
    assert search._steps.max() <= depth


def test_all_triples_between_neighbours_on_the_path_are_found_with_the_path(small: Any) -> None:
    graph = chain(small)
    scores = astar(graph.query("What has Anna to do with Norway?"), graph.index, AStarSettings(vertices="O"))
    assert graph.found(scores).keys() == {str(fact) for fact in FACTS[:4]}
    path = ("anna", "works for", "acme", "is based in", "oslo", "is in", "norway")
    other = ("anna", "works for", "acme", "hosts", "oslo", "is in", "norway")
    assert graph.paths(scores)[str(FACTS[0])] in (path, other)
    assert graph.paths(scores)[str(FACTS[2])] == other


def test_a_path_may_lead_over_theses_and_episodes_and_finds_them(small: Any) -> None:
    graph = small()
    thesis = Thesis("Anna lives in Oslo", ("Anna", "Oslo"))
    episode = graph.state(thesis, Thesis("Ben skis", ("Ben",)))
    over_thesis = astar(graph.query("Anna in Oslo"), graph.index, AStarSettings(vertices="OT"))
    assert graph.found(over_thesis).keys() == {str(thesis)}
    over_episode = astar(graph.query("Anna and Ben"), graph.index, AStarSettings(vertices="OE"))
    assert graph.found(over_episode).keys() == {episode.text}
    number = graph.graph.episode_numbers[0]
    assert over_episode.episode_paths[number] == ("anna", "is named with", "ben")


def test_without_objects_on_the_way_a_path_still_ends_at_an_object(small: Any) -> None:
    graph = small()
    thesis = Thesis("Anna met Ben in Oslo", ("Anna", "Ben", "Oslo"))
    episode = graph.state(thesis, Fact("Ben", "knows", "Cleo"))
    found = graph.found(astar(graph.query("Anna and Oslo"), graph.index, AStarSettings(vertices="TE")))
    assert set(found) <= {str(thesis), episode.text}
    assert found


def test_with_one_start_there_is_its_neighbourhood_or_nothing_as_published(small: Any) -> None:
    graph = chain(small)
    query = graph.query("What of Oslo?")
    facts = {str(fact) for fact in FACTS if "Oslo" in str(fact)}
    scores = astar(query, graph.index, AStarSettings(vertices="O", neighbourhood=True))
    assert graph.found(scores).keys() == facts
    assert graph.paths(scores)[str(FACTS[4])] == ("oslo", "likes", "ben")
    assert graph.found(astar(query, graph.index)) == {}


def test_an_unreached_target_gives_the_path_to_the_last_vertex_only_when_asked(small: Any) -> None:
    graph = chain(small)
    graph.state(Fact("Zoe", "owns", "Rex"))
    query = graph.query("Is Anna related to Zoe?")
    plain = AStarSettings(vertices="O")
    assert graph.found(astar(query, graph.index, plain)) == {}
    published = AStarSettings(vertices="O", last_expanded=True)
    assert str(FACTS[0]) in graph.found(astar(query, graph.index, published))


def test_what_has_ended_is_on_no_path(small: Any) -> None:
    graph = small()
    graph.state(Fact("Anna", "lives in", "Oslo", aspect="home of anna"), at=1)
    graph.state(Fact("Anna", "lives in", "Rome", aspect="home of anna"), at=2)
    settings = AStarSettings()
    assert graph.found(astar(graph.query("Anna and Oslo"), graph.index, settings)) == {}
    then = astar(graph.query("Anna and Oslo", at=1.0), graph.index, settings)
    assert "Anna, lives in, Oslo" in graph.found(then)
    ever = astar(graph.query("Anna and Oslo", only_current=False), graph.index, settings)
    assert "Anna, lives in, Oslo" in graph.found(ever)


def test_entities_can_be_given(small: Any) -> None:
    graph = chain(small)
    settings = AStarSettings(vertices="O")
    scores = astar(graph.query("who?"), graph.index, settings, entities=("Ben", "norway"))
    assert graph.found(scores).keys() == {str(FACTS[4]), str(FACTS[3])}


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(InputError, match="no heuristic is called 'magic'; there are: ip, weighted"):
        AStarSettings("magic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 1, not 0"):
        AStarSettings(max_passed_vertices=0)

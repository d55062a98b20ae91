"""PersonalAI's traversals against programs of others and against their descriptions, on random graphs.

The graph is built here once more, from the episodes alone, as networkx has it: no array, vertex number or helper of the
package is used. A* is networkx's; BeamSearch and WaterCircles follow the text of the paper (section III.D), step by
step, and the rules that our docstrings add where the paper leaves a choice.

40 graphs of each kind; with WORLDTHREAD_THOROUGH=1, a thousand.
"""

from __future__ import annotations

import math
import os
import random
import zlib
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread.types import Episode, Extraction, Fact, Statement, Thesis
from worldthread_lab.published.astar import AStarSettings, astar
from worldthread_lab.published.beam import BeamSettings, beam
from worldthread_lab.published.linking import pending_names
from worldthread_lab.published.mixture import MixtureSettings, mixture
from worldthread_lab.published.water_circles import WaterCirclesSettings, water_circles

pytestmark = pytest.mark.thorough
networkx = pytest.importorskip("networkx")
pytest.importorskip("scipy")  # networkx ranks with it

Vertex: TypeAlias = tuple[str, str]
"""A letter (O, T or E), and the name of the object, the thesis in words or the text of the episode."""


class DistinctEmbedder:
    """Gives every text a vector of its own, all somewhat alike: no two costs are equal by chance, and none infinite."""

    name = "distinct"
    dimensions = 32

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dimensions) for text in texts]
        vectors = np.array(rows, np.float32).reshape(-1, self.dimensions) * 0.15 + 0.3
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


EMBEDDER = DistinctEmbedder()


@pytest.fixture(autouse=True)
def _distinct_vectors(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(small.take.__globals__, "EMBEDDER", EMBEDDER)


THOROUGH = bool(os.environ.get("WORLDTHREAD_THOROUGH"))
SEEDS = range(1000 if THOROUGH else 40)
ALL = 10_000


def episodes(seed: int) -> list[Episode]:
    """Random episodes about few things; nothing ends, and no two statements are equal."""
    chance = random.Random(seed)
    things = [f"Name{number}" for number in range(chance.randint(5, 12))]
    made: list[Episode] = []
    told: set[Statement] = set()
    for at in range(chance.randint(3, 9)):
        statements: list[Statement] = []
        for number in range(chance.randint(1, 4)):
            subject, other = chance.sample(things, 2)
            statements.append(Fact(subject, f"relation {chance.randint(0, 5)}", other))
            if chance.random() < 0.5:
                named = tuple(chance.sample(things, chance.randint(1, 3)))
                statements.append(Thesis(f"Sentence {at}.{number} names {' and '.join(named)}", named))
        fresh = tuple(statement for statement in dict.fromkeys(statements) if statement not in told)
        told.update(fresh)
        if fresh:
            made.append(Episode(f"Passage {at}", float(at), extraction=Extraction("x", fresh)))
    return made


class Stranger:
    """The graph of section III.A: objects, theses and episodes, joined by what is asserted, and its vectors."""

    def __init__(self, made: list[Episode], vertices: str) -> None:
        self.graph = networkx.MultiGraph()
        self.texts: dict[str, str] = {}  # what has a vector, by the label of an edge
        for episode in made:
            for statement in episode.extraction.statements:
                names = (statement.subject, statement.object) if isinstance(statement, Fact) else statement.objects
                objects = [("O", name.lower()) for name in names]
                label = str(statement)
                if isinstance(statement, Fact):
                    self._join(*objects, label, vertices)
                else:
                    for object_ in dict.fromkeys(objects):
                        self._join(("T", label), object_, label, vertices)
                    self._join(("E", episode.text), ("T", label), episode.text, vertices)
                for object_ in objects:
                    if not self.graph.has_edge(("E", episode.text), object_):
                        self._join(("E", episode.text), object_, episode.text, vertices)

    def _join(self, one: Vertex, other: Vertex, label: str, vertices: str) -> None:
        if one[0] in vertices and other[0] in vertices:
            self.graph.add_edge(one, other, label=label)

    def between(self, one: Vertex, other: Vertex) -> set[str]:
        """The labels of all edges between two vertices."""
        return {data["label"] for data in self.graph.get_edge_data(one, other).values()}

    def found_at(self, vertex: Vertex) -> set[str]:
        """A thesis that is stepped on is found, too."""
        return {vertex[1]} if vertex[0] == "T" else set()


class Case:
    """A random graph in the package and in the stranger's form, with a question about some of its things."""

    def __init__(self, small: Any, seed: int, vertices: str) -> None:
        self.made = episodes(seed)
        self.ours = small(self.made)
        for part in pending_names(self.ours.index):
            self.ours.index.put(part, EMBEDDER.embed(part.texts))
        self.theirs = Stranger(self.made, vertices)
        chance = random.Random(f"question {seed}")
        known = sorted(name for kind, name in self.theirs.graph if kind == "O")
        self.names = chance.sample(known, min(len(known), chance.randint(2, 4)))
        self.starts: list[Vertex] = [("O", name) for name in self.names]
        capital = [name.capitalize() for name in self.names]
        self.query = self.ours.query("What joins " + " and ".join(capital) + "?")
        self.entities = tuple(capital)

    def found(self, scores: Any) -> dict[str, float]:
        found: dict[str, float] = self.ours.found(scores)
        return found

    def vector(self, vertex: Vertex) -> NDArray[np.float64]:
        """The vector of an object's name, of a thesis or of an episode."""
        kind, text = vertex
        if kind == "O":
            return EMBEDDER.embed([text])[0].astype(np.float64)
        index, graph = self.ours.index, self.ours.graph
        if kind == "T":
            number = next(n for n in graph.statement_numbers if str(graph.numbered_statement(n)) == text)
            return np.asarray(index.statements.rows[number], np.float64)
        numbers = range(len(self.made))
        episode = next(n for n in numbers if graph.numbered_episode(n).id == self._id_of(text))
        return np.asarray(index.episodes.rows[episode], np.float64)

    def _id_of(self, text: str) -> str:
        return next(episode.id for episode in self.made if episode.text == text)


# -- A* ---------------------------------------------------------------------------------------------------------------


def on_path(stranger: Stranger, path: list[Vertex]) -> set[str]:
    """All triples between neighbours on a path, and the theses and episodes on it."""
    found: set[str] = set()
    for one, other in pairwise(path):
        found |= stranger.between(one, other) | stranger.found_at(other)
    return found


@pytest.mark.parametrize("vertices", ["O", "OT", "OTE"])
def test_astar_finds_the_triples_of_shortest_paths_of_networkx(small: Any, vertices: str) -> None:
    """Without a heuristic, of every pair of entities: exactly those where one shortest path exists."""
    exact = 0
    for seed in SEEDS:
        case = Case(small, seed, vertices)
        settings = AStarSettings("none", max_depth=ALL, max_passed_vertices=ALL, vertices=vertices)
        found = set(case.found(astar(case.query, case.ours.index, settings, entities=case.entities)))
        least, most = set[str](), set[str]()
        for one, other in combinations(case.starts, 2):
            if not networkx.has_path(case.theirs.graph, one, other):
                continue
            paths = [on_path(case.theirs, path) for path in networkx.all_shortest_paths(case.theirs.graph, one, other)]
            least |= set.intersection(*paths)
            most |= set.union(*paths)
            assert any(path <= found for path in paths), f"seed {seed}: a whole shortest path is found"
        assert least <= found <= most, f"seed {seed}"
        exact += least == most
    assert exact > len(SEEDS) / 10


@pytest.mark.parametrize("vertices", ["O", "OTE"])
def test_astar_by_inner_product_is_networkx_astar(small: Any, vertices: str) -> None:
    """h = 1 - <e_n, e_t>; where networkx's path is as long as the shortest, so is ours, and its triples are ours."""
    same = compared = 0
    for seed in SEEDS:
        case = Case(small, seed, vertices)
        vectors = {vertex: case.vector(vertex) for vertex in case.theirs.graph}

        def estimate(vertex: Vertex, target: Vertex, vectors: Any = vectors) -> float:
            return 0.0 if vertex == target else 1 - float(vectors[vertex] @ vectors[target])

        settings = AStarSettings("ip", max_depth=ALL, max_passed_vertices=ALL, vertices=vertices)
        for one, other in combinations(range(len(case.starts)), 2):
            start, target = case.starts[one], case.starts[other]
            names = (case.entities[one], case.entities[other])
            found = set(case.found(astar(case.query, case.ours.index, settings, entities=names)))
            if not networkx.has_path(case.theirs.graph, start, target):
                assert not found, f"seed {seed}"
                continue
            expected = on_path(case.theirs, networkx.astar_path(case.theirs.graph, start, target, estimate))
            compared += 1
            same += found == expected
            if found != expected:  # equal costs: as long a path, and a path of the graph all the same
                length = networkx.astar_path_length(case.theirs.graph, start, target, estimate)
                lengths = {
                    len(path) - 1
                    for path in networkx.all_simple_paths(case.theirs.graph, start, target, cutoff=length)
                    if on_path(case.theirs, path) == found
                }
                assert lengths == {length}, f"seed {seed}"
    assert same / compared > 0.95, f"{same} of {compared}"


# -- BeamSearch -------------------------------------------------------------------------------------------------------


def beams(case: Case, start: Vertex, given: BeamSettings) -> list[tuple[list[Vertex], list[int], float]]:
    """The paths from one start, as the hyperparameters of the paper describe them; facts only."""
    question = case.query.vector.astype(np.float64)
    edges = list(case.theirs.graph.edges(data="label"))
    vectors = {label: case.vector(("T", label)) for _, _, label in edges}  # of a fact, as of a thesis: its words
    alive: list[tuple[list[Vertex], list[int], float]] = [([start], [], 0.0)]
    ended: list[tuple[list[Vertex], list[int], float]] = []
    for _ in range(given.max_depth):
        longer: list[tuple[list[Vertex], list[int], float]] = []
        for path in alive:
            steps, used, cost = path
            others = [other for other in alive if other is not path]
            grown = []
            for number, (one, two, label) in enumerate(edges):
                if steps[-1] not in (one, two) or number in used:
                    continue
                far = two if steps[-1] == one else one
                if len(steps) > 1 and far == steps[-2]:
                    continue
                if not given.same_path_intersection_by_vertex and far in steps:
                    continue
                if not given.diff_paths_intersection_by_vertex and any(far in other[0] for other in others):
                    continue
                if not given.diff_paths_intersection_by_edge and any(number in other[1] for other in others):
                    continue
                like = min(max(float(vectors[label] @ question), 1e-6), 1.0)
                grown.append(([*steps, far], [*used, number], cost - math.log(like)))
            if not grown and used:
                ended.append(path)
            longer += grown
        alive = sorted(longer, key=lambda path: path[2])[: given.max_paths]
    ranked = sorted(ended + alive, key=lambda path: path[2] / max(len(path[1]), 1) ** given.mean_alpha)
    return ranked[: given.max_paths]


@pytest.mark.parametrize(
    "given",
    [
        BeamSettings(vertices="O"),
        BeamSettings(max_depth=2, max_paths=3, vertices="O"),
        BeamSettings(max_depth=3, max_paths=4, mean_alpha=0.0, same_path_intersection_by_vertex=True, vertices="O"),
        BeamSettings(
            max_depth=3, diff_paths_intersection_by_vertex=True, diff_paths_intersection_by_edge=True, vertices="O"
        ),
    ],
)
def test_beam_search_finds_what_its_description_finds(small: Any, given: BeamSettings) -> None:
    compared = 0  # graphs without equal costs, where another order would be as right
    for seed in SEEDS:
        case = Case(small, seed, "O")
        found = set(case.found(beam(case.query, case.ours.index, given, entities=case.entities)))
        expected: set[str] = set()
        labels = list(case.theirs.graph.edges(data="label"))
        tied = False
        for start in case.starts:
            chosen = beams(case, start, given)
            expected |= {labels[number][2] for _, used, _ in chosen for number in used}
            costs = sorted(cost for _, _, cost in chosen)
            tied |= any(math.isclose(a, b, abs_tol=1e-6) for a, b in pairwise(costs))
        assert found == expected or tied, f"seed {seed}"
        compared += not tied
    assert compared > 0.9 * len(SEEDS)


# -- WaterCircles -----------------------------------------------------------------------------------------------------


def circles(case: Case, depth: int) -> tuple[dict[str, tuple[bool, int]], dict[str, int]]:
    """Fronts that spread a step at a time: the facts passed, each primary or not with its count, and texts by count."""
    graph, starts = case.theirs.graph, case.starts
    reached: list[dict[Vertex, int]] = [{start: 0} for start in starts]
    fronts: list[list[Vertex]] = [[start] for start in starts]
    passed: dict[str, list[tuple[int, Vertex, Vertex, int]]] = defaultdict(list)
    touched: list[set[Vertex]] = [set() for _ in starts]
    for step in range(1, depth + 1):
        for number, front in enumerate(fronts):
            fresh: dict[Vertex, None] = {}
            for vertex in front:
                for far, edges in graph[vertex].items():
                    if far[0] != "O":
                        touched[number].add(far)
                        continue
                    for data in edges.values():
                        passed[data["label"]].append((number, vertex, far, step))
                    if far not in reached[number]:
                        fresh[far] = None
            for far in fresh:
                reached[number][far] = step
            fronts[number] = list(fresh)
    facts: dict[str, tuple[bool, int]] = {}
    for label, crossings in passed.items():
        count, meets = 0, False
        for number, near, far, step in crossings:
            count = max(count, sum(start in (near, far) for n, start in enumerate(starts) if n != number))
            if reached[number][far] == step:  # outwards
                for other, seen in enumerate(reached):
                    before = seen.get(near, depth)
                    meets |= other != number and seen.get(far, ALL) <= min(depth, before)
        facts[label] = (meets or count > 0, count)
    texts: dict[str, int] = {}
    for number, vertices in enumerate(touched):
        for vertex in vertices:
            named = sum(start in graph[vertex] for n, start in enumerate(starts) if n != number)
            texts[vertex[1]] = max(texts.get(vertex[1], 0), named)
    return facts, texts


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("vertices", ["O", "OTE"])
def test_water_circles_find_what_their_description_finds(small: Any, vertices: str, depth: int, strict: bool) -> None:
    primary = 0
    given = WaterCirclesSettings(
        strict, hyper_num=ALL, episodic_num=ALL, chain_triplets_num=ALL, other_triplets_num=ALL, depth=depth,
        vertices=vertices,
    )  # fmt: skip
    for seed in SEEDS:
        case = Case(small, seed, vertices)
        scores = case.found(water_circles(case.query, case.ours.index, given, entities=case.entities))
        facts, texts = circles(case, depth)
        highest = max((count for _, count in facts.values()), default=0)
        expected = {
            label: count + is_primary
            for label, (is_primary, count) in facts.items()
            if not (strict and highest > 1 and is_primary and count < highest)
        }
        # a score is the count, 1 more for a primary fact, and less than a half for similarity
        assert {label: math.floor(score) for label, score in scores.items()} == expected | texts, f"seed {seed}"
        primary += any(is_primary for is_primary, _ in facts.values())
    assert primary > len(SEEDS) / 4


# -- mixtures ---------------------------------------------------------------------------------------------------------


def test_a_mixture_is_the_union_and_the_filter_keeps_the_most_similar(small: Any) -> None:
    for seed in SEEDS:
        case = Case(small, seed, "OTE")
        index = case.ours.index
        parts = (astar, beam, water_circles)
        apart = [case.found(method(case.query, index)) for method in parts]
        together = case.found(mixture(case.query, index, MixtureSettings(parts)))
        assert set(together) == set().union(*apart), f"seed {seed}"
        few = mixture(case.query, index, MixtureSettings(parts, most=5))
        values = np.concatenate((few.statements, few.episodes))
        kept = sorted(values[np.isfinite(values)].tolist(), reverse=True)
        assert kept == sorted(together.values(), reverse=True)[:5], f"seed {seed}"

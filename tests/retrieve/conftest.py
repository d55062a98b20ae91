"""Small graphs for the tests of traversals, and random histories: ``histories.py`` is imported by its name."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import Query, RetrievalIndex, Scores
from worldthread.retrieve.query import names_in
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis
from worldthread_lab.published.traversal import KINDS, OBJECT, THESIS, FilteredGraph, VertexGraph, vertex_graph

if (folder := str(Path(__file__).parent)) not in sys.path:
    sys.path.append(folder)

EMBEDDER = FakeEmbedder()


class SmallGraph:
    """Episodes, their graph and an index that follows; results are shown by content, not by number."""

    def __init__(self, episodes: Iterable[Episode] = ()) -> None:
        self.graph = TemporalGraph()
        self.index = RetrievalIndex(EMBEDDER)
        self._episodes: dict[str, Episode] = {}
        self.add(*episodes)

    def add(self, *episodes: Episode) -> None:
        for episode in episodes:
            self.graph.add(episode)
            self._episodes[episode.id] = episode
        self.take()

    def state(self, *statements: Statement, at: float = 0, text: str | None = None) -> Episode:
        """An episode that asserts the statements."""
        episode = Episode(
            text or f"Told {at}: {'; '.join(map(str, statements))}", at, extraction=Extraction("x", statements)
        )
        self.add(episode)
        return episode

    def forget(self, episode: Episode) -> None:
        self.graph.forget(episode.id)
        self.take()

    def take(self) -> None:
        while pending := self.index.take(self.graph, lambda ids: [self._episodes[i].text for i in ids]):
            for part in pending:
                self.index.put(part, EMBEDDER.embed(part.texts))

    @property
    def full(self) -> VertexGraph:
        return vertex_graph(self.index)

    def query(self, text: str, **options: Any) -> Query:
        return Query(text, EMBEDDER.embed([text])[0], names_in(text, self.index.names.find), **options)

    def vertex(self, of: str | Statement) -> int:
        """The vertex of the object of a name, or of a thesis."""
        if isinstance(of, str):
            number = self.full.find(of)
            assert number is not None
            return KINDS * number + OBJECT
        return KINDS * self.number(of) + THESIS

    def number(self, of: Statement) -> int:
        return next(n for n in self.graph.statement_numbers if self.graph.numbered_statement(n) == of)

    def found(self, scores: Scores) -> dict[str, float]:
        """Scores of the statements and episodes found: statements in words, episodes by their texts."""
        statements = {
            str(self.graph.numbered_statement(n)): float(scores.statements[n])
            for n in np.flatnonzero(np.isfinite(scores.statements)).tolist()
        }
        records = ((n, self.graph.numbered_episode(n)) for n in np.flatnonzero(np.isfinite(scores.episodes)).tolist())
        episodes = {
            self._episodes[record.id].text: float(scores.episodes[n]) for n, record in records if record is not None
        }
        assert set(scores.paths) == set(np.flatnonzero(np.isfinite(scores.statements)).tolist())
        assert set(scores.episode_paths) == set(np.flatnonzero(np.isfinite(scores.episodes)).tolist())
        return statements | episodes

    def paths(self, scores: Scores) -> dict[str, tuple[str, ...]]:
        """Paths to the statements found."""
        return {str(self.graph.numbered_statement(n)): path for n, path in scores.paths.items()}

    def networkx(self, filtered: FilteredGraph) -> Any:
        """The same graph, with an edge for every step; ``key`` is the edge's number."""
        graph = pytest.importorskip("networkx").MultiDiGraph()
        graph.add_nodes_from(range(filtered.size))
        for vertex in range(filtered.size):
            far, edges = filtered.steps_from(vertex)
            for other, edge in zip(far.tolist(), edges.tolist(), strict=True):
                graph.add_edge(vertex, other, key=edge)
        return graph


def random_episodes(seed: int, count: int = 12, objects: int = 14) -> list[Episode]:
    """Episodes of a few facts and theses each, about few objects; some end what others said."""
    rng = np.random.default_rng(seed)
    relations = ("likes", "is near", "works for", "is part of")
    episodes = []
    for at in range(count):
        statements: list[Statement] = []
        for _ in range(rng.integers(1, 4)):
            subject, other = (f"Name{number}" for number in rng.choice(objects, 2, replace=False))
            aspect = f"home of {subject}" if rng.random() < 0.3 else None
            statements.append(Fact(subject, str(rng.choice(relations)), other, aspect))
        for number in range(rng.integers(0, 3)):
            named = tuple(f"Name{n}" for n in rng.choice(objects, rng.integers(1, 4), replace=False))
            statements.append(Thesis(f"Sentence {at}.{number} speaks of {' and '.join(named)}", named))
        episodes.append(Episode(f"Passage {at}", float(at), extraction=Extraction("x", tuple(statements))))
    return episodes


@pytest.fixture(scope="session")
def small() -> type[SmallGraph]:
    """Makes small graphs."""
    return SmallGraph


@pytest.fixture(scope="session")
def random_graph() -> Any:
    """Makes a small graph of random episodes from a seed."""
    return lambda seed, **options: SmallGraph(random_episodes(seed, **options))


@pytest.fixture(scope="session")
def episodes_of() -> Any:
    """Makes random episodes from a seed."""
    return random_episodes

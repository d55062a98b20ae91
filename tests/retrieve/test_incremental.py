"""However an index came to hold what it holds, every method finds the same as on one that was made at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import RetrievalIndex, methods
from worldthread.retrieve import index as index_module
from worldthread.retrieve.search import search
from worldthread.types import KINDS, Episode, Extraction, Fact, Statement, Thesis

PEOPLE = ("Anna", "Ben", "Carla Moss", "Moss")
PLACES = ("Rome", "Oslo", "the Moss house", "Lima 7")
QUESTIONS = ("Where does Anna live?", "Who knows Carla Moss and Ben?", "What is in Rome, and what was?")


def _pool() -> list[Episode]:
    chance = np.random.default_rng(0)
    pool = []
    for number in range(24):
        person, other = chance.permutation(PEOPLE)[:2]
        place, source = chance.permutation(PLACES)[:2]
        statements: tuple[Statement, ...] = (
            Fact(person, "lives in", place, aspect=f"home of {person}"),
            Fact(person, "knows", other),
            Thesis(f"{person} came from {source} in year {number}.", (person, source, str(number))),
        )[: 1 + number % 3]
        text = f"{person} and {place}\n{' '.join(map(str, statements))} It is so."
        speaker = ("", other, "assistant")[number % 4 % 3]
        text = f"{speaker}: {text}" if speaker else text
        pool.append(Episode(text, float(number % 7), extraction=Extraction("test", statements), speaker=speaker))
    return pool


POOL = _pool()
BY_ID = {episode.id: episode for episode in POOL}


class World:
    """A graph, and an index that follows it on request."""

    def __init__(self, episodes: Sequence[Episode] = ()) -> None:
        self.embedder = FakeEmbedder()
        self.graph = TemporalGraph(episodes)
        self.index = RetrievalIndex(self.embedder)
        self.follow()

    def follow(self) -> None:
        for part in self.index.take(self.graph, lambda ids: [BY_ID[id].text for id in ids]):
            self.index.put(part, self.embedder.embed(part.texts))

    def found(self, method: str, question: str, at: float | None) -> dict[str, float]:
        """All hits, with their scores."""
        hits = search(
            self.index, question, self.embedder.embed([question])[0], method=method, k=1000, kinds=KINDS, at=at,
            only_current=True, episode_of=lambda id: next(episode for episode in POOL if episode.id == id),
        )  # fmt: skip
        return {f"{hit.kind}: {hit.item}": hit.score for hit in hits}


@pytest.mark.parametrize("method", methods())
@given(
    steps=st.lists(
        st.tuples(st.integers(0, len(POOL) - 1), st.sampled_from(["remember", "forget", "compact", "search"])),
        max_size=40,
    ),
    at=st.sampled_from([None, 3.0]),
)
@settings(max_examples=25, deadline=None)
def test_after_any_remembering_and_forgetting(method: str, steps: list[tuple[int, str]], at: float | None) -> None:
    world = World()
    for number, what in steps:
        episode = POOL[number]
        if what == "remember":
            world.graph.add(episode)
        elif what == "forget" and episode.id in world.graph:
            world.graph.forget(episode.id)
        elif what == "compact":
            world.graph.compact()
        elif what == "search":
            world.follow()
            world.found(method, QUESTIONS[number % 3], None)
    world.follow()
    fresh = World([episode for episode in POOL if episode.id in world.graph])
    for question in QUESTIONS:
        found, expected = world.found(method, question, at), fresh.found(method, question, at)
        assert found.keys() == expected.keys()
        assert found == expected


def test_an_index_is_right_after_an_error_while_it_read_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_BATCH", 4)
    world, calls = World(POOL[:5]), 0
    for episode in POOL[5:]:
        world.graph.add(episode)

    def failing(ids: Sequence[str]) -> list[str]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError("the disk is gone")
        return [BY_ID[id_].text for id_ in ids]

    with pytest.raises(OSError, match="the disk is gone"):
        world.index.take(world.graph, failing)
    world.follow()
    at_once = World(POOL)
    for question in QUESTIONS:
        assert world.found("thread", question, None) == at_once.found("thread", question, None)
    fresh = RetrievalIndex(world.embedder)
    fresh.take(world.graph, lambda ids: [BY_ID[id_].text for id_ in ids])
    for name in ("asserted", "mentioned", "episode_ties", "statement_ties"):
        np.testing.assert_array_equal(world.index.to_arrays()[name], fresh.to_arrays()[name])

"""Searching a graph that holds the moments of a play."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.models import Embedder
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.search import search
from worldthread.types import Episode, Hit, Kind


class NoVectors:
    """In the place of an embedder, for methods that look at words alone."""

    name = "none"
    dimensions = 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Zeros, shape (len(texts), 1)."""
        return np.zeros((len(texts), 1), np.float32)


class EpisodeIndex:
    """The index of a graph, brought up to date when it is used.

    Args:
        graph: may change, and forget.
        embedder: embeds texts and statements, each once.
    """

    def __init__(self, graph: TemporalGraph, embedder: Embedder) -> None:
        self.graph = graph
        self.embedder = embedder
        self._corpus = RetrievalIndex(embedder)
        self._episodes: dict[str, Episode] = {}

    def keep(self, episode: Episode) -> None:
        """Remember the text of an episode, which the graph does not keep."""
        self._episodes[episode.id] = episode

    def corpus(self) -> RetrievalIndex:
        """What retrieval computes on."""
        while pending := self._corpus.take(self.graph, self._texts):
            for part in pending:
                self._corpus.put(part, self.embedder.embed(part.texts))
        return self._corpus

    def search(self, query: str, *, method: str, k: int, kinds: Collection[Kind]) -> tuple[Hit, ...]:
        """The best hits of every kind."""
        return search(
            self.corpus(),
            query,
            self.embedder.embed([query])[0],
            method=method,
            k=k,
            kinds=kinds,
            at=None,
            only_current=True,
            episode_of=self._episode,
        )

    def _texts(self, ids: Sequence[str]) -> list[str]:
        return [self._episode(id_).text for id_ in ids]

    def _episode(self, id_: str) -> Episode:
        # of episodes that were in the graph before the play nobody kept the text
        return self._episodes.get(id_) or Episode("(text not kept)", self.graph.episode(id_).at)

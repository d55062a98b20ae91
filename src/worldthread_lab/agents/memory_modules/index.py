"""A search index over a graph that changes during a play."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.models import Embedder
from worldthread.models.base import embed_queries
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.search import search
from worldthread.types import Episode, Hit, Kind


class NoVectors:
    """An embedder without meaning, for methods that compare words only."""

    name = "none"
    dimensions = 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return zeros, shape (len(texts), 1)."""
        return np.zeros((len(texts), 1), np.float32)


class EpisodeIndex:
    """The retrieval index of a graph, brought up to date when it is used.

    Args:
        graph: the graph; episodes may be added and forgotten.
        embedder: embeds texts and statements, each once.
    """

    def __init__(self, graph: TemporalGraph, embedder: Embedder) -> None:
        self.graph = graph
        self.embedder = embedder
        self._index = RetrievalIndex(embedder)
        self._episodes: dict[str, Episode] = {}

    def keep(self, episode: Episode) -> None:
        """Keep the text of an episode, which the graph does not keep."""
        self._episodes[episode.id] = episode

    def retrieval_index(self) -> RetrievalIndex:
        """Return the index, brought up to date with the graph."""
        while pending := self._index.take(self.graph, self._texts):
            for part in pending:
                self._index.put(part, self.embedder.embed(part.texts))
        return self._index

    def search(self, query: str, *, method: str, k: int, kinds: Collection[Kind]) -> tuple[Hit, ...]:
        """Search the statements and episodes that hold now.

        Args:
            query: a question or names.
            method: the name of a retrieval method.
            k: the number of hits of each kind, at most.
            kinds: what to search for.

        Returns:
            The best hits of every kind.
        """
        return search(
            self.retrieval_index(),
            query,
            embed_queries(self.embedder, [query])[0],
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
        # the text of an episode that was in the graph before the play is not known
        return self._episodes.get(id_) or Episode("(text not kept)", self.graph.episode(id_).at)

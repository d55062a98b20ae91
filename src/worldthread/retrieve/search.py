"""One search: a question in, the best hits of every kind out."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve import method as method_named
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, names_in
from worldthread.retrieve.select import (
    best_episodes,
    best_statements,
    path_to_episode,
    path_to_statement,
    version_shown,
)
from worldthread.types import KINDS, Episode, Hit, Kind


def search(
    corpus: RetrievalIndex,
    text: str,
    vector: NDArray[np.float32],
    *,
    method: str,
    k: int,
    kinds: Collection[Kind],
    at: float | None,
    only_current: bool,
    episode_of: Callable[[str], Episode],
) -> tuple[Hit, ...]:
    """The best hits for a question: facts, theses, episodes, each best first.

    Args:
        corpus: the index, with its graph.
        text: the question in words.
        vector: its embedding.
        method: a key of :data:`worldthread.retrieve.METHODS`.
        k: how many of each kind at most.
        kinds: which kinds.
        at: the moment of world time that is asked about; ``None`` for now.
        only_current: leave out what does not hold at that moment.
        episode_of: gives an episode by its id.

    Raises:
        InputError: there is no such method.
    """
    query = Query(text, vector, names_in(text, corpus.names.find), at, only_current)
    scores = method_named(method)(query, corpus)
    graph = corpus.graph
    hits: list[Hit] = []
    for kind in KINDS:
        if kind not in kinds:
            continue
        if kind == "episode":
            for number, score in best_episodes(scores, corpus, k, at, only_current):
                record = graph.numbered_episode(number)
                assert record is not None
                path = scores.episode_paths.get(number) or path_to_episode(query, corpus, number)
                hits.append(Hit(episode_of(record.id), score, kind, path))
            continue
        for number, score in best_statements(scores, corpus, k, kind, at, only_current):
            statement = graph.numbered_statement(number)
            assert statement is not None
            path = scores.paths.get(number) or path_to_statement(query, corpus, number)
            hits.append(Hit(statement, score, kind, path, version_shown(graph, number, at)))
    return tuple(hits)

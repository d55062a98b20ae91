"""Retrieval by the likeness of vectors alone."""

from __future__ import annotations

import numpy as np

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores


def dense(query: Query, corpus: RetrievalIndex) -> Scores:
    """Cosine similarity of the question with every text that is there."""
    links, away = corpus.links, np.float32(-np.inf)
    return Scores(
        np.where(links.present, corpus.episodes.similarities(query.vector), away),
        np.where(links.episodes_of.filled, corpus.statements.similarities(query.vector), away),
    )

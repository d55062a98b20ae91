"""Retrieval by the similarity of vectors alone."""

from __future__ import annotations

import numpy as np

from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores


def dense(query: Query, index: RetrievalIndex) -> Scores:
    """Return the cosine similarity of the question with every text that is not forgotten.

    Args:
        query: the question; only its vector is used.
        index: the vectors of everything.

    Returns:
        Scores in [-1, 1]; ``-inf`` for forgotten episodes and for statements that no episode asserts any more.
    """
    links, absent = index.links, np.float32(-np.inf)
    return Scores(
        np.where(links.present, index.episodes.similarities(query.vector), absent),
        np.where(links.episodes_of.filled, index.statements.similarities(query.vector), absent),
    )

"""Retrieval by the likeness of vectors alone."""

from __future__ import annotations

import numpy as np

from worldthread.retrieve.index import Corpus
from worldthread.retrieve.query import Query, Scores


def dense(query: Query, corpus: Corpus) -> Scores:
    """Cosine similarity of the question with every text that is there."""
    links, away = corpus.links, np.float32(-np.inf)
    return Scores(
        np.where(links.present, corpus.episodes.similarities(query.vector), away),
        np.where(np.diff(links.episodes_of.pointers) > 0, corpus.statements.similarities(query.vector), away),
    )

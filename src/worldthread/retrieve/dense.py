"""Retrieval by the likeness of vectors alone."""

from __future__ import annotations

from worldthread.retrieve.index import Corpus
from worldthread.retrieve.query import Query, Scores


def dense(query: Query, corpus: Corpus) -> Scores:
    """Cosine similarity of the question with every text."""
    return Scores(corpus.episodes.similarities(query.vector), corpus.statements.similarities(query.vector))

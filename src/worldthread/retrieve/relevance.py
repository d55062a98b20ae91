"""How likely a hit is evidence for a question, on a scale that means the same for every memory and every method.

The scores of a method say which of two hits is better. To leave out what is no evidence, a scale is needed that does
not depend on what else there is: with the cosine *c* of question and hit (for an episode, the highest of its text and
of its statements), and the share *w* of the question's telling words that the hit has, weighted by their rarity,

    relevance = 1 / (1 + exp(5.7 - 3.4 c - 3.1 w)).

The numbers are a logistic regression on the first 20 turns for each question of conversations, with MiniLM. So .1 means
that about one such turn in ten is evidence, and more than .6 is rare; other embedders have other cosines.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.index import RetrievalIndex, Table
from worldthread.retrieve.lexical import LexicalIndex
from worldthread.retrieve.query import Query
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.words import STOP_STEMS, words_of
from worldthread.types import Kind

Floats = NDArray[np.float64]

INTERCEPT: Final = -5.7
COSINE: Final = 3.4
WORDS: Final = 3.1


def relevance(query: Query, index: RetrievalIndex, numbers: Numbers, kind: Kind) -> Floats:
    """Return how likely some hits are evidence for a question.

    Args:
        query: the question; its text and vector are used.
        index: the index.
        numbers: of episodes or of statements, shape (n,).
        kind: whose numbers they are.

    Returns:
        Shape (n,), in the open interval (0, 1).
    """
    if not len(numbers):
        return np.zeros(0)
    if kind == "episode":
        cosines = _cosines(index.episodes, numbers, query)
        for place, number in enumerate(numbers.tolist()):
            stated = index.links.statements_of[number].astype(np.int64)
            if len(stated):
                cosines[place] = max(cosines[place], _cosines(index.statements, stated, query).max())
    else:
        cosines = _cosines(index.statements, numbers, query)
    words = index.episode_words if kind == "episode" else index.statement_words
    logits = INTERCEPT + COSINE * cosines + WORDS * _shares(query, index, words, numbers)
    return np.asarray(1 / (1 + np.exp(-logits)))


def _cosines(table: Table, numbers: Numbers, query: Query) -> Floats:
    # not a product of matrices: its last bits would depend on where a row is
    return np.asarray(np.einsum("ij,j->i", table.rows[numbers], query.vector), np.float64)


def _shares(query: Query, index: RetrievalIndex, words: LexicalIndex, numbers: Numbers) -> Floats:
    """Return the share of the question's telling words that each hit has, weighted by rarity among the episodes."""
    asked = list(dict.fromkeys(words_of(query.text)))
    telling = [word for word in asked if word not in STOP_STEMS] or asked
    links = index.links
    found, total = np.zeros(len(numbers)), 0.0
    for word in telling:
        having = index.episode_words.having(word)[0]
        count = int(np.count_nonzero(links.present[having]))
        rarity = math.log(1 + (links.episodes - count + 0.5) / (count + 0.5))
        total += rarity
        found += rarity * np.isin(numbers, words.having(word)[0])
    return found / total if total else found

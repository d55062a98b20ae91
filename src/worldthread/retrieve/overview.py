"""Scores of what was said for a question that asks for an overview: what was discussed, and how it developed.

What answers "Where does Anna live?" is a place or two; a summary needs every exchange about its subject. Where people
talk to an assistant, an *exchange* is a turn of a person with the assistant's reply in the same session. With the score
of a turn, the highest of its places, scaled to [0, 1], an exchange has

    score(turn of the person) + 1/2 score(reply) + 1/2 novelty(turn of the person).

The *novelty* of a turn is log(1 + n), scaled to [0, 1], where n counts the words that it says first and other turns
repeat: turns that open a subject say more about it than those that go on ("And what about the second one?").
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.cache import CacheKey
from worldthread.retrieve.conversation import ConversationIndex
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.sparse import Numbers

Floats = NDArray[np.float32]

REPLY: Final = np.float32(0.5)
"""What the score of the reply weighs in that of an exchange."""

NOVELTY: Final = np.float32(0.5)
"""What the novelty of a turn weighs in the score of its exchange."""

_HIGHEST: Final = np.float32(1) + REPLY + NOVELTY
_HALF: Final = np.float32(0.5)
_NOVELTY: Final = CacheKey[NDArray[np.float32]]("novelty of turns")


def overview_scores(scores: Floats, index: RetrievalIndex, conversation: ConversationIndex) -> Floats:
    """Return the score of each place for a question that asks for an overview.

    Args:
        scores: how well each place fits the subject of the question, whoever says it; in [0, 1], shape (n,).
        index: the index.
        conversation: what was said, with an assistant.

    Returns:
        Shape (n,), in [0, 1]: above 1/2 for the best place of each turn in an exchange, where the reply comes right
        after the turn of the person; below for everything else.
    """
    starts = np.flatnonzero(conversation.opens_turn)
    fits = np.maximum.reduceat(scores, starts)
    novelty = index.derived.get(_NOVELTY, lambda: _novelty(index, conversation, starts))
    by_assistant, sessions = conversation.is_by_assistant[starts], conversation.sessions[starts]
    has_reply = np.zeros(len(starts), bool)
    has_reply[:-1] = ~by_assistant[:-1] & by_assistant[1:] & (sessions[1:] == sessions[:-1])
    asking = np.flatnonzero(has_reply)
    fit = _scaled(fits)
    of_turns = np.zeros(len(starts), np.float32)
    exchange = (fit[asking] + REPLY * fit[asking + 1] + NOVELTY * novelty[asking]) / _HIGHEST
    of_turns[asking] = _HALF + _HALF * exchange.astype(np.float32)
    of_turns[asking + 1] = np.nextafter(of_turns[asking], np.float32(0))
    best_places = scores == fits[conversation.turns]
    of_places = of_turns[conversation.turns]
    return np.where(best_places & (of_places > 0), of_places, _HALF * scores).astype(np.float32)


def _novelty(index: RetrievalIndex, conversation: ConversationIndex, starts: Numbers) -> Floats:
    """Return the novelty of each turn."""
    rows = index.episode_words.rows.rows
    places = conversation.places[rows[:, 0]]
    words, turns = rows[places >= 0, 1], conversation.turns[places[places >= 0]]
    # at one time: sessions in an order that does not depend on their arrival, each in its own order
    sessions = conversation.sessions[starts]
    ties = index.episode_ties[conversation.episodes[np.flatnonzero(np.diff(conversation.sessions, prepend=-1))]]
    numbers = np.cumsum(np.diff(sessions, prepend=sessions[:1]) > 0)
    order = np.lexsort((np.arange(len(starts)), ties[numbers], conversation.times[starts]))
    rank = np.empty(len(starts), np.int64)
    rank[order] = np.arange(len(starts))
    first = np.full(int(words.max(initial=-1)) + 1, len(starts))
    last = np.full(len(first), -1)
    np.minimum.at(first, words, rank[turns])
    np.maximum.at(last, words, rank[turns])
    counts = np.bincount(first[last > first], minlength=len(starts))
    return _scaled(np.log1p(counts[rank]).astype(np.float32))


def _scaled(values: Floats) -> Floats:
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    return ((values - low) / (high - low)).astype(np.float32) if high > low else np.zeros_like(values)

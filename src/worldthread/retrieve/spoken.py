"""Scores of what was said: a message is understood with its neighbours, so its words and its meaning count with theirs.

With cosine similarities and BM25 as in :mod:`worldthread.retrieve.lexical`, all for the places of a
:class:`~worldthread.retrieve.conversation.ConversationIndex`, and *s* scaled to [0, 1] by its extremes, the score of a
place is the mean, with the :data:`WEIGHTS`, of

* meaning: s(question, episode), plus 1/2 of that of the place before and 1/4 of that of the place after it;
* sentence: s(max over its statements of (question, statement));
* window: BM25 of the words of the episode, and, with the weights :data:`BEFORE` and :data:`AFTER`, of its neighbours;
* words: BM25 of the words of the episode alone;
* session: BM25 of all words of its session;
* speaker: 1 where the speaker is the only one whom the question names, else 0;
* person: 1 unless an assistant says it, who mostly repeats and elaborates what others said; 1 for everything where the
  question asks for what the assistant said;
* opening: 1 where a message begins, which mostly says what it is about, else 0;
* standing: 1 where a person says what is always to be heeded or preferred, which bears on whatever it is about, else 0;
* time: how near it was said to a time that the question names, exp(-distance / :data:`NEARNESS`), where the distance is
  0 within that time, and counts twice before it: things are told after they happen. A relative time ("last week") is
  that before the time of the query, or before the last message. The part does not count where no time is named.

Where an assistant takes part, the kind of question changes the weights (:data:`FACTORS_OF`). How something was done is
asked in words of its own, and told by the assistant too; what somebody wants to be heeded bears on help with something
new. A question for an overview has no part *person*, and then the scores of :mod:`worldthread.retrieve.overview`.

Words that say nothing by themselves, such as "what" and "the", do not count. All weights of neighbours are fractions
whose denominators are powers of two, so that sums have the same bits however the index came about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.times import time_expressions
from worldthread.retrieve.cache import CacheKey
from worldthread.retrieve.conversation import ConversationIndex
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.overview import overview_scores
from worldthread.retrieve.query import Query, names_in
from worldthread.retrieve.question import STANDING_WORDS, QuestionKind, asks_what_was_answered
from worldthread.retrieve.sparse import Numbers, distinct
from worldthread.retrieve.words import STOP_STEMS, words_of

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Weights:
    """The weights of the parts of a score; the module says what they are. They are used in proportion to their sum."""

    meaning: float = 3.0
    sentence: float = 0.5
    window: float = 2.0
    words: float = 0.5
    session: float = 0.5
    speaker: float = 0.5
    person: float = 2.0
    opening: float = 0.5
    standing: float = 0.5
    time: float = 2.0


WEIGHTS: Final = Weights()
FACTORS_OF: Final[Mapping[QuestionKind, Mapping[str, float]]] = {
    QuestionKind.OVERVIEW: {"person": 0.0},
    QuestionKind.PROCEDURE: {"meaning": 3.0, "person": 0.5},
    QuestionKind.HELP: {"standing": 2.0},
}
"""What some weights are multiplied by where an assistant takes part, by kind of question."""

BEFORE: Final = (0.75, 0.375)
"""Weights of the words of the place before, and of the one before that."""

AFTER: Final = (0.375, 0.1875)
"""Weights of the words of the place after, and of the one after that."""

NEARNESS: Final = 7 * 86400.0
"""The distance in world time, in seconds, over which a time in the question counts e times less."""

_MEANING_BEFORE: Final = np.float32(0.5)
_MEANING_AFTER: Final = np.float32(0.25)
_SPARSE: Final = 100  # below one place in so many, sorting the places that are reached is faster than looking at all
_K1: Final = 0.8
_B: Final = 0.5
_STEPS: Final = tuple((-n, w) for n, w in enumerate(AFTER, 1)) + tuple((n, w) for n, w in enumerate(BEFORE, 1))
"""How far from a word the place is whose window has it with some weight."""


@dataclass(frozen=True)
class _HeldBack:
    """What is added to a frequency where BM25 divides by it: more in a long text.

    Args:
        places: for the episode at each place.
        windows: for each window, whose words are weighted.
        sessions: for each session.
    """

    places: NDArray[np.float64]
    windows: NDArray[np.float64]
    sessions: NDArray[np.float64]


_HELD_BACK: Final = CacheKey[_HeldBack]("what BM25 holds back of what was said")
_STANDING: Final = CacheKey[NDArray[np.bool_]]("what is always to be heeded")


def spoken_scores(
    query: Query, index: RetrievalIndex, conversation: ConversationIndex, of_episodes: Floats, of_sentences: Floats
) -> Floats:
    """Return the score of each place of a conversation; the module has the formula.

    Args:
        query: the question; its text is used.
        index: the index.
        conversation: what was said.
        of_episodes: the similarity of every episode with the question.
        of_sentences: the highest similarity of a statement of every episode with the question.

    Returns:
        Shape (len(conversation),), in [0, 1].
    """
    parts = spoken_parts(query, index, conversation, of_episodes, of_sentences)
    return combined(parts, query.kind, index, conversation)


def combined(
    parts: Mapping[str, NDArray[Any]],
    kind: QuestionKind,
    index: RetrievalIndex,
    conversation: ConversationIndex,
    weights: Weights = WEIGHTS,
) -> Floats:
    """Return the score of each place from its parts; the module has the formula.

    Args:
        parts: what :func:`spoken_parts` returns.
        kind: what kind of answer the question wants.
        index: the index.
        conversation: what was said.
        weights: the weights for a plain question.

    Returns:
        Shape (len(conversation),), in [0, 1].
    """
    has_assistant = bool(conversation.is_by_assistant.any())
    factors = FACTORS_OF.get(kind, {}) if has_assistant else {}
    total, whole = np.zeros(len(conversation), np.float32), 0.0
    for name, values in parts.items():
        weight = getattr(weights, name) * factors.get(name, 1.0)
        total += np.float32(weight) * values
        whole += weight
    total /= np.float32(whole)
    is_overview = has_assistant and kind is QuestionKind.OVERVIEW
    return overview_scores(total, index, conversation) if is_overview else total


def spoken_parts(
    query: Query, index: RetrievalIndex, conversation: ConversationIndex, of_episodes: Floats, of_sentences: Floats
) -> dict[str, NDArray[Any]]:
    """Return the parts of the score of each place, by the names of their :class:`Weights`; see :func:`spoken_scores`.

    Returns:
        Arrays of shape (len(conversation),), in [0, 1]; ``time`` only where the question names a time.
    """
    similarity = of_episodes[conversation.episodes]
    meaning = (
        similarity
        + _MEANING_BEFORE * conversation.shifted(similarity, -1)
        + _MEANING_AFTER * conversation.shifted(similarity, 1)
    )
    window, words, session = _lexical_parts(query, index, conversation)
    person = np.ones(len(conversation), bool)
    if not asks_what_was_answered(query.text):
        person = ~conversation.is_by_assistant
    parts: dict[str, NDArray[Any]] = {
        "meaning": scaled(meaning),
        "sentence": scaled(of_sentences[conversation.episodes]),
        "window": scaled(window),
        "words": scaled(words),
        "session": scaled(session),
        "speaker": _is_only_one_named(query, conversation),
        "person": person,
        "opening": conversation.opens_turn,
        "standing": index.derived.get(_STANDING, lambda: _is_standing(index, conversation)),
    }
    near = _nearness(query, conversation)
    return parts if near is None else parts | {"time": near}


def scaled(values: Floats) -> Floats:
    """Return ``values`` mapped to [0, 1] by their extremes; zeros when all are equal."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return ((values - low) / (high - low)).astype(np.float32) if high > low else np.zeros_like(values)


def _is_only_one_named(query: Query, conversation: ConversationIndex) -> NDArray[np.bool_]:
    named = names_in(query.text, conversation.numbers.get)
    if len(named) != 1:
        return np.zeros(len(conversation), bool)
    return np.asarray(conversation.speakers == named[0])


def _is_standing(index: RetrievalIndex, conversation: ConversationIndex) -> NDArray[np.bool_]:
    found = np.zeros(len(conversation), bool)
    for word in STANDING_WORDS:
        places = conversation.places[index.episode_words.having(word)[0]]
        found[places[places >= 0]] = True
    return found & ~conversation.is_by_assistant


def _nearness(query: Query, conversation: ConversationIndex) -> Floats | None:
    """Return how near to a time in the question each place is, in [0, 1]; ``None`` when it names no time."""
    times = conversation.times
    asked_at = query.at if query.asked_at is None else query.asked_at
    periods = [
        (time.valid_from, time.valid_to)
        for time in time_expressions(query.text, float(times.max()) if asked_at is None else asked_at)
        if time.role in ("at", "during") and time.valid_from is not None and time.valid_to is not None
    ]
    if not periods:
        return None
    distance = np.full(len(times), np.inf)
    for begin, end in periods:
        distance = np.minimum(distance, np.maximum(np.maximum(2 * (begin - times), times - end), 0))
    return np.exp(-distance / NEARNESS).astype(np.float32)


def _lexical_parts(
    query: Query, index: RetrievalIndex, conversation: ConversationIndex
) -> tuple[Floats, Floats, Floats]:
    """Return BM25 of windows, of episodes alone and of sessions, each by place."""
    held_back = index.derived.get(_HELD_BACK, lambda: _held_back(index, conversation))
    count, sessions = len(conversation), len(held_back.sessions)
    of_windows, of_places, of_sessions = np.zeros(count), np.zeros(count), np.zeros(sessions)
    scratch = np.zeros(count)
    asked = words_of(query.text)
    telling = [word for word in asked if word not in STOP_STEMS] or asked
    for word, times in Counter(telling).items():
        episodes, times_in = index.episode_words.having(word)
        places = conversation.places[episodes]
        are_said = places >= 0
        frequencies = np.asarray(times_in[are_said], np.float64)
        places = places[are_said]
        if not len(places):
            continue
        idf = times * _idf(count, len(places))
        of_places[places] += idf * _saturated(frequencies, held_back.places[places])
        if len(places) * _SPARSE > count:
            of_windows += idf * _saturated(_windows(conversation, places, frequencies), held_back.windows)
        else:
            near = _spread(conversation, places, frequencies, scratch)
            of_windows[near] += idf * _saturated(scratch[near], held_back.windows[near])
            scratch[near] = 0
        within = np.asarray(np.bincount(conversation.sessions[places], frequencies, sessions), np.float64)
        having = np.flatnonzero(within)
        of_sessions[having] += (
            times * _idf(sessions, len(having)) * _saturated(within[having], held_back.sessions[having])
        )
    return (
        of_windows.astype(np.float32),
        of_places.astype(np.float32),
        of_sessions[conversation.sessions].astype(np.float32),
    )


def _windows(conversation: ConversationIndex, places: Numbers, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how often a word is in each window, weighted.

    Sums of these weights are exact, so what crosses the end of a session is added with the rest, and then subtracted.

    Args:
        conversation: what was said.
        places: where the word is, each place once.
        frequencies: how often.
    """
    own = np.zeros(len(conversation))
    own[places] = frequencies
    found, passed = own.copy(), np.empty_like(own)
    for step, weight in _STEPS:
        distance = abs(step)
        earlier, later = slice(0, max(len(own) - distance, 0)), slice(distance, None)
        source, target = (earlier, later) if step > 0 else (later, earlier)
        found[target] += np.multiply(own[source], weight, out=passed[source])
        ends = conversation.session_ends(distance)
        outside, inside = (ends + distance, ends) if step > 0 else (ends, ends + distance)
        found[outside] -= weight * own[inside]
    return found


def _spread(
    conversation: ConversationIndex, places: Numbers, frequencies: NDArray[np.float64], into: NDArray[np.float64]
) -> Numbers:
    """Add the frequencies of a rare word to all windows that reach its places, and return these windows.

    Args:
        conversation: what was said.
        places: where the word is, each place once.
        frequencies: how often.
        into: by place, zero everywhere.

    Returns:
        The places where ``into`` is not zero any more, each once.
    """
    into[places] = frequencies
    reached = [places]
    for step, weight in _STEPS:
        others = places + step
        there = (others >= 0) & (others < len(conversation))
        there[there] = conversation.sessions[others[there]] == conversation.sessions[places[there]]
        into[others[there]] += weight * frequencies[there]
        reached.append(others[there])
    return distinct(np.concatenate(reached))


def _held_back(index: RetrievalIndex, conversation: ConversationIndex) -> _HeldBack:
    own = index.episode_words.lengths(len(conversation.places))[conversation.episodes].astype(np.float64)
    windows = _windows(conversation, np.arange(len(own)), own)
    sessions = np.asarray(np.bincount(conversation.sessions, own), np.float64)
    return _HeldBack(*(_K1 * (1 - _B + _B * each / max(float(each.mean()), 1e-9)) for each in (own, windows, sessions)))


def _idf(count: int, having: int) -> float:
    return float(np.log(1 + (count - having + 0.5) / (having + 0.5)))


def _saturated(frequencies: NDArray[np.float64], held_back: NDArray[np.float64]) -> NDArray[np.float64]:
    return frequencies / (frequencies + held_back)

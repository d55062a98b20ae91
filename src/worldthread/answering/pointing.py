"""The model that points at the answer to a question in messages, beside the reader's."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.reader.extractor import FOLDER
from worldthread.extract.reader.model import ReaderModel, Tokens, onnx_session, reader_model
from worldthread.extract.reader.pieces import MessageWord, Piece, words_of
from worldthread.extract.when import is_date
from worldthread.models.base import processors

PointedKind: TypeAlias = Literal["words", "yes", "no"]
POINTED_KINDS: Final[tuple[PointedKind, ...]] = ("words", "yes", "no")
LOWER_LAYERS: Final = 8
"""Layers of the encoder that reading and answering share."""
MOST_MESSAGES: Final = 16
"""Messages that can be compared."""
LONGEST_ANSWER: Final = 24
"""Words of an answer."""
_LEAST_CHANCE: Final = 1e-6
MOST_WORDS: Final = 80
"""Words of a message that are read."""


class Told(NamedTuple):
    """A message.

    Args:
        by: who said it.
        text: what was said.
        at: when, in seconds since 1970-01-01 UTC.
    """

    by: str
    text: str
    at: float


class Pointed(NamedTuple):
    """What the model points at.

    Args:
        kind: words of a message that answer, or a message that affirms or denies what is asked.
        message: the number of the message among those that were given.
        begin: where the words begin in its text; 0 for "yes" and "no".
        end: the place after them; the end of the text for "yes" and "no".
        measures: what the network says of it, as the confidence is computed from: the logarithm of the odds that this
            message answers, of those that none does, and the logarithms of how probable the kind, the first and the
            last word are (5 numbers).
    """

    kind: PointedKind
    message: int
    begin: int
    end: int
    measures: tuple[float, ...]


class QuestionPair(NamedTuple):
    """A question beside a message, as numbers.

    Args:
        tokens: of both.
        parts: for each token 0 (the question) or 1 (the message).
        firsts: for each word of the message the place of its first token.
        words: the words of the message that are read.
    """

    tokens: list[int]
    parts: list[int]
    firsts: list[int]
    words: list[MessageWord]


def question_pair(tokens: Tokens, question: str, now: float, told: Told) -> QuestionPair:
    """Return a question beside the beginning of a message, each with its day.

    Args:
        tokens: gives the numbers of words.
        question: the question.
        now: the time that it is about.
        told: the message.
    """
    asked = [word.text for word in words_of(question)[:MOST_WORDS]]
    asked = [*_day(now).split(), ":", *asked, *_day(told.at).split()]
    words = words_of(told.text)[:MOST_WORDS]
    ids, places, parts, _ = tokens.of(Piece(told.by, tuple(asked), tuple(words), told.text))
    first: dict[int, int] = {}
    for number, place in enumerate(places):
        if place >= len(asked):
            first.setdefault(place, number)
    firsts = [first[place] for place in sorted(first)]
    return QuestionPair(ids, parts, firsts, words[: len(firsts)])


def _day(at: float) -> str:
    if not is_date(at):
        return ""
    day = datetime.fromtimestamp(at, UTC)
    return f"{day.day} {day:%B %Y}"


class AnswerModel:
    """The model, loaded when it is first asked. Thread-safe.

    Args:
        path: its file, which ``train_answers.py`` wrote.
        reader: the reader that it was trained upon.
    """

    def __init__(self, path: Path, reader: ReaderModel) -> None:
        self._path, self._reader = path, reader
        self._lock = threading.Lock()
        self._session: Any = None

    def pointed(self, question: str, now: float, told: Sequence[Told]) -> Pointed | None:
        """Return what answers a question.

        Args:
            question: the question.
            now: the time that it is about.
            told: messages; at most :data:`MOST_MESSAGES`.

        Returns:
            The most probable answer; ``None`` where there are no words to point at.
        """
        order = sorted(range(len(told)), key=lambda number: (told[number].at, number))
        pairs = [(number, question_pair(self._reader.tokens, question, now, told[number])) for number in order]
        pairs = [(number, pair) for number, pair in pairs if pair.words]
        if not pairs:
            return None
        longest = max(len(pair.tokens) for _, pair in pairs)
        hidden = np.zeros((len(pairs), longest, 384), np.float32)
        mask = np.full((len(pairs), 1, 1, longest), -1e4, np.float32)
        with ThreadPoolExecutor(min(len(pairs), processors()), thread_name_prefix="worldthread-answer") as pool:
            for row, states in enumerate(pool.map(self._lower_states, (pair for _, pair in pairs))):
                hidden[row, : len(states)] = states
                mask[row, 0, 0, : len(states)] = 0
        ranks = np.array([0, *range(len(pairs), 0, -1)], np.int64)
        chances, kinds, ends = self._loaded().run(None, {"hidden": hidden, "mask": mask, "ranks": ranks})
        best = int(chances[1:].argmax())
        number, pair = pairs[best]
        ends = ends[best, pair.firsts]
        first, last = best_words(ends)
        kind = int(kinds[best].argmax())
        odds = (_log_odds(float(chances[place])) for place in (1 + best, 0))
        measures = (
            *odds,
            *(_log_share(*one) for one in ((kinds[best], kind), (ends[:, 0], first), (ends[:, 1], last))),
        )
        if kind:
            return Pointed(POINTED_KINDS[kind], number, 0, len(told[number].text), measures)
        return Pointed("words", number, pair.words[first].begin, pair.words[last].end, measures)

    def _lower_states(self, pair: QuestionPair) -> NDArray[np.float32]:
        return self._reader.lower_states(pair.tokens, pair.parts)

    def _loaded(self) -> Any:
        with self._lock:
            if self._session is None:
                self._session = onnx_session(self._path)
            return self._session


@cache
def answer_model(folder: Path = FOLDER) -> AnswerModel:
    """Return the model of a folder, which all memories of the process share.

    Args:
        folder: has ``answers.onnx`` and the files of the reader.
    """
    return AnswerModel(folder / "answers.onnx", reader_model(folder))


def _log_odds(chance: float) -> float:
    return math.log(max(chance, _LEAST_CHANCE)) - math.log(max(1 - chance, _LEAST_CHANCE))


def _log_share(scores: NDArray[np.float32], place: int) -> float:
    """Return the logarithm of the share of one of some scores after a softmax."""
    return float(scores[place] - scores.max() - np.log(np.exp(scores - scores.max()).sum()))


def best_words(ends: NDArray[np.float32]) -> tuple[int, int]:
    """Return the first and the last word of the best answer in a message.

    Args:
        ends: the scores of each word as the first and as the last, shape (words, 2).
    """
    distance = np.arange(len(ends))[None] - np.arange(len(ends))[:, None]
    sums = np.where((distance >= 0) & (distance < LONGEST_ANSWER), ends[:, 0][:, None] + ends[:, 1][None], -np.inf)
    first, last = divmod(int(sums.argmax()), len(ends))
    return first, last

"""Reads the answer to a question in messages, with the small model beside the reader."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from worldthread.answering.parts import answering_time
from worldthread.answering.pointing import MOST_WORDS, AnswerModel, Pointed, Told
from worldthread.answering.question import ParsedQuestion
from worldthread.extract.prose.sentences import split_sentences
from worldthread.extract.reader.pieces import words_of
from worldthread.types import Episode, Hit

LEAST: Final = 0.8
"""How probable an answer must be that is given."""
MESSAGES: Final = 8
"""Messages that are read for a question."""
# of what `measures_of` returns; `training/measure_answers.py --fit` prints them
_WEIGHTS: Final = (0.559, 4.237, 0.983, 0.486, 2.154, 0.723)
_BIAS: Final = 0.118


@dataclass(frozen=True)
class Messages:
    """Messages in which the answer to a question may stand.

    Args:
        hits: the messages, best first.
        now: the time that is asked about.
        outdated: returns the ends of those statements of a message that do not hold at that time, and are asked for
            as if they did.
        model: points at answers.
    """

    hits: Sequence[Hit]
    now: float
    outdated: Callable[[Episode], Sequence[str]]
    model: AnswerModel


@dataclass(frozen=True)
class ReadAnswer:
    """An answer that stands in a message.

    Args:
        text: the answer.
        source: the message.
        measures: what the probability is computed from; see :func:`measures_of`.
        probability: how probable it is that this is the answer, in [0, 1].
    """

    text: str
    source: Hit
    measures: tuple[float, ...]
    probability: float


def read_answer(question: ParsedQuestion, messages: Messages, least: float = LEAST) -> ReadAnswer | None:
    """Return the answer that is most probable.

    It is none where it is not probable enough, where what it says has ended, and where a time is asked for that its
    sentence does not name. A message of which only the beginning can be read answers nothing.

    Args:
        question: the question.
        messages: the messages.
        least: how probable the answer must be.

    Returns:
        The answer; ``None`` where there is none.
    """
    told = [(hit, hit.item, _told(hit.item)) for hit in messages.hits if isinstance(hit.item, Episode)]
    told = [row for row in told if len(words_of(row[2].text)) <= MOST_WORDS]
    found = messages.model.pointed(question.text, messages.now, [one for _, _, one in told])
    if found is None:
        return None
    measures = measures_of(question, found)
    probability = 1 / (1 + math.exp(-_BIAS - math.fsum(map(operator.mul, _WEIGHTS, measures))))
    if probability < least:
        return None
    source, episode, message = told[found.message]
    said = said_words(question, message, found)
    if said is None or _is_over(found, message, messages.outdated(episode)):
        return None
    return ReadAnswer(said, source, measures, probability)


def measures_of(question: ParsedQuestion, found: Pointed) -> tuple[float, ...]:
    """Return what the probability of an answer is computed from, by a logistic regression (6 numbers).

    Args:
        question: the question.
        found: what the model points at.

    Returns:
        The measures of the model, whether it says yes or no, and whether a time is asked for.
    """
    return (*found.measures, float(found.kind != "words"), float(question.kind == "time"))


def said_words(question: ParsedQuestion, told: Told, found: Pointed) -> str | None:
    """Return what is answered.

    Args:
        question: the question.
        told: the message that answers.
        found: what the model points at in it.

    Returns:
        The words; a date, where a time is asked for; "Yes" or "No" and the message. ``None`` where a time is asked for
        and the sentence of the words names none.
    """
    if found.kind != "words":
        return f"{found.kind.title()}: {told.text}"
    words = told.text[found.begin : found.end]
    if question.kind != "time":
        return words
    sentence = next((one.text for one in split_sentences(told.text) if found.begin < one.end), told.text)
    return answering_time(words, told.at) or answering_time(sentence, told.at)


def _told(message: Episode) -> Told:
    return Told(message.speaker or "user", message.said, message.at)


def _is_over(found: Pointed, told: Told, outdated: Sequence[str]) -> bool:
    """Return whether what is pointed at is what a statement says that does not hold any more."""
    said = {word.text.casefold() for word in words_of(told.text[found.begin : found.end])}
    return any(said & {word.text.casefold() for word in words_of(one)} for one in outdated)

"""Reads the answer to a question in what was told, with the small model beside the reader."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from worldthread.answering.pointing import MOST_WORDS, AnswerModel, Pointed, Told
from worldthread.extract.prose.dates import DATE
from worldthread.extract.prose.sentences import split_sentences
from worldthread.extract.reader.pieces import words_of
from worldthread.extract.times import TimeExpression, time_expressions
from worldthread.extract.when import shown_time
from worldthread.extract.whole_values import widened_at
from worldthread.types import Hit

LEAST: Final = 0.8
"""How probable an answer must be that is given."""
LEAST_STATED: Final = 0.7
"""The same where a recalled fact says so too: of 24 such answers about the lives of the fit, 23 were right."""
MESSAGES: Final = 8
"""Messages that are read for a question."""
PASSAGES: Final = 12
"""Messages and statements that are read for a question."""
# of the measures of an answer; `training/measure_answers.py --fit` prints them
_WEIGHTS: Final = (0.647, -0.147, 2.285, -0.062, 0.182, -0.619, -0.355, 0.116, -0.076, 0.586, 3.276)
_BIAS: Final = -0.082

_ASKS_WHEN: Final = re.compile(r"\b(?:when|how long ago|(?:what|which) (?:day|date|month|year)s?)\b", re.IGNORECASE)
_DATE: Final = re.compile(rf"(?<!\w)(?:{DATE})")
_DIGIT: Final = re.compile(r"\d")
# words with digits or marks, such as "OPS-77", "9:30" and "C#"
_IDENTIFIER: Final = re.compile(r"(?<![^\W_])(?:(?=\S{0,64}\d)[^\W_]+(?:[-.:,/_][^\W_]+)*|[^\W\d_]+[#+]+(?!\w))")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class ReadPassage:
    """What was told at once, in which the answer to a question may stand.

    Args:
        hit: the message, or the statement of a text too long to be read.
        told: what is read of it.
        over: the ends of those of its statements that do not hold any more, and are asked for as if they did.
        parts: the names in it that are answered whole: the subject and the end of a fact.
    """

    hit: Hit
    told: Told
    over: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadAnswer:
    """An answer that stands in a passage.

    Args:
        text: the answer; ``None`` where what is pointed at is no answer.
        source: where it stands.
        measures: what the probability is computed from: see :func:`measures_of`; and whether a fact says the same.
        probability: how probable it is that this is the answer, in [0, 1].
        stated: what a recalled fact says that is the same; ``None`` where none does.
    """

    text: str | None
    source: Hit
    measures: tuple[float, ...]
    probability: float
    stated: str | None

    @property
    def is_sure(self) -> bool:
        """Whether it is probable enough to be given."""
        return self.probability >= (LEAST if self.stated is None else LEAST_STATED)


def read_answer(
    question: str,
    now: float,
    passages: Iterable[ReadPassage],
    model: AnswerModel,
    time_words: str = "",
    stated: Collection[str] = (),
) -> ReadAnswer | None:
    """Return the answer that is most probable.

    What it says is no answer where it has ended, where a time is asked for that its sentence does not name, and where
    the question names a number, a version or a ticket that the passage does not have. A passage of which only the
    beginning can be read answers nothing.

    Args:
        question: the question.
        now: the time that it is about.
        passages: what may answer.
        model: points at answers.
        time_words: the words of the question that name its time, whose numbers a passage need not have.
        stated: what facts say in answer to the question.

    Returns:
        The answer, however probable; ``None`` where there is nothing to read.
    """
    read = [one for one in passages if len(words_of(one.told.text)) <= MOST_WORDS]
    found = model.pointed(question, now, [one.told for one in read])
    if found is None:
        return None
    passage = read[found.message]
    said = said_words(question, passage.told, found)
    if said is not None and found.kind == "words":
        said = next((part for part in passage.parts if said in part), said)
    same = None if said is None else next((part for part in stated if said in part or part in said), None)
    measures = (*measures_of(question, found, len(read)), float(same is not None))
    probability = 1 / (1 + math.exp(-_BIAS - math.fsum(map(operator.mul, _WEIGHTS, measures))))
    named = identifiers(question) - identifiers(time_words)
    if _is_over(found, passage) or not named <= identifiers(passage.told.text):
        said = None
    return ReadAnswer(said, passage.hit, measures, probability, same)


def measures_of(question: str, found: Pointed, count: int) -> tuple[float, ...]:
    """Return what the probability of an answer is computed from, by a logistic regression (10 numbers).

    Args:
        question: the question.
        found: what the model points at.
        count: how many passages it was compared with, itself included.

    Returns:
        The measures of the model, whether it says yes or no, whether a day is asked for, and the count's logarithm;
        and for yes and no once more how sure the model is of the passage, and the count's logarithm.
    """
    is_settled, others = float(found.kind != "words"), math.log(max(count, 2))
    again = (is_settled * found.measures[0], is_settled * others)
    return (*found.measures, is_settled, float(asks_when(question)), others, *again)


def asks_when(question: str) -> bool:
    """Return whether a question asks for a day, a month or a year."""
    return _ASKS_WHEN.search(question) is not None


def said_words(question: str, told: Told, found: Pointed) -> str | None:
    """Return what is answered.

    Args:
        question: the question.
        told: the passage that answers.
        found: what the model points at in it.

    Returns:
        The words; a date, where a day is asked for and the words or their sentence name one; "Yes" or "No" and the
        passage. ``None`` where a day is asked for, and there is none.
    """
    if found.kind != "words":
        return f"{found.kind.title()}: {told.text}"
    words = widened_at(told.text, found.begin, found.end) or told.text[found.begin : found.end]
    if not asks_when(question):
        return words
    named = answering_time(words, told.at)
    if named is None and _DIGIT.search(words):
        return words  # "at 9:30", "every 4 May"
    sentence = next((one.text for one in split_sentences(told.text) if found.begin < one.end), told.text)
    return named or answering_time(sentence, told.at)


def identifiers(text: str) -> frozenset[str]:
    """Return the words of a text with digits or marks, but for years and days, as they must be in what answers."""
    found = _IDENTIFIER.findall(text)
    return frozenset(one for one in found if not _YEAR.fullmatch(one) and not (one.isdecimal() and len(one) < 3))


def answering_time(sentence: str, at: float) -> str | None:
    """Return the time that a sentence names, such as "last Friday", as a date.

    Args:
        sentence: a sentence, without the label of a speaker.
        at: world time of the sentence.

    Returns:
        A day, a month, a year, or the first and the last day, in ISO 8601; ``None`` when the sentence names no time or
        more than one, or the memory counts turns.
    """
    named = _named_time(sentence, at)
    if named is None or named.valid_from is None or named.valid_to is None:
        return None
    first, last = shown_time(named.valid_from)[:10], shown_time(named.valid_to - 1)[:10]
    if named.precision in ("year", "month"):
        return first[: 4 if named.precision == "year" else 7]
    return first if first == last else f"{first} to {last}"


def _named_time(sentence: str, at: float) -> TimeExpression | None:
    """Return the one time at which a sentence says something; ``None`` where it names none or more."""
    named = [time for time in time_expressions(sentence, at) if time.role not in ("duration", "recurring")]
    if len(named) != 1 or named[0].role not in ("at", "during"):
        return None
    rest = f"{sentence[: named[0].start]} {sentence[named[0].end :]}"
    return None if _DATE.search(rest) else named[0]  # "was on the 19th, but they moved it to 26 November"


def _is_over(found: Pointed, passage: ReadPassage) -> bool:
    """Return whether what is pointed at is what a statement says that does not hold any more."""
    said = _words(passage.told.text[found.begin : found.end])
    return any(said & _words(one) for one in passage.over)


def _words(text: str) -> set[str]:
    return {word.text.casefold() for word in words_of(text)}

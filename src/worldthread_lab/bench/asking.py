"""Measures answers without a model: how often they come from the right turn, and how often nothing is answered.

The questions of conversations with named evidence (:mod:`worldthread_lab.bench.datasets.conversations`) are asked,
those that the conversation cannot answer included.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from worldthread.memory.memory import Memory
from worldthread.models import Embedder
from worldthread.types import Episode, Hit
from worldthread_lab.bench.conversations import remember_turns
from worldthread_lab.bench.datasets.conversations import Conversation
from worldthread_lab.play.statistics import bootstrap_interval

UNANSWERABLE: Final = frozenset({"adversarial", "abstention"})
"""Kinds of question that the conversation does not answer."""

SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Points of the curve: shares of all questions that are answered."""


@dataclass(frozen=True)
class AskedQuestion:
    """One question, asked.

    Args:
        conversation: id of the conversation.
        category: kind of the question.
        is_answerable: whether the conversation answers it.
        answered: whether an answer was given.
        is_right: whether the conversation answers it and the first source, or else what comes nearest, is a turn of
            its evidence.
        confidence: of the answer; ``None`` when it has none.
        milliseconds: duration.
    """

    conversation: str
    category: str
    is_answerable: bool
    answered: bool
    is_right: bool
    confidence: float | None
    milliseconds: float


@dataclass(frozen=True)
class Share:
    """A share of questions.

    Args:
        questions: of how many.
        share: 0..1; NaN of no questions.
        interval: 95 % bootstrap interval over the questions.
    """

    questions: int
    share: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class AnswerRates:
    """How some questions were answered.

    Args:
        refused_unanswerable: share of the questions without an answer in the conversation that were not answered.
        refused_answerable: share of the others that were not answered.
        right: share of answers, of all questions, whose first source is a turn of the evidence.
        right_of_answerable: the same of the answers to questions that the conversation answers.
    """

    refused_unanswerable: Share
    refused_answerable: Share
    right: Share
    right_of_answerable: Share


@dataclass(frozen=True)
class CurvePoint:
    """What holds when only the most confident answers are given.

    Args:
        confidence: the lowest that is answered.
        answered: share of all questions that are answered.
        right: share of these whose first source is a turn of the evidence.
        refused_unanswerable: share of the unanswerable questions that are not answered.
        refused_answerable: share of the answerable questions that are not answered.
    """

    confidence: float
    answered: float
    right: float
    refused_unanswerable: float
    refused_answerable: float


@dataclass(frozen=True)
class AskingReport:
    """The results on the conversations of one data set.

    Args:
        dataset: name of the data set.
        embedder: name and version of the embedder.
        all: over all questions.
        by_category: by kind of question.
        by_conversation: by id of the conversation.
        curve: answered against right; empty when answers have no confidence.
        milliseconds_p50: median duration of a question.
    """

    dataset: str
    embedder: str
    all: AnswerRates
    by_category: Mapping[str, AnswerRates]
    by_conversation: Mapping[str, AnswerRates]
    curve: tuple[CurvePoint, ...]
    milliseconds_p50: float

    def to_dict(self) -> dict[str, Any]:
        """Return the results, ready for JSON."""
        return asdict(self)


def measure(
    dataset: str,
    conversations: Sequence[Conversation],
    embedder: Embedder,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> AskingReport:
    """Remember each conversation in a memory of its own, and ask all its questions without a model.

    Args:
        dataset: name of the data set, for the report.
        conversations: the conversations.
        embedder: embeds passages, statements and questions.
        on_progress: called with a description of the work, the number of finished conversations, and their total.

    Returns:
        The results.
    """
    show_progress = on_progress or (lambda what, done, total: None)
    asked: list[AskedQuestion] = []
    for number, conversation in enumerate(conversations):
        with Memory(model="none", embedder=embedder) as memory:
            asked += ask_all(memory, conversation, remember_turns(memory, conversation))
        show_progress(dataset, number + 1, len(conversations))
    return report(dataset, embedder.name, asked)


def ask_all(memory: Memory, conversation: Conversation, turn_of: Mapping[str, str]) -> list[AskedQuestion]:
    """Ask the questions of a conversation.

    Args:
        memory: remembers the conversation, and has no model.
        conversation: the conversation.
        turn_of: the id of the turn of every episode, by its id.

    Returns:
        What came of each question; those that can be answered and name no evidence are left out.
    """
    asked = []
    for question in conversation.questions:
        is_answerable = question.category not in UNANSWERABLE
        if is_answerable and not question.evidence:
            continue
        start = time.perf_counter()
        answer = memory.ask(question.text)
        milliseconds = 1000 * (time.perf_counter() - start)
        first = next(iter((*answer.sources, *answer.nearest)), None)
        asked.append(
            AskedQuestion(
                conversation=conversation.id,
                category=question.category,
                is_answerable=is_answerable,
                answered=answer.text is not None,
                is_right=is_answerable and first is not None and _turn(first, turn_of) in question.evidence,
                confidence=answer.confidence,
                milliseconds=milliseconds,
            )
        )
    return asked


def report(dataset: str, embedder: str, asked: Sequence[AskedQuestion]) -> AskingReport:
    """Return the results of questions that were asked.

    Args:
        dataset: name of the data set.
        embedder: name of the embedder.
        asked: the questions.

    Returns:
        The results.
    """
    took = [one.milliseconds for one in asked]
    return AskingReport(
        dataset,
        embedder,
        rates(asked),
        _grouped(asked, lambda one: one.category),
        _grouped(asked, lambda one: one.conversation),
        curve(asked),
        round(statistics.median(took), 2) if took else math.nan,
    )


def rates(asked: Sequence[AskedQuestion]) -> AnswerRates:
    """Return how some questions were answered."""
    return AnswerRates(
        _share([not one.answered for one in asked if not one.is_answerable]),
        _share([not one.answered for one in asked if one.is_answerable]),
        _share([one.is_right for one in asked if one.answered]),
        _share([one.is_right for one in asked if one.answered and one.is_answerable]),
    )


def curve(asked: Sequence[AskedQuestion]) -> tuple[CurvePoint, ...]:
    """Return what holds when the most confident 10 %, 20 %, ... of all questions are answered."""
    ranked = sorted((one for one in asked if one.confidence is not None), key=lambda one: -(one.confidence or 0.0))
    if not ranked or len(ranked) < len(asked):
        return ()
    points = []
    for share in SHARES:
        answered, refused = ranked[: (count := max(1, round(share * len(ranked))))], ranked[count:]
        points.append(
            CurvePoint(
                round(answered[-1].confidence or 0.0, 4),
                round(count / len(ranked), 4),
                round(statistics.fmean(one.is_right for one in answered), 4),
                _refused(ranked, refused, is_answerable=False),
                _refused(ranked, refused, is_answerable=True),
            )
        )
    return tuple(points)


def _refused(ranked: Sequence[AskedQuestion], refused: Sequence[AskedQuestion], *, is_answerable: bool) -> float:
    total = sum(one.is_answerable == is_answerable for one in ranked)
    return round(sum(one.is_answerable == is_answerable for one in refused) / total, 4) if total else math.nan


def _share(values: Sequence[bool]) -> Share:
    if not values:
        return Share(0, math.nan, (math.nan, math.nan))
    numbers = [float(value) for value in values]
    return Share(len(numbers), round(statistics.fmean(numbers), 4), bootstrap_interval(numbers))


def _grouped(asked: Sequence[AskedQuestion], key: Callable[[AskedQuestion], str]) -> dict[str, AnswerRates]:
    return {name: rates([one for one in asked if key(one) == name]) for name in dict.fromkeys(map(key, asked))}


def _turn(hit: Hit, turn_of: Mapping[str, str]) -> str | None:
    """Return the turn that a hit comes from first."""
    if isinstance(hit.item, Episode):
        return turn_of.get(hit.item.id)
    return None if hit.version is None else turn_of.get(hit.version.sources[0])

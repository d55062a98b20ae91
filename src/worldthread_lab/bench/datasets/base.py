"""The parts of a data set: passages to remember, and questions with their answers and gold passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from worldthread.errors import InputError
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis
from worldthread_lab.bench.qa.metrics import Script

GIVEN_EXTRACTOR = "given/1"
"""Name of the extractor in extractions that come with a data set."""


@dataclass(frozen=True)
class Passage:
    """A text to remember.

    Args:
        id: unique in its data set.
        title: title of the page that it comes from; may be empty.
        text: without the title.
        at: world time, in seconds since 1970-01-01 UTC; ``None`` for a text without a date.
        facts: triples that come with the data set.
        theses: sentences that come with the data set.
        entities: names that come with the data set.
    """

    id: str
    title: str
    text: str
    at: float | None = None
    facts: tuple[Fact, ...] = ()
    theses: tuple[Thesis, ...] = ()
    entities: tuple[str, ...] = ()

    @property
    def full_text(self) -> str:
        """The text, preceded by the title on its own line if there is one."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The facts, followed by the theses."""
        return (*self.facts, *self.theses)

    def episode(self, *, given: bool) -> Episode:
        """Return the passage as an episode whose source is the id of the passage.

        Args:
            given: whether the episode contains the data set's statements, or no extraction yet.

        Returns:
            The episode; at world time 0 when the passage has no date.
        """
        extraction = Extraction(GIVEN_EXTRACTOR, self.statements) if given else Extraction()
        return Episode(self.full_text, 0.0 if self.at is None else self.at, self.id, extraction)


@dataclass(frozen=True)
class Question:
    """A question with its right answers.

    Args:
        id: unique in its data set.
        text: the question.
        answers: right answers; the first is the canonical one.
        gold_ids: ids of the passages that the answer needs; empty when the data set does not name them.
        type: kind of question, as the data set names it.
        as_of: world time that the question asks about; ``None`` for now.
        context_ids: ids of the gold and distracting passages that the data set provides with the question; empty when
            the question is about all passages.
        evidence: triples that lead to the answer.
        stale_ids: ids of facts and theses of the data set that held before the time of the question and not at it.
        future_ids: ids of facts and theses of the data set that hold only after the time of the question.
        stale_passage_ids: ids of passages whose statements on the topic no longer held at the time of the question.
        future_passage_ids: ids of passages whose statements on the topic hold only after the time of the question.

    Raises:
        InputError: the text is blank, or there is no answer.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    gold_ids: tuple[str, ...] = ()
    type: str = ""
    as_of: float | None = None
    context_ids: tuple[str, ...] = ()
    evidence: tuple[Fact, ...] = ()
    stale_ids: frozenset[str] = frozenset()
    future_ids: frozenset[str] = frozenset()
    stale_passage_ids: tuple[str, ...] = ()
    future_passage_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InputError(f"question {self.id!r} has no text")
        if not self.answers:
            raise InputError(f"question {self.id!r} has no answer")


@dataclass(frozen=True)
class Dataset:
    """Passages and the questions about them.

    Args:
        name: name that :func:`worldthread_lab.bench.datasets.load` accepts.
        version: version of the loader's output; scores of different versions are not comparable.
        passages: in the order of the files.
        questions: in the order of the files.
        script: rules that score its answers, see :mod:`worldthread_lab.bench.qa.metrics`.
        counts: number of items that were left out or are missing, by description.

    Raises:
        InputError: two passages or two questions share an id, or a question refers to an unknown passage.
    """

    name: str
    version: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    script: Script = "squad"
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _require_unique("passages", (passage.id for passage in self.passages))
        _require_unique("questions", (question.id for question in self.questions))
        for question in self.questions:
            for id_ in (*question.gold_ids, *question.context_ids):
                if id_ not in self.by_id:
                    raise InputError(f"question {question.id!r} of {self.name} names an unknown passage {id_!r}")

    @cached_property
    def by_id(self) -> Mapping[str, Passage]:
        """The passages by id."""
        return {passage.id: passage for passage in self.passages}

    @property
    def has_statements(self) -> bool:
        """Whether any passage comes with facts or theses."""
        return any(passage.facts or passage.theses for passage in self.passages)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that are not blank, without duplicates, in order."""
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _require_unique(what: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for id_ in ids:
        if id_ in seen:
            raise InputError(f"two {what} have the id {id_!r}")
        seen.add(id_)

"""What a benchmark is: passages to remember, and questions about them with their answers and gold passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from worldthread.bench.qa.metrics import Script
from worldthread.errors import InputError
from worldthread.types import Episode, Extraction, Fact, Statement, Thesis

GIVEN_READER = "given/1"
"""The reader's name in a reading that a data set brings."""


@dataclass(frozen=True)
class Passage:
    """One text to remember.

    Args:
        id: unique in its data set.
        title: of the page that it comes from; may be empty.
        text: without the title.
        at: world time, in seconds since 1970-01-01 UTC; ``None`` for texts without a date.
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
        """The title, if there is one, on a line of its own above the text."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The facts, then the theses."""
        return (*self.facts, *self.theses)

    def episode(self, *, given: bool) -> Episode:
        """The passage as an episode, with its id as the source; at world time 0 when it has no date.

        Args:
            given: whether the episode brings the data set's statements, or is still to be read.
        """
        extraction = Extraction(GIVEN_READER, self.statements) if given else Extraction()
        return Episode(self.full_text, 0.0 if self.at is None else self.at, self.id, extraction)


@dataclass(frozen=True)
class Question:
    """One question.

    Args:
        id: unique in its data set.
        text: the question.
        answers: texts that are all right; the first is the canonical one.
        gold_ids: passages that are needed for the answer; empty when the data set cannot say.
        type: kind of question, as the data set names it.
        as_of: the moment of world time that is asked about; ``None`` for now.
        context_ids: passages that the data set gives with the question, gold and distracting ones; empty when it asks
            about all passages.
        evidence: triples that lead to the answer.
        stale_ids: facts and theses of the whole data set that held once and no longer at the time of the question.
        future_ids: facts and theses of the whole data set that came to hold only after the time of the question.
        stale_passage_ids: passages that say of what is asked only what no longer held at the time of the question.
        future_passage_ids: passages that say of what is asked only what came to hold after the time of the question.
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
    """A benchmark.

    Args:
        name: as :func:`worldthread.bench.datasets.load` takes it.
        version: of what the loader makes of the files; scores of different versions do not compare.
        passages: in the order of the files.
        questions: in the order of the files.
        script: the rules by which its answers are scored, see :mod:`worldthread.bench.qa.metrics`.
        counts: what was left out or is missing, in words, and how often.

    Raises:
        InputError: two passages or two questions share an id, or a question names a passage that is not there.
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
        """The passages by their ids."""
        return {passage.id: passage for passage in self.passages}

    @property
    def has_statements(self) -> bool:
        """Whether its passages bring facts or theses."""
        return any(passage.facts or passage.theses for passage in self.passages)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that are not blank, each once, in order."""
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _require_unique(what: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for id_ in ids:
        if id_ in seen:
            raise InputError(f"two {what} have the id {id_!r}")
        seen.add(id_)

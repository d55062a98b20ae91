"""Question answering in stages: question -> entities -> objects -> statements -> filter -> answer."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol

from worldthread.answer import Answer
from worldthread.bench.qa.stages import (
    Answerer,
    AnswerStage,
    Candidate,
    EntityStage,
    FilterStage,
    MatchStage,
    NameMatcher,
    QuestionInProgress,
    Retriever,
    RetrieveStage,
    entities_by_rule,
    keep_all,
)
from worldthread.errors import InputError
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel
from worldthread.models.meter import Meter, UsageTotals
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores, names_in
from worldthread.retrieve.select import (
    best_episodes,
    best_statements,
    path_to_episode,
    path_to_statement,
    version_shown,
)
from worldthread.retrieve.text import hits_as_text
from worldthread.types import KINDS, Episode, Hit, Kind, Recall

RECALL_TOKENS: Final = 3000
"""Limit of the text of a result's recall, as an estimate."""


class RecallSource(Protocol):
    """What is asked; a :class:`~worldthread.record.Record` is one."""

    def index(self) -> AbstractContextManager[RetrievalIndex]:
        """The index, up to date, while nobody can change the graph."""

    def episode(self, episode_id: str) -> Episode:
        """An episode by its id."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """An answer, and everything that led to it.

    Args:
        answer: with reasoning and sources; its text is ``None`` when there is not enough information.
        entities: what the question speaks of.
        vertices: objects of the graph that these mean, normalised names.
        found: how many statements and episodes were retrieved, before the filter.
        tally: what the calls to the model used.
        seconds: for all stages together.
        retrieve_seconds: for matching, retrieval and filter.
    """

    answer: Answer
    entities: tuple[str, ...]
    vertices: tuple[str, ...]
    found: int
    tally: UsageTotals
    seconds: float
    retrieve_seconds: float

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What the answer could rest on, with the paths that led there: facts, theses, episodes."""
        return self.answer.recall.hits


@dataclass(frozen=True)
class Pipeline:
    """The stages, and what they share. Any stage may be replaced: :mod:`worldthread.bench.qa.stages` says what each
    does.

    ::

        pipeline = Pipeline(embedder(), model=chat_model("gpt-4o-mini"), entities=entities_by_model)
        answered = pipeline.run(memory, "Where does Anna live?")

    Args:
        embedder: the one that the memory uses.
        model: for the stages that want one; ``None`` for none.
        entities, match, retrieve, filter, answer: the stages.
        k: how many of each kind the filter is given at most; 1 or more.
        kinds: of what may be found.

    Raises:
        InputError: ``k`` is below 1, or there is no such kind.
    """

    embedder: Embedder
    model: ChatModel | None = None
    entities: EntityStage = entities_by_rule
    match: MatchStage = field(default_factory=NameMatcher)
    retrieve: RetrieveStage = field(default_factory=Retriever)
    filter: FilterStage = keep_all
    answer: AnswerStage = field(default_factory=Answerer)
    k: int = 10
    kinds: Collection[Kind] = KINDS

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k must be at least 1, not {self.k}")
        if not set(self.kinds) <= set(KINDS):
            raise InputError(f"kinds must be some of {', '.join(KINDS)}, not {self.kinds!r}")

    def run(
        self, source: RecallSource, question: str, *, at: float | None = None, only_current: bool = True
    ) -> AnsweredQuestion:
        """Answer a question. May be called from several threads; only retrieval takes turns.

        Args:
            source: the memory.
            question: in words.
            at: the moment of world time that is asked about; ``None`` for now.
            only_current: leave out statements that do not hold at that moment, and episodes of which nothing does.

        Raises:
            InputError: the question is empty, or a stage cannot be used.
            AnswerError: a model's answer could not be used.
            ModelError: the model could not be asked.
        """
        if not question.strip():
            raise InputError("a question must not be empty")
        start = time.perf_counter()
        meter = None if self.model is None else Meter(self.model)
        vector = self.embedder.embed([question])[0]
        asked = QuestionInProgress(question, vector, self.embedder.embed, meter, at, only_current)
        entities = self.entities(asked)
        before = time.perf_counter()
        with source.index() as corpus:
            vertices = self.match(asked, entities, corpus)
            scores = self.retrieve(asked, vertices, corpus)
            found = self._best(asked, scores, corpus)
            kept = self.filter(asked, found, corpus)
            hits = tuple(_hits(kept, asked, scores, corpus, source))
        retrieve_seconds = time.perf_counter() - before
        method = str(getattr(self.retrieve, "name", ""))
        recall = Recall(question, hits, hits_as_text(hits, RECALL_TOKENS), method, at)
        answer = self.answer(asked, recall)
        tally = UsageTotals() if meter is None else meter.overall()
        return AnsweredQuestion(
            answer, entities, vertices, len(found), tally, time.perf_counter() - start, retrieve_seconds
        )

    def _best(self, asked: QuestionInProgress, scores: Scores, corpus: RetrievalIndex) -> Sequence[Candidate]:
        """The best of every kind that hold, facts first."""
        found: list[Candidate] = []
        for kind in KINDS:
            if kind not in self.kinds:
                continue
            if kind == "episode":
                numbers = best_episodes(scores, corpus, self.k, asked.at, asked.only_current)
            else:
                numbers = best_statements(scores, corpus, self.k, kind, asked.at, asked.only_current)
            found += [Candidate(kind, number, score) for number, score in numbers]
        return found


def _hits(
    kept: Sequence[Candidate], asked: QuestionInProgress, scores: Scores, corpus: RetrievalIndex, source: RecallSource
) -> Iterator[Hit]:
    """What was kept, in full, with the paths that led to it."""
    graph = corpus.graph
    query = Query(asked.text, asked.vector, names_in(asked.text, corpus.names.find), asked.at, asked.only_current)
    for candidate in kept:
        number, kind = candidate.number, candidate.kind
        if kind == "episode":
            record = graph.numbered_episode(number)
            assert record is not None
            path = scores.episode_paths.get(number) or path_to_episode(query, corpus, number)
            yield Hit(source.episode(record.id), candidate.score, kind, path)
        else:
            statement = graph.numbered_statement(number)
            assert statement is not None
            path = scores.paths.get(number) or path_to_statement(query, corpus, number)
            yield Hit(statement, candidate.score, kind, path, version_shown(graph, number, asked.at))

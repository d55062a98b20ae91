"""Question answering in stages: question -> entities -> objects -> statements -> filter -> answer."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from worldthread.answering.answer import Answer
from worldthread.errors import InputError
from worldthread.models import Embedder
from worldthread.models.base import embed_queries
from worldthread.models.chat import ChatModel
from worldthread.models.meter import Meter, UsageTotals
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores, names_in
from worldthread.retrieve.select import (
    QuestionPaths,
    best_episodes,
    best_statements,
    version_shown,
)
from worldthread.retrieve.text import hits_as_text
from worldthread.types import KINDS, Episode, Hit, Kind, Recall
from worldthread_lab.bench.qa.stage_cache import KeptHit, KeptStages, StageCache
from worldthread_lab.bench.qa.stages import (
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

RECALL_TOKENS: Final = 3000
"""Limit of the text of a result's recall, as an estimate."""


class RecallSource(Protocol):
    """A source of retrieval, such as :class:`~worldthread.memory.record.Record`."""

    def index(self) -> AbstractContextManager[RetrievalIndex]:
        """Return the up-to-date index; the graph cannot change inside the context."""

    def episode(self, episode_id: str) -> Episode:
        """Return an episode by its id."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """An answer with the results of all stages.

    Args:
        answer: answer with reasoning and sources; its text is ``None`` when there is not enough information.
        entities: entities of the question.
        vertices: normalised names of the matched objects of the graph.
        found: number of statements and episodes retrieved, before the filter.
        totals: usage of the model.
        seconds: duration of all stages.
        retrieve_seconds: duration of matching, retrieval and filter.
    """

    answer: Answer
    entities: tuple[str, ...]
    vertices: tuple[str, ...]
    found: int
    totals: UsageTotals
    seconds: float
    retrieve_seconds: float

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The facts, theses and episodes given to the answer stage, with the paths that lead to them."""
        return self.answer.recall.hits


@dataclass(frozen=True)
class Pipeline:
    """The stages of question answering; each can be replaced, see :mod:`worldthread_lab.bench.qa.stages`.

    ::

        pipeline = Pipeline(embedder(), model=chat_model("gpt-4o-mini"), entities=entities_by_model)
        answered = pipeline.run(memory, "Where does Anna live?")

    Args:
        embedder: embedder of the memory.
        model: chat model for the stages that need one; ``None`` without one.
        entities: finds the entities of the question.
        match: matches them to objects of the graph.
        retrieve: scores statements and episodes.
        filter: chooses the candidates to keep.
        answer: answers the question.
        k: the most candidates of each kind that the filter receives; 1 or more.
        kinds: kinds of candidates.
        cache: keeps what the stages before the answer found; ``None`` without one. Stages must say all that their
            results depend on in their ``repr``, as dataclasses do.

    Raises:
        InputError: ``k`` is below 1, or a kind is unknown.
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
    cache: StageCache | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k must be at least 1, not {self.k}")
        if not set(self.kinds) <= set(KINDS):
            raise InputError(f"kinds must be some of {', '.join(KINDS)}, not {self.kinds!r}")

    def run(
        self, source: RecallSource, question: str, *, at: float | None = None, only_current: bool = True
    ) -> AnsweredQuestion:
        """Answer a question. Thread-safe; only one thread retrieves at a time.

        Args:
            source: the record of the memory.
            question: text of the question.
            at: world time that the question asks about; ``None`` for now.
            only_current: whether to leave out statements that do not hold at that time, and episodes whose statements
                all do not hold.

        Returns:
            The answer with the results of all stages.

        Raises:
            InputError: the question is empty, or a stage rejects its settings.
            AnswerError: a model's answer could not be used.
            ModelError: the call to the model failed.
        """
        if not question.strip():
            raise InputError("a question must not be empty")
        start = time.perf_counter()
        meter = None if self.model is None else Meter(self.model)
        seconds: list[float] = []

        def look_up(query: str) -> Recall:
            in_progress = self._begin(query, meter, at, only_current)
            entities = self.entities(in_progress)
            before = time.perf_counter()
            recall, _, _ = self._retrieved(in_progress, entities, source)
            seconds.append(time.perf_counter() - before)
            return recall

        in_progress = replace(self._begin(question, meter, at, only_current), look_up=look_up)
        entities = self.entities(in_progress)
        before = time.perf_counter()
        recall, vertices, found = self._retrieved(in_progress, entities, source)
        seconds.append(time.perf_counter() - before)
        answer = self.answer(in_progress, recall)
        totals = UsageTotals() if meter is None else meter.overall()
        return AnsweredQuestion(answer, entities, vertices, found, totals, time.perf_counter() - start, sum(seconds))

    def _begin(self, question: str, meter: Meter | None, at: float | None, only_current: bool) -> QuestionInProgress:
        vector = embed_queries(self.embedder, [question])[0]
        return QuestionInProgress(question, vector, self.embedder.embed, meter, at, only_current)

    def _retrieved(
        self, in_progress: QuestionInProgress, entities: tuple[str, ...], source: RecallSource
    ) -> tuple[Recall, tuple[str, ...], int]:
        """Return what is recalled for a question, the matched objects, and the number of candidates."""
        with source.index() as index:
            key = "" if self.cache is None else self.cache.key(index.graph, *self._circumstances(in_progress, entities))
            kept_before = None if self.cache is None else self.cache.get(key)
            if kept_before is not None:
                hits = tuple(_kept_hits(kept_before, in_progress, index, source))
                return self._recalled(in_progress, hits), kept_before.vertices, kept_before.found
            vertices = self.match(in_progress, entities, index)
            scores = self.retrieve(in_progress, vertices, index)
            found = self._best(in_progress, scores, index)
            kept = self.filter(in_progress, found, index)
            hits = tuple(_hits(kept, in_progress, scores, index, source))
        if self.cache is not None:
            self.cache.put(
                key,
                KeptStages(
                    vertices, len(found), tuple(KeptHit(hit.kind, hit.item.id, hit.score, hit.path) for hit in hits)
                ),
            )
        return self._recalled(in_progress, hits), vertices, len(found)

    def _recalled(self, in_progress: QuestionInProgress, hits: tuple[Hit, ...]) -> Recall:
        method = str(getattr(self.retrieve, "name", ""))
        return Recall(in_progress.text, hits, hits_as_text(hits, RECALL_TOKENS), method, in_progress.at)

    def _circumstances(self, in_progress: QuestionInProgress, entities: tuple[str, ...]) -> tuple[object, ...]:
        """Return all that the stages before the answer depend on, beside the graph."""
        return (
            in_progress.text,
            entities,
            in_progress.at,
            in_progress.only_current,
            self.embedder.name,
            None if self.model is None else self.model.name,
            *(_described(stage) for stage in (self.match, self.retrieve, self.filter)),
            self.k,
            sorted(self.kinds),
        )

    def _best(self, question: QuestionInProgress, scores: Scores, index: RetrievalIndex) -> Sequence[Candidate]:
        """Return the best candidates of every kind, facts first."""
        found: list[Candidate] = []
        for kind in KINDS:
            if kind not in self.kinds:
                continue
            if kind == "episode":
                numbers = best_episodes(scores, index, self.k, question.at, question.only_current)
            else:
                numbers = best_statements(scores, index, self.k, kind, question.at, question.only_current)
            found += [Candidate(kind, number, score) for number, score in numbers]
        return found


def _described(stage: object) -> str:
    """Return the name of a function, or what a dataclass says of itself."""
    name = getattr(stage, "__qualname__", "")
    return f"{getattr(stage, '__module__', '')}.{name}" if name else repr(stage)


def _kept_hits(
    kept: KeptStages, question: QuestionInProgress, index: RetrievalIndex, source: RecallSource
) -> Iterator[Hit]:
    """Yield the hits that were found before; the graph is the same."""
    graph = index.graph
    for hit in kept.hits:
        if hit.kind == "episode":
            yield Hit(source.episode(hit.id), hit.score, hit.kind, hit.path)
            continue
        number = graph.number_of(hit.id)
        assert number is not None
        statement = graph.numbered_statement(number)
        assert statement is not None
        yield Hit(statement, hit.score, hit.kind, hit.path, version_shown(graph, number, question.at))


def _hits(
    kept: Sequence[Candidate], question: QuestionInProgress, scores: Scores, index: RetrievalIndex, source: RecallSource
) -> Iterator[Hit]:
    """Yield the kept candidates as hits with the paths that lead to them."""
    graph = index.graph
    query = Query(
        question.text, question.vector, names_in(question.text, index.find), question.at, question.only_current
    )
    paths = QuestionPaths(query, index)
    for candidate in kept:
        number, kind = candidate.number, candidate.kind
        if kind == "episode":
            record = graph.numbered_episode(number)
            assert record is not None
            path = scores.episode_paths.get(number) or paths.to_episode(number)
            yield Hit(source.episode(record.id), candidate.score, kind, path)
        else:
            statement = graph.numbered_statement(number)
            assert statement is not None
            path = scores.paths.get(number) or paths.to_statement(number)
            yield Hit(statement, candidate.score, kind, path, version_shown(graph, number, question.at))

"""How good answers are: exact match, F1, a judge's verdict, how often there is none, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from worldthread.bench.datasets import Dataset, Question
from worldthread.bench.qa import judge as judging
from worldthread.bench.qa import stages
from worldthread.bench.qa.dataset_memory import digest_of, is_dated
from worldthread.bench.qa.metrics import exact_match, f1
from worldthread.bench.qa.pipeline import AnsweredQuestion, Pipeline
from worldthread.bench.qa.results import Configuration, QuestionResults
from worldthread.bench.qa.retrieval_spec import RetrievalSpec
from worldthread.errors import (
    AnswerError,
    BudgetError,
    InputError,
    MissingExtraError,
    ModelError,
    ReplayError,
)
from worldthread.memory import Memory
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel
from worldthread.models.configured import ConfiguredChat
from worldthread.models.meter import Meter
from worldthread.models.prices import Price
from worldthread.retrieve.published.linking import pending_names
from worldthread.types import Episode, Statement

ENTITIES: Final[Mapping[str, stages.EntityStage]] = {
    "none": stages.no_entities,
    "rule": stages.entities_by_rule,
    "model": stages.entities_by_model,
}
"""How the entities of a question are found, by name."""

PROMPTS: Final = ("answer/1", f"entities/{stages.PROMPT_VERSION}", f"judge/{judging.PROMPT_VERSION}")

_PERSONALAI: Final = "personalai"


@dataclass(frozen=True)
class QASetup:
    """Who and what is measured, apart from the way of retrieval.

    Args:
        dataset: the questions, and the passages that the memory holds.
        memory: see :func:`worldthread.bench.qa.dataset_memory.open_memory`.
        embedder: the one of the memory.
        triples, reader: how the memory was made.
        model: answers; ``None`` for the best statement as the answer.
        judge: judges; ``None`` for no verdicts.
        entities: a key of :data:`ENTITIES`.
        nearest, k, top, max_tokens, release: see :class:`~worldthread.bench.qa.results.Configuration`.

    Raises:
        InputError: entities are to be found by a model, and there is none, or in no known way.
    """

    dataset: Dataset
    memory: Memory
    embedder: Embedder
    triples: str = "none"
    reader: str = ""
    model: ChatModel | None = None
    judge: ChatModel | None = None
    entities: str = "none"
    nearest: bool = False
    k: int = 10
    top: int | None = None
    max_tokens: int = 3000
    release: str = ""

    def __post_init__(self) -> None:
        if self.entities not in ENTITIES:
            raise InputError(f"entities are found by one of {', '.join(ENTITIES)}, not {self.entities!r}")
        if self.entities == "model" and self.model is None:
            raise InputError("entities can be found by a model only where there is one (--model)")

    def configuration(self, way: RetrievalSpec) -> Configuration:
        """What is measured, in writing."""
        return Configuration(
            dataset=self.dataset.name,
            version=self.dataset.version,
            passages=digest_of(self.dataset),
            triples=self.triples,
            reader=self.reader,
            embedder=self.embedder.name,
            way=way,
            entities=self.entities,
            nearest=self.nearest,
            k=self.k,
            top=self.top,
            only_current=is_dated(self.dataset),
            max_tokens=self.max_tokens,
            model="" if self.model is None else self.model.name,
            judge="" if self.judge is None else self.judge.name,
            prompts=PROMPTS if self.model is not None else (),
            release=self.release,
        )

    def pipeline(self, way: RetrievalSpec) -> Pipeline:
        """The stages of question answering."""
        return Pipeline(
            self.embedder,
            entities=ENTITIES[self.entities],
            match=stages.NameMatcher(self.nearest),
            retrieve=stages.Retriever(way),
            filter=stages.keep_all if self.top is None else stages.SimilarityFilter(self.top),
            answer=stages.Answerer(self.max_tokens),
            k=self.k,
        )


def measure(
    setup: QASetup,
    way: RetrievalSpec,
    questions: Sequence[Question],
    results: QuestionResults,
    on_done: Callable[[Question, str | None], None] | None = None,
) -> dict[str, str]:
    """Answer the questions that have no record yet, as many at once as the models allow.

    An answer of a model that cannot be used is recorded as such. A question for which a model could not be asked is
    not, and so is asked the next time.

    Args:
        setup: who answers what.
        way: how it is retrieved.
        questions: of the data set.
        results: where records are kept.
        on_done: is told of every question when it is done, and why it is not recorded.

    Returns:
        why there is no record, by id of the question. Once the budget is spent no further question is asked, and those
        that were not are not among them.

    Raises:
        InputError: the method or a setting cannot be used.
        ReplayError, MissingExtraError: no question could be answered.
    """
    tell = on_done or (lambda question, problem: None)
    way.bound()  # a name that is none is told before the work
    configuration, pipeline = setup.configuration(way), setup.pipeline(way)
    known = results.records(configuration)
    waiting = [question for question in questions if question.id not in known]
    models = [model for model in (setup.model, setup.judge) if model is not None]
    jobs = min((model.concurrency for model in models), default=1)
    if setup.nearest and waiting:
        _embed_names(setup)
    ask = partial(_record, setup, pipeline, configuration.only_current)
    problems: dict[str, str] = {}
    with ThreadPoolExecutor(jobs, thread_name_prefix="worldthread-qa") as pool:
        running: dict[Future[dict[str, Any]], Question] = {}
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    question = waiting.pop(0)
                    running[pool.submit(ask, question)] = question
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    question = running.pop(future)
                    try:
                        results.add(configuration, question.id, future.result())
                    except (ReplayError, MissingExtraError):
                        raise
                    except ModelError as error:
                        problems[question.id] = str(error)
                        if isinstance(error, BudgetError):
                            waiting.clear()
                    tell(question, problems.get(question.id))
        finally:
            pool.shutdown(cancel_futures=True)
    return problems


def _embed_names(setup: QASetup) -> None:
    """Give the objects of the graph their vectors now, so that no question waits for them."""
    with setup.memory.record.index() as corpus:
        for part in pending_names(corpus):
            corpus.put(part, setup.embedder.embed(part.texts))


def _record(setup: QASetup, pipeline: Pipeline, only_current: bool, question: Question) -> dict[str, Any]:
    """What came of one question, ready for JSON."""
    answering = None if setup.model is None else Meter(setup.model)
    start = time.perf_counter()
    answered: AnsweredQuestion | None = None
    problem: str | None = None
    try:
        answered = replace(pipeline, model=answering).run(
            setup.memory.record, question.text, at=question.as_of, only_current=only_current
        )
    except AnswerError as error:
        problem = str(error)
    seconds = time.perf_counter() - start
    text = None if answered is None else _text(answered)
    record: dict[str, Any] = {
        "answer": text,
        "problem": problem,
        "exact": exact_match(text or "", question.answers, setup.dataset.script),
        "f1": round(f1(text or "", question.answers, setup.dataset.script), 5),
        "exact_personalai": exact_match(text or "", question.answers, _PERSONALAI),
        **_judged(setup.judge, question, text),
        "seconds": round(seconds, 4),
        **_used("", answering, setup.model),
    }
    if answered is not None:
        record |= {
            "reasoning": answered.answer.reasoning,
            "sources": [_words(hit.item) for hit in answered.answer.sources],
            "entities": list(answered.entities),
            "vertices": list(answered.vertices),
            "found": answered.found,
            "hits": [{"id": hit.item.id, "kind": hit.kind, "path": list(hit.path)} for hit in answered.hits],
            "retrieve_seconds": round(answered.retrieve_seconds, 5),
        }
    return record


def _text(answered: AnsweredQuestion) -> str | None:
    """The answer; without a model the statement as it is, without the times that are shown with it."""
    answer = answered.answer
    return answer.text if answer.model or not answer.sources else _words(answer.sources[0].item)


def _words(item: Statement | Episode) -> str:
    return item.text if isinstance(item, Episode) else str(item)


def _judged(judge: ChatModel | None, question: Question, text: str | None) -> dict[str, Any]:
    """The verdict: no answer is wrong without asking; what a judge says and nobody understands is no verdict."""
    if judge is None:
        return {}
    if text is None:
        return {"right": False, "verdict": "there is no answer to judge", **_used("judge_", None, judge)}
    meter = Meter(judge)
    try:
        verdict = judging.judge(meter, question.text, question.answers, text)
    except AnswerError as error:
        return {"right": None, "verdict": str(error), **_used("judge_", meter, judge)}
    return {"right": verdict.right, "verdict": verdict.reasons, **_used("judge_", meter, judge)}


def _used(prefix: str, meter: Meter | None, model: ChatModel | None) -> dict[str, Any]:
    """Calls, tokens and dollars of one question."""
    if model is None:
        return {}
    tally = None if meter is None else meter.overall()
    price = _price(model)
    return {
        f"{prefix}calls": tally.calls if tally else 0,
        f"{prefix}reused": tally.reused if tally else 0,
        f"{prefix}prompt_tokens": tally.usage.prompt_tokens if tally else 0,
        f"{prefix}completion_tokens": tally.usage.completion_tokens if tally else 0,
        f"{prefix}dollars": None if price is None else price.dollars(tally.usage) if tally else 0.0,
    }


def _price(model: ChatModel) -> Price | None:
    """What a model costs; a configured one knows prices that the user gave."""
    return model.meter.price if isinstance(model, ConfiguredChat) else Meter(model).price

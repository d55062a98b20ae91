"""Measures question answering: exact match, F1, verdicts of a judge, share of declined questions, and cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from worldthread.answering.answer import PROMPT_VERSIONS
from worldthread.errors import (
    AnswerError,
    BudgetError,
    InputError,
    MissingExtraError,
    ModelError,
    ReplayError,
)
from worldthread.memory.memory import Memory
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel
from worldthread.models.configured import ConfiguredChat
from worldthread.models.meter import Meter
from worldthread.models.prices import Price
from worldthread.models.prompts import load_prompt
from worldthread.types import Episode, Statement
from worldthread_lab.bench.datasets import Dataset, Question
from worldthread_lab.bench.qa import fact_filter, interleaved, stages
from worldthread_lab.bench.qa import judge as judging
from worldthread_lab.bench.qa.dataset_memory import digest_of, is_dated
from worldthread_lab.bench.qa.metrics import exact_match, f1
from worldthread_lab.bench.qa.pipeline import AnsweredQuestion, Pipeline
from worldthread_lab.bench.qa.results import Configuration, QuestionResults
from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
from worldthread_lab.bench.qa.stage_cache import StageCache
from worldthread_lab.published.linking import pending_names

ENTITIES: Final[Mapping[str, stages.EntityStage]] = {
    "none": stages.no_entities,
    "rule": stages.entities_by_rule,
    "model": stages.entities_by_model,
}
"""Entity stages by name."""

_PACKAGE: Final = "worldthread_lab.bench.qa"
_PERSONALAI: Final = "personalai"


def prompts_of(spec: RetrievalSpec) -> tuple[str, ...]:
    """Return the prompts of a measurement with a retrieval method, as they are in force: replacements by their digest.

    Args:
        spec: the method.

    Returns:
        Names with versions or digests, such as ``"answer/3"``.
    """
    used = [("worldthread", name, version) for name, version in PROMPT_VERSIONS.items()]
    used += [(_PACKAGE, "entities", stages.PROMPT_VERSION), (_PACKAGE, "judge", judging.PROMPT_VERSION)]
    if any(each.settings.get("fact_filter") for each in (spec, *spec.parts)):
        used.append((_PACKAGE, "fact-filter", fact_filter.PROMPT_VERSION))
    return tuple(load_prompt(*prompt).id for prompt in used)


@dataclass(frozen=True)
class QASetup:
    """Everything that a measurement depends on except the retrieval method.

    Args:
        dataset: the questions, and the passages in the memory.
        memory: memory from :func:`worldthread_lab.bench.qa.dataset_memory.open_memory`.
        embedder: embedder of the memory.
        triples: source of the facts in the memory.
        reader: name of the chat model that extracted the facts; empty without one.
        model: model that answers; ``None``: the best statement is the answer.
        judge: model that judges the answers; ``None``: no verdicts.
        entities: a key of :data:`ENTITIES`.
        nearest: whether an entity whose name is not in the graph is matched by its vector.
        k: the most results of each kind that are retrieved.
        top: number of results that the filter keeps; ``None`` for all.
        max_tokens: the most tokens that the statements take in the prompt.
        interleave: sentences of a chain of thought between which is retrieved (IRCoT), at most; 0 for none.
        release: version of worldthread.
        cache: keeps what the stages before the answer found; ``None`` without one. Times of retrieval are then those of
            the cache for what it has.
        outdated: whether passages ended statements of earlier ones; ``None``: if they have dates.

    Raises:
        InputError: ``entities`` is unknown, or is ``"model"`` without a model; or ``interleave`` is negative, or has
            no model.
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
    interleave: int = 0
    release: str = ""
    cache: StageCache | None = None
    outdated: bool | None = None

    def __post_init__(self) -> None:
        if self.entities not in ENTITIES:
            raise InputError(f"entities must be one of {', '.join(ENTITIES)}, not {self.entities!r}")
        if self.entities == "model" and self.model is None:
            raise InputError("entities can be found by a model only if there is one: give it with --model")
        if self.interleave < 0:
            raise InputError(f"interleave must be 0 or more sentences, not {self.interleave}")
        if self.interleave and self.model is None:
            raise InputError("interleaved retrieval needs a model: give it with --model")

    def configuration(self, spec: RetrievalSpec) -> Configuration:
        """Return the configuration of a measurement with a retrieval method."""
        return Configuration(
            dataset=self.dataset.name,
            version=self.dataset.version,
            passages=digest_of(self.dataset),
            triples=self.triples,
            reader=self.reader,
            embedder=self.embedder.name,
            way=spec,
            entities=self.entities,
            nearest=self.nearest,
            k=self.k,
            top=self.top,
            only_current=is_dated(self.dataset) if self.outdated is None else self.outdated,
            max_tokens=self.max_tokens,
            model="" if self.model is None else self.model.name,
            judge="" if self.judge is None else self.judge.name,
            prompts=() if self.model is None else (*prompts_of(spec), *self._interleaved_prompts),
            release=self.release,
        )

    @property
    def _interleaved_prompts(self) -> tuple[str, ...]:
        """What distinguishes interleaved answers; the number of sentences decides them as the prompt does."""
        if not self.interleave:
            return ()
        return (f"{load_prompt(_PACKAGE, 'thought', interleaved.PROMPT_VERSION).id} x {self.interleave}",)

    @property
    def _answer_stage(self) -> stages.AnswerStage:
        if not self.interleave:
            return stages.Answerer(self.max_tokens)
        return interleaved.InterleavedAnswerer(self.interleave, stages.Answerer(self.max_tokens, look_ups=0))

    def pipeline(self, spec: RetrievalSpec) -> Pipeline:
        """Return the stages of question answering with a retrieval method."""
        return Pipeline(
            self.embedder,
            entities=ENTITIES[self.entities],
            match=stages.NameMatcher(self.nearest),
            retrieve=stages.Retriever(spec),
            filter=stages.keep_all if self.top is None else stages.SimilarityFilter(self.top),
            answer=self._answer_stage,
            k=self.k,
            cache=self.cache,
        )


def measure(
    setup: QASetup,
    spec: RetrievalSpec,
    questions: Sequence[Question],
    results: QuestionResults,
    on_done: Callable[[Question, str | None], None] | None = None,
) -> dict[str, str]:
    """Answer the questions that have no record yet, as many concurrently as the models allow.

    An unusable answer of a model is recorded as such. A question whose call to a model fails is not recorded, so the
    next run asks it again. Once the budget is spent, no further question is asked.

    Args:
        setup: the data set, memory and models.
        spec: the retrieval method.
        questions: questions of the data set.
        results: receives the records.
        on_done: called with every finished question and the reason why it is not recorded, else ``None``.

    Returns:
        Reasons why questions were asked and not recorded, by id of the question.

    Raises:
        InputError: the method or a setting is invalid.
        ReplayError: the recording that is replayed has no answer to a request.
        MissingExtraError: the client library of a model is not installed.
    """
    report = on_done or (lambda question, problem: None)
    spec.bound()  # reports an unknown name before the work starts
    configuration, pipeline = setup.configuration(spec), setup.pipeline(spec)
    known = results.records(configuration)
    waiting = [question for question in questions if question.id not in known]
    models = [model for model in (setup.model, setup.judge) if model is not None]
    jobs = min((model.concurrency for model in models), default=1)
    if setup.nearest and waiting:
        _embed_names(setup)
    ask = partial(_record, setup, pipeline, configuration.only_current)
    return ask_each(
        ask, waiting, jobs, lambda question, record: results.add(configuration, question.id, record), report
    )


def ask_each(
    ask: Callable[[Question], dict[str, Any]],
    questions: Sequence[Question],
    jobs: int,
    add: Callable[[Question, dict[str, Any]], None],
    report: Callable[[Question, str | None], None],
) -> dict[str, str]:
    """Answer questions, several at once; a question whose call to a model fails gets no record.

    Args:
        ask: answers a question and returns its record.
        questions: the questions; once the budget is spent, no further one is asked.
        jobs: how many are asked at once.
        add: called with every question and its record.
        report: called with every finished question and the reason why it has no record, else ``None``.

    Returns:
        The reasons, by id of the question.

    Raises:
        ReplayError: the recording that is replayed has no answer to a request.
        MissingExtraError: the client library of a model is not installed.
    """
    waiting = list(questions)
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
                        add(question, future.result())
                    except (ReplayError, MissingExtraError):
                        raise
                    except ModelError as error:
                        problems[question.id] = str(error)
                        if isinstance(error, BudgetError):
                            waiting.clear()
                    report(question, problems.get(question.id))
        finally:
            pool.shutdown(cancel_futures=True)
    return problems


def _embed_names(setup: QASetup) -> None:
    """Embed the names of all objects now, so that no question waits for it."""
    with setup.memory.record.index() as index:
        for part in pending_names(index):
            index.put(part, setup.embedder.embed(part.texts))


def _record(setup: QASetup, pipeline: Pipeline, only_current: bool, question: Question) -> dict[str, Any]:
    """Answer one question and return its record, ready for JSON."""
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
            "support": answered.answer.support,
            "sources": [_words(hit.item) for hit in answered.answer.sources],
            "entities": list(answered.entities),
            "vertices": list(answered.vertices),
            "found": answered.found,
            "hits": [{"id": hit.item.id, "kind": hit.kind, "path": list(hit.path)} for hit in answered.hits],
            "retrieve_seconds": round(answered.retrieve_seconds, 5),
        }
    return record


def _text(answered: AnsweredQuestion) -> str | None:
    """Return the text of the answer; without a model, the statement without its times."""
    answer = answered.answer
    return answer.text if answer.model or not answer.sources else _words(answer.sources[0].item)


def _words(item: Statement | Episode) -> str:
    return item.text if isinstance(item, Episode) else str(item)


def _judged(judge: ChatModel | None, question: Question, text: str | None) -> dict[str, Any]:
    """Return the verdict on an answer: a missing answer is wrong without a call; an unusable reply is not a verdict."""
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
    """Return the calls, tokens and dollars of one question."""
    if model is None:
        return {}
    totals = None if meter is None else meter.overall()
    price = price_of(model)
    return {
        f"{prefix}calls": totals.calls if totals else 0,
        f"{prefix}reused": totals.reused if totals else 0,
        f"{prefix}prompt_tokens": totals.usage.prompt_tokens if totals else 0,
        f"{prefix}completion_tokens": totals.usage.completion_tokens if totals else 0,
        f"{prefix}dollars": None if price is None else price.dollars(totals.usage) if totals else 0.0,
    }


def price_of(model: ChatModel) -> Price | None:
    """Return the price of a model; a configured model may have prices from the user."""
    return model.meter.price if isinstance(model, ConfiguredChat) else Meter(model).price

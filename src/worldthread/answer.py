"""Answers to questions from what was recalled: written by a model, or, without one, the part of it that answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import msgspec

from worldthread.answering import Evidence, MemoryAccess, find_answer
from worldthread.answering.computed import DatedEvidence, Operation, asks_to_compute, compute
from worldthread.answering.quotations import (
    LOOK_UP_PASSAGES,
    LOOK_UP_STATEMENTS,
    PASSAGES,
    Outdated,
    Quotation,
    are_dated,
    listed_quotations,
    quotations,
    without_repeated,
)
from worldthread.extract.model.stated_times import shown_date
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.retrieve.text import estimated_tokens, hits_as_text, listed_hit
from worldthread.retrieve.words import content_words
from worldthread.types import KINDS, AskedTime, Episode, Hit, Recall, short_repr

PURPOSE = "answer"

PROMPT_VERSIONS: Final[Mapping[str, int]] = {"answer": 4, "timeline": 2}
"""The prompts of :func:`answer`: the second where the answer is computed."""

_VERSIONS_BEFORE: Final[Mapping[str, int]] = {"answer": 3, "timeline": 1}  # they do not ask how an answer is supported
_PASSAGES_BEFORE: Final = 7

Support: TypeAlias = Literal["stated", "inferred"]
"""How sources support an answer: they state it, or a step to it is only implied."""

LOOK_UPS: Final = 2
"""How often a model may name what to look up, instead of an answer."""

_QUERIES: Final = 2  # of one look-up
_QUERY_LIMIT: Final = 300  # characters
_BOUNDS: Final = {"sources": 16, "look_up": _QUERIES, "items": 32}
"""The most items of each list, where a grammar holds the model to its schema: small ones repeat an item without end."""
_MAY_LOOK_UP: Final = (
    'with an answer, []. When a link is missing, up to two short searches of the memory for it, such as "sister of Ida '
    'Lund"; then the answer is null for now.'
)
_NO_LOOK_UP: Final = "[]; nothing more can be looked up."


@dataclass(frozen=True)
class Answer:
    """An answer with its sources.

    Args:
        question: the question.
        text: the answer; ``None`` when there is not enough information.
        sources: the statements and episodes that support it, best first.
        reasoning: the reasoning of the model; empty without one.
        recall: everything that was recalled for the question.
        model: the name of the model; empty without one.
        nearest: without a model and without an answer, the hits that come nearest, best first.
        confidence: without a model, how likely what comes first answers the question, 0..1; else ``None``.
        evidence: without a model, the measures behind the confidence; ``None`` when nothing was found.
        support: ``"stated"`` if the sources state the answer, or the dates that it is computed from; ``"inferred"`` if
            the model says that a step is only implied, or stated of something that the question describes otherwise;
            ``None`` without an answer, and where the model was not asked.
    """

    question: str
    text: str | None
    sources: tuple[Hit, ...]
    reasoning: str
    recall: Recall
    model: str = ""
    nearest: tuple[Hit, ...] = ()
    confidence: float | None = None
    evidence: Evidence | None = None
    support: Support | None = None

    @property
    def asked_time(self) -> AskedTime | None:
        """The time that the question names; ``None`` where it names none."""
        return self.recall.asked_time

    def __str__(self) -> str:
        if self.text is None:
            return "There is not enough information."
        return f"{self.text} (inferred)" if self.support == "inferred" else self.text

    def __repr__(self) -> str:
        text = "None" if self.text is None else short_repr(self.text)
        inferred = "support='inferred', " if self.support == "inferred" else ""
        return f"Answer({text}, {inferred}question={short_repr(self.question)}, sources={len(self.sources)})"


class Reply(msgspec.Struct, forbid_unknown_fields=True):
    """What the first version of the prompt asks the model to fill in."""

    reasoning: str
    answer: str | None
    sources: list[int]


class ReplyOrSearch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What the model is asked to fill in: an answer, or what to look up."""

    reasoning: str
    answer: str | None
    support: Literal["stated", "inferred", "none"] | None = None
    sources: list[int]
    look_up: list[str] = []


class TimelineItem(msgspec.Struct, forbid_unknown_fields=True):
    """An event that the answer is computed from."""

    number: int
    date: str
    what: str


class TimelineReply(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What the model is asked to fill in where the answer is computed."""

    reasoning: str
    operation: Operation
    unit: str
    items: list[TimelineItem]
    answer: str | None
    support: Literal["stated", "inferred", "none"] | None = None
    sources: list[int]
    look_up: list[str] = []


@dataclass(frozen=True)
class AnswerContext:
    """What is known beside the hits of a question.

    Args:
        look_up: recalls for another query; ``None`` allows no look-up.
        look_ups: how often the model may name what to look up instead of an answer.
        now: the world time that the question is about; ``None`` where it is not known. Shown if it is a date.
        outdated: finds what a passage says that is no longer true; ``None`` marks nothing.
        by_clock: whether ``now`` is the present moment; a recording then answers on any day.
        allow_inferred: whether an answer may be inferred; ``False`` refuses what the sources do not state.
    """

    look_up: Callable[[str], Recall] | None = None
    look_ups: int = LOOK_UPS
    now: float | None = None
    outdated: Outdated | None = None
    by_clock: bool = False
    allow_inferred: bool = True


def answer(
    recall: Recall,
    model: ChatModel,
    *,
    max_tokens: int,
    context: AnswerContext | None = None,
    version: Literal[1, 3, 4] = 4,
) -> Answer:
    """Let a model answer ``recall.query`` from its hits.

    The model sees passages first, then sentences and facts that they do not contain. Instead of an answer it can name
    what to look up; what is found is shown with what it says bears on the question, or else with the rest. Where the
    question asks for a time between events, their order or their number, the model names the events and their dates,
    and the answer is computed (:mod:`worldthread.answering.computed`). It says whether the quotations state its answer
    or it is inferred (:attr:`Answer.support`).

    Args:
        recall: the question with its hits.
        model: the chat model that answers.
        max_tokens: how many tokens of the prompt the hits may take, by a cautious estimate; look-ups may add half of
            it each.
        context: what is known beside the hits.
        version: the version of the prompt. Recordings of earlier releases have 3, which does not ask how an answer is
            supported, or 1, which lists all hits and allows no look-up.

    Returns:
        The answer with its sources.

    Raises:
        AnswerError: the model's answer could not be used.
        ModelError: the model could not be asked.
    """
    if not recall.hits:
        return Answer(recall.query, None, (), "", recall, model.name)
    if version == 1:
        return _first_answer(recall, model, max_tokens)
    context = context or AnswerContext()
    passages = _PASSAGES_BEFORE if version == 3 else PASSAGES
    shown = quotations(recall.query, recall.hits, max_tokens=max_tokens, outdated=context.outdated, passages=passages)
    left = 0 if context.look_up is None else max(context.look_ups, 0)
    while True:
        reply, ordered = _asked(recall.query, shown, model, context, left, version)
        queries = _queries(reply, recall.query) if left else []
        found: list[Hit] = []
        more: list[Quotation] = []
        for query in queries:
            assert context.look_up is not None
            hits = context.look_up(query).hits
            found += hits
            more += quotations(
                f"{recall.query} {query}",
                hits,
                max_tokens=max_tokens // (2 * len(queries)),
                known=(*shown, *more),
                outdated=context.outdated,
                passages=LOOK_UP_PASSAGES,
                statements=LOOK_UP_STATEMENTS,
            )
        if not more:
            break
        shown = without_repeated([*_kept(reply, ordered, shown), *more])
        items = {hit.item.id for hit in recall.hits}
        recall = replace(recall, hits=(*recall.hits, *(hit for hit in _unique(found) if hit.item.id not in items)))
        left -= 1
    text, numbers, reasoning = _settled(reply, len(ordered))
    if text is None or reply.support == "none" or (reply.support != "stated" and not context.allow_inferred):
        return Answer(recall.query, None, (), reasoning, recall, model.name)
    sources = tuple(ordered[number - 1].hit for number in numbers)
    return Answer(recall.query, text, sources, reasoning, recall, model.name, support=reply.support)


def _asked(
    question: str, shown: list[Quotation], model: ChatModel, context: AnswerContext, left: int, version: Literal[3, 4]
) -> tuple[ReplyOrSearch | TimelineReply, list[Quotation]]:
    """Return the model's reply, and the quotations in the order of their numbers."""
    is_dated = are_dated(shown)
    computes = is_dated and asks_to_compute(question)
    ordered, evidence = listed_quotations(shown, by_time=computes)
    day = shown_date(context.now) if context.now is not None and is_dated else ""
    name = "timeline" if computes else "answer"
    versions = _VERSIONS_BEFORE if version == 3 else PROMPT_VERSIONS
    messages = load_prompt("worldthread", name, versions[name]).messages(
        today=f"Today: {day}" if day else "",
        evidence=evidence,
        question=question,
        look_up=_MAY_LOOK_UP if left else _NO_LOOK_UP,
    )
    into: type[TimelineReply] | type[ReplyOrSearch] = TimelineReply if computes else ReplyOrSearch
    request = ChatRequest(messages, PURPOSE, _schema(into, version), today=day if context.by_clock else "")
    return complete_structured(model, request, into), ordered


def _schema(into: type[Any], version: Literal[3, 4]) -> dict[str, Any]:
    """Return the schema of a reply; every field is required, as strict servers demand."""
    schema = schema_of(into)
    properties: dict[str, Any] = schema["properties"]
    if version == 3:
        del properties["support"]
    else:
        properties["support"] = {"enum": ["stated", "inferred", "none"]}
        for name in _BOUNDS.keys() & properties:
            properties[name]["maxItems"] = _BOUNDS[name]
    properties["look_up"].pop("default", None)
    return {**schema, "required": list(properties)}


def _queries(reply: ReplyOrSearch | TimelineReply, question: str) -> list[str]:
    """Return what a reply without an answer asks to look up."""
    if (reply.answer or "").strip() or (isinstance(reply, TimelineReply) and reply.items):
        return []
    queries = dict.fromkeys(query.strip()[:_QUERY_LIMIT] for query in reply.look_up)
    return [query for query in queries if query and query != question and query.isprintable()][:_QUERIES]


def _kept(reply: ReplyOrSearch | TimelineReply, ordered: list[Quotation], shown: list[Quotation]) -> list[Quotation]:
    """Return what is shown again after a look-up: what bears on the question by the reply; all where it names none."""
    numbers = set() if isinstance(reply, TimelineReply) else {n for n in reply.sources if 1 <= n <= len(ordered)}
    return [one for number, one in enumerate(ordered, 1) if number in numbers] or shown


def _unique(hits: Iterable[Hit]) -> Iterable[Hit]:
    return {hit.item.id: hit for hit in hits}.values()


def _settled(reply: ReplyOrSearch | TimelineReply, count: int) -> tuple[str | None, tuple[int, ...], str]:
    """Return the answer of a reply, the numbers of its sources, and its reasoning."""
    if isinstance(reply, TimelineReply) and reply.operation != "none":
        items = [DatedEvidence(i.number, i.date, i.what.strip()) for i in reply.items if 1 <= i.number <= count]
        computed = compute(reply.operation, reply.unit, items)
        if computed is None or not computed.text:
            return None, (), reply.reasoning
        return computed.text, computed.numbers, f"{reply.reasoning} [{computed.steps}]"
    text = (reply.answer or "").strip() or None
    numbers = dict.fromkeys(n for n in reply.sources if 1 <= n <= count) if text else {}
    return text, tuple(numbers), reply.reasoning


def _first_answer(recall: Recall, model: ChatModel, max_tokens: int) -> Answer:
    offered = _within(recall.hits, max_tokens)
    lines = "\n".join(listed_hit(f"{number}.", hit) for number, hit in enumerate(offered, start=1))
    messages = load_prompt("worldthread", "answer", 1).messages(statements=lines, question=recall.query)
    reply = complete_structured(model, ChatRequest(messages, PURPOSE, schema_of(Reply)), Reply)
    text = (reply.answer or "").strip()
    numbers = dict.fromkeys(n for n in reply.sources if 1 <= n <= len(offered)) if text else {}
    sources = tuple(offered[number - 1] for number in numbers)
    return Answer(recall.query, text or None, sources, reply.reasoning, recall, model.name)


def answer_without_model(question: str, asked: str, memory: MemoryAccess, *, k: int, max_tokens: int) -> Answer:
    """Answer a question by what is remembered alone.

    Args:
        question: the question, as it was asked.
        asked: the question without a clause that names its time.
        memory: gives what is needed of the memory.
        k: how many hits of each kind :attr:`Answer.recall` shows at most.
        max_tokens: the limit of the text of :attr:`Answer.recall`, by a cautious estimate.

    Returns:
        The answer with its source, or what comes nearest.
    """
    found = find_answer(asked, memory)
    time = found.recall.asked_time
    if found.text is not None and time is not None and time.interval is None and not _says(found.sources, time.words):
        found = replace(found, text=None, sources=(), nearest=found.sources)
    hits = tuple(hit for kind in KINDS for hit in [hit for hit in found.recall.hits if hit.kind == kind][:k])
    recall = replace(found.recall, query=question, hits=hits, text=hits_as_text(hits, max_tokens))
    support: Support | None = None if found.text is None else "stated"
    return Answer(
        question, found.text, found.sources, "", recall, "", found.nearest, found.confidence, found.evidence, support
    )


def _says(sources: Iterable[Hit], words: str) -> bool:
    """Return whether a source itself speaks of what a question names in the place of a time."""
    texts = (one.item.text if isinstance(one.item, Episode) else str(one.item) for one in sources)
    return any(content_words(words) <= content_words(text) for text in texts)


def _within(hits: tuple[Hit, ...], max_tokens: int) -> list[Hit]:
    """Return as many of the first hits as fit, at least one."""
    chosen: list[Hit] = []
    left = max_tokens
    for hit in hits:
        left -= estimated_tokens(listed_hit("100.", hit)) + 2
        if left < 0 and chosen:
            break
        chosen.append(hit)
    return chosen

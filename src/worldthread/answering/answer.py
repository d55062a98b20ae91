"""Answers to questions from what was recalled: written by a model, or, without one, the part of it that answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import msgspec

from worldthread.answering import MemoryAccess, find_answer
from worldthread.answering.computed import DatedEvidence, Operation, compute
from worldthread.answering.quotations import (
    LOOK_UP_PASSAGES,
    LOOK_UP_STATEMENTS,
    Around,
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
from worldthread.retrieve.words import content_words
from worldthread.types import AskedTime, Episode, Hit, Recall, short_repr

PURPOSE = "answer"

PROMPT_VERSIONS: Final[Mapping[str, int]] = {"answer": 5}
"""The prompt of :func:`answer`."""

Support: TypeAlias = Literal["stated", "inferred"]
"""How sources support an answer: they state it, or a step to it is only implied."""

LOOK_UPS: Final = 1
"""How often a model may name what to look up, instead of an answer."""

_QUERIES: Final = 2  # of one look-up
_QUERY_LIMIT: Final = 300  # characters
_BOUNDS: Final = {"sources": 16, "look_up": _QUERIES, "items": 32}
"""The most items of each list, where a grammar holds the model to its schema: small ones repeat an item without end."""
_MAY_LOOK_UP: Final = (
    '[] with an answer; else up to two short searches for what is missing ("sister of Ida Lund"), '
    "the answer null for now."
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


class EventOfAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """An event that the answer is computed from."""

    number: int
    date: str
    what: str


class Computation(msgspec.Struct, forbid_unknown_fields=True):
    """What the answer is computed from."""

    operation: Operation
    unit: str
    items: list[EventOfAnswer]


class Reply(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What the model is asked to fill in: an answer, what it is computed from, or what to look up."""

    reasoning: str
    answer: str | None
    support: Literal["stated", "inferred", "none"] | None = None
    sources: list[int]
    compute: Computation | None = None
    look_up: list[str] = []


@dataclass(frozen=True)
class AnswerContext:
    """What is known beside the hits of a question.

    Args:
        look_up: recalls for another query; ``None`` allows no look-up.
        look_ups: how often the model may name what to look up instead of an answer.
        now: the world time that the question is about; ``None`` where it is not known. Shown if it is a date.
        outdated: finds what a passage says that is no longer true; ``None`` marks nothing.
        around: finds where messages stand in their talk; ``None`` shows each alone.
        by_clock: whether ``now`` is the present moment; a recording then answers on any day.
        allow_inferred: whether an answer may be inferred; ``False`` refuses what the sources do not state.
    """

    look_up: Callable[[str], Recall] | None = None
    look_ups: int = LOOK_UPS
    now: float | None = None
    outdated: Outdated | None = None
    around: Around | None = None
    by_clock: bool = False
    allow_inferred: bool = True


def answer(recall: Recall, model: ChatModel, *, max_tokens: int, context: AnswerContext | None = None) -> Answer:
    """Let a model answer ``recall.query`` from its hits.

    The model sees passages first, then sentences and facts that they do not contain, then what was said, in order of
    time. Instead of an answer it can name what to look up: then it is asked once more, told what was searched and which
    lines are new; what it said does not bear on the question is left out. Where the question asks for a time between
    events, their order or their number, the model names the events and their dates, and the answer is computed
    (:mod:`worldthread.answering.computed`). It says whether the lines state its answer or it is inferred
    (:attr:`Answer.support`).

    Args:
        recall: the question with its hits.
        model: the chat model that answers.
        max_tokens: how many tokens of the prompt the hits may take, by a cautious estimate; a look-up may add half of
            it.
        context: what is known beside the hits.

    Returns:
        The answer with its sources.

    Raises:
        AnswerError: the model's answer could not be used.
        ModelError: the model could not be asked.
    """
    if not recall.hits:
        return Answer(recall.query, None, (), "", recall, model.name)
    context = context or AnswerContext()
    shown = quotations(
        recall.query, recall.hits, max_tokens=max_tokens, outdated=context.outdated, around=context.around
    )
    left = 0 if context.look_up is None else max(context.look_ups, 0)
    searched: list[str] = []
    more: list[Quotation] = []
    while True:
        reply, ordered = _asked(recall.query, shown, model, context, left, searched, more)
        queries = _queries(reply, recall.query) if left else []
        found: list[Hit] = []
        more = []
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
                around=context.around,
                passages=LOOK_UP_PASSAGES,
                statements=LOOK_UP_STATEMENTS,
            )
        if not more:
            break
        searched += queries
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
    question: str,
    shown: list[Quotation],
    model: ChatModel,
    context: AnswerContext,
    left: int,
    searched: Sequence[str],
    more: Sequence[Quotation],
) -> tuple[Reply, list[Quotation]]:
    """Return the model's reply, and the quotations in the order of their numbers."""
    ordered, evidence = listed_quotations(shown)
    day = shown_date(context.now) if context.now is not None and are_dated(shown) else ""
    new = {one.hit.item.id for one in more}
    numbers = [str(number) for number, one in enumerate(ordered, 1) if one.hit.item.id in new]
    again = f"Searched: {'; '.join(searched)}. New: {', '.join(numbers)}." if searched else ""
    messages = load_prompt("worldthread", "answer", PROMPT_VERSIONS["answer"]).messages(
        today=f"Today: {day}" if day else "",
        evidence=evidence,
        again=f"\n{again}" if again else "",
        question=question,
        look_up=_MAY_LOOK_UP if left else _NO_LOOK_UP,
    )
    request = ChatRequest(messages, PURPOSE, _schema(), today=day if context.by_clock else "")
    return complete_structured(model, request, Reply), ordered


def _schema() -> dict[str, Any]:
    """Return the schema of a reply; every field is required, as strict servers demand."""
    schema = schema_of(Reply)
    properties: dict[str, Any] = schema["properties"]
    properties["support"] = {"enum": ["stated", "inferred", "none"]}
    for part in (properties, *(one["properties"] for one in _parts(schema))):
        for name in _BOUNDS.keys() & part:
            part[name]["maxItems"] = _BOUNDS[name]
    for name in ("compute", "look_up"):
        properties[name].pop("default", None)
    return {**schema, "required": list(properties)}


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects within a schema."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for one in inner:
        if isinstance(one, dict) and "properties" in one:
            yield one
        yield from _parts(one)


def _queries(reply: Reply, question: str) -> list[str]:
    """Return what a reply without an answer asks to look up."""
    if (reply.answer or "").strip() or (reply.compute is not None and reply.compute.items):
        return []
    queries = dict.fromkeys(query.strip()[:_QUERY_LIMIT] for query in reply.look_up)
    return [query for query in queries if query and query != question and query.isprintable()][:_QUERIES]


def _kept(reply: Reply, ordered: list[Quotation], shown: list[Quotation]) -> list[Quotation]:
    """Return what is shown again after a look-up: what bears on the question by the reply; else half of the talk."""
    numbers = {n for n in reply.sources if 1 <= n <= len(ordered)}
    if kept := [one for number, one in enumerate(ordered, 1) if number in numbers]:
        return kept
    talk = [one for one in shown if one.spot is not None]
    return [one for one in shown if one.spot is None] + talk[: (len(talk) + 1) // 2]


def _unique(hits: Iterable[Hit]) -> Iterable[Hit]:
    return {hit.item.id: hit for hit in hits}.values()


def _settled(reply: Reply, count: int) -> tuple[str | None, tuple[int, ...], str]:
    """Return the answer of a reply, the numbers of its sources, and its reasoning."""
    text = (reply.answer or "").strip() or None
    asked = reply.compute
    if text is None and asked is not None and asked.operation != "none":
        items = [DatedEvidence(i.number, i.date, i.what.strip()) for i in asked.items if 1 <= i.number <= count]
        computed = compute(asked.operation, asked.unit, items)
        if computed is None or not computed.text:
            return None, (), reply.reasoning
        return computed.text, computed.numbers, f"{reply.reasoning} [{computed.steps}]"
    numbers = dict.fromkeys(n for n in reply.sources if 1 <= n <= count) if text else {}
    return text, tuple(numbers), reply.reasoning


def answer_without_model(question: str, recalled: Recall, memory: MemoryAccess | None) -> Answer:
    """Answer a question by what is remembered alone.

    Args:
        question: the question, as it was asked.
        recalled: what was recalled for it, of what holds.
        memory: gives what is needed of the memory; ``None`` for one that knows nothing.

    Returns:
        The answer with its source, or what comes nearest.
    """
    recalled = replace(recalled, query=question)
    if memory is None:
        return Answer(question, None, (), "", recalled, confidence=0.0)
    found = find_answer(question, recalled, memory)
    time = recalled.asked_time
    if found.text is not None and time is not None and time.interval is None and not _says(found.sources, time.words):
        found = replace(found, text=None, sources=(), nearest=found.sources)
    support: Support | None = None if found.text is None else "stated"
    return Answer(
        question, found.text, found.sources, "", recalled, "", found.nearest, found.confidence, support=support
    )


def _says(sources: Iterable[Hit], words: str) -> bool:
    """Return whether a source itself speaks of what a question names in the place of a time."""
    texts = (one.item.text if isinstance(one.item, Episode) else str(one.item) for one in sources)
    return any(content_words(words) <= content_words(text) for text in texts)

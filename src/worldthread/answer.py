"""Answers to questions from what was recalled: written by a model, or, without one, the part of it that answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from worldthread.answering import Evidence, MemoryAccess, find_answer
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.retrieve.text import estimated_tokens, hits_as_text, listed_hit
from worldthread.types import KINDS, Hit, Recall, short_repr

PURPOSE = "answer"


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
        confidence: without a model, the probability that the memory can answer the question, 0..1; else ``None``.
        evidence: without a model, the measures behind the confidence; ``None`` when nothing was found.
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

    def __str__(self) -> str:
        return "There is not enough information." if self.text is None else self.text

    def __repr__(self) -> str:
        text = "None" if self.text is None else short_repr(self.text)
        return f"Answer({text}, question={short_repr(self.question)}, sources={len(self.sources)})"


class Reply(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to fill in."""

    reasoning: str
    answer: str | None
    sources: list[int]


def answer(recall: Recall, model: ChatModel, *, max_tokens: int) -> Answer:
    """Let a model answer ``recall.query`` from its hits.

    Args:
        recall: the question with its hits.
        model: the chat model that answers.
        max_tokens: how many tokens of the prompt the hits may take, by a cautious estimate.

    Returns:
        The answer with its sources.

    Raises:
        AnswerError: the model's answer could not be used.
        ModelError: the model could not be asked.
    """
    if not recall.hits:
        return Answer(recall.query, None, (), "", recall, model.name)
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
        asked: the question with the name of the person who asks in place of "I".
        memory: gives what is needed of the memory.
        k: how many hits of each kind :attr:`Answer.recall` shows at most.
        max_tokens: the limit of the text of :attr:`Answer.recall`, by a cautious estimate.

    Returns:
        The answer with its source, or what comes nearest.
    """
    found = find_answer(asked, memory)
    hits = tuple(hit for kind in KINDS for hit in [hit for hit in found.recall.hits if hit.kind == kind][:k])
    recall = replace(found.recall, query=question, hits=hits, text=hits_as_text(hits, max_tokens))
    return Answer(question, found.text, found.sources, "", recall, "", found.nearest, found.confidence, found.evidence)


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

"""Answers to questions from what was recalled: written by a model, or, without one, the statement that fits best."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.retrieve.text import estimated_tokens, listed_hit, shown_hit
from worldthread.retrieve.words import content_words
from worldthread.types import Hit, Recall, short_repr

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
    """

    question: str
    text: str | None
    sources: tuple[Hit, ...]
    reasoning: str
    recall: Recall
    model: str = ""

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


def answer(recall: Recall, model: ChatModel | None, *, max_tokens: int) -> Answer:
    """Answer ``recall.query`` from its hits.

    Without a model, the answer is the best of the hits that share an object or a word with the question: the best fact
    or thesis, else the best episode. When there is none, there is not enough information.

    Args:
        recall: the question with its hits.
        model: the chat model that answers; ``None`` for none.
        max_tokens: how many tokens of the prompt the hits may take, by a cautious estimate.

    Returns:
        The answer with its sources.

    Raises:
        AnswerError: the model's answer could not be used.
        ModelError: the model could not be asked.
    """
    if not recall.hits:
        return Answer(recall.query, None, (), "", recall, model.name if model else "")
    if model is None:
        asked = content_words(recall.query)
        fitting = [hit for hit in recall.hits if hit.path or asked & content_words(shown_hit(hit))]
        if not fitting:
            return Answer(recall.query, None, (), "", recall)
        found = max(fitting, key=lambda hit: (hit.kind != "episode", hit.score))
        return Answer(recall.query, shown_hit(found), (found,), "", recall)
    offered = _within(recall.hits, max_tokens)
    lines = "\n".join(listed_hit(f"{number}.", hit) for number, hit in enumerate(offered, start=1))
    messages = load_prompt("worldthread", "answer", 1).messages(statements=lines, question=recall.query)
    reply = complete_structured(model, ChatRequest(messages, PURPOSE, schema_of(Reply)), Reply)
    text = (reply.answer or "").strip()
    numbers = dict.fromkeys(n for n in reply.sources if 1 <= n <= len(offered)) if text else {}
    sources = tuple(offered[number - 1] for number in numbers)
    return Answer(recall.query, text or None, sources, reply.reasoning, recall, model.name)


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

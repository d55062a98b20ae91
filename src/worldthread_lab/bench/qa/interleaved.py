"""IRCoT as an answer stage: retrieval interleaved with a chain of thought.

After Trivedi et al., "Interleaving Retrieval with Chain-of-Thought Reasoning for Knowledge-Intensive Multi-Step
Questions" (2023), section 3: the model writes one sentence from what was found so far; the sentence is the next query,
and what it finds is added; and so on, until a sentence states the answer or there were enough. A reader then answers
from everything that was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from worldthread.answering.answer import Answer
from worldthread.errors import AnswerError, InputError
from worldthread.models.chat import ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.retrieve.text import hits_as_text
from worldthread.types import Hit, Recall
from worldthread_lab.bench.qa.stages import Answerer, QuestionInProgress

PURPOSE: Final = "thought"
PROMPT_VERSION: Final = 1
MOST_HITS: Final = 15
"""Hits of each kind that are collected, as many as the paper collects paragraphs."""
_NOTHING: Final = "(none yet)"


class Thought(msgspec.Struct, forbid_unknown_fields=True):
    """One sentence of the chain of thought."""

    sentence: str
    finished: bool = False


@dataclass(frozen=True)
class InterleavedAnswerer:
    """Interleaves retrieval with a chain of thought, and lets ``reader`` answer from what was found (IRCoT).

    Args:
        sentences: the most sentences of the chain, 1 or more; the paper has 8.
        reader: answers from all hits; it looks nothing up itself.

    Raises:
        InputError: ``sentences`` is below 1.
    """

    sentences: int = 8
    reader: Answerer = field(default_factory=lambda: Answerer(look_ups=0))

    def __post_init__(self) -> None:
        if self.sentences < 1:
            raise InputError(f"a chain of thought needs at least 1 sentence, not {self.sentences}")

    def __call__(self, question: QuestionInProgress, recall: Recall) -> Answer:
        """Answer a question.

        Args:
            question: the question, with a model.
            recall: what the memory recalls for it.

        Returns:
            The answer of the reader.

        Raises:
            InputError: there is no model.
            AnswerError: the reader's answer could not be used. A sentence that cannot be used ends the chain.
            ModelError: the call to the model failed.
        """
        if question.model is None:
            raise InputError("interleaved retrieval needs a model: give one with --model")
        collected = list(_first_of_each_kind(recall.hits))
        thoughts: list[str] = []
        while len(thoughts) < self.sentences and question.look_up is not None:
            thought = self._next_thought(question, recall, collected, thoughts)
            if thought is None or thought.finished:
                break
            thoughts.append(thought.sentence)
            found = question.look_up(thought.sentence).hits
            collected = list(_first_of_each_kind([*collected, *found]))
        text = hits_as_text(collected, self.reader.max_tokens)
        return self.reader(question, replace(recall, hits=tuple(collected), text=text))

    def _next_thought(
        self, question: QuestionInProgress, recall: Recall, collected: list[Hit], thoughts: list[str]
    ) -> Thought | None:
        """Ask for the next sentence; ``None`` when the answer could not be used, or says nothing."""
        assert question.model is not None
        messages = load_prompt("worldthread_lab.bench.qa", "thought", PROMPT_VERSION).messages(
            passages=hits_as_text(collected, self.reader.max_tokens) or _NOTHING,
            question=recall.query,
            thoughts=" ".join(thoughts) or _NOTHING,
        )
        try:
            thought = complete_structured(question.model, ChatRequest(messages, PURPOSE, schema_of(Thought)), Thought)
        except AnswerError:
            return None
        return thought if thought.sentence.strip() else None


def _first_of_each_kind(hits: Iterable[Hit]) -> Iterable[Hit]:
    """Yield the first hits of each kind, each statement and passage once, in their order."""
    seen: set[tuple[str, str]] = set()
    counts: dict[str, int] = {}
    for hit in hits:
        key = (hit.kind, hit.item.id)
        if key not in seen and counts.get(hit.kind, 0) < MOST_HITS:
            seen.add(key)
            counts[hit.kind] = counts.get(hit.kind, 0) + 1
            yield hit

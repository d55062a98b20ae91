"""A model that keeps the facts which matter for a question: the recognition memory of HippoRAG 2 (section 3.3).

The prompt is ours. A reply that cannot be parsed keeps every fact, as if there were no filter: a broken answer must not
cost a question its facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from worldthread.errors import AnswerError
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.retrieve.query import Query
from worldthread.types import Fact

PURPOSE: Final = "fact filter"
PROMPT_VERSION: Final = 1


class FactFilterReply(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to fill in."""

    facts: list[int]


@dataclass(frozen=True)
class FactFilter:
    """Asks a model which facts help to answer a question.

    Args:
        model: the model.
    """

    model: ChatModel

    def __call__(self, query: Query, facts: list[Fact]) -> list[Fact]:
        """Return the facts that matter.

        Args:
            query: the question.
            facts: the facts most similar to it, best first.

        Returns:
            Some of them, in their order; all of them when the model's answer could not be used.

        Raises:
            ModelError: the call to the model failed.
        """
        if not facts:
            return facts
        numbered = "\n".join(
            f"{number}. {fact.subject} | {fact.relation} | {fact.object}" for number, fact in enumerate(facts, 1)
        )
        messages = load_prompt("worldthread_lab.bench.qa", "fact-filter", PROMPT_VERSION).messages(
            question=query.text, facts=numbered
        )
        try:
            reply = complete_structured(
                self.model, ChatRequest(messages, PURPOSE, schema_of(FactFilterReply)), FactFilterReply
            )
        except AnswerError:
            return facts
        chosen = set(reply.facts)
        return [fact for number, fact in enumerate(facts, 1) if number in chosen]

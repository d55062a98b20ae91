"""A model as a judge of answers (PersonalAI, section V and Appendix F, with our own prompt).

The judge always receives the same prompt, temperature 0 and the seed. A reply that cannot be parsed is not a
verdict: there is no default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from worldthread.errors import InputError
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of

PURPOSE: Final = "judge"
PROMPT_VERSION: Final = 1
SEED: Final = 42
MAX_TOKENS: Final = 2048
"""Seed and token limit are those of Appendix F; its ``top_k`` of 1 is equivalent to a temperature of 0."""


@dataclass(frozen=True)
class Verdict:
    """A judge's verdict on an answer.

    Args:
        right: whether the answer is right.
        reasons: the judge's reasons.
        model: name of the judge.
    """

    right: bool
    reasons: str
    model: str


class VerdictReply(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to fill in; the reasons come first, so that the verdict can follow from them."""

    reasons: str
    right: bool


def judge(model: ChatModel, question: str, answers: Sequence[str], given: str, *, seed: int = SEED) -> Verdict:
    """Ask a model whether an answer to a question is right.

    Args:
        model: the judge.
        question: text of the question.
        answers: right answers with the same meaning; at least one.
        given: the answer to judge; not blank.
        seed: of the judge's sampling; another one asks for a second verdict.

    Returns:
        The verdict.

    Raises:
        InputError: there is no right answer, or the given answer is blank.
        AnswerError: neither the judge's answer nor its repair could be used.
        ModelError: the call to the judge failed.
    """
    if not answers:
        raise InputError("a judge needs at least one right answer")
    if not given.strip():
        raise InputError("there is no answer to judge; an empty answer counts as wrong without a judge")
    messages = _messages(question, "\n".join(f"- {answer}" for answer in answers), given)
    request = ChatRequest(messages, PURPOSE, schema_of(VerdictReply), temperature=0.0, max_tokens=MAX_TOKENS, seed=seed)
    reply = complete_structured(model, request, VerdictReply)
    return Verdict(reply.right, reply.reasons, model.name)


def shown_prompt() -> str:
    """Return the judge's prompt for people, with placeholders."""
    messages = _messages("QUESTION", "RIGHT", "GIVEN")
    return "\n\n".join(f"[{one.role}]\n{one.content}" for one in messages)


def _messages(question: str, right: str, given: str) -> tuple[Message, ...]:
    return load_prompt("worldthread_lab.bench.qa", "judge", PROMPT_VERSION).messages(
        question=question, right=right, given=given
    )

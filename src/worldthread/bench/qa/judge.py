"""A model as a judge of answers (PersonalAI, section V and Appendix F, with a prompt of our own).

The judge always gets the same prompt, temperature 0 and the same seed. What it says counts only when it can be
understood: there is no verdict by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from worldthread.errors import InputError
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of

PURPOSE: Final = "judge"
PROMPT_VERSION: Final = 1
SEED: Final = 42
MAX_TOKENS: Final = 2048
"""Seed and limit of the answer are those of Appendix F; its ``top_k`` of 1 is what a temperature of 0 comes to."""


@dataclass(frozen=True)
class Verdict:
    """What a judge says of an answer.

    Args:
        right: whether it is right.
        reasons: why, in the judge's words.
        model: the name of the judge.
    """

    right: bool
    reasons: str
    model: str


class VerdictReply(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to fill in; the reasons come first, so that the verdict can follow from them."""

    reasons: str
    right: bool


def judge(model: ChatModel, question: str, answers: Sequence[str], given: str) -> Verdict:
    """Whether ``given`` is a right answer to ``question``.

    Args:
        model: the judge.
        question: in words.
        answers: right ones, which mean the same; at least one.
        given: what is judged.

    Raises:
        InputError: there is no right answer, or nothing to judge.
        AnswerError: neither the judge's answer nor its repair could be used.
        ModelError: the judge could not be asked.
    """
    if not answers:
        raise InputError("a judge needs at least one right answer")
    if not given.strip():
        raise InputError("there is no answer to judge; that there is none is known without a judge")
    messages = load_prompt("worldthread.bench.qa", "judge", PROMPT_VERSION).messages(
        question=question, right="\n".join(f"- {answer}" for answer in answers), given=given
    )
    request = ChatRequest(messages, PURPOSE, schema_of(VerdictReply), temperature=0.0, max_tokens=MAX_TOKENS, seed=SEED)
    reply = complete_structured(model, request, VerdictReply)
    return Verdict(reply.right, reply.reasons, model.name)

"""The contract of a chat model: one request, one answer. Everything else (cache, budget, recording) wraps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from worldthread.errors import InputError

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One message of a conversation with a model."""

    role: Role
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """What a model is asked.

    Args:
        messages: at least one, the oldest first.
        purpose: what the answer is for ("extract", "outdated", "answer", "plan", "act", ...); tokens and dollars are
            counted by it. It is no part of what is sent.
        schema: JSON schema that the answer must fit; ``None`` for free text.
        temperature: 0 or more; 0 asks for the likeliest answer.
        max_tokens: limit of the answer; ``None`` leaves it to the server.
        seed: asks the server for a repeatable answer; not every server heeds it.
    """

    messages: tuple[Message, ...]
    purpose: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    temperature: float = 0.0
    max_tokens: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if not self.messages:
            raise InputError("a request to a chat model needs at least one message")
        if not self.purpose:
            raise InputError("a request to a chat model needs a purpose")


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, or of many.

    Args:
        prompt_tokens: tokens read, those of ``cached_tokens`` included.
        completion_tokens: tokens written.
        cached_tokens: tokens read that the server had at hand, and charges less for.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class ChatAnswer:
    """What a model answered.

    Args:
        text: the answer, verbatim.
        model: the model's name, as the server gave it.
        usage: tokens of this call; zeros when no call was made (from a cache or a recording).
        finish_reason: why it stopped: ``"stop"``, ``"length"`` (cut off by the limit), or the server's own word.
        seconds: how long the call took, retries included.
        attempts: calls that it took; 0 when none was made.
    """

    text: str
    model: str = ""
    usage: Usage = Usage()
    finish_reason: str = "stop"
    seconds: float = 0.0
    attempts: int = 1


@runtime_checkable
class ChatModel(Protocol):
    """Answers requests. May be called from several threads at once."""

    @property
    def name(self) -> str:
        """Identity of the model, such as ``"gpt-4o-mini"``. Answers are cached and recorded under it."""

    @property
    def concurrency(self) -> int:
        """How many calls may usefully run at once; at least 1."""

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """The answer to ``request``.

        Raises:
            ModelCallError: the server refused, failed, or did not answer, after all retries.
            BudgetError: the budget is spent.
            ReplayError: a replayed run, and the request is not in the recording.
            MissingExtraError: the client library is not installed.
        """

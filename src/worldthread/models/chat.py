"""The contract of a chat model: one request, one answer. Cache, budget and recording are wrappers around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from worldthread.errors import InputError
from worldthread.models.boundary import BoundaryMark

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One message of a conversation with a model.

    Args:
        role: who wrote it.
        content: its text.
    """

    role: Role
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """A request to a chat model.

    Args:
        messages: at least one, the oldest first.
        purpose: what the answer is for ("extract", "outdated", "answer", "plan", "act", ...); tokens and dollars are
            counted by it. It is not sent to the server.
        schema: JSON schema that the answer must fit; ``None`` for free text.
        temperature: 0 or more; 0 asks for the most likely answer.
        max_tokens: the most tokens of the answer; ``None`` leaves the limit to the server.
        seed: asks the server for a repeatable answer; some servers ignore it.
        mark: the mark around a passage in the messages; ``None`` if there is none. It is random, and therefore left out
            where requests are compared or recorded (:func:`worldthread.models.request_key.recorded_request`).
        today: the date in the messages that comes from the clock; empty if there is none. Recordings leave it out, so
            that they answer on any day; a cache does not.

    Raises:
        InputError: there is no message, or the purpose is empty.
    """

    messages: tuple[Message, ...]
    purpose: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    temperature: float = 0.0
    max_tokens: int | None = None
    seed: int | None = None
    mark: BoundaryMark | None = field(default=None, repr=False)
    today: str = ""

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
        cached_tokens: tokens read from the server's prompt cache, for which it charges less.
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
        """Sum of the tokens read and written."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class ChatAnswer:
    """The answer of a chat model.

    Args:
        text: the answer, verbatim.
        model: the model's name as the server states it.
        usage: tokens of this call; zeros if no call was made (an answer from a cache or a recording).
        finish_reason: why the model stopped: ``"stop"``, ``"length"`` (cut off by the limit), or another word of the
            server.
        seconds: how long the call took, retries included.
        attempts: how many calls it took; 0 if none was made.
    """

    text: str
    model: str = ""
    usage: Usage = Usage()
    finish_reason: str = "stop"
    seconds: float = 0.0
    attempts: int = 1


@runtime_checkable
class ChatModel(Protocol):
    """Answers requests. Thread-safe.

    Every error that a model raises on purpose is a :class:`~worldthread.errors.WorldthreadError`.
    """

    @property
    def name(self) -> str:
        """Name of the model, such as ``"gpt-4o-mini"``; answers are cached and recorded under it."""

    @property
    def concurrency(self) -> int:
        """How many calls may run at once to good effect, 1 or more; further calls wait or gain nothing."""

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request.

        Args:
            request: the request; it is not changed.

        Returns:
            The answer. If the request has a schema, the model was asked to fit it; whether the text does is for the
            caller to check (:func:`worldthread.models.structured.complete_structured`).

        Raises:
            InputError: the request cannot be written as JSON.
            ModelCallError: the server refused, failed, or did not answer, after all retries.
            BudgetError: the budget is spent; no call was made.
            ReplayError: the run is replayed, and the request is not in the recording.
            StoreError: the answer cannot be cached or recorded.
            MissingExtraError: the client library is not installed.
        """


class WrappedChat:
    """What chat models share that pass the requests that they do not answer themselves to another one.

    Args:
        model: the other model; its name and concurrency are those of this one.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._model.name

    @property
    def concurrency(self) -> int:
        """The concurrency of the wrapped model."""
        return self._model.concurrency

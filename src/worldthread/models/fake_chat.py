"""A chat model for tests: returns given answers, and records the requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from worldthread.errors import InputError, ReplayError
from worldthread.models.chat import ChatAnswer, ChatRequest, Usage

FakeAnswer: TypeAlias = str | ChatAnswer | Exception
"""An answer of a fake model: a text, a whole answer, or an error to raise."""


class FakeChat:
    """A chat model that returns given answers. Thread-safe.

    >>> from worldthread.models.chat import Message
    >>> model = FakeChat(["Hello.", "Goodbye."])
    >>> model.complete(ChatRequest((Message("user", "Hi!"),), purpose="answer")).text
    'Hello.'
    >>> len(model.requests)
    1

    Args:
        answers: a sequence is used up in its order, and a test may check that :attr:`left` is 0 at the end. A mapping
            gives the answer of the first key that occurs in the request's last message. A function is called with the
            request. An error among the answers is raised.
        name: name of the model.
        concurrency: the concurrency that it states.

    Attributes:
        requests: all requests so far, in order.

    Raises:
        InputError: ``answers`` is a single text.
    """

    def __init__(
        self,
        answers: Sequence[FakeAnswer] | Mapping[str, FakeAnswer] | Callable[[ChatRequest], FakeAnswer],
        *,
        name: str = "fake",
        concurrency: int = 1,
    ) -> None:
        if isinstance(answers, str):
            raise InputError("the answers of a fake model are a list, a mapping or a function, not one text")
        self.name = name
        self.concurrency = concurrency
        self.requests: list[ChatRequest] = []
        self._answers = list(answers) if isinstance(answers, Sequence) else answers
        self._given = 0
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many answers of the sequence are left; 0 for a mapping or a function."""
        return len(self._answers) - self._given if isinstance(self._answers, list) else 0

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request.

        Args:
            request: the request.

        Returns:
            The given answer; the usage of a text counts words as tokens.

        Raises:
            ReplayError: no answer was given for this request.
            Exception: the error that was given as the answer.
        """
        with self._lock:
            self.requests.append(request)
            answer = self._answers if callable(self._answers) else self._next(self._answers, request)
        if callable(answer):  # without the lock: the function may wait for another call
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ChatAnswer):
            return answer
        read = sum(len(message.content.split()) for message in request.messages)
        return ChatAnswer(answer, model=self.name, usage=Usage(read, len(answer.split())))

    def _next(self, answers: list[FakeAnswer] | Mapping[str, FakeAnswer], request: ChatRequest) -> FakeAnswer:
        last = request.messages[-1].content
        asked = f"the request for {request.purpose!r} that ends in {last[-200:]!r}"
        if isinstance(answers, Mapping):
            for key, answer in answers.items():
                if key in last:
                    return answer
            raise ReplayError(f"the fake model {self.name!r} has no answer to {asked}: none of its keys occurs there")
        if self._given == len(answers):
            raise ReplayError(
                f"the fake model {self.name!r} gave all its {self._given} answers, and has none to {asked}"
            )
        self._given += 1
        return answers[self._given - 1]

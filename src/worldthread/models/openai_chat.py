"""Any server that speaks OpenAI's chat protocol: OpenAI, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and others.

The connection is that of :mod:`worldthread.models.openai_server`. What the server says passes through
:mod:`worldthread.models.redaction` before anybody sees it.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from worldthread.errors import ModelCallError
from worldthread.models.chat import ChatAnswer, ChatRequest, Usage
from worldthread.models.openai_server import CHAT_MODEL, MAX_RETRY_AFTER, OpenAIServer
from worldthread.models.openai_wire import SCHEMA_MODES, CallFailure, SchemaMode, read_completion, request_body
from worldthread.models.request_key import to_json
from worldthread.telemetry import INPUT_TOKENS, OUTPUT_TOKENS, Attribute, Operation, operation

REFUSALS: Final = frozenset({400, 415, 422, 500, 501})
"""Statuses with which servers refuse a schema mode."""
ABOUT_THE_SCHEMA: Final = re.compile("response_format|schema|json|grammar", re.IGNORECASE)


@dataclass
class _Progress:
    """What one call has used so far."""

    attempts: int = 0
    waits: int = 0
    usage: Usage = field(default_factory=Usage)


class OpenAIChat:
    """A chat model behind an HTTP server. Thread-safe; no call is made before :meth:`complete`.

    Transient failures (a time-out, a lost connection, the statuses 408, 409, 429 and 500 or more, a garbled answer) are
    retried after a random wait between 0 and ``backoff * 2 ** n`` seconds, at most 8, or after the seconds that the
    server asks for in ``Retry-After``, at most 120.

    Servers differ in how they take a schema. The modes in :data:`~worldthread.models.openai_wire.SCHEMA_MODES` are
    tried in order until one yields an object, and that one is kept. After a status 500 the same mode is tried a second
    time before the next one. A mode is given up only if another one works.

    Args:
        model: name that the server knows, such as ``"gpt-4o-mini"`` or ``"qwen2.5:7b"``.
        base_url: URL of the server, such as ``"http://localhost:11434/v1"``; ``None`` is OpenAI.
        api_key: key of the server; ``None`` takes ``$OPENAI_API_KEY`` for OpenAI, and no key for other servers.
        timeout: seconds that one attempt may wait for the server; more than 0.
        retries: further attempts in one call; 0 or more.
        concurrency: how many calls run at once, 1 or more; others wait.
        backoff: upper bound of the first wait in seconds; 0 or more.
        schema_modes: stores the mode that works, by :attr:`schema_mode_key`. With a persistent mapping later processes
            need not find it out again; ``None`` stores it in this object only.

    Raises:
        ModelConfigError: OpenAI is named without a key, or the key or the URL is malformed.
        InputError: another argument is out of its range.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        concurrency: int = 4,
        backoff: float = 0.5,
        schema_modes: MutableMapping[str, str] | None = None,
    ) -> None:
        self._server = OpenAIServer(
            CHAT_MODEL,
            model,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            retries=retries,
            concurrency=concurrency,
            backoff=backoff,
        )
        self._schema_modes: MutableMapping[str, str] = {} if schema_modes is None else schema_modes
        self._proven_mode: SchemaMode | None = None  # worked in this process; a stored one may be out of date
        self._unsupported: frozenset[str] = frozenset()
        self._slots = threading.BoundedSemaphore(concurrency)

    def __repr__(self) -> str:
        return f"OpenAIChat({self._server.model!r}, base_url={self._server.shown_url!r})"

    @property
    def name(self) -> str:
        """The name of the model, as the server knows it."""
        return self._server.model

    @property
    def concurrency(self) -> int:
        """How many calls run at once."""
        return self._server.concurrency

    @property
    def schema_mode_key(self) -> str:
        """Key of this server and model in the mapping of schema modes."""
        return f"{self._server.shown_url} {self._server.model}"

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request; see :meth:`worldthread.models.chat.ChatModel.complete`.

        Lone surrogates, which UTF-8 cannot encode, become U+FFFD both in the request and in the answer.

        Args:
            request: the request.

        Returns:
            The answer, with the usage of all attempts.

        Raises:
            InputError: the schema cannot be written as JSON.
            ModelCallError: the server refused, failed, or did not answer, after all retries.
            MissingExtraError: the package ``openai`` is not installed.
        """
        if request.schema is not None:
            to_json(request.schema)  # the client library would raise a TypeError
        with self._slots, operation("chat", self._described(request), kind="client") as traced:
            began = time.monotonic()
            progress = _Progress()
            answer = (
                self._call(request, None, progress)
                if request.schema is None
                else self._complete_object(request, progress)
            )
            seconds = time.monotonic() - began
            answer = replace(answer, usage=progress.usage, attempts=progress.attempts, seconds=seconds)
            if traced is not None:
                _record_answer(traced, request, answer)
        return answer

    def _described(self, request: ChatRequest) -> dict[str, Attribute]:
        """Return what a span says of a request."""
        described = {
            **self._server.described,
            "gen_ai.request.temperature": float(request.temperature),
            "gen_ai.output.type": "text" if request.schema is None else "json",
            "worldthread.purpose": request.purpose,
        }
        if request.max_tokens is not None:
            described["gen_ai.request.max_tokens"] = request.max_tokens
        if request.seed is not None:
            described["gen_ai.request.seed"] = request.seed
        return described

    def _complete_object(self, request: ChatRequest, progress: _Progress) -> ChatAnswer:
        """Ask for an object, first in the known schema mode, then in the others."""
        known = self._proven_mode or self._schema_modes.get(self.schema_mode_key)
        refusal: ModelCallError | None = None
        prose: ChatAnswer | None = None
        for mode in sorted(SCHEMA_MODES, key=lambda mode: mode != known):
            try:
                answer = self._call(request, mode, progress)
            except ModelCallError as error:
                if error.status not in REFUSALS or (mode == self._proven_mode and not _may_concern_schema(error)):
                    raise
                refusal = refusal or error
                continue
            if mode == self._proven_mode or answer.finish_reason != "stop":
                return answer  # it shows nothing about the mode
            if "{" in answer.text:
                self._proven_mode = mode
                self._schema_modes[self.schema_mode_key] = mode
                return answer
            prose = prose or answer  # some servers ignore parameters that they do not know
        if prose is not None:
            return prose
        assert refusal is not None
        refusal.attempts = progress.attempts
        raise refusal

    def _call(self, request: ChatRequest, mode: SchemaMode | None, progress: _Progress) -> ChatAnswer:
        """Make one call in one schema mode, with its retries.

        Args:
            request: the request.
            mode: how to pass the schema; ``None`` if there is none.
            progress: what the call has used so far; it is updated.

        Returns:
            The answer of the last attempt.

        Raises:
            ModelCallError: it failed for good, or too often.
        """
        errors = 0
        while True:
            body = request_body(self._server.model, request, mode, self._unsupported)
            progress.attempts += 1
            try:
                answer = self._send(body)
            except CallFailure as failure:
                if failure.unsupported in body and failure.unsupported in {"max_tokens", "temperature", "seed"}:
                    self._unsupported |= {failure.unsupported}
                    continue
                errors += failure.status == 500
                likely_refusal = errors == 2 and mode not in (None, self._proven_mode)
                wait = self._server.wait(failure, progress.waits)
                if (
                    not failure.is_transient
                    or progress.waits == self._server.retries
                    or likely_refusal
                    or wait > MAX_RETRY_AFTER
                ):
                    raise self._server.error(failure, progress.attempts) from None
                progress.waits += 1
                time.sleep(wait)
            else:
                progress.usage += answer.usage
                return answer

    def _send(self, body: dict[str, Any]) -> ChatAnswer:
        """Make one attempt.

        Args:
            body: the body of the request.

        Returns:
            The answer.

        Raises:
            CallFailure: the attempt failed; nothing in it, nor in the errors before it, holds a secret.
        """
        answer = self._server.send(
            lambda client: read_completion(client.chat.completions.with_raw_response.create(**body).content)
        )
        redactor = self._server.redactor
        return replace(
            answer,
            text=redactor.redact_answer(answer.text, (message["content"] for message in body["messages"])),
            model=redactor.redact(answer.model),
            finish_reason=redactor.redact(answer.finish_reason),
        )


def _may_concern_schema(error: ModelCallError) -> bool:
    return error.status in (400, 415, 422) and ABOUT_THE_SCHEMA.search(str(error)) is not None


def _record_answer(traced: Operation, request: ChatRequest, answer: ChatAnswer) -> None:
    """Tell the span of a call what came back."""
    usage = answer.usage
    traced.record(
        {
            "gen_ai.response.model": answer.model or None,
            INPUT_TOKENS: usage.prompt_tokens,
            OUTPUT_TOKENS: usage.completion_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
            "worldthread.attempts": answer.attempts,
        }
    )
    traced.record_finish(answer.finish_reason)
    traced.record_content(
        lambda: {
            "gen_ai.input.messages": [_as_message(message.role, message.content) for message in request.messages],
            "gen_ai.output.messages": [_as_message("assistant", answer.text) | {"finish_reason": answer.finish_reason}],
        }
    )


def _as_message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}

"""The messages of OpenAI's protocol: bodies of requests, answers, embeddings, and failures in plain words."""

from __future__ import annotations

import email.utils
import json
import math
import time
from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from worldthread.files.decoding import convert, decode_json
from worldthread.models.chat import ChatAnswer, ChatRequest, Message, Usage
from worldthread.models.prompts import load_prompt

SchemaMode: TypeAlias = Literal["json_schema", "json_object_schema", "json_object", "words"]
"""How a request passes its schema to the server: as OpenAI takes it, as llama-cpp-python takes it, as a demand for any
JSON object, or only as text. In all modes but the first the schema is also in the text of the last message, since a
server may ignore the parameter."""

SCHEMA_MODES: Final[tuple[SchemaMode, ...]] = get_args(SchemaMode)


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class CallFailure(Exception):
    """One attempt failed; the message quotes the server, at any length.

    Attributes:
        status: HTTP status; ``None`` if there was no answer.
        is_transient: whether another attempt may succeed.
        retry_after: seconds that the server asks to wait; ``None`` if it does not say.
        unsupported: name of the parameter that the model does not support; ``None`` for any other failure.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        is_transient: bool = False,
        retry_after: float | None = None,
        unsupported: str | None = None,
    ) -> None:
        self.status = status
        self.is_transient = is_transient
        self.retry_after = retry_after
        self.unsupported = unsupported
        super().__init__(message)

    def with_message(self, message: str) -> CallFailure:
        """Return the same failure with another message, and without the errors that led to it."""
        return CallFailure(
            message,
            status=self.status,
            is_transient=self.is_transient,
            retry_after=self.retry_after,
            unsupported=self.unsupported,
        )


class _WireMessage(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _WireMessage
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _WireUsage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: _WireUsage | None = None


class _Embedding(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Embeddings(msgspec.Struct):
    data: list[_Embedding]
    usage: _WireUsage | None = None


def request_body(
    model: str, request: ChatRequest, mode: SchemaMode | None, unsupported: Collection[str] = ()
) -> dict[str, Any]:
    """The body of the HTTP request.

    Args:
        model: name that the server knows.
        request: the request.
        mode: how to pass the schema; ``None`` if there is none.
        unsupported: those of ``temperature``, ``seed`` and ``max_tokens`` that the model does not support (the newer
            name of ``max_tokens`` is used then).

    Returns:
        The body, ready for JSON.
    """
    messages = request.messages
    body: dict[str, Any] = {"model": model, "temperature": request.temperature}
    if request.max_tokens is not None:
        body["max_completion_tokens" if "max_tokens" in unsupported else "max_tokens"] = request.max_tokens
    if request.seed is not None:
        body["seed"] = request.seed
    if mode is not None and request.schema is not None:
        if mode != "words":
            body["response_format"] = _response_format(mode, request.schema)
        if mode != "json_schema":
            messages = _with_schema_in_words(messages, request.schema)
    body["messages"] = [{"role": message.role, "content": _encodable(message.content)} for message in messages]
    return {name: value for name, value in body.items() if name not in unsupported}


def read_completion(body: bytes) -> ChatAnswer:
    """Read the answer in an HTTP response of status 200.

    Args:
        body: the body of the response.

    Returns:
        The answer, without its duration and attempts.

    Raises:
        CallFailure: the body is not an answer.
    """
    try:
        content = json.loads(body)  # not msgspec, which refuses lone surrogates: models do emit them
        completion = convert(content, _Completion)
        choice = completion.choices[0]
    except (ValueError, RecursionError, msgspec.ValidationError, IndexError) as error:
        words = _server_words(content) if isinstance(error, msgspec.ValidationError) else repr(body)
        raise CallFailure(f"it sent no chat answer but: {words}", status=200, is_transient=True) from None
    usage = completion.usage or _WireUsage()
    cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else None
    refused = not choice.message.content and choice.message.refusal
    return ChatAnswer(
        text=_encodable(choice.message.content or choice.message.refusal or ""),
        model=completion.model or "",
        usage=Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0, cached or 0),
        finish_reason="refusal" if refused else choice.finish_reason or "stop",
    )


def read_embeddings(body: bytes, count: int) -> tuple[list[list[float]], Usage]:
    """Read the vectors in an HTTP response of status 200.

    Args:
        body: the body of the response.
        count: how many texts were sent.

    Returns:
        One vector for each text, in the order of the texts and of one length, and the tokens that were read.

    Raises:
        CallFailure: the body does not hold these vectors.
    """
    try:
        found = decode_json(body, _Embeddings)
    except (msgspec.DecodeError, RecursionError):
        raise CallFailure(f"it sent no embeddings but: {body!r}", status=200, is_transient=True) from None
    vectors = {
        position if item.index is None else item.index: item.embedding for position, item in enumerate(found.data)
    }
    if len(found.data) != count or sorted(vectors) != list(range(count)):
        raise CallFailure(f"it sent {len(found.data)} embeddings for {count} texts", status=200, is_transient=True)
    lengths = sorted({len(vector) for vector in vectors.values()})
    if len(lengths) != 1 or not lengths[0]:
        raise CallFailure(f"it sent embeddings with {lengths} numbers in one answer", status=200)
    usage = found.usage or _WireUsage()
    return [vectors[position] for position in range(count)], Usage(usage.prompt_tokens or 0)


def status_failure(
    status: int, body: object, headers: Mapping[str, str], *, key_variable: str = "WORLDTHREAD_API_KEY"
) -> CallFailure:
    """Return the failure that an HTTP status of 300 or more means; its message says what to do.

    Args:
        status: the status.
        body: the body, decoded where it was JSON.
        headers: the headers of the response.
        key_variable: the environment variable that holds the key.

    Returns:
        The failure.
    """
    fields = body if isinstance(body, dict) else {}
    words = _server_words(body)
    if status in _REDIRECTS and "location" in headers:
        return CallFailure(
            f"the server redirects to {headers['location']}, and nothing is sent there; if you trust that address, "
            "make it the base URL",
            status=status,
        )
    code, parameter = fields.get("code"), fields.get("param")
    if status in (401, 403):
        return CallFailure(
            f"the key was refused; set {key_variable} (or OPENAI_API_KEY for OpenAI) to a valid one: {words}",
            status=status,
        )
    if status == 404:
        return CallFailure(f"no such model there, or a wrong base URL (most end in /v1): {words}", status=status)
    if code == "insufficient_quota":  # its status is 429, but waiting does not help
        return CallFailure(f"the account has no credit left: {words}", status=status)
    is_transient = status in (408, 409, 429) or (status >= 500 and status != 501)
    what = "too many requests; try later, or with less concurrency" if status == 429 else "the request was refused"
    return CallFailure(
        f"{'the server failed' if status >= 500 else what}: {words}",
        status=status,
        is_transient=is_transient,
        retry_after=_retry_after(headers),
        unsupported=parameter
        if code in ("unsupported_parameter", "unsupported_value") and isinstance(parameter, str)
        else None,
    )


def _response_format(mode: SchemaMode, schema: Mapping[str, Any]) -> dict[str, Any]:
    if mode == "json_schema":
        strict = _fits_strict_mode(schema)
        return {"type": "json_schema", "json_schema": {"name": "answer", "strict": strict, "schema": schema}}
    return {"type": "json_object", "schema": schema} if mode == "json_object_schema" else {"type": "json_object"}


def _fits_strict_mode(node: Any) -> bool:
    """Return whether OpenAI accepts the schema in strict mode: all properties are required, and no others allowed."""
    if isinstance(node, Mapping):
        if node.get("type") == "object":
            properties = node.get("properties", {})
            if node.get("additionalProperties") is not False or {*node.get("required", ())} != {*properties}:
                return False
        return all(_fits_strict_mode(value) for value in node.values())
    return not isinstance(node, list) or all(map(_fits_strict_mode, node))


def _with_schema_in_words(messages: tuple[Message, ...], schema: Mapping[str, Any]) -> tuple[Message, ...]:
    (words,) = load_prompt("worldthread.models", "schema", 1).messages(schema=json.dumps(schema))
    *earlier, last = messages
    if last.role != words.role:
        return (*messages, words)
    return (
        *earlier,
        Message(last.role, f"{last.content}\n\n{words.content}"),
    )  # many models demand that roles alternate


def _encodable(text: str) -> str:
    """Return ``text`` with U+FFFD in place of lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _server_words(body: object) -> str:
    """Return the message in the body of an error."""
    fields = body if isinstance(body, dict) else {}
    error = fields.get("error", fields)
    words = (error.get("message") or error.get("detail")) if isinstance(error, dict) else error
    return str(words or body or "no reason given")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the headers ask to wait; they hold seconds, milliseconds or a date."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * factor
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, OverflowError):
        return None

"""Answers of a fixed form: a schema from a type, the answer decoded strictly, and one attempt to repair a bad one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

import msgspec

from worldthread.errors import AnswerError, InputError
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.prompts import load_prompt

T = TypeVar("T")

END_OF_THOUGHT: Final = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
START_OF_THOUGHT: Final = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
OBJECT_NEXT: Final = re.compile(r"\s*\{")
START_OF_OBJECT: Final = re.compile(r'\{\s*["}]')  # a brace in prose is followed by something else
OBJECT_LIMIT: Final = 64
QUOTED_LIMIT: Final = 20_000
"""Characters of a bad answer that go into the request to repair it."""
PROBLEM_LIMIT: Final = 500
"""Characters of what is wrong with an answer; an unknown field's name may be of any length."""

_DECODER: Final = json.JSONDecoder()


def schema_of(into: type[Any]) -> dict[str, Any]:
    """JSON schema of a type, complete in itself, with an object at its root.

    The root is no reference, which OpenAI demands; other types stay in ``$defs``, which OpenAI and llama.cpp read. For
    OpenAI's strict mode give every :class:`msgspec.Struct` ``forbid_unknown_fields=True`` and no field a default.

    Raises:
        InputError: the type has no JSON schema, or its values are not JSON objects.
    """
    try:
        schema = msgspec.json.schema(into)
    except (TypeError, RuntimeError) as error:
        raise InputError(f"{into!r} has no JSON schema: {error}") from None
    definitions: dict[str, Any] = schema.pop("$defs", {})
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    if name in definitions:
        schema = dict(definitions[name])
        if not _refers_to(name, [schema, *(value for key, value in definitions.items() if key != name)]):
            del definitions[name]
    if schema.get("type") != "object":
        raise InputError(f"the values of {into!r} are not JSON objects; put them into a field of a Struct")
    return {**schema, "$defs": definitions} if definitions else schema


def parse_answer(text: str, into: type[T]) -> T:
    """The one JSON object in an answer, decoded strictly: no field is guessed, and no value converted.

    Prose and code fences around the object are passed over, and so is a block of thought before it. A part of a
    damaged object is never taken for the whole.

    Raises:
        AnswerError: the answer holds no object, a damaged one, one that does not fit, or several that differ. No other
            error is raised, whatever the text.
    """
    fitting: list[T] = []
    misfit: str | None = None
    for found in _objects(text):
        try:
            value = msgspec.json.decode(found, type=into)
        except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
            misfit = misfit or f"The JSON object does not fit the schema: {str(error)[:PROBLEM_LIMIT]}."
        else:
            if value not in fitting:
                fitting.append(value)
    if len(fitting) == 1:
        return fitting[0]
    problem = "It holds several JSON objects that differ." if fitting else misfit or "It holds no JSON object."
    raise AnswerError(problem, text=text)


def complete_structured(model: ChatModel, request: ChatRequest, into: type[T]) -> T:
    """Asks for a JSON object and decodes it; an answer that cannot be used is sent back once, to be mended.

    Args:
        model: is called once or twice.
        request: its schema, unless given, becomes :func:`schema_of` ``(into)``.
        into: a type whose values are JSON objects, best a :class:`msgspec.Struct` with ``forbid_unknown_fields=True``.

    Raises:
        AnswerError: both answers were bad; ``text`` holds the first and ``repair`` the second, verbatim.
        ModelError: whatever ``model`` raises; see :meth:`ChatModel.complete`.
    """
    if request.schema is None:
        request = replace(request, schema=schema_of(into))
    first = model.complete(request)
    try:
        return parse_answer(first.text, into)
    except AnswerError as error:
        problem = str(error)
    if first.finish_reason == "length":
        problem += " It was cut off because it grew too long: answer more briefly."
    prompt = load_prompt("worldthread.models", "repair", 1)
    repair = prompt.messages(problem=problem, schema=json.dumps(request.schema))
    # a server may refuse an empty message
    quoted = Message("assistant", first.text[:QUOTED_LIMIT].strip() or "(no answer)")
    second = model.complete(replace(request, messages=(*request.messages, quoted, *repair)))
    try:
        return parse_answer(second.text, into)
    except AnswerError as error:
        cut = " (cut off by the limit of tokens)" if second.finish_reason == "length" else ""
        raise AnswerError(
            f"{model.name} gave no usable answer for {request.purpose!r}. First: {problem} After repair: {error}{cut}",
            text=first.text,
            repair=second.text,
        ) from None


def _objects(text: str) -> Iterator[str]:
    """The outermost JSON objects of an answer, each as text.

    Raises:
        AnswerError: one of them is damaged, or there are too many.
    """
    body = _after_thought(text)
    position = 0
    for _ in range(OBJECT_LIMIT):
        start = START_OF_OBJECT.search(body, position)
        if start is None:
            return
        try:
            _, position = _DECODER.raw_decode(body, start.start())
        except (ValueError, RecursionError) as error:
            raise AnswerError(f"The JSON is damaged: {error}.", text=text) from None
        yield body[start.start() : position]
    raise AnswerError(f"It holds more than {OBJECT_LIMIT} JSON objects.", text=text)


def _after_thought(text: str) -> str:
    """An answer without the thoughts that some models write before it; in a value such a tag is but text."""
    position = 0
    while not OBJECT_NEXT.match(text, position) and (end := END_OF_THOUGHT.search(text, position)):
        position = end.end()
    answer = START_OF_OBJECT.search(text, position)
    cut_off = START_OF_THOUGHT.search(text, position, answer.start() if answer else len(text))
    return "" if cut_off else text[position:]  # a thought without an end was cut off, and no answer follows it


def _refers_to(name: str, node: Any) -> bool:
    """Whether a schema holds a reference to the definition ``name``."""
    if isinstance(node, dict):
        return node.get("$ref") == f"#/$defs/{name}" or any(_refers_to(name, value) for value in node.values())
    return isinstance(node, list) and any(_refers_to(name, value) for value in node)

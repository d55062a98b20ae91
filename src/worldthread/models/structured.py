"""Structured answers: a schema from a type, strict decoding, and one attempt to repair a bad answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from types import UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin

import msgspec

from worldthread.errors import AnswerError, InputError
from worldthread.files.decoding import convert, decode_json
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.prompts import load_prompt
from worldthread.models.request_key import recorded_answer

T = TypeVar("T")

END_OF_THOUGHT: Final = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
START_OF_THOUGHT: Final = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
OBJECT_NEXT: Final = re.compile(r"\s*\{")
START_OF_OBJECT: Final = re.compile(r'\{\s*["}]')  # a brace in prose is not followed by these
OBJECT_LIMIT: Final = 64
QUOTED_LIMIT: Final = 20_000
"""The most characters of a bad answer that are quoted in the request to repair it."""
CUT_OFF_QUOTED: Final = 150
"""The most characters that are quoted of an answer that was cut off: a small model that repeated itself would go on."""
PROBLEM_LIMIT: Final = 500
"""The most characters of an error about an answer; the name of an unknown field may be of any length."""

_DECODER: Final = json.JSONDecoder()
_LAST_COMMA: Final = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_WHOLE: Final = re.compile(r"-?[0-9]{1,15}")


def schema_of(into: type[Any]) -> dict[str, Any]:
    """Make the JSON schema of a type: self-contained, with an object at its root.

    The root is not a reference, since OpenAI refuses one; other types stay in ``$defs``, which OpenAI and llama.cpp
    read. For OpenAI's strict mode give every :class:`msgspec.Struct` ``forbid_unknown_fields=True`` and no defaults.

    Args:
        into: the type.

    Returns:
        The schema, ready for JSON.

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
    """Decode the one JSON object in an answer strictly: no field is guessed, and no value converted.

    Prose and code fences around the object are ignored, and so is a block of reasoning before it. A part of a damaged
    object is never taken for the whole.

    Args:
        text: the answer.
        into: the type of the object.

    Returns:
        The object.

    Raises:
        AnswerError: the answer holds no object, a damaged one, one that does not fit, or several that differ. No other
            error is raised, whatever the text.
    """
    fitting: list[T] = []
    misfit: str | None = None
    for found in _objects(text):
        try:
            value = decode_json(found, into)
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
    """Ask for a JSON object and decode it; a bad answer is sent back once for repair, then read by :func:`read_meant`.

    Args:
        model: the model; it is called once or twice.
        request: the request; without a schema it gets :func:`schema_of` ``(into)``.
        into: a type whose values are JSON objects, best a :class:`msgspec.Struct` with ``forbid_unknown_fields=True``.

    Returns:
        The object.

    Raises:
        AnswerError: both answers were bad; ``text`` holds the first and ``repair`` the second, verbatim.
        ModelError: the model failed; see :meth:`ChatModel.complete`.
    """
    if request.schema is None:
        request = replace(request, schema=schema_of(into))
    first = recorded_answer(request, model.complete(request))
    try:
        return parse_answer(first.text, into)
    except AnswerError as error:
        problem = str(error)
    if first.finish_reason == "length":
        problem += " It was cut off because it grew too long: answer more briefly."
    prompt = load_prompt("worldthread.models", "repair", 1)
    repair = prompt.messages(problem=problem, schema=json.dumps(request.schema))
    quoted = first.text[:QUOTED_LIMIT].strip() or "(no answer)"  # some servers refuse an empty message
    if first.finish_reason == "length" and len(quoted) > CUT_OFF_QUOTED:
        quoted = f"{quoted[:CUT_OFF_QUOTED]} …"
    request = replace(request, messages=(*request.messages, Message("assistant", quoted), *repair))
    second = recorded_answer(request, model.complete(request))
    try:
        return parse_answer(second.text, into)
    except AnswerError as error:
        for answer in (second.text, first.text):
            meant = read_meant(answer, into)
            if meant is not None:
                return meant
        cut = " (cut off by the limit of tokens)" if second.finish_reason == "length" else ""
        raise AnswerError(
            f"{model.name} gave no usable answer for {request.purpose!r}. First: {problem} After repair: {error}{cut}",
            text=first.text,
            repair=second.text,
        ) from None


def read_meant(text: str, into: type[T]) -> T | None:
    """Read an answer that is not as it was asked for, where there is no doubt what is meant.

    A number or a truth value where a text is wanted is that text, and a text of digits is a number. Beside something
    that was asked for, an absent list is empty and an absent value that may be null is null. A comma after the last
    element counts for nothing.

    Args:
        text: the answer, which :func:`parse_answer` does not read.
        into: the type of the object.

    Returns:
        The object; ``None`` where something else is wrong, or where there is more than one.
    """
    plain = _LAST_COMMA.sub(lambda found: found["text"] or "", text)
    try:
        found = [json.loads(one) for one in _objects(plain)]
        return convert(_as_wanted(found[0], into), into) if len(found) == 1 else None
    except (AnswerError, msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None


def _as_wanted(value: Any, wanted: Any) -> Any:
    """Return a JSON value with its parts in the types that are wanted, where that changes nothing of what it says."""
    kinds = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    if value is None and type(None) in kinds:
        return None
    kind = next((one for one in kinds if one is not type(None)), wanted)
    if get_origin(kind) is list and isinstance(value, list):
        return [_as_wanted(one, get_args(kind)[0]) for one in value]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        found = {name: _as_wanted(one, fields[name].type) if name in fields else one for name, one in value.items()}
        required = {name: field for name, field in fields.items() if field.required}
        if found.keys().isdisjoint(required):
            return found  # nothing of what was asked for: no answer, rather than an empty one
        for name, field in required.items():
            if name not in found:
                if get_origin(field.type) is list:
                    found[name] = []
                elif type(None) in get_args(field.type):
                    found[name] = None
        return found
    if kind is str and isinstance(value, int | float):
        return json.dumps(value)
    if kind is int and isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    return value


def _objects(text: str) -> Iterator[str]:
    """Find the outermost JSON objects of an answer.

    Args:
        text: the answer.

    Yields:
        The text of each object.

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
    """Return an answer without the reasoning that some models write before it; within a value such a tag is text."""
    position = 0
    while not OBJECT_NEXT.match(text, position) and (end := END_OF_THOUGHT.search(text, position)):
        position = end.end()
    answer = START_OF_OBJECT.search(text, position)
    cut_off = START_OF_THOUGHT.search(text, position, answer.start() if answer else len(text))
    return "" if cut_off else text[position:]  # reasoning without an end was cut off, and no answer follows


def _refers_to(name: str, node: Any) -> bool:
    """Return whether a schema refers to the definition ``name``."""
    if isinstance(node, dict):
        return node.get("$ref") == f"#/$defs/{name}" or any(_refers_to(name, value) for value in node.values())
    return isinstance(node, list) and any(_refers_to(name, value) for value in node)

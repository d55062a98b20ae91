"""Requests as JSON, the key that equal requests share, and the difference of two requests.

The standard library's JSON is used: unlike faster ones it writes and reads every ``str``, among them the lone
surrogates that models may answer with.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from worldthread.errors import InputError
from worldthread.models.chat import ChatAnswer, ChatRequest

_RECORDED_TODAY: Final = "(the day of the call)"
_BEFORE: Final = 20
_AFTER: Final = 60
"""How many characters of a text are shown before and after the first difference."""


def request_key(model: str, request: ChatRequest, *, with_today: bool = False) -> str:
    """Compute the key of a request, which is equal for equal requests in every process.

    The purpose does not count, since it is not sent, nor does the order of the keys in a schema. The random mark around
    a passage does not count either.

    Args:
        model: name of the model.
        request: the request.
        with_today: whether a date that comes from the clock counts.

    Returns:
        The SHA-256 of everything that decides the answer, in hexadecimal digits.

    Raises:
        InputError: the request cannot be written as JSON.
    """
    content = request_fields(request)
    del content["purpose"]
    if with_today and request.today:
        content["today"] = request.today
    return hashlib.sha256(to_json({"model": model, **content}, sort_keys=True)).hexdigest()


def recorded_request(request: ChatRequest) -> ChatRequest:
    """Return ``request`` as it is compared and recorded: equal in every process and on any day, without random mark."""
    mark, today = request.mark, request.today
    if mark is None and not today:
        return request

    def recorded(text: str) -> str:
        text = text if mark is None else mark.as_recorded(text)
        return text.replace(today, _RECORDED_TODAY, 1) if today else text

    messages = tuple(replace(message, content=recorded(message.content)) for message in request.messages)
    return replace(request, messages=messages, mark=None, today="")


def recorded_answer(request: ChatRequest, answer: ChatAnswer) -> ChatAnswer:
    """Return an answer to ``request`` as it is recorded: a mark that it quotes is the recorded one."""
    return answer if request.mark is None else replace(answer, text=request.mark.as_recorded(answer.text))


def request_fields(request: ChatRequest) -> dict[str, Any]:
    """Return the fields of ``request`` by name, as they are recorded, ready for :func:`to_json`."""
    request = recorded_request(request)
    return {
        "messages": [asdict(message) for message in request.messages],
        "purpose": request.purpose,
        "schema": request.schema,
        # 0, 0.0 and -0.0 are the same temperature
        "temperature": float(request.temperature) + 0.0,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
    }


def to_json(value: object, *, sort_keys: bool = False) -> bytes:
    """Write a value as one line of JSON.

    Args:
        value: the value; it may hold mappings of any class.
        sort_keys: whether the keys of objects are sorted.

    Returns:
        ASCII without a line end.

    Raises:
        InputError: the value holds something that JSON cannot express.
    """
    try:
        text = json.dumps(value, sort_keys=sort_keys, allow_nan=False, separators=(",", ":"), default=_mapping)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"a request to a chat model cannot be written as JSON: {error}") from error
    return text.encode()


def _mapping(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a type of JSON")


def describe_nearest(request: ChatRequest, others: Iterable[tuple[int, ChatRequest]]) -> str:
    """Describe how a request differs from the nearest of other requests.

    Args:
        request: a request that is not equal to any of ``others``.
        others: at least one, each with the number of its line. The nearest is the one with the longest common
            beginning.

    Returns:
        Words for an error message.
    """
    request = recorded_request(request)
    line, nearest = max(others, key=lambda numbered: _similarity(request, numbered[1]))
    return (
        f"it differs from the nearest recorded request (line {line}, purpose {nearest.purpose!r}) in "
        f"{_first_difference(nearest, request)}"
    )


def _similarity(one: ChatRequest, other: ChatRequest) -> tuple[int, int, int, bool]:
    pairs = list(zip(one.messages, other.messages, strict=False))
    same = next((i for i, (left, right) in enumerate(pairs) if left != right), len(pairs))
    begun = _common_length(pairs[same][0].content, pairs[same][1].content) if same < len(pairs) else 0
    settings = sum(
        left == right for left, right in zip(_settings(one).values(), _settings(other).values(), strict=True)
    )
    return same, begun, settings, one.purpose == other.purpose


def _first_difference(recorded: ChatRequest, asked: ChatRequest) -> str:
    for number, (old, new) in enumerate(zip(recorded.messages, asked.messages, strict=False), start=1):
        if old.role != new.role:
            return f"the role of message {number}: recorded {old.role!r}, asked {new.role!r}"
        if old.content != new.content:
            return f"message {number} ({old.role}), {_difference(old.content, new.content)}"
    counts = len(recorded.messages), len(asked.messages)
    if counts[0] != counts[1]:
        return f"the number of messages: recorded {counts[0]}, asked {counts[1]}"
    left, right = _settings(recorded), _settings(asked)
    name = next(name for name in left if left[name] != right[name])
    return f"{name}, {_difference(left[name], right[name])}"


def _settings(request: ChatRequest) -> dict[str, str]:
    fields = request_fields(request)
    return {
        name: to_json(fields[name], sort_keys=True).decode() for name in ("schema", "temperature", "max_tokens", "seed")
    }


def _difference(recorded: str, asked: str) -> str:
    start = _common_length(recorded, asked)
    begin, end = max(0, start - _BEFORE), start + _AFTER
    return f"from character {start + 1} on: recorded {recorded[begin:end]!r}, asked {asked[begin:end]!r}"


def _common_length(one: str, other: str) -> int:
    """Return the length of the common prefix; by bisection, since every request of a recording is compared."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

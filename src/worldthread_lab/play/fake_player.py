"""A chat model that plays at random: any answer that fits the request, sampled from a seed.

Use it to try out an agent with its prompts, costs and report without a real model.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from worldthread.errors import InputError
from worldthread.models.chat import ChatAnswer, ChatRequest, Usage
from worldthread.models.request_key import request_key
from worldthread_lab.agents.valid_actions import valid_actions_in

COMMANDS: Final = (
    "look", "inventory", "go north", "go south", "go east", "go west", "wait",
)  # fmt: skip
"""Actions to choose from if the prompt lists no valid ones."""

_NUMBERED: Final = re.compile(r"^[ \t]*(?:[-*] )?(?:\[(\d{1,9})\]|(\d{1,9})[.):])(?=\s)", re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]{2,}")
_LIMIT: Final = 9
"""Largest number if the schema has no bound."""
_ITEMS: Final = 3
"""Longest list if the schema has no bound."""
_STEP: Final = 0.001
"""Distance that a number keeps from an exclusive bound."""
_DEPTH: Final = 12
"""From this depth on, a schema that refers to itself gets the shortest values that fit."""


class FakePlayer:
    """A chat model that samples its answers. An answer depends on the seed and the request alone. Thread-safe.

    The answer to a request with a JSON schema is an object that fits it (types, ``properties``, ``items``, ``enum``,
    ``const``, ``anyOf``, ``oneOf``, ``allOf``, ``$defs``, bounds of numbers and lengths; no ``pattern``). In it

    - a string called ``action``, and each string of a list called ``actions``, is one of the valid actions that the
      prompt lists (:mod:`worldthread_lab.agents.valid_actions`), or of :data:`COMMANDS` if it lists none;
    - an integer is one of the numbers of the last numbered list of the prompt (``1.``, ``1)``, ``1:`` or ``[1]``), if
      there is such a list and the schema allows one of its numbers;
    - any other string, and the answer to a request without a schema, is a short sentence of words of the prompt.

    Args:
        seed: seeds the random generator.
        damaged: share of the answers that cannot be used (cut off, empty, or prose); within [0, 1].
        name: name of the model.
        concurrency: the concurrency that it states.

    Raises:
        InputError: ``damaged`` is not within [0, 1].
    """

    def __init__(self, seed: int = 0, *, damaged: float = 0.0, name: str = "fake-player", concurrency: int = 1) -> None:
        if not 0 <= damaged <= 1:
            raise InputError(f"damaged must be a share between 0 and 1, not {damaged}")
        self.name = name
        self.concurrency = concurrency
        self._seed = seed
        self._damaged = damaged

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Sample an answer.

        Args:
            request: the request.

        Returns:
            An answer that fits the request, unless it is a damaged one; its usage counts words as tokens.

        Raises:
            InputError: the schema uses something that this model does not support.
        """
        random_state = random.Random(f"{self._seed} {request_key(self.name, request)}")
        sampler = _AnswerSampler(request, random_state)
        text = sampler.sentence() if request.schema is None else json.dumps(sampler.value(request.schema))
        if random_state.random() < self._damaged:
            text = random_state.choice((text[: len(text) // 2], "", f"I would rather not say. {sampler.sentence()}"))
        read = sum(len(message.content.split()) for message in request.messages)
        return ChatAnswer(text, model=self.name, usage=Usage(read, len(text.split())))


class _AnswerSampler:
    """Samples the values of one answer."""

    def __init__(self, request: ChatRequest, random_state: random.Random) -> None:
        prompt = "\n".join(message.content for message in request.messages)
        self._random = random_state
        self._schema: Mapping[str, Any] = request.schema or {}
        self._actions = valid_actions_in(prompt) or COMMANDS
        self._numbers = _last_numbers(prompt)
        self._words: Sequence[str] = sorted(set(_WORD.findall(prompt))) or ("nothing",)

    def sentence(self) -> str:
        """Return three words of the prompt as a sentence."""
        first, second, third = (self._random.choice(self._words) for _ in range(3))
        return f"{first.capitalize()}, {second.lower()}, {third.lower()}."

    def value(self, schema: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
        """Return a value that fits ``schema``, for a field called ``name``."""
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                rest = {k: v for k, v in schema.items() if k != key}
                return self.value({**rest, **self._resolved(self._one_of(schema[key], depth))}, name, depth)
        match self._kind(schema, depth):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, name, depth)
            case "string":
                return self._string(schema, name)
            case "integer":
                return self._integer(schema)
            case "number":
                return self._number(schema)
            case "boolean":
                return self._random.random() < 0.5
            case "null":
                return None
        raise InputError(f"the fake player does not support this part of a JSON schema: {json.dumps(schema)[:200]}")

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return ``schema`` merged with the definition that it refers to and with all parts of ``allOf``."""
        merged = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = list(schema.get("allOf", ()))
        if "$ref" in schema:
            target: Any = self._schema
            for step in str(schema["$ref"]).removeprefix("#").strip("/").split("/"):
                target = target.get(step) if isinstance(target, Mapping) else None
            if not isinstance(target, Mapping):
                raise InputError(f"the JSON schema refers to {schema['$ref']!r}, which it does not define")
            parts.append(target)
        for part in parts:
            merged = {**self._resolved(part), **merged}
        return merged

    def _one_of(self, choices: Sequence[Mapping[str, Any]], depth: int) -> Mapping[str, Any]:
        if depth >= _DEPTH:
            return min(choices, key=lambda choice: len(json.dumps(self._resolved(choice))))
        return self._random.choice(choices)

    def _kind(self, schema: Mapping[str, Any], depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            return "null" if depth >= _DEPTH and "null" in kind else str(self._random.choice(kind))
        if kind is None:
            return "object" if "properties" in schema else "array" if "items" in schema else "string"
        return str(kind)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties: Mapping[str, Any] = schema.get("properties", {})
        required = schema.get("required", ())
        found = {
            name: self.value(part, name, depth + 1)
            for name, part in properties.items()
            if name in required or (depth < _DEPTH and self._random.random() < 0.5)
        }
        others = schema.get("additionalProperties")
        if isinstance(others, Mapping) and depth < _DEPTH:
            for word in self._random.sample(self._words, min(2, len(self._words))):
                found.setdefault(word, self.value(others, word, depth + 1))
        return found

    def _array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        first = [self.value(part, name, depth + 1) for part in schema.get("prefixItems", ())]
        items = schema.get("items", {})
        least = max(schema.get("minItems", 0), len(first))
        most = min(schema.get("maxItems", least + _ITEMS), least + _ITEMS) if isinstance(items, Mapping) else least
        count = least if depth >= _DEPTH else self._random.randint(least, max(least, most))
        item_name = "action" if name == "actions" else name
        return first + [self.value(items, item_name, depth + 1) for _ in range(count - len(first))]

    def _string(self, schema: Mapping[str, Any], name: str) -> str:
        text = self._random.choice(self._actions) if name == "action" else self.sentence()
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        text = text.ljust(least, ".")
        return text if most is None else text[:most]

    def _integer(self, schema: Mapping[str, Any]) -> int:
        low, high = _bounds(schema, 1)
        shown = [number for number in self._numbers if number >= low and (high is None or number <= high)]
        if shown:
            return self._random.choice(shown)
        return self._random.randint(math.ceil(low), math.floor(max(low, 0) + _LIMIT if high is None else high))

    def _number(self, schema: Mapping[str, Any]) -> float:
        low, high = _bounds(schema, _STEP)
        sampled = self._random.uniform(low, max(low, 0) + _LIMIT if high is None else high)
        return round(sampled, 3) if high is None or high - low > _STEP else low


def _bounds(schema: Mapping[str, Any], step: float) -> tuple[float, float | None]:
    """Return the least and the greatest number that ``schema`` allows, both inclusive; ``None`` for no greatest."""
    lows = [schema[key] + more for key, more in (("minimum", 0), ("exclusiveMinimum", step)) if key in schema]
    highs = [schema[key] - less for key, less in (("maximum", 0), ("exclusiveMaximum", step)) if key in schema]
    high = min(highs, default=None)
    return max(lows, default=0 if high is None else min(0, high)), high


def _last_numbers(prompt: str) -> list[int]:
    """Return the numbers of the entries of the last numbered list of a prompt."""
    run: list[int] = []
    for match in _NUMBERED.finditer(prompt):
        number = int(match[1] or match[2])
        run = [*run, number] if run and number > run[-1] else [number]
    return run

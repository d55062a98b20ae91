"""Parses the JSON object of a model's answer, repairs the usual damage, and reports every repair and failure.

Valid JSON is parsed as such. Otherwise a tolerant scanner reads as far as the text makes sense. It runs in linear time
and accepts any string.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from worldthread_lab.arigraph.text import Failure, FailureReason, Repair, RepairKind, require_answer_text

DEPTH_LIMIT: Final = 32
"""The deepest nesting of brackets in an answer that is not valid JSON."""

_START: Final = re.compile(r"\{\s*(?:[\"'\u201c}]|\w+\s*:)")  # a brace in prose is followed by other text
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SPACE: Final = re.compile(r"\s*")
_BARE: Final = re.compile(r"[^\s,:{}\[\]\"][^,:{}\[\]\"\n]*")
_ESCAPE: Final = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_CLOSING: Final = {'"': '"', "'": "'", "\u201c": "\u201d"}
_STOPS: Final = {close: re.compile(f"[{close}\\\\]") for close in _CLOSING.values()}
_LITERALS: Final = {"true": True, "false": False, "null": None}
_FENCE: Final = re.compile(r"```(?:json)?", re.IGNORECASE)
_ABSENT: Final = object()


@dataclass(frozen=True)
class Members:
    """A JSON object as its members in order, so that no repeated key is lost.

    Args:
        pairs: keys and values.
    """

    pairs: tuple[tuple[str, Any], ...] = ()

    def get(self, key: str) -> Any:
        """Return the last value of ``key``; ``None`` when it is absent."""
        return next((value for name, value in reversed(self.pairs) if name == key), None)


@dataclass(frozen=True)
class JsonAnswer:
    """The JSON object of an answer.

    Args:
        value: the object; ``None`` when there is none. Objects inside it are :class:`Members` too, arrays are lists.
        repairs: what was repaired.
        failures: what could not be used.
    """

    value: Members | None = None
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()


def parse_object(text: str) -> JsonAnswer:
    """Return the first JSON object of an answer.

    Args:
        text: the answer.

    Returns:
        The object with repairs and failures.

    Raises:
        InputError: ``text`` is not a string.
    """
    require_answer_text(text)
    if not text.strip():
        return JsonAnswer(failures=(Failure(text, FailureReason.EMPTY),))
    found = _START.search(text)
    start = found.start() if found else text.find("{")
    if start < 0:
        return JsonAnswer(failures=(Failure(text, FailureReason.NO_OBJECT),))
    scanner = _DamagedJsonScanner(text, start)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        value = scanner.value(0)
        end = scanner.offset
    repairs = [*_outside(text[:start], RepairKind.TEXT_BEFORE), *scanner.repairs]
    failures = list(scanner.failures)
    rest = text[end:]
    if not scanner.stopped:
        if _START.search(rest):
            failures.append(Failure(rest.strip(), FailureReason.SEVERAL_OBJECTS))
        else:
            repairs += _outside(rest, RepairKind.TEXT_AFTER)
    return JsonAnswer(value, tuple(dict.fromkeys(repairs)), tuple(failures))


def _members(pairs: list[tuple[str, Any]]) -> Members:
    return Members(tuple(pairs))


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members)


def _outside(text: str, kind: RepairKind) -> list[Repair]:
    """Return the repairs for the text before or after the object."""
    rest = _FENCE.sub("", text)
    fence = [Repair("```", RepairKind.CODE_FENCE)] if rest != text else []
    return [*fence, Repair(rest.strip(), kind)] if rest.strip() else fence


@dataclass
class _DamagedJsonScanner:
    """Parses damaged JSON up to the first place where it makes no sense any more.

    Args:
        text: the answer.
        offset: where in ``text`` to go on.
        repairs: what was repaired so far.
        failures: what could not be used so far.
        stopped: whether parsing has stopped before the end of the object.
    """

    text: str
    offset: int
    repairs: list[Repair] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    stopped: bool = False

    def value(self, depth: int) -> Any:
        """Return the value at the current offset; ``_ABSENT`` when there is none."""
        char = self._peek()
        if char in ("{", "["):
            if depth == DEPTH_LIMIT:
                return self._stop(FailureReason.TOO_DEEP)
            self.offset += 1
            return self._object(depth + 1) if char == "{" else self._array(depth + 1)
        return self._string() if char in _CLOSING else self._bare_word()

    def _object(self, depth: int) -> Members:
        members: list[tuple[str, Any]] = []
        while not self.stopped and self._next_member("}", "]", bool(members)):
            begin = self.offset
            key = self._string() if self._peek() in _CLOSING else self._bare_word()
            if self.stopped:
                break
            if self._peek() != ":":
                self.offset = begin
                self._stop(FailureReason.UNREADABLE if self.text[begin:].strip() else FailureReason.CUT_SHORT)
                break
            self.offset += 1
            value = self.value(depth)
            if value is not _ABSENT:
                members.append((str(key), value))
        return Members(tuple(members))

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while not self.stopped and self._next_member("]", "}", bool(items)):
            value = self.value(depth)
            if value is not _ABSENT:
                items.append(value)
        return items

    def _next_member(self, close: str, other: str, comma_due: bool) -> bool:
        """Skip commas and a closing bracket; return whether another member follows."""
        commas = 0
        while (char := self._peek()) == ",":
            commas += 1
            self.offset += 1
        last = char in (close, other, "")
        if commas > (0 if last or not comma_due else 1):
            self._repair(RepairKind.TRAILING_COMMA)
        elif comma_due and not commas and not last:
            self._repair(RepairKind.MISSING_COMMA)
        if char == close:
            self.offset += 1
        elif last:
            # the end of the text, or a bracket that closes an outer object or array
            self._repair(RepairKind.MISSING_BRACKET)
        return not last

    def _string(self) -> Any:
        start = self.offset
        opening = self.text[start]
        closing = _CLOSING[opening]
        stop = _STOPS[closing]
        if opening != '"':
            self._repair(RepairKind.SINGLE_QUOTES)
        offset = start + 1
        while found := stop.search(self.text, offset):
            offset = found.end()
            if found.group() == "\\":
                offset += 1
            elif self._closes(offset):
                self.offset = offset
                return self._unescaped(self.text[start + 1 : offset - 1])
            else:
                self._repair(RepairKind.INNER_QUOTE)
        return self._stop(FailureReason.CUT_SHORT)

    def _closes(self, after: int) -> bool:
        """Return whether a quotation mark before ``after`` closes its string, judged by what follows it."""
        space = _SPACE.match(self.text, after)
        assert space is not None
        following = self.text[space.end() : space.end() + 1]
        return following in ("", ",", ":", "}", "]") or (following in _CLOSING and "\n" in space.group())

    def _unescaped(self, raw: str) -> str:
        if _CONTROL.search(raw):
            self._repair(RepairKind.RAW_NEWLINE)
        if "\\" not in raw:
            return raw
        parts: list[str] = []
        offset = 0
        while (slash := raw.find("\\", offset)) >= 0:
            parts.append(raw[offset:slash])
            escape = _ESCAPE.match(raw, slash)
            if escape:
                parts.append(json.loads(f'"{escape.group()}"'))
                offset = escape.end()
            else:
                self._repair(RepairKind.BAD_ESCAPE)
                parts.append(raw[slash + 1 : slash + 2])
                offset = slash + 2
        joined = "".join([*parts, raw[offset:]])
        # two escapes may stand for one character
        return joined.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def _bare_word(self) -> Any:
        self._peek()
        found = _BARE.match(self.text, self.offset)
        if found is None:
            return self._stop(FailureReason.UNREADABLE if self.offset < len(self.text) else FailureReason.CUT_SHORT)
        self.offset = found.end()
        word = found.group().rstrip()
        if word in _LITERALS:
            return _LITERALS[word]
        if _NUMBER.fullmatch(word):
            return float(word)
        self._repair(RepairKind.BARE_WORD)
        return word

    def _peek(self) -> str:
        """Skip white space and return the next character; empty at the end."""
        space = _SPACE.match(self.text, self.offset)
        assert space is not None
        self.offset = space.end()
        return self.text[self.offset : self.offset + 1]

    def _repair(self, kind: RepairKind) -> None:
        self.repairs.append(Repair(self.text[max(0, self.offset - 20) : self.offset + 20], kind))

    def _stop(self, reason: FailureReason) -> Any:
        self.failures.append(Failure(self.text[self.offset :], reason))
        self.stopped = True
        return _ABSENT

"""One JSON object out of a model's answer, with the usual damage mended and named; the rest becomes failures.

What is valid JSON is read as such. Otherwise a forgiving scanner reads on as far as the text makes sense: it runs in
linear time, takes any string, and says of everything that it mended or could not use what it was.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from worldthread.extract.arigraph.text import Failure, FailureReason, Repair, RepairKind, require_string

DEPTH_LIMIT: Final = 32
"""How deeply brackets may be nested in an answer that is not valid JSON."""

_START: Final = re.compile(r"\{\s*(?:[\"'\u201c}]|\w+\s*:)")  # a brace in prose is followed by something else
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
    """A JSON object as its members in order, so that a repeated key is not lost."""

    pairs: tuple[tuple[str, Any], ...] = ()

    def get(self, key: str) -> Any:
        """The last value of ``key``; ``None`` when it is absent."""
        return next((value for name, value in reversed(self.pairs) if name == key), None)


@dataclass(frozen=True)
class JsonAnswer:
    """The object of an answer.

    Args:
        value: ``None`` when there is no object at all. Objects within it are :class:`Members`, arrays are lists.
        repairs: what was mended.
        failures: what could not be used.
    """

    value: Members | None = None
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()


def read_object(text: str) -> JsonAnswer:
    """The first JSON object of ``text``.

    Raises:
        InputError: ``text`` is not a string.
    """
    require_string(text)
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
        end = scanner.at
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


def _outside(text: str, mend: RepairKind) -> list[Repair]:
    """Repairs for the text before or after the object."""
    rest = _FENCE.sub("", text)
    fence = [Repair("```", RepairKind.CODE_FENCE)] if rest != text else []
    return [*fence, Repair(rest.strip(), mend)] if rest.strip() else fence


@dataclass
class _DamagedJsonScanner:
    """Reads damaged JSON. ``stopped`` once nothing further can be read; what was read until then stays."""

    text: str
    at: int
    repairs: list[Repair] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    stopped: bool = False

    def value(self, depth: int) -> Any:
        """The value at the current place; ``_ABSENT`` when there is none."""
        char = self._peek()
        if char in ("{", "["):
            if depth == DEPTH_LIMIT:
                return self._stop(FailureReason.TOO_DEEP)
            self.at += 1
            return self._object(depth + 1) if char == "{" else self._array(depth + 1)
        return self._string() if char in _CLOSING else self._bare()

    def _object(self, depth: int) -> Members:
        members: list[tuple[str, Any]] = []
        while not self.stopped and self._goes_on("}", "]", bool(members)):
            begin = self.at
            key = self._string() if self._peek() in _CLOSING else self._bare()
            if self.stopped:
                break
            if self._peek() != ":":
                self.at = begin
                self._stop(FailureReason.UNREADABLE if self.text[begin:].strip() else FailureReason.CUT_SHORT)
                break
            self.at += 1
            value = self.value(depth)
            if value is not _ABSENT:
                members.append((str(key), value))
        return Members(tuple(members))

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while not self.stopped and self._goes_on("]", "}", bool(items)):
            value = self.value(depth)
            if value is not _ABSENT:
                items.append(value)
        return items

    def _goes_on(self, close: str, other: str, comma_due: bool) -> bool:
        """Whether another member follows; takes commas and the closing bracket."""
        commas = 0
        while (char := self._peek()) == ",":
            commas += 1
            self.at += 1
        last = char in (close, other, "")
        if commas > (0 if last or not comma_due else 1):
            self._mend(RepairKind.TRAILING_COMMA)
        elif comma_due and not commas and not last:
            self._mend(RepairKind.MISSING_COMMA)
        if char == close:
            self.at += 1
        elif last:
            # the end of the text, or a bracket that closes something further out
            self._mend(RepairKind.MISSING_BRACKET)
        return not last

    def _string(self) -> Any:
        start = self.at
        opening = self.text[start]
        closing = _CLOSING[opening]
        stop = _STOPS[closing]
        if opening != '"':
            self._mend(RepairKind.SINGLE_QUOTES)
        at = start + 1
        while found := stop.search(self.text, at):
            at = found.end()
            if found.group() == "\\":
                at += 1
            elif self._closes(at):
                self.at = at
                return self._unescaped(self.text[start + 1 : at - 1])
            else:
                self._mend(RepairKind.INNER_QUOTE)
        return self._stop(FailureReason.CUT_SHORT)

    def _closes(self, after: int) -> bool:
        """Whether a quotation mark that ends before ``after`` closes its string, by what follows."""
        space = _SPACE.match(self.text, after)
        assert space is not None
        following = self.text[space.end() : space.end() + 1]
        return following in ("", ",", ":", "}", "]") or (following in _CLOSING and "\n" in space.group())

    def _unescaped(self, raw: str) -> str:
        if _CONTROL.search(raw):
            self._mend(RepairKind.RAW_NEWLINE)
        if "\\" not in raw:
            return raw
        parts: list[str] = []
        at = 0
        while (slash := raw.find("\\", at)) >= 0:
            parts.append(raw[at:slash])
            escape = _ESCAPE.match(raw, slash)
            if escape:
                parts.append(json.loads(f'"{escape.group()}"'))
                at = escape.end()
            else:
                self._mend(RepairKind.BAD_ESCAPE)
                parts.append(raw[slash + 1 : slash + 2])
                at = slash + 2
        joined = "".join([*parts, raw[at:]])
        # two escapes may make one character
        return joined.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def _bare(self) -> Any:
        self._peek()
        found = _BARE.match(self.text, self.at)
        if found is None:
            return self._stop(FailureReason.UNREADABLE if self.at < len(self.text) else FailureReason.CUT_SHORT)
        self.at = found.end()
        word = found.group().rstrip()
        if word in _LITERALS:
            return _LITERALS[word]
        if _NUMBER.fullmatch(word):
            return float(word)
        self._mend(RepairKind.BARE_WORD)
        return word

    def _peek(self) -> str:
        """The next character that is not white space, which is skipped; empty at the end."""
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()
        return self.text[self.at : self.at + 1]

    def _mend(self, mend: RepairKind) -> None:
        self.repairs.append(Repair(self.text[max(0, self.at - 20) : self.at + 20], mend))

    def _stop(self, reason: FailureReason) -> Any:
        self.failures.append(Failure(self.text[self.at :], reason))
        self.stopped = True
        return _ABSENT

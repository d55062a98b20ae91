"""Parses the line formats of AriGraph as a chat model writes them: triplets, and which of them are outdated.

The rules are those of the published source (AIRI-Institute/AriGraph), so that its runs can be reproduced; the code is
our own. Everything that a model wrote is accounted for: a piece that cannot be used is a :class:`Failure` with its text
and reason, and a piece that is used although it breaks the format is a :class:`Repair`. All functions accept any
string, run in linear time and raise no error for what the string contains.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from worldthread.errors import InputError
from worldthread.types import Fact

FREE: Final = "free"
"""The relation that is never stored."""

_SHORT_NAMES: Final = {"i": "inventory", "p": "player"}
_BRACKET: Final = re.compile(r"[\[\]]")
_AROUND: Final = " \t\r\n,;."
_ARROW: Final = "->"


class FailureReason(StrEnum):
    """Why a piece of a model's answer could not be used."""

    EMPTY = "the answer is empty"
    NO_LIST = "there is no list"
    NO_ARROW = "nothing says what takes its place"
    SEVERAL_ARROWS = "more than one arrow in one pair"
    MISSING_SIDE = "nothing stands on one side of the arrow"
    WRONG_COMMAS = "not exactly two commas"
    EMPTY_NAME = "a name is empty"
    NOT_A_NAME = "a name holds characters that no name may hold"
    RELATION_FREE = "the relation is 'free'"
    NO_OBJECT = "there is no JSON object"
    SEVERAL_OBJECTS = "another JSON object follows"
    UNREADABLE = "not JSON from here on"
    CUT_SHORT = "the answer was cut short here"
    TOO_DEEP = "nested too deeply"
    UNKNOWN_KEY = "no such key was asked for"
    WRONG_TYPE = "a value is of the wrong kind"
    NO_MAIN_GOAL = "the plan names no main goal"
    NO_SUB_GOAL = "the plan has no sub-goal"
    NO_ACTION = "no action is named"
    NOT_OFFERED = "the action was not offered"


class RepairKind(StrEnum):
    """How a piece of a model's answer that could be used broke the format."""

    TEXT_BEFORE = "text before the answer"
    TEXT_AFTER = "text after the answer"
    NO_BRACKETS = "no brackets"
    UNBALANCED = "brackets opened or closed too often"
    NESTED = "a list in a list too many"
    CODE_FENCE = "a code fence"
    SINGLE_QUOTES = "other quotation marks than double ones"
    INNER_QUOTE = "a quotation mark inside a string"
    RAW_NEWLINE = "a control character inside a string"
    BAD_ESCAPE = "an escape that JSON does not have"
    BARE_WORD = "a string without quotation marks"
    TRAILING_COMMA = "a comma too many"
    MISSING_COMMA = "a comma too few"
    MISSING_BRACKET = "a bracket too few"
    OTHER_WRITING = "an offered action in other letters or spaces"
    PLAIN_TEXT = "an offered action without JSON"


@dataclass(frozen=True)
class Failure:
    """A piece of an answer that could not be used.

    Args:
        text: the piece, verbatim.
        reason: why it could not be used.
    """

    text: str
    reason: FailureReason


@dataclass(frozen=True)
class Repair:
    """A piece of an answer that broke the format and could be used.

    Args:
        text: the piece, or the text around it.
        kind: how it broke the format.
    """

    text: str
    kind: RepairKind


@dataclass(frozen=True)
class TripletAnswer:
    """The triplets of an answer.

    Args:
        facts: in the order of the text, with names in lower case; a triplet that is written twice is in it twice.
        repairs: what was left out or repaired.
        failures: what could not be parsed.
    """

    facts: tuple[Fact, ...] = ()
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class OutdatedTriplets:
    """The facts that an answer calls outdated, with those that replace them.

    Args:
        pairs: (old, new) in the order of the text, with names in lower case.
        repairs: what was left out or repaired.
        failures: what could not be parsed.
    """

    pairs: tuple[tuple[Fact, Fact], ...] = ()
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()


class _Unusable(Exception):
    """A piece cannot be used. Never leaves this module."""

    def __init__(self, reason: FailureReason) -> None:
        self.reason = reason


def parse_triplets(text: str) -> TripletAnswer:
    """Return the triplets of ``"subject, relation, object; subject, relation, object; ..."``.

    Pieces end at ";" and have exactly two commas; empty pieces are skipped. The subject is what follows the last ":",
    so a lead-in is left out. White space and quotation marks around a name are left out, and names are put in lower
    case. The name "I" means the inventory and "P" the player. A triplet with the relation "free" is a failure.

    Args:
        text: the answer.

    Returns:
        The triplets, repairs and failures.

    Raises:
        InputError: ``text`` is not a string.
    """
    require_answer_text(text)
    facts: list[Fact] = []
    repairs: list[Repair] = []
    failures: list[Failure] = []
    for piece in text.split(";"):
        if not piece.strip():
            continue
        lead, colon, subject = piece.partition(",")[0].rpartition(":")
        try:
            fact = _fact(subject + piece[len(lead) + len(colon) + len(subject) :])
        except _Unusable as error:
            failures.append(Failure(piece.strip(), error.reason))
            continue
        if fact.relation == FREE:
            failures.append(Failure(piece.strip(), FailureReason.RELATION_FREE))
            continue
        facts.append(fact)
        if colon:
            repairs.append(Repair((lead + colon).strip(), RepairKind.TEXT_BEFORE))
    return TripletAnswer(tuple(facts), tuple(repairs), tuple(failures))


def parse_outdated(text: str) -> OutdatedTriplets:
    """Return the pairs of ``"[[old triplet -> new triplet], ...]"``; ``"[]"`` has none.

    A triplet or a whole pair may be in quotation marks, and lists may be nested more deeply or be missing. Names are
    parsed as by :func:`parse_triplets`, except that they keep a colon, because they must match stored names.

    Args:
        text: the answer.

    Returns:
        The pairs, repairs and failures.

    Raises:
        InputError: ``text`` is not a string.
    """
    require_answer_text(text)
    if not text.strip():
        return OutdatedTriplets(failures=(Failure(text, FailureReason.EMPTY),))
    chunks, depth, balanced = _chunks(text)
    repairs: list[Repair] = []
    failures: list[Failure] = []
    pairs: list[tuple[Fact, Fact]] = []
    if len(chunks) == 1:
        if _ARROW not in text:
            return OutdatedTriplets(failures=(Failure(text, FailureReason.NO_LIST),))
        repairs.append(Repair(text, RepairKind.NO_BRACKETS))
    else:
        for number, kind in ((0, RepairKind.TEXT_BEFORE), (-1, RepairKind.TEXT_AFTER)):
            around = chunks[number].strip()
            if around and _ARROW not in around and (number == 0 or balanced):
                repairs.append(Repair(around, kind))
                chunks[number] = ""
        if not balanced:
            repairs.append(Repair(text, RepairKind.UNBALANCED))
        if depth > 2:
            repairs.append(Repair(text, RepairKind.NESTED))
    for chunk in chunks:
        for piece in chunk.split(";") if chunk.count(_ARROW) > 1 else [chunk]:
            if not piece.strip(_AROUND + "'\""):
                continue
            try:
                pairs.append(_pair(piece.strip(" \t\r\n,")))
            except _Unusable as error:
                failures.append(Failure(piece.strip(), error.reason))
    return OutdatedTriplets(tuple(pairs), tuple(repairs), tuple(failures))


def _chunks(text: str) -> tuple[list[str], int, bool]:
    """Return the texts between brackets in order, the deepest nesting, and whether the brackets are balanced."""
    chunks: list[str] = []
    start = depth = deepest = 0
    balanced = True
    for match in _BRACKET.finditer(text):
        chunks.append(text[start : match.start()])
        start = match.end()
        depth += 1 if match.group() == "[" else -1
        deepest = max(deepest, depth)
        balanced = balanced and depth >= 0
    chunks.append(text[start:])
    return chunks, deepest, balanced and depth == 0


def _pair(text: str) -> tuple[Fact, Fact]:
    sides = text.split(_ARROW)
    if len(sides) != 2:
        raise _Unusable(FailureReason.NO_ARROW if len(sides) == 1 else FailureReason.SEVERAL_ARROWS)
    if not all(side.strip() for side in sides):
        raise _Unusable(FailureReason.MISSING_SIDE)
    return _fact(sides[0]), _fact(sides[1])


def _fact(text: str) -> Fact:
    parts = text.split(",")
    if len(parts) != 3:
        raise _Unusable(FailureReason.WRONG_COMMAS)
    names = [part.strip(" \t\r\n'\"").lower() for part in parts]
    if not all(name.strip() for name in names):
        raise _Unusable(FailureReason.EMPTY_NAME)
    subject, relation, object_ = names
    try:
        return Fact(_SHORT_NAMES.get(subject, subject), relation, _SHORT_NAMES.get(object_, object_))
    except InputError:
        raise _Unusable(FailureReason.NOT_A_NAME) from None


def require_answer_text(text: object) -> None:
    """Raise :class:`InputError` when the answer of a model is not a string."""
    if not isinstance(text, str):
        raise InputError(f"the answer of a model must be a string, not {type(text).__name__}")

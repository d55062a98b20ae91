"""States what a correction puts in place of what was never so, in the interval in which that was held to be true."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from worldthread.extract.parsed.amended_facts import is_dated, is_same_relation, kind_of, may_be_of, plain_subject
from worldthread.extract.parsed.amendments import Amendment, Cue
from worldthread.extract.parsed.aspects import aspect_for
from worldthread.graph import GraphView
from worldthread.types import Fact, Interval, Statement


def corrected_statements(
    statements: Sequence[Statement],
    corrected: Collection[Fact],
    amendment: Amendment | None,
    speaker: str,
    view: GraphView,
) -> tuple[Statement, ...]:
    """Return the statements of a correction with the intervals of the facts that they correct.

    Args:
        statements: what the message states.
        corrected: the facts that it calls wrong; each was never so.
        amendment: what it denies and gives; ``None`` where it does neither.
        speaker: who says it.
        view: what the memory holds.

    Returns:
        ``statements`` in their order, and after them the one that the message states with a pronoun or with no subject
        at all: "he's from Slovakia", where that is clear.
    """
    if not corrected:
        return tuple(statements)
    new = [_in_place(statement, corrected, view) for statement in statements]
    if amendment is not None and (given := _given(amendment, corrected, statements, speaker)) is not None:
        new.append(_in_place(given, corrected, view))
    return tuple(new)


def _in_place(statement: Statement, corrected: Collection[Fact], view: GraphView) -> Statement:
    """Return a statement with the interval of the fact that it corrects, unless it states its own."""
    if not isinstance(statement, Fact) or statement.valid_from is not None or statement.valid_to is not None:
        return statement
    old = [f for f in corrected if plain_subject(f) == plain_subject(statement) and is_same_relation(f, statement)]
    interval = _interval_of(old[0], view) if len(old) == 1 else None
    if interval is None or not math.isfinite(interval.valid_from):
        return statement
    end = None if interval.is_open else interval.valid_to
    return replace(statement, valid_from=interval.valid_from, valid_to=end)


def _interval_of(fact: Fact, view: GraphView) -> Interval | None:
    """Return the last interval in which a fact was held to be true."""
    held = [v.interval for v in view.timeline(fact.subject) if v.statement == fact]
    held = [interval for interval in held if interval.valid_from < interval.valid_to]
    return max(held, key=lambda interval: interval.valid_from, default=None)


def _given(
    amendment: Amendment, corrected: Collection[Fact], statements: Sequence[Statement], speaker: str
) -> Fact | None:
    """Return the fact that a message states without naming its subject; ``None`` where the words leave a doubt."""
    if len(corrected) != 1 or not amendment.is_short or amendment.cue is Cue.REPORT:
        return None
    [old] = corrected
    if any(isinstance(s, Fact) and plain_subject(s) == plain_subject(old) for s in statements):
        return None
    values = [value for value in amendment.given if value.is_plain and may_be_of(value, old, speaker)]
    if len(values) != 1:
        return None
    words, kind = values[0].words, kind_of(old.object)
    is_alike = kind == kind_of(words) and len(words.split()) == len(old.object.split()) <= 3
    if (
        not is_alike
        or is_dated(old.object)
        or (kind.name == "common" and not amendment.denied)
        or words.lower() == old.key[2]
    ):
        return None
    fact = replace(old, object=words, valid_from=None, valid_to=None, begins_by=None)
    return replace(fact, aspect=aspect_for(fact))

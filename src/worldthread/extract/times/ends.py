"""Says when something ended, or will end, by the sentence that ends it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from worldthread.extract.times.expressions import (
    TimeExpression,
    Validity,
    as_told,
    in_unit,
    time_expressions,
    validity,
)
from worldthread.extract.times.tables import table
from worldthread.extract.times.tenses import Tenses
from worldthread.types import Fact

_LONGEST: Final = 100 * 366 * 86_400.0  # nobody who ends something names a time further away
_WORD: Final = re.compile(r"\w+")


def end_stated(sentence: str, at: float | None, about: Collection[str], *, language: str = "en") -> float | None:
    """Return the time at which something ends, as the clause that ends it says.

    "I left Acme in March" says that it was over with the end of March: the first moment by which that is certain. A
    clause is told by the words of what ends; a time alone before or after it belongs to it ("In March, I left Acme"),
    and so does that of a second verb of its subject ("I left Acme and joined Globex in March").

    >>> end_stated("I left Acme in March.", 1717977600.0, ["Acme"])
    1711929600.0

    Args:
        sentence: the sentence.
        at: time of its message in seconds since 1970-01-01 UTC; a turn, or ``None``, for no time.
        about: names in what ends. Where the sentence has none of them, its first clause counts.
        language: the language of the sentence, see :func:`~worldthread.extract.times.time_expressions`.

    Returns:
        The first second at which it has ended for certain, before or after ``at``; ``None`` where the sentence states
        no time, several times, one that is not over by ``at``, or one to come of what is not said to come: then it
        ends as it is told.
    """
    if at is None:
        return None
    times = time_expressions(sentence, at, language=language)
    if not times:
        return None
    tenses = Tenses(sentence, table(language))
    names = {word for name in about for word in _WORD.findall(name.lower())}
    said = [(word, tenses.clause_at(begin)) for word, begin in _words(sentence, times)]
    named = {clause for word, clause in said if word in names}
    clauses = {tenses.whole_clause(clause) for clause in named or {clause for _, clause in said[:1]}}
    bare = {tenses.clause_at(time.start) for time in times} - {clause for _, clause in said}
    shared = {clause + 1 for clause in clauses if tenses.shares_subject(clause + 1)}
    for allowed in (clauses, bare, shared):
        found = [time for time in times if tenses.clause_at(time.start) in allowed]
        if found:
            end = end_of(found[0], at) if len(found) == 1 else None
            # what has ended cannot end later: "Not one cigarette in five weeks"
            is_to_come = end is not None and end > at and tenses.direction(found[0].start) != "coming"
            return None if is_to_come else end
    return None


def begun(facts: Iterable[Fact], sentence: str, at: float | None, *, language: str = "en") -> list[Fact]:
    """Return the facts that a sentence says have begun, from the time that it states: "I moved to Paris in March".

    Args:
        facts: what the sentence states as holding now, by an event that is past; those with times stay as they are.
        sentence: the sentence.
        at: time of its message; a turn, or ``None``, for no time.
        language: the language of the sentence.

    Returns:
        The facts, in order; as they are where the sentence tells no past event, or states several times.
    """
    found = list(facts)
    if at is None or not found or not (times := time_expressions(sentence, at, language=language)):
        return found
    tenses = Tenses(sentence, table(language))
    [time, *others] = times
    if others or time.role != "at" or tenses.direction(time.start) != "past" or time.valid_from is None:
        return found
    bounds = as_told(validity([time], at, is_past=True, is_event=True), at)
    words = _words(sentence, times)
    return [
        _begun(fact, bounds, {w for w, o in words if tenses.clause_at(o) == tenses.clause_at(time.start)})
        for fact in found
    ]


def _begun(fact: Fact, bounds: Validity, clause: Collection[str]) -> Fact:
    is_of_clause = all(word in clause for word in _WORD.findall(fact.object.lower()))
    if not is_of_clause or fact.aspect is None or fact.valid_from is not None or fact.valid_to is not None:
        return fact
    return replace(fact, valid_from=bounds.valid_from, valid_to=bounds.valid_to, begins_by=bounds.begins_by)


def without_times(sentence: str, at: float | None, *, language: str = "en") -> str:
    """Return a sentence without the times that it names, and the comma after one at its beginning.

    Args:
        sentence: the sentence.
        at: time of its message; a turn, or ``None``, leaves it as it is.
        language: the language of the sentence.
    """
    if at is None:
        return sentence
    for time in reversed(time_expressions(sentence, at, language=language)):
        before, after = sentence[: time.start].rstrip(), sentence[time.end :]
        if not before:
            after = after.lstrip(" ,")
            after = after[:1].upper() + after[1:]
        sentence = before + after
    return sentence


def _words(sentence: str, times: list[TimeExpression]) -> list[tuple[str, int]]:
    """Return the words of a sentence outside its times in lower case, with their offsets."""
    inside = [range(time.start, time.end) for time in times]
    words = ((match[0].lower(), match.start()) for match in _WORD.finditer(sentence))
    return [(word, begin) for word, begin in words if not any(begin in span for span in inside)]


def end_of(time: TimeExpression, at: float) -> float | None:
    """Return the first second at which something is over that ended at a time.

    Args:
        time: the time that a text gives for the end.
        at: time of the text in seconds since 1970-01-01 UTC.

    Returns:
        The second; ``None`` where the time does not say, is not over, or is further than a lifetime away.
    """
    if time.role in ("recurring", "after"):
        return None
    begin, end = time.valid_from, time.valid_to
    if time.role in ("at", "duration"):
        unit = in_unit(time)
        begin, end = (begin, end) if end == unit[1] else unit  # "the end of June" is its last day
    if time.role == "since":  # "since May I no longer live there"
        begin, end = None, begin
    if end is None or abs(end - at) > _LONGEST or (begin is not None and begin <= at < end):
        return None
    return end

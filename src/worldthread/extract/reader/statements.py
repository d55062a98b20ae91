"""Facts and endings out of events, each with the time that the words of the event give it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from worldthread.extract.prose.patterns import aspect_of
from worldthread.extract.prose.words import third_person
from worldthread.extract.reader.events import ENDING_KINDS, MessageEvent
from worldthread.extract.times import TimeExpression, Validity, as_told, time_expressions, validity
from worldthread.extract.times.ends import end_of
from worldthread.names import normalise_name
from worldthread.types import Fact

_PREPOSITIONS: Final = {
    "on": ("", "on", "in", "at"),
    "since": ("", "since"),
    "for": ("", "for"),
    "until": ("", "until"),
    "span": ("", "from", "in"),
    "from": ("", "from"),
    "by": ("", "by"),
    "during": ("", "from", "in"),
}
"""What may stand before the words of a time of each kind, where the words do not bring it."""
_ROLES: Final = {"since": "since", "until": "until", "by": "by", "for": "duration"}
_TENSES: Final = {"past": "was so", "perfect": "has been so", "present": "is so", "future": "will be so"}


class Ended(NamedTuple):
    """A fact that a message says is over.

    Args:
        fact: the fact as the message has it.
        at: the first second at which it has ended for certain; ``None`` where the message does not say.
        never: whether it has never been so.
    """

    fact: Fact
    at: float | None
    never: bool


def fact_of(event: MessageEvent, at: float | None) -> Fact | None:
    """Return the fact that an event states.

    Args:
        event: the event.
        at: time of its message in seconds since 1970-01-01 UTC; a turn, or ``None``, for no time.

    Returns:
        The fact; ``None`` where the event ends one, or its parts cannot be names.
    """
    if event.kind in ENDING_KINDS:
        return None
    relation = event.relation
    bounds = _bounds(event, at)
    if event.kind == "planned" and bounds.valid_from is None:
        relation = _to_come(relation)
    if event.kind == "begins" and at is not None and bounds.valid_from is not None and bounds.valid_from > at:
        bounds = as_told(bounds._replace(valid_to=None), at)
    fact = _fact(event, relation)
    if fact is None:
        return None
    aspect = None if event.kind in ("happened", "planned") else aspect_of(fact)
    return replace(fact, aspect=aspect, **bounds._asdict())


def ended_by(event: MessageEvent, at: float | None) -> Ended | None:
    """Return the fact that an event says is over.

    Args:
        event: the event.
        at: as for :func:`fact_of`.

    Returns:
        The fact; ``None`` where the event ends nothing, or its parts cannot be names.
    """
    fact = _fact(event, event.relation) if event.kind in ENDING_KINDS else None
    if fact is None:
        return None
    times = [] if at is None or event.kind == "never" else _times(event, at, "past") or _times(event, at, "future")
    return Ended(fact, end_of(times[0], at) if len(times) == 1 and at is not None else None, event.kind == "never")


def _fact(event: MessageEvent, relation: str) -> Fact | None:
    named = (event.subject, relation, event.object)
    return Fact(*named) if all(normalise_name(name) for name in named) else None


def _times(event: MessageEvent, at: float, tense: str) -> list[TimeExpression]:
    """Return the times of an event, read in a sentence of this tense."""
    for preposition in _PREPOSITIONS.get(event.time_kind, ()):
        said = " ".join(word for word in ("It", _TENSES[tense], preposition, event.when) if word)
        times = time_expressions(f"{said}.", at)
        if times and (preposition or times[0].role == _ROLES.get(event.time_kind, times[0].role)):
            return times
    return []


def _bounds(event: MessageEvent, at: float | None) -> Validity:
    """Return when what an event tells holds."""
    if at is None or not event.when:
        return Validity(None, None)
    tense = "present"
    if event.kind == "happened" or event.time_kind == "during":
        tense = "past"
    elif event.kind == "planned" or event.time_kind in ("from", "by", "until"):
        tense = "future"
    elif event.kind == "begins":
        tense = "past"
    elif event.time_kind in ("since", "for"):
        tense = "perfect"
    times = _times(event, at, tense)
    if not times and event.kind == "begins" and tense == "past":
        tense = "future"  # "begins on 3 June", told in May
        times = _times(event, at, tense)
    if not times and event.time_kind == "until":
        tense = "past"  # "I lived there until 2015"
        times = _times(event, at, tense)
    found = validity(times, at, is_past=tense == "past", is_event=event.kind == "begins")
    return as_told(found, at)


def _to_come(relation: str) -> str:
    """Return a relation in the future: "will visit" for "visits"."""
    verb, _, rest = relation.partition(" ")
    stems = {"is": "be", "are": "be", "has": "have"}
    tried = [verb[:-2], verb[:-1]] if verb.endswith(("sses", "xes", "ches", "shes", "oes")) else [verb[:-1]]
    tried = [verb[:-3] + "y", *tried] if verb.endswith("ies") else tried
    stem = stems.get(verb) or next((one for one in tried if one and third_person(one) == verb), None)
    return relation if stem is None else f"will {stem} {rest}".strip()

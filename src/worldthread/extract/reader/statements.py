"""Facts and endings out of events, each with the time that the words of the event give it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from worldthread.extract.prose.dates import DATE
from worldthread.extract.prose.patterns import aspect_of, is_attribute
from worldthread.extract.prose.sentences import split_sentences
from worldthread.extract.prose.words import base_form
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
_DAY: Final = 86400.0
_DATE: Final = re.compile(rf"(?<!\w)(?:{DATE})|\b[12]\d{{3}}\b")
_TENSES: Final = {"past": "was so", "perfect": "has been so", "present": "is so", "future": "will be so"}


_KINDS: Final = {"since": "since", "until": "until", "by": "by", "duration": "for", "during": "span", "at": "on"}
"""The kind of a time by its role."""


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


def with_its_time(event: MessageEvent, text: str, at: float | None, *, is_alone: bool) -> MessageEvent:
    """Return an event with the whole of the time of its sentence.

    "The day before yesterday" where the model points at "yesterday"; "in two weeks" where it takes "two weeks" for an
    object; and the only time of a sentence that tells nothing else.

    Args:
        event: the event.
        text: the message that the places of the event belong to.
        at: as for :func:`fact_of`.
        is_alone: whether the sentence tells nothing else.
    """
    if at is None:
        return event
    begin, end = _sentence_around(text, event.begin)
    sentence = text[begin:end]
    times = time_expressions(sentence, at)
    of_object = [time for time in times if begin + time.start < event.end and event.begin < begin + time.end]
    if of_object:
        (time, *more) = of_object
        said = _in_sentence(sentence, time)
        is_object = not more and begin + time.start <= event.begin and begin + time.end == event.end
        if is_object and event.when in said:
            relation = event.relation.removesuffix(f" {said.partition(' ')[0]}")
            return event._replace(object=said, relation=relation, begin=begin + time.start, when="", time_kind="")
        return event
    if event.when:
        place = sentence.find(event.when)
        found = [time for time in times if place >= 0 and time.start < place + len(event.when) and place < time.end]
        if len(found) == 1:
            return event._replace(when=_in_sentence(sentence, found[0]))
    elif is_alone and event.kind in ("happened", "planned") and len(times) == 1 and times[0].role in _KINDS:
        return event._replace(when=_in_sentence(sentence, times[0]), time_kind=_KINDS[times[0].role])
    return event


def _in_sentence(sentence: str, time: TimeExpression) -> str:
    """Return the words of a time as they stand within a sentence."""
    said = sentence[time.start : time.end]
    is_first = not sentence[: time.start].strip() and not said.split()[0].isupper()
    return said[:1].lower() + said[1:] if is_first else said


def _sentence_around(text: str, place: int) -> tuple[int, int]:
    """Return where the sentence begins and ends that has a place of a text."""
    spans = ((sentence.start, sentence.end) for sentence in split_sentences(text))
    return next((span for span in spans if span[0] <= place < span[1]), (0, len(text)))


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
    event, bounds = _with_its_day(event, at)
    relation = event.relation
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
    holder, _, noun = event.subject.rpartition("'s ")
    if holder and relation == "is" and is_attribute(noun):
        named = (holder, f"has {noun}", event.object)  # as the rules say it, so that one ends the other
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
    found = validity(times, at, is_past=tense == "past", is_event=event.kind == "begins")
    if event.time_kind == "until" and found.valid_to is None:  # "I lived there until 2015"
        found = validity(_times(event, at, "past"), at, is_past=True, is_event=False)
    return as_told(found, at)


def _with_its_day(event: MessageEvent, at: float | None) -> tuple[MessageEvent, Validity]:
    """Return an event with its bounds; an object that is a day told from the message ("is on Friday") is its date.

    A state with a day of the year comes every year: "my birthday is on 3 May".
    """
    verb, _, preposition = event.relation.rpartition(" ")
    if preposition not in ("on", "in", "by"):
        verb, preposition = event.relation, ""
    is_past, has_date = event.kind == "happened", _DATE.search(event.object) is not None
    if at is None or event.when or (event.kind == "state" and has_date):
        return event, _bounds(event, at)
    lead = "It was so " if is_past else "It will be so "
    said = f"{lead}{preposition} {event.object}." if preposition else f"{lead}{event.object}."
    for time in time_expressions(said, at):
        begin, end = time.valid_from, time.valid_to
        is_all = time.start <= len(lead) and time.role == "at"
        if is_all and begin is not None and end is not None and end - begin >= _DAY:
            bounds = as_told(validity([time], at, is_past=is_past, is_event=False), at)
            if is_past or has_date:
                return event, bounds
            first, last = (datetime.fromtimestamp(day, UTC).date().isoformat() for day in (begin, end - _DAY))
            thing = f"{first if first == last else f'{first} to {last}'}{said[time.end : -1]}"
            return event._replace(relation=f"{verb} {'on' if first == last else 'in'}", object=thing), bounds
    return event, _bounds(event, at)


def _to_come(relation: str) -> str:
    """Return a relation in the future: "will visit" for "visits"."""
    verb, _, rest = relation.partition(" ")
    base = base_form(verb)
    return relation if base is None else f"will {base} {rest}".strip()

"""Says when facts hold by the times that their clauses name."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.facts import IS_ON, LocatedFact
from worldthread.extract.prose.words import third_person
from worldthread.extract.times import Role, TimeExpression, is_occasion, time_expressions, validity
from worldthread.extract.when import shown_time

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

    from worldthread.extract.parsed.clauses import Clause

TURNS: Final = 1e8
"""World times below it are turns of a game, not seconds."""


def with_times(
    doc: Doc, facts: tuple[LocatedFact, ...], at: float, verbs: frozenset[Token] = frozenset()
) -> tuple[LocatedFact, ...]:
    """Return facts with the times at which they begin and end, where their clauses name such times.

    Args:
        doc: the dependency tree of the sentence.
        facts: the facts of the sentence.
        at: time of the sentence in seconds since 1970-01-01 UTC, or a turn, against which nothing is resolved.
        verbs: the heads of other clauses, of which the times are not those of the facts.

    Returns:
        The facts, in order.
    """
    if abs(at) < TURNS or not facts:
        return facts
    heads = verbs | {stated.clause.verb for stated in facts}
    return tuple(one if is_kinship(one) else _with_times(doc, one, heads, at) for one in facts)


def is_kinship(stated: LocatedFact) -> bool:
    """Return whether a fact says who "my brother Owen" is, whatever the sentence tells of him."""
    subject = stated.clause.subject
    names = [c.text for c in subject.rights if c.dep_ == "appos"] if subject is not None else []
    return stated.fact.relation.startswith("has ") and any(name in stated.fact.object.split() for name in names)


def _with_times(doc: Doc, stated: LocatedFact, heads: Set[Token], at: float) -> LocatedFact:
    clause = stated.clause
    is_state = _is_state(clause)
    has_got = clause.is_perfect and clause.verb.lower_ == "got" and "have" in clause.auxiliaries  # "I've got an exam"
    is_past = (clause.is_past or (clause.is_perfect and not is_state and not has_got)) and not (
        is_planning(clause) and _is_any_to_come(doc, at)
    )
    others = heads - {clause.verb}
    is_schedule = clause.lemma == "be" or clause.lemma in WORDS["schedules"]
    inside = {
        token.i
        for token in clause.verb.subtree
        if not any(
            ancestor in others or _has_own_time(ancestor)
            for ancestor in (token, *token.ancestors)
            if clause.verb in ancestor.ancestors
        )
    }
    times = [
        _in_clause(time, span, clause)
        for time in time_expressions(doc.text, at, is_past=is_past)
        if (span := doc.char_span(time.start, time.end, alignment_mode="expand")) is not None
        and all(token.i in inside for token in span)
        and not (time.role == "duration" and time.precision in _SHORT)  # "meditates for 15 minutes"
        and not _is_topic(span)
    ]
    fact = stated.fact
    if not is_schedule:
        is_time = clause.lemma == "spend" or _DATE.fullmatch(fact.object) or fact.relation.startswith(("born", "died"))
        if not is_time:
            fact = replace(fact, object=_without_time(fact.object, [doc.text[time.start : time.end] for time in times]))
            times = [time for time in times if not _overlap(doc.text[time.start : time.end], fact.object)]
    if not times:
        return stated
    valid_from, valid_to = validity(times, at, is_past=is_past, is_event=not is_state and not _is_occasion(clause))
    if valid_from is None and valid_to is None:
        return stated
    is_begun = clause.lemma.partition(" ")[0] in _BEGINNING
    if (
        (not is_state or is_begun)
        and valid_from is not None
        and valid_from > at
        and _is_new_state(clause, fact.relation)
    ):
        valid_to = max((time.valid_to for time in times if time.role == "during" and time.valid_to), default=None)
    if (
        (fact.aspect or "").startswith("day of ")
        and fact.relation == IS_ON
        and valid_from is not None
        and valid_to is not None
    ):
        fact = replace(fact, object=shown_time(valid_from))  # "tomorrow" would be another day tomorrow
    if is_planning(clause) and valid_from is not None and valid_from > at and fact.relation != IS_ON:
        return stated  # the time of what is planned
    is_meant = clause.lemma in WORDS["intentions"]
    if clause.is_progressive and not clause.is_past and not is_meant and valid_from is not None and valid_from > at:
        fact = replace(fact, relation=planned(fact.relation, clause.lemma), aspect=None)
    if valid_from is None and valid_to is not None and valid_to <= at:
        valid_from = valid_to - 1  # it held just before; nothing says since when
    return stated._replace(fact=replace(fact, valid_from=valid_from, valid_to=valid_to))


_DATE: Final = re.compile(r"\d{4}(?:-\d\d){0,2}(?: to \d{4}(?:-\d\d){0,2})?")  # "runs out in 2027"
_SHORT: Final = frozenset(["minute", "hour", "second"])
_BEGINNING: Final = frozenset(["start", "begin", "join", "move", "switch", "transfer", "relocate", "become", "retire"])
_BOUNDS: Final[dict[str, Role]] = {"since": "since", "until": "until", "till": "until"}


def _in_clause(time: TimeExpression, span: Span, clause: Clause) -> TimeExpression:
    """Return a time as what the clause around it makes of it: "since I turned 20 in 2011" is since 2011."""
    for ancestor in span.root.ancestors:
        if ancestor == clause.verb:
            break
        if ancestor.dep_ == "advcl" and time.role == "at":
            marks = [c.lower_ for c in ancestor.children if c.dep_ in ("mark", "prep", "advmod")]
            role = next((_BOUNDS[mark] for mark in marks if mark in _BOUNDS), None)
            if role == "since":
                return time._replace(role=role, valid_to=None)
            if role == "until":
                return time._replace(role=role, valid_from=None)
    return time


def _is_topic(time: Span) -> bool:
    """Return whether a time says what something is about: "a book about last summer"."""
    head = time.root.head
    return head not in time and head.lower_ in ("about", "of") and head.head.pos_ in ("NOUN", "PROPN")


def _without_time(value: str, times: list[str]) -> str:
    """Return an object without the time at its end: "kayaking" for "kayaking the day before yesterday"."""
    for time in times:
        rest = value[: -len(time)].rstrip() if value.lower().endswith(time.lower()) else ""
        rest = re.sub(r"(?:,| (?:ever )?since)$", "", rest)
        if rest and rest.split()[-1].lower() not in WORDS["prepositions"]:  # "a book about last summer"
            return rest
    return value


def _overlap(time: str, value: str) -> bool:
    """Return whether a time is a part of what a fact is about: "is inspired by autumn"."""
    time, value = time.lower(), value.lower()
    return time in value or value in time


def is_planning(clause: Clause) -> bool:
    """Return whether a time that follows a verb is that of what is planned: "I booked a flat in Rome for May"."""
    return clause.lemma.partition(" ")[0] in WORDS["planning"]


def _is_any_to_come(doc: Doc, at: float) -> bool:
    return any(t.valid_from is not None and t.valid_from > at for t in time_expressions(doc.text, at, is_past=False))


def is_without_times(head: Token) -> bool:
    """Return whether times in a participle clause are those of the verb: "met a man called Sam in May"."""
    is_naming = head.dep_ == "acl" and head.lemma_ in ("call", "name", "nickname", "book", "plan", "schedule", "set")
    has_subject = any(c.dep_ in ("nsubj", "mark", "advmod") for c in head.lefts)
    is_means = head.lower_ == "using" and head.dep_ == "acl"  # "coding scripts using NVivo on April 5"
    return is_naming or is_means or (head.dep_ == "advcl" and head.tag_ == "VBG" and not has_subject)


def _has_own_time(head: Token) -> bool:
    """Return whether a token heads a clause that has times of its own: "the one that I met in May"."""
    if is_without_times(head):
        return False
    if head.dep_ == "advcl":
        return not any(mark.lower_ in ("since", "until", "till", "after", "before") for mark in head.children)
    if head.dep_ == "conj" and head.pos_ in ("VERB", "AUX"):
        return any(child.dep_ in ("nsubj", "nsubjpass", "expl") for child in head.children)
    if head.dep_ == "relcl":
        return head.tag_ not in ("VBP", "VBZ")  # "gave it to a shelter I volunteer at yesterday"
    return head.dep_ in ("ccomp", "acl", "csubj", "parataxis", "appos")


def planned(relation: str, lemma: str) -> str:
    """Return the relation of what is only planned: "plans to fly to" for "is flying to"."""
    participle, _, rest = relation.removeprefix("is ").partition(" ")
    if not relation.startswith("is ") or not participle.endswith("ing"):
        return relation
    return f"plans to {lemma.partition(' ')[0]} {rest}".strip()


def _is_state(clause: Clause) -> bool:
    """Return whether a verb tells what lasts, not what changes."""
    is_new = any(word in ("get", "getting", "got") for word in clause.auxiliaries)  # "got married"
    return (
        clause.is_progressive
        or (clause.is_passive and not is_new and not _is_told_of_once(clause))
        or clause.lemma.partition(" ")[0] in WORDS["states"]
    )


def _is_occasion(clause: Clause) -> bool:
    """Return whether a verb tells what is over when it has happened: "watched", "met with", "handed in"."""
    following = next((c.lower_ for c in clause.verb.rights if c.dep_ in ("prep", "prt")), "")
    verb = clause.lemma.partition(" ")[0]
    return not clause.is_passive and any(is_occasion(words) for words in (clause.lemma, verb, f"{verb} {following}"))


def _is_told_of_once(clause: Clause) -> bool:
    """Return whether a passive tells what was done, not what state lasted: "was promoted", but "was closed"."""
    return (clause.is_past or clause.is_perfect) and clause.verb.lower_ not in WORDS["lasting_adjectives"]


def _is_new_state(clause: Clause, relation: str) -> bool:
    """Return whether a fact is what comes of the verb: "works at" of "I start at Airbus in June"."""
    stem = clause.lemma[:3]
    forms = {third_person(clause.lemma.partition(" ")[0])}  # "flies"
    if relation.startswith("plans to "):
        return False
    return clause.lemma != "be" and not any(word.startswith(stem) or word in forms for word in relation.split())

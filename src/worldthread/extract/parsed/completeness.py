"""Leaves out facts of which the sentence says more than they do: a cut object, a time that was not understood."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.facts import IS_ON, LocatedFact, SentenceFacts, completed
from worldthread.extract.parsed.phrases import render
from worldthread.extract.parsed.validity import is_kinship, is_planning, is_without_times
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import third_person
from worldthread.extract.times import TimeExpression, time_expressions

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_TURNS: Final = 1e8  # world times below it are turns of a game, not seconds
_UNDATED_ROLES: Final = frozenset(["recurring", "duration"])
_DAY: Final = 86400.0
_PATTERNS: Final = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_BEFORE_TIME: Final = re.compile(r"(?: (?:on|in|at|by|from|during|since|back|early|late))+$")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_OWN_TIMES: Final = frozenset(["acl", "advcl", "ccomp", "relcl"])


def whole_facts(
    doc: Doc, read: SentenceFacts, stated: tuple[LocatedFact, ...], referents: Referents, at: float | None
) -> tuple[LocatedFact, ...]:
    """Return the facts of a sentence that say all that it says of them.

    Args:
        doc: the dependency tree of the sentence.
        read: what the rules for clauses made of it; these facts have whole objects.
        stated: all its facts, with their times.
        referents: whom its pronouns mean.
        at: time of the sentence in seconds since 1970-01-01 UTC; ``None`` or a turn when there is no such time.

    Returns:
        The facts, in order; some of them with what follows their object.
    """
    first = len(read.facts)
    others = (completed(one, referents) for one in stated[first:])
    found = (*stated[:first], *(one for one in others if one is not None))
    if at is None or abs(at) < _TURNS:
        return found
    heads = {clause.verb for clause, _ in read.clauses}
    repaired = (_with_tense(one, at) for one in found)
    timed = (_with_time(doc, one, heads, at) for one in repaired if not _is_mistimed(one, at))
    return tuple(_with_name(_with_recurrence(doc, one, heads, at), referents) for one in timed if one is not None)


def _with_name(stated: LocatedFact, referents: Referents) -> LocatedFact:
    """Return a fact with the name that follows its object after a comma: "my new supervisor", "Karen Lee"."""
    clause, fact = stated.clause, stated.fact
    things = [c for c in clause.verb.rights if c.dep_ == "dobj"]
    things += [inner for c in clause.verb.rights if c.dep_ == "prep" for inner in c.children if inner.dep_ == "pobj"]
    for thing in things:
        name = next((c for c in thing.rights if c.dep_ == "appos" and c.pos_ == "PROPN"), None)
        if name is None or thing.tag_ != "NN" or name.text in fact.object or not fact.object.endswith(thing.text):
            continue
        words = [t for t in name.subtree if t.i <= name.i]
        if words[0].i == thing.i + 2 and thing.nbor().text == "," and all(t.pos_ == "PROPN" for t in words):
            shown = render(words[0], name.i, referents)
            return stated if shown is None else stated._replace(fact=replace(fact, object=f"{fact.object}, {shown}"))
    return stated


def _with_tense(stated: LocatedFact, at: float) -> LocatedFact:
    """Return a fact with "read" in place of "reads" where its time is over: "I read the draft to them last night"."""
    clause, fact = stated.clause, stated.fact
    verb, present = clause.verb.lower_, third_person(clause.verb.lemma_.lower())
    first, space, rest = fact.relation.partition(" ")
    is_over = fact.valid_to is not None and fact.valid_to <= at
    is_begun = fact.valid_from is not None and fact.valid_from < at
    if verb not in WORDS["same_past"] or first != present or not (is_over or is_begun):
        return stated
    return stated._replace(fact=replace(fact, relation=f"{verb}{space}{rest}"))


def _with_recurrence(doc: Doc, stated: LocatedFact, heads: set[Token], at: float) -> LocatedFact:
    """Return a fact with how often or for how long it is so: "cooks", "lentils every Sunday"."""
    clause, fact = stated.clause, stated.fact
    if (
        fact.relation == IS_ON
        or is_kinship(stated)
        or (fact.relation.startswith(("born ", "is ", "has age")) and not clause.is_progressive)
    ):
        return stated
    shown = f"{fact.relation} {fact.object}".lower()
    found = [
        time
        for time in time_expressions(doc.text, at, is_past=clause.is_past or clause.is_perfect)
        if (time.role == "recurring" or (time.role == "duration" and fact.valid_from is None))
        and doc.text[time.start : time.end].lower() not in shown
        and not any(word in shown.split() for word in doc.text[time.start : time.end].lower().split()[-1:])
        and _is_time_of(doc, time, stated, heads)
    ]
    if len(found) != 1:
        return stated
    begin = doc.text[: found[0].start].strip().lower()
    subject = clause.subject
    opens = begin in ("", "on") and subject is not None and doc[: subject.left_edge.i].text.rstrip(" ,")[-1:].isalpha()
    if clause.verb.idx > found[0].start and not (opens and doc.text.find(",", 0, clause.verb.idx) <= found[0].end):
        return stated
    when = doc.text[found[0].start : found[0].end]
    when = (
        when[0].lower() + when[1:] if found[0].start == 0 and not doc[0].ent_type_ and doc[0].pos_ != "PROPN" else when
    )
    return stated._replace(fact=replace(fact, object=f"{fact.object} {when}"))


def _is_mistimed(stated: LocatedFact, at: float) -> bool:
    """Return whether a fact in the present is over: then its past tense was not seen ("I retook it last week")."""
    clause, fact = stated.clause, stated.fact
    is_present = clause.verb.lower_ not in WORDS["same_past"] and not (
        clause.is_past or clause.is_perfect or clause.is_passive or clause.modal
    )
    if is_present and fact.valid_to is not None and fact.valid_to <= at:
        return True
    if not is_present or clause.is_progressive or clause.lemma not in WORDS["states"] - {"be", "have"}:
        return False
    # "I work there Monday and Saturday": the days of every week
    is_to_come = fact.valid_from is not None and fact.valid_from > at
    return is_to_come and fact.valid_to is not None and fact.valid_to - (fact.valid_from or 0) <= _DAY


def _with_time(doc: Doc, stated: LocatedFact, heads: set[Token], at: float) -> LocatedFact | None:
    """Return a fact with the time that the sentence gives for its object; ``None`` where the fact lacks its time."""
    clause, fact = stated.clause, stated.fact
    if fact.valid_from is not None or fact.valid_to is not None or fact.relation == IS_ON or is_kinship(stated):
        return stated
    if clause.lemma in WORDS["schedules"] or fact.relation.startswith("born "):
        return stated
    is_past = (clause.is_past or clause.is_perfect) and not is_planning(clause)
    shown = f"{fact.relation} {fact.object}".lower()
    times = [
        time
        for time in time_expressions(doc.text, at, is_past=is_past)
        if time.role not in _UNDATED_ROLES
        and (time.valid_from is not None or time.valid_to is not None)
        and doc.text[time.start : time.end].lower() not in shown
        and _is_time_of(doc, time, stated, heads)
    ]
    if is_past and _is_time_cut(doc, stated, at):
        return None
    if not times:
        years = [
            t
            for t in clause.verb.subtree
            if t.dep_ == "nummod" and _YEAR.fullmatch(t.text) and t.text not in fact.object
        ]
        return None if is_past and clause.lemma not in WORDS["states"] and years else stated
    when = _shown(times[0]) if len(times) == 1 and not is_past else None
    is_to_come = times[0].valid_from is not None and times[0].valid_from > at
    if when is None or not is_to_come:
        return None
    return stated._replace(fact=replace(fact, object=f"{fact.object} {when}"))


def _is_time_cut(doc: Doc, stated: LocatedFact, at: float) -> bool:
    """Return whether a time follows the object directly: "corrected", "errors found by Jo" of "... on 7 May"."""
    last = stated.fact.object.split()[-2:]
    for time in time_expressions(doc.text, at, is_past=True):
        before = _BEFORE_TIME.sub("", doc.text[: time.start].rstrip()).split()[-2:]
        if time.role not in _UNDATED_ROLES and before[-len(last) :] == last and time.start > stated.clause.verb.idx:
            return True
    return False


def _shown(time: TimeExpression) -> str | None:
    """Return a day, a month or a year as it is written after an object: "on 2024-05-03", "in 2024-10"."""
    pattern = _PATTERNS.get(time.precision)
    if pattern is None or time.role != "at" or time.valid_from is None or time.valid_to is None:
        return None
    begin = datetime.fromtimestamp(time.valid_from, UTC).strftime(pattern)
    end = datetime.fromtimestamp(time.valid_to - 1, UTC).strftime(pattern)
    return f"{'on' if time.precision == 'day' else 'in'} {begin}" if begin == end else None


def _is_time_of(doc: Doc, time: TimeExpression, stated: LocatedFact, heads: set[Token]) -> bool:
    """Return whether a time belongs to the clause of a fact, or to one before it that sets the scene."""
    span = doc.char_span(time.start, time.end, alignment_mode="expand")
    if span is None:
        return False
    verb = stated.clause.verb
    above = [span.root, *span.root.ancestors]
    head = next(
        (token for token in above if token in heads or (token.dep_ in _OWN_TIMES and not is_without_times(token))), None
    )
    if head == verb:
        return True
    is_scene = head is not None and head.lemma_ == "be" and head.i < verb.i and head.dep_ != "relcl"
    return is_scene and stated.clause.is_past  # "Last week was wild - I volunteered at the shelter"

"""Says when facts hold by the times that their clauses name."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.facts import IS_ON, LocatedFact
from worldthread.extract.prose.words import third_person
from worldthread.extract.times import Role, TimeExpression, Validity, as_told, time_expressions, validity
from worldthread.extract.when import shown_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spacy.tokens import Doc, Span, Token

    from worldthread.extract.parsed.clauses import Clause

_DAY: Final = 86_400.0
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
    """Return whether a fact says who "my brother Owen" is, whatever the sentence tells of him and of when."""
    noun = stated.fact.relation.rpartition(" ")[2]
    if not stated.fact.relation.startswith("has ") or noun not in WORDS["relations"] | WORDS["pets"]:
        return False
    subject = stated.clause.subject
    names = set() if subject is None else {token.text for token in subject.subtree}
    return stated.is_certain or any(word in names for word in stated.fact.object.split())


def _with_times(doc: Doc, stated: LocatedFact, heads: Set[Token], at: float) -> LocatedFact:
    clause = stated.clause
    is_past = is_told_as_past(clause) and not (is_planning(clause) and _is_any_to_come(doc, at))
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
    found = [
        (time, span)
        for time in time_expressions(doc.text, at, is_past=is_past)
        if (span := doc.char_span(time.start, time.end, alignment_mode="expand")) is not None
        and all(token.i in inside for token in span)
    ]
    times = [
        _in_clause(time, span, clause)
        for time, span in found
        if not (time.role == "duration" and time.precision in _SHORT)  # "meditates for 15 minutes"
        and not _is_topic(span)
    ]
    fact = stated.fact
    if not is_schedule:
        is_time = clause.lemma == "spend" or _DATE.fullmatch(fact.object) or fact.relation.startswith(("born", "died"))
        if not is_time:
            fact = replace(fact, object=_without_time(fact.object, [doc.text[time.start : time.end] for time in times]))
            times = [time for time in times if not _overlap(doc.text[time.start : time.end], fact.object)]
    has_length = any(time.role == "duration" for time, _ in found)
    dated = with_validity(stated._replace(fact=fact), times, at, is_past=is_past, has_length=has_length)
    return stated if dated.fact.valid_from is None and dated.fact.valid_to is None else dated


def is_told_as_past(clause: Clause) -> bool:
    """Return whether the times of a clause are those of what is over or has begun."""
    return clause.is_past or (clause.is_perfect and not _is_state(clause))


def with_validity(
    stated: LocatedFact, times: Sequence[TimeExpression], at: float, *, is_past: bool, has_length: bool = False
) -> LocatedFact:
    """Return a fact with the beginning and the end that the times of its clause give it.

    Args:
        stated: the fact and its clause.
        times: the times of the clause, and of no other.
        at: time of the sentence in seconds since 1970-01-01 UTC.
        is_past: whether what the clause tells is over or has begun.
        has_length: whether the clause says for how long: "we lost power for an hour last night" is over.

    Returns:
        The fact; as it is where the times bound nothing.
    """
    clause, fact = stated.clause, stated.fact
    is_state = _is_state(clause)
    if clause.is_progressive:  # "I'm considering a course by December" ends no consideration then
        times = [time for time in times if time.role != "by"]
    if clause.is_progressive and not (clause.is_past or clause.is_perfect):  # "updating it after it came out on 3 May"
        times = [time for time in times if time.role != "at" or time.valid_to is None or time.valid_to > at]
    lasts = is_state and clause.is_perfect and not clause.is_past
    if lasts:  # "over the last six months I've been learning to weld", and still
        times = [time._replace(valid_to=None) if time.valid_to == at else time for time in times]
    is_over = has_length or any(time.role == "duration" for time in times) or _is_occasion(clause)
    is_event = not is_state and not is_over
    valid_from, valid_to, begins_by = validity(times, at, is_past=is_past, is_event=is_event)
    if valid_from is None and valid_to is None:
        return stated
    is_to_come = valid_from is not None and valid_from > at
    if is_to_come and _stays(clause, fact.relation, is_state=is_state):
        is_long = valid_from is not None and valid_to is not None and valid_to - valid_from > _DAY
        begins_by = valid_to if is_long else None  # "starts at Airbus in June", but not "on 3 June"
        valid_to = max((time.valid_to for time in times if time.role == "during" and time.valid_to), default=None)
    if (
        (fact.aspect or "").startswith("day of ")
        and fact.relation == IS_ON
        and valid_from is not None
        and valid_to is not None
    ):
        if valid_from == at:  # "my visa is until 14 January"
            last = shown_time(valid_to - _DAY)
            return stated._replace(
                fact=replace(fact, relation="lasts until", object=last, aspect=None, valid_to=valid_to)
            )
        fact = replace(fact, object=shown_time(valid_from))  # "tomorrow" would be another day tomorrow
    is_named = is_to_come and all(time.precision in _NAMED for time in times)
    if clause.lemma in _WISHING and not is_past and (is_named or any(_is_around(time, at) for time in times)):
        return stated  # "I want to become a nurse this year", "to go to Japan in May": the wish is there now
    if is_planning(clause) and is_to_come and fact.relation != IS_ON:
        return stated  # the time of what is planned
    is_duty = any(c.dep_ == "xcomp" for c in clause.verb.rights)
    is_meant = clause.lemma in WORDS["intentions"] and (clause.lemma != "have" or is_duty)
    if clause.is_progressive and valid_to is not None and not fact.relation.startswith("is "):
        fact = replace(fact, relation=_for_a_time(fact.relation, clause.verb), aspect=None)
    if clause.is_progressive and not clause.is_past and not is_meant and is_to_come:
        fact = replace(fact, relation=planned(fact.relation, clause.lemma), aspect=None)
    valid_from, valid_to, begins_by = as_told(Validity(valid_from, valid_to, begins_by), at)
    return stated._replace(fact=replace(fact, valid_from=valid_from, valid_to=valid_to, begins_by=begins_by))


def _is_around(time: TimeExpression, at: float) -> bool:
    """Return whether a time is a period that is not over yet: "this year"."""
    begin, end = time.valid_from, time.valid_to
    return time.role == "at" and begin is not None and end is not None and begin <= at < end


def _stays(clause: Clause, relation: str, *, is_state: bool) -> bool:
    """Return whether what is to begin at a time has no end: a move and a new job, but not a flight."""
    verb = clause.lemma.partition(" ")[0]
    if verb == "be":
        words = [c.lower_ for c in clause.verb.rights]
        is_back = "back" in words or ("again" in words and ("open" in words or "closed" in words))
        becomes = bool(clause.modal) and any(
            c.dep_ == "attr" and any(a.lower_ in ("a", "an") for a in c.lefts) for c in clause.verb.rights
        )
        return is_back or becomes  # "I'm back on Monday", "I'll be a grandmother in May"
    subject = clause.subject
    is_person = subject is None or subject.tag_ in ("PRP", "NNP") or subject.lemma_.lower() in WORDS["relations"]
    if (verb in _BEGINNING or clause.lemma in _TAKING_UP) and is_person:
        return True
    if verb == "go" and _is_on_leave(clause):
        return True
    return (not is_state or verb in _BEGINNING) and _is_new_state(clause, relation)


def _is_on_leave(clause: Clause) -> bool:
    """Return whether somebody goes on leave or on strike, which begins then: "goes on maternity leave on Monday"."""
    on = (c for c in clause.verb.rights if c.dep_ == "prep" and c.lower_ == "on")
    words = {t.lower_ for prep in on for t in prep.subtree} | {t.lower_ for t in clause.verb.rights}
    return "leave" in words or "strike" in words


_DATE: Final = re.compile(r"\d{4}(?:-\d\d){0,2}(?: to \d{4}(?:-\d\d){0,2})?")  # "runs out in 2027"
_SHORT: Final = frozenset(["minute", "hour", "second"])
_BEGINNING: Final = frozenset(["start", "begin", "join", "move", "switch", "transfer", "relocate", "become", "retire"])
_NAMED: Final = frozenset(["day", "month", "year"])  # they are told with what is wished: "in 2024-05"
_WISHING: Final = frozenset(["want", "wish", "hope", "like"])
_TAKING_UP: Final = frozenset(["take over", "take up", "give up"])
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
    for time in (*times, *(part for whole in times for part in _parts_of_time(whole))):
        rest = value[: -len(time)].rstrip() if value.lower().endswith(time.lower()) else ""
        rest = re.sub(r"(?:,| (?:ever )?since| back)$", "", rest)
        if rest and rest.split()[-1].lower() not in WORDS["prepositions"]:  # "a book about last summer"
            return rest
    return value


def _parts_of_time(time: str) -> list[str]:
    """Return the first and the last words of a time, of which the model took the others for the time: "a week on"."""
    words = time.split()
    cuts = range(2, len(words))
    return [" ".join(words[:k]) for k in cuts] + [" ".join(words[k:]) for k in range(1, len(words) - 1)]


def _overlap(time: str, value: str) -> bool:
    """Return whether a time is a part of what a fact is about: "is inspired by autumn"."""
    time, value = time.lower(), value.lower()
    return time in value or value in time


def is_planning(clause: Clause) -> bool:
    """Return whether a time that follows a verb is that of what is planned: "I booked a flat in Rome for May"."""
    return clause.lemma.partition(" ")[0] in WORDS["planning"] or clause.lemma == "sign up"


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
    if head.dep_ == "pcomp":
        return head.head.lower_ in ("after", "before")  # "plans to move after hearing the news on 10 July"
    return head.dep_ in ("ccomp", "acl", "csubj", "parataxis", "appos")


def planned(relation: str, lemma: str) -> str:
    """Return the relation of what is only planned: "plans to fly to" for "is flying to"."""
    participle, _, rest = relation.removeprefix("is ").partition(" ")
    if not relation.startswith("is ") or not participle.endswith("ing"):
        return relation
    return f"plans to {lemma.partition(' ')[0]} {rest}".strip()


def _for_a_time(relation: str, verb: Token) -> str:
    """Return the relation of what somebody does for a time only: "is working at" for "works at"."""
    simple, _, rest = relation.partition(" ")
    return f"is {verb.lower_} {rest}".strip() if simple == third_person(verb.lemma_.lower()) else relation


def _is_state(clause: Clause) -> bool:
    """Return whether a verb tells what lasts, not what changes."""
    is_new = any(word in ("get", "getting", "got") for word in clause.auxiliaries)  # "got married"
    has_got = clause.is_perfect and clause.verb.lower_ == "got" and "have" in clause.auxiliaries  # "I've got an exam"
    return (
        clause.is_progressive
        or has_got
        or (clause.is_passive and not is_new and not _is_told_of_once(clause))
        or clause.lemma.partition(" ")[0] in WORDS["states"]
    )


def _is_occasion(clause: Clause) -> bool:
    """Return whether a verb tells what is over when it has happened: "watched", "met with", "handed in"."""
    following = next(
        (c.lower_ for c in clause.verb.rights if c.dep_ == "prt" or (c.dep_ == "prep" and not _has_time(c))), ""
    )
    thing = next((c.lemma_.lower() for c in clause.verb.rights if c.dep_ == "dobj"), "")
    verb, _, particle = clause.lemma.partition(" ")
    if verb == "go" and _becomes(clause.verb):
        return False  # "went vegan"
    if clause.is_passive:
        return clause.is_past and verb in WORDS["treatments"]
    readings = {f"{verb}_{particle}" if particle else verb, f"{verb}_{following}", f"{verb}_{thing}"}  # "lost the game"
    return _is_had_done(clause) or bool(readings & WORDS["occasions"]) or not readings & WORDS["openings"]


def _has_time(preposition: Token) -> bool:
    """Return whether a time follows a preposition, which then belongs to no verb: "passed on Monday"."""
    return any(t.lower_ in WORDS["times"] or t.like_num for t in preposition.subtree)


def _is_had_done(clause: Clause) -> bool:
    """Return whether somebody has had something done: "got my ears pierced", "got my braces off"."""
    verb = clause.verb
    if clause.lemma.partition(" ")[0] not in ("get", "have") or not clause.is_past:
        return False
    if clause.lemma == "get off" and any(c.dep_ == "dobj" for c in verb.rights):
        return True
    done = [c for c in verb.rights if c.dep_ in ("ccomp", "xcomp", "acl", "oprd") and c.tag_ == "VBN"]
    if any(c.lemma_.lower() in WORDS["installing"] for c in done):
        return False
    return any(c.dep_ in ("nsubj", "nsubjpass", "dobj") for deed in done for c in (*deed.lefts, *verb.rights))


def _becomes(verb: Token) -> bool:
    """Return whether "go" means "become": "went vegan", "went part-time", but not "went home" or "went shopping"."""
    if verb.i + 1 >= len(verb.doc):
        return False
    following = verb.nbor()
    is_state = following.tag_ in ("JJ", "NN", "VBN") and not following.lower_.endswith("ing")
    return is_state and following.lower_ not in ("home", "abroad") and following.lemma_.lower() not in WORDS["times"]


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

"""Repairs facts whose sentence the parser has misread, and leaves out those that cannot be repaired."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from worldthread.extract.parsed.change_tables import LISTS
from worldthread.extract.parsed.discourse import is_owned_thing
from worldthread.extract.parsed.fact_judge import TextKind, is_judged_right
from worldthread.types import Fact

_PASSIVE: Final = re.compile(r"(?:is|are) (\w+)(.*)")
_WITH_TWO_OBJECTS: Final = re.compile(  # "is called Rex", "is paid 12 euros an hour"
    r"allowed|appointed|asked|awarded|born|called|charged|considered|crowned|denied|dubbed|elected|fined|given|granted|"
    r"handed|issued|left|lent|made|named|nicknamed|offered|owed|paid|promised|refused|rented|sent|shown|spared|taught|"
    r"told|voted|worth"
)
_PARTICLES: Final = "about|away|back|down|in|off|on|out|over|through|up"
_END_OF_VERB: Final = r"(?=\W*$|[,.;!?]| (?:and|at|because|but|by|on|since|so|with)\b)"
_PRONOUNS: Final = (
    re.compile(r"\b(?:he|him|his)\b", re.IGNORECASE),
    re.compile(r"\b(?:she|her|hers)\b", re.IGNORECASE),
)
_UNITS: Final = "%|percent|per cent|wks?|weeks?|days?|hours?|minutes?|miles|km|kilos?|kg|pounds|euros?|dollars|degrees"
_DATED_STATE: Final = re.compile(r" on \d{4}-\d{2}-\d{2}$")
_STATE: Final = re.compile(r"is|is a|are|has|runs|owns|keeps|manages|lives in|works at|works as")
_TWO_PREPOSITIONS: Final = re.compile(r"\b(?:of|for|with) (?:by|for|in|of|on|with)\b")  # a phrase between is lost
_NAMED: Final = re.compile(r"(?P<kind>(?:[a-z-]+ )?(?P<noun>[a-z-]+)), (?P<name>[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})")
_NAMED_KINDS: Final = LISTS["relations"] | LISTS["pets"] | LISTS["partners"]
_YEAR: Final = 366 * 86_400.0
# "I'm confident that I can master it"
_HOPE: Final = re.compile(
    r"\b(?:certain|confident|convinced|hopeful|optimistic|positive|sure)\b(?=[ ,])", re.IGNORECASE
)
_SHORTEST: Final = 12  # characters by which an object is found
# a day that is that of something else: "I'm applying for the post, closing date 1 October", "bought it, handover 1 May"
_OTHER_DAY: Final = re.compile(
    r"[,(]\s*(?:the )?(?:(?:closing|due|expiry|opening|publication|release|start|starting) date|deadline|"
    r"completion|delivery|handover|pickup|takeover)(?: is| on| by|:)? (?=\d|the \d|[A-Z])",
    re.IGNORECASE,
)
_COUNT_ALONE: Final = re.compile(r"(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+), ")  # "three, Ed and Al"
_ALONE: Final = re.compile(r"\bliv(?:e|es|ed|ing) (?:all )?alone\b", re.IGNORECASE)
_WEIGHED: Final = re.compile(r"\b(?:kilos?|kgs?|lbs?|pounds|weigh(?:s|ed|ing)?|weight)\b", re.IGNORECASE)
# "having a place of your own helps", which does not say that somebody has one
_GERUND_SUBJECT: Final = re.compile(
    r"(?:[^\s:]{1,40}: )?(?:\w+[,!] )?(?P<gerund>\w+ing)\b[^,;.!?]*?\b(?:helps?|helped|is|was|are|were|makes?|made|can|"
    r"could|will|would|should|must|might|may|gives?|gave|takes?|took|keeps?|kept|feels?|felt|brings?|brought|means?|meant|has|"
    r"seems?|sounds?)\b",
    re.IGNORECASE,
)


def meant_facts(
    facts: Iterable[Fact], sentence: str, text: str, speaker: str, at: float | None, kind: TextKind
) -> tuple[Fact, ...]:
    """Return the facts of a sentence as they are meant (:func:`repaired`) that are probably right.

    Args:
        facts: the facts.
        sentence: the sentence that they were taken from.
        text: the text of the sentence, without the label of its speaker.
        speaker: who says it; empty if nobody is known to say it.
        at: the time of the text; ``None`` where that is not known.
        kind: what kind of text it is.

    Returns:
        Those facts in order, none twice.
    """
    as_meant = (repaired(one, sentence, text, at) for one in facts)
    meant = dict.fromkeys(one for one in as_meant if one is not None)
    return tuple(one for one in meant if is_judged_right(one, text, speaker, at, kind))


def repaired(fact: Fact, sentence: str, message: str, at: float | None) -> Fact | None:
    """Return a fact as its sentence means it.

    Args:
        fact: the fact.
        sentence: the sentence that it was taken from.
        message: the message of the sentence.
        at: the time of the message; ``None`` where that is not known.

    Returns:
        The fact; ``None`` where what it says cannot have been meant: a verb that is the end of a name, a list taken for
        a description, a pronoun that means somebody of whom the message told before it named the subject.
    """
    if (
        fact.relation.startswith("'")
        or _TWO_PREPOSITIONS.search(fact.object) is not None
        or (fact.object.startswith("longer ") and "no longer" in sentence.lower())  # of which the "no" is lost
        or _is_list(fact)
        or _is_means_or_hope(fact, sentence)
        or _lacks_particle(fact, sentence)
        or _means_somebody_else(fact, sentence, message)
        or _is_of_owner(fact, sentence)
        or (fact.relation == "has" and _COUNT_ALONE.match(fact.object) is not None)
        or (fact.relation in ("lives with", "lives on") and _ALONE.search(sentence) is not None)
    ):
        return None
    if fact.relation.startswith("has ") and fact.object.endswith("'s") and " " not in fact.object:
        fact = replace(fact, object=fact.object.removesuffix("'s"))  # "my son Fabian's phone"
    if fact.relation == "has" and fact.object.startswith("to "):  # "I've to be out by December"
        fact = replace(fact, relation="needs to", object=fact.object[3:])
    named = _NAMED.fullmatch(fact.object) if fact.relation == "has" else None
    if named is not None and named["noun"] in _NAMED_KINDS:  # "I have a brother, Siem"
        fact = replace(fact, object=f"{named['kind']} called {named['name']}")
    fact = replace(fact, subject=_whole_name(fact.subject, sentence))
    before, verb, _ = fact.subject.partition(f" {fact.relation} ")
    if verb:  # the parser took the whole of "my lease runs until May, then nothing" for a name
        fact = replace(fact, subject=before)
    is_turning = fact.relation == "has age" and _is_turning(fact.object, sentence)
    is_weight = not is_turning and _WEIGHED.search(message) is not None  # "I lost three kilos, I'm 84 now"
    is_unclear = is_weight or _is_quantity(fact.object, sentence) or (is_turning and fact.valid_from is None)
    if fact.relation == "has age" and is_unclear:
        return None
    if fact.valid_from is not None and _OTHER_DAY.search(sentence) is not None:
        fact = _undated(fact)
    if is_turning:
        fact = replace(fact, valid_to=None)
    if fact.relation == "is called" or (
        fact.relation == "has age" and not is_turning and _is_of_another_time(fact, at)
    ):
        fact = _undated(fact)  # "I'm 40, have the licence since 2004"
    if _DATED_STATE.search(fact.object) is not None and _STATE.fullmatch(fact.relation) is not None:
        fact = replace(fact, object=_DATED_STATE.sub("", fact.object))  # "I run a farm, lambing starts on 12 March"
    return _with_perfect(fact, sentence)


def _is_means_or_hope(fact: Fact, sentence: str) -> bool:
    """Return whether a sentence says what would be, or by what, and not what is."""
    first = fact.object.split()[0] if fact.object else ""
    if fact.relation.endswith(" by") and first.endswith("ing"):  # "living my dream by having my own studio"
        return True
    if fact.relation.endswith(" in") and first == "for":  # "I'm in for the show"
        return True
    if fact.relation.split()[0] in ("can", "will") and (hope := _HOPE.search(sentence)) is not None:
        return fact.object[:_SHORTEST] in sentence[hope.end() :]
    begun = _GERUND_SUBJECT.match(sentence)
    if begun is None:
        return False
    gerund = begun["gerund"].lower()
    return gerund in fact.relation.split() or (gerund == "having" and fact.relation == "has")


def _is_turning(age: str, sentence: str) -> bool:
    """Return whether somebody is only turning an age: "Nan's turning 80 on the 22nd"."""
    return re.search(rf"\bturn(?:s|ing)? {re.escape(age)}\b", sentence, re.IGNORECASE) is not None


def _with_perfect(fact: Fact, sentence: str) -> Fact | None:
    """Return "has lost" for "is lost" where "'s lost" was said and an object follows: "she's lost 4 kilos"."""
    match = _PASSIVE.fullmatch(fact.relation)
    if match is None or not fact.object:
        return fact
    verb, rest = match[1], match[2]
    if verb == "been":
        return replace(fact, relation=f"has been{rest}")
    if verb in ("got", "had"):
        is_duty = fact.object.startswith("to ")
        if rest or (is_duty and verb == "had"):
            return None
        relation, what = ("needs to", fact.object[3:]) if is_duty else ("has", fact.object)
        return replace(fact, relation=relation, object=what)
    is_participle = verb.endswith("ed") or verb in ("lost", "won", "bought", "sold", "built", "found", "taken", "begun")
    is_said = re.search(rf"['’]s (?:\w+ )?{verb}\b", sentence) is not None
    if rest or not is_participle or not is_said or _WITH_TWO_OBJECTS.fullmatch(verb) is not None:
        return fact
    return replace(fact, relation=f"has {verb}")


def _whole_name(name: str, sentence: str) -> str:
    """Return "Balatbat-Serrano" for "Serrano", where the sentence has it only so."""
    last = name.removeprefix("-")
    if not last or re.search(rf"(?<![\w-]){re.escape(last)}", sentence) is not None:
        return name
    match = re.search(rf"(?<![\w-])[^\W\d_]\w*(?:-\w+)*-{re.escape(last)}(?!\w)", sentence)
    return name if match is None else match[0]


def _is_list(fact: Fact) -> bool:
    return fact.relation == "is a" and ", " in fact.object and re.search(r", (?:two|three|\d)", fact.object) is not None


def _lacks_particle(fact: Fact, sentence: str) -> bool:
    """Return whether a participle lacks what belongs to it: "is moved" of "the girlfriend's moved in"."""
    if fact.relation not in ("is", "are", "was", "were") or not fact.object.isalpha():
        return False
    return re.search(rf"\b{fact.object} (?:{_PARTICLES})\b{_END_OF_VERB}", sentence) is not None


def _undated(fact: Fact) -> Fact:
    return replace(fact, valid_from=None, valid_to=None, begins_by=None)


def _is_quantity(number: str, sentence: str) -> bool:
    """Return whether a number counts something else than years: "I'm 14 weeks pregnant", "takes 5 percent"."""
    return (
        re.search(rf"\b{re.escape(number)}(?:st|nd|rd|th)?[ -]?(?:{_UNITS})(?!\w)", sentence, re.IGNORECASE) is not None
    )


def _is_of_another_time(fact: Fact, at: float | None) -> bool:
    """Return whether the interval is that of another clause: nobody is of an age for more than a year."""
    is_old = fact.valid_from is not None and at is not None and fact.valid_from < at - _YEAR
    return is_old or fact.valid_to is not None


def _is_of_owner(fact: Fact, sentence: str) -> bool:
    """Return whether a pronoun was read as a thing, and means its owner: "my friend's wedding was lovely, she ..."."""
    verb = re.escape(fact.relation.partition(" ")[0])
    return is_owned_thing(fact.subject) and (
        re.search(rf"\bs?he(?:['’]s)? (?:\w+ )?{verb}\b", sentence, re.IGNORECASE) is not None
    )


def _means_somebody_else(fact: Fact, sentence: str, message: str) -> bool:
    """Return whether a pronoun is the subject's, though the message used it before it named the subject."""
    name = fact.subject.split()[-1].removesuffix("'s").lower() if fact.subject else ""
    if not name or name in sentence.lower():
        return False
    named = message.lower().find(name)
    said = [match.start() for one in _PRONOUNS if one.search(sentence) and (match := one.search(message))]
    return named > 0 and bool(said) and all(place < named for place in said)

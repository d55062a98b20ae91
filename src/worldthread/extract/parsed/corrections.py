"""Finds the facts that a message corrects: what was said before by mistake, and was never so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from worldthread.extract.parsed.amendments import is_news
from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.change_tables import TABLE, number_of
from worldthread.extract.parsed.endings import CALLED
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_CUES: Final = re.compile(rf"\b(?:{TABLE['corrections']['cues'].replace(chr(10), '').strip()})\b", re.IGNORECASE)
OPENING: Final = re.compile(
    r"(?:(?:no,? wait|wait,? no|no,? no|sorry,? no|actually,? no|oops,? no|no,? sorry|"
    r"no|wait|oops|whoops|sorry|actually|ah|oh|hm|my bad|my mistake|hang on|hold on|scratch that|strike that|"
    r"correction|small correction|edit|typo|"
    r"i (?:was (?:wrong|mistaken)|stand corrected|made a (?:mistake|typo|slip)|misread (?:it|that|this|the \w+)|"
    r"(?:mixed|got) (?:that|it|them|this|those) (?:up|wrong|mixed up)|misspoke|misremembered|miscounted|"
    r"mistyped(?: that| it)?|"
    r"misheard(?: that| it)?|had (?:that|it) wrong|said (?:that|it) wrong)"
    r"(?: about (?:that|it)| (?:there|earlier|before|yesterday))?|"
    r"(?:that|this|it|what i said|what i wrote)(?:['’]s| is| was) "
    r"(?:wrong|not right|not true|not correct|incorrect|false|a mistake|a typo|an error))"
    r"[,:;.!–—-]++ ?)+",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(  # "Actually I'm not allergic to peanuts, it's cashews"
    r"^actually,? (?:\w+'(?:m|s|re)|(?:\w+ ){1,4}?(?:am|is|are)) not (?P<words>[^,.;:!?]+)"
    r"(?:[,;.–—-]| but) ?(?:it's|i'm|he's|she's|they're|we're|it is|but)\b",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(
    r"(?:(?:,| and| but) not|\binstead of|\brather than|\b(?:wrong|mistaken) about|^not|[,;:.!] not|"
    r"\b(?:said|told you|wrote|mentioned) about|\bdid i (?:say|write)|"
    r"^i (?:said|wrote|told you)(?: it was| i was born| i live| i work)?|"
    r"\b(?:it|that|he|she|name) (?:isn't|wasn't|is not|was not)|\bnever)"
    r"(?: (?:in|at|on|to|from|for|a|an|the))*+ (?P<words>[^,.;:!?]+)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]+(?:[:.'’-][^\W_]+)*")
_SINGLE: Final = re.compile(
    r"(?:born|died|liv(?:es|ed)|work(?:s|ed)|has name|is called|is from|is (?:on|at|in)|leaves|opens|closes|starts|"
    r"arrives|"
    r"stud(?:ies|ied)|moved|graduated|married|weighs|costs|has (?:birthday|age|.*name|.*number|.*address|.*colou?r)|"
    r"was .* (?:in|on|by|at)|speaks)\b.*"
)


_ATTRIBUTE: Final = re.compile(
    r"\bi (?:gave|told|sent) you (?:the|a) wrong "
    r"(?P<noun>(?:e-?mail|phone number|number|address|name|age|birthday|password|pin)\b)"
    r"|\b(?:typo|mistake|error) in my (?P<noun2>[\w-]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Correction:
    """That a message corrects something.

    Args:
        text: the message.
        speaker: who says it.
        wrong: the words that it calls wrong: "Hamburg" in "Homburg, not Hamburg".
        is_certain: whether it says so; without it, "35, not 36" corrects only a fact of the same kind with "36".
    """

    text: str
    speaker: str
    wrong: tuple[str, ...]
    is_certain: bool = True


_CONTRAST: Final = re.compile(
    r", (?:and )?not (?!any|yet|only|just|really|sure|that|because|since|for|so|as|even|even)\w", re.IGNORECASE
)


def correction_of(text: str, speaker: str) -> Correction | None:
    """Return the correction that a message makes; ``None`` when it makes none.

    Args:
        text: the message without its label.
        speaker: who says it.
    """
    plain = text.replace("’", "'")
    denied = _DENIED.match(plain)
    is_certain = denied is not None or _CUES.search(plain) is not None or OPENING.match(plain) is not None
    if is_news(plain) or (not is_certain and _CONTRAST.search(plain) is None):
        return None
    wrong = tuple(match["words"].strip() for match in _INSTEAD.finditer(plain))
    if denied is not None:
        wrong += (denied["words"].strip(),)
    return Correction(text, speaker, wrong, is_certain)


def corrected_facts(correction: Correction, stated: Iterable[Fact], view: GraphView) -> list[Fact]:
    """Return the facts that a correction calls wrong.

    Args:
        correction: the correction.
        stated: the facts that its message states.
        view: what the memory holds.

    Returns:
        Facts that hold: those with the words that are called wrong, or else those in place of which the message states
        others, or else the one of an attribute that it says was wrong; none where that is not clear.
    """
    new = list(stated)
    ours = _facts_of(correction, new, view)
    found = [fact for fact in ours if fact not in new and any(_has(fact, words) for words in correction.wrong)]
    kinds = {(_plain(f), _kind(f)) for f in new}
    exact = [f for f in found if (_plain(f), _kind(f)) in kinds]
    if not correction.is_certain:
        return exact
    if found:
        return with_named(exact or found, view)
    found += [fact for fact in ours if fact not in new and _is_other_count(fact, correction.text)]
    for fact in new:
        found += [old for old in ours if old not in new and (_is_replaced(old, fact) or _is_renamed(old, fact))]
    if found:
        return with_named(found, view)
    others = [f for f in ours if f not in new]
    if new:  # what is said of a son corrects nothing of his mother
        subjects = {_plain(f) for f in new}
        others = [f for f in others if _plain(f) in subjects or subjects & set(f.key[2].split())]
    return with_named(_of_attribute(correction, others), view)


def with_named(facts: list[Fact], view: GraphView) -> list[Fact]:
    """Return facts with what is said of the names in them: of Luna, when "has cat called Luna" was never so."""
    names = [match[1] for fact in facts if (match := CALLED.search(fact.object)) is not None]
    return list(dict.fromkeys([*facts, *(fact for name in names for fact in view.facts(subject=name))]))


def _of_attribute(correction: Correction, facts: list[Fact]) -> list[Fact]:
    """Return the one fact of an attribute that a correction calls wrong: "I gave you the wrong number"."""
    match = _ATTRIBUTE.search(correction.text)
    if match is None:
        return []
    noun = normalise_name(match["noun"] or match["noun2"])
    found = [f for f in facts if re.fullmatch(rf"(?:has (?:.* )?)?{re.escape(noun)}(?: is)?", f.key[1]) is not None]
    return found if len(found) == 1 else []


def _facts_of(correction: Correction, new: list[Fact], view: GraphView) -> list[Fact]:
    """Return the facts of the speaker, of what the speaker has, and of what the message speaks of."""
    speaker = correction.speaker
    subjects = dict.fromkeys([speaker, *(fact.subject for fact in new)])
    owned = normalise_name(f"{speaker}'s ")
    text = normalise_name(correction.text)
    found = [f for subject in subjects for f in _ever(subject, view)]
    prefix = f"{owned} "
    for fact in view.facts():
        subject = fact.key[0]
        if subject.startswith(prefix) or re.search(rf"\bthe {re.escape(subject)}\b", text) is not None:
            found.append(fact)
    return list(dict.fromkeys(found))


def _ever(subject: str, view: GraphView) -> list[Fact]:
    """Return what was so of somebody at any time: who was born in 1990 was so once."""
    versions = (v for v in view.timeline(subject) if v.interval.valid_from < v.interval.valid_to)
    facts = (v.statement for v in versions if isinstance(v.statement, Fact))
    return [fact for fact in facts if fact.key[0] == normalise_name(subject)]


def _plain(fact: Fact) -> str:
    """Return the subject without its owner: "flight" for "Tom's flight"."""
    subject = fact.key[0]
    return subject.rpartition("'s ")[2]


def _has(fact: Fact, words: str) -> bool:
    wanted = normalise_name(words).split()
    have = _WORD.findall(fact.key[2])
    called_wrong = _WORD.findall(" ".join(wanted))
    said = {*have, *fact.key[1].split()}  # "allergic to peanuts" is (user, is allergic to, peanuts)
    return all(word in said for word in called_wrong) and any(word in have for word in called_wrong)


def _is_replaced(old: Fact, new: Fact) -> bool:
    """Return whether a message states one fact in place of another one."""
    if old.key == new.key or _plain(old) != _plain(new):
        return False
    if "'s " in new.key[0] and "'s " in old.key[0] and old.key[0] != new.key[0]:
        return False
    if _verb(old) != _verb(new):
        return False
    if aspect_for(old) is not None and aspect_for(old) == aspect_for(new):
        return True
    one, other = old.key[2].split(), new.key[2].split()
    if _SINGLE.fullmatch(old.key[1]) is not None and old.key[1].split()[-1] == new.key[1].split()[-1]:
        return len(one) == 1 or len(other) == 1 or bool(set(one) & set(other)) or not one[0].isalpha() or one[0] == "on"
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1 and len(one) > 1


def _is_renamed(old: Fact, new: Fact) -> bool:
    """Return whether a message gives another name of what a fact names: "the cat's name is Tigger"."""
    named = CALLED.search(old.object)
    if named is None or new.key[1] not in ("has name", "is called"):
        return False
    kind = old.key[2].partition(" called ")[0].partition(" named ")[0]
    noun = _plain(new).removeprefix("the ")
    return kind.split()[-1] == noun and normalise_name(named[1]) != new.key[2]


def _is_other_count(fact: Fact, text: str) -> bool:
    """Return whether a text gives another number of the same things: "I meant three brothers" of "two brothers"."""
    number, _, things = fact.key[2].partition(" ")
    if not things or number_of(number) is None:
        return False
    match = re.search(rf"\b([\w-]+) {re.escape(things)}\b", text.lower())
    return match is not None and number_of(match[1]) not in (None, number_of(number))


def _verb(fact: Fact) -> str:
    """Return the first word of a relation without its tense: "liv" for "lives" and "lived"."""
    verb = fact.key[1].split()[0]
    return "has" if verb in ("got", "owns", "has") else re.sub(r"(?:e?s|e?d|ies|ied)$", "", verb)


def _kind(fact: Fact) -> str:
    """Return what a fact says of its subject: the attribute of "has shoe size", or the verb."""
    return fact.key[1] if fact.key[1].startswith("has ") else _verb(fact)

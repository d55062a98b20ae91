"""Decides what the simple sentences of a message state beside its other sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.simple_sentences import LISTS, Simple
from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc

_FINITE: Final = frozenset(["MD", "VBD", "VBP", "VBZ"])
_SHORT: Final = 5  # words of a sentence without a verb that only reacts
_REACTION: Final = re.compile(
    r"(?:(?:ok(?:ay)?|oh|ah|well|right|so|yes|yeah|no|wow|haha|great|good|thanks|thank you|cheers|ha|omg|and|but)\b"
    r"[ ,.!]*)*"
    r"(?:(?:that|this|it)(?:['’]s| is| was| sounds?| looks?| makes?| made| helps?| helped| worked| works| seems| went)"
    r"(?: (?:\w+ ){0,2}(?:better|brilliant|clear|cool|fantastic|fine|funny|good|great|grand|helpful|ideal|interesting|"
    r"kind|lovely|nice|perfect|right|sense|sweet|true|useful|well|wonderful|a lot|so much|gold|spot on|amazing|"
    r"awesome))?|"
    r"(?:i )?(?:appreciate|love|like) (?:it|that|this)|i (?:see|understand|know|agree|hope so|think so|get it)|"
    r"(?:i )?can['’]?t wait|you(?:['’]re| are) (?:\w+ ){0,3}\w+|got it|will do|no worries|"
    r"never mind|nice one|sounds \w+)"
    r"(?: (?:now|then|really|actually|too|thanks|thank you|so much|a lot|mate|lol))*",
    re.IGNORECASE,
)


def states_nothing(doc: Doc) -> bool:
    """Return whether a sentence of a message only greets, thanks, reacts, asks or asks for something.

    Args:
        doc: the dependency tree of the sentence, without a greeting at its beginning.
    """
    text = doc.text.strip(" .!")
    if not text or text.rstrip("\"'”’») ").endswith("?"):
        return True
    words = [t for t in doc if not t.is_punct]
    if not words or words[0].lower_ in LISTS["requests"] | LISTS["thanking"]:
        return True
    if _REACTION.fullmatch(text) is not None:
        return True
    has_content = any(t.tag_ in _FINITE or t.like_num or t.tag_ == "NNP" for t in words)
    return len(words) <= _SHORT and not has_content


def joined_with(stated: tuple[Fact, ...], found: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the facts of a sentence with those of a simple sentence in it that say something else.

    Args:
        stated: the facts of the sentence.
        found: the facts of the simple sentence.
    """
    joined = list(stated)
    for one in found:
        same = next((i for i, other in enumerate(joined) if _says_the_same(one, other)), None)
        if same is None:
            joined.append(one)
        elif _says_more(one, joined[same]):
            joined[same] = one
    return tuple(joined)


def _says_more(one: Fact, other: Fact) -> bool:
    """Return whether a fact is another one with more behind its object, or with its time."""
    if one.relation == "has age" and other.relation == "is":
        return True
    is_longer = one.relation == other.relation and one.object.startswith(f"{other.object},")
    return is_longer and one.valid_from == other.valid_from


def _says_the_same(one: Fact, other: Fact) -> bool:
    if normalise_name(one.subject) != normalise_name(other.subject):
        return False
    words, others = (set(re.findall(r"\w+", f"{f.relation} {f.object}".lower())) for f in (one, other))
    told, others_told = (set(re.findall(r"\w+", f.object.lower())) for f in (one, other))
    is_part = told <= others_told or others_told <= told
    return one.key == other.key or is_part or len(words & others) * 2 > min(len(words), len(others))


_NAMING: Final = ("has name", "is called")
_WISHING: Final = ("needs to", "wants to", "hopes to", "has to", "plans to be", "plans to get", "wishes")
_CUT: Final = frozenset(["has in", "has on", "has out", "has up", "has down", "has off", "has back"])
_ONES: Final = frozenset(["one", "ones", "thing", "things", "bit", "rest", "everything", "everyone", "whole"])
_MEASURE: Final = re.compile(r"\b(?:years?|months?|weeks?|degrees|hours?|minutes) (?!of)")
_DAY: Final = re.compile(
    r"\d|day\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_NOTHING: Final = frozenset(["yes", "no", "ok", "one", "okay", "so", "that", "it"])


_OF_SHOPS: Final = frozenset(["is", "opens", "closes", "shuts"])
"""What "the chemist's" does, in which the parser sees no "has"."""


def is_garbled(fact: Fact) -> bool:
    """Return whether a fact takes more for a name than is one, or answers: "Pete did yes"."""
    if (
        (fact.subject.endswith(("'s", "’s")) and fact.relation.split()[0] not in _OF_SHOPS)
        or not fact.object[:1].strip(",;:.-")
        or fact.object.lower() in _NOTHING
        or fact.object.endswith(" own")
        or fact.relation == "types"
    ):
        return True
    return fact.relation in _NAMING and " and " in fact.object and "'s " in fact.object


def with_name(fact: Fact, simple: Simple, doc: Doc) -> Fact:
    """Return a fact of a simple sentence with the capital of its subject, and without a space before a comma.

    Args:
        fact: the fact.
        simple: the sentence.
        doc: its dependency tree.
    """
    is_lowered = fact.subject != simple.subject and fact.subject.lower() == simple.subject.lower()
    subject = simple.subject if is_lowered and doc[0].tag_ == "NNP" else fact.subject
    return replace(fact, subject=subject, object=fact.object.replace(" ,", ","))


def _is_cut(fact: Fact, doc: Doc) -> bool:
    """Return whether a fact lacks what it speaks of, or tells of a moment: "has six", "has finalised", "is free"."""
    words = fact.object.lower().split()
    first = next((t for t in doc if t.lower_ == words[0]), None)
    tag = "" if first is None else first.tag_
    if (
        words == ["to"]
        or " is " in fact.subject
        or "past" in fact.relation.split()
        or (fact.relation == "does" and len(words) > 1)
    ):
        return True
    if fact.relation == "has" and (tag in ("VBN", "TO") or (len(words) == 1 and tag == "CD")):
        return True
    if fact.relation == "is on" and any(t.lower_ == "due" for t in doc):
        return not any(t.lower_ == "on" for t in doc)
    is_moment = len(words) == 1 and tag in ("JJ", "RB", "JJR") and words[0] not in WORDS["lasting_adjectives"]
    return fact.relation == "is" and is_moment and words[0].islower() and fact.object.islower()


def acceptable(fact: Fact, simple: Simple, doc: Doc, *, has_time: bool = False) -> bool:
    """Return whether a fact of a simple sentence is stated although the message says other things, too.

    Args:
        fact: the fact, read as if the sentence were all that is said.
        simple: the sentence.
        doc: its dependency tree.
        has_time: whether the sentence that it was taken from names a time.
    """
    first, *others = fact.relation.split()
    if is_garbled(fact) or not fact.object or fact.relation.startswith(_WISHING) or fact.relation in _CUT:
        return False
    if simple.subject.lower() in ("it", "there", "this", "that", "they") or set(fact.subject.lower().split()) & _ONES:
        return False
    if re.search(r"\d degrees", fact.object) or _is_cut(fact, doc):
        return False
    if fact.relation == "is on" and (_MEASURE.search(fact.object) or not _DAY.search(fact.object)) and fact.valid_from:
        return False
    if any(t.lower_ == first.removesuffix("s") and t.lower_ in WORDS["same_past"] for t in doc):
        return False  # "I set the back three weeks": now or then?
    last = fact.object.split()[-1]
    said = next((t for t in doc if t.text == last), None)
    if (
        said is not None
        and len(fact.object.split()) == 1
        and said.tag_ in ("RB", "RBR", "RBS", "RP")
        and others != ["not"]
    ):
        return fact.object == "away"
    is_thing = simple.subject.lower().startswith(("the ", "this ", "that ")) or not simple.subject[:1].isupper()
    if is_thing and fact.relation == "is" and fact.object.islower() and not any(c.isdecimal() for c in fact.object):
        return False
    if others and first == "is" and others[0].endswith("ing"):
        return fact.valid_from is not None or others[0] in LISTS["lasting_progressive"]
    token = next((t for t in doc if t.lower_ == first), None)
    is_dated = fact.valid_from is not None or fact.valid_to is not None
    is_got = first == "got" and not any(t.lower_ in ("'ve", "'s", "have", "has") for t in doc)
    if token is not None and (token.tag_ == "VBD" or is_got):
        if has_time and not is_dated:
            return False  # "sports day was on the 5th of July and our lad won the sack race"
        if first in ("was", "were"):
            return fact.relation.startswith(("was born", "was diagnosed"))
        is_new = token.lemma_ == "get" and any(t.lower_ in ("a", "an", "new") for t in doc[token.i + 1 : token.i + 3])
        return token.lemma_.lower() in LISTS["life_events"] or is_new
    return True

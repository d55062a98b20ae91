"""Decides what the simple sentences of a message state beside its other sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.simple_sentences import LISTS, Simple
from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc

_FINITE: Final = frozenset(["MD", "VBD", "VBP", "VBZ"])
_SHORT: Final = 5  # words of a sentence without a verb that only reacts
_REACTION: Final = re.compile(
    r"(?:(?:ok(?:ay)?|oh|ah|well|right|so|yes|yeah|no|wow|haha|great|good|thanks|thank you|cheers|ha|omg|and|but)\b[ ,.!]*)*"
    r"(?:(?:that|this|it)(?:['’]s| is| was| sounds?| looks?| makes?| made| helps?| helped| worked| works| seems| went)"
    r"(?: (?:\w+ ){0,2}(?:better|brilliant|clear|cool|fantastic|fine|funny|good|great|grand|helpful|ideal|interesting|"
    r"kind|lovely|nice|perfect|right|sense|sweet|true|useful|well|wonderful|a lot|so much|gold|spot on|amazing|awesome))?|"
    r"(?:i )?(?:appreciate|love|like) (?:it|that|this)|i (?:see|understand|know|agree|hope so|think so|get it)|"
    r"(?:i )?can['’]?t wait|you(?:['’]re| are) (?:\w+ ){0,3}\w+|got it|will do|no worries|never mind|nice one|sounds \w+)"
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


def joined_with(stated: tuple[Fact, ...], found: list[Fact]) -> tuple[Fact, ...]:
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
    is_longer = one.relation == other.relation and one.object.startswith(f"{other.object},")
    return is_longer and one.valid_from == other.valid_from


def _says_the_same(one: Fact, other: Fact) -> bool:
    if normalise_name(one.subject) != normalise_name(other.subject):
        return False
    words, others = (set(re.findall(r"\w+", f"{f.relation} {f.object}".lower())) for f in (one, other))
    return one.key == other.key or len(words & others) * 2 > min(len(words), len(others))


_NAMING: Final = ("has name", "is called")
_NOTHING: Final = frozenset(["yes", "no", "ok", "okay", "so", "that", "it"])


def is_garbled(fact: Fact) -> bool:
    """Return whether a fact takes more for a name than is one, or answers: "Pete did yes"."""
    if fact.object.lower() in _NOTHING:
        return True
    return fact.relation in _NAMING and " and " in fact.object and "'s " in fact.object


def acceptable(fact: Fact, simple: Simple, doc: Doc) -> bool:
    """Return whether a fact of a simple sentence is stated although the message says other things, too.

    Args:
        fact: the fact, read as if the sentence were all that is said.
        simple: the sentence.
        doc: its dependency tree.
    """
    first, *others = fact.relation.split()
    if is_garbled(fact) or fact.relation.startswith(("needs to", "wants to")) or not fact.object:
        return False
    if simple.subject.lower() in ("it", "there", "this", "that", "they"):
        return False
    if others and first == "is" and others[0].endswith("ing"):
        return fact.valid_from is not None or others[0] in LISTS["lasting_progressive"]
    token = next((t for t in doc if t.lower_ == first), None)
    if token is not None and token.tag_ == "VBD":
        if first in ("was", "were"):
            return fact.relation.startswith(("was born", "was diagnosed"))
        is_new = token.lemma_ == "get" and any(t.lower_ in ("a", "an", "new") for t in doc[token.i + 1 : token.i + 3])
        return token.lemma_.lower() in LISTS["life_events"] or is_new
    return True

"""Decides what the simple sentences of a message state beside its other sentences."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc

_LISTS: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        files("worldthread.extract.parsed").joinpath("simple_sentences.toml").read_text(encoding="utf-8")
    ).items()
}
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
    if not words or words[0].lower_ in _LISTS["requests"] | _LISTS["thanking"]:
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
    return stated + tuple(one for one in found if not any(_says_the_same(one, other) for other in stated))


def _says_the_same(one: Fact, other: Fact) -> bool:
    if normalise_name(one.subject) != normalise_name(other.subject):
        return False
    words, others = (set(re.findall(r"\w+", f"{f.relation} {f.object}".lower())) for f in (one, other))
    return one.key == other.key or len(words & others) * 2 > min(len(words), len(others))


def acceptable(fact: Fact, text: str) -> bool:
    """Return whether a fact of a simple sentence is stated although the message says other things, too.

    Args:
        fact: the fact.
        text: the simple sentence.
    """
    return True

"""Replaces idioms of ending by plain verbs: "got the sack" by "resigned", "said goodbye to" by "abandoned"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.change_tables import TABLE

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_POSSESSIVES: Final = r"(?:my|your|his|her|its|our|their|an?|the|\S+ 's)"
_NOUN: Final = r"(?P<noun>(?:my |your |his |her |our |their |the )?\S+(?: and \S+)?)"
_BETWEEN: Final = r"(?:(?:finally|just|really|officially|already|all|also|now|so|then|recently|completely|\w+ly) )*"
_FULL: Final = {"n't": "not"}
_INFLECTED: Final = re.compile(r"~(\w+)")


def _pattern(words: str) -> re.Pattern[str]:
    """Return the expression for an idiom of the table."""
    first, _, rest = words.replace("POSS", _POSSESSIVES).partition(" ")
    if first == "and":  # "and i be over"
        subject, verb, rest = (*rest.split(" ", 2), "")[:3]
        first = f"and {subject} (?:have )?{verb}"
    text = f"{first} {_BETWEEN}{rest.replace('@', _NOUN)}"
    return re.compile(rf"(?<!\S){text}(?!\S)")


_IDIOMS: Final = [
    (plain, [_pattern(" ".join(words.split())) for words in idioms.split("|")])
    for plain, idioms in TABLE["idioms"].items()
]


def without_idioms(doc: Doc) -> str | None:
    """Return a sentence with plain verbs in place of its idioms of ending.

    Args:
        doc: the dependency tree of the sentence.

    Returns:
        The sentence, which says the same as far as changes are concerned; ``None`` where it has no such idiom.
    """
    words = [t.lemma_.lower() if t.pos_ in ("VERB", "AUX") else _FULL.get(t.lower_, t.lower_) for t in doc]
    starts = {sum(len(word) + 1 for word in words[:number]): number for number in range(len(words))}
    ends = {start + len(words[number]): number for start, number in starts.items()}
    text = " ".join(words)
    matches = [(match, plain) for plain, patterns in _IDIOMS for p in patterns if (match := p.search(text)) is not None]
    matches = [(match, plain) for match, plain in matches if match.start() in starts and match.end() in ends]
    if not matches:
        return None
    found, plain = max(matches, key=lambda one: len(one[0][0]))
    first, last = starts[found.start()], ends[found.end()]
    verb = next((t for t in doc[first : last + 1] if t.pos_ in ("VERB", "AUX")), doc[first])
    span = found.groupdict().get("noun")
    noun = "" if span is None else doc[starts[found.start("noun")] : ends[found.end("noun")] + 1].text
    inflected = _INFLECTED.sub(lambda match: _as(match[1], verb), plain).replace("@", noun)
    return " ".join(part for part in (doc[:first].text, inflected, doc[last + 1 :].text) if part)


def _as(lemma: str, verb: Token) -> str:
    """Return a regular verb in the form of another verb; a state in the present becomes a past event."""
    if verb.tag_ == "VB" and not (verb.lemma_ == "be" and verb.dep_ == "ROOT"):
        return lemma
    if verb.tag_ == "VBG":
        return lemma.removesuffix("e") + "ing"
    return lemma + ("d" if lemma.endswith("e") else "ed")

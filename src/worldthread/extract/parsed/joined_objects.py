"""Takes a joined clause out of an object, and leaves out objects that end within a phrase.

In "Dad was a signalman and mum cleaned trains" and "we got the house for 310,000 and the mortgage runs till 2041" the
parser joins the second clause to a noun of the first one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.facts import LocatedFact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_FINITE: Final = frozenset(["MD", "VBD", "VBP", "VBZ"])
_RELATIVE: Final = frozenset(["WDT", "WP", "WP$", "WRB"])
_JOINTS: Final = (" and ", " but ")
_PERSONS: Final = frozenset(
    ["dad", "everybody", "everyone", "he", "it", "mam", "mom", "mum", "nobody", "she", "someone", "they", "we", "you"]
)
_NOUNS: Final = frozenset(["NN", "NNS"])
_SHORTEST: Final = 3  # words of a tail that is looked up in the sentence, so that it is the one meant


def without_joined_clause(doc: Doc, stated: LocatedFact) -> LocatedFact | None:
    """Return a fact whose object ends before a clause that is joined to it.

    Args:
        doc: the dependency tree of its sentence.
        stated: the fact.

    Returns:
        The fact, mostly as it is; ``None`` where its object is cut within a noun phrase: "two bed council" of "a two
        bed council flat".
    """
    value = stated.fact.object
    for joint in _JOINTS:
        first, found, second = value.partition(joint)
        if found and (_begins_with_person(second) or _is_clause(_tokens(doc, f"{joint.strip()} {second}"))):
            return stated._replace(fact=replace(stated.fact, object=first))
    tail = _tokens(doc, " ".join(value.split()[-_SHORTEST:]))
    if len(value.split()) >= _SHORTEST and tail and _is_cut(tail[-1]):
        return None
    return stated


def _tokens(doc: Doc, text: str) -> list[Token]:
    """Return the tokens of a text that stands in the sentence; none where it is written otherwise there."""
    begin = doc.text.find(text)
    span = doc.char_span(begin, begin + len(text)) if begin >= 0 else None
    return [] if span is None else list(span)


def _begins_with_person(text: str) -> bool:
    """Return whether a text begins with somebody who does something: "mum cleaned trains", but not "mum"."""
    first, _, rest = text.lower().partition(" ")
    return bool(rest) and first in _PERSONS


def _is_clause(tokens: list[Token]) -> bool:
    """Return whether tokens after a conjunction have a verb of their own: "and mum cleaned trains"."""
    for token in tokens:
        if token.tag_ in _RELATIVE or token.lower_ == "that":
            return False
        is_finite = token.tag_ in _FINITE and token.pos_ in ("AUX", "VERB")
        if is_finite or (token.tag_ == "VBN" and any(c.dep_ == "dobj" for c in token.rights)):
            return True
    return False


def _is_cut(last: Token) -> bool:
    """Return whether the noun phrase goes on behind its last word."""
    if last.i + 1 >= len(last.doc) or last.tag_ not in ("JJ", "NN") or not last.whitespace_:
        return False
    following = last.nbor()
    is_head = following.tag_ in _NOUNS and following in last.ancestors and last.dep_ in ("amod", "compound")
    is_lost = following.lower_ in ("flat", "house") and following.dep_ in ("acomp", "advmod", "oprd")
    return (is_head or is_lost) and following.lemma_.lower() not in WORDS["times"]

"""Says whether what stands behind "be" lasts: "left-footed", "five foot two", "halfway through Emma", not "tired"."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS, Clause
from worldthread.extract.parsed.phrases import is_pronoun

if TYPE_CHECKING:
    from spacy.tokens import Token

LISTS: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        files("worldthread.extract.parsed").joinpath("assertions.toml").read_text(encoding="utf-8")
    ).items()
}
"""The word lists of ``assertions.toml`` by name."""
_COMPLEMENTS: Final = frozenset(["acomp", "advmod", "attr", "npadvmod", "oprd", "prep"])
_MADE: Final = re.compile(rf"(?:^|-)(?:{'|'.join(sorted(LISTS['made']))})$")
_LONGEST_MADE: Final = 3  # tokens of "left-footed"
_NUMBER: Final = re.compile(
    r"(?:about |around |roughly |nearly |just (?:over|under) )?"
    r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b"
)
_PART_OF_THE_WAY: Final = re.compile(
    r"(?:(?:half|part)\s?-?way|(?:(?:a|one) (?:third|quarter)|two thirds|three quarters) of the way) through \w"
)


def is_lasting(clause: Clause, words: list[Token]) -> bool:
    """Return whether what stands behind "be" says something that lasts.

    Args:
        clause: a clause with "be".
        words: what follows the verb, without adverbs before it.
    """
    complement = next((c for c in clause.verb.rights if c in words and c.dep_ in _COMPLEMENTS), None)
    if complement is None or clause.subject is None:
        return False
    is_speaker = clause.subject.lower_ in ("i", "we")
    if clause.is_perfect:
        return _has_lasted(clause, complement, words)
    text = "".join(t.text_with_ws for t in words).strip().lower()
    if _MADE.search(text.replace(" ", "-")) is not None and len(words) <= _LONGEST_MADE:
        return True
    if _NUMBER.match(text) is not None:
        is_measured = any(t.lemma_.lower() in LISTS["measures"] for t in words)
        return is_measured and not any(t.lower_ in LISTS["unmeasured"] for t in words)
    if _PART_OF_THE_WAY.match(text) is not None:
        return any(t.tag_ in ("NNP", "NNPS") for t in words)
    if complement.dep_ == "acomp" and complement.tag_ in ("JJ", "VBN"):
        return _is_trait(clause.subject, complement, words)
    if complement.dep_ == "attr" and not clause.negation:
        return _is_identified(complement, words[0], is_speaker=is_speaker)
    if complement.dep_ == "prep" and not clause.negation:
        return _is_belonging(complement, words, is_speaker=is_speaker)
    return False


def _has_lasted(clause: Clause, complement: Token, words: list[Token]) -> bool:
    """Return whether somebody has been somewhere or something: "to Iceland twice", "sober for three years"."""
    if clause.negation:
        return False
    if complement.dep_ == "acomp":
        return complement.lower_ in LISTS["alone"] and clause.subject is not None and clause.subject.lower_ == "i"
    return complement.lower_ == "to" and any(t.tag_ == "NNP" for t in words)


def _is_trait(subject: Token, adjective: Token, words: list[Token]) -> bool:
    """Return whether an adjective says something lasting, mostly with what follows it: "bad with names"."""
    low = adjective.lower_
    prep = next((c for c in adjective.rights if c.dep_ == "prep" and c in words), None)
    if prep is None and subject.lemma_.lower() in LISTS["coloured"]:
        return low in LISTS["colours"]
    if prep is None:
        return low in LISTS["alone"] and subject.lower_ in ("i", "we")
    inner = next((c for c in prep.children if c.dep_ in ("pobj", "pcomp")), None)
    if inner is None or is_pronoun(inner) or not {low, f"{adjective.nbor(-1).lower_}-{low}"} & LISTS["lasting"]:
        return False
    return inner.lemma_.lower() not in WORDS["vague"] | LISTS["abstract"]


def _is_identified(noun: Token, first: Token, *, is_speaker: bool) -> bool:
    """Return whether a noun is a name with an article or the only one: "a Fiesta", "the only girl in my class"."""
    if noun.tag_ == "NNP":
        return not is_speaker and first.lower_ in ("a", "an")
    if noun.tag_ != "NN" or first.lower_ != "the":
        return False
    is_only = any(c.lower_ == "only" or c.tag_ == "JJS" for c in noun.lefts)
    place = next((c for p in noun.rights if p.dep_ == "prep" for c in p.children if c.dep_ == "pobj"), None)
    return is_only and place is not None and (place.tag_ == "NNP" or any(c.dep_ == "poss" for c in place.lefts))


def _is_belonging(prep: Token, words: list[Token], *, is_speaker: bool) -> bool:
    """Return whether a phrase says to what somebody belongs: "on Windows 11", "into crochet"; not "in Rome"."""
    inner = next((c for c in prep.children if c.dep_ == "pobj"), None)
    if inner is None or is_pronoun(inner):
        return False
    if prep.lower_ == "into" and not list(inner.lefts):
        return inner.lemma_.lower() not in LISTS["abstract"] | WORDS["vague"]
    is_named = any(t.tag_ in ("NNP", "NNPS") or t.like_num for t in words)
    return is_named and prep.lower_ in LISTS["belonging" if is_speaker else "situated"]

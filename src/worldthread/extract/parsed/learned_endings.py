"""Finds facts that a message corrects or ends, in words that no rule knows, with a small trained model.

With the weights that come with the package it corrects only: in real conversations too little of what the model took
for a change was one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from worldthread.extract.parsed.change_tables import KIN, PAST
from worldthread.extract.parsed.ending_model import FREQUENT, NEVER, NOTHING, ending_model, stem
from worldthread.extract.parsed.statement_texts import statement_text
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_LONGEST: Final = 25  # words of a message; in longer talk the model takes praise and news for changes
_MOST_ASKED: Final = 24  # facts
_NEVER_IN_CORRECTION: Final = 0.6  # how sure the model must be that something was never so

_DOUBTFUL: Final = re.compile(  # wishes, tries and near misses, of which the model is too sure
    r"\b(?:if|would|might|may|maybe|perhaps|could|should|almost|nearly|want(?:s|ed)?|wish(?:es)?|hop(?:e|es|ing)|"
    r"think(?:s|ing)?|consider(?:s|ing)?|tempted|try|tries|tried|trying|offer(?:s|ed)?|dream(?:s|t|ed)?|"
    r"repair(?:ed|s)?|fixed|lent|borrow\w*|still|until|till|survived)\b|['’]d\b",
    re.IGNORECASE,
)
_WISH: Final = re.compile(r"(?:I|we) (?:want|need|hope|would like|['’]d like) to ", re.IGNORECASE)
_OF_OTHERS: Final = re.compile(  # "my wife's boss left Bayer" is not about my wife, "a friend ..." about nobody known
    r"\W*(?:(?:so|well|oh|and|but|hey|ok|sadly),? )*(?:(?:my|our) (?:\w+ ){0,2}?\w+['’]s \w+|"
    r"(?:a|an|another|some|the) (?:\w+ )?"
    r"(?:friend|colleague|neighbou?r|cousin|coworker|guy|woman|man|classmate|girl|boy))\b",
    re.IGNORECASE,
)


class LearnedEnding(NamedTuple):
    """A fact that the model ends.

    Args:
        fact: the fact.
        reason: the sentences that end it.
        never: whether they say that it was never so.
    """

    fact: Fact
    reason: str
    never: bool


def learned_endings(
    sentences: Sequence[str], speaker: str, stated: Iterable[Fact], view: GraphView, *, corrects: bool
) -> list[LearnedEnding]:
    """Return the facts that a message ends as far as the model is sure.

    Args:
        sentences: the sentences of the message, without its label and without questions.
        speaker: who says it.
        stated: the facts that the message states; they do not end.
        view: what the memory holds.
        corrects: whether the words of the message show that it corrects something.

    Returns:
        Facts that hold, none twice; none where the weights or the encoder are not installed.
    """
    text = " ".join(sentences)
    if not 1 < len(text.split()) <= _LONGEST or (not corrects and _WISH.match(text) is not None):
        return []
    skipped = set(stated)
    facts = dict.fromkeys([*view.facts(subject=speaker), *named_facts(text, speaker, view)])
    said = {stem(word) for word in _WORD.findall(text.lower())} - FREQUENT
    asked = [fact for fact in facts if fact not in skipped and _shares(fact.object, said)][:_MOST_ASKED]
    model = ending_model() if asked else None
    if model is None or not model.may_change(text):
        return []
    ends, never = model.thresholds
    if corrects:
        never = _NEVER_IN_CORRECTION
    may_end = _DOUBTFUL.search(text) is None and _OF_OTHERS.match(text) is None
    found = []
    for fact, answer in zip(
        asked, model.probabilities([statement_text(fact, speaker) for fact in asked], text), strict=True
    ):
        if answer[NEVER] >= never:
            found.append(LearnedEnding(fact, text, never=True))
        elif may_end and 1 - answer[NOTHING] >= ends and PAST.match(fact.key[1]) is None:
            found.append(LearnedEnding(fact, text, never=False))
    return found


def named_facts(unit: str, speaker: str, view: GraphView) -> list[Fact]:
    """Return the facts of people and things that a text names: "my sister", "Rex", "the gym"."""
    words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(unit)]
    phrases = [
        *words,
        *(word for word in _WORD.findall(unit) if word.endswith("'s")),
        *(f"{one} {two}" for one, two in pairwise(words)),
        *(f"{one} {two} {three}" for one, two, three in zip(words, words[1:], words[2:], strict=False)),
    ]
    names: dict[str, None] = {}
    for phrase in phrases:
        for form in (phrase, *sorted(KIN.get(phrase.lower(), ()))):
            names[normalise_name(f"{speaker}'s {form}")] = None
            names[normalise_name(form)] = None
    names.pop(normalise_name(speaker), None)
    return [fact for name in names if name for fact in view.facts(subject=name)]


def _shares(phrase: str, said: Collection[str]) -> bool:
    return any(len(word) > 1 and stem(word) in said for word in _WORD.findall(phrase.lower()))

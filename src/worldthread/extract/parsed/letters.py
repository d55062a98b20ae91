"""Keeps of the facts of a letter those that are understood without it.

The rules for what people say in a talk leave out what everybody there knows. Who reads a fact of a mail months later
does not know which house "the house" is, nor that somebody is there on Saturdays only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clause_words import ClauseWords
from worldthread.extract.parsed.discourse import Discourse, is_function, is_name, is_taken_back
from worldthread.extract.parsed.facts import LocatedFact, is_time
from worldthread.extract.parsed.validity import TURNS, is_kinship
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.extract.times import time_expressions

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_POINTING: Final = re.compile(
    r"^(?:the |this |that )?(?:next|last|other|same|new|old) |\b(?:same|such)\b", re.IGNORECASE
)
_PERCENT: Final = re.compile(r"(?:at )?\d[\d.,]* ?(?:percent|per cent|%)", re.IGNORECASE)
_PLACES: Final = frozenset(["at", "in", "on"])


class Letter:
    """Judges the facts of one letter.

    Args:
        discourse: who is who in it.
        at: time of the letter in seconds since 1970-01-01 UTC; ``None`` or a turn where it has no such time.
    """

    def __init__(self, discourse: Discourse, at: float | None) -> None:
        self._discourse = discourse
        self._at = at if at is not None and abs(at) >= TURNS else None
        self._words = ClauseWords(discourse)

    def understood(self, doc: Doc, facts: tuple[LocatedFact, ...]) -> tuple[LocatedFact, ...]:
        """Return the facts of a sentence that are understood without the letter.

        Args:
            doc: the dependency tree of the sentence.
            facts: what other rules than those for whole clauses have made of it.

        Returns:
            Those of them that say which, whose and when.
        """
        if is_taken_back(doc.text):
            return ()
        return tuple(one for one in facts if is_kinship(one) or self._is_understood(doc, one))

    def _is_understood(self, doc: Doc, one: LocatedFact) -> bool:
        fact, clause = one.fact, one.clause
        speaker = self._discourse.speaker
        is_ours = any(t.lower_ in ("we", "our", "us") for t in doc)
        if is_ours and speaker is not None and is_function(speaker) and fact.subject.startswith(speaker):
            return False  # "noreply@example.net's shops"; but "I" is whoever writes
        if _POINTING.search(fact.subject) or _POINTING.search(fact.object) or _PERCENT.fullmatch(fact.object):
            return False
        verb = clause.verb
        if verb.doc != doc:
            return self._names_all(doc, one)
        if clause.is_past and clause.lemma == "be" and any(c.dep_ == "attr" and c.tag_ == "CD" for c in verb.rights):
            return False  # "he was seventy-six": when?
        if self._has_lead(verb) or not self._keeps_times(doc, one):
            return False
        complement = next((c for c in verb.rights if c.dep_ == "acomp"), None)
        if complement is not None and fact.object.lower() == complement.lower_:
            following = [
                c for c in (*complement.rights, *verb.rights) if c.dep_ in ("prep", "npadvmod") and c.i > complement.i
            ]
            if any(not is_time(c) for c in following):
                return False  # "is available around the clock on 1977"
        return self._names_all(doc, one)

    def _has_lead(self, verb: Token) -> bool:
        """Return whether something that is no time stands before the subject: "for a new deck the price is"."""
        subject = next((c for c in verb.lefts if c.dep_ in ("nsubj", "nsubjpass")), None)
        leads = [c for c in verb.lefts if c.dep_ in ("prep", "advcl") and subject is not None and c.i < subject.i]
        return any(not is_time(t) and not any(is_time(c) or c.like_num for c in t.subtree) for t in leads)

    def _keeps_times(self, doc: Doc, one: LocatedFact) -> bool:
        """Return whether "every Saturday" and "on Mondays" are in the fact."""
        if self._at is None:
            return True
        said = f"{one.fact.relation} {one.fact.object}".lower()
        inside = {t.i for t in one.clause.verb.subtree}
        for time in time_expressions(doc.text, self._at):
            span = doc.char_span(time.start, time.end, alignment_mode="expand")
            if time.role != "recurring" or span is None or not all(t.i in inside for t in span):
                continue
            if doc.text[time.start : time.end].lower().removeprefix("on ") not in said:
                return False
        last = said.split()[-1]
        return last not in PROSE_WORDS["weekdays"] or "every" in said

    def _names_all(self, doc: Doc, one: LocatedFact) -> bool:
        """Return whether every noun with "the" in an object is one that the letter's reader could name."""
        said = one.fact.object.split()
        words = [t for t in doc if t.text in said or t.lower_ == "the"]
        if not self._words.is_known(words):
            return False
        is_place = one.clause.lemma == "be" and one.fact.relation.split()[-1] in _PLACES
        names = [t for t in one.clause.verb.subtree if is_name(t) and t.text in said]
        is_chain = is_place and len(said) == 1 and any(c.lower_ == "the" for t in names for c in t.lefts)
        return not is_chain  # "I'm at the Pemex"

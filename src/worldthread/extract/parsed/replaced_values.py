"""Finds the old values that a clause puts out of use: of an attribute, an age, a number, a time of somebody's life."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.change_tables import TABLE, WORDS, number_of
from worldthread.extract.parsed.clauses import Clause
from worldthread.extract.parsed.events import Change, Event, speaker_of
from worldthread.extract.parsed.mentions import Mention, mention_of, stem
from worldthread.extract.prose.phrases import Referents

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_CONTACT_NAME: Final = re.compile(
    r"(?:phone|mobile|telephone|cell) number|(?:home|postal|e-?mail|mail) address|(?:last|family|user) name|\S+"
)


class ReplacedValues:
    """Finds the values that one clause puts out of use.

    Args:
        sentence: the sentence as written.
        clause: the clause.
        referents: whom its pronouns mean.
    """

    def __init__(self, sentence: str, clause: Clause, referents: Referents) -> None:
        self._sentence, self._clause, self._referents = sentence, clause, referents

    def replaced(self) -> list[Change]:
        """Return the values in place of which the clause states others."""
        return self._attribute() + self._birthday() + self._span()

    def denied(self) -> list[Change]:
        """Return the values that the clause says are no longer right."""
        return self._attribute() + self._value_denied()

    def _attribute(self) -> list[Change]:
        """Return that an attribute has a new value: "I've got a new number", "my number has changed"."""
        clause, verb = self._clause, self._clause.verb
        table: dict[str, str] = TABLE["attributes"]
        lemma = verb.lemma_.lower()
        doc = verb.doc
        thing: Token | None = None
        if lemma in ("have", "get", "change", "update", "switch", "receive") and not clause.is_passive:
            thing = next((c for c in verb.children if c.dep_ == "dobj"), None)
            if (
                thing is not None
                and lemma not in ("change", "update", "switch")
                and not any(c.lower_ == "new" for c in thing.children)
            ):
                thing = None
            if thing is None and lemma == "change":
                thing = clause.subject
        elif lemma in ("be", "work", "stop", "expire", "exist") and clause.subject is not None:
            words = {c.lower_ for c in clause.subject.children}
            if (
                "old" in words
                and (
                    doc.text
                    and {
                        "dead",
                        "gone",
                        "history",
                        "invalid",
                        "inactive",
                        "disconnected",
                        "closed",
                        "wrong",
                        "obsolete",
                    }
                    & {t.lower_ for t in verb.subtree}
                )
            ) or ("new" in words and any(c.dep_ in ("attr", "acomp", "nummod", "punct") for c in verb.children)):
                thing = clause.subject
        if thing is None or thing.tag_ == "PRP":
            return []
        noun = thing.lemma_.lower()
        full = " ".join([*(c.lower_ for c in thing.lefts if c.dep_ in ("compound", "amod")), noun])
        full = re.sub(r"^(?:(?:new|old|current) )+", "", full)
        nouns = table.get(full) or table.get(noun)
        if nouns is None:
            return []
        if noun == "address" and "@" in doc.text:
            nouns = table["email"] + " address"
        if full != noun and full not in table and noun == "number":
            return []  # "a new credit card number"
        owner = next((c for c in thing.children if c.dep_ == "poss"), None)
        event = Event(verb, clause, clause.subject, self._referents)
        if owner is not None:
            who = event.people(owner)
        elif thing is clause.subject:
            who = [speaker_of(self._referents)]
        else:
            who = event.agents()
        names = "|".join(sorted(set(_CONTACT_NAME.findall(nouns))))
        return [Change(self._sentence, (), tuple(who), relation=f"has (?:{names})", kept=tuple(self._values(doc)))]

    def _value_denied(self) -> list[Change]:
        """Return that a value is out of use: "555 0101 doesn't work any more", "you can't reach me at 555 0101"."""
        clause = self._clause
        tokens = [clause.subject] if clause.subject is not None else []
        tokens += [c for p in clause.verb.children if p.dep_ in ("prep", "dobj") for c in (p, *p.children)]
        values = [mention for t in tokens if (mention := _value(t)) is not None]
        who = (speaker_of(self._referents),)
        return [Change(self._sentence, (), who, tuple(values), relation="has .*|is")] if values else []

    def _birthday(self) -> list[Change]:
        """Return that an age is over: "it was my 30th birthday", "turned thirty", "I'm thirty now"."""
        verb = self._clause.verb
        lemma = verb.lemma_.lower()
        age, owner = None, self._clause.subject
        for token in verb.subtree:
            if token.lemma_.lower() == "birthday" and (
                self._clause.is_past or self._clause.is_perfect or lemma == "be"
            ):
                ordinals = [t for c in token.children for t in (c, *c.children)]
                age = next((n for t in ordinals if (n := number_of(t.lower_)) is not None), None)
                owner = next((c for c in token.children if c.dep_ == "poss"), None)
                if owner is None:
                    return []
                if owner.lower_ in ("his", "her", "their") and self._clause.subject is not None:
                    owner = self._clause.subject
        if lemma in ("turn", "be") and age is None:
            words = [c for c in verb.rights if c.dep_ in ("attr", "acomp", "dobj", "nummod", "npadvmod", "advmod")]
            age = next((n for t in words if not list(t.children) and (n := number_of(t.lower_)) is not None), None)
        if age is None or not 0 < age < 120 or owner is None:
            return []
        named = mention_of(owner, self._referents)
        kept = Mention(str(age), frozenset(), frozenset(), str(age))
        return [] if named is None else [Change(self._sentence, (), (named,), relation="has age", kept=(kept,))]

    def _span(self) -> list[Change]:
        """Return that a time of something is over: "my days at Costa are over", "my coffee days are behind me"."""
        clause, subject = self._clause, self._clause.subject
        if subject is None or subject.lemma_.lower() not in WORDS["spans"]:
            return []
        words = {t.lower_ for t in clause.verb.subtree if t.i >= clause.verb.i}
        if not words & WORDS["over"]:
            return []
        event = Event(clause.verb, clause, subject, self._referents)
        owner = next((c for c in subject.children if c.dep_ == "poss"), None)
        inner = [c for p in subject.children if p.dep_ == "prep" for c in p.children if c.dep_ in ("pobj", "pcomp")]
        inner += [c for c in subject.children if c.dep_ in ("compound", "amod", "nmod")]
        targets = [mention for t in inner if (mention := event.named(t)) is not None]
        who = event.people(owner)
        families = ("job", "membership", "habit", "feeling", "study", "home")
        return [Change(self._sentence, families, tuple(who), tuple(targets), loosely=True)] if targets and who else []

    def _values(self, doc: Doc) -> list[Mention]:
        return [Mention(t.lower_, frozenset(), frozenset(), t.text) for t in doc if t.like_num or t.like_email]


def _value(token: Token) -> Mention | None:
    """Return a number or an address: "555 0101"."""
    if not (token.like_email or (token.like_num and any(c.isdigit() for c in token.text))):
        return None
    parts = [c.text for c in token.lefts if c.like_num]
    text = " ".join([*parts, token.text])
    return Mention(stem(token.lower_), frozenset(parts), frozenset(), text)

"""Finds the old values that a clause puts out of use: of an attribute, an age, a number, a time of somebody's life."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.change_tables import LISTS, TABLE, WORDS, number_of
from worldthread.extract.parsed.clauses import Clause
from worldthread.extract.parsed.events import Change, Event, antecedent, speaker_of
from worldthread.extract.parsed.mentions import Mention, mention_of, stem
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import third_person
from worldthread.names import normalise_name

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_CONTACT_NAME: Final = re.compile(
    r"(?:phone|mobile|telephone|cell) number|(?:home|postal|e-?mail|mail) address|(?:last|family|user) name|\S+"
)


_ROUND_AGE: Final = re.compile(r"\bthe big (\w+?)(?:[ -]?(oh?|0))?\b", re.IGNORECASE)
_NAMING: Final = r"has (?:.* )?(?:name|surname|handle|username)|is called|is named|goes by"
_MEANING: Final = (
    "(?:wants|plans|hopes|intends|aims|needs|would like|wishes|"
    "is (?:planning|hoping|going|aiming|about|saving(?: up)?)) to"
)
_INTENDING: Final = frozenset(["decide", "choose", "opt", "agree", "go", "want", "plan", "intend", "hope", "aim"])
_DEARER: Final = frozenset(["expensive", "cheaper", "pricier", "dearer", "free"])
_HOMES: Final = frozenset(["place", "home", "house", "flat", "apartment", "studio", "pad", "digs"])
_NOW: Final = frozenset(["now", "nowadays", "currently", "since", "today"])
_MANY: Final = (LISTS["relations"] | LISTS["pets"]) - WORDS["spans"] - frozenset(TABLE["single"]["names"].split())


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
        return (
            self._attribute() + self._new_value() + self._renamed() + self._birthday() + self._span() + self._amount()
            + self.hours() + self._fulfilled() + self.given_up() + self._stated_price()
        )  # fmt: skip

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
            ) or (
                ("new" in words or any(c.lower_ == "now" for c in verb.children))
                and any(c.dep_ in ("attr", "acomp", "nummod", "punct") for c in verb.children)
            ):
                thing = clause.subject
        if thing is None or thing.tag_ == "PRP":
            return []
        noun = thing.lemma_.lower()
        full = " ".join([*(c.lower_ for c in thing.lefts if c.dep_ in ("compound", "amod")), noun])
        full = re.sub(r"^(?:(?:new|old|current) )+", "", full)
        nouns = table.get(full) or table.get(noun)
        if nouns is None:
            return []
        if full not in table and noun != "number":
            nouns = f"{full} {nouns}" if " " not in full else ""
        if noun == "address" and "@" in doc.text:
            nouns = table["email"] + " address"
        if full != noun and full not in table and noun == "number":
            return []  # "a new credit card number"
        owner = next((c for c in thing.children if c.dep_ == "poss"), None)
        event = Event(verb, clause, clause.subject, self._referents)
        if owner is not None:
            who = event.people(owner)
        elif thing == clause.subject:
            who = [speaker_of(self._referents)]
        else:
            who = event.agents()
        names = "|".join(sorted(set(_CONTACT_NAME.findall(nouns)))) or re.escape(full)
        return [Change(self._sentence, (), tuple(who), relation=f"has (?:{names})", kept=tuple(self._values(doc)))]

    def _new_value(self) -> list[Change]:
        """Return that something of which there is one has a new value: "my new work email is ..."."""
        clause, thing = self._clause, self._clause.subject
        if thing is None or clause.lemma != "be" or clause.is_past or thing.tag_ not in ("NN", "NNP"):
            return []
        words = [c.lower_ for c in thing.lefts if c.dep_ in ("compound", "amod", "nmod")]
        owner = next((c for c in thing.children if c.dep_ == "poss"), None)
        noun = thing.lower_
        if (
            "new" not in words
            or owner is None
            or noun in _MANY
            or not any(c.dep_ in ("attr", "acomp") for c in clause.verb.rights)
        ):
            return []
        who = Event(clause.verb, clause, thing, self._referents).people(owner)
        if noun in _HOMES:
            kept = tuple(
                n
                for p in clause.verb.rights
                if p.dep_ == "prep"
                for c in p.children
                if (n := mention_of(c, self._referents))
            )
            return [Change(self._sentence, ("home",), tuple(who), kept=kept)]
        name = re.escape(" ".join([*(w for w in words if w != "new"), noun]))
        kept = tuple(self._values(clause.verb.doc))
        old = [Change(self._sentence, (), tuple(who), relation=f"has (?:old |current )?{name}", kept=kept)]
        return [*old, *(Change(self._sentence, (), (_part(one, name),), relation="is(?: in| at| on)?") for one in who)]

    def _renamed(self) -> list[Change]:
        """Return that something has another name: "we renamed the shop", "I go by ..."."""
        clause, verb = self._clause, self._clause.verb
        event = Event(verb, clause, clause.subject, self._referents)
        lemma = verb.lemma_.lower()
        done = clause.is_past or clause.is_perfect or clause.is_passive
        if lemma in ("rename", "rebrand", "rechristen") and done:
            things = event.people(event.subject if clause.is_passive else event.object)
        elif lemma in ("call", "name", "know") and clause.is_passive and not clause.is_past and event.words & _NOW:
            things = event.people(event.subject)
        elif lemma == "go" and event.pobj("by") is not None and not clause.is_past:
            return [Change(self._sentence, (), tuple(event.agents()), relation=_NAMING, kept=_kept(event, "by"))]
        else:
            return []
        found = []
        for thing in things:
            names = tuple(dict.fromkeys([thing, *([_owned(thing, self._referents)] if thing.owner is None else [])]))
            found.append(Change(self._sentence, (), names, relation=_NAMING, kept=_kept(event, "to", "as")))
            owner = speaker_of(self._referents) if thing.owner is None else _person(thing.owner)
            relation = f"has (?:.* )?{re.escape(thing.head)}(?: (?:name|handle|username|account))?"
            found.append(Change(self._sentence, (), (owner,), relation=relation))
        return found

    def _amount(self) -> list[Change]:
        """Return that an amount has changed: "went from 30 to 35", "put my rent up to 950", "knocked it down to 20"."""
        clause, verb = self._clause, self._clause.verb
        if verb.lemma_.lower() not in WORDS["price_changes"] or not (
            clause.is_past or clause.is_perfect or clause.is_passive
        ):
            return []
        after = [t for t in verb.subtree if t.i > verb.i]
        if not any(t.like_num for t in after) or not {t.lower_ for t in after} & {"to", "from", "by"}:
            return []
        event = Event(verb, clause, clause.subject, self._referents)
        thing = event.object if event.object is not None and not event.object.like_num else event.subject
        if thing is None or (any(t.like_num for t in thing.subtree) and thing is not event.subject):
            return []
        found: list[Change] = []
        for named in event.people(thing):
            if named.person:
                continue
            owner = speaker_of(self._referents) if named.owner is None else _person(named.owner)
            names = (named, *([_owned(named, self._referents)] if named.owner is None else []))
            found.append(Change(self._sentence, ("price",), names))
            found.append(Change(self._sentence, (), (owner,), relation=f"has (?:.* )?{re.escape(named.head)}"))
            found.append(Change(self._sentence, ("price",), (owner,), (named,), loosely=True))
        return found

    def hours(self) -> list[Change]:
        """Return that something opens or closes at another time: "stays open until 8 now", "opens an hour earlier"."""
        clause, verb = self._clause, self._clause.verb
        subject = clause.subject
        if subject is None or subject.tag_ == "PRP" or clause.is_past:
            return []
        words = {t.lower_ for t in verb.subtree if t.i > verb.i}
        lemma = verb.lemma_.lower()
        relation = ""
        if clause.negation:
            if words & {"until", "till", "before", "after"} and lemma in ("open", "start", "begin", "close"):
                relation = f"{third_person(lemma)}(?: .*)?"
        elif lemma in ("stay", "be", "remain", "keep") and "open" in words and words & {"until", "till", "til", "to"}:
            relation = "(?:closes|shuts)(?: .*)?|is open .*"
        elif lemma in ("open", "close", "shut", "start", "begin", "leave", "depart") and words & {"earlier", "later"}:
            relation = f"{third_person(lemma)}(?: .*)?"
        if not relation:
            return []
        event = Event(verb, clause, subject, self._referents)
        things = [name for t in event.people(subject) for name in (t, _owned(t, self._referents))]
        kept = tuple(m for m in self._values(verb.doc))
        return [Change(self._sentence, (), tuple(things), relation=relation, kept=kept)]

    def _fulfilled(self) -> list[Change]:
        """Return the wishes and plans that were fulfilled: "we bought a house" ends "wants to buy a house"."""
        clause, verb = self._clause, self._clause.verb
        if clause.negation or clause.is_progressive or clause.is_passive or not (clause.is_past or clause.is_perfect):
            return []
        event = Event(verb, clause, clause.subject, self._referents)
        things = [
            n for t in (event.object, event.pobj("to"), event.pobj("in")) if t is not None for n in event.people(t)
        ]
        if not things:
            return []
        relation = rf"{_MEANING} {re.escape(verb.lemma_.lower())}(?: .*)?"
        return [Change(self._sentence, (), tuple(event.agents()), tuple(things), relation=relation)]

    def given_up(self) -> list[Change]:
        """Return the plans that somebody does not follow: "decided not to adopt a dog"."""
        clause, verb = self._clause, self._clause.verb
        lemma = verb.lemma_.lower()
        inner = next((c for c in verb.children if c.dep_ in ("xcomp", "dobj") and c.tag_ == "VBG"), None)
        if inner is not None and lemma in ("cancel", "abandon", "scrap", "shelve", "drop", "postpone"):
            event = Event(inner, clause, clause.subject, self._referents, passive=False)
            things = event.people(event.object) if event.object is not None else []
            relation = rf"{_MEANING} {re.escape(inner.lemma_.lower())}(?: .*)?"
            return [Change(self._sentence, (), tuple(event.agents()), tuple(things), relation=relation)]
        inner = next((c for c in verb.children if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
        if inner is None or lemma not in _INTENDING:
            return []
        is_inner = any(c.dep_ == "neg" for c in inner.children)
        if not is_inner and not (clause.negation and not clause.is_past):
            return []
        event = Event(inner, clause, clause.subject, self._referents, passive=False)
        things = [
            n for t in (event.object, event.pobj("to"), event.pobj("in")) if t is not None for n in event.people(t)
        ]
        relation = rf"{_MEANING} {re.escape(inner.lemma_.lower())}(?: .*)?"
        return [Change(self._sentence, (), tuple(event.agents()), tuple(things), relation=relation)]

    def _stated_price(self) -> list[Change]:
        """Return that something has a price now: "a bus ticket is 2.50 euros now"."""
        clause, verb = self._clause, self._clause.verb
        subject = clause.subject
        if subject is not None and subject.lower_ == "it":
            subject = antecedent(subject)
        if verb.lemma_.lower() not in ("be", "cost", "get", "become") or subject is None or subject.tag_ == "PRP":
            return []
        complements = {c.lower_ for c in verb.rights if c.dep_ in ("acomp", "attr", "oprd")}
        is_other = verb.lemma_.lower() in ("get", "become") and bool(complements & _DEARER)
        is_free = verb.lemma_.lower() == "be" and "free" in complements and "now" in {t.lower_ for t in verb.subtree}
        if is_other or is_free:
            event = Event(verb, clause, subject, self._referents)
            things = [n for t in event.people(subject) if not t.tail for n in (t, _owned(t, self._referents))]
            return [Change(self._sentence, ("price",), tuple(things))]
        if verb.lemma_.lower() not in ("be", "cost") or clause.is_past:
            return []
        words = {t.lower_ for t in verb.subtree}
        numbers = [t for t in verb.subtree if t.like_num and t.i > verb.i]
        if not numbers or not words & _NOW or not words & (LISTS["money"] | {"a", "per"}):
            return []
        event = Event(verb, clause, subject, self._referents)
        things = [name for t in event.people(subject) if not t.tail for name in (t, _owned(t, self._referents))]
        return [Change(self._sentence, ("price",), tuple(things), kept=tuple(self._values(verb.doc)))]

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
        if lemma in ("turn", "be", "become", "hit", "reach", "celebrate") and age is None:
            words = [c for c in verb.rights if c.dep_ in ("attr", "acomp", "dobj", "nummod", "npadvmod", "advmod")]
            age = next((n for t in words if not list(t.children) and (n := number_of(t.lower_)) is not None), None)
            big = _ROUND_AGE.search(verb.doc.text)
            if age is None and big is not None:
                age = number_of(f"{big[1]}-o".lower() if big[2] else big[1].lower())
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
        if any(c.lower_ in ("first", "second", "third", "next") for c in subject.children):
            return []  # "my first day"
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


def _owned(thing: Mention, referents: Referents) -> Mention:
    """Return a thing as one of the speaker's: "the company" is "Tom's company"."""
    name = thing.name if thing.owner is not None else f"{referents.speaker}'s {thing.name}"
    return replace(thing, name=name, proper=True)


def _part(owner: Mention, noun: str) -> Mention:
    name = f"{owner.name}'s {noun}"
    return Mention(noun, frozenset(), frozenset(), name, owner.name)


def _person(name: str) -> Mention:
    return Mention(normalise_name(name), frozenset(), frozenset(), name, proper=True)


def _kept(event: Event, *prepositions: str) -> tuple[Mention, ...]:
    tokens = [event.pobj(preposition) for preposition in prepositions] + [
        c for c in event.verb.rights if c.dep_ == "oprd"
    ]
    return tuple(named for t in tokens if t is not None and (named := event.named(t)) is not None)


def _value(token: Token) -> Mention | None:
    """Return a number or an address: "555 0101"."""
    if not (token.like_email or (token.like_num and any(c.isdecimal() for c in token.text))):
        return None
    parts = [c.text for c in token.lefts if c.like_num]
    text = " ".join([*parts, token.text])
    return Mention(stem(token.lower_), frozenset(parts), frozenset(), text)

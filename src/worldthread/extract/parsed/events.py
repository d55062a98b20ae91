"""Reads a verb of a sentence with its participants, and describes what it changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import Clause
from worldthread.extract.parsed.mentions import Mention, conjuncts, is_coarse_time, mention_of
from worldthread.extract.prose.phrases import Referents
from worldthread.names import normalise_name

if TYPE_CHECKING:
    from spacy.tokens import Token

_OBJECTS: Final = frozenset(["dobj", "obj", "oprd", "attr", "npadvmod", "dative"])
AGENTS: Final = frozenset(["nsubj", "nsubjpass"])


@dataclass(frozen=True)
class Change:
    """That some facts ended, as far as a sentence says.

    Args:
        sentence: the sentence.
        families: the families of relations that end; empty for the relations of ``verb``.
        who: the names of whose facts end.
        targets: what the facts must be about, one of them; empty for all of a family.
        kept: new values, which do not end.
        others: in a couple, the other one; with none, anybody.
        life: whether everything ends that was so of ``targets``.
        verb: the lemma of the verb that relations must have; empty for any.
        loosely: see :func:`is_about`.
        things: whether the facts of the targets themselves end, too.
        exact: whether the object must be the target and nothing else.
    """

    sentence: str
    families: tuple[str, ...] = ()
    who: tuple[Mention, ...] = ()
    targets: tuple[Mention, ...] = ()
    kept: tuple[Mention, ...] = ()
    others: tuple[Mention, ...] | None = None
    life: bool = False
    verb: str = ""
    loosely: bool = False
    things: bool = False
    exact: bool = False
    relation: str = ""
    never: bool = False


class Event:
    """A verb of a sentence with what belongs to it.

    Args:
        verb: the verb.
        clause: the clause that it belongs to.
        subject: the head of its subject; ``None`` where the speaker is left out.
        referents: whom pronouns mean.
        patient: what it is done to, where that is no object: "had Bello put to sleep".
        passive: whether the grammatical subject is the one that it is done to.
    """

    def __init__(
        self,
        verb: Token,
        clause: Clause,
        subject: Token | None,
        referents: Referents,
        patient: Token | None = None,
        passive: bool | None = None,
    ) -> None:
        self.verb, self.clause, self.referents = verb, clause, referents
        is_active = verb.lemma_.lower() == "rid"  # "got rid of" has the form of a passive
        self.passive = clause.is_passive and not is_active if passive is None else passive
        self.subject = subject
        objects = [
            c for c in verb.rights if c.dep_ in _OBJECTS and c.pos_ not in ("VERB", "AUX") and not is_coarse_time(c)
        ]
        direct = [c for c in objects if c.dep_ in ("dobj", "obj")]
        self.object = patient if patient is not None else (direct or objects or [None])[0]
        if self.object is None and patient is None:  # "wrote off the Fiesta", of which the parser misses the object
            inner = [c for p in verb.rights if p.dep_ == "prt" for c in p.children if c.dep_ == "pobj"]
            self.object = next((c for c in inner if not is_coarse_time(c)), None)
        is_dropped = verb.lemma_.lower() in ("cancel", "abandon", "scrap", "shelve", "drop", "postpone")
        if self.object is None and is_dropped and (gerund := self.gerund()) is not None:  # "dropped learning Italian"
            self.object = next((c for c in gerund.children if c.dep_ == "dobj"), None)
        self.has_dative = any(c.dep_ == "dative" for c in verb.children)
        self.preps = [
            c for c in verb.children if c.dep_ in ("prep", "agent", "dative") and c.pos_ in ("ADP", "PART", "SCONJ")
        ]
        self.preps += [c for c in verb.children if c.dep_ == "prt" and any(g.dep_ == "pobj" for g in c.children)]
        self.preps += [g for c in verb.children if c.dep_ == "advmod" for g in c.children if g.dep_ == "prep"]
        for prep in list(self.preps):
            self.preps += [c for c in prep.children if c.dep_ == "prep"]
        if self.object is not None:
            self.preps += [
                c for c in self.object.children if c.dep_ == "prep" and c.lower_ in ("to", "with", "from", "at")
            ]
        self.words = {t.lower_ for t in verb.subtree} | {t.lemma_.lower() for t in verb.subtree}

    def pobj(self, preposition: str) -> Token | None:
        """Return what a preposition leads to."""
        for prep in self.preps:
            if prep.lower_ == preposition:
                found = next((c for c in prep.children if c.dep_ in ("pobj", "pcomp")), None)
                if found is not None and not (is_coarse_time(found) and found.pos_ != "PROPN"):
                    return found
        return None

    def keys(self) -> set[str]:
        """Return the keys under which rules for the event stand."""
        lemma = self.clause.lemma if self.verb == self.clause.verb else self.verb.lemma_.lower()
        verb = self.verb.lemma_.lower()
        found = {verb, lemma.replace(" ", "_")}
        for child in self.verb.children:
            low = child.lemma_.lower()
            if child.dep_ in (
                "prt",
                "advmod",
                "prep",
                "acomp",
                "oprd",
                "attr",
                "dobj",
                "agent",
                "ccomp",
                "xcomp",
                "advcl",
                "npadvmod",
                "dative",
            ):
                found |= {f"{verb}_{low}", f"{verb}_{child.lower_}"}
            if child.dep_ in ("acomp", "attr", "oprd", "dobj", "advmod"):
                found |= {f"{verb}_{a.lower_}" for a in child.children if a.dep_ == "amod"}
            if child.dep_ in ("prep", "prt", "advmod", "xcomp", "acomp"):
                for inner in child.children:
                    found |= {f"{verb}_{low}_{inner.lemma_.lower()}"}
                    found |= {f"{verb}_{low}_{inner.lower_}_{t.lower_}" for t in inner.children if t.dep_ == "pobj"}
            if child.dep_ == "dobj" and " " in lemma:
                found.add(f"{lemma.replace(' ', '_')}_{low}")
            if child.dep_ == "dobj":
                for other in self.verb.children:
                    if other.dep_ in ("prt", "advmod") or (other.dep_ == "prep" and not any(other.children)):
                        found |= {f"{verb}_{other.lower_}_{low}", f"{verb}_{other.lower_}_{child.lower_}"}
        particles = [c.lower_ for c in self.verb.children if c.dep_ in ("prt", "advmod")]
        found |= {f"{verb}_{p}_{c.lower_}" for p in particles for c in self.verb.children if c.dep_ == "prep"}
        found |= {f"{verb}_{t.lower_}" for t in self.verb.subtree if t.lower_ in ("up", "down") and t.i > self.verb.i}
        return found

    def gerund(self) -> Token | None:
        """Return the gerund that the verb leads to: "watching" of "can't stand watching football"."""
        return next((c for c in self.verb.children if c.dep_ in ("xcomp", "ccomp", "dobj") and c.tag_ == "VBG"), None)

    def named(self, token: Token | None) -> Mention | None:
        return None if token is None else mention_of(_meant(token), self.referents)

    def people(self, token: Token | None) -> list[Mention]:
        """Return a phrase and those joined to it by "and"."""
        if token is None:
            return [speaker_of(self.referents)]
        return [found for t in conjuncts(_meant(token)) if (found := mention_of(t, self.referents)) is not None]

    def agents(self) -> list[Mention]:
        """Return the grammatical subjects: "Lena and I"."""
        heads = [c for c in self.clause.verb.children if c.dep_ in AGENTS] or (
            [self.subject] if self.subject is not None else []
        )
        if self.subject is None or not heads:
            return [speaker_of(self.referents)]
        return [named for head in heads for named in self.people(head)]


def antecedent(pronoun: Token) -> Token | None:
    """Return the thing that "it" or "they" means in a sentence; ``None`` where there is none or more than one."""
    things = [
        t
        for t in pronoun.doc[: pronoun.i]
        if t.dep_ in ("nsubj", "nsubjpass", "dobj") and t.pos_ in ("NOUN", "PROPN") and not is_coarse_time(t)
        and any(c.dep_ == "poss" or c.lower_ in ("the", "this", "that", "these", "those") for c in t.children)
    ]  # fmt: skip
    return things[0] if len(things) == 1 else None


def _meant(token: Token) -> Token:
    """Return what a pronoun for a thing means, where that is clear: "my Kindle broke, I threw it out"."""
    if token.lower_ not in ("it", "them") or token.tag_ != "PRP":
        return token
    found = antecedent(token)
    return token if found is None else found


def speaker_of(referents: Referents) -> Mention:
    """Return the speaker."""
    name = referents.speaker
    return Mention(normalise_name(name), frozenset(), frozenset(), name, person=True, proper=True)

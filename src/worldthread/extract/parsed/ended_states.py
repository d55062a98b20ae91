"""Finds the states that a clause says are over: "not any more", "no longer", "stopped", "used to", "never"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.change_tables import HAVING, LISTS, WORDS
from worldthread.extract.parsed.clauses import WORDS as PARSED_WORDS
from worldthread.extract.parsed.clauses import Clause
from worldthread.extract.parsed.events import Change, Event, speaker_of
from worldthread.extract.parsed.mentions import Mention, agent_nouns, is_coarse_time
from worldthread.extract.prose.phrases import Referents
from worldthread.names import normalise_name

if TYPE_CHECKING:
    from spacy.tokens import Token

_STOPPING: Final = frozenset(
    ["stop", "quit", "cease", "give up", "finish", "swear off", "abandon", "drop", "cut out", "avoid", "leave off",
     "be", "kick", "stop from", "be done"]
)  # fmt: skip


_OTHER_TIMES: Final = frozenset(["after", "before", "since", "because", "during", "by", "despite", "without", "until"])
_LEFT: Final = ("job", "home", "membership", "study", "health", "diet", "habit", "plan", "medicine", "feeling")


class EndedStates:
    """Finds the states that one clause says are over.

    Args:
        sentence: the sentence as written.
        clause: the clause.
        referents: whom its pronouns mean.
    """

    def __init__(self, sentence: str, clause: Clause, referents: Referents) -> None:
        self._sentence, self._clause, self._referents = sentence, clause, referents

    def denied(self, event: Event, final: bool) -> list[Change]:
        """Return what a negated clause denies: "I don't drink coffee any more", "I no longer work at Costa"."""
        clause = self._clause
        if clause.negation == "never" and not final:
            return self._never(event)
        if clause.is_perfect and not final and _is_long_ago(clause):
            return self._ended_state(event, clause.verb, clause.lemma, exact=False)
        if clause.is_past or (clause.is_perfect and not final):
            return []
        verb = clause.verb
        if clause.is_progressive and not final:
            return []
        if not final:
            allowed = {
                "nsubj",
                "aux",
                "neg",
                "dobj",
                "punct",
                "attr",
                "acomp",
                "advmod",
                "prep",
                "intj",
                "cc",
                "conj",
                "ccomp",
                "parataxis",
            }
            extra = [
                c
                for c in verb.children
                if c.dep_ not in allowed
                or (c.dep_ in ("advmod",) and c.lower_ not in ("now", "really", "actually", "currently"))
            ]
            preps = [c for c in verb.children if c.dep_ == "prep"]
            if extra or (preps and clause.lemma not in ("live", "work", "be")) or clause.modal:
                return []
        return self._ended_state(event, verb, clause.lemma, exact=not final)

    def _never(self, event: Event) -> list[Change]:
        """Return what "I was never in Rome" and "I have never worked there" say was never so."""
        clause, verb = self._clause, self._clause.verb
        if not clause.is_past and not clause.is_perfect:
            return []
        if verb.lemma_.lower() == "be" and (to := _after_adjective(verb)) is not None:
            targets = event.people(to[2])
        else:
            nouns = [c for c in verb.children if c.dep_ in ("dobj", "attr", "acomp")]
            nouns += [c for p in verb.children if p.dep_ == "prep" for c in p.children if c.dep_ == "pobj"]
            targets = [named for noun in nouns for named in event.people(noun)]
        who = tuple(event.agents())
        return (
            [Change(self._sentence, (), who, tuple(targets), verb=verb.lemma_.lower(), never=True)] if targets else []
        )

    def stopped(self) -> list[Change]:
        """Return what "stopped", "gave up" or "used to" leads to."""
        clause, verb = self._clause, self._clause.verb
        inner = next(
            (
                c
                for c in verb.children
                if c.dep_ in ("xcomp", "ccomp", "pcomp", "dobj")
                and (c.tag_ in ("VBG", "VB") or c.lower_.endswith("ing"))
            ),
            None,
        )
        if inner is None:
            prep = next((c for c in verb.children if c.dep_ in ("prep", "prt")), None)
            inner = next((c for c in prep.children if c.dep_ == "pcomp"), None) if prep is not None else None
        if inner is None:
            thing = next((c for c in verb.children if c.dep_ == "dobj"), None)
            inner = (
                next(
                    (c for c in thing.children if c.dep_ in ("compound", "amod", "acl") and c.lower_.endswith("ing")),
                    None,
                )
                if thing is not None
                else None
            )
        if inner is None:
            return []
        lemma = clause.lemma
        if lemma == "use" and clause.is_past and inner.tag_ == "VB":
            if any(c.dep_ == "neg" for c in inner.children):
                return []
            return self._ended_state(
                Event(inner, clause, clause.subject, self._referents, passive=False),
                inner,
                inner.lemma_.lower(),
                exact=False,
            )
        if (
            lemma in _STOPPING
            and inner.lower_.endswith("ing")
            and (clause.is_past or clause.is_perfect or lemma in ("quit", "be"))
        ):
            if lemma == "be" and not {"done", "finished", "through", "over"} & {c.lower_ for c in verb.children}:
                return []
            event = Event(inner, clause, clause.subject, self._referents, passive=False)
            things = [c for c in inner.children if c.dep_ == "dobj"]
            if lemma == "finish" and any(g.lower_ in ("a", "an") for c in things for g in c.children):
                return []  # who finished reading a novel may write another one
            if inner.dep_ in ("compound", "amod", "acl"):
                event.object = inner.head
            return self._ended_state(event, inner, _gerund_lemma(inner), exact=False)
        if (
            lemma in ("start", "begin", "resume", "go")
            and inner.tag_ in ("VBG", "VB")
            and (clause.is_past or clause.is_perfect or clause.is_progressive)
        ):
            event = Event(inner, clause, clause.subject, self._referents, passive=False)
            thing = event.named(event.object)
            relation = f"does not {inner.lemma_.lower()}"
            found = [
                Change(self._sentence, (), tuple(event.agents()), () if thing is None else (thing,), relation=relation)
            ]
            if inner.lemma_.lower() == "eat" and thing is not None and thing.head in WORDS["meat"]:
                found.append(Change(self._sentence, ("diet",), tuple(event.agents())))
            return found
        return []

    def _ended_being(
        self, event: Event, who: tuple[Mention, ...], targets: list[Mention], *, exact: bool
    ) -> list[Change]:
        """Return that somebody no longer is something, or no longer is with somebody."""
        pair = who if len(who) > 1 else ()
        if "together" in event.words or "couple" in event.words:
            return [Change(self._sentence, ("partner",), who, others=pair)]
        if not targets:
            return []
        owners = [t for t in targets if t.owner is not None]
        if owners and owners[0].owner is not None:
            owner = Mention(normalise_name(owners[0].owner), frozenset(), frozenset(), owners[0].owner, proper=True)
            role = Change(
                self._sentence, ("state",), (owner,), who, relation=f"has (?:.* )?{re.escape(owners[0].head)}"
            )
            return (
                [role, Change(self._sentence, ("partner",), (owner, *who), others=(owner, *who))]
                if owners[0].head in LISTS["partners"]
                else [role]
            )
        partner = (
            [Change(self._sentence, ("partner",), (*who, *targets), others=(*who, *targets))]
            if event.pobj("with") is not None
            else []
        )
        numbers = [t for t in targets if t.head.isdecimal() and not event.preps]
        if numbers and not exact:
            return [Change(self._sentence, (), who, tuple(numbers), relation="has age")]
        if {t.head for t in targets} & LISTS["attached"]:
            return [Change(self._sentence, ("partner",), who, others=pair)]
        belonging = [t for t in targets if t.head in LISTS["members"] and t.words]
        if belonging and not exact:  # "I'm not a Netflix subscriber any more"
            names = [Mention(w, frozenset(), frozenset(), w) for t in belonging for w in sorted(t.words)]
            families = ("membership", "habit", "own")
            return [
                Change(self._sentence, ("state",), who, tuple(targets), loosely=True, verb="be"),
                Change(self._sentence, families, who, tuple(names), loosely=True),
            ]
        others = (
            [Change(self._sentence, _LEFT, who, tuple(targets), loosely=True)]
            if not exact and not {p.lower_ for p in event.preps} & {"without"}
            else []
        )
        return [
            Change(self._sentence, ("state",), who, tuple(targets), loosely=not exact, exact=exact, verb="be"),
            *others,
            *partner,
        ]

    def _ended_state(self, event: Event, verb: Token, lemma: str, *, exact: bool) -> list[Change]:
        """Return that somebody no longer does or is something."""
        who = tuple(p for p in event.agents())
        if not who:
            return []
        targets: list[Mention] = []
        for child in verb.children:
            if child.dep_ in ("dobj", "attr", "acomp", "oprd") and not is_coarse_time(child):
                targets += event.people(child)
            elif child.dep_ == "prep" and child.i > verb.i and child.lower_ not in _OTHER_TIMES:
                targets += [
                    n for c in child.children if c.dep_ == "pobj" and c.lower_ != "more" for n in event.people(c)
                ]
        if event.object is not None and not targets:
            targets = event.people(event.object)
        with_whom = event.pobj("with")
        if lemma == "be" and not exact and with_whom is not None and with_whom.lower_ == "us":
            return [Change(self._sentence, who=(speaker_of(self._referents),), targets=who, life=True)]
        if lemma == "be" and (to := _after_adjective(verb)) is not None:
            adjective, prep, noun = to
            thing = event.named(noun)
            relation = f"(?:is )?{re.escape(adjective)} {prep}|is(?: {re.escape(adjective)})?"
            return [] if thing is None else [Change(self._sentence, (), who, (thing,), relation=relation, loosely=True)]
        if lemma == "be":
            return self._ended_being(event, who, targets, exact=exact)
        if lemma == "call" and targets:
            return [Change(self._sentence, (), who, tuple(targets), relation="has .*name|is called")]
        if lemma in ("see", "date", "love") and targets:
            partner = [Change(self._sentence, ("partner",), (*who, *targets), others=(*who, *targets))]
            if lemma != "love":
                return partner
        if lemma in ("stand", "bear", "stomach", "tolerate", "face") and (targets or event.gerund() is not None):
            inner = event.gerund()
            if inner is not None:
                objects = [n for c in inner.children if c.dep_ == "dobj" for n in event.people(c)]
                targets += objects or [Mention(inner.lower_, frozenset(), frozenset(), inner.lower_)]
            return [Change(self._sentence, ("feeling", "habit"), who, tuple(targets))]
        if lemma == "work":
            return [Change(self._sentence, ("job",), who, tuple(targets), loosely=True)] if targets or not exact else []
        if lemma in ("live", "share") and ("together" in event.words or "with" in event.words) and len(who) > 1:
            return [Change(self._sentence, (), (who[1], who[0]), who, relation="lives with|shares .*")]
        if lemma in ("like", "love", "enjoy", "adore", "care", "do") and targets:
            return [Change(self._sentence, ("feeling", "habit"), who, tuple(targets))]
        if lemma == "go" and targets:
            return [
                Change(
                    self._sentence,
                    ("school", "habit", "membership", "plan", "study"),
                    who,
                    tuple(targets),
                    loosely=True,
                )
            ]
        if lemma in ("live", "reside", "stay"):
            return [Change(self._sentence, ("home",), who, tuple(targets))] if targets else []
        if lemma in HAVING and any(t.head in WORDS["means"] for t in targets):
            things = [
                n for p in event.preps if p.lower_ in ("for", "in", "of") for c in p.children for n in event.people(c)
            ]
            things += [
                n for c in verb.children if c.dep_ == "dobj" for p in c.children if p.dep_ == "prep"
                for g in p.children for n in event.people(g)
            ]  # fmt: skip
            return [Change(self._sentence, ("any",), who, tuple(things))] if things else []
        if lemma in HAVING:
            return (
                [Change(self._sentence, ("own", "health", "partner", "plan"), who, tuple(targets), exact=exact)]
                if targets
                else []
            )
        if exact:
            return [Change(self._sentence, (), who, tuple(targets), verb=lemma, exact=True)] if targets else []
        found = [Change(self._sentence, (), who, tuple(targets), verb=lemma)]
        agents = tuple(
            Mention(noun, frozenset(t.head for t in targets), frozenset(), noun) for noun in sorted(agent_nouns(lemma))
        )
        if not any(t.owner is not None or t.person for t in targets):
            found.append(Change(self._sentence, ("job",), who, agents))  # who stops driving taxis is no taxi driver
        base = next((word for word in PARSED_WORDS["alone"] if word in (lemma, lemma + "e")), lemma)
        found.append(Change(self._sentence, (), who, (Mention(base, frozenset(), frozenset(), base),), relation="does"))
        if verb.tag_ == "VBG" and not targets:
            gerund = Mention(verb.lower_, frozenset(), frozenset(), verb.lower_)
            found.append(Change(self._sentence, ("feeling",), who, (gerund,)))
        if targets:
            found.append(Change(self._sentence, ("habit", "feeling", "own"), who, tuple(targets)))
        return found


def _is_long_ago(clause: Clause) -> bool:
    """Return whether somebody has not done something for a long time: "haven't smoked in three months"."""
    times = [
        t
        for p in clause.verb.children
        if p.dep_ in ("prep", "mark") and p.lower_ in ("in", "for", "since")
        for t in p.subtree
    ]
    words = {t.lemma_.lower() for t in times}
    if clause.verb.lemma_.lower() in ("smoke", "vape", "gamble", "drink"):
        return bool(words & {"week", "month", "year", "since"}) or any(is_coarse_time(t) for t in times)
    return clause.verb.lemma_.lower() in WORDS["consuming"] and bool(words & {"month", "year", "age", "decade"})


def _after_adjective(verb: Token) -> tuple[str, str, Token] | None:
    """Return the words of "allergic to nuts" after "be"; ``None`` for other complements."""
    for adjective in verb.children:
        if adjective.dep_ in ("acomp", "attr"):
            for prep in adjective.children:
                noun = next((c for c in prep.children if c.dep_ == "pobj"), None)
                if adjective.pos_ in ("ADJ", "VERB") and prep.dep_ == "prep" and noun is not None:
                    return adjective.lower_, prep.lower_, noun
                if adjective.pos_ == "ADJ" and prep.dep_ == "xcomp" and prep.tag_ == "VB" and not any(prep.rights):
                    return adjective.lower_, "to", prep
    return None


def _gerund_lemma(token: Token) -> str:
    """Return the verb of a gerund, also where the parser takes it for a noun: "smoke" for "smoking"."""
    if token.tag_ == "VBG":
        return str(token.lemma_.lower())
    return str(token.lower_).removesuffix("ing")

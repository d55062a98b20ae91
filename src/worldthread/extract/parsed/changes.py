"""Finds what a sentence says has changed: what has stopped, was lost, sold, cancelled, moved or broken up.

A sentence is read as *events*: a verb with who does it, to what, and the words that belong to it. ``changes.toml`` says
which families of relations an event ends, whose, and what the facts must be about. Facts are never guessed: an event
ends only facts that the memory holds, of the person or thing that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from worldthread.extract.parsed.change_tables import LISTS, RULES, WORDS
from worldthread.extract.parsed.clauses import Clause
from worldthread.extract.parsed.clauses import clauses as clauses_of
from worldthread.extract.parsed.ended_states import EndedStates
from worldthread.extract.parsed.ended_things import EndedThings
from worldthread.extract.parsed.events import AGENTS, Change, Event, speaker_of
from worldthread.extract.parsed.idioms import without_idioms
from worldthread.extract.parsed.mentions import Mention, conjuncts, is_coarse_time, mention_of, stem
from worldthread.extract.parsed.parser import parse
from worldthread.extract.parsed.replaced_values import ReplacedValues
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.times import end_stated
from worldthread.names import normalise_name

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LONG_AGO: Final = re.compile(
    r"\b(?:years|decades|ages) ago\b|\blong ago\b|\bwhen (?:i|we|he|she) (?:was|were)\b|\bas an? (?:\w+ )?"
    r"(?:kid|child|boy|girl|teen|teenager|student|baby)\b|\b(?:back )?in (?:19|20)\d\d\b|"
    r"\bback then\b|\bonce\b(?! and for all)|\bat the time\b|"
    r"\bin (?:my|his|her|their|our) (?:\w+ties|youth|childhood|teens)\b"
)
_ANY_MORE: Final = re.compile(r" (?:anymore|any more|any longer)\b")
_NOWADAYS: Final = re.compile(r"\b(?:these days|nowadays|by now|now|currently|at all now)\W*$", re.IGNORECASE)
_FOR_NOW: Final = re.compile(
    r"\b(?:just |only )?for (?:today|tonight|the (?:day|weekend|night|moment|evening|time being)|"
    r"this (?:week|year|month|weekend|season|time)|now|an? "
    r"(?:few |couple of )?(?:\w+ )?(?:minutes?|hours?|days?|weeks?|weekend|while|bit))\b"
    r"(?! on| and all| of)|\btemporarily\b|"
    r"\bno (?:more )?\w+ (?:left|in the \w+|on the \w+)\b|"
    r"\bno (?:more )?(?:\w+ ){1,3}(?:for (?:me|us) )?"
    r"(?:tonight|today|this (?:week|weekend|month|evening|morning)|until|till)\b",
    re.IGNORECASE,
)
_AT_TIMES: Final = re.compile(
    r"(?:\b(?:is|are)|['’](?:s|re)) (?:closed|shut|off) (?:on (?:\w+days?|weekends|holidays)|at (?:night|noon)|"
    r"every|until|till|from \d|between \d|for lunch|in the (?:mornings?|afternoons?|evenings?)|in (?:winter|summer))\b",
    re.IGNORECASE,
)
_STORY: Final = re.compile(
    r"\bin (?:my|the|a|his|her|this|that) (?:\w+ )?(?:dream|nightmare|novel|video game|film|movie|story)\b"
    r"|\bdream(?:t|ed)\b",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"\bso that (?:he|she|they|I|we|it|my|his|her)\b|"
    r"\bbut (?:\w+ ){0,4}?(?:came back|came home|came in|found (?:it|him|her|them)|turned up|returned|"
    r"got (?:it|him|her|them) back)\b|"
    r"\bbut (?:it|he|she|they)(?: is| are|['’]s|['’]re) (?:fine|ok|okay|alright|all right|back|safe)\b|"
    r"\bbut (?:they|someone|somebody|\w+ \w+) (?:sent|gave|brought|handed|put) (?:it|them|him|her) (?:back|in)\b",
    re.IGNORECASE,
)
_ME_TOO: Final = re.compile(r"\b(?:me included|including me|all of us|and me(?: too)?|me too)\b", re.IGNORECASE)
_WILL: Final = frozenset(["will", "'ll", "’ll", "shall"])
_DAY: Final = 86_400.0
_OTHER_CLAUSES: Final = frozenset(["conj", "ccomp", "parataxis", "advcl", "relcl"])
_FINAL: Final = frozenset(["anymore", "longer"])


def changes_of(
    doc: Doc, sentence: str, clauses: Iterable[Clause], referents: Referents, at: float | None = None
) -> list[Change]:
    """Return what a sentence says has ended, or will end at a time that it states.

    Args:
        doc: the dependency tree of the sentence.
        sentence: the sentence as written.
        clauses: its clauses.
        referents: whom its pronouns mean.
        at: world time of the sentence; ``None`` where that is not known.

    Returns:
        The changes, to be resolved with :func:`ended_facts`.
    """
    if doc.text.rstrip("\"'”’»)] ").endswith("?"):
        return []
    if is_limited(doc.text):
        return []
    clauses = list(clauses)
    found = EndedThings(doc, sentence, clauses, referents).changes()
    plain = without_idioms(doc)
    if plain is not None:
        doc = parse([_ANY_MORE.sub("", plain)])[0]
        clauses = clauses_of(doc)
    for clause in clauses:
        is_to_come = _is_to_come(clause, sentence, at)
        if clause.modal and not is_to_come and not (clause.negation and clause.modal in ("ca", "can", "could")):
            continue
        one = _ClauseChanges(sentence, clause, referents, is_to_come=is_to_come)
        found += one.changes()
        referents = one.referents  # "Luis lied to me, so I kicked him out"
    return found


def _is_to_come(clause: Clause, sentence: str, at: float | None) -> bool:
    """Return whether a clause says what will be so from a day on: "I'm leaving Acme at the end of June"."""
    is_plan = clause.modal in _WILL if clause.modal else clause.is_progressive
    if at is None or not is_plan or clause.is_past or clause.is_perfect or clause.negation:
        return False
    end = end_stated(sentence, at, [token.text for token in clause.verb.subtree if token.pos_ == "PROPN"])
    return end is not None and end > at and end - at > _DAY


def is_limited(sentence: str) -> bool:
    """Return whether a sentence speaks of a while only, of certain hours, of a story or dream, or of what came back.

    Args:
        sentence: the sentence.
    """
    return any(limit.search(sentence) is not None for limit in (_FOR_NOW, _AT_TIMES, _STORY, _TAKEN_BACK))


class _ClauseChanges:
    """Finds what one clause ends."""

    def __init__(self, sentence: str, clause: Clause, referents: Referents, *, is_to_come: bool = False) -> None:
        self._is_to_come = is_to_come
        subject = clause.subject
        named = mention_of(subject, referents) if subject is not None and subject.tag_ != "PRP" else None
        if referents.person is None and named is not None and (named.proper or named.owner is not None):
            referents = referents._replace(person=named.name)  # "Lisa gave her kayak away"
        self._sentence, self._clause, self._referents = sentence, clause, referents
        self.referents = referents
        self._states = EndedStates(sentence, clause, referents)
        self._values = ReplacedValues(sentence, clause, referents)

    def changes(self) -> list[Change]:
        clause = self._clause
        verb = clause.verb
        if _LONG_AGO.search(" ".join(t.lower_ for t in verb.subtree)) is not None or self._is_of_another():
            return []
        if any(t.dep_ == "neg" for c in verb.children if c.dep_ in ("aux", "auxpass") for t in c.children):
            return []  # "didn't get fired"
        tokens = list(verb.children)
        tokens += [g for c in verb.children if c.dep_ not in _OTHER_CLAUSES for g in c.children]
        final = any(t.lower_ in _FINAL for t in tokens) or any(
            t.lower_ == "more" and t.i and t.nbor(-1).lower_ == "any" for t in tokens
        )
        final = final or (clause.negation in ("not", "n't") and _NOWADAYS.search(self._sentence) is not None)
        if clause.negation or final:
            found = self._states.denied(Event(verb, clause, clause.subject, self._referents), final)
            if final:
                found += self._values.denied()
            found += self._values.given_up()
            found += self._values.hours()
            if clause.negation == "not" or clause.negation == "n't":
                found += [c for event in self._events() for c in self._by_rules(event, negated=True)]
            return found
        found = []
        for event in self._events():
            found += self._by_rules(event, negated=False)
        found += self._states.stopped()
        found += self._values.replaced()
        return found

    def _is_of_another(self) -> bool:
        """Return whether another thing than the known one does it: "the other shop has closed"."""
        subject = self._clause.subject
        if subject is None or any(c.dep_ == "poss" for c in subject.children):
            return False
        return any(c.lower_ in ("other", "another") for c in subject.children if c.dep_ in ("amod", "det"))

    # -- the verb that counts -----------------------------------------------------------------------------------------

    def _events(self) -> Iterator[Event]:
        """Yield the events of the clause: of its verb, and of what it leads to in "had to sell", "had it stolen"."""
        clause, verb = self._clause, self._clause.verb
        if not self._is_wish():
            yield Event(verb, clause, clause.subject, self._referents)
        for child in verb.children:
            if child.dep_ not in ("xcomp", "ccomp", "advcl", "conj"):
                continue
            lemma = verb.lemma_.lower()
            own = next((c for c in child.children if c.dep_ in AGENTS), None)
            if (lemma == "have" and clause.is_past and child.tag_ == "VB") or (
                lemma in ("manage", "end", "wind", "finish")
                and child.dep_ == "xcomp"
                and child.tag_ in ("VB", "VBG")
                and lemma != "finish"
            ):
                yield Event(child, clause, clause.subject, self._referents, passive=False)
            elif (
                lemma == "have"
                and clause.is_past
                and child.tag_ == "VBN"
                and any(c.dep_ == "auxpass" for c in child.children)
            ):
                yield Event(child, clause, clause.subject, self._referents, passive=True)
            elif lemma in ("have", "get") and child.tag_ in ("VBN", "VBD") and own is not None:
                yield Event(child, clause, clause.subject, self._referents, patient=own, passive=False)
            elif lemma == "let" and own is not None and child.lower_ == "go":
                yield Event(verb, clause, clause.subject, self._referents, patient=own, passive=False)
        for thing in (c for c in verb.children if c.dep_ == "dobj"):
            for child in thing.children:
                if verb.lemma_.lower() in ("have", "get") and child.dep_ == "acl" and child.tag_ == "VBN":
                    yield Event(child, clause, clause.subject, self._referents, patient=thing, passive=False)

    def _is_wish(self) -> bool:
        clause = self._clause
        return clause.is_progressive and clause.verb.lemma_.lower() in (
            "plan",
            "think",
            "consider",
            "go",
            "hope",
            "try",
        )

    # -- rules --------------------------------------------------------------------------------------------------------

    def _by_rules(self, event: Event, *, negated: bool) -> list[Change]:
        keys = event.keys()
        found: list[Change] = []
        done: list[int] = []
        for key in sorted(keys & RULES.keys()):
            for rule in RULES[key]:
                if id(rule) in done or negated != (key in rule.get("negated", "").split()):
                    continue
                done.append(id(rule))
                if self._applies(rule, event):
                    found += self._change(rule, event)
        return found

    def _applies(self, rule: dict[str, Any], event: Event) -> bool:
        """Return whether the conditions of a rule hold."""
        clause = event.clause
        is_done = (
            self._is_to_come
            or clause.is_past
            or clause.is_perfect
            or clause.is_passive
            or event.verb.tag_ in ("VBN", "VBD")
        )
        if (
            not is_done
            and event.verb.lemma_.lower() not in ("be", "quit", "have", "date", "see", "belong", "feel")
            and not clause.is_progressive
        ):
            return False  # "I sell cars"
        is_going_on = clause.is_progressive and not clause.is_perfect and not self._is_to_come
        if is_going_on and event.verb.lemma_.lower() not in ("date", "see", "feel"):
            return False  # "I'm selling my car"
        if rule.get("field") and not {t.lower_ for t in event.verb.subtree} & LISTS["fields"]:
            return False
        if rule.get("for_place"):
            new = event.pobj("for") or next(
                (c for t in event.verb.subtree if t.lower_ == "for" for c in t.children if c.dep_ == "pobj"), None
            )
            if new is None or not (new.pos_ == "PROPN" or new.lemma_.lower() in LISTS["places"]):
                return False
        if rule.get("past") and not clause.is_past:
            return False
        words = event.words
        if "marks" in rule and not words & set(rule["marks"].split()):
            return False
        if words & set(rule.get("without", "").split()):
            return False
        if "life" in rule.get("ends", "") and any(
            p.dep_ == "prep"
            and p.lower_ == "on"
            and any(c.dep_ == "pobj" and not is_coarse_time(c) for c in p.children)
            for p in event.verb.children
        ):
            return False  # "passed on the cake"
        if rule.get("has_object") is False and any(c.dep_ == "dobj" for c in event.verb.children):
            return False
        thing = event.subject if event.passive and event.object is None else event.object
        if "object" in rule and not self._has_head(thing, rule["object"]):
            return False
        if "preposition_object" in rule:
            new = event.pobj("to")
            if new is None or new.lower_ not in rule["preposition_object"].split():
                return False
        if rule.get("lost") and not any(
            c.lemma_.lower() in WORDS["vehicles"]
            for p in event.preps if p.lower_ in ("on", "in", "at") for c in p.children
        ):  # fmt: skip
            return False
        if rule.get("hospital") and rule["who"] == "object" and not event.passive:
            return False
        if "subject" in rule:
            token = event.object if rule.get("complement") else event.subject
            if token is None or token.lemma_.lower() not in rule["subject"].split():
                return False
            wanted = set(rule.get("subject_words", "").split())
            if wanted and not wanted & {c.lower_ for c in token.children}:
                return False
        if any(
            p.dep_ == "prep" and p.lower_ in rule.get("no_preposition", "").split() and not is_coarse_time(p)
            for p in event.verb.children
        ):
            return False
        if rule.get("person") and event.has_dative:
            return False  # "Kim left me her car"
        if rule.get("bare_verb") and (event.object is not None or any(not is_coarse_time(p) for p in event.preps)):
            return False
        if rule.get("permanent") or rule.get("bare"):
            return self._is_for_good(event, bare=bool(rule.get("bare")))
        return True

    @staticmethod
    def _has_head(token: Token | None, words: str) -> bool:
        """Return whether a phrase has one of some words as its main word."""
        return token is not None and token.lemma_.lower() in words.split()

    @staticmethod
    def _is_for_good(event: Event, *, bare: bool) -> bool:
        """Return whether somebody left for good, and not only for the day."""
        if event.verb.lemma_.lower() not in (
            "leave",
            "exit",
            "depart",
            "stop",
            "drop",
            "go",
            "part",
            "ditch",
            "chuck",
        ):
            return True
        if "good" in event.words:
            return True
        if event.words & WORDS["transient"] or any(t.lower_ == "back" for t in event.verb.doc):
            return False
        for prep in event.verb.children:
            if (
                prep.dep_ == "prep"
                and prep.lower_ not in ("in", "after", "since", "because", "for", "of", "out")
                and not is_coarse_time(prep)
            ):
                return False
        return not (
            bare
            and (
                event.has_dative
                or any(
                    c.dep_ in ("advmod", "oprd", "acomp", "xcomp")
                    and c.lower_ not in ("just", "recently", "finally", "already", "ago", "suddenly")
                    for c in event.verb.children
                )
            )
        )

    def _change(self, rule: dict[str, Any], event: Event) -> list[Change]:
        """Return the change of a rule that applies."""
        families = tuple(rule.get("ends", "").split())
        who_is = rule.get("who", "")
        if who_is in ("couple", "between"):
            return self._couple(rule, event, families)
        targets: list[Mention] = []
        optional = True
        given = False
        for wanted in rule.get("target", "").split():
            role, _, constraint = wanted.partition("?")
            optional = optional and "?" in wanted
            if role == "replaces":
                continue
            token = self._role(role, event, rule)
            if token is None:
                continue
            if "?" in wanted and constraint and not self._fits(token, constraint):
                named_by_key = any(key.endswith(f"_{token.lemma_.lower()}") for key in rule["on"].split())
                given = given or (constraint == "job" and not self._is_job_word(token) and not named_by_key)
                continue
            if "?" in wanted and (role == "object" or self._is_job_word(token)):
                continue
            if role == "subject" and "?" in wanted and (event.passive or token.tag_ == "PRP" or token.pos_ != "PROPN"):
                continue
            found = event.people(token)
            if "life" not in families and "lives_with" not in families:
                found = [one for one in found if not one.person]  # "I got kicked out of the club"
            targets += found
            if found:
                break
        if given:
            return []
        if rule.get("target") and not optional and not targets and "replaces" not in rule["target"]:
            return []
        if rule.get("living") and not all(self._is_living(t) for t in targets):
            return []
        targets_owned = [t for t in targets if t.owner is not None or t.determiner in WORDS["definite"] or t.proper]
        if rule.get("owned") and (len(targets_owned) < len(targets) or not targets):
            return []
        if rule.get("other") and (event.subject is None or event.subject.lower_ in ("i", "we") or event.object is None):
            return []
        if rule.get("other") and targets and targets[0].owner is None:
            return []
        kept: list[Mention] = []
        if "replaces" in rule.get("target", ""):
            new = event.pobj("to") or event.pobj("into") or (event.pobj("in") if rule.get("place") else None)
            if new is not None:
                is_place = new.pos_ == "PROPN" or new.lemma_.lower() in LISTS["places"] or new.lower_ == "abroad"
                if rule.get("place") and not is_place:
                    return []
                if rule.get("proper") and new.pos_ != "PROPN":
                    return []
                if rule.get("common") and (new.pos_ == "PROPN" or any(c.dep_ == "det" for c in new.children)):
                    return []
                kept = [n for t in conjuncts(new) if (n := event.named(t)) is not None]
            elif (
                rule.get("proper")
                or rule.get("common")
                or (
                    rule.get("place")
                    and not event.keys() & WORDS["leaving_home"]
                    and event.pobj("from") is None
                    and not _is_bare(event)
                )
            ):
                return []
        if rule.get("parent") and not self._is_birth(event):
            return []
        if "relation" in rule:
            who = self._who(who_is, event, targets)
            return (
                [
                    Change(
                        self._sentence,
                        (),
                        tuple(who),
                        tuple(targets),
                        relation=rule["relation"],
                        loosely="loosely" in rule,
                    )
                ]
                if who
                else []
            )
        if families == ("life",):
            targets = [one for one in targets if one.name != self._referents.speaker]
            return (
                [Change(self._sentence, who=(speaker_of(self._referents),), targets=tuple(targets), life=True)]
                if targets
                else []
            )
        if families == ("lives_with",):
            out = tuple(targets) if who_is == "object" else tuple(event.agents())
            return [Change(self._sentence, ("home",), (), out, things=False, relation="lives with")]
        who = self._who(who_is, event, targets)
        if not who:
            return []
        loosely = not set(families) & {"own", "partner", "price", "schedule", "health"} or bool(
            {"membership", "plan"} & set(families)
        )
        return [
            Change(
                self._sentence, families, tuple(who), tuple(targets), tuple(kept), loosely=loosely,
                things=bool({"schedule", "price", "hours", "plan", "own"} & set(families)) and bool(targets),
            )
        ]  # fmt: skip

    def _role(self, role: str, event: Event, rule: dict[str, Any]) -> Token | None:
        """Return the head of what stands in a role."""
        if role in ("object", "subject"):
            token = event.subject if role == "subject" or (event.passive and event.object is None) else event.object
            if token is not None and token.lemma_.lower() in ("price", "cost", "fee"):
                of = next((c for c in token.children if c.dep_ == "prep" and c.lower_ in ("of", "for")), None)
                return next((c for c in of.children if c.dep_ == "pobj"), None) if of is not None else token
        if role == "object":
            if event.passive and event.object is None:
                return event.subject
            if event.passive and event.subject is not None and "object" not in rule.get("who", ""):
                return event.subject
            return event.object
        if role == "subject":
            return event.subject
        if role == "complement":
            return event.object
        if role == "within":
            if event.subject is None:
                return None
            for prep in event.subject.children:
                if prep.dep_ == "prep":
                    return next((c for c in prep.children if c.dep_ == "pobj"), None)
            return event.pobj("at") or event.pobj("with")
        return event.pobj(role)

    @staticmethod
    def _fits(token: Token, constraint: str) -> bool:
        lemma = token.lemma_.lower()
        if constraint == "job":
            return token.pos_ == "PROPN" and False
        if constraint == "partner":
            return token.tag_ == "PRP" or token.pos_ == "PROPN" or lemma in LISTS["partners"]
        if constraint == "home":
            return token.pos_ == "PROPN" or lemma in LISTS["places"]
        if constraint == "study":
            return lemma not in LISTS["schools"] | {"study", "degree", "course"}
        return True

    @staticmethod
    def _is_job_word(token: Token) -> bool:
        return (
            token.lemma_.lower()
            in LISTS["jobs"] | {"notice", "resignation", "redundancy", "company", "firm", "work", "age", "end"}
            or token.like_num
        )

    @staticmethod
    def _is_living(target: Mention) -> bool:
        return target.proper or target.head in {stem(w) for w in LISTS["relations"] | LISTS["pets"]}

    def _is_birth(self, event: Event) -> bool:
        token = event.subject
        times = " ".join(t.lower_ for t in event.verb.subtree)
        return (
            token is not None
            and any(c.dep_ == "poss" and c.lower_ in ("our", "my") for c in token.children)
            and not re.search(r"\b(?:19|20)\d\d\b|\bago\b|\blast year\b", times)
        )

    def _who(self, who_is: str, event: Event, targets: list[Mention]) -> list[Mention]:
        """Return whose facts end."""
        if who_is == "object":
            token = event.subject if event.passive or event.object is None else event.object
            found = event.people(token) if token is not None or event.passive else []
            if _ME_TOO.search(self._clause.verb.doc.text) is not None:
                found.append(speaker_of(self._referents))  # "laid off my whole team, me included"
            return found
        if who_is == "complement" and event.object is not None:
            owner = next((c for c in event.object.children if c.dep_ == "poss"), None)
            named = None if owner is None else event.named(owner)
            return [] if named is None else [named]
        if who_is == "owner" and event.subject is not None:
            owner = next((c for c in event.subject.children if c.dep_ == "poss"), None)
            named = speaker_of(self._referents) if owner is None else event.named(owner)
            return [] if named is None else [named]
        if who_is == "subject":
            return event.agents()
        if who_is == "member" and not event.passive and event.subject is not None:
            agents = [one for one in event.agents() if one.person or one.proper or one.owner is not None]
            return agents  # not of "the chairwoman resigned from the party"
        if who_is == "speaker":
            return [speaker_of(self._referents)]
        owners = {t.owner for t in targets if t.owner is not None}
        if owners:
            return [Mention(normalise_name(o), frozenset(), frozenset(), o, proper=True) for o in sorted(owners)]
        subject = event.named(event.subject) if event.subject is not None else speaker_of(self._referents)
        is_actor = subject is not None and not event.passive and subject not in targets
        people = event.agents() if is_actor else []
        return [p for p in people if p.person or p.proper or p.owner is not None] or [speaker_of(self._referents)]

    def _couple(self, rule: dict[str, Any], event: Event, families: tuple[str, ...]) -> list[Change]:
        """Return the change of two people: their names in either order."""
        people = [] if rule["who"] == "between" else event.agents()
        roles = rule.get("target", "between with").split()
        others: list[Mention] = []
        for wanted in roles:
            role = wanted.partition("?")[0]
            token = event.object if role in ("object", "complement") else self._role(role, event, rule)
            if event.passive and role == "object":
                by = event.pobj("by")  # "I got dumped by Nina", "I've been dumped"
                others += event.people(by) if by is not None else []
                if not others:
                    return [Change(self._sentence, families, tuple(people), others=())] if people else []
                continue
            if token is None:
                continue
            if "?" in wanted and role == "object" and not self._fits(token, wanted.partition("?")[2]):
                if (
                    token.lemma_.lower()
                    not in (
                        "thing",
                        "relationship",
                        "engagement",
                        "marriage",
                        "it",
                        "knot",
                        "way",
                        "quit",
                        "vow",
                        "wedding",
                        "yes",
                        "up",
                        "off",
                    )
                    and token.dep_ == "dobj"
                ):
                    return []
                continue
            if role == "complement":
                owner = next((c for c in token.children if c.dep_ == "poss"), None)
                others += event.people(owner) if owner is not None else []
                continue
            others += event.people(token)
        if rule["who"] == "between" and not others:
            return []
        if rule.get("person") and not any(o.person or o.proper or o.head in LISTS["partners"] for o in others):
            return []
        everybody = [*people, *others]
        if not everybody or (rule.get("two") and not (people and others)):
            return []
        return [
            Change(self._sentence, families, tuple(everybody), others=tuple(everybody) if len(everybody) > 1 else ())
        ]


def _is_bare(event: Event) -> bool:
    """Return whether a verb has nothing but a subject and times: "we finally moved"."""
    return (
        event.subject is not None
        and event.subject.tag_ == "PRP"
        and all(
            c.dep_ in ("nsubj", "aux", "punct", "cc", "conj", "ccomp", "parataxis", "npadvmod", "intj")
            or c.lower_ in ("finally", "just", "recently", "already", "again", "house", "home", "together")
            or is_coarse_time(c)
            for c in event.verb.children
        )
    )

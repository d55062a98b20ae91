"""States whole clauses of which the subject has a name: everything that they say, or nothing.

The other rules know what verbs mean; these know only what a clause must not be. It must be told as true, its subject
must be a proper name, something of a named one ("Anna's husband"), or a description that means one name in the text
("the company"), and everything that follows the verb must be understood without the sentences around it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.clause_subjects import RELATIONAL, ClauseSubjects
from worldthread.extract.parsed.clause_words import MARKS, ClauseWords
from worldthread.extract.parsed.clauses import WORDS, Clause, clauses, is_run_on, relative_clauses
from worldthread.extract.parsed.discourse import CODE, LISTS, Discourse, is_name, is_role, is_taken_back
from worldthread.extract.parsed.facts import LocatedFact, is_time
from worldthread.extract.parsed.named_roles import named_roles
from worldthread.extract.parsed.phrases import is_pronoun
from worldthread.extract.parsed.probable import is_figure
from worldthread.extract.parsed.validity import TURNS, with_times
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.extract.prose.words import third_person
from worldthread.extract.times import TimeExpression, time_expressions
from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LONGEST: Final = 24  # words of an object
_SUBORDINATE: Final = LISTS["subordinate"]
_CONDITIONS: Final = LISTS["conditions"]
_DROPPED: Final = LISTS["dropped"]
_POINTING: Final = WORDS["pointing"] | LISTS["pointing"]
_EMPTY: Final = WORDS["vague"] | LISTS["empty"]
_INNER: Final = WORDS["attitudes"] | LISTS["inner"]
_TOLD: Final = LISTS["told"]
"""Verbs among those that also tell a deed where a noun is their object: "has announced a loss"."""
_BEFORE_DEED: Final = LISTS["before_deed"]
_FOLLOWING: Final = LISTS["following"]
_EMPTY_VERBS: Final = WORDS["light"] | WORDS["empty"] | LISTS["empty_verbs"]
_BEGINNING: Final = LISTS["beginning"]
_RELATIVE: Final = LISTS["relative"]
_WILL: Final = frozenset(["will", "'ll", "’ll"])
_NEEDING: Final = LISTS["needing"]
_UNDERGONE: Final = LISTS["undergone"]
_POLITE: Final = LISTS["polite"]
_BELONGING: Final = LISTS["belonging"]
_PLATFORMS: Final = LISTS["platforms"]
_AUXILIARIES: Final = frozenset(
    ["is", "are", "was", "were", "has", "have", "had", "be", "been", "being", "got", "gets"]
)
_WAYS: Final = LISTS["ways"]
_GOING_ON: Final = frozenset(["of", "than", "that", "to", "which", "who", "whom", "whose", "ago"])
"""Words that go on with what a fact says, so that without them it is cut."""
_COURTESY: Final = LISTS["courtesy"]
_INSTITUTIONS: Final = LISTS["institutions"] | LISTS["roles"] | LISTS["titles"]
_DAY_OF_MONTH: Final = re.compile(r"\bthe \d{1,2}(?:st|nd|rd|th)$")
_YEAR: Final = re.compile(r"(?:1[5-9]|20)\d\d")
_RELATIVE_TIME: Final = re.compile(
    r"\b(?:ago|last|next|this|today|tonight|tomorrow|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|earlier|later|"
    r"recently|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|"
    r"autumn|winter|christmas|easter|"
    r"\d{1,2}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)


class WholeClauses:
    """Reads the clauses of a text, sentence after sentence.

    Args:
        discourse: who is who in the text, and what kind of text it is.
        at: time of the text in seconds since 1970-01-01 UTC; ``None`` or a turn where it has no such time.
    """

    def __init__(self, discourse: Discourse, at: float | None) -> None:
        self.discourse = discourse
        self.at = at if at is not None and abs(at) >= TURNS else None
        self._words = ClauseWords(discourse)
        self._subjects = ClauseSubjects(self._words)

    def read(self, doc: Doc, understood: frozenset[Token] = frozenset()) -> tuple[LocatedFact, ...]:
        """Return the facts of the next sentence.

        Args:
            doc: its dependency tree.
            understood: the verbs of which other rules have stated facts.

        Returns:
            Its facts, each certain.
        """
        if not len(doc):
            return ()
        self.discourse.observe(doc)
        found: list[LocatedFact] = []
        first: str | None = None
        is_quoted = any(t.text in ('"', "``", "''", "“", "”", "«", "»") for t in doc)
        stated = [] if is_quoted or _is_doubtful(doc) else list(clauses(doc))
        for number, clause in enumerate(stated):
            subject = self._subjects.subject(clause)
            if number == 0:
                first = subject
            elif (
                clause.subject is not None
                and clause.subject.lower_ in ("he", "she", "it")
                and clause.subject != stated[0].subject
            ):
                is_first = (
                    first is not None
                    and first != self.discourse.speaker
                    and self.discourse.is_possible(first, clause.subject.lower_)
                )
                subject = first if is_first else None  # "The nurse is a boy, she's in love": not who was named before
            if subject is None or clause.verb in understood:
                continue
            found += self._facts(doc, clause, subject)
        if not is_quoted and not _is_doubtful(doc):
            for clause, name in self._inner_clauses(doc):
                found += self._facts(doc, clause, name)
            found += self._appositions(doc)
        found += self._roles(doc, found)
        if not stated and is_quoted:
            root = next((t for t in doc if t.dep_ == "ROOT"), None)
            named = (
                next((c for c in root.lefts if c.dep_ in ("nsubj", "nsubjpass")), None) if root is not None else None
            )
            first = self._subjects.named(named) if named is not None and not is_pronoun(named) else None
        self.discourse.move_on(doc, first, is_told=bool(stated) or is_quoted)
        return tuple(found)

    def _inner_clauses(self, doc: Doc) -> list[tuple[Clause, str]]:
        """Return the relative clauses that tell more of a name: "Hanne Dahl, who led the study"."""
        found = []
        for clause in relative_clauses(doc):
            noun = clause.verb.head
            if (
                noun.dep_ == "pobj"
                and noun.head.head.pos_ in ("NOUN", "PROPN")
                and not self.discourse.is_person(noun.text)
            ):
                continue  # "the samples from the Azores, which are at customs"
            is_named = is_name(noun) or any(is_name(c) and c.dep_ in ("appos", "compound") for c in noun.children)
            name = self._subjects.named(noun) if is_named else None
            is_plural = noun.tag_ not in ("NNS", "NNPS") and any(
                t.lower_ in ("are", "were", "have") for t in (clause.verb, *clause.verb.lefts)
            )
            if name is not None and not is_plural and doc[clause.verb.left_edge.i - 1].text == ",":
                found.append((clause, name))
        return found

    def _appositions(self, doc: Doc) -> list[LocatedFact]:
        """Return what is said of names beside them: "Anna, the maker of it", "Vos, 51,", "the poet Ann Lee"."""
        found: list[Fact] = []
        if not any(t.tag_ in ("VBZ", "VBP", "VBD") for t in doc):
            return []
        if "copyright" in doc.text.lower():
            return []
        for token in doc:
            if not is_name(token) or self.discourse.last_of_name(token) != token.i:
                continue
            name = self.discourse.name_at(token)
            if name is None or CODE.fullmatch(name):
                continue
            if token.dep_ == "pobj" and token.head.lower_ == "of" and not self.discourse.is_person(name):
                continue  # "a version of Tomli, the tomllib module": the version
            following = doc[token.i + 1 : token.i + 4]
            if (
                len(following) > 2
                and following[0].text == ","
                and following[1].text.isdecimal()
                and following[2].text in (",", ".")
            ):
                if 0 < int(following[1].text) < 110 and not self.discourse.is_thing(name):
                    found.append(Fact(name, "has age", following[1].text))
                continue
            for noun in token.rights:
                if noun.dep_ == "appos" and noun.tag_ == "NN" and doc[noun.left_edge.i - 1].text == ",":
                    found += self._is_a(name, noun, noun.right_edge.i)
            before = doc[self._words.begin_of(token) - 1] if self._words.begin_of(token) else None
            is_whole = token.dep_ != "compound"  # not "the hardline Hamas group"
            if (
                is_whole
                and before is not None
                and before.tag_ == "NN"
                and before.text.islower()
                and before.text.isalpha()
            ):
                first = before.i
                while first and (
                    doc[first - 1].dep_ in ("compound", "amod") and doc[first - 1].tag_ in ("NN", "JJ", "NNP")
                ):
                    first -= 1
                if name.isupper() and len(name) < 4:
                    continue
                article = doc[first - 1].lower_ if first else ""
                words = list(doc[first : before.i + 1])
                noun = before.lower_
                if (
                    article == "the"
                    and before.lemma_.lower() not in RELATIONAL
                    and (is_role(noun) or (self.discourse.described(before) == name and self.discourse.is_news))
                    and self._words.is_clean(words)
                ):
                    found.append(Fact(name, "is a", self._words.text(words, name) or ""))
            owned = (
                token.dep_ == "appos"
                and token.head.tag_ == "NN"
                and next((c for c in token.head.lefts if c.dep_ == "poss"), None)
            )
            if owned and is_pronoun(owned) and owned.i:
                continue
            if (
                owned
                and not any(c.dep_ == "prep" for c in token.head.rights)
                and token.head.lemma_.lower() in PERSONAL
                and not self.discourse.is_thing(name)
                and owned.lower_ != "my"
            ):
                owner = self.discourse.owner(owned.lower_) if is_pronoun(owned) else self._subjects.named(owned)
                words = list(doc[owned.right_edge.i + 1 : token.head.i + 1])
                if owner is not None and self._words.is_clean(words):
                    found.append(Fact(owner, f"has {self._words.text(words, owner)}", name))
        nowhere = self._nowhere(doc)
        return [LocatedFact(replace(f, aspect=aspect_for(f)), nowhere, is_certain=True) for f in found if f.object]

    def _roles(self, doc: Doc, found: list[LocatedFact]) -> list[LocatedFact]:
        """Return what persons are called beside their names, where that is not stated already."""
        if is_taken_back(doc.text):
            return []
        stated = {one.fact.key for one in found}
        facts = [fact for fact in named_roles(doc, self.discourse) if fact.key not in stated]
        return [LocatedFact(replace(f, aspect=aspect_for(f)), self._nowhere(doc), is_certain=True) for f in facts]

    @staticmethod
    def _nowhere(doc: Doc) -> Clause:
        """Return the clause of what is said beside a name, in no clause."""
        root = next((t for t in doc if t.dep_ == "ROOT"), doc[0])
        return Clause(root, None, root.lemma_.lower(), (), "", False, False, False, False, "")

    def _is_a(self, name: str, noun: Token, last: int) -> list[Fact]:
        article = next((c.lower_ for c in noun.lefts if c.dep_ == "det"), "")
        if article not in ("", "a", "an", "the") or any(c.dep_ == "neg" for c in noun.lefts):
            return []  # "in the Sierra, no signal"
        if article == "the" and any(c.lower_ in ("new", "next", "former", "old", "then") for c in noun.lefts):
            return []  # "Mr Albers, the new headmaster": of which school?
        if noun.lemma_.lower() in WORDS["vague"] or any(c.dep_ in ("conj", "cc", "relcl") for c in noun.rights):
            return []
        if (
            last + 1 < len(noun.doc)
            and noun.doc[last + 1].text not in (",", ".", ")", ";")
            and noun.doc[last].text not in (",", ".")
        ):
            return []
        words = [t for t in noun.doc[noun.left_edge.i : last + 1] if not (t.head == noun and t.dep_ == "det")]
        while words and (words[-1].is_punct or words[-1].dep_ == "punct"):
            words.pop()
        if not words or not self._words.is_clean(words) or not self._words.is_known(words) or len(words) > 12:
            return []
        has_of = any(c.dep_ == "prep" for c in noun.rights)
        if article in ("the", "") and not has_of and not any(is_name(w) for w in words):
            return (
                [Fact(name, "is a", text)]
                if is_role(noun.lemma_.lower()) and (text := self._words.text(words, name))
                else []
            )
        if (
            article == ""
            and not is_role(noun.lemma_.lower())
            and noun.lemma_.lower() not in PERSONAL | {"chair", "leader", "mayor", "author"}
        ):
            return []
        text = self._words.text(words, name)
        return [] if text is None or name in text else [Fact(name, "is a" if article in ("a", "an") else "is", text)]

    def _facts(self, doc: Doc, clause: Clause, subject: str) -> list[LocatedFact]:
        """Return what a clause says of a named subject; nothing where it is not whole."""
        verb = clause.verb
        is_denied = bool(clause.negation)
        if is_denied and not (
            self.discourse.describes
            and clause.auxiliaries == ("do",)
            and not clause.is_past
            and "not" in clause.negation.replace("n't", "not")
        ):
            return []
        can = self._can(clause, subject) or (self.discourse.describes and _enabled(clause) is not None)
        if not _is_plain(clause, is_denied=is_denied, can=can) or is_figure(verb):
            return []
        if not _agrees(clause) or _is_cut_short(clause) or _is_relative(subject) or _has_inset(clause):
            return []
        if self.discourse.is_news and subject.lower().split()[0] in _COURTESY and len(subject.split()) == 2:
            return []  # "Mr Rudd": who is that?
        if (self.discourse.is_news or self.discourse.is_note) and _is_of_any_state(subject):
            return []
        lead = self._lead(clause)
        if lead is None:
            return []
        words, deed = self._following(clause)
        if words is None:
            return []
        if verb.lower_ in WORDS["same_past"] and verb.tag_ in ("VBP", "VB") and not clause.auxiliaries:
            if clause.subject is None or clause.subject.lower_ in ("i", "we") or clause.subject.tag_ in ("NNS", "NNPS"):
                return []  # "I quit smoking": now or then?
            clause = replace(clause, is_past=True)
        relation = self._relation(clause, deed)
        if relation is None:
            return []
        if words and words[0].lower_ == "dead" and len(words) > 1:
            relation, words = f"{relation} dead", words[1:]  # "have shot dead eight rebels"
        times = self._times(doc, clause)
        spans = {
            t.i
            for time in times
            if (s := doc.char_span(time.start, time.end, alignment_mode="expand")) is not None
            for t in s
        }
        is_lasting = not (clause.is_past or clause.is_perfect)
        direct = [
            c
            for c in (*verb.children, *(deed.children if deed is not None else ()))
            if c.dep_ in ("npadvmod", "prep", "advmod")
        ]
        is_undated = self.at is None or self.discourse.describes
        timed = {
            t
            for c in direct
            if c.i > verb.i and (is_time(c) or all(t.i in spans or t.dep_ == "prep" for t in c.subtree))
            and not (is_lasting and (is_undated or not spans & {t.i for t in c.subtree}))
            for t in c.subtree
        }  # fmt: skip
        rest = [t for t in words if t not in timed]
        dated = [t for t in words if t in timed]
        if not rest and dated:
            return self._of_time(doc, clause, subject, relation, dated, times)
        absolute = " ".join(t.text for t in dated)
        found = self._fact(doc, clause, subject, relation, rest)
        if found is None:
            return []
        has_time = any(t.i in spans for t in rest) and not (is_lasting and self.discourse.describes)
        if has_time and not dated and not lead and self.at is not None:
            placed = with_times(doc, (found,), self.at, _verbs(doc))[0]
            is_dated = placed.fact.valid_from is not None or placed.fact.valid_to is not None
            if is_dated and placed.fact.object != found.fact.object:
                is_past = clause.is_past or clause.is_perfect
                is_right = (
                    (placed.fact.valid_from or 0) <= self.at if is_past else not _is_over(clause, placed.fact, self.at)
                )
                return [placed] if is_right else []
        if clause.modal and not dated and not self._can(clause, subject):
            return []  # "she will be missed"
        if dated or lead:
            if self.at is not None:
                placed = with_times(doc, (found,), self.at, _verbs(doc))[0]
                is_dated = placed.fact.valid_from is not None or placed.fact.valid_to is not None
                if clause.lemma == "be" and found.fact.object.replace("-", "").isalnum() and not clause.is_past:
                    placed = placed._replace(fact=replace(placed.fact, valid_to=None))  # "I'm forty-six today"
                if (
                    clause.is_perfect
                    and any(t.role == "at" and t.precision not in ("year",) for t in times)
                    and not lead
                    and not clause.is_passive
                    and found.fact.valid_from is None
                    and placed.fact.valid_to is None
                    and clause.lemma not in WORDS["states"]
                    and _follows_noun(dated)
                ):
                    return []  # "has qualified for the championships in July"
                is_open = clause.is_past and (placed.fact.valid_to or 0) > self.at  # "had a contract until 2026"
                if (
                    clause.lemma.partition(" ")[0] in _BEGINNING
                    and placed.fact.valid_to is not None
                    and not clause.is_past
                ):
                    placed = placed._replace(fact=replace(placed.fact, valid_to=None))
                is_ahead = not clause.modal or (placed.fact.valid_from or 0.0) > self.at
                if is_dated and is_ahead and not is_open and not _is_over(clause, placed.fact, self.at):
                    return [placed]
                if is_dated or clause.modal:
                    return []
            if lead:
                return []
            if (
                _RELATIVE_TIME.search(absolute)
                and _YEAR.search(absolute) is None
                and not absolute.lower().startswith(("every", "on"))
            ):
                return []
            whole = self._fact(doc, clause, subject, relation, words)
            return [] if whole is None else [whole]
        return [found]

    def _can(self, clause: Clause, subject: str) -> bool:
        """Return whether a clause says what the thing that a text describes can do: "tmux can be detached from"."""
        is_main = self.discourse.describes and subject == self.discourse.main
        return is_main and clause.modal == "can" and not clause.negation and not clause.is_perfect

    def _of_time(
        self, doc: Doc, clause: Clause, subject: str, relation: str, dated: list[Token], times: list[TimeExpression]
    ) -> list[LocatedFact]:
        """Return what only a time completes: "died in 2021", "was built in 1934"."""
        text = " ".join("".join(t.text_with_ws for t in dated).split())
        if clause.modal:
            return []
        if clause.lemma == "be" and not clause.is_passive:
            return []
        if dated[0].dep_ == "prep":
            relation, text = f"{relation} {dated[0].lower_}", " ".join(text.split()[1:])
        located = LocatedFact(Fact(subject, relation, text or "-"), clause, is_certain=True)
        if text and _YEAR.search(text):
            if self.at is None:
                return [located]
            placed = with_times(doc, (located,), self.at, _verbs(doc))[0]
            return [placed._replace(fact=replace(placed.fact, object=text))]
        if dated[0].lower_ == "after" and clause.is_perfect and clause.lemma.partition(" ")[0] in _BEGINNING:
            return [located]  # "has retired after nineteen years"
        roles = ("at",) if not _is_lasting(clause) else ("at", "since", "until")
        known = [
            t
            for t in times
            if t.role in roles
            and t.precision in ("day", "day part", "minute", "month")
            and (t.valid_from or t.valid_to) is not None
        ]
        spans = [doc.char_span(t.start, t.end, alignment_mode="expand") for t in known]
        own = [t for t, s in zip(known, spans, strict=True) if s is not None and s.root in dated]
        if self.at is None or len(own) != 1 or clause.lemma.partition(" ")[0] in _EMPTY_VERBS:
            return []
        role, precision, begin, end = own[0].role, own[0].precision, own[0].valid_from, own[0].valid_to
        moment = begin if begin is not None else (end or 1) - 1
        if (moment > self.at) == clause.is_past:
            return []
        shown = f"{datetime.fromtimestamp(moment, UTC):{'%Y-%m' if precision == 'month' else '%Y-%m-%d'}}"
        preposition = (
            ("in" if precision == "month" else "on") if role == "at" else "from" if role == "since" else "until"
        )
        relation = f"{self._relation(clause, None) or relation} {preposition}"
        return [
            LocatedFact(
                Fact(subject, relation, shown, None, begin, end if role == "until" else None), clause, is_certain=True
            )
        ]

    def _what_it_is(self, clause: Clause, relation: str, words: list[Token]) -> tuple[str, list[Token]] | None:
        """Return the relation and the words of what something is; ``None`` where that says nothing that lasts."""
        following = words[0]
        if following.lower_ in ("a", "an") and following.dep_ == "det":
            relation, words = f"{relation} a", words[1:]
        elif following.lower_ == "the" and following.dep_ == "det" and not self._words.is_known(words):
            return None
        if not words or words[0].lower_ in WORDS["vague"] or (len(words) == 1 and words[0].tag_ in ("RB", "IN")):
            return None
        if len(words) == 1 and words[0].lemma_.lower() in WORDS["epithets"]:
            return None
        if words and words[0].dep_ == "poss" and words[0].lower_ in ("his", "her", "its"):
            return None  # "Dr Singh is his surgeon": somebody else's
        attribute = next((c for c in clause.verb.rights if c.dep_ in ("attr", "acomp")), None)
        is_bare = not any(t.dep_ in ("prep", "xcomp", "npadvmod") for t in words)
        if (
            attribute is not None
            and attribute.dep_ == "acomp"
            and is_bare
            and attribute.lemma_.lower() not in WORDS["lasting_adjectives"] | _MEASURED
        ):
            return None
        return relation, words

    def _fact(self, doc: Doc, clause: Clause, subject: str, relation: str, words: list[Token]) -> LocatedFact | None:
        while words and (
            words[-1].is_punct or words[-1].dep_ == "punct" or words[-1].lower_ in _DROPPED | {"and", "but", "or"}
        ):
            words = words[:-1]
        particle = clause.lemma.partition(" ")[2]
        own = next((t for t in words[3:] if t.lower_ == "own" and t.nbor(-1).tag_ == "PRP$"), None)
        if own is not None and own.nbor(-2).lower_ == "of":  # "an account of my own"
            words = [t for t in words if not own.i - 3 < t.i <= own.i]
        while words and (
            words[0].dep_ == "punct"
            or words[0].lower_ in _DROPPED
            or (words[0].lower_ == particle and words[0].head == clause.verb)
        ):
            words = words[1:]
        if not words or len(words) > _LONGEST:
            return None
        if clause.lemma == "be" and not clause.is_passive:
            told = self._what_it_is(clause, relation, words)
            if told is None:
                return None
            relation, words = told
        if (
            clause.is_passive
            and len(words) > 2
            and words[0].tag_ in ("IN", "RP", "RB")
            and words[1].dep_ in ("agent", "prep")
            and words[1].lower_ == "by"
        ):
            relation, words = f"{relation} {words[0].lower_} by", words[2:]  # "is looked after by"
        if (
            words[0].tag_ in ("RP", "RB")
            and len(words) > 2
            and words[1].tag_ in ("IN", "TO")
            and words[0].lower_ in _WAYS
            and words[0].head == clause.verb
        ):
            relation, words = f"{relation} {words[0].lower_} {words[1].lower_}", words[2:]  # "go up to"
        if (
            words[0].dep_ in ("prep", "agent")
            and len(words) > 1
            and clause.verb.i < words[0].i
            and words[0].tag_ in ("IN", "TO")
        ):
            is_amount = words[0].lower_ == "at" and words[1].lower_ in ("least", "most")
            if relation.split()[-1] not in WORDS["prepositions"] and not is_amount:
                relation, words = f"{relation} {words[0].lower_}", words[1:]
            if words[0].tag_ in ("IN", "TO") and words[0].lower_ not in ("about", "around", "over", "under"):
                return None
        is_anchored = (self.discourse.describes or self.discourse.is_note) and (
            "(" in subject or subject == self.discourse.main
        )
        if not self._words.is_clean(words) or not self._words.is_known(words, is_anchored=is_anchored):
            return None
        following = doc[words[-1].i + 1] if words[-1].i + 1 < len(doc) else None
        if following is not None and (following.lower_ in _GOING_ON or _is_half(words[-1], following)):
            return None
        if words[0].tag_ in ("JJ", "RB") and len(words) > 1 and words[1].tag_ == "PRP$":
            return None  # "has cut short his holiday"
        is_cut = following is not None and following.text in MARKS - {".", "!", ";"}
        if is_cut and words[-1].tag_.startswith("VB"):
            return None
        if words[-1].tag_ in ("IN", "TO", "DT", "CC", "PRP$") or (words[-1].dep_ == "prep"):
            return None
        if (
            len(words) == 1
            and words[0].tag_ == "CD"
            and clause.lemma != "be"
            and words[0].i
            and words[0].nbor(-1).lower_ in ("at", "from", "by")
        ):
            return None  # "I start at six"
        if any(_is_passing(t) for t in words) or _is_choice(words):
            return None
        if (clause.lemma == "be" and relation.split()[-1] in ("above", "below", "ahead")) or (
            " back" in relation and clause.lemma.startswith("be")
        ):
            return None
        if (
            clause.lemma == "be"
            and not self.discourse.describes
            and words[0].lower_ in ("back", "above", "below", "yes", "no", "due", "home")
        ):
            return None
        if all(t.tag_ in ("RB", "IN", "RP", "DT", "CC", "PRP") for t in words):
            return None
        if words[0].lower_ in ("a", "an") and words[0].dep_ == "det" and len(words) > 1:
            words = words[1:]
        if self.discourse.describes and clause.is_past and len(words) == 1 and words[0].tag_ == "NN":
            return None  # "mypyc generated wheel": no clause
        if relation.split()[-1] not in WORDS["prepositions"] and all(_YEAR.fullmatch(t.text) for t in words):
            return None  # "bought 1996"
        text = self._words.text(words, subject)
        text = None if text is None else text.removeprefix("the ")
        if (
            text is None
            or not any(c.isalnum() for c in text)
            or text.lower() in _EMPTY
            or normalise_name(text) == normalise_name(subject)
        ):
            return None
        if text.count("(") != text.count(")") or text.split()[-1] in ("no", "no.") or text.startswith(f"{subject} "):
            return None
        fact = self._completed(clause, words, Fact(subject, relation, text))
        return None if fact is None else LocatedFact(replace(fact, aspect=aspect_for(fact)), clause, is_certain=True)

    def _completed(self, clause: Clause, words: list[Token], fact: Fact) -> Fact | None:
        """Return a fact as it is understood alone; ``None`` where only the text says of what it is."""
        head = next((t for t in words if t.head not in words), words[0])
        is_one = len([t for t in words if t.dep_ != "det"]) == 1
        if head.lemma_.lower() in _BELONGING and (is_one or clause.lemma == "have") and not _names_something(words):
            return None  # "has a key": of what?
        if len(words) == 1 and head.tag_ == "CD" and clause.lemma not in ("be", "turn") and head.text.isalpha():
            return None  # "lasts for fifteen": fifteen what?
        is_number = clause.lemma == "be" and all(t.tag_ == "CD" or t.text == "-" for t in words)
        is_here = clause.lemma == "be" and fact.subject == self.discourse.speaker and not clause.is_past
        if is_here and is_name(head) and any(c.lower_ == "the" for c in head.lefts) and len(words) < 3:
            return None  # "I'm at the Pemex"
        is_who = clause.subject is not None and clause.subject.lower_ == "who"
        if is_number and (is_who or not self.discourse.is_thing(fact.subject)):
            is_age = head.text.isdecimal() and 0 < int(head.text) < 110 and not clause.is_past
            return replace(fact, relation="has age") if is_age else None  # "was seventy-six": when?
        if not self.discourse.describes:
            is_share = head.lemma_.lower() in ("percent", "%", "cent") and not any(
                c.dep_ == "prep" for c in head.rights
            )
            is_count = clause.subject is None and any(c.dep_ == "nummod" for c in head.lefts)
            if is_share or is_count or _DAY_OF_MONTH.search(fact.object):
                return None  # "is at 12 percent", "wrote 900 words", "is full for the 6th"
            return fact
        main = self.discourse.main
        if clause.is_passive and fact.subject.lower() in _PLATFORMS:  # "Windows is supported since 0.8": by what?
            return None if main is None else replace(fact, subject=f"{fact.subject} ({main})")
        return fact

    def _lead(self, clause: Clause) -> bool | None:
        """Return whether a time stands before the subject; ``None`` where anything else does."""
        subject = clause.subject
        head = clause.verb
        while head.dep_ == "conj":
            head = head.head
        has_time = False
        if clause.verb.dep_ == "relcl" or subject is None:
            return False
        for child in head.lefts:
            if child.i >= subject.i or child.dep_ in ("punct", "cc", "aux", "auxpass"):
                continue
            if child.lower_ in _DROPPED and child.dep_ == "advmod":
                continue
            if is_run_on(child, head):
                continue
            if child.dep_ == "nsubj" and child.i + 1 == subject.left_edge.i:
                continue  # "the option `--quiet`"
            if is_time(child) or (
                child.dep_ in ("prep", "npadvmod")
                and any(t.lemma_.lower() in WORDS["times"] or _YEAR.fullmatch(t.text) for t in child.subtree)
            ):
                if head == clause.verb:
                    has_time = True
                continue
            return None
        return has_time

    def _following(self, clause: Clause) -> tuple[list[Token] | None, Token | None]:
        """Return the words after the verb that belong to the clause, and an infinitive that goes with the verb."""
        verb = clause.verb
        deed = _enabled(clause) if self.discourse.describes else None
        if clause.lemma.partition(" ")[0] in _BEFORE_DEED:
            deed = next(
                (
                    c
                    for c in verb.rights
                    if c.dep_ == "xcomp"
                    and c.tag_ == "VB"
                    and any(t.lower_ == "to" and t.i in (verb.i + 1, c.i - 1) for t in c.lefts)
                ),
                None,
            )
        start = verb if deed is None else deed
        end = start.i
        limit = len(verb.doc)
        children = sorted(
            (c for c in (*verb.rights, *(deed.rights if deed is not None else ())) if c.i > start.i), key=lambda t: t.i
        )
        for child in children:
            if child.i >= limit:
                break
            if child == deed:
                continue
            if child.dep_ in ("conj", "cc") or is_run_on(child, verb):
                limit = min(limit, child.left_edge.i)
                break
            if child.dep_ == "punct":
                if child.text in (";", ":", "-", "–", "—", "("):
                    limit = child.i
                    if child.text in (":", "("):
                        return None, None
                continue
            if child.dep_ == "advcl" or (
                child.dep_ == "prep"
                and any(c.dep_ == "pcomp" for c in child.children)
                and child.lower_ in ("after", "before", "without", "by", "despite", "since")
            ):
                marks = {c.lower_ for c in child.children if c.dep_ in ("mark", "advmod") and c.i < child.i} | {
                    child.lower_ if child.dep_ == "prep" else ""
                }
                if "since" in marks and (clause.is_perfect or child.dep_ == "advcl"):
                    return None, None  # "has worked for it since she came"
                if marks & _CONDITIONS and not (marks & {"as", "while", "when", "where"} and clause.is_past):
                    return None, None
                limit = child.left_edge.i
                break
            if (
                child.dep_ == "xcomp"
                and child != deed
                and clause.lemma.partition(" ")[0] not in _BEFORE_DEED | {"help", "let", "make", "get"}
            ):
                return None, None
            if child.dep_ not in _FOLLOWING or child.dep_ == "nsubj":
                return None, None
            end = child.right_edge.i
        words = list(verb.doc[start.i + 1 : min(end + 1, limit)])
        return self._trimmed(words, start), deed

    def _trimmed(self, words: list[Token], start: Token) -> list[Token] | None:
        """Return words without what follows a comma and only tells more: a relative clause, an apposition."""
        kept: list[Token] = []
        for position, token in enumerate(words):
            if token.text in ("(", "["):
                closing = next((t.i for t in words[position:] if t.text in (")", "]")), None)
                if closing is None or (closing != words[-1].i and words[-1].text != "."):
                    return None
                break
            if token.text == "," and position + 1 < len(words):
                inner = next(
                    (t for t in words[position + 1 :] if t.head.i < token.i and t.dep_ not in ("punct", "cc")), None
                )
                if inner is None:
                    return None
                if inner.dep_ in (
                    "relcl",
                    "acl",
                    "appos",
                    "advcl",
                    "prep",
                    "advmod",
                    "npadvmod",
                    "ccomp",
                ) and not _is_numeric_comma(token):
                    if inner.dep_ == "appos" and any(c.dep_ == "conj" for c in inner.children):
                        return None  # a list of which the parser makes an apposition
                    if (
                        inner.dep_ == "appos"
                        and is_name(inner)
                        and inner.left_edge.i == token.i + 1
                        and inner.right_edge == words[-1]
                    ):
                        kept.append(token)
                        continue
                    if any(t.dep_ == "conj" and t.head in kept for t in words[position:]):
                        return None
                    break
                if inner.dep_ == "conj" and not any(t.dep_ == "cc" for t in words[position:]):
                    return None
            kept.append(token)
        if any(t.dep_ in _SUBORDINATE and t.head in [*kept, start] and t.dep_ != "advcl" for t in kept):
            return None
        if any(t.dep_ == "advcl" for t in kept):
            return None
        return kept

    def _relation(self, clause: Clause, deed: Token | None) -> str | None:
        verb = clause.verb
        chain = [verb]
        while chain[-1].dep_ == "conj" and chain[-1].head.pos_ in ("VERB", "AUX"):
            chain.append(chain[-1].head)
        words: list[str] = []
        own = [c for c in verb.children if c.dep_ in ("aux", "auxpass") and c.i < verb.i]
        for link in chain if not own and verb.tag_ in ("VBN", "VBG") and clause.auxiliaries else [verb]:
            own = [c for c in link.children if c.dep_ in ("aux", "auxpass") and c.i < link.i]
            if own:
                break
        first = chain[-1]
        if (
            not own
            and verb.tag_ in ("VBN", "VBD")
            and first.lemma_ != "bear"
            and verb != first
            and deed is None
            and not any(c.dep_ in ("dobj", "nsubj", "nsubjpass") for c in verb.children)
        ):
            own = [
                c
                for c in first.children
                if c.dep_ in ("aux", "auxpass") and any(o.dep_ == "auxpass" for o in first.children)
            ]
        for auxiliary in own:
            low = "will" if auxiliary.lower_ in _WILL else auxiliary.lower_.replace("’", "'")
            words.append(
                {
                    "'s": "has" if clause.is_perfect or "been" in [c.lower_ for c in own] else "is",
                    "'ve": "has",
                    "'re": "is",
                    "'m": "is",
                    "am": "is",
                }.get(low, low)
            )
        for child in verb.lefts:
            if (
                child.dep_ == "advmod"
                and child.lower_ not in _DROPPED
                and (clause.subject is None or child.i > clause.subject.i)
            ):
                if child.lower_ in _POINTING or not child.text.isalpha() or any(True for _ in child.children):
                    return None
                words.append(child.lower_)
        is_first = clause.subject is None or clause.subject.lower_ in ("i", "we")
        form = verb.lower_
        if form in ("'s", "’s", "'m", "'re", "am", "’m", "’re") or (is_first and form == "are"):
            form = "is"
        elif is_first and form == "were":
            form = "was"
        elif is_first and verb.tag_ in ("VBP", "VB") and not own and not clause.modal:
            form = third_person(form)
        if is_first:
            words = [{"have": "has", "are": "is", "do": "does", "were": "was"}.get(w, w) for w in words]
        if not words and (verb.tag_ == "VBG" or (verb.tag_ == "VBN" and clause.is_passive)):
            return None
        if verb.tag_ == "VBN" and not any(w in _AUXILIARIES for w in words) and clause.subject is not None:
            return None  # a headline: "the button limited to 10 values"
        if clause.negation:
            words = ["does not" if any(True for w in words if w in ("does", "do")) else "is not"]
        things = [c for c in verb.rights if c.dep_ == "dobj"]
        if self.discourse.is_note and not words and verb.tag_ == "VBD" and clause.lemma in _UNDERGONE and not things:
            words.append("was")  # "chain replaced at 4,100 km"
        words.append(form)
        particle = clause.lemma.partition(" ")[2]
        if particle:
            words.append(particle)
        if deed is not None:
            enabled = next((c.lower_ for c in deed.lefts if c.dep_ == "nsubj"), "")
            words += [w for w in (enabled, "to" if clause.lemma != "let" else "", deed.lower_) if w]
        return " ".join(words)

    def _times(self, doc: Doc, clause: Clause) -> list[TimeExpression]:
        if self.at is None:
            return []
        return time_expressions(doc.text, self.at, is_past=clause.is_past or clause.is_perfect)


def _names_something(words: list[Token]) -> bool:
    """Return whether words have a name, or say of what: "keys of the lodge"."""
    return any(is_name(t) for t in words) or any(t.dep_ == "prep" and t.lower_ in ("of", "to", "for") for t in words)


_PASSING: Final = PROSE_WORDS["weekdays"] | frozenset(["today", "tomorrow", "tonight", "yesterday"])
_MEASURED: Final = LISTS["measured"]
PERSONAL: Final = WORDS["relations"] | LISTS["personal"]


def _is_doubtful(doc: Doc) -> bool:
    text = doc.text
    return text.rstrip("\"'”’»)] ").endswith(("?", ":")) or len(doc) > 60 or is_taken_back(text)


def _is_plain(clause: Clause, *, is_denied: bool, can: bool = False) -> bool:
    """Return whether a clause tells something as true: no modal verb, no attitude, no earlier past."""
    if clause.lemma == "be back" or (clause.is_perfect and clause.is_progressive):
        return False
    if (
        clause.modal
        and not can
        and (clause.modal not in _WILL or clause.negation or clause.is_past or clause.is_perfect)
    ):
        return False
    if clause.is_past and (clause.is_perfect or clause.is_progressive):
        return False
    verb = clause.verb
    lemma = clause.lemma.partition(" ")[0]
    if (verb.tag_ == "VB" and not is_denied and not clause.modal) or not verb.text.replace("'", "").replace(
        "’", ""
    ).replace("-", "").isalpha():
        return False
    enabled = _enabled(clause) if can else None
    if (
        lemma in _INNER
        and enabled is None
        and not (lemma in _TOLD | _BEFORE_DEED and any(c.dep_ in ("dobj", "xcomp") for c in verb.rights))
        and not clause.is_passive
    ):
        return False
    if (
        clause.is_passive
        and lemma in WORDS["attitudes"] | {"intend", "supply", "suppose", "rule", "describe"} - {"announce"}
        and lemma != "describe"
    ):
        return False
    if any(
        c.dep_ in ("ccomp", "expl", "csubj", "dep") and c != enabled and not is_run_on(c, verb) for c in verb.children
    ):
        return False
    is_to = lemma == "be" and not clause.is_passive and any(c.dep_ == "xcomp" or c.tag_ == "TO" for c in verb.rights)
    return not is_to


def _enabled(clause: Clause) -> Token | None:
    """Return what a thing lets its users do: "send" of "allows you to send requests"; ``None`` elsewhere."""
    if clause.lemma not in LISTS["enabling"] or clause.negation or clause.is_past or clause.is_passive:
        return None
    for child in clause.verb.rights:
        users = [c for c in child.lefts if c.dep_ == "nsubj"]
        if (
            child.dep_ in ("ccomp", "xcomp")
            and child.tag_ == "VB"
            and [u.lower_ for u in users]
            and not child.doc[clause.verb.i + 1 : users[0].i]
        ):
            is_plain = users[0].lower_ in LISTS["users"] and not any(
                c.dep_ in ("aux", "neg") and c.tag_ != "TO" for c in child.lefts
            )
            return child if is_plain else None
    return None


def _agrees(clause: Clause) -> bool:
    """Return whether a verb fits its subject: "pipx install larder" is a command, no clause."""
    subject, verb = clause.subject, clause.verb
    if verb.tag_ != "VBP" or clause.auxiliaries or clause.lemma == "be" or subject is None:
        return True
    return subject.tag_ != "NN" and (subject.tag_ != "NNP" or any(c.dep_ == "conj" for c in subject.rights))


def _has_inset(clause: Clause) -> bool:
    """Return whether words that belong to the subject stand between it and its verb: "the winner of the X to Y"."""
    subject = clause.subject
    if subject is None or clause.verb.dep_ == "relcl":
        return False
    return any(c.dep_ == "prep" and c.i > subject.i and not is_time(c) for c in clause.verb.lefts)


def _is_of_any_state(subject: str) -> bool:
    """Return whether a subject is an office that many states and towns have: "Immigration Minister", "Coast Guard"."""
    return all(word in _INSTITUTIONS or not word.isalpha() for word in subject.lower().replace("-", " ").split())


def _is_half(last: Token, following: Token) -> bool:
    """Return whether "and" goes on with a list that is cut: "is charged with intimidation and interfering"."""
    if (
        following.tag_ in ("NN", "NNS")
        and last.tag_ in ("NN", "NNP", "JJ")
        and following.lemma_.lower() not in WORDS["times"]
    ):
        return following.lower_ not in _PASSING  # "a full SQL expression language" of which the model makes two phrases
    if following.dep_ != "cc" or following.i + 1 >= len(following.doc):
        return False
    return following.head in (last, *last.ancestors) and following.nbor().tag_ == "VBG"


def _is_relative(subject: str) -> bool:
    """Return whether a subject is known only to those who know others: "next meeting", "number of the new board"."""
    words = subject.lower().split()
    return words[0] in _RELATIVE or any(a == "the" and b in _RELATIVE for a, b in pairwise(words))


def _is_cut_short(clause: Clause) -> bool:
    """Return whether what a verb needs is not there: "is leaving after the summer", "sends greetings"."""
    things = [c for c in clause.verb.rights if c.dep_ in ("dobj", "attr", "xcomp", "prt")]
    if any(c.dep_ == "dative" and is_pronoun(c) for c in clause.verb.rights):
        return True  # "offered me his nephew"
    if clause.lemma.partition(" ")[0] in _NEEDING and not things and not clause.is_passive:
        return not any(
            c.dep_ == "prep" and c.lower_ in ("for", "as", "in") and is_name(c.right_edge) for c in clause.verb.rights
        )
    return any(c.lemma_.lower() in _POLITE or c.lower_ in _POLITE for c in things)


def _follows_noun(dated: list[Token]) -> bool:
    """Return whether a time stands after a noun that it may belong to."""
    return bool(dated) and dated[0].i > 0 and dated[0].nbor(-1).pos_ in ("NOUN", "PROPN")


def _is_lasting(clause: Clause) -> bool:
    """Return whether a clause tells a state of which a time says since when or until when: "is closed until Monday"."""
    return clause.is_passive and not clause.is_past


def _is_passing(token: Token) -> bool:
    """Return whether a word names a day that is another one tomorrow: "Thursday", "tomorrow"."""
    return token.lower_ in _PASSING and not (token.i and token.nbor(-1).lower_ in ("every", "each"))


def _is_choice(words: list[Token]) -> bool:
    """Return whether an object is one of two things, and it is not said which."""
    return any(
        t.lower_ in ("or", "nor", "either") and t.dep_ in ("cc", "preconj") and t.i and t.nbor(-1).text == ","
        for t in words
    )


def _verbs(doc: Doc) -> frozenset[Token]:
    """Return the heads of all clauses that are joined to the main one."""
    return frozenset(t for t in doc if t.pos_ in ("VERB", "AUX") and t.dep_ in ("ROOT", "conj"))


def _is_over(clause: Clause, fact: Fact, at: float) -> bool:
    """Return whether a fact in the present is over, so that its time was misunderstood."""
    is_present = not (clause.is_past or clause.is_perfect)
    return is_present and fact.valid_to is not None and fact.valid_to <= at


def _is_numeric_comma(token: Token) -> bool:
    return bool(token.i) and token.nbor(-1).like_num and token.i + 1 < len(token.doc) and token.nbor().like_num

"""Turns the clauses of a sentence into facts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.clauses import WORDS, Clause, clauses, is_particle, is_present_form
from worldthread.extract.parsed.introductions import introduced, without_clause
from worldthread.extract.parsed.phrases import NamedPhrase, is_break, last_of, noun_phrase, render
from worldthread.extract.parsed.plain_sentences import plainly_said
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.extract.prose.words import is_program, third_person
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_LIVING: Final = frozenset(["live", "reside"])
_MOVING: Final = frozenset(["move", "relocate", "emigrate"])
_NAMING: Final = frozenset(["call", "name", "nickname"])
_DISLIKES: Final = frozenset(["stand", "bear"])
_FEELINGS: Final = frozenset(["like", "love", "hate", "dislike", "enjoy", "adore", "prefer"])


_MAKING: Final = frozenset(["bring", "make", "start"])
_ENDED: Final = {"retire": "retired", "divorce": "divorced", "separate": "separated", "pass away": "dead"}
_OFTEN: Final = frozenset(["once", "twice"])
_WHERE: Final = frozenset([
    "above", "at", "behind", "below", "beside", "by", "in", "near", "on", "opposite", "outside", "over", "under",
    "with",
])  # fmt: skip


_REASONS: Final = frozenset(["because", "despite", "due", "given", "thanks"])
_WHICH_TIMES: Final = frozenset(["each", "every", "last", "next", "this"])
_ASIDES: Final = frozenset([
    "after", "although", "as", "because", "before", "cause", "'cause", "cos", "even", "once", "since", "so", "though",
    "till", "until", "when", "whenever", "where", "whereas", "while",
])  # fmt: skip
_IN_LIST: Final = frozenset(["CD", "DT", "HYPH", "JJ", "LS", "NN", "NNP", "NNPS", "NNS", "POS", "PRP$", "VBG"])
_DEGREES: Final = frozenset([
    "accordingly", "altogether", "better", "completely", "else", "enough", "entirely", "fine", "fully", "further",
    "greatly", "here", "however", "indeed", "instead", "least", "less", "more", "most", "much", "never", "not",
    "perfectly", "similarly", "somehow", "strongly", "there", "therefore", "thus", "very", "wholeheartedly",
])  # fmt: skip
_NO_HABITS: Final = (WORDS["attitudes"] | WORDS["light"] | WORDS["empty"] | WORDS["schedules"]) - {"work"}
_SELDOM: Final = frozenset(["rarely", "seldom", "sometimes", "occasionally"])
_USUALLY: Final = frozenset(
    ["always", "normally", "often", "rarely", "regularly", "seldom", "sometimes", "typically", "usually"]
)
_SCHOOLS: Final = frozenset(["art school", "college", "kindergarten", "school", "uni", "university"])
_FATES: Final = frozenset(["fire", "hire", "hospitalise", "hospitalize", "lay off", "let go", "mug", "promote", "rob"])
_APPOINTING: Final = frozenset(["book", "fix", "plan", "schedule", "set"])
_MONEY: Final = frozenset(["euro", "dollar", "pound", "franc", "quid", "buck", "cent", "pence", "£", "$", "€"])
_SCALES: Final = frozenset(["deep", "heavy", "high", "long", "tall", "thick", "wide"])
_GOALS: Final = frozenset(["aim", "ambition", "dream", "goal", "hope", "plan", "resolution", "target"])
_COMPLETING: Final = frozenset([
    "acomp", "advmod", "amod", "appos", "attr", "ccomp", "dobj", "nmod", "npadvmod", "nummod", "oprd", "pcomp", "pobj",
    "xcomp",
])  # fmt: skip


IS_ON: Final = "is on"
"""The relation of a thing to its day."""


class LocatedFact(NamedTuple):
    """A fact and the clause that states it.

    Args:
        fact: the fact.
        clause: the clause.
        is_certain: whether the form of the sentence leaves no doubt: "Call me Bex".
        is_plain: whether the form of the whole sentence says it, if the sentence is all that is said: "I'm on keto".
    """

    fact: Fact
    clause: Clause
    is_certain: bool = False
    is_plain: bool = False


class SentenceFacts(NamedTuple):
    """What a sentence states.

    Args:
        facts: its facts, in order.
        clauses: its clauses, whether or not they gave facts, each with the name of its subject; ``None`` where it is
            not clear who is meant.
        whole: whether the sentence states nothing else.
    """

    facts: tuple[LocatedFact, ...]
    clauses: tuple[tuple[Clause, NamedPhrase | None], ...]
    whole: bool


def facts_of(doc: Doc, referents: Referents, names: frozenset[str] | None = None) -> SentenceFacts:
    """Return what a sentence states.

    Args:
        doc: the dependency tree of the sentence.
        referents: whom its pronouns mean.
        names: the words of the proper names in the sentence; ``None`` to take every word that the parser takes for a
            name.

    Returns:
        Its facts and clauses.
    """
    found: list[LocatedFact] = []
    all_clauses: list[tuple[Clause, NamedPhrase | None]] = []
    understood = 0
    for clause in clauses(doc):
        reader = _ClauseReader(clause, referents, names)
        all_clauses.append((clause, reader.subject))
        facts = reader.facts()
        understood += bool(facts)
        found += [LocatedFact(fact, clause) for fact in facts]
    stated = {fact.key for fact, *_ in found}
    sure = [(f, c) for f, c in introduced(doc, [c for c, _ in all_clauses], referents) if f.key not in stated]
    found += [LocatedFact(replace(fact, aspect=aspect_for(fact)), clause, is_certain=True) for fact, clause in sure]
    understood += len({clause.verb for _, clause in sure} - {one.clause.verb for one in found if not one.is_certain})
    told = None if is_program(referents.speaker) else without_clause(doc.text)
    if told is not None and (not found or told[0].startswith("has favo")):
        asked = Clause(doc[0], None, doc[0].lemma_.lower(), (), "", False, False, False, False, "")
        fact = Fact(referents.speaker, *told)
        found = [LocatedFact(replace(fact, aspect=aspect_for(fact)), asked, is_certain=True)]
    is_plain = False
    if not is_program(referents.speaker) and doc.text[:1] not in "\"'“":
        plain = [replace(fact, aspect=aspect_for(fact)) for fact in plainly_said(doc.text, referents, sure=bool(found))]
        said = (
            all_clauses[0][0]
            if all_clauses
            else Clause(doc[0], None, doc[0].lemma_.lower(), (), "", False, False, False, False, "")
        )
        found = [LocatedFact(fact, said, is_plain=True) for fact in plain] or found
        is_plain = bool(plain)
    verbs = sum(t.pos_ == "VERB" and t.dep_ in ("ROOT", "conj", "advcl", "relcl", "ccomp", "parataxis") for t in doc)
    verbs = max(verbs, len(all_clauses))
    whole = bool(found) and (is_plain or (understood == len(all_clauses) and verbs <= understood))
    return SentenceFacts(tuple(found), tuple(all_clauses), whole)


def completed(stated: LocatedFact, referents: Referents) -> LocatedFact | None:
    """Return a fact with the phrases that follow its object in the sentence and belong to it.

    Args:
        stated: a fact.
        referents: whom the pronouns of the sentence mean.

    Returns:
        The fact; ``None`` where something that belongs to its object cannot be part of it.
    """
    verb = stated.clause.verb
    words = stated.fact.object.split()
    end = next((t.i for t in verb.doc[verb.i + 1 :] if _ends_with(verb.doc[: t.i + 1], words[-2:])), None)
    if end is None:
        return stated
    rest = _ClauseReader(stated.clause, referents, None).rest_of_object(end)
    if rest is None:
        return None
    return stated._replace(fact=replace(stated.fact, object=f"{stated.fact.object}{rest}")) if rest else stated


def _ends_with(words: Span, last: list[str]) -> bool:
    return [t.text for t in words[-len(last) :]] == last


def is_time(token: Token) -> bool:
    """Return whether a complement only says when: "yesterday", "in 2010", "for two years", "since March"."""
    if token.dep_ in ("npadvmod", "advmod", "pobj", "tmod"):
        lemma = token.lemma_.lower()
        is_rate = token.dep_ == "npadvmod" and any(c.lower_ in ("a", "an", "per") for c in token.lefts)
        if is_rate and token.head.tag_ in ("CD", "NNS", "NN", "$"):
            return False  # "50 euros a month"
        if lemma in WORDS["times"]:
            if token.tag_ in ("NNS", "NNPS") and lemma not in ("year", "month", "week", "day", "hour", "minute"):
                return False  # "on Tuesdays"
            return not any(c.lower_ in ("every", "each") for c in token.children)
        if lemma in ("ago", "before", "since") and token.dep_ == "advmod":
            return True
        if token.dep_ == "pobj" and (token.head.lower_, token.lower_) in (("before", "last"), ("after", "next")):
            return True  # "the Friday before last"
        if lemma in ("beginning", "start", "middle", "end") and token.dep_ == "pobj":
            of = [c for c in token.rights if c.dep_ == "prep" and c.lower_ == "of"]
            return len(of) == 1 and is_time(of[0])  # "since the beginning of 2023"
        if re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)", token.lower_):
            return bool(token.dep_ == "pobj")
        return re.fullmatch(r"(?:19|20)\d\d(?:['’]?s)?|['’]?[3-9]0s", token.text) is not None
    if token.dep_ == "prep" and token.lower_ in ("to", "into") and token.head.pos_ in ("VERB", "NOUN"):
        return False  # "extended it to 4 hours"
    if token.dep_ == "prep":
        inner = [c for c in token.children if c.dep_ in ("pobj", "pcomp", "advmod", "prep")]
        if token.lower_ == "at" and any(c.lemma_.lower() in ("night", "dawn", "dusk", "noon") for c in inner):
            return False  # a part of each day
        return bool(inner) and all(is_time(c) for c in inner)
    return False


def _recurs(token: Token) -> bool:
    """Return whether a phrase says at which times something is so: "on Mondays", "at night"."""
    inner = [c for c in token.children if c.dep_ == "pobj"] if token.dep_ == "prep" else []
    return any(
        (c.lower_.endswith("s") and c.lower_[:-1] in WORDS["times"])
        or (token.lower_ == "at" and c.lemma_.lower() in ("night", "dawn", "dusk", "noon"))
        for c in inner
        if token.lower_ in ("on", "at")
    )


_OF_COUNTS: Final = frozenset(["a", "an", "the", "up", "down", "at", "on", "to", "from"])
"""What stands between "be" and a number that is no age: "I'm a 9", "I'm up to 81"."""


class _ClauseReader:
    """Reads the facts of one clause.

    Args:
        clause: the clause.
        referents: whom pronouns mean.
        names: the words of the proper names in the sentence; ``None`` where they are not known.
    """

    def __init__(self, clause: Clause, referents: Referents, names: frozenset[str] | None) -> None:
        self._clause = clause
        self._names = names
        self._referents = referents
        self._verb = clause.verb
        self._is_of_program = is_program(referents.speaker)
        self.subject = self._subject()

    def _subject(self) -> NamedPhrase | None:
        clause = self._clause
        token = clause.subject
        if token is None:
            return NamedPhrase(self._referents.speaker, self._verb, self._verb.i)
        if token.dep_ in ("csubj", "csubjpass", "expl"):
            return None
        if token.tag_ not in ("PRP", "NN", "NNS", "NNP", "NNPS", "JJ", "VBG", "FW"):
            return None
        phrase = noun_phrase(token, self._referents)
        if any(c.lower_ in ("all", "both", "each") for c in (*token.children, *clause.verb.lefts) if c.i > token.i):
            return None  # "we all" are not the speaker alone
        if phrase is not None and phrase.is_proper and phrase.determiner in ("a", "an"):
            return None
        if phrase is not None and any(c.dep_ in ("relcl", "advcl") and c.i >= phrase.end for c in token.rights):
            return None  # which one is meant is said in a clause that is cut off
        if (
            phrase is None
            or phrase.is_vague
            or (token.tag_ in ("NNP", "NNPS", "JJ", "FW", "VBG") and not self._is_name(token))
        ):
            return None
        if token.tag_ == "PRP" or phrase.is_proper or phrase.owner is not None or phrase.given_name is not None:
            return phrase
        is_price = clause.lemma == "cost" or (clause.lemma == "be" and any(map(_is_sum, clause.verb.rights)))
        if is_price and phrase.determiner in ("a", "an") and not clause.is_past:
            return phrase  # "a beer costs 4 euros"
        if phrase.determiner != "the" or token.tag_ not in ("NN", "NNS"):
            return None
        # "the report" of a story may be any; "the lamp is broken" speaks of one that the reader knows
        is_state = clause.verb.lower_ in WORDS["lasting_adjectives"]
        happens = clause.is_past or clause.is_perfect or clause.is_progressive or (clause.is_passive and not is_state)
        is_known = clause.lemma == "be" or is_state or clause.lemma in WORDS["schedules"] | WORDS["of_things"]
        return phrase if phrase.is_identified or (is_known and not happens) else None

    def _role(self, noun: Token) -> str:
        """Return a noun with the adjectives before it: "best friend", "younger sister"."""
        words = [c.lower_ for c in noun.lefts if c.dep_ in ("amod", "compound")]
        return " ".join([*words, noun.lemma_.lower()])

    def _is_name(self, token: Token) -> bool:
        return self._names is None or token.text in self._names

    def facts(self) -> list[Fact]:
        """Return the facts of the clause, none twice."""
        subject = self.subject
        token = self._clause.subject
        if self._clause.lemma == "call" and token is not None and token.lower_ in ("people", "everyone", "everybody"):
            return self._of_calling()
        if subject is None and token is not None and token.lower_ == "you":
            subject = NamedPhrase("you", token, token.i + 1)
            return self._of_modal(subject) if self._clause.lemma == "call" else []
        if subject is None or _is_of_story(subject.head) or _is_irony(self._clause):
            return []
        if subject.name.endswith(("'s", "’s")) and self._clause.lemma == "get":
            return []  # "Jen's got the sofa bed", where the parser takes the verb for an owner
        is_general = _is_general(subject) and not (self._clause.is_past and self._clause.lemma != "be")
        if not _is_word(self._verb) or (self._is_of_program and not is_general):
            return []
        found = self._of_verb(subject)
        if found and subject.given_name is not None and subject.owner is not None:
            found.append(Fact(subject.owner, f"has {self._role(subject.head)}", subject.given_name))
        with_aspects = [f if f.aspect is not None else replace(f, aspect=aspect_for(f)) for f in found]
        return list(dict.fromkeys(with_aspects))

    # -- by verb ----------------------------------------------------------------------------------------------------

    def _of_verb(self, subject: NamedPhrase) -> list[Fact]:
        clause = self._clause
        lemma = clause.lemma
        if clause.modal:
            return self._of_modal(subject)
        if clause.negation:
            return self._of_negation(subject)
        if lemma == "be":
            return self._of_copula(subject)
        if clause.is_passive or (lemma in _NAMING and clause.verb.tag_ == "VBN"):
            return self._of_passive(subject)
        if lemma == "go" and (by := next((c for c in self._verb.rights if c.lower_ == "by"), None)) is not None:
            value = self._after(by)
            is_name = any(c.pos_ == "PROPN" for c in by.children)
            return [Fact(subject.name, "is called", value)] if value is not None and is_name else []
        if lemma in _LIVING or lemma == "work" or lemma in _MOVING:
            return self._of_home_or_work(subject)
        if lemma == "turn":
            return self._of_turning(subject)
        has_got = (
            lemma == "get"
            and clause.is_perfect
            and not clause.is_past
            and clause.verb.lower_ == "got"
            and any(c.dep_ == "aux" for c in clause.verb.children)
        )
        if lemma in WORDS["intentions"] | {"go"} and (found := self._of_intention(subject)):
            return found
        if lemma == "need" and self._clause.subject is not None and self._clause.subject.lower_ == "we":
            return []  # what everybody needs
        if lemma in ("have", "get") and (done := self._of_causing(subject)):
            return done
        if lemma == "have" or has_got:
            return self._of_having(subject, has_got=has_got)
        if self._verb.i + 1 < len(self._verb.doc) and self._verb.nbor().lower_ in ("na", "ta"):
            return []  # "gonna", "gotta"
        if lemma == "go":
            return self._of_going(subject)
        if lemma == "get" and clause.is_past and any(c.dep_ == "dobj" for c in self._verb.rights):
            return self._of_new_job(subject) or self._of_any_verb(subject)
        if lemma in ("start", "get", "land", "take") and (found := self._of_new_job(subject)):
            return found
        seen = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        is_patient = seen is not None and seen.lemma_.lower() in WORDS["relations"]
        if lemma == "see" and (clause.is_progressive or (is_patient and not clause.is_past)):
            return self._of_any_verb(subject)
        if lemma == "come" and not clause.is_past and not clause.is_progressive and not clause.is_perfect:
            origin = next((c for c in self._verb.rights if c.dep_ == "prep" and c.lower_ == "from"), None)
            value = self._after(origin) if origin is not None else None
            return [] if value is None else [Fact(subject.name, "comes from", value)]
        if lemma in WORDS["schedules"] and not self._is_person(subject) and any(
            c.dep_ in ("xcomp", "ccomp") for c in self._verb.rights
        ):  # fmt: skip
            return []
        if lemma in WORDS["schedules"] and subject.head.tag_ in ("NN", "NNP") and not self._is_person(subject):
            return self._of_any_verb(subject)
        if lemma == "look" and clause.is_progressive and not clause.is_past:
            sought = next((c for c in self._verb.rights if c.dep_ == "prep" and c.lower_ == "for"), None)
            value = self._after(sought, whole=True) if sought is not None else None
            inner = next((c for c in sought.children if c.dep_ == "pobj"), None) if sought is not None else None
            is_asked = inner is not None and inner.lemma_.lower() in WORDS["requests"]
            return [] if value is None or is_asked else [Fact(subject.name, "is looking for", value)]
        verb = lemma.partition(" ")[0]
        takes_clause = lemma in WORDS["takes_clause"] and any(c.dep_ == "xcomp" for c in self._verb.rights)
        if takes_clause or (lemma == "stay" and clause.is_progressive):
            return self._of_any_verb(subject)
        if lemma == "put" and any(c.dep_ == "prep" and c.lower_ != "into" for c in self._verb.rights):
            return self._of_any_verb(subject)
        if lemma in _MAKING and not clause.is_progressive:
            return self._of_making(subject)
        if lemma in _FEELINGS and clause.is_progressive and any(c.dep_ == "xcomp" for c in self._verb.rights):
            return []  # "I'm loving experimenting with flavours": a mood
        if (
            lemma == "report"
            and not self._happens()
            and any(c.dep_ == "prep" and c.lower_ == "to" for c in self._verb.rights)
        ):
            return self._of_any_verb(subject)
        if lemma == "believe" and (trusted := self._believed()) is not None:
            return [Fact(subject.name, "believes in", trusted)]
        if lemma == "call" and not self._happens() and (called := self._related()) is not None:
            return [Fact(subject.name, "calls", called)]
        if lemma == "start" and not clause.is_progressive and self._starts_with_group():
            return self._of_any_verb(subject)
        if verb in WORDS["attitudes"] or (
            lemma in WORDS["light"] and lemma not in ("use", "need", "want", "take", "keep")
        ):
            return []
        return self._of_any_verb(subject)

    def _of_modal(self, subject: NamedPhrase) -> list[Fact]:
        token = self._clause.subject
        if (
            self._clause.lemma == "call"
            and self._clause.modal in ("can", "may")
            and token is not None
            and token.lower_ == "you"
        ):
            return self._of_calling()
        if (
            self._clause.modal in ("'d", "would")
            and self._clause.lemma in ("like", "love")
            and not self._clause.negation
        ):
            return self._of_intention(subject)
        if self._clause.modal in ("ca", "can") and self._clause.lemma in WORDS["abilities"]:
            value = self._object()
            if value is None and not _has_complement(self._verb):
                able = "cannot" if self._clause.negation else "can"
                return [Fact(subject.name, able, self._clause.lemma)]
            able = "cannot" if self._clause.negation else "can"
            return [] if value is None else [Fact(subject.name, f"{able} {self._clause.lemma}", value)]
        if self._clause.modal in ("ca", "can") and self._clause.negation and self._clause.lemma in _DISLIKES:
            value = self._object()
            return [] if value is None else [Fact(subject.name, "dislikes", value, _feeling(subject.name, value))]
        return []

    def _of_calling(self) -> list[Fact]:
        """Return the name of "You can call me Teddy"."""
        called = next((c for c in self._verb.rights if c.dep_ in ("dobj", "dative") and c.lower_ == "me"), None)
        name = next((c for c in self._verb.rights if c.dep_ in ("oprd", "attr", "dobj") and c.pos_ == "PROPN"), None)
        if called is None or name is None:
            return []
        value = render(name.left_edge, last_of(name), self._referents)
        return [] if value is None else [Fact(self._referents.speaker, "is called", value)]

    def _of_negation(self, subject: NamedPhrase) -> list[Fact]:
        clause = self._clause
        if any(c.lower_ in ("anymore", "longer", "more", "yet") for c in self._verb.subtree):
            return []
        if clause.lemma == "be" and not clause.is_past and not clause.is_perfect and clause.negation != "never":
            attribute = next((c for c in self._verb.rights if c.dep_ == "attr" and c.tag_ == "NN"), None)
            state = next((c for c in self._verb.rights if c.dep_ == "acomp"), None)
            if (
                attribute is None
                and state is not None
                and state.lower_ in WORDS["lasting_adjectives"]
                and not list(state.rights)
            ):
                return [Fact(subject.name, "is not", state.lower_)]
            phrase = noun_phrase(attribute, self._referents) if attribute is not None else None
            if phrase is None or phrase.determiner not in ("a", "an") or phrase.is_vague:
                return []
            return [Fact(subject.name, "is not a", phrase.name)]
        if clause.lemma in _FEELINGS and clause.is_perfect and clause.negation == "never" and not clause.is_past:
            value = self._object()
            return [] if value is None else [Fact(subject.name, "dislikes", value, _feeling(subject.name, value))]
        if clause.lemma == "believe" and clause.auxiliaries == ("do",) and not clause.is_past:
            trusted = self._believed()
            return [] if trusted is None else [Fact(subject.name, "does not believe in", trusted)]
        habits = WORDS["habits"] | WORDS["alone"]
        is_simple = "do" in clause.auxiliaries or (clause.negation == "never" and not clause.auxiliaries)
        if clause.is_past or clause.is_perfect or clause.lemma not in habits or not is_simple:
            return []
        value = self._object()
        if value is None and (lacked := self._lacked()) is not None:
            return [Fact(subject.name, f"does not {clause.lemma}", lacked)]
        if value is None and clause.lemma in WORDS["alone"] and not _has_complement(self._verb):
            return [Fact(subject.name, "does not", clause.lemma, f"whether {subject.name} does {clause.lemma}".lower())]
        if value is None or any(c.lower_ in ("well", "alone", "often", "much") for c in self._verb.rights):
            return []  # "doesn't play it well"
        aspect = _feeling(subject.name, value) if clause.lemma in _FEELINGS else None
        return [Fact(subject.name, f"does not {clause.lemma}", value, aspect)]

    def _lacked(self) -> str | None:
        """Return what somebody has none of: "siblings" of "I don't have any siblings"."""
        thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        article = next((c for c in thing.lefts if c.lower_ == "any"), None) if thing is not None else None
        if thing is None or article is None or article.i + 1 > thing.i or thing.lemma_.lower() in WORDS["vague"]:
            return None
        if thing.lemma_.lower() in WORDS["abstract"] | WORDS["requests"] or thing.tag_ not in ("NN", "NNS"):
            return None
        value = render(article.nbor(), last_of(thing), self._referents)
        return None if value is None else self._whole(value, last_of(thing))

    def _of_copula(self, subject: NamedPhrase) -> list[Fact]:
        """Return what somebody or something is."""
        clause = self._clause
        if (title := self._title_of(subject)) is not None:
            return [Fact(subject.owner or subject.name, f"has {self._role(subject.head)}", title)]
        if (code := self._code_of(subject)) is not None:
            return [Fact(subject.owner or subject.name, f"has {_without_owner(subject)}", code)]
        complement = next(
            (c for c in self._verb.rights if c.dep_ in ("attr", "acomp", "oprd", "prep", "nummod") and not is_time(c)),
            None,
        )
        deed = next((c for c in self._verb.rights if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
        if complement is None and deed is not None and subject.lemma in _GOALS and subject.owner is not None:
            value = self._clause_object(deed)
            return (
                []
                if value is None or clause.is_past
                else [Fact(subject.owner, f"has {_without_owner(subject)}", value)]
            )
        measured = next((c for c in self._verb.rights if c.dep_ == "acomp" and c.lower_ in _SCALES), None)
        if measured is not None and not clause.is_past and (size := self._size(measured)) is not None:
            return [Fact(subject.name, "is", size)]
        is_time_only = complement is None or (
            not _is_favourite(subject.head)
            and (complement.dep_ == "attr" and complement.lemma_.lower() in WORDS["times"])
        )
        if is_time_only and subject.lemma not in WORDS["attributes"]:
            return self._of_day(subject)
        if complement is None:
            complement = next((c for c in self._verb.rights if c.dep_ == "prep"), None)
            return [] if complement is None else self._of_place(subject, complement)
        if complement.i <= self._verb.i:
            return []
        owner_of = subject.owner is not None and subject.given_name is None
        if complement.dep_ == "prep":
            return self._of_place(subject, complement)
        past = clause.is_past or (clause.is_perfect and not self._lasts())
        if past and clause.is_perfect and not self._is_person(subject):
            return []  # "my shop has been a roller coaster"
        if complement.like_num or complement.tag_ == "CD":
            return self._of_number(subject, complement)
        is_kind_of = complement.dep_ == "attr" and (
            any(c.lower_ in ("a", "an") for c in complement.lefts)
            or (complement.tag_ == "JJS" and any(c.lower_ == "of" for c in complement.rights))
        )
        if (complement.dep_ == "acomp" or complement.tag_ in ("JJ", "VBN")) and not is_kind_of:
            if (
                owner_of
                and not past
                and (subject.lemma in WORDS["attributes"] or complement.like_email)
                and subject.owner
            ):
                value = render(complement.left_edge, last_of(complement), self._referents)
                return [] if value is None else [Fact(subject.owner, f"has {_without_owner(subject)}", value)]
            return [] if past else self._of_adjective(subject, complement)
        if complement.tag_ not in ("NN", "NNS", "NNP", "NNPS") and not is_kind_of:
            return []
        if complement.lemma_.lower() in WORDS["epithets"] and not any(c.dep_ == "compound" for c in complement.lefts):
            return []  # "my ex is a nightmare"
        if (whole := self._whole_that_has(complement)) is not None:
            return [Fact(subject.name, ("was" if past else "is") + " part of", whole)]
        last = self._last_of_complement(complement)
        phrase = noun_phrase(complement, self._referents, last)
        whole = None if phrase is None else self._whole(phrase.name, last)
        if phrase is None or whole is None or phrase.is_vague:
            return []
        phrase = phrase._replace(name=whole)
        if owner_of and not past and self._is_attribute(subject) and (
            (phrase.is_proper and phrase.name[:1].isupper())  # not "her parents are quite religious, Methodist"
            or subject.lemma in WORDS["attributes"]
            or _is_favourite(subject.head)
        ):  # fmt: skip
            assert subject.owner is not None
            return [Fact(subject.owner, f"has {self._role(subject.head)}", phrase.name)]
        if subject.lemma in ("favorite", "favourite"):
            return []
        if (
            subject.lemma in WORDS["attributes"]
            and owner_of is False
            and not subject.is_proper
            and subject.head.tag_ != "PRP"
        ):
            return [] if past else [Fact(subject.name, "is", phrase.name, f"value of {subject.name}")]
        if phrase.determiner in ("a", "an") or (
            phrase.determiner == "" and phrase.owner is None and not phrase.is_proper
        ):
            is_state = phrase.name.lower() in WORDS["lasting_adjectives"]
            is_bare = phrase.determiner == "" and complement.tag_ == "NN" and not is_state
            if is_bare and not (self._is_person(subject) and any(c.lower_ == "of" for c in complement.rights)):
                return []  # "I'm game for that", but "I'm captain of the team"
            if complement.tag_ == "NNS" and any(c.lower_ == "all" for c in self._verb.rights):
                return []  # "I'm all ears"
            is_plural = complement.tag_ in ("NNS", "NNPS")
            kind = "" if is_plural or is_bare or phrase.name[0].isdecimal() else " a"
            return [Fact(subject.name, ("was" if past else "is") + kind, phrase.name)]
        if past:
            return []
        if phrase.owner is not None:
            head = _without_owner(phrase)
            is_role = phrase.lemma in WORDS["relations"] or (subject.is_proper and phrase.lemma in WORDS["attributes"])
            return [Fact(phrase.owner, f"has {head}", subject.name)] if is_role else []
        if phrase.determiner == "the" and " of " in phrase.name:
            return [Fact(subject.name, "is", phrase.name)]
        return []

    def _whole_that_has(self, part: Token) -> str | None:
        """Return the choir of "part of a choir"."""
        of = next((c for c in part.rights if c.dep_ == "prep" and c.lower_ == "of"), None)
        is_plain = part.lower_ == "part" and not list(part.lefts)
        inner = next((c for c in of.children if c.dep_ == "pobj"), None) if of is not None and is_plain else None
        phrase = noun_phrase(inner, self._referents) if inner is not None else None
        if of is None or phrase is None or phrase.determiner not in ("a", "an", "the", "") or phrase.is_unspecific:
            return None
        return self._after(of, whole=True)

    def _title_of(self, subject: NamedPhrase) -> str | None:
        """Return a favourite film or song of which the title, whatever the tree says, goes on to the end."""
        words = [t for t in self._verb.doc[self._verb.i + 1 :] if not t.is_space]
        while words and words[-1].is_punct:
            words.pop()
        is_plain = subject.owner is not None and _is_favourite(subject.head) and not self._clause.is_past
        if not is_plain or not 1 <= len(words) <= 6 or not words[0].text[0].isupper() or any(t.is_punct for t in words):
            return None
        is_title = all(t.text[0].isupper() or t.pos_ in ("ADP", "DET", "CCONJ", "PART") or t.like_num for t in words)
        return self._verb.doc[words[0].i : words[-1].i + 1].text if is_title and words[-1].text[0].isupper() else None

    def _code_of(self, subject: NamedPhrase) -> str | None:
        """Return the value of an owned number, code or address: all the words up to the end, such as "SW1A 1AA"."""
        before = [c.lower_ for c in subject.head.lefts if c.dep_ == "compound"]
        kinds = {subject.lemma, "-".join([*before, subject.lemma])}
        if subject.owner is None or not kinds & WORDS["codes"] or self._clause.is_past or self._clause.is_perfect:
            return None
        words = list(self._verb.doc[self._verb.i + 1 :])
        while words and (words[-1].is_punct or words[-1].is_space):
            words.pop()
        is_value = all(
            w.tag_ in ("CD", "NN", "NNS", "NNP", "NNPS", "JJ", "SYM", "HYPH", "ADD", "LS", "FW")
            or w.lower_ in (",", "o")
            for w in words
        )
        is_code = any(w.text[0].isupper() or w.like_num or not w.text.isalpha() for w in words)
        if not words or len(words) > 10 or not is_value or not is_code:
            return None
        return render(words[0], words[-1].i, self._referents)

    def _of_day(self, subject: NamedPhrase) -> list[Fact]:
        """Return the day of "the concert is tomorrow" and "my exam is in two weeks"."""
        when = [c for c in self._verb.rights if is_time(c) or c.dep_ == "attr"]
        if not when or self._clause.is_past or self._clause.is_perfect or self._is_person(subject):
            return []
        if any(c.dep_ == "advmod" and c.lower_ in ("here", "there", "away", "home", "off") for c in self._verb.rights):
            return []
        value = render(when[0].left_edge, last_of(when[-1]), self._referents)
        return [] if value is None else [Fact(subject.name, IS_ON, value, f"day of {subject.name}".lower())]

    def _is_attribute(self, subject: NamedPhrase) -> bool:
        return subject.lemma in WORDS["attributes"] | WORDS["relations"] | WORDS["pets"] or subject.head.i > 0

    def _is_person(self, subject: NamedPhrase) -> bool:
        return subject.head.tag_ == "PRP" or subject.is_proper or subject.lemma in WORDS["relations"]

    def _of_number(self, subject: NamedPhrase, complement: Token) -> list[Fact]:
        if self._clause.is_past or any(c.dep_ == "conj" for c in complement.rights):
            return []  # "my kids are 4 and 7"
        last = self._last_of_complement(complement)
        while last + 1 < len(complement.doc) and complement.doc[last + 1].tag_ == "CD":
            last += 1  # the groups of a number
        value = render(complement.left_edge, last, self._referents)
        if value is None:
            return []
        if subject.owner is not None and subject.given_name is None and subject.lemma in WORDS["attributes"]:
            return [Fact(subject.owner, f"has {_without_owner(subject)}", value)]
        has_unit = re.search(r"[$€£]|\b(?!(?:or|[cmk]?m|k?g|m?s|px)\b)[^\W\d_]", value) is not None
        is_known = subject.lemma in WORDS["attributes"] | WORDS["codes"] or has_unit
        if subject.is_unspecific and not is_known:
            return []  # "the probability is 1/2"
        if subject.given_name is None and subject.head.tag_ in ("NN", "NNS") and not self._is_person(subject):
            return [Fact(subject.name, "is", value, f"value of {subject.name}".lower())]
        if any(token.lower_ in _OF_COUNTS for token in complement.doc[self._verb.i : complement.i]):
            return []
        is_age = self._is_person(subject) and complement.text.isdecimal() and int(complement.text) < 120
        return [Fact(subject.name, "has age", complement.text)] if is_age else []

    def _of_adjective(self, subject: NamedPhrase, complement: Token) -> list[Fact]:
        """Return a lasting property: "is allergic to nuts", "is divorced", "is German", "is 30 years old"."""
        lemma = complement.lower_
        if lemma == "old":
            years = next((c for c in complement.children if c.lemma_.lower() == "year"), None)
            number = next((c for c in years.children if c.like_num), None) if years is not None else None
            return [] if number is None else [Fact(subject.name, "has age", number.text)]
        nearby = (*complement.rights, *(c for c in self._verb.rights if c.i > complement.i))
        prep = next((c for c in nearby if c.dep_ == "prep" and not is_time(c)), None)
        is_kind = complement.text[:1].isupper() and complement.i > 0 and complement.tag_ in ("JJ", "NNP")
        if lemma in WORDS["adjectives_with_preposition"] and prep is not None:
            value = self._after(prep)
            if value is not None:
                married = lemma == "married" and prep.lower_ == "to"
                return [Fact(subject.name, "married to" if married else f"is {lemma} {prep.lower_}", value)]
        if lemma in WORDS["judging"] and prep is not None and prep.lower_ == "at":
            value = self._after(prep)  # "terrible at parallel parking"
            return [] if value is None else [Fact(subject.name, f"is {lemma} at", value)]
        noun = next((c for c in complement.rights if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
        if lemma in ("allergic", "addicted", "engaged", "intolerant") and noun is not None and not list(noun.rights):
            return [Fact(subject.name, f"is {lemma} to", noun.text)]  # a noun that was taken for a verb
        has_lasted = self._clause.is_perfect and self._lasts() and lemma not in WORDS["judging"]
        if lemma not in WORDS["lasting_adjectives"] and not is_kind and not (has_lasted and complement.tag_ == "JJ"):
            return []
        if lemma in ("open", "closed") and (hours := next((c for c in nearby if c.dep_ == "prep"), None)) is not None:
            value = render(hours, last_of(hours), self._referents)
            return (
                []
                if value is None
                else [Fact(subject.name, f"is {lemma}", value, f"opening of {subject.name}".lower())]
            )
        if any(map(_recurs, nearby)):
            return []  # "free on Sundays" is not free
        to_what = next((c for c in complement.lefts if c.dep_ in ("amod", "compound", "npadvmod")), None)
        if lemma in WORDS["adjectives_with_preposition"] - {"married", "engaged"} and to_what is None:
            return []  # but "lactose intolerant"
        first = complement.left_edge
        while (
            first.i < complement.i
            and first.tag_ in ("RB", "RBR", "UH", ",")
            and (first.lower_ not in ("colour", "color"))
        ):
            first = first.doc[first.i + 1]
        value = render(first, complement.i, self._referents)
        return [] if value is None else [Fact(subject.name, "is", value)]

    def _size(self, adjective: Token) -> str | None:
        """Return how tall or long something is: "1.85 m tall"."""
        words = adjective.doc[self._verb.i + 1 : adjective.i + 1]
        is_measure = 2 <= len(words) <= 6 and any(t.like_num or t.text[0].isdecimal() for t in words[:2])
        is_plain = all(t.is_alpha or t.like_num or t.text in "'\"′″.,-" or t.text[0].isdecimal() for t in words)
        return words.text if is_measure and is_plain else None

    def _value_or_day(self, noun: Token) -> str | None:
        """Return a phrase as a value; of a day the month too, which :func:`render` leaves out."""
        words = noun.doc[noun.left_edge.i : noun.right_edge.i + 2]  # the month may not belong to the phrase
        months = [t.i for t in words if t.lower_ in PROSE_WORDS["months"]]
        if months:
            return str(noun.doc[words.start : months[-1] + 1])
        return render(noun.left_edge, last_of(noun), self._referents)

    def _of_place(self, subject: NamedPhrase, prep: Token) -> list[Fact]:
        """Return where a thing is, or where a person is from."""
        clause = self._clause
        inner = next((c for c in prep.children if c.dep_ == "pobj"), None)
        is_stay = subject.head.tag_ == "PRP" and prep.lower_ in ("in", "at") and inner is not None
        if is_stay and inner is not None and inner.lemma_.lower() not in WORDS["groups"]:
            has_time = any(is_time(c) for c in self._verb.children)
            is_named = inner.pos_ == "PROPN" or any(c.dep_ == "det" and c.lower_ == "the" for c in inner.children)
            if not is_named or not (has_time or clause.is_past) or (clause.is_perfect and not self._lasts()):
                return []
            value = self._after(prep)
            state = "was" if clause.is_past else "is"
            return [] if value is None else [Fact(subject.name, f"{state} {prep.lower_}", value)]
        if clause.is_past or clause.is_perfect:
            return []
        is_attribute = subject.lemma in WORDS["attributes"]
        if is_attribute and subject.owner is not None and inner is not None and not _is_where(inner):
            value = self._value_or_day(inner)
            value = value if value is None else re.sub(r"^(?:the|a|an) ", "", value)
            return [] if value is None else [Fact(subject.owner, f"has {_without_owner(subject)}", value)]
        value = self._after(prep)
        if value is None or inner is None or self._is_hour_of_day(prep, inner):
            return []  # "my flight is at 6 on Monday"
        if prep.lower_ == "into" and self._is_person(subject):
            return [Fact(subject.name, "is into", value)]
        if subject.head.tag_ == "PRP" and prep.lower_ in ("in", "on"):
            return [Fact(subject.name, f"is {prep.lower_}", value)] if inner.lemma_.lower() in WORDS["groups"] else []
        if prep.lower_ == "from":
            return [] if value[:1].isdecimal() else [Fact(subject.name, "is from", value)]
        if prep.lower_ not in ("in", "on", "at", "under", "behind", "near", "inside", "above", "beside", "with"):
            return []
        is_thing = subject.head.tag_ in ("NN", "NNS", "NNP") and subject.lemma not in WORDS["times"]
        is_group = inner.lemma_.lower() in WORDS["groups"] and self._is_person(subject)
        aspect = None if is_group else f"place of {subject.name}".lower()
        return [Fact(subject.name, f"is {prep.lower_}", value, aspect)] if is_thing else []

    def _is_hour_of_day(self, prep: Token, inner: Token) -> bool:
        """Return whether a complement is the hour of a day that follows: "at 6 on Monday"."""
        following = self._verb.doc[inner.i + 1 :]
        return prep.lower_ == "at" and is_hour(inner) and any(t.lemma_.lower() in WORDS["times"] for t in following)

    def _of_passive(self, subject: NamedPhrase) -> list[Fact]:
        lemma = self._clause.lemma
        if lemma in _NAMING:
            name = next((c for c in self._verb.rights if c.dep_ in ("oprd", "dobj", "attr")), None)
            if name is None:  # a name that the parser takes for an adverb: "Brightly"
                name = next((c for c in self._verb.rights if c.text[:1].isupper()), None)
            # of "my daughter is called Ada and her husband Ben" the first name
            is_another = name is not None and any(t.tag_ == "PRP$" for t in name.subtree)
            last = None if name is None else name.i if is_another else last_of(name)
            value = render(name.left_edge, last, self._referents) if name is not None and last is not None else None
            if value is None:
                return []
            if value.startswith("after "):
                return [Fact(subject.name, "was named after", value.removeprefix("after "))]
            is_owned = subject.owner is not None and subject.given_name is None
            return [Fact(subject.name, "has name" if is_owned else "is called", value)]
        verb = lemma.partition(" ")[0]
        if verb in WORDS["attitudes"] | WORDS["light"] or any(c.dep_ == "dobj" for c in self._verb.rights):
            return []
        if verb in ("engage", "marry", "divorce", "separate"):
            return self._of_new_state(subject)
        start = self._verb.i
        while start and not self._verb.doc[start - 1].whitespace_ and self._verb.doc[start - 1].dep_ not in (
            "auxpass", "nsubjpass"
        ):  # fmt: skip
            start -= 1
        state = self._verb.doc[start : self._verb.i + 1].text.lower()
        hyphenated = self._verb.doc[self._verb.i : self._verb.i + 3].text.lower()
        if hyphenated in WORDS["lasting_adjectives"] and not self._clause.is_past:
            return [Fact(subject.name, "is", hyphenated)]  # "left-handed"
        if state in WORDS["lasting_adjectives"] and start < self._verb.i and not self._clause.is_past:
            return [Fact(subject.name, "is", state)]  # "self-employed"
        needs_more = WORDS["adjectives_with_preposition"] - {"married", "engaged"}
        if (
            self._verb.lower_ in WORDS["lasting_adjectives"] - needs_more
            and not self._clause.is_past
            and not self._clause.is_perfect
        ):
            hours = next((c for c in self._verb.rights if _recurs(c)), None)
            if hours is None:
                return [Fact(subject.name, "is", self._verb.lower_)]
            when = render(hours, last_of(hours), self._referents)
            return [] if when is None else [Fact(subject.name, f"is {self._verb.lower_}", when)]
        prep = next((c for c in self._verb.rights if c.dep_ in ("prep", "agent") and not is_time(c)), None)
        time = next((c for c in self._verb.rights if c.dep_ == "prep" and is_time(c)), None)
        participle = self._verb.lower_
        if prep is None:
            if lemma in _FATES and self._clause.is_past and not any(c.dep_ == "xcomp" for c in self._verb.rights):
                return [Fact(subject.name, "was", self._verb_text())]
            if lemma in _APPOINTING and time is not None and not self._clause.is_past and not self._is_person(subject):
                day = self._after(time)
                return [] if day is None else [Fact(subject.name, IS_ON, day, f"day of {subject.name}".lower())]
            if lemma != "bear" and subject.owner is not None and not self._clause.is_perfect:
                is_going_on = any(c.lower_ == "being" for c in self._verb.lefts)
                state = ("was" if self._clause.is_past else "is") + (" being" if is_going_on else "")
                return [Fact(subject.name, state, participle)] if self._clause.is_past or is_going_on else []
            if lemma != "bear" or time is None:
                return []
            value = self._after(time)
            return [] if value is None else [Fact(subject.name, f"born {time.lower_}", value)]
        value = self._after(prep)
        if value is None:
            return []
        if lemma == "bear":
            facts = [Fact(subject.name, f"born {prep.lower_}", value)]
            when = self._after(time) if time is not None else None
            return facts + (
                [Fact(subject.name, f"born {time.lower_}", when)] if when is not None and time is not None else []
            )
        state = "was" if self._clause.is_past or self._clause.is_perfect else "is"
        return [Fact(subject.name, f"{state} {participle} {prep.lower_}", value)]

    def _of_new_state(self, subject: NamedPhrase) -> list[Fact]:
        """Return the marital state of "got engaged", with the other one where that is said."""
        state = self._verb.lower_
        if {"get", "getting"} & set(self._clause.auxiliaries) and "be" in self._clause.auxiliaries:
            return [Fact(subject.name, "plans to get", state)]  # "is getting married"
        to = next((c for c in self._verb.rights if c.dep_ == "prep" and c.lower_ == "to"), None)
        other = self._after(to) if to is not None else None
        if other is not None and state in ("engaged", "married"):
            return [Fact(subject.name, "married to" if state == "married" else "is engaged to", other)]
        return [Fact(subject.name, "is", state)]

    def _of_home_or_work(self, subject: NamedPhrase) -> list[Fact]:
        clause = self._clause
        found: list[Fact] = []
        preps = [c for c in self._verb.rights if c.dep_ == "prep" and not is_time(c)]
        is_past = clause.is_past or (clause.is_perfect and not clause.is_progressive and not self._lasts())
        for prep in preps:
            word = prep.lower_
            others = [c for p in preps if p is not prep for c in (p,)]
            inner = next((c for c in prep.children if c.dep_ == "pobj"), None)
            nested = [
                c
                for c in (inner.children if inner is not None else ())
                if c.dep_ == "prep"
                and (c.lower_ in ("at", "as") or (c.lower_ == "for" and any(t.pos_ == "PROPN" for t in c.children)))
            ]
            if clause.lemma == "work":
                if word not in ("as", "at", "for", "in", "with", "from"):
                    continue
                value = self._after(prep, [*others, *nested])
                relation = f"worked {word}" if is_past else f"works {word}"
                if value is not None:
                    found.append(Fact(subject.name, relation, value))
                for further in nested:
                    value = self._after(further)
                    if value is not None:
                        found.append(Fact(subject.name, f"{'worked' if is_past else 'works'} {further.lower_}", value))
            elif clause.lemma in _MOVING:
                if word not in ("to", "into") or any(c.dep_ == "dobj" for c in self._verb.children):
                    continue
                value = self._after(prep)
                if (
                    value is not None
                    and inner is not None
                    and (
                        inner.pos_ == "PROPN"
                        or inner.lemma_.lower() in ("city", "town", "village", "country", "flat", "apartment", "house")
                    )
                ):
                    plans = clause.is_progressive and not clause.is_past
                    found.append(Fact(subject.name, "plans to move to" if plans else "lives in", value))
            elif word in _WHERE:
                if inner is not None and inner.lower_ == "own":
                    found += [] if is_past else [Fact(subject.name, "lives", "alone")]  # "on her own"
                    continue
                value = self._after(prep, others)
                if value is not None:
                    found.append(Fact(subject.name, f"{'lived' if is_past else 'lives'} {word}", value))
        if not preps and clause.lemma == "work" and any(c.dep_ == "dobj" for c in self._verb.rights):
            return self._of_any_verb(subject)  # "works night shifts"
        follower = self._verb.nbor().lower_ if self._verb.i + 1 < len(self._verb.doc) else ""
        if clause.lemma == "live" and follower == "alone" and not is_past and not preps:
            return [Fact(subject.name, "lives", "alone")]
        if not preps and clause.lemma == "work" and not is_past and (how := self._manner()) is not None:
            return [Fact(subject.name, self._relation(), how)]  # "works part time"
        return found

    def _of_making(self, subject: NamedPhrase) -> list[Fact]:
        """Return what a verb that says little has for its object, if that is told: "a vegetable garden"."""
        thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        if thing is None or thing.tag_ not in ("NN", "NNS") or thing.lemma_.lower() in WORDS["abstract"]:
            return []
        if any(c.dep_ in ("dative", "oprd", "xcomp", "ccomp", "prt") for c in self._verb.rights):
            return []
        words = [c for c in thing.lefts if c.dep_ in ("amod", "compound", "nummod")]
        is_told = any(c.lower_ not in WORDS["judging"] and c.tag_ not in ("JJR", "JJS") for c in words)
        is_given = any(c.lower_ in ("a", "an") or c.dep_ in ("poss", "nummod") for c in thing.lefts)
        return self._of_any_verb(subject) if is_told and is_given else []

    def _happens(self) -> bool:
        """Return whether the clause tells what happened or goes on, not what is always so."""
        clause = self._clause
        return clause.is_past or clause.is_perfect or (clause.is_progressive and clause.lemma != "be")

    def _lasts(self) -> bool:
        """Return whether "since" or "for" says that what began lasts."""
        return any(
            (c.dep_ == "prep" and c.lower_ in ("since", "for") and is_time(c))
            or (c.dep_ == "advcl" and any(m.lower_ == "since" for m in c.children))
            or c.lower_ == "always"
            for head in (self._verb, *(c for c in self._verb.rights if c.dep_ in ("attr", "acomp")))
            for c in head.children
        )

    def _of_intention(self, subject: NamedPhrase) -> list[Fact]:
        """Return what somebody wants, plans or has to do: "wants to learn Portuguese", "used to live in Rome"."""
        clause = self._clause
        inner = next((c for c in self._verb.rights if c.dep_ == "xcomp" and c.tag_ in ("VB", "VBG", "VBN")), None)
        of = next((c for c in self._verb.rights if c.dep_ == "prep" and c.lower_ in ("of", "about")), None)
        if inner is None and of is not None:
            inner = next((c for c in of.children if c.dep_ == "pcomp" and c.tag_ == "VBG"), None)
        if inner is None or any(c.dep_ in ("nsubj", "neg", "dobj") for c in self._verb.rights):
            return []
        is_gerund = inner.tag_ == "VBG" and not any(c.tag_ == "TO" for c in inner.children)
        start = self._intention(clause, of, is_gerund)
        if start is None or any(c.dep_ in ("nsubj", "neg") for c in inner.children):
            return []
        if any(c.dep_ == "auxpass" for c in inner.children):
            getting = any(c.lemma_ == "get" for c in inner.children) and inner.lower_ in WORDS["lasting_adjectives"]
            return [Fact(subject.name, f"{start} get", inner.lower_)] if getting else []
        particle = next((c.lower_ for c in inner.children if is_particle(c)), "")
        lemma = f"{inner.lemma_.lower()} {particle}".strip()
        read = _ClauseReader(
            Clause(inner, clause.subject, lemma, (), "", False, False, False, False, ""), self._referents, self._names
        )
        return read.of_infinitive(subject, f"{start} {inner.lower_ if is_gerund else inner.lemma_.lower()} {particle}")

    def _intention(self, clause: Clause, of: Token | None, is_gerund: bool) -> str | None:
        """Return the words before the verb of an intention: "wants to", "is thinking of", "used to"."""
        lemma = clause.lemma
        if is_gerund:
            words = {"think": f"is thinking {of.lower_}" if of is not None else None, "consider": "is considering"}
            return words.get(lemma) if clause.is_progressive and not clause.is_past else None
        if lemma == "use":
            return "used to" if clause.is_past else None
        if lemma == "go":
            return "plans to" if clause.is_progressive and not clause.is_past else None
        if lemma == "try":
            deed = next((c.lemma_.lower() for c in self._verb.rights if c.dep_ == "xcomp"), "")
            is_told = clause.is_progressive and not clause.is_past and deed not in WORDS["inner"]
            return "is trying to" if is_told else None
        if lemma == "decide":
            return "plans to"
        if clause.is_past or lemma in ("think", "consider") or (lemma in _FEELINGS and not clause.modal):
            return None
        if clause.modal:
            deed = next((c.lemma_.lower() for c in self._verb.rights if c.dep_ == "xcomp"), "")
            return None if lemma == "love" and deed in WORDS["stative"] else "would like to"
        return "has to" if lemma == "have" else f"{third_person(lemma)} to"

    def of_infinitive(self, subject: NamedPhrase, relation: str) -> list[Fact]:
        """Return what an infinitive says with its object, its goal or its state.

        Args:
            subject: who does it or is to do it.
            relation: the words up to the verb.
        """
        lemma = self._clause.lemma
        relation = " ".join(relation.split())
        state = next((c for c in self._verb.rights if c.dep_ in ("attr", "acomp")), None)
        if lemma in ("be", "become", "get") and state is not None:
            noun = noun_phrase(state, self._referents, self._last_of_complement(state))
            if lemma == "get":
                is_state = state.lower_ in WORDS["lasting_adjectives"]
                return [Fact(subject.name, relation, state.lower_)] if is_state else []
            is_kind = noun is not None and noun.determiner in ("a", "an") and not noun.is_vague
            return [Fact(subject.name, f"{relation} a", noun.name)] if noun is not None and is_kind else []
        verb = lemma.partition(" ")[0]
        goal = next((c for c in self._verb.rights if c.dep_ == "prep" and not is_time(c)), None)
        is_trip = lemma in ("go", "get", "come") and goal is not None and goal.lower_ in ("to", "into", "on")
        proposes = lemma == "propose" and goal is not None and goal.lower_ == "to"
        if verb in WORDS["attitudes"] | WORDS["light"] and lemma not in ("take", "use") and not (is_trip or proposes):
            return []
        thing = next((c for c in self._verb.rights if c.dep_ in ("dobj", "xcomp", "ccomp", "attr", "acomp")), None)
        if thing is not None:
            value = self._object() if thing.dep_ == "dobj" else None
        elif goal is not None:
            value = self._after(goal, whole=True)
            relation = f"{relation} {goal.lower_}"
        else:
            value = None
        if value is None and lemma in WORDS["alone"] and not _has_complement(self._verb):
            value, _, relation = lemma, None, relation.rpartition(" ")[0]
        return [] if value is None else [Fact(subject.name, relation, value)]

    def _of_turning(self, subject: NamedPhrase) -> list[Fact]:
        value = next((c for c in self._verb.rights if c.text.isdecimal() and 0 < int(c.text) < 120), None)
        if value is None:
            value = next((c for c in self._verb.rights if c.tag_ == "CD" and c.like_num and c.is_alpha), None)
        if value is None or any(c.dep_ == "prep" and c.lower_ not in ("on", "in", "at") for c in self._verb.rights):
            return []
        if self._clause.is_progressive and not any(is_time(c) for c in self._verb.rights):
            return []
        return [Fact(subject.name, "has age", value.text)]

    def _of_new_job(self, subject: NamedPhrase) -> list[Fact]:
        """Return the employer of "started a new job at Siemens" and "started at Bosch"."""
        thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        holder = (
            thing if thing is not None and thing.lemma_.lower() in ("job", "position", "role", "internship") else None
        )
        if thing is not None and holder is None:
            return []
        if holder is None and self._clause.lemma != "start":
            return []
        preps = [c for t in (holder, self._verb) if t is not None for c in t.rights if c.dep_ == "prep"]
        for prep in preps:
            inner = next((c for c in prep.children if c.dep_ == "pobj"), None)
            if inner is None or is_time(prep) or prep.lower_ not in ("at", "with", "for", "as"):
                continue
            value = self._after(prep)
            if value is not None and (inner.pos_ == "PROPN" or holder is not None):
                return [Fact(subject.name, "works as" if prep.lower_ == "as" else "works at", value)]
        return []

    def _of_going(self, subject: NamedPhrase) -> list[Fact]:
        """Return where somebody goes by habit: "goes to the gym on Tuesdays"."""
        clause = self._clause
        sport = next((c for c in self._verb.rights if c.dep_ in ("dobj", "xcomp", "advcl")), None)
        if sport is not None and sport.i == self._verb.i + 1 and sport.lower_.endswith("ing"):
            value = render(sport, self._extended(last_of(sport)), self._referents)
            return [] if value is None else [Fact(subject.name, self._relation(), value)]
        prep = next((c for c in self._verb.rights if c.dep_ == "prep" and c.lower_ == "to"), None)
        inner = next((c for c in prep.children if c.dep_ == "pobj"), None) if prep is not None else None
        attended = (
            inner is not None and clause.is_past and not clause.is_progressive and inner.lemma_.lower() in _SCHOOLS
        )
        if prep is not None and inner is not None and attended and not any(c.dep_ == "det" for c in inner.lefts):
            value = self._after(prep, whole=True)
            return [] if value is None else [Fact(subject.name, "went to", value)]
        if prep is None or inner is None or clause.is_past or clause.is_perfect:
            return []
        if clause.is_progressive and inner.pos_ != "PROPN":
            return []
        value = self._after(prep, whole=True)
        relation = "is going to" if clause.is_progressive else "goes to"
        return [] if value is None else [Fact(subject.name, relation, value)]

    def _of_having(self, subject: NamedPhrase, *, has_got: bool) -> list[Fact]:
        """Return what somebody or something has: "has two brothers", "has got a dog called Rex"."""
        clause = self._clause
        thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        if thing is None:
            return []
        phrase = noun_phrase(thing, self._referents, self._last_of_complement(thing))
        is_illness = thing.lemma_.lower() in WORDS["illnesses"]  # "the flu" needs no further words
        if phrase is None or phrase.is_vague or (phrase.is_unspecific and not is_illness):
            return []
        if phrase.owner is not None and (phrase.owner == subject.name or thing.tag_ not in ("NN", "NNP")):
            return []  # but "my grandmother's ring"
        is_bare = phrase.determiner in ("", "some") and phrase.lemma not in WORDS["relations"] | WORDS["pets"]
        adjectives = [] if phrase.end > thing.i + 1 else [c for c in thing.lefts if c.dep_ not in ("det", "punct")]
        is_judged = bool(adjectives) and all(c.lower_ in WORDS["judging"] - WORDS["sizes"] for c in adjectives)
        if is_bare and (
            (phrase.determiner == "some" and not phrase.is_modified) or (is_judged and thing.tag_ == "NNS")
        ):
            return []
        if phrase.lemma in WORDS["requests"] and (phrase.determiner != "the" or self._is_only_praised(phrase)):
            return []
        is_open = _says_the_rest_in_a_clause(phrase) or (phrase.determiner == "the" and not phrase.is_identified)
        if is_open and not is_illness:
            return []
        if any(
            c.dep_ in ("xcomp", "ccomp") or (c.dep_ == "relcl" and c.tag_ == "VB")
            for c in (*self._verb.children, *thing.children)
        ):
            return []
        if (
            phrase.determiner == ""
            and phrase.lemma in WORDS["abstract"]
            and not any(c.dep_ in ("amod", "compound", "nummod") for c in thing.children)
        ):
            return []  # "has time"
        was = clause.is_past or (clause.is_perfect and not has_got and not self._lasts())
        if self._is_only_praised(phrase) or is_stretch(phrase):
            return []
        value = self._whole(phrase.name, phrase.end - 1)
        if value is None:
            return []
        found = [Fact(subject.name, "had" if was else "has", value)]
        naming = next((c for c in thing.children if c.dep_ == "acl" and c.lemma_.lower() in _NAMING), None)
        given = (
            next((c for c in naming.children if c.dep_ in ("oprd", "dobj", "attr")), None)
            if naming is not None
            else None
        )
        if given is not None and not was:
            name = render(given.left_edge, last_of(given), self._referents)
            kind = noun_phrase(thing, self._referents, thing.i)
            if name is not None and kind is not None:
                found.append(Fact(name, "is a", kind.name))
        return found

    def _of_causing(self, subject: NamedPhrase) -> list[Fact]:
        """Return what somebody lets others do: "had my gallbladder removed", "is getting solar panels installed"."""
        deed = next((c for c in self._verb.rights if c.dep_ in ("ccomp", "xcomp") and c.tag_ == "VBN"), None)
        thing = next((c for c in (deed.lefts if deed is not None else ()) if c.dep_ in ("nsubj", "nsubjpass")), None)
        if deed is None:
            thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
            deed = next((c for c in thing.rights if c.tag_ == "VBN" and c.dep_ == "acl"), None) if thing else None
        if thing is None or deed is None or any(c.dep_ in ("aux", "auxpass", "neg") for c in deed.lefts):
            return []
        if (self._verb.lemma_ == "have" and deed.dep_ == "acl") or thing.right_edge.i > deed.right_edge.i:
            return []
        phrase = noun_phrase(thing, self._referents, deed.i - 1)
        if phrase is None or phrase.is_vague or phrase.is_unspecific or not all(is_time(c) for c in deed.rights):
            return []
        return [Fact(subject.name, self._relation(), f"{phrase.name} {deed.lower_}")]

    def _of_any_verb(self, subject: NamedPhrase) -> list[Fact]:
        clause = self._clause
        lemma = clause.lemma
        relation = self._relation()
        aspect = None
        complement = next(
            (
                c
                for c in self._verb.rights
                if c.dep_ in ("dobj", "xcomp", "prep", "attr", "acomp", "oprd", "ccomp", "dative") and not is_time(c)
            ),
            None,
        )
        nights = [c for c in self._verb.rights if c.lemma_.lower() in ("day", "night", "week")]
        if not self._happens() and any(t.dep_ == "nummod" for c in nights for t in c.lefts):
            return []  # "we sleep two nights at the inn": a plan
        if complement is None:
            return self._of_intransitive(subject, relation)
        if complement.dep_ == "dative" and complement.tag_ == "PRP":
            other = self._referents.of(complement.lower_)
            if other is None or not any(c.dep_ == "dobj" for c in self._verb.rights):
                return []
            relation = f"{relation} {other}"  # "owes me 200 pounds"
        elif complement.dep_ == "dative" and lemma == "owe" and (sum_ := self._debt(complement)) is not None:
            return [Fact(subject.name, relation, sum_)]
        elif complement.dep_ in ("attr", "acomp", "oprd", "ccomp", "dative"):
            return []
        elif complement.dep_ == "dobj" and complement.lower_ == "me":
            return self._of_what_is_done_to_speaker(subject, relation)
        if complement.dep_ == "xcomp":
            if lemma not in WORDS["takes_clause"]:
                return []
            value = self._clause_object(complement)
        elif complement.dep_ == "prep":
            value = self._after(complement, whole=True)
            relation = f"{relation} {complement.lower_}"
        else:
            if any(c.dep_ in ("ccomp", "xcomp") for c in self._verb.rights):
                return []
            value = self._object()
        if value is None:
            return []
        if lemma in _FEELINGS and not clause.is_past:
            aspect = _feeling(subject.name, value)
        return [Fact(subject.name, relation, value, aspect)]

    def _of_what_is_done_to_speaker(self, subject: NamedPhrase, relation: str) -> list[Fact]:
        """Return what somebody does to the speaker: "my doctor put me on statins"."""
        is_known = subject.owner is not None or subject.is_proper
        rest = [c for c in self._verb.rights if c.i > self._verb.i + 1 and not c.is_punct and not is_time(c)]
        goal = next((c for c in rest if c.dep_ == "prep"), None)
        if is_known and not rest and self._clause.is_past:
            return [Fact(subject.name, relation, self._referents.speaker)]  # "my grandmother raised me"
        if not is_known or goal is None or rest[0] != goal or any(c.dep_ in ("xcomp", "ccomp", "oprd") for c in rest):
            return []
        value = self._after(goal, whole=True)
        speaker = self._referents.speaker
        return [] if value is None else [Fact(subject.name, f"{relation} {speaker} {goal.lower_}", value)]

    def _debt(self, creditor: Token) -> str | None:
        """Return what is owed, and to whom: "300 euros to Tom's uncle"."""
        owed = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        whom = noun_phrase(creditor, self._referents)
        what = noun_phrase(owed, self._referents) if owed is not None else None
        if whom is None or what is None or owed is None or not any(c.dep_ == "nummod" for c in owed.lefts):
            return None
        return f"{what.name} to {whom.name}"

    def _of_schedule(self, subject: NamedPhrase) -> list[Fact]:
        """Return when something leaves, opens or ends: "the gym opens at 8"."""
        prep = next((c for c in self._verb.rights if c.dep_ == "prep" and is_time(c)), None)
        if prep is None or self._clause.is_past:
            return []
        value = render(prep, last_of(prep), self._referents)
        relation = third_person(self._clause.lemma)
        return [] if value is None else [Fact(subject.name, relation, value, f"{relation} of {subject.name}".lower())]

    def _of_intransitive(self, subject: NamedPhrase, relation: str) -> list[Fact]:
        """Return a habit without an object, or when something is planned: "runs three times a week", "smokes"."""
        clause = self._clause
        if clause.lemma in _ENDED and (clause.is_past or clause.is_perfect):
            return [Fact(subject.name, "is", _ENDED[clause.lemma])]
        if clause.is_past:
            return self._of_mishap(subject)
        times = next((c for c in self._verb.rights if c.dep_ == "npadvmod" and c.lower_ in ("times", "days")), None)
        if times is None:
            times = next((c for c in self._verb.rights if c.dep_ == "npadvmod" and c.left_edge.lower_ in _OFTEN), None)
        often = render(times.left_edge, times.right_edge.i, self._referents) if times is not None else None
        if often is not None:
            return [Fact(subject.name, relation, often)]
        if (how := self._manner()) is not None:
            return [Fact(subject.name, relation, how)]
        if clause.lemma in WORDS["alone"] and not any(not c.is_punct for c in self._verb.rights):
            return [Fact(subject.name, "does", clause.lemma, f"whether {subject.name} does {clause.lemma}".lower())]
        if clause.lemma in WORDS["schedules"] and subject.head.tag_ != "PRP":
            return self._of_schedule(subject)
        return []

    def _believed(self) -> str | None:
        """Return what somebody believes in."""
        into = next((c for c in self._verb.rights if c.dep_ == "prep" and c.lower_ == "in"), None)
        inner = next((c for c in into.children if c.dep_ == "pobj"), None) if into is not None else None
        if into is None or inner is None or self._happens() or inner.tag_ not in ("NN", "NNS", "NNP", "NNPS"):
            return None
        return None if any(c.dep_ in ("poss", "det") for c in inner.lefts) else self._after(into, whole=True)

    def _related(self) -> str | None:
        """Return the relative who is the object: "my grandmother"."""
        thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        phrase = noun_phrase(thing, self._referents) if thing is not None else None
        is_whole = not any(c.dep_ in ("oprd", "xcomp", "ccomp", "attr") for c in self._verb.rights)
        is_relative = phrase is not None and phrase.owner is not None and phrase.lemma in WORDS["relations"]
        return phrase.name if phrase is not None and is_relative and is_whole else None

    def _starts_with_group(self) -> bool:
        """Return whether what is started is "school", "college", "therapy"."""
        thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        return thing is not None and thing.lemma_.lower() in WORDS["groups"] and not list(thing.children)

    def _manner(self) -> str | None:
        """Return how something is always done, with nothing else said: "badly", "part time", "every Wednesday"."""
        clause = self._clause
        if clause.is_progressive or clause.is_perfect or clause.lemma.partition(" ")[0] in _NO_HABITS:
            return None
        following = [c for c in self._verb.rights if not c.is_punct and c.dep_ not in ("cc", "conj")]
        how = following[0] if following else None
        if how is None or how.i > self._verb.i + 3 or any(c.dep_ not in ("npadvmod", "advmod") for c in following[:2]):
            return None
        is_adverb = how.dep_ == "advmod" and how.tag_ == "RB" and how.left_edge == how.right_edge
        if is_adverb and (is_time(how) or how.lower_ in WORDS["trailing"] | WORDS["particles"] | _DEGREES):
            return None
        recurs = how.dep_ == "npadvmod" and any(c.lower_ in ("every", "each") for c in how.lefts)
        if how.dep_ == "npadvmod" and how.lower_ == "lot":
            return "a lot"
        is_kind = how.dep_ == "npadvmod" and how.lower_ == "time" and any(c.dep_ == "compound" for c in how.lefts)
        if not (is_adverb or recurs or is_kind):
            return None
        return render(how.left_edge, last_of(how), self._referents)

    def _of_mishap(self, subject: NamedPhrase) -> list[Fact]:
        """Return what became of what somebody has: "my car broke down", "my parents split up"."""
        particle = next((c for c in self._verb.rights if c.dep_ == "prt"), None)
        is_owned = subject.owner is not None and subject.head.tag_ in ("NN", "NNS")
        if particle is None or not is_owned or self._clause.is_perfect or self._clause.negation:
            return []
        others = [c for c in self._verb.rights if c != particle and not c.is_punct and not is_time(c)]
        if any(c.dep_ not in ("advcl", "cc", "conj") for c in others):
            return []
        return [Fact(subject.name, self._verb.lower_, particle.lower_)]

    def _relation(self) -> str:
        """Return the verb in words: "reads", "is reading", "read", "has read"."""
        clause = self._clause
        if (going := going_of(clause)) is not None:
            return f"{going} {self._verb_text()}"
        if clause.is_progressive:
            return ("was " if clause.is_past else "is ") + self._verb_text()
        if clause.is_perfect and not clause.is_past:
            if clause.lemma in WORDS["states"] and self._lasts():
                return third_person(clause.lemma)
            return "has " + self._verb_text()
        how_often = next((f"{c.lower_} " for c in self._verb.lefts if c.lower_ in _SELDOM), "")
        return self._verb_text() if clause.is_past else f"{how_often}{third_person(clause.lemma)}"

    def _verb_text(self) -> str:
        particle = self._clause.lemma.partition(" ")[2]
        return f"{self._verb.lower_} {particle}".strip()

    # -- complements ------------------------------------------------------------------------------------------------

    def _last_of_complement(self, complement: Token) -> int:
        """Return the index of the last word of a complement, without what only says when."""
        times = [
            t
            for t in complement.subtree
            if t is not complement and t.dep_ in ("prep", "npadvmod", "advmod") and is_time(t)
        ]
        return last_of(complement, times)

    def _object(self) -> str | None:
        """Return the object with all that belongs to it: "tea to coffee", "spare key under the flowerpot"."""
        thing = next((c for c in self._verb.rights if c.dep_ == "dobj"), None)
        if thing is None:
            return None
        first = noun_phrase(thing, self._referents, self._last_of_complement(thing))
        if thing.lower_ in ("%", "percent") and (first is None or not first.is_identified):
            return None  # "reached 65%"
        if first is None or thing.tag_ == "PRP" or first.is_vague or self._is_request(first) or is_own_matter(first):
            return None
        if self._is_unspecific(first) and (first.determiner != "the" or self._extended(first.end - 1) < first.end):
            return None
        if is_stretch(first):
            return None
        if _says_the_rest_in_a_clause(first) or self._is_only_praised(first):
            return None
        if self._clause.lemma == "do" and (thing.i == self._verb.i + 1 or first.lemma in WORDS["vague"]):
            if first.determiner == "" and any(c.dep_ in ("xcomp", "dobj") for c in thing.rights):
                return None  # "I do love watching films"
            if first.lemma in WORDS["vague"]:
                return None
        last = self._extended(first.end - 1)
        phrase = noun_phrase(thing, self._referents, last)
        if phrase is None:
            return None
        particle = next((c for c in self._verb.rights if c.dep_ == "prt" and first.end <= c.i <= last), None)
        if particle is None:
            return self._whole(phrase.name, last)
        rest = render(particle.nbor(), last, self._referents) if particle.i < last else ""
        return None if rest is None else self._whole(f"{first.name} {rest}".strip(), last)

    def rest_of_object(self, last: int) -> str | None:
        """Return what follows the object that ends at an index and belongs to it; ``None`` if it cannot be told."""
        return self._whole("", last)

    def _whole(self, name: str, last: int, *, excluded: Container[Token] = (), of_verb: bool = True) -> str | None:
        """Return an object with the phrases that follow it and belong to it: "picnic" and "with friends".

        Args:
            name: the object up to ``last``.
            last: index of its last token.
            excluded: dependents that are stated elsewhere.
            of_verb: whether what belongs to the verb belongs to the object too.

        Returns:
            The object; ``None`` where what follows says which one is meant or what for, and cannot be part of it.
        """
        doc = self._verb.doc
        index = last + 1
        while index < len(doc):
            token = doc[index]
            top = _dependent_at(token)
            if token.text == "," and (further := _end_of_list(token)) is not None:
                rest = render(token, further, self._referents)
                return None if rest is None or further == index else name + rest
            if token.dep_ == "ROOT" and token.pos_ not in ("VERB", "AUX", "PUNCT"):
                return None  # a sentence that the parser has torn apart
            if token.is_punct or top is None or token.dep_ in ("intj", "discourse"):
                break
            is_of_verb = top.head.i <= self._verb.i or top.head in self._verb.ancestors
            is_when = top in excluded or is_time(top) or (top.dep_ == "npadvmod" and token.lower_ in _WHICH_TIMES)
            if is_when or token.lower_ in WORDS["trailing"] | WORDS["times"]:
                index = top.right_edge.i + 1 if is_when else index + 1
            elif top.dep_ == "cc":
                return self._joined(name, top) if _joins_object(top, self._verb, last) else name
            elif is_of_verb and not of_verb:
                break
            elif top.dep_ in ("prep", "agent", "dative"):
                if token.lower_ in _REASONS:
                    break
                end = last_of(top, [t for t in top.subtree if t != top and is_time(t)])
                inner = next((c for c in top.rights if c.dep_ == "pobj"), None)
                phrase = noun_phrase(inner, self._referents, end) if inner is not None else None
                rest = render(top, end, self._referents) if phrase is not None and not phrase.is_vague else None
                if rest is None:
                    return None
                name, index = f"{name} {rest}", end + 1
            elif top.dep_ == "advcl":
                is_aside = any(c.lower_ in _ASIDES for c in top.lefts if c.dep_ in ("mark", "advmod"))
                if is_aside or token.tag_ == "TO" or top.tag_ == "VBG":
                    return name  # a reason, a purpose or what was done at the time
                rest = render(top.left_edge, last_of(top), self._referents) if token.lower_ == "for" else None
                return None if rest is None else f"{name} {rest}"
            elif top.dep_ in ("relcl", "acl"):
                is_known = any(t.pos_ == "PROPN" or t.dep_ == "poss" for t in (top.head, doc[last], *doc[last].lefts))
                is_dated = top.dep_ == "acl" and all(is_time(c) for c in top.rights)
                return name if is_dated or (is_known and top.dep_ == "relcl") else None
            elif top.dep_ == "npadvmod" and (top.lower_ in ("times", "days") or token.lower_ in _OFTEN):
                often = render(top.left_edge, top.right_edge.i, self._referents)
                if often is None:
                    return None
                name, index = f"{name} {often}", top.right_edge.i + 1
            elif top == token and top.dep_ == "advmod" and token.tag_ == "RB" and _closes_object(token, self._verb):
                name, index = f"{name} {token.text}", index + 1  # "chess online"
            elif top == token and (token.tag_ == "JJ" or token.lower_ in _OFTEN) and top.right_edge == top:
                name, index = f"{name} {token.text}", index + 1  # "my coffee black", "my driving test twice"
            elif top.dep_ in _COMPLETING:
                return None
            else:
                break
        return name

    def _joined(self, name: str, conjunction: Token) -> str | None:
        """Return an object with the noun that "and" joins to it; ``None`` where the two may share their noun."""
        if conjunction.i + 1 == len(conjunction.doc):
            return name  # the text breaks off after "and"
        noun = next((c for c in conjunction.head.children if c.dep_ == "conj" and c.i > conjunction.i), None)
        has_article = conjunction.nbor().tag_ in ("DT", "PRP$", "CD")
        phrase = noun_phrase(noun, self._referents) if noun is not None else None
        if noun is None or noun.left_edge != conjunction.nbor() or phrase is None or phrase.is_vague:
            return name if has_article else None
        rest = render(conjunction, phrase.end - 1, self._referents)
        is_plain = rest is not None and not is_time(noun) and phrase.end - 1 == noun.right_edge.i
        return f"{name} {rest}" if is_plain else name if has_article else None

    def _is_request(self, thing: NamedPhrase) -> bool:
        """Return whether an object is asked for in a message: "I need help", "I'd like some advice on"."""
        verb = self._clause.lemma
        return thing.lemma in WORDS["requests"] and (verb in ("need", "want", "get", "like") or not thing.is_modified)

    def _is_unspecific(self, thing: NamedPhrase) -> bool:
        """Return whether an object says too little: "the book", "options"; but "plays the cello", "eats meat"."""
        lemma = self._clause.lemma
        if thing.determiner == "the":
            return not thing.is_proper and not thing.is_identified and lemma not in WORDS["takes_known"]
        is_bare = (
            thing.determiner in ("", "some") and thing.owner is None and not thing.is_proper and not thing.is_modified
        )
        is_known = (lemma in WORDS["takes_bare"] | WORDS["schedules"] and thing.lemma in WORDS["groups"]) or (
            lemma in WORDS["takes_bare"] and not (lemma == "play" and self._clause.is_past and thing.head.tag_ == "NNS")
        )
        recurs = any(
            _recurs(c) or (c.dep_ == "npadvmod" and any(t.lower_ in ("every", "each") for t in c.lefts))
            for c in self._verb.rights
        )
        is_habit = not self._happens() and (recurs or any(c.lower_ in _USUALLY for c in self._verb.lefts))
        is_child = lemma == "expect" and thing.lemma in WORDS["relations"]
        if is_bare and (
            is_known or is_child or lemma == "give up" or (is_habit and thing.lemma not in WORDS["abstract"])
        ):
            return False
        is_told = self._extended(thing.end - 1) >= thing.end and not self._happens()
        if is_bare and is_told and thing.head.tag_ == "NNS":
            return False  # "keeps bees behind the garage"
        return is_bare and (self._clause.is_past or lemma not in WORDS["habits"] | _FEELINGS | _DISLIKES)

    def _is_only_praised(self, thing: NamedPhrase) -> bool:
        """Return whether what happened is only judged, not told: "had a great time", "ate yummy food"."""
        words = [c for c in thing.head.children if c.dep_ not in ("det", "punct", "cc", "conj", "relcl")]
        if words and all(c.lower_ in WORDS["quantities"] for c in words):
            return True  # "wants to add more features"
        if not (self._clause.is_past or self._clause.is_perfect) or thing.owner is not None or thing.is_proper:
            return False
        return bool(words) and all(c.lower_ in WORDS["judging"] or c.tag_ == "RB" for c in words)

    def _extended(self, last: int) -> int:
        """Return where an object ends with the prepositional phrases of the verb that follow it directly."""
        for child in self._verb.rights:
            is_adverb = child.dep_ == "advmod" and child.lower_ in WORDS["regularly"] | WORDS["particles"]
            if child.i == last + 1 and (child.dep_ == "prt" or child.lower_ in WORDS["regularly"] or is_adverb):
                last += 1
            if child.i == last + 1 and child.dep_ == "advcl" and child.lower_ == "using":
                last = last_of(child)  # "has implemented navigation using JavaScript"
            if child.i == last + 1 and child.dep_ in ("prep", "agent", "dative") and not is_time(child):
                last = last_of(
                    child,
                    [t for t in child.subtree if t != child and t.dep_ in ("prep", "npadvmod") and is_time(t)],
                )
        return last

    def _after(self, prep: Token, excluded: list[Token] | None = None, *, whole: bool = False) -> str | None:
        """Return what a preposition leads to."""
        inner = next((c for c in prep.children if c.dep_ in ("pobj", "pcomp")), None)
        if inner is None:
            return None
        if inner.dep_ == "pcomp":
            return self._clause_object(inner) if inner.tag_ == "VBG" else None
        times = [t for t in inner.subtree if t is not inner and t.dep_ in ("prep", "npadvmod") and is_time(t)]
        last = last_of(inner, [*times, *(excluded or ())])
        if whole:
            last = self._extended(last)
        phrase = noun_phrase(inner, self._referents, last)
        if (
            phrase is None
            or phrase.is_vague
            or (phrase.is_unspecific and self._happens() and phrase.lemma not in WORDS["groups"])
            or is_own_matter(phrase)
            or (whole and self._is_only_praised(phrase))
        ):
            return None
        return self._whole(phrase.name, last, excluded=excluded or (), of_verb=whole)

    def _clause_object(self, head: Token) -> str | None:
        """Return a gerund or infinitive with all that belongs to it: "hiking in the mountains", "to sail"."""
        if any(c.dep_ in ("nsubj", "mark", "neg") for c in head.children):
            return None
        first = head.left_edge
        times = [t for t in head.subtree if t != head and t.dep_ in ("prep", "npadvmod", "advmod") and is_time(t)]
        last = last_of(head, times)
        if any(t.lower_ in WORDS["vague"] for t in head.children if t.dep_ in ("dobj", "pobj")):
            return None
        things = [
            t for c in (head, *head.children) for t in c.children if t.dep_ in ("dobj", "pobj") and t.tag_ == "NNS"
        ]
        if any(c.lower_ in WORDS["pointing"] | {"new"} for t in things for c in t.lefts):
            return None  # "trying out different flavors"
        takes_object = head.lemma_.lower() in WORDS["attitudes"] | WORDS["light"] | WORDS["empty"]
        if any(t.dep_ == "ccomp" for t in head.rights) or (takes_object and last <= head.i):
            return None
        if head.lemma_.lower() in WORDS["attitudes"] and not any(t.dep_ == "dobj" for t in head.rights):
            return None
        if any(is_break(t) for t in head.doc[first.i : head.i]):
            return None
        last = self._extended(last)
        value = render(first, last, self._referents)
        return None if value is None else self._whole(value, last)


def going_of(clause: Clause) -> str | None:
    """Return the "went" of "went fishing with", which the parser takes for an auxiliary; ``None`` without one."""
    going = next((c for c in clause.verb.lefts if c.lemma_ == "go" and c.dep_ in ("aux", "auxpass")), None)
    is_gerund = clause.verb.tag_ == "VBG" and "be" not in clause.auxiliaries
    return going.lower_ if going is not None and is_gerund else None


def _is_general(subject: NamedPhrase) -> bool:
    """Return whether a sentence begins with a name and quotes nothing: no draft, no example, no item of a list."""
    return subject.is_proper and subject.head.left_edge.i <= 1 and '"' not in subject.head.doc.text


def _is_word(verb: Token) -> bool:
    """Return whether a verb is one, not a part of code or a name: "gunicorn --config", "Werkzeug debugger for"."""
    is_tagged = verb.pos_ in ("VERB", "AUX") or verb.tag_.startswith("VB")
    return is_tagged and re.fullmatch(r"['\w]?[^\W\d_]+(?:[-'][^\W\d_]+)*", verb.text) is not None


def _dependent_at(token: Token) -> Token | None:
    """Return the phrase that begins at a token and depends on a word before it; ``None`` without one."""
    top = token
    while top.head.i > token.i and top.head.left_edge.i >= token.i and top.head != top:
        top = top.head
    return top if top.head.i < token.i and top.left_edge.i == token.i else None


def _joins_object(conjunction: Token, verb: Token, last: int) -> bool:
    """Return whether "and" joins something to an object that ends before it, not another clause."""
    if conjunction.lower_ in ("but", "so", "yet"):
        return False
    following = itertools.takewhile(
        lambda t: not t.is_punct and t.lower_ not in _ASIDES, conjunction.doc[conjunction.i + 1 :]
    )
    if not any(is_verb(t) or t.tag_ in ("VBG", "VBN") for t in following):
        return True  # "consistent styling and hover effects", whatever the tree says
    joined = next((c for c in conjunction.head.children if c.dep_ == "conj" and c.i > conjunction.i), None)
    if joined is None:
        return False
    has_subject = any(c.dep_ in ("nsubj", "nsubjpass", "expl") for c in joined.lefts)
    return verb.i < conjunction.head.i <= last and not (is_verb(joined) or has_subject or joined.tag_ == "VBG")


def is_verb(token: Token) -> bool:
    """Return whether a word is a verb with a tense, or one in its plain form."""
    return token.tag_ in ("VB", "VBP", "VBZ", "MD") or (token.tag_ == "VBD" and not is_present_form(token))


def _end_of_list(comma: Token) -> int | None:
    """Return where the list ends that goes on after a comma; the comma itself if that is not clear, or ``None``."""
    doc, index, was_joined = comma.doc, comma.i + 1, False
    while index < len(doc) and (doc[index].tag_ in _IN_LIST or doc[index].lower_ in (",", "and", "or")):
        was_joined = was_joined or (doc[index].lower_ in ("and", "or") and index > comma.i + 1)
        index += 1
    first = doc[min(comma.i + 1, len(doc) - 1)]
    if not was_joined or first.lower_ in ("and", "or", "but", "so") or first.tag_ == "VBG":
        return None
    while doc[index - 1].lower_ in (",", "and", "or"):
        index -= 1
        if doc[index].lower_ != ",":
            return None  # "Bonn, Germany, and we love it"
    is_closed = index >= len(doc) or doc[index].is_punct
    if not is_closed and is_verb(doc[index]):
        return None
    has_names = all(t.tag_ in ("NNP", "NNPS", "CD", "LS", "CC", ",") for t in doc[comma.i : index])
    end: int = index - 1 if is_closed and has_names else comma.i
    return end


def _closes_object(adverb: Token, verb: Token) -> bool:
    """Return whether an adverb of the verb ends what is said of an object: "plays chess online"."""
    following = adverb.doc[adverb.i + 1 : adverb.i + 2]
    is_end = not following or following[0].is_punct or following[0].dep_ in ("prep", "cc", "npadvmod")
    return adverb.head == verb and is_end and adverb.lower_ not in _DEGREES and not list(adverb.children)


def _has_complement(verb: Token) -> bool:
    return any(c.dep_ in ("dobj", "xcomp", "ccomp", "prep", "attr", "acomp") and not is_time(c) for c in verb.rights)


def is_own_matter(thing: NamedPhrase) -> bool:
    """Return whether a thing is what everybody has, of which nothing more is said: "my time", "my own journey"."""
    words = [c for c in thing.head.children if c.dep_ not in ("poss", "punct", "cc") and c.lower_ != "own"]
    is_told = any(
        c.i < thing.end and not (c.dep_ == "conj" and c.lemma_.lower() in WORDS["own_matters"]) for c in words
    )
    return thing.owner is not None and thing.lemma in WORDS["own_matters"] and not is_told


def is_stretch(thing: NamedPhrase) -> bool:
    """Return whether an object is only a time: "had a wicked weekend"; but "takes 50 minutes"."""
    is_counted = any(c.dep_ in ("nummod", "poss") for c in thing.head.children)
    is_part = thing.head.tag_ == "NNS"  # "hates mornings"
    return thing.lemma in WORDS["times"] and not is_counted and not thing.is_proper and not is_part


def _says_the_rest_in_a_clause(thing: NamedPhrase) -> bool:
    """Return whether a clause that is cut off says what a thing is: "a function that does this"."""
    if thing.has_clause:
        return False
    is_bare = not thing.is_modified and thing.owner is None and not thing.is_proper
    is_known = thing.lemma in WORDS["relations"] | WORDS["pets"]
    return (
        is_bare
        and not is_known
        and any(
            c.dep_ == "relcl" or (c.dep_ == "advcl" and any(w.tag_ in ("WRB", "WDT") for w in c.lefts))
            for c in thing.head.rights
        )
    )


def _is_sum(token: Token) -> bool:
    """Return whether a complement is a sum of money: "7 euros"."""
    return token.lemma_.lower() in _MONEY and any(c.like_num for c in token.lefts)


def is_hour(token: Token) -> bool:
    """Return whether a complement is a time of day: "6", "2:30 pm"."""
    return token.like_num or token.lower_ in ("am", "pm", "a.m.", "p.m.", "noon", "midnight", "o'clock")


def _is_favourite(head: Token) -> bool:
    return any(c.lower_ in ("favorite", "favourite") for c in head.lefts)


def _is_where(noun: Token) -> bool:
    """Return whether a noun after a preposition is where something is kept, not a value: "on the fridge"."""
    return noun.tag_ in ("NN", "NNS") and noun.text.isalpha() and noun.left_edge.dep_ in ("det", "poss")


def _is_of_story(head: Token) -> bool:
    """Return whether a subject belongs to a story: "the hero of the film"."""
    is_soul = head.lemma_.lower() in WORDS["souls"] and head.head.lemma_ != "have"
    if head.lemma_.lower() in WORDS["personas"] or (is_soul and head.dep_ == "nsubj"):
        return True
    return head.tag_ != "PRP" and any(t != head and t.lemma_.lower() in WORDS["stories"] for t in head.subtree)


def _is_irony(clause: Clause) -> bool:
    """Return whether "just" makes praise a complaint: "I just love waiting for buses"."""
    if clause.lemma not in ("love", "adore") or not any(c.lower_ == "just" for c in clause.verb.lefts):
        return False
    return any(c.dep_ in ("xcomp", "advcl", "ccomp") for c in clause.verb.rights)


def _feeling(subject: str, value: str) -> str:
    return f"feeling of {subject} about {value}".lower()


def _without_owner(phrase: NamedPhrase) -> str:
    """Return the name of a phrase without its owner: "phone number" for "Tom's phone number"."""
    prefix = f"{phrase.owner}'s "
    return phrase.name.removeprefix(prefix)

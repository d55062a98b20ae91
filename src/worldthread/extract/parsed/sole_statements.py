"""States what a message says that is one short statement and nothing else: "the fridge hums", "I'm on jury duty".

Who says only one thing means that it be known, and nothing before it explains it. So a clause of which the other rules
make nothing is stated as it was said: its subject, its verb, and what follows it. It is in the present or the perfect;
it is no order, wish, guess or report, says no mood and no place of the moment, and judges nothing.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.assertions import fact_of_words, following_words, is_unmeant, relation_of_clause
from worldthread.extract.parsed.change_tables import LISTS as CHANGE_LISTS
from worldthread.extract.parsed.clauses import WORDS, Clause
from worldthread.extract.parsed.facts import LocatedFact, SentenceFacts, facts_of
from worldthread.extract.parsed.lasting_complements import LISTS as _ASSERTED
from worldthread.extract.parsed.letters_of_names import LOWER, UPPER
from worldthread.extract.parsed.parser import is_english, parse
from worldthread.extract.parsed.phrases import NamedPhrase, is_pronoun, render
from worldthread.extract.parsed.probable import is_figure
from worldthread.extract.parsed.validity import is_kinship
from worldthread.extract.prose.phrases import Referents
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_TABLE: Final = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("sole_statements.toml").read_text(encoding="utf-8")
)
LISTS: Final = {**_ASSERTED, **{name: frozenset(words.split()) for name, words in _TABLE["words"].items()}}
_LONGEST: Final = 20  # words of a sentence
_ARTICLE: Final = re.compile(r"^(?:an?|the|some) ", re.IGNORECASE)
_NOUN_TAGS: Final = frozenset([
    "NN", "NNS", "NNP", "NNPS", "CD", "JJ", "JJS", "POS", "PRP$", "DT", "VBG", "VBN", "HYPH", "CC", "FW", "IN",
])  # fmt: skip
_UNNAMED: Final = frozenset(["a", "an", "this", "that", "these", "those", "some", "any", "every", "each", "all", "no"])
_KNOWN: Final = "Anna"
_NAMED: Final = re.compile(
    rf"(?P<name>[{UPPER}][{LOWER}]+)(?P<rest>(?:'s| is| has| lives| works| does| \w+s) (?!and\b|or\b|of\b).+)$"
)
_IS: Final = re.compile(r"^'s (?=(?:an?|the|my|our|his|her|in|on|at|from|with|into|off|not|also|now|\w+ing)\b)")
_OF_PERSON: Final = re.compile(
    r"(?: lives| works)\b|(?: is|'s) (?:an?|my|our) (?:\w+ )?"
    rf"(?:{'|'.join(sorted(map(re.escape, CHANGE_LISTS['jobs'] | WORDS['relations']), key=len, reverse=True))})\b"
)
_FEWEST: Final = 3  # words of a part that says something
_OWN: Final = re.compile(r"\b(?:my|our) ", re.IGNORECASE)
_POINTS: Final = re.compile(
    r"\b(?:it|that|this|these|those|them|him|something|anything|everything|what|who|you|your)\b", re.IGNORECASE
)
_FIRST_PART: Final = re.compile(r"[^,.;:!?]+, [^,]")
_SUBORDINATE: Final = re.compile(
    r"(?:if|when|while|as|since|because|although|though|after|before|until|unless|once|whenever|where|even|despite|in|"
    r"at|on|for|with|from|by|last|next|so|well|no|yes|oh|hey|sorry|look|listen|honestly|sadly|luckily)\b",
    re.IGNORECASE,
)
_GERUND: Final = re.compile(
    rf"(?!(?:{'|'.join(_TABLE['words']['no_gerunds'].split())})\b)[a-z]+ing "
    rf"(?:an?|the|my|our|at|in|for|with|on|\d|[{UPPER}])(?!.* (?:is|was|are|'s) ).+",
    re.IGNORECASE,
)
_ALONE: Final = re.compile(
    r"\b(?:live|lives|living) (?:alone|on (?:my|his|her|their|our) own|by (?:my|him|her|them|our)sel(?:f|ves))\b",
    re.IGNORECASE,
)
_KIN: Final = r"(?:(?:my |our )?[\w' -]{2,30}?)"
_END: Final = r"(?:,? (?:at the moment|right now|now|these days|by the way|currently))?[.!]*"
_FORMS: Final = tuple(
    (re.compile(f"{one['form'].replace('KIN', _KIN)}{_END}", re.IGNORECASE), one["relation"]) for one in _TABLE["forms"]
)
_PAST_TIME: Final = re.compile(r"\b(?:yesterday|ago|last (?:night|week|month|year|\w+day))\b", re.IGNORECASE)
_BARE_NUMBERS: Final = re.compile(r"(?:\d[\d.,/]*|up|down|to|from|or|and|at|\s)+")
_LABEL: Final = re.compile(r"\w+(?: \w+)?: ")
_SPEAKERS: Final = frozenset(["i", "we"])
_LIGHT: Final = frozenset(["be", "do", "get", "have"])  # which say nothing alone
_STATES: Final = frozenset(["acomp", "attr", "prep", "advmod", "oprd", "npadvmod"])


def sole_statement(doc: Doc, read: SentenceFacts, referents: Referents) -> tuple[LocatedFact, ...]:
    """Return what the only sentence of a message states, of which the other rules make nothing.

    Args:
        doc: the dependency tree of the sentence.
        read: its clauses, as the other rules read them.
        referents: whom its pronouns mean.

    Returns:
        One fact, or none where the clause is not plain.
    """
    if not 0 < len(doc) <= _LONGEST or is_unmeant(doc) or _LABEL.match(doc.text) is not None:
        return ()
    if doc[0].lower_ in LISTS["programs"] or _PAST_TIME.search(doc.text) is not None:
        return ()
    if (known := _with_known_name(doc)) is not None:
        return known.restored(_read(*known.read(referents), referents, is_reworded=True))
    return _read(doc, read, referents) or _read_otherwise(doc.text, referents)


def _read_otherwise(text: str, referents: Referents) -> tuple[LocatedFact, ...]:
    """Return what a sentence states in a form of its own, or else what it says up to its first comma."""
    for form, relation in _FORMS:
        match = form.fullmatch(text)
        if match is not None:
            return _of_form(match, relation, referents)
    if _FIRST_PART.match(text) is not None and _SUBORDINATE.match(text) is None:
        doc = parse([text[: text.index(",")]])[0]
        return _read(doc, facts_of(doc, referents), referents, is_reworded=True) if len(doc) >= _FEWEST else ()
    if _GERUND.match(text) is not None:  # "seeing a girl called Ana"
        doc = parse([f"I'm {text[0].lower()}{text[1:]}"])[0]
        return _read(doc, facts_of(doc, referents), referents, is_reworded=True)
    return ()


def _of_form(match: re.Match[str], relation: str, referents: Referents) -> tuple[LocatedFact, ...]:
    groups = match.groupdict(default="")
    subject, value = groups.get("subject") or referents.speaker, groups["object"].strip()
    owned = _OWN.sub(lambda _: f"{referents.speaker}'s ", subject) if subject != referents.speaker else subject
    relation = relation.replace("KIND", groups.get("kind", "").strip())
    if groups.get("count"):
        value = f"{groups['count']} people"
    owned = _ARTICLE.sub("", owned)
    if _POINTS.search(f"{owned} {value}") is not None:
        return ()
    doc = parse([match.string])[0]
    clause = Clause(doc[0], None, doc[0].lemma_.lower(), (), "", False, False, False, False, "")
    fact = Fact(owned, relation, _OWN.sub(lambda _: f"{referents.speaker}'s ", value))
    return (LocatedFact(replace(fact, aspect=aspect_for(fact)), clause, is_certain=True),)


def says_who(stated: LocatedFact) -> bool:
    """Return whether a fact only says who a relative is: "my aunt Edna" in "my aunt Edna runs a shop".

    Args:
        stated: a fact with its clause.
    """
    noun = stated.fact.relation.removeprefix("has ")
    lemma, text = stated.clause.lemma, stated.clause.verb.doc.text.lower()
    is_beside = lemma not in ("be", "have") or text.startswith("me and ")
    return is_kinship(stated) or (noun in WORDS["relations"] and is_beside)


def _is_of_the_moment(stated: LocatedFact) -> bool:
    """Return whether a fact says where something is for a moment: "on the table"."""
    fact = stated.fact
    return fact.relation.startswith("is ") and bool(LISTS["momentary"] & set(fact.key[2].split()))


def living_alone(doc: Doc, read: SentenceFacts, referents: Referents) -> tuple[LocatedFact, ...]:
    """Return that somebody lives alone, which stands beside where they live.

    Args:
        doc: the dependency tree of a sentence.
        read: its clauses.
        referents: whom its pronouns mean.
    """
    match = _ALONE.search(doc.text)
    if match is None or is_unmeant(doc):
        return ()
    for clause, named in read.clauses:
        if clause.lemma == "live" and named is not None and not (clause.is_past or clause.negation or clause.modal):
            fact = Fact(named.name, "lives", "alone")
            return (LocatedFact(replace(fact, aspect=aspect_for(fact)), clause, is_certain=True),)
    return ()


def _read(doc: Doc, read: SentenceFacts, referents: Referents, *, is_reworded: bool = False) -> tuple[LocatedFact, ...]:
    if doc[0].lower_ in LISTS["proverbial"]:
        return ()
    said = tuple(one for one in read.facts if one.fact.object and not says_who(one) and not _is_of_the_moment(one))
    if any(clause.subject is not None and clause.subject.lemma_.lower() in WORDS["sums"] for clause, _ in read.clauses):
        return ()  # of an exercise: "the probability of two sixes is 1/36"
    if said and not is_reworded:
        return ()  # what the other rules read in the sentence itself, and then held for unlikely, stays out
    if said:
        return tuple(one for one in said if not (is_figure(one.clause.verb) or one.clause.is_past))
    if not read.clauses:
        return ()
    clause, named = read.clauses[0]
    if not _is_plain(clause):
        return ()
    name = _subject(clause, named, referents)
    following = following_words(clause)
    words = _core(following or [])
    relation = relation_of_clause(clause)
    if following == [] and name is not None and (alone := _verb_alone(clause, name)) is not None:
        return (LocatedFact(alone, clause, is_certain=True),)
    if name is None or not words or relation is None or not _says_something(clause, words):
        return ()
    if referents.person is None and named is not None and named.head.tag_ != "PRP":
        referents = referents._replace(person=name)
    if referents.thing is None and name != referents.speaker:
        referents = referents._replace(thing=name)  # "our choir has its concert in March"
    fact = fact_of_words(clause, name, relation, words, referents)
    if fact is None or _BARE_NUMBERS.fullmatch(fact.object) is not None:
        return ()  # "I'm a 9", "I'm up to 81": of what?
    if fact.object.startswith("of "):  # "out of tune"
        verb, _, last = fact.relation.rpartition(" ")
        fact = replace(fact, relation=verb or "is", object=f"{last} {fact.object}")
    return (LocatedFact(replace(fact, aspect=aspect_for(fact)), clause, is_certain=True),)


def _verb_alone(clause: Clause, name: str) -> Fact | None:
    """Return what a verb without anything behind it says of somebody else: "is booked", "is retiring", "hums"."""
    verb = clause.verb
    assert clause.subject is not None
    lemma = clause.lemma.partition(" ")[0]
    if (
        clause.subject.lower_ in _SPEAKERS
        or lemma in _LIGHT
        or lemma in LISTS["momentary_verbs"]
        or clause.modal
        or clause.is_perfect
    ):
        return None
    if clause.negation or any(t.lower_ in LISTS["moment"] for t in verb.lefts) or lemma in LISTS["inner"]:
        return None
    if clause.is_passive or clause.is_progressive:
        return Fact(name, "is", verb.lower_)
    return Fact(name, "does", lemma) if verb.tag_ == "VBZ" and " " not in clause.lemma else None


class _KnownName(NamedTuple):
    """A sentence in which a name that the parser may not know stands for one that it knows.

    Args:
        name: the name as written.
        text: the sentence with the other name.
    """

    name: str
    text: str

    def read(self, referents: Referents) -> tuple[Doc, SentenceFacts]:
        doc = parse([self.text])[0]
        return doc, facts_of(doc, referents, frozenset([_KNOWN]))

    def restored(self, found: tuple[LocatedFact, ...]) -> tuple[LocatedFact, ...]:
        """Return facts with the name as written."""
        kept = []
        for one in found:
            fact = one.fact
            fact = replace(
                fact, subject=fact.subject.replace(_KNOWN, self.name), object=fact.object.replace(_KNOWN, self.name)
            )
            kept.append(one._replace(fact=replace(fact, aspect=aspect_for(fact)), is_certain=True))
        return tuple(kept)


def _with_known_name(doc: Doc) -> _KnownName | None:
    """Return a sentence that begins with a name; ``None`` where it begins with another word."""
    match = _NAMED.match(doc.text)
    if match is None:
        return None
    name = match["name"]
    word = name.lower()
    is_name = doc[0].tag_ == "NNP" or not is_english(word) or _OF_PERSON.match(match["rest"]) is not None
    if (
        not is_name
        or word in LISTS["no_names"]
        or word in WORDS["relations"] | WORDS["vague"] | WORDS["stories"] | WORDS["anybody"]
    ):
        return None
    return _KnownName(name, f"{_KNOWN}{_IS.sub(' is ', match['rest'])}")


def _core(words: list[Token]) -> list[Token]:
    """Return the words that say something: without "because of ...", "for myself", and "us" before a price."""
    ends = [n for n, t in enumerate(words) if t.lower_ in ("because", "due", "thanks", "since", "so", "something")]
    words = words[: ends[0]] if ends else words
    if len(words) > 2 and words[-1].lower_ in ("myself", "ourselves") and words[-2].lower_ == "for":
        words = words[:-2]
    if len(words) > 1 and words[0].lower_ in ("me", "us") and words[1].tag_ in ("CD", "$"):
        words = words[1:]
    return words


def _is_plain(clause: Clause) -> bool:
    """Return whether a clause is told as so, now."""
    if clause.subject is None or clause.subject.i > clause.verb.i or is_figure(clause.verb):
        return False
    if (
        any(c.lower_ == "being" for c in clause.verb.lefts)
        or "-" in clause.subject.doc[max(0, clause.subject.i - 1)].text
    ):
        return False  # "is being prepared"; "my co-author", of which the parser makes three words
    if clause.is_past or clause.verb.lower_ == "be" or (clause.modal and clause.modal not in ("ca", "can")):
        return False
    if clause.is_perfect and (clause.negation or clause.lemma.partition(" ")[0] != "be"):
        return False  # what has happened is told by other rules
    lemma = clause.lemma.partition(" ")[0]
    if lemma == "get" and clause.is_progressive:  # "getting divorced"
        return any(c.dep_ == "acomp" and c.tag_ == "VBN" for c in clause.verb.rights)
    if lemma == "go" and clause.subject.lower_ not in _SPEAKERS:
        return True
    return lemma not in LISTS["never_sole"]


def _subject(clause: Clause, named: NamedPhrase | None, referents: Referents) -> str | None:
    """Return the name of a subject: the speaker, somebody or something of theirs, a name, or "the" thing."""
    subject = clause.subject
    assert subject is not None
    if subject.lower_ in _SPEAKERS:
        return referents.speaker
    if is_pronoun(subject) or subject.tag_ in ("EX", "DT", "WP", "WDT"):
        return None
    words = [token for token in subject.subtree if token.i < clause.verb.i and not token.is_punct]
    while words and words[0].dep_ in ("intj", "cc", "advmod"):
        words = words[1:]
    if not words or words[-1].i - words[0].i >= len(words) + 1 or words[0].lower_ in _UNNAMED:
        return None
    if any(t.tag_ not in _NOUN_TAGS or t.lower_ in LISTS["pointing"] for t in words):
        return None
    lemma = subject.lemma_.lower()
    is_numbered = any(t.like_num for t in clause.verb.subtree)
    if lemma in LISTS["passing"] and not is_numbered:
        return None
    if lemma in WORDS["sums"] | WORDS["goals"] or words[0].lower_ in LISTS["programs"]:
        return None
    if lemma in WORDS["goals"]:
        return None
    if lemma in LISTS["body"] | LISTS["proverbial"] | WORDS["vague"] | WORDS["stories"] | WORDS["judging"]:
        return None
    if lemma in WORDS["anybody"] - WORDS["relations"]:
        return None
    if named is not None:
        return named.name
    name = render(words[0], words[-1].i, referents)
    if name is None:
        return None
    name = _ARTICLE.sub("", name)
    return name if words[0].tag_ in ("NNP", "PRP$") else name[0].lower() + name[1:]


def _before_preposition(words: list[Token]) -> list[Token]:
    """Return the words before the first preposition, if one follows them."""
    ends = [n for n, t in enumerate(words) if t.tag_ == "IN"]
    return words[: ends[0]] if ends else []


def _says_something(clause: Clause, words: list[Token]) -> bool:
    """Return whether what follows a verb lasts and is no judgement."""
    assert clause.subject is not None
    is_speaker = clause.subject.lower_ in _SPEAKERS
    lemma = clause.lemma.partition(" ")[0]
    unsaid = LISTS["moment"] | WORDS["judging"]
    if lemma == "be" or clause.is_progressive or clause.is_passive:
        unsaid = unsaid | LISTS["momentary"]
    if any(t.lower_ in unsaid for t in words):
        return False
    if any(t.tag_ in ("WP", "WRB", "WDT", "MD") for t in words):
        return False
    if lemma == "be" and not clause.is_passive:
        complement = next((c for c in clause.verb.rights if c in words and c.dep_ in _STATES), None)
        if complement is None or complement.lemma_.lower() in LISTS["metaphors"]:
            return False
        if complement.lower_ in LISTS["transient"] and not any(t.like_num or t.tag_ == "NNP" for t in words):
            return False
        if complement.dep_ == "acomp":
            is_numbered = any(t.like_num for t in words) or complement.lower_ in CHANGE_LISTS["jobs"]
            is_role = any(t.tag_ in ("NN", "NNP") for t in _before_preposition(words)) and words[-1].tag_ != "JJ"
            return (
                is_numbered
                or (is_speaker and is_role and len(words) > 2)
                or (not is_speaker and complement.tag_ in ("JJ", "VBN", "NN"))
            )
        if is_speaker and complement.tag_ == "NNS" and not list(complement.lefts):
            return False  # "I'm all ears"
        if clause.subject.lower_ == "we" and complement.tag_ == "NN" and not list(complement.lefts):
            return False  # "we're toast"
        if is_speaker and complement.dep_ == "prep":
            return not any(t.ent_type_ in ("GPE", "LOC") for t in words)  # "I'm in Peru" is no home
        return complement.dep_ != "advmod" or len(words) > 1 or complement.is_upper
    if clause.is_progressive:
        kinds = ("dobj", "prep", "acomp")
        return lemma not in LISTS["momentary_verbs"] and any(c.dep_ in kinds for c in clause.verb.rights)
    is_stay = lemma in ("live", "stay", "sleep") and any(c.lower_ in ("at", "in", "with") for c in clause.verb.rights)
    if is_speaker and lemma in LISTS["inner"] and lemma not in LISTS["concrete"] and not is_stay:
        return False
    if any(c.dep_ == "xcomp" for c in clause.verb.rights):
        return False
    thing = next((c for c in clause.verb.rights if c.dep_ == "dobj"), None)
    if (
        is_speaker
        and thing is not None
        and thing.lemma_.lower() in LISTS["abstract"] | WORDS["abstract"] | WORDS["vague"]
    ):
        return False  # "I have a question"
    return thing is None or not is_pronoun(thing) or thing not in words

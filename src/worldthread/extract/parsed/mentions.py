"""Compares the phrases of a sentence with the objects of facts: "the bike" may be the "red bicycle" of a fact."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.change_tables import COARSE_TIMES, KIN, KINDS, LISTS, PAST, RELATION_KINDS, TABLE, WORDS
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import third_person
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Token

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")


@cache
def stem(word: str) -> str:
    """Return a noun in the singular, roughly, without a possessive ending: "bikes" and "bike" are equal."""
    word = re.sub(r"['’]s?$", "", word)
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


@cache
def verb_forms(lemma: str) -> frozenset[str]:
    """Return the forms of a verb that relations have: "smoke", "smokes", "smoking"."""
    verb = lemma.partition(" ")[0]
    gerund = (
        verb[:-2] + "ying"
        if verb.endswith("ie")
        else (verb.removesuffix("e") if not verb.endswith("ee") else verb) + "ing"
    )
    return frozenset({verb, third_person(verb), gerund, verb + verb[-1] + "ing"})


@cache
def agent_nouns(lemma: str) -> frozenset[str]:
    """Return the nouns for who does something: "driver" for "drive", "runner" for "run"."""
    verb = lemma.partition(" ")[0]
    base = verb.removesuffix("e")
    return frozenset({f"{base}er", f"{base}or", f"{verb}{verb[-1:]}er"})


@dataclass(frozen=True)
class Mention:
    """A phrase of a sentence, or the object of a fact, as words that can be compared.

    Args:
        head: the main word, in lower case.
        words: the words before it, without articles and words such as "old".
        tail: the words after it.
        name: the whole phrase, with its owner.
        owner: whose it is; ``None`` where that is not said.
        proper: whether it is a name.
        determiner: its article in lower case.
        person: whether it is a pronoun for a person.
    """

    head: str
    words: frozenset[str]
    tail: frozenset[str]
    name: str
    owner: str | None = None
    proper: bool = False
    determiner: str = ""
    person: bool = False

    @property
    def all(self) -> frozenset[str]:
        """All words."""
        return self.words | self.tail | {self.head}


@cache
def mention_of_text(text: str) -> Mention:
    """Return the object or subject of a fact as words."""
    words = [re.sub(r"[,.;:!?]+$", "", w) for w in normalise_name(text).split()]
    owner = None
    for number, word in enumerate(words[:-1]):
        if word in WORDS["prepositions"] and number:
            break
        if word.endswith(("'s", "s'")):
            owner = " ".join(words[: number + 1]).removesuffix("'s").rstrip("'")
            words = words[number + 1 :]
            break
    cut = next((i for i, w in enumerate(words) if w in WORDS["prepositions"] and i), len(words))
    core = [w for w in words[:cut] if w not in WORDS["numbers"]] or words[:cut]
    if len(core) > 1 and core[-1].isdecimal() and not core[-2].isdecimal():
        core = [core[-1], *core[:-1]]
    return Mention(
        stem(core[-1]),
        frozenset(stem(w) for w in core[:-1]),
        frozenset(stem(w) for w in words[cut + 1 :]),
        normalise_name(text),
        owner,
    )


def mention_of(token: Token, referents: Referents) -> Mention | None:
    """Return the phrase of a word; ``None`` for pronouns of which the meaning is not clear."""
    if token.tag_ in ("PRP", "PRP$"):
        low = token.lower_
        key = "i" if low in ("i", "we", "me", "us") else {"him": "he", "his": "he"}.get(low, low)
        name = referents.of(key)
        return (
            None
            if name is None
            else Mention(normalise_name(name), frozenset(), frozenset(), name, person=True, proper=True)
        )
    if token.tag_ in ("WP", "WDT", "EX", "WRB") or token.lower_ in (
        "somebody",
        "someone",
        "they",
        "everybody",
        "this",
        "that",
    ):
        return None
    if token.i + 1 < len(token.doc) and token.nbor().text == "-" and not token.whitespace_:
        return None  # "mother-in-law" is not a mother
    if token.lemma_.lower() != "name" and any(c.lower_ in WORDS["earlier"] for c in token.lefts):
        return None  # "my first dog"
    owner, determiner = None, ""
    if (
        token.lower_ in KIN
        and not any(c.dep_ in ("det", "poss", "nummod") for c in token.lefts)
        and token.tag_ != "NNS"
    ):
        owner = referents.speaker  # "Mum"
    words: list[str] = []
    tail: list[str] = []
    for child in token.children:
        if child.dep_ == "poss":
            found = mention_of(child, referents)
            if found is None:
                return None
            owner = found.name
        elif child.dep_ in ("det", "predet"):
            determiner = child.lower_
        elif child.i < token.i and child.dep_ in ("amod", "compound", "nmod", "nummod", "npadvmod", "advmod"):
            words += [t.lower_ for t in child.subtree if t.i < token.i and t.is_alpha | t.like_num | ("-" in t.text)]
        elif (
            child.i > token.i
            and child.dep_ in ("prep", "acl", "relcl", "nummod", "advmod", "amod", "appos", "npadvmod")
            and not is_coarse_time(child)
        ):
            tail += [t.lower_ for t in child.subtree if t.is_alpha or t.like_num]
            if child.dep_ == "nummod" or (child.dep_ == "appos" and child.i == token.i + 1):
                words += [child.lower_]
                tail = tail[:-1]
    plain = [w for w in words if w not in WORDS["numbers"] | WORDS["generic"]]
    own = " ".join([*plain, token.lower_])
    proper = token.pos_ == "PROPN" and owner is None and determiner == ""
    if token.lower_ in KIN:
        name = token.lower_
    elif token.pos_ == "PROPN":
        compounds = [t.text for t in token.lefts if t.dep_ == "compound"]
        name = " ".join([*compounds, token.text])
    else:
        name = own
    case = next((c for c in token.children if c.dep_ == "case" and c.i == token.i + 1), None)
    if proper and case is not None and token.dep_ != "poss":
        name += case.text
    return Mention(
        stem((token.lower_ if token.pos_ == "PROPN" else token.lemma_.lower()).rstrip(".")),
        frozenset(stem(w) for w in plain),
        frozenset(stem(w) for w in tail if w not in WORDS["numbers"] | WORDS["prepositions"]),
        f"{owner}'s {name}" if owner is not None else name,
        owner,
        proper,
        determiner,
    )


def is_coarse_time(token: Token) -> bool:
    """Return whether a phrase names a time of a day or longer."""
    return any(t.lemma_.lower() in COARSE_TIMES for t in token.subtree)


def conjuncts(token: Token) -> list[Token]:
    """Return the head of a phrase and of those joined to it by "and"."""
    found = [token]
    for child in token.children:
        if child.dep_ == "conj" and child.pos_ not in ("VERB", "AUX"):
            found += conjuncts(child)
    return found


@cache
def _patterns(family: str) -> tuple[tuple[re.Pattern[str], frozenset[str] | None], ...]:
    found = []
    partners = "|".join(sorted(LISTS["partners"]))
    attributes = "|".join(sorted(re.escape(word) for word in LISTS["attributes"]))
    for text in TABLE["families"][family]:
        relation, colon, words = text.partition(" :")
        relation = relation.replace("PARTNER", f"(?:{partners})").replace("ATTRIBUTE", f"(?:{attributes})")
        found.append((re.compile(relation), frozenset(map(stem, LISTS[words])) if colon else None))
    return tuple(found)


def is_in(family: str, fact: Fact) -> bool:
    """Return whether a fact belongs to a family of relations, and speaks of the present."""
    _, relation, _ = fact.key
    if PAST.match(relation):
        return False
    head = mention_of_text(fact.object).head
    return any(
        pattern.fullmatch(relation) is not None and (words is None or head in words)
        for pattern, words in _patterns(family)
    )


def _same_kind(one: str, other: str) -> bool:
    if one == other or other in KINDS.get(one, ()) or one in KINDS.get(other, ()) or other in KIN.get(one, ()):
        return True
    return _OFFICE.sub("", one) in (other, f"{other}t") or _OFFICE.sub("", other) in (one, f"{one}t")


_OFFICE = re.compile(r"(?:ship|manship|cy)$")  # "captaincy" is of a captain, "membership" of a member


def is_about(target: Mention, fact: Fact, *, loosely: bool = False) -> bool:
    """Return whether the object of a fact is what a phrase names.

    Args:
        target: the phrase.
        fact: the fact.
        loosely: whether the words may stand anywhere in the object: "chess club" in "member of the chess club".
    """
    thing = mention_of_text(fact.object)
    relation = fact.key[1]
    if target.tail and not target.tail & thing.all and target.determiner == "the" and target.owner is None:
        return False
    if target.name and normalise_name(target.name) == normalise_name(fact.object):
        return True
    if loosely and target.head in WORDS["containers"] and (inner := target.words | target.tail) and inner <= thing.all:
        return True  # "my chess club membership", "my membership of the chess club"
    if target.proper or (target.owner is None and not target.determiner and target.name[:1].isupper()):
        names = set(map(stem, normalise_name(target.name).split()))
        return names <= thing.all and (thing.owner is None or loosely)
    noun = stem(relation.rpartition(" ")[2]) if relation.startswith("has ") else ""
    kinds = RELATION_KINDS.get(relation, frozenset())
    if thing.tail and target.tail and not (thing.tail <= target.tail or target.tail <= thing.tail):
        return False
    if _same_kind(target.head, thing.head) or target.head in kinds:
        if target.head in kinds or not (target.words and thing.words):
            return True
        return target.words <= thing.all or thing.words <= target.all
    if noun and target.head == noun and (not target.words or target.words <= set(map(stem, relation.split()))):
        return True
    plain = target.name.removeprefix(f"{target.owner}'s ") if target.owner is not None else target.name
    if plain[:1].isupper() or (target.head in WORDS["containers"] and thing.head in target.words):
        # "the Volvo", "my Netflix subscription" of which only the name is known
        return target.head in thing.all or (bool(target.words) and thing.head in target.words and loosely)
    return loosely and (target.words | {target.head}) <= thing.all


def named_facts(unit: str, speaker: str, view: GraphView) -> list[Fact]:
    """Return the facts of people and things that a text names: "my sister", "Rex", "the gym"."""
    said = _WORD.findall(unit)
    words = [_POSSESSIVE.sub("", word) for word in said]
    phrases = [
        *words,
        *(word for word in said if word.endswith("'s")),
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

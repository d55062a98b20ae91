"""Finds the older facts that a sentence ends: what it says has stopped, was lost, sold, cancelled, moved or broken up.

A sentence is read as *deeds*: a verb with who does it, to what, and the words that belong to it. ``changes.toml`` says
which families of relations a deed ends, whose, and what the facts must be about. Facts are never guessed: a deed ends
only facts that the memory holds, of the person or thing that it names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from worldthread.extract.parsed.clauses import WORDS, Clause
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import third_person
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_TABLE: Final[dict[str, Any]] = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("changes.toml").read_text(encoding="utf-8")
)
_LISTS: Final = {
    **{name: frozenset(words.split()) for name, words in _TABLE["lists"].items()},
    "relations": WORDS["relations"],
    "pets": WORDS["pets"],
    "attributes": WORDS["attributes"],
}
_KINDS: Final = {word: frozenset(others.split()) for word, others in _TABLE["kinds"].items()}
_RELATION_KINDS: Final = {relation: frozenset(words.split()) for relation, words in _TABLE["relation_kinds"].items()}
_RULES: Final[dict[str, list[dict[str, Any]]]] = {}
for _rule in _TABLE["rules"]:
    for _key in _rule["on"].split():
        _RULES.setdefault(_key, []).append(_rule)

_PAST: Final = re.compile(r"(?:was|were|had|did|lived|worked|born|died|[a-z]+ed)\b(?<!married)")
_PREPOSITIONS: Final = frozenset(
    [
        "in",
        "at",
        "on",
        "of",
        "for",
        "with",
        "from",
        "to",
        "by",
        "under",
        "near",
        "behind",
        "about",
        "over",
        "into",
        "after",
        "before",
        "called",
        "named",
        "nicknamed",
        "at",
        "between",
        "against",
        "without",
        "on",
        "about",
    ]
)
_NUMBERS: Final = frozenset(
    ["a", "an", "the", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "both", "some"]
)
_GENERIC: Final = frozenset(
    [
        "old",
        "new",
        "own",
        "beloved",
        "poor",
        "dear",
        "current",
        "former",
        "big",
        "little",
        "whole",
        "entire",
        "both",
        "all",
        "last",
    ]
)
_FINAL: Final = frozenset(["anymore", "longer"])
_HAVING: Final = frozenset(["have", "own", "possess", "get"])
_OBJECTS: Final = frozenset(["dobj", "obj", "oprd", "attr", "npadvmod", "dative"])
_AGENTS: Final = frozenset(["nsubj", "nsubjpass"])
_TRANSIENT: Final = frozenset(
    [
        "early",
        "late",
        "tonight",
        "morning",
        "evening",
        "afternoon",
        "noon",
        "midnight",
        "home",
        "back",
        "soon",
        "hour",
        "hours",
        "minute",
        "minutes",
        "quickly",
        "crying",
        "angry",
        "message",
        "note",
        "behind",
    ]
)
_SHARING: Final = re.compile(r"lives with|has (?:roommate|flatmate|housemate|lodger|tenant|subtenant)")
_NAMINGS: Final = ("has name", "is called", "is")
_STOPPING: Final = frozenset(
    ["stop", "quit", "cease", "give up", "finish", "swear off", "abandon", "drop", "cut out", "avoid", "leave off",
     "be", "kick", "stop from", "be done"]
)  # fmt: skip
_COARSE: Final = frozenset(
    [
        "year",
        "month",
        "week",
        "yesterday",
        "today",
        "ago",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "spring",
        "summer",
        "autumn",
        "fall",
        "winter",
        "recently",
        "lately",
        "christmas",
        "easter",
    ]
)


# -- words ----------------------------------------------------------------------------------------------------


@cache
def _stem(word: str) -> str:
    """Return a noun in the singular, roughly, without a possessive ending: "bikes" and "bike" are equal."""
    word = re.sub(r"['’]s?$", "", word)
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


@cache
def _forms(lemma: str) -> frozenset[str]:
    """Return the forms of a verb that relations have: "smoke", "smokes", "smoking"."""
    verb = lemma.partition(" ")[0]
    gerund = (
        verb[:-2] + "ying"
        if verb.endswith("ie")
        else (verb.removesuffix("e") if not verb.endswith("ee") else verb) + "ing"
    )
    return frozenset({verb, third_person(verb), gerund, verb + verb[-1] + "ing"})


@dataclass(frozen=True)
class Named:
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
def _of_text(text: str) -> Named:
    """Return the object or subject of a fact as words."""
    words = [re.sub(r"[,.;:!?]+$", "", w) for w in normalise_name(text).split()]
    owner = None
    for number, word in enumerate(words[:-1]):
        if word in _PREPOSITIONS and number:
            break
        if word.endswith(("'s", "s'")):
            owner = " ".join(words[: number + 1]).removesuffix("'s").rstrip("'")
            words = words[number + 1 :]
            break
    cut = next((i for i, w in enumerate(words) if w in _PREPOSITIONS and i), len(words))
    core = [w for w in words[:cut] if w not in _NUMBERS] or words[:cut]
    if len(core) > 1 and core[-1].isdigit() and not core[-2].isdigit():
        core = [core[-1], *core[:-1]]
    return Named(
        _stem(core[-1]),
        frozenset(_stem(w) for w in core[:-1]),
        frozenset(_stem(w) for w in words[cut + 1 :]),
        normalise_name(text),
        owner,
    )


def _named(token: Token, referents: Referents) -> Named | None:
    """Return the phrase of a word; ``None`` for pronouns of which the meaning is not clear."""
    if token.tag_ in ("PRP", "PRP$"):
        low = token.lower_
        key = "i" if low in ("i", "we", "me", "us") else {"him": "he", "his": "he"}.get(low, low)
        name = referents.of(key)
        return (
            None
            if name is None
            else Named(normalise_name(name), frozenset(), frozenset(), name, person=True, proper=True)
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
    owner, determiner = None, ""
    words: list[str] = []
    tail: list[str] = []
    for child in token.children:
        if child.dep_ == "poss":
            found = _named(child, referents)
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
            and not _is_coarse_time(child)
        ):
            tail += [t.lower_ for t in child.subtree if t.is_alpha or t.like_num]
            if child.dep_ == "nummod" or (child.dep_ == "appos" and child.i == token.i + 1):
                words += [child.lower_]
                tail = tail[:-1]
    plain = [w for w in words if w not in _NUMBERS | _GENERIC]
    own = " ".join([*plain, token.lower_])
    proper = token.pos_ == "PROPN" and owner is None and determiner == ""
    if token.pos_ == "PROPN":
        compounds = [t.text for t in token.lefts if t.dep_ == "compound"]
        name = " ".join([*compounds, token.text])
    else:
        name = own
    case = next((c for c in token.children if c.dep_ == "case" and c.i == token.i + 1), None)
    if proper and case is not None and token.dep_ != "poss":
        name += case.text
    return Named(
        _stem(token.lower_ if token.pos_ == "PROPN" else token.lemma_.lower()),
        frozenset(_stem(w) for w in plain),
        frozenset(_stem(w) for w in tail if w not in _NUMBERS | _PREPOSITIONS),
        f"{owner}'s {name}" if owner is not None else name,
        owner,
        proper,
        determiner,
    )


def _is_coarse_time(token: Token) -> bool:
    return any(t.lemma_.lower() in _COARSE for t in token.subtree)


def _conjuncts(token: Token) -> list[Token]:
    found = [token]
    for child in token.children:
        if child.dep_ == "conj" and child.pos_ not in ("VERB", "AUX"):
            found += _conjuncts(child)
    return found


# -- facts ----------------------------------------------------------------------------------------------------


@cache
def _patterns(family: str) -> tuple[tuple[re.Pattern[str], frozenset[str] | None], ...]:
    found = []
    partners = "|".join(sorted(_LISTS["partners"]))
    attributes = "|".join(sorted(re.escape(word) for word in _LISTS["attributes"]))
    for text in _TABLE["families"][family]:
        relation, colon, words = text.partition(" :")
        relation = relation.replace("PARTNER", f"(?:{partners})").replace("ATTRIBUTE", f"(?:{attributes})")
        found.append((re.compile(relation), frozenset(map(_stem, _LISTS[words])) if colon else None))
    return tuple(found)


def _is_in(family: str, fact: Fact) -> bool:
    """Return whether a fact belongs to a family of relations, and speaks of the present."""
    _, relation, _ = fact.key
    if _PAST.match(relation):
        return False
    head = _of_text(fact.object).head
    return any(
        pattern.fullmatch(relation) is not None and (words is None or head in words)
        for pattern, words in _patterns(family)
    )


def _same_kind(one: str, other: str) -> bool:
    return one == other or other in _KINDS.get(one, ()) or one in _KINDS.get(other, ())


def _is_about(target: Named, fact: Fact, *, loosely: bool = False) -> bool:
    """Return whether the object of a fact is what a phrase names.

    Args:
        target: the phrase.
        fact: the fact.
        loosely: whether the words may stand anywhere in the object: "chess club" in "member of the chess club".
    """
    thing = _of_text(fact.object)
    relation = fact.key[1]
    if target.tail and not target.tail & thing.all and target.determiner == "the" and target.owner is None:
        return False
    if target.name and normalise_name(target.name) == normalise_name(fact.object):
        return True
    if target.proper or (target.owner is None and not target.determiner and target.name[:1].isupper()):
        names = set(map(_stem, normalise_name(target.name).split()))
        return names <= thing.all and (thing.owner is None or loosely)
    noun = _stem(relation.rpartition(" ")[2]) if relation.startswith("has ") else ""
    kinds = _RELATION_KINDS.get(relation, frozenset())
    if thing.tail and target.tail and not (thing.tail <= target.tail or target.tail <= thing.tail):
        return False
    if _same_kind(target.head, thing.head) or target.head in kinds:
        if target.head in kinds or not (target.words and thing.words):
            return True
        return target.words <= thing.all or thing.words <= target.all
    if noun and target.head == noun and (not target.words or target.words <= set(map(_stem, relation.split()))):
        return True
    if target.name[:1].isupper() or any(w for w in target.words if w in thing.all and w == thing.head):
        # "the Volvo", "my Netflix subscription" of which only the name is known
        return target.head in thing.all or (bool(target.words) and thing.head in target.words and loosely)
    return loosely and (target.words | {target.head}) <= thing.all


# -- what a sentence says has changed ---------------------------------------------------------------------------------


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
        loosely: see :func:`_is_about`.
        things: whether the facts of the targets themselves end, too.
        exact: whether the object must be the target and nothing else.
    """

    sentence: str
    families: tuple[str, ...] = ()
    who: tuple[Named, ...] = ()
    targets: tuple[Named, ...] = ()
    kept: tuple[Named, ...] = ()
    others: tuple[Named, ...] | None = None
    life: bool = False
    verb: str = ""
    loosely: bool = False
    things: bool = False
    exact: bool = False
    relation: str = ""
    never: bool = False


class _Deed:
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
            c for c in verb.rights if c.dep_ in _OBJECTS and c.pos_ not in ("VERB", "AUX") and not _is_coarse_time(c)
        ]
        direct = [c for c in objects if c.dep_ in ("dobj", "obj")]
        self.object = patient if patient is not None else (direct or objects or [None])[0]
        self.has_dative = any(c.dep_ == "dative" for c in verb.children)
        self.preps = [
            c for c in verb.children if c.dep_ in ("prep", "agent", "dative") and c.pos_ in ("ADP", "PART", "SCONJ")
        ]
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
                if found is not None and not (_is_coarse_time(found) and found.pos_ != "PROPN"):
                    return found
        return None

    def keys(self) -> set[str]:
        """Return the keys under which rules for the deed stand."""
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
                found |= {f"{verb}_{a.lower_}" for a in child.children if a.dep_ in ("amod", "advmod")}
            if child.dep_ in ("prep", "prt", "advmod", "xcomp", "acomp"):
                for inner in child.children:
                    found |= {f"{verb}_{low}_{inner.lemma_.lower()}"}
                    found |= {f"{verb}_{low}_{inner.lower_}_{t.lower_}" for t in inner.children if t.dep_ == "pobj"}
            if child.dep_ == "dobj" and " " in lemma:
                found.add(f"{lemma.replace(' ', '_')}_{low}")
            if child.dep_ == "dobj":
                for other in self.verb.children:
                    if other.dep_ in ("prt", "advmod") or (other.dep_ == "prep" and not any(other.children)):
                        found.add(f"{verb}_{other.lower_}_{low}")
        found |= {f"{verb}_{t.lower_}" for t in self.verb.subtree if t.lower_ in ("up", "down") and t.i > self.verb.i}
        return found

    def named(self, token: Token | None) -> Named | None:
        return None if token is None else _named(token, self.referents)

    def people(self, token: Token | None) -> list[Named]:
        """Return a phrase and those joined to it by "and"."""
        if token is None:
            return [_speaker(self.referents)]
        return [found for t in _conjuncts(token) if (found := _named(t, self.referents)) is not None]

    def agents(self) -> list[Named]:
        """Return the grammatical subjects: "Lena and I"."""
        heads = [c for c in self.clause.verb.children if c.dep_ in _AGENTS] or (
            [self.subject] if self.subject is not None else []
        )
        if self.subject is None or not heads:
            return [_speaker(self.referents)]
        return [named for head in heads for named in self.people(head)]


def _speaker(referents: Referents) -> Named:
    name = referents.speaker
    return Named(normalise_name(name), frozenset(), frozenset(), name, person=True, proper=True)


def changes_of(doc: Doc, sentence: str, clauses: Iterable[Clause], referents: Referents) -> list[Change]:
    """Return what a sentence says has ended.

    Args:
        doc: the dependency tree of the sentence.
        sentence: the sentence as written.
        clauses: its clauses.
        referents: whom its pronouns mean.

    Returns:
        The changes, to be resolved with :func:`ended_facts`.
    """
    if doc.text.rstrip("\"'”’»)] ").endswith("?"):
        return []
    found: list[Change] = []
    for clause in clauses:
        if clause.modal and not (clause.negation and clause.modal in ("ca", "can", "could")):
            continue
        found += _ClauseChanges(sentence, clause, referents).changes()
    return found


class _ClauseChanges:
    """Finds what one clause ends."""

    def __init__(self, sentence: str, clause: Clause, referents: Referents) -> None:
        subject = clause.subject
        named = _named(subject, referents) if subject is not None and subject.tag_ != "PRP" else None
        if referents.person is None and named is not None and (named.proper or named.owner is not None):
            referents = referents._replace(person=named.name)  # "Lisa gave her kayak away"
        self._sentence, self._clause, self._referents = sentence, clause, referents

    def changes(self) -> list[Change]:
        clause = self._clause
        verb = clause.verb
        tokens = list(verb.children) + [g for c in verb.children for g in c.children]
        final = any(t.lower_ in _FINAL for t in tokens) or any(
            t.lower_ == "more" and t.i and t.nbor(-1).lower_ == "any" for t in verb.subtree
        )
        if clause.negation or final:
            found = self._denied(_Deed(verb, clause, clause.subject, self._referents), final)
            if clause.negation == "not" or clause.negation == "n't":
                found += [c for deed in self._deeds() for c in self._by_rules(deed, negated=True)]
            return found
        found = []
        for deed in self._deeds():
            found += self._by_rules(deed, negated=False)
        found += self._stopped()
        found += self._attribute()
        return found

    # -- the verb that counts -----------------------------------------------------------------------------------------

    def _deeds(self) -> Iterator[_Deed]:
        """Yield the deeds of the clause: of its verb, and of what it leads to in "had to sell", "had it stolen"."""
        clause, verb = self._clause, self._clause.verb
        if not self._is_wish():
            yield _Deed(verb, clause, clause.subject, self._referents)
        for child in verb.children:
            if child.dep_ not in ("xcomp", "ccomp", "advcl", "conj"):
                continue
            lemma = verb.lemma_.lower()
            own = next((c for c in child.children if c.dep_ in _AGENTS), None)
            if (lemma == "have" and clause.is_past and child.tag_ == "VB") or (
                lemma in ("manage", "end", "wind", "finish")
                and child.dep_ == "xcomp"
                and child.tag_ in ("VB", "VBG")
                and lemma != "finish"
            ):
                yield _Deed(child, clause, clause.subject, self._referents, passive=False)
            elif (
                lemma == "have"
                and clause.is_past
                and child.tag_ == "VBN"
                and any(c.dep_ == "auxpass" for c in child.children)
            ):
                yield _Deed(child, clause, clause.subject, self._referents, passive=True)
            elif lemma in ("have", "get") and child.tag_ in ("VBN", "VBD") and own is not None:
                yield _Deed(child, clause, clause.subject, self._referents, patient=own, passive=False)
            elif lemma == "let" and own is not None and child.lower_ == "go":
                yield _Deed(verb, clause, clause.subject, self._referents, patient=own, passive=False)
        for thing in (c for c in verb.children if c.dep_ == "dobj"):
            for child in thing.children:
                if verb.lemma_.lower() in ("have", "get") and child.dep_ == "acl" and child.tag_ == "VBN":
                    yield _Deed(child, clause, clause.subject, self._referents, patient=thing, passive=False)

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

    def _by_rules(self, deed: _Deed, *, negated: bool) -> list[Change]:
        keys = deed.keys()
        found: list[Change] = []
        done: list[int] = []
        for key in sorted(keys & _RULES.keys()):
            for rule in _RULES[key]:
                if id(rule) in done or negated != (key in rule.get("negated", "").split()):
                    continue
                done.append(id(rule))
                if self._applies(rule, deed):
                    found += self._change(rule, deed)
        return found

    def _applies(self, rule: dict[str, Any], deed: _Deed) -> bool:
        """Return whether the conditions of a rule hold."""
        clause = deed.clause
        is_done = clause.is_past or clause.is_perfect or clause.is_passive or deed.verb.tag_ in ("VBN", "VBD")
        if (
            not is_done
            and deed.verb.lemma_.lower() not in ("be", "quit", "have", "date", "see")
            and not clause.is_progressive
        ):
            return False  # "I sell cars"
        if clause.is_progressive and not clause.is_perfect and deed.verb.lemma_.lower() not in ("date", "see"):
            return False  # "I'm selling my car"
        if rule.get("past") and not clause.is_past:
            return False
        words = deed.words
        if "marks" in rule and not words & set(rule["marks"].split()):
            return False
        if words & set(rule.get("without", "").split()):
            return False
        if "life" in rule["ends"] and any(
            p.dep_ == "prep"
            and p.lower_ == "on"
            and any(c.dep_ == "pobj" and not _is_coarse_time(c) for c in p.children)
            for p in deed.verb.children
        ):
            return False  # "passed on the cake"
        if rule.get("has_object") is False and any(c.dep_ == "dobj" for c in deed.verb.children):
            return False
        if "subject" in rule:
            token = deed.object if rule.get("complement") else deed.subject
            if token is None or token.lemma_.lower() not in rule["subject"].split():
                return False
            wanted = set(rule.get("subject_words", "").split())
            if wanted and not wanted & {c.lower_ for c in token.children}:
                return False
        if rule.get("permanent") or rule.get("bare"):
            return self._is_for_good(deed, bare=bool(rule.get("bare")))
        return True

    @staticmethod
    def _is_for_good(deed: _Deed, *, bare: bool) -> bool:
        """Return whether somebody left for good, and not only for the day."""
        if deed.verb.lemma_.lower() not in (
            "leave",
            "exit",
            "depart",
            "stop",
            "drop",
            "go",
            "part",
            "dump",
            "ditch",
            "chuck",
        ):
            return True
        if "good" in deed.words:
            return True
        if deed.words & _TRANSIENT or any(t.lower_ == "back" for t in deed.verb.doc):
            return False
        for prep in deed.verb.children:
            if (
                prep.dep_ == "prep"
                and prep.lower_ not in ("in", "after", "since", "because", "for", "of", "out")
                and not _is_coarse_time(prep)
            ):
                return False
        return not (
            bare
            and (
                deed.has_dative
                or any(
                    c.dep_ in ("advmod", "oprd", "acomp", "xcomp")
                    and c.lower_ not in ("just", "recently", "finally", "already", "ago", "suddenly")
                    for c in deed.verb.children
                )
            )
        )

    def _change(self, rule: dict[str, Any], deed: _Deed) -> list[Change]:
        """Return the change of a rule that applies."""
        families = tuple(rule["ends"].split())
        who_is = rule.get("who", "")
        if who_is in ("couple", "between"):
            return self._couple(rule, deed, families)
        targets: list[Named] = []
        optional = True
        given = False
        for wanted in rule.get("target", "").split():
            role, _, constraint = wanted.partition("?")
            optional = optional and "?" in wanted
            if role == "replaces":
                continue
            token = self._role(role, deed, rule)
            if token is None:
                continue
            if "?" in wanted and constraint and not self._fits(token, constraint):
                named_by_key = any(key.endswith(f"_{token.lemma_.lower()}") for key in rule["on"].split())
                given = given or (constraint == "job" and not self._is_job_word(token) and not named_by_key)
                continue
            if "?" in wanted and (role == "object" or self._is_job_word(token)):
                continue
            if role == "subject" and "?" in wanted and (deed.passive or token.tag_ == "PRP" or token.pos_ != "PROPN"):
                continue
            found = deed.people(token)
            targets += found
            if found:
                break
        if given:
            return []
        if rule.get("target") and not optional and not targets and "replaces" not in rule["target"]:
            return []
        if rule.get("living") and not all(self._is_living(t) for t in targets):
            return []
        targets_owned = [t for t in targets if t.owner is not None or t.determiner == "the" or t.proper]
        if rule.get("owned") and (len(targets_owned) < len(targets) or not targets):
            return []
        if rule.get("other") and (deed.subject is None or deed.subject.lower_ in ("i", "we") or deed.object is None):
            return []
        if rule.get("other") and targets and targets[0].owner is None:
            return []
        kept: list[Named] = []
        if "replaces" in rule.get("target", ""):
            new = deed.pobj("to") or deed.pobj("into")
            if new is not None:
                is_place = new.pos_ == "PROPN" or new.lemma_.lower() in _LISTS["places"] or new.lower_ == "abroad"
                if rule.get("place") and not is_place:
                    return []
                if rule.get("proper") and new.pos_ != "PROPN":
                    return []
                if rule.get("common") and (new.pos_ == "PROPN" or any(c.dep_ == "det" for c in new.children)):
                    return []
                kept = [n for t in _conjuncts(new) if (n := deed.named(t)) is not None]
            elif (
                rule.get("proper")
                or rule.get("common")
                or (
                    rule.get("place")
                    and not deed.keys() & _LEAVING_HOME
                    and deed.pobj("from") is None
                    and not _is_bare(deed)
                )
            ):
                return []
        if rule.get("parent") and not self._is_birth(deed):
            return []
        if families == ("life",):
            return (
                [Change(self._sentence, who=(_speaker(self._referents),), targets=tuple(targets), life=True)]
                if targets
                else []
            )
        if families == ("lives_with",):
            return [Change(self._sentence, ("home",), (), tuple(deed.agents()), things=False, relation="lives with")]
        who = self._who(who_is, deed, targets)
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

    def _role(self, role: str, deed: _Deed, rule: dict[str, Any]) -> Token | None:
        """Return the head of what stands in a role."""
        if role in ("object", "subject"):
            token = deed.subject if role == "subject" or (deed.passive and deed.object is None) else deed.object
            if token is not None and token.lemma_.lower() in ("price", "cost", "fee"):
                of = next((c for c in token.children if c.dep_ == "prep" and c.lower_ in ("of", "for")), None)
                return next((c for c in of.children if c.dep_ == "pobj"), None) if of is not None else token
        if role == "object":
            if deed.passive and deed.object is None:
                return deed.subject
            if deed.passive and deed.subject is not None and "object" not in rule.get("who", ""):
                return deed.subject
            return deed.object
        if role == "subject":
            return deed.subject
        if role == "complement":
            return deed.object
        if role == "within":
            if deed.subject is None:
                return None
            for prep in deed.subject.children:
                if prep.dep_ == "prep":
                    return next((c for c in prep.children if c.dep_ == "pobj"), None)
            return deed.pobj("at") or deed.pobj("with")
        return deed.pobj(role)

    @staticmethod
    def _fits(token: Token, constraint: str) -> bool:
        lemma = token.lemma_.lower()
        if constraint == "job":
            return token.pos_ == "PROPN" and False
        if constraint == "partner":
            return token.tag_ == "PRP" or token.pos_ == "PROPN" or lemma in _LISTS["partners"]
        if constraint == "home":
            return token.pos_ == "PROPN" or lemma in _LISTS["places"]
        if constraint == "study":
            return lemma not in _LISTS["schools"] | {"study", "degree", "course"}
        return True

    @staticmethod
    def _is_job_word(token: Token) -> bool:
        return (
            token.lemma_.lower()
            in _LISTS["jobs"] | {"notice", "resignation", "redundancy", "company", "firm", "work", "age", "end"}
            or token.like_num
        )

    @staticmethod
    def _is_living(target: Named) -> bool:
        return target.proper or target.head in {_stem(w) for w in _LISTS["relations"] | _LISTS["pets"]}

    def _is_birth(self, deed: _Deed) -> bool:
        token = deed.subject
        times = " ".join(t.lower_ for t in deed.verb.subtree)
        return (
            token is not None
            and any(c.dep_ == "poss" and c.lower_ in ("our", "my") for c in token.children)
            and not re.search(r"\b(?:19|20)\d\d\b|\bago\b|\blast year\b", times)
        )

    def _who(self, who_is: str, deed: _Deed, targets: list[Named]) -> list[Named]:
        """Return whose facts end."""
        if who_is == "object":
            token = deed.subject if deed.passive or deed.object is None else deed.object
            return deed.people(token) if token is not None or deed.passive else []
        if who_is == "complement" and deed.object is not None:
            owner = next((c for c in deed.object.children if c.dep_ == "poss"), None)
            named = None if owner is None else deed.named(owner)
            return [] if named is None else [named]
        if who_is == "owner" and deed.subject is not None:
            owner = next((c for c in deed.subject.children if c.dep_ == "poss"), None)
            named = _speaker(self._referents) if owner is None else deed.named(owner)
            return [] if named is None else [named]
        if who_is == "subject":
            return deed.agents()
        owners = {t.owner for t in targets if t.owner is not None}
        if owners:
            return [Named(normalise_name(o), frozenset(), frozenset(), o, proper=True) for o in sorted(owners)]
        subject = deed.named(deed.subject) if deed.subject is not None else _speaker(self._referents)
        is_actor = subject is not None and not deed.passive and subject not in targets
        people = deed.agents() if is_actor else []
        return [p for p in people if p.person or p.proper or p.owner is not None] or [_speaker(self._referents)]

    def _couple(self, rule: dict[str, Any], deed: _Deed, families: tuple[str, ...]) -> list[Change]:
        """Return the change of two people: their names in either order."""
        people = [] if rule["who"] == "between" else deed.agents()
        roles = rule.get("target", "between with").split()
        others: list[Named] = []
        for wanted in roles:
            role = wanted.partition("?")[0]
            token = deed.object if role in ("object", "complement") else self._role(role, deed, rule)
            if token is None or (deed.passive and role == "object"):
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
                others += deed.people(owner) if owner is not None else []
                continue
            others += deed.people(token)
        if rule["who"] == "between" and not others:
            return []
        if rule.get("person") and not any(o.person or o.proper or o.head in _LISTS["partners"] for o in others):
            return []
        everybody = [*people, *others]
        if not everybody:
            return []
        return [
            Change(self._sentence, families, tuple(everybody), others=tuple(everybody) if len(everybody) > 1 else ())
        ]

    # -- "not any more", "stopped" ------------------------------------------------------------------------------------

    def _denied(self, deed: _Deed, final: bool) -> list[Change]:
        """Return what a negated clause denies: "I don't drink coffee any more", "I no longer work at Costa"."""
        clause = self._clause
        if clause.negation == "never" and not final:
            return self._never(deed)
        if clause.is_past or (clause.is_perfect and not final):
            return []
        verb = clause.verb
        if clause.is_progressive and not final:
            return []
        if not final:
            allowed = {"nsubj", "aux", "neg", "dobj", "punct", "attr", "acomp", "advmod", "prep", "intj", "cc", "conj"}
            extra = [
                c
                for c in verb.children
                if c.dep_ not in allowed
                or (c.dep_ in ("advmod",) and c.lower_ not in ("now", "really", "actually", "currently"))
            ]
            preps = [c for c in verb.children if c.dep_ == "prep"]
            if extra or (preps and clause.lemma not in ("live", "work", "be")) or clause.modal:
                return []
        return self._ended_state(deed, verb, clause.lemma, exact=not final)

    def _never(self, deed: _Deed) -> list[Change]:
        """Return what "I was never in Rome" and "I have never worked there" say was never so."""
        clause, verb = self._clause, self._clause.verb
        if not clause.is_past and not clause.is_perfect:
            return []
        if verb.lemma_.lower() == "be" and (to := _after_adjective(verb)) is not None:
            targets = deed.people(to[2])
        else:
            nouns = [c for c in verb.children if c.dep_ in ("dobj", "attr", "acomp")]
            nouns += [c for p in verb.children if p.dep_ == "prep" for c in p.children if c.dep_ == "pobj"]
            targets = [named for noun in nouns for named in deed.people(noun)]
        who = tuple(deed.agents())
        return (
            [Change(self._sentence, (), who, tuple(targets), verb=verb.lemma_.lower(), never=True)] if targets else []
        )

    def _stopped(self) -> list[Change]:
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
                _Deed(inner, clause, clause.subject, self._referents, passive=False),
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
            deed = _Deed(inner, clause, clause.subject, self._referents, passive=False)
            if inner.dep_ in ("compound", "amod", "acl"):
                deed.object = inner.head
            return self._ended_state(deed, inner, _gerund_lemma(inner), exact=False)
        if (
            lemma in ("start", "begin", "resume", "go")
            and inner.tag_ in ("VBG", "VB")
            and (clause.is_past or clause.is_perfect or clause.is_progressive)
        ):
            deed = _Deed(inner, clause, clause.subject, self._referents, passive=False)
            thing = deed.named(deed.object)
            relation = f"does not {inner.lemma_.lower()}"
            found = [
                Change(self._sentence, (), tuple(deed.agents()), () if thing is None else (thing,), relation=relation)
            ]
            if inner.lemma_.lower() == "eat" and thing is not None and thing.head in _MEAT:
                found.append(Change(self._sentence, ("diet",), tuple(deed.agents())))
            return found
        return []

    def _ended_state(self, deed: _Deed, verb: Token, lemma: str, *, exact: bool) -> list[Change]:
        """Return that somebody no longer does or is something."""
        who = tuple(p for p in deed.agents())
        if not who:
            return []
        targets: list[Named] = []
        for child in verb.children:
            if child.dep_ in ("dobj", "attr", "acomp", "oprd") and not _is_coarse_time(child):
                targets += deed.people(child)
            elif child.dep_ == "prep" and child.i > verb.i:
                targets += [
                    n for c in child.children if c.dep_ == "pobj" and c.lower_ != "more" for n in deed.people(c)
                ]
        if deed.object is not None and not targets:
            targets = deed.people(deed.object)
        pair = tuple(who) if len(who) > 1 else ()
        with_whom = deed.pobj("with")
        if lemma == "be" and not exact and with_whom is not None and with_whom.lower_ == "us":
            return [Change(self._sentence, who=(_speaker(self._referents),), targets=who, life=True)]
        if lemma == "be" and (to := _after_adjective(verb)) is not None:
            adjective, prep, noun = to
            thing = deed.named(noun)
            relation = f"is {adjective} {prep}|{adjective} {prep}"
            return [] if thing is None else [Change(self._sentence, (), who, (thing,), relation=relation)]
        if lemma == "be":
            if "together" in deed.words or "couple" in deed.words:
                return [Change(self._sentence, ("partner",), who, others=pair)]
            if not targets:
                return []
            owners = [t for t in targets if t.owner is not None]
            if owners and owners[0].owner is not None:
                owner = Named(normalise_name(owners[0].owner), frozenset(), frozenset(), owners[0].owner, proper=True)
                role = Change(self._sentence, ("state",), (owner,), who, relation=f"has {owners[0].head}")
                return (
                    [role, Change(self._sentence, ("partner",), (owner, *who), others=(owner, *who))]
                    if owners[0].head in _LISTS["partners"]
                    else [role]
                )
            partner = (
                [Change(self._sentence, ("partner",), (*who, *targets), others=(*who, *targets))]
                if deed.pobj("with") is not None
                else []
            )
            return [
                Change(self._sentence, ("state",), who, tuple(targets), loosely=not exact, exact=exact, verb="be"),
                *partner,
            ]
        if lemma in ("see", "date", "love") and targets:
            partner = [Change(self._sentence, ("partner",), (*who, *targets), others=(*who, *targets))]
            if lemma != "love":
                return partner
        if lemma == "work":
            return [Change(self._sentence, ("job",), who, tuple(targets), loosely=True)] if targets or not exact else []
        if lemma in ("live", "reside", "stay"):
            return [Change(self._sentence, ("home",), who, tuple(targets))] if targets else []
        if lemma in _HAVING:
            return (
                [Change(self._sentence, ("own", "health", "partner", "plan"), who, tuple(targets), exact=exact)]
                if targets
                else []
            )
        if exact:
            return [Change(self._sentence, (), who, tuple(targets), verb=lemma, exact=True)] if targets else []
        found = [Change(self._sentence, (), who, tuple(targets), verb=lemma)]
        base = next((word for word in WORDS["alone"] if word in (lemma, lemma + "e")), lemma)
        found.append(Change(self._sentence, (), who, (Named(base, frozenset(), frozenset(), base),), relation="does"))
        if targets:
            found.append(Change(self._sentence, ("habit", "feeling", "own"), who, tuple(targets)))
        return found

    def _attribute(self) -> list[Change]:
        """Return that an attribute has a new value: "I've got a new number", "my number has changed"."""
        clause, verb = self._clause, self._clause.verb
        table: dict[str, str] = _TABLE["attributes"]
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
        full = " ".join([*(c.lower_ for c in thing.lefts if c.dep_ == "compound"), noun])
        nouns = table.get(full) or table.get(noun)
        if nouns is None:
            return []
        if noun == "address" and "@" in doc.text:
            nouns = table["email"] + " address"
        if full != noun and full not in table and noun == "number":
            return []  # "a new credit card number"
        owner = next((c for c in thing.children if c.dep_ == "poss"), None)
        deed = _Deed(verb, clause, clause.subject, self._referents)
        if owner is not None:
            who = deed.people(owner)
        elif thing is clause.subject:
            who = [_speaker(self._referents)]
        else:
            who = deed.agents()
        names = "|".join(sorted(set(_CONTACT_NAME.findall(nouns))))
        return [Change(self._sentence, (), tuple(who), relation=f"has (?:{names})", kept=tuple(self._values(doc)))]

    def _values(self, doc: Doc) -> list[Named]:
        return [Named(t.lower_, frozenset(), frozenset(), t.text) for t in doc if t.like_num or t.like_email]


_CONTACT_NAME: Final = re.compile(
    r"(?:phone|mobile|telephone|cell) number|(?:home|postal|e-?mail|mail) address|(?:last|family|user) name|\S+"
)
_LEAVING_HOME: Final = frozenset(
    [
        "move_out",
        "move_away",
        "move_house",
        "relocate",
        "emigrate",
        "evict",
        "be_evicted",
        "leave_home",
        "move_home",
        "move_back",
        "move_abroad",
        "move_overseas",
        "move_on",
        "fly_nest",
        "leave_nest",
        "vacate",
    ]
)
_MEAT: Final = frozenset(
    ["meat", "fish", "chicken", "beef", "pork", "steak", "bacon", "seafood", "burger", "lamb", "ham", "sausage"]
)


def _is_bare(deed: _Deed) -> bool:
    """Return whether a verb has nothing but a subject and times: "we finally moved"."""
    return (
        deed.subject is not None
        and deed.subject.tag_ == "PRP"
        and all(
            c.dep_ in ("nsubj", "aux", "punct", "cc", "conj", "ccomp", "parataxis", "npadvmod", "intj")
            or c.lower_ in ("finally", "just", "recently", "already", "again", "house", "home", "together")
            or _is_coarse_time(c)
            for c in deed.verb.children
        )
    )


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


# -- against what the memory holds ------------------------------------------------------------------------------------


def ended_facts(change: Change, view: GraphView) -> list[Fact]:
    """Return the facts that a change ends.

    Args:
        change: what a sentence says.
        view: what the memory holds.

    Returns:
        Facts that hold, none twice; none where more than one thing could be meant.
    """
    if change.life:
        found = [fact for target in change.targets for fact in _life(target, change, view)]
    elif change.others is not None:
        found = _of_couple(change, view)
    else:
        found = _of_people(change, view)
    return list(dict.fromkeys(found))


def contradicted_facts(fact: Fact, view: GraphView) -> list[Fact]:
    """Return the facts that cannot hold beside a new one: "does not drink" beside "drinks"."""
    subject, relation, value = fact.key
    if relation.startswith("does not "):
        return view.facts(subject=subject, relation=third_person(relation[9:]), object=value)
    diet = (
        [f for f in view.facts(subject=subject) if _is_in("diet", f)] if relation == "eats" and value in _MEAT else []
    )
    return diet + [
        other
        for other in view.facts(subject=subject, object=value)
        if other.key[1].startswith("does not ") and third_person(other.key[1][9:]) == relation
    ]


def _names(named: Named, view: GraphView) -> list[str]:
    """Return the names of somebody: "Ravi" is "Tom's husband", where the memory knows it."""
    names = [named.name]
    if named.owner is not None:
        names += [f.object for f in view.facts(subject=named.owner, relation=f"has {named.head}")]
        names += [f.object for relation in _NAMINGS for f in view.facts(subject=named.name, relation=relation)]
    elif not named.person:
        for fact in view.facts(object=named.name):
            if fact.key[1] in _NAMINGS and "'s " in fact.subject:
                names.append(fact.subject)
            elif fact.key[1].startswith("has "):
                names.append(f"{fact.subject}'s {fact.relation[4:]}")
    return list(dict.fromkeys(names))


def _of_people(change: Change, view: GraphView) -> list[Fact]:
    found: list[Fact] = []
    if change.relation == "lives with":
        return [
            f
            for t in change.targets
            for name in _names(t, view)
            for f in view.facts(object=name)
            if _SHARING.fullmatch(f.key[1])
        ]
    for who in change.who:
        for name in _names(who, view):
            found += [f for f in view.facts(subject=name) if _ends(change, f)]
    found = _unambiguous(found, change)
    if change.things:
        for target in change.targets:
            for name in _thing_names(target, change):
                found += [
                    f for f in view.facts(subject=name)
                    if any(_is_in(family, f) for family in change.families if family in ("schedule", "price", "hours"))
                ]  # fmt: skip
    return found


def _thing_names(target: Named, change: Change) -> list[str]:
    """Return the names under which a thing may be known: "the meeting" is "meeting" or "Tom's meeting"."""
    plain = target.name.removeprefix(f"{target.owner}'s ") if target.owner is not None else target.name
    names = (
        [target.name, plain]
        if target.owner is not None and any(w.name == target.owner for w in change.who)
        else [target.name]
    )
    if target.owner is None and target.determiner == "the":
        names += [f"{who.name}'s {plain}" for who in change.who]
    return list(dict.fromkeys(names))


def _ends(change: Change, fact: Fact) -> bool:
    """Return whether a fact of the right subject ends."""
    _, relation, _ = fact.key
    if any(_is_about(new, fact) for new in change.kept):
        return False
    if change.never:
        is_same = change.verb == "be" or any(word[:3] == change.verb[:3] for word in relation.split()) or (
            change.verb in _HAVING and relation.split()[0] in ("has", "had", "owns", "owned")
        )  # fmt: skip
        return (
            is_same
            and not relation.startswith("does not")
            and all(_is_about(t, fact, loosely=True) for t in change.targets)
        )
    if change.relation:
        if re.fullmatch(change.relation, relation) is None:
            return False
        if relation.startswith("does not"):
            return not change.targets or any(_is_about(t, fact) for t in change.targets)
        return not change.targets or any(_is_about(t, fact) or t.person for t in change.targets)
    if change.families and not any(_is_in(family, fact) for family in change.families):
        return False
    if not change.families and (
        _PAST.match(relation) or relation.startswith("does not") or not set(relation.split()) & _forms(change.verb)
    ):
        return False
    if change.verb == "be" and not relation.startswith("is"):
        return False
    if not change.targets:
        return True
    if change.exact:
        return any(
            t.name == fact.key[2] or normalise_name(t.name) == fact.key[2] or (t.head == fact.key[2] and not t.words)
            for t in change.targets
        )
    return any(_is_about(t, fact, loosely=change.loosely) for t in change.targets)


def _unambiguous(facts: list[Fact], change: Change) -> list[Fact]:
    """Return the facts; none where a bare noun ("the car") fits several things."""
    if not change.targets or any(t.proper or t.words or t.tail for t in change.targets):
        return facts
    heads = [_of_text(f.object) for f in facts if _is_in("own", f) and not _is_in("job", f)]
    distinct = [one for one in heads if not any(one.all < other.all for other in heads)]
    if len({one.all for one in distinct}) > 1 and not any(t.name[-1:] == "s" for t in change.targets):
        return [f for f in facts if not _is_in("own", f)]
    return facts


def _of_couple(change: Change, view: GraphView) -> list[Fact]:
    """Return the facts between people."""
    family = change.families[0]
    people = [(who, _names(who, view)) for who in change.who]
    found: list[Fact] = []
    for number, (who, names) in enumerate(people):
        others = [other for n, (other, _) in enumerate(people) if n != number]
        known = {normalise_name(n) for other, names_ in people if other is not who for n in names_}
        for name in names:
            for fact in view.facts(subject=name):
                if _is_in(family, fact) and _is_between(fact, others, known, change):
                    found.append(fact)
            if family == "partner":
                roles = [f"{name}'s {role}" for role in sorted(_LISTS["partners"])]
                found += [
                    f for role in roles for relation in _NAMINGS for f in view.facts(subject=role, relation=relation)
                    if not others or f.key[2] in known
                ]  # fmt: skip
            if not others:
                found += [f for f in view.facts(object=name) if _is_in(family, f) and f.key[1] != "has"]
    return found


def _is_between(fact: Fact, others: list[Named], known: set[str], change: Change) -> bool:
    _, relation, value = fact.key
    if not others:
        return not (change.families == ("partner",) and value in ("single",))
    if value in known or any(_is_about(o, fact) for o in others):
        return True
    noun = relation.rpartition(" ")[2]
    roles = {o.head for o in others}
    if noun in roles or _of_text(fact.object).head in roles:
        return True
    return (
        relation == "is" or relation == "is a"
        if change.families != ("partner",)
        else (
            relation in ("is", "married", "is in")
            and bool(roles & (_LISTS["partners"]) or known)
            and any(
                o.head in _LISTS["partners"] or any(k.endswith(tuple(_LISTS["partners"])) for k in known)
                for o in others
            )
        )
    )


def _life(target: Named, change: Change, view: GraphView) -> list[Fact]:
    """Return what was so of somebody who died, and that somebody had them."""
    found: list[Fact] = []
    names = _names(target, view)
    if not target.proper and target.owner is None and (target.determiner != "the" or target.tail):
        names = []
    for name in names:
        found += [f for f in view.facts(subject=name) if not _PAST.match(f.key[1])]
        found += [
            f
            for f in view.facts(object=name)
            if _is_in("own", f)
            or _is_in("partner", f)
            or f.key[1] in ("lives with", "works with", "works for")
            or f.key[1].startswith("has ")
        ]
    owners = (
        {target.owner}
        if target.owner is not None
        else {f.subject for name in names for f in found}
        if target.proper
        else set()
    )
    if target.owner is None:
        owners |= {who.name for who in change.who}
    for owner in sorted(o for o in owners if o is not None):
        about = [
            f for f in view.facts(subject=owner) if (_is_in("own", f) or _is_in("partner", f)) and _is_about(target, f)
        ]
        found += _unambiguous(about, Change("", targets=(target,)))
    return found

"""Finds the clauses of a sentence that state something, in its dependency tree."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from worldthread.extract.times.tables import time_words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LISTS: Final = tomllib.loads(files("worldthread.extract.parsed").joinpath("english.toml").read_text(encoding="utf-8"))
WORDS: Final = {name: frozenset(words.split()) for name, words in _LISTS.items()}
"""The word lists of ``english.toml`` by name; those of times with what :mod:`worldthread.extract.times` knows."""
WORDS["times"] |= time_words("en")

_SUBJECTS: Final = frozenset(["nsubj", "nsubjpass", "csubj", "csubjpass", "expl"])
_AUXILIARIES: Final = frozenset(["aux", "auxpass"])
_FINITE: Final = frozenset(["VBD", "VBP", "VBZ"])
_MOTION: Final = frozenset([
    "climb", "count", "cycle", "drive", "fly", "get", "go", "hike", "move", "read", "ride", "run", "sail", "ski",
    "swim", "travel", "walk",
])  # fmt: skip
_DOUBTFUL_MARKS: Final = frozenset(["if", "unless", "whether", "though"])
_NEGATIONS: Final = frozenset(["not", "n't", "n’t", "never", "no"])


@dataclass(frozen=True)
class Clause:
    """A clause that states something.

    Args:
        verb: the head of the clause.
        subject: the head of its subject; ``None`` where the speaker left out "I" ("Just moved to Bonn").
        lemma: the lemma of the verb in lower case, with its particle ("give up").
        auxiliaries: lemmas of the auxiliaries, in order.
        negation: the word that denies the clause; empty without one.
        is_past: whether it speaks of the past ("moved", "was", "had moved").
        is_perfect: whether it is in the perfect ("has moved").
        is_progressive: whether it is progressive ("is moving").
        is_passive: whether it is passive ("was born").
        modal: the modal verb, such as ``"will"``; empty without one.
    """

    verb: Token
    subject: Token | None
    lemma: str
    auxiliaries: tuple[str, ...]
    negation: str
    is_past: bool
    is_perfect: bool
    is_progressive: bool
    is_passive: bool
    modal: str


def clauses(doc: Doc) -> Iterator[Clause]:
    """Yield the clauses that a sentence states; none of a question, a condition, a guess or a report.

    Args:
        doc: the dependency tree of the sentence.

    Yields:
        The main clauses and those joined to them, in order. Clauses with modal verbs other than "will" and "can't"
        are left out.
    """
    first = doc[0].lower_ if len(doc) else ""
    if first in _DOUBTFUL_MARKS or (first and doc[0].tag_ == "VB" and doc[0].dep_ == "ROOT"):
        return
    if any(token.lower_ in WORDS["doubt"] for token in doc):
        return
    heads: list[Token] = []
    for root in (token for token in doc if token.dep_ == "ROOT"):
        heads += _joined(root)
    for head in sorted(heads, key=lambda token: token.i):
        clause = _clause(head)
        if clause is not None:
            yield clause


def relative_clauses(doc: Doc) -> Iterator[Clause]:
    """Yield the relative clauses that state something of a noun before them: "Ann Lee, who lives in Rome".

    Args:
        doc: the dependency tree of the sentence.

    Yields:
        The clauses of which the relative pronoun is the subject, in order.
    """
    if any(token.lower_ in WORDS["doubt"] for token in doc):
        return
    for head in doc:
        if head.dep_ != "relcl" or head.pos_ not in ("VERB", "AUX"):
            continue
        subject = _own_subject(head)
        if subject is None or subject.tag_ not in ("WP", "WDT") or subject.i > head.i:
            continue
        clause = _clause(head, is_relative=True)
        if clause is not None:
            yield clause


def _joined(head: Token) -> list[Token]:
    """Return a head and the heads of the clauses that are joined to it."""
    found = [head]
    for child in head.children:
        if (child.dep_ == "conj" and child.pos_ in ("VERB", "AUX") and _link(head, child) not in ("or", "than")) or (
            is_run_on(child, head)
        ):
            found += _joined(child)
    return found


def _link(head: Token, conjunct: Token) -> str:
    links = [child.lower_ for child in head.children if child.dep_ == "cc" and child.i < conjunct.i]
    return links[-1] if links else ""


def is_run_on(child: Token, head: Token) -> bool:
    """Return whether a clause only stands beside another one: "We finally moved, we're in Bremen now"."""
    if child.dep_ not in ("ccomp", "parataxis") or child.pos_ not in ("VERB", "AUX"):
        return False
    if head.lemma_.lower() in WORDS["attitudes"] or any(c.dep_ == "mark" for c in child.children):
        return False
    first, second = (child, head) if child.i < head.i else (head, child)
    between = first.doc[first.i + 1 : second.i]
    return any(t.text in (",", "-", "–", "—", ";", ":", "...", "!", ".") for t in between) and (
        _own_subject(child) is not None
    )


def _own_subject(head: Token) -> Token | None:
    # the nearest one: a name before it is called to ("Hi Maria, I'm ...")
    subjects = [child for child in head.children if child.dep_ in _SUBJECTS] or [
        c for child in head.children if child.dep_ in _AUXILIARIES for c in child.children if c.dep_ in _SUBJECTS
    ]  # "my bike got nicked"
    before = [child for child in subjects if child.i < head.i]
    return before[-1] if before else (subjects[0] if subjects else None)


def _clause(head: Token, *, is_relative: bool = False) -> Clause | None:
    """Return the clause of a head; ``None`` when it states nothing."""
    if head.pos_ not in ("VERB", "AUX") and head.tag_ not in _FINITE and _own_subject(head) is None:
        return None
    chain = [head]
    while chain[-1].dep_ == "conj":
        chain.append(chain[-1].head)
    subject = next((found for link in chain if (found := _own_subject(link)) is not None), None)
    if len(chain) > 1 and _own_subject(head) is None and _is_spliced(head, chain[1], subject):
        return None
    auxiliaries = _auxiliaries(chain)
    modal = next((child.lower_ for child in auxiliaries if child.tag_ == "MD"), "")
    negation = next(
        (t.lower_ for t in head.children if t.dep_ == "neg" or (t.lower_ in _NEGATIONS and t.dep_ == "advmod")), ""
    )
    if not negation and any(t.lower_ == "longer" and any(n.lower_ == "no" for n in t.children) for t in head.children):
        negation = "no longer"
    if any(_is_doubtful(child) for link in chain for child in link.children):
        return None
    if (not is_relative and _is_question(head, auxiliaries, subject)) or (
        head.tag_ == "VB" and not auxiliaries and subject is None
    ):
        return None
    if not _is_finite(head, auxiliaries, subject):
        return None
    names = tuple(child.lemma_.lower() for child in auxiliaries)
    is_present = is_present_form(head)
    is_bare_past = not names and (
        (head.tag_ == "VBD" and not is_present) or (head.tag_ == "VBN" and head.lemma_ != "be")
    )
    is_bare_past = is_bare_past or (not names and _is_told_as_past(head))
    is_past = is_bare_past or any(child.tag_ == "VBD" for child in auxiliaries)
    if subject is None and not _leaves_out_i(head, is_bare_past):
        return None
    particle = next((child.lower_ for child in head.children if is_particle(child)), "")
    is_perfect = "have" in names and head.tag_ in ("VBN", "VBG", "VBD")
    is_passive = any(child.dep_ == "auxpass" or (child.lemma_ == "get" and head.tag_ == "VBN") for child in auxiliaries)
    return Clause(
        head,
        subject,
        f"{head.lemma_.lower()} {particle}".strip(),
        names,
        negation,
        is_past,
        is_perfect,
        head.tag_ == "VBG" and "be" in names,
        is_passive,
        modal,
    )


def _is_spliced(head: Token, first: Token, subject: Token | None) -> bool:
    """Return whether a verb after a comma has another subject: "my French is rusty, did two terms in Lyon"."""
    if head.tag_ != "VBD" or first.tag_ not in ("VBP", "VBZ") or subject is None or subject.tag_ == "PRP":
        return False
    is_joined = any(child.dep_ == "cc" and child.i < head.i for child in first.children)
    return not is_joined and any(token.text == "," for token in head.doc[first.i : head.i])


def _is_finite(head: Token, auxiliaries: list[Token], subject: Token | None) -> bool:
    """Return whether a verb and its subject make a clause, not a heading or an order ("Tests: run all of them")."""
    if auxiliaries:
        return True
    if _continues_infinitive(head) or _is_attribute(head, subject):
        return False
    if subject is None:
        return True
    if (
        (head.tag_ in ("VB", "VBP") or (head.tag_ == "VBD" and is_present_form(head)))
        and subject.i < head.i
        and subject.tag_ in ("NN", "NNP")
        and head.lower_ not in ("be", "'re", "are")
        and not any(c.dep_ in ("conj", "nummod", "cc") for c in subject.children)
    ):
        return False  # a heading or an order: "Debugger: use it"
    if head.tag_ == "VB" and subject.tag_ == "PRP" and subject.i < head.i:
        return True  # "I no longer watch football", where the model sees no tense
    if head.tag_ in ("VB", "VBG", "VBN"):
        return head.lower_ in ("be", "been") or (head.tag_ == "VBN" and subject.dep_ == "nsubj" and subject.i < head.i)
    return subject.i > head.i or not any(t.text in (":", "|", ">", "/") for t in head.doc[subject.i + 1 : head.i])


def is_present_form(verb: Token) -> bool:
    """Return whether a verb has the form of the present, whatever its tag: "brew", tagged as past."""
    return verb.lower_ == verb.lemma_ and verb.lower_ not in WORDS["same_past"]


def _is_told_as_past(verb: Token) -> bool:
    """Return whether "I hurt my knee on Saturday", which the model takes for the present, is of the past."""
    if verb.tag_ not in ("VBP", "VB") or verb.lower_ not in WORDS["same_past"]:
        return False
    has_object = any(c.dep_ == "dobj" for c in verb.rights)
    if has_object and any(t.lower_ in ("ago", "yesterday") or _is_last(t) for t in verb.subtree):
        return True
    days = [c for prep in verb.subtree if prep.lower_ == "on" for c in prep.children if c.dep_ == "pobj"]
    is_day = any(day.lower_ in WORDS["times"] and not day.lower_.endswith("days") for day in days)
    return has_object and verb.lower_ in WORDS["never_planned"] and is_day


def _is_last(token: Token) -> bool:
    return token.lower_ == "last" and token.head.lemma_.lower() in WORDS["times"] and token.head.dep_ == "npadvmod"


def _is_attribute(head: Token, subject: Token | None) -> bool:
    """Return whether a participle stands before its noun: "the last three visited cities"."""
    before = head.doc[head.i - 1] if head.i else None
    if before is None or head.tag_ not in ("VBD", "VBN") or before.tag_ not in ("DT", "CD", "JJ", "PRP$"):
        return False
    return subject is None or before not in subject.subtree


def _continues_infinitive(head: Token) -> bool:
    """Return whether a joined verb belongs to an infinitive before it: "wanted to meet people and learn"."""
    if head.dep_ != "conj" or head.tag_ not in ("VB", "VBP") or _own_subject(head) is not None:
        return False
    first = head.head
    while first.dep_ == "conj":
        first = first.head
    return any(t.tag_ == "TO" and t.head.tag_ == "VB" for t in head.doc[first.i + 1 : head.i])


def _auxiliaries(chain: list[Token]) -> list[Token]:
    """Return the auxiliaries of a verb, or of the verb that it is joined to: "have sold it and bought another"."""
    head = chain[0]
    for link in chain:
        own = [child for child in link.children if child.dep_ in _AUXILIARIES]
        is_finite = head.tag_ in ("VBP", "VBZ") or (head.tag_ == "VBD" and not any(c.lemma_ == "have" for c in own))
        if link != head and is_finite:
            return []
        if own or _own_subject(link) is not None:
            return own
    return []


def _leaves_out_i(head: Token, is_bare_past: bool) -> bool:
    """Return whether "I" may be left out before a verb: "Just moved to Bonn", but "Based in Bonn"."""
    if not is_bare_past or head.i - head.sent.start > 2:
        return False
    return head.tag_ == "VBD" or any(child.dep_ == "dobj" for child in head.children)


def is_particle(child: Token) -> bool:
    """Return whether a word belongs to the verb before it: "up" in "set up", "forward" in "look forward to"."""
    if child.dep_ == "prt":
        following = child.doc[child.i + 1 : child.i + 2]
        is_place = (
            child.i > child.head.i + 1
            and child.nbor(-1).tag_ != "PRP"
            and any(t.lower_ in ("in", "at", "on") and t.dep_ == "prep" for t in following)
        )
        if child.lower_ in ("up", "down", "over") and _leads_to(child):
            return False  # "drove up to the cabin"
        return not (is_place and child.lower_ in ("up", "down", "over"))  # "explored the coast up in the north"
    is_next = (
        child.head.lemma_ != "be"
        and child.dep_ in ("advmod", "prep")
        and child.i == child.head.i + 1
        and child.lower_ in WORDS["particles"]
    )
    if child.lower_ in ("up", "down", "over", "on") and _leads_to(child):
        return False
    return is_next and not any(c.dep_ in ("pobj", "pcomp") for c in child.children)


def _leads_to(child: Token) -> bool:
    """Return whether a word stands between a verb of motion and "to"."""
    return child.i + 1 < len(child.doc) and child.nbor().lower_ == "to" and child.head.lemma_.lower() in _MOTION


def _is_doubtful(child: Token) -> bool:
    """Return whether a dependent makes its clause a condition, a report or a part of a story."""
    if child.dep_ == "advcl":
        marks = {mark.lower_ for mark in child.children if mark.dep_ in ("mark", "advmod")}
        return bool(marks & {"if", "unless", "whether"}) or (child.tag_ == "VBD" and bool(marks & {"like"}))
    if child.dep_ == "prep" and child.lower_ in ("in", "according", "for"):
        if child.lower_ == "according":
            return True
        return (
            child.lower_ == "in"
            and any(c.lemma_.lower() in WORDS["stories"] for c in child.children)
            and (child.i < child.head.i)
        )
    return child.dep_ == "mark" and child.lower_ in _DOUBTFUL_MARKS and child.head.dep_ != "ROOT"


def _is_question(head: Token, auxiliaries: list[Token], subject: Token | None) -> bool:
    """Return whether a clause asks: "do you live here", "who wrote it"."""
    if subject is not None and subject.tag_ in ("WP", "WDT", "WRB", "WP$"):
        return True
    first = auxiliaries[0] if auxiliaries else head
    return subject is not None and first.i < subject.i and first.tag_ != "VBN" and subject.dep_ != "expl"

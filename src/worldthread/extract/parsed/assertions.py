"""States what somebody plainly asserts of themselves and of theirs, whatever the verb: "I'm left-footed".

The other rules know what verbs mean; these ask only what an assertion must not be. It stands in a main clause in the
present or the perfect, and is no report, no guess, no figure of speech, no exaggeration and no mood of the moment.
What it says then stands in the fact as it was said: the verb with its auxiliaries and its negation, and everything
behind it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.clauses import WORDS, Clause, is_run_on
from worldthread.extract.parsed.facts import LocatedFact, SentenceFacts
from worldthread.extract.parsed.lasting_complements import LISTS, is_lasting
from worldthread.extract.parsed.phrases import NamedPhrase, is_pronoun, render
from worldthread.extract.parsed.probable import is_figure
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.extract.prose.words import third_person
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LONGEST: Final = 14  # words of an object
_CLAUSE_ARCS: Final = frozenset(["advcl", "cc", "ccomp", "conj", "csubj", "discourse", "intj", "parataxis", "relcl"])
_CONDITIONS: Final = frozenset(
    ["as", "if", "once", "or", "till", "unless", "until", "when", "whenever", "whether", "while"]
)
_BREAKS: Final = frozenset([",", "-", "–", "—", ";", "...", "…", "!", "."])
_UNMEANT: Final = re.compile(  # openings of irony; comparisons, exaggerations, reports and stories anywhere
    r"^(?:oh|ah|yeah|great|brilliant|lovely|fantastic|wonderful|perfect|super|typical|sure|right|just what|as if|"
    r"of course|figures|well well)\b(?! (?:aunts?|uncles?))|"
    r"\b(?:so \w+ (?:that )?(?:i|my|we|it)|too \w+ to|as \w+ as|like (?:an?|the)|world's|in the (?:world|universe)|"
    r"on earth|to death|to pieces|to bits|made of|of the century|(?:hundred|thousand)s? (?:of )?times|sense of|"
    r"not \w+ing to|says|said|told|claims?|swears|reckons|thinks|heard|according|they call|rumou?r|word is|who knows|"
    r"(?:in|from) (?:my|a|the|this) (?:\w+ )?"
    r"(?:game|dream|film|movie|book|novel|story|play|show|song|sims|campaign))\b",
    re.IGNORECASE,
)
_CONTRACTED: Final = {
    "'d": "would", "'m": "is", "am": "is", "'re": "is", "are": "is", "'ve": "has", "have": "has", "do": "does",
    "ca": "can",
}  # fmt: skip
_BEFORE_VERB: Final = frozenset(["advmod", "aux", "auxpass", "neg"])
"""Arcs to what may stand between a subject and its verb."""
_BEFORE: Final = frozenset(["each", "every", "most", "of"])
"""Words before a day that is one of many."""


def asserted_facts(
    doc: Doc, read: SentenceFacts, stated: tuple[LocatedFact, ...], referents: Referents
) -> tuple[LocatedFact, ...]:
    """Return what a sentence plainly asserts of its speaker and theirs in clauses of which nothing else is stated.

    Args:
        doc: the dependency tree of the sentence.
        read: its clauses, as the other rules read them.
        stated: the facts that they state.
        referents: whom its pronouns mean.

    Returns:
        Its facts, in order.
    """
    if not read.clauses or is_unmeant(doc):
        return ()
    understood = {one.clause.verb.lower_ for one in stated}
    found = []
    for clause, named in read.clauses:
        subject = named or _superlative(clause, referents)
        if clause.verb.lower_ in understood or subject is None or not _is_own(subject, clause, referents):
            continue
        fact = _asserted(clause, subject, referents)
        if fact is not None:
            found.append(LocatedFact(replace(fact, aspect=aspect_for(fact)), clause, is_certain=True))
    return tuple(found)


def is_distinct(clause: Clause) -> bool:
    """Return whether a clause can be understood among others: it has its own subject, which is one person or thing.

    Args:
        clause: a clause that asserts something.
    """
    subject = clause.subject
    if subject is None or subject.head != clause.verb or clause.modal:
        return False
    if clause.lemma == "be" and any(c.dep_ == "prep" for c in clause.verb.rights):
        return False  # "I'm on Mastodon": now, or for good?
    return subject.lower_ == "i" or subject.tag_ in ("NN", "NNP", "JJS")


def is_unmeant(doc: Doc) -> bool:
    """Return whether a sentence is a question, a report, a joke, an exaggeration or of a story.

    Args:
        doc: the dependency tree of the sentence.
    """
    text = doc.text
    if text.rstrip("\"'”’»)] ").endswith(("?", ":")) or '"' in text or _UNMEANT.search(text) is not None:
        return True
    return any({t.lower_, t.lemma_.lower()} & LISTS["unmeant"] for t in doc)


def _superlative(clause: Clause, referents: Referents) -> NamedPhrase | None:
    """Return "my youngest" as a name."""
    token = clause.subject
    if token is None or token.lower_ not in ("eldest", "oldest", "youngest"):
        return None
    if [c.lower_ for c in token.lefts] not in (["my"], ["our"]) or list(token.rights):
        return None
    return NamedPhrase(f"{referents.speaker}'s {token.lower_}", token, token.i + 1, "", referents.speaker)


def _is_own(subject: NamedPhrase, clause: Clause, referents: Referents) -> bool:
    """Return whether a subject is the speaker, or somebody or something of the speaker."""
    if clause.subject is None or not _has_subject(clause):
        return False
    if clause.subject.lower_ in ("i", "we"):
        return True
    if subject.owner != referents.speaker or subject.head.lemma_.lower() in LISTS["body"] | LISTS["passing"]:
        return False
    return subject.head.tag_ in ("JJ", "JJS", "NN", "NNP", "NNPS", "NNS")


def _has_subject(clause: Clause) -> bool:
    """Return whether a verb has a subject of its own or shares one: not "tastes" in "I hate it, tastes like soap"."""
    verb, subject = clause.verb, clause.subject
    if subject is None or any(subject == t for c in verb.children for t in (c, *c.children)):
        return subject is not None
    is_joined = verb.dep_ == "conj" and any(c.dep_ == "cc" for c in verb.head.children)
    return is_joined and (verb.tag_ != "VBZ" or subject.lower_ not in ("i", "we"))


def _asserted(clause: Clause, subject: NamedPhrase, referents: Referents) -> Fact | None:
    """Return what a clause says; ``None`` where it is not plain."""
    if clause.is_past and not _is_told_for_good(clause):
        return None
    if clause.is_perfect and clause.negation == "never":
        return None  # that it never happened is no state
    if (clause.modal and clause.modal not in ("ca", "can") and not _is_preference(clause)) or is_figure(clause.verb):
        return None
    words = following_words(clause)
    if not words or _is_of_the_moment(clause, words):
        return None
    is_state = clause.lemma == "be" and not clause.is_passive
    if not (is_lasting(clause, words) if is_state else _is_plain_deed(clause, words)):
        return None
    relation = relation_of_clause(clause)
    if relation is None or (len(words) == 1 and words[0].tag_ in ("IN", "RP", "TO")):
        return None
    return fact_of_words(clause, subject.name, relation, words, referents)


def fact_of_words(clause: Clause, subject: str, relation: str, words: list[Token], referents: Referents) -> Fact | None:
    """Return a fact of the words after a verb; ``None`` where they point at something else.

    Args:
        clause: the clause.
        subject: the name of its subject.
        relation: its verb as a relation.
        words: what follows the verb.
        referents: whom the pronouns mean.
    """
    first = words[0]
    if len(words) > 2 and first.dep_ == "advmod" and words[1].dep_ == "prep":
        relation, words = f"{relation} {first.lower_} {words[1].lower_}", words[2:]  # "lives next to"
    elif len(words) > 1 and (first.dep_ in ("agent", "prep") or (clause.lemma == "be" and first.lower_ in ("a", "an"))):
        relation, words = f"{relation} {first.lower_}", words[1:]
    while len(words) > 1 and words[0].lower_ in ("a", "an", "the") and words[0].dep_ == "det":
        words = words[1:]
    pointing = LISTS["pointing"] - {"than"} if _is_preference(clause) else LISTS["pointing"]
    if any(t.lower_ in pointing and t.tag_ != "CD" for t in words):
        return None
    value = render(words[0], words[-1].i, referents)
    return None if value is None or value.lower() == subject.lower() else Fact(subject, relation, value)


def _is_preference(clause: Clause) -> bool:
    """Return whether a clause says what somebody would rather have or do."""
    return clause.modal in ("'d", "would") and any(c.lower_ == "rather" for c in clause.verb.lefts)


def _is_told_for_good(clause: Clause) -> bool:
    """Return whether a clause in the past tells what stays so: "was brought up by my gran", "never finished school"."""
    if clause.is_perfect or clause.is_progressive or clause.modal:
        return False
    if clause.is_passive:
        return clause.lemma.partition(" ")[0] in LISTS["origins"] and not clause.negation
    if clause.lemma == "come" and not clause.negation:  # "my grandparents came from Malta"
        return any(p.lower_ == "from" and any(c.tag_ == "NNP" for c in p.children) for p in clause.verb.rights)
    return clause.negation == "never" and clause.lemma not in WORDS["stative"] and not clause.auxiliaries


def _is_of_the_moment(clause: Clause, words: list[Token]) -> bool:
    """Return whether a clause says what is so now, or was not read well: other words stand before its verb."""
    verb, subject = clause.verb, clause.subject
    assert subject is not None
    before = [t for t in verb.lefts if t.i > subject.i]
    own = {t for child in before for t in child.subtree}
    if subject in verb.children and any(t not in own for t in verb.doc[subject.right_edge.i + 1 : verb.i]):
        return True
    if any(child.dep_ not in _BEFORE_VERB for child in before):
        return True
    last = words[-1].i
    near = (*before, *words, *verb.doc[last + 1 : last + 2])
    return any(t.lower_ in LISTS["moment"] for t in near) or any(map(_is_one_day, words))


def _is_one_day(token: Token) -> bool:
    """Return whether a word names a day or a month once: "on Monday", "in June", but not "every Monday"."""
    before = token.nbor(-1).lower_ if token.i else ""
    if token.lower_ in PROSE_WORDS["weekdays"]:
        return before not in _BEFORE
    is_when = before in ("by", "from", "in", "last", "next", "on", "this", "until")
    return token.lower_ in PROSE_WORDS["months"] and is_when


def following_words(clause: Clause) -> list[Token] | None:
    """Return the words behind the verb that belong to a clause; ``None`` where another clause limits it.

    Args:
        clause: the clause.
    """
    verb = clause.verb
    end = verb.i
    for child in verb.rights:
        if child.dep_ in _CLAUSE_ARCS or is_run_on(child, verb):
            marks = {t.lower_ for t in child.subtree if t.i <= child.i and t.dep_ in ("advmod", "cc", "mark")}
            if marks & _CONDITIONS or (child.dep_ == "ccomp" and not is_run_on(child, verb)):
                return None
            break
        if child.is_punct:
            if child.text in _BREAKS:
                break
            continue
        if child.dep_ in ("dep", "expl", "meta", "nsubj"):
            return None
        end = child.right_edge.i
    kept = _before_break(list(verb.doc[verb.i + 1 : end + 1]))
    if kept is None:
        return None
    particle = clause.lemma.partition(" ")[2]
    while kept and (kept[0].lower_ == particle or kept[0].dep_ == "neg" or kept[0].lower_ in LISTS["dropped"]):
        kept = kept[1:]
    while kept and (kept[-1].is_punct or kept[-1].dep_ in ("cc", "punct") or kept[-1].lower_ in WORDS["trailing"]):
        if clause.negation and kept[-1].lower_ in LISTS["degrees"]:
            return None  # "I don't play the violin well": but I do
        kept.pop()
    return None if len(kept) > _LONGEST else kept


def _before_break(words: list[Token]) -> list[Token] | None:
    """Return words up to a mark that ends what is said, but no list; ``None`` where a clause is among them."""
    kept: list[Token] = []
    for token in words:
        if token.text in (",", ";", "-", "–", "—", "(") and (token.text != "-" or token.whitespace_):
            rest = [t for t in words if t.i > token.i]
            is_joined = any(t.lower_ in ("and", "or") for t in rest)
            if not is_joined or not any(t.dep_ == "conj" and t.head in kept for t in rest):
                break
        if token.dep_ == "cc" and token.i + 1 < len(token.doc) and token.nbor().lower_ == "not":
            break
        if token.dep_ in ("advcl", "ccomp", "parataxis", "relcl"):
            return None
        kept.append(token)
    return kept


def _is_plain_deed(clause: Clause, words: list[Token]) -> bool:
    """Return whether a verb and what follows it tell a deed, a habit or a state of the world."""
    verb, lemma = clause.verb, clause.lemma.partition(" ")[0]
    if any(c.lower_ in ("even", "hardly", "just", "still") for c in verb.lefts) or lemma in WORDS["attitudes"]:
        return False
    thing = next((c for c in verb.rights if c.dep_ == "dobj" and c in words), None)
    preps = [c for c in verb.rights if c.dep_ == "prep"]
    inner = next((c for p in preps for c in p.children if c.dep_ == "pobj" and c in words), None)
    said = thing if thing is not None else inner
    if lemma in LISTS["inner"] and not _is_concrete(clause, lemma, thing):
        return False
    if lemma == "have" and clause.subject is not None and clause.subject.lower_ == "we":
        return False  # "we have regular meetings": whose they are the talk says
    if lemma == "live" and any(p.lower_ == "for" for p in preps):
        return False  # "I live for Fridays"
    if any(c.dep_ == "xcomp" for c in verb.rights) or (said is not None and _says_nothing(said)):
        return False
    if clause.is_passive and not clause.is_past and not any(t.tag_ == "NNP" or t.like_num for t in words):
        is_thing = clause.subject is not None and not is_pronoun(clause.subject)
        return is_thing and any(c.dep_ == "agent" for c in verb.rights)
    if clause.is_progressive and thing is None:
        is_work = lemma == "work" and any(p.lower_ == "on" for p in preps)
        return is_work and said is not None and any(c.lower_ in ("a", "an") for c in said.lefts)
    if said is None:
        return lemma == "live" or not (clause.is_progressive or clause.is_perfect or lemma in LISTS["inner"])
    if clause.modal and thing is None:
        return False
    if said.tag_ in ("NN", "NNS") and any(c.lower_ in ("that", "the", "this") for c in said.lefts):
        is_told = bool(list(said.rights)) or any(c.dep_ in ("amod", "compound") for c in said.lefts)
        return is_told or lemma in WORDS["takes_known"] | {"work"}
    return not is_pronoun(said) or said.lower_ in ("me", "us")


def _is_concrete(clause: Clause, lemma: str, thing: Token | None) -> bool:
    """Return whether a verb that mostly tells what goes on in a head tells a deed here: "keeps bees"."""
    if lemma not in LISTS["concrete"] or clause.is_progressive:
        return False
    is_never = clause.negation == "never" and clause.is_past and thing is not None and lemma != "have"
    return (not clause.negation or is_never) and (not clause.modal or _is_preference(clause))


def _says_nothing(noun: Token) -> bool:
    """Return whether an object is nothing that can be seen or counted."""
    if noun.tag_ in ("DT", "RB"):
        return True
    is_empty = noun.lemma_.lower() in LISTS["abstract"] | WORDS["vague"] | LISTS["body"]
    return is_empty and not any(c.dep_ == "nummod" for c in noun.lefts)


def relation_of_clause(clause: Clause) -> str | None:
    """Return the verb of a clause with its auxiliaries, adverbs and negation, in the third person.

    Args:
        clause: the clause.
    """
    verb, subject = clause.verb, clause.subject
    parts: list[str] = []
    has_auxiliary = False
    for child in verb.lefts:
        low = child.lower_.replace("’", "'")
        if subject is not None and child.i < subject.i:
            continue
        if child.dep_ in ("aux", "auxpass"):
            has_auxiliary = True
            parts.append(("has" if clause.is_perfect else "is") if low == "'s" else _CONTRACTED.get(low, low))
        elif child.dep_ == "neg":
            parts.append("never" if low == "never" else "not")
        elif child.dep_ == "advmod" and low not in WORDS["trailing"]:
            if list(child.children):
                return None
            parts.append(low)
    if not has_auxiliary and verb.tag_ in ("VBG", "VBN") and verb.lemma_.lower() != "be":
        return None
    if not has_auxiliary and verb.lemma_.lower() == "be":
        parts.append("is")
    elif has_auxiliary or clause.is_past or verb.tag_ == "VBZ" or (subject is not None and subject.tag_ == "NNS"):
        parts.append(verb.lower_)
    else:
        parts.append(third_person(verb.lemma_.lower()))
    parts += ["not"] if any(c.dep_ == "neg" for c in verb.rights) else []
    particle = clause.lemma.partition(" ")[2]
    return " ".join([*parts, particle] if particle else parts).replace("can not", "cannot")

"""States what somebody plainly asserts of themselves and of theirs, whatever the verb: "I'm left-footed".

The other rules know what verbs mean; these ask only what an assertion must not be. It stands in a main clause in the
present or the perfect, and is no report, no guess, no figure of speech, no exaggeration and no mood of the moment.
What it says then stands in the fact as it was said: the verb with its auxiliaries and its negation, and everything
behind it.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.clauses import WORDS, Clause, is_run_on
from worldthread.extract.parsed.facts import LocatedFact, SentenceFacts
from worldthread.extract.parsed.phrases import NamedPhrase, is_pronoun, render
from worldthread.extract.parsed.probable import is_figure
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.extract.prose.words import third_person
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LISTS: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        files("worldthread.extract.parsed").joinpath("assertions.toml").read_text(encoding="utf-8")
    ).items()
}
_LONGEST: Final = 14  # words of an object
_CLAUSE_ARCS: Final = frozenset(["advcl", "ccomp", "parataxis", "conj", "cc", "intj", "discourse", "relcl", "csubj"])
_CONDITIONS: Final = frozenset(["if", "unless", "until", "till", "when", "whenever", "while", "whether", "as", "or", "once"])
_BREAKS: Final = frozenset([",", "-", "–", "—", ";", "...", "…", "!", "."])
_IRONY: Final = re.compile(
    r"^(?:oh|ah|yeah|great|brilliant|lovely|fantastic|wonderful|perfect|super|typical|sure|right|just what|as if|"
    r"of course|figures|well well)\b(?! (?:uncle|aunt|aunts|uncles))|\b(?:so \w+ (?:that )?(?:i|my|we|it)|too \w+ to|"
    r"as \w+ as|like (?:an?|the)|world's|in the (?:world|universe)|on earth|to death|to pieces|to bits|"
    r"made of|of the century|(?:hundred|thousand)s? (?:of )?times|sense of|not \w+ing to|"
    r"says|said|told|claims?|swears|reckons|thinks|heard|according|they call|rumou?r|word is|who knows|"
    r"(?:in|from) (?:my|a|the|this) (?:\w+ )?(?:game|dream|film|movie|book|novel|story|play|show|song|sims|campaign))\b",
    re.IGNORECASE,
)
_NUMBER_WORDS: Final = frozenset(["foot", "feet", "ft", "cm", "m", "metre", "meter", "stone", "kilo", "kg", "lb", "pound",
    "inch", "acre", "grand", "year", "level", "size", "mile", "km", "euro", "dollar", "hectare", "litre", "day", "hour"])


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
    if not read.clauses or _is_unmeant(doc):
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
        return False  # "I'm in Rome": on a journey, or at home?
    return subject.lower_ == "i" or subject.tag_ in ("NN", "NNP", "JJS")


def _is_unmeant(doc: Doc) -> bool:
    """Return whether a sentence is a question, a report, a joke, an exaggeration or of the moment."""
    text = doc.text
    if text.rstrip("\"'”’»)] ").endswith(("?", ":")) or '"' in text or _IRONY.search(text) is not None:
        return True
    return any(t.lower_ in _LISTS["unmeant"] or t.lemma_.lower() in _LISTS["unmeant"] for t in doc)


def _superlative(clause: Clause, referents: Referents) -> NamedPhrase | None:
    """Return "my youngest" as a name."""
    token = clause.subject
    if token is None or token.lower_ not in ("eldest", "oldest", "youngest"):
        return None
    if [c.lower_ for c in token.lefts] not in (["my"], ["our"]) or any(True for _ in token.rights):
        return None
    return NamedPhrase(f"{referents.speaker}'s {token.lower_}", token, token.i + 1, "", referents.speaker)


def _is_own(subject: NamedPhrase, clause: Clause, referents: Referents) -> bool:
    """Return whether a subject is the speaker, or somebody or something of the speaker."""
    if clause.subject is None or not _has_subject(clause):
        return False
    if clause.subject.lower_ in ("i", "we"):
        return True
    if subject.owner != referents.speaker or subject.head.lemma_.lower() in _LISTS["body"] | _LISTS["passing"]:
        return False
    return subject.head.tag_ in ("NN", "NNS", "NNP", "JJ", "JJS", "NNPS")


def _has_subject(clause: Clause) -> bool:
    """Return whether a verb has a subject of its own or shares one: not "tastes" in "I hate it, tastes like soap"."""
    verb, subject = clause.verb, clause.subject
    if subject is None or any(subject == t for c in verb.children for t in (c, *c.children)):
        return subject is not None
    is_joined = verb.dep_ == "conj" and any(c.dep_ == "cc" for c in verb.head.children)
    return is_joined and (verb.tag_ != "VBZ" or subject.lower_ not in ("i", "we"))


def _asserted(clause: Clause, subject: NamedPhrase, referents: Referents) -> Fact | None:
    """Return what a clause says; ``None`` where it is not plain."""
    is_preference = clause.modal in ("'d", "would") and any(c.lower_ == "rather" for c in clause.verb.lefts)
    if clause.is_past and not _is_told_for_good(clause):
        return None
    if clause.is_perfect and clause.negation == "never":
        return None  # that it never happened is no state
    if (clause.modal and not (clause.modal in ("ca", "can") or is_preference)) or is_figure(clause.verb):
        return None
    words = _following(clause)
    if words is None or clause.subject is None or _is_of_the_moment(clause, words):
        return None
    lemma = clause.lemma.partition(" ")[0]
    if lemma == "be" and not clause.is_passive:
        if not _is_lasting_complement(clause, words):
            return None
    elif not _is_plain_deed(clause, lemma, words):
        return None
    relation = _relation(clause)
    if relation is None:
        return None
    if not words or (len(words) == 1 and words[0].tag_ in ("RP", "IN", "TO")):
        return None
    first = words[0]
    if len(words) > 2 and first.dep_ == "advmod" and words[1].dep_ == "prep" and words[1].head == first:
        relation, words = f"{relation} {first.lower_} {words[1].lower_}", words[2:]  # "lives next to"
    elif first.dep_ in ("prep", "agent") and len(words) > 1:
        relation, words = f"{relation} {first.lower_}", words[1:]
    elif first.lower_ in ("a", "an") and lemma == "be" and len(words) > 1:
        relation = f"{relation} {first.lower_}"
        words = words[1:]
    while len(words) > 1 and words[0].lower_ in ("a", "an", "the") and words[0].dep_ == "det":
        words = words[1:]
    if any(t.lower_ in ("this", "that", "these", "those", "it", "them", "there", "here", "one", "you", "your", "such", "something", "anything", "everything", "nothing", "stuff", "things", "thing", "so", "more", "less", "than", "enough", "much") and t.tag_ != "CD" and not (is_preference and t.lower_ == "than") for t in words):
        return None
    value = render(words[0], words[-1].i, referents)
    if value is None or value.lower() == subject.name.lower():
        return None
    return Fact(subject.name, relation, value)


def _is_told_for_good(clause: Clause) -> bool:
    """Return whether a clause in the past tells what stays so: "was brought up by my gran", "never finished school"."""
    if clause.is_perfect or clause.is_progressive or clause.modal:
        return False
    if clause.is_passive:
        return clause.lemma in _LISTS["origins"] and not clause.negation
    if clause.lemma == "come" and not clause.negation:  # "my grandparents came from Malta"
        return any(p.lower_ == "from" and any(c.tag_ == "NNP" for c in p.children) for p in clause.verb.rights)
    return clause.negation == "never" and clause.lemma not in WORDS["stative"] and not clause.auxiliaries


def _is_of_the_moment(clause: Clause, words: list[Token]) -> bool:
    """Return whether a clause says what is so now, or was not read well: other words stand before its verb."""
    verb, subject = clause.verb, clause.subject
    before = [t for t in verb.lefts if subject is None or t.i > subject.i]
    own = set(before) | {t for child in before for t in child.subtree}
    if subject in verb.children and subject is not None and subject.i < verb.i:
        between = verb.doc[subject.right_edge.i + 1 : verb.i]
        if any(t not in own and t.i > subject.i for t in between):
            return True
    last = words[-1].i if words else verb.i
    after = verb.doc[last + 1 : last + 2]
    return any(t.lower_ in _LISTS["moment"] for t in (*before, *words, *after)) or any(map(_is_one_day, words))


def _is_one_day(token: Token) -> bool:
    """Return whether a word names a day or a month once: "on Monday", "in June", but not "every Monday"."""
    before = token.nbor(-1).lower_ if token.i else ""
    if token.lower_ in PROSE_WORDS["weekdays"]:
        return before not in ("each", "every", "most", "of")
    return token.lower_ in PROSE_WORDS["months"] and before in ("by", "from", "in", "next", "last", "on", "this", "until")


def _following(clause: Clause) -> list[Token] | None:
    """Return the words behind the verb that belong to the clause; ``None`` where another clause limits it."""
    verb = clause.verb
    end = verb.i
    for child in verb.rights:
        if child.dep_ in _CLAUSE_ARCS or is_run_on(child, verb):
            marks = {t.lower_ for t in child.subtree if t.i <= child.i and t.dep_ in ("mark", "advmod", "cc")}
            marks |= {child.lower_} if child.dep_ == "cc" else set()
            if marks & _CONDITIONS or (child.dep_ == "ccomp" and not is_run_on(child, verb)):
                return None
            break
        if child.is_punct:
            if child.text in _BREAKS and child.i > end + 1 - 1:
                break
            continue
        if child.dep_ in ("dep", "meta", "nsubj", "expl"):
            return None
        end = child.right_edge.i
    words = list(verb.doc[verb.i + 1 : end + 1])
    kept: list[Token] = []
    for token in words:
        if token.text in (",", ";", "-", "–", "—", "(") and (token.text != "-" or token.whitespace_):
            rest = [t for t in words if t.i > token.i]
            is_list = any(t.dep_ == "conj" and t.head in kept for t in rest) and any(t.lower_ in ("and", "or") for t in rest)
            if not is_list:
                break
        if token.dep_ == "cc" and token.i + 1 < len(token.doc) and token.nbor().lower_ == "not":
            break
        if token.dep_ in ("relcl", "advcl", "ccomp", "parataxis"):
            return None
        kept.append(token)
    particle = clause.lemma.partition(" ")[2]
    while kept and (kept[0].lower_ == particle or kept[0].dep_ == "neg" or kept[0].lower_ in ("also", "actually", "really", "quite", "very", "well", "originally", "only", "all")):
        kept = kept[1:]
    while kept and (kept[-1].is_punct or kept[-1].dep_ in ("cc", "punct") or kept[-1].lower_ in WORDS["trailing"]):
        kept.pop()
    return None if len(kept) > _LONGEST else kept


def _is_lasting_complement(clause: Clause, words: list[Token]) -> bool:
    """Return whether what stands behind "be" says something lasting."""
    if not words:
        return False
    complement = next((c for c in clause.verb.rights if c in words and c.dep_ in ("attr", "acomp", "prep", "npadvmod", "advmod", "oprd")), None)
    if complement is None:
        return False
    is_person = clause.subject is not None and clause.subject.lower_ in ("i", "we")
    if clause.is_perfect:
        if complement.dep_ == "acomp":
            return complement.lower_ in _LISTS["alone"] and is_person and not clause.negation
        return complement.lower_ == "to" and any(t.tag_ == "NNP" for t in words) and not clause.negation
    text = "".join(t.text_with_ws for t in words).strip().lower()
    shown = text.replace(" ", "-")
    if re.search(r"(?:^|-)(?:" + "|".join(_LISTS["made"]) + r")$", shown) and len(words) <= 3:
        return True
    if re.match(r"(?:about |around |roughly |nearly |just over |just under )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b", text):
        measured = any(t.lemma_.lower() in _NUMBER_WORDS for t in words)
        return measured and not any(t.lower_ in ("late", "away", "behind", "early", "old", "minutes", "from") for t in words)
    if re.match(r"(?:(?:half|part)\s?-?way|(?:a|one) (?:third|quarter) of the way|two thirds of the way) through \w", text):
        return any(t.tag_ in ("NNP", "NNPS") for t in words) or "book" in text
    if complement.dep_ == "acomp" and complement.tag_ in ("JJ", "VBN"):
        low = complement.lower_
        is_colour = low in _LISTS["colours"]
        if low not in _LISTS["lasting"] and not is_colour and f"{complement.nbor(-1).lower_}-{low}" not in _LISTS["lasting"]:
            return False
        prep = next((c for c in complement.rights if c.dep_ == "prep" and c in words), None)
        if prep is None and clause.subject is not None and clause.subject.lemma_.lower() in ("hair", "eye", "beard"):
            return low in _LISTS["colours"]
        if prep is None:
            return low in _LISTS["alone"] and is_person
        inner = next((c for c in prep.children if c.dep_ in ("pobj", "pcomp")), None)
        return inner is not None and not is_pronoun(inner) and inner.lemma_.lower() not in WORDS["vague"] | _LISTS["abstract"]
    if complement.dep_ == "attr" and complement.tag_ == "NNP" and not is_person:
        return words[0].lower_ in ("a", "an") and not clause.negation  # "my car is a 2012 Fiesta"
    if complement.dep_ == "attr" and complement.tag_ == "NN" and words[0].lower_ == "the":
        is_only = any(c.lower_ == "only" or c.tag_ == "JJS" for c in complement.lefts)
        place = next((c for p in complement.rights if p.dep_ == "prep" for c in p.children if c.dep_ == "pobj"), None)
        return is_only and place is not None and (place.tag_ == "NNP" or any(c.dep_ == "poss" for c in place.lefts))
    if complement.dep_ == "prep":
        inner = next((c for c in complement.children if c.dep_ == "pobj"), None)
        named = any(t.tag_ in ("NNP", "NNPS") or t.like_num for t in words)
        is_hobby = complement.lower_ == "into" and inner is not None and not list(inner.lefts)
        if is_hobby and inner is not None and inner.lemma_.lower() not in _LISTS["abstract"] | WORDS["vague"]:
            return not is_pronoun(inner)
        return inner is not None and named and complement.lower_ in ("on", "in", "with", "at", "from", "into", "under", "behind", "by", "through", "for") and not clause.negation
    return False


def _is_plain_deed(clause: Clause, lemma: str, words: list[Token]) -> bool:
    """Return whether a verb and what follows it tell a deed, a habit or a state of the world."""
    verb = clause.verb
    if any(c.lower_ in ("just", "still", "even", "hardly") for c in verb.lefts):
        return False
    thing = next((c for c in verb.rights if c.dep_ == "dobj" and c in words), None)
    inner = next((c for p in verb.rights if p.dep_ == "prep" for c in p.children if c.dep_ == "pobj" and c in words), None)
    said = thing if thing is not None else inner
    if lemma in _LISTS["inner"]:
        is_never = clause.negation == "never" and clause.is_past and thing is not None and lemma != "have"
        is_preference = any(c.lower_ == "rather" for c in verb.lefts)
        if lemma not in _LISTS["concrete"] or clause.is_progressive:
            return False
        if (clause.negation and not is_never) or (clause.modal and not is_preference):
            return False
    if lemma in WORDS["attitudes"]:
        return False
    if lemma == "have" and clause.subject is not None and clause.subject.lower_ == "we":
        return False  # "we have regular meetings": whose they are the talk says
    if any(c.dep_ == "prep" and c.lower_ == "for" for c in verb.rights) and lemma == "live":
        return False  # "I live for Fridays"
    if said is not None and (
        (
            said.lemma_.lower() in _LISTS["abstract"] | WORDS["vague"] | _LISTS["body"]
            and not any(c.dep_ == "nummod" for c in said.lefts)
        )
        or said.tag_ in ("DT", "RB")
    ):
        return False
    if any(c.dep_ == "xcomp" for c in verb.rights):
        return False
    if clause.is_passive and not clause.is_past and not any(t.tag_ == "NNP" or t.like_num for t in words):
        return not is_pronoun(clause.subject) and any(c.dep_ == "agent" for c in verb.rights)
    if clause.is_progressive and thing is None:
        is_work = lemma == "work" and any(c.dep_ == "prep" and c.lower_ == "on" for c in verb.rights)
        return is_work and said is not None and any(c.lower_ in ("a", "an") for c in said.lefts)
    if clause.is_perfect and thing is None and inner is None:
        return False
    if said is None:
        return lemma == "live" or (not clause.is_progressive and bool(words) and lemma not in _LISTS["inner"])
    if clause.modal and thing is None:
        return False
    if said.tag_ in ("NN", "NNS") and any(c.lower_ in ("the", "this", "that") for c in said.lefts):
        return lemma == "work" or bool(list(said.rights)) or any(c.dep_ in ("amod", "compound") for c in said.lefts)
    return not (is_pronoun(said) and said.lower_ not in ("me", "us"))


def _relation(clause: Clause) -> str | None:
    """Return the verb of a clause with its auxiliaries, adverbs and negation, in the third person."""
    verb = clause.verb
    is_first = clause.subject is not None and (clause.subject.lower_ in ("i", "we") or clause.subject.tag_ in ("NN", "NNP"))
    parts: list[str] = []
    for child in verb.lefts:
        if clause.subject is not None and child.i < clause.subject.i:
            continue
        low = child.lower_.replace("’", "'")
        if child.dep_ in ("aux", "auxpass"):
            low = {"'m": "is", "am": "is", "'re": "is", "are": "is", "'ve": "has", "have": "has", "do": "does", "ca": "can",
                   "'s": "has" if clause.is_perfect else "is"}.get(low, low)
            parts.append(low)
        elif child.dep_ == "neg":
            parts.append("never" if low == "never" else "not")
        elif child.dep_ == "advmod" and low not in WORDS["trailing"]:
            if any(True for _ in child.children):
                return None
            parts.append(low)
    has_aux = any(c.dep_ in ("aux", "auxpass") for c in verb.lefts)
    if not has_aux and verb.tag_ in ("VBG", "VBN") and verb.lemma_.lower() != "be":
        return None
    if has_aux:
        parts.append(verb.lower_)
    elif verb.lemma_.lower() == "be":
        parts.append("is")
    else:
        parts.append(verb.lower_ if clause.is_past or verb.tag_ == "VBZ" or not is_first else third_person(verb.lemma_.lower()))
    if any(c.dep_ == "neg" and c.i > verb.i for c in verb.rights):
        parts.append("not")
    particle = clause.lemma.partition(" ")[2]
    relation = " ".join([*parts, particle] if particle else parts)
    return relation.replace("can not", "cannot")

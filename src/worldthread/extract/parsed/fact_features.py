"""Describes a fact and the clause that it was taken from as features, by which its probability is estimated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.facts import LocatedFact, is_time
from worldthread.extract.parsed.phrases import is_break
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import is_program
from worldthread.extract.times import TimeExpression
from worldthread.names import normalise_name

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_WORD: Final = re.compile(r"[\w'’$€£%+#./:-]+")
_NOUNS: Final = frozenset(["NN", "NNS", "NNP", "NNPS"])
_COMPARING: Final = frozenset(["JJR", "RBR"])
_DEFINITE: Final = frozenset(["the", "this", "that", "these", "those"])
_CONTENT: Final = frozenset(["NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV"])
_CLAUSES: Final = frozenset(["advcl", "ccomp", "relcl", "parataxis", "acl"])
_SETS: Final = (
    "abstract", "attitudes", "attributes", "anybody", "groups", "intentions", "judging", "light", "own_matters", "pets",
    "pointing", "relations", "requests", "sizes", "states", "takes_known", "vague",
)  # fmt: skip


class Reading(NamedTuple):
    """What features are taken from.

    Args:
        doc: the dependency tree of the sentence.
        stated: the fact and its clause.
        referents: whom the pronouns of the sentence mean.
        times: the times that the sentence names.
        known: lemmas of the nouns of the sentences before, in lower case.
        is_by_date: whether only the time that its clause names made a fact of it.
        is_alone: whether the text says nothing but this sentence.
    """

    doc: Doc
    stated: LocatedFact
    referents: Referents
    times: tuple[TimeExpression, ...]
    known: frozenset[str]
    is_by_date: bool
    is_alone: bool = False


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without the ending of an owner."""
    return [re.sub(r"['’]s?$", "", word.lower().strip(".,:;!?\"'")) for word in text.split()]


def covered(stated: LocatedFact) -> set[int]:
    """Return the indices of the tokens of the sentence that the object of a fact consists of.

    Args:
        stated: the fact and its clause.

    Returns:
        The indices; those of an object that stands before the verb too.
    """
    doc, verb = stated.clause.verb.doc, stated.clause.verb
    remaining = Counter(part for word in words_of(stated.fact.object) for part in _WORD.findall(word))
    pieces = Counter(piece for word in remaining for piece in re.split(r"[-./:+#%$€£]", word) if piece)
    found: set[int] = set()
    for start in (verb.i + 1, 0):
        for token in doc[start:]:
            low = token.lower_.strip(".'’")
            if remaining[low] > 0:
                remaining[low] -= 1
                found.add(token.i)
            elif pieces[low] > 0 and token.is_alpha is False:
                pieces[low] -= 1
                found.add(token.i)
        if found:
            break
    if not found:
        return found
    runs = _runs(sorted(found))
    main = max(runs, key=len)
    return {i for run in runs for i in run if abs(run[0] - main[-1]) < 12 or abs(main[0] - run[-1]) < 12}


def _runs(indices: list[int]) -> list[list[int]]:
    """Return indices in groups of which the members are at most three apart."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index - runs[-1][-1] <= 3:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def features_of(reading: Reading) -> dict[str, float]:
    """Return the features of a fact by name.

    Args:
        reading: the fact and its sentence.

    Returns:
        The features that are not 0.
    """
    found: dict[str, float] = {}
    for name in (
        *_of_clause(reading),
        *_of_subject(reading),
        *_of_object(reading),
        *_of_rest(reading),
        *_of_time(reading),
    ):
        found[name] = min(found.get(name, 0.0) + 1.0, 2.0)
    return with_combinations(found)


def with_combinations(found: dict[str, float]) -> dict[str, float]:
    """Return features with those that several of them make together.

    Args:
        found: features by name.

    Returns:
        The same and, for instance, whether the fact leaves out nothing and names everything in it.
    """
    is_cut = any(name.startswith(("left out", "cut ", "undated", "object not")) for name in found)
    is_whole = not is_cut and "nothing cut" in found and "0 words to the next mark" in found
    is_bare = "subject with the" in found or any(name.startswith("the bare") for name in found)
    is_general = any(
        name.startswith(("object in vague", "object in own", "object only judged", "object compared")) for name in found
    )
    is_alone = "clauses 1" in found
    is_known = any(name in found for name in ("subject i", "subject with poss", "subject NNP"))
    is_given = any(name in found for name in ("object with a", "object with poss", "object with nummod"))
    is_anchored = is_whole and not is_bare and not is_general
    combined = {
        "whole": is_whole,
        "whole and anchored": is_anchored,
        "whole, anchored and alone": is_anchored and is_alone and is_known,
        "bare": is_bare,
        "whole with a name": is_whole and not is_bare and "object with a name" in found,
        "whole of the speaker": is_anchored and "subject i" in found and is_given,
        "bare and alone": is_bare and is_alone,
    }
    return found | {name: 1.0 for name, holds in combined.items() if holds}


def _of_clause(reading: Reading) -> Iterator[str]:
    clause, doc = reading.stated.clause, reading.doc
    verb = clause.verb
    for name in ("is_past", "is_perfect", "is_progressive", "is_passive"):
        if getattr(clause, name):
            yield name
    if not (clause.is_past or clause.is_perfect or clause.is_progressive):
        yield "is_present"
    if clause.modal:
        yield "modal"
    if clause.negation:
        yield "negation"
    yield f"clause {verb.dep_}"
    for name in _SETS:
        if verb.lemma_.lower() in WORDS[name]:
            yield f"verb in {name}"
    if verb.head != verb and verb.dep_ == "conj":
        yield "joined with subject" if any(c.dep_ == "nsubj" for c in verb.lefts) else "joined without subject"
    if reading.is_by_date:
        yield "by date"
    if is_program(reading.referents.speaker):
        yield "said by program"
    length = len(doc)
    yield f"sentence {'short' if length < 9 else 'middle' if length < 20 else 'long' if length < 40 else 'endless'}"
    finite = sum(t.tag_ in ("VBD", "VBP", "VBZ", "MD") for t in doc)
    yield f"clauses {min(finite, 4)}"
    text = doc.text.rstrip()
    yield f"ends {text[-1:] if text[-1:] in '.!:' else 'otherwise'}"
    if any(t.text in '"“”' for t in doc):
        yield "quotes"
    if any(t.text in "(){}[]`*=|" for t in doc):
        yield "marks"
    for child in verb.lefts:
        if child.dep_ in ("advmod", "neg", "mark", "cc", "intj"):
            yield f"before verb {child.lower_}"
        if child.dep_ in ("prep", "advcl", "npadvmod", "ccomp", "dobj", "xcomp"):
            yield f"before verb {child.dep_}"
    first = doc[verb.left_edge.i]
    if first.i and doc[first.i - 1].text not in ",.;:!?-–—" and doc[first.i - 1].dep_ not in ("cc", "punct"):
        yield "clause after a word"


def _of_subject(reading: Reading) -> Iterator[str]:
    token, fact = reading.stated.clause.subject, reading.stated.fact
    if token is None:
        yield "subject left out"
        return
    kind = token.lower_ if token.tag_ == "PRP" else token.tag_
    yield f"subject {kind}"
    if token.tag_ in _NOUNS:
        determiner = next(
            (c.lower_ if c.tag_ == "DT" else "poss" for c in token.lefts if c.dep_ in ("det", "poss")), ""
        )
        yield f"subject with {determiner or 'nothing'}"
        if any(c.dep_ in ("conj", "cc") for c in token.children):
            yield "subject joined"
        if any(c.dep_ in ("prep", "relcl", "acl", "appos") for c in token.rights):
            yield "subject with a phrase"
        for name in ("relations", "pets", "vague", "abstract", "attributes"):
            if token.lemma_.lower() in WORDS[name]:
                yield f"subject in {name}"
        if determiner in _DEFINITE and token.lemma_.lower() in reading.known:
            yield "subject known"
    if reading.stated.clause.verb.i - token.i > 6:
        yield "subject far away"
    if normalise_name(fact.subject) != normalise_name(reading.referents.speaker):
        yield "of another"


def _head(doc: Doc, indices: set[int]) -> Token | None:
    """Return the main word of an object: the first word whose head is not part of it."""
    tops = [doc[i] for i in sorted(indices) if doc[i].head.i not in indices or doc[i].head == doc[i]]
    nouns = [t for t in tops if t.tag_ in _NOUNS or t.pos_ in ("VERB", "ADJ", "NUM")]
    return next(iter(nouns or tops), None)


def _of_object(reading: Reading) -> Iterator[str]:
    doc, fact = reading.doc, reading.stated.fact
    indices = covered(reading.stated)
    head = _head(doc, indices)
    words = fact.object.split()
    yield f"object of {min(len(words), 8)} words"
    if head is None:
        yield "object not found"
        return
    yield f"object {head.tag_}"
    yield f"object is {head.dep_}"
    for name in _SETS:
        if head.lemma_.lower() in WORDS[name]:
            yield f"object in {name}"
    tokens = [doc[i] for i in sorted(indices)]
    determiner = next((c for c in head.lefts if c.dep_ in ("det", "poss", "nummod")), None)
    kind = "nothing" if determiner is None else determiner.lower_ if determiner.dep_ == "det" else determiner.dep_
    yield f"object with {kind}"
    modifiers = [c for c in head.lefts if c.dep_ in ("amod", "compound", "nmod", "nummod") and c.i in indices]
    yield f"object with {min(len(modifiers), 2)} modifiers"
    if modifiers and all(c.lower_ in WORDS["judging"] for c in modifiers):
        yield "object only judged"
    if any(c.tag_ in _COMPARING or c.lower_ in ("more", "less", "as", "too", "so", "enough") for c in tokens):
        yield "object compared"
    if any(c.pos_ == "PROPN" for c in tokens):
        yield "object with a name"
    if any(c.like_num for c in tokens):
        yield "object with a number"
    if any(c.dep_ == "relcl" for c in tokens):
        yield "object with a clause"
    preps = [c for c in tokens if c.dep_ == "prep"]
    yield f"object with {min(len(preps), 3)} prepositions"
    for prep in preps:
        yield f"object has {prep.lower_}"
    for token in tokens:
        if token.tag_ not in _NOUNS:
            continue
        article = next((c.lower_ for c in token.lefts if c.dep_ == "det"), "")
        if article in _DEFINITE:
            is_told = any(
                c.i in indices and c.dep_ in ("prep", "acl", "relcl", "compound", "amod", "nummod", "poss")
                for c in token.children
            )
            is_named = token.pos_ == "PROPN" or any(c.pos_ == "PROPN" for c in token.subtree if c.i in indices)
            state = "named" if is_named else "told" if is_told else "bare"
            was = " known" if token.lemma_.lower() in reading.known else ""
            yield f"the {state}{was}{' head' if token == head else ''}"
        elif article == "" and token.tag_ == "NN" and not list(token.lefts) and token.pos_ != "PROPN":
            yield f"bare noun{' head' if token == head else ''}"
    if any(c.tag_ in ("PRP", "PRP$") for i in range(min(indices), max(indices) + 1) for c in (doc[i],)):
        yield "object with a pronoun"
    if any(word.endswith(("'s", "’s")) for word in words[:-1]):
        yield "object owned"
    before = doc[head.i - 1] if head.i else None
    if before is not None and before.lower_ in ("some", "any", "another", "other", "few"):
        yield f"object after {before.lower_}"
    if min(indices) - reading.stated.clause.verb.i > 4:
        yield "object far away"


def _of_rest(reading: Reading) -> Iterator[str]:
    """Yield what the clause says that the fact does not."""
    doc, clause = reading.doc, reading.stated.clause
    verb = clause.verb
    indices = covered(reading.stated)
    if not indices:
        return
    said = set(words_of(f"{reading.stated.fact.relation} {reading.stated.fact.object}"))
    relation = set(words_of(reading.stated.fact.relation))
    for child in verb.rights:
        if child.i in indices or child.is_punct or child.lower_ in relation:
            continue
        if any(t.i in indices for t in child.subtree) and child.dep_ not in ("conj", "ccomp"):
            continue
        when = " when" if is_time(child) else ""
        yield f"left out {child.dep_}{when}"
        if child.dep_ in ("prep", "advmod", "prt", "mark"):
            yield f"left out {child.lower_ if not when else child.dep_ + when}"
    out = 0
    for index in sorted(indices):
        token = doc[index]
        for child in token.rights:
            if child.i in indices or child.is_punct or child.lower_ in said:
                continue
            when = " when" if is_time(child) else ""
            yield f"cut {child.dep_}{when}"
            out += 1
        for child in token.lefts:
            is_said = child.i in indices or child.is_punct or child.dep_ in ("det", "poss", "cc", "case")
            if not is_said and child.i > verb.i and child.lower_ not in said:
                yield f"cut before {child.dep_}"
                out += 1
    if not out:
        yield "nothing cut"
    last = max(indices)
    following = doc[last + 1] if last + 1 < len(doc) else None
    if following is None:
        yield "then the end"
    elif following.is_punct or is_break(following):
        yield f"then {following.text}"
        after = doc[last + 2] if last + 2 < len(doc) else None
        if after is not None:
            yield f"then a mark and {after.dep_ if after.dep_ in _CLAUSES else after.pos_}"
    else:
        yield f"then {following.pos_} {following.dep_}"
        yield (
            f"then {following.lower_}" if following.pos_ in ("ADP", "SCONJ", "CCONJ", "ADV", "PART") else "then a word"
        )
    stop = next((t.i for t in doc[last + 1 :] if t.is_punct or (t.dep_ == "cc" and t.head.i <= last)), len(doc))
    rest = [t for t in doc[last + 1 : stop] if t.pos_ in _CONTENT]
    yield f"{min(len(rest), 4)} words to the next mark"
    inner = [t for t in doc[verb.i + 1 : last] if t.i not in indices and t.pos_ in _CONTENT and t.lower_ not in said]
    if inner:
        yield f"{min(len(inner), 3)} words left out inside"


def _of_time(reading: Reading) -> Iterator[str]:
    fact, doc, verb = reading.stated.fact, reading.doc, reading.stated.clause.verb
    has_time = fact.valid_from is not None or fact.valid_to is not None
    if has_time:
        yield "dated"
        if fact.valid_from is not None and fact.valid_to is not None:
            yield "dated from and to"
    shown = f"{fact.relation} {fact.object}".lower()
    said = [time for time in reading.times if doc.text[time.start : time.end].lower() in shown]
    others = [time for time in reading.times if time not in said]
    if said:
        yield "time in the object"
    yield f"{min(len(others), 2)} times besides"
    if others and not has_time:
        yield "undated beside a time"
        for time in others:
            span = doc.char_span(time.start, time.end, alignment_mode="expand")
            if span is None:
                continue
            if verb in (span.root, *span.root.ancestors):
                yield "undated with a time below the verb"
                yield f"undated with {time.role}"
            elif span.root.i < verb.i:
                yield "undated after a time"
            else:
                yield "undated before a time"
    if len(others) > 1 and has_time:
        yield "dated by one of several"

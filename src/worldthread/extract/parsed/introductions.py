"""Reads how people introduce themselves and their families: "Call me Bex", "we have two kids, Ann (7) and Bo (4)"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS, Clause
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_NAME: Final = r"[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*"
_FULL_NAME: Final = rf"{_NAME}(?: (?:(?:van|von|de|da|del|di|al|el|bin) )?{_NAME}){{0,3}}"
_MEMBER: Final = rf"{_NAME}(?: \(\d{{1,2}}\))?"
_MEMBERS: Final = re.compile(
    rf"(?:,|:| -| –| —| named| called)? ({_MEMBER}(?:, {_MEMBER})*,? (?:and|&) {_MEMBER})(?! [a-z])"
    r"\W*(?=$|[,.;!]| and | but )"
)
_ONE_MEMBER: Final = re.compile(rf"({_NAME})(?: \((\d{{1,2}})\))?")
_CALL_ME: Final = re.compile(
    rf"(?i:(?:(?:but|so|and|just|please|you can)[ ,]+)*call me) ({_FULL_NAME})(?=$|\s*[,.!;(]| and | or )"
)
_REACH_ME: Final = re.compile(
    r"(?:you can |please |just |best to )?"
    r"(?:e-?mail|mail|reach|call|text|phone|ring|contact|message|write to|write) me "
    r"(?:at|on|under|via|by)(?: my)?(?: e-?mail| phone| mobile| number| cell)?:? "
    r"(?:(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)|(?P<phone>\+?[\d(][\d ()/-]{4,18}\d))"
    r"(?=\W*$|[,;] | (?:or|and|any|if) )",
    re.IGNORECASE,
)
_FAVOURITE: Final = re.compile(
    r"(?:my )?(favou?rite \w+(?: \w+)?)\s*(?::| [-–=]) ?((?![?])[\w'’-]+(?: [\w'’&-]+){0,5})[.!]*", re.IGNORECASE
)
_I_AM: Final = re.compile(
    rf"(?i:i am|i'm) ({_FULL_NAME})"
    r"(?=\s*$|\s*[.!;(]|, (?:\d|and |[a-z]|I |I')| and (?i:i|i'm|i've|my|we|a|an) | from | here)"
)
_NAMED_RELATIVE: Final = re.compile(rf"\b[Mm]y ([a-z]+(?:-in-law)?),? ({_NAME})(?!['’]s|[\w]| [A-Z])")
_AGE_AFTER: Final = re.compile(r", (\d{2})(?=[,.!;]|$| and )")
_NO_NAMES: Final = PROSE_WORDS["honorifics"] | {"i"}
_NUMBERS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "both": 2}
_PARTICLES: Final = frozenset(["al", "bin", "da", "de", "del", "di", "el", "van", "von"])
_SINGULAR: Final = {"children": "child", "wives": "wife", "mice": "mouse"}


def introduced(doc: Doc, clauses: list[Clause], referents: Referents) -> Iterator[tuple[Fact, Clause]]:
    """Yield what the form of a sentence alone makes certain, with the clause that states it.

    Args:
        doc: the dependency tree of the sentence.
        clauses: its clauses.
        referents: whom its pronouns mean.

    Yields:
        The name of the speaker; the members of a family or the animals of which the names are listed, and their ages.
    """
    for role, name, clause in _named_relatives(doc, clauses):
        yield Fact(referents.speaker, f"has {role}", name), clause
    for clause in clauses:
        if clause.negation or clause.modal or clause.is_past:
            continue
        if clause.lemma == "be" and clause.subject is not None and clause.subject.lower_ == "i":
            own_name = _own_name(doc, clause)
            if own_name is not None and normalise_name(own_name) != normalise_name(referents.speaker):
                yield Fact(referents.speaker, "is called", own_name), clause
                end = doc.text.index(own_name, clause.verb.idx) + len(own_name)
                if (age := _AGE_AFTER.match(doc.text, end)) is not None:
                    yield Fact(referents.speaker, "has age", age[1]), clause
        if clause.lemma == "have" and clause.subject is not None and clause.subject.lower_ in ("i", "we"):
            for fact in _members(doc, clause, referents):
                yield fact, clause


def _named_relatives(doc: Doc, clauses: list[Clause]) -> Iterator[tuple[str, str, Clause]]:
    """Yield the relatives of the speaker who are named beside: "I live with my boyfriend Tim"."""
    for match in _NAMED_RELATIVE.finditer(doc.text) if clauses else ():
        role, name = match[1].lower(), match[2]
        token = next((t for t in doc if t.idx == match.start(2)), None)
        if (
            token is None
            or role not in WORDS["relations"] | WORDS["pets"]
            or name.lower() in WORDS["times"] | _NO_NAMES
        ):
            continue
        is_other = token.tag_ in ("MD", "VBZ", "VBD", "IN", "JJ", "RB", "PRP") or role in ("boss", "friend", "doctor")
        if not is_other and not any(t.lower_ in ("late", "ex", "former", "old") for t in doc[: token.i]):
            yield role, name, clauses[0]


def without_clause(text: str) -> tuple[str, str] | None:
    """Return what a sentence without a statement says of the speaker, as a relation and its object.

    Args:
        text: a sentence, such as "Call me Bex, everyone does", "You can email me at jo@example.org" or "Favourite food:
            lasagna".

    Returns:
        For instance ``("is called", "Bex")``; ``None`` for another sentence, such as "call me crazy".
    """
    if (match := _CALL_ME.match(text)) is not None and match[1][:1].isupper():
        return "is called", match[1]
    if (match := _REACH_ME.match(text)) is not None:
        return ("has email", match["email"]) if match["email"] else ("has phone number", match["phone"])
    if (match := _FAVOURITE.fullmatch(text)) is not None:
        return f"has {match[1].lower()}", match[2]
    return None


def _own_name(doc: Doc, clause: Clause) -> str | None:
    """Return the name after "I'm" if it is one of a person, not of a people, a creed or a sign."""
    attribute = next((c for c in clause.verb.rights if c.dep_ in ("attr", "acomp", "oprd")), None)
    subject = clause.subject
    if attribute is None or subject is None or attribute.pos_ != "PROPN":
        return None
    if any(c.dep_ in ("det", "amod", "nummod", "poss", "prep") for c in attribute.children):
        return None
    match = _I_AM.match(doc.text[subject.idx :])
    name = None if match is None else match[1]
    is_name = name is not None and all(part[0].isupper() or part in _PARTICLES for part in name.split())
    if name is None or not is_name or (name.isupper() and len(name) > 3):
        return None
    last = name.split()[-1].lower()
    return None if last in WORDS["no_own_names"] or re.search(r"(?:ian|ean|ish|ese|ist|ic)$", last) else name


def _members(doc: Doc, clause: Clause, referents: Referents) -> Iterator[Fact]:
    """Yield those whom a list after a plural names: "two kids, Ann (7) and Bo (4)"."""
    kind = next((c for c in clause.verb.rights if c.dep_ == "dobj"), None)
    if kind is None or kind.tag_ != "NNS":
        return
    noun = _SINGULAR.get(kind.lower_, kind.lemma_.lower())
    if noun not in WORDS["relations"] | WORDS["pets"]:
        return
    match = _MEMBERS.match(doc.text, kind.idx + len(kind))
    if match is None:
        return
    members = _ONE_MEMBER.findall(match[1])
    number = next((_number(c) for c in kind.lefts if c.dep_ == "nummod"), None)
    if number is not None and number != len(members):
        return
    role = " ".join([*(c.lower_ for c in kind.lefts if c.dep_ == "amod"), noun])
    for name, age in members:
        yield Fact(referents.speaker, f"has {role}", name)
        if age:
            yield Fact(name, "has age", age)


def _number(token: Token) -> int | None:
    return int(token.text) if token.text.isdecimal() else _NUMBERS.get(token.lower_)

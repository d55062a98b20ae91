"""Reads what a person is called beside a name: "White House spokesman Ari Fleischer", in reports and questions too.

That somebody is a spokesman is told as true even where what the spokesman says is a report. So these are read in
sentences of which nothing else is stated, outside quotation marks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.discourse import LISTS, NATIONS, Discourse, is_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_ROLES: Final = LISTS["roles"]
_OF_STATES: Final = LISTS["of_states"]
_GENERIC: Final = LISTS["institutions"] | LISTS["titles"] | LISTS["roles"]
_PARTICLES: Final = frozenset(
    ["al", "bin", "da", "de", "del", "den", "der", "di", "dos", "du", "ibn", "la", "van", "von"]
)
_IN_ROLE: Final = frozenset(["CD", "FW", "HYPH", "JJ", "NN", "NNP", "NNPS", "POS", "VBG"])
_NO_ROLE: Final = frozenset(["next", "new", "other", "then", "then-", "would-be", "same", "another", "first", "one"])
_PERSON_WORD: Final = re.compile(r"[^\W\d_][\w'’.-]*")
_LONGEST_ROLE: Final = 7  # words
_LONGEST_NAME: Final = 4
_QUOTES: Final = frozenset(['"', "``", "''", "“", "”", "«", "»"])
_OLDEST: Final = 110
_NAME_WORD: Final = r"(?:[A-Z][\w'-]*|of|for|and|the|on|in|to|de|des|la)"
_ACRONYM: Final = re.compile(rf"\b({_NAME_WORD}(?: {_NAME_WORD}){{1,8}}) \(([A-Z]{{3,7}})\)")


def named_roles(doc: Doc, discourse: Discourse) -> list[Fact]:
    """Return what a sentence calls the persons that it names, and the short forms of names.

    Args:
        doc: the dependency tree of the sentence.
        discourse: who is who in the text.

    Returns:
        Facts, in order.
    """
    found: list[Fact] = [Fact(short, "stands for", name) for name, short in _short_forms(doc.text)]
    quoted = _quoted(doc)
    if quoted is None:
        return found
    found += _ages(doc, quoted, discourse)
    for role in doc:
        if role.lower_ not in _ROLES or role.i in quoted or role.tag_ not in ("NN", "NNP"):
            continue
        begin = _begin_of_role(role)
        words = list(doc[begin : role.i + 1])
        before = doc[begin - 1] if begin else None
        if not words or not _says_of_what(words) or (before is not None and _is_joined(before)):
            continue
        person = _person_from(doc, role.i + 1)
        is_beside = person is not None
        if person is None and role.i + 1 < len(doc) and doc[role.i + 1].text == ",":
            person = _person_from(doc, role.i + 2)
            if person is None or not _closes(doc, person.stop) or before is None or before.lower_ != "the":
                continue
        if person is None or any(i in quoted for i in person):
            continue
        following = doc[person.stop] if person.stop < len(doc) else None
        if following is not None and (following.tag_ == "POS" and not is_beside):
            continue
        name = doc[person.start : person.stop].text
        if discourse.is_thing(name) and not _is_said(doc, person.stop):
            continue
        found.append(Fact(name, "is", _text(words)))
    return found


def _ages(doc: Doc, quoted: frozenset[int], discourse: Discourse) -> list[Fact]:
    """Return the ages beside the names of persons: "Ann Lee, 28, of Hull", "28-year-old Ann Lee"."""
    found = []
    for token in doc:
        if token.i in quoted or not token.text.isdecimal() or not 0 < int(token.text) < _OLDEST:
            continue
        if [t.text for t in doc[token.i + 1 : token.i + 4]] == ["-", "year", "-"] and doc[
            token.i + 4 : token.i + 5
        ].text == "old":
            person = _person_from(doc, token.i + 5)
            if person is not None:
                found.append(Fact(doc[person.start : person.stop].text, "has age", token.text))
        elif token.i > 1 and doc[token.i - 1].text == "," and doc[token.i + 1 : token.i + 2].text in (",", "."):
            last = doc[token.i - 2]
            name = discourse.name_at(last) if is_name(last) else None
            if name is not None and " " in name and discourse.is_person(name) and "Class" not in name.split():
                found.append(Fact(name, "has age", token.text))
    return found


def _quoted(doc: Doc) -> frozenset[int] | None:
    """Return the words between quotation marks; ``None`` where a mark has no other one."""
    inside, is_open = set(), False
    for token in doc:
        if token.text in _QUOTES:
            is_open = not is_open
        elif is_open:
            inside.add(token.i)
    return None if is_open else frozenset(inside)


def _begin_of_role(role: Token) -> int:
    """Return where the words before a role begin that belong to it: "White House", "Peru's"."""
    doc = role.doc
    begin: int = role.i
    while begin and role.i - begin < _LONGEST_ROLE:
        before = doc[begin - 1]
        is_part = before.tag_ in _IN_ROLE and (before.text[:1].isalpha() or before.tag_ in ("POS", "HYPH"))
        if (
            not is_part
            or before.text in _NO_ROLE
            or (before.tag_ == "VBG" and before.lower_ not in ("acting", "managing"))
        ):
            break
        begin -= 1
    while begin < role.i and doc[begin].tag_ in ("POS", "HYPH"):
        begin += 1
    return begin


def _says_of_what(words: list[Token]) -> bool:
    """Return whether the words of a role say of which state, firm or team it is."""
    role, others = words[-1], words[:-1]
    if any(t.text in _NO_ROLE for t in words) or (others and others[-1].tag_ == "HYPH"):
        return False
    of = [t for t in others if is_name(t) or (t.tag_ == "JJ" and t.text[:1].isupper())]
    named = [t for t in of if t.lower_ not in _GENERIC and len(t.text) > 1]
    if role.lower_ in _OF_STATES:
        named = [t for t in named if _is_of_state(t) or any(p.tag_ == "POS" for p in others)]
    return bool(named)


def _is_of_state(token: Token) -> bool:
    return token.lower_.endswith(NATIONS) or (token.text.isupper() and len(token.text) < 4)


def _is_joined(before: Token) -> bool:
    """Return whether a role goes on before its words: "the president and party leader", "deputy to the"."""
    return before.lower_ in ("and", "or", "/", "&", "-", "then", "no", "any", "every", "a", "an", "as")


def _person_from(doc: Doc, first: int) -> range | None:
    """Return where a name of two to four words is that begins at a word; ``None`` where none begins there."""
    last = first
    while last < len(doc) and last - first < _LONGEST_NAME + 1:
        token = doc[last]
        is_particle = token.lower_ in _PARTICLES and last > first
        if not (is_particle or (is_name(token) and token.text[:1].isupper() and _PERSON_WORD.fullmatch(token.text))):
            break
        last += 1
    while last > first and doc[last - 1].lower_ in _PARTICLES:
        last -= 1
    words = doc[first:last]
    if not 2 <= last - first <= _LONGEST_NAME or any(t.lower_ in _GENERIC or t.text.isupper() for t in words[:1]):
        return None
    if any(t.lower_ in LISTS["organisations"] | LISTS["of_names"] for t in words):
        return None
    following = doc[last] if last < len(doc) else None
    if following is not None and (
        following.lower_ in ("and", "&", "or", "-", "of") or is_name(following) or following.tag_ in ("NN", "NNS")
    ):
        is_one = (
            following.lower_ in ("and",) and last + 1 < len(doc) and doc[last + 1].tag_ in ("DT", "VBD", "VBZ", "PRP$")
        )
        if not is_one:
            return None
    return range(first, last)


def _closes(doc: Doc, index: int) -> bool:
    """Return whether a name beside a role ends there, and is no item of a list."""
    if index >= len(doc):
        return True
    if doc[index].text not in (",", ".", ")"):
        return False
    following = doc[index + 1].lower_ if index + 1 < len(doc) else ""
    return following not in ("and", "or", "&") and not (index + 1 < len(doc) and is_name(doc[index + 1]))


def _is_said(doc: Doc, index: int) -> bool:
    """Return whether something is told that only persons do: "says", "told"."""
    return index < len(doc) and doc[index].lemma_.lower() in ("say", "tell", "add", "warn", "argue", "who", ",")


def _text(words: list[Token]) -> str:
    """Return the words of a role, "President of Peru" for "Peru's President"."""
    return " ".join("".join(t.text_with_ws for t in words).split())


def _short_forms(text: str) -> list[tuple[str, str]]:
    """Return names with their short forms: "Organisation for Economic Cooperation and Development (OECD)"."""
    found = []
    for match in _ACRONYM.finditer(text):
        words, short = match[1].split(), match[2]
        for first in range(len(words)):
            rest = words[first:]
            full = "".join(w[0] for w in rest).upper()
            capitals = "".join(w[0] for w in rest if w[0].isupper())
            if rest[0][0].isupper() and len(rest) > 1 and short in (full, capitals):
                found.append((" ".join(rest).removesuffix("'s").removesuffix("’s"), short))
                break
    return found

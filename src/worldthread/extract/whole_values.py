"""Sees to it that what a fact names is whole: it covers whole tokens of the text, whichever reader found it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from worldthread.types import Ending, Fact, Statement, Thesis

_GROUP: Final = r"\(?(?:\+?\d[\dA-Z]*|[A-Z]{1,4}\d[\dA-Z]*)\)?(?:[\dA-Z]+\)?)?"
_LINK: Final = r"(?: ?[/–-] ?| |\.(?=\d)|(?<=\d),(?=\d{3}))?"
_GROUP_END: Final = r"(?![\w:%°€$£]|[.,'’]\d)"
_GROUPS_AFTER: Final = re.compile(rf"(?:{_LINK}(?:[A-Z]{{2,4}} )?{_GROUP}{_GROUP_END})+")
_GROUPS_BEFORE: Final = re.compile(r"(?<!\w)[+#$€£]?(?:\(?[+\d][\d()]*\)?[ /–-]?)+$")
_TOKEN: Final = re.compile(r"\S+")
_OPENING: Final = "\"'“‘«`["
_FINAL: Final = re.compile(r"(?:['’]s)?[.,;:!?…\"'”’»)\]}*_]*$")
_NO_PART: Final = re.compile(r"[\"'”’»)\]}…—,;*_]|[.:](?!\d)|–(?!\w)")
_MARK_INSIDE: Final = re.compile(r"[!?]+(?= [a-z])")
_NAMES_AFTER: Final = re.compile(r"[!?]+(?: [A-Z][\w'’-]*){1,3}[.!?]*$")
_NUMBERED_END: Final = re.compile(r"\d[A-Za-z]?\.$")
_GLUED: Final = re.compile(r"[a-z]I\b")
_NO_CLAUSE: Final = re.compile(r" (?:and|or|but|nor|so) ")
_COMPLEMENT: Final = re.compile(r" (?:at|by|for|from|in|of|on|the|to|with) [^.,;:!?]{1,40}(?=[.!]?$)")
_TITLE_AFTER: Final = re.compile(r" (?:and the|(?:at|for|in|of|on|to|with)(?: the| an?)?) [A-Z][^.,;!?]*(?=[.!?]*$)")
_OWN: Final = re.compile(r"(?:^|.*[,;:] |.*\b(?:and|but) )(?:my|our|his|her|their)\b[^,;:.!?]* is $", re.IGNORECASE)
_UNIT: Final = re.compile(r"-[^\W\d_]+(?:-[^\W\d_]+)*(?![\w-])")
_CODE: Final = re.compile(r"[^\W\d_][^\s!?]*\d[^\s!?]*")
_PLAIN: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*[.!?]*")
_JOINED: Final = re.compile(r"\S+ and (?:an?|my|our|his|her|their|\S+['’]s) [a-z]")
_PLACED: Final = re.compile(r" (?:at|from|in|near|with) (?=\S)")


def value_at(text: str, offset: int) -> int | None:
    """Return where a value ends that is no plain word: a code, a number in groups, a name with marks.

    >>> value_at("My phone number is +49 (0)170 123-4567.", 19)
    38
    >>> value_at("My favourite language is C#.", 25)
    27

    Args:
        text: a sentence.
        offset: where the value begins.

    Returns:
        The offset after the value; ``None`` for a plain word.
    """
    token = _TOKEN.match(text, offset)
    if token is None or _PLAIN.fullmatch(token[0]) is not None:
        return None
    end = token.end() - len(_ending_of(token[0]))
    if end == offset or text[offset] in _OPENING:
        return None
    groups = _GROUPS_AFTER.match(text, end) if any(c.isdigit() for c in text[offset:end]) else None
    return end if groups is None else groups.end()


def whole_statements(
    statements: list[Statement],
    endings: list[Ending],
    text: str,
    persons: frozenset[str] = frozenset(),
    speaker: str = "",
) -> tuple[list[Statement], list[Ending]]:
    """Return what a sentence states and ends, with whole values and without the facts whose values are not certain.

    Args:
        statements: what the sentence states.
        endings: what it ends.
        text: the sentence, without a label.
        persons: roles of persons, whose names hold no place: "Tom in Malmö" is Tom.
        speaker: who says it, whose name stays as it is: it stands for "I", not for a word of the text.

    Returns:
        The statements and endings. A value that the text continues is widened; where it is not clear how far, what was
        read of it is left out, and a thesis that said only that has no aspect.
    """
    names: dict[str, str] = {}
    dropped: set[tuple[str, str]] = set()
    facts: dict[Fact, Fact] = {}
    for one in [*statements, *(ending.statement for ending in endings)]:
        if not isinstance(one, Fact):
            continue
        subject, value = (n if n == speaker else whole_value(n, text) for n in (one.subject, one.object))
        is_person = one.relation.removeprefix("has ").rpartition(" ")[2].lower() in persons
        if value is not None and is_person and one.relation.startswith("has ") and value[:1].isupper():
            value = _PLACED.split(value, maxsplit=1)[0]
        elif value is not None and one.relation.startswith("has "):
            value = _with_title(value, text)
        if subject is None or value is None or _is_of_two(subject, text) or _is_of_two(value, text):
            dropped.add((one.subject, one.relation))
            continue
        names |= {one.subject: subject, one.object: value}
        same = subject == one.subject and value == one.object
        facts[one] = one if same else replace(one, subject=subject, object=value)
    kept: dict[tuple[Statement, str | None], Statement] = {}
    for one in statements:
        if isinstance(one, Fact):
            if (one.subject, one.relation) in dropped:
                continue
            one = facts[one]
        elif isinstance(one, Thesis) and (dropped or any(old != new for old, new in names.items())):
            objects = tuple(dict.fromkeys(names.get(name, name) for name in one.objects))
            one = replace(one, objects=objects, aspect=None if dropped else one.aspect)
        kept.setdefault((one, one.aspect), one)
    ended = []
    for ending in endings:
        fact = ending.statement
        if isinstance(fact, Fact):
            if (fact.subject, fact.relation) in dropped:
                continue
            ending = replace(ending, statement=facts[fact])
        ended.append(ending)
    return list(kept.values()), ended


def whole_value(value: str, text: str) -> str | None:
    """Return a value as the text has it whole.

    >>> whole_value("+1", "My phone number is +1 (555) 123-4567.")
    '+1 (555) 123-4567'
    >>> whole_value("Panic", "I like Panic! at the Disco.") is None
    True

    Args:
        value: the value, as a reader found it.
        text: the sentence in which it was found.

    Returns:
        The value, widened to its whole; as it is when the text does not have it in these words, or has it whole
        somewhere; ``None`` when the text continues it and does not show how far.
    """
    if _NUMBERED_END.search(value) is not None and text.rstrip().endswith(value):
        value = value[:-1]  # the full stop is that of the sentence
    widened: str | None = value
    places = [match.start() for match in re.finditer(re.escape(value), text)]
    for start in places:
        end = start + len(value)
        if start and text[start - 1].isalnum():
            if value[0].isalnum():
                continue
            start -= len(text[:start].split()[-1])  # "&T" of "AT&T"
        widened = widened_at(text, start, end)
        if widened == value:
            return value
    return widened


def widened_at(text: str, start: int, end: int) -> str | None:
    """Return the whole of what stands somewhere in a text: "192.168.1.10:8080" for "192.168".

    Args:
        text: a sentence.
        start: where a value begins.
        end: where what was found of it ends.

    Returns:
        The value; ``None`` where it is not clear how far it goes.
    """
    first = end
    has_digits = any(c.isdigit() for c in text[start:end])
    rest = _TOKEN.match(text, end)
    if rest is not None:
        if rest[0][0].isalnum() and not has_digits:
            return text[start:end]  # "dog" in "dogs": the reader knows the word
        if text[start:end].isdigit() and _UNIT.match(text, end) is not None:
            return text[start:end]  # "31" in "31-year-old"
        ending = _ending_of(rest[0])
        if len(ending) < len(rest[0]) and _NO_PART.match(rest[0]) is None and not (rest[0][0].isalpha()):
            end = rest.end() - len(ending)
    if has_digits or any(c.isdigit() for c in text[first:end]):
        is_bracketed = text[max(start - 1, 0) : start] == "(" and text[end : end + 1] == ")"
        groups = _GROUPS_AFTER.match(text, end + is_bracketed)
        start -= is_bracketed and groups is not None
        end = end if groups is None else groups.end()
        before = _GROUPS_BEFORE.search(text, 0, start)
        start = start if before is None else before.start()
        if (mark := re.compile(r"[!?]+$").match(text, end)) and _CODE.fullmatch(text, start, end):
            if _OWN.match(text[:start]) is None:
                return text[start:end]
            # "Sommer2024!" is as likely a password as "LH123!" is none
            return text[start : mark.end()] if any(c.islower() for c in text[start:end]) else None
    if _NAMES_AFTER.match(text, end) is not None and text[start].isupper():
        return None  # "Yahoo! Japan", "Tom! Wonderful"
    mark = _MARK_INSIDE.match(text, end)
    if mark is None or not text[start].isupper() or not text[:1].isupper():
        return text[start:end]  # who writes without capitals begins a sentence after the mark
    if _NO_CLAUSE.match(text, mark.end()) is not None:
        return text[start : mark.end()]
    more = _COMPLEMENT.match(text, mark.end())
    if more is None or _OWN.match(text[:start]) is None:
        return None
    return text[start : more.end()]


def _with_title(value: str, text: str) -> str:
    """Return the value of "my X is V" with all of V: "Beauty and the Beast"."""
    start = text.find(value)
    if start < 0 or not value[:1].isupper() or _OWN.match(text[:start]) is None:
        return value
    more = _TITLE_AFTER.match(text, start + len(value))
    return value if more is None else value + more[0]


def _ending_of(token: str) -> str:
    """Return the marks with which a token ends that belong to its sentence; brackets that it opens are its own."""
    match = _FINAL.search(token)
    assert match is not None
    ending = match[0]
    for opening, closing in ("()", "[]"):
        if opening in token and ending.startswith(closing):
            ending = ending[1:]
    return ending


def _is_of_two(value: str, text: str) -> bool:
    """Return whether a value is that of two clauses: "Max and a cat named Luna"."""
    if _GLUED.search(value) is not None and value in text:
        return True  # "RomeI work for Acme"
    joined = _JOINED.match(value) if value[:1].isupper() else re.search(r" (?:named|called) \S+ and an? [a-z]", value)
    return joined is not None

"""Finds the fact that an amendment fits: what was said lately, and was wrong from the start.

A fact fits when the message denies its value, or gives another value of the same kind for it. Where two facts fit
equally, none was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from worldthread.extract.parsed.amendments import AMENDMENT_WORDS, Amendment, Cue, Value, adds
from worldthread.extract.parsed.change_tables import KIN, number_of
from worldthread.extract.parsed.corrections import with_named
from worldthread.extract.parsed.mentions import mention_of_text, named_facts, stem
from worldthread.extract.parsed.validity import TURNS
from worldthread.extract.prose.words import WORDS
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_LATELY: Final = 7 * 86400.0
"""Seconds in which something counts as said lately."""
_TURNS: Final = 30.0
"""The same in turns."""

_WORD: Final = re.compile(r"[^\W_]+(?:[:.'’@-][^\W_]+)*")
_ISO: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIME: Final = re.compile(
    r"\b\d{1,2}[:.]\d\d\b(?! ?(?:euros?|pounds?|dollars?))|\b\d{1,2} ?[ap]\.?m\b|o'clock|\bnoon\b|\bmidnight\b|"
    r"\b(?:half|quarter) (?:past|to) \w+",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"^(?:[$€£] ?)?[+]?\d[\d.,: -]*\d?$")
_NAMINGS: Final = frozenset(["has name", "is called", "goes by", "is named"])
_SINGULAR: Final = re.compile(
    r"has (?!.*hobby)\S.*|born|born .*|is from|lives .*|works .*|is called|married to|weighs|costs|is (?:on|at|in)|"
    r"opens .*|closes .*|starts .*|ends.*|leaves .*|arrives .*|was a|is a|is"
)
_LIGHT_WORDS: Final = AMENDMENT_WORDS["light"]
_UNSPECIFIC: Final = AMENDMENT_WORDS["unspecific"]
_INBORN: Final = re.compile(r"has (?:.* )?(?:name|age|birthday)|is called|born.*|was born.*|is from")
_SEXES: Final = (frozenset(["boy", "girl"]), frozenset(["man", "woman"]), frozenset(["male", "female"]))


class _Kind(NamedTuple):
    name: str
    unit: str = ""


def amended_facts(
    amendment: Amendment, speaker: str, stated: Iterable[Fact], view: GraphView, at: float | None
) -> list[Fact]:
    """Return the facts that a message says were never so.

    Args:
        amendment: what the message denies and gives.
        speaker: who says it.
        stated: the facts that the message states.
        view: what the memory holds.
        at: world time of the message; ``None`` where that is not known.

    Returns:
        Facts of the memory, none twice; none where two fit equally well.
    """
    new = list(stated)
    lately = -TURNS * TURNS if at is None else at - (_TURNS if abs(at) < TURNS else _LATELY)
    said = [(time, fact) for time, fact in view.said_by(speaker, lately) if fact not in new]
    recent = [fact for _, fact in said]
    known = [f for f in (*view.facts(subject=speaker), *named_facts(amendment.text, speaker, view)) if f not in new]
    everything = list(dict.fromkeys([*recent, *known]))
    denied = _denied(amendment, speaker, new, everything, recent)
    denied = denied or _of_somebody_else(amendment, recent)
    if denied:
        return with_named(denied, view)
    if amendment.cue is Cue.NONE or not amendment.is_short or adds(amendment.text):
        return []
    found = _restated(amendment, new, everything, recent)
    return with_named(found or _given_anew(amendment, speaker, said), view)


# -- what is denied ---------------------------------------------------------------------------------------------------


def _denied(
    amendment: Amendment, speaker: str, new: Sequence[Fact], facts: Sequence[Fact], recent: Sequence[Fact]
) -> list[Fact]:
    """Return the facts whose value a message denies."""
    found = []
    for fact in facts:
        for value in amendment.denied:
            if not _names_value(value, fact) or not may_be_of(value, fact, speaker):
                continue
            in_place = _has_other_value(amendment, fact, speaker, new)
            if not value.is_plain and not in_place:
                continue
            if (
                amendment.cue >= Cue.BREAK
                or (amendment.cue is Cue.REPORT and (in_place or fact in recent))
                or (in_place and fact in recent)
            ):
                found.append(fact)
    found = list(dict.fromkeys(found))
    if len({plain_subject(fact) for fact in found}) > 1:
        subjects = {plain_subject(fact) for fact in new}
        found = [fact for fact in found if plain_subject(fact) in subjects]
    return found if len({plain_subject(fact) for fact in found}) == 1 else []


def _names_value(value: Value, fact: Fact) -> bool:
    """Return whether a denied value is the value of a fact: "nurse", "from Hungary", "married to Ines", "the 9th"."""
    words = [w.lower() for w in _WORD.findall(value.words)]
    words = [w for w in words if w not in _LIGHT_WORDS] or words
    if not words:
        return False
    have = _words_of_object(fact)
    relation = {_root(w) for w in fact.key[1].split()} | {_root(w) for w in plain_subject(fact).split()}
    hits = [word for word in words if _is_among(word, have)]
    if not hits or not all(word in hits or _root(word) in relation for word in words):
        return False
    if value.verb and _root(value.verb) not in relation and value.verb not in ("have", "be", "been", "own"):
        return False
    head = mention_of_text(fact.object).head
    return (
        any(_is_among(word, {head} | ({w for w in have if w[0].isdecimal()})) for word in hits)
        or any(word[:1].isupper() and word.lower() in hits for word in _WORD.findall(fact.object))
        or kind_of(fact.object).name == "date"
    )


def _words_of_object(fact: Fact) -> frozenset[str]:
    words = {w.lower() for w in _WORD.findall(fact.object)}
    for year, month, day in _ISO.findall(fact.object):
        date = datetime(int(year), int(month), int(day), tzinfo=UTC)
        number = date.day
        ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        words |= {f"{date:%A}".lower(), f"{date:%B}".lower(), str(number), f"{number}{ending}", year}
    return frozenset(words)


def _is_among(word: str, words: Iterable[str]) -> bool:
    number = number_of(word)
    root = _root(word)
    return any(
        word == other
        or root == _root(other)
        or (word.isdecimal() and re.fullmatch(rf"{word}[a-z]+", other) is not None)
        or (number is not None and number == number_of(other))
        for other in words
    )


def _root(word: str) -> str:
    """Return a word without its ending: "own" for "owns", "stud" for "studied"."""
    word = re.sub(r"['’]s?$", "", word.lower())
    return re.sub(r"(?:ies|ied|ying|y|ing|es|ed|e|s)$", "", word) if len(word) > 3 else word


def _has_other_value(amendment: Amendment, fact: Fact, speaker: str, new: Sequence[Fact]) -> bool:
    """Return whether a message gives another value of the same kind for a fact."""
    kind = kind_of(fact.object)
    values = [v for v in amendment.given if v.words.lower() != fact.key[2] and may_be_of(v, fact, speaker)]
    if any(_is_same_kind(kind, kind_of(value.words), strictly=False) for value in values):
        return True
    return any(
        other.key[2] != fact.key[2] and plain_subject(other) == plain_subject(fact) and is_same_relation(other, fact)
        for other in new
    )


_NOT_WHOSE: Final = re.compile(r"\bit(?:'s| is| was) (?:my|our) (?P<whose>[\w-]+) (?:who|that|not)\b", re.IGNORECASE)


def _of_somebody_else(amendment: Amendment, recent: Sequence[Fact]) -> list[Fact]:
    """Return the fact that a message says of another one: "Mr Patel is the agent", "it's my son who can't have it"."""
    if amendment.cue is not Cue.ERROR:
        return []
    abouts = {normalise_name(value.about) for value in amendment.given if len(value.about) > 2}
    found = [fact for fact in recent if fact.key[2] in abouts and fact.key[1] in _NAMINGS | {"is"}]
    whose = _NOT_WHOSE.search(amendment.text.replace("’", "'"))
    if not found and whose is not None:
        said = {_root(word) for word in _WORD.findall(amendment.text.lower())}
        others = [fact for fact in recent if "'s " in fact.key[0] and plain_subject(fact) != whose["whose"].lower()]
        found = [fact for fact in others if said & {_root(word) for word in _WORD.findall(fact.key[2])}]
    return found if len({fact.key[0] for fact in found}) == 1 else []


# -- what is stated in place of something -----------------------------------------------------------------------------


def _restated(amendment: Amendment, new: Sequence[Fact], facts: Sequence[Fact], recent: Sequence[Fact]) -> list[Fact]:
    """Return the facts in place of which a message states others."""
    found: list[Fact] = []
    for fact in new:
        old = [
            other
            for other in facts
            if _subjects_agree(other, fact)
            and is_same_relation(other, fact)
            and other.key[2] != fact.key[2]
            and not _is_part(other, fact)
            and _is_same_kind(kind_of(other.object), kind_of(fact.object), strictly=True)
        ]
        if amendment.cue is Cue.REPORT:
            old = [other for other in old if _exclude(other, fact)]
        elif amendment.cue is Cue.BREAK:
            old = [o for o in old if o in recent and (_SINGULAR.fullmatch(o.key[1]) or not _is_counted(o))]
        if amendment.object and not _speaks_of(amendment.object, [*old, fact]):
            continue
        if len(old) > 1:
            old = [other for other in old if other in recent]
        if len(old) == 1:
            found += old
    return list(dict.fromkeys(found))


def _speaks_of(words: str, facts: Iterable[Fact]) -> bool:
    """Return whether what was got wrong is a fact, or nothing in particular: "that", "the date", "the contract"."""
    said = {_root(w) for w in _WORD.findall(words.lower())} - {_root(w) for w in _LIGHT_WORDS | _UNSPECIFIC}
    have = {_root(w) for f in facts for w in (*_WORD.findall(f"{f.key[0]} {f.key[1]}"), *_words_of_object(f))}
    return not said or bool(said & have)


def _subjects_agree(old: Fact, new: Fact) -> bool:
    if old.key[0] == new.key[0]:
        return True
    return plain_subject(old) == plain_subject(new) and not ("'s " in old.key[0] and "'s " in new.key[0])


def is_same_relation(one: Fact, other: Fact) -> bool:
    """Return whether two facts say the same kind of thing of their subjects."""
    if one.key[1] == other.key[1] or (one.key[1] in _NAMINGS and other.key[1] in _NAMINGS):
        return True
    first, second = one.key[1].split(), other.key[1].split()
    return first[0] == second[0] == "is" and {first[-1], second[-1]} <= {"is", "a", "an"}


def _is_part(one: Fact, other: Fact) -> bool:
    """Return whether one of two values only says more: "Anna" and "Anna Berg", "teacher" and "maths teacher"."""
    first, second = set(one.key[2].split()), set(other.key[2].split())
    return first < second and kind_of(one.object).name == "common"


def _is_counted(fact: Fact) -> bool:
    """Return whether somebody may well have another one beside it: "has, dog"."""
    return fact.key[1] in ("has", "likes", "loves", "enjoys", "knows", "owns", "reads", "watches", "eats", "drinks")


def _exclude(one: Fact, other: Fact) -> bool:
    """Return whether two facts of one subject cannot both be so."""
    if _are_sexes(one.object, other.object):
        return True
    return _INBORN.fullmatch(one.key[1]) is not None


def _are_sexes(one: str, other: str) -> bool:
    first, second = mention_of_text(one).head, mention_of_text(other).head
    return first != second and any({first, second} <= pair for pair in _SEXES)


# -- what is given without a statement --------------------------------------------------------------------------------


def _given_anew(amendment: Amendment, speaker: str, said: Sequence[tuple[float, Fact]]) -> list[Fact]:
    """Return the fact for which a message gives a value in place of the one that was said."""
    best: list[Fact] = []
    most = 0.0
    if not said:
        return []
    last = max(time for time, _ in said)
    for value in amendment.given:
        kind = kind_of(value.words)
        for time, fact in said:
            if normalise_name(value.words) == fact.key[2] or not may_be_of(value, fact, speaker):
                continue
            if amendment.object and not _speaks_of(amendment.object, [fact]):
                continue
            if amendment.cue is Cue.REPORT and not (
                _are_sexes(value.words, fact.object) or (value.about and _INBORN.fullmatch(fact.key[1]) is not None)
            ):
                continue
            is_near = is_near_spelling(value.words, fact.object)
            is_alike = _fits_in_place(value.words, fact.object) or _differs_in_number(value.words, fact.object)
            named = _named_in(amendment, fact, speaker)
            is_other = time == last and _is_in_place(value, fact, amendment)
            if not is_near and not (is_alike and (kind.name != "common" or named)) and not is_other:
                continue
            if not value.is_plain and not _is_placed(value, fact):
                continue
            if (
                kind.name == "common"
                and not is_other
                and (_says_more(value, fact) or not (value.is_plain or amendment.cue is Cue.ERROR))
            ):
                continue
            if amendment.cue is Cue.BREAK and not is_near and time < last and not named:
                continue
            score = 4 * is_near + 2 * named + 1.0
            if score > most:
                best, most = [fact], score
            elif score == most and fact not in best:
                best.append(fact)
    return best if len({(f.key[0], f.key[1]) for f in best}) == 1 and len(best) == 1 else []


def _is_in_place(value: Value, fact: Fact, amendment: Amendment) -> bool:
    """Return whether a message owns to an error and gives nothing but what somebody is: "she's a barista"."""
    return (
        amendment.cue is Cue.ERROR
        and value.is_plain
        and fact.key[1] in ("is a", "is an")
        and value.about in ("he", "she", "they")
        and 0 < len(value.words.split()) <= 2
        and len(amendment.given) == 1
        and not _says_more(value, fact)
        and kind_of(fact.object).name in ("common", "name")
    )


_AGES: Final = frozenset(["year", "yr", "month"])


def _fits_in_place(new: str, old: str) -> bool:
    """Return whether a value is one of the same kind, and no more than that: "York", but not "York time"."""
    kind, other = kind_of(new), kind_of(old)
    if not _is_same_kind(other, kind, strictly=True):
        return False
    if kind.name == "number":
        return kind.unit in ("", other.unit) or kind.unit in _AGES
    is_mixed = any(word[:1].islower() for word in _WORD.findall(new) if word not in _LIGHT_WORDS)
    return kind.name != "name" or not is_mixed or any(w[:1].islower() for w in _WORD.findall(old))


def _differs_in_number(new: str, old: str) -> bool:
    """Return whether a value is another number for the only one of an old value: "eight" of "eldest of seven"."""
    words, others = ([w.lower() for w in _WORD.findall(text) if w.lower() not in _LIGHT_WORDS] for text in (new, old))
    places = [n for n, word in enumerate(others) if _number(word) is not None]
    numbers = [word for word in words if _number(word) is not None]
    if len(places) != 1 or len(numbers) != 1 or _number(numbers[0]) == _number(others[places[0]]):
        return False
    rest = {_root(word) for word in words if word not in numbers}
    return rest <= {_root(word) for word in others}


def _number(word: str) -> int | None:
    digits = re.fullmatch(r"(\d+)[a-z]{0,3}", word)
    return number_of(word) if number_of(word) is not None else (int(digits[1]) if digits is not None else None)


def _says_more(value: Value, fact: Fact) -> bool:
    """Return whether a value has all words of the value of a fact: "viola all night"."""
    return {_root(w) for w in _WORD.findall(fact.key[2])} <= {_root(w) for w in _WORD.findall(value.words.lower())}


def _is_placed(value: Value, fact: Fact) -> bool:
    """Return whether a clause has the verb of a fact: "it opens at seven" of (bakery, opens at, six)."""
    verb, _, place = value.verb.partition(" ")
    words = fact.key[1].split()
    if verb in ("come", "came", "comes") and place == words[-1]:  # "he came from Cork" of "was from"
        return place == "from"
    return _root(verb) == _root(words[0]) and (not place or place in {*words[1:], *fact.key[2].split()})


def _named_in(amendment: Amendment, fact: Fact, speaker: str) -> bool:
    """Return whether a message has a word of the subject or the relation of a fact."""
    text = {_root(word) for word in _WORD.findall(amendment.text.lower())}
    words = {_root(w) for w in _WORD.findall(f"{plain_subject(fact)} {fact.key[1]}")}
    if fact.key[0] == normalise_name(speaker):
        words -= {_root(w) for w in normalise_name(speaker).split()}
    plain = words - {_root(w) for w in _LIGHT_WORDS - {"name"}}
    if fact.key[1] in _NAMINGS:
        plain |= {_root("name"), _root("called"), _root("spelled")}
    return bool(plain & text)


def is_near_spelling(one: str, other: str) -> bool:
    """Return whether a value has a word that is one of another value but for a letter or two."""
    first = [w for w in _WORD.findall(one) if w[:1].isupper() or w[:1].isdecimal() or len(one.split()) == 1]
    second = _WORD.findall(other)
    return any(_distance_is_small(a.lower(), b.lower()) for a in first for b in second)


def _distance_is_small(one: str, other: str) -> bool:
    if one == other or min(len(one), len(other)) < 3 or {one, other} & (WORDS["months"] | WORDS["weekdays"]):
        return False
    if one.isdecimal() and other.isdecimal():
        return len(one) == len(other) and sorted(one) == sorted(other)
    if not one.isalpha() or not other.isalpha() or one[0] != other[0]:
        return False
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        before, row = row, [number]
        for place, wanted in enumerate(other, 1):
            row.append(min(row[-1] + 1, before[place] + 1, before[place - 1] + (letter != wanted)))
    return row[-1] <= (1 if min(len(one), len(other)) < 6 else 2)


# -- kinds of values and of whom they are said ------------------------------------------------------------------------


def kind_of(text: str) -> _Kind:
    """Return which kind of value a text is: a date, a time, a number with its unit, a name or a common word."""
    words = [w.lower() for w in _WORD.findall(text)]
    if "@" in text:
        return _Kind("address")
    if not words:
        return _Kind("common")
    if _TIME.search(text) is not None and _ISO.search(text) is None:
        return _Kind("time")
    if (
        _ISO.search(text)
        or _ORDINAL.search(text)
        or {*words} & (WORDS["weekdays"] | WORDS["months"] - {"may", "march"})
    ):
        return _Kind("date")
    if {*words} & {"may", "march"} and any(w[0].isdecimal() for w in words):
        return _Kind("date")
    if number_of(words[0]) is not None or words[0][0].isdecimal() or _NUMBER.match(text) is not None:
        joined = re.fullmatch(r"\d[\d.,]*([a-z]{1,5})", words[0])
        if joined is not None and not re.fullmatch(r"(?:st|nd|rd|th|am|pm)", joined[1]):
            return _Kind("number", joined[1])
        unit = next((w for w in words[1:] if w.isalpha()), "")
        return _Kind("number", stem(unit) if unit else "")
    if any(character.isdecimal() for character in words[-1]):
        return _Kind("number")
    if any(w[:1].isupper() for w in _WORD.findall(text) if w != "I"):
        return _Kind("name")
    return _Kind("common")


def is_dated(text: str) -> bool:
    """Return whether a text is a date that was worked out: "2024-05-09" for "the 9th"."""
    return _ISO.search(text) is not None


def _is_same_kind(one: _Kind, other: _Kind, *, strictly: bool) -> bool:
    names = {one.name, other.name}
    if names == {"number"}:
        return one.unit == other.unit or not one.unit or not other.unit or not strictly
    if names <= {"number", "time"} or names <= {"number", "date"}:
        return len(names) == 1 or not (one.unit or other.unit)
    if not strictly and names <= {"name", "common"}:
        return True
    return len(names) == 1


_FIRST: Final = frozenset(["i", "we", "mine", "ours"])
_PERSONS: Final = frozenset(["he", "she", "they", "his", "hers", "theirs"])
_THINGS: Final = frozenset(["", "it", "that", "this", "its", "it s"])


def may_be_of(value: Value, fact: Fact, speaker: str) -> bool:
    """Return whether what a clause speaks of can be what a fact speaks of."""
    about = value.about
    is_own = fact.key[0] == normalise_name(speaker)
    if about in _THINGS:
        return True
    if about in _FIRST:
        return is_own or not value.is_plain
    if about in _PERSONS:
        return not is_own or fact.key[1].startswith("has ") or " called " in fact.key[2]
    words = [w for w in _WORD.findall(about) if w not in _LIGHT_WORDS or w == "name"]
    words = [re.sub(r"'s?$", "", w) for w in words if w not in ("that", "this", "one's", "one")]
    if not words:
        return True
    owner = fact.key[0].rpartition("'s ")[0]
    if owner and owner != normalise_name(speaker) and set(words) <= set(owner.split()):
        return False  # "Tom is 54" is not about Tom's wife
    have = {_root(w) for w in _WORD.findall(f"{plain_subject(fact)} {fact.key[1]}")} - {_root(w) for w in _LIGHT_WORDS}
    have |= {_root(w) for w in fact.key[0].split()} if not is_own else set()
    if fact.key[1] in _NAMINGS or " called " in fact.key[2]:
        have |= {"name", _root("name")}
    if is_own:
        have |= {_root(w) for w in fact.key[2].split()}
    kin = {_root(k) for w in words for k in KIN.get(w, ())}
    is_of_other = about.split()[0] in ("his", "her", "its", "their") and is_own and not fact.key[1].startswith("has ")
    return (not is_of_other and all(_root(w) in have or {_root(k) for k in KIN.get(w, ())} & have for w in words)) or (
        bool(kin & have) and len(words) == 1
    )


def plain_subject(fact: Fact) -> str:
    """Return the subject without its owner: "flight" for "Tom's flight"."""
    return fact.key[0].rpartition("'s ")[2]

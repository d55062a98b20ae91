"""Finds which facts an event can mean that names none of them: "I dropped out" is about studies, and not about a choir.

A family of relations has to be wide where a sentence names what has ended. Where it does not, a wide family would end
whatever somebody is in, takes or is doing. So the words of the event say what it is about, and only facts that are
about just that end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Final

from worldthread.extract.parsed.change_tables import LISTS
from worldthread.extract.parsed.mentions import is_in, mention_of_text, stem
from worldthread.types import Fact

_TABLE: Final = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("unnamed_endings.toml").read_text(encoding="utf-8")
)
_EVENTS: Final[dict[str, re.Pattern[str]]] = {
    name: re.compile(rf"\b(?:{'|'.join(parts.split())})\b".replace("~", " "))
    for name, parts in _TABLE["events"].items()
}
_HOMES: Final = frozenset(_TABLE["words"]["homes"].split())
_COMMON_WORDS: Final = """
a an the i my me we our us you your he she it they his her their is am are was were be been have has had do does did to
of in on at for with from by and or but not no so as this that these those there . , ! ? ' " ; : ( ) - ’ s t m ve re
"""
_FREQUENT: Final = frozenset(_COMMON_WORDS.split())
_IGNORED: Final = _FREQUENT.union(_TABLE["words"]["vague"].split())
_WORD: Final = re.compile(r"[^\W_]+(?:&[^\W_]+)*")
_SCHOOLING: Final = (
    LISTS["schools"]
    | LISTS["school_words"]
    | LISTS["students"]
    | LISTS["degrees"]
    | frozenset(_TABLE["words"]["schooling"].split())
)
_HYPHENED: Final = re.compile(r"[\w-]+")
_LEARNING: Final = re.compile(
    r"is (?:doing|taking|reading|in|at|an?|enrolled|writing|finishing)\b|attends|goes to|does|takes|has\b"
)
_ILL: Final = LISTS["illnesses"] | LISTS["sick"]
_HURT: Final = re.compile(
    r"\b(?:broken|sprained|torn|pulled|bad|sore|fractured|bruised|twisted|infected|swollen|stiff|injured|dislocated|cracked|"
    r"injury|infection|fracture|concussion|pain|ache|cast|crutches|stitches|surgery)\b"
)
_SEARCHED: Final = re.compile(r"\b(?:job|jobs|work|position|internship|apprenticeship|employment|role|gig|post)\b")


def _is_of_work(fact: Fact) -> bool:
    relation, value = fact.key[1:]
    if relation.startswith(("is looking", "looks for", "is searching", "searches", "is hunting", "wants", "needs")):
        return _SEARCHED.search(value) is not None
    if relation.startswith("is training") or relation == "trains for":
        return value.split()[0] in ("as", "to") or mention_of_text(fact.object).head in LISTS["occupations"]
    names = ("job", "title", "last_job", "jobless", "self_employed")
    return any(is_in(name, fact) for name in names) or relation.startswith(("is interning", "has boss", "does "))


def _is_of_study(fact: Fact) -> bool:
    relation, value = fact.key[1:]
    if re.match(r"(?:is )?stud(?:ies|ying)\b|majors in|has major|is majoring", relation) is not None:
        return True
    if _LEARNING.match(relation) is None:
        return False
    words = {one for word in _HYPHENED.findall(value) for one in (word, stem(word))}
    return bool(words & _SCHOOLING) or (relation in ("is doing", "is reading") and bool(words & LISTS["fields"]))


def _is_of_home(fact: Fact) -> bool:
    relation, value = fact.key[1:]
    if relation.split()[0] in ("rents", "shares") or relation in ("is renting", "is sharing", "is in", "is at"):
        return bool(set(_HYPHENED.findall(value)) & _HOMES)
    return is_in("home", fact) or relation in ("is from home in", "is staying", "is crashing")


def _is_of_partner(fact: Fact) -> bool:
    return any(is_in(name, fact) for name in ("partner", "unmarried", "free"))


def _is_of_health(fact: Fact) -> bool:
    relation, value = fact.key[1:]
    return (
        not _ILL.isdisjoint(_HYPHENED.findall(value))
        or _HURT.search(value) is not None
        or re.match(r"suffers|is suffering|is recovering|is in hospital", f"{relation} {value}") is not None
    )


_KINDS: Final[dict[str, Callable[[Fact], bool]]] = {
    "work": _is_of_work, "study": _is_of_study, "home": _is_of_home, "partner": _is_of_partner, "health": _is_of_health,
}  # fmt: skip


def meant_without_name(facts: Iterable[Fact], sentence: str) -> list[Fact]:
    """Return which of the facts that a sentence seems to end without naming them it can mean.

    Args:
        facts: the facts; one of which the sentence has a word is meant by it.
        sentence: the sentence.

    Returns:
        Those of what the words of the sentence are about; where they do not tell, the fact if it is the only one.
    """
    given = list(facts)
    if not given:  # most sentences end nothing
        return []
    text = sentence.replace("’", "'").lower()
    said = _words(text)
    found = [fact for fact in given if not said & _words(f"{_noun(fact)} {fact.key[2]}")]
    meant = _meant(found, text)
    return [fact for fact in given if fact not in found or fact in meant]


def _meant(found: list[Fact], text: str) -> list[Fact]:
    kinds = [kind for kind, words in _EVENTS.items() if words.search(text) is not None]
    if any(is_of(fact) for is_of in map(_KINDS.__getitem__, kinds) for fact in found):
        return [fact for fact in found if any(_KINDS[kind](fact) for kind in kinds)]
    return found if len(found) == 1 and not any(is_of(found[0]) for is_of in _KINDS.values()) and not kinds else []


def _noun(fact: Fact) -> str:
    """Return what a relation names: the "major" of "has major"."""
    return fact.key[1].removeprefix("has ") if fact.key[1].startswith("has ") else ""


def _words(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text) if word not in _IGNORED and len(word) > 1}

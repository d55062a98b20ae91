"""Reads a message as an amendment: what it calls wrong of what was said before, and what it puts in its place.

The words of a correction are free, its parts are not: a *cue* ("sorry", "I misread it", "hang on"), a value that is
*denied* ("not a nurse", "isn't from Hungary") and a value that is *given* ("it's 5 May", "I meant Lancaster").
:mod:`~worldthread.extract.parsed.amended_facts` looks for the fact that they fit.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from enum import IntEnum
from importlib.resources import files
from typing import Any, Final, NamedTuple

from worldthread.extract.parsed.change_tables import number_of


class Cue(IntEnum):
    """How clearly a message says that something said before was wrong."""

    NONE = 0
    REPORT = 1
    """Something was found out: "turns out", "the vet says"."""
    BREAK = 2
    """The speaker breaks off: "wait", "no", "sorry"."""
    ERROR = 3
    """The speaker owns to an error: "I misspoke", "that was wrong"."""


class Value(NamedTuple):
    """A value that a clause denies or gives.

    Args:
        words: the value as written, without articles and prepositions before it.
        about: what it is said of, in lower case: "it", "her name", "my neighbour"; empty where that is not said.
        verb: the verb in front of it, unless that is a form of "be": "have" in "I don't have two sisters".
        is_plain: whether the clause is made for the value alone: "it's 5 May", "I meant Lancaster".
    """

    words: str
    about: str = ""
    verb: str = ""
    is_plain: bool = True


class Amendment(NamedTuple):
    """What a message calls wrong and right.

    Args:
        text: the message.
        cue: how clearly it says that something was wrong.
        object: what was got wrong, in lower case: "the bakery" in "I was wrong about the bakery"; empty where that is
            not said.
        denied: the values that it denies.
        given: the values that it gives.
        is_short: whether it says little else.
    """

    text: str
    cue: Cue
    object: str
    denied: tuple[Value, ...]
    given: tuple[Value, ...]
    is_short: bool


_TABLE: Final[dict[str, Any]] = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("amendments.toml").read_text(encoding="utf-8")
)
_LISTS: Final[dict[str, list[str]]] = {name: found for name, found in _TABLE.items() if name != "words"}

AMENDMENT_WORDS: Final = {name: frozenset(words.split()) for name, words in _TABLE["words"].items()}
"""Closed lists of words by name."""


def _alternatives(name: str) -> str:
    """Return a list as a regular expression without groups around it."""
    return _inserted("|".join(_LISTS[name]))


def _inserted(text: str) -> str:
    """Return a regular expression with the lists that it names."""
    return re.sub(r"\{([a-z_]+)\}", lambda match: _alternatives(match[1]), text)


def _pattern(name: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    return re.compile(rf"{before}(?:{_alternatives(name)}){after}", re.IGNORECASE)


_ERROR: Final = _pattern("errors", after="")
_BREAK: Final = _pattern("breaks", "", "")
_REPORT: Final = _pattern("reports")
_CHANGED: Final = _pattern("changed")
_NOW: Final = _pattern("now")
_NEWS: Final = _pattern("news")
_UNREAL: Final = re.compile(rf"{_pattern('unreal').pattern}|\w'd\b", re.IGNORECASE)
_AT_TIMES: Final = _pattern("at_times")
_ADDED: Final = _pattern("added")
_LEAD: Final = re.compile(rf"^(?:(?:{_alternatives('lead')})[\s,]+)+", re.IGNORECASE)
_VAGUE: Final = _pattern("vague", "^")
_HEDGE: Final = _pattern("hedges", "^")
_LIGHT: Final = re.compile(rf"^(?:(?:{_alternatives('light')})\s+)+(?=\S)", re.IGNORECASE)
_TAIL: Final = _pattern("tail", r"\s+", r"\b.*$")
_AUXILIARY: Final = _pattern("auxiliaries", after="$")
_NEGATED: Final = re.compile(r"(?:not|never|no|nothing|wrong|right|true|false|correct|incorrect)\b", re.IGNORECASE)

_SENTENCE: Final = re.compile(r"(?<=[.!?])(?<!\b[A-Z][.])(?<!Mr[.])(?<!Dr[.])(?<!Mrs[.])(?<!St[.])(?<!Ms[.])\s+|\n+")
_CLAUSE: Final = re.compile(
    r"\s*(?:[,;!…]|:(?=\s|$)|\.\.+|\s[–—-]+\s|—|\.(?=\s|$)|\bbut\b|\band (?=(?:never|not|(?:he|she|it|i|they)\b)))\s*",
    re.IGNORECASE,
)
_HAD_BEEN: Final = re.compile(r"'d been\b", re.IGNORECASE)
_TOLD: Final = re.compile(
    r"^(?:(?:sorry|oops|actually|yesterday|earlier)[\s,]+)*i (?:keep saying|said|wrote|typed|told you)\b", re.IGNORECASE
)
_GIVEN: Final = tuple(re.compile(_inserted(text), re.IGNORECASE) for text in _LISTS["given"])
_PLACED: Final = re.compile(  # "it opens at seven", "he plays for Leeds"
    r"^(?P<about>it|he|she|they|i|we|(?:my|our|the|her|his|its|their)(?: [\w'-]+){1,2}?) "
    r"(?P<verb>(?!is\b|was\b|has\b|does\b|isn|wasn|don|had\b|can\b|will\b|get|got)[a-z]+s?"
    r"(?: (?:at|in|on|for|from|to|with|as))?) "
    r"(?P<value>.+)$",
    re.IGNORECASE,
)
_DENIED: Final = tuple(re.compile(_inserted(text), re.IGNORECASE) for text in _LISTS["denied"])
_SAID: Final = re.compile(
    r"^(?:(?:i|we)(?: \w+)? (?:said|wrote|typed|put|told you|gave you|keep saying|confused)|"
    r"(?:i )?(?:don't know|no idea) why i (?:said|wrote|typed|put)|did i (?:say|write|type))"
    r"(?: (?:that|it was|it's|he was|she was|i was|i am|i'm))? (?P<value>.+?)(?: (?:earlier|before|yesterday|there))?$",
    re.IGNORECASE,
)
_CALLED_WRONG: Final = re.compile(
    r"^(?P<value>.+?) (?:was|is)(?: just| only)? (?:wrong|a guess|a typo|a mistake|a slip|not right|incorrect)$",
    re.IGNORECASE,
)
_OF_ANOTHER: Final = re.compile(  # "64 was the staging box", "the 88 was chemistry"
    r"^(?:the |that )?(?P<value>[$€£]?\d[\w.,:%]*(?: \w+)?) (?:is|was|'s|were) "
    r"(?:the|a|an|my|our|his|her|their|for|before|after|per|last|just|only the|without|with|what|[a-z]+$)\b.*$",
    re.IGNORECASE,
)
_INSIDE: Final = re.compile(  # "raven not robin", "Hill not Mill Road", "a pilot rather than a nurse"
    r"^(?P<before>.*?)(?P<given>[\w'@.:-]+(?: [\w'@.:-]+)?)(?<!'m)(?<!'s)(?<!'re)(?<!'ve)(?<!'ll) "
    r"(?:not|instead of|rather than) (?P<denied>[\w'@.:-]+(?: [\w'@.:-]+){0,3})$",
    re.IGNORECASE,
)
_PRONOUNS: Final = frozenset(["i", "it", "he", "she", "they", "we", "that", "this"])
_BARE: Final = re.compile(r"^\*?[\w'’@.:&/+-]+(?: [\w'’@.:&/+-]+){0,3}$")


def amendment_of(text: str) -> Amendment | None:
    """Return what a message denies and gives; ``None`` when it amends nothing.

    Args:
        text: the message without its label.
    """
    plain = text.replace("’", "'").strip()
    error = _ERROR.search(plain)
    broken = _BREAK.search(plain)
    cue = Cue.ERROR if error is not None else Cue.BREAK if broken is not None else Cue.NONE
    if cue is Cue.NONE and _REPORT.search(plain) is not None:
        cue = Cue.REPORT
    if cue is Cue.NONE and re.search(r"\bnot\b|n't\b|\bnever\b", plain, re.IGNORECASE) is None:
        return None
    rest = (
        plain if broken is None else f"{plain[: broken.start()]} {plain[broken.end() :]}"
    )  # without "went and looked"
    if _NOW.search(plain) is not None or (cue < Cue.ERROR and _CHANGED.search(rest) is not None):
        return None
    denied: list[Value] = []
    given: list[Value] = []
    for sentence in _SENTENCE.split(plain):
        is_question = sentence.rstrip().endswith("?")
        for clause in _clauses(sentence.rstrip("?")):
            if _UNREAL.search(_HAD_BEEN.sub(" had been", clause)) is not None or _AT_TIMES.search(clause) is not None:
                continue
            if is_question:
                if (said := _SAID.match(clause)) is not None and clause.lower().startswith("did i"):
                    denied.append(Value(_bare_value(said["value"])))
                continue
            _read_clause(clause, denied, given)
    if not denied and cue is Cue.NONE:
        return None
    what = "" if error is None else next((part for part in error.groups() if part), "")
    is_short = len(plain.split()) <= 25
    return Amendment(text, cue, what.lower(), tuple(denied), tuple(given), is_short)


def adds(text: str) -> bool:
    """Return whether a message adds to what was said: "I play the oboe too"."""
    return _ADDED.search(text) is not None


def is_news(text: str) -> bool:
    """Return whether a message tells what has happened, and owns to no error: "Actually, I've moved to York"."""
    return _NEWS.search(text) is not None and _ERROR.search(text) is None


def _clauses(sentence: str) -> Iterator[str]:
    for part in _CLAUSE.split(sentence):
        clause = part.strip(" .\"“”'()")
        if clause:
            yield clause


def _read_clause(clause: str, denied: list[Value], given: list[Value]) -> None:
    """Add the values that a clause denies and gives."""
    told = _TOLD.match(clause)
    clause = _LEAD.sub("", f"{clause} ").strip()
    if not clause:
        return
    inside = _INSIDE.match(clause)
    if inside is not None and _AUXILIARY.search(inside["given"]) is not None:
        inside = None
    if inside is not None:
        denied.append(Value(_bare_value(inside["denied"])))
        clause = f"{inside['before']}{inside['given']}"
    if told is not None and (said := _GIVEN[-1].match(clause) or _PLACED.match(clause)) is not None:
        parts = said.groupdict(default="")
        denied.append(Value(_bare_value(parts["value"]), parts["about"].lower(), parts.get("verb", ""), is_plain=False))
        return
    for pattern in _DENIED:
        match = pattern.match(clause)
        if match is None:
            continue
        parts = match.groupdict(default="")
        value = parts["value"]
        if not value or _HEDGE.match(value) is not None:
            return
        about = parts.get("about", "")
        denied.append(Value(_bare_value(value), about.lower(), parts.get("verb", "").lower()))
        if about[:1].isupper() and about.lower() not in _PRONOUNS:  # "Walter isn't my neighbour's name"
            denied.append(Value(about, value.lower()))
        return
    said = _SAID.match(clause)
    if said is not None:
        denied.append(Value(_bare_value(said["value"]), is_plain=False))
        return
    wrong = _CALLED_WRONG.match(clause)
    if wrong is not None:
        denied.append(Value(_bare_value(wrong["value"])))
        return
    another = _OF_ANOTHER.match(clause)
    if another is not None:
        denied.append(Value(another["value"]))
        return
    for pattern in _GIVEN:
        match = pattern.match(clause)
        if match is None:
            continue
        value = match["value"]
        if _NEGATED.match(value) is not None or (_VAGUE.match(value) is not None):
            return
        about = match.groupdict(default="").get("about", "").lower()
        given.append(Value(_bare_value(value), about))
        return
    value = _bare_value(clause.strip("*"))
    if value != clause and "*" in clause and " " not in value:  # "vents*" of "vets"
        given.append(Value(value))
        return
    is_alone = inside is not None and not _LIGHT.sub("", inside["before"]).strip()
    if _BARE.match(value) is not None and (is_alone or _has_bare_value(value)):
        given.append(Value(value))
        return
    placed = _PLACED.match(clause)
    if placed is not None and _VAGUE.match(placed["value"]) is None:
        given.append(
            Value(_bare_value(placed["value"]), placed["about"].lower(), placed["verb"].lower(), is_plain=False)
        )


def _has_bare_value(clause: str) -> bool:
    """Return whether a clause is a name or a number and nothing else."""
    words = _LIGHT.sub("", clause).split()
    is_name = (
        all(word[:1].isupper() or word[:1].isdecimal() for word in words) or number_of(words[0].lower()) is not None
    )
    return is_name and len(words) <= 3 and _ERROR.search(clause) is None and _VAGUE.match(clause) is None


def _bare_value(value: str) -> str:
    """Return a value without articles and prepositions before it and remarks after it."""
    return _LIGHT.sub("", _TAIL.sub("", value.strip())).strip(" .\"'") or value

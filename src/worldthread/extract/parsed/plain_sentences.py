"""Reads what a message of one short sentence says plainly, where its parse says too little to be trusted.

"I'm on Instagram", "my husband is in the fire brigade" and "I'm dating a guy called Finn" have no verb or no object
that tells much; the form of the whole sentence does. Every pattern covers a sentence from its beginning to its end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Final, NamedTuple

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.letters_of_names import LOWER, UPPER
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import third_person
from worldthread.types import Fact

_TABLE: Final = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("plain_sentences.toml").read_text(encoding="utf-8")
)
_LISTS: Final = {name: "|".join(words.split()).replace("_", " ") for name, words in _TABLE["lists"].items()}
_LONGEST: Final = 16  # words
_RELATIVES: Final = "|".join(
    sorted(map(re.escape, WORDS["relations"] | WORDS["pets"] | {"eldest", "oldest", "youngest"}), key=len, reverse=True)
)
_SLOTS: Final = {
    "SUBJ": (
        r"(?:(?P<self>i|we)|(?P<kin>(?:(?:my|our) (?:(?:little|younger|older|big|elder|best|oldest|youngest|late|new|"
        rf"ex-?|eldest|middle|twin) ?){{0,2}})(?:{_RELATIVES})(?:-in-law)?"
        rf"(?P<name>(?-i: (?:(?:Mr|Mrs|Ms|Miss|Dr)\.? )?[{UPPER}][{LOWER}]+))?|"
        r"mum|mom|dad|grandma|granny|grandpa|granddad|grandad|gran|nan))"
    ),
    "BE": r"(?:['’](?:m|s|re)| am| is| are|['’]ve been|['’]s been| have been| has been)"
    r"(?: currently| now| still| also| just| actually| back)*",
    "HAVE": r"(?:['’]ve| have| has|['’]s| got|['’]ve got| have got| has got|['’]s got| caught| had)",
    "THING": (
        r"(?P<thing>(?:my|our|the|a|an) [^\W\d_][\w’'& -]{1,40}?|school|work|class|church|practice|training|rehearsal|"
        r"breakfast|lunch|dinner|check-?in|check-?out|parking|petrol|gas|diesel|entry|admission|kindergarten|nursery)"
    ),
    "NAME": r"(?P<object>[^\W\d_a-z][\w’'&.-]*(?: (?:[^\W\d_a-z][\w’'&.-]*|\d+|of|the|and|&|for|de)){0,4})",
    "PHRASE": r"(?P<object>[\w’'&@+/€$£%-]+(?:[ .:][\w’'&@+/€$£%-]+){0,7}?)",
    "WORDS": r"(?P<object>[\w’'&@.+/-]+(?: [\w’'&@.+/-]+){0,6}?)",
    "TIME": (
        r"(?P<object>(?:half past|(?:a )?quarter (?:past|to)|(?:five|ten|twenty|\d+) (?:past|to)) \w+(?: (?:am|pm))?|"
        r"(?:noon|midday|midnight|sunrise|sunset|dawn|dusk)|\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?|"
        r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: (?:thirty|fifteen|o['’]clock))?"
        r"(?: (?:am|pm|in the (?:morning|afternoon|evening)))?)"
    ),
    "AMOUNT": (
        r"(?P<object>(?:[$€£] ?\d[\d.,]*|\d[\d.,]* ?(?:euros?|dollars?|pounds?|francs?|quid|bucks|pence|cents|p|[$€£]))"
        r"(?: (?:a|an|per|each) \w+)?)"
    ),
    "NUMBER": r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)",
}
_OPENING: Final = re.compile(
    r"(?:(?:so|well|btw|by the way|oh|ok|also|fyi|just so you know|hey|hi)\b[ ,]*)+", re.IGNORECASE
)
_END: Final = (
    r"(?:,? (?:at the moment|right now|now|currently|these days|nowadays|for now|by the way|btw|too|as well|again|"
    r"since [\w ]{3,25}|for (?:\w+ ){1,3}(?:years|months|weeks|days)|(?:until|till) [\w ]{3,20}))?[.! ]*"
)
_NO_NAMES: Final = frozenset([
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march",
    "april", "may", "june", "july", "august", "september", "october", "november", "december", "christmas",
    "easter", "i",
])  # fmt: skip
_COMMON: Final = frozenset([
    "school", "work", "class", "church", "practice", "training", "rehearsal", "breakfast", "lunch", "dinner",
    "check-in", "check-out", "checkin", "checkout", "parking", "petrol", "gas", "diesel", "entry", "admission",
    "kindergarten", "nursery",
])  # fmt: skip
_ARTICLE: Final = re.compile(r"^(?:an?|the|some|any) ", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:my|our) ", re.IGNORECASE)
_SPEAKER_LAST: Final = re.compile(r"(?<= than )(?:me|us)$", re.IGNORECASE)
_POINTING: Final = (WORDS["pronouns"] - {"my", "our", "one"}) | {
    "this", "that", "these", "those", "not", "something", "anything", "everything", "nothing", "stuff", "thing",
    "things", "if", "because", "when", "would", "could", "should", "might", "never", "but", "than", "nobody", "none",
    "no", "u", "ur", "gonna", "wanna", "myself", "yourself", "though", "although", "anyone", "everyone", "someone",
    "sense", "fun", "mistakes", "mistake", "care", "sure",
}  # fmt: skip

_SAYING: Final = WORDS["saying"] | {"is", "are", "was", "were", "called", "has", "and", "or", "who", "which", "not"}
_POSSESSIVES: Final = frozenset(["his", "her", "their"])


class _Form(NamedTuple):
    """A form of sentences.

    Args:
        pattern: the whole sentence.
        relation: the relation that it states.
        is_sure: whether it is read whatever the parse says.
        is_last: whether it is read only where nothing else is stated.
        allowed: words of its object that elsewhere point at something else: "older than me", "when it rains".
    """

    pattern: re.Pattern[str]
    relation: str
    is_sure: bool
    is_last: bool
    allowed: frozenset[str]


def _forms() -> Iterator[_Form]:
    for entry in _TABLE["sentences"]:
        text = entry["form"]
        for name, words in _LISTS.items():
            text = text.replace(f"<{name}>", f"(?:{words})")
        # names keep their capital, all else may be written in either case
        for name, slot in _SLOTS.items():
            written = rf" ?\b{name}\b" if name in ("BE", "HAVE") else rf"\b{name}\b"
            read = slot if name == "NAME" else f"(?i:{slot})"
            text = re.sub(written, read.replace("\\", r"\\"), text)
        yield _Form(
            re.compile(text + f"(?i:{_END})"),
            entry["relation"],
            bool(entry.get("first")),
            bool(entry.get("last")),
            frozenset(entry.get("allowed", "").split()),
        )


_FORMS: Final = tuple(_forms())


def plainly_said(text: str, referents: Referents, *, sure: bool = False, last: bool = False) -> tuple[Fact, ...]:
    """Return what a whole sentence says plainly.

    Args:
        text: a sentence.
        referents: whom its pronouns mean.
        sure: whether only the forms are tried that are read whatever the parse says.
        last: whether the forms are tried, too, that are read where nothing else is stated.

    Returns:
        Its facts without aspects, mostly one; none where no pattern covers the whole of it.
    """
    opening = _OPENING.match(text)
    text = text[opening.end() :] if opening is not None else text
    if len(text.split()) > _LONGEST:
        return ()
    for form in _FORMS:
        if (sure and not form.is_sure) or (form.is_last and not last):
            continue
        match = form.pattern.fullmatch(text)
        if match is not None:
            fact = _fact(match, form, referents)
            if fact is not None:
                return (fact,)
    return ()


def _fact(match: re.Match[str], form: _Form, referents: Referents) -> Fact | None:
    groups = match.groupdict()
    named = groups["object"]
    subject = _subject(groups, referents)
    pointing = (_POINTING - _POSSESSIVES if groups.get("kin") else _POINTING) - form.allowed
    relation = form.relation
    named = _SPEAKER_LAST.sub(lambda _: referents.speaker, named)
    if subject is None or named.lower() in _NO_NAMES or set(named.lower().split()) & pointing:
        return None
    value = _OWN.sub(lambda _: f"{referents.speaker}'s ", _ARTICLE.sub("", named))
    verb = groups.get("verb")
    if verb is not None:
        verb = verb.lower()
        first, space, rest = verb.partition(" ")  # "lives in"
        shown = first if first.endswith("s") and not first.endswith("ss") else third_person(first)
        shown = f"{shown}{space}{rest}"
        relation = relation.replace("VERBS", shown).replace("VERB", verb)
    kind = groups.get("kind")
    relation = relation.replace("KIND", (kind or "").lower()).replace("SPEAKER", referents.speaker).strip()
    if value.lower() == subject.lower() or value.lower() in WORDS["epithets"]:
        return None
    return Fact(subject, relation, value.strip(" .!"))


def _subject(groups: dict[str, str | None], referents: Referents) -> str | None:
    speaker = referents.speaker
    if (thing := groups.get("thing")) is not None:
        thing = re.sub(r"(?: (?:only|just|now|also|usually|normally|always))+$", "", thing)
        thing = thing.strip()
        owned = _OWN.match(thing)
        plain = _ARTICLE.sub("", thing)
        if set(plain.lower().split()) & (_POINTING | _SAYING):
            return None
        plain = _OWN.sub(lambda _: f"{speaker}'s ", plain)
        if owned is not None:
            return f"{speaker}'s {thing[owned.end() :]}"
        return plain if plain != thing or plain.lower() not in _COMMON else plain.lower()
    if (kin := groups.get("kin")) is not None:
        name = groups.get("name") or ""
        kin = kin.removesuffix(name)
        own = _OWN.match(kin) is not None
        return f"{speaker}'s {_OWN.sub('', kin).lower()}{name}" if own else kin.capitalize()
    return speaker

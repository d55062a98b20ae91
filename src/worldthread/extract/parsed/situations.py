"""Finds what ends without being named: somebody has one weight, one home, one job hunt, one debt at a time.

"Scales said 89 this morning" names no fact, but it can only be about what the speaker weighs. So facts are sorted into
*situations* by what they say (``situations.toml``), and a message that tells how such a situation ends is about the
only open fact of its kind. Where two facts are of the kind, none ends.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from worldthread.extract.parsed.change_tables import KIN, KINDS, number_of
from worldthread.extract.parsed.clauses import WORDS as PARSED_WORDS
from worldthread.extract.parsed.ending_events import PARTICIPLES, event_words
from worldthread.extract.parsed.learned_endings import named_facts
from worldthread.extract.parsed.letters_of_names import UPPER
from worldthread.extract.parsed.linked_words import PHRASE_WORDS, root
from worldthread.extract.parsed.mentions import is_in
from worldthread.extract.parsed.parser import is_english
from worldthread.extract.parsed.phrased_endings import DOUBTFUL, UNREAL, is_about_relative, only_person, plain_text
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_TABLE: Final[dict[str, Any]] = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("situations.toml").read_text(encoding="utf-8")
)
LISTS: Final = {name: frozenset(words.split()) for name, words in _TABLE["words"].items()}
_THINGS: Final = tuple(dict.fromkeys(_TABLE["words"]["things"].split()))
_LONGEST: Final = 45  # words of a sentence
_MOST_FACTS: Final = 200
_WORD: Final = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_NUMBER: Final = re.compile(r"\d[\d.,:]*\d|\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b")
_OTHER_NUMBER: Final = (
    r"(?P<other>\+?\d(?:[\d.,: ()-]*\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_OTHER_NAME: Final = r"(?P<other>[a-z][\w'&-]+)"
_UNIT: Final = re.compile(r"\b(?:a|an|per|each) ([a-z]+)|\bfor (?:a|an|each|one) (?:[a-z]+ )?([a-z]+)")
_CAPITALS: Final = re.compile(rf"\b[{UPPER}]\w+")
_JOINING: Final = "and|but|so|because|since|that"
_CLAUSE_START: Final = re.compile(rf"(?:^|[.!?,;:–—(]|\b(?:{_JOINING})\b)[^.!?,;:–—(]*$")
_THIRD: Final = re.compile(
    r"\b(?:he|she|they|his|her|their|(?:my|our|the|a|an|some|another) (?:\w+ )?(?:friend|mate|colleague|neighbou?r|"
    r"boss|sister|brother|mum|mom|dad|mother|father|son|daughter|cousin|aunt|uncle|niece|nephew|flatmate|roommate|guy|lad|"
    r"woman|man|bloke|girl|nan|gran|grandad|wife|husband|partner|missus|kid|teacher)s?|[a-z]+'s (?:mum|dad|friend|"
    r"brother|sister|wife|husband|boss)|everyone|everybody|people|someone|somebody)\b"
)
_FIRST: Final = re.compile(r"\b(?:i|we|me|us)\b")
_OF_ANOTHER: Final = re.compile(r"(?:(?<!\bit)(?<!\bthat)(?<!\bthere)(?<!\bhere)'s|\ws'|\b(?:his|her|their|your)) $")
_CLAUSE_END: Final = re.compile(r"[.!?,;:–—)]|$")
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|imagine|suppose|wish|joking|kidding|pretend\w*|thought|feared|worried|assumed|afraid|dream(?:t|ed)?)\b"
    r"(?! you (?:please|like|will))"
)
_LONG_AGO: Final = re.compile(r"\bwhen (?:i|we) (?:was|were)\b")
_KEPT: Final = re.compile(r"\bstill (?:got|have|on|with|the same|using|in|there|going|at it)\b(?! no\b)")
_RELATIVES: Final = PARSED_WORDS["relations"]
_SLANG: Final = {"brother": ("kid", "bro"), "sister": ("sis", "kid")}


class _Situation(NamedTuple):
    relation: re.Pattern[str]
    object: re.Pattern[str]
    subject: re.Pattern[str] | None
    needs: re.Pattern[str] | None
    needs_any: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    families: tuple[str, ...]
    of_thing: bool
    names: bool
    strict: bool
    never: re.Pattern[str] | None
    ends: tuple[str, ...]

    def covers(self, fact: Fact) -> bool:
        """Return whether a fact is of this kind."""
        subject, relation, _ = fact.key
        if self.relation.fullmatch(relation) is None or self.object.search(fact.object) is None:
            return False
        if self.needs is not None and self.needs.match(relation) is None:
            return False
        if self.subject is not None and self.subject.fullmatch(subject) is None:
            return False
        return not self.families or any(is_in(family, fact) for family in self.families)


def _pattern(entry: dict[str, Any], key: str) -> re.Pattern[str] | None:
    return (
        re.compile(entry[key] if key.startswith("needs") or key == "subject" else rf"\b(?:{entry[key]})")
        if key in entry
        else None
    )


def _situations() -> Iterator[_Situation]:
    for entry in _TABLE["situations"]:
        families = (*entry.get("families", "").split(), *entry.get("kinds", "").split())
        yield _Situation(
            re.compile(entry["relation"]), re.compile(entry["object"], re.IGNORECASE), _pattern(entry, "subject"),
            _pattern(entry, "needs"), _pattern(entry, "needs_any"), _pattern(entry, "unless"), families,
            bool(entry.get("of_thing")), bool(entry.get("names")),
            bool(entry.get("strict")), _pattern(entry, "never"), tuple(entry["ends"].strip().split("\n")),
        )  # fmt: skip


_SITUATIONS: Final = tuple(_situations())


@lru_cache(maxsize=4096)
def _kinds_of(fact: Fact) -> frozenset[int]:
    """Return the numbers of the situations that a fact is of."""
    return frozenset(number for number, situation in enumerate(_SITUATIONS) if situation.covers(fact))


def situation_endings(
    sentences: Sequence[str], speaker: str, stated: Iterable[Fact], view: GraphView
) -> list[tuple[Fact, str]]:
    """Return the facts whose situation a message says is over, each with the sentence.

    Args:
        sentences: the sentences of the message, without its label and without questions.
        speaker: who says it.
        stated: the facts that the message states; they do not end.
        view: what the memory holds.

    Returns:
        Facts that hold, none twice.
    """
    found: dict[Fact, str] = {}
    skipped = set(stated)
    own = normalise_name(speaker)
    known = _known_facts(plain_text(" ".join(sentences)), speaker, view)
    for sentence in sentences:
        text = plain_text(sentence)
        if not 0 < len(text.split()) <= _LONGEST:
            continue
        facts = [fact for fact in _candidates(sentence, known, speaker, view) if fact not in skipped]
        names = _names_in(sentence)
        for number, situation in enumerate(_SITUATIONS):
            kind = [fact for fact in facts if number in _kinds_of(fact)]
            ended = [fact for fact in kind if _ends(fact, number, text, names, own)]
            if not ended:
                continue
            if "LINK" in "".join(situation.ends):
                ended = _named_best(ended, text)
            elif not _is_one(ended, kind):
                continue
            found.update((fact, sentence) for fact in ended if fact not in found)
    return list(found.items())


def _is_one(ended: Sequence[Fact], kind: Sequence[Fact]) -> bool:
    """Return whether a message can mean only one fact of a kind, or several that say the same of one subject."""
    return len(ended) == 1 or len({(fact.key[0], fact.key[1].split()[0]) for fact in kind}) == 1


def _named_best(ended: Sequence[Fact], text: str) -> list[Fact]:
    """Return the facts that a sentence names by most of their words; none where two things fit equally."""
    said = {root(word) for word in _WORD.findall(text)}
    scores = {fact: len(said & {root(word) for word in _WORD.findall(fact.key[2])}) for fact in ended}
    best = [fact for fact in ended if scores[fact] == max(scores.values())]
    is_clear = len({fact.key[2] for fact in best}) == 1 or len({fact.key[1] for fact in best}) == len(best)
    return best if is_clear else []


def _known_facts(message: str, speaker: str, view: GraphView) -> list[Fact]:
    """Return the facts of the speaker, of a few things of theirs, and of whom a message means by "he" or "she"."""
    facts = [*view.facts(subject=speaker)[-_MOST_FACTS:]]
    for thing in _THINGS:
        facts += (*view.facts(subject=f"{speaker}'s {thing}"), *view.facts(subject=thing))
    for noun in ("5k best", "pb", "10k best", "best", "personal best", "record", "marathon best", "10k pb", "5k pb"):
        facts += view.facts(subject=f"{speaker}'s {noun}")
    meant = only_person(message, speaker, view)
    return facts if meant is None else [*facts, *view.facts(subject=meant)]


def _candidates(sentence: str, known: Sequence[Fact], speaker: str, view: GraphView) -> list[Fact]:
    """Return the known facts and those of whom and what a sentence names, none twice."""
    named = named_facts(sentence, speaker, view)
    capitals = (fact for name in _CAPITALS.findall(sentence) for fact in view.facts(object=name))
    return list(dict.fromkeys((*known, *named, *capitals)))


def _ends(fact: Fact, number: int, text: str, names: frozenset[str], own: str) -> bool:
    situation = _SITUATIONS[number]
    if situation.never is not None and situation.never.search(text) is not None:
        return False
    if situation.needs_any is not None and situation.needs_any.search(text) is None:
        return False
    subject = fact.key[0]
    is_own = subject == own
    thing = subject.rpartition("'s ")[2]
    if _LONG_AGO.search(text) is not None or (thing != subject and f"'s {thing}" in text):
        return False  # "my first dog died when I was a kid"; "my brother's dog" is not the speaker's
    is_person = not is_own and is_about_relative(subject, own)
    if not is_own and not is_person and not situation.of_thing:
        return False
    for pattern in _patterns_for(fact, number, own):
        for match in pattern.finditer(text):
            clause, other = _clause_of(match, text), match.groupdict().get("other")
            if situation.strict and not _is_about_value(match, text, fact):
                continue
            if situation.names and other is not None and other not in names:
                continue
            if situation.unless is not None and situation.unless.search(clause) is not None:
                continue
            if (
                _is_other(match, fact)
                and _is_meant(match, text, fact, is_own=not is_person)
                and _is_same_person(fact, clause, own)
            ):
                return True
    return False


@lru_cache(maxsize=4096)
def _patterns_for(fact: Fact, number: int, own: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a situation with the words of a fact."""
    situation = _SITUATIONS[number]
    link = _link(fact, own)
    subject = fact.key[0].removeprefix(f"{own}'s ")
    names = {subject, subject.split(" ")[-1], *KIN.get(subject, ())}
    who = "(?:i|we)" if fact.key[0] == own else f"(?:my |our )?(?:{'|'.join(map(re.escape, sorted(names)))})"
    unit = _UNIT.search(fact.key[2])
    found = []
    for line in situation.ends:
        if ("LINK" in line and not link) or ("UNIT" in line and unit is None):
            continue
        line = line.replace("LINK", f"(?:{link})").replace("SHE", who)
        line = line.replace("OTHER", _OTHER_NAME if situation.names else _OTHER_NUMBER, 1)
        if unit is not None:
            line = line.replace("UNIT", re.escape(unit[1] or unit[2]))
        found.append(re.compile(line))
    return tuple(found)


def _link(fact: Fact, own: str) -> str:
    """Return an expression for the words that mean the object of a fact."""
    value = fact.key[2].replace(f"{own}'s ", "")
    verbs = [word for word in fact.key[1].split()[:1] if word not in PHRASE_WORDS["relations"]]
    words = [
        word for word in (*_WORD.findall(value), *verbs) if word not in PHRASE_WORDS["empty"] and not word.isdecimal()
    ]
    words = [word for word in words if len(word) > 2 and word not in PHRASE_WORDS["times"] and number_of(word) is None]
    forms: dict[str, None] = {}
    for word in words:
        stem = root(word)
        forms[f"{re.escape(stem)}\\w{{0,4}}" if len(stem) > 3 else re.escape(word)] = None
        for other in sorted(KINDS.get(word, ())) + sorted(KIN.get(word, ())):
            forms[re.escape(other)] = None
    if not forms:
        return ""
    one = "|".join(sorted(forms, key=len, reverse=True))
    return rf"\b(?:{one})(?: (?:{one}))*\b"


def _is_other(match: re.Match[str], fact: Fact) -> bool:
    """Return whether the other value in a match is not the one of the fact."""
    other = match.groupdict().get("other")
    if other is None:
        return True
    other = other.strip(" .,:")
    if other[:1].isalpha() and number_of(other) is None:
        words = set(_WORD.findall(fact.key[2]))
        return other not in words and other not in PHRASE_WORDS["empty"] | PHRASE_WORDS["definite"]
    if ":" in other and re.search(r"best|pb|record", fact.key[0]) is not None and ":" in fact.key[2]:
        return _seconds(other) < _seconds(fact.key[2])
    digits = re.sub(r"\D", "", other)
    if len(digits) > 5 and fact.key[2].replace(" ", "").lstrip("+").isdecimal():
        return digits != re.sub(r"\D", "", fact.key[2])
    new = number_of(other) if number_of(other) is not None else (int(digits) if digits else None)
    olds = _NUMBER.findall(fact.key[2])
    old = re.sub(r"\D", "", olds[0]) if olds else ""
    value = number_of(olds[0]) if olds and number_of(olds[0]) is not None else (int(old) if old else None)
    if new is None or value is None or new == value:
        return False
    if (":" in other) != (":" in (olds[0] if olds else "")):
        return False
    return digits == "" or not old or abs(len(digits) - len(old)) <= 1


def _seconds(time: str) -> int:
    """Return the length of "26:58" in seconds, or of "1:02:03"."""
    total = 0
    for part in re.findall(r"\d+", time)[:3]:
        total = 60 * total + int(part)
    return total


def _is_about_value(match: re.Match[str], text: str, fact: Fact) -> bool:
    """Return whether nothing else is named before a sum or an hour, as in "the gym is 30 a month now"."""
    start = _CLAUSE_START.search(text[: match.start()])
    before = set(_WORD.findall(text[start.start() if start is not None else 0 : match.start()]))
    known = {root(word) for word in _WORD.findall(f"{fact.key[0]} {fact.key[1]} {fact.key[2]}")}
    is_earned = re.match(r"earns|makes|gets|takes home|has (?:salary|wage|income)", fact.key[1]) is not None
    if before & LISTS["spent" if is_earned else "earned"] and not known & {root(word) for word in before}:
        return False  # "my rent went up" says nothing of what somebody earns
    return all(word in LISTS["before_verbs"] | LISTS["before_values"] or root(word) in known for word in before)


def _names_in(sentence: str) -> frozenset[str]:
    """Return the words of a sentence that may be names, in lower case: those with a capital, or else unknown ones."""
    capitals = {word.lower() for word in _CAPITALS.findall(sentence)}
    if capitals - {"i"}:
        return frozenset(capitals)
    return frozenset(word for word in _WORD.findall(sentence.lower()) if not is_english(word))


def _clause_of(match: re.Match[str], text: str) -> str:
    """Return the clause of a match: from the mark or conjunction before it to the mark after it."""
    start = _CLAUSE_START.search(text[: match.start()])
    end = _CLAUSE_END.search(text, match.end())
    return text[start.start() if start is not None else 0 : end.start() if end is not None else len(text)]


def _is_meant(match: re.Match[str], text: str, fact: Fact, *, is_own: bool) -> bool:
    """Return whether a match is about the speaker, where the fact is, and is neither hoped, feared nor denied."""
    start = _CLAUSE_START.search(text[: match.start()])
    before = text[start.start() if start is not None else 0 : match.start()]
    clause = f"{before}{match[0]}"
    if DOUBTFUL.search(clause) is not None or UNREAL.search(clause) is not None:
        return False
    if _SUPPOSED.search(text[: match.end()]) is not None or _KEPT.search(text) is not None:
        return False
    if not is_own or _FIRST.search(clause) is not None:
        return True
    if _THIRD.search(before) is not None or _OF_ANOTHER.search(before) is not None:
        return False
    first = match[0].split(" ")[0]
    is_verb = first in event_words() or first in PARTICIPLES or first.endswith(("ed", "ing"))
    return not is_verb or set(_WORD.findall(before)) <= LISTS["before_verbs"] | {
        *fact.key[0].split()
    }  # not "our trumpeter quit the band"


def _is_same_person(fact: Fact, clause: str, own: str) -> bool:
    """Return whether a clause that names a relative can be about a fact that names one, such as a debt."""
    named = re.search(rf"\b{re.escape(own)}'s ([\w-]+)", fact.key[2])
    said = {word for word in _WORD.findall(clause) if word in KIN or word in _RELATIVES}
    if named is None:
        return fact.key[1] != "owes" or not said
    return not said or bool(said & {named[1], *KIN.get(named[1], ()), *_SLANG.get(named[1], ())})

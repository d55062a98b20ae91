"""Marks the events of a sentence that end something by their kind, however they are worded.

"had to give my flute away", "ended up pawning my flute" and "sold my flute" become the same words, so that a pattern
needs no list of verbs of its own. ``ending_events.toml`` has the events.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from worldthread.extract.prose.words import third_person

TABLE: Final[dict[str, Any]] = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("ending_events.toml").read_text(encoding="utf-8")
)
"""The whole table."""

PARTICIPLES: Final = frozenset(
    entry.split()[2] for entry in TABLE["irregular"]["verbs"].replace("\n", " ").split("|")
) - {"rid", "read", "lain", "cut", "set"}
"""Irregular participles, of which none is a common noun."""

_CODES: Final = {
    "sell": "S", "lose": "L", "rob": "B", "fail": "F", "stop": "T", "leave": "V", "dismiss": "D", "close": "C",
    "cancel": "N", "lapse": "P", "finish": "I", "recover": "R", "oust": "O",
    "halt": "H", "relinquish": "E", "annul": "A",
}  # fmt: skip
_OWNERS: Final = frozenset(["POSS", "my", "our", "his", "her", "their", "your", "its", "the", "a", "an"])
_MARKS: Final = frozenset(["THING", "BARE", "WHOM", "SUBJ", "it", "them"])
_PLAIN_AFTER: Final = frozenset([
    "to", "will", "would", "can", "could", "should", "may", "might", "must", "do", "does", "did", "not", "let's",
    "please", "never",
])  # fmt: skip
_BEING: Final = frozenset(["am", "is", "are", "was", "were", "been"])
_CONTRACTIONS: Final = (
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"\b(SUBJ|he|she|it|that|there|what|who)'s\b"), r"\1 is"),
    (re.compile(r"\b(THING|BARE|OLD)'s (?!\w+ing\b)"), r"\1 is "),
    (re.compile(r"\b(?:have|has|had) not\b"), "havenot"),
    (re.compile(r"\b(?:am|is|are|was|were|do|does|did) not\b"), "not"),
)
_ADVERB: Final = re.compile(
    r" (?:just|already|right(?= off| out| away)|straight(?= off| out)|clean(?= out| off)|also|"
    r"finally|even|simply|then|(?!(?:early|daily|weekly|monthly|yearly|hourly|family|only|"
    r"nearly|"
    r"hardly|barely|possibly|probably|temporarily|briefly|supposedly|allegedly|reply|apply|supply|assembly)\b)"
    r"[a-z]{4,}ly)(?= )"
)
_OF_THING: Final = re.compile(
    r"\b(THING|BARE) (?:stock|stocks|shares|account|accounts|membership|subscription|contract|job|course|class|classes|"
    r"lessons?|club|team|idea|plans?|app|habit|season ticket|tickets?|degree|appointment|project|"
    r"policy|card|prescription|"
    r"tablets|pills|collection|thing|business|practice|phase|flat|apartment|house|place|room)\b"
)
_OWN_THING: Final = re.compile(
    r"\b(?:(?:all|both)(?: of)? (?:POSS |the )?|(?:POSS|the|every|this|that) )(?=THING|BARE)"
)
_THEN_IT: Final = re.compile(r"\b(?P<before>\w+ )?(?P<pronoun>it|them)\b")
_IDIOMS_WITH_IT: Final = frozenset(TABLE["irregular"]["with_it"].split())
_EVENT: Final = r"(<[A-Z]+>)(?!ed|ing)"
_DONE: Final = re.compile(
    r"\b(?:(?:have |has |had )?had to|(?:was|were|been|got|felt) (?:forced|obliged|compelled|asked|told|made|able) to|"
    r"managed to|had no choice but to|chose to|opted to|got round to|got around to|went and|up and) (?:go and )?"
    + _EVENT
)
_ENDED_UP: Final = re.compile(r"\b(?:ended|wound|finished) up (?=\w+ing\b)")
_DONE_BEING: Final = re.compile(r"\bendedup (<[A-Z]+>)ing")
_DECIDED: Final = re.compile(
    r"\b(?:decided|chose|agreed|resolved|opted|am going|is going|are going) to (<[A-Z]*[TNE][A-Z]*>)(?!ed|ing)"
)
_LEAVING: Final = re.compile(r"\b(?:am|are|is) (<[A-Z]*N[A-Z]*>)ing")
_MADE_TO: Final = re.compile(
    r"\b(?:forced|made|obliged|compelled|required|allowed|pushed|drove|led|caused) (?:WHOM|SUBJ) (?:to )?" + _EVENT
)
_SPACES: Final = re.compile(r"\s+")


_PAST_ONLY: Final = frozenset(TABLE["irregular"]["past_only"].split())


class _Phrase(NamedTuple):
    rest: tuple[str, ...]
    codes: str


def _forms(lemma: str) -> Iterator[tuple[str, str]]:
    """Yield the forms of a verb, each with the ending that its mark gets."""
    if lemma == "be":
        yield from ((form, "ed") for form in _BEING)
        yield from (("be", ""), ("being", "ing"))
        return
    if lemma in _PAST_ONLY:
        yield from ((form, ending) for form, ending in _regular_forms(lemma) if ending)
        return
    yield from _regular_forms(lemma)


def _regular_forms(lemma: str) -> Iterator[tuple[str, str]]:
    irregular = _irregular().get(lemma)
    stem = lemma.removesuffix("e") if not lemma.endswith(("ee", "oe", "ye")) else lemma
    doubled = re.fullmatch(r"(?:[^aeiou]|qu)*[aeiou][bdglmnprtv]", lemma) is not None
    yield lemma, ""
    yield third_person(lemma), ""
    yield f"{stem}{stem[-1]}ing" if doubled else f"{lemma[:-2]}ying" if lemma.endswith("ie") else f"{stem}ing", "ing"
    if lemma in ("travel", "cancel", "total", "label", "pedal"):
        yield from ((f"{lemma}led", "ed"), (f"{lemma}ling", "ing"))
    if irregular is not None:
        yield from ((form, "ed") for form in irregular)
    elif doubled:
        yield f"{lemma}{lemma[-1]}ed", "ed"
    else:
        yield (f"{lemma[:-1]}ied" if re.search(r"[^aeiou]y$", lemma) else f"{lemma.removesuffix('e')}ed"), "ed"


@cache
def _irregular() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for entry in TABLE["irregular"]["verbs"].replace("\n", " ").split("|"):
        base, *others = entry.split()
        found[base] = found.get(base, frozenset()) | frozenset(others)
    return found


@cache
def _lexicon() -> dict[str, tuple[tuple[str, ...], dict[str, tuple[_Phrase, ...]]]]:
    """Return by form of a verb the endings that its mark may get and its phrases, the longest first, by lemma."""
    codes: dict[tuple[str, ...], str] = {}
    for name, text in TABLE["events"].items():
        for phrase in text.replace("\n", " ").split("|"):
            words = tuple(phrase.split())
            if words and _CODES[name] not in codes.get(words, ""):
                codes[words] = codes.get(words, "") + _CODES[name]
    by_lemma: dict[str, list[_Phrase]] = {}
    for words, letters in codes.items():
        by_lemma.setdefault(words[0], []).append(_Phrase(words[1:], letters))
    found: dict[str, tuple[tuple[str, ...], dict[str, tuple[_Phrase, ...]]]] = {}
    for lemma, phrases in by_lemma.items():
        ordered = tuple(sorted(phrases, key=lambda one: -len(one.rest)))
        forms = [("not", "ed")] if lemma == "not" else _forms(lemma)
        for form, ending in forms:
            endings, of_form = found.get(form, ((), {}))
            found[form] = (tuple(dict.fromkeys([*endings, ending])), {**of_form, lemma: ordered})
    return found


@cache
def event_words() -> frozenset[str]:
    """Return the words with which an event can begin: the forms of its verb."""
    return frozenset(_lexicon()) - {"not"}


@lru_cache(maxsize=4096)
def with_events(marked: str) -> str:
    """Return a sentence with its events marked by their kinds, and without adverbs and auxiliaries that say no more.

    Args:
        marked: the sentence in lower case, with the words for the parts of a fact marked in capitals.
    """
    text = f" {marked} "
    for pattern, plain in _CONTRACTIONS:
        text = pattern.sub(plain, text)
    text = _ENDED_UP.sub("endedup ", _ADVERB.sub("", text))
    text = _OWN_THING.sub("", _OF_THING.sub(r"\1", text))
    first = re.search(r"\b(?:THING|BARE)\b", text)
    if first is not None:
        text = text[: first.end()] + _THEN_IT.sub(lambda it: _meant(it, first[0]), text[first.end() :])
    text = _marked(text)
    text = _DONE.sub(r"\1ed", text)
    text = _DONE_BEING.sub(r"\1ed", text)
    text = _DECIDED.sub(r"\1ed", text)
    text = _LEAVING.sub(r"\1ed", text)
    text = _MADE_TO.sub(r", SUBJ \1ed", text)
    return _SPACES.sub(" ", text).strip()


def _meant(pronoun: re.Match[str], thing: str) -> str:
    before = pronoun["before"] or ""
    if pronoun["pronoun"] == "it" and before.strip() in _IDIOMS_WITH_IT:
        return pronoun[0]  # "they're killing it"
    return f"{before}{thing}"


def _marked(text: str) -> str:
    """Return a text with its phrases for events in place of marks such as ``<ST>ed``."""
    words = text.split()
    plain = [word.rstrip(",;:.!") for word in words]
    found: list[str] = []
    place = 0
    lexicon = _lexicon()
    while place < len(words):
        entry = lexicon.get(plain[place])
        match = _longest(plain, place, entry[1]) if entry is not None else None
        if entry is None or match is None:
            found.append(words[place])
            place += 1
            continue
        letters, length, between = match
        endings = entry[0]
        ending = endings[0]
        if len(endings) > 1:
            ending = "" if place and plain[place - 1] in _PLAIN_AFTER else "ed"
        if plain[place] == "have" and length > 2 and not between:
            ending = "ed"  # "have put down my papers"
        last = words[place + length - 1]
        tail = last[len(plain[place + length - 1]) :]
        found.append(f"<{letters}>{ending}")
        if between:
            found.append(f"{between}{tail}")
        else:
            found[-1] += tail
        place += length
    return " ".join(found)


def _longest(words: list[str], place: int, by_lemma: dict[str, tuple[_Phrase, ...]]) -> tuple[str, int, str] | None:
    """Return the kinds of the longest event at a place, how many words it has, and the object within it."""
    best: tuple[str, int, str] | None = None
    for phrases in by_lemma.values():
        for rest, letters in phrases:
            size = len(rest)
            if best is not None and size + 1 < best[1]:
                break
            if _are(words[place + 1 : place + 1 + size], rest):
                if best is None or size + 1 > best[1]:
                    best = (letters, size + 1, "")
                elif size + 1 == best[1] and not best[2]:
                    best = ("".join(dict.fromkeys(best[0] + letters)), best[1], "")
            elif (
                size
                and place + 1 < len(words)
                and words[place + 1] in _MARKS
                and _are(words[place + 2 : place + 2 + size], rest)
                and (best is None or size + 2 > best[1])
            ):
                best = (letters, size + 2, words[place + 1])
    return best


def _are(words: list[str], wanted: tuple[str, ...]) -> bool:
    return len(words) == len(wanted) and all(
        one == other or (other == "POSS" and one in _OWNERS) for one, other in zip(words, wanted, strict=True)
    )


def as_expression(line: str) -> str:
    """Return a pattern of the table with its names of events, such as ``SELLed``, as regular expressions."""
    for name, code in _CODES.items():
        word = name.upper()
        line = re.sub(rf"\b{word}d\b" if word[-1] == "E" else rf"\b{word}ed\b", f"<[A-Z]*{code}[A-Z]*>ed", line)
        line = re.sub(rf"\b{word.removesuffix('E')}ing\b", f"<[A-Z]*{code}[A-Z]*>ing", line)
        line = re.sub(rf"\b{word}\b", f"<[A-Z]*{code}[A-Z]*>(?!ed|ing)", line)
    return line

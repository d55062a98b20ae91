"""Loads ``changes.toml``: the families of relations, the kinds of things and the rules for what ends."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any, Final

from worldthread.extract.parsed.clauses import WORDS as PARSED_WORDS
from worldthread.extract.prose.words import WORDS as PROSE_WORDS

TABLE: Final[dict[str, Any]] = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("changes.toml").read_text(encoding="utf-8")
)
"""The whole table."""

WORDS: Final = {name: frozenset(words.split()) for name, words in TABLE["words"].items()}
"""Closed lists of words by name."""

LISTS: Final = {
    **{name: frozenset(words.split()) for name, words in TABLE["lists"].items()},
    "meat": WORDS["meat"],
    **{name: PARSED_WORDS[name] for name in ("relations", "pets", "attributes")},
}
"""Lists of nouns and adjectives by name."""

COARSE_TIMES: Final = WORDS["coarse_times"] | PROSE_WORDS["months"] | PROSE_WORDS["weekdays"]
"""Words for times of a day or longer."""

KIN: Final = {word: frozenset(words.split()) for words in TABLE["kin"]["words"] for word in words.split()}
"""Words for relatives with all words for the same relative."""

_ORDINALS: Final[dict[str, int]] = TABLE["numbers"]


def number_of(word: str) -> int | None:
    """Return the number that a word or numeral means: 30 for "30", "30th", "thirty" and "thirtieth"."""
    numeral = re.fullmatch(r"(\d{1,3})(?:st|nd|rd|th)?", word)
    if numeral is not None:
        return int(numeral[1])
    tens, _, ones = word.partition("-")
    if ones in ("o", "oh") and number_of(tens) is not None:
        return 10 * (number_of(tens) or 0)  # "the big five-oh"
    if ones:
        return _ORDINALS[tens] + _ORDINALS[ones] if tens in _ORDINALS and ones in _ORDINALS else None
    return _ORDINALS.get(word)


KINDS: Final = {word: frozenset(others.split()) for word, others in TABLE["kinds"].items()}
"""Nouns with the words that may name the same thing."""

RELATION_KINDS: Final = {relation: frozenset(words.split()) for relation, words in TABLE["relation_kinds"].items()}
"""Relations that show the kind of their object: one drives a car."""

RULES: Final[dict[str, list[dict[str, Any]]]] = {}
"""The rules for what ends, by key."""
for _rule in TABLE["rules"]:
    for _key in _rule["on"].split():
        RULES.setdefault(_key, []).append(_rule)

PAST: Final = re.compile(r"(?:was|were|had|did|lived|worked|born|died|[a-z]+ed)\b(?<!married)")
"""The beginning of relations that speak of the past."""

HAVING: Final = frozenset(["have", "own", "possess", "get"])
"""Verbs of having, as lemmas."""

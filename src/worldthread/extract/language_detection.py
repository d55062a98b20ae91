"""Detects the language of a passage by its function words.

Short passages of chat are told apart by their closed-class words and commonest other words. A word counts the less the
more languages have it, and letters that few languages use count a little. Languages in which nothing is understood have
lists too, so that Dutch is not taken for German, nor Portuguese for Spanish.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from worldthread.extract.prose.words import WORDS

ENGLISH: Final = "en"
LANGUAGES: Final = ("de", "fr", "es")
"""The languages besides English whose times are understood."""
UNKNOWN: Final = "unknown"
"""The language of a passage in none of these languages, or in no language."""

_WORD: Final = re.compile(r"(?<![\d_])[^\W\d_]++(?:['’](?=[^\W\d_]))?(?![\d_])")
_OPENING: Final = re.compile(r"(?:^|[.!?:;\n…。]\s*|[\"“„«»¿¡(\[*-]\s?)$")
_SYMBOL: Final = re.compile(r"[{}\[\]()<>=;_|\\/*&^%$#@~+]")
_MARKS: Final = {"¿": "es", "¡": "es"}
_LETTER_WEIGHT: Final = 0.4
_MOST_SYMBOLS: Final = 0.08
"""Share of symbols among the characters other than spaces from which a text with few known words is code."""
_MOST_SYMBOLS_AMONG_WORDS: Final = 0.25
"""The share from which any text is code."""
_FEWEST_WORDS: Final = 0.45
_ENOUGH: Final = 5.0
"""Evidence from which a text is no code, whatever its symbols."""
_TIE: Final = 1e-9


@cache
def _weights() -> tuple[Mapping[str, tuple[tuple[str, float], ...]], Mapping[str, tuple[tuple[str, float], ...]]]:
    """Return the evidence by word and by letter: the languages that have it, each with its weight."""
    data = tomllib.loads(files("worldthread.extract").joinpath("language_detection.toml").read_text(encoding="utf-8"))
    words = {code: frozenset(text.replace("_", " ").split()) for code, text in data["other"].items()}
    words[ENGLISH] = frozenset(
        part
        for word in WORDS["function"] | WORDS["verbs"] | frozenset(data["known"][ENGLISH].split())
        for part in _parts(word)
    )
    for code in LANGUAGES:
        words[code] = frozenset(part for word in data["known"][code].split() for part in _parts(word))
    letters = {code: frozenset(text.split()) for code, text in data["letters"].items()}
    return _inverse(words, 1.0), _inverse(letters, _LETTER_WEIGHT)


def _opens_sentence(text: str, start: int) -> bool:
    return _OPENING.search(text, max(0, start - 4), start) is not None


def _parts(word: str) -> list[str]:
    """Return the parts of a word as the detector finds them in a text: "j'" and "ai" for "j'ai"."""
    return _WORD.findall(word + "x" if word.endswith("'") else word)[: 1 if word.endswith("'") else None]


def _inverse(items: Mapping[str, frozenset[str]], weight: float) -> dict[str, tuple[tuple[str, float], ...]]:
    owners: dict[str, list[str]] = {}
    for code, members in items.items():
        for member in members:
            owners.setdefault(member, []).append(code)
    return {m: tuple((code, weight / len(codes)) for code in codes) for m, codes in owners.items()}


_ENGLISH_FRAME: Final = re.compile(
    r"\bmy (?:[\w'’-]+ ){1,3}(?:is|are|was|were|has|have|had|will|can|and|lives?|works?|got|in|on"
    r"|at|for|to|turned|just)\b"
    r"|\b(?:my|our) (?:[\w-]+ ){0,2}[\w-]+['’]s [a-z]"
    r"|(?-i:\bI) (?:am|have|was|had|do|did|will|can|never|always|often|only) "
    r"|\b(?:he|she|we|they|i) (?:is|are|has|have|had|was|were|lives?|works?|owes?|likes?|shares?|runs?|plays?|drives?) "
    r"|(?-i:[A-Z][a-z]+)(?:['’]s| is| has) (?:an?|the|my|our|his|her|due|not|also|now|[a-z]+ing|in|on|at) \w"
    r"|(?-i:[A-Z][a-z]+) (?:is|has) my [a-z]"
    r"|\b(?:my|our) [\w-]+ (?:[a-z]{2,}s|[a-z]{2,}ed) (?:my|our|his|her|the|at|in|on|for|with|an?)\b"
    r"|(?-i:\bI) [a-z]+ (?:on|at|in|for) [\w]"
    r"|\b(?:i['’]?m|i['’]?ve|i['’]ll|i['’]d|don['’]?t|can['’]?t|doesn['’]?t|it['’]s|he['’]s|she['’]s"
    r"|we['’]re|we['’]ve) \w"
    r"|(?-i:\bI) [a-z]+ (?:an?|some) [a-z]|\bthe [a-z]"
    r"|\b(?:i|we)(?:['’]ve| have| had to)? [a-z]+ (?:my|our|his|her) [a-z]"
    r"|\b(?:an?|two|three|four|five|six|seven|eight|nine|ten|twelve) (?:days?|weeks?|months?|years?)\b",
    re.IGNORECASE,
)


def detect_language(text: str) -> str:
    """Return the language of a text.

    >>> detect_language("Ich wohne in Bonn."), detect_language("Ik woon in Utrecht.")
    ('de', 'unknown')

    Args:
        text: a passage or a sentence.

    Returns:
        ``"en"`` or a code of :data:`LANGUAGES`; :data:`UNKNOWN` for any other
        language, for code and numbers, and when two languages are as likely, unless one of them is English.
    """
    scores, known, count = _scores(text)
    best = max(scores.values(), default=0.0)
    if not scores or (best < _ENOUGH and _is_code(text, known, count)):
        return UNKNOWN
    winners = [code for code, score in scores.items() if score >= best - _TIE]
    if ENGLISH in winners:
        return ENGLISH
    return winners[0] if len(winners) == 1 and winners[0] in LANGUAGES else UNKNOWN


def is_foreign(text: str) -> bool:
    """Return whether something in a text speaks more for another language than for English.

    A text in which no word is known may be English: "Bob divorced Anna."

    Args:
        text: a passage or a sentence.

    Returns:
        Whether the rules for English must not read it.
    """
    scores = _scores(text)[0]
    return max(scores.values(), default=0.0) > scores.get(ENGLISH, 0.0) + _TIE


def _scores(text: str) -> tuple[dict[str, float], int, int]:
    """Return the evidence for each language, how many words are known, and how many words there are."""
    by_word, by_letter = _weights()
    scores: dict[str, float] = {}
    known = count = 0
    for match in _WORD.finditer(text):
        word = match[0]
        if word[0].isupper() and ((word.isupper() and word[1:].isalpha()) or not _opens_sentence(text, match.start())):
            continue  # a name: "Los Andes", "MIT"
        low = word.lower().replace("’", "'")
        count += 1
        found = by_word.get(low) or by_word.get(low.rstrip("'"), ())
        known += bool(found)
        for code, weight in found:
            scores[code] = scores.get(code, 0.0) + weight
        if not low.isascii() and low == word:
            for letter in set(low):
                for code, weight in by_letter.get(letter, ()):
                    scores[code] = scores.get(code, 0.0) + weight
    # English words that other languages spell alike say more together
    frames = 2.0 * sum(1 for _ in _ENGLISH_FRAME.finditer(text))
    if frames:
        scores[ENGLISH] = scores.get(ENGLISH, 0.0) + frames
    for mark, code in _MARKS.items():
        if mark in text:
            scores[code] = scores.get(code, 0.0) + 1.0
    return scores, known, count


def _is_code(text: str, known: int, count: int) -> bool:
    """Return whether a text is code rather than language: many symbols, or some and few known words."""
    most = _MOST_SYMBOLS if known < _FEWEST_WORDS * count else _MOST_SYMBOLS_AMONG_WORDS
    return len(_SYMBOL.findall(text)) > most * sum(not c.isspace() for c in text)

"""Normalisation of names.

Names are compared by their *key*; the *surface* is the name as written. The graph keeps both, so a name is shown as a
person wrote it.

Rules of :func:`normalise_name`, in order:

1. Apply Unicode NFKC, then full case folding: "Straße" and "STRASSE" have the same key. A run of more than 64
   combining marks, which occurs in no language, is divided, because sorting it would take quadratic time. Remove what
   is not seen, such as marks of direction, and soft hyphens, if anything is left.
2. Remove quotation marks and backticks around the whole name; turn typographic apostrophes into ``'``.
3. Collapse runs of white space into one space; remove trailing sentence punctuation ("the key." becomes "key").
4. Remove one leading article (*a, an, the, some*) if anything is left after it; "Room A" keeps its letter.

Plural and singular are **not** merged: "key" and "keys", "glass" and "glasses" may be different things in one world.
:func:`match_name` finds a known name in the other grammatical number, and returns every candidate. Nor are letters and
the same letters without their marks, "Søren" and "Soren": :func:`unmarked` is for finding a name only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from itertools import chain, pairwise


def _ranges(points: Iterable[int]) -> str:
    """Return ascending code points as the inside of a class of a pattern."""
    found: list[list[int]] = []
    for point in points:
        if found and point == found[-1][1] + 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in found)


@cache
def marks() -> str:
    """Return combining marks and vowel signs, which no pattern takes for parts of words, as the inside of a class."""
    blocks = chain(range(0x300, 0x1E00), range(0x20D0, 0x2100), range(0xA660, 0xABFF), range(0xFE20, 0xFE30))
    return _ranges(point for point in blocks if unicodedata.category(chr(point))[0] == "M")


_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"^(?:an?|the|some) (?=\S)")
_QUOTES = "\"'`\u00ab\u00bb"
_MOST_MARKS = 64
_MAYBE_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MOST_MARKS + 1}}}")
_MANY_MARKS = re.compile(rb"[^\0]{%d}(?=[^\0])" % _MOST_MARKS)
_JOINER = "\u034f"  # combining grapheme joiner: invisible, and marks are not sorted across it
# format characters and variation selectors, which are not seen; no joiners, and no tags of which flags consist
_UNSEEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0]"
)
_FIRST_MARK = "\u0300"  # no letter before it is a combining mark
_NO_BASE = str.maketrans({"æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ŋ": "n", "ſ": "s"})
_MARKED = re.compile(r"(LATIN SMALL LETTER \w+) WITH ")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})


@lru_cache(maxsize=8192)  # for the names of one text or game; more would only take memory
def normalise_name(name: str) -> str:
    """Return the key of a name. Idempotent; not empty for a name with a visible character."""
    key = _folded(name)
    if not key.isascii():
        seen = _folded(_UNSEEN.sub("", key))
        key = seen or key
    while True:
        quoted = len(key) > 1 and key[0] in _QUOTES and key[-1] in _QUOTES
        shorter = key.strip(_QUOTES).strip() if quoted else key
        shorter = shorter.rstrip(".,;:!?").rstrip() or shorter
        shorter = _ARTICLE.sub("", shorter)
        if shorter == key or not shorter:
            return key
        key = shorter


def as_seen(text: str) -> str:
    """Return a text in Unicode NFKC without what is not seen, in the case in which it is written.

    Args:
        text: any text.
    """
    return text if text.isascii() else _UNSEEN.sub("", _nfkc(text)).translate(_APOSTROPHES)


def unmarked(text: str) -> str:
    """Return a text in lower case without the marks of its letters, as people type it who lack the keys.

    >>> unmarked("Łukasz met Søren in Kraków")
    'lukasz met soren in krakow'

    Args:
        text: any text.

    Returns:
        The text; two that differ only in case and marks are equal.
    """
    folded = text.casefold()
    if folded.isascii():
        return folded
    folded = unicodedata.normalize("NFKD", stream_safe(_UNSEEN.sub("", folded))).translate(_NO_BASE)
    return _NOT_ASCII.sub(lambda found: _base_of(found[0]), folded)


@lru_cache(maxsize=4096)
def _base_of(letter: str) -> str:
    """Return the letter without its stroke or hook, which is not a combining mark: "l" for "ł"; nothing for a mark."""
    if letter >= _FIRST_MARK and unicodedata.combining(letter):
        return ""
    marked = _MARKED.match(unicodedata.name(letter, ""))
    try:
        return letter if marked is None else unicodedata.lookup(marked[1])
    except KeyError:  # such as "ƛ": there is no Latin lambda without its stroke
        return letter


def normalise_text(text: str) -> str:
    """Return the key of a sentence: NFKC, case folded, white space collapsed, no final full stop."""
    key = _folded(text)
    return key.rstrip(".").rstrip() or key


def _folded(text: str) -> str:
    # case folding can undo NFKC, so NFKC is applied again
    return _SPACE.sub(" ", _nfkc(_nfkc(text).casefold().translate(_APOSTROPHES))).strip()


def _nfkc(text: str) -> str:
    """Return ``text`` in Unicode NFKC; takes linear time."""
    if text.isascii():
        return text
    result = unicodedata.normalize("NFKC", stream_safe(text))
    # NFKC can turn one mark into two and so make a run too long
    while (safe := stream_safe(result)) != result:
        result = unicodedata.normalize("NFKC", safe)
    return result


def stream_safe(text: str) -> str:
    """Insert a joiner after every 64 combining marks in a row.

    This is the Stream-Safe Text Format of UAX #15 with longer runs (64 marks instead of 30). Normalisation sorts each
    run of marks, which takes quadratic time in its length.

    Args:
        text: any text.

    Returns:
        The text; ordinary text is returned as it is.
    """
    if _MAYBE_MARKS.search(text) is None:
        return text
    classes = bytes(map(unicodedata.combining, text))
    ends = [0, *(run.end() for run in _MANY_MARKS.finditer(classes)), len(text)]
    return _JOINER.join(text[start:end] for start, end in pairwise(ends))


def number_variants(key: str) -> frozenset[str]:
    """Return the keys that differ from ``key`` only in the grammatical number of the last word (English)."""
    head, _, last = key.rpartition(" ")
    forms: set[str] = set()
    if last.isalpha() and len(last) > 2:
        if last.endswith("ies"):
            forms.add(last[:-3] + "y")
        if last.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            forms.add(last[:-2])
        if last.endswith("ves"):
            forms.update((last[:-3] + "f", last[:-3] + "fe"))
        if last.endswith("s") and not last.endswith("ss"):
            forms.add(last[:-1])
        if last.endswith("y") and last[-2] not in "aeiou":
            forms.add(last[:-1] + "ies")
        elif last.endswith(("s", "x", "z", "ch", "sh")):
            forms.add(last + "es")
        elif not last.endswith("s"):
            forms.add(last + "s")
            if last.endswith("f"):
                forms.add(last[:-1] + "ves")
            if last.endswith("fe"):
                forms.add(last[:-2] + "ves")
            if last.endswith("o"):
                forms.add(last + "es")
    prefix = f"{head} " if head else ""
    return frozenset(prefix + form for form in forms if form != last)


def match_name(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Find the known keys that a name may mean.

    Args:
        name: a name as written.
        known: keys, which are normalised already.

    Returns:
        The key of the name if it is known, else its known variants in the other grammatical number, sorted. Empty when
        the name is not known; more than one when it is ambiguous.
    """
    key = normalise_name(name)
    if key in known:
        return (key,)
    return tuple(sorted(variant for variant in number_variants(key) if variant in known))

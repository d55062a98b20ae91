"""Normalisation of names: explicit, small, and kept apart from how a name is shown.

A *key* is what names are compared by; the *surface* is what was written. The graph keeps both: keys for identity,
surfaces for display, so nothing that a person wrote is lost.

Rules of :func:`normalise_name`, in order:

1. Unicode NFKC, then full case folding ("Straße" and "STRASSE" meet). More than 64 combining marks in a row are no
   word of any language; they are cut into pieces, since sorting them all would take long.
2. Quotation marks and backticks around the whole name go; typographic apostrophes become ``'``.
3. Runs of white space become one space; trailing sentence punctuation goes ("the key." and "key").
4. One leading article (*a, an, the, some*) goes if anything is left after it ("Room A" keeps its letter).

Plural and singular are **not** merged: "key" and "keys", "glass" and "glasses" may be different things in one world.
:func:`match_name` finds a known name across number, and gives every candidate when there are several.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"^(?:an?|the|some) (?=\S)")
_QUOTES = "\"'`\u00ab\u00bb"
_MOST_MARKS = 64
_MAYBE_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MOST_MARKS + 1}}}")
_MANY_MARKS = re.compile(rb"[^\0]{%d}(?=[^\0])" % _MOST_MARKS)
_JOINER = "\u034f"  # combining grapheme joiner: not to be seen, and no mark is sorted across it
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})


@lru_cache(maxsize=65536)
def normalise_name(name: str) -> str:
    """The key by which a name is compared. Idempotent; never empty for a name with a visible character."""
    key = _folded(name)
    while True:
        quoted = len(key) > 1 and key[0] in _QUOTES and key[-1] in _QUOTES
        shorter = key.strip(_QUOTES).strip() if quoted else key
        shorter = shorter.rstrip(".,;:!?").rstrip() or shorter
        shorter = _ARTICLE.sub("", shorter)
        if shorter == key or not shorter:
            return key
        key = shorter


def normalise_text(text: str) -> str:
    """The key by which a sentence is compared: NFKC, case folded, white space collapsed, no final full stop."""
    key = _folded(text)
    return key.rstrip(".").rstrip() or key


def _folded(text: str) -> str:
    # case folding can leave NFKC, so once more
    return _SPACE.sub(" ", _nfkc(_nfkc(text).casefold().translate(_APOSTROPHES))).strip()


def _nfkc(text: str) -> str:
    """Unicode NFKC in linear time."""
    if text.isascii():
        return text
    result = unicodedata.normalize("NFKC", stream_safe(text))
    # one mark can become two
    while (safe := stream_safe(result)) != result:
        result = unicodedata.normalize("NFKC", safe)
    return result


def stream_safe(text: str) -> str:
    """``text`` with a joiner behind every 64 combining marks in a row, as in the Stream-Safe Text Format of UAX #15.

    Without, normalisation takes quadratic time: it sorts each run of marks. Ordinary text stays as it is.
    """
    if _MAYBE_MARKS.search(text) is None:
        return text
    classes = bytes(map(unicodedata.combining, text))
    ends = [0, *(run.end() for run in _MANY_MARKS.finditer(classes)), len(text)]
    return _JOINER.join(text[start:end] for start, end in pairwise(ends))


def number_variants(key: str) -> frozenset[str]:
    """Keys that differ from ``key`` only in the grammatical number of the last word (English); without itself."""
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
    """Keys among ``known`` (already normalised) that ``name`` may mean: the exact one, else number variants, sorted.

    An empty result means unknown; more than one means that the caller must choose.
    """
    key = normalise_name(name)
    if key in known:
        return (key,)
    return tuple(sorted(variant for variant in number_variants(key) if variant in known))

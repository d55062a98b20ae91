"""Cuts a sentence into spans with one regular expression: names, titles, numbers, dates, addresses and words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final, TypeAlias

from worldthread.extract.prose.dates import DATE, MONTH
from worldthread.names import marks

Token: TypeAlias = tuple[str, int, int, str]
"""Kind of a span, its start and end (offsets in the sentence), and its text."""


def _upper() -> str:
    """Return the capital letters of the scripts that have them, for use in a character class."""
    points = [p for p in (*range(0x590), *range(0x10A0, 0x10C6), *range(0x1E00, 0x2000)) if chr(p).isupper()]
    return "".join(map(chr, points))


_U: Final = _upper()
_M: Final = marks()
_L: Final = rf"(?:[^\W_]|[{_M}])"  # a letter or digit, or a mark on one: vowels of many scripts are marks
_CAPITAL: Final = (
    rf"(?:(?:[{_U}]\.){{2,}}(?=\W|$)|(?:Mr|Mrs|Ms|Dr|Prof|St|Lt|Col|Gen|Sgt|Capt|Rev|Mt|Ft)\.(?= [{_U}])|"
    rf"[{_U}]\.(?= [{_U}])|(?:[a-z]{{1,2}}(?=[{_U}][^\W\d_]))?[{_U}]{_L}*+"
    rf"(?:['’](?!(?:s|t|m|re|ve|ll|d)\b){_L}++|&{_L}++|–(?=[{_U}]){_L}++"
    rf"|[-‐‑](?!(?:based|born|style|like|led|era|speaking|owned)\b){_L}++)*+)"
)
_LINK: Final = (
    r"(?:of(?: the)?|de(?: la| los| las)?|d[aiuo]s?|del(?:la)?|des|v[ao]n(?: de[rn]?)?|ter|zu|l[ae]|al|el|bin|ibn|y|&)"
)
_UNIT: Final = (
    r"(?:hundred|thousand|million|billion|trillion|percent|per cent|dollars?|euros?|pounds?|cents?|k?m|cm|mm|k?g|"
    r"mg|lbs?|miles?|feet|ft|inch(?:es)?|met(?:er|re)s?|kilomet(?:er|re)s?|acres?|hectares?|tons?|tonnes?|lit(?:er|re)s?|"
    r"seconds?|minutes?|hours?|days?|weeks?|months?|years?|people|times|degrees|[KMG]Hz|[KMGT]B|mAh|[kM]?W|V|USD|EUR)"
)
_SPAN: Final = re.compile(
    rf"(?P<address>(?:https?://|www\.)[^\s<>\"]{{2,200}}|(?<![\w.+-])[\w.+-]{{1,64}}@\w[\w-]{{0,62}}(?:\.[\w-]{{1,63}}){{1,4}})"
    rf"|(?<!\w)(?P<date>{DATE})"
    rf"|(?:``|“|«|(?<![\w\"])\") ?(?P<title>[{_U}\d][^\"“”«»`\n]{{1,80}}?) ?(?:''|”|»|\")"
    r"|(?<!\w)(?P<opener>(?:In|On|At|By|From|Since|Until|During|After|Before|For|Of|To|About|Over|Between|And|But|All|These|"
    rf"Those|Only|Some|Around|Within|With|Another|Its|His|Her|Their|My|Our|Nearly|Almost)(?= \d| {MONTH}\b))"
    rf"|(?<![\w'’])(?P<name>(?:(?:(?<=\bthe )|(?<=\bThe )|^)[12]\d{{3}} )?{_CAPITAL}"
    rf"(?:(?: |\u00a0)(?:{_LINK} ){{0,2}}(?:{_CAPITAL}|\d{{1,4}}[A-Za-z]{{0,2}}\b(?![.,:/%-]\d)))*+)"
    rf"|(?<![\w.])(?P<time>\d{{1,2}}(?:[:.]\d\d)? ?[ap]\.?m\b\.?|\d{{1,2}}:\d\d(?!\d))"
    rf"|(?<!\w)(?P<phone>\+?\d{{1,4}}(?:[ -]\(?\d{{2,5}}\)?){{2,4}}(?!\w)|\d{{3}}[ -]\d{{4}}(?!\w))"
    rf"|(?<!\w)(?P<number>[$€£¥₹]?\d++(?:,\d{{3}}(?!\d))*+(?:\.\d++)*(?:[^\W_]++|%|°[CF]?)?(?:[ -]{_UNIT}\b(?![-’']))*)"
    rf"|(?P<clitic>(?<=\w)['’](?:s|t|m|re|ve|ll|d)\b)"
    rf"|(?P<word>[^\W\d_](?:[^\W\d_]|[{_M}])*+(?:['’-][^\W\d_](?:[^\W\d_]|[{_M}])*+)*+(?![\d]))|(?P<code>[^\W_]++(?:['’-](?!s\b)[^\W_]++)*+)"
)


def tokens_of(text: str, start: int = 0) -> list[Token]:
    """Return the spans of a sentence from ``start`` on, in order.

    In a sentence of a script with capitals, words of a script without them are a name, and so are several in a row.
    """
    found = []
    for match in _SPAN.finditer(text, start):
        kind = match.lastgroup or ""
        if kind not in ("clitic", "opener"):
            found.append((kind, *match.span(kind), match[kind]))
    return found if text.isascii() else list(_with_names_of_other_scripts(text, found))


def _with_names_of_other_scripts(text: str, tokens: list[Token]) -> Iterable[Token]:
    """Yield the spans with those of a script without capitals as names, where others have capitals."""
    bare = [span[:-2] if span.endswith(("'s", "’s")) else span for _, _, _, span in tokens]
    are_caseless = [kind == "word" and word == word.title() for (kind, _, _, _), word in zip(tokens, bare, strict=True)]
    others = [span for (_, _, _, span), is_caseless in zip(tokens, are_caseless, strict=True) if not is_caseless]
    if sum(map(len, others)) < len(text) / 3:
        yield from tokens
        return
    for is_caseless, run in groupby(zip(are_caseless, tokens, strict=True), key=lambda one: one[0]):
        words = [token for _, token in run]
        if not is_caseless:
            yield from words
            continue
        begin = 0
        for place, (_, _, end, span) in enumerate(words, 1):
            is_owner = span.endswith(("'s", "’s"))
            if place == len(words) or is_owner or text[end : words[place][1]] != " ":
                end -= 2 * is_owner
                yield "name", words[begin][1], end, text[words[begin][1] : end]
                begin = place

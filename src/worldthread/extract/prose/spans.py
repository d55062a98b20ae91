"""Cuts a sentence into spans with one regular expression: names, titles, numbers, dates, addresses and words."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from worldthread.extract.prose.dates import DATE, MONTH

Token: TypeAlias = tuple[str, int, int, str]
"""Kind of a span, its start and end (offsets in the sentence), and its text."""


def _upper() -> str:
    """Return the capital letters of the scripts that have them, for use in a character class."""
    points = [p for p in (*range(0x590), *range(0x10A0, 0x10C6), *range(0x1E00, 0x2000)) if chr(p).isupper()]
    return "".join(map(chr, points))


_U: Final = _upper()
_CAPITAL: Final = (
    rf"(?:(?:[{_U}]\.){{2,}}(?=\W|$)|(?:Mr|Mrs|Ms|Dr|Prof|St|Lt|Col|Gen|Sgt|Capt|Rev|Mt|Ft)\.(?= [{_U}])|"
    rf"[{_U}]\.(?= [{_U}])|(?:[a-z]{{1,2}}(?=[{_U}][^\W\d_]))?[{_U}][^\W_]*+"
    rf"(?:['’](?!(?:s|t|m|re|ve|ll|d)\b)[^\W_]++|&[^\W_]++|–(?=[{_U}])[^\W_]++"
    r"|[-‐‑](?!(?:based|born|style|like|led|era|speaking|owned)\b)[^\W_]++)*+)"
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
    rf"|(?P<word>[^\W\d_]++(?:['’-][^\W\d_]++)*+(?![\d]))|(?P<code>[^\W_]++(?:['’-](?!s\b)[^\W_]++)*+)"
)


def tokens_of(text: str, start: int = 0) -> list[Token]:
    """Return the spans of a sentence from ``start`` on, in order."""
    found = []
    for match in _SPAN.finditer(text, start):
        kind = match.lastgroup or ""
        if kind not in ("clitic", "opener"):
            found.append((kind, *match.span(kind), match[kind]))
    return found

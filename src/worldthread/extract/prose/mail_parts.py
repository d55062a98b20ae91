"""Finds the lines of a message that its sender did not write: quotations, forwarded mails, signatures, footers."""

from __future__ import annotations

import re
from typing import Final

_LINE: Final = re.compile(r"[^\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_QUOTED: Final = re.compile(r"\s*(?:[A-Za-z]{1,4})?>|\s*(?:[|)]\s|--\])")
_ATTRIBUTION: Final = re.compile(r".{3,160}\b(?:wrote|writes|said|schrieb|a écrit|escribió)\s*:\s*$")
_HEADER: Final = re.compile(r"\s*\*?(?:From|Sent|Date|To|Cc|Subject|Von|Gesendet|An|Betreff)\s?:\*? ")
_HASH: Final = re.compile(r"Hash: SHA\d+$")
_SIGNED: Final = re.compile(r"- ?-{4,}\s*BEGIN PGP SIGNED MESSAGE")
# a line after which all is by somebody else, or says who writes and from where
_REST: Final = re.compile(
    r"\s*(?:--\s?$|- --\s?$|-{4,} ?(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Forwarded [Mm]essage|"
    r"Message original|BEGIN PGP (?:SIGNATURE|PUBLIC))|>-{3,} ?Original Message|Begin forwarded message\s*:)",
)
_RULER: Final = re.compile(r"\s*[_*=~-]{12,}\s*$")
_LONGEST_FOOTER: Final = 12  # lines below a ruler


_QUOTATION: Final = re.compile(
    r"(?<!\w)\"(?P<straight>[^\"\n]{3,2000})\"(?!\w)|“(?P<curved>[^“”]{3,2000})”|«(?P<guillemets>[^«»]{3,2000})»|„(?P<low>[^„“”]{3,2000})[“”]"
)
_CLAUSE: Final = re.compile(r"\b(?:I|me|my|we|us|our|you|your|he|she|his|her|they|their)\b", re.IGNORECASE)


def quoted_clauses(text: str) -> list[tuple[int, int]]:
    r"""Return where somebody's words are quoted: not a title, but what has a person of its own.

    >>> quoted_clauses('The book "Heat" begins with "My name is Ishmael."')
    [(28, 49)]

    Args:
        text: a message.

    Returns:
        Begin and end of each quotation, in order.
    """
    return [one.span() for one in _QUOTATION.finditer(text) if _CLAUSE.search(one[0]) is not None]


def foreign_lines(text: str) -> frozenset[int]:
    r"""Return the offsets of the lines of a message that are not its sender's own words.

    >>> sorted(foreign_lines("Yes.\n> Are you in Rome?\nI am."))
    [5]

    Args:
        text: a message; one line is always its sender's own.

    Returns:
        Where these lines begin: lines that are quoted, what is forwarded, signatures and the footers of lists.
    """
    lines = [(m.start(), m[0]) for m in _LINE.finditer(text)]
    if len(lines) < 2:
        return frozenset()
    found: set[int] = set()
    is_code = False
    for number, (start, line) in enumerate(lines):
        following = lines[number + 1][1] if number + 1 < len(lines) else ""
        if _REST.match(line) or (_HEADER.match(line) and _HEADER.match(following)):
            return frozenset([*found, *(offset for offset, _ in lines[number:])])
        if _RULER.match(line) and number and len(lines) - number <= _LONGEST_FOOTER:
            return frozenset([*found, *(offset for offset, _ in lines[number:])])
        is_fence = line.lstrip().startswith(("```", "~~~"))
        if is_code or is_fence:  # what stands between fences is pasted
            found.add(start)
            is_code = is_code != is_fence
            continue
        if _QUOTED.match(line) or _ATTRIBUTION.match(line) or _HASH.match(line) or _SIGNED.match(line):
            found.add(start)
    return frozenset(found)

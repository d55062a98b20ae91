"""Takes out of a text what a memory has recalled itself: a prompt that comes back is nothing new."""

from __future__ import annotations

import re
from typing import Final

from worldthread.types import Kind

HEADS: Final[dict[Kind, str]] = {"fact": "Facts:", "thesis": "Sentences:", "episode": "Texts:"}
"""The headings of what is recalled, by the kind of hit."""

_HEAD: Final = re.compile(rf"(?:.*[\s>])?(?:{'|'.join(HEADS.values())})\s*$")
_ENTRY: Final = re.compile(r"\s*- \S|\s{4,}\S")
_TIMED: Final = re.compile(r"\([^()\n]*\d[^()\n]*\)")


def without_recalled(text: str) -> str:
    r"""Return a text without the entries that :attr:`Recall.text <worldthread.Recall.text>` lists in it.

    >>> without_recalled("You help Anna.\nFacts:\n- Anna lives in Rome (known since 2024-01-01)\nBe short.")
    'You help Anna.\nBe short.'

    Args:
        text: a text, such as a prompt.

    Returns:
        The text; as given where no heading of a recall is followed by entries of which one has its time.
    """
    if not any(head in text for head in HEADS.values()):
        return text
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    place = 0
    while place < len(lines):
        end = place + 1
        if _HEAD.match(lines[place]) is not None:
            while end < len(lines) and (_ENTRY.match(lines[end]) is not None or not lines[end].strip()):
                end += 1
        if any(_TIMED.search(line) for line in lines[place + 1 : end]):
            before = lines[place].rstrip().removesuffix(next(h for h in HEADS.values() if h in lines[place]))
            kept += [before.rstrip() + "\n"] if before.strip() else []
        else:
            kept += lines[place:end]
        place = end
    return "".join(kept)

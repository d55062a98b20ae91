"""Splits a Markdown or plain text into blocks by simple line rules, in time linear in the text.

A full CommonMark parser (markdown-it-py, block rules only) was measured and not used: it takes 15 to 30 s and up to
1.8 GB for 4 MB of headings or list items, 10 s for 0.4 MB of lazily continued quotes, and loses reference definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

LONGEST_HEADING: Final = 80
"""Characters. A longer line counts as text, because a heading is repeated before each passage under it."""

LIST_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|(\d{1,9})[.)])(?:[ \t]|$)")

_FRONT_MATTER: Final = 200  # lines in which the block that begins a file with "---" must end
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.+)")


class BlockKind(Enum):
    """The kind of a block."""

    HEADING = auto()
    PARAGRAPH = auto()
    LIST = auto()
    FENCE = auto()
    TABLE = auto()


class Block(NamedTuple):
    """One paragraph, list, fenced block, table or heading.

    Args:
        kind: what it is.
        first: number of its first line, from 0.
        last: number of the line after its last one.
        level: of a heading, 1 to 6; else 0.
        title: the text of a heading; else empty.
    """

    kind: BlockKind
    first: int
    last: int
    level: int = 0
    title: str = ""


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of a text in order; only empty lines lie between them.

    Args:
        lines: the lines of the text without their ends, at least one.

    Yields:
        The blocks.
    """
    number = 0
    if lines[0].rstrip() == "---":
        number = _front_matter_end(lines)
        if number:
            yield Block(BlockKind.FENCE, 0, number)
    while number < len(lines):
        if not lines[number].strip():
            number += 1
            continue
        block = _block(lines, number)
        yield block
        number = block.last


def _block(lines: Sequence[str], first: int) -> Block:
    """Return the block that begins in the line ``first``, which is not empty."""
    line = lines[first]
    below = lines[first + 1].strip() if first + 1 < len(lines) else ""
    heading = _heading(line)
    if heading is not None:
        return Block(BlockKind.HEADING, first, first + 1, *heading)
    if is_fence(line):
        return Block(BlockKind.FENCE, first, fence_end(lines, first))
    if LIST_ITEM.match(line):
        return Block(BlockKind.LIST, first, _list_end(lines, first))
    if "|" in line and _is_delimiter(below):
        return Block(BlockKind.TABLE, first, _table_end(lines, first))
    title = line.strip()
    if len(below) > 2 and set(below) in ({"="}, {"-"}) and len(title) <= LONGEST_HEADING and title[-1] not in ".!;,":
        return Block(BlockKind.HEADING, first, first + 2, 1 if below[0] == "=" else 2, title)
    return Block(BlockKind.PARAGRAPH, first, _paragraph_end(lines, first))


def _heading(line: str) -> tuple[int, str] | None:
    """Return level and text of a heading that is marked with ``#``; ``None`` for any other line."""
    if len(line) > 2 * LONGEST_HEADING or not (found := _HEADING.match(line)):
        return None
    title = found[2].rstrip()
    unmarked = title.rstrip("#")
    if unmarked.endswith((" ", "\t")) or not unmarked:
        title = unmarked.rstrip()
    return (len(found[1]), title) if title and len(title) <= LONGEST_HEADING else None


def is_fence(line: str) -> bool:
    """Return whether the line opens a fenced block."""
    found = _FENCE.match(line)
    return found is not None and not (found[1][0] == "`" and "`" in found[2])


def _is_delimiter(stripped: str) -> bool:
    return "-" in stripped and "|" in stripped and set(stripped) <= set("|-: \t")


def _front_matter_end(lines: Sequence[str]) -> int:
    """Return the number of the line after the front matter of a file; 0 when there is none."""
    for number in range(1, min(len(lines), _FRONT_MATTER)):
        if lines[number].rstrip() in ("---", "..."):
            return number + 1 if number > 1 else 0
        if number == 1 and ":" not in lines[number]:
            return 0
    return 0


def fence_end(lines: Sequence[str], first: int) -> int:
    """Return the number of the line after a fenced block.

    As in CommonMark, a block without a closing fence goes to the end of the text.

    Args:
        lines: the lines of the text.
        first: number of the line with the opening fence.

    Returns:
        The number of the line after the closing fence, or the number of lines.
    """
    opening = lines[first].strip()
    mark = opening[0]
    length = len(opening) - len(opening.lstrip(mark))
    for number in range(first + 1, len(lines)):
        line = lines[number].strip()
        if len(line) >= length and line.startswith(mark) and not line.strip(mark):
            return number + 1
    return len(lines)


def _list_end(lines: Sequence[str], first: int) -> int:
    """Return the number of the line after a list: items, lines indented under them, and lines that continue them."""
    number = last = first + 1
    while number < len(lines):
        line = lines[number]
        if not line.strip():
            number += 1
            continue
        indented = line[0] in " \t"
        if not indented and not LIST_ITEM.match(line) and (number > last or _heading(line) or is_fence(line)):
            break
        number = last = fence_end(lines, number) if is_fence(line) else number + 1
    return last


def _table_end(lines: Sequence[str], first: int) -> int:
    number = first + 2
    while number < len(lines) and "|" in lines[number]:
        number += 1
    return number


def _paragraph_end(lines: Sequence[str], first: int) -> int:
    for number in range(first + 1, len(lines)):
        line = lines[number]
        item = LIST_ITEM.match(line)
        if not line.strip() or _heading(line) or is_fence(line) or (item and item[1] in (None, "1")):
            return number
        if "|" in line and number + 1 < len(lines) and _is_delimiter(lines[number + 1].strip()):
            return number
    return len(lines)

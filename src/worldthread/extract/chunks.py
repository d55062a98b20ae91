"""Splits a long text into passages that can be understood alone: by structure first, by length only where needed.

Takes time linear in the text.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, TypeAlias

from worldthread.errors import InputError
from worldthread.extract.markdown import LIST_ITEM, LONGEST_HEADING, BlockKind, blocks, fence_end, is_fence
from worldthread.extract.prose.sentences import split_sentences, title_of

_LETTERS_A_WORD: Final = 12  # text with fewer spaces is measured by its letters: tables, links, code
_LONGEST_TOKEN: Final = 60  # characters without a space that are never cut apart

_TOKEN: Final = re.compile(rf"[^\s、，；：]{{1,{_LONGEST_TOKEN}}}[、，；：]*|[、，；：]+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_WORD: Final = re.compile(r"[^\W_]")
_BLANK_LINES: Final = re.compile(r"\n\s*\n")
_WIDE_SPACE: Final = re.compile(r"([ \t]{40})[ \t]+")
_CLAUSE_ENDS: Final = tuple(",;:)—、，；：")

_Span: TypeAlias = tuple[int, int]
_Cutter: TypeAlias = Callable[[str, int], Iterator[int]]
"""Yields the offsets at which the pieces of a text begin, rising, for a text and the most words of a piece."""


def chunk(text: str, *, max_words: int = 120) -> list[str]:
    """Split a plain or Markdown text into passages of at most ``max_words`` words.

    A passage never crosses a heading. Paragraphs, lists, fenced code and tables stay whole when they fit; small
    neighbours under one heading share a passage. A longer block is cut between list items, rows or lines, else between
    sentences; a longer sentence after a clause, else between words; only a piece of 60 characters without a space is
    cut anywhere.

    The first line of a passage is its place in the text, as ``Title > Section > Part``: the headings above it, or the
    title of a plain text (a short first line that does not end like a sentence). A passage that continues a table
    begins with the head of the table as well. The rest is a slice of the text, in order and without overlap; only
    needless white space and the headings that the first lines repeat are left out.

    Args:
        text: the text.
        max_words: the most words of a passage, without the repeated lines; at least 1. Twelve letters count as at least
            one word, and so do two characters of a script without spaces.

    Returns:
        The passages, in order; none for a text of white space.

    Raises:
        InputError: ``max_words`` is below 1.
    """
    if max_words < 1:
        raise InputError(f"max_words must be at least 1, not {max_words}")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    offsets = array("q", accumulate((len(line) + 1 for line in lines), initial=0))
    packer = _Packer(text, max_words)
    outline = _Outline(packer)
    for number, block in enumerate(blocks(lines)):
        start, end = offsets[block.first], offsets[block.last] - 1
        if block.kind is BlockKind.HEADING:
            outline.open(block.level, block.title, (start, end))
            continue
        if number == 0 and block.kind is BlockKind.PARAGRAPH and _is_title(text, lines[block.first]):
            first_line = (start, offsets[block.first + 1] - 1)
            outline.open(0, lines[block.first].strip(), first_line)
            start = first_line[1]
            if block.last == block.first + 1:
                continue
        head = ""
        if block.kind is BlockKind.TABLE and offsets[block.first + 2] - start <= 2 * LONGEST_HEADING:
            head = text[start : offsets[block.first + 2]]
        outline.mark_shown()
        for span, weight in _fitting(text, (start, end), _CUTTERS[block.kind], max_words):
            packer.add(span, weight, outline, head if span[0] > start else "")
    outline.close(0)
    return packer.finish()


class _Outline:
    """The open headings, outermost first. A heading without text of its own is kept as text of the one above."""

    def __init__(self, packer: _Packer) -> None:
        self._packer = packer
        self._levels: list[int] = []
        self._titles: list[str] = []
        self._spans: list[_Span] = []
        self._shown = 0  # how many of them are in the first line of a passage
        self.path = ""
        self.section = -1  # offset of the innermost heading: sections of one name differ in it

    def open(self, level: int, title: str, span: _Span) -> None:
        self.close(level)
        self._levels.append(level)
        self._titles.append(title)
        self._spans.append(span)
        self._move()

    def close(self, level: int) -> None:
        """End the headings of ``level`` and below it."""
        while self._levels and self._levels[-1] >= level:
            is_empty = self._shown < len(self._levels)
            span = self._spans.pop()
            self._levels.pop()
            title = self._titles.pop()
            self._move()
            if is_empty:
                self._packer.add(span, _weight(title) + 1, self)  # + 1 for its mark
            self.mark_shown()

    def _move(self) -> None:
        self.path = " > ".join(self._titles)
        self.section = self._spans[-1][0] if self._spans else -1

    def mark_shown(self) -> None:
        """Record that a passage with the current path follows, or exists already."""
        self._shown = len(self._levels)


class _Packer:
    """Fills passages with spans of the text, in order."""

    def __init__(self, text: str, limit: int) -> None:
        self._text = text
        self._limit = limit
        self._passages: list[str] = []
        self._start = self._end = 0
        self._weight = 0.0
        self._has_no_word = True
        self._section = -1
        self._above: tuple[str, ...] = ()

    def add(self, span: _Span, weight: float, outline: _Outline, head: str = "") -> None:
        """Add a span below the open headings; ``head`` goes before it when it begins a passage."""
        if not weight:  # white space
            return
        has_no_word = _WORD.search(self._text, *span) is None  # rulers, closing fences: they go with their neighbours
        total = self._weight + weight
        fits = total <= self._limit or ((has_no_word or self._has_no_word) and total <= 2 * self._limit)
        if self._weight and (outline.section != self._section or not fits):
            self._flush()
        if not self._weight:
            self._start, self._section, self._has_no_word = span[0], outline.section, True
            self._above = (outline.path, head.rstrip("\n"))
        self._end = span[1]
        self._weight += weight
        self._has_no_word = self._has_no_word and has_no_word

    def finish(self) -> list[str]:
        if self._weight:
            self._flush()
        return self._passages

    def _flush(self) -> None:
        within_line = self._start > 0 and self._text[self._start - 1] != "\n"
        body = self._text[self._start : self._end].rstrip()
        if len(body) > 40:
            body = _WIDE_SPACE.sub(r"\1", _BLANK_LINES.sub("\n\n", body))
        body = body.lstrip() if within_line else body.lstrip("\n")  # else the indentation stays
        self._passages.append("\n".join(filter(None, (*self._above, body))))
        self._weight = 0.0


def _weight(text: str) -> float:
    """Return the length of a text in words."""
    words = text.split()
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return max(len(words) + unspaced / 2, sum(map(len, words)) / _LETTERS_A_WORD)


def _is_title(text: str, first_line: str) -> bool:
    return len(first_line) <= LONGEST_HEADING and not first_line[0].isspace() and title_of(text)[0] is not None


def _fitting(text: str, span: _Span, cutters: Sequence[_Cutter], limit: int) -> Iterator[tuple[_Span, float]]:
    """Yield the span, or its pieces by the first of ``cutters`` that makes them small enough, each with its weight."""
    start, end = span
    part = text[start:end]
    weight = _weight(part)
    if not cutters or weight <= limit:
        yield span, weight
        return
    cutter, *finer = cutters
    begins = [0, *(begin for begin in cutter(part, limit) if 0 < begin < len(part)), len(part)]
    for begin, stop in pairwise(begins):
        weight = _weight(part[begin:stop])
        piece = (start + begin, start + stop)
        if weight <= limit:
            yield piece, weight
        else:
            yield from _fitting(text, piece, finer, limit)


def _cut_lines(part: str, _: int) -> Iterator[int]:
    return (found.end() for found in re.finditer("\n", part))


def _cut_items(part: str, _: int) -> Iterator[int]:
    """Return the offsets of the items that are not inside another item."""
    indent = len(part) - len(part.lstrip())
    return (begin for begin, line in _item_lines(part) if len(line) - len(line.lstrip()) <= indent)


def _cut_inner_items(part: str, _: int) -> Iterator[int]:
    return (begin for begin, _line in _item_lines(part))


def _item_lines(part: str) -> Iterator[tuple[int, str]]:
    lines = part.split("\n")
    number = place = 0
    while number < len(lines):
        following = fence_end(lines, number) if is_fence(lines[number]) else number + 1
        if LIST_ITEM.match(lines[number]):
            yield place, lines[number]
        place += sum(map(len, lines[number:following])) + following - number
        number = following


def _cut_sentences(part: str, _: int) -> Iterator[int]:
    return (sentence.end for sentence in split_sentences(part))


def _cut_anywhere(part: str, limit: int) -> Iterator[int]:
    """Yield the offset after the last clause of each passage when it is in the second half, else between words."""
    weight = clause_weight = 0.0
    clause = 0
    for token in _TOKEN.finditer(part):
        added = _weight(token[0])
        if weight and weight + added > limit:
            if clause_weight > limit / 2:
                yield clause
                weight -= clause_weight
            else:
                yield token.start()
                weight = 0.0
            clause_weight = 0.0
        weight += added
        if token[0].endswith(_CLAUSE_ENDS):
            clause, clause_weight = token.end(), weight


_CUTTERS: Final[dict[BlockKind, tuple[_Cutter, ...]]] = {
    BlockKind.PARAGRAPH: (_cut_sentences, _cut_anywhere),
    BlockKind.LIST: (_cut_items, _cut_inner_items, _cut_sentences, _cut_anywhere),
    BlockKind.FENCE: (_cut_lines, _cut_anywhere),
    BlockKind.TABLE: (_cut_lines, _cut_anywhere),
}

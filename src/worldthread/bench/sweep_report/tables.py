"""Tables about agents, and how figures are written in them."""

from __future__ import annotations

import html
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from worldthread.bench.sweep_report.plays import PlayGroup
from worldthread.bench.sweep_report.published import Figure
from worldthread.text import count_of, one_line

_MARKS: Final = re.compile(r"[\\`*|\[\]$~]|(?<!\w)_|_(?!\w)")
NOTHING: Final = "-"
"""In a cell of which nothing is known."""


@dataclass(frozen=True)
class AgentTable:
    """A table.

    Args:
        name: one word or two, joined by hyphens.
        title: a few words.
        caption: what the figures are.
        header: names of the columns; may have line breaks.
        rows: cells in words.
        names: how many of the first columns tell what a row is about.
        published: columns whose figures are published ones.
    """

    name: str
    title: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    published: frozenset[int] = frozenset()

    def markdown(self) -> str:
        """The table with its title and caption."""
        rule = ["---"] * self.names + ["---:"] * (len(self.header) - self.names)
        lines = [" | ".join(map(in_markdown, row)) for row in (self.header, *self.rows)]
        lines.insert(1, " | ".join(rule))
        return "\n".join(
            [f"## {in_markdown(self.title)}", "", in_markdown(self.caption), "", *(f"| {line} |" for line in lines)]
        )


def in_markdown(text: str) -> str:
    """Text that stays text in Markdown: no tags, cells, links, code, formulas or emphasis come out of it."""
    return _MARKS.sub(r"\\\g<0>", html.escape(one_line(text), quote=False))


# -- cells ------------------------------------------------------------------------------------------------------------


def mean_and_deviation(values: Sequence[float] | None, digits: int = 1) -> str:
    """Mean and sample standard deviation, the latter from two values on."""
    if not values:
        return NOTHING
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def quoted(figure: Figure | None, digits: int = 1) -> str:
    """A published figure."""
    if figure is None:
        return NOTHING
    if isinstance(figure, tuple):
        return f"{figure[0]:.{digits}f} ± {figure[1]:.{digits}f}"
    return f"{figure:.{digits}f}"


def number_of_plays(groups: Iterable[PlayGroup]) -> str:
    """How many plays each figure counts, as a sentence."""
    numbers = sorted({len(group.counted) for group in groups})
    if len(numbers) > 1:
        return f"Each figure is of {numbers[0]} to {numbers[-1]} plays."
    return f"Each figure is of {count_of(numbers[0], 'play')}."


class TableColumns:
    """Columns that are put side by side: figures of ours, each followed by published ones where there are any.

    Args:
        names: headings and cells of the columns that tell what a row is about.
    """

    def __init__(self, *names: tuple[str, Sequence[str]]) -> None:
        self._columns: list[tuple[str, Sequence[str]]] = list(names)
        self._names = len(names)
        self._published: set[int] = set()

    def add(self, heading: str, cells: Sequence[str]) -> None:
        """Figures of ours."""
        self._columns.append((heading, cells))

    def quote(self, heading: str, cells: Sequence[str]) -> None:
        """Published figures; nothing when there are none."""
        if any(cell != NOTHING for cell in cells):
            self._published.add(len(self._columns))
            self._columns.append((heading, cells))

    @property
    def has_published(self) -> bool:
        """Whether any column holds published figures."""
        return bool(self._published)

    def table(self, name: str, title: str, *caption: str) -> AgentTable:
        """The table of the columns."""
        header = [heading for heading, _ in self._columns]
        rows = list(zip(*(cells for _, cells in self._columns), strict=True))
        return AgentTable(
            name, title, " ".join(filter(None, caption)), header, rows, self._names, frozenset(self._published)
        )


def compact(number: float | None) -> str:
    """A number in three digits: 950, 43.1K, 17.6M."""
    if number is None:
        return NOTHING
    for size, letter in ((1e6, "M"), (1e3, "K")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


def dollars(sum_: float | None) -> str:
    """A sum with cents, or with more places below a cent."""
    if sum_ is None:
        return NOTHING
    return f"${sum_:.2f}" if sum_ >= 0.01 or not sum_ else f"${sum_:.5f}"

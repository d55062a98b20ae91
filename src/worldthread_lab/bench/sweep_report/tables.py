"""Tables about agents and the format of their figures."""

from __future__ import annotations

import html
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from worldthread.support.text import count_of, one_line
from worldthread_lab.bench.sweep_report.plays import PlayGroup
from worldthread_lab.bench.sweep_report.published import Figure

_MARKS: Final = re.compile(r"[\\`*|\[\]$~]|(?<!\w)_|_(?!\w)")
NOTHING: Final = "-"
"""Content of a cell without a value."""


@dataclass(frozen=True)
class AgentTable:
    """A table of text cells with title and caption.

    Args:
        name: short name, with hyphens.
        title: short title.
        caption: description of the figures.
        header: names of the columns; may contain line breaks.
        rows: text of the cells.
        names: number of first columns that identify a row.
        published: numbers of the columns with published figures.
    """

    name: str
    title: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    published: frozenset[int] = frozenset()

    def markdown(self) -> str:
        """Return the table with its title and caption in Markdown."""
        rule = ["---"] * self.names + ["---:"] * (len(self.header) - self.names)
        lines = [" | ".join(map(in_markdown, row)) for row in (self.header, *self.rows)]
        lines.insert(1, " | ".join(rule))
        return "\n".join(
            [f"## {in_markdown(self.title)}", "", in_markdown(self.caption), "", *(f"| {line} |" for line in lines)]
        )


def in_markdown(text: str) -> str:
    """Escape text so that Markdown shows it verbatim, without tags, cells, links, code, formulas or emphasis."""
    return _MARKS.sub(r"\\\g<0>", html.escape(one_line(text), quote=False))


# -- cells ------------------------------------------------------------------------------------------------------------


def mean_and_deviation(values: Sequence[float] | None, digits: int = 1) -> str:
    """Format the mean, and with two or more values the sample standard deviation."""
    if not values:
        return NOTHING
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def quoted(figure: Figure | None, digits: int = 1) -> str:
    """Format a published figure."""
    if figure is None:
        return NOTHING
    if isinstance(figure, tuple):
        return f"{figure[0]:.{digits}f} ± {figure[1]:.{digits}f}"
    return f"{figure:.{digits}f}"


def number_of_plays(groups: Iterable[PlayGroup]) -> str:
    """Return a sentence with the number of plays behind each figure."""
    numbers = sorted({len(group.counted) for group in groups})
    if len(numbers) > 1:
        return f"Each figure is of {numbers[0]} to {numbers[-1]} plays."
    return f"Each figure is of {count_of(numbers[0], 'play')}."


class TableColumns:
    """Builds a table from columns of our figures, each followed by published figures if there are any.

    Args:
        names: headings and cells of the columns that identify a row.
    """

    def __init__(self, *names: tuple[str, Sequence[str]]) -> None:
        self._columns: list[tuple[str, Sequence[str]]] = list(names)
        self._names = len(names)
        self._published: set[int] = set()

    def add(self, heading: str, cells: Sequence[str]) -> None:
        """Add a column of our figures."""
        self._columns.append((heading, cells))

    def quote(self, heading: str, cells: Sequence[str]) -> None:
        """Add a column of published figures, unless all cells are empty."""
        if any(cell != NOTHING for cell in cells):
            self._published.add(len(self._columns))
            self._columns.append((heading, cells))

    @property
    def has_published(self) -> bool:
        """Whether any column has published figures."""
        return bool(self._published)

    def table(self, name: str, title: str, *caption: str) -> AgentTable:
        """Return the table of the columns."""
        header = [heading for heading, _ in self._columns]
        rows = list(zip(*(cells for _, cells in self._columns), strict=True))
        return AgentTable(
            name, title, " ".join(filter(None, caption)), header, rows, self._names, frozenset(self._published)
        )


def compact(number: float | None) -> str:
    """Format a number with about three digits: 950, 43.1K, 17.6M."""
    if number is None:
        return NOTHING
    for size, letter in ((1e6, "M"), (1e3, "K")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


def dollars(sum_: float | None) -> str:
    """Format a sum in dollars with cents, or with more decimal places below a cent."""
    if sum_ is None:
        return NOTHING
    return f"${sum_:.2f}" if sum_ >= 0.01 or not sum_ else f"${sum_:.5f}"

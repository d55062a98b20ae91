"""Markdown tables and the format of their cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

NOTHING: Final = "-"
"""Content of a cell without results."""

_NUMBERS: Final = re.compile(r"[\d.,%\s\[\]/-]+")
"""A cell that holds numbers alone: such columns are aligned on the right."""


@dataclass(frozen=True)
class Table:
    """A table of text cells.

    Args:
        name: name of its file, without extension.
        caption: one or two sentences.
        header: names of the columns.
        rows: text of the cells.
    """

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return the table with its caption in Markdown."""
        rule = ["---:" if self._holds_numbers(column) else "---" for column in range(len(self.header))]
        lines = ["| " + " | ".join(map(_escaped, row)) + " |" for row in (self.header, rule, *self.rows)]
        title = self.name.replace("-", " ").capitalize()
        return "\n".join([f"**{title}.** {self.caption}", "", *lines])

    def _holds_numbers(self, column: int) -> bool:
        return all(_NUMBERS.fullmatch(row[column]) for row in self.rows)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def two(value: float) -> str:
    """Return a number with two decimal places."""
    return f"{value:.2f}"


def three(value: float) -> str:
    """Return a number with at least three significant digits, never in powers of ten."""
    decimals = 3
    while decimals < 9 and 0 < abs(value) < 10 ** (2 - decimals):
        decimals += 1
    return f"{value:.{decimals}f}"


def percent(share: float) -> str:
    """Return a share in whole percent."""
    return f"{100 * share:.0f}%"


def mean_of(values: Sequence[float]) -> str:
    """Return the mean with two decimal places; :data:`NOTHING` without values."""
    return two(fmean(values)) if values else NOTHING

"""Markdown tables and the format of their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

NOTHING: Final = "-"
"""Content of a cell without results."""


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
        rule = ["---"] + ["---:"] * (len(self.header) - 1)
        lines = ["| " + " | ".join(map(_escaped, row)) + " |" for row in (self.header, rule, *self.rows)]
        return "\n".join([f"**{self.name}.** {self.caption}", "", *lines])


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def two(value: float) -> str:
    """Return a number with two decimal places."""
    return f"{value:.2f}"


def percent(share: float) -> str:
    """Return a share in whole percent."""
    return f"{100 * share:.0f}%"


def mean_of(values: Sequence[float]) -> str:
    """Return the mean with two decimal places; :data:`NOTHING` without values."""
    return two(fmean(values)) if values else NOTHING

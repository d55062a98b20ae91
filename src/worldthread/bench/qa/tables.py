"""Tables as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

NOTHING: Final = "-"
"""In a cell of which nothing was run."""


@dataclass(frozen=True)
class Table:
    """A table.

    Args:
        name: of its file, without ending.
        caption: one sentence or two.
        header: names of the columns.
        rows: cells in words.
    """

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table with its caption."""
        rule = ["---"] + ["---:"] * (len(self.header) - 1)
        lines = ["| " + " | ".join(map(_escaped, row)) + " |" for row in (self.header, rule, *self.rows)]
        return "\n".join([f"**{self.name}.** {self.caption}", "", *lines])


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def two(value: float) -> str:
    """With two places."""
    return f"{value:.2f}"


def percent(share: float) -> str:
    """In whole percent."""
    return f"{100 * share:.0f}%"


def mean_of(values: Sequence[float]) -> str:
    """The mean with two places."""
    return two(fmean(values)) if values else NOTHING

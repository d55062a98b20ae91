"""The configurations of a sweep, as its tables want them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from worldthread.bench.qa.personalai import ALGORITHMS, UNRESTRICTED, personalai
from worldthread.bench.qa.results import Configuration, QuestionResults
from worldthread.bench.qa.summary import summary

_NO_MODEL: Final = "no model"
_JUDGED: Final = "right"
_F1: Final = "f1"


def in_words(metric: str) -> str:
    """What a figure is."""
    return {_JUDGED: "share of answers that the judge calls right", _F1: "F1"}.get(metric, "exact match")


@dataclass(frozen=True)
class Cell:
    """The figures of one configuration, and where it stands in the tables."""

    dataset: str
    model: str
    algorithm: str
    restriction: str
    figures: dict[str, Any]


@dataclass(frozen=True)
class ConfigurationGroup:
    """Configurations that differ in nothing but data set, model, algorithm and restriction.

    Args:
        title: what they share.
        cells: one each.
        metric: which figure tells better from worse: the judge's, where there is one for every cell, else F1.
    """

    title: str
    cells: tuple[Cell, ...]
    metric: str

    @property
    def models(self) -> list[str]:
        """Of the cells, each once."""
        return list(dict.fromkeys(cell.model for cell in self.cells))

    @property
    def datasets(self) -> list[str]:
        """Of the cells, each once."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @property
    def algorithms(self) -> list[str]:
        """Of the cells, each once, in the paper's order."""
        return [name for name in ALGORITHMS if any(cell.algorithm == name for cell in self.cells)]

    @property
    def metric_in_words(self) -> str:
        """What the metric is."""
        return in_words(self.metric)


def groups_of(results: QuestionResults) -> list[ConfigurationGroup]:
    """The configurations of the sweep that have records, in groups that may be compared.

    Of several that differ in nothing but the passages or the release, the one with the most questions stands.
    """
    places = {orjson.dumps(way.to_dict()): place for place, way in personalai().items()}
    found: dict[str, dict[tuple[str, ...], Cell]] = {}
    for configuration, records in results:
        place = places.get(orjson.dumps(configuration.way.to_dict()))
        if place is None or not records:
            continue
        model = configuration.model or _NO_MODEL
        cell = Cell(configuration.dataset, model, *place, summary(configuration, records.values()))
        cells = found.setdefault(_shared(configuration), {})
        key = (cell.dataset, cell.model, *place)
        if key not in cells or cells[key].figures["questions"] <= cell.figures["questions"]:
            cells[key] = cell
    groups = []
    for title, cells in found.items():
        if all(cell.restriction == UNRESTRICTED for cell in cells.values()):
            continue  # single methods that were tried, and no sweep
        metric = _JUDGED if all(c.figures[_JUDGED] is not None for c in cells.values()) else _F1
        groups.append(ConfigurationGroup(title, tuple(cells.values()), metric))
    return groups


def _shared(c: Configuration) -> str:
    judge = f"judge {c.judge}" if c.judge else "no judge"
    top = "no filter" if c.top is None else f"filter to {c.top}"
    matching = "nearest name" if c.nearest else "equal name"
    return f"triples {c.triples}, {c.embedder}, entities by {c.entities} ({matching}), {top}, {judge}"

"""The configurations of a sweep, grouped for its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from worldthread_lab.bench.qa.personalai import ALGORITHMS, UNRESTRICTED, personalai
from worldthread_lab.bench.qa.results import Configuration, QuestionResults
from worldthread_lab.bench.qa.summary import summary

_NO_MODEL: Final = "no model"
_JUDGED: Final = "right"
_F1: Final = "f1"


def describe_metric(metric: str) -> str:
    """Return the description of a metric."""
    return {_JUDGED: "share of answers that the judge calls right", _F1: "F1"}.get(metric, "exact match")


@dataclass(frozen=True)
class Cell:
    """The figures of one configuration and its place in the tables."""

    dataset: str
    model: str
    algorithm: str
    restriction: str
    figures: dict[str, Any]


@dataclass(frozen=True)
class ConfigurationGroup:
    """Configurations that differ only in data set, model, algorithm and restriction.

    Args:
        title: description of what they share.
        cells: one cell for each configuration.
        metric: figure by which they are compared: the judge's where every cell has one, else F1.
    """

    title: str
    cells: tuple[Cell, ...]
    metric: str

    @property
    def models(self) -> list[str]:
        """The models of the cells, without duplicates."""
        return list(dict.fromkeys(cell.model for cell in self.cells))

    @property
    def datasets(self) -> list[str]:
        """The data sets of the cells, without duplicates."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @property
    def algorithms(self) -> list[str]:
        """The algorithms of the cells, without duplicates, in the paper's order."""
        return [name for name in ALGORITHMS if any(cell.algorithm == name for cell in self.cells)]

    @property
    def metric_description(self) -> str:
        """The description of the metric."""
        return describe_metric(self.metric)


def groups_of(results: QuestionResults) -> list[ConfigurationGroup]:
    """Group the configurations of a sweep that have records by what makes them comparable.

    Of several configurations that differ only in the passages or the release, the one with the most questions is kept,
    and of equals the last one.

    Args:
        results: records of questions.

    Returns:
        The groups; those in which no method is restricted are left out, as they are not part of a sweep.
    """
    places = {orjson.dumps(spec.to_dict()): place for place, spec in personalai().items()}
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
            continue  # single methods, not a sweep
        metric = _JUDGED if all(c.figures[_JUDGED] is not None for c in cells.values()) else _F1
        groups.append(ConfigurationGroup(title, tuple(cells.values()), metric))
    return groups


def _shared(c: Configuration) -> str:
    judge = f"judge {c.judge}" if c.judge else "no judge"
    top = "no filter" if c.top is None else f"filter to {c.top}"
    matching = "nearest name" if c.nearest else "equal name"
    return f"triples {c.triples}, {c.embedder}, entities by {c.entities} ({matching}), {top}, {judge}"

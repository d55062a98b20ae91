"""Figures of memories in the shape of PersonalAI's Tables 13 and 15 to 18."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from worldthread_lab.bench.qa.tables import NOTHING, Table, three, two

_VERTICES: Final = ("episodes", "theses", "objects")
_EDGES: Final = ("episodic_edges", "thesis_edges", "object_edges")
_NEIGHBOURS: Final = ("objects_by_episode", "theses_by_episode", "objects_by_thesis", "objects_by_object")
_TITLES: Final = (
    "passages", "episodes", "theses", "objects", "episodic edges", "thesis edges", "object edges",
    "objects beside an episode", "theses beside an episode", "objects beside a thesis", "objects beside an object",
)  # fmt: skip

_MEASURES: Final = ("median", "mean", "std")
_LENGTHS_CAPTION: Final = "Sizes of the data sets; lengths in characters, answers by their first form."
_LENGTHS_TITLES: Final = tuple(
    title for what in ("questions", "answers", "passages") for title in (what, *(f"{what}: {m}" for m in _MEASURES))
)

Figures = Mapping[str, Any]
"""See :class:`worldthread_lab.bench.qa.dataset_memory.MemoryFigures`."""


def memory_tables(memories: Sequence[Figures]) -> list[Table]:
    """Return Tables 13 and 15 to 18 for the given memories."""
    rows = [[m["dataset"], _by(m), *_sizes([m])] for m in memories]
    sources = list(dict.fromkeys(_by(m) for m in memories))
    by_source = {source: [m for m in memories if _by(m) == source] for source in sources}
    return [
        Table("table-13", _LENGTHS_CAPTION, ["data set", *_LENGTHS_TITLES], _lengths(memories)),
        Table("table-15", "Sizes of the memories.", ["data set", "triples", *_TITLES], rows),
        Table(
            "table-16",
            "Sizes of the memories, mean over data sets.",
            ["triples", *_TITLES],
            [[source, *_sizes(by_source[source])] for source in sources],
        ),
        Table(
            "table-17",
            "What one episode adds to a memory.",
            ["triples", "theses", "objects", "thesis edges", "object edges"],
            [[source, *_added(by_source[source])] for source in sources],
        ),
        Table(
            "table-18",
            "Extraction: hours, passages per minute (without embedding), and passages that could not be read in full.",
            ["data set", "triples", "hours", "passages/minute", "unread", "MB"],
            [[m["dataset"], _by(m), *_speed(m)] for m in memories],
        ),
    ]


def _lengths(memories: Sequence[Figures]) -> list[list[str]]:
    """Return a row for each data set; figures of an older release have no lengths."""
    rows = {}
    for memory in memories:
        if lengths := memory.get("lengths"):
            cells = ([str(part["number"]), *(f"{part[name]:.2f}" for name in _MEASURES)] for part in lengths.values())
            rows[memory["dataset"]] = [memory["dataset"], *(cell for part in cells for cell in part)]
    return list(rows.values())


def _by(figures: Figures) -> str:
    return str(figures["reader"] or figures["triples"])


def _sizes(memories: Sequence[Figures]) -> list[str]:
    counts = (f"{fmean(m[name] for m in memories):.0f}" for name in ("passages", *_VERTICES, *_EDGES))
    return [*counts, *(two(fmean(m[name] for m in memories)) for name in _NEIGHBOURS)]


def _added(memories: Sequence[Figures]) -> list[str]:
    names = ("theses", "objects", "thesis_edges", "object_edges")
    return [f"{fmean(m[name] / max(m['episodes'], 1) for m in memories):.1f}" for name in names]


def _speed(figures: Figures) -> list[str]:
    seconds = figures["seconds"]
    speed = f"{60 * figures['read'] / seconds:.1f}" if seconds else NOTHING
    return [three(seconds / 3600), speed, str(figures["unread"]), str(figures["megabytes"])]

"""A graph as numpy arrays and back, for snapshots on disk.

The names of the arrays are part of the format and differ from those of the attributes.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.graph.columns import RowTable, pack_rows, pack_strings, unpack_strings
from worldthread.graph.episodes import EpisodeTable
from worldthread.graph.state import GraphState
from worldthread.graph.statements import StatementTable
from worldthread.graph.strings import StringTable

ARRAYS_FORMAT: Final = 3
"""Version of the layout that :func:`state_to_arrays` writes. Format 2 has no array ``extracted``, and is read too."""

_EVENT_TABLES: Final = {
    "asserted": ("assertions", "statements"),
    "ended": ("endings", "statements"),
    "aspects": ("aspect_assertions", "strings"),
    "taken": ("episode_assertions", "episodes"),
    "endings": ("episode_endings", "episodes"),
    "versions": ("versions", "statements"),
}
"""Array -> attribute of :class:`GraphState`, and what the keys of the table number."""


def state_to_arrays(state: GraphState) -> dict[str, NDArray[Any]]:
    """Return the arrays of a graph from which no episode was removed; :meth:`TemporalGraph.to_arrays` says more."""
    statements, episodes = state.statements, state.episodes
    recorded = [np.nan if time is None else time for time in episodes.recorded]
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array([ARRAYS_FORMAT], np.int64),
        "strings": pack_strings(state.strings.items),
        "keys": np.array(statements.keys, np.int64).reshape(-1, 3),
        "forms": np.array(statements.forms, np.int64).reshape(-1, 5),
        "ids": pack_strings(episodes.ids),
        "digests": pack_strings(episodes.digests),
        "at": np.array(episodes.at, np.float64),
        "recorded": np.array(recorded, np.float64),
        "extracted": np.array([episodes.extracted.get(number, np.nan) for number in range(len(recorded))], np.float64),
        "source": np.array(episodes.sources, np.int64),
        "readers": np.array(episodes.extractors, np.int64),
        "failures": np.array(episodes.failures, np.int64),
    }
    sizes = {"strings": len(state.strings.items), "statements": len(statements.keys), "episodes": len(episodes.ids)}
    tables = {name: (getattr(state, attribute), sizes[keys]) for name, (attribute, keys) in _EVENT_TABLES.items()}
    tables["incident"] = statements.incident, sizes["strings"]
    for name, (table, size) in tables.items():
        groups = [table.get(key) for key in range(size)]
        arrays[f"{name}_pointers"], arrays[f"{name}_rows"] = pack_rows(groups, table.width)
    return arrays


def state_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> GraphState:
    """Return the graph that :func:`state_to_arrays` wrote.

    Args:
        arrays: may be memory-mapped, and are not changed. The tables of events are read from them later, on demand.

    Returns:
        The tables of the graph.

    Raises:
        InputError: the arrays are of another format or do not fit each other.
    """
    try:
        with _garbage_collector_paused():
            return _restored(arrays)
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(f"these arrays do not hold a graph: {error}") from error


def _restored(arrays: Mapping[str, NDArray[Any]]) -> GraphState:
    found = int(arrays["format"][0])
    if found not in (2, ARRAYS_FORMAT):
        raise ValueError(f"they have format {found}, not 2 or {ARRAYS_FORMAT}")
    strings = StringTable(unpack_strings(arrays["strings"]))
    keys = list(zip(*arrays["keys"].T.tolist(), strict=True))
    rows = arrays["forms"]
    forms = list(zip(*rows.T.tolist(), strict=True))
    number_by_form = dict(zip(zip(*rows[:, 1:].T.tolist(), strict=True), range(len(rows)), strict=True))
    statements = StatementTable.restored(strings, keys, forms, number_by_form, _table(arrays, "incident"))
    episodes = EpisodeTable(strings)
    episodes.ids = unpack_strings(arrays["ids"])
    episodes.digests = unpack_strings(arrays["digests"])
    episodes.numbers = dict(zip(episodes.ids, range(len(episodes.ids)), strict=True))
    episodes.at = arrays["at"].tolist()
    episodes.recorded = [None if math.isnan(time) else time for time in arrays["recorded"].tolist()]
    extracted = arrays["extracted"] if found > 2 else np.zeros(0)
    episodes.extracted = {number: float(extracted[number]) for number in np.flatnonzero(~np.isnan(extracted)).tolist()}
    times = np.concatenate((arrays["recorded"], extracted))
    episodes.latest = float(times.max(initial=-math.inf, where=~np.isnan(times)))
    episodes.sources = arrays["source"].tolist()
    episodes.extractors = arrays["readers"].tolist()
    episodes.failures = arrays["failures"].tolist()
    if len(episodes.ids) != len(episodes.at):
        raise ValueError(f"{len(episodes.ids)} ids of episodes and {len(episodes.at)} times")
    state = GraphState(strings, statements, episodes)
    for name, (attribute, _) in _EVENT_TABLES.items():
        setattr(state, attribute, _table(arrays, name))
    state.size = len(episodes.ids) + len(arrays["taken_rows"]) + len(arrays["endings_rows"])
    return state


def _table(arrays: Mapping[str, NDArray[Any]], name: str) -> RowTable:
    rows = arrays[f"{name}_rows"]
    return RowTable(rows.shape[1], arrays[f"{name}_pointers"], rows)


@contextmanager
def _garbage_collector_paused() -> Iterator[None]:
    """Keep the garbage collector from scanning millions of new tuples over and over."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

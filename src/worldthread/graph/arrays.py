"""A graph as numpy arrays and back, for snapshots on disk.

The names of the arrays are part of the format and differ from those of the attributes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.graph.columns import PackedRows, RowTable, pack_strings, unpack_strings
from worldthread.graph.episodes import EpisodeTable
from worldthread.graph.state import GraphState
from worldthread.graph.statements import StatementTable
from worldthread.graph.strings import ABSENT, NEVER, StringTable
from worldthread.provenance import Provenance
from worldthread.support.garbage import garbage_collector_paused

ARRAYS_FORMAT: Final = 8
"""Version of the layout that :func:`state_to_arrays` writes.

Format 7 is read too, which does not know whose a statement is, if no episode has a user; format 6, whose statements all
begin exactly when they say, and format 5, whose integers have 64 bits and which has no index of strings. Older ones are
not, since they lack the speakers of episodes: the graph is then made from the record.
"""

_COMMON_FORMAT: Final = 7
_EXACT_FORMAT: Final = 6
_WIDE_FORMAT: Final = 5

_FORM_COLUMNS: Final = (
    "statement",
    "string",
    "string or none",
    "string",
    "string or none",
    "string or none",
    "time or none",
    "time or none",
    "time or none",
)
_KEY_COLUMNS: Final = ("string", "string or none", "string", "string or none")

_EVENT_TABLES: Final = {
    "asserted": ("assertions", "statement", ("episode", "form")),
    "ended": ("endings", "statement", ("episode", "string", "time, never or none")),
    "aspects": ("aspect_assertions", "string", ("episode", "statement")),
    "taken": ("episode_assertions", "episode", ("form",)),
    "endings": ("episode_endings", "episode", ("form", "string", "time, never or none")),
    "versions": (
        "versions",
        "statement",
        ("assertion", "assertion", "episode or none", "string or none", "time or none", "time or none"),
    ),
}
"""Array -> attribute of :class:`GraphState`, what the keys of the table number, and what its columns number."""

_WRITTEN_TABLES: Final = {
    "written_taken": (("form",), "taken"),
    "written_endings": (("form", "string", "time, never or none"), "endings"),
}
"""Array -> what its columns number, and the table that holds the same with canonical names; where names are merged."""

_Bounds: TypeAlias = dict[str, tuple[int, int]]
"""What a column numbers -> its least number, and the number after its greatest."""

_ID_DIGITS: Final = 32
_IS_DIGIT: Final = np.isin(np.arange(256), list(b"0123456789abcdef"))


def state_to_arrays(state: GraphState) -> dict[str, NDArray[Any]]:
    """Return the arrays of a graph from which no episode was removed; :meth:`TemporalGraph.to_arrays` says more.

    The graph itself moves into these arrays.
    """
    state.settle()
    statements, episodes = state.statements, state.episodes
    recorded = [np.nan if time is None else time for time in episodes.recorded]
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array([ARRAYS_FORMAT], np.int64),
        "strings": state.strings.items.packed(),
        "string_index": state.strings.entries,
        "string_seed": np.array([state.strings.seed], np.uint64),
        **_packed_rows("keys", statements.keys.packed()),
        **_packed_rows("forms", statements.forms.packed()),
        "ids": pack_strings(episodes.ids),
        "digests": pack_strings(episodes.digests),
        "at": np.array(episodes.at, np.float64),
        "recorded": np.array(recorded, np.float64),
        "extracted": np.array([episodes.extracted.get(number, np.nan) for number in range(len(recorded))], np.float64),
        "source": np.array(episodes.sources, np.int64),
        "provenance": np.array(episodes.provenance_numbers, np.int64),
        "provenances": pack_strings([one.text for one in episodes.provenances.items]),
        "readers": np.array(episodes.extractors, np.int64),
        "failures": np.array(episodes.failures, np.int64),
    }
    sizes = {"string": len(state.strings.items), "statement": len(statements.keys), "episode": len(episodes.ids)}
    tables = {name: (getattr(state, attribute), sizes[keys]) for name, (attribute, keys, _) in _EVENT_TABLES.items()}
    tables["incident"] = statements.incident, sizes["string"]
    if state.same_names:
        find = state.strings.find
        rows = [(n, find(a), find(b)) for n, pairs in sorted(state.same_names.items()) for a, b in pairs]
        arrays["same_names"] = np.array(rows, np.int32).reshape(-1, 3)
        for part, (name, (columns, _)) in enumerate(_WRITTEN_TABLES.items()):
            table = RowTable(len(columns), _times(columns))
            for number, written in state.written.items():
                table.replace(number, list(written[part]))
            tables[name] = table, sizes["episode"]
    for name, (table, size) in tables.items():
        arrays[f"{name}_pointers"], rows = table.packed(size)
        arrays |= _packed_rows(f"{name}_rows", rows)
    return arrays


def _packed_rows(name: str, rows: PackedRows) -> dict[str, NDArray[Any]]:
    times = {f"{name}_timed": rows.timed, f"{name}_times": rows.values} if rows.times else {}
    return {name: rows.narrow, **times}


def _times(columns: tuple[str, ...]) -> int:
    """Return how many columns, the last ones, are times."""
    return sum(what.startswith("time") for what in columns)


def state_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> GraphState:
    """Return the graph that :func:`state_to_arrays` wrote.

    Every number that refers to something is checked, so that reading the graph later cannot fail.

    Args:
        arrays: are not changed. The tables of events are read from them later, on demand.

    Returns:
        The tables of the graph.

    Raises:
        InputError: the arrays are of another format or do not fit each other.
    """
    try:
        with garbage_collector_paused():
            return _restored(arrays)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"these arrays do not hold a graph: {error}") from error


def _restored(arrays: Mapping[str, NDArray[Any]]) -> GraphState:
    found = int(_column(arrays, "format", 1)[0])
    if found == _WIDE_FORMAT:
        arrays = _with_narrow_numbers(arrays)
    elif found not in (ARRAYS_FORMAT, _COMMON_FORMAT, _EXACT_FORMAT):
        raise ValueError(f"they have format {found}, not {ARRAYS_FORMAT}")
    if found < _COMMON_FORMAT:
        arrays = _with_exact_beginnings(arrays)
    if found < ARRAYS_FORMAT:
        arrays = _of_nobody(arrays)
    index, seed = None, None
    if found != _WIDE_FORMAT:
        index, seed = (
            _column(arrays, "string_index", None, np.uint64),
            int(_column(arrays, "string_seed", 1, np.uint64)[0]),
        )
    strings = StringTable(_column(arrays, "strings", None, np.uint8), index, seed)
    if index is None and strings.has_twins():
        raise ValueError("a string comes twice")
    ids = unpack_strings(_hexadecimal(_column(arrays, "ids", None, np.uint8)))
    bounds: _Bounds = {"number": (0, 2**62), "string": (0, len(strings.items)), "episode": (0, len(ids))}
    bounds |= {f"{what} or none": (ABSENT, end) for what, (_, end) in bounds.items()}
    keys = _rows(arrays, "keys", _KEY_COLUMNS, bounds)
    bounds["statement"] = 0, len(keys)
    forms = _rows(arrays, "forms", _FORM_COLUMNS, bounds)
    bounds["form"] = 0, len(forms)
    bounds["assertion"] = 0, len(arrays["asserted_rows"]) + 1
    incident = RowTable(1, 0, *_table(arrays, "incident", "string", ("statement",), bounds))
    statements = StatementTable.restored(strings, keys, forms, incident)
    state = GraphState(strings, statements, _episodes(arrays, strings, ids, bounds))
    for name, (attribute, keyed_by, columns) in _EVENT_TABLES.items():
        table = _table(arrays, name, keyed_by, columns, bounds)
        setattr(state, attribute, RowTable(len(columns), _times(columns), *table))
    if "same_names" in arrays:
        _restore_names(state, arrays, bounds)
    _check_versions(arrays)
    state.timed_endings = _timed_endings(arrays)
    if len(state.episodes.numbers) < len(ids):
        raise ValueError("an episode comes twice")
    state.size = len(ids) + len(arrays["taken_rows"]) + len(arrays["endings_rows"])
    return state


def _episodes(
    arrays: Mapping[str, NDArray[Any]], strings: StringTable, ids: list[str], bounds: _Bounds
) -> EpisodeTable:
    count = len(ids)
    at = _column(arrays, "at", count, np.float64)
    recorded = _column(arrays, "recorded", count, np.float64)
    extracted = _column(arrays, "extracted", count, np.float64)
    if not np.isfinite(at).all() or np.isinf(recorded).any() or np.isinf(extracted).any():
        raise ValueError("a time is not finite")
    digests = _hexadecimal(_column(arrays, "digests", None, np.uint8))
    if len(digests) != count * (_ID_DIGITS + 1):
        raise ValueError("there are more or fewer digests than episodes")
    episodes = EpisodeTable(strings)
    episodes.ids = ids
    episodes.digests = unpack_strings(digests)
    episodes.numbers = dict(zip(ids, range(count), strict=True))
    episodes.at = at.tolist()
    episodes.recorded = [None if math.isnan(time) else time for time in recorded.tolist()]
    episodes.extracted = {number: float(extracted[number]) for number in np.flatnonzero(~np.isnan(extracted)).tolist()}
    times = np.concatenate((recorded, extracted))
    episodes.latest = float(times.max(initial=-math.inf, where=~np.isnan(times)))
    episodes.sources = _within(_column(arrays, "source", count), "string", bounds).tolist()
    for text in unpack_strings(_column(arrays, "provenances", None, np.uint8)):
        episodes.provenances.intern(Provenance.of_text(text))
    bounds["provenance"] = 0, len(episodes.provenances.items)
    episodes.provenance_numbers = _within(_column(arrays, "provenance", count), "provenance", bounds).tolist()
    episodes.extractors = _within(_column(arrays, "readers", count), "string", bounds).tolist()
    episodes.failures = _within(_column(arrays, "failures", count), "number", bounds).tolist()
    return episodes


def _column(
    arrays: Mapping[str, NDArray[Any]], name: str, count: int | None, dtype: type[np.generic] = np.int64
) -> NDArray[Any]:
    """Return an array of one dimension; ``count`` is its length, or ``None`` for any."""
    array = arrays[name]
    if array.dtype != dtype or array.ndim != 1 or count not in (None, len(array)):
        raise ValueError(f"{name!r} has type {array.dtype} and shape {array.shape}")
    return array


def _rows(arrays: Mapping[str, NDArray[Any]], name: str, columns: tuple[str, ...], bounds: _Bounds) -> PackedRows:
    """Return an array of rows; ``columns`` says what they number."""
    array, times = arrays[name], _times(columns)
    if array.dtype != np.int32 or array.ndim != 2 or array.shape[1] != len(columns) - times:
        raise ValueError(f"{name!r} has type {array.dtype} and shape {array.shape}")
    for number, what in enumerate(columns[: len(columns) - times]):
        _within(array[:, number], what, bounds)
    if not times:
        return PackedRows(array)
    timed, values = _column(arrays, f"{name}_timed", None), arrays[f"{name}_times"]
    if values.dtype != np.int64 or values.shape != (len(timed), times):
        raise ValueError(f"{name!r} has times of type {values.dtype} and shape {values.shape}")
    if len(timed) and not (timed[0] >= 0 and timed[-1] < len(array) and (timed[1:] > timed[:-1]).all()):
        raise ValueError(f"{name!r} does not have its times in order")
    for number, what in enumerate(columns[len(columns) - times :]):
        _within(values[:, number], what, bounds)
    return PackedRows(array, times, timed, values)


def _table(
    arrays: Mapping[str, NDArray[Any]], name: str, keyed_by: str, columns: tuple[str, ...], bounds: _Bounds
) -> tuple[NDArray[np.int32], PackedRows]:
    """Return the pointers and the rows of a table."""
    rows = _rows(arrays, f"{name}_rows", columns, bounds)
    pointers = _column(arrays, f"{name}_pointers", bounds[keyed_by][1] + 1, np.int32)
    if pointers[0] != 0 or pointers[-1] != len(rows) or (pointers[1:] < pointers[:-1]).any():
        raise ValueError(f"{name!r} does not have its rows in order")
    return pointers, rows


def _with_narrow_numbers(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays of format 5 in format 6, without an index of strings."""
    narrow = dict(arrays)
    tables = {f"{name}_rows": columns for name, (_, _, columns) in _EVENT_TABLES.items()}
    tables |= {f"{name}_rows": columns for name, (columns, _) in _WRITTEN_TABLES.items()}
    tables |= {"keys": _KEY_COLUMNS[:-1], "forms": _FORM_COLUMNS[1:-1], "incident_rows": ("statement",)}
    for name, columns in tables.items():
        if name in narrow:
            rows = narrow[name]
            if rows.dtype != np.int64 or rows.ndim != 2 or rows.shape[1] != len(columns):
                raise ValueError(f"{name!r} has type {rows.dtype} and shape {rows.shape}")
            narrow |= _packed_rows(name, PackedRows.of(rows, _times(columns)))
    for name in [name for name in narrow if name.endswith("_pointers")]:
        pointers = _column(narrow, name, None)
        limit = np.iinfo(np.int32).max
        if len(pointers) and not 0 <= pointers.min() <= pointers.max() <= limit:
            raise ValueError(f"{name!r} does not have its rows in order")
        narrow[name] = pointers.astype(np.int32)
    if "same_names" in narrow:
        narrow["same_names"] = PackedRows.of(narrow["same_names"].reshape(-1, 3)).narrow
    return narrow


def _with_exact_beginnings(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays of format 6 in format 7: no statement says by when it begins."""
    times = arrays["forms_times"]
    return {**arrays, "forms_times": np.hstack([times, np.full((len(times), 1), ABSENT, times.dtype)])}


def _of_nobody(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays of format 7 in format 8: no statement has a user."""
    provenances = unpack_strings(_column(arrays, "provenances", None, np.uint8))
    if any(Provenance.of_text(text).labels.user for text in provenances):
        raise ValueError("they do not say whose a statement is")
    wider = {name: arrays[name] for name in ("keys", "forms")}
    for name, rows in wider.items():
        wider[name] = np.hstack([rows, np.full((len(rows), 1), ABSENT, rows.dtype)])
    return {**arrays, **wider}


def _within(numbers: NDArray[Any], what: str, bounds: _Bounds) -> NDArray[Any]:
    if what.startswith("time"):
        none = (numbers == ABSENT) | (numbers == NEVER) if what == "time, never or none" else numbers == ABSENT
        if not (np.isfinite(np.ascontiguousarray(numbers).view(np.float64)) | none).all():
            raise ValueError("a time that a text states is not finite")
        return numbers
    least, end = bounds[what]
    if len(numbers) and not (least <= numbers.min() and numbers.max() < end):
        raise ValueError(f"a number of {what!r} is not one from {least} to {end - 1}")
    return numbers


def _hexadecimal(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return packed strings, all of them ids or digests."""
    rows = packed.reshape(-1, _ID_DIGITS + 1)
    if rows[:, -1].any() or not _IS_DIGIT[rows[:, :-1]].all():
        raise ValueError("an id is not hexadecimal")
    return packed


def _check_versions(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise unless every version is made of assertions that its statement has."""
    versions = arrays["versions_rows"]
    counts = np.repeat(np.diff(arrays["asserted_pointers"]), np.diff(arrays["versions_pointers"]))
    first, after, ended_by, reason = versions.T
    if not ((first < after) & (after <= counts) & ((ended_by == ABSENT) == (reason == ABSENT))).all():
        raise ValueError("a version has assertions or an ending that do not exist")


def _restore_names(state: GraphState, arrays: Mapping[str, NDArray[Any]], bounds: _Bounds) -> None:
    """Restore which names are merged, and what was written in other names."""
    strings = state.strings.items
    pairs = _rows(arrays, "same_names", ("episode", "string", "string"), bounds)
    for episode, one, into in pairs.rows(0, len(pairs)):
        state.same_names[episode] = (*state.same_names.get(episode, ()), (strings[one], strings[into]))
    state.merged = state.merged_names()
    tables = []
    for name, (columns, canonical) in _WRITTEN_TABLES.items():
        pointers, rows = _table(arrays, name, "episode", columns, bounds)
        counts = np.diff(pointers)
        if not ((counts == 0) | (counts == np.diff(arrays[f"{canonical}_pointers"]))).all():
            raise ValueError("an episode does not write what it states")
        tables.append(RowTable(len(columns), _times(columns), pointers, rows))
    for episode in state.episodes.numbers.values():
        written = tuple(tables[0].get(episode)), tuple(tables[1].get(episode))
        if any(written):
            state.written[episode] = written


def _timed_endings(arrays: Mapping[str, NDArray[Any]]) -> set[int]:
    """Return the statements that an episode ends at a time which it states."""
    timed = _column(arrays, "ended_rows_timed", None)
    return set((np.searchsorted(arrays["ended_pointers"], timed, side="right") - 1).tolist())

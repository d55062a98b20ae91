"""A graph without the space that forgotten episodes left behind."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from worldthread.graph.columns import PackedRows, Row, RowTable
from worldthread.graph.episodes import EpisodeTable
from worldthread.graph.state import GraphState
from worldthread.graph.statements import FORM_COLUMNS, FORM_TIMES, KEY_COLUMNS, StatementTable
from worldthread.graph.strings import ABSENT, StringTable


def compacted(state: GraphState) -> GraphState:
    """Return the same graph in tables that hold nothing of removed episodes. Takes time linear in what is left.

    Args:
        state: the graph; it is not changed.

    Returns:
        A graph whose episodes, forms and statements are numbered anew, in the same order.
    """
    items, old_forms = state.strings.items, state.statements.forms
    episodes = sorted(state.episodes.numbers.values())
    event_tables = (state.episode_assertions, state.episode_endings)
    forms = sorted({row[0] for table in event_tables for number in episodes for row in table.get(number)})
    statements = sorted({old_forms[form][0] for form in forms})
    aspects = sorted({old_forms[form][4] for form in forms} - {ABSENT})
    new_episode, new_form, new_statement = map(_numbering, (episodes, forms, statements))
    strings = StringTable()

    def new_string(number: int) -> int:
        return ABSENT if number == ABSENT else strings.intern(items[number])

    result = GraphState(strings, _statements(state, statements, forms, strings), EpisodeTable(strings))
    result.size = state.size
    for number, old in enumerate(episodes):
        result.episodes.add(state.episodes.record(old), state.episodes.digests[old])
        _fill(result.episode_assertions, number, [(new_form[form],) for (form,) in state.episode_assertions.get(old)])
        endings = [(new_form[form], new_string(reason), at) for form, reason, at in state.episode_endings.get(old)]
        _fill(result.episode_endings, number, endings)
    result.episodes.latest = state.episodes.latest
    for number, old in enumerate(statements):
        assertions = [(new_episode[episode], new_form[form]) for episode, form in state.assertions.get(old)]
        _fill(result.assertions, number, assertions)
        endings = [(new_episode[episode], new_string(reason), at) for episode, reason, at in state.endings.get(old)]
        _fill(result.endings, number, endings)
        if any(at != ABSENT for _, _, at in endings):
            result.timed_endings.add(number)
        versions = [
            (first, after, new_episode.get(ended_by, ABSENT), new_string(reason), *times)
            for first, after, ended_by, reason, *times in state.versions.get(old)
        ]
        _fill(result.versions, number, versions)
    for old in aspects:
        rows = [(new_episode[episode], new_statement[owner]) for episode, owner in state.aspect_assertions.get(old)]
        _fill(result.aspect_assertions, new_string(old), rows)
    return result


def _statements(state: GraphState, numbers: list[int], forms: list[int], strings: StringTable) -> StatementTable:
    """Return the table of some statements and forms, with their names in ``strings``."""
    old, items = state.statements, state.strings.items
    new_statement = _numbering(numbers)

    def moved(row: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(ABSENT if part == ABSENT else strings.intern(items[part]) for part in row)

    incident = RowTable(1)
    keys = []
    for number, statement in enumerate(numbers):
        subject, relation, object_, user = moved(old.keys[statement])
        keys.append((subject, relation, object_, user))
        names = {strings.intern(name) for name in old.vertices(statement)}
        for name in sorted(names if relation == ABSENT else names | {relation}):
            incident.append(name, (number,))
    rows = [
        (new_statement[row[0]], *moved(row[1:FORM_COLUMNS]), *row[FORM_COLUMNS:])
        for row in map(old.forms.__getitem__, forms)
    ]
    return StatementTable.restored(
        strings,
        PackedRows.of(np.array(keys, np.int64).reshape(-1, KEY_COLUMNS)),
        PackedRows.of(np.array(rows, np.int64).reshape(-1, FORM_COLUMNS + FORM_TIMES), FORM_TIMES),
        incident,
    )


def _numbering(numbers: list[int]) -> dict[int, int]:
    return {old: new for new, old in enumerate(numbers)}


def _fill(table: RowTable, key: int, rows: Iterable[Row]) -> None:
    if kept := list(rows):
        table.replace(key, kept)

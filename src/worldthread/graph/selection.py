"""What of a graph meets a condition: the definition of every filter.

A condition is about an episode and an item that it vouches for (:mod:`worldthread.graph.conditions`). Then

* an episode is selected when the condition holds for it as an item of its own;
* a version of a statement is selected when the condition holds for the statement and at least one of the episodes that
  assert it in this version. When the version holds is what all episodes of its user say: a filter selects, and does
  not fold again;
* a selected version names those of its episodes for which the condition holds, and is written as the first of them
  wrote it. It says why it ended when the condition holds for the statement and the episode that says so; the time of
  its end it always tells.

So a selection never shows more than the graph, and no text of an episode that is not selected.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.graph.conditions import All, Condition, KindIn, LabelIn, MetadataIn, Not, RelationIn, Some, TimeIn
from worldthread.graph.fold import in_time
from worldthread.graph.state import GraphState
from worldthread.graph.strings import ABSENT
from worldthread.types import Statement, Version

Mask: TypeAlias = NDArray[np.bool_]

_EPISODE: Final = -2
_THESIS: Final = ABSENT
_Item: TypeAlias = int
"""What a condition needs to know of an item: the number of the relation of a fact, ``_THESIS``, or ``_EPISODE``."""


class StatementSelection:
    """The episodes and statements of a graph that meet a condition, as the graph is now.

    Made by :meth:`TemporalGraph.select <worldthread.graph.TemporalGraph.select>`; it must not be used after a change of
    the graph.

    Args:
        state: the graph.
        condition: what is selected.
    """

    def __init__(self, state: GraphState, condition: Condition) -> None:
        self._state = state
        self._condition = condition
        self._columns = state.episodes.columns()
        self._masks: dict[_Item, Mask] = {}
        self._leaves: dict[Condition, Mask] = {}
        relations = {state.strings.find(relation) for relation in _relations(condition)}
        self._relations = {number for number in relations if number is not None}  # all others are alike
        self._statements: Mask | None = None

    @property
    def episodes(self) -> Mask:
        """Whether each episode is selected, by its number."""
        return self._vouching(_EPISODE)

    @property
    def statements(self) -> Mask:
        """Whether a version of each statement is selected, by its number."""
        if self._statements is None:
            self._statements = self._select_statements()
        return self._statements

    def _select_statements(self) -> Mask:
        state = self._state
        keys, forms = state.statements.keys, state.statements.forms
        selected = np.zeros(len(keys), bool)
        likely = np.zeros(len(self._columns.at), bool)
        for item in (_THESIS, *self._relations, self._other_relation()):
            likely |= self._vouching(item)
        for episode in np.flatnonzero(likely).tolist():
            for (form,) in state.episode_assertions.get(episode):
                statement = forms[form][0]
                if not selected[statement] and self._vouching(self._item(statement))[episode]:
                    selected[statement] = True
        return selected

    def versions_of(self, statement: int) -> tuple[Version, ...]:
        """Return the selected versions of a statement, in order of time.

        Args:
            statement: number of a statement.

        Returns:
            The versions, with what is selected of their sources and of their ends; empty when none is selected.
        """
        state = self._state
        assertions = state.assertions.get(statement)
        vouching = self._vouching(self._item(statement))
        ids = state.episodes.ids
        if not any(vouching[episode] for episode, _ in assertions):
            return ()
        shown = next(form for episode, form in assertions if vouching[episode])
        written = state.statements.written(shown)
        found = []
        rows = state.versions.get(statement)
        for (first, after, ended_by, *_), version in zip(rows, state.versions_of(statement), strict=True):
            sources = tuple(dict.fromkeys(ids[episode] for episode, _ in assertions[first:after] if vouching[episode]))
            if not sources:
                continue
            tells_end = ended_by != ABSENT and vouching[ended_by]
            found.append(
                replace(
                    version,
                    statement=written,
                    sources=sources,
                    ended_by=version.ended_by if tells_end else None,
                    reason=version.reason if tells_end else None,
                )
            )
        return tuple(found)

    def without_hidden_end(self, statement: int, version: Version) -> Version:
        """Return a version of a statement without why it ended, if an episode says so that is not selected.

        Args:
            statement: number of the statement.
            version: with the episode and the reason that ended it.

        Returns:
            The version; the time of its end stays.
        """
        ended_by = None if version.ended_by is None else self._state.episodes.numbers.get(version.ended_by)
        if ended_by is not None and self._vouching(self._item(statement))[ended_by]:
            return version
        return replace(version, ended_by=None, reason=None)

    def versions(self, statement: Statement) -> tuple[Version, ...]:
        """Return the selected versions of a statement, in any spelling; see :meth:`versions_of`."""
        found = [self.versions_of(number) for number in self._state.find(statement)]
        return found[0] if len(found) == 1 else tuple(sorted(chain.from_iterable(found), key=in_time))

    # -- conditions -------------------------------------------------------------------------------------------------

    def _item(self, statement: int) -> _Item:
        return self._state.statements.keys[statement][1]

    def _other_relation(self) -> _Item:
        """Return the number of a relation that the condition does not name."""
        other = 0
        while other in self._relations:
            other += 1
        return other

    def _vouching(self, item: _Item) -> Mask:
        """Return for which episodes the condition holds together with an item."""
        if item >= 0 and item not in self._relations:
            item = self._other_relation()
        mask = self._masks.get(item)
        if mask is None:
            mask = self._masks[item] = self._columns.present & self._evaluated(self._condition, item)
        return mask

    def _evaluated(self, condition: Condition, item: _Item) -> Mask:
        match condition:
            case All(parts):
                return self._combined(np.logical_and, parts, item, empty=True)
            case Some(parts):
                return self._combined(np.logical_or, parts, item, empty=False)
            case Not(part):
                return ~self._evaluated(part, item)
            case KindIn(values):
                kind = "episode" if item == _EPISODE else "thesis" if item == _THESIS else "fact"
                return self._constant(kind in values)
            case RelationIn(values) if item != _EPISODE:
                wanted = {self._state.strings.find(value) for value in values}
                return self._constant(item != _THESIS and item in wanted)
            case _:
                mask = self._leaves.get(condition)
                if mask is None:
                    mask = self._leaves[condition] = self._of_episodes(condition)
                return mask

    def _combined(self, operation: np.ufunc, parts: Iterable[Condition], item: _Item, *, empty: bool) -> Mask:
        found = self._constant(empty)
        for part in parts:
            found = operation(found, self._evaluated(part, item))
        return found

    def _constant(self, value: bool) -> Mask:
        return np.full(len(self._columns.at), value)

    def _of_episodes(self, condition: Condition) -> Mask:
        """Return for which episodes a condition holds that does not depend on the item."""
        columns, provenances = self._columns, self._state.episodes.provenances
        match condition:
            case TimeIn(field, start, end):
                times = columns.at if field == "at" else columns.recorded
                with np.errstate(invalid="ignore"):  # what was never stored has no time, so not one in the interval
                    return np.asarray((times >= start) & (times < end))
            case LabelIn("source", values):
                sources = {self._state.strings.find(value) for value in values} - {None}
                return np.isin(columns.source, sorted(source for source in sources if source is not None))
            case LabelIn(field, values) if field != "source":
                return self._with([n for value in values for n in provenances.with_label(field, value)])
            case MetadataIn(key, values):
                return self._with([n for value in values for n in provenances.with_metadata(key, value)])
            case RelationIn(values):
                return self._stating(values)
        raise AssertionError(condition)

    def _with(self, provenances: list[int]) -> Mask:
        """Return which episodes have one of some provenances."""
        wanted = np.zeros(len(self._state.episodes.provenances.items), bool)
        wanted[provenances] = True
        return np.asarray(wanted[self._columns.provenance])

    def _stating(self, relations: Iterable[str]) -> Mask:
        """Return which episodes assert a fact with one of some relations."""
        state, found = self._state, self._constant(False)
        for relation in relations:
            number = state.strings.find(relation)
            for (statement,) in () if number is None else state.statements.incident.get(number):
                if state.statements.keys[statement][1] == number:
                    found[[episode for episode, _ in state.assertions.get(statement)]] = True
        return found


def _relations(condition: Condition) -> set[str]:
    """Return the relations that a condition names."""
    match condition:
        case All(parts) | Some(parts):
            return set().union(*map(_relations, parts))
        case Not(part):
            return _relations(part)
        case RelationIn(values):
            return set(values)
    return set()

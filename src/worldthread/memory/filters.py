"""Filters: what a memory should look at, by whom and when it was said, of which kind and relation."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Final, Literal, TypeAlias, cast

from worldthread.errors import InputError
from worldthread.graph.conditions import All, Condition, KindIn, LabelIn, MetadataIn, Not, RelationIn, Some, TimeIn
from worldthread.graph.provenances import compared_value
from worldthread.memory.record import to_world_time
from worldthread.names import normalise_name
from worldthread.provenance import MetadataValue, metadata_value
from worldthread.support.arguments import require_query, require_string, require_subset
from worldthread.types import KINDS, Kind, TimeLike

Names: TypeAlias = str | Collection[str]
"""One name, or several of which any will do."""

_EVERYTHING: Final = All(())


class Filter:
    """Selects what a memory looks at, by where it comes from. Filters are immutable, and equal when they say the same.

    All arguments that are given must be met. Where an argument takes several values, any of them will do. Filters are
    combined with ``&`` (both), ``|`` (at least one) and ``~`` (not)::

        Filter(user="anna", since="2024-01-01") & ~Filter(metadata={"topic": ["work", "money"]})

    An episode is selected when it meets the filter. A statement is selected in the intervals in which at least one of
    the episodes that assert it meets the filter. *When* it holds is what all episodes of its user say: a filter
    selects, it does not fold again. Of its sources those are named that meet the filter, and the reason why it ended
    only if the episode that says so meets it too. A filter never shows anything of another namespace.

    Args:
        user: whose text it is; ``""`` for texts without a user, here and in the following.
        agent: the agent that remembers it, or takes part in it.
        session: the session in which it came up.
        source: where it comes from.
        speaker: who says it; compared as names are, so "anna" is "Anna".
        kind: ``"fact"``, ``"thesis"`` or ``"episode"``: what is found. Episodes are never facts or theses.
        relation: facts with this relation, compared as names are, and episodes that state such a fact.
        metadata: values by key, each one value or a collection of which any will do. Numbers are compared as numbers.
        since: the first world time of the episode; see :data:`~worldthread.TimeLike`.
        until: the first world time after it, so that ``since`` and ``until`` form a half-open interval.
        recorded_since: the first time at which the episode was recorded; seconds since 1970-01-01 UTC, or a date.
        recorded_until: the first time after it.

    Raises:
        InputError: an argument cannot be used.
    """

    __slots__ = ("_condition",)
    _condition: Condition

    def __init__(
        self,
        *,
        user: Names | None = None,
        agent: Names | None = None,
        session: Names | None = None,
        source: Names | None = None,
        speaker: Names | None = None,
        kind: Kind | Collection[Kind] | None = None,
        relation: Names | None = None,
        metadata: Mapping[str, MetadataValue | Collection[MetadataValue]] | None = None,
        since: TimeLike | None = None,
        until: TimeLike | None = None,
        recorded_since: TimeLike | None = None,
        recorded_until: TimeLike | None = None,
    ) -> None:
        parts: list[Condition] = [
            LabelIn(cast("Literal['user', 'agent', 'session', 'source', 'speaker']", field), _names(given, field))
            for field, given in (
                ("user", user), ("agent", agent), ("session", session), ("source", source), ("speaker", speaker),
            )
            if given is not None
        ]  # fmt: skip
        if kind is not None:
            kinds: Collection[Kind] = (kind,) if isinstance(kind, str) else kind
            require_subset(kinds, KINDS, "kind")
            parts.append(KindIn(tuple(sorted(set(kinds)))))
        if relation is not None:
            relations = {normalise_name(require_query(name, "relation")) for name in _names(relation, "relation")}
            parts.append(RelationIn(tuple(sorted(relations))))
        if metadata is not None:
            parts += _metadata_conditions(metadata)
        for field, start, end in (("at", since, until), ("recorded_at", recorded_since, recorded_until)):
            if start is not None or end is not None:
                parts.append(TimeIn(cast("Literal['at', 'recorded_at']", field), *_interval(start, end)))
        self._condition = parts[0] if len(parts) == 1 else All(tuple(parts))

    @classmethod
    def _of(cls, condition: Condition) -> Filter:
        made = cls.__new__(cls)
        made._condition = condition
        return made

    @property
    def condition(self) -> Condition:
        """The filter as a condition on episodes and what they assert."""
        return self._condition

    def __and__(self, other: Filter) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        return self._of(All((self._condition, other._condition)))

    def __or__(self, other: Filter) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        return self._of(Some((self._condition, other._condition)))

    def __invert__(self) -> Filter:
        return self._of(Not(self._condition))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and self._condition == other._condition

    def __hash__(self) -> int:
        return hash(self._condition)

    def __repr__(self) -> str:
        return f"Filter({'everything' if self._condition == _EVERYTHING else self._condition})"


def condition_of(where: Filter | None) -> Condition | None:
    """Return the condition of the argument ``where``; ``None`` for everything."""
    if where is None:
        return None
    if not isinstance(where, Filter):
        raise InputError(f"where must be a Filter, such as Filter(user=...), not {type(where).__name__}")
    return where.condition


def user_asked_for(where: Filter | None) -> str | None:
    """Return the one user whom a filter selects, who then is meant by "I" in a question; ``None`` without one."""
    condition = condition_of(where)
    parts = condition.parts if isinstance(condition, All) else (condition,)
    for part in parts:
        found = user_asked_for(Filter._of(part)) if isinstance(part, All) else None
        if found is not None:
            return found
        if isinstance(part, LabelIn) and part.field == "user" and len(part.values) == 1 and part.values[0]:
            return part.values[0]
    return None


def _names(given: Names, what: str) -> tuple[str, ...]:
    """Return one or several names as a sorted tuple."""
    values = (given,) if isinstance(given, str) else given
    if isinstance(values, bytes | Mapping) or not isinstance(values, Collection):
        raise InputError(f"{what} must be a string or a list of strings, not {type(values).__name__}")
    return tuple(sorted({require_string(value, what) for value in values}))


def _metadata_conditions(
    metadata: Mapping[str, MetadataValue | Collection[MetadataValue]],
) -> list[Condition]:
    if not isinstance(metadata, Mapping):
        raise InputError(f"metadata must be a mapping, not {type(metadata).__name__}")
    found: list[Condition] = []
    checked = {require_string(key, "a key of metadata"): given for key, given in metadata.items()}
    for key in sorted(checked):
        given = checked[key]
        values = (
            given
            if isinstance(given, Collection) and not isinstance(given, str | bytes | bytearray | Mapping)
            else (given,)
        )
        compared = {compared_value(metadata_value(value, f"the metadata {key!r}")) for value in values}
        found.append(MetadataIn(key, tuple(sorted(compared, key=lambda one: (isinstance(one[1], str), one)))))
    return found


def _interval(start: TimeLike | None, end: TimeLike | None) -> tuple[float, float]:
    first, last = to_world_time(start), to_world_time(end)
    return -math.inf if first is None else first, math.inf if last is None else last

"""Conditions on what was said: by whom and when, and of which kind and relation. A filter is made of them.

A condition is about a *testimony*: an episode together with one of the items that it vouches for. The items are the
statements that it asserts, and the episode itself. Conditions can be hashed, and hold nothing of a graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from worldthread.graph.provenances import LabelField
from worldthread.provenance import MetadataValue


@dataclass(frozen=True)
class LabelIn:
    """The episode has one of some labels.

    Args:
        field: which label. Speakers are compared as names are, the others exactly.
        values: the labels; the empty string stands for episodes without one.
    """

    field: LabelField | Literal["source"]
    values: tuple[str, ...]


@dataclass(frozen=True)
class MetadataIn:
    """The metadata of the episode have one of some values under a key.

    Args:
        key: the key.
        values: the values, each after whether it is a truth value; numbers are compared as numbers, and ``True`` is no
            number.
    """

    key: str
    values: tuple[tuple[bool, MetadataValue], ...]


@dataclass(frozen=True)
class TimeIn:
    """A time of the episode lies in a half-open interval.

    Args:
        field: its world time, or when it was recorded. An episode that was never stored has no recorded time.
        start: the first time in the interval.
        end: the first time after it.
    """

    field: Literal["at", "recorded_at"]
    start: float
    end: float


@dataclass(frozen=True)
class KindIn:
    """The item is of one of some kinds: ``"fact"``, ``"thesis"`` or ``"episode"``."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class RelationIn:
    """The item is a fact with one of some relations, or an episode that asserts one; a thesis has none.

    Args:
        values: normalised names of relations.
    """

    values: tuple[str, ...]


@dataclass(frozen=True)
class All:
    """All of some conditions hold; without conditions it always holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Some:
    """At least one of some conditions holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """A condition does not hold."""

    part: Condition


Condition: TypeAlias = LabelIn | MetadataIn | TimeIn | KindIn | RelationIn | All | Some | Not
"""Any condition."""

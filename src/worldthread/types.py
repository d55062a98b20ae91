"""The nouns of worldthread: plain frozen values, no behaviour beyond checking and identity.

**Times.** *World time* says when something was so: a turn number or seconds since 1970-01-01 UTC, one unit per memory,
always a finite float. *Recorded time* says when it was stored: seconds since 1970-01-01 UTC. Intervals are half-open.

**Identity.** Ids come from content, so the order in which things arrive cannot matter. An episode is its text, its
world time and its source; a fact is its three normalised names; a thesis is its normalised text.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from worldthread.arguments import (
    require_finite,
    require_name,
    require_string,
    require_text,
    require_tuple,
    require_unicode,
)
from worldthread.errors import InputError
from worldthread.names import normalise_name, normalise_text

FOREVER = math.inf
"""The ``valid_to`` of a statement that has not ended."""

TimeLike: TypeAlias = float | int | datetime | date | str
"""A world time: a number, taken as it is; a date or time, taken as seconds since 1970-01-01 UTC (UTC where it names no
zone); or a string that holds a number or an ISO 8601 date or time."""


def _digest(*parts: str) -> str:
    """128-bit id of a sequence of strings; lengths are hashed too, so parts cannot run into each other."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def short_repr(text: str, limit: int = 60) -> str:
    """Return the ``repr`` of a text, cut to ``limit`` characters of the text."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


@dataclass(frozen=True)
class Fact:
    """A triple: ``subject``, ``relation``, ``object``, as written; compared and identified by normalised names.

    Args:
        aspect: names the single-valued property that the fact states ("place of key 1"). A later episode that states
            the same aspect with other facts ends this one. ``None``: the fact ends only when an episode says so.
            The aspect belongs to the assertion, not to the identity of the fact.
    """

    subject: str
    relation: str
    object: str
    aspect: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require_name(self.subject, "subject")
        require_name(self.relation, "relation")
        require_name(self.object, "object")
        if self.aspect is not None:
            require_name(self.aspect, "aspect")

    @cached_property
    def key(self) -> tuple[str, str, str]:
        """The normalised (subject, relation, object)."""
        return normalise_name(self.subject), normalise_name(self.relation), normalise_name(self.object)

    @cached_property
    def id(self) -> str:
        """32 hexadecimal digits, from :attr:`key`."""
        return _digest("fact", *self.key)

    def __eq__(self, other: Any) -> bool:
        return self.key == other.key if isinstance(other, Fact) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return f"{self.subject}, {self.relation}, {self.object}"


@dataclass(frozen=True)
class Thesis:
    """One atomic sentence, tied to the objects that it speaks of.

    Identified by its normalised text and the set of its normalised objects.
    """

    text: str
    objects: tuple[str, ...] = ()
    aspect: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require_text(self.text, "text of a thesis")
        object.__setattr__(self, "objects", require_tuple(self.objects, str, "objects of a thesis"))
        for name in self.objects:
            require_name(name, "object of a thesis")
        if self.aspect is not None:
            require_name(self.aspect, "aspect")

    @cached_property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The normalised text, and the sorted normalised objects without repetition."""
        return normalise_text(self.text), tuple(sorted({normalise_name(name) for name in self.objects}))

    @cached_property
    def id(self) -> str:
        """32 hexadecimal digits, from :attr:`key`."""
        text, objects = self.key
        return _digest("thesis", text, *objects)

    def __eq__(self, other: Any) -> bool:
        return self.key == other.key if isinstance(other, Thesis) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.text


Statement: TypeAlias = Fact | Thesis


@dataclass(frozen=True)
class Ending:
    """An episode says that an older statement no longer holds, and why."""

    statement: Statement
    reason: str

    def __post_init__(self) -> None:
        if not isinstance(self.statement, Fact | Thesis):
            raise InputError(f"an ending is of a Fact or a Thesis, not of {type(self.statement).__name__}")
        require_text(self.reason, "reason of an ending")


@dataclass(frozen=True)
class Extraction:
    """What a reader took from the text of one episode. Part of the record: a fold never reads a text again.

    Args:
        reader: name and version of the reader, such as ``"game/1"``; empty when nothing has read the episode.
        statements: facts and theses that hold from the episode's world time on.
        endings: older statements that stop holding at the episode's world time. A statement that the same reading
            asserts does not end.
        failures: pieces of reader output that could not be understood, verbatim.
    """

    extractor: str = ""
    statements: tuple[Statement, ...] = ()
    endings: tuple[Ending, ...] = ()
    failures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_string(self.extractor, "reader")
        assign = object.__setattr__
        assign(self, "statements", require_tuple(self.statements, (Fact, Thesis), "statements of a reading"))
        assign(self, "endings", require_tuple(self.endings, Ending, "endings of a reading"))
        assign(self, "failures", require_tuple(self.failures, str, "failures of a reading"))
        for failure in self.failures:
            require_unicode(failure, "failure of a reading")

    @property
    def is_complete(self) -> bool:
        """Whether a reader has understood all of the text."""
        return bool(self.extractor) and not self.failures

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of everything in the reading, as written: equal only for the very same reading."""
        parts = [self.extractor, *self.failures]
        for statement in (*self.statements, *(ending.statement for ending in self.endings)):
            names = statement.objects if isinstance(statement, Thesis) else (statement.relation, statement.object)
            head = statement.text if isinstance(statement, Thesis) else statement.subject
            parts += [type(statement).__name__, statement.aspect or "", str(len(names)), head, *names]
        parts += [ending.reason for ending in self.endings]
        counts = (len(self.failures), len(self.statements), len(self.endings))
        return _digest(*map(str, counts), *parts)


@dataclass(frozen=True)
class Episode:
    """One observation or passage with its text, its times and its reading.

    Args:
        text: what was seen or read, verbatim.
        at: world time.
        source: where it comes from (a run, a file, a speaker). Tells apart equal texts of one world time.
        reading: what was extracted.
        recorded_at: recorded time; ``None`` until a store gives one. Not part of the identity.
    """

    text: str
    at: float
    source: str = ""
    extraction: Extraction = Extraction()
    recorded_at: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require_text(self.text, "text of an episode")
        require_string(self.source, "source")
        if not isinstance(self.extraction, Extraction):
            raise InputError(
                f"the extraction of an episode must be an Extraction, not {type(self.extraction).__name__}"
            )
        object.__setattr__(self, "at", require_finite(self.at, "at"))
        if self.recorded_at is not None:
            object.__setattr__(self, "recorded_at", require_finite(self.recorded_at, "recorded_at"))

    @cached_property
    def id(self) -> str:
        """32 hexadecimal digits, from text, world time and source."""
        return _digest("episode", self.text, self.at.hex(), self.source)


@dataclass(frozen=True, order=True)
class Interval:
    """World time, half-open: ``valid_from <= t < valid_to``. An open end is :data:`FOREVER`."""

    valid_from: float
    valid_to: float = FOREVER

    def __contains__(self, time: object) -> bool:
        return isinstance(time, int | float) and self.valid_from <= time < self.valid_to

    @property
    def is_open(self) -> bool:
        """Whether the end is not known."""
        return self.valid_to == FOREVER


@dataclass(frozen=True)
class Version:
    """A statement over one uninterrupted interval in which it held.

    Args:
        statement: what held.
        interval: when it held, in world time.
        sources: ids of the episodes that asserted it in this interval, in fold order; the first opened it.
        ended_by: id of the episode that ended it; ``None`` while it holds.
        reason: why it ended; ``None`` while it holds.
    """

    statement: Statement
    interval: Interval
    sources: tuple[str, ...]
    ended_by: str | None = None
    reason: str | None = None


Kind: TypeAlias = Literal["fact", "thesis", "episode"]
"""What can be retrieved."""

KINDS: Final[tuple[Kind, ...]] = ("fact", "thesis", "episode")


@dataclass(frozen=True)
class Hit:
    """One retrieved statement or episode.

    Args:
        item: the fact, thesis or episode.
        score: how well it fits the question, by the method that found it; higher is better.
        kind: what the item is.
        path: names of objects and relations in turn, from an object that the question names; empty when there is none.
        version: of a statement: when it holds, what it comes from, and why it ended.
    """

    item: Statement | Episode
    score: float
    kind: Kind
    path: tuple[str, ...] = ()
    version: Version | None = None


@dataclass(frozen=True)
class Recall:
    """What a retrieval returned, the best of each kind first.

    Args:
        query: the question.
        hits: facts, theses and episodes, each best first.
        text: the same in words, ready for a prompt, within the budget of tokens that was asked for.
        method: the name of the method.
        as_of: the moment of world time that was asked about; ``None`` for now.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    text: str = ""
    method: str = ""
    as_of: float | None = None

    @property
    def facts(self) -> tuple[Hit, ...]:
        """Hits that are facts, best first."""
        return tuple(hit for hit in self.hits if hit.kind == "fact")

    @property
    def theses(self) -> tuple[Hit, ...]:
        """Hits that are theses, best first."""
        return tuple(hit for hit in self.hits if hit.kind == "thesis")

    @property
    def episodes(self) -> tuple[Hit, ...]:
        """Hits that are episodes, best first."""
        return tuple(hit for hit in self.hits if hit.kind == "episode")

    def __str__(self) -> str:
        return self.text

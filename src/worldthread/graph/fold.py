"""The definition of the graph: a fold of its episodes, ordered by world time, then id.

For each episode in that order, with world time *t*:

1. Every statement that its extraction asserts opens a version ``[t, forever)``. If the statement holds already, the
   episode becomes one more source of that version.
2. Every statement that its extraction ends, and does not assert, stops holding at *t*, with the reason given.
3. Every statement that holds with an aspect which the extraction states with *other* statements only stops holding at
   *t*; the reason names the statement that replaces it. The aspects of a version are those of all its assertions.

A statement that ended and is asserted again opens a new version. Nothing else changes the graph, so the same episodes
give the same graph in whatever order and grouping they arrive. :class:`~worldthread.graph.temporal.TemporalGraph`
computes the same incrementally and is tested against this module, which is kept simple enough to be checked by eye.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from worldthread.errors import InputError
from worldthread.types import FOREVER, Episode, Extraction, Fact, Interval, Statement, Version

STATE_HASH_VERSION: Final = 2
"""The version of the hash that :func:`state_hash` computes unless it is asked for an older one."""


def replacements(extraction: Extraction) -> dict[str, Statement]:
    """Return what an extraction states under each aspect, to explain why statements end.

    Args:
        extraction: the extraction of the ending episode.

    Returns:
        For each aspect that it states, the first of the statements by id; so the order in which an extractor listed
        them does not matter.
    """
    stated = [s for s in extraction.statements if s.aspect is not None]
    stated.sort(key=lambda s: (s.id, str(s)), reverse=True)
    return {s.aspect or "": s for s in stated}  # of equal keys the last one stays


def replacement_reason(replaced: Mapping[str, Statement], aspects: Collection[str]) -> str | None:
    """Return why a statement ends when an extraction states one of its aspects with other statements.

    Args:
        replaced: the :func:`replacements` of the ending episode.
        aspects: the aspects with which the statement holds.

    Returns:
        The reason, or ``None`` when the extraction states none of the aspects. Of several aspects it is the first.
    """
    first = min((aspect for aspect in aspects if aspect in replaced), default=None)
    return None if first is None else f"replaced by: {replaced[first]}"


@dataclass
class _Open:
    """A version that is still growing."""

    valid_from: float
    sources: list[str]
    aspects: set[str]


@dataclass
class _History:
    """The versions of one statement while the fold runs."""

    display: Statement
    closed: list[Version] = field(default_factory=list)
    open: _Open | None = None

    def close(self, at: float, ended_by: str, reason: str) -> None:
        assert self.open is not None
        interval = Interval(self.open.valid_from, at)
        self.closed.append(Version(self.display, interval, tuple(self.open.sources), ended_by, reason))
        self.open = None

    def versions(self) -> tuple[Version, ...]:
        if self.open is None:
            return tuple(self.closed)
        return (
            *self.closed,
            Version(self.display, Interval(self.open.valid_from, FOREVER), tuple(self.open.sources)),
        )


@dataclass(frozen=True)
class Fold:
    """The result of a fold.

    Args:
        episodes: the episodes in fold order (world time, then id).
        versions: for every statement that was ever asserted, its versions in order of time. Statements are written as
            in their first assertion in fold order.
    """

    episodes: tuple[Episode, ...]
    versions: dict[Statement, tuple[Version, ...]]

    def current(self) -> set[Statement]:
        """Return the statements that hold now."""
        return {statement for statement, versions in self.versions.items() if versions[-1].interval.is_open}

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Iterate over the result in canonical form, for :func:`state_hash`.

        Yields:
            One row for each episode and each version.
        """
        for episode in self.episodes:
            yield "episode", episode.id, episode.extraction.digest
        for versions in self.versions.values():
            for version in versions:
                yield version_row(version)


def fold(episodes: Iterable[Episode]) -> Fold:
    """Return the graph of some episodes, by the rules at the top of this module.

    Args:
        episodes: in any order; repetitions are allowed.

    Returns:
        The episodes and the versions of their statements.

    Raises:
        InputError: the same episode comes with two different extractions.
    """
    unique: dict[str, Episode] = {}
    for episode in episodes:
        known = unique.setdefault(episode.id, episode)
        if known.extraction.digest != episode.extraction.digest:
            raise InputError(f"episode {episode.id} comes with two different extractions")
    ordered = sorted(unique.values(), key=lambda e: (e.at, e.id))
    histories: dict[Statement, _History] = {}
    for episode in ordered:
        extraction = episode.extraction
        asserted = set(extraction.statements)
        ended: dict[Statement, str] = {}
        for ending in extraction.endings:
            ended.setdefault(ending.statement, ending.reason)
        replaced = replacements(extraction)
        for statement, history in histories.items():
            if history.open is None or statement in asserted:
                continue
            reason = ended.get(statement) or replacement_reason(replaced, history.open.aspects)
            if reason is not None:
                history.close(episode.at, episode.id, reason)
        for statement in extraction.statements:
            history = histories.setdefault(statement, _History(statement))
            if history.open is None:
                history.open = _Open(episode.at, [], set())
            if episode.id not in history.open.sources:
                history.open.sources.append(episode.id)
            if statement.aspect is not None:
                history.open.aspects.add(statement.aspect)
    return Fold(tuple(ordered), {s: history.versions() for s, history in histories.items()})


def version_row(version: Version) -> tuple[str, ...]:
    """Return a version in canonical form: a row for :func:`state_hash`."""
    statement = version.statement
    shown: tuple[str, ...]
    if isinstance(statement, Fact):
        shown = ("fact", statement.subject, statement.relation, statement.object)
    else:
        shown = ("thesis", statement.text, *statement.objects)
    return (
        *shown,
        str(len(version.sources)),
        *version.sources,
        version.interval.valid_from.hex(),
        version.interval.valid_to.hex(),
        version.ended_by or "",
        version.reason or "",
    )


def state_hash(rows: Iterable[tuple[str, ...]], version: int = STATE_HASH_VERSION) -> str:
    """Return the hash of a graph, which two graphs share exactly when they come from the same episodes.

    It covers the episodes (text, world time, source) with all of their extractions as written, and the intervals,
    sources and endings that follow. Recorded times are left out: the same episodes must give the same hash whenever and
    in whatever order they arrive.

    Version 1 does not cover what has no effect yet: aspects, endings of what does not hold, the names of extractors,
    and failures. Two graphs that share it can differ after the next change.

    Args:
        rows: the graph in canonical form (:meth:`Fold.rows`, :meth:`TemporalGraph.rows`), in any order.
        version: 2; or 1 to compare with a hash that was stored by an older release.

    Returns:
        ``"v2-"`` and 64 hexadecimal digits; for version 1 the digits alone.

    Raises:
        InputError: there is no such version.
    """
    if isinstance(version, bool) or version not in (1, STATE_HASH_VERSION):
        raise InputError(f"the version of a state hash must be 1 or {STATE_HASH_VERSION}, not {version!r}")
    total = 0
    for row in rows:
        state = hashlib.blake2b(digest_size=32)
        for part in row[:2] if version == 1 and row[0] == "episode" else row:
            data = part.encode("utf-8")
            state.update(len(data).to_bytes(8, "big"))
            state.update(data)
        # a sum modulo 2^256 is a multiset hash: no need to sort a large state
        total = (total + int.from_bytes(state.digest(), "big")) % (1 << 256)
    return f"{total:064x}" if version == 1 else f"v{version}-{total:064x}"

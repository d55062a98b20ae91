"""The definition of the graph: a fold of what its episodes say.

An episode with world time *t* says of each statement that it asserts from when to when it holds: from ``valid_from``
(where the text states none: from *t*, or from ``valid_to`` if that is earlier) until ``valid_to`` (forever). It says
that a statement ends at ``Ending.at`` (*t*). What is said counts from the *moment* of its interval that is nearest to
*t*: from *t* when the interval holds *t*, from its beginning when that is announced, at its end when that is past. The
fold takes what is said in the order of moment, then world time, then id of the episode. Of one episode and one moment:

1. Every statement that the episode ends, and does not assert, stops holding at the time stated, with the reason given.
2. Every statement that holds with an aspect which is stated now with *other* statements only stops holding where the
   first of these begins; the reason names the statement that replaces it. The aspects of a version are those of all its
   assertions. A statement that is past (``valid_to <= t``) replaces nothing.
3. Every statement that is asserted opens a version. If it holds already, or held in a part of the interval stated, this
   version goes on instead: the earliest beginning counts, and the end that was stated last.

To stop holding at a time means: every version of the statement, with the aspect in question, that lasts beyond this
time ends there. A version that began later is left empty: it holds at no time.

What was said can be taken back. An assertion counts for nothing, and leaves an empty version with the reason, when a
later episode that does not assert the statement says that it was never true (:attr:`~worldthread.types.Ending.never`).
An announcement (``valid_from > t``) is taken back too when a later episode ends the statement at its beginning or
before, or asserts it with a later beginning within its interval while it has not begun.

Names that an episode says are the same (:attr:`~worldthread.types.Extraction.same_names`) are one name, at any time:
before anything is folded, all statements are read with the canonical names of :mod:`worldthread.graph.merges`.

All of this is done apart for the episodes of each user (:attr:`Episode.user <worldthread.types.Episode.user>`, compared
exactly), as if each had a graph of their own; the episodes without a user are a part like any other. What an episode
asserts, ends, replaces, takes back and merges concerns its own part only: a statement has its versions in each part
whose episodes assert it.

A statement that ended and is asserted again opens a new version. Nothing else changes the graph, so the same episodes
give the same graph in whatever order and grouping they arrive. Where no text states times, every moment is *t*: each
version begins with the episode that opens it and ends with the episode that ends it.

*Now* is the world time of the latest episode. What holds now is what is not over: versions that end later or never,
those that have not begun included.

:class:`~worldthread.graph.temporal.TemporalGraph` computes the same incrementally and is tested against this module,
which is kept simple enough to be checked by eye.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from worldthread.errors import InputError
from worldthread.graph.merges import MergedNames
from worldthread.types import FOREVER, Ending, Episode, Fact, Interval, Statement, Version

STATE_HASH_VERSION: Final = 2
"""The version of the hash that :func:`state_hash` computes unless it is asked for an older one."""


SAID_TO_END: Final = "said to end"
"""The reason of an end that the statement itself states."""
PUT_OFF: Final = "put off"
"""The reason of an announcement that was taken back by one for later."""


def stated_interval(at: float, statement: Statement) -> tuple[float, float]:
    """Return from when to when a statement holds, as an episode says.

    Args:
        at: the world time of the episode.
        statement: as the episode asserts it.

    Returns:
        The beginning and the end; an end that is not stated is :data:`~worldthread.types.FOREVER`.
    """
    end = FOREVER if statement.valid_to is None else statement.valid_to
    return min(at, end) if statement.valid_from is None else statement.valid_from, end


def moment_of(at: float, begin: float, end: float = FOREVER) -> float:
    """Return the time from ``begin`` to ``end`` that is nearest to ``at``."""
    return max(begin, min(at, end))


@dataclass(frozen=True)
class Replacement:
    """What replaces the other values of an aspect.

    Args:
        statement: the first of the new statements by id; so the order in which an extractor listed them does not
            matter.
        begin: the world time at which the first of them begins.
    """

    statement: Statement
    begin: float

    @property
    def reason(self) -> str:
        """Why the others end."""
        return f"replaced by: {self.statement}"


def replacements(at: float, statements: Iterable[Statement]) -> dict[str, Replacement]:
    """Return what is stated under each aspect, to end and to explain the end of other statements.

    Args:
        at: the world time of the episode.
        statements: what the episode asserts at one moment.

    Returns:
        For each aspect the replacement; none for what is past.
    """
    found: dict[str, list[tuple[float, Statement]]] = {}
    for statement in statements:
        begin, end = stated_interval(at, statement)
        if statement.aspect is not None and end > at:
            found.setdefault(statement.aspect, []).append((begin, statement))
    return {aspect: _replacement(stated) for aspect, stated in found.items()}


def _replacement(stated: Sequence[tuple[float, Statement]]) -> Replacement:
    """Return what replaces others, from the new statements of one aspect, each with its beginning."""
    if len(stated) == 1:  # ids are not needed, and take most of the time
        ((begin, statement),) = stated
        return Replacement(statement, begin)
    first = min((statement for _, statement in stated), key=lambda s: (s.id, str(s)))
    return Replacement(first, min(begin for begin, _ in stated))


@dataclass
class _Growing:
    """A version while the fold runs."""

    start: float
    end: float
    sources: list[str]
    aspects: set[str]
    ended_by: str | None = None
    reason: str | None = None
    end_said: tuple[float, str] = (-FOREVER, "")  # world time and id of the episode that states the end

    def stop(self, at: float, ended_by: str, reason: str) -> None:
        if self.end > at:
            self.end, self.ended_by, self.reason = max(self.start, at), ended_by, reason


@dataclass
class _History:
    """The versions of one statement while the fold runs: disjoint and in order of time."""

    display: Statement
    versions: list[_Growing] = field(default_factory=list)

    def stop(self, at: float, ended_by: str, reason: str) -> None:
        for version in self.versions:
            version.stop(at, ended_by, reason)

    def replace(self, replaced: dict[str, Replacement], ended_by: str) -> None:
        for version in self.versions:
            for aspect in sorted(aspect for aspect in version.aspects if aspect in replaced):
                version.stop(replaced[aspect].begin, ended_by, replaced[aspect].reason)

    def extend(self, episode: Episode, statement: Statement) -> None:
        begin, end = stated_interval(episode.at, statement)
        moment, said = moment_of(episode.at, begin, end), (episode.at, episode.id)
        grown = _Growing(begin, FOREVER, [episode.id], set() if statement.aspect is None else {statement.aspect})
        while self.versions and self.versions[-1].end > begin:
            last = self.versions.pop()
            sources = list(dict.fromkeys((*last.sources, *grown.sources)))
            grown = replace(grown, start=min(last.start, begin), sources=sources, aspects=last.aspects | grown.aspects)
            if moment < last.end < FOREVER:  # the end that is stated for the version that holds
                grown = replace(grown, end=last.end, ended_by=last.ended_by, reason=last.reason, end_said=last.end_said)
        if end < FOREVER and said >= grown.end_said:
            grown = replace(grown, end=end, ended_by=episode.id, reason=SAID_TO_END, end_said=said)
        self.versions.append(grown)


@dataclass(frozen=True)
class Fold:
    """The result of a fold.

    Args:
        episodes: the episodes in fold order (world time, then id).
        versions: for every statement that was ever asserted, its versions in order of time, those of all users.
            Statements are written as in their first assertion in fold order of the same user.
    """

    episodes: tuple[Episode, ...]
    versions: dict[Statement, tuple[Version, ...]]

    def current(self) -> set[Statement]:
        """Return the statements that hold now: those that are not over."""
        now = self.episodes[-1].at if self.episodes else 0.0
        return {
            s
            for s, versions in self.versions.items()
            if any(v.interval.valid_from < v.interval.valid_to > now for v in versions)
        }

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


def fold(episodes: Iterable[Episode], later: Iterable[Episode] = ()) -> Fold:
    """Return the graph of some episodes, by the rules at the top of this module.

    Args:
        episodes: in any order; repetitions are allowed.
        later: episodes that are not folded themselves, but whose corrections and merged names count: what they say was
            never true is left out.

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
    later = tuple(e for e in later if e.id not in unique)
    found: dict[Statement, tuple[Version, ...]] = {}
    for user in dict.fromkeys(e.user for e in ordered):
        part = _fold([e for e in ordered if e.user == user], [e for e in later if e.user == user])
        for statement, versions in part.items():
            others = found.get(statement, ())
            found[statement] = tuple(sorted((*others, *versions), key=in_time)) if others else versions
    return Fold(tuple(ordered), found)


def in_time(version: Version) -> tuple[Interval, tuple[str, ...]]:
    """Return the place of a version among those of the same statement by several users."""
    return version.interval, version.sources


def _fold(ordered: list[Episode], later: list[Episode]) -> dict[Statement, tuple[Version, ...]]:
    """Return the versions of the statements of one user, from their episodes in fold order and from later ones."""
    names = MergedNames(pair for e in (*ordered, *later) for pair in e.extraction.same_names)
    ordered, later = _read(names, ordered), _read(names, later)
    corrections = {e.id for e in later}
    speaking: dict[Statement, list[Episode]] = {}  # statement -> episodes that assert or end it
    for episode in sorted((*ordered, *later), key=lambda e: (e.at, e.id)):
        extraction = episode.extraction
        for statement in {*extraction.statements, *(ending.statement for ending in extraction.endings)}:
            speaking.setdefault(statement, []).append(episode)
    histories: dict[Statement, _History] = {}
    taken_back: list[Version] = []
    said: dict[tuple[float, float, str], tuple[Episode, list[Statement], list[tuple[float, Ending]]]] = {}
    for episode in ordered:
        for statement in episode.extraction.statements:
            if _is_corrected(episode, statement, (e for e in speaking[statement] if e.id in corrections)):
                continue
            begin, end = stated_interval(episode.at, statement)
            spoken = (e for e in speaking[statement] if e.id not in corrections)
            withdrawn = _taken_back(episode, statement, spoken)
            if withdrawn is not None:
                taken_back.append(Version(statement, Interval(begin, begin), (episode.id,), *withdrawn))
                continue
            moment = moment_of(episode.at, begin, end)
            said.setdefault((moment, episode.at, episode.id), (episode, [], []))[1].append(statement)
        for ending in episode.extraction.endings:
            if ending.statement not in episode.extraction.statements and not ending.never:
                begin = episode.at if ending.at is None else ending.at
                key = moment_of(episode.at, begin), episode.at, episode.id
                said.setdefault(key, (episode, [], []))[2].append((begin, ending))
    for _, (episode, statements, endings) in sorted(said.items(), key=lambda item: item[0]):
        asserted = set(statements)
        for at, ending in endings:
            if ending.statement in histories:
                histories[ending.statement].stop(at, episode.id, ending.reason)
        replaced = replacements(episode.at, statements)
        for statement, history in histories.items():
            if replaced and statement not in asserted:
                history.replace(replaced, episode.id)
        for statement in statements:
            histories.setdefault(statement, _History(statement)).extend(episode, statement)
    return _versions(histories, taken_back)


def _read(names: MergedNames, episodes: Iterable[Episode]) -> list[Episode]:
    return [replace(e, extraction=names.extraction(e.extraction)) for e in episodes]


def _is_corrected(episode: Episode, statement: Statement, others: Iterable[Episode]) -> bool:
    """Return whether a later one of other episodes says that a statement was never true."""
    return any(
        (episode.at, episode.id) < (other.at, other.id)
        and statement not in other.extraction.statements
        and any(ending.never and ending.statement == statement for ending in other.extraction.endings)
        for other in others
    )


def _taken_back(episode: Episode, statement: Statement, others: Iterable[Episode]) -> tuple[str, str] | None:
    """Return which of other episodes, in fold order, takes an assertion back first, and why."""
    begin, end = stated_interval(episode.at, statement)
    for other in others:
        if (other.at, other.id) <= (episode.at, episode.id):
            continue
        again = [stated_interval(other.at, s)[0] for s in other.extraction.statements if s == statement]
        if begin > episode.at and other.at < begin and any(begin < later < end for later in again):
            return other.id, PUT_OFF
        for ending in () if again else other.extraction.endings:
            at = other.at if ending.at is None else ending.at
            if ending.statement == statement and (ending.never or episode.at < begin >= at):
                return other.id, ending.reason
    return None


def _versions(histories: dict[Statement, _History], taken_back: list[Version]) -> dict[Statement, tuple[Version, ...]]:
    """Return the versions of every statement in order of time."""
    found: dict[Statement, list[Version]] = {}
    for history in histories.values():
        found[history.display] = [
            Version(history.display, Interval(v.start, v.end), tuple(v.sources), v.ended_by, v.reason)
            for v in history.versions
        ]
    for version in sorted(taken_back, key=lambda v: v.interval.valid_from):
        # shown as its first assertion that counts wrote it; else as the announcement that would have begun first did
        display = next((s for s in found if s == version.statement), version.statement)
        found.setdefault(display, []).append(replace(version, statement=display))
    return {s: tuple(sorted(versions, key=lambda v: v.interval)) for s, versions in found.items()}


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

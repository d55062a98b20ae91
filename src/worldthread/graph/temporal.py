"""The temporal graph, kept up to date one episode at a time. Equal to :func:`worldthread.graph.fold.fold` by test.

Why this can be incremental: the versions of one statement are decided by three kinds of *marks* alone: the assertions
of the statement, the endings that name it, and the assertions of other statements under an aspect that it holds with.
The graph keeps the marks, indexed. An episode later than all others (the usual case) is applied by looking at what it
touches; an episode that arrives late, or is forgotten, recomputes the touched statements from their marks.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError, NotFoundError
from worldthread.graph.columns import Row, RowTable, pack_rows, pack_strings, unpack_strings
from worldthread.graph.fold import replacement_reason, state_hash, version_row
from worldthread.graph.view import GraphView
from worldthread.names import normalise_name
from worldthread.types import FOREVER, Ending, Episode, Extraction, Fact, Interval, Statement, Thesis, Version

ARRAYS_FORMAT: Final = 2
"""Version of the layout that :meth:`TemporalGraph.to_arrays` writes."""

_NONE: Final = -1
_UNIT: Final = "\x1f"  # joins the objects of a thesis; names cannot contain it
_OTHER_MARKS: Final = "an episode is already recorded with another reading; forget it first: "


class _StringTable:
    """Every distinct string once, numbered in order of arrival."""

    __slots__ = ("_index", "items")

    def __init__(self, items: list[str]) -> None:
        self.items = items
        self._index = dict(zip(items, range(len(items)), strict=True))

    def intern(self, text: str) -> int:
        number = self._index.setdefault(text, len(self.items))
        if number == len(self.items):
            self.items.append(text)
        return number

    def find(self, text: str) -> int | None:
        return self._index.get(text)


@dataclass(frozen=True)
class EpisodeRecord:
    """What the graph keeps of an episode: everything but its text.

    Args:
        id, at, source, recorded_at: as in :class:`~worldthread.types.Episode`.
        reader: who read it; empty when nobody did.
        failures: number of pieces that could not be understood.
    """

    id: str
    at: float
    source: str
    recorded_at: float | None
    extractor: str = ""
    failures: int = 0


class TemporalGraph:
    """Facts, theses and episodes with their intervals, sources and endings.

    Not safe for changes from several threads at once.
    """

    def __init__(self, episodes: Iterable[Episode] = ()) -> None:
        self._strings = _StringTable([])
        # statements: normalised (subject, relation, object), or (text, _NONE, objects) for a thesis; string numbers
        self._keys: list[tuple[int, int, int]] = []
        self._by_key: dict[tuple[int, int, int], int] = {}
        # forms: a statement as written, with its aspect: (statement, a, b, c, aspect); string numbers
        self._forms: list[Row] = []
        self._by_form: dict[Row, int] = {}
        self._made: dict[int, Statement] = {}  # the forms that were asked for, as objects
        # episodes
        self._ids: list[str] = []
        self._at: list[float] = []
        self._source: list[int] = []
        self._recorded: list[float | None] = []
        self._readers: list[int] = []
        self._failures: list[int] = []
        self._digests: list[str] = []
        self._by_id: dict[str, int] = {}
        # marks
        self._asserted = RowTable(2)  # statement -> (episode, form), in fold order
        self._ended = RowTable(2)  # statement -> (episode, reason)
        self._aspects = RowTable(2)  # aspect (string number) -> (episode, statement)
        self._taken = RowTable(1)  # episode -> (form,), in reading order
        self._endings = RowTable(2)  # episode -> (form, reason), in reading order
        # derived
        self._versions = RowTable(4)  # statement -> (first mark, mark after the last, ended by, reason)
        self._incident = RowTable(1)  # name (string number) -> (statement,)
        # derived and filled when first asked for: aspect -> statements that hold with it, and the other way round
        self._open_with: dict[int, set[int]] = {}
        self._held: dict[int, set[int]] = {}
        self._last: tuple[float, str] | None = None
        self.change_count = 0
        """Grows with every change; lets a reader know that what it derived is out of date."""
        self.add_many(episodes)

    # -- changing ---------------------------------------------------------------------------------------------------

    def add(self, episode: Episode) -> bool:
        """Take in an episode; ``False`` when it is known already.

        Raises:
            InputError: the same episode is recorded with another reading.
        """
        if self._is_known(episode):
            return False
        extraction = episode.extraction
        record = EpisodeRecord(
            episode.id, episode.at, episode.source, episode.recorded_at, extraction.extractor, len(extraction.failures)
        )
        self._take(record, extraction, extraction.digest)
        return True

    def add_many(self, episodes: Iterable[Episode]) -> int:
        """Take in many; how many were new. The same as :meth:`add` one by one, in the quickest order."""
        fresh = {episode.id: episode for episode in self._checked(episodes)}
        for episode in sorted(fresh.values(), key=lambda e: (e.at, e.id)):
            self.add(episode)
        return len(fresh)

    def forget(self, episode_id: str) -> None:
        """Remove an episode, as if it had never been taken in.

        Raises:
            NotFoundError: no such episode.
        """
        number = self._number(episode_id)
        touched = self._marked_by(number)
        disturbed = self._disturbed_by(number)
        aspects = {self._forms[form][4] for (form,) in self._taken.get(number)} - {_NONE}
        for statement in touched:
            self._asserted.replace(statement, [r for r in self._asserted.get(statement) if r[0] != number])
            self._ended.replace(statement, [r for r in self._ended.get(statement) if r[0] != number])
        for aspect in aspects:
            self._aspects.replace(aspect, [r for r in self._aspects.get(aspect) if r[0] != number])
        self._taken.replace(number, [])
        self._endings.replace(number, [])
        del self._by_id[episode_id]
        if self._last == (self._at[number], episode_id):
            self._last = max(((self._at[n], i) for i, n in self._by_id.items()), default=None)
        self._recompute(touched | disturbed, aspects)
        self.change_count += 1

    def _checked(self, episodes: Iterable[Episode]) -> Iterator[Episode]:
        digests: dict[str, str] = {}
        for episode in episodes:
            if not self._is_known(episode):
                if digests.setdefault(episode.id, episode.extraction.digest) != episode.extraction.digest:
                    raise InputError(_OTHER_MARKS + episode.id)
                yield episode

    def _is_known(self, episode: Episode) -> bool:
        number = self._by_id.get(episode.id)
        if number is None:
            return False
        if self._digests[number] != episode.extraction.digest:
            raise InputError(_OTHER_MARKS + episode.id)
        return True

    def _take(self, record: EpisodeRecord, extraction: Extraction, digest: str) -> None:
        number = self._mark(record, extraction, digest)
        order = (record.at, record.id)
        if self._last is None or order > self._last:
            self._apply(number)
            self._last = order
        else:
            self._recompute(self._marked_by(number) | self._disturbed_by(number))
        self.change_count += 1

    def _mark(self, record: EpisodeRecord, extraction: Extraction, digest: str) -> int:
        """Record an episode and its marks: its number."""
        number = len(self._ids)
        self._ids.append(record.id)
        self._at.append(record.at)
        self._source.append(self._strings.intern(record.source))
        self._recorded.append(record.recorded_at)
        self._readers.append(self._strings.intern(record.extractor))
        self._failures.append(record.failures)
        self._digests.append(digest)
        self._by_id[record.id] = number
        for statement in extraction.statements:
            form = self._form(statement)
            owner, *_, aspect = self._forms[form]
            self._taken.append(number, (form,))
            self._asserted.append(owner, (number, form))
            if aspect != _NONE:
                self._aspects.append(aspect, (number, owner))
        for ending in extraction.endings:
            form = self._form(ending.statement)
            reason = self._strings.intern(ending.reason)
            self._endings.append(number, (form, reason))
            self._ended.append(self._forms[form][0], (number, reason))
        return number

    def _marked_by(self, number: int) -> set[int]:
        """Statements that an episode asserts or ends."""
        forms = (*self._taken.get(number), *self._endings.get(number))
        return {self._forms[row[0]][0] for row in forms}

    def _disturbed_by(self, number: int) -> set[int]:
        """Other statements that an episode can end: those that hold at its place with an aspect that it states."""
        place = self._place(number)
        stated = {self._forms[form][4] for (form,) in self._taken.get(number)} - {_NONE}
        candidates = {statement for aspect in stated for _, statement in self._aspects.get(aspect)}
        return {
            statement
            for statement in candidates
            if any(
                self._place(self._asserted.get(statement)[first][0]) < place
                and (ended_by == _NONE or place <= self._place(ended_by))
                for first, _, ended_by, _ in self._versions.get(statement)
            )
        }

    def _place(self, number: int) -> tuple[float, str]:
        """Where an episode stands in the order of the fold."""
        return self._at[number], self._ids[number]

    def _apply(self, number: int) -> None:
        """Fold the latest episode: only what it asserts or ends, and holders of its aspects, can change."""
        asserted: dict[int, list[int]] = {}  # statement -> aspects stated with it, one for each mark
        for (form,) in self._taken.get(number):
            owner, *_, aspect = self._forms[form]
            asserted.setdefault(owner, []).append(aspect)
        for form, reason in self._endings.get(number):
            statement = self._forms[form][0]
            if statement not in asserted and self._is_open(statement):
                self._close(statement, number, reason)
        stated = {aspect for aspects in asserted.values() for aspect in aspects} - {_NONE}
        outdated = {holder for aspect in stated for holder in self._holders(aspect)} - asserted.keys()
        if outdated:
            extraction = self._reading(number)
            for statement in outdated:
                self._close(statement, number, self._replaced(extraction, self._held_with(statement)))
        for statement, aspects in asserted.items():
            marks = len(self._asserted.get(statement))
            if self._is_open(statement):
                held = self._held_with(statement)
                first, *_ = self._versions.get(statement)[-1]
                self._versions.set_last(statement, (first, marks, _NONE, _NONE))
            else:
                held = self._held[statement] = set()
                self._versions.append(statement, (marks - len(aspects), marks, _NONE, _NONE))
            for aspect in {*aspects} - {_NONE}:
                held.add(aspect)
                if aspect in self._open_with:
                    self._open_with[aspect].add(statement)

    def _replaced(self, extraction: Extraction, aspects: Iterable[int]) -> int:
        """The number of the reason for which a statement that holds with ``aspects`` ends at ``reading``."""
        reason = replacement_reason(extraction, (self._strings.items[aspect] for aspect in aspects))
        assert reason is not None
        return self._strings.intern(reason)

    def _close(self, statement: int, ended_by: int, reason: int) -> None:
        for aspect in self._held_with(statement):
            if aspect in self._open_with:
                self._open_with[aspect].discard(statement)
        del self._held[statement]
        first, after, *_ = self._versions.get(statement)[-1]
        self._versions.set_last(statement, (first, after, ended_by, reason))

    def _recompute(self, affected: set[int], dropped: Iterable[int] = ()) -> None:
        """Fold the marks of each of these statements again.

        ``dropped`` are aspects that one of them no longer has.
        """
        for statement in affected:
            self._held.pop(statement, None)
            self._refold(statement)
        for aspect in {aspect for statement in affected for aspect in self._aspects_ever(statement)}.union(dropped):
            self._open_with.pop(aspect, None)

    def _refold(self, statement: int) -> None:
        asserted: dict[int, list[Row]] = {}
        for mark in self._asserted.get(statement):
            asserted.setdefault(mark[0], []).append(mark)
        events = set(asserted)
        reasons: dict[int, int] = {}
        for episode, reason in self._ended.get(statement):
            reasons.setdefault(episode, reason)
        events.update(reasons)
        stated: dict[int, set[int]] = {}  # episode -> aspects that it states
        for aspect in self._aspects_ever(statement):
            for episode, _ in self._aspects.get(aspect):
                stated.setdefault(episode, set()).add(aspect)
        events.update(stated)
        marks: list[Row] = []
        versions: list[Row] = []
        held: set[int] = set()
        first = _NONE  # where the open version begins in marks
        for episode in sorted(events, key=lambda e: (self._at[e], self._ids[e])):
            if episode in asserted:
                if first == _NONE:
                    first = len(marks)
                marks += asserted[episode]
                held.update(self._forms[form][4] for _, form in asserted[episode])
            elif first != _NONE and (episode in reasons or held & stated.get(episode, set())):
                reason = (
                    reasons[episode] if episode in reasons else self._replaced(self._reading(episode), held - {_NONE})
                )
                versions.append((first, len(marks), episode, reason))
                first, held = _NONE, set()
        if first != _NONE:
            versions.append((first, len(marks), _NONE, _NONE))
        self._asserted.replace(statement, marks)
        self._versions.replace(statement, versions)

    # -- statements and their forms ---------------------------------------------------------------------------------

    def _form(self, statement: Statement) -> int:
        """The number of a statement as written, with its aspect; new ones are registered."""
        intern = self._strings.intern
        aspect = _NONE if statement.aspect is None else intern(statement.aspect)
        if isinstance(statement, Fact):
            written = (intern(statement.subject), intern(statement.relation), intern(statement.object), aspect)
        else:
            written = (intern(statement.text), _NONE, intern(_UNIT.join(statement.objects)), aspect)
        form = self._by_form.get(written)
        if form is None:
            form = self._by_form[written] = len(self._forms)
            self._forms.append((self._statement(statement), *written))
        return form

    def _statement(self, statement: Statement) -> int:
        intern = self._strings.intern
        if isinstance(statement, Fact):
            subject, relation, object_ = statement.key
            key = (intern(subject), intern(relation), intern(object_))
            names = set(key)
        else:
            text, objects = statement.key
            key = (intern(text), _NONE, intern(_UNIT.join(objects)))
            names = {intern(name) for name in objects}
        number = self._by_key.get(key)
        if number is None:
            number = self._by_key[key] = len(self._keys)
            self._keys.append(key)
            for name in sorted(names):
                self._incident.append(name, (number,))
        return number

    def _find(self, statement: Statement) -> int | None:
        """The number of a statement that has at least one mark of assertion."""
        find = self._strings.find
        if isinstance(statement, Fact):
            parts = tuple(find(name) for name in statement.key)
        else:
            text, objects = statement.key
            parts = (find(text), _NONE, find(_UNIT.join(objects)))
        number = None if None in parts else self._by_key.get(parts)  # type: ignore[arg-type]
        return number if number is not None and self._asserted.get(number) else None

    def _written(self, form: int) -> Statement:
        statement = self._made.get(form)
        if statement is None:
            _, a, b, c, aspect_number = self._forms[form]
            strings = self._strings.items
            aspect = None if aspect_number == _NONE else strings[aspect_number]
            if b != _NONE:
                statement = Fact(strings[a], strings[b], strings[c], aspect)
            else:
                statement = Thesis(strings[a], tuple(strings[c].split(_UNIT)) if strings[c] else (), aspect)
            self._made[form] = statement
        return statement

    def _display(self, statement: int) -> Statement:
        """As the first assertion in fold order wrote it."""
        return self._written(self._asserted.get(statement)[0][1])

    def _reading(self, number: int) -> Extraction:
        return Extraction(
            self._strings.items[self._readers[number]],
            tuple(self._written(row[0]) for row in self._taken.get(number)),
            tuple(Ending(self._written(f), self._strings.items[r]) for f, r in self._endings.get(number)),
        )

    def _is_open(self, statement: int) -> bool:
        versions = self._versions.get(statement)
        return bool(versions) and versions[-1][2] == _NONE

    def _aspects_ever(self, statement: int) -> set[int]:
        return {self._forms[form][4] for _, form in self._asserted.get(statement)} - {_NONE}

    def _held_with(self, statement: int) -> set[int]:
        """Aspects of the version that is open."""
        held = self._held.get(statement)
        if held is None:
            first, after, *_ = self._versions.get(statement)[-1]
            marks = self._asserted.get(statement)[first:after]
            held = self._held[statement] = {self._forms[form][4] for _, form in marks} - {_NONE}
        return held

    def _holders(self, aspect: int) -> set[int]:
        """Statements that hold now with ``aspect``."""
        holders = self._open_with.get(aspect)
        if holders is None:
            candidates = {statement for _, statement in self._aspects.get(aspect)}
            holders = {s for s in candidates if self._is_open(s) and aspect in self._held_with(s)}
            self._open_with[aspect] = holders
        return holders

    def _number(self, episode_id: str) -> int:
        try:
            return self._by_id[episode_id]
        except KeyError:
            raise NotFoundError(f"no episode {episode_id!r} in this memory") from None

    # -- reading ----------------------------------------------------------------------------------------------------

    def view(self, at: float | None = None) -> GraphView:
        """What holds now, or held at world time ``at``: a read-only, live window on this graph."""
        return GraphView(self, at)

    def as_of(self, world_time: float | None = None, recorded_time: float | None = None) -> TemporalGraph:
        """The graph of the episodes with world time <= ``world_time`` and recorded time <= ``recorded_time``.

        Episodes without a recorded time count as recorded before every time. The result is a graph of its own.
        """
        chosen = [
            number
            for number in self._by_id.values()
            if (world_time is None or self._at[number] <= world_time)
            and (recorded_time is None or (recorded := self._recorded[number]) is None or recorded <= recorded_time)
        ]
        return self._restricted(chosen)

    def _restricted(self, numbers: Iterable[int]) -> TemporalGraph:
        """A new graph with some of the episodes: the fold of their marks."""
        graph = TemporalGraph()
        for number in sorted(numbers, key=lambda n: (self._at[n], self._ids[n])):
            graph._take(self.episode(self._ids[number]), self._reading(number), self._digests[number])
        return graph

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._by_id)

    def __contains__(self, episode_id: object) -> bool:
        return episode_id in self._by_id

    def episode(self, episode_id: str) -> EpisodeRecord:
        """Times, source and reader of an episode.

        Raises:
            NotFoundError: no such episode.
        """
        n = self._number(episode_id)
        strings = self._strings.items
        source, extractor = strings[self._source[n]], strings[self._readers[n]]
        return EpisodeRecord(self._ids[n], self._at[n], source, self._recorded[n], extractor, self._failures[n])

    def episodes(self) -> list[str]:
        """Ids of all episodes, in fold order."""
        return sorted(self._by_id, key=lambda i: (self._at[self._by_id[i]], i))

    def unread(self) -> list[str]:
        """Ids of the episodes that nobody has read, or not all of which could be understood; in fold order."""
        found = [n for n in self._by_id.values() if self._failures[n] or not self._strings.items[self._readers[n]]]
        return [self._ids[n] for n in sorted(found, key=self._place)]

    def extracted(self, episode_id: str) -> tuple[Statement, ...]:
        """Everything asserted by an episode, as written: its hyper-edge.

        Raises:
            NotFoundError: no such episode.
        """
        return self._reading(self._number(episode_id)).statements

    def ended_by(self, episode_id: str) -> tuple[tuple[Statement, str], ...]:
        """Statements that an episode ended, with the reasons, in order of their names.

        Raises:
            NotFoundError: no such episode.
        """
        number = self._number(episode_id)
        stated = {self._forms[form][4] for (form,) in self._taken.get(number)} - {_NONE}
        candidates = {self._forms[form][0] for form, _ in self._endings.get(number)}
        candidates.update(statement for aspect in stated for _, statement in self._aspects.get(aspect))
        found = [
            (self._display(candidate), self._strings.items[reason])
            for candidate in candidates
            for _, _, ended_by, reason in self._versions.get(candidate)
            if ended_by == number
        ]
        return tuple(sorted(found, key=lambda pair: (str(pair[0]), pair[1])))

    def versions(self, statement: Statement) -> tuple[Version, ...]:
        """Every version of a statement in order of time; empty when it was never asserted."""
        number = self._find(statement)
        return () if number is None else self._versions_of(number)

    def all_versions(self) -> Iterator[tuple[Version, ...]]:
        """The versions of every statement, in no particular order."""
        for number in range(len(self._keys)):
            if self._asserted.get(number):
                yield self._versions_of(number)

    def _versions_of(self, number: int) -> tuple[Version, ...]:
        display = self._display(number)
        marks = self._asserted.get(number)
        result = []
        for first, after, ended_by, reason in self._versions.get(number):
            sources = tuple(dict.fromkeys(self._ids[episode] for episode, _ in marks[first:after]))
            start = self._at[marks[first][0]]
            if ended_by == _NONE:
                result.append(Version(display, Interval(start, FOREVER), sources))
            else:
                interval = Interval(start, self._at[ended_by])
                result.append(Version(display, interval, sources, self._ids[ended_by], self._strings.items[reason]))
        return tuple(result)

    def _holds(self, number: int, at: float | None) -> bool:
        """Whether a statement holds now (``at`` is ``None``) or held at a world time."""
        if at is None:
            return self._is_open(number)
        marks = self._asserted.get(number)
        return any(
            self._at[marks[first][0]] <= at and (ended_by == _NONE or at < self._at[ended_by])
            for first, _, ended_by, _ in self._versions.get(number)
        )

    def _incident_to(self, *names: str) -> list[int]:
        """The statements incident to one of ``names`` (as vertex or relation): the one that has the fewest."""
        numbers = [self._strings.find(normalise_name(name)) for name in names]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            return []
        return [row[0] for row in self._incident.get(min(known, key=self._incident.count))]

    def objects(self) -> list[str]:
        """Normalised names of all subjects, objects and objects of theses, of any time; sorted."""
        strings = self._strings.items
        found: set[str] = set()
        for number, (subject, relation, object_) in enumerate(self._keys):
            if not self._asserted.get(number):
                continue
            if relation != _NONE:
                found.update((strings[subject], strings[object_]))
            elif strings[object_]:
                found.update(strings[object_].split(_UNIT))
        return sorted(found)

    def counts(self) -> dict[str, int]:
        """Numbers of episodes, facts and theses (ever asserted), of those that hold, and of versions that ended.

        ``unread``: nobody has read it, or not all could be understood; ``failed``: the latter alone.
        """
        names = ("episodes", "unread", "failed", "facts", "theses", "current_facts", "current_theses", "ended")
        result = dict.fromkeys(names, 0)
        result["episodes"] = len(self)
        for number in self._by_id.values():
            failed = self._failures[number] > 0
            result["failed"] += failed
            result["unread"] += failed or not self._strings.items[self._readers[number]]
        for number, key in enumerate(self._keys):
            if not self._asserted.get(number):
                continue
            kind = "theses" if key[1] == _NONE else "facts"
            result[kind] += 1
            result[f"current_{kind}"] += self._is_open(number)
            result["ended"] += sum(1 for row in self._versions.get(number) if row[2] != _NONE)
        return result

    # -- numbers, for indexes ---------------------------------------------------------------------------------------

    # Episodes and statements are numbered from 0 in order of arrival. A number is never given twice in the life of a
    # graph: that of an episode which was forgotten, or of a statement which nothing asserts, stands for nothing.

    @property
    def episode_numbers(self) -> range:
        """The numbers of episodes given so far."""
        return range(len(self._ids))

    @property
    def statement_numbers(self) -> range:
        """The numbers of statements given so far."""
        return range(len(self._keys))

    def numbered_episode(self, number: int) -> EpisodeRecord | None:
        """The episode of a number; ``None`` when it was forgotten."""
        id_ = self._ids[number]
        return self.episode(id_) if self._by_id.get(id_) == number else None

    def numbered_statement(self, number: int) -> Statement | None:
        """The statement of a number; ``None`` when nothing asserts it."""
        return self._display(number) if self._asserted.get(number) else None

    def statements_of(self, episode: int) -> list[int]:
        """Numbers of the statements that an episode asserts, given by number."""
        return [self._forms[form][0] for (form,) in self._taken.get(episode)]

    def names_of(self, statement: int) -> tuple[str, ...]:
        """Normalised names of the objects of a statement, given by number: subject and object, or those of a thesis."""
        strings = self._strings.items
        subject, relation, object_ = self._keys[statement]
        if relation != _NONE:
            return strings[subject], strings[object_]
        return tuple(strings[object_].split(_UNIT)) if strings[object_] else ()

    def is_fact(self, statement: int) -> bool:
        """Whether the statement of a number is a fact, not a thesis."""
        return self._keys[statement][1] != _NONE

    def statement_holds(self, statement: int, at: float | None = None) -> bool:
        """Whether the statement of a number holds now, or held at a world time."""
        return self._holds(statement, at)

    def numbers_about(self, name: str) -> list[int]:
        """Numbers of the statements of any time that have ``name`` as subject, object or object of a thesis."""
        key = normalise_name(name)
        return [n for n in self._incident_to(name) if self._asserted.count(n) and self._speaks_of(n, key)]

    def _speaks_of(self, number: int, key: str) -> bool:
        """Whether ``key`` is a vertex of a statement, rather than its relation."""
        strings = self._strings.items
        subject, relation, object_ = self._keys[number]
        return relation == _NONE or key in (strings[subject], strings[object_])

    def numbered_versions(self, statement: int) -> tuple[Version, ...]:
        """The versions of the statement of a number, in order of time; empty when nothing asserts it."""
        return self._versions_of(statement) if self._asserted.count(statement) else ()

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The state in canonical form, for :func:`~worldthread.graph.fold.state_hash`."""
        for episode_id in self._by_id:
            yield "episode", episode_id
        for versions in self.all_versions():
            for version in versions:
                yield version_row(version)

    def state_hash(self) -> str:
        """64 hexadecimal digits; equal to those of the fold of the same episodes."""
        return state_hash(self.rows())

    # -- snapshots --------------------------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The whole graph as arrays, without a trace of what was forgotten."""
        clean = self if self.is_compact else self._restricted(self._by_id.values())
        names = range(len(clean._strings.items))
        statements = range(len(clean._keys))
        episodes = range(len(clean._ids))
        recorded = [np.nan if r is None else r for r in clean._recorded]
        arrays: dict[str, NDArray[Any]] = {
            "format": np.array([ARRAYS_FORMAT], np.int64),
            "strings": pack_strings(clean._strings.items),
            "keys": np.array(clean._keys, np.int64).reshape(-1, 3),
            "forms": np.array(clean._forms, np.int64).reshape(-1, 5),
            "ids": pack_strings(clean._ids),
            "digests": pack_strings(clean._digests),
            "at": np.array(clean._at, np.float64),
            "recorded": np.array(recorded, np.float64),
            "source": np.array(clean._source, np.int64),
            "readers": np.array(clean._readers, np.int64),
            "failures": np.array(clean._failures, np.int64),
        }
        for name, keys in _TABLES.items():
            table: RowTable = getattr(clean, f"_{name}")
            count = {"names": names, "statements": statements, "episodes": episodes}[keys]
            groups = [table.get(key) for key in count]
            arrays[f"{name}_pointers"], arrays[f"{name}_rows"] = pack_rows(groups, table.width)
        return arrays

    @property
    def is_compact(self) -> bool:
        """Whether nothing was forgotten, so that :meth:`to_arrays` keeps all numbers."""
        return len(self._by_id) == len(self._ids)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TemporalGraph:
        """The inverse of :meth:`to_arrays`; arrays may be memory-mapped and are not changed.

        Raises:
            InputError: the arrays are of another format or do not fit each other.
        """
        try:
            if int(arrays["format"][0]) != ARRAYS_FORMAT:
                raise InputError(f"arrays of format {int(arrays['format'][0])}, not {ARRAYS_FORMAT}")
            with _no_garbage():
                return cls._of(arrays)
        except (KeyError, IndexError, ValueError) as error:
            raise InputError(f"these arrays do not hold a graph: {error}") from error

    @classmethod
    def _of(cls, arrays: Mapping[str, NDArray[Any]]) -> TemporalGraph:
        graph = cls()
        graph._strings = _StringTable(unpack_strings(arrays["strings"]))
        graph._keys = list(zip(*arrays["keys"].T.tolist(), strict=True))
        graph._by_key = dict(zip(graph._keys, range(len(graph._keys)), strict=True))
        forms = arrays["forms"]
        graph._forms = list(zip(*forms.T.tolist(), strict=True))
        graph._by_form = dict(zip(zip(*forms[:, 1:].T.tolist(), strict=True), range(len(forms)), strict=True))
        graph._ids = unpack_strings(arrays["ids"])
        graph._digests = unpack_strings(arrays["digests"])
        graph._by_id = dict(zip(graph._ids, range(len(graph._ids)), strict=True))
        graph._at = arrays["at"].tolist()
        graph._recorded = [None if r != r else r for r in arrays["recorded"].tolist()]
        graph._source = arrays["source"].tolist()
        graph._readers = arrays["readers"].tolist()
        graph._failures = arrays["failures"].tolist()
        for name in _TABLES:
            width = arrays[f"{name}_rows"].shape[1]
            table = RowTable(width, arrays[f"{name}_pointers"], arrays[f"{name}_rows"])
            setattr(graph, f"_{name}", table)
        graph._last = max(zip(graph._at, graph._ids, strict=True), default=None)
        return graph


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Keep the collector of cycles from looking through millions of new tuples over and over."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_TABLES: Final = {
    "asserted": "statements",
    "ended": "statements",
    "aspects": "names",
    "taken": "episodes",
    "endings": "episodes",
    "versions": "statements",
    "incident": "names",
}
"""Tables of the graph and what their keys number."""

"""The temporal graph that people use: an incremental fold of episodes, with views, snapshots and access by number."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.graph.arrays import state_from_arrays, state_to_arrays
from worldthread.graph.compaction import compacted
from worldthread.graph.conditions import Condition
from worldthread.graph.episodes import EpisodeRecord
from worldthread.graph.fold import STATE_HASH_VERSION, state_hash, version_row
from worldthread.graph.increment import IncrementalFold
from worldthread.graph.merges import MergedNamesByUser, SameNames
from worldthread.graph.name_links import NameLinks
from worldthread.graph.selection import StatementSelection
from worldthread.graph.sentences import FactsInSentences
from worldthread.graph.state import GraphState
from worldthread.graph.statements import ShownStatements
from worldthread.graph.strings import ABSENT, NEVER
from worldthread.graph.view import GraphView
from worldthread.names import normalise_name, unmarked
from worldthread.support.arguments import require_finite
from worldthread.support.garbage import garbage_collector_paused
from worldthread.types import Episode, Extraction, Statement, Version

_LONGEST_STEP_BACK: Final = 86_400.0  # seconds by which a clock that was set back is corrected
_LEAST_SETTLED: Final = 50_000  # statements and episodes that came later, from which on it pays to pack them
_KEPT_SELECTIONS: Final = 8  # until the next change: callers ask with the same few filters again and again


VersionPlace: TypeAlias = tuple[float, str, float, str]
"""The place of a version in a listing: the beginning of its interval, the id of its statement, the end, the user."""


@dataclass(frozen=True)
class _Listing:
    """What a graph lists, in order.

    Args:
        change_count: that of the graph when this was made.
        episodes: world time and id of every episode.
        versions: the place of every version, and the number of its statement.
    """

    change_count: int
    episodes: list[tuple[float, str]]
    versions: list[tuple[VersionPlace, int]]


class TemporalGraph:
    """Facts, theses and episodes with their intervals, sources and endings.

    The graph is a pure function of its episodes: it equals :func:`~worldthread.graph.fold.fold` of them, in whatever
    order they are added. Not thread-safe: while one thread changes the graph, no other may use it.

    Args:
        episodes: the first episodes, in any order.

    Attributes:
        change_count: number of changes so far. Whoever derives something from the graph compares it to know whether
            that is out of date.
        numbering: number of times that :meth:`compact` gave new numbers to episodes and statements. Whoever keeps
            numbers compares it too.
        filled: numbers of the episodes that got their extraction later, in the order in which they got it.

    Raises:
        InputError: two of the episodes are the same with different extractions.
    """

    def __init__(self, episodes: Iterable[Episode] = ()) -> None:
        self._use(GraphState.empty())
        self._outside: tuple[SameNames, ...] = ()  # names that other episodes merge
        self._listed: _Listing | None = None
        self._selections: tuple[int, dict[Condition, StatementSelection]] = -1, {}
        self.change_count = 0
        self.numbering = 0
        self.filled: list[int] = []
        self.add_many(episodes)

    def _use(self, state: GraphState) -> None:
        self._state = state
        self._statements = state.statements
        self._episodes = state.episodes
        self._fold = IncrementalFold(state)
        self._sentences = FactsInSentences(state)

    def __repr__(self) -> str:
        statements = sum(1 for _ in self._state.asserted())
        return f"<TemporalGraph of {len(self)} episodes and {statements} statements>"

    # -- changing ---------------------------------------------------------------------------------------------------

    def add(self, episode: Episode) -> bool:
        """Add an episode.

        Args:
            episode: the episode with its extraction.

        Returns:
            ``True`` when it is new, ``False`` when the graph has it already.

        Raises:
            InputError: the graph has the episode with another extraction.
        """
        if self._has(episode):
            return False
        if episode.extraction.same_names:
            self._read_names(_said_same(episode))
        self._add(episode)
        return True

    def _add(self, episode: Episode) -> None:
        self._fold.add(_record_of(episode), episode.extraction, episode.extraction.digest)
        self.change_count += 1

    def fill(self, episode: Episode) -> bool:
        """Give an episode from which nothing was read its extraction. It keeps its number.

        Args:
            episode: the episode with its new extraction.

        Returns:
            ``False``, and nothing is changed, when the graph does not have it, or has something that was read from it.
        """
        number = self._episodes.numbers.get(episode.id)
        if number is None or not self._state.is_blank(number):
            return False
        if episode.extraction.same_names:
            self._read_names(_said_same(episode))
            number = self._episodes.number(episode.id)  # names that are merged may give new numbers
        self._fold.fill(number, _record_of(episode), episode.extraction, episode.extraction.digest)
        self.filled.append(number)
        self.change_count += 1
        return True

    def add_many(self, episodes: Iterable[Episode]) -> int:
        """Add many episodes. The result is that of :meth:`add` one by one; the fastest order is chosen.

        Args:
            episodes: in any order; repetitions are allowed.

        Returns:
            How many of them are new.

        Raises:
            InputError: one of them is in the graph, or comes twice, with different extractions. None was added.
        """
        with garbage_collector_paused():
            new = {episode.id: episode for episode in self._new_among(episodes)}
            if same_names := [said for episode in new.values() for said in _said_same(episode)]:
                self._read_names(same_names)
            for episode in sorted(new.values(), key=lambda e: (e.at, e.id)):
                self._add(episode)
                if self._state.late > max(_LEAST_SETTLED, len(self._statements.keys) // 3) and self.is_compact:
                    self._state.settle()
            return len(new)

    def put_many(self, episodes: Iterable[Episode]) -> None:
        """Add many episodes, each in the place of the one with its id, if there is one.

        Args:
            episodes: in any order.
        """
        new: list[Episode] = []
        for episode in episodes:
            if not self.fill(episode):
                if episode.id in self:
                    self.forget(episode.id)
                new.append(episode)
        self.add_many(new)

    def forget(self, episode_id: str) -> None:
        """Remove an episode, as if it had never been added.

        Args:
            episode_id: id of the episode.

        Raises:
            NotFoundError: there is no such episode.
        """
        number = self._episodes.number(episode_id)
        has_names = number in self._state.same_names
        self._fold.remove(number)
        self.change_count += 1
        if has_names:
            self._read_names()

    def _read_names(self, more: Iterable[SameNames] = ()) -> None:
        """Fold everything again if other merged names change what an episode says. Takes time linear in the graph.

        A name that no statement has yet, such as another one that a text gives to somebody known, changes nothing.

        Args:
            more: names that episodes merge which will be added next.
        """
        names = MergedNamesByUser([*self._outside, *self._state.said_same(), *more])
        if names == self._state.merged:
            return
        if is_read_otherwise(self._state, names):
            self._state.become(refolded(self._state, names))
            self._use(self._state)
            self.numbering += 1
        else:
            self._state.merged = names
        self.change_count += 1

    def _new_among(self, episodes: Iterable[Episode]) -> Iterator[Episode]:
        digests: dict[str, str] = {}
        for episode in episodes:
            if not self._has(episode):
                if digests.setdefault(episode.id, episode.extraction.digest) != episode.extraction.digest:
                    raise _conflict(episode)
                yield episode

    def _has(self, episode: Episode) -> bool:
        number = self._episodes.numbers.get(episode.id)
        if number is None:
            return False
        if self._episodes.digests[number] != episode.extraction.digest:
            raise _conflict(episode)
        return True

    # -- views ------------------------------------------------------------------------------------------------------

    def view(self, at: float | None = None, user: str | None = None) -> GraphView:
        """Return a read-only, live view of what holds.

        Args:
            at: a world time; ``None`` for now.
            user: shows only what the episodes of this user say, the empty string for those without one; ``None`` for
                all.

        Returns:
            The view. It follows later changes of the graph.

        Raises:
            InputError: ``at`` is not a finite number.
        """
        return GraphView(self._state, at, user)

    def as_of(self, world_time: float | None = None, recorded_time: float | None = None) -> TemporalGraph:
        """Return the graph as it was at a world time, at a recorded time, or both.

        Args:
            world_time: only episodes with at most this world time; ``None`` for all.
            recorded_time: only episodes with at most this recorded time, in seconds since 1970-01-01 UTC; ``None`` for
                all. Episodes without a recorded time count as recorded before every time. An episode whose extraction
                was replaced after this time is unread: what was extracted from it before is not kept.

        Returns:
            A new graph of these episodes; it does not follow this one. What was corrected after the world time (see
            :attr:`Ending.never <worldthread.types.Ending.never>`), and by the recorded time, is left out of it.

        Raises:
            InputError: a time is not a finite number.
        """
        for time, what in ((world_time, "world_time"), (recorded_time, "recorded_time")):
            if time is not None:
                require_finite(time, what)
        times, recorded_times = self._episodes.at, self._episodes.recorded
        chosen = [
            number
            for number in self._episodes.numbers.values()
            if (world_time is None or times[number] <= world_time)
            and (recorded_time is None or (recorded := recorded_times[number]) is None or recorded <= recorded_time)
        ]
        return self._restricted(chosen, math.inf if recorded_time is None else recorded_time)

    def _restricted(self, numbers: Iterable[int], recorded_time: float = math.inf) -> TemporalGraph:
        """Return a new graph of some of the episodes; those with an extraction after ``recorded_time`` are unread."""
        graph = TemporalGraph()
        episodes = self._episodes
        unread = Extraction()
        numbers = list(numbers)
        chosen = set(numbers)
        known = [one for one in self._state.numbered_same_names() if self._was_known(one[0], recorded_time)]
        outside = (said for number, said in known if number not in chosen)
        graph._outside = (*self._outside, *outside)
        graph._state.merged = MergedNamesByUser((*self._outside, *(said for _, said in known)))
        corrected = self._corrections_outside(chosen, recorded_time, graph._state.merged)
        for number in sorted(numbers, key=episodes.order):
            record = episodes.record(number)
            if record.extracted_at is not None and record.extracted_at > recorded_time:
                record = replace(record, extractor="", failures=0, extracted_at=None)
                graph._fold.add(record, unread, unread.digest)
            else:
                extraction = self._state.extraction(number)
                if corrected:
                    order = episodes.order(number)
                    user = record.provenance.labels.user
                    name = graph._state.merged.of(user).statement
                    kept = (s for s in extraction.statements if corrected.get((user, name(s)), order) <= order)
                    extraction = replace(extraction, statements=tuple(kept))
                graph._fold.add(record, extraction, episodes.digests[number])
            graph.change_count += 1
        return graph

    def _corrections_outside(
        self, numbers: set[int], recorded_time: float, names: MergedNamesByUser
    ) -> dict[tuple[str, Statement], tuple[float, str]]:
        """Return what was never true, by episodes that are not among ``numbers`` but were recorded in time.

        Args:
            numbers: episodes.
            recorded_time: until when, inclusive.
            names: the names that were merged by then. This graph may merge more, which says more of the same things.

        Returns:
            Each user and statement with these names, and the place in fold order of the last such episode.
        """
        state, episodes = self._state, self._episodes
        correcting = {
            episode
            for statement in state.timed_endings
            for episode, _, time in state.endings.get(statement)
            if time == NEVER and episode not in numbers and self._was_known(episode, recorded_time)
        }
        found: dict[tuple[str, Statement], tuple[float, str]] = {}
        for episode in sorted(correcting, key=episodes.order):
            extraction, user = state.extraction(episode), episodes.user(episode)
            name = names.of(user).statement
            asserted = {name(statement) for statement in extraction.statements}
            taken_back = {name(ending.statement) for ending in extraction.endings if ending.never}
            found.update({(user, statement): episodes.order(episode) for statement in taken_back - asserted})
        return found

    def _was_known(self, episode: int, recorded_time: float) -> bool:
        """Return whether what an episode says was known at a recorded time."""
        recorded = self._episodes.extracted.get(episode, self._episodes.recorded[episode])
        return recorded is None or recorded <= recorded_time

    def select(self, condition: Condition) -> StatementSelection:
        """Return what meets a condition; :mod:`worldthread.graph.selection` says what that means.

        Args:
            condition: a condition on episodes and what they assert.

        Returns:
            The selection, which is valid until the next change of the graph.
        """
        changes, known = self._selections
        if changes != self.change_count:
            known = {}
            self._selections = self.change_count, known
        selection = known.get(condition)
        if selection is None:
            if len(known) >= _KEPT_SELECTIONS:
                known.pop(next(iter(known)))
            selection = known[condition] = StatementSelection(self._state, condition)
        return selection

    def selected_episodes(self, condition: Condition) -> list[str]:
        """Return the ids of the episodes that meet a condition.

        Args:
            condition: a condition on episodes.

        Returns:
            The ids in fold order.
        """
        return self._in_fold_order(np.flatnonzero(self.select(condition).episodes).tolist())

    def listed_episodes(self, after: tuple[float, str] | None = None) -> Iterator[str]:
        """Iterate over the episodes after a place in fold order.

        Args:
            after: world time and id of the last one before; it need not be there any more. ``None`` begins.

        Yields:
            Ids in fold order.
        """
        order = self._listing().episodes
        start = 0 if after is None else bisect_right(order, after)
        for place in range(start, len(order)):
            yield order[place][1]

    def listed_versions(self, after: VersionPlace | None = None) -> Iterator[tuple[VersionPlace, int]]:
        """Iterate over the versions of all statements after a place in their order.

        Args:
            after: the last one before; it need not be there any more. ``None`` begins.

        Yields:
            The place of a version (the beginning of its interval, the id of the statement, the end of the interval, the
            user) and the number of the statement, in the order of the places.
        """
        order = self._listing().versions
        start = 0 if after is None else bisect_right(order, after, key=lambda one: one[0])
        yield from (order[place] for place in range(start, len(order)))

    def _listing(self) -> _Listing:
        """Return what is listed, in order; made once for each change, in time linear in the graph."""
        if self._listed is None or self._listed.change_count != self.change_count:
            episodes = sorted(self._episodes.order(number) for number in self._episodes.numbers.values())
            versions = [
                ((start, statement_id, end, user), number)
                for number in self._state.asserted()
                for statement_id, user in ((self._statements.id(number), self._statements.user(number)),)
                for start, end in self._state.intervals(number)
            ]
            self._listed = _Listing(self.change_count, episodes, sorted(versions))
        return self._listed

    # -- episodes ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of episodes."""
        return len(self._episodes.numbers)

    def __contains__(self, episode_id: object) -> bool:
        return episode_id in self._episodes.numbers

    def episode(self, episode_id: str) -> EpisodeRecord:
        """Return times, source and extractor of an episode.

        Args:
            episode_id: id of the episode.

        Returns:
            Everything that the graph keeps of the episode itself.

        Raises:
            NotFoundError: there is no such episode.
        """
        return self._episodes.record(self._episodes.number(episode_id))

    def has_speaker(self, name: str) -> bool:
        """Return whether somebody of a name ever spoke.

        Args:
            name: the name, in any spelling.

        Returns:
            Whether an episode, perhaps one that was forgotten since, was said by this name.
        """
        return bool(self._episodes.provenances.with_label("speaker", name))

    @property
    def latest_time(self) -> float | None:
        """World time of the latest episode; ``None`` while there is none."""
        return self._state.now if math.isfinite(self._state.now) else None

    def recorded_time(self, clock: float) -> float:
        """Return the recorded time of what is recorded while a clock shows a time.

        A clock that was set back would let what is learned later count as earlier. So time goes on by a microsecond
        from the latest recorded time while the clock is behind that by at most a day. A clock that is further behind
        is believed: it was wrong before.

        Args:
            clock: what the clock shows, in seconds since 1970-01-01 UTC.

        Returns:
            ``clock``, or the time just after the latest recorded time.
        """
        latest = self._episodes.latest
        if clock < latest <= clock + _LONGEST_STEP_BACK:
            return max(latest + 1e-6, math.nextafter(latest, math.inf))
        return clock

    def episodes(self) -> list[str]:
        """Return the ids of all episodes.

        Returns:
            The ids in fold order (world time, then id).
        """
        return self._in_fold_order(self._episodes.numbers.values())

    @property
    def has_failures(self) -> bool:
        """Whether an episode was recorded of which something could not be understood."""
        return any(self._episodes.failures)

    def unread(self) -> list[str]:
        """Return the ids of the episodes that no extractor has read, or not all of which could be understood.

        Returns:
            The ids in fold order.
        """
        return self._in_fold_order(n for n in self._episodes.numbers.values() if not self._episodes.is_read(n))

    def _in_fold_order(self, numbers: Iterable[int]) -> list[str]:
        return [self._episodes.ids[number] for number in sorted(numbers, key=self._episodes.order)]

    def extracted(self, episode_id: str) -> tuple[Statement, ...]:
        """Return everything that an episode asserts (its hyper-edge).

        Args:
            episode_id: id of the episode.

        Returns:
            The statements as written, but with canonical names, in the order of the extraction.

        Raises:
            NotFoundError: there is no such episode.
        """
        state, number = self._state, self._episodes.number(episode_id)
        return tuple(state.statements.written(form) for (form,) in state.episode_assertions.get(number))

    def ended_by(self, episode_id: str) -> tuple[tuple[Statement, str], ...]:
        """Return the statements that an episode ended.

        Args:
            episode_id: id of the episode.

        Returns:
            Pairs of statement and reason, sorted.

        Raises:
            NotFoundError: there is no such episode.
        """
        found = self._state.ended_by(self._episodes.number(episode_id))
        return tuple(sorted(found, key=lambda pair: (str(pair[0]), pair[1], pair[0].id)))

    # -- statements -------------------------------------------------------------------------------------------------

    def versions(self, statement: Statement) -> tuple[Version, ...]:
        """Return every version of a statement.

        Args:
            statement: a fact or a thesis, in any spelling.

        Returns:
            The versions in order of time, those of all users; empty when no episode asserts the statement.
        """
        return self._state.versions_of_all(self._state.find(statement))

    def numbers_of(self, statement: Statement | str) -> list[int]:
        """Return the numbers of a statement: one for each user whose episodes assert it.

        Args:
            statement: the statement, in any spelling, or its id of 32 hexadecimal digits. The first search for an id
                takes time for each statement of the graph; prefer the statement where it is at hand.

        Returns:
            The numbers; none when no episode asserts it.
        """
        if not isinstance(statement, str):
            return self._state.find(statement)
        return [number for number in self._statements.with_id(statement) if self._state.assertions.count(number)]

    def number_of(self, statement: Statement | str, episode_id: str | None = None) -> int | None:
        """Return the number of a statement.

        Args:
            statement: see :meth:`numbers_of`.
            episode_id: an episode of the user whose statement is meant; ``None`` for anybody's.

        Returns:
            The number, of several the first; ``None`` when no episode asserts it.
        """
        if episode_id is not None:
            user = self.episode(episode_id).provenance.labels.user
            if not isinstance(statement, str):
                return next(iter(self._state.find(statement, user)), None)
            return next((number for number in self.numbers_of(statement) if self.user_of(number) == user), None)
        return next(iter(self.numbers_of(statement)), None)

    @property
    def users(self) -> Collection[str]:
        """The users whose episodes were ever added; the empty string stands for none."""
        return self._episodes.provenances.users.keys()

    def user_of(self, statement: int) -> str:
        """Return the user whose episodes assert or end a statement.

        Args:
            statement: one of :attr:`statement_numbers`.

        Returns:
            The user; empty for none.
        """
        return self._statements.user(statement)

    def asserting(self, statement: int) -> list[str]:
        """Return the ids of the episodes that assert a statement.

        Args:
            statement: one of :attr:`statement_numbers`.

        Returns:
            The ids in fold order.
        """
        return self._in_fold_order({episode for episode, _ in self._state.assertions.get(statement)})

    def all_versions(self) -> Iterator[tuple[Version, ...]]:
        """Iterate over all statements.

        Yields:
            The versions of one statement, in order of time. Statements come in no particular order.
        """
        for number in self._state.asserted():
            yield self._state.versions_of(number)

    def objects(self) -> list[str]:
        """Return the names of all subjects, objects and objects of theses, of any time.

        Returns:
            The normalised names, sorted.
        """
        return sorted(self._state.names())

    def canonical_name(self, name: str, user: str | None = None) -> str:
        """Return the name that a name was merged into.

        Args:
            name: a name.
            user: for whom it was merged; ``None`` for anybody.

        Returns:
            The name; one that was not merged stays as it is.
        """
        return self._state.merged.name(name, user)

    def with_canonical_names(self, text: str, user: str | None = None) -> str:
        """Return a text with every name that was merged replaced by the name that it was merged into.

        Args:
            text: a question, for example.
            user: whose merged names; ``None`` for everybody's.

        Returns:
            The text; names are found as whole words, in any case.
        """
        return self._state.merged.text(text, user)

    def counts(self) -> dict[str, int]:
        """Count episodes and statements.

        Returns:
            ``episodes``; of these ``failed``, not all of which could be understood, and ``unread``, which adds those
            that no extractor has read; ``facts`` and ``theses`` of any time; of these ``current_facts`` and
            ``current_theses``, which hold now; and ``ended``, the number of versions that ended.
        """
        return self._state.counts()

    # -- by number, for indexes -------------------------------------------------------------------------------------

    # Episodes and statements are numbered from 0 in order of arrival. The number of a forgotten episode, or of a
    # statement that no episode asserts any more, stays unused until `compact` gives new numbers to all others.

    @property
    def episode_numbers(self) -> range:
        """The episode numbers used so far."""
        return range(len(self._episodes.ids))

    @property
    def statement_numbers(self) -> range:
        """The statement numbers used so far."""
        return range(len(self._statements.keys))

    @property
    def now(self) -> float:
        """The world time of the latest episode; minus infinity if there is none."""
        return self._state.now

    @property
    def latest_episode(self) -> EpisodeRecord | None:
        """The episode with the latest world time; ``None`` in an empty graph."""
        last = self._fold.last
        return None if last is None else self.episode(last[1])

    @property
    def live_episodes(self) -> Collection[int]:
        """The numbers of the episodes that were not forgotten."""
        return self._episodes.numbers.values()

    def episode_columns(self) -> tuple[Sequence[float], Sequence[int], Sequence[float | None]]:
        """Return world times, sources and recorded times of all episodes by number, forgotten ones included.

        Returns:
            Three columns that the caller must not change. Equal sources have equal numbers, and a time is ``None``
            where an episode was never stored.
        """
        return self._episodes.at, self._episodes.sources, self._episodes.recorded

    def talks(self, start: int) -> list[int]:
        """Return to which talk the episodes from a number on belong, forgotten ones included.

        Args:
            start: one of :attr:`episode_numbers`, or the number after the last one.

        Returns:
            A number for each episode, which stays: the same for episodes of one source and one user.
        """
        return self._episodes.talks(start)

    def episode_number(self, episode_id: str) -> int:
        """Return the number of an episode.

        Args:
            episode_id: its id.

        Returns:
            One of :attr:`episode_numbers`.

        Raises:
            NotFoundError: there is no such episode.
        """
        return self._episodes.number(episode_id)

    def numbered_episode(self, number: int) -> EpisodeRecord | None:
        """Return the episode of a number.

        Args:
            number: one of :attr:`episode_numbers`.

        Returns:
            Everything but its text; ``None`` when it was forgotten.
        """
        episodes = self._episodes
        return episodes.record(number) if episodes.numbers.get(episodes.ids[number]) == number else None

    def numbered_statement(self, number: int) -> Statement | None:
        """Return the statement of a number.

        Args:
            number: one of :attr:`statement_numbers`.

        Returns:
            The statement as its first assertion in fold order wrote it; ``None`` when no episode asserts it.
        """
        assertions = self._state.assertions.get(number)
        return self._statements.written(assertions[0][1]) if assertions else None

    def statements_of(self, episode: int) -> list[int]:
        """Return the numbers of the statements that an episode asserts.

        Args:
            episode: one of :attr:`episode_numbers`.

        Returns:
            The numbers in the order of the extraction; a statement that it repeats comes as often.
        """
        forms = self._statements.forms
        return [forms[form][0] for (form,) in self._state.episode_assertions.get(episode)]

    def statements_of_all(self, episodes: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return :meth:`statements_of` many episodes at once.

        Args:
            episodes: some of :attr:`episode_numbers`, shape (n,).

        Returns:
            How many statements each asserts, shape (n,), and their numbers, episode after episode.
        """
        counts, forms = self._state.episode_assertions.narrow_of(episodes)
        return counts, self._statements.forms.narrow_of(forms[:, 0])[:, 0]

    def shown_statements(self, statements: NDArray[np.integer[Any]]) -> ShownStatements:
        """Return :meth:`numbered_statement` of many statements at once, in words.

        Args:
            statements: some of :attr:`statement_numbers`, shape (n,).

        Returns:
            Those that an episode asserts, in the same order.
        """
        counts, first = self._state.assertions.narrow_of(statements, most=1)
        forms = np.full(len(statements), ABSENT, np.int32)
        forms[counts > 0] = first[:, 1]
        return self._statements.shown(statements, forms)

    def statement_id_heads(self, statements: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """Return the first 64 bits of :meth:`statement_id` of many statements at once.

        Args:
            statements: some of :attr:`statement_numbers`, shape (n,).

        Returns:
            Shape (n,).
        """
        return self._statements.id_heads(statements)

    def names_of_facts(self, facts: NDArray[np.integer[Any]]) -> tuple[list[str], NDArray[np.int64]]:
        """Return :meth:`names_of` many facts at once.

        Args:
            facts: some of :attr:`statement_numbers`, shape (n,); no theses.

        Returns:
            Distinct names, and the places among them of the subject and the object of each fact, shape (n, 2).
        """
        return self._statements.ends_of_facts(facts)

    def are_facts(self, statements: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return :meth:`is_fact` of many statements at once.

        Args:
            statements: some of :attr:`statement_numbers`, shape (n,).

        Returns:
            Shape (n,).
        """
        found: NDArray[np.bool_] = self._statements.keys.narrow_of(statements)[:, 1] != ABSENT
        return found

    def statement_id(self, statement: int) -> str:
        """Return the id of a statement.

        Args:
            statement: one of :attr:`statement_numbers`.

        Returns:
            The ``id`` of the statement, however it is written.
        """
        return self._statements.id(statement)

    def names_of(self, statement: int) -> tuple[str, ...]:
        """Return the normalised names of the vertices of a statement.

        Args:
            statement: one of :attr:`statement_numbers`.

        Returns:
            Subject and object of a fact; the objects of a thesis.
        """
        return self._statements.vertices(statement)

    def name_counts(self) -> dict[str, int]:
        """Count the names of all asserted statements, in a fraction of the time that :meth:`names_of` takes for each.

        Returns:
            How many statements each normalised name is a vertex of.
        """
        return self._statements.vertex_counts(self.asserted())

    def asserted(self) -> NDArray[np.bool_]:
        """Return of all statements at once whether an episode asserts them.

        Returns:
            Truth values by the number of the statement, shape (statements,).
        """
        pointers, _ = self._state.assertions.packed(len(self._statements.keys))
        found: NDArray[np.bool_] = np.diff(pointers) > 0
        return found

    def is_asserted(self, statement: int) -> bool:
        """Return whether an episode asserts a statement; it does not if all that did were forgotten.

        Args:
            statement: one of :attr:`statement_numbers`.

        Returns:
            Whether one does.
        """
        return self._state.assertions.count(statement) > 0

    def name_number(self, name: str) -> int | None:
        """Return the number of a name.

        Args:
            name: the name, in any spelling.

        Returns:
            Its number in :meth:`name_links`; ``None`` if no statement ever had it.
        """
        return self._statements.strings.find(normalise_name(name))

    def name_links(self) -> NameLinks:
        """Return which names stand in a statement together, for programs that look at all statements at once.

        Returns:
            Columns of numbers, which later changes of the graph leave as they are.
        """
        return NameLinks.of(self._state)

    def is_fact(self, statement: int) -> bool:
        """Return whether a statement is a fact.

        Args:
            statement: one of :attr:`statement_numbers`.

        Returns:
            ``True`` for a fact, ``False`` for a thesis.
        """
        return self._statements.keys[statement][1] != ABSENT

    def statement_holds(self, statement: int, at: float | None = None) -> bool:
        """Return whether a statement holds.

        Args:
            statement: one of :attr:`statement_numbers`.
            at: a world time; ``None`` for now.

        Returns:
            Whether it holds then.
        """
        return self._state.holds(statement, at)

    def was_told_as_past(self, version: Version, at: float | None = None) -> bool:
        """Return whether a version of a statement was over when it was told, so that nothing has ended it since.

        Args:
            version: of a statement of this graph.
            at: a world time, after which texts do not count; ``None`` for now.

        Returns:
            Whether the text that ends the version is one that tells of it: "we were in Rome last week", but not "we are
            in Rome until Friday".
        """
        begin, end = version.interval.valid_from, version.interval.valid_to
        if version.ended_by not in version.sources or begin >= end:
            return False
        told = self.episode(version.ended_by).at
        return end <= told and (at is None or told <= at)

    def numbers_about(self, name: str, limit: int | None = None, user: str | None = None) -> list[int]:
        """Return the numbers of the statements about a name.

        Args:
            name: subject, object, or object of a thesis, in any spelling.
            limit: the most to return: the first in order of arrival; ``None`` for all.
            user: only those of this user; ``None`` for all.

        Returns:
            Numbers of statements of any time, in order of arrival.
        """
        return self._state.about(name, limit, user)

    def latest_episodes(self, user: str, most: int) -> list[int]:
        """Return the numbers of the episodes of a user that arrived last.

        Args:
            user: the user; the empty string for the episodes without one.
            most: how many of them are looked at, those included that were forgotten.

        Returns:
            Numbers, in order of arrival.
        """
        return self._state.latest_of(user, most)

    def strings_like(self, key: str) -> list[str]:
        """Return the strings of the graph that differ from a normalised name in the marks of their letters only.

        Args:
            key: a normalised name.

        Returns:
            Normalised names and other strings, without ``key``, in order of arrival; takes time for every string.
        """
        bare = unmarked(key)
        items = self._state.strings.items
        return [text for text in items if text != key and (text == bare if text.isascii() else unmarked(text) == bare)]

    def theses_with(self, text: str) -> list[int]:
        """Return the numbers of the theses whose text contains a text, of any time; takes time for every string.

        Args:
            text: a normalised text; a part of a word counts too.

        Returns:
            Numbers of statements, in order of arrival.
        """
        state = self._state
        strings = [number for number, string in enumerate(state.strings.items) if text in string]
        keys: NDArray[np.int32] = state.statements.keys.packed().narrow
        found = np.flatnonzero((keys[:, 1] == ABSENT) & np.isin(keys[:, 0], strings))
        return [number for number in found.tolist() if state.assertions.count(number)]

    def numbered_versions(self, statement: int) -> tuple[Version, ...]:
        """Return the versions of a statement.

        Args:
            statement: one of :attr:`statement_numbers`.

        Returns:
            The versions in order of time; empty when no episode asserts the statement.
        """
        return self._state.versions_of(statement) if self._state.assertions.count(statement) else ()

    # -- how long sentences hold ------------------------------------------------------------------------------------

    def lasting_versions(self, statement: int, selection: StatementSelection | None = None) -> tuple[Version, ...]:
        """Return the versions of a statement, those of a thesis only as long as the facts that stand in it.

        Args:
            statement: one of :attr:`statement_numbers`.
            selection: what counts of the versions of a statement; ``None`` for all of them.

        Returns:
            The versions in order of time; see :mod:`worldthread.graph.sentences`.
        """
        return tuple(lasting for _, lasting in self.told_and_lasting(statement, selection))

    def told_and_lasting(
        self, statement: int, selection: StatementSelection | None = None
    ) -> list[tuple[Version, Version]]:
        """Return the versions of a statement, each with the one of :meth:`lasting_versions`.

        Args:
            statement: one of :attr:`statement_numbers`.
            selection: what counts of the versions of a statement; ``None`` for all of them.

        Returns:
            Pairs in order of time.
        """
        told = self.numbered_versions(statement) if selection is None else selection.versions_of(statement)
        if self.is_fact(statement):
            return [(version, version) for version in told]
        whole = told if selection is None else self.numbered_versions(statement)
        pairs = []
        for version in told:  # when it holds is what all say; why it ended is told by what is selected
            said = next(one for one in whole if one.interval == version.interval and version.sources[0] in one.sources)
            lasting = self._sentences.lasting(statement, said)
            if selection is not None:
                lasting = replace(selection.without_hidden_end(statement, lasting), sources=version.sources)
            pairs.append((version, replace(lasting, statement=version.statement)))
        return pairs

    def lasts(self, statement: int, at: float | None = None, selection: StatementSelection | None = None) -> bool:
        """Return whether a statement holds; a thesis only as long as the facts that stand in it.

        Args:
            statement: one of :attr:`statement_numbers`.
            at: a world time; ``None`` for now.
            selection: what counts of the versions of a statement; ``None`` for all of them.

        Returns:
            Whether it holds then.
        """
        if selection is None and (self.is_fact(statement) or not self._state.holds(statement, at)):
            return self._state.holds(statement, at)
        view = self.view(at)
        return any(view.covers(version.interval) for version in self.lasting_versions(statement, selection))

    def facts_in_sentence(self, thesis: int, episodes: Iterable[str]) -> list[int]:
        """Return the facts that stand in a thesis.

        Args:
            thesis: number of the thesis.
            episodes: ids of episodes that assert it.

        Returns:
            The numbers of those facts of the episodes; see :mod:`worldthread.graph.sentences`.
        """
        numbers = (self._episodes.number(episode) for episode in episodes)
        return list(dict.fromkeys(fact for one in numbers for fact in self._sentences.standing_in(thesis, one)))

    def sentences_with_fact(self, fact: int, episode: str) -> list[int]:
        """Return the theses of an episode in which one of its facts stands.

        Args:
            fact: number of the fact.
            episode: id of the episode.

        Returns:
            The numbers of the theses.
        """
        number = self._episodes.number(episode)
        theses = dict.fromkeys(one for one in self.statements_of(number) if not self.is_fact(one))
        return [thesis for thesis in theses if fact in self._sentences.standing_in(thesis, number)]

    def outdated_in(
        self,
        item: int,
        *,
        is_episode: bool,
        since: float | None = None,
        selection: StatementSelection | None = None,
    ) -> tuple[Version, ...]:
        """Return the facts that were read from an episode or a thesis and that have ended since it was told.

        Args:
            item: the number of the episode, or of the thesis.
            is_episode: whether it is that of an episode.
            since: the world time by which they were over; ``None`` for now.
            selection: what counts of the versions of a statement; ``None`` for all of them.

        Returns:
            The last version of each that rests on the text and was over by then. What the text itself tells as past,
            such as an event, is not among them.
        """
        ids, last = self._episodes.ids, self._state.now if since is None else since
        versions_of = self.numbered_versions if selection is None else selection.versions_of
        if is_episode:
            stated = [(item, fact) for fact in self._sentences.facts_of(item)]
        else:
            sources = dict.fromkeys(source for version in versions_of(item) for source in version.sources)
            episodes = (self._episodes.numbers[source] for source in sources)
            stated = [(each, fact) for each in episodes for fact in self._sentences.standing_in(item, each)]
        found: dict[int, Version] = {}
        for episode, fact in stated:
            versions = versions_of(fact)
            told = [version for version in versions if ids[episode] in version.sources]
            if not told or not told[-1].ended_after(self._episodes.at[episode]):
                continue
            if all(v.interval.valid_to <= last or v.interval.valid_from >= v.interval.valid_to for v in versions):
                found[fact] = told[-1]
        return tuple(found.values())

    # -- the space of what was forgotten ----------------------------------------------------------------------------

    @property
    def is_compact(self) -> bool:
        """Whether no episode was forgotten since the last :meth:`compact`, so that :meth:`to_arrays` keeps numbers."""
        return self._episodes.is_compact

    @property
    def unused_size(self) -> int:
        """How many episodes, assertions and endings were forgotten since :attr:`numbering` rose."""
        return self._state.unused

    @property
    def unused_fraction(self) -> float:
        """How much of the graph belongs to forgotten episodes, from 0.0 (nothing) to 1.0 (all of it).

        Episodes, the statements that they assert and those that they end count alike.
        """
        state = self._state
        return state.unused / (state.size + state.unused) if state.unused else 0.0

    def compact(self) -> None:
        """Release the space of forgotten episodes. Takes time linear in what is left.

        The graph and its views answer as before, but episodes and statements have new numbers: :attr:`numbering` rises,
        and an index that was built or saved with the old numbers no longer fits. Where nothing was forgotten, nothing
        happens.
        """
        if self.is_compact:
            return
        if self._state.merged:
            self._state.become(refolded(self._state, self._state.merged))
        else:
            self._state.become(compacted(self._state))
        self._use(self._state)
        self.change_count += 1
        self.numbering += 1

    # -- comparing and storing --------------------------------------------------------------------------------------

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Iterate over the graph in canonical form, for :func:`~worldthread.graph.fold.state_hash`.

        Yields:
            One row for each episode and each version.
        """
        for episode_id, number in self._episodes.numbers.items():
            yield "episode", episode_id, self._episodes.digests[number]
        for versions in self.all_versions():
            for version in versions:
                yield version_row(version)

    def state_hash(self, version: int = STATE_HASH_VERSION) -> str:
        """Return the hash of the graph; :func:`~worldthread.graph.fold.state_hash` says what it covers.

        Args:
            version: 2; or 1 to compare with a hash that was stored by an older release.

        Returns:
            ``"v2-"`` and 64 hexadecimal digits (for version 1 the digits alone); equal to the hash of
            :func:`~worldthread.graph.fold.fold` of the same episodes.

        Raises:
            InputError: there is no such version.
        """
        return state_hash(self.rows(), version)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole graph as arrays. They hold no trace of forgotten episodes.

        Returns:
            Arrays by name, in the layout of :data:`worldthread.graph.arrays.ARRAYS_FORMAT`.
        """
        state = self._state
        if not self.is_compact:
            state = refolded(state, state.merged) if state.merged else compacted(state)
        return state_to_arrays(state)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TemporalGraph:
        """Return the graph of these arrays, the inverse of :meth:`to_arrays`.

        Args:
            arrays: become part of the graph, and are not changed.

        Returns:
            The graph; its numbers are those of the arrays.

        Raises:
            InputError: the arrays are of another format or do not fit each other.
        """
        graph = cls()
        graph._use(state_from_arrays(arrays))
        return graph


def refolded(state: GraphState, names: MergedNamesByUser) -> GraphState:
    """Return the graph of the same episodes with other names merged, in tables that hold nothing of removed episodes.

    Args:
        state: the graph; it is not changed.
        names: the names that are merged.

    Returns:
        A graph whose episodes, forms and statements are numbered anew. It takes time linear in the graph.
    """
    result = GraphState.empty()
    result.merged = names
    fold = IncrementalFold(result)
    episodes = state.episodes
    for number in sorted(episodes.numbers.values(), key=episodes.order):
        fold.add(episodes.record(number), state.extraction(number), episodes.digests[number])
    result.episodes.latest = episodes.latest
    return result


def is_read_otherwise(state: GraphState, names: MergedNamesByUser) -> bool:
    """Return whether a statement of a graph may be another one once other names are merged.

    Args:
        state: the graph.
        names: the names that are merged then.

    Returns:
        ``False`` only when every extraction is read as it is now.
    """
    statements = state.statements
    for user in {*names.users(), *state.merged.users()}:
        new, old = names.of(user), state.merged.of(user)
        read_otherwise, regrouped = new.differences(old)
        whose = statements.user_number(user)
        if any(statements.keys[n][3] == whose for key in read_otherwise for n in statements.incident_to(key)):
            return True
        incident = {number for key in regrouped for number in statements.incident_to(key)}
        for form in statements.forms_with_aspects(n for n in incident if statements.keys[n][3] == whose):
            written = statements.written(form)
            if new.statement(written).aspect != old.statement(written).aspect:
                return True
    return False


def _record_of(episode: Episode) -> EpisodeRecord:
    extraction = episode.extraction
    return EpisodeRecord(
        episode.id,
        episode.at,
        episode.source,
        episode.recorded_at,
        extraction.extractor,
        len(extraction.failures),
        episode.extracted_at,
        episode.provenance,
    )


def _said_same(episode: Episode) -> Iterator[SameNames]:
    return ((episode.user, name, into) for name, into in episode.extraction.same_names)


def _conflict(episode: Episode) -> InputError:
    return InputError(f"episode {episode.id} is already recorded with another extraction; forget it first")

"""The tables of a temporal graph, and what can be read from them by number.

The versions of one statement depend on three kinds of events alone: its *assertions*, the *endings* that name it, and
the assertions of other statements under an *aspect* that it holds with. (Whether an assertion of another statement
counts, or was taken back, depends on that statement's events.) The tables index these events by statement, by aspect
and by episode, and hold the versions that follow from them. :mod:`worldthread.graph.increment` keeps the versions up to
date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from worldthread.graph.columns import Row, RowTable
from worldthread.graph.episodes import EpisodeTable
from worldthread.graph.fold import in_time
from worldthread.graph.merges import MergedNamesByUser, SameNames
from worldthread.graph.statements import StatementTable
from worldthread.graph.strings import ABSENT, NEVER, StringTable, integer_to_time
from worldthread.names import normalise_name
from worldthread.types import FOREVER, Ending, Extraction, Interval, Statement, Version

_MANY_USERS: Final = 16  # from which on a statement of anybody is found by its names
_COUNTS: Final = ("episodes", "unread", "failed", "facts", "theses", "current_facts", "current_theses", "ended")


class GraphState:
    """Strings, statements, episodes, events and versions of one graph; they refer to each other by number.

    Args:
        strings: the strings of the graph.
        statements: its statements; their names are numbers of ``strings``.
        episodes: its episodes; their sources are numbers of ``strings``.
    """

    __slots__ = (
        "aspect_assertions",
        "assertions",
        "endings",
        "episode_assertions",
        "episode_endings",
        "episodes",
        "merged",
        "now",
        "same_names",
        "size",
        "statements",
        "strings",
        "timed_endings",
        "unused",
        "versions",
        "written",
    )

    def __init__(self, strings: StringTable, statements: StatementTable, episodes: EpisodeTable) -> None:
        self.strings = strings
        self.statements = statements
        self.episodes = episodes
        self.assertions = RowTable(2)
        """Statement -> (episode, form); those that count in fold order, then announcements that were taken back."""
        self.endings = RowTable(3, 1)
        """Statement -> (episode, reason, time stated)."""
        self.aspect_assertions = RowTable(2)
        """Aspect -> (episode, statement)."""
        self.episode_assertions = RowTable(1)
        """Episode -> (form,); in the order of the extraction."""
        self.episode_endings = RowTable(3, 1)
        """Episode -> (form, reason, time stated); in the order of the extraction."""
        self.versions = RowTable(6, 2)
        """Statement -> (first assertion, assertion after the last, ended by, reason, start, end); in order of time.
        Start and end are ``ABSENT`` when they are the world times of the first assertion and of the ending episode."""
        self.merged = MergedNamesByUser()
        """The names that were merged; the tables hold canonical names."""
        self.same_names: dict[int, tuple[tuple[str, str], ...]] = {}
        """Episode -> the names that it merges."""
        self.written: dict[int, tuple[tuple[Row, ...], tuple[Row, ...]]] = {}
        """Episode -> what it asserts and ends as written, as in the tables, where names in it were merged."""
        self.timed_endings: set[int] = set()
        """Statements that an episode ends at a time which it states; forgetting takes none away."""
        self.now = -FOREVER
        """World time of the latest episode."""
        self.size = 0
        """Number of the episodes, of what they assert and of what they end."""
        self.unused = 0
        """The same of the episodes that were removed: their numbers, names and texts are still in the tables."""

    @classmethod
    def empty(cls) -> GraphState:
        """Return the state of a graph without episodes."""
        strings = StringTable()
        return cls(strings, StatementTable(strings), EpisodeTable(strings))

    @property
    def late(self) -> int:
        """About how many statements and episodes are not in arrays."""
        return self.statements.keys.late + self.episode_assertions.late

    def settle(self) -> None:
        """Move everything into arrays, which take a fraction of the RAM. Numbers stay. Takes time linear in the graph.

        At any moment in between, the tables say the same.
        """
        self.strings.settle()
        self.statements.settle()
        strings, statements, episodes = len(self.strings), len(self.statements.keys), len(self.episodes.ids)
        for table, keys in (
            (self.assertions, statements),
            (self.endings, statements),
            (self.versions, statements),
            (self.aspect_assertions, strings),
            (self.episode_assertions, episodes),
            (self.episode_endings, episodes),
        ):
            table.settle(keys)

    def become(self, other: GraphState) -> None:
        """Take over all tables of another graph, which is not used any more. Views of this state follow."""
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))

    def is_blank(self, episode: int) -> bool:
        """Return whether an episode states, ends and merges nothing."""
        tables = (self.episode_assertions.get(episode), self.episode_endings.get(episode))
        return not any(tables) and episode not in self.same_names and episode not in self.written

    # -- statements -------------------------------------------------------------------------------------------------

    def find(self, statement: Statement, user: str | None = None) -> list[int]:
        """Return the numbers of a statement, ascending: one for each user whose episodes assert it.

        Args:
            statement: the statement, in any spelling.
            user: only that of this user; ``None`` for all.
        """
        merged, statements, users = self.merged, self.statements, self.episodes.provenances.users
        if user is None and len(users) > _MANY_USERS and not merged:
            found: Iterable[int | None] = statements.of_all_users(statement)
        else:
            whose = users if user is None else (user,)
            found = (statements.find(merged.of(one).statement(statement), one) for one in whose)
        return sorted(number for number in found if number is not None and self.assertions.count(number))

    def statement(self, number: int) -> Statement:
        """Return an asserted statement as its first assertion in fold order wrote it."""
        return self.statements.written(self.assertions.get(number)[0][1])

    def is_open(self, statement: int) -> bool:
        """Return whether no end of the last version of a statement is known."""
        versions = self.versions.get(statement)
        return bool(versions) and versions[-1][2] == ABSENT

    def holds(self, statement: int, at: float | None) -> bool:
        """Return whether a statement holds now (``at`` is ``None``), which means is not over, or at a world time."""
        rows = self.versions.get(statement)
        if not rows:
            return False
        if at is None or at >= self.now:
            _, _, ended_by, _, start, end = rows[-1]
            # what ends later than now begins where a text says, or comes before something that does
            if start == end == ABSENT:
                return ended_by == ABSENT
            if at is None:
                return any(start < end > self.now for start, end in self._intervals(statement, rows))
        return any(start <= at < end for start, end in self._intervals(statement, rows))

    def intervals(self, statement: int) -> list[tuple[float, float]]:
        """Return the beginning and the end of each version of a statement."""
        return list(self._intervals(statement, self.versions.get(statement)))

    def _intervals(self, statement: int, rows: Iterable[Row]) -> Iterator[tuple[float, float]]:
        """Yield the beginning and the end of each of some versions of a statement."""
        times = self.episodes.at
        assertions = self.assertions.get(statement)
        for first, _, ended_by, _, start, end in rows:
            begins, ends = integer_to_time(start), integer_to_time(end)
            if begins is None:
                begins = times[assertions[first][0]]
            if ends is None:
                ends = FOREVER if ended_by == ABSENT else times[ended_by]
            yield begins, ends

    def versions_of(self, statement: int) -> tuple[Version, ...]:
        """Return the versions of an asserted statement, in order of time."""
        display = self.statement(statement)
        ids, strings = self.episodes.ids, self.strings.items
        assertions = self.assertions.get(statement)
        rows = self.versions.get(statement)
        result = []
        for (first, after, ended_by, reason, *_), times in zip(rows, self._intervals(statement, rows), strict=True):
            sources = tuple(dict.fromkeys(ids[episode] for episode, _ in assertions[first:after]))
            zone = self.episodes.timezone(assertions[first][0])
            if ended_by == ABSENT:
                result.append(Version(display, Interval(*times), sources, timezone=zone))
            else:
                result.append(Version(display, Interval(*times), sources, ids[ended_by], strings[reason], zone))
        return tuple(result)

    def versions_of_all(self, statements: Sequence[int]) -> tuple[Version, ...]:
        """Return the versions of some asserted statements, in order of time."""
        if len(statements) == 1:
            return self.versions_of(statements[0])
        return tuple(sorted((version for number in statements for version in self.versions_of(number)), key=in_time))

    def about(self, name: str, limit: int | None = None, user: str | None = None) -> list[int]:
        """Return the asserted statements of any time that have ``name`` as subject, object or object of a thesis.

        Args:
            name: the name, in any spelling.
            limit: the most to return: the first in order of arrival; ``None`` for all.
            user: only those of this user; ``None`` for all.
        """
        found = (number for number in self._with_vertex(name, user) if self.assertions.count(number))
        return list(islice(found, limit))

    def _with_vertex(self, name: str, user: str | None) -> Iterator[int]:
        """Yield the statements that have a name as vertex, as it counts for their user, in order of arrival."""
        statements, find = self.statements, self.strings.find
        if user is not None or not self.merged:
            name = self.merged.of(user or "").name(name)
            key, whose = find(normalise_name(name)), None if user is None else statements.user_number(user)
            for number in statements.incident_to(name):
                if statements.has_vertex(number, key) and (user is None or statements.keys[number][3] == whose):
                    yield number
            return
        found: set[int] = set()
        for one in self.merged.names(name):
            key = find(normalise_name(one))
            counts: dict[str, bool] = {}  # user -> whether the name counts as this one
            for number in statements.incident_to(one):
                user = statements.user(number)
                if user not in counts:
                    counts[user] = find(normalise_name(self.merged.of(user).name(name))) == key
                if counts[user] and statements.has_vertex(number, key):
                    found.add(number)
        yield from sorted(found)

    def merged_names(self) -> MergedNamesByUser:
        """Return the names that the episodes merge."""
        return MergedNamesByUser(self.said_same())

    def said_same(self) -> Iterator[SameNames]:
        """Yield what the episodes say is the same, with their users."""
        return (said for _, said in self.numbered_same_names())

    def numbered_same_names(self) -> Iterator[tuple[int, SameNames]]:
        """Yield the same, with the number of each episode."""
        for episode, pairs in self.same_names.items():
            for name, into in pairs:
                yield episode, (self.episodes.user(episode), name, into)

    def latest_of(self, user: str | None, most: int) -> list[int]:
        """Return the numbers of the episodes of a user that arrived last, in order of arrival.

        Args:
            user: the user; ``None`` for all.
            most: how many are looked at; those that were forgotten are left out.
        """
        episodes = self.episodes
        last = range(len(episodes.ids)) if user is None else episodes.of_user(user)
        return [n for n in last[max(0, len(last) - most) :] if episodes.numbers.get(episodes.ids[n]) == n]

    def asserted(self) -> Iterator[int]:
        """Yield the number of every statement that an episode asserts."""
        for number in range(len(self.statements.keys)):
            if self.assertions.count(number):
                yield number

    # -- episodes ---------------------------------------------------------------------------------------------------

    def extraction(self, episode: int) -> Extraction:
        """Return what was extracted from an episode, as written; of its failures only the number is kept."""
        written = self.statements.written
        asserted, ended = self.written.get(
            episode, (self.episode_assertions.get(episode), self.episode_endings.get(episode))
        )
        strings = self.strings.items
        return Extraction(
            strings[self.episodes.extractors[episode]],
            tuple(written(row[0]) for row in asserted),
            tuple(
                Ending(written(form), strings[reason], None if at == NEVER else integer_to_time(at), at == NEVER)
                for form, reason, at in ended
            ),
            same_names=self.same_names.get(episode, ()),
        )

    def aspects_stated(self, episode: int) -> set[int]:
        """Return the aspects that an episode states."""
        forms = self.statements.forms
        return {forms[form][4] for (form,) in self.episode_assertions.get(episode)} - {ABSENT}

    def ended_by(self, episode: int) -> list[tuple[Statement, str]]:
        """Return the statements that an episode ended, with the reasons, in no particular order."""
        forms = self.statements.forms
        rows = (*self.episode_assertions.get(episode), *self.episode_endings.get(episode))
        candidates = {forms[row[0]][0] for row in rows}
        candidates.update(
            statement for aspect in self.aspects_stated(episode) for _, statement in self.aspect_assertions.get(aspect)
        )
        return [
            (self.statement(candidate), self.strings.items[reason])
            for candidate in candidates
            for _, _, ended_by, reason, *_ in self.versions.get(candidate)
            if ended_by == episode
        ]

    # -- totals -----------------------------------------------------------------------------------------------------

    def names(self) -> set[str]:
        """Return the normalised subjects, objects and objects of theses of all asserted statements."""
        found: set[str] = set()
        for number in self.asserted():
            found.update(self.statements.vertices(number))
        return found

    def counts(self) -> dict[str, int]:
        """Return the numbers that :meth:`TemporalGraph.counts` describes."""
        result = dict.fromkeys(_COUNTS, 0)
        result["episodes"] = len(self.episodes.numbers)
        for number in self.episodes.numbers.values():
            result["failed"] += self.episodes.failures[number] > 0
            result["unread"] += not self.episodes.is_read(number)
        for number in self.asserted():
            kind = "theses" if self.statements.keys[number][1] == ABSENT else "facts"
            result[kind] += 1
            rows = self.versions.get(number)
            is_plain = len(rows) == 1 and rows[0][4] == rows[0][5] == ABSENT  # no text states when it begins or ends
            result[f"current_{kind}"] += rows[0][2] == ABSENT if is_plain else self.holds(number, None)
            result["ended"] += sum(1 for row in rows if row[2] != ABSENT)
        return result

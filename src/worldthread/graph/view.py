"""A read-only view of a temporal graph: what holds now, or held at one world time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from worldthread.graph.selection import StatementSelection
from worldthread.graph.state import GraphState
from worldthread.graph.strings import ABSENT
from worldthread.names import normalise_name
from worldthread.support.arguments import require_finite
from worldthread.types import Fact, Interval, Statement, Thesis, Version

_LINKING = frozenset(
    {"of", "in", "at", "from", "for", "and", "von", "vom", "der", "des", "und", "de", "du", "et", "del", "y"}
)


class StatementView(Protocol):
    """What shows the statements that hold at one time: a graph's view, or that of a copy of it on a server."""

    def facts(self, subject: str | None = None, relation: str | None = None, object: str | None = None) -> list[Fact]:
        """Return the facts that hold, sorted by normalised names."""

    def theses(self, about: str | None = None) -> list[Thesis]:
        """Return the theses that hold, sorted by normalised text."""


def statements_about(view: StatementView, name: str) -> list[Statement]:
    """Return the statements of a view that have ``name`` as subject, object or object of a thesis.

    Args:
        view: the view.
        name: a name in any spelling.

    Returns:
        The facts, sorted by normalised names, then the theses, sorted by normalised text.
    """
    facts = {fact.key: fact for fact in (*view.facts(subject=name), *view.facts(object=name))}
    return [*(facts[key] for key in sorted(facts)), *view.theses(about=name)]


def by_names(version: Version) -> tuple[bool, tuple[Any, ...], Interval, tuple[str, ...]]:
    """Return the place of a version in a list of what holds: facts by their names, then theses by their text."""
    return isinstance(version.statement, Thesis), version.statement.key, version.interval, version.sources


def timeline_order(version: Version) -> tuple[Interval, str, tuple[str, ...], str]:
    """Return the place of a version in a timeline."""
    return version.interval, str(version.statement), version.sources, version.statement.id


class GraphView:
    """What holds in a graph at one world time. :meth:`TemporalGraph.view` makes one.

    A view is live: it follows later changes of the graph. Every list has a fixed order that depends on content only.
    Names are compared normalised.

    Args:
        state: the tables of the graph.
        at: a world time; ``None`` for now, which means the statements that are not over: those that end later than the
            latest episode or have no end, and those that are announced for later.
        user: shows only what the episodes of this user say, the empty string for those without one; ``None`` for all.

    Raises:
        InputError: ``at`` is not a finite number.
    """

    __slots__ = ("_state", "_user", "at")

    def __init__(self, state: GraphState, at: float | None = None, user: str | None = None) -> None:
        self._state = state
        self._user = user
        self.at = None if at is None else require_finite(at, "at")

    def __repr__(self) -> str:
        when = "now" if self.at is None else f"{self.at:g}"
        return f"GraphView(at={when}, episodes={len(self._state.episodes.numbers)})"

    def holds(self, statement: Statement) -> bool:
        """Return whether a statement holds.

        Args:
            statement: a fact or a thesis, in any spelling.

        Returns:
            ``True`` when it holds at the time of this view.
        """
        return any(self._state.holds(number, self.at) for number in self._state.find(statement, self._user))

    def versions(self, statement: Statement) -> list[Version]:
        """Return every version of one statement, ended ones included; faster than :meth:`timeline`.

        Args:
            statement: a fact or a thesis, in any spelling.

        Returns:
            The versions that have begun by the time of this view, in order of time.
        """
        found = self._state.versions_of_all(self._state.find(statement, self._user))
        return [version for version in found if self.at is None or version.interval.valid_from <= self.at]

    def covers(self, interval: Interval) -> bool:
        """Return whether what holds in an interval holds at the time of this view.

        Args:
            interval: of a version in this graph.

        Returns:
            Whether the interval contains the time; for now, whether it is not over.
        """
        if self.at is not None:
            return self.at in interval
        return interval.valid_from < interval.valid_to > self._state.now  # what was called off never begins

    def facts(self, subject: str | None = None, relation: str | None = None, object: str | None = None) -> list[Fact]:
        """Return the facts that hold and have the given names.

        Args:
            subject: name of the subject; ``None`` matches any.
            relation: name of the relation; ``None`` matches any.
            object: name of the object; ``None`` matches any.

        Returns:
            The facts, sorted by normalised subject, relation and object.
        """
        state, names = self._state, (subject, relation, object)
        found = self._facts(names, self._user)
        if self._user is None:
            for user in state.merged.users():
                found += self._facts(names, user)
        found.sort()
        if len(state.episodes.provenances.users) > 1:  # what several users say is listed once
            found = list({key: (key, number) for key, number in reversed(found)}.values())[::-1]
        return [fact for _, number in found if isinstance(fact := state.statement(number), Fact)]

    def _facts(self, names: tuple[str | None, ...], user: str | None) -> list[tuple[tuple[str, str, str], int]]:
        """Return names and numbers of the facts of a user that hold and have the given names.

        Args:
            names: subject, relation and object; ``None`` matches any.
            user: the user; ``None`` for all for whom no names are merged.
        """
        state, at = self._state, self.at
        statements, find = state.statements, state.strings.find
        wanted: list[tuple[int, int | None]] = []  # position in a key, and the number that is to stand there
        for position, name in enumerate(names):
            if name is not None:
                is_vertex = position != 1 and user is not None
                number = find(normalise_name(state.merged.of(user or "").name(name) if is_vertex else name))
                if number is None:
                    return []
                wanted.append((position, number))
        keys, holds, versions = statements.keys, state.holds, state.versions.get
        is_now = at is None
        known = [number for _, number in wanted if number is not None]
        candidates = statements.incident_to_numbers(known) if known else range(len(keys))
        others = {statements.user_number(one) for one in state.merged.users()} if user is None else set()
        if user is not None:
            wanted.append((3, statements.user_number(user)))
        strings = state.strings.items
        found = []
        for number in candidates:
            key = keys[number]
            if key[1] == ABSENT or key[3] in others:
                continue
            for position, part in wanted:  # numbers compare faster than it is found out what holds
                if key[position] != part:
                    break
            else:
                rows = versions(number)
                if not rows:
                    continue
                _, _, ended_by, _, start, end = rows[-1]
                # most statements have no times of their own, which is seen faster here than by a call
                if (ended_by == ABSENT) if is_now and start == end == ABSENT else holds(number, at):
                    found.append(((strings[key[0]], strings[key[1]], strings[key[2]]), number))
        return found

    def theses(self, about: str | None = None) -> list[Thesis]:
        """Return the theses that hold.

        Args:
            about: only those tied to this object; ``None`` for all.

        Returns:
            The theses, sorted by normalised text and objects.
        """
        state, at = self._state, self.at
        keys = state.statements.keys
        numbers: Iterable[int] = range(len(keys)) if about is None else state.about(about, user=self._user)
        if about is None and self._user is not None:
            whose = state.statements.user_number(self._user)
            numbers = (number for number in numbers if keys[number][3] == whose)
        shown = [state.statement(n) for n in numbers if keys[n][1] == ABSENT and state.holds(n, at)]
        return list(dict.fromkeys(sorted((s for s in shown if isinstance(s, Thesis)), key=lambda s: s.key)))

    def value(self, subject: str, relation: str) -> str | None:
        """Return the object of the fact (``subject``, ``relation``, ...) that holds.

        Args:
            subject: name of the subject.
            relation: name of the relation.

        Returns:
            The object as written; the first by normalised name when there are several such facts, ``None`` when there
            is none. What has not begun does not count.
        """
        state = self._state
        view = GraphView(state, state.now, self._user) if self.at is None and state.episodes.numbers else self
        found = view.facts(subject, relation)
        return found[0].object if found else None

    def about(self, name: str) -> list[Statement]:
        """Return the statements that hold and have ``name`` as subject, object or object of a thesis.

        Args:
            name: a name in any spelling.

        Returns:
            The facts, sorted by normalised names, then the theses, sorted by normalised text.
        """
        return statements_about(self, name)

    def said_by(self, speaker: str, since: float, most: int = 20) -> list[tuple[float, Fact]]:
        """Return the facts that the latest episodes of a speaker assert, unless they turned out never to have held.

        Args:
            speaker: the speaker, as given; episodes that nobody says count too.
            since: world time of the earliest episode that counts.
            most: how many of the episodes that arrived last are looked at, of any speaker.

        Returns:
            World times of the episodes with their facts, the latest first; no fact twice.
        """
        state, episodes = self._state, self._state.episodes
        found: dict[int, tuple[float, Fact]] = {}
        latest = state.latest_of(self._user, most)
        for number in sorted(latest, key=lambda n: episodes.at[n], reverse=True):
            at = episodes.at[number]
            if at < since:
                continue
            if episodes.provenances.items[episodes.provenance_numbers[number]].speaker not in ("", speaker):
                continue
            for (form,) in state.episode_assertions.get(number):
                statement = state.statements.forms[form][0]
                if statement not in found and any(start < end for start, end in state.intervals(statement)):
                    written = state.statement(statement)
                    if isinstance(written, Fact):
                        found[statement] = (at, written)
        return list(found.values())

    def longer_and_shorter(self, name: str) -> list[str]:
        """Return known names that begin or end with the words of ``name``, and those that it ends with.

        A text says "the barrel" for what the memory calls "water barrel", and "minibus" for an "old minibus".

        Args:
            name: a name in any spelling.

        Returns:
            Normalised names of at most five words in statements of any time, without ``name`` itself, the shortest
            first.
        """
        strings = self._state.strings
        key = normalise_name(name)
        words = key.split(" ")
        linked = any(word in _LINKING or word.endswith(("'s", "s'")) for word in words)  # "lesson of Lea" is no Lea
        tails = () if linked else (" ".join(words[start:]) for start in range(1, len(words)))
        numbers = {tail: strings.find(tail) for tail in tails if any(map(str.isalpha, tail))}
        for number, known in enumerate(strings.items):
            if key in known and (known.endswith(f" {key}") or known.startswith(f"{key} ")) and known.count(" ") < 5:
                numbers[known] = number
        found = [known for known, number in numbers.items() if number is not None and self._is_name(number)]
        return sorted(found, key=lambda known: (len(known), known))

    def _is_name(self, number: int) -> bool:
        """Return whether a string is a normalised name in a statement that an episode asserts."""
        state = self._state
        keys, whose = state.statements.keys, None if self._user is None else state.statements.user_number(self._user)
        return any(
            state.assertions.count(statement)
            for (statement,) in state.statements.incident.get(number)
            if self._user is None or keys[statement][3] == whose
        )

    def timeline(self, name: str, selection: StatementSelection | None = None) -> list[Version]:
        """Return every version of every statement about ``name``, ended ones included.

        Args:
            name: a name in any spelling.
            selection: only what it selects of the same graph; ``None`` for all.

        Returns:
            The versions that have begun by the time of this view, sorted by interval. Their ends are those that the
            graph knows now, also when they lie after the time of this view.
        """
        state = self._state
        found: list[Version] = []
        for number in state.about(name, user=self._user):
            found += state.versions_of(number) if selection is None else selection.versions_of(number)
        if self.at is not None:
            found = [version for version in found if version.interval.valid_from <= self.at]
        return sorted(found, key=timeline_order)

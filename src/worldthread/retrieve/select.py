"""From scores to hits: the best that hold, with the paths that lead to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.graph.selection import StatementSelection
from worldthread.names import normalise_text
from worldthread.retrieve.asked_time import tells_past
from worldthread.retrieve.evidence_times import EvidenceTimes
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.words import words_of
from worldthread.types import Fact, Kind, Statement, Thesis, Version
from worldthread.vectors.exact import best

_FIRST_MORE: Final = 8
_WIDER: Final = 4  # by this factor, when too few of the best hold
_PATH_THROUGH_EPISODE: Final = "is named with"
_ARTICLES: Final = frozenset(("a", "an", "the"))
_BRIDGES: Final = 8  # names of an episode that are tried as bridges


def best_holding(
    scores: NDArray[np.float32],
    k: int,
    holds: Callable[[Numbers], NDArray[np.bool_]],
    ties: NDArray[np.uint64] | None = None,
) -> Numbers:
    """Return the numbers of the ``k`` highest finite scores among what holds, best first.

    What holds is looked up only for as many of the best as it takes, best first, and once for each.

    Args:
        scores: shape (n,).
        k: how many at most.
        holds: which of some numbers hold, shape of the numbers.
        ties: among equal scores the lowest of these comes first, shape (n,); ``None``: the lowest number.

    Returns:
        Shape (<= k,).
    """
    found = np.zeros(0, np.int64)
    width, known = 2 * k + _FIRST_MORE, 0
    while True:
        likely = best(scores, width, ties)
        fresh = likely[known:]
        while len(fresh) and len(found) < k:  # to ask is dear: it may read a text from the disk
            tried, fresh = fresh[: k - len(found)], fresh[k - len(found) :]
            found = np.concatenate((found, tried[holds(tried)]))
        if len(found) == k or len(likely) < width:
            return found
        width, known = _WIDER * width, len(likely)


def best_statements(
    scores: Scores,
    index: RetrievalIndex,
    k: int,
    kind: Kind,
    at: float | None,
    only_current: bool = True,
    selection: StatementSelection | None = None,
    times: EvidenceTimes | None = None,
) -> list[tuple[int, float]]:
    """Return the best facts, or the best theses.

    Args:
        scores: of a method.
        index: the index that the scores are of.
        k: how many at most.
        kind: "fact" or "thesis".
        at: a world time; ``None`` for now.
        only_current: leave out what does not hold at that time and was not told as past.
        selection: what counts of the versions of a statement; ``None`` for all of them.
        times: decides what counts for the time that the question names; ``None`` where it names none.

    Returns:
        Numbers and scores, best first.
    """
    graph = index.graph
    of_kind = index.are_facts if kind == "fact" else ~index.are_facts
    likely = np.where(of_kind, scores.statements, np.float32(-np.inf))

    if times is not None and only_current:
        return _scored(likely, best_holding(likely, k, _each(times.counts), index.statement_ties))

    def holds(number: int) -> bool:
        return graph.lasts(number, at, selection)

    @cache
    def of_present() -> set[tuple[str, ...]]:
        """Of the best facts that hold, who they are about and what they say of it, without its tense."""
        width = _WIDER * k + _FIRST_MORE
        numbers = best_holding(likely, width, _each(holds), index.statement_ties).tolist()
        return {_tenseless(graph.numbered_statement(number)) for number in numbers}

    def is_found(number: int) -> bool:
        if not only_current:
            return bool(graph.numbered_statement(number) if selection is None else selection.versions_of(number))
        if holds(number):
            return True
        versions = graph.lasting_versions(number, selection)
        if not any(_was_told_as_past(graph, version, at) for version in versions):
            return False
        # "lived in Rome" is no answer to where somebody lives once "lives in Oslo" is known
        return kind == "thesis" or _tenseless(graph.numbered_statement(number)) not in of_present()

    return _scored(likely, best_holding(likely, k, _each(is_found), index.statement_ties))


def _tenseless(statement: Statement | None) -> tuple[str, ...]:
    if not isinstance(statement, Fact):
        return ()
    return (statement.key[0], *words_of(statement.relation))


def best_episodes(
    scores: Scores,
    index: RetrievalIndex,
    k: int,
    at: float | None,
    only_current: bool = True,
    text_of: Callable[[str], str] | None = None,
    times: EvidenceTimes | None = None,
) -> list[tuple[int, float]]:
    """Return the best episodes that are not after ``at`` and not outdated.

    An episode is outdated when it states something and nothing of that holds. A message that was divided into several
    episodes is listed once, by its best one; so are messages of one speaker with the same words but for articles, and
    other texts of one user that are equal but for case and white space, unless they state wholly different things.

    Args:
        scores: of a method.
        index: the index that the scores are of.
        k: how many at most.
        at: a world time; ``None`` for now.
        only_current: leave out outdated episodes.
        text_of: returns the text of an episode by its id; ``None`` lists equal texts too.
        times: decides what counts for the time that the question names; ``None`` where it names none.

    Returns:
        Numbers and scores, best first.
    """
    graph = index.graph

    def is_told_rightly(statement: int) -> bool:
        return graph.lasts(statement, at) or any(
            _was_told_as_past(graph, version, at) for version in graph.lasting_versions(statement)
        )

    def holds(number: int) -> bool:
        record = graph.numbered_episode(number)
        if record is None or (at is not None and record.at > at):
            return False
        if times is not None and only_current:
            return times.counts_episode(number)
        stated = graph.statements_of(number) if only_current else []
        return not stated or any(map(is_told_rightly, stated))

    conversation = index.conversation
    turns: set[int] = set()

    def is_first_of_turn(number: int) -> bool:
        turn = None if conversation is None else conversation.turn_of(number)
        if turn is None:
            return True
        is_first = turn not in turns
        turns.add(turn)
        return is_first

    listed: dict[tuple[str, ...], list[set[int]]] = {}

    def is_said_first(number: int) -> bool:
        record = graph.numbered_episode(number)
        if text_of is None or record is None:
            return True
        text = text_of(record.id)
        states: set[int] = set()
        if conversation is not None and conversation.turn_of(number) is not None:
            key = tuple(word for word in words_of(text) if word not in _ARTICLES)
        else:
            key = (record.provenance.labels.user, normalise_text(text))
            states.update(graph.statements_of(number))
        earlier = listed.setdefault(key, [])
        # items of a store may have one text: they state different things, as texts of one note do not
        is_first = not any(not states or not others or states & others for others in earlier)
        earlier.append(states)
        return is_first

    # episodes come best first, so the first of a turn, or of several with the same words, is the best
    best_first = _each(lambda number: holds(number) and is_first_of_turn(number) and is_said_first(number))
    found = best_holding(scores.episodes, k, best_first, index.episode_ties)
    return _scored(scores.episodes, found)


def _was_told_as_past(graph: TemporalGraph, version: Version, at: float | None) -> bool:
    """Return whether a version was over when it was told; a sentence in the past was, though its day was not."""
    if graph.was_told_as_past(version, at):
        return True
    statement, interval = version.statement, version.interval
    if not isinstance(statement, Thesis) or version.ended_by not in version.sources or interval.is_open:
        return False
    return interval.valid_from < interval.valid_to and tells_past(statement.text)


def _each(holds: Callable[[int], bool]) -> Callable[[Numbers], NDArray[np.bool_]]:
    return lambda numbers: np.array([holds(number) for number in numbers.tolist()], bool)


def _scored(scores: NDArray[np.float32], numbers: Numbers) -> list[tuple[int, float]]:
    return list(zip(numbers.tolist(), scores[numbers].tolist(), strict=True))


class QuestionPaths:
    """The paths from the objects that a question names.

    Args:
        query: the question.
        index: the index.
    """

    def __init__(self, query: Query, index: RetrievalIndex) -> None:
        self._query = query
        self._index = index

    @cached_property
    def _named(self) -> NDArray[np.int32]:
        """For each episode the place in ``query.names`` of the first name that it mentions, or one behind the last."""
        links, names = self._index.links, self._query.names
        found = np.full(len(links.present), len(names), np.int32)
        for place in reversed(range(len(names))):
            found[links.episodes_mentioning(names[place])] = place
        return found

    def _first_in(self, episodes: NDArray[np.int32]) -> str | None:
        """Return the first name of the question that any of some episodes mentions."""
        names = self._query.names
        place = int(self._named[episodes].min(initial=len(names))) if names else 0
        return self._index.names.names[names[place]] if place < len(names) else None

    def to_statement(self, number: int) -> tuple[str, ...]:
        """Return the path to a statement.

        Args:
            number: of the statement.

        Returns:
            Names and relations; empty when the statement is not connected with what the question names.
        """
        graph, index = self._index.graph, self._index
        statement = graph.numbered_statement(number)
        names = graph.names_of(number)
        for seed in self._query.names:
            name = index.names.names[seed]
            if name in names:
                if isinstance(statement, Fact):
                    subject, object_ = names
                    return (name, statement.relation, object_ if name == subject else subject)
                return (name,)
        together = self._first_in(index.links.episodes_of[number]) if names else None
        return () if together is None else (together, _PATH_THROUGH_EPISODE, names[0])

    def to_episode(self, number: int) -> tuple[str, ...]:
        """Return the path to an episode.

        It is direct, or leads through one other object: the rarest of the episode's, then the first by name, that
        another episode mentions together with an object of the question. Only its rarest objects are tried.

        Args:
            number: of the episode.

        Returns:
            Names and relations; empty when there is no such path.
        """
        links, names = self._index.links, self._index.names.names
        own = self._first_in(np.array([number], np.int32))
        if own is not None:
            return (own,)
        bridges = sorted(links.names_of[number].tolist(), key=lambda name: (links.df[name], names[name]))
        for bridge in bridges[:_BRIDGES]:
            together = self._first_in(links.episodes_mentioning(bridge))
            if together is not None:
                return (together, _PATH_THROUGH_EPISODE, names[bridge])
        return ()


def version_shown(
    graph: TemporalGraph, number: int, at: float | None, selection: StatementSelection | None = None
) -> Version | None:
    """Return the version of a statement that holds now (``at`` is ``None``) or at a world time, else its last."""
    view = graph.view(at)
    versions = graph.lasting_versions(number, selection)
    return next((version for version in versions if view.covers(version.interval)), versions[-1] if versions else None)

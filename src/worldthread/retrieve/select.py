"""From scores to hits: the best that hold, with the paths that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers
from worldthread.types import Fact, Kind, Version
from worldthread.vectors.exact import best

_FIRST_MORE: Final = 8
_WIDER: Final = 4  # by this factor, when too few of the best hold
_PATH_THROUGH_EPISODE: Final = "is named with"
_BRIDGES: Final = 8  # names of an episode that are tried as bridges
_BRIDGED: Final = 32  # episodes behind each bridge


def best_holding(
    scores: NDArray[np.float32],
    k: int,
    holds: Callable[[Numbers], NDArray[np.bool_]],
    ties: NDArray[np.uint64] | None = None,
) -> Numbers:
    """Return the numbers of the ``k`` highest finite scores among what holds, best first.

    What holds is looked up only for as many of the best as it takes.

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
        found = np.concatenate((found, fresh[holds(fresh)]))[:k]
        if len(found) == k or len(likely) < width:
            return found
        width, known = _WIDER * width, len(likely)


def best_statements(
    scores: Scores, index: RetrievalIndex, k: int, kind: Kind, at: float | None, only_current: bool = True
) -> list[tuple[int, float]]:
    """Return the best facts, or the best theses.

    Args:
        scores: of a method.
        index: the index that the scores are of.
        k: how many at most.
        kind: "fact" or "thesis".
        at: a world time; ``None`` for now.
        only_current: leave out what does not hold at that time.

    Returns:
        Numbers and scores, best first.
    """
    graph = index.graph

    def holds(number: int) -> bool:
        if only_current:
            return graph.statement_holds(number, at)
        return graph.numbered_statement(number) is not None

    of_kind = index.are_facts if kind == "fact" else ~index.are_facts
    found = np.where(of_kind, scores.statements, np.float32(-np.inf))
    return _scored(found, best_holding(found, k, _each(holds), index.statement_ties))


def best_episodes(
    scores: Scores, index: RetrievalIndex, k: int, at: float | None, only_current: bool = True
) -> list[tuple[int, float]]:
    """Return the best episodes that are not after ``at`` and not outdated.

    An episode is outdated when it states something and nothing of that holds.

    Args:
        scores: of a method.
        index: the index that the scores are of.
        k: how many at most.
        at: a world time; ``None`` for now.
        only_current: leave out outdated episodes.

    Returns:
        Numbers and scores, best first.
    """
    graph = index.graph

    def holds(number: int) -> bool:
        record = graph.numbered_episode(number)
        if record is None or (at is not None and record.at > at):
            return False
        stated = graph.statements_of(number) if only_current else []
        return not stated or any(graph.statement_holds(statement, at) for statement in stated)

    found = best_holding(scores.episodes, k, _each(holds), index.episode_ties)
    return _scored(scores.episodes, found)


def _each(holds: Callable[[int], bool]) -> Callable[[Numbers], NDArray[np.bool_]]:
    return lambda numbers: np.array([holds(number) for number in numbers.tolist()], bool)


def _scored(scores: NDArray[np.float32], numbers: Numbers) -> list[tuple[int, float]]:
    return list(zip(numbers.tolist(), scores[numbers].tolist(), strict=True))


def path_to_statement(query: Query, index: RetrievalIndex, number: int) -> tuple[str, ...]:
    """Return the path from an object that the question names to a statement.

    Args:
        query: the question.
        index: the index.
        number: of the statement.

    Returns:
        Names and relations; empty when the statement is not connected with what the question names.
    """
    graph = index.graph
    statement = graph.numbered_statement(number)
    names = graph.names_of(number)
    for seed in query.names:
        name = index.names.names[seed]
        if name in names:
            if isinstance(statement, Fact):
                subject, object_ = names
                return (name, statement.relation, object_ if name == subject else subject)
            return (name,)
    together = _first_mentioned(query, index, index.links.episodes_of[number]) if names else None
    return () if together is None else (index.names.names[together], _PATH_THROUGH_EPISODE, names[0])


def path_to_episode(query: Query, index: RetrievalIndex, number: int) -> tuple[str, ...]:
    """Return the path from an object that the question names to an episode.

    The path is direct, or leads through one other object: the rarest of the episode's, then the first by name, that
    another episode mentions together with an object of the question.

    Args:
        query: the question.
        index: the index.
        number: of the episode.

    Returns:
        Names and relations; empty when there is no such path.
    """
    links, names = index.links, index.names.names
    own = links.names_of[number].tolist()
    for seed in query.names:
        if seed in own:
            return (names[seed],)
    own.sort(key=lambda name: (links.df[name], names[name]))
    for bridge in own[:_BRIDGES]:
        behind = links.episodes_of_name[bridge]
        if len(behind) > _BRIDGED:
            behind = behind[np.argpartition(index.episode_ties[behind], _BRIDGED)[:_BRIDGED]]
        together = _first_mentioned(query, index, behind)
        if together is not None:
            return (names[together], _PATH_THROUGH_EPISODE, names[bridge])
    return ()


def _first_mentioned(query: Query, index: RetrievalIndex, episodes: NDArray[np.int32]) -> int | None:
    """Return the first of the names of the question that any of some episodes mentions."""
    if not query.names:
        return None
    names_of = index.links.names_of
    places, _ = names_of.places(episodes.astype(np.int64))
    mentioned = names_of.columns[places]
    return next((seed for seed in query.names if (mentioned == seed).any()), None)


def version_shown(graph: TemporalGraph, number: int, at: float | None) -> Version | None:
    """Return the version of a statement that holds now (``at`` is ``None``) or at a world time, else its last."""
    statement = graph.numbered_statement(number)
    versions: Collection[Version] = graph.versions(statement) if statement is not None else ()
    for version in versions:
        if (at is None and version.interval.is_open) or (at is not None and at in version.interval):
            return version
    return list(versions)[-1] if versions else None

"""From scores to hits: the best that hold, with the paths that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.types import Fact, Kind, Version
from worldthread.vectors.exact import best

_MORE = 4  # how many more are looked at when too few of the first hold
_PATH_THROUGH_EPISODE = "is named with"
_BRIDGES = 8  # names of an episode that are looked at as bridges
_BRIDGED = 32  # episodes behind each of them


def best_statements(
    scores: Scores, corpus: RetrievalIndex, k: int, kind: Kind, at: float | None, only_current: bool = True
) -> list[tuple[int, float]]:
    """Numbers and scores of the ``k`` best facts, or theses, that hold (now, or at a world time); best first."""
    graph = corpus.graph

    def fits(number: int) -> bool:
        if only_current:
            return graph.statement_holds(number, at)
        return graph.numbered_statement(number) is not None

    of_kind = corpus.are_facts if kind == "fact" else ~corpus.are_facts
    found = np.where(of_kind, scores.statements, np.float32(-np.inf))
    return _best_that(found, corpus.statement_ties, k, fits)


def best_episodes(
    scores: Scores, corpus: RetrievalIndex, k: int, at: float | None, only_current: bool = True
) -> list[tuple[int, float]]:
    """Numbers and scores of the ``k`` best episodes: not after ``at``, and not outdated as a whole; best first.

    An episode is outdated when it states something and nothing of that holds.
    """
    graph = corpus.graph

    def fits(number: int) -> bool:
        record = graph.numbered_episode(number)
        if record is None or (at is not None and record.at > at):
            return False
        stated = graph.statements_of(number) if only_current else []
        return not stated or any(graph.statement_holds(statement, at) for statement in stated)

    return _best_that(scores.episodes, corpus.episode_ties, k, fits)


def _best_that(
    scores: NDArray[np.float32], ties: NDArray[np.uint64], k: int, fits: Callable[[int], bool]
) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    looked_at: set[int] = set()
    width = 2 * k + 8
    while True:
        for number in best(scores, width, ties).tolist():
            if number not in looked_at:
                looked_at.add(number)
                if fits(number):
                    found.append((number, float(scores[number])))
                    if len(found) == k:
                        return found
        if width >= len(scores):
            return found
        width *= _MORE


def path_to_statement(query: Query, corpus: RetrievalIndex, number: int) -> tuple[str, ...]:
    """How a statement hangs together with the objects that the question names; empty when it does not."""
    graph = corpus.graph
    statement = graph.numbered_statement(number)
    names = graph.names_of(number)
    for seed in query.names:
        name = corpus.names.names[seed]
        if name in names:
            if isinstance(statement, Fact):
                subject, object_ = names
                return (name, statement.relation, object_ if name == subject else subject)
            return (name,)
    for episode in corpus.links.episodes_of[number].tolist():
        spoken_of = set(corpus.links.names_of[episode].tolist())
        for seed in query.names:
            if seed in spoken_of and names:
                return (corpus.names.names[seed], _PATH_THROUGH_EPISODE, names[0])
    return ()


def path_to_episode(query: Query, corpus: RetrievalIndex, number: int) -> tuple[str, ...]:
    """How an episode hangs together with the objects that the question names; empty when it does not.

    Directly, or through one object that another episode names together with one of them: the rarest such object.
    """
    links, names = corpus.links, corpus.names.names
    own = links.names_of[number].tolist()
    for seed in query.names:
        if seed in own:
            return (names[seed],)
    own.sort(key=lambda name: (links.df[name], name))
    for bridge in own[:_BRIDGES]:
        for episode in links.episodes_of_name[bridge][:_BRIDGED].tolist():
            spoken_of = set(links.names_of[episode].tolist())
            for seed in query.names:
                if seed in spoken_of:
                    return (names[seed], _PATH_THROUGH_EPISODE, names[bridge])
    return ()


def version_shown(graph: TemporalGraph, number: int, at: float | None) -> Version | None:
    """The version of a statement that holds (now, or at a world time), else its last."""
    statement = graph.numbered_statement(number)
    versions: Collection[Version] = graph.versions(statement) if statement is not None else ()
    for version in versions:
        if (at is None and version.interval.is_open) or (at is not None and at in version.interval):
            return version
    return list(versions)[-1] if versions else None

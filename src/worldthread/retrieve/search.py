"""One search: from a question to the best hits of every kind."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from worldthread.graph.conditions import Condition
from worldthread.graph.selection import StatementSelection
from worldthread.retrieve import method as method_named
from worldthread.retrieve.evidence_times import EvidenceTimes
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores, names_in
from worldthread.retrieve.question import QuestionKind
from worldthread.retrieve.relevance import relevance
from worldthread.retrieve.select import (
    QuestionPaths,
    best_episodes,
    best_statements,
    version_shown,
)
from worldthread.retrieve.stored_table import Restriction
from worldthread.types import KINDS, AskedTime, Episode, Hit, Kind


def search(
    index: RetrievalIndex,
    text: str,
    vector: NDArray[np.float32],
    *,
    method: str,
    k: int,
    kinds: Collection[Kind],
    at: float | None,
    only_current: bool,
    episode_of: Callable[[str], Episode],
    condition: Condition | None = None,
    min_score: float = 0.0,
    question_kind: QuestionKind = QuestionKind.PLAIN,
    asked: AskedTime | None = None,
    asked_at: float | None = None,
) -> tuple[Hit, ...]:
    """Return the best hits for a question.

    Args:
        index: the index, with its graph.
        text: the question in words.
        vector: its embedding.
        method: one of :func:`worldthread.retrieve.methods`.
        k: how many of each kind at most.
        kinds: which kinds.
        at: the world time that the question is about; ``None`` for now.
        only_current: leave out what does not hold at that time.
        episode_of: returns an episode by its id.
        condition: only what meets it is ranked; ``None`` for everything.
        min_score: leave out what is less relevant, see :mod:`worldthread.retrieve.relevance`; 0 keeps everything.
        question_kind: what kind of answer the question wants.
        asked: the time that the question names, by which hits are chosen instead of ``at``, after which nothing counts
            that was told. Where it is not known, what has ended is found too. ``None`` where it names none.
        asked_at: the world time against which "yesterday" in the question is read; ``None`` for ``at``, or the latest.

    Returns:
        Facts, then theses, then episodes, each best first, with the path that leads to each.

    Raises:
        InputError: no method has this name.
    """
    only_current = only_current and (asked is None or asked.interval is not None)
    holds_then = only_current and asked is None
    query = Query(text, vector, names_in(text, index.find), at, holds_then, question_kind, asked_at)
    episode_of = cache(episode_of)  # a hit is looked at twice: whether it says what another said, and to be listed
    index.restrict(Restriction.of(condition, at))
    try:
        scores = method_named(method)(query, index)
    finally:
        index.restrict(None)
    paths = QuestionPaths(query, index)
    graph = index.graph
    selection = None if condition is None else graph.select(condition)
    if selection is not None:
        scores = _among_selected(scores, selection)
    times = None
    if only_current and asked is not None:
        times = EvidenceTimes(graph, asked, text, at, selection, lambda id_: episode_of(id_).text)
    since = at if times is None else times.begin
    hits: list[Hit] = []
    for kind in KINDS:
        if kind not in kinds:
            continue
        if kind == "episode":
            episodes = best_episodes(scores, index, k, at, only_current, lambda id_: episode_of(id_).text, times)
            for number, score in _relevant(query, index, episodes, kind, min_score):
                record = graph.numbered_episode(number)
                assert record is not None
                path = scores.episode_paths.get(number) or paths.to_episode(number)
                outdated = graph.outdated_in(number, is_episode=True, since=since, selection=selection)
                hits.append(Hit(episode_of(record.id), score, kind, path, outdated=outdated))
            continue
        statements = best_statements(scores, index, k, kind, at, only_current, selection, times)
        for number, score in _relevant(query, index, statements, kind, min_score):
            statement = graph.numbered_statement(number)
            version = version_shown(graph, number, at, selection) if times is None else times.version_of(number)
            assert statement is not None
            path = scores.paths.get(number) or paths.to_statement(number)
            shown = statement if selection is None or version is None else version.statement
            is_fact = kind == "fact"
            outdated = () if is_fact else graph.outdated_in(number, is_episode=False, since=since, selection=selection)
            hits.append(Hit(shown, score, kind, path, version, outdated))
    return tuple(hits)


def _among_selected(scores: Scores, selection: StatementSelection) -> Scores:
    """Return the scores of what is selected; everything else is no hit."""
    nothing = np.float32(-np.inf)
    return replace(
        scores,
        episodes=np.where(selection.episodes[: len(scores.episodes)], scores.episodes, nothing),
        statements=np.where(selection.statements[: len(scores.statements)], scores.statements, nothing),
    )


def _relevant(
    query: Query, index: RetrievalIndex, found: list[tuple[int, float]], kind: Kind, min_score: float
) -> list[tuple[int, float]]:
    """Return those of some numbers with scores that are relevant enough."""
    if min_score <= 0 or not found:
        return found
    values = relevance(query, index, np.array([number for number, _ in found], np.int64), kind)
    return [one for one, value in zip(found, values.tolist(), strict=True) if value >= min_score]

"""The union of the results of several methods (PersonalAI, section III.D), with the filter of triples (III.C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve import Method
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores
from worldthread.vectors.exact import best
from worldthread_lab.published.astar import astar
from worldthread_lab.published.beam import beam
from worldthread_lab.published.paths import PathDescriptions, QuestionSimilarity
from worldthread_lab.published.water_circles import water_circles


@dataclass(frozen=True)
class MixtureSettings:
    """Settings of :func:`mixture`.

    Args:
        methods: the methods, at least one; ``functools.partial(beam, settings=...)`` is one with its own settings.
        most: how many statements and episodes together are kept, those most similar to the question; at least 1, or
            ``None`` for all.
    """

    methods: tuple[Method, ...] = (astar, water_circles, beam)
    most: int | None = None

    def __post_init__(self) -> None:
        if not self.methods:
            raise InputError("a mixture needs at least one method")
        if self.most is not None and self.most < 1:
            raise InputError(f"most must be at least 1, or None, not {self.most}")


def mixture(query: Query, index: RetrievalIndex, settings: MixtureSettings | None = None) -> Scores:
    """Return the union of what several methods find.

    Args:
        query: the question.
        index: the index.
        settings: the defaults unless given.

    Returns:
        For everything that any method finds, its similarity with the question, and the path of the first method that
        finds it; ``-inf`` for everything else.
    """
    settings = settings or MixtureSettings()
    found = [method(query, index) for method in settings.methods]
    similarity = QuestionSimilarity(index, query.vector)
    statements = _united([scores.statements for scores in found])
    episodes = _united([scores.episodes for scores in found])
    labels = np.concatenate((statements, -1 - episodes))
    values = similarity.of(labels)
    if settings.most is not None:
        ties = np.concatenate((index.statement_ties[statements], index.episode_ties[episodes]))
        kept = best(values, settings.most, ties)
        labels, values = labels[kept], values[kept]
    of_statements = np.full(len(index.statements), -np.inf, np.float32)
    of_episodes = np.full(len(index.episodes), -np.inf, np.float32)
    of_statements[labels[labels >= 0]] = values[labels >= 0]
    of_episodes[-1 - labels[labels < 0]] = values[labels < 0]
    return Scores(
        of_episodes,
        of_statements,
        PathDescriptions(statements, partial(_first_path, [scores.paths for scores in found])),
        PathDescriptions(episodes, partial(_first_path, [scores.episode_paths for scores in found])),
    )


def _united(found: list[NDArray[np.float32]]) -> NDArray[np.int64]:
    """Return the numbers that have a finite score in any of the arrays."""
    return np.flatnonzero(np.logical_or.reduce([np.isfinite(scores) for scores in found]))


def _first_path(paths: Sequence[Mapping[int, tuple[str, ...]]], number: int) -> tuple[str, ...]:
    return next((known[number] for known in paths if number in known), ())

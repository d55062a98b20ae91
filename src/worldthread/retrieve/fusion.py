"""Reciprocal rank fusion of several methods.

Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"
(SIGIR 2009): score(x) = sum over the methods that return x of 1 / (k + rank(x)), with ranks from 1. Among equal scores
of one method, all have the rank of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve import method
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class FusionSettings:
    """Settings of :func:`fusion`.

    Args:
        methods: names of :func:`worldthread.retrieve.methods`, except "fusion".
        k: the higher, the less the first ranks count; at least 0, and 60 in the paper.
    """

    methods: tuple[str, ...] = ("dense", "lexical")
    k: float = 60.0

    def __post_init__(self) -> None:
        if not self.methods or "fusion" in self.methods:
            raise InputError(f"fusion needs methods other than fusion itself, not {self.methods}")
        if self.k < 0:
            raise InputError(f"k must be at least 0, not {self.k}")


def fusion(query: Query, index: RetrievalIndex, settings: FusionSettings | None = None) -> Scores:
    """Return the reciprocal rank fusion of the scores of several methods.

    Args:
        query: the question.
        index: the index.
        settings: the defaults unless given.

    Returns:
        Scores of what any of the methods returns; a path is from the first method that has one.

    Raises:
        InputError: the settings name an unknown method.
    """
    settings = settings or FusionSettings()
    found = [method(name)(query, index) for name in settings.methods]
    return Scores(
        fused([scores.episodes for scores in found], settings.k),
        fused([scores.statements for scores in found], settings.k),
        _FirstPaths([scores.paths for scores in found]),
        _FirstPaths([scores.episode_paths for scores in found]),
    )


def fused(scores: Sequence[Floats], k: float = 60.0) -> Floats:
    """Return the fusion of several arrays of scores.

    Args:
        scores: arrays of one shape (n,); what a method does not return has ``-inf``.
        k: see :class:`FusionSettings`.

    Returns:
        Shape (n,); ``-inf`` for what no method returns.
    """
    total = np.zeros(len(scores[0]))
    for values in scores:
        returned = np.flatnonzero(np.isfinite(values))
        ascending = np.sort(-values[returned])
        total[returned] += 1 / (k + 1 + np.searchsorted(ascending, -values[returned]))
    return np.where(total > 0, total, -np.inf).astype(np.float32)


class _FirstPaths(Mapping[int, tuple[str, ...]]):
    """For each number the first path that is not empty, computed on access."""

    def __init__(self, paths: Sequence[Mapping[int, tuple[str, ...]]]) -> None:
        self._paths = paths

    def __getitem__(self, number: int) -> tuple[str, ...]:
        given = [paths[number] for paths in self._paths if number in paths]
        if not given:
            raise KeyError(number)
        return next(filter(None, given), ())

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys(number for paths in self._paths for number in paths))

    def __len__(self) -> int:
        return sum(1 for _ in self)

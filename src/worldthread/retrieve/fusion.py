"""Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009) of several methods.

score(x) = sum over the methods that return x of 1 / (k + rank(x)), ranks from 1; among equals of one method all have
the rank of the first.
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
        methods: names of methods; see :data:`worldthread.retrieve.METHODS`.
        k: the higher, the less the first ranks stand out. 60 in the paper.
    """

    methods: tuple[str, ...] = ("dense", "lexical")
    k: float = 60.0

    def __post_init__(self) -> None:
        if not self.methods or "fusion" in self.methods:
            raise InputError(f"fusion needs methods, none of which is fusion itself, not {self.methods}")
        if self.k < 0:
            raise InputError(f"k must be at least 0, not {self.k}")


def fusion(query: Query, corpus: RetrievalIndex, settings: FusionSettings | None = None) -> Scores:
    """See the module. A path is that of the first method that gives one.

    Raises:
        InputError: there is no method of a name.
    """
    settings = settings or FusionSettings()
    found = [method(name)(query, corpus) for name in settings.methods]
    return Scores(
        fused([scores.episodes for scores in found], settings.k),
        fused([scores.statements for scores in found], settings.k),
        _FirstPaths([scores.paths for scores in found]),
        _FirstPaths([scores.episode_paths for scores in found]),
    )


def fused(scores: Sequence[Floats], k: float = 60.0) -> Floats:
    """The fusion of arrays of scores, all of one shape (n,): shape (n,), ``-inf`` where all are."""
    total = np.zeros(len(scores[0]))
    for values in scores:
        returned = np.flatnonzero(np.isfinite(values))
        ascending = np.sort(-values[returned])
        total[returned] += 1 / (k + 1 + np.searchsorted(ascending, -values[returned]))
    return np.where(total > 0, total, -np.inf).astype(np.float32)


class _FirstPaths(Mapping[int, tuple[str, ...]]):
    """Paths by number: of each the first that is not empty, put into words when it is asked for."""

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

"""What happens to hits after a search: another model may order them anew, and the list ends where it should."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import groupby
from typing import Final, Protocol

from worldthread.errors import InputError, ModelError
from worldthread.support.arguments import require_methods
from worldthread.support.foreign_code import require_allowed
from worldthread.types import Episode, Hit

RERANKED: Final = 50
"""How many hits of each kind a reranker is given at least."""

MOST: Final = 20
"""How many hits of each kind there are at most when their number is not given."""

_FEWEST: Final = 3  # hits before the list may end by itself


class Reranker(Protocol):
    """Scores texts for a question, for example a cross-encoder. None ships with the package."""

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return how well each text fits the question.

        Args:
            question: the question, as the user asked it.
            texts: texts of episodes, and statements in words.

        Returns:
            A finite number for each text; higher is better.
        """


def load_reranker(name: str, allow_code: Collection[str]) -> Reranker:
    """Make the reranker that a user named.

    Args:
        name: ``"module:name"`` of a class or function that makes it without arguments.
        allow_code: the modules that the user allowed to run.

    Returns:
        The reranker.

    Raises:
        InputError: the name has another form or leads nowhere, the module is not allowed, or what was made has no
            ``score``.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InputError(f"a reranker is named module:name, such as my_models:CrossEncoder, not {name!r}")
    require_allowed(module, allow_code, f"the reranker {name}")
    try:
        make = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"the reranker {name} cannot be imported: {error}") from error
    if not callable(make):
        raise InputError(f"the reranker {name} is not a class or a function: name what makes the reranker")
    made: Reranker = make()
    require_methods(made, ("score",), "reranker", "an object that scores texts for a question")
    return made


def found_at_most(k: int | None, reranker: Reranker | None) -> int:
    """Return how many hits of each kind to search for, when ``k`` are wanted in the end."""
    least = MOST if k is None else k
    return least if reranker is None else max(least, RERANKED)


def listed(hits: Sequence[Hit], question: str, k: int | None, reranker: Reranker | None) -> tuple[Hit, ...]:
    """Return the hits that are listed.

    Args:
        hits: grouped by kind, best first within each.
        question: the question.
        k: how many of each kind at most; ``None`` ends the list at the greatest fall of the score after the first
            three, and after :data:`MOST` at the latest.
        reranker: orders the hits of each kind anew, and replaces their scores; ``None`` for none.

    Returns:
        The hits, grouped by kind in the same order.

    Raises:
        ModelError: the reranker did not return a finite number for each text.
    """
    if reranker is not None:
        hits = _reranked(hits, question, reranker)
    found: list[Hit] = []
    for _, group in groupby(hits, lambda hit: hit.kind):
        of_kind = list(group)
        found += of_kind[: _length(of_kind) if k is None else k]
    return tuple(found)


def _reranked(hits: Sequence[Hit], question: str, reranker: Reranker) -> list[Hit]:
    texts = [hit.item.text if isinstance(hit.item, Episode) else str(hit.item) for hit in hits]
    if not texts:
        return []
    scores = [float(score) for score in reranker.score(question, texts)]
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        raise ModelError(f"the reranker must return a finite number for each of {len(texts)} texts, not {scores}")
    scored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return list(_sorted_within_kinds(scored))


def _sorted_within_kinds(hits: Sequence[Hit]) -> Iterator[Hit]:
    for _, group in groupby(hits, lambda hit: hit.kind):
        yield from sorted(group, key=lambda hit: -hit.score)


def _length(hits: Sequence[Hit]) -> int:
    """Return how many hits come before the greatest fall of the score."""
    scores = [hit.score for hit in hits[: MOST + 1]]
    falls = [(scores[place - 1] - scores[place], -place) for place in range(_FEWEST, len(scores))]
    greatest, place = max(falls, default=(0.0, -len(scores)))
    return min(-place if greatest > 0 else len(scores), MOST)

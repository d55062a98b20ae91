"""How likely a candidate says what is asked, and how likely the best one answers the question.

Two logistic regressions, fitted by ``python benchmarks/asking/fit.py`` on lives with questions that it does not share
with those that are measured. The first weighs the measures of each candidate. The second weighs how far the best one is
ahead of the others, and gives the confidence. With each life left out, 36 of 72 best candidates with a confidence of .5
to .6 were right, 40 of 59 of .6 to .7, 79 of 107 of .7 to .8, 62 of 75 of .8 to .9, and 58 of 68 above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.answering.agreement import MEASURES
from worldthread.answering.weights import BIAS, DECISION_BIAS, DECISION_WEIGHTS, WEIGHTS

__all__ = ["DECISION_MEASURES", "THRESHOLD", "Evidence", "best_evidence", "rank"]

THRESHOLD: Final = 0.78
"""A question with a lower probability is not answered: of lives left out, 3 % are answered wrongly."""

_LEAST: Final = -9.0  # of a logarithm of odds, where there is no other candidate
_MOST_LEAD: Final = 6.0
_RIVAL: Final = 0.5  # how near something newer may be
_CLOSE: Final = 2.0  # of candidates that say the same
_KINDS: Final = ("yes-no", "time", "place", "person", "number", "thing")
_OF_CANDIDATE: Final = (
    "covered", "weakest", "hedged", "same_subject", "kind", "stated", "exact", "exact_fact", "newer_topic", "planned",
    "rival", "attribute",
)  # fmt: skip

DECISION_MEASURES: Final = (
    "score", "lead", "newer_lead", "agreeing", "fact", "surely", *(f"asks_{kind}" for kind in _KINDS), *_OF_CANDIDATE,
)  # fmt: skip
"""The measures of the best candidate by which an answer is given or refused, in order."""


@dataclass(frozen=True)
class Evidence:
    """Measures of the best candidate for a question; they mean the same in every memory.

    Args:
        score: the logarithm of the odds that it says what is asked.
        lead: how far it is ahead of the best one with another answer, at most 6.
        newer_lead: the same of those that are newer.
        agreeing: 1 where another good candidate has the same answer, else 0.
        surely: whether it has the subject and the relation that are asked for, word for word or in other words of the
            same meaning, nothing newer is as near, and it is a fact, or a fact has the same answer, or nothing else
            comes near at all. Then it answers.
        measures: all of :data:`DECISION_MEASURES`, in order.
    """

    score: float
    lead: float
    newer_lead: float
    agreeing: float
    surely: bool
    measures: tuple[float, ...]

    @property
    def probability(self) -> float:
        """How likely it answers the question; 0..1."""
        weights = [DECISION_WEIGHTS.get(name, 0.0) for name in DECISION_MEASURES]
        total = DECISION_BIAS + math.fsum(w * m for w, m in zip(weights, self.measures, strict=True))
        found = 1 / (1 + math.exp(-min(max(total, -500.0), 500.0)))
        return max(found, THRESHOLD) if self.surely else found


def rank(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each candidate the logarithm of the odds that it says what is asked.

    Args:
        table: :data:`~worldthread.answering.agreement.MEASURES` of candidates, shape (candidates, measures).

    Returns:
        Shape (candidates,).
    """
    totals: NDArray[np.float64] = BIAS + table @ np.array([WEIGHTS.get(name, 0.0) for name in MEASURES])
    return totals


def best_evidence(
    kind: str,
    scores: Sequence[float],
    answers: Sequence[str | None],
    times: Sequence[float],
    facts: Sequence[bool],
    row: Sequence[float],
) -> Evidence:
    """Return the measures of the best candidate.

    Args:
        kind: what the question asks for.
        scores: of the candidates, best first.
        answers: what each would answer; ``None`` for nothing.
        times: the world time of each.
        facts: whether each is a fact.
        row: the measures of the best.
    """
    best, said = scores[0], answers[0] or ""
    alike: list[tuple[float, bool]] = []
    others: list[tuple[float, float]] = []
    for score, answer, time, is_fact in zip(scores[1:], answers[1:], times[1:], facts[1:], strict=True):
        if answer is None:
            continue
        if _are_alike(answer, said):
            alike.append((score, is_fact))
        else:
            others.append((score, time))
    agreeing = float(any(score > best - _CLOSE for score, _ in alike))
    lead = min(best - max((score for score, _ in others), default=_LEAST), _MOST_LEAD)
    newer = min(best - max((score for score, time in others if time > times[0]), default=_LEAST), _MOST_LEAD)
    own = dict(zip(MEASURES, row, strict=True))
    surely = bool(own["exact"]) and not own["newer_topic"] and max(own["rival"], own["rival_past"]) < _RIVAL
    measures = (
        best, lead, newer, agreeing, float(facts[0]), float(surely), *(float(kind == one) for one in _KINDS),
        *(float(own[name]) for name in _OF_CANDIDATE),
    )  # fmt: skip
    is_said = surely and (facts[0] or any(is_fact for _, is_fact in alike) or not others)
    return Evidence(best, lead, newer, agreeing, is_said, measures)


def _are_alike(one: str, other: str) -> bool:
    first, second = one.casefold(), other.casefold()
    return first in second or second in first

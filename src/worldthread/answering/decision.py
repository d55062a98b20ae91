"""The probability that a memory can answer a question, from the measures of what was found for it.

A logistic regression, fitted by ``python benchmarks/fit_answering.py`` on four conversations with 582 questions that
can be answered and 173 that cannot. It prints the table, and the figures for each conversation that is left out.
"""

from __future__ import annotations

import math
from typing import Final

from worldthread.answering.evidence import Evidence

BIAS: Final = -2.927

WEIGHTS: Final = {
    "margin": 5.684,
    "said_margin": 1.052,
    "fit": 1.842,
    "similarity": 3.975,
    "unknown": -0.089,
    "several": 1.991,
    "dated": 1.510,
}
"""The weight of each measure of :class:`~worldthread.answering.evidence.Evidence`."""

THRESHOLD: Final = 0.65
"""A question with a lower probability is not answered."""


def probability(evidence: Evidence) -> float:
    """Return the probability that a memory with this evidence can answer the question; 0..1."""
    total = BIAS + math.fsum(weight * getattr(evidence, name) for name, weight in WEIGHTS.items())
    return 1 / (1 + math.exp(-total)) if total > -500 else 0.0

"""Confidence intervals of figures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 9999


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean, with 9999 resamples and a fixed seed.

    Args:
        values: the sample.

    Returns:
        The bounds of the 95 % interval, rounded to 5 digits; both equal the mean when all values are equal.

    Raises:
        IndexError: there are no values.
    """
    if len(set(values)) < 2:
        return values[0], values[0]
    import numpy as np
    from scipy import stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = stats.bootstrap(
            (values,), np.mean, n_resamples=RESAMPLES, confidence_level=CONFIDENCE, method="percentile", rng=0
        )
    return round(float(result.confidence_interval.low), 5), round(float(result.confidence_interval.high), 5)


def wilson_interval(wins: int, runs: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of the proportion ``wins / runs``."""
    from scipy import stats

    interval = stats.binomtest(wins, runs).proportion_ci(CONFIDENCE, method="wilson")
    return round(float(interval.low), 5), round(float(interval.high), 5)

"""Confidence intervals of figures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 9999
BAND_RESAMPLES: Final = 2000


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


def bootstrap_band(rows: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return the percentile bootstrap intervals of the means of many samples of the same runs.

    Every row is resampled with the same draws of runs, so that a curve of means has a band and no noise of its own.

    Args:
        rows: the samples, such as the scores of all runs after so many moves; all of the same length, at least 1.

    Returns:
        The bounds of the 95 % interval of each row, with :data:`BAND_RESAMPLES` resamples and a fixed seed.
    """
    import numpy as np

    values = np.asarray(rows, dtype=float)
    runs = values.shape[1]
    draws = np.random.default_rng(0).integers(0, runs, (BAND_RESAMPLES, runs))
    weights = np.zeros((BAND_RESAMPLES, runs))
    np.add.at(weights, (np.arange(BAND_RESAMPLES)[:, None], draws), 1 / runs)
    outside = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(values @ weights.T, (outside, 100 - outside), axis=1)
    return [(round(float(a), 5), round(float(b), 5)) for a, b in zip(low, high, strict=True)]


def wilson_interval(wins: int, runs: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of the proportion ``wins / runs``."""
    from scipy import stats

    interval = stats.binomtest(wins, runs).proportion_ci(CONFIDENCE, method="wilson")
    return round(float(interval.low), 5), round(float(interval.high), 5)

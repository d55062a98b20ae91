"""Finds the times that sentences name, and says when a statement holds."""

from worldthread.extract.times.ends import begun, end_stated, without_times
from worldthread.extract.times.expressions import (
    Role,
    TimeExpression,
    Validity,
    as_told,
    latest_beginning,
    named_period,
    time_expressions,
    validity,
)
from worldthread.extract.times.periods import Precision

__all__ = [
    "Precision", "Role", "TimeExpression", "Validity", "as_told", "begun", "end_stated", "latest_beginning",
    "named_period", "time_expressions", "validity", "without_times",
]  # fmt: skip

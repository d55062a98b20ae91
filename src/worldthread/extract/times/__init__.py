"""Finds the times that sentences name, and says when a statement holds."""

from worldthread.extract.times.expressions import (
    Role,
    TimeExpression,
    Validity,
    as_told,
    latest_beginning,
    time_expressions,
    validity,
)
from worldthread.extract.times.periods import Precision

__all__ = [
    "Precision", "Role", "TimeExpression", "Validity", "as_told", "latest_beginning", "time_expressions", "validity",
]  # fmt: skip

"""Finds the times that sentences name, and says when a statement holds."""

from worldthread.extract.times.expressions import Precision, Role, TimeExpression, time_expressions, validity

__all__ = ["Precision", "Role", "TimeExpression", "time_expressions", "validity"]

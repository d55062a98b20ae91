"""Attacks on the promises that a memory should keep, on worldthread and on other memories that are installed.

``worldthread bench adversarial --system NAME`` runs them; no model is called, and nothing leaves the machine.
"""

from __future__ import annotations

from worldthread_lab.bench.adversarial.checks import CHECKS, Result, run
from worldthread_lab.bench.adversarial.system import System
from worldthread_lab.bench.adversarial.systems import SYSTEMS

__all__ = ["CHECKS", "SYSTEMS", "Result", "System", "run"]

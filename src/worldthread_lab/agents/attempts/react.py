"""ReAct (Yao et al. 2023): a thought, then an action, in independent attempts."""

from __future__ import annotations

from typing import Final

from worldthread_lab.agents.attempts.base import AttemptAgent


class ReAct(AttemptAgent):
    """Thinks, acts and observes, in independent attempts from the beginning of the world.

    One call of the model for each decision.
    """

    name: Final = "react"

    def _context(self, limit: int) -> str:
        return ""

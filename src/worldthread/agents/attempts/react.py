"""ReAct (Yao et al. 2023): a thought, then an action; attempts that know nothing of each other."""

from __future__ import annotations

from typing import Final

from worldthread.agents.attempts.base import AttemptAgent


class ReAct(AttemptAgent):
    """Thinks, acts and reads, in attempts from the beginning of the world that know nothing of each other.

    One call of the model a decision.
    """

    name: Final = "react"

    def _context(self, limit: int) -> str:
        return ""

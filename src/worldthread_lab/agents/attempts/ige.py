"""Intelligent Go-Explore (Lu et al. 2025): the model chooses a state to return to, and explores as ReAct does."""

from __future__ import annotations

from typing import Any, Final

from worldthread.models.chat import ChatModel
from worldthread_lab.agents.attempts.archive_agent import ArchiveAgent, SelectionAndRemoval
from worldthread_lab.agents.base import AgentMemory


class IntelligentGoExplore(ArchiveAgent):
    """Explores from the state that the model finds the most promising, and chooses again after each attempt.

    One call of the model for each decision, and one more after each attempt. Which states the model can choose from is
    decided by :meth:`Archive.offer <worldthread_lab.agents.attempts.archive.Archive.offer>`.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        temperature: of all answers; 0 or more.
        removes_states: whether the model also names states to remove from the archive, as in the published code for
            TextWorld. The GLoW paper, which plays Jericho with IGE, has no such step.
        options: those of :class:`~worldthread_lab.agents.attempts.base.AttemptAgent`.
    """

    name: Final = "ige"

    def __init__(
        self,
        memory: AgentMemory,
        model: ChatModel,
        *,
        temperature: float = 0.3,
        removes_states: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(memory, model, temperature=temperature, **options)
        self.removes_states = removes_states

    def _context(self, limit: int) -> str:
        return ""

    def _next_start(self) -> tuple[int, str]:
        if self.removes_states:
            return self._select("choose_and_remove", SelectionAndRemoval)
        return self._select("choose_promising")

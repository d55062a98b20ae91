"""In-context reinforcement learning (Song et al. 2026): what it learns from is its attempts with their points."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from worldthread.agents.attempts.base import PROMPT_ROOM, AttemptAgent, require_at_least
from worldthread.agents.attempts.trajectories import AttemptTrajectory, render_trajectories
from worldthread.agents.base import AgentMemory
from worldthread.agents.prompting import prompt_part
from worldthread.models.chat import ChatModel


class InContextLearner(AttemptAgent):
    """ReAct that is told the trajectories of its earlier attempts, with the points of each move.

    One call of the model a decision.

    Args:
        memory: where percepts go and knowledge comes from.
        model: answers.
        window: trajectories that are told, the latest ones; at least 1.
        options: those of :class:`~worldthread.agents.attempts.base.AttemptAgent`.

    Raises:
        InputError: a number is too small.
    """

    name: Final = "icrl"

    def __init__(self, memory: AgentMemory, model: ChatModel, *, window: int = 10, **options: Any) -> None:
        super().__init__(memory, model, **options)
        require_at_least(1, window=window)
        self.trajectories: deque[AttemptTrajectory] = deque(maxlen=window)

    def _context(self, limit: int) -> str:
        if not self.trajectories:
            return ""
        return prompt_part("icrl", trajectories=render_trajectories(self.trajectories, limit - PROMPT_ROOM))

    def _learn(self, attempt: AttemptTrajectory) -> None:
        self.trajectories.append(attempt)

"""In-context reinforcement learning (Song et al. 2026): prompts hold earlier attempts with their points."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from worldthread.models.chat import ChatModel
from worldthread_lab.agents.attempts.base import AttemptAgent, require_at_least
from worldthread_lab.agents.attempts.trajectories import AttemptTrajectory, render_trajectories
from worldthread_lab.agents.base import AgentMemory
from worldthread_lab.agents.prompting import prompt_part


class InContextLearner(AttemptAgent):
    """ReAct with the trajectories of earlier attempts in its prompts, with the points of each move.

    One call of the model for each decision.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        window: how many trajectories prompts hold, the latest ones; at least 1. ``None``: all. In the paper of GLoW 10.
        options: those of :class:`~worldthread_lab.agents.attempts.base.AttemptAgent`.

    Raises:
        InputError: a number is too small.
    """

    name: Final = "icrl"
    former_options: ClassVar[Mapping[int, Mapping[str, Any]]] = {2: {"window": None}, 3: {"window": None}}

    def __init__(self, memory: AgentMemory, model: ChatModel, *, window: int | None = 10, **options: Any) -> None:
        super().__init__(memory, model, **options)
        if window is not None:
            require_at_least(1, window=window)
        self.trajectories: deque[AttemptTrajectory] = deque(maxlen=window)

    def _context(self, limit: int) -> str:
        if not self.trajectories:
            return ""
        return prompt_part(
            "icrl", trajectories=render_trajectories(self.trajectories, limit - self.settings.part_limit, self.settings)
        )

    def _learn(self, attempt: AttemptTrajectory) -> None:
        self.trajectories.append(attempt)

"""Reflexion (Shinn et al. 2023): a note after each attempt for the next ones."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from worldthread.models.chat import ChatModel
from worldthread_lab.agents.attempts.base import AttemptAgent, require_at_least
from worldthread_lab.agents.attempts.lessons import Lesson, render_lessons
from worldthread_lab.agents.attempts.trajectories import AttemptTrajectory
from worldthread_lab.agents.base import AgentMemory
from worldthread_lab.agents.prompting import prompt_part


class ReflexionAgent(AttemptAgent):
    """ReAct with a reflection after each attempt, which the prompts of later attempts hold.

    One call of the model for each decision, and one more after each attempt. An unusable reflection is left out.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        window: how many reflections prompts hold, the latest ones; at least 1. The default was chosen by hand.
        options: those of :class:`~worldthread_lab.agents.attempts.base.AttemptAgent`.

    Raises:
        InputError: a number is too small.
    """

    name: Final = "reflexion"

    def __init__(self, memory: AgentMemory, model: ChatModel, *, window: int = 10, **options: Any) -> None:
        super().__init__(memory, model, **options)
        require_at_least(1, window=window)
        self.lessons: deque[Lesson] = deque(maxlen=window)

    def _context(self, limit: int) -> str:
        if not self.lessons:
            return ""
        return prompt_part(
            "reflexion", lessons=render_lessons(self.lessons, limit - self.settings.part_limit, self.settings)
        )

    def _learn(self, attempt: AttemptTrajectory) -> None:
        lesson = self._reflect(attempt, self.lessons)
        if lesson is not None:
            self.lessons.append(lesson)

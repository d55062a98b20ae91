"""Reflexion (Shinn et al. 2023): after each attempt a note for the next ones."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from worldthread.agents.attempts.base import PROMPT_ROOM, AttemptAgent, require_at_least
from worldthread.agents.attempts.lessons import Lesson, render_lessons
from worldthread.agents.attempts.trajectories import AttemptTrajectory
from worldthread.agents.base import AgentMemory
from worldthread.agents.prompting import prompt_part
from worldthread.models.chat import ChatModel


class ReflexionAgent(AttemptAgent):
    """ReAct with a reflection after each attempt, which later attempts are told.

    One call of the model a decision, and one more after each attempt. A reflection that cannot be used is left out.

    Args:
        memory: where percepts go and knowledge comes from.
        model: answers.
        window: reflections that are told, the latest ones; at least 1.
        options: those of :class:`~worldthread.agents.attempts.base.AttemptAgent`.

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
        return prompt_part("reflexion", lessons=render_lessons(self.lessons, limit - PROMPT_ROOM))

    def _learn(self, attempt: AttemptTrajectory) -> None:
        lesson = self._reflect(attempt, self.lessons)
        if lesson is not None:
            self.lessons.append(lesson)

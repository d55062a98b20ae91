"""The two extremes: nothing, and the full history."""

from __future__ import annotations

from typing import ClassVar

from worldthread_lab.agents.memory_modules.base import (
    MAX_CHARACTERS,
    MemoryModule,
    ModuleContext,
    Situation,
    render_steps,
)


class NoMemoryModule(MemoryModule):
    """Recalls nothing: the agent has only its plan and the last moves. No calls of the model."""

    name: ClassVar[str] = "none"

    def recall(self, situation: Situation) -> str:
        return ""


class FullHistoryModule(MemoryModule):
    """Recalls all moves word for word. No calls of the model, but prompts that grow with every move.

    Args:
        context: not used.
        max_characters: length of the text; the oldest moves are left out when they do not fit.
    """

    name: ClassVar[str] = "full_history"

    def __init__(self, context: ModuleContext, *, max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(context)
        self._max_characters = max_characters

    def recall(self, situation: Situation) -> str:
        shown = {episode.id for episode in situation.shown}
        past = [step.episode for step in self.path if step.episode.id not in shown]
        return render_steps(past, max_characters=self._max_characters)

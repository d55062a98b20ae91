"""The two ends of the scale: nothing, and everything as it was."""

from __future__ import annotations

from typing import ClassVar

from worldthread.agents.memory_modules.base import MAX_CHARACTERS, MemoryModule, ModuleContext, Situation, told_all


class NoMemoryModule(MemoryModule):
    """Reminds of nothing: the agent has its plan and the last moves alone. No calls."""

    name: ClassVar[str] = "none"

    def recall(self, situation: Situation) -> str:
        return ""


class FullHistoryModule(MemoryModule):
    """All moves, word for word. No calls, but prompts that grow with every move.

    Args:
        means: nothing is used.
        max_characters: length of the text; the first moves are left out when they are too many.
    """

    name: ClassVar[str] = "full_history"

    def __init__(self, means: ModuleContext, *, max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(means)
        self._max_characters = max_characters

    def recall(self, situation: Situation) -> str:
        shown = {episode.id for episode in situation.shown}
        past = [seen.episode for seen in self.way if seen.episode.id not in shown]
        return told_all(past, max_characters=self._max_characters)

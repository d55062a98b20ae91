"""A running summary, rewritten as the play goes on (the baseline "summarization" of the AriGraph paper)."""

from __future__ import annotations

from typing import ClassVar

from worldthread.agents.memory_modules.base import MemoryModule, ModuleContext, Situation, prompt, told_all


class SummaryModule(MemoryModule):
    """What the model keeps when it rewrites its own summary. One call a decision ("summarise").

    The model sees the summary before and what happened since, never the whole past: what it leaves out is gone. After
    an empty answer the old summary stays, and the next one is asked for all that has happened since.
    """

    name: ClassVar[str] = "summary"

    def __init__(self, means: ModuleContext) -> None:
        super().__init__(means)
        self._summaries: dict[int, str] = {}  # by moment up to which it goes

    def recall(self, situation: Situation) -> str:
        last = next((n for n in reversed(range(len(self.way))) if self._moment(n) in self._summaries), None)
        before = "" if last is None else self._summaries[self._moment(last)]
        fresh = self.way[0 if last is None else last + 1 :]
        if not fresh:
            return before
        messages = prompt(
            "summarise",
            goal=situation.goal or "(none is stated)",
            before=before or "(none so far)",
            moves=told_all(seen.episode for seen in fresh),
        )
        answer = self.means.asks.tell("summarise", messages)
        if not answer:
            self.means.asks.failures["summarise"] += 1
            return before
        self._summaries[self._moment(-1)] = answer
        return answer

    def _moment(self, number: int) -> int:
        return self.way[number].percept.moment

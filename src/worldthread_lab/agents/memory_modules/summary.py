"""A running summary, rewritten as the play goes on (the baseline "summarization" of the AriGraph paper)."""

from __future__ import annotations

from typing import ClassVar

from worldthread_lab.agents.memory_modules.base import MemoryModule, ModuleContext, Situation, prompt, render_steps


class SummaryModule(MemoryModule):
    """Recalls a summary that the model rewrites. One call of the model for each decision ("summarise").

    The model reads the last summary and what happened since, never the whole past: what it leaves out is lost. After an
    empty answer the old summary stays, and the next request holds everything that happened since it.

    Args:
        context: asks the model.
    """

    name: ClassVar[str] = "summary"

    def __init__(self, context: ModuleContext) -> None:
        super().__init__(context)
        self._summaries: dict[int, str] = {}  # by number of the last state that it covers

    def recall(self, situation: Situation) -> str:
        last = next((n for n in reversed(range(len(self.path))) if self._number(n) in self._summaries), None)
        before = "" if last is None else self._summaries[self._number(last)]
        fresh = self.path[0 if last is None else last + 1 :]
        if not fresh:
            return before
        messages = prompt(
            "summarise",
            goal=situation.goal or "(none is stated)",
            before=before or "(none so far)",
            moves=render_steps(step.episode for step in fresh),
        )
        answer = self.context.caller.ask_text("summarise", messages)
        if not answer:
            self.context.caller.failures["summarise"] += 1
            return before
        self._summaries[self._number(-1)] = answer
        return answer

    def _number(self, number: int) -> int:
        return self.path[number].percept.moment

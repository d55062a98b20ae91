"""Past observations and insights drawn from them (Generative Agents; Park et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from worldthread_lab.agents.memory_modules.base import ModuleContext, ObservedStep, Situation, prompt
from worldthread_lab.agents.memory_modules.rag import RagModule, RetrievableItem

THRESHOLD: Final = 150
"""Sum of the importance of what happened after which insights are drawn, as in Park et al."""
LATEST: Final = 100
"""How many of the latest items the questions are asked about, as in Park et al."""
PER_QUESTION: Final = 10
"""Items that are relevant for one question, at most; no source is recorded, chosen by hand."""
TEMPERATURE: Final = 0.4
"""Temperature of questions and insights; no source is recorded, chosen by hand."""


class Questions(msgspec.Struct, forbid_unknown_fields=True):
    """What the latest moments let one ask."""

    questions: Annotated[list[str], Meta(min_length=1, max_length=3)]


class Insight(msgspec.Struct, forbid_unknown_fields=True):
    """Something concluded from several moments, and how much it matters: within [1, 10]."""

    insight: str
    importance: Annotated[int, Meta(ge=1, le=10)]


class Insights(msgspec.Struct, forbid_unknown_fields=True):
    """What the model concluded."""

    insights: Annotated[list[Insight], Meta(max_length=5)]


class SimulacraModule(RagModule):
    """Recalls observations as :class:`~worldthread_lab.agents.memory_modules.rag.RagModule` does, and insights too.

    When the importance of what happened since the last insights adds up to ``threshold``, the model asks three
    questions about the latest hundred observations and insights, and draws up to five insights from what is most
    relevant for them. These are two calls ("questions", "insights"), beside one for each observation ("importance").
    Park et al. make a call for each question and one for the importance of each insight; here one answer holds both.

    Args:
        context: asks the model, embeds.
        count: how many observations and insights are recalled, at least 1.
        threshold: the sum of importance, each within [1, 10], after which insights are drawn.
        version: as of :class:`~worldthread_lab.agents.memory_modules.rag.RagModule`.

    Raises:
        InputError: ``count`` is below 1, or there is no such version.
    """

    name: ClassVar[str] = "simulacra"

    def __init__(self, context: ModuleContext, *, count: int = 5, threshold: int = THRESHOLD, version: int = 2) -> None:
        super().__init__(context, count=count, version=version)
        self._threshold = threshold
        self._insights: dict[int, list[RetrievableItem]] = {}  # by number of the state in which they were drawn

    def _items_on_path(self) -> list[RetrievableItem]:
        found: list[RetrievableItem] = []
        for step in self.path:
            found += [self._items[step.percept.moment], *self._insights.get(step.percept.moment, ())]
        return found

    def _rate(self, situation: Situation) -> list[RetrievableItem]:
        fresh = super()._rate(situation)
        if self._importance_since_insights(self.path) >= self._threshold:
            self._reflect(situation)
        return fresh

    def _importance_since_insights(self, path: Sequence[ObservedStep]) -> int:
        """Return the sum of the importance of the observations since the last insights."""
        total = 0
        for step in reversed(path):
            if step.percept.moment in self._insights:
                break
            total += self._items[step.percept.moment].importance
        return total

    def _reflect(self, situation: Situation) -> None:
        now = self.path[-1].percept.moment
        goal = situation.goal or "(none is stated)"
        items = self._items_on_path()
        self._insights[now] = []  # even if none is drawn: the next ones are due when the importance has added up again
        latest = "\n".join(self._render(items[-LATEST:]))
        caller = self.context.caller
        asked = caller.ask_optional(
            "questions", prompt("questions", goal=goal, moments=latest), Questions, temperature=TEMPERATURE
        )
        if asked is None:
            return
        relevant = {
            id(item): item for question in asked.questions for item in self._best(items, question, PER_QUESTION)
        }
        messages = prompt(
            "insights",
            goal=goal,
            questions="\n".join(f"- {question}" for question in asked.questions),
            moments="\n".join(self._render(sorted(relevant.values(), key=lambda item: item.turn))),
        )
        answer = caller.ask_optional("insights", messages, Insights, temperature=TEMPERATURE)
        insights = [one for one in answer.insights if one.insight.strip()] if answer is not None else []
        if insights:
            turn = self.path[-1].episode.at
            texts = [f"[insight] {' '.join(one.insight.split())}" for one in insights]
            vectors = self._embedder.embed(texts)
            self._insights[now] = [
                RetrievableItem(text, now, turn, one.importance, vector)
                for text, one, vector in zip(texts, insights, vectors, strict=True)
            ]

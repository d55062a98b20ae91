"""Past moments and the insights drawn from them (Generative Agents; Park et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from worldthread.agents.memory_modules.base import ModuleContext, ObservedStep, Situation, prompt
from worldthread.agents.memory_modules.rag import RagModule, RetrievableItem

THRESHOLD: Final = 150
"""Sum of the importance of what happened after which insights are drawn, as in Park et al."""
LATEST: Final = 100
"""How many of the latest items the questions are asked about."""
PER_QUESTION: Final = 10
TEMPERATURE: Final = 0.4


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
    """:class:`~worldthread.agents.memory_modules.rag.RagModule`, and insights, which are recalled like moments.

    When what happened since the last insights adds up to an importance of ``threshold``, the model asks three questions
    about the latest hundred moments and insights, and concludes up to five insights from what is most relevant for
    them. Two calls then ("questions", "insights"), beside one for each moment ("importance"). Park et al. make a call
    for each question, and one for the importance of each insight; here both are in the one answer.

    Args:
        means: asks the model, embeds.
        count: how many moments and insights are recalled, at least 1.
        threshold: see above.

    Raises:
        InputError: ``count`` is below 1.
    """

    name: ClassVar[str] = "simulacra"

    def __init__(self, means: ModuleContext, *, count: int = 5, threshold: int = THRESHOLD) -> None:
        super().__init__(means, count=count)
        self._threshold = threshold
        self._insights: dict[int, list[RetrievableItem]] = {}  # by the moment at which they were drawn

    def _items_of_way(self) -> list[RetrievableItem]:
        found: list[RetrievableItem] = []
        for seen in self.way:
            found += [self._items[seen.percept.moment], *self._insights.get(seen.percept.moment, ())]
        return found

    def _rate(self, situation: Situation) -> list[RetrievableItem]:
        fresh = super()._rate(situation)
        if self._importance_since(self.way) >= self._threshold:
            self._reflect(situation)
        return fresh

    def _importance_since(self, way: Sequence[ObservedStep]) -> int:
        """Of the moments since the last insights."""
        total = 0
        for seen in reversed(way):
            if seen.percept.moment in self._insights:
                break
            total += self._items[seen.percept.moment].importance
        return total

    def _reflect(self, situation: Situation) -> None:
        now = self.way[-1].percept.moment
        goal = situation.goal or "(none is stated)"
        items = self._items_of_way()
        self._insights[now] = []  # also when nothing comes of it: the next are drawn after as much has happened again
        latest = "\n".join(self._tell(items[-LATEST:]))
        asks = self.means.asks
        asked = asks.advice(
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
            moments="\n".join(self._tell(sorted(relevant.values(), key=lambda item: item.turn))),
        )
        answer = asks.advice("insights", messages, Insights, temperature=TEMPERATURE)
        insights = [one for one in answer.insights if one.insight.strip()] if answer is not None else []
        if insights:
            turn = self.way[-1].episode.at
            texts = [f"[insight] {' '.join(one.insight.split())}" for one in insights]
            vectors = self._embedder.embed(texts)
            self._insights[now] = [
                RetrievableItem(text, now, turn, one.importance, vector)
                for text, one, vector in zip(texts, insights, vectors, strict=True)
            ]

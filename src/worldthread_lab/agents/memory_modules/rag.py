"""Past observations by recency, importance and relevance (Park et al. 2023; "RAG" in the AriGraph paper)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.models.base import embed_queries
from worldthread_lab.agents.base import RecalledItem
from worldthread_lab.agents.memory_modules.base import (
    MemoryModule,
    ModuleContext,
    ObservedStep,
    Situation,
    indented,
    listed,
    prompt,
    render_step,
)

DECAY: Final = 0.99
"""Recency falls by this factor with every move, as in the published code of AriGraph."""
LEAST_IMPORTANCE: Final = 1
"""Importance of an observation whose rating cannot be used, on the scale of 1 to 10."""
IMPORTANCE_TEMPERATURE: Final = 0.4
"""Temperature of the ratings; no source is recorded, chosen by hand."""


class Importance(msgspec.Struct, forbid_unknown_fields=True):
    """How much a moment matters: 1 for everyday, 10 for decisive."""

    importance: Annotated[int, Meta(ge=1, le=10)]


@dataclass(frozen=True)
class RetrievableItem:
    """An observation or an insight that can be recalled.

    Args:
        text: the text.
        moment: number of the state in which it was made.
        turn: its time, in moves from the beginning.
        importance: within [1, 10].
        vector: embedding of the text, a unit vector, shape (dimensions,).
        episode: id of the episode that it renders; ``None`` for an insight.
    """

    text: str
    moment: int
    turn: float
    importance: int
    vector: NDArray[np.float32]
    episode: str | None = None


class RagModule(MemoryModule):
    """Recalls the ``count`` observations of the highest recency + importance + relevance, each scaled to [0, 1].

    Recency is :data:`DECAY` to the power of the moves since (as in the published code of AriGraph; in Park et al. since
    the last retrieval). Importance is the model's rating for the task and the plan when the observation is new.
    Relevance is the similarity with the present observation and the plan. One call of the model for each observation
    ("importance"); one whose rating cannot be used counts as the least important.

    Args:
        context: asks the model, embeds.
        count: how many observations are recalled, at least 1. The default was chosen by hand.
        version: with 1, the rating does not see the plan, as before.

    Raises:
        InputError: ``count`` is below 1, or there is no such version.
    """

    name: ClassVar[str] = "rag"

    def __init__(self, context: ModuleContext, *, count: int = 5, version: int = 2) -> None:
        super().__init__(context)
        if count < 1:
            raise InputError(f"count must be at least 1, not {count}")
        if version not in (1, 2):
            raise InputError(f"version must be 1 or 2, not {version}")
        self._count = count
        self._version = version
        self._embedder = context.load_embedder()
        self._items: dict[int, RetrievableItem] = {}  # by number of the state

    def recall(self, situation: Situation) -> str:
        self._rate(situation)
        shown = {episode.id for episode in situation.shown}
        likely = [item for item in self._items_on_path() if item.episode not in shown]
        query = "\n\n".join(filter(None, (situation.observation, situation.plan)))
        best = self._best(likely, query, self._count)
        self.recalled = tuple(RecalledItem(item.text) for item in best)
        return listed("Moments from the past:", self._render(best))

    def _items_on_path(self) -> list[RetrievableItem]:
        """Return what can be recalled, in order of time."""
        return [self._items[step.percept.moment] for step in self.path]

    def _rate(self, situation: Situation) -> list[RetrievableItem]:
        """Rate and embed the new observations, and return them."""
        fresh = [step for step in self.path if step.percept.moment not in self._items]
        if not fresh:
            return []
        vectors = self._embedder.embed([step.episode.text for step in fresh])
        items = [
            self._item(step, self._importance(step, situation), vector)
            for step, vector in zip(fresh, vectors, strict=True)
        ]
        self._items.update((item.moment, item) for item in items)
        return items

    def _importance(self, step: ObservedStep, situation: Situation) -> int:
        values = {"goal": situation.goal or "(none is stated)", "moment": step.episode.text}
        if self._version > 1:
            values["plan"] = situation.plan or "(none so far)"
        messages = prompt("importance", self._version, **values)
        answer = self.context.caller.ask_optional(
            "importance", messages, Importance, temperature=IMPORTANCE_TEMPERATURE
        )
        return LEAST_IMPORTANCE if answer is None else answer.importance

    def _item(self, step: ObservedStep, importance: int, vector: NDArray[np.float32]) -> RetrievableItem:
        episode = step.episode
        return RetrievableItem(render_step(episode), step.percept.moment, episode.at, importance, vector, episode.id)

    def _best(self, items: Sequence[RetrievableItem], query: str, count: int) -> list[RetrievableItem]:
        """Return the items of the highest score for a query, in order of time."""
        if not items:
            return []
        now = self.path[-1].episode.at
        wanted = embed_queries(self._embedder, [query])[0]
        scores = (
            _scaled([DECAY ** (now - item.turn) for item in items])
            + _scaled([item.importance for item in items])
            + _scaled([float(item.vector @ wanted) for item in items])
        )
        best = np.argsort(-scores, kind="stable")[:count]
        return [items[number] for number in sorted(best.tolist())]

    def _render(self, items: Iterable[RetrievableItem]) -> list[str]:
        return [indented(item.text) for item in items]


def _scaled(values: Sequence[float]) -> NDArray[np.float64]:
    """Return the values scaled to [0, 1] by their extremes; zeros when all are equal."""
    array = np.array(values, np.float64)
    low, high = array.min(), array.max()
    return (array - low) / (high - low) if high > low else np.zeros_like(array)

"""Past moments by recency, importance and relevance (Park et al. 2023, the baseline "RAG" of the AriGraph paper)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from worldthread.agents.base import RecalledItem
from worldthread.agents.memory_modules.base import (
    MemoryModule,
    ModuleContext,
    ObservedStep,
    Situation,
    indented,
    listed,
    prompt,
    told,
)
from worldthread.errors import InputError

DECAY: Final = 0.99
"""Recency falls by this factor with every move, as in the published code of AriGraph."""
LEAST_IMPORTANCE: Final = 1
IMPORTANCE_TEMPERATURE: Final = 0.4


class Importance(msgspec.Struct, forbid_unknown_fields=True):
    """How much a moment matters: 1 for everyday, 10 for decisive."""

    importance: Annotated[int, Meta(ge=1, le=10)]


@dataclass(frozen=True)
class RetrievableItem:
    """Something that can be recalled.

    Args:
        text: in words.
        moment: number of the moment from which it is.
        turn: world time.
        importance: within [1, 10].
        vector: embedding of the text, a unit vector.
        episode: id of the episode that it tells; ``None`` for an insight.
    """

    text: str
    moment: int
    turn: float
    importance: int
    vector: NDArray[np.float32]
    episode: str | None = None


class RagModule(MemoryModule):
    """The ``count`` moments of the highest recency + importance + relevance, each scaled to [0, 1] over all moments.

    Recency is :data:`DECAY` to the power of the moves since (the published code of AriGraph; since the last retrieval
    in Park et al.), importance what the model says when it sees the moment for the first time, relevance the likeness
    with the present observation and the plan. One call for each moment ("importance"); a moment whose rating cannot be
    used counts as the least important.

    Args:
        means: asks the model, embeds.
        count: how many moments are recalled, at least 1.

    Raises:
        InputError: ``count`` is below 1.
    """

    name: ClassVar[str] = "rag"

    def __init__(self, means: ModuleContext, *, count: int = 5) -> None:
        super().__init__(means)
        if count < 1:
            raise InputError(f"count must be at least 1, not {count}")
        self._count = count
        self._embedder = means.load_embedder()
        self._items: dict[int, RetrievableItem] = {}  # by moment

    def recall(self, situation: Situation) -> str:
        self._rate(situation)
        shown = {episode.id for episode in situation.shown}
        likely = [item for item in self._items_of_way() if item.episode not in shown]
        query = "\n\n".join(filter(None, (situation.observation, situation.plan)))
        best = self._best(likely, query, self._count)
        self.recalled = tuple(RecalledItem(item.text) for item in best)
        return listed("Moments from the past:", self._tell(best))

    def _items_of_way(self) -> list[RetrievableItem]:
        """What can be recalled, in order of the moments."""
        return [self._items[seen.percept.moment] for seen in self.way]

    def _rate(self, situation: Situation) -> list[RetrievableItem]:
        """Take in the moments that are new: what became of them."""
        fresh = [seen for seen in self.way if seen.percept.moment not in self._items]
        if not fresh:
            return []
        vectors = self._embedder.embed([seen.episode.text for seen in fresh])
        items = [
            self._item(seen, self._importance(seen, situation), vector)
            for seen, vector in zip(fresh, vectors, strict=True)
        ]
        self._items.update((item.moment, item) for item in items)
        return items

    def _importance(self, seen: ObservedStep, situation: Situation) -> int:
        messages = prompt("importance", goal=situation.goal or "(none is stated)", moment=seen.episode.text)
        answer = self.means.asks.advice("importance", messages, Importance, temperature=IMPORTANCE_TEMPERATURE)
        return LEAST_IMPORTANCE if answer is None else answer.importance

    def _item(self, seen: ObservedStep, importance: int, vector: NDArray[np.float32]) -> RetrievableItem:
        episode = seen.episode
        return RetrievableItem(told(episode), seen.percept.moment, episode.at, importance, vector, episode.id)

    def _best(self, items: Sequence[RetrievableItem], query: str, count: int) -> list[RetrievableItem]:
        """The items of the highest score for a query, in order of time."""
        if not items:
            return []
        now = self.way[-1].episode.at
        wanted = self._embedder.embed([query])[0]
        scores = (
            _scaled([DECAY ** (now - item.turn) for item in items])
            + _scaled([item.importance for item in items])
            + _scaled([float(item.vector @ wanted) for item in items])
        )
        best = np.argsort(-scores, kind="stable")[:count]
        return [items[number] for number in sorted(best.tolist())]

    def _tell(self, items: Iterable[RetrievableItem]) -> list[str]:
        return [indented(item.text) for item in items]


def _scaled(values: Sequence[float]) -> NDArray[np.float64]:
    """``values`` mapped to [0, 1] by their extremes; zeros when all are equal."""
    array = np.array(values, np.float64)
    low, high = array.min(), array.max()
    return (array - low) / (high - low) if high > low else np.zeros_like(array)

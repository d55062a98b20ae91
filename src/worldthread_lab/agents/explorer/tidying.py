"""Guesses from names alone which things are misplaced, and where they belong.

How well a thing fits a piece of furniture is the similarity of its name, in the embedding space, with the furniture in
its room, the room and its other furniture, and the things that are there already. A thing that fits another place much
better than its own is misplaced. No table says which thing belongs where.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldthread.models import Embedder
from worldthread_lab.agents.explorer.settings import TidyingSettings


@dataclass(frozen=True)
class Suggestion:
    """A thing that would be better elsewhere.

    Args:
        thing: name of the thing.
        place: the piece of furniture where it seems to belong.
        gain: how much better it fits there, above the margin; 1 for a thing that lies on no furniture; how well it fits
            there, for a thing that is known to be misplaced.
    """

    thing: str
    place: str
    gain: float


class Tidier:
    """Guesses where things belong.

    Args:
        embedder: embeds the names, each once.
        settings: the weights of the similarities, and the margin.
    """

    def __init__(self, embedder: Embedder, settings: TidyingSettings | None = None) -> None:
        self.settings = settings or TidyingSettings()
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def suggest(
        self,
        things: Mapping[str, str],
        furniture: Mapping[str, str],
        misplaced: Mapping[str, Collection[str]] | None = None,
        margin: float | None = None,
    ) -> list[Suggestion]:
        """Suggest better places for things.

        Args:
            things: thing -> the piece of furniture, or the room, where it is.
            furniture: piece of furniture -> its room.
            misplaced: the things that are known to be misplaced -> places that are not theirs either; ``None``: not
                known, so that the fit decides.
            margin: how much better another place must fit; ``None``: that of the settings.

        Returns:
            The things that fit another place better by more than the margin, the surest first; of things that are
            known to be misplaced, all that have a place left.
        """
        if not things or not furniture:
            return []
        names, places = sorted(things), sorted(furniture)
        fits = self._fits(names, places, things, furniture)
        margin = self.settings.margin if margin is None else margin
        at = {place: number for number, place in enumerate(places)}
        suggestions = []
        for row, name in enumerate(names):
            here = at.get(things[name])
            if misplaced is not None:
                if name not in misplaced:
                    continue
                fits[row, [at[place] for place in (things[name], *misplaced[name]) if place in at]] = -np.inf
                best = int(np.argmax(fits[row]))
                if np.isfinite(fits[row, best]):
                    suggestions.append(Suggestion(name, places[best], float(fits[row, best])))
                continue
            best = int(np.argmax(fits[row]))
            gain = float(fits[row, best] - fits[row, here]) - margin if here is not None else 1.0
            if gain > 0 and best != here:
                suggestions.append(Suggestion(name, places[best], gain))
        return sorted(suggestions, key=lambda s: (-s.gain, s.thing))

    def _fits(
        self, names: list[str], places: list[str], things: Mapping[str, str], furniture: Mapping[str, str]
    ) -> NDArray[np.float64]:
        """Return how well each thing fits each place, shape (things, places)."""
        weights = self.settings
        thing = self._embed(names)
        similarity = (thing @ thing.T).astype(np.float64)
        np.fill_diagonal(similarity, -np.inf)  # a thing is not its own neighbour
        piece = thing @ self._embed([f"{place} in the {furniture[place]}" for place in places]).T
        room = thing @ self._embed([furniture[place] for place in places]).T
        bare = thing @ self._embed(places).T
        fits = weights.furniture_weight * piece + weights.room_weight * room.astype(np.float64)
        for column, place in enumerate(places):
            here = [row for row, name in enumerate(names) if things[name] == place]
            inside = [
                row for row, name in enumerate(names) if furniture.get(things[name], things[name]) == furniture[place]
            ]
            same_room = [other for other, name in enumerate(places) if furniture[name] == furniture[place]]
            fits[:, column] += weights.room_furniture_weight * bare[:, same_room].mean(axis=1)
            fits[:, column] += weights.neighbours_weight * _nearest(
                similarity[:, here], weights.neighbours, weights.unknown_similarity
            )
            fits[:, column] += weights.room_things_weight * _nearest(
                similarity[:, inside], weights.roommates, weights.unknown_similarity
            )
        return fits

    def _embed(self, names: list[str]) -> NDArray[np.float32]:
        new = [name for name in dict.fromkeys(names) if name not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._vectors[name] for name in names])


def _nearest(similarity: NDArray[np.float64], count: int, unknown: float) -> NDArray[np.float64]:
    """Return the mean of the ``count`` greatest finite values of each row; ``unknown`` where there are none."""
    ranked = -np.sort(-similarity, axis=1)[:, :count]
    known = np.isfinite(ranked)
    total = np.where(known, ranked, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), unknown)

"""What lies in the wrong place, and where it belongs: a guess from names alone.

A thing fits a piece of furniture as far as its name is near, in the embedding space, to the furniture in its room, to
the room and its other furniture, and to the things that are there already. What fits some other place much better than
its own is out of place. No table says which thing belongs where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.models import Embedder

WEIGHTS: Final = {"furniture": 0.25, "room": 0.1, "room's furniture": 0.3, "neighbours": 0.2, "room's things": 0.15}
"""How much each kind of nearness counts. Found by random search over generated houses (seeds 101-124)."""
MARGIN: Final = 0.095
"""How much better another place must be."""
_UNKNOWN: Final = 0.2  # nearness to neighbours where there are none
_NEIGHBOURS: Final = 2  # the nearest neighbours that count, on a piece of furniture
_ROOMMATES: Final = 3  # and in a room


@dataclass(frozen=True)
class Suggestion:
    """A thing that would be better elsewhere.

    Args:
        thing: what.
        place: the piece of furniture where it seems to belong.
        gain: how much better it fits there, above :data:`MARGIN`.
    """

    thing: str
    place: str
    gain: float


class Tidier:
    """Guesses where things belong.

    Args:
        embedder: gives names their vectors; each name is embedded once.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def suggest(self, things: Mapping[str, str], furniture: Mapping[str, str]) -> list[Suggestion]:
        """Things that fit another place better by more than :data:`MARGIN`, the surest first.

        Args:
            things: thing -> the piece of furniture, or the room, where it is.
            furniture: piece of furniture -> its room.
        """
        if not things or not furniture:
            return []
        names, places = sorted(things), sorted(furniture)
        fits = self._fits(names, places, things, furniture)
        at = {place: number for number, place in enumerate(places)}
        suggestions = []
        for row, name in enumerate(names):
            best = int(np.argmax(fits[row]))
            here = at.get(things[name])
            gain = float(fits[row, best] - fits[row, here]) - MARGIN if here is not None else 1.0
            if gain > 0 and best != here:
                suggestions.append(Suggestion(name, places[best], gain))
        return sorted(suggestions, key=lambda s: (-s.gain, s.thing))

    def _fits(
        self, names: list[str], places: list[str], things: Mapping[str, str], furniture: Mapping[str, str]
    ) -> NDArray[np.float64]:
        """How well each thing fits each place, shape (things, places)."""
        thing = self._embed(names)
        alike = (thing @ thing.T).astype(np.float64)
        np.fill_diagonal(alike, -np.inf)  # a thing is not its own neighbour
        piece = thing @ self._embed([f"{place} in the {furniture[place]}" for place in places]).T
        room = thing @ self._embed([furniture[place] for place in places]).T
        bare = thing @ self._embed(places).T
        fits = WEIGHTS["furniture"] * piece + WEIGHTS["room"] * room.astype(np.float64)
        for column, place in enumerate(places):
            here = [row for row, name in enumerate(names) if things[name] == place]
            inside = [
                row for row, name in enumerate(names) if furniture.get(things[name], things[name]) == furniture[place]
            ]
            same_room = [other for other, name in enumerate(places) if furniture[name] == furniture[place]]
            fits[:, column] += WEIGHTS["room's furniture"] * bare[:, same_room].mean(axis=1)
            fits[:, column] += WEIGHTS["neighbours"] * _nearest(alike[:, here], _NEIGHBOURS)
            fits[:, column] += WEIGHTS["room's things"] * _nearest(alike[:, inside], _ROOMMATES)
        return fits

    def _embed(self, names: list[str]) -> NDArray[np.float32]:
        new = [name for name in dict.fromkeys(names) if name not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._vectors[name] for name in names])


def _nearest(alike: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The mean of the ``count`` greatest finite values of each row; :data:`_UNKNOWN` where there are none."""
    ranked = -np.sort(-alike, axis=1)[:, :count]
    known = np.isfinite(ranked)
    total = np.where(known, ranked, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), _UNKNOWN)

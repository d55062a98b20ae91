"""The names that statements speak of, for search as one types: in RAM, and brought up to date by what is new."""

from __future__ import annotations

import heapq
import threading
from typing import Final

from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name

STRONGEST: Final = 12
_MOST_LOOKED_AT: Final = 5000  # of the names that hold what is asked for, how many are ranked


class NameIndex:
    """How many statements of any time speak of each name. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graph: TemporalGraph | None = None
        self._counted = 0
        self._weights: dict[str, int] = {}
        self._strongest: list[str] = []

    def update(self, graph: TemporalGraph) -> None:
        """Take in what is new in a graph that nobody changes meanwhile."""
        with self._lock:
            if graph is not self._graph:
                self._graph, self._counted, self._weights, self._strongest = graph, 0, {}, []
            if self._counted == len(graph.statement_numbers):
                return
            weights = self._weights
            touched = set(self._strongest)  # weights only grow: no other name can have become one of the strongest
            for number in graph.statement_numbers[self._counted :]:
                for name in graph.names_of(number):
                    weights[name] = weights.get(name, 0) + 1
                    touched.add(name)
            self._counted = len(graph.statement_numbers)
            self._strongest = heapq.nsmallest(STRONGEST, touched, key=lambda name: (-weights[name], name))

    def __len__(self) -> int:
        """How many names there are; some may have been forgotten."""
        return len(self._weights)

    def weight(self, name: str) -> int:
        """How many statements ever spoke of a normalised name, or did before they were forgotten."""
        return self._weights.get(name, 0)

    @property
    def strongest(self) -> list[str]:
        """The names that most statements speak of, :data:`STRONGEST` of them, the strongest first."""
        return self._strongest

    def matching(self, text: str, number: int) -> list[str]:
        """Names that hold a text: the same name first, those that begin with it, words that do, then all others."""
        key = normalise_name(text)
        if not key:
            return []
        with self._lock:
            found = []
            for name in self._weights:
                if key in name:
                    found.append(name)
                    if len(found) == _MOST_LOOKED_AT:
                        break
            if key in self._weights:  # however many others there are
                found.append(key)
            return heapq.nsmallest(number, set(found), key=lambda name: (*_likeness(name, key), name))


def _likeness(name: str, key: str) -> tuple[int, int]:
    if name == key:
        return 0, 0
    if name.startswith(key):
        return 1, len(name)
    return (2 if f" {key}" in name else 3), len(name)

"""An index of the names in statements, for search while typing; in RAM, and updated incrementally."""

from __future__ import annotations

import heapq
import threading
from typing import Final

from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name

STRONGEST: Final = 12
"""How many of the strongest names are known."""
_MAX_RANKED: Final = 5000  # the most matching names that are ranked


class NameIndex:
    """Counts the statements of any time that mention each name. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graph: TemporalGraph | None = None
        self._numbering = 0
        self._counted = 0
        self._weights: dict[str, int] = {}
        self._strongest: list[str] = []

    def update(self, graph: TemporalGraph) -> None:
        """Add the new statements of a graph, which must be locked against changes."""
        with self._lock:
            if graph is not self._graph or graph.numbering != self._numbering:
                self._numbering = graph.numbering
                self._graph, self._counted, self._weights, self._strongest = graph, 0, {}, []
            if self._counted == len(graph.statement_numbers):
                return
            weights = self._weights
            touched = set(
                self._strongest
            )  # weights only grow, so only these and the counted names can be the strongest
            for number in graph.statement_numbers[self._counted :]:
                for name in graph.names_of(number):
                    weights[name] = weights.get(name, 0) + 1
                    touched.add(name)
            self._counted = len(graph.statement_numbers)
            self._strongest = heapq.nsmallest(STRONGEST, touched, key=lambda name: (-weights[name], name))

    def __len__(self) -> int:
        """Return the number of names; it includes names that were forgotten since."""
        return len(self._weights)

    def weight(self, name: str) -> int:
        """Return the number of statements that mention a normalised name, including forgotten ones."""
        return self._weights.get(name, 0)

    @property
    def strongest(self) -> list[str]:
        """The :data:`STRONGEST` names that most statements mention, the strongest first."""
        return self._strongest

    def matching(self, text: str, number: int) -> list[str]:
        """Return names that contain a text: equal ones first, then prefixes, then prefixes of a word, then others."""
        key = normalise_name(text)
        if not key:
            return []
        with self._lock:
            found = []
            for name in self._weights:
                if key in name:
                    found.append(name)
                    if len(found) == _MAX_RANKED:
                        break
            if key in self._weights:  # even if the limit was reached before it
                found.append(key)
            return heapq.nsmallest(number, set(found), key=lambda name: (*_match_rank(name, key), name))


def _match_rank(name: str, key: str) -> tuple[int, int]:
    if name == key:
        return 0, 0
    if name.startswith(key):
        return 1, len(name)
    return (2 if f" {key}" in name else 3), len(name)

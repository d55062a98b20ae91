"""An index of the names in statements, for search while typing; in RAM, and updated incrementally."""

from __future__ import annotations

import heapq
import threading
from collections import Counter
from itertools import chain, islice
from typing import Final

import numpy as np

from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name

STRONGEST: Final = 12
"""How many of the strongest names are known."""
_MAX_RANKED: Final = 5000  # the most matching names that are ranked
_BREAK: Final = "\n"  # between names, which never contain it


class NameIndex:
    """Counts the statements of any time that mention each name; what was forgotten does not count. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graph: TemporalGraph | None = None
        self._numbering = self._unused = self._changes = -1
        self._counted = 0
        self._uncounted: set[int] = set()  # counted numbers of statements that no episode asserts
        self._weights: Counter[str] = Counter()
        self._strongest: list[str] = []
        self._joined = _BREAK  # all names, each between two breaks
        self._joined_count = 0

    def update(self, graph: TemporalGraph) -> None:
        """Take in the changes of a graph, which must be locked against changes.

        After additions only what is new is counted, after anything else all.
        """
        with self._lock:
            if graph is self._graph and graph.change_count == self._changes:
                return
            is_grown = graph is self._graph and graph.numbering == self._numbering and graph.unused_size == self._unused
            numbers = graph.statement_numbers
            if is_grown and self._weights:
                weights, fresh = self._weights, numbers[self._counted :]
                asserted = set(filter(graph.is_asserted, chain(fresh, self._uncounted)))
                weights.update(added := Counter(chain.from_iterable(set(graph.names_of(one)) for one in asserted)))
                # weights only grow, so only these and the counted names can be the strongest
                touched = {name: weights[name] for name in (*added, *self._strongest)}
                self._uncounted.update(fresh)
                self._uncounted -= asserted
            else:  # somebody waits for the first page, perhaps of a million statements
                touched = graph.name_counts()
                weights = self._weights = Counter(touched)
                self._uncounted = set(np.flatnonzero(~graph.asserted()).tolist())
                self._joined, self._joined_count = _BREAK, 0
            self._graph, self._numbering, self._unused = graph, graph.numbering, graph.unused_size
            self._changes, self._counted = graph.change_count, len(numbers)
            least = heapq.nlargest(STRONGEST, touched.values())[-1:]
            strong = [name for name, weight in touched.items() if weight >= least[0]]
            self._strongest = heapq.nsmallest(STRONGEST, strong, key=lambda name: (-weights[name], name))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._weights)

    def weight(self, name: str) -> int:
        """Return the number of statements that mention a normalised name."""
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
            # one search in one text takes a hundredth of the time of a search in each of a million names
            if self._joined_count < len(self._weights):
                fresh = islice(self._weights, self._joined_count, None)
                self._joined += "".join(f"{name}{_BREAK}" for name in fresh)
                self._joined_count = len(self._weights)
            joined = self._joined
            found = {key} if key in self._weights else set()
            # names that begin with the text first: of a common one, not all the names that contain it are looked at
            for wanted in (_BREAK + key, key):
                place = joined.find(wanted)
                while place >= 0 and len(found) < _MAX_RANKED:
                    begin = joined.rfind(_BREAK, 0, place + 1) + 1
                    end = joined.find(_BREAK, begin)
                    found.add(joined[begin:end])
                    place = joined.find(wanted, end)
            return heapq.nsmallest(number, found, key=lambda name: (*_match_rank(name, key), name))


def _match_rank(name: str, key: str) -> tuple[int, int]:
    if name == key:
        return 0, 0
    if name.startswith(key):
        return 1, len(name)
    return (2 if f" {key}" in name else 3), len(name)

"""A read-only window on a temporal graph: what holds now, or held at one moment of world time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldthread.names import normalise_name
from worldthread.types import Fact, Statement, Thesis, Version

if TYPE_CHECKING:
    from worldthread.graph.temporal import TemporalGraph


class GraphView:
    """What holds in a graph at one moment. Live: it follows later changes of the graph.

    Every list is in a fixed order that depends on content only.

    Args:
        graph: the graph.
        at: a moment of world time; ``None`` for now (statements that have not ended).
    """

    __slots__ = ("_graph", "at")

    def __init__(self, graph: TemporalGraph, at: float | None = None) -> None:
        self._graph = graph
        self.at = at

    def __repr__(self) -> str:
        return f"GraphView(at={'now' if self.at is None else self.at}, episodes={len(self._graph)})"

    def holds(self, statement: Statement) -> bool:
        """Whether ``statement`` holds."""
        number = self._graph._find(statement)
        return number is not None and self._graph._holds(number, self.at)

    def facts(self, subject: str | None = None, relation: str | None = None, object: str | None = None) -> list[Fact]:
        """Facts that hold and have the given names (compared normalised); ``None`` matches any."""
        graph = self._graph
        given = [name for name in (subject, relation, object) if name is not None]
        wanted = [None if name is None else normalise_name(name) for name in (subject, relation, object)]
        candidates = graph._incident_to(*given) if given else range(len(graph._keys))
        strings = graph._strings.items
        found = []
        for number in candidates:
            key = graph._keys[number]
            if key[1] < 0 or not graph._holds(number, self.at):
                continue
            names = tuple(strings[part] for part in key)
            if all(w is None or w == name for w, name in zip(wanted, names, strict=True)):
                found.append((names, number))
        found.sort()
        return [fact for _, number in found if isinstance(fact := graph._display(number), Fact)]

    def theses(self, about: str | None = None) -> list[Thesis]:
        """Theses that hold, all or those tied to the object ``about``."""
        graph = self._graph
        numbers = range(len(graph._keys)) if about is None else graph._incident_to(about)
        shown = [
            graph._display(number) for number in numbers if graph._keys[number][1] < 0 and graph._holds(number, self.at)
        ]
        return sorted((s for s in shown if isinstance(s, Thesis)), key=lambda s: s.key)

    def value(self, subject: str, relation: str) -> str | None:
        """The object of the only fact (``subject``, ``relation``, ...) that holds; ``None`` when there is none.

        With several, the first in order of names.
        """
        found = self.facts(subject, relation)
        return found[0].object if found else None

    def about(self, name: str) -> list[Statement]:
        """Facts and theses that hold and have ``name`` as subject, object or object of a thesis."""
        facts = {fact.key: fact for fact in (*self.facts(subject=name), *self.facts(object=name))}
        return [*(facts[key] for key in sorted(facts)), *self.theses(about=name)]

    def timeline(self, name: str) -> list[Version]:
        """Every version of every statement about ``name`` that has begun by the moment of this view, by time."""
        graph = self._graph
        found: list[Version] = []
        for number in graph.numbers_about(name):
            found += graph._versions_of(number)
        if self.at is not None:
            found = [version for version in found if version.interval.valid_from <= self.at]
        return sorted(found, key=lambda v: (v.interval, str(v.statement), v.sources))

"""What holds at one world time, read from a mirror in a graph database: no memory is needed to look at it."""

from __future__ import annotations

import math
from typing import Any, Final, LiteralString

from worldthread.errors import StoreError
from worldthread.graph.view import statements_about
from worldthread.mirror.graph_server import GraphServer
from worldthread.names import normalise_name
from worldthread.support.arguments import require_finite, require_query
from worldthread.types import Fact, Interval, Statement, Thesis

_PAGE: Final = 2000  # rows that are read at once
_FACT: Final[LiteralString] = "a.id, e.relation, b.id, e.begin_exact, e.end_exact"
_ALL_FACTS: Final[LiteralString] = (
    "MATCH (a:Object {memory: $memory})-[e:FACT]->(b:Object) WHERE id(e) > $after "
    f"RETURN {_FACT}, id(e) ORDER BY id(e) LIMIT $limit"
)
_FACTS_FROM: Final[LiteralString] = (
    f"MATCH (a:Object {{memory: $memory, id: $name}})-[e:FACT]->(b:Object) RETURN {_FACT}"
)
_FACTS_TO: Final[LiteralString] = f"MATCH (a:Object)-[e:FACT]->(b:Object {{memory: $memory, id: $name}}) RETURN {_FACT}"
_ALL_THESES: Final[LiteralString] = (
    "MATCH (:Episode {memory: $memory})-[e:STATES]->(t:Thesis) WHERE id(e) > $after "
    "RETURN t.id, t.text, e.begin_exact, e.end_exact, id(e) ORDER BY id(e) LIMIT $limit"
)
_THESES_ABOUT: Final[LiteralString] = (
    "MATCH (t:Thesis)-[:ABOUT]->(:Object {memory: $memory, id: $name}) "
    "MATCH (:Episode)-[e:STATES]->(t) RETURN t.id, t.text, e.begin_exact, e.end_exact"
)
_OBJECTS: Final[LiteralString] = (
    "UNWIND $ids AS wanted MATCH (t:Thesis {memory: $memory, id: wanted})-[:ABOUT]->(b:Object) RETURN t.id, b.id"
)
_LATEST: Final[LiteralString] = (
    "MATCH (n:Episode {memory: $memory}) WITH max(n.at) AS latest "
    "MATCH (n:Episode {memory: $memory}) WHERE n.at = latest RETURN n.at_exact LIMIT 1"
)
_STATE: Final[LiteralString] = "MATCH (n:Mirror {memory: $memory}) RETURN n.state_hash"


class MirrorView:
    """What the mirror of a memory shows for one world time, asked as a :class:`~worldthread.graph.GraphView` is.

    Every question asks the database; nothing is kept between two of them. The statements equal those of the memory.
    Names are shown normalised, since a mirror holds no others, and a name that was merged is found under the name that
    it was merged into.

    Args:
        graph: the database.
        name: the name of the mirror.
        at: a world time; ``None`` for now, as for a :class:`~worldthread.graph.GraphView`.

    Raises:
        InputError: the name is empty, or ``at`` is not a finite number.
        StoreError: there is no such mirror, or an update of it is not complete.
    """

    def __init__(self, graph: GraphServer, name: str, at: float | None = None) -> None:
        self._graph = graph
        self._name = require_query(name, "the name of a mirror")
        self.at = None if at is None else require_finite(at, "at")
        rows = self._run(_STATE)
        if not rows or not rows[0][0]:
            missing = "is not complete" if rows else "is not there"
            raise StoreError(f"the mirror {name!r} {missing}: update it with `worldthread mirror`", path=graph.address)

    def __repr__(self) -> str:
        return f"MirrorView({self._name!r}, at={'now' if self.at is None else f'{self.at:g}'})"

    def holds(self, statement: Statement) -> bool:
        """Return whether a statement holds.

        Args:
            statement: a fact or a thesis, in any spelling.

        Returns:
            ``True`` when it holds at the time of this view.
        """
        if isinstance(statement, Fact):
            return bool(self.facts(*statement.key))
        about = statement.key[1]
        return statement in (self.theses(about[0]) if about else self.theses())

    def facts(self, subject: str | None = None, relation: str | None = None, object: str | None = None) -> list[Fact]:
        """Return the facts that hold and have the given names.

        Args:
            subject: name of the subject; ``None`` matches any.
            relation: name of the relation; ``None`` matches any.
            object: name of the object; ``None`` matches any.

        Returns:
            The facts, sorted by normalised subject, relation and object.
        """
        wanted = tuple(None if name is None else normalise_name(name) for name in (subject, relation, object))
        if wanted[0] is not None:
            rows = self._run(_FACTS_FROM, name=wanted[0])
        elif wanted[2] is not None:
            rows = self._run(_FACTS_TO, name=wanted[2])
        else:
            rows = self._pages(_ALL_FACTS)
        now = self._now()
        found: dict[tuple[str, str, str], Fact] = {}
        for begin_name, named, end_name, begin, end in rows:
            fact = Fact(begin_name, named, end_name)
            if self._covers(begin, end, now) and all(
                name is None or name == own for name, own in zip(wanted, fact.key, strict=True)
            ):
                found[fact.key] = fact
        return [found[key] for key in sorted(found)]

    def theses(self, about: str | None = None) -> list[Thesis]:
        """Return the theses that hold.

        Args:
            about: only those tied to this object; ``None`` for all.

        Returns:
            The theses, sorted by normalised text and objects.
        """
        rows = self._pages(_ALL_THESES) if about is None else self._run(_THESES_ABOUT, name=normalise_name(about))
        now = self._now()
        texts = {id_: text for id_, text, begin, end in rows if self._covers(begin, end, now)}
        objects: dict[str, list[str]] = {id_: [] for id_ in texts}
        ids = list(texts)
        for start in range(0, len(ids), _PAGE):
            for id_, name in self._run(_OBJECTS, ids=ids[start : start + _PAGE]):
                objects[id_].append(name)
        found = [Thesis(text, tuple(sorted(objects[id_]))) for id_, text in texts.items()]
        return sorted(found, key=lambda thesis: thesis.key)

    def about(self, name: str) -> list[Statement]:
        """Return the statements that hold and have ``name`` as subject, object or object of a thesis.

        Args:
            name: a name in any spelling.

        Returns:
            The facts, sorted by normalised names, then the theses, sorted by normalised text.
        """
        return statements_about(self, name)

    def neighbours(self, name: str) -> list[str]:
        """Return the names that a statement that holds ties to a name: the step of a traversal.

        Args:
            name: a name in any spelling.

        Returns:
            The normalised names, sorted, without the name itself.
        """
        found: set[str] = set()
        for statement in self.about(name):
            found.update(statement.key[::2] if isinstance(statement, Fact) else statement.key[1])
        return sorted(found - {normalise_name(name)})

    def _covers(self, begin: str | None, end: str | None, now: float) -> bool:
        valid_from = -math.inf if begin is None else float(begin)
        valid_to = math.inf if end is None else float(end)
        if self.at is not None:
            return self.at in Interval(valid_from, valid_to)
        return valid_from < valid_to > now  # what was called off never begins

    def _now(self) -> float:
        """Return the time of the latest episode."""
        rows = self._run(_LATEST) if self.at is None else []
        return float(rows[0][0]) if rows else -math.inf

    def _pages(self, query: LiteralString) -> list[list[Any]]:
        """Return all rows of a question whose last column is the number after which the next page begins."""
        found: list[list[Any]] = []
        after = -1
        while rows := self._run(query, after=after, limit=_PAGE):
            found += [row[:-1] for row in rows]
            after = rows[-1][-1]
        return found

    def _run(self, query: LiteralString, **parameters: Any) -> list[list[Any]]:
        return self._graph.run(query, memory=self._name, **parameters)

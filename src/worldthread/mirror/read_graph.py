"""The graph of a mirror, read as a whole: the methods of retrieval walk over it as over the graph of a memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, LiteralString, cast

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import StoreError
from worldthread.graph import TemporalGraph
from worldthread.graph.episodes import EpisodeRecord
from worldthread.graph.statements import ShownStatements
from worldthread.mirror.graph_server import GraphServer
from worldthread.mirror.tables import ABOUT, EPISODE, FACT, STATES, THESIS, MirrorTable, Row
from worldthread.models import Embedder
from worldthread.provenance import Labels, Provenance
from worldthread.retrieve import RetrievalIndex
from worldthread.types import Fact, Interval, Statement, Thesis

_PAGE: Final = 5000  # rows that are read at once
_STATE: Final[LiteralString] = "MATCH (n:Mirror {memory: $memory}) RETURN n.state_hash"


@dataclass
class _Mirrored:
    """A statement in a mirror.

    Args:
        statement: as it is shown.
        names: normalised names of its vertices, after merges.
        intervals: when it held.
        sources: ids of the episodes that assert it, each once.
    """

    statement: Statement
    names: tuple[str, ...]
    intervals: list[Interval] = field(default_factory=list)
    sources: dict[str, None] = field(default_factory=dict)


class MirroredGraph:
    """What a mirror holds, with the part of a :class:`~worldthread.graph.TemporalGraph` that retrieval reads.

    It is read once, kind by kind, and does not follow later updates of the mirror.

    Args:
        graph: the database.
        name: the name of the mirror.

    Raises:
        StoreError: there is no such mirror, an update of it is not complete, or an older release wrote it.
    """

    change_count: Final = 0
    numbering: Final = 0
    filled: Final = ()

    def __init__(self, graph: GraphServer, name: str) -> None:
        self._graph = graph
        self._name = name
        rows = graph.run(_STATE, memory=name)
        if not rows or not rows[0][0]:
            missing = "is not complete" if rows else "is not there"
            raise StoreError(f"the mirror {name!r} {missing}: update it with `worldthread mirror`", path=graph.address)
        self._episodes = [_episode_of(row) for row in self._read(EPISODE)]
        self._numbers = {record.id: number for number, (record, _) in enumerate(self._episodes)}
        mirrored = {**self._theses(), **self._facts()}
        self._statements = list(mirrored.values())
        self._stated: list[list[int]] = [[] for _ in self._episodes]
        for number, one in enumerate(self._statements):
            for source in one.sources:
                self._stated[self._numbers[source]].append(number)
        self._now = max((record.at for record, _ in self._episodes), default=-math.inf)

    def _read(self, table: MirrorTable) -> list[Row]:
        found: list[Row] = []
        after = -1
        names = (*table.properties, "from_id", "to_id") if table.is_edge else table.properties
        while rows := self._graph.run(table.read, memory=self._name, after=after, limit=_PAGE):
            found += [dict(zip(names, values[:-1], strict=True)) for values in rows]
            after = rows[-1][-1]
        return found

    def _user(self, episode_id: str) -> str:
        return self._record(episode_id).provenance.labels.user

    def _theses(self) -> dict[tuple[str, str], _Mirrored]:
        """Return the theses by id and user."""
        about: dict[str, list[str]] = {}
        for row in self._read(ABOUT):
            about.setdefault(row["from_id"], []).append(row["to_id"])
        shown = {}
        for row in self._read(THESIS):
            thesis = Thesis(row["text"], tuple(row["objects"] or ()))
            self._require_id(thesis, row["id"])
            shown[thesis.id] = thesis
        found: dict[tuple[str, str], _Mirrored] = {}
        for row in self._read(STATES):
            id_ = row["to_id"]
            names = tuple(sorted(about.get(id_, ())))
            one = found.setdefault((id_, self._user(row["from_id"])), _Mirrored(shown[id_], names))
            one.intervals.append(_interval_of(row))
            one.sources[row["from_id"]] = None
        order = {id_: number for number, id_ in enumerate(shown)}
        return {key: found[key] for key in sorted(found, key=lambda key: (order[key[0]], key[1]))}

    def _facts(self) -> dict[tuple[str, str], _Mirrored]:
        """Return the facts by id and user."""
        found: dict[tuple[str, str], _Mirrored] = {}
        for row in sorted(self._read(FACT), key=lambda row: str(row["id"])):  # the first version is how it is shown
            id_ = row["id"].partition("#")[0]
            user = self._user(row["sources"][0])
            one = found.get((id_, user))
            if one is None:
                fact = _fact_of(row, id_)
                self._require_id(fact, id_)
                one = found[id_, user] = _Mirrored(fact, (row["from_id"], row["to_id"]))
            one.intervals.append(_interval_of(row))
            one.sources |= dict.fromkeys(row["sources"])
        return found

    def _require_id(self, statement: Statement, id_: str) -> None:
        if statement.id != id_:
            raise StoreError(
                f"the mirror {self._name!r} holds a statement that an older release wrote: update it with `worldthread"
                " mirror`",
                path=self._graph.address,
            )

    # -- what retrieval reads of a graph ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of episodes."""
        return len(self._episodes)

    @property
    def episode_numbers(self) -> range:
        """The numbers of the episodes."""
        return range(len(self._episodes))

    @property
    def live_episodes(self) -> range:
        """The same: a mirror holds no forgotten ones."""
        return self.episode_numbers

    @property
    def statement_numbers(self) -> range:
        """The numbers of the statements."""
        return range(len(self._statements))

    def numbered_episode(self, number: int) -> EpisodeRecord:
        """Return what a mirror holds of an episode, but for its text."""
        return self._episodes[number][0]

    def numbered_statement(self, number: int) -> Statement:
        """Return a statement."""
        return self._statements[number].statement

    def statement_id(self, number: int) -> str:
        """Return the id of a statement."""
        return self._statements[number].statement.id

    def statements_of_all(self, episodes: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return how many statements each of some episodes asserts, and their numbers, episode after episode."""
        stated = [self._stated[number] for number in episodes.tolist()]
        return np.array(list(map(len, stated)), np.int64), np.array(list(chain.from_iterable(stated)), np.int32)

    def shown_statements(self, statements: NDArray[np.integer[Any]]) -> ShownStatements:
        """Return statements in words."""
        shown = [self._statements[number].statement for number in statements.tolist()]
        objects = {place: one.objects for place, one in enumerate(shown) if isinstance(one, Thesis)}
        return ShownStatements(statements.astype(np.int64), list(map(str, shown)), objects)

    def statement_id_heads(self, statements: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """Return the first 64 bits of the ids of statements."""
        return np.array([int(self.statement_id(number)[:16], 16) for number in statements.tolist()], np.uint64)

    def names_of_facts(self, facts: NDArray[np.integer[Any]]) -> tuple[list[str], NDArray[np.int64]]:
        """Return distinct names, and the places among them of the subject and the object of each fact."""
        places: dict[str, int] = {}
        ends = [places.setdefault(name, len(places)) for number in facts.tolist() for name in self.names_of(number)]
        return list(places), np.array(ends, np.int64).reshape(-1, 2)

    def are_facts(self, statements: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return of statements whether they are facts."""
        return np.array(list(map(self.is_fact, statements.tolist())), bool)

    def is_fact(self, number: int) -> bool:
        """Return whether a statement is a fact."""
        return isinstance(self._statements[number].statement, Fact)

    def names_of(self, number: int) -> tuple[str, ...]:
        """Return the normalised names of the vertices of a statement."""
        return self._statements[number].names

    def statements_of(self, episode: int) -> list[int]:
        """Return the numbers of the statements that an episode asserts, each once."""
        return self._stated[episode]

    def statement_holds(self, number: int, at: float | None = None) -> bool:
        """Return whether a statement holds at a world time; ``None`` for now."""
        return any(
            at in interval if at is not None else interval.valid_from < interval.valid_to > self._now
            for interval in self._statements[number].intervals
        )

    def view(self, at: float | None = None) -> None:
        """Return nothing: a mirror is looked at through :class:`~worldthread.mirror.MirrorView`."""

    def episode_columns(self) -> tuple[Sequence[float], Sequence[int], Sequence[float | None]]:
        """Return world times, numbers of sources and recorded times, which a mirror does not hold, of all episodes."""
        sources: dict[str, int] = {}
        numbers = [sources.setdefault(record.source, len(sources)) for record, _ in self._episodes]
        return [record.at for record, _ in self._episodes], numbers, [None] * len(self)

    def talks(self, start: int) -> list[int]:
        """Return for the episodes from a number on which source and user they have, as one number."""
        talks: dict[tuple[str, str], int] = {}
        pairs = [(record.source, record.provenance.labels.user) for record, _ in self._episodes]
        return [talks.setdefault(pair, len(talks)) for pair in pairs][start:]

    def texts_of(self, ids: Sequence[str]) -> list[str]:
        """Return the texts of episodes by their ids."""
        return [self._episodes[self._numbers[id_]][1] for id_ in ids]

    def _record(self, id_: str) -> EpisodeRecord:
        return self._episodes[self._numbers[id_]][0]


def mirror_index(graph: GraphServer, name: str, embedder: Embedder) -> RetrievalIndex:
    """Read a mirror, embed what it says, and return the index that the methods of retrieval search.

    Args:
        graph: the database.
        name: the name of the mirror.
        embedder: embeds the texts of episodes and the statements in words.

    Returns:
        The index. PersonalAI's methods find in it what they find in that of the memory.

    Raises:
        StoreError: see :class:`MirroredGraph`.
    """
    mirrored = MirroredGraph(graph, name)
    index = RetrievalIndex(embedder)
    read = cast("TemporalGraph", mirrored)  # all that retrieval calls is there
    while pending := index.take(read, mirrored.texts_of):
        for part in pending:
            index.put(part, embedder.embed(part.texts))
    return index


def _episode_of(row: Row) -> tuple[EpisodeRecord, str]:
    labels = Labels(row["user"] or "", row["agent"] or "", row["session"] or "")
    provenance = Provenance(row["speaker"] or "", labels)
    record = EpisodeRecord(row["id"], float(row["at_exact"]), row["source"] or "", None, provenance=provenance)
    return record, row["text"]


def _interval_of(row: dict[str, Any]) -> Interval:
    begin, end = row["begin_exact"], row["end_exact"]
    return Interval(-math.inf if begin is None else float(begin), math.inf if end is None else float(end))


def _fact_of(row: dict[str, Any], id_: str) -> Fact:
    """Return the fact of an edge in the spelling of its text, which does not say where its names end."""
    text, middle = row["text"], f", {row['relation']}, "
    at = text.find(middle)
    while at >= 0:
        fact = Fact(text[:at], row["relation"], text[at + len(middle) :])
        if fact.id == id_:
            return fact
        at = text.find(middle, at + 1)
    return Fact(row["from_id"], row["relation"], row["to_id"])

"""The index of a graph: what retrieval computes on, as arrays, kept up to date as the graph grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.models import Embedder
from worldthread.vectors.exact import VectorTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BATCH: Final = 512  # texts embedded at a time
_FIRST_SLOTS: Final = 256


class _Pairs:
    """Pairs of numbers that grow at the end: shape (n, 2)."""

    __slots__ = ("_count", "_items")

    def __init__(self) -> None:
        self._items = np.zeros((_FIRST_SLOTS, 2), np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def extend(self, pairs: Sequence[tuple[int, int]]) -> None:
        count = self._count + len(pairs)
        if count > len(self._items):
            grown = np.zeros((max(count, 2 * len(self._items)), 2), np.int32)
            grown[: self._count] = self._items[: self._count]
            self._items = grown
        if pairs:
            self._items[self._count : count] = pairs
        self._count = count

    @property
    def columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self._items[: self._count, 0], self._items[: self._count, 1]


@dataclass(frozen=True)
class Links:
    """Who speaks of what, as sparse matrices of ones (CSR), all of the same moment.

    Args:
        statements_of_episode: (episodes, statements).
        episodes_of_statement: its transpose.
        names_of_episode: (episodes, names): the episode asserts a statement about the object.
        episodes_of_name: its transpose.
        names_of_statement: (statements, names).
    """

    statements_of_episode: csr_array
    episodes_of_statement: csr_array
    names_of_episode: csr_array
    episodes_of_name: csr_array
    names_of_statement: csr_array


@dataclass(frozen=True)
class Pending:
    """Texts without their vectors: row ``numbers[i]`` of ``table`` is to hold that of ``texts[i]``."""

    table: VectorTable
    numbers: NDArray[np.int64]
    texts: list[str]


def _batched(table: VectorTable, items: list[tuple[int, str]]) -> Iterator[Pending]:
    for start in range(0, len(items), _BATCH):
        batch = items[start : start + _BATCH]
        yield Pending(table, np.array([number for number, _ in batch], np.int64), [text for _, text in batch])


class Corpus:
    """Vectors and links of everything in one graph, by the numbers that the graph gives.

    Args:
        embedder: makes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._graph: TemporalGraph | None = None
        self._change_count = -1
        self._reset()

    def _reset(self) -> None:
        self.episodes = VectorTable(self.embedder.dimensions)
        """A vector for the text of every episode."""
        self.statements = VectorTable(self.embedder.dimensions)
        """A vector for every statement in words."""
        self.names: list[str] = []
        """Normalised names of the objects, by number."""
        self._name_numbers: dict[str, int] = {}
        self._of_episode = _Pairs()  # (episode, statement)
        self._of_statement = _Pairs()  # (statement, name)
        self._links: tuple[tuple[int, int], Links] | None = None

    @property
    def graph(self) -> TemporalGraph:
        """The graph that was taken in last."""
        assert self._graph is not None, "take a graph in first"
        return self._graph

    def find_name(self, key: str) -> int | None:
        """The number of an object by its normalised name."""
        return self._name_numbers.get(key)

    def take(self, graph: TemporalGraph, texts: Callable[[Sequence[str]], Iterable[str]]) -> list[Pending]:
        """Take in what is new in ``graph``, all but the vectors: what has to be embedded and :meth:`put`.

        Args:
            graph: another one than before starts the index over.
            texts: gives the texts of episodes by their ids, in the same order.
        """
        if graph is not self._graph:
            self._reset()
            self._graph = graph
        elif graph.change_count == self._change_count:
            return []
        self._link(graph)
        pending = [*self._missing_statements(graph), *self._missing_episodes(graph, texts)]
        if not pending:
            self._change_count = graph.change_count
        return pending

    def put(self, pending: Pending, vectors: NDArray[np.float32]) -> None:
        """Set the vectors of what was pending; shape (len(pending.texts), dimensions)."""
        pending.table.put(pending.numbers, vectors)

    def _link(self, graph: TemporalGraph) -> None:
        self._of_episode.extend(
            [
                (episode, statement)
                for episode in graph.episode_numbers[len(self.episodes) :]
                for statement in dict.fromkeys(graph.statements_of(episode))
            ]
        )
        self._of_statement.extend(
            [
                (statement, self._name_number(name))
                for statement in graph.statement_numbers[len(self.statements) :]
                for name in dict.fromkeys(graph.names_of(statement))
            ]
        )
        self.episodes.extend(len(graph.episode_numbers))
        self.statements.extend(len(graph.statement_numbers))

    def _name_number(self, name: str) -> int:
        number = self._name_numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def _missing_statements(self, graph: TemporalGraph) -> Iterator[Pending]:
        shown = [(number, graph.numbered_statement(number)) for number in self.statements.missing()]
        present = [(number, str(statement)) for number, statement in shown if statement is not None]
        return _batched(self.statements, present)

    def _missing_episodes(
        self, graph: TemporalGraph, texts: Callable[[Sequence[str]], Iterable[str]]
    ) -> Iterator[Pending]:
        shown = [(number, graph.numbered_episode(number)) for number in self.episodes.missing()]
        present = [(number, record.id) for number, record in shown if record is not None]
        found = texts([id_ for _, id_ in present])
        return _batched(self.episodes, [(number, text) for (number, _), text in zip(present, found, strict=True)])

    @property
    def links(self) -> Links:
        """Who speaks of what."""
        shape = (len(self.episodes), len(self.statements))
        if self._links is None or self._links[0] != shape:
            self._links = shape, self._make_links()
        return self._links[1]

    def _make_links(self) -> Links:
        from scipy.sparse import csr_array

        def ones(pairs: _Pairs, rows: int, columns: int) -> Any:
            first, second = pairs.columns
            return csr_array((np.ones(len(pairs), np.float32), (first, second)), shape=(rows, columns))

        statements_of_episode = ones(self._of_episode, len(self.episodes), len(self.statements))
        names_of_statement = ones(self._of_statement, len(self.statements), len(self.names))
        names_of_episode = (statements_of_episode @ names_of_statement).tocsr()
        names_of_episode.data[:] = 1
        return Links(
            statements_of_episode,
            statements_of_episode.T.tocsr(),
            names_of_episode,
            names_of_episode.T.tocsr(),
            names_of_statement,
        )

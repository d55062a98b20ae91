"""The index of a graph: what retrieval computes on, kept up to date as the graph grows.

Only what can lead from one episode to another is a *name* here: the ends of facts, objects of theses that are written
like a name or a number (with a capital or a digit), and titles. Common nouns of theses are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.prose.entities import topic_of
from worldthread.extract.prose.sentences import title_of
from worldthread.graph import TemporalGraph
from worldthread.graph.columns import pack_strings, unpack_strings
from worldthread.models import Embedder
from worldthread.names import normalise_name
from worldthread.retrieve.integer_table import IntegerTable
from worldthread.retrieve.lexical import LexicalIndex
from worldthread.retrieve.links import Links, make_links
from worldthread.retrieve.names import NameTable
from worldthread.types import Fact, Statement
from worldthread.vectors.exact import VectorTable
from worldthread.vectors.quantised import QuantisedTable

FORMAT: Final = 2
"""Version of the arrays of :meth:`RetrievalIndex.to_arrays`, and of the rules by which names and words are found."""

EXACT_ROWS: Final = 10_000
"""Tables with more rows are quantised, which is several times as fast and finds the same."""

Table: TypeAlias = VectorTable | QuantisedTable

_BATCH: Final = 512  # texts embedded at a time


@dataclass(frozen=True)
class PendingVectors:
    """Texts without their vectors: row ``numbers[i]`` of ``table`` is to hold that of ``texts[i]``."""

    table: Table
    numbers: NDArray[np.int64]
    texts: list[str]


class RetrievalIndex:
    """Vectors, names and words of everything in one graph, by the numbers that the graph gives.

    Args:
        embedder: says how long a vector is; :meth:`take` tells what to embed.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._dimensions = embedder.dimensions
        self._graph: TemporalGraph | None = None
        self._reset()

    def _reset(self) -> None:
        self._change_count = -1
        self.episodes: Table = VectorTable(self._dimensions)
        """A vector for the text of every episode."""
        self.statements: Table = VectorTable(self._dimensions)
        """A vector for every statement in words."""
        self._are_facts = np.zeros(0, bool)
        self.episode_ties = np.zeros(0, np.uint64)
        """A number for every episode that depends on its id alone: the order of what is equal otherwise."""
        self.statement_ties = np.zeros(0, np.uint64)
        """The same for every statement."""
        self.vocabulary: dict[str, int] = {}
        """Every word of a text or a name, with its number."""
        self.names = NameTable(self.vocabulary)
        """The objects that can be named."""
        self._asserted = IntegerTable(2)  # (episode, statement), episodes ascending
        self._mentioned = IntegerTable(3)  # (episode, name, whether it is the title), episodes ascending
        self.episode_words = LexicalIndex(self.vocabulary)
        """How often the text of every episode has every word."""
        self.statement_words = LexicalIndex(self.vocabulary)
        """How often every statement in words has every word."""
        self._saved = 0
        self._entered = 0  # episodes before this number are in the tables above
        self.derived: dict[str, Any] = {}
        """What methods computed from the index and keep; emptied whenever the graph changes."""
        self._links: Links | None = None

    @property
    def graph(self) -> TemporalGraph:
        """The graph that was taken in last."""
        assert self._graph is not None, "take a graph in first"
        return self._graph

    def take(self, graph: TemporalGraph, texts: Callable[[Sequence[str]], Iterable[str]]) -> list[PendingVectors]:
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
        self.episodes = _extended(self.episodes, len(graph.episode_numbers))
        self.statements = _extended(self.statements, len(graph.statement_numbers))
        missing = [
            (number, record.id)
            for number in self.episodes.missing()
            if (record := graph.numbered_episode(number)) is not None
        ]
        told = [(number, text) for (number, _), text in zip(missing, texts([i for _, i in missing]), strict=True)]
        for number, text in told:
            if number >= self._entered:
                self._enter(number, text, graph)
        self._entered = len(self.episodes)
        shown = [(number, graph.numbered_statement(number)) for number in self.statements.missing()]
        said = [(number, str(statement)) for number, statement in shown if statement is not None]
        self.episode_ties = _with_ties(self.episode_ties, len(self.episodes), missing)
        for number, words in said:
            self.statement_words.add(number, words)
        ids = [(number, statement.id) for number, statement in shown if statement is not None]
        self.statement_ties = _with_ties(self.statement_ties, len(self.statements), ids)
        pending = [*_batched(self.statements, said), *_batched(self.episodes, told)]
        if not pending:
            self._change_count = graph.change_count
        self._links = None
        self.derived.clear()
        return pending

    @property
    def are_facts(self) -> NDArray[np.bool_]:
        """By the number of a statement, whether it is a fact, not a thesis."""
        count, known = len(self.statements), len(self._are_facts)
        if known < count:
            later = [self.graph.is_fact(number) for number in range(known, count)]
            self._are_facts = np.concatenate((self._are_facts, later))
        return self._are_facts

    def put(self, pending: PendingVectors, vectors: NDArray[np.float32]) -> None:
        """Set the vectors of what was pending; shape (len(pending.texts), dimensions)."""
        pending.table.put(pending.numbers, vectors)

    @property
    def unsaved(self) -> int:
        """How many episodes and statements came since :meth:`of_arrays`, or since the beginning."""
        return len(self.episodes) + len(self.statements) - self._saved

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All of the index, vectors in half precision."""
        self._saved = len(self.episodes) + len(self.statements)
        return {
            "format": np.array([FORMAT], np.int64),
            **_table_to_arrays("episodes", self.episodes),
            **_table_to_arrays("statements", self.statements),
            "are_facts": self.are_facts,
            "episode_ties": self.episode_ties,
            "statement_ties": self.statement_ties,
            "asserted": self._asserted.rows,
            "mentioned": self._mentioned.rows,
            "episode_words": self.episode_words.rows.rows,
            "statement_words": self.statement_words.rows.rows,
            "vocabulary": pack_strings(list(self.vocabulary)),
            "names": pack_strings(self.names.names),
            "name_words": self.names.words.rows,
            "within": self.names.within.rows,
        }

    def restore(self, graph: TemporalGraph, arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Begin with what :meth:`to_arrays` gave for ``graph`` as it was, by the same numbers: whether it fits."""
        try:
            if int(arrays["format"][0]) != FORMAT or arrays["episodes"].shape[1] != self._dimensions:
                return False
            self._reset()
            self.episodes = _table_of_arrays("episodes", arrays)
            self.statements = _table_of_arrays("statements", arrays)
            self._are_facts = np.array(arrays["are_facts"])
            self.episode_ties, self.statement_ties = (
                np.array(arrays["episode_ties"]),
                np.array(arrays["statement_ties"]),
            )
            self._asserted = IntegerTable.of(arrays["asserted"])
            self._mentioned = IntegerTable.of(arrays["mentioned"])
            self.vocabulary = {word: number for number, word in enumerate(unpack_strings(arrays["vocabulary"]))}
            names = unpack_strings(arrays["names"])
            self.episode_words = LexicalIndex.of(self.vocabulary, arrays["episode_words"])
            self.statement_words = LexicalIndex.of(self.vocabulary, arrays["statement_words"])
            self.names = NameTable.of(self.vocabulary, names, arrays["name_words"], arrays["within"])
        except (KeyError, ValueError, IndexError):
            self._reset()
            return False
        self._entered = len(self.episodes)
        self._saved = len(self.episodes) + len(self.statements)
        self._graph = graph
        return True

    def _enter(self, number: int, text: str, graph: TemporalGraph) -> None:
        """Note the statements, names and words of an episode."""
        statements = dict.fromkeys(graph.statements_of(number))
        self._asserted.extend([(number, statement) for statement in statements])
        mentioned = dict.fromkeys(
            (self.names.number(key) for statement in statements for key in _names(graph.numbered_statement(statement))),
            0,
        )
        title, _ = title_of(text)
        if title is not None:
            mentioned |= dict.fromkeys(map(self.names.number, _names_of_title(title)), 1)
        self._mentioned.extend([(number, name, is_title) for name, is_title in mentioned.items()])
        self.episode_words.add(number, text)

    @property
    def links(self) -> Links:
        """Who speaks of what, with weights; of the episodes that are in the graph now."""
        if self._links is None:
            graph = self.graph
            present = np.ones(len(self.episodes), bool)
            if len(graph) < len(present):
                present[:] = [graph.numbered_episode(number) is not None for number in range(len(present))]
            self._links = make_links(
                present,
                len(self.statements),
                asserted=self._asserted.rows,
                mentioned=self._mentioned.rows,
                worded=self.episode_words.rows.rows,
                words=len(self.vocabulary),
                name_words=self.names.words.rows,
                names=len(self.names),
                within=self.names.within.rows,
            )
        return self._links


def _extended(table: Table, count: int) -> Table:
    """``table`` with at least ``count`` rows; a large one is quantised."""
    if isinstance(table, VectorTable) and count > EXACT_ROWS:
        large = QuantisedTable(table.dimensions)
        filled = np.flatnonzero(table.filled)
        large.put(filled, table.rows[filled])
        table = large
    table.extend(count)
    return table


def _with_ties(ties: NDArray[np.uint64], count: int, ids: list[tuple[int, str]]) -> NDArray[np.uint64]:
    """``ties`` of ``count`` things, with those of ``ids``."""
    if len(ties) < count:
        ties = np.concatenate((ties, np.zeros(count - len(ties), np.uint64)))
    if ids:
        ties[[number for number, _ in ids]] = np.array([int(id[:16], 16) for _, id in ids], np.uint64)
    return ties


def _table_to_arrays(name: str, table: Table) -> dict[str, NDArray[Any]]:
    if isinstance(table, VectorTable):
        return {name: table.rows.astype(np.float16), f"{name}_filled": table.filled}
    return {name: table.codes, f"{name}_factors": table.factors, f"{name}_filled": table.filled}


def _table_of_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> Table:
    filled = arrays[f"{name}_filled"]
    if f"{name}_factors" in arrays:
        return QuantisedTable.of(arrays[name], arrays[f"{name}_factors"], filled)
    return VectorTable.of(_restored(arrays[name]), filled)


def _restored(rows: NDArray[np.float16]) -> NDArray[np.float32]:
    """Unit vectors of what was kept in half precision; zeros stay zeros."""
    full = np.array(rows, np.float32)
    lengths = np.linalg.norm(full, axis=1, keepdims=True)
    np.divide(full, lengths, out=full, where=lengths > 0)
    return full


def _batched(table: Table, items: list[tuple[int, str]]) -> Iterator[PendingVectors]:
    for start in range(0, len(items), _BATCH):
        batch = items[start : start + _BATCH]
        yield PendingVectors(table, np.array([number for number, _ in batch], np.int64), [text for _, text in batch])


def _names(statement: Statement | None) -> Iterator[str]:
    """The normalised names in a statement that can lead somewhere."""
    if isinstance(statement, Fact):
        subject, _, object_ = statement.key
        yield from (subject, object_)
    elif statement is not None:
        for name in statement.objects:
            if any(letter.isdigit() or (letter.isalpha() and not letter.islower()) for letter in name):
                yield normalise_name(name)


def _names_of_title(title: str) -> Iterator[str]:
    """A title without its bracket, and what stands before its first comma ("Paris, Texas")."""
    topic = topic_of(title)
    yield normalise_name(topic)
    head, comma, _ = topic.partition(", ")
    if comma and head.strip():
        yield normalise_name(head)

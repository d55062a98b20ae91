"""The index of a graph: vectors, names and words for retrieval, kept up to date as the graph grows.

A *name* here is only what can lead from one episode to another: the ends of facts, objects of theses that are written
like a name or a number (with a capital or a digit), and titles. Common nouns of theses are not names.
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
from worldthread.retrieve.cache import DerivedCache
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
"""Tables with more rows are quantised: several times as fast, and the same results."""

Table: TypeAlias = VectorTable | QuantisedTable

_BATCH: Final = 512  # texts embedded at a time


@dataclass(frozen=True)
class PendingVectors:
    """Texts that have to be embedded.

    Args:
        table: where the vectors go.
        numbers: the row of ``table`` for each text, shape (n,).
        texts: n texts.
    """

    table: Table
    numbers: NDArray[np.int64]
    texts: list[str]


class RetrievalIndex:
    """Vectors, names and words of everything in one graph, by the graph's numbers of episodes and statements.

    The index embeds nothing: :meth:`take` returns the texts to embed, and :meth:`put` takes their vectors.

    Args:
        embedder: only its ``dimensions`` are used.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._dimensions = embedder.dimensions
        self._graph: TemporalGraph | None = None
        self._reset()

    def _reset(self) -> None:
        self._change_count = self._numbering = -1
        self.episodes: Table = VectorTable(self._dimensions)
        """The vector of the text of every episode."""
        self.statements: Table = VectorTable(self._dimensions)
        """The vector of every statement in words."""
        self._are_facts = np.zeros(0, bool)
        self.episode_ties = np.zeros(0, np.uint64)
        """For every episode a number that depends on its id alone; breaks ties between equal scores."""
        self.statement_ties = np.zeros(0, np.uint64)
        """The same for statements."""
        self.vocabulary: dict[str, int] = {}
        """The number of every word of a text or a name."""
        self.names = NameTable(self.vocabulary)
        """The names of objects."""
        self._asserted = IntegerTable(2)  # (episode, statement), episodes ascending
        self._mentioned = IntegerTable(3)  # (episode, name, whether it is the title), episodes ascending
        self.episode_words = LexicalIndex(self.vocabulary)
        """How often the text of every episode has every word."""
        self.statement_words = LexicalIndex(self.vocabulary)
        """How often every statement in words has every word."""
        self._saved = 0
        self._entered = 0  # episodes before this number are in the tables above
        self.derived = DerivedCache()
        """Values that methods computed from the index; dropped whenever the graph changes."""
        self.derived_by_graph = DerivedCache()
        """Values that follow the graph as it changes; dropped when the index takes another graph."""
        self._links: Links | None = None

    @property
    def graph(self) -> TemporalGraph:
        """The graph of the last :meth:`take`."""
        assert self._graph is not None, "call take first"
        return self._graph

    def take(self, graph: TemporalGraph, texts: Callable[[Sequence[str]], Iterable[str]]) -> list[PendingVectors]:
        """Bring the index up to date with a graph, except for vectors.

        Call it again after :meth:`put`, until it returns nothing: then all vectors are there.

        Args:
            graph: the graph; another object than before, or one with new numbers, resets the index.
            texts: returns the texts of episodes by their ids, in the same order.

        Returns:
            The texts to embed, in batches, each for a call of :meth:`put`.
        """
        if graph is not self._graph or graph.numbering != self._numbering:
            self._reset()
            self._graph, self._numbering = graph, graph.numbering
        elif graph.change_count == self._change_count:
            return []
        self.episodes = _extended(self.episodes, len(graph.episode_numbers))
        self.statements = _extended(self.statements, len(graph.statement_numbers))
        missing = [
            (number, record.id)
            for number in self.episodes.missing()
            if (record := graph.numbered_episode(number)) is not None
        ]
        passages = [(number, text) for (number, _), text in zip(missing, texts([i for _, i in missing]), strict=True)]
        for number, text in passages:
            if number >= self._entered:
                self._enter(number, text, graph)
        self._entered = len(self.episodes)
        fresh = [(number, graph.numbered_statement(number)) for number in self.statements.missing()]
        sentences = [(number, str(statement)) for number, statement in fresh if statement is not None]
        self.episode_ties = _with_ties(self.episode_ties, len(self.episodes), missing)
        for number, sentence in sentences:
            self.statement_words.add(number, sentence)
        ids = [(number, statement.id) for number, statement in fresh if statement is not None]
        self.statement_ties = _with_ties(self.statement_ties, len(self.statements), ids)
        pending = [*_batched(self.statements, sentences), *_batched(self.episodes, passages)]
        if not pending:
            self._change_count = graph.change_count
        self._links = None
        self.derived.clear()
        return pending

    @property
    def are_facts(self) -> NDArray[np.bool_]:
        """For every statement, whether it is a fact (not a thesis); shape (number of statements,)."""
        count, known = len(self.statements), len(self._are_facts)
        if known < count:
            later = [self.graph.is_fact(number) for number in range(known, count)]
            self._are_facts = np.concatenate((self._are_facts, later))
        return self._are_facts

    def put(self, pending: PendingVectors, vectors: NDArray[np.float32]) -> None:
        """Set the vectors of pending texts.

        Args:
            pending: from :meth:`take`.
            vectors: unit vectors, shape (len(pending.texts), dimensions).
        """
        pending.table.put(pending.numbers, vectors)

    @property
    def unsaved(self) -> int:
        """How many episodes and statements came since the last :meth:`to_arrays` or :meth:`restore`."""
        return len(self.episodes) + len(self.statements) - self._saved

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole index for :meth:`restore`; exact vectors in half precision."""
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
        """Load an index that was saved for an earlier state of a graph with the same numbers.

        Args:
            graph: the graph.
            arrays: from :meth:`to_arrays`.

        Returns:
            Whether the arrays fit; if not, the index is empty.
        """
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
        self._graph, self._numbering = graph, graph.numbering
        return True

    def _enter(self, number: int, text: str, graph: TemporalGraph) -> None:
        """Enter the statements, names and words of an episode into the tables."""
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
        """Weighted links between the episodes that are in the graph now, their statements and their names."""
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
    """Return ``table`` with at least ``count`` rows, quantised when that is many."""
    if isinstance(table, VectorTable) and count > EXACT_ROWS:
        large = QuantisedTable(table.dimensions)
        filled = np.flatnonzero(table.filled)
        large.put(filled, table.rows[filled])
        table = large
    table.extend(count)
    return table


def _with_ties(ties: NDArray[np.uint64], count: int, ids: list[tuple[int, str]]) -> NDArray[np.uint64]:
    """Return ``ties`` extended to ``count`` items, with those of ``ids`` set."""
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
    """Return unit vectors from rows in half precision; rows of zeros stay so."""
    full = np.array(rows, np.float32)
    lengths = np.linalg.norm(full, axis=1, keepdims=True)
    np.divide(full, lengths, out=full, where=lengths > 0)
    return full


def _batched(table: Table, items: list[tuple[int, str]]) -> Iterator[PendingVectors]:
    for start in range(0, len(items), _BATCH):
        batch = items[start : start + _BATCH]
        yield PendingVectors(table, np.array([number for number, _ in batch], np.int64), [text for _, text in batch])


def _names(statement: Statement | None) -> Iterator[str]:
    """Yield the normalised names in a statement that can lead to other episodes."""
    if isinstance(statement, Fact):
        subject, _, object_ = statement.key
        yield from (subject, object_)
    elif statement is not None:
        for name in statement.objects:
            if any(letter.isdigit() or (letter.isalpha() and not letter.islower()) for letter in name):
                yield normalise_name(name)


def _names_of_title(title: str) -> Iterator[str]:
    """Yield a title without its bracket, and the part before its first comma ("Paris, Texas")."""
    topic = topic_of(title)
    yield normalise_name(topic)
    head, comma, _ = topic.partition(", ")
    if comma and head.strip():
        yield normalise_name(head)

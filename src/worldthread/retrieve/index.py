"""The index of a graph: vectors, names and words for retrieval, kept up to date as the graph grows.

A *name* here is only what can lead from one episode to another: the ends of facts, objects of theses that are written
like a name or a number (with a capital or a digit), and titles. Common nouns of theses are not names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.prose.entities import topic_of
from worldthread.extract.prose.sentences import title_of
from worldthread.garbage import garbage_collector_paused
from worldthread.graph import TemporalGraph
from worldthread.graph.columns import pack_strings, unpack_strings
from worldthread.graph.strings import StringTable
from worldthread.models import Embedder
from worldthread.names import normalise_name
from worldthread.retrieve.cache import DerivedCache
from worldthread.retrieve.conversation import NOBODY, ConversationIndex, ConversationOrder
from worldthread.retrieve.integer_table import GrowingArray, IntegerTable
from worldthread.retrieve.lexical import LexicalIndex
from worldthread.retrieve.links import Links, NewRows
from worldthread.retrieve.names import NameTable
from worldthread.retrieve.sparse import distinct
from worldthread.retrieve.stored_table import ItemName, Restriction, StoredTable, episode_name, statement_name
from worldthread.retrieve.vocabulary import Vocabulary
from worldthread.types import Episode, Statement, Thesis
from worldthread.vectors import VectorStore
from worldthread.vectors.exact import VectorTable
from worldthread.vectors.quantised import QuantisedTable

FORMAT: Final = 6
"""Version of the arrays of :meth:`RetrievalIndex.to_arrays`, and of the rules by which names and words are found."""

EXACT_ROWS: Final = 10_000
"""Tables with more rows that are in the graph are quantised: several times as fast, and the same results."""

Table: TypeAlias = VectorTable | QuantisedTable | StoredTable

_BATCH: Final = 512  # texts embedded at a time


class _Unknown:
    """Stands for a value that was not computed yet, where ``None`` is a value."""


_UNKNOWN: Final = _Unknown()


@dataclass(frozen=True)
class VectorTables:
    """Where an index keeps its vectors, if not in RAM.

    Args:
        episodes: a table of a store of vectors, for the texts of episodes.
        statements: one for statements in words.
        writes: whether this process keeps both up to date.
    """

    episodes: VectorStore
    statements: VectorStore
    writes: bool


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

    What a search finds depends on the graph alone, and neither on the order in which episodes arrived nor on what was
    forgotten. So the vector, the names and the words of a statement are those of the form that is shown, which may
    change when an episode arrives late or is forgotten; and what is quantised depends on what is in the graph.

    The index embeds nothing: :meth:`take` returns the texts to embed, and :meth:`put` takes their vectors.

    Args:
        embedder: only its ``dimensions`` are used.
        tables: where the vectors are; ``None`` for the RAM of this process. Such an index cannot be saved.
    """

    def __init__(self, embedder: Embedder, tables: VectorTables | None = None) -> None:
        self._dimensions = embedder.dimensions
        self._tables = tables
        self._graph: TemporalGraph | None = None
        self._reset()

    def _reset(self) -> None:
        self._change_count = self._numbering = -1
        self.episodes: Table = self._new_table(lambda tables: tables.episodes, self._episode_name)
        """The vector of the text of every episode."""
        self.statements: Table = self._new_table(lambda tables: tables.statements, self._statement_name)
        """The vector of every statement in words."""
        self._are_facts = GrowingArray(np.zeros(0, bool))
        self._episode_ties = GrowingArray(np.zeros(0, np.uint64))
        self._statement_ties = GrowingArray(np.zeros(0, np.uint64))
        self.vocabulary = Vocabulary()
        """The number of every word of a text or a name."""
        self.names = NameTable(self.vocabulary)
        """The names of objects."""
        self._asserted = IntegerTable(2)  # (episode, statement), episodes ascending
        self._mentioned = IntegerTable(3)  # (episode, name, whether it is the title)
        self._forms = GrowingArray(np.zeros(0, np.uint64))  # of statements: a digest of the form; 0: none
        self._assertions = GrowingArray(np.zeros(0, np.int64))  # of statements: episodes in the graph that assert it
        self._speakers = GrowingArray(np.zeros(0, np.int32))
        self._speaker_numbers = {"": NOBODY}  # by normalised name
        self._present = np.zeros(0, bool)  # of the episodes in the tables above: whether they are in the graph
        self.episode_words = LexicalIndex(self.vocabulary)
        """How often the text of every episode has every word."""
        self.statement_words = LexicalIndex(self.vocabulary)
        """How often every statement in words has every word."""
        self._saved = 0
        self.derived = DerivedCache()
        """Values that methods computed from the index; dropped whenever the graph changes."""
        self.derived_by_graph = DerivedCache()
        """Values that follow the graph as it changes; dropped when the index takes another graph."""
        self._links: Links | None = None
        self._linked: tuple[int, int, int] | None = None  # rows of the tables that the links know; None: all anew
        self._links_follow = False  # whether the links are those of the last `take`
        self._conversation: ConversationIndex | _Unknown | None = _UNKNOWN
        self._conversation_order = ConversationOrder()

    def _new_table(
        self, store_of: Callable[[VectorTables], VectorStore], name_of: Callable[[int], ItemName]
    ) -> VectorTable | StoredTable:
        tables = self._tables
        if tables is None:
            return VectorTable(self._dimensions)
        return StoredTable(store_of(tables), name_of, writes=tables.writes)

    def _episode_name(self, number: int) -> ItemName:
        return episode_name(self.graph, number)

    def _statement_name(self, number: int) -> ItemName:
        return statement_name(self.graph, number, int(self._forms.values[number]))

    def restrict(self, restriction: Restriction | None) -> None:
        """Say what the next searches need not find: tables in RAM find it anyway."""
        for table in (self.episodes, self.statements):
            if isinstance(table, StoredTable):
                table.restriction = restriction

    @property
    def graph(self) -> TemporalGraph:
        """The graph of the last :meth:`take`."""
        assert self._graph is not None, "call take first"
        return self._graph

    def take(
        self, graph: TemporalGraph, episodes: Callable[[Sequence[str]], Iterable[Episode]]
    ) -> list[PendingVectors]:
        """Bring the index up to date with a graph, except for vectors.

        Call it again after :meth:`put`, until it returns nothing: then all vectors are there.

        Args:
            graph: the graph; another object than before, or one with new numbers, resets the index.
            episodes: returns episodes by their ids, in the same order.

        Returns:
            The texts to embed, in batches, each for a call of :meth:`put`.
        """
        if graph is not self._graph or graph.numbering != self._numbering:
            self._reset()
            self._graph, self._numbering = graph, graph.numbering
        elif graph.change_count == self._change_count:
            return []
        present = _present(graph)
        assertions = self._assertions.grow(len(graph.statement_numbers))
        self._forms.grow(len(graph.statement_numbers))
        self.episodes = _fitting(self.episodes, len(present), len(graph))
        self._numbering = -1  # an error or an interrupt meanwhile leaves half of it, so the next call begins anew
        touched = self._leave(np.flatnonzero(self._present & ~present[: len(self._present)]))
        for of_episodes in (self._episode_ties, self._speakers):
            of_episodes.grow(len(present))
        self._statement_ties.grow(len(assertions))
        passages: list[tuple[int, str]] = []
        spelled: dict[int, str] = {}
        missing = np.flatnonzero(present & ~self.episodes.filled).tolist()
        for start in range(0, len(missing), _BATCH):
            with garbage_collector_paused():
                part = missing[start : start + _BATCH]
                ids = [record.id for number in part if (record := graph.numbered_episode(number)) is not None]
                for number, episode in zip(part, episodes(ids), strict=True):
                    passages.append((number, episode.text))
                    self._episode_ties.values[number] = _tie_of(episode.id)
                    if number >= len(self._present):
                        touched |= self._enter(number, episode, graph, spelled)
        self._present = present
        self._spell(touched.difference(spelled), graph)
        self.vocabulary.forget_tokens()
        self._numbering = graph.numbering
        are_asserted = assertions > 0
        self.statements = _fitting(self.statements, len(assertions), int(np.count_nonzero(are_asserted)))
        for table, mask in ((self.episodes, present), (self.statements, are_asserted)):
            if isinstance(table, QuantisedTable):
                table.counted = None if mask.all() else mask
            elif isinstance(table, StoredTable):
                table.follow(mask, (n for n in touched if are_asserted[n]) if mask is are_asserted else ())
        passages = [(number, text) for number, text in passages if not self.episodes.filled[number]]
        wanted = np.flatnonzero(are_asserted & ~self.statements.filled).tolist()
        sentences = [(number, spelled.get(number) or str(graph.numbered_statement(number))) for number in wanted]
        pending = [*_batched(self.statements, sentences), *_batched(self.episodes, passages)]
        if not pending:
            self._change_count = graph.change_count
        self._links_follow = False
        self._conversation = _UNKNOWN
        self.derived.clear()
        return pending

    def find(self, name: str) -> int | None:
        """Return the number of a normalised name; ``None`` for one that nothing in the graph mentions."""
        number = self.names.find(name)
        return number if number is not None and self.links.df[number] else None

    @property
    def episode_ties(self) -> NDArray[np.uint64]:
        """For every episode a number that depends on its id alone; breaks ties between equal scores."""
        return self._episode_ties.values

    @property
    def statement_ties(self) -> NDArray[np.uint64]:
        """The same for statements."""
        return self._statement_ties.values

    @property
    def are_facts(self) -> NDArray[np.bool_]:
        """For every statement, whether it is a fact (not a thesis); shape (number of statements,)."""
        count, known = len(self.statements), len(self._are_facts.values)
        if known < count:
            later = [self.graph.is_fact(number) for number in range(known, count)]
            self._are_facts.grow(count)[known:] = later
        return self._are_facts.values

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
        """Return the whole index for :meth:`restore`; exact vectors in half precision where that loses nothing."""
        self._saved = len(self.episodes) + len(self.statements)
        self.vocabulary.settle()
        self.names.settle()
        return {
            "format": np.array([FORMAT], np.int64),
            **_table_to_arrays("episodes", self.episodes),
            **_table_to_arrays("statements", self.statements),
            "are_facts": self.are_facts,
            "episode_ties": self.episode_ties,
            "statement_ties": self.statement_ties,
            "asserted": self._asserted.rows,
            "mentioned": self._mentioned.rows,
            "forms": self._forms.values,
            "speakers": self._speakers.values,
            "speaker_names": pack_strings(list(self._speaker_numbers)),
            "episode_words": self.episode_words.sorted_rows(),
            "statement_words": self.statement_words.sorted_rows(),
            **_strings_to_arrays("vocabulary", self.vocabulary),
            **_strings_to_arrays("names", self.names.table),
            "name_words": self.names.words.rows,
            "name_df": self.links.df if self._present.all() else np.zeros(0, np.int64),
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
            _check_numbers(arrays)
            self._are_facts, self._episode_ties, self._statement_ties, self._forms, self._speakers = (
                GrowingArray(np.array(arrays[name]))
                for name in ("are_facts", "episode_ties", "statement_ties", "forms", "speakers")
            )
            self._asserted = IntegerTable.of(arrays["asserted"])
            self._mentioned = IntegerTable.of(arrays["mentioned"])
            speakers = unpack_strings(arrays["speaker_names"])
            self._speaker_numbers = {name: number for number, name in enumerate(speakers)}
            self.vocabulary = Vocabulary(*_strings_of_arrays("vocabulary", arrays))
            names = StringTable(*_strings_of_arrays("names", arrays))
            self.episode_words = LexicalIndex.of(self.vocabulary, arrays["episode_words"])
            self.statement_words = LexicalIndex.of(self.vocabulary, arrays["statement_words"])
            self.names = NameTable.of(self.vocabulary, names, arrays["name_words"], arrays["within"])
        except (KeyError, TypeError, ValueError, IndexError):
            self._reset()
            return False
        self._assertions = GrowingArray(np.bincount(self._asserted.column(1), minlength=len(self._forms.values)))
        self._present = np.ones(len(self.episodes), bool)  # `take` finds what has left the graph since
        self._saved = len(self.episodes) + len(self.statements)
        self._graph, self._numbering = graph, graph.numbering
        self._links = self._new_links(_known_df(arrays, len(self.names)))
        self._linked = self._table_sizes
        return True

    def _enter(self, number: int, episode: Episode, graph: TemporalGraph, spelled: dict[int, str]) -> set[int]:
        """Enter an episode into the tables, with the words of the statements that are new.

        Args:
            number: of the episode.
            episode: the episode.
            graph: the graph.
            spelled: gets the new statements in words, by their numbers.

        Returns:
            The statements that the episode asserts.
        """
        numbers = set(graph.statements_of(number))
        self._asserted.extend([(number, statement) for statement in numbers])
        self._assertions.values[list(numbers)] += 1
        forms, ties = self._forms.values, self._statement_ties.values
        mentioned: dict[int, int] = {}
        for statement_number in numbers:  # each is made once, while it is at hand
            statement = graph.numbered_statement(statement_number)
            if statement is None:
                continue
            for name in _names(statement, statement_number, graph):
                mentioned[self.names.number(name)] = 0
            if not forms[statement_number]:
                text = spelled[statement_number] = str(statement)
                forms[statement_number] = _form_digest(statement)
                ties[statement_number] = _tie_of(graph.statement_id(statement_number))
                self.statement_words.add(statement_number, text)
        if episode.speaker:
            speaker = normalise_name(episode.speaker)
            self._speakers.values[number] = self._speaker_numbers.setdefault(speaker, len(self._speaker_numbers))
        else:  # what somebody says has no title: its first line is the heading of a part of a long answer
            title, _ = title_of(episode.text)
            if title is not None:
                mentioned |= dict.fromkeys(map(self.names.number, _names_of_title(title)), 1)
        # ascending, which makes them quick to sort
        self._mentioned.extend([(number, name, is_title) for name, is_title in sorted(mentioned.items())])
        self.episode_words.add(number, episode.text)
        return numbers

    def _names_in(self, statements: Iterable[int], graph: TemporalGraph) -> Iterator[int]:
        """Yield the names in some statements in the form that is shown."""
        for number in statements:
            statement = graph.numbered_statement(number)
            if statement is not None:
                yield from map(self.names.number, _names(statement, number, graph))

    def _leave(self, gone: NDArray[np.int64]) -> set[int]:
        """Note that some episodes are no longer in the graph, and return the statements that they asserted."""
        if not len(gone):
            return set()
        self._linked = None
        rows = self._asserted.rows
        starts, ends = (np.searchsorted(rows[:, 0], gone, side) for side in ("left", "right"))
        touched = np.concatenate([rows[:0, 1], *(rows[a:b, 1] for a, b in zip(starts, ends, strict=True))])
        np.subtract.at(self._assertions.values, touched, 1)
        return set(touched.tolist())

    def _spell(self, touched: set[int], graph: TemporalGraph) -> None:
        """Enter the words of those of the statements that are new, or shown in another form than before."""
        forms = self._forms.values
        changed: list[tuple[int, Statement]] = []
        respelled: list[int] = []
        for number in touched:
            statement = graph.numbered_statement(number)
            if statement is None:
                continue
            form, before = _form_digest(statement), int(forms[number])
            if form != before:
                forms[number] = form
                changed.append((number, statement))
                if before:
                    respelled.append(number)
        if respelled:
            self.statements.drop(np.array(respelled, np.int64))
            self.statement_words.remove(np.array(respelled, np.int64))
            self._name_again(np.array([number for number in respelled if not graph.is_fact(number)], np.int64), graph)
        for number, statement in changed:
            self.statement_words.add(number, str(statement))
        ids = [(number, statement.id) for number, statement in changed]
        _set_ties(self._statement_ties, ids)

    def _name_again(self, theses: NDArray[np.int64], graph: TemporalGraph) -> None:
        """Enter again what the episodes mention that assert some theses: their form says what in them is a name."""
        asserted = self._asserted.rows
        episodes = distinct(asserted[np.isin(asserted[:, 1], theses), 0])
        if not len(episodes):
            return
        self._linked = None
        rows = self._mentioned.rows
        own = np.isin(rows[:, 0], episodes)
        titles = {(episode, name) for episode, name, is_title in rows[own].tolist() if is_title}
        self._mentioned = IntegerTable.of(rows[~own | (rows[:, 2] > 0)])
        for episode in episodes.tolist():
            names = dict.fromkeys(self._names_in(dict.fromkeys(graph.statements_of(episode)), graph))
            self._mentioned.extend([(episode, name, 0) for name in names if (episode, name) not in titles])

    @property
    def links(self) -> Links:
        """Weighted links between the episodes that are in the graph now, their statements and their names."""
        if self._links is None or not self._links_follow:
            self._links = self._followed_links()
            self._linked, self._links_follow = self._table_sizes, True
        return self._links

    @property
    def _table_sizes(self) -> tuple[int, int, int]:
        return len(self._asserted), len(self._mentioned), len(self.episode_words.rows)

    def _followed_links(self) -> Links:
        """Return links of what is in the tables now: those before with what is new, or others."""
        links, known = self._links, self._linked
        if links is not None and known is not None:
            tables = self._asserted, self._mentioned, self.episode_words.rows
            new = NewRows(*(table.after(size) for table, size in zip(tables, known, strict=True)))
            if links.add(len(self.vocabulary), len(self.statements), self._present, new):
                return links
        return self._new_links()

    def _new_links(self, df: NDArray[np.int64] | None = None) -> Links:
        rows = NewRows(self._asserted.rows, self._mentioned.rows, self.episode_words.rows.rows)
        return Links(self.names, len(self.vocabulary), len(self.statements), self._present, rows, df)

    @property
    def conversation(self) -> ConversationIndex | None:
        """What was said, in order; ``None`` when nobody says anything."""
        if isinstance(self._conversation, _Unknown):
            self._conversation = self._conversation_order.update(
                self.graph, self._present, self._speakers.values, list(self._speaker_numbers), self.episode_ties
            )
        return self._conversation


def _present(graph: TemporalGraph) -> NDArray[np.bool_]:
    """Return which episodes are in a graph, by number."""
    count = len(graph.episode_numbers)
    if len(graph) == count:
        return np.ones(count, bool)
    present = np.zeros(count, bool)
    present[np.fromiter(graph.live_episodes, np.int64, len(graph))] = True
    return present


def _fitting(table: Table, count: int, live: int) -> Table:
    """Return ``table`` with ``count`` rows, quantised exactly when many of them are in the graph.

    A table that is no longer quantised is empty: rounded vectors cannot be made exact, so they are embedded again.
    """
    if isinstance(table, VectorTable) and live > EXACT_ROWS:
        large = QuantisedTable(table.dimensions)
        filled = np.flatnonzero(table.filled)
        large.put(filled, table.rows[filled])
        table = large
    elif isinstance(table, QuantisedTable) and live <= EXACT_ROWS:
        table = VectorTable(table.dimensions)
    table.extend(count)
    return table


def _form_digest(statement: Statement) -> int:
    """Return a digest, not 0, of a statement as it is written: of all that the index takes from it."""
    names = statement.objects if isinstance(statement, Thesis) else ()
    written = "\0".join((str(statement), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "big") or 1


def _set_ties(ties: GrowingArray, ids: list[tuple[int, str]]) -> None:
    """Set the ties of some items by their ids."""
    values = ties.values
    if ids:
        values[[number for number, _ in ids]] = np.array([_tie_of(id_) for _, id_ in ids], np.uint64)


def _tie_of(id_: str) -> int:
    return int(id_[:16], 16)


def _table_to_arrays(name: str, table: Table) -> dict[str, NDArray[Any]]:
    assert not isinstance(table, StoredTable), "vectors in a store are not saved with an index"
    if isinstance(table, VectorTable):
        half = table.rows.astype(np.float16)
        are_kept = np.array_equal(_restored(half), table.rows)  # as those of a cached embedder, which are rounded
        return {name: half if are_kept else table.rows, f"{name}_filled": table.filled}
    return {name: table.codes, f"{name}_factors": table.factors, f"{name}_filled": table.filled}


def _strings_to_arrays(name: str, strings: StringTable) -> dict[str, NDArray[Any]]:
    seed = np.array([strings.seed], np.uint64)
    return {name: strings.items.packed(), f"{name}_index": strings.entries, f"{name}_seed": seed}


def _strings_of_arrays(
    name: str, arrays: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.uint8], NDArray[np.uint64] | None, int | None]:
    """Return the arguments of a :class:`StringTable`."""
    entries = arrays.get(f"{name}_index")
    return arrays[name], entries, None if entries is None else int(arrays[f"{name}_seed"][0])


def _check_numbers(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError unless the arrays of an index fit each other and refer only to what they contain."""
    episodes, statements = len(arrays["episodes"]), len(arrays["statements"])
    words, names, speakers = (
        int(np.count_nonzero(arrays[name] == 0)) for name in ("vocabulary", "names", "speaker_names")
    )
    columns = {
        "asserted": (episodes, statements),
        "mentioned": (episodes, names, 2),
        "episode_words": (episodes, words, 2**31),
        "statement_words": (statements, words, 2**31),
        "name_words": (names, words),
        "within": (names, names),
    }
    for name, ends in columns.items():
        rows = arrays[name]
        fits = rows.dtype == np.int32 and rows.ndim == 2 and rows.shape[1] == len(ends)
        # column by column, which is ten times as fast as along the axis
        if not fits or any(
            c.min(initial=0) < 0 or c.max(initial=-1) >= end for c, end in zip(rows.T, ends, strict=True)
        ):
            raise ValueError(f"{name!r} refers to something that is not there")
    lengths = {
        "are_facts": statements, "episode_ties": episodes, "statement_ties": statements, "forms": statements,
        "episodes_filled": episodes, "statements_filled": statements, "speakers": episodes,
    }  # fmt: skip
    for name, length in lengths.items():
        if arrays[name].shape != (length,):
            raise ValueError(f"{name!r} has the shape {arrays[name].shape}, not {(length,)}")
    said = arrays["speakers"]
    if said.dtype != np.int32 or (len(said) and not 0 <= said.min() <= said.max() < speakers):
        raise ValueError("'speakers' refers to something that is not there")


def _known_df(arrays: Mapping[str, NDArray[Any]], names: int) -> NDArray[np.int64] | None:
    """Return in how many episodes each name is, as it was saved; ``None`` if that was not saved, or cannot be."""
    df = arrays.get("name_df")
    if df is None or df.dtype != np.int64 or df.shape != (names,) or df.min(initial=0) < 0:
        return None
    return np.array(df)


def _table_of_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> Table:
    filled = arrays[f"{name}_filled"]
    if f"{name}_factors" in arrays:
        return QuantisedTable.of(arrays[name], arrays[f"{name}_factors"], filled)
    return VectorTable.of(_restored(arrays[name]), filled)


def _restored(rows: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Return unit vectors from rows in half precision; rows of zeros stay so, and rows in full precision too."""
    full = np.array(rows, np.float32)
    if rows.dtype == np.float32:
        return full
    lengths = np.linalg.norm(full, axis=1, keepdims=True)
    np.divide(full, lengths, out=full, where=lengths > 0)
    return full


def _batched(table: Table, items: list[tuple[int, str]]) -> Iterator[PendingVectors]:
    for start in range(0, len(items), _BATCH):
        batch = items[start : start + _BATCH]
        yield PendingVectors(table, np.array([number for number, _ in batch], np.int64), [text for _, text in batch])


def _names(statement: Statement, number: int, graph: TemporalGraph) -> Iterator[str]:
    """Yield the normalised names in a statement of a graph that can lead to other episodes."""
    if not isinstance(statement, Thesis):
        yield from graph.names_of(number)
        return
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

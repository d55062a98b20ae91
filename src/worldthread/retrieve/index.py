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
from worldthread.graph import TemporalGraph
from worldthread.graph.columns import pack_strings, unpack_strings
from worldthread.graph.episodes import EpisodeRecord
from worldthread.graph.statements import ShownStatements
from worldthread.graph.strings import StringTable
from worldthread.models import Embedder
from worldthread.names import normalise_name
from worldthread.retrieve.cache import DerivedCache
from worldthread.retrieve.conversation import NOBODY, ConversationIndex, ConversationOrder
from worldthread.retrieve.integer_table import GrowingArray, IntegerTable
from worldthread.retrieve.lexical import LexicalIndex
from worldthread.retrieve.links import Links, NewRows
from worldthread.retrieve.names import NameTable
from worldthread.retrieve.pieces import MOST_PIECES, KeptPart, chained, merged, new_token, token_of
from worldthread.retrieve.sparse import CSRRows, distinct, stable_order
from worldthread.retrieve.stored_table import ItemName, Restriction, StoredTable, episode_name, statement_name
from worldthread.retrieve.vocabulary import Vocabulary
from worldthread.support.garbage import garbage_collector_paused
from worldthread.vectors import VectorStore
from worldthread.vectors.exact import VectorTable
from worldthread.vectors.quantised import QuantisedTable

FORMAT: Final = 6
"""Version of the arrays of :meth:`RetrievalIndex.to_arrays`, and of the rules by which names and words are found."""

EXACT_ROWS: Final = 10_000
"""Tables with more rows that are in the graph are quantised: several times as fast, and the same results."""

Table: TypeAlias = VectorTable | QuantisedTable | StoredTable

_BATCH: Final = 512  # texts embedded at a time
_SPELLED: Final = 1 << 15  # statements whose words are entered at a time
_LOW: Final = np.int64(0xFFFFFFFF)


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
        self._is_behind = False
        self._filled = 0  # how many of the graph's episodes that were filled later are known to be so
        self._saved = 0
        self._kept: KeptPart | None = None  # what was written of it and has not changed since
        self._changed: list[NDArray[np.int64]] = []  # statements that were entered since then
        self._respelled: list[NDArray[np.int64]] = []  # those of them that had been entered before
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
        self, graph: TemporalGraph, texts: Callable[[Sequence[str]], Iterable[str]], most: int | None = None
    ) -> list[PendingVectors]:
        """Bring the index up to date with a graph, except for vectors.

        Call it again after :meth:`put`, until it returns nothing: then all vectors are there.

        Args:
            graph: the graph; another object than before, or one with new numbers, resets the index.
            texts: returns the texts of episodes by their ids, in the same order.
            most: how many new episodes are entered; ``None`` for all. While :attr:`is_behind`, only :meth:`take`,
                :meth:`put` and what is kept may be called.

        Returns:
            The texts to embed, in batches, each for a call of :meth:`put`.
        """
        entered = len(self._present)
        was_entered = graph is self._graph and any(number < entered for number in graph.filled[self._filled :])
        if graph is not self._graph or graph.numbering != self._numbering or was_entered:
            self._reset()
            self._graph, self._numbering = graph, graph.numbering
        elif graph.change_count == self._change_count:
            return []
        self._filled = len(graph.filled)
        present = _present(graph)
        if most is not None:
            present = present[: len(self._present) + most]
        self._is_behind = len(present) < len(graph.episode_numbers)
        assertions = self._assertions.grow(len(graph.statement_numbers))
        self._forms.grow(len(graph.statement_numbers))
        self.episodes = _fitting(self.episodes, len(present), len(graph))
        self._numbering = -1  # an error or an interrupt meanwhile leaves half of it, so the next call begins anew
        touched = [self._leave(np.flatnonzero(self._present & ~present[: len(self._present)]))]
        for of_episodes in (self._episode_ties, self._speakers):
            of_episodes.grow(len(present))
        self._statement_ties.grow(len(assertions))
        passages: list[tuple[int, str]] = []
        missing = np.flatnonzero(present & ~self.episodes.filled)
        for start in range(0, len(missing), _BATCH):
            with garbage_collector_paused():
                numbers = missing[start : start + _BATCH]
                records = [graph.numbered_episode(number) for number in numbers.tolist()]
                part = [record for record in records if record is not None]
                written = list(texts([record.id for record in part]))
                passages += zip(numbers.tolist(), written, strict=True)
                self._episode_ties.values[numbers] = np.array([_tie_of(record.id) for record in part], np.uint64)
                new = int(np.searchsorted(numbers, len(self._present)))
                if new < len(numbers):
                    touched.append(self._enter(numbers[new:], part[new:], written[new:], graph))
        self._present = present
        stated = distinct(np.concatenate(touched))
        spelled = self._spell(stated, graph)
        self.names.connect()
        self.vocabulary.forget_tokens()
        self._numbering = graph.numbering
        are_asserted = assertions > 0
        self.statements = _fitting(self.statements, len(assertions), int(np.count_nonzero(are_asserted)))
        for table, mask in ((self.episodes, present), (self.statements, are_asserted)):
            if isinstance(table, QuantisedTable):
                table.counted = None if mask.all() else mask
            elif isinstance(table, StoredTable):
                table.follow(mask, stated[are_asserted[stated]].tolist() if mask is are_asserted else ())
        filled = self.episodes.filled
        passages = [(number, text) for number, text in passages if not filled[number]]
        wanted = np.flatnonzero(are_asserted & ~self.statements.filled)
        known = np.array([number in spelled for number in wanted.tolist()], bool)
        shown = graph.shown_statements(wanted[~known])
        spelled |= zip(shown.numbers.tolist(), shown.texts, strict=True)
        sentences = [(number, spelled[number]) for number in wanted.tolist()]
        pending = [*_batched(self.statements, sentences), *_batched(self.episodes, passages)]
        if not pending and not self._is_behind:
            self._change_count = graph.change_count
        self._links_follow = False
        self._conversation = _UNKNOWN
        self.derived.clear()
        return pending

    @property
    def is_behind(self) -> bool:
        """Whether the last :meth:`take` left out episodes that are new."""
        return self._is_behind

    @property
    def left(self) -> int:
        """About how many episodes and statements :meth:`take` left out."""
        return len(self.graph.episode_numbers) - len(self._present) + len(self.statements) - self._known_statements

    def is_of(self, graph: TemporalGraph) -> bool:
        """Return whether this is the index of a graph as it numbers everything now."""
        return self._graph is graph and self._numbering == graph.numbering

    @property
    def _known_statements(self) -> int:
        """Number of statements, but for those at the end that only episodes state which were left out."""
        if not self._is_behind:
            return len(self.statements)
        last = int(np.flatnonzero(self._forms.values).max(initial=-1))
        return max(last + 1, 0 if self._kept is None else self._kept.statements)

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
            later = self.graph.are_facts(np.arange(known, count))
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
        return len(self._present) + self._known_statements - self._saved

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole index for :meth:`restore`; exact vectors in half precision where that loses nothing."""
        count = self._known_statements
        self.vocabulary.settle()
        self.names.settle()
        token = new_token()
        arrays = {
            "format": np.array([FORMAT], np.int64),
            "token": np.array([token], np.int64),
            **_table_to_arrays("episodes", self.episodes, slice(None)),
            **_table_to_arrays("statements", self.statements, slice(count)),
            "are_facts": self.are_facts[:count],
            "episode_ties": self.episode_ties,
            "statement_ties": self.statement_ties[:count],
            "asserted": self._asserted.rows,
            "mentioned": self._mentioned.rows,
            "forms": self._forms.values[:count],
            "speakers": self._speakers.values,
            "speaker_names": pack_strings(list(self._speaker_numbers)),
            "episode_words": self.episode_words.sorted_rows(),
            "statement_words": self.statement_words.sorted_rows(),
            **_strings_to_arrays("vocabulary", self.vocabulary),
            **_strings_to_arrays("names", self.names.table),
            "name_words": self.names.words.rows,
            "name_df": self._df_to_keep(),
            "within": self.names.within.rows,
        }
        self._note_kept(token, 1)
        return arrays

    def piece_to_arrays(self) -> tuple[int, dict[str, NDArray[Any]]] | None:
        """Return what came since the last time that this or :meth:`to_arrays` was called, or the index restored.

        Returns:
            The number of the piece and its arrays; ``None`` when the whole index has to be written.
        """
        kept, count = self._kept, self._known_statements
        if kept is None or kept.pieces >= MOST_PIECES or not self._can_grow:
            return None
        changed = distinct(np.concatenate((np.arange(kept.statements, count), *self._changed)))
        respelled = distinct(np.concatenate((changed[:0], *self._respelled)))
        is_changed = np.zeros(count, bool)
        is_changed[changed] = True
        new, words, statement_words = (
            slice(kept.episodes, None), self.episode_words.rows.rows, self.statement_words.rows.rows,
        )  # fmt: skip
        vocabulary, names = self.vocabulary.items, self.names.names
        token = new_token()
        arrays = {
            "format": np.array([FORMAT], np.int64),
            "token": np.array([token], np.int64),
            "follows": np.array([kept.token], np.int64),
            "count": np.array([count], np.int64),
            "numbers": changed,
            "rewritten": respelled,
            **_table_to_arrays("episodes", self.episodes, new),
            **_table_to_arrays("statements", self.statements, changed),
            "are_facts": self.are_facts[changed],
            "episode_ties": self.episode_ties[new],
            "statement_ties": self.statement_ties[changed],
            "asserted": self._asserted.after(kept.asserted),
            "mentioned": self._mentioned.after(kept.mentioned),
            "forms": self._forms.values[changed],
            "speakers": self._speakers.values[new],
            "speaker_names": pack_strings(list(self._speaker_numbers)[kept.speakers :]),
            "episode_words": _by_word(words[words[:, 0] >= kept.episodes]),
            "statement_words": _by_word(statement_words[is_changed[statement_words[:, 0]]]),
            "vocabulary": pack_strings([vocabulary[number] for number in range(kept.words, len(vocabulary))]),
            "names": pack_strings([names[number] for number in range(kept.names, len(names))]),
            "name_words": self.names.words.after(kept.name_words),
            "name_df": self._df_to_keep(),
            "within": self.names.within.after(kept.within),
        }
        self._note_kept(token, kept.pieces + 1)
        return kept.pieces, arrays

    def forget_kept(self) -> None:
        """Forget what was written of the index, so that it is written as a whole next time."""
        self._kept = None

    def _df_to_keep(self) -> NDArray[np.int64]:
        """Return in how many episodes each name is; nothing while the index is not that of the graph."""
        return np.zeros(0, np.int64) if self._is_behind or not self._present.all() else self.links.df

    @property
    def _can_grow(self) -> bool:
        """Whether what is written now can be followed by a piece: it is large, and lacks no vector."""
        if not isinstance(self.episodes, QuantisedTable) or not isinstance(self.statements, QuantisedTable):
            return False
        filled = self.statements.filled | (self._assertions.values == 0)
        return bool((self.episodes.filled | ~self._present).all() and filled.all())

    def _note_kept(self, token: int, pieces: int) -> None:
        """Note that all there is was written, or restored."""
        self._saved = len(self._present) + self._known_statements
        self._changed, self._respelled = [], []
        self._kept = None
        if self._can_grow:
            self._kept = KeptPart(
                token,
                pieces,
                len(self._present),
                self._known_statements,
                len(self._asserted),
                len(self._mentioned),
                len(self.names.words),
                len(self.names.within),
                len(self.vocabulary),
                len(self.names),
                len(self._speaker_numbers),
            )

    def restore(self, graph: TemporalGraph, *pieces: Mapping[str, NDArray[Any]]) -> bool:
        """Load an index that was saved for an earlier state of a graph with the same numbers.

        Args:
            graph: the graph.
            *pieces: from :meth:`to_arrays`, and from each :meth:`piece_to_arrays` after it.

        Returns:
            Whether the arrays fit; if not, the index is empty.
        """
        kept = chained(pieces)
        try:
            if any(int(piece["format"][0]) != FORMAT for piece in kept):
                return False
            arrays = merged(kept)
            if arrays["episodes"].shape[1] != self._dimensions:
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
        self._graph, self._numbering = graph, graph.numbering
        self._links = self._new_links(_known_df(arrays, len(self.names)))
        self._linked = self._table_sizes
        token = token_of(kept[-1])
        if token is not None:
            self._note_kept(token, len(kept))
        else:  # an older release wrote it
            self._saved = len(self.episodes) + len(self.statements)
        return True

    def _enter(
        self, numbers: NDArray[np.int64], records: Sequence[EpisodeRecord], texts: Sequence[str], graph: TemporalGraph
    ) -> NDArray[np.int64]:
        """Enter episodes into the tables.

        Args:
            numbers: of the episodes, ascending; they come after those that are in the tables.
            records: the episodes.
            texts: their texts.
            graph: the graph.

        Returns:
            The statements that they assert, each once.
        """
        counts, stated = graph.statements_of_all(numbers)
        pairs = distinct(np.repeat(numbers, counts) << 32 | stated)
        self._asserted.extend_by(_halves(pairs))
        statements, times = np.unique(pairs & _LOW, return_counts=True)
        self._assertions.values[statements] += times
        titles: list[tuple[int, str]] = []
        for number, record, text in zip(numbers.tolist(), records, texts, strict=True):
            if record.provenance.speaker:
                speaker = normalise_name(record.provenance.speaker)
                self._speakers.values[number] = self._speaker_numbers.setdefault(speaker, len(self._speaker_numbers))
            else:  # what somebody says has no title: its first line is the heading of a part of a long answer
                title, _ = title_of(text)
                if title is not None:
                    titles += [(number, name) for name in _names_of_title(title)]
        named = np.array([number for number, _ in titles], np.int64) << 32
        named |= np.array(self.names.numbers([name for _, name in titles]), np.int64)
        self._mention(self._names_stated(pairs, graph), distinct(named))
        self.episode_words.add(numbers.tolist(), texts)
        return np.asarray(statements)

    def _mention(self, stated: NDArray[np.int64], titles: NDArray[np.int64]) -> None:
        """Note which episodes mention which names: each pair once, in its statements, or as its title.

        Args:
            stated: distinct pairs of episode and name, as one number.
            titles: the same.
        """
        others = stated[~np.isin(stated, titles)]
        marked = np.concatenate((others << 1, titles << 1 | 1))
        marked.sort()  # which makes them quick to sort by episode
        self._mentioned.extend_by(np.column_stack((_halves(marked >> 1), marked & 1)))

    def _names_stated(self, pairs: NDArray[np.int64], graph: TemporalGraph) -> NDArray[np.int64]:
        """Return what names the statements of episodes have that can lead to other episodes; new ones are numbered.

        Args:
            pairs: distinct pairs of episode and statement, as one number.
            graph: the graph.

        Returns:
            Distinct pairs of episode and name, as one number.
        """
        statements, places = np.unique(pairs & _LOW, return_inverse=True)
        are_facts = graph.are_facts(statements)
        ends, of_facts = graph.names_of_facts(statements[are_facts])
        rows, columns = [np.repeat(np.flatnonzero(are_facts), 2)], [self._numbers_of(ends)[of_facts.ravel()]]
        theses = graph.shown_statements(statements[~are_facts])
        objects = [
            (int(theses.numbers[place]), normalise_name(name))
            for place, names in theses.objects.items()
            for name in names
            if any(letter.isdigit() or (letter.isalpha() and not letter.islower()) for letter in name)
        ]
        rows.append(np.searchsorted(statements, np.array([number for number, _ in objects], np.int64)))
        columns.append(self._numbers_of([name for _, name in objects]))
        names = CSRRows.grouped(np.concatenate(rows), np.concatenate(columns), len(statements))
        found, counts = names.places(places)
        return distinct(np.repeat(pairs & ~_LOW, counts) | names.columns[found])

    def _numbers_of(self, names: Sequence[str]) -> NDArray[np.int32]:
        return np.array(self.names.numbers(names), np.int32)

    def _leave(self, gone: NDArray[np.int64]) -> NDArray[np.int64]:
        """Note that some episodes are no longer in the graph, and return the statements that they asserted."""
        if not len(gone):
            return gone
        self._linked = self._kept = None
        rows = self._asserted.rows
        starts, ends = (np.searchsorted(rows[:, 0], gone, side) for side in ("left", "right"))
        touched = np.concatenate([rows[:0, 1], *(rows[a:b, 1] for a, b in zip(starts, ends, strict=True))])
        np.subtract.at(self._assertions.values, touched, 1)
        return touched.astype(np.int64)

    def _spell(self, statements: NDArray[np.int64], graph: TemporalGraph) -> dict[int, str]:
        """Enter the words of those of some statements that are new, or shown in another form than before.

        Args:
            statements: their numbers, each once.
            graph: the graph.

        Returns:
            What was entered, by number.
        """
        spelled: dict[int, str] = {}
        again: list[NDArray[np.int64]] = []
        for start in range(0, len(statements), _SPELLED):
            with garbage_collector_paused():
                shown = graph.shown_statements(statements[start : start + _SPELLED])
                digests, before = _form_digests(shown), self._forms.values[shown.numbers]
                changed = np.flatnonzero(digests != before)
                numbers, respelled = shown.numbers[changed], shown.numbers[changed[before[changed] > 0]]
                self._forms.values[numbers] = digests[changed]
                if len(respelled):
                    self._respelled.append(respelled)
                    self.statements.drop(respelled)
                    self.statement_words.remove(respelled)
                    again.append(respelled[~graph.are_facts(respelled)])
                texts = [shown.texts[place] for place in changed.tolist()]
                self.statement_words.add(numbers.tolist(), texts)
                self._statement_ties.values[numbers] = graph.statement_id_heads(numbers)
                spelled |= zip(numbers.tolist(), texts, strict=True)
                self._changed.append(numbers)
        if again:
            self._name_again(np.concatenate(again), graph)
        return spelled

    def _name_again(self, theses: NDArray[np.int64], graph: TemporalGraph) -> None:
        """Enter again what the episodes mention that assert some theses: their form says what in them is a name."""
        asserted = self._asserted.rows
        episodes = distinct(asserted[np.isin(asserted[:, 1], theses), 0])
        if not len(episodes):
            return
        self._linked = self._kept = None
        rows = self._mentioned.rows
        own = np.isin(rows[:, 0], episodes)
        titles = _paired(rows[own & (rows[:, 2] > 0)])
        self._mentioned = IntegerTable.of(rows[~own])
        stated = self._names_stated(_paired(asserted[np.isin(asserted[:, 0], episodes)]), graph)
        self._mention(stated, titles)

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


def _form_digests(shown: ShownStatements) -> NDArray[np.uint64]:
    """Return for each statement a digest, not 0, of how it is written: of all that the index takes from it."""
    texts = shown.texts.copy()
    for place, names in shown.objects.items():
        texts[place] = "\0".join((texts[place], *names))
    digests = b"".join(hashlib.blake2b(_encoded(text), digest_size=8).digest() for text in texts)
    return np.maximum(np.frombuffer(digests, ">u8").astype(np.uint64), np.uint64(1))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _halves(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the two numbers that are in each of some numbers, shape (n, 2)."""
    return np.stack((pairs >> 32, pairs & _LOW), 1)


def _paired(rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the first two columns of some rows as one number each."""
    return np.asarray(rows[:, 0].astype(np.int64) << 32 | rows[:, 1])


def _tie_of(id_: str) -> int:
    return int(id_[:16], 16)


def _table_to_arrays(name: str, table: Table, numbers: slice | NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return some rows of a table of vectors."""
    assert not isinstance(table, StoredTable), "vectors in a store are not saved with an index"
    filled = {f"{name}_filled": table.filled[numbers]}
    if isinstance(table, VectorTable):
        rows = table.rows[numbers]
        half = rows.astype(np.float16)
        are_kept = np.array_equal(_restored(half), rows)  # as those of a cached embedder, which are rounded
        return {name: half if are_kept else rows, **filled}
    if isinstance(numbers, slice) and numbers.start is None:
        return {name: table.codes[numbers], f"{name}_factors": table.factors[numbers], **filled}
    return {name: table.codes_of(numbers), f"{name}_factors": table.factors[numbers], **filled}


def _by_word(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return rows of words sorted by word."""
    return rows[stable_order(rows[:, 1])]


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


def _names_of_title(title: str) -> Iterator[str]:
    """Yield a title without its bracket, and the part before its first comma ("Paris, Texas")."""
    topic = topic_of(title)
    yield normalise_name(topic)
    head, comma, _ = topic.partition(", ")
    if comma and head.strip():
        yield normalise_name(head)

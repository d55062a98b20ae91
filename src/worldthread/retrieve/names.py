"""The names of objects that an index knows, their words, and which names are part of which."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph.columns import StringList
from worldthread.graph.strings import StringTable
from worldthread.retrieve.integer_table import IntegerTable
from worldthread.retrieve.sparse import CSRRows, distinct, ranges
from worldthread.retrieve.vocabulary import Vocabulary
from worldthread.retrieve.words import STOP, tokens_of

_LONGEST: Final = 12  # only the first words of a name count
_FEW: Final = 256  # new names that are connected one by one
_REBUILT_SHARE: Final = 32  # all names are packed anew when one in so many is new
_FACTOR: Final = 0x9E3779B97F4A7C15
_MULTIPLIER: Final = np.uint64(_FACTOR)
_MASK: Final = 2**64 - 1

Run = tuple[int, ...]
"""The words of a name, in order, by their numbers."""


class _StaticNames:
    """The words of names that do not change; the arrays for each kind of look-up are made when it is first used.

    Args:
        names: number of names.
        words: (name, word) for every word of every name, names ascending, words in order.
    """

    def __init__(self, names: int, words: NDArray[np.int32]) -> None:
        self.count = names
        self._table = words

    @cached_property
    def _words(self) -> CSRRows:
        """For each name its words, in order."""
        return CSRRows.of_sorted(self._table[:, 0], self._table[:, 1], self.count)

    @property
    def words(self) -> NDArray[np.int32]:
        """The words of all names, one after the other."""
        return self._words.columns

    @property
    def spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where in :attr:`words` the words of each name begin, and how many they are."""
        pointers = self._words.pointers
        return pointers[:-1], np.diff(pointers)

    @cached_property
    def _by_word(self) -> CSRRows:
        """For each word the names that have it, ascending."""
        return CSRRows.grouped(self._table[:, 1], self._table[:, 0])

    @cached_property
    def _by_hash(self) -> tuple[memoryview, memoryview]:
        """Hashes of the runs, ascending, and the name of each."""
        starts, counts = self._words.pointers[:-1], np.diff(self._words.pointers)
        hashes = np.zeros(self.count, np.uint64)
        for place in range(int(counts.max(initial=0))):
            having = np.flatnonzero(counts > place)
            words = self._words.columns[starts[having] + place].astype(np.uint64)
            hashes[having] = hashes[having] * _MULTIPLIER + words + np.uint64(1)
        order = np.argsort(hashes)
        return hashes[order].data, order.data

    def run(self, name: int) -> Run:
        """Return the words of a name."""
        return tuple(self._words[name].tolist())

    def of_run(self, run: Run) -> list[int]:
        """Return the names with exactly these words, ascending."""
        if not self.count:
            return []
        wanted = 0
        for word in run:
            wanted = (wanted * _FACTOR + word + 1) & _MASK
        hashes, names = self._by_hash
        found = []
        place = bisect_left(hashes, wanted)  # over Python's integers: numpy takes longer for one number
        while place < len(hashes) and hashes[place] == wanted:
            name = names[place]
            if self.run(name) == run:
                found.append(name)
            place += 1
        return sorted(found)

    def holding(self, word: int) -> NDArray[np.int32]:
        """Return the names that have a word, ascending."""
        if word >= len(self._by_word):
            return self._by_word.columns[:0]
        found = self._by_word[word]
        return found[np.diff(found, prepend=-1) > 0]  # a name may have a word twice

    def count_holding(self, word: int) -> int:
        """Return how often names have a word."""
        pointers = self._by_word.pointers
        return int(pointers[word + 1] - pointers[word]) if word + 1 < len(pointers) else 0


class NameTable:
    """Names, numbered 0, 1, 2, ... in order of arrival.

    Args:
        vocabulary: numbers of words; new words are added to it. It may be shared.
        names: the first names; they become the table's own.
    """

    def __init__(self, vocabulary: Vocabulary, names: StringTable | None = None) -> None:
        self.table = StringTable() if names is None else names
        """The normalised names."""
        self.words = IntegerTable(2)
        """(name, word) for every word of every name, names ascending, words in order."""
        self.within = IntegerTable(2)
        """(longer name, shorter name): the words of the shorter are a run of those of the longer."""
        self._vocabulary = vocabulary
        self._use(_StaticNames(0, np.zeros((0, 2), np.int32)))
        self._new_words: list[list[str]] = []  # of the names that :meth:`connect` has to connect
        self._packed = len(self.table)
        self._may_be_parts: list[bool] = []  # of the names that came later

    def _use(self, static: _StaticNames) -> None:
        self._static = static
        # of the names that came later
        self._of_words: dict[Run, list[int]] = {}
        self._runs: list[Run] = []
        self._holding: defaultdict[int, list[int]] = defaultdict(list)  # word -> names

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, names: StringTable, words: NDArray[np.int32], within: NDArray[np.int32]
    ) -> NameTable:
        """Return the table that was saved with these :attr:`names`, :attr:`words` and :attr:`within`."""
        table = cls(vocabulary, names)
        table.words, table.within = IntegerTable.of(words), IntegerTable.of(within)
        table._use(_StaticNames(len(names), table.words.rows))
        return table

    def settle(self) -> None:
        """Pack what came later, which takes a fraction of the RAM."""
        self.table.settle()
        if self._static.count < len(self.table):
            self._use(_StaticNames(len(self.table), self.words.rows))

    @property
    def names(self) -> StringList:
        """Normalised names, by number."""
        return self.table.items

    def __len__(self) -> int:
        return len(self.table)

    def find(self, name: str) -> int | None:
        """Return the number of a normalised name; ``None`` for an unknown one."""
        return self.table.find(name)

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of normalised names; those that are new are registered.

        Args:
            names: in any number and order.

        Returns:
            One number for each. What new names are within, and what is within them, :meth:`connect` finds.
        """
        count = len(self.table)
        found = self.table.intern_all(names)
        for number in range(count, len(self.table)):
            name = self.table.items[number]
            tokens = tokens_of(name)
            self._may_be_parts.append(_may_be_part(name, tokens))
            self._new_words.append(tokens)
        return found

    def connect(self) -> None:
        """Find which of the names that are new are part of which others, or have others as parts."""
        new = len(self._new_words)
        if not new:
            return
        counts = np.array([min(len(tokens), _LONGEST) for tokens in self._new_words])
        words = self._vocabulary.numbers_of([token for tokens in self._new_words for token in tokens[:_LONGEST]])
        first = len(self.table) - new
        rows = np.stack((np.repeat(np.arange(first, first + new), counts), np.array(words, np.int64)), 1)
        self._new_words.clear()
        self.words.extend_by(rows)
        if new > max(_FEW, first // _REBUILT_SHARE):
            self._connect_all(first)
            return
        ends = np.cumsum(counts)
        for name, end, count in zip(range(first, first + new), ends.tolist(), counts.tolist(), strict=True):
            self._connect(name, tuple(words[end - count : end]))

    def _connect(self, number: int, run: Run) -> None:
        """Enter one name, the next one, into what is not packed."""
        pairs = [(number, shorter) for shorter in self._inside(run)]
        if run and self._is_possible_part(number):
            pairs += [(longer, number) for longer in self._around(run)]
        self.within.extend(pairs)
        self._runs.append(run)
        if run:
            self._of_words.setdefault(run, []).append(number)
            for word in set(run):
                self._holding[word].append(number)

    def _connect_all(self, first: int) -> None:
        """Find the parts of all names from number ``first`` on, and what they are parts of: all at once, by hashes."""
        static = _StaticNames(len(self.table), self.words.rows)
        self._use(static)
        starts, sizes = static.spans
        words = static.words
        name_of, hashes = np.repeat(np.arange(static.count), sizes), np.zeros(len(words), np.uint64)
        left = np.repeat(starts + sizes, sizes) - np.arange(len(words))  # words from each one to the end of its name
        for length in range(1, int(sizes.max(initial=0)) + 1):
            # the hash of so many words from each word on, like that of a name with just these words
            at = np.flatnonzero(left >= length)
            hashes[at] = hashes[at] * _MULTIPLIER + words[at + length - 1].astype(np.uint64) + np.uint64(1)
            parts = np.flatnonzero(sizes == length)
            new_parts = parts[np.searchsorted(parts, first) :]
            new_at = np.searchsorted(at, starts[first] if first < static.count else len(words))
            for places, shorter in ((at[new_at:], parts), (at[:new_at], new_parts)):
                self._connect_equal(name_of, hashes, starts, length, places, shorter)

    def _connect_equal(
        self,
        name_of: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        starts: NDArray[np.int64],
        length: int,
        places: NDArray[np.int64],
        parts: NDArray[np.int64],
    ) -> None:
        """Enter which of some names are the words of others from some places on.

        Args:
            name_of: the name of every word of the table.
            hashes: for every word, the hash of so many from it on.
            starts: for every name, where its words begin.
            length: how many words.
            places: of the first words, ascending.
            parts: the names with so many words.
        """
        if not len(places) or not len(parts):
            return
        words = self._static.words
        order = np.argsort(hashes[starts[parts]], kind="stable")
        parts = parts[order]
        sought = hashes[starts[parts]]
        low = np.searchsorted(sought, hashes[places])
        counts = np.zeros(len(places), np.int64)
        likely = np.flatnonzero(sought[np.minimum(low, len(sought) - 1)] == hashes[places])
        counts[likely] = np.searchsorted(sought, hashes[places[likely]], "right") - low[likely]
        at, shorter = np.repeat(places, counts), parts[ranges(low, counts)]
        longer = name_of[at]
        is_pair = longer != shorter
        for offset in range(length):
            is_pair &= words[at + offset] == words[starts[shorter] + offset]
        longer, shorter = longer[is_pair], shorter[is_pair]
        candidates = distinct(shorter)
        is_part = np.array([self._is_possible_part(name) for name in candidates.tolist()], bool)
        kept = is_part[np.searchsorted(candidates, shorter)]
        pairs = distinct(longer[kept] << 32 | shorter[kept])  # a name may have the same words twice
        self.within.extend_by(np.stack((pairs >> 32, pairs & 0xFFFFFFFF), 1))

    def _run(self, name: int) -> Run:
        static = self._static
        return static.run(name) if name < static.count else self._runs[name - static.count]

    def _inside(self, run: Run) -> list[int]:
        """Return the known names whose words are a part, or all, of ``run``."""
        found: dict[int, None] = {}
        static, of_words = self._static, self._of_words
        for start in range(len(run)):
            for end in range(start + 1, len(run) + 1):
                part = run[start:end]
                names = of_words.get(part, ())
                if static.count:
                    names = (*static.of_run(part), *names)
                for name in names:
                    if self._is_possible_part(name):
                        found[name] = None
        return list(found)

    def _is_possible_part(self, name: int) -> bool:
        if name >= self._packed:
            return self._may_be_parts[name - self._packed]
        text = self.names[name]
        return _may_be_part(text, tokens_of(text))

    def _around(self, run: Run) -> list[int]:
        """Return the known names whose words contain ``run``."""
        if len(run) == 1:
            return self._list_holding(run[0])
        candidates = self._list_holding(min(set(run), key=self._count_holding))
        size = len(run)
        found = []
        for name in candidates:
            whole = self._run(name)
            if any(whole[at : at + size] == run for at in range(len(whole) - size + 1)):
                found.append(name)
        return found

    def _list_holding(self, word: int) -> list[int]:
        late = self._holding.get(word, [])
        return [*self._static.holding(word).tolist(), *late] if self._static.count else late

    def holding(self, word: int) -> NDArray[np.int32]:
        """Return the names that have a word, ascending."""
        static, late = self._static.holding(word), self._holding.get(word)
        return static if late is None else np.concatenate((static, np.array(late, np.int32)))

    def _count_holding(self, word: int) -> int:
        """Return about how many names have a word, without a list of them, which is long for a common word."""
        return self._static.count_holding(word) + len(self._holding.get(word, ()))


def _may_be_part(name: str, tokens: list[str]) -> bool:
    """Return whether a name counts where it stands in a longer one: no stop word, and more than numbers."""
    return name not in STOP and not all(token[0].isdigit() for token in tokens)

"""The names of objects that an index knows, their words, and which names are part of which."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph.columns import StringList
from worldthread.graph.strings import StringTable
from worldthread.retrieve.integer_table import IntegerTable
from worldthread.retrieve.sparse import CSRRows
from worldthread.retrieve.vocabulary import Vocabulary
from worldthread.retrieve.words import STOP, tokens_of

_LONGEST: Final = 12  # only the first words of a name count
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

    def _use(self, static: _StaticNames) -> None:
        self._static = static
        # of the names that came later
        self._of_words: dict[Run, list[int]] = {}
        self._runs: list[Run] = []
        self._may_be_parts: list[bool] = []
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
        if self.table.late:
            self.table.settle()
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

    def number(self, name: str) -> int:
        """Return the number of a normalised name, and register the name if it is new."""
        count = len(self.table)
        number = self.table.intern(name)
        if number < count:
            return number
        tokens = tokens_of(name)
        run = tuple(self._vocabulary.numbers_of(tokens))[:_LONGEST]
        self.words.extend([(number, word) for word in run])
        pairs = [(number, shorter) for shorter in self._inside(run)]
        may_be_part = _may_be_part(name, tokens)
        if run and may_be_part:
            pairs += [(longer, number) for longer in self._around(run)]
        self.within.extend(pairs)
        self._runs.append(run)
        self._may_be_parts.append(may_be_part)
        if run:
            self._of_words.setdefault(run, []).append(number)
            for word in set(run):
                self._holding[word].append(number)
        return number

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
        static = self._static.count
        if name >= static:
            return self._may_be_parts[name - static]
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

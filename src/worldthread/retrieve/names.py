"""The objects that an index knows, the words of their names, and the names that stand within names."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.columns import Columns
from worldthread.retrieve.words import STOP, words_of

_LONGEST: Final = 12  # words of a name that are looked into


class NameTable:
    """Names, numbered 0, 1, 2, ... in order of arrival; words are numbered by whoever owns the vocabulary."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.names: list[str] = []
        """Normalised, by number."""
        self.words = Columns(2)
        """(name, word) for every word of every name, names ascending, words in order."""
        self.within = Columns(2)
        """(longer name, shorter name): the words of the shorter are a run of those of the longer."""
        self._vocabulary = vocabulary
        self._numbers: dict[str, int] = {}
        self._of_words: dict[tuple[int, ...], list[int]] = {}
        self._runs: list[tuple[int, ...]] = []  # words by name
        self._holding: defaultdict[int, list[int]] = defaultdict(list)  # word -> names

    @classmethod
    def of(
        cls, vocabulary: dict[str, int], names: list[str], words: NDArray[np.int32], within: NDArray[np.int32]
    ) -> NameTable:
        """A table with these names; ``words`` and ``within`` as in the attributes."""
        table = cls(vocabulary)
        table.names = names
        table.words, table.within = Columns.of(words), Columns.of(within)
        table._numbers = dict(zip(names, range(len(names)), strict=True))
        counts = np.bincount(words[:, 0], minlength=len(names))
        ends = np.cumsum(counts).tolist()
        flat = words[:, 1].tolist()
        start = 0
        for number, end in enumerate(ends):
            table._register(number, tuple(flat[start:end]))
            start = end
        return table

    def _register(self, number: int, run: tuple[int, ...]) -> None:
        self._runs.append(run)
        if run:
            self._of_words.setdefault(run, []).append(number)
            for word in set(run):
                self._holding[word].append(number)

    def __len__(self) -> int:
        return len(self.names)

    def find(self, name: str) -> int | None:
        """The number of a normalised name."""
        return self._numbers.get(name)

    def number(self, name: str) -> int:
        """The number of a normalised name; a new one is registered."""
        known = self._numbers.get(name)
        if known is not None:
            return known
        number = self._numbers[name] = len(self.names)
        self.names.append(name)
        texts = words_of(name)
        run = tuple(self._vocabulary.setdefault(word, len(self._vocabulary)) for word in texts)[:_LONGEST]
        self.words.extend([(number, word) for word in run])
        pairs = [(number, shorter) for shorter in self._inside(run)]
        if run and name not in STOP and not all(text[0].isdigit() for text in texts):
            pairs += [(longer, number) for longer in self._around(run)]
        self.within.extend(pairs)
        self._register(number, run)
        return number

    def _inside(self, run: tuple[int, ...]) -> list[int]:
        """Known names whose words are a part, or all, of ``run``."""
        found: dict[int, None] = {}
        for start in range(len(run)):
            for end in range(start + 1, len(run) + 1):
                for name in self._of_words.get(run[start:end], ()):
                    if self._may_stand_within(name):
                        found[name] = None
        return list(found)

    def _may_stand_within(self, name: int) -> bool:
        text = self.names[name]
        return text not in STOP and not all(word[0].isdigit() for word in words_of(text))

    def _around(self, run: tuple[int, ...]) -> list[int]:
        """Known names whose words hold ``run``."""
        candidates = min((self._holding.get(word, []) for word in set(run)), key=len)
        size = len(run)
        return [
            name
            for name in candidates
            if any(self._runs[name][at : at + size] == run for at in range(len(self._runs[name]) - size + 1))
        ]

    def holding(self, word: int) -> list[int]:
        """The names that have a word."""
        return self._holding.get(word, [])

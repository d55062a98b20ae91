"""Retrieval by words: BM25 over the texts of episodes and over statements.

Robertson et al., "Okapi at TREC-3" (1994). With tf(w) the number of times that a text has the word *w*, *l* its length
in words, *m* the mean length, *N* the number of texts and df(w) how many of them have the word, the score is the sum
over the words *w* of the question, each as often as the question has it, of

    idf(w) tf(w) / (tf(w) + k1 (1 - b + b l / m)),    idf(w) = ln(1 + (N - df(w) + 1/2) / (df(w) + 1/2)).

This idf is Lucene's, which unlike the original is never negative; like Lucene this leaves out the constant factor
k1 + 1. Words are those of :func:`worldthread.retrieve.words.words_of`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.integer_table import GrowingArray, IntegerTable
from worldthread.retrieve.links import Links
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers, must_sort_again, row_pointers, stable_order
from worldthread.retrieve.vocabulary import Vocabulary
from worldthread.retrieve.words import tokens_of, words_of

Floats = NDArray[np.float32]

_LEAST_LATE: Final = 4096


@dataclass(frozen=True)
class LexicalSettings:
    """Settings of :func:`lexical`; the defaults are those of most libraries.

    Args:
        k1: how much repetitions of a word in a text count; at least 0, where 0 is not at all.
        b: how much the score of a long text is reduced, from 0 (not) to 1 (in proportion to its length).
    """

    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise InputError(f"k1 must be at least 0 and b from 0 to 1, not {self.k1} and {self.b}")


class LexicalIndex:
    """How often every text has every word. The caller numbers the texts.

    Args:
        vocabulary: numbers of words; new words are added to it. It may be shared.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.rows = IntegerTable(3)
        """(text, word, times)."""
        self._lengths = GrowingArray(np.zeros(0, np.int64))
        self._sorted = 0  # so many rows are sorted; the others are in `_late`
        self._pointers = np.zeros(1, np.int64)  # where the sorted rows of each word begin
        self._order: NDArray[np.int32] | None = None  # the sorted rows; None: they are the first
        self._late: dict[int, list[tuple[int, int]]] = {}  # by word: text, times

    @classmethod
    def of(cls, vocabulary: Vocabulary, rows: NDArray[np.int32]) -> LexicalIndex:
        """Return an index with the :attr:`rows` of another that has the same vocabulary."""
        index = cls(vocabulary)
        index.rows = IntegerTable.of(rows)
        index._lengths = GrowingArray(np.bincount(rows[:, 0], rows[:, 2]).astype(np.int64))
        if bool((rows[1:, 1] >= rows[:-1, 1]).all()):
            index._sorted, index._pointers = len(rows), row_pointers(rows[:, 1])
        return index

    def sorted_rows(self) -> NDArray[np.int32]:
        """Return :attr:`rows` sorted by word: all that has to be saved."""
        if self._sorted < len(self.rows):
            self._sort()
        return self.rows.rows if self._order is None else self.rows.rows[self._order]

    def add(self, numbers: Sequence[int], texts: Sequence[str]) -> None:
        """Add texts. A number that has a text already keeps that one.

        Args:
            numbers: of the texts, each once.
            texts: one for each number.
        """
        new = [(number, tokens_of(text)) for number, text in zip(numbers, texts, strict=True) if number not in self]
        if not new:
            return
        counts = np.array([len(tokens) for _, tokens in new])
        words = self._vocabulary.numbers_of([token for _, tokens in new for token in tokens])
        own = np.array([number for number, _ in new], np.int64)
        keys = np.repeat(own, counts) << 32 | np.array(words, np.int64)
        keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        times = np.diff(starts, append=len(keys))
        rows = np.stack((keys[starts] >> 32, keys[starts] & 0xFFFFFFFF, times), 1)
        self.rows.extend_by(rows)
        if self._sorted and must_sort_again(len(self.rows), self._sorted, _LEAST_LATE):
            self._sorted = 0
            self._late.clear()
        elif self._sorted:
            for number, word, often in rows.tolist():
                self._late.setdefault(word, []).append((number, often))
        self._lengths.grow(int(own.max()) + 1)[own] = counts

    def remove(self, numbers: Numbers) -> None:
        """Remove the texts with these numbers."""
        rows = self.rows.rows
        kept = ~np.isin(rows[:, 0], numbers)
        if not kept.all():
            self.rows = IntegerTable.of(rows[kept])
            self._sorted = 0
            self._late.clear()
        lengths = self._lengths.values
        lengths[numbers[numbers < len(lengths)]] = 0

    def __contains__(self, number: int) -> bool:
        """Return whether a text was added under a number and has at least one word."""
        lengths = self._lengths.values
        return number < len(lengths) and bool(lengths[number])

    def scores(self, text: str, present: NDArray[np.bool_], settings: LexicalSettings | None = None) -> Floats:
        """Return BM25 of every text for the words of a question.

        Args:
            text: the question.
            present: by number, which texts exist now; the others are not counted anywhere.
            settings: the defaults unless given.

        Returns:
            By number, shape of ``present``; ``-inf`` without a word in common.
        """
        settings = settings or LexicalSettings()
        lengths = self.lengths(len(present)) * present
        count = int(present.sum())
        mean = lengths.sum() / max(count, 1)
        total = np.zeros(len(present))
        for word, times in Counter(words_of(text)).items():
            texts, frequencies = self.having(word)
            if not len(texts):
                continue
            there = present[texts]
            texts, frequencies = texts[there], frequencies[there]
            idf = np.log(1 + (count - len(texts) + 0.5) / (len(texts) + 0.5))
            held_back = settings.k1 * (1 - settings.b + settings.b * lengths[texts] / max(mean, 1e-9))
            total[texts] += times * idf * frequencies / (frequencies + held_back)
        return np.where(total > 0, total, -np.inf).astype(np.float32)

    def lengths(self, count: int) -> NDArray[np.int64]:
        """Return the number of words of the first ``count`` texts; 0 for a text that was never added."""
        lengths = np.zeros(count, np.int64)
        known = self._lengths.values[:count]
        lengths[: len(known)] = known
        return lengths

    def having(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the texts that have a word, and how often each has it.

        Args:
            word: as :func:`~worldthread.retrieve.words.words_of` returns it.

        Returns:
            Numbers of texts, each once, and frequencies; empty for an unknown word.
        """
        number = self._vocabulary.find(word)
        if number is None:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        if not self._sorted or must_sort_again(len(self.rows), self._sorted, _LEAST_LATE):
            self._sort()
        first, end = self._pointers[number : number + 2] if number + 1 < len(self._pointers) else (0, 0)
        if self._order is None:
            texts, times = self.rows.between(first, end, 0), self.rows.between(first, end, 2)
        else:
            places = self._order[first:end]
            texts, times = self.rows.at(places, 0), self.rows.at(places, 2)
        late = self._late.get(number)
        if late is None:
            return texts, times
        more = np.array(late, np.int32)
        return np.concatenate((texts, more[:, 0])), np.concatenate((times, more[:, 1]))

    def _sort(self) -> None:
        words = self.rows.column(1)
        self._pointers, self._order = row_pointers(words), stable_order(words).astype(np.int32)
        self._sorted = len(self.rows)
        self._late.clear()


class LexicalSource(Protocol):
    """What :func:`lexical` needs of an index."""

    @property
    def episode_words(self) -> LexicalIndex:
        """The words of the texts of episodes, by number."""

    @property
    def statement_words(self) -> LexicalIndex:
        """The words of statements as written, by number."""

    @property
    def links(self) -> Links:
        """Which episodes and statements exist."""


def lexical(query: Query, index: LexicalSource, settings: LexicalSettings | None = None) -> Scores:
    """Return BM25 of episodes and of statements; the module has the formula.

    Args:
        query: the question; only its text is used.
        index: the words of everything.
        settings: the defaults unless given.

    Returns:
        Scores of what has a word of the question; ``-inf`` for everything else.
    """
    links = index.links
    asserted = links.episodes_of.filled
    return Scores(
        index.episode_words.scores(query.text, links.present, settings),
        index.statement_words.scores(query.text, asserted, settings),
    )

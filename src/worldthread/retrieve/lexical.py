"""Retrieval by words: BM25 (Robertson et al. 1994) over texts of episodes and over statements.

With tf(w) the times that a text has the word *w*, *l* its length in words, *m* the mean length, *N* the number of
texts and df(w) how many of them have the word, the score is the sum over the words *w* of the question, each as often
as it stands there, of

    idf(w) tf(w) / (tf(w) + k1 (1 - b + b l / m)),    idf(w) = ln(1 + (N - df(w) + 1/2) / (df(w) + 1/2)).

That idf is Lucene's, which unlike the original never is negative, and like Lucene this leaves out the constant factor
k1 + 1. Words are those of :func:`worldthread.retrieve.words.words_of`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.retrieve.integer_table import IntegerTable, stable_order
from worldthread.retrieve.links import Links
from worldthread.retrieve.query import Query, Scores
from worldthread.retrieve.sparse import Numbers
from worldthread.retrieve.words import words_of

Floats = NDArray[np.float32]

_LATE_SHARE: Final = 16  # all is sorted anew when this part of the counts came since
_LEAST_LATE: Final = 4096


@dataclass(frozen=True)
class LexicalSettings:
    """Settings of :func:`lexical`; the defaults are those of most libraries.

    Args:
        k1: how much a word counts that stands there again; 0: not at all.
        b: how much long texts are held back, from 0 (not) to 1 (in proportion to their length).
    """

    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise InputError(f"k1 must be at least 0 and b from 0 to 1, not {self.k1} and {self.b}")


class LexicalIndex:
    """How often every text has every word. Texts are numbered by whoever adds them; what is added stays.

    Args:
        vocabulary: numbers of words; new words are added to it. It may be shared.
    """

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._vocabulary = vocabulary
        self.rows = IntegerTable(3)
        """(text, word, times) in the order in which texts were added. All there is to keep."""
        self._lengths = np.zeros(0, np.int64)
        self._sorted: _Postings | None = None

    @classmethod
    def of(cls, vocabulary: dict[str, int], rows: NDArray[np.int32]) -> LexicalIndex:
        """An index with the :attr:`rows` of another that has the same vocabulary."""
        index = cls(vocabulary)
        index.rows = IntegerTable.of(rows)
        index._lengths = np.bincount(rows[:, 0], rows[:, 2]).astype(np.int64)
        return index

    def add(self, number: int, text: str) -> None:
        """Take in a text. A number that has one already keeps it."""
        if number in self:
            return
        vocabulary = self._vocabulary
        words = words_of(text)
        counts = Counter(vocabulary.setdefault(word, len(vocabulary)) for word in words)
        self.rows.extend([(number, word, times) for word, times in counts.items()])
        if number >= len(self._lengths):
            grown = np.zeros(max(number + 1, len(self._lengths) * 5 // 4), np.int64)
            grown[: len(self._lengths)] = self._lengths
            self._lengths = grown
        self._lengths[number] = len(words)

    def __contains__(self, number: int) -> bool:
        """Whether a text was added under a number, and has a word."""
        return number < len(self._lengths) and bool(self._lengths[number])

    def scores(self, text: str, present: NDArray[np.bool_], settings: LexicalSettings | None = None) -> Floats:
        """BM25 of every text for the words of ``text``, shape of ``present``; ``-inf`` without a word in common.

        Args:
            text: a question.
            present: by number, which texts there are now; the others have no part in any count.
            settings: see there.
        """
        settings = settings or LexicalSettings()
        lengths = np.zeros(len(present), np.int64)
        known = min(len(present), len(self._lengths))
        lengths[:known] = self._lengths[:known] * present[:known]
        count = int(present.sum())
        mean = lengths.sum() / max(count, 1)
        total = np.zeros(len(present))
        for word, times in Counter(words_of(text)).items():
            number = self._vocabulary.get(word)
            if number is None:
                continue
            texts, frequencies = self._having(number)
            there = present[texts]
            texts, frequencies = texts[there], frequencies[there]
            idf = np.log(1 + (count - len(texts) + 0.5) / (len(texts) + 0.5))
            held_back = settings.k1 * (1 - settings.b + settings.b * lengths[texts] / max(mean, 1e-9))
            total[texts] += times * idf * frequencies / (frequencies + held_back)
        return np.where(total > 0, total, -np.inf).astype(np.float32)

    def _having(self, word: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The texts that have a word, and how often."""
        rows = self.rows.rows
        if self._sorted is None or len(rows) - self._sorted.count > max(_LEAST_LATE, len(rows) // _LATE_SHARE):
            self._sorted = _Postings(rows)
        places = np.concatenate((self._sorted.places(word), self._sorted.late(rows, word)))
        return rows[places, 0], rows[places, 2]


class _Postings:
    """Where the counts of every word lie: of the early ones, those that were there when this was made, sorted."""

    def __init__(self, rows: NDArray[np.int32]) -> None:
        self.count = len(rows)
        self._order = stable_order(rows[:, 1]).astype(np.int32)
        self._pointers = np.concatenate(([0], np.cumsum(np.bincount(rows[:, 1]))))

    def places(self, word: int) -> NDArray[np.int32]:
        if word + 1 >= len(self._pointers):
            return np.zeros(0, np.int32)
        return self._order[self._pointers[word] : self._pointers[word + 1]]

    def late(self, rows: NDArray[np.int32], word: int) -> Numbers:
        return self.count + np.flatnonzero(rows[self.count :, 1] == word)


class LexicalSource(Protocol):
    """What :func:`lexical` needs of a corpus."""

    @property
    def episode_words(self) -> LexicalIndex:
        """The words of the texts of episodes, by number."""

    @property
    def statement_words(self) -> LexicalIndex:
        """The words of statements as written, by number."""

    @property
    def links(self) -> Links:
        """Which episodes and statements there are."""


def lexical(query: Query, corpus: LexicalSource, settings: LexicalSettings | None = None) -> Scores:
    """BM25 of episodes, and of statements; see the module."""
    links = corpus.links
    asserted = links.episodes_of.filled
    return Scores(
        corpus.episode_words.scores(query.text, links.present, settings),
        corpus.statement_words.scores(query.text, asserted, settings),
    )

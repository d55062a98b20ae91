"""Which episode mentions which name, and how much that is worth: kept as counts, and weighed where a question looks.

The links are a function of final counts, so that they do not depend on how the index grew. With *N* episodes, df(name)
the number of episodes that mention the name, and tdf(word) the number whose text has the word:

* mass(name) = sum over its words of ln(1 + N / tdf): the information in the name;
* an episode that mentions *k* also mentions, with weight c^2, every name within *k* that has a share c of its mass of
  at least :data:`SHARE` ("Obama" in "Barack Obama");
* idf(name) = ln(1 + N / df); rarity(name) = max(df, min over its words of tdf), higher for what is common: only one
  episode mentions a title such as "Country", and yet the word is not rare;
* PageRank steps from an episode to its names by weight x idf, and from a name to its episodes by weight, times
  :data:`TITLE_WEIGHT` where the name is the episode's title.

Every new episode changes N, and with it every weight. So weights are computed when a question reaches them, and kept
until the next change. Only df is kept for all names. It changes where an episode mentions a name, and where the share
of a name within another crosses :data:`SHARE`; :class:`_Crossings` knows for which pairs that is possible at all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.integer_table import GrowingArray
from worldthread.retrieve.names import NameTable
from worldthread.retrieve.sparse import GrowingRows, Integers, Numbers, distinct, ranges, starts_of

Floats = NDArray[np.float32]

SHARE: Final = 0.5
TITLE_WEIGHT: Final = 8.0

_AT_ONCE: Final = 1 << 16  # episodes that are weighed together where all are
_MADE_TOGETHER: Final = 1 << 14  # mentions: rows of so few are weighed all at once, which takes a few milliseconds
_REBUILT_SHARE: Final = 8  # everything is counted anew when more than one episode in so many is new
_LONGEST: Final = 12  # words of a name that count, see worldthread.retrieve.names
_SMALL_CHANGE: Final = 1e-3  # of what a word is worth: the pairs of names with such a word are not looked at one by one
_ROUNDING: Final = 1e-6


@dataclass(frozen=True)
class NewRows:
    """What the tables of an index gained since the links were last brought up to date.

    Args:
        asserted: (episode, statement).
        mentioned: (episode, name, whether it is the title), each pair of episode and name once.
        worded: (episode, word, times), each pair of episode and word once.
    """

    asserted: NDArray[np.int32]
    mentioned: NDArray[np.int32]
    worded: NDArray[np.int32]

    def of(self, present: NDArray[np.bool_]) -> NewRows:
        """Return the rows of the episodes that are present."""
        if present.all():
            return self
        return NewRows(*(rows[present[rows[:, 0]]] for rows in (self.asserted, self.mentioned, self.worded)))


@dataclass(frozen=True)
class Entries:
    """The entries of some rows of :class:`WeightedRows`, row after row.

    Args:
        counts: how many entries each of the rows has.
        columns: the columns, ascending within a row.
        weights: in (0, 1].
        titles: whether the name is the title of the episode.
        shares: what part of the weight of a row passes to each column; 1 in all for a row.
    """

    counts: Numbers
    columns: NDArray[np.int32]
    weights: Floats
    titles: NDArray[np.bool_]
    shares: Floats


class WeightedRows:
    """Rows of weighted entries, made when the first of them is looked at, or each when it is. Thread-safe.

    Args:
        count: number of rows.
        make: returns the entries of some rows, whose numbers ascend.
        known: how many entries each row has, where that is known before they are made.
        least: how many entries some rows have at least, which is quicker than to make them.
        together: whether all rows are made at once: for few rows that is faster than one call for each search.
    """

    def __init__(
        self,
        count: int,
        make: Callable[[Numbers], Entries],
        known: Callable[[], Numbers] | None = None,
        least: Callable[[Numbers], Numbers] | None = None,
        *,
        together: bool = False,
    ) -> None:
        self._make = make
        self.together = together
        """Whether all rows are made at once."""
        self._is_complete = False
        self._known = known
        self._least = least
        self._lock = threading.Lock()
        self._places = np.zeros(count, np.int64)  # where the entries of a row begin, plus 1; 0: not made yet
        self._counts = np.zeros(count, np.int64)
        self._made = 0
        self._columns = np.zeros(0, np.int32)
        self._weights = np.zeros(0, np.float32)
        self._titles = np.zeros(0, bool)
        self._shares = np.zeros(0, np.float32)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._counts)

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        """Return the columns of one row, ascending."""
        rows = np.array([row])
        self._need(rows)
        start = int(self._places[row]) - 1
        return self._columns[start : start + int(self._counts[row])]

    def made(self, row: int) -> NDArray[np.int32] | None:
        """Return the columns of one row as ``[row]`` does, or ``None`` where nobody has looked at it yet."""
        return self[row] if self.together or self._places[row] else None

    def counts(self, rows: Numbers) -> Numbers:
        """Return how many entries each of ``rows`` has."""
        if self._known is not None:
            return self._known()[rows]
        self._need(rows)
        return self._counts[rows]

    def least_counts(self, rows: Numbers) -> Numbers:
        """Return how many entries each of ``rows`` has at least, as far as that is known without making them."""
        return self.counts(rows) if self._least is None else self._least(rows)

    def entries(self, rows: Numbers) -> Entries:
        """Return the entries of ``rows``."""
        self._need(rows)
        counts = self._counts[rows]
        places = ranges(self._places[rows] - 1, counts)
        return Entries(counts, self._columns[places], self._weights[places], self._titles[places], self._shares[places])

    def all_entries(self) -> Entries:
        """Return the entries of all rows, which are made together."""
        self._need(np.zeros(min(1, len(self)), np.int64))
        end = self._made
        return Entries(self._counts, self._columns[:end], self._weights[:end], self._titles[:end], self._shares[:end])

    def passed_on(self, rows: Numbers) -> tuple[NDArray[np.int32], Floats, Numbers]:
        """Return columns and shares of the entries of ``rows``, row after row, and how many entries each row has."""
        self._need(rows)
        counts = self._counts[rows]
        places = ranges(self._places[rows] - 1, counts)
        return self._columns[places], self._shares[places], counts

    def _need(self, rows: Numbers) -> None:
        if self._is_complete or self._places[rows].all():
            return
        with self._lock:
            missing = np.flatnonzero(self._places == 0) if self.together else distinct(rows[self._places[rows] == 0])
            made = self._make(missing)
            first, end = self._made, self._made + len(made.columns)
            for name in ("columns", "weights", "titles", "shares"):
                old = getattr(self, f"_{name}")
                if end > len(old):
                    grown = np.zeros(max(end, 2 * len(old)), old.dtype)
                    grown[:first] = old[:first]
                    old = grown
                old[first:end] = getattr(made, name)
                setattr(self, f"_{name}", old)
            self._made = end
            self._counts[missing] = made.counts
            self._places[missing] = first + starts_of(made.counts) + 1  # last, where other threads look first
            self._is_complete = self.together


class Links:
    """Links between episodes, statements and names, all by their numbers in the index.

    Args:
        names: the names, their words, and which are within which.
        words: number of words.
        statements: number of statements.
        present: for each episode, whether it is in the graph.
        rows: of all episodes; what only forgotten episodes assert or mention has no links.
        df: for each name, the number of episodes that mention it, if it is known.

    Attributes:
        statements_of: for each episode, the statements that it asserts.
        episodes_of: for each statement, the episodes that assert it.
        names_of: for each episode, the names that it mentions, ascending; a share is what part of the episode's weight
            passes to the name.
        episodes_of_name: for each name, the episodes that mention it, ascending; a share is what part of the name's
            weight passes to the episode.
        df: for each name, the number of episodes that mention it.
        word_df: for each word, the number of episodes whose text has it.
        present: for each episode, whether it is in the graph, that is, not forgotten.
        episodes: number of episodes in the graph.
    """

    names_of: WeightedRows
    episodes_of_name: WeightedRows

    def __init__(
        self,
        names: NameTable,
        words: int,
        statements: int,
        present: NDArray[np.bool_],
        rows: NewRows,
        df: NDArray[np.int64] | None = None,
    ) -> None:
        rows = rows.of(present)
        asserted, mentioned = rows.asserted, rows.mentioned
        self._names = names
        self.present, self.episodes = present, int(np.count_nonzero(present))
        self._word_df = GrowingArray(np.bincount(rows.worded[:, 1], minlength=words))
        self.statements_of = GrowingRows.of_sorted(asserted[:, 0], asserted[:, 1].copy(), len(present))
        self.episodes_of = GrowingRows.grouped(asserted[:, 1], asserted[:, 0], statements)
        count = len(names)
        own, name, is_title = mentioned.T
        self._mentions_of = GrowingRows.grouped(own, _marked(name, is_title), len(present))
        self._mentioned_in = GrowingRows.grouped(name, _marked(own, is_title), count)
        self._direct = GrowingArray(np.bincount(mentioned[:, 1], minlength=count))  # episodes that mention it in full
        self._words_of = GrowingRows.of_sorted(names.words.column(0), names.words.column(1).copy(), count)
        pairs = names.within.rows
        numbers = np.arange(len(pairs), dtype=np.int32)
        self._pairs_of_longer = GrowingRows.grouped(pairs[:, 0], numbers, count)
        self._pairs_of_shorter = GrowingRows.grouped(pairs[:, 1], numbers, count)
        self._named, self._pairs, self._name_words = count, len(pairs), len(names.words)
        self._crossings: _Crossings | None = None
        self._weigh_again()
        self._df = GrowingArray(self._counted() if df is None else df)

    @property
    def df(self) -> NDArray[np.int64]:
        """For each name, the number of episodes that mention it."""
        return self._df.values

    @property
    def word_df(self) -> NDArray[np.int64]:
        """For each word, the number of episodes whose text has it."""
        return self._word_df.values

    def add(self, words: int, statements: int, present: NDArray[np.bool_], rows: NewRows) -> bool:
        """Add episodes. The index may have got names, words and statements with them.

        Args:
            words: number of words.
            statements: number of statements.
            present: for each episode, whether it is in the graph; those that were are.
            rows: of the new episodes.

        Returns:
            Whether it was done; if not, links must be made anew, which is faster or the only way.
        """
        before, old_names, known = self.episodes, self._named, len(self.present)
        fresh = np.flatnonzero(present[known:]) + known
        if not before or len(fresh) * _REBUILT_SHARE > before:
            return False
        if not len(fresh) and len(present) == known and len(self._names) == old_names:
            self.present = present
            return True
        rows = rows.of(present)
        count = len(self._names)
        crossings = self._crossings = self._crossings or self._first_crossings()
        self.present, self.episodes = present, before + len(fresh)
        word_df = self._word_df.grow(words)
        changed, times = np.unique(rows.worded[:, 1], return_counts=True)
        earlier = word_df[changed]
        word_df[changed] += times
        self.statements_of.extend(rows.asserted[:, 0], rows.asserted[:, 1], len(present))
        self.episodes_of.extend(rows.asserted[:, 1], rows.asserted[:, 0], statements)
        mentioned = rows.mentioned
        self._mentions_of.extend(mentioned[:, 0], _marked(mentioned[:, 1], mentioned[:, 2]), len(present))
        self._mentioned_in.extend(mentioned[:, 1], _marked(mentioned[:, 0], mentioned[:, 2]), count)
        direct = self._direct.grow(count)
        named = distinct(mentioned[:, 1])
        again = named[direct[named] == 0]
        np.add.at(direct, mentioned[:, 1], 1)
        self._add_names(count)
        self._weigh_again()
        df = self._df.grow(count)
        crossed = self._crossed(crossings, changed, earlier, before)
        # what is within a new name is mentioned only where that name is: by the new episodes
        within = self._names.within
        crossed = crossed[within.at(crossed, 0) < old_names]
        counted_anew = distinct(np.concatenate((again, within.at(crossed, 1))))
        np.add.at(df, self._weighed_names(fresh)[1], 1)
        if len(counted_anew):
            df[counted_anew] = self._weighed_episodes(counted_anew)[0]
        return True

    def mass(self, names: Integers) -> NDArray[np.float64]:
        """Return the mass of some names; the formula is in the module."""
        found = self._mass[names]
        if not found.all():
            missing = distinct(names[found == 0])
            words, counts = self._words_of.columns_of(missing)
            worth = np.log(1 + self.episodes / np.maximum(self.word_df[words], 1))
            rows = np.repeat(np.arange(len(missing)), counts)
            self._mass[missing] = np.bincount(rows, worth, len(missing))
            found = self._mass[names]
        return found

    def idf(self, names: Integers) -> Floats:
        """Return the idf of some names; the formula is in the module."""
        return np.asarray(np.log(1 + self.episodes / np.maximum(self.df[names], 1)), np.float32)

    def episodes_mentioning(self, name: int) -> NDArray[np.int32]:
        """Return the episodes that mention a name, in any order, maybe several times; nothing is weighed for it."""
        made = self.episodes_of_name.made(name)
        if made is not None:
            return made
        pairs = self._pairs_of_shorter[name]
        longer = self._names.within.at(pairs, 0)
        names = np.full(len(longer), name)
        around = longer[self._share(self.mass(longer), self.mass(names), names) >= SHARE]
        return self._mentioned_in.columns_of(np.append(around, np.int32(name)))[0] >> 1

    def rarity(self, name: int) -> np.float32:
        """Return the rarity of a name; the formula is in the module."""
        words = self._words_of[name]
        commonest = min(int(np.maximum(self.word_df[words], 1).min()), self.episodes) if len(words) else 1
        return np.float32(max(int(self.df[name]), commonest))

    # -- weighing ---------------------------------------------------------------------------------------------------

    def _weigh_again(self) -> None:
        """Forget all weights: the number of episodes has changed."""
        count = len(self._names)
        self._mass = np.zeros(count)
        together = self._mentions_of.entries <= _MADE_TOGETHER
        self.names_of = WeightedRows(
            len(self.present), self._to_names, least=self._mentions_of.counts, together=together
        )
        self.episodes_of_name = WeightedRows(count, self._to_episodes, lambda: self.df, together=together)

    def _to_names(self, episodes: Numbers) -> Entries:
        counts, names, weights, titles = self._weighed_names(episodes)
        return Entries(counts, names, weights, titles, _shares(counts, weights * self.idf(names)))

    def _to_episodes(self, names: Numbers) -> Entries:
        counts, episodes, weights, titles = self._weighed_episodes(names)
        worth = weights * np.where(titles, np.float32(TITLE_WEIGHT), np.float32(1))
        return Entries(counts, episodes, weights, titles, _shares(counts, worth))

    def _weighed_names(self, episodes: Numbers) -> tuple[Numbers, NDArray[np.int32], Floats, NDArray[np.bool_]]:
        """Return how many names each of some episodes mentions, those within its names included, and what they weigh.

        Args:
            episodes: ascending.

        Returns:
            Counts by episode; then for each entry the name, ascending within an episode, its weight, and whether it is
            the title.
        """
        marked, counts = self._mentions_of.columns_of(episodes)
        names = marked >> 1
        rows = np.repeat(np.arange(len(episodes)), counts)
        pairs, inner = self._pairs_of_longer.columns_of(names)
        shorter = self._names.within.at(pairs, 1)
        share = self._share(self._repeated_masses(names, inner), self.mass(shorter), shorter)
        kept = share >= SHARE
        return _strongest(
            len(episodes),
            np.concatenate((rows, np.repeat(rows, inner)[kept])),
            np.concatenate((names, shorter[kept])),
            np.concatenate((np.ones(len(names)), share[kept] ** 2)),
            np.concatenate((marked & 1 > 0, np.zeros(np.count_nonzero(kept), bool))),
            len(self._names),
        )

    def _weighed_episodes(self, names: Numbers) -> tuple[Numbers, NDArray[np.int32], Floats, NDArray[np.bool_]]:
        """Return the same as :meth:`_weighed_names` the other way round: the episodes that mention some names."""
        marked, counts = self._mentioned_in.columns_of(names)
        rows = np.arange(len(names))
        pairs, outer = self._pairs_of_shorter.columns_of(names)
        longer = self._names.within.at(pairs, 0)
        share = self._share(self.mass(longer), self._repeated_masses(names, outer), np.repeat(names, outer))
        kept = share >= SHARE
        around, times = self._mentioned_in.columns_of(longer[kept])
        return _strongest(
            len(names),
            np.concatenate((np.repeat(rows, counts), np.repeat(np.repeat(rows, outer)[kept], times))),
            np.concatenate((marked >> 1, around >> 1)),
            np.concatenate((np.ones(len(marked)), np.repeat(share[kept] ** 2, times))),
            np.concatenate((marked & 1 > 0, np.zeros(len(around), bool))),
            len(self.present),
        )

    def _repeated_masses(self, names: Integers, times: Numbers) -> NDArray[np.float64]:
        """Return the mass of each of some names so many times."""
        wanted = np.flatnonzero(times)
        return np.repeat(self.mass(names[wanted]), times[wanted])

    def _share(self, longer: NDArray[np.float64], shorter: NDArray[np.float64], names: Integers) -> NDArray[np.float64]:
        """Return the share that names have of the mass of others around them; 0 when nothing mentions one in full.

        Args:
            longer: the masses of the names around them.
            shorter: their own masses.
            names: their numbers.
        """
        # a name that no episode mentions any more leads nowhere, even if it is within another
        return np.where(self._direct.values[names] > 0, _part(longer, shorter), 0.0)

    # -- counting ---------------------------------------------------------------------------------------------------

    def _weigh_all_names(self) -> None:
        words = self._words_of.merged()
        worth = np.log(1 + self.episodes / np.maximum(self.word_df, 1))
        self._mass = np.bincount(words.row_of_entry, worth[words.columns], self._named).astype(np.float64)

    def _counted(self) -> NDArray[np.int64]:
        """Return df of all names."""
        self._weigh_all_names()
        df = np.zeros(len(self._names), np.int64)
        for start in range(0, len(self.present), _AT_ONCE):
            episodes = np.arange(start, min(start + _AT_ONCE, len(self.present)))
            df += np.bincount(self._weighed_names(episodes)[1], minlength=len(df))
        return df

    def _add_names(self, count: int) -> None:
        """Take over names that are new, their words, and what is within what."""
        words = self._names.words.after(self._name_words)
        self._words_of.extend(words[:, 0], words[:, 1], count)
        pairs = self._names.within.after(self._pairs)
        numbers = np.arange(self._pairs, self._pairs + len(pairs), dtype=np.int32)
        self._pairs_of_longer.extend(pairs[:, 0], numbers, count)
        self._pairs_of_shorter.extend(pairs[:, 1], numbers, count)
        self._named, self._pairs, self._name_words = count, self._pairs + len(pairs), self._name_words + len(words)

    def _first_crossings(self) -> _Crossings:
        """Return which of the pairs that are known are within each other now."""
        self._weigh_all_names()
        crossings = _Crossings()
        crossings.look_at(np.arange(self._pairs), *self._masses(np.arange(self._pairs)))
        return crossings

    def _masses(self, pairs: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the masses of the longer and the shorter names of some pairs."""
        within = self._names.within
        return self.mass(within.at(pairs, 0)), self.mass(within.at(pairs, 1))

    def _crossed(
        self, crossings: _Crossings, words: NDArray[np.int32], earlier: NDArray[np.int64], before: int
    ) -> Numbers:
        """Return the pairs of names that are within each other since a change, or are not any more.

        Args:
            crossings: what was so before.
            words: the words that more episodes have than before.
            earlier: how many episodes had each of them.
            before: how many episodes there were.
        """
        gained = np.log(1 + self.episodes / self.word_df[words]) - np.log(1 + before / np.maximum(earlier, 1))
        is_small = np.abs(gained) <= _SMALL_CHANGE
        most = max(float(np.log(self.episodes / before)), float(np.abs(gained[is_small]).max(initial=0)))
        crossings.drift += 1.5 * _LONGEST * most  # of a pair, half the mass of the longer name counts
        names = np.concatenate([self._names.holding(word) for word in words[~is_small].tolist()] or [words[:0]])
        pairs: Numbers = np.concatenate(
            (
                crossings.possible(),
                self._pairs_of_longer.columns_of(names)[0],
                self._pairs_of_shorter.columns_of(names)[0],
                np.arange(len(crossings), self._pairs),
            )
        )
        pairs = distinct(np.asarray(pairs, np.int64))
        return crossings.look_at(pairs, *self._masses(pairs))


class _Crossings:
    """Which names have at least :data:`SHARE` of the mass of the names around them, by number of the pair.

    A pair is looked at again when the masses may have changed enough since for the answer to be another one.

    Attributes:
        drift: how much what decides over a pair can have changed since the beginning, unless a word of it that changed
            more brought the pair up.
    """

    def __init__(self) -> None:
        self.drift = 0.0
        self._are_within = GrowingArray(np.zeros(0, bool))
        self._limits = GrowingArray(np.zeros(0, np.float64))  # the drift up to which the answer stays

    def __len__(self) -> int:
        """Number of pairs that were looked at."""
        return len(self._limits.values)

    def possible(self) -> Numbers:
        """Return the pairs for which the answer may be another one."""
        return np.flatnonzero(self._limits.values <= self.drift)

    def look_at(self, pairs: Numbers, longer: NDArray[np.float64], shorter: NDArray[np.float64]) -> Numbers:
        """Return those of some pairs for which the answer is another one.

        Args:
            pairs: numbers of pairs, ascending; the new ones are all that follow those that are known.
            longer: the masses of their longer names.
            shorter: the masses of their shorter names.
        """
        count = int(pairs.max(initial=-1)) + 1
        before, limits = self._are_within.grow(count), self._limits.grow(count)
        are_within = _part(longer, shorter) >= SHARE
        changed = np.asarray(pairs[are_within != before[pairs]], np.int64)
        before[pairs] = are_within
        limits[pairs] = self.drift + np.abs(shorter - SHARE * longer) - _ROUNDING
        return changed


def _part(longer: NDArray[np.float64], shorter: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the masses of longer names that shorter ones have."""
    return np.minimum(shorter / np.maximum(longer, 1e-9), 1.0)


def _shares(counts: Numbers, worth: Floats) -> Floats:
    """Return what part of the sum of its row each entry is."""
    rows = np.repeat(np.arange(len(counts)), counts)
    totals = np.bincount(rows, worth, len(counts))
    return np.asarray(worth / totals[rows], np.float32)


def _strongest(
    count: int,
    rows: Numbers,
    columns: NDArray[np.int32],
    weights: NDArray[np.float64],
    titles: NDArray[np.bool_],
    width: int,
) -> tuple[Numbers, NDArray[np.int32], Floats, NDArray[np.bool_]]:
    """Return entries sorted by row and column, each pair once, with its greatest weight.

    Args:
        count: number of rows.
        rows: the row of every entry.
        columns: its column.
        weights: its weight.
        titles: whether it is a title.
        width: more than any column.

    Returns:
        The number of entries of each row; then their columns, weights, and whether any of them is a title.
    """
    keys = rows * max(width, 1) + columns
    order = np.argsort(keys, kind="stable")  # a merge, since most ascend
    keys, columns, weights, titles = keys[order], columns[order], weights[order], titles[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if len(starts):
        weights, titles = np.maximum.reduceat(weights, starts), np.maximum.reduceat(titles, starts)
    counts = np.bincount(rows[order[starts]], minlength=count)
    return counts, columns[starts], weights.astype(np.float32), titles


def _marked(numbers: NDArray[np.int32], marks: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return numbers with a mark, 0 or 1, in the last bit."""
    return np.asarray(numbers << 1 | marks, np.int32)

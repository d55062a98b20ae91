"""Who speaks of what, as weighted sparse arrays. Computed at once from final counts, so that it is the same however the
index grew.

With *N* episodes, df(name) the episodes that name it, tdf(word) the episodes whose text has it:

* mass(name) = sum over its words of ln(1 + N / tdf), the weight of what the name says;
* an episode that names *k* also names, with weight c^2, every name within *k* whose share c of its mass is at least
  :data:`SHARE` ("Obama" in "Barack Obama");
* idf(name) = ln(1 + N / df); rarity(name) = max(df, min over its words of tdf), higher for what is common: a title such
  as "Country" is named by one episode and yet no rare word;
* a walk goes from an episode to its names by weight x idf, and from a name to its episodes by weight, times
  :data:`TITLE_WEIGHT` where it is the title.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.integer_table import stable_order

Floats = NDArray[np.float32]

SHARE: Final = 0.5
TITLE_WEIGHT: Final = 8.0


@dataclass(frozen=True)
class CSRRows:
    """For every row a list of columns: those of row *r* are ``columns[pointers[r] : pointers[r + 1]]``."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.columns[self.pointers[row] : self.pointers[row + 1]]

    def places(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where in :attr:`columns` the entries of ``rows`` lie, one row after the other, and how many each has."""
        counts = self.pointers[rows + 1] - self.pointers[rows]
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        return np.arange(total) + np.repeat(self.pointers[rows] - (ends - counts), counts), counts

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Which rows have a column."""
        return np.diff(self.pointers) > 0

    @cached_property
    def _first(self) -> NDArray[np.int32]:
        """The first column of every row; 0 for an empty row."""
        first = np.zeros(len(self.filled), np.int32)
        first[self.filled] = self.columns[self.pointers[:-1][self.filled]]
        return first

    @cached_property
    def _long(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The rows with several columns, their columns, and where those of each begin."""
        rows = np.flatnonzero(np.diff(self.pointers) > 1)
        places, counts = self.places(rows)
        return rows, self.columns[places], np.cumsum(counts) - counts

    def maxima(self, values: NDArray[np.float32], missing: float = 0.0) -> NDArray[np.float32]:
        """For every row the highest of ``values`` at its columns; ``missing`` for an empty row."""
        if not len(self.columns):
            return np.full(len(self.filled), missing, np.float32)
        found = values[self._first]
        rows, columns, starts = self._long
        if len(rows):
            found[rows] = np.maximum.reduceat(values[columns], starts)
        if not self.filled.all():
            found[~self.filled] = missing
        return found


@dataclass(frozen=True)
class Links:
    """Who speaks of what. Episodes, statements and names by their numbers in the index.

    Args:
        statements_of: of each episode, the statements that it asserts.
        episodes_of: of each statement, the episodes that assert it.
        names_of: of each episode, the names that it speaks of, ascending.
        weights: for each entry of ``names_of``, from 0 (exclusive) to 1.
        titles: for each entry of ``names_of``, whether the name is the episode's title.
        df: of each name, the episodes that speak of it.
        idf: of each name.
        rarity: of each name.
        mass: of each name.
        word_df: of each word, the episodes whose text has it.
        present: of each episode, whether it is there.
        episodes: number of episodes that are there.
    """

    statements_of: CSRRows
    episodes_of: CSRRows
    names_of: CSRRows
    weights: NDArray[np.float32]
    titles: NDArray[np.bool_]
    df: NDArray[np.int64]
    idf: NDArray[np.float32]
    rarity: NDArray[np.float32]
    mass: NDArray[np.float32]
    word_df: NDArray[np.int64]
    present: NDArray[np.bool_]
    episodes: int

    @cached_property
    def episodes_of_name(self) -> CSRRows:
        """Of each name, the episodes that speak of it, ascending."""
        return CSRRows(_pointers(self.names_of.columns, len(self.df)), self._episodes[self._by_name])

    @cached_property
    def to_names(self) -> Floats:
        """For each entry of :attr:`names_of`, the share of the episode's weight that goes to the name."""
        shares = self.weights * self.idf[self.names_of.columns]
        totals = np.bincount(self._episodes, shares, len(self.names_of.pointers) - 1)
        return (shares / totals[self._episodes]).astype(np.float32)

    @cached_property
    def to_episodes(self) -> Floats:
        """For each entry of :attr:`episodes_of_name`, the share of the name's weight that goes to the episode."""
        columns = self.names_of.columns
        shares = self.weights * np.where(self.titles, np.float32(TITLE_WEIGHT), np.float32(1))
        totals = np.bincount(columns, shares, len(self.df))
        return (shares / totals[columns])[self._by_name].astype(np.float32)

    @cached_property
    def _episodes(self) -> NDArray[np.int32]:
        """The episode of each entry of :attr:`names_of`."""
        counts = np.diff(self.names_of.pointers)
        return np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    @cached_property
    def _by_name(self) -> NDArray[np.int64]:
        """The entries of :attr:`names_of`, ordered by name, then episode."""
        return stable_order(self.names_of.columns)


def make_links(
    present: NDArray[np.bool_],
    statements: int,
    *,
    asserted: NDArray[np.int32],
    mentioned: NDArray[np.int32],
    worded: NDArray[np.int32],
    words: int,
    name_words: NDArray[np.int32],
    names: int,
    within: NDArray[np.int32],
) -> Links:
    """Links from what an index noted.

    Args:
        present: by episode, whether it is there.
        statements: number of statements.
        asserted: (episode, statement), episodes ascending.
        mentioned: (episode, name, whether it is the title), episodes ascending.
        worded: (episode, word, times).
        words: number of words.
        name_words: (name, word), names ascending.
        names: number of names.
        within: (longer name, shorter name).
    """
    count = int(present.sum())
    if count < len(present):
        asserted, mentioned, worded = (rows[present[rows[:, 0]]] for rows in (asserted, mentioned, worded))
    word_df = np.bincount(worded[:, 1], minlength=words)
    word_idf = np.log(1 + count / np.maximum(word_df, 1))
    mass = np.bincount(name_words[:, 0], word_idf[name_words[:, 1]], names).astype(np.float64)
    # a name that nothing mentions any more leads nowhere, be it within another or not
    within = within[np.bincount(mentioned[:, 1], minlength=names)[within[:, 1]] > 0]
    names_of, weights, titles = _spoken_of(len(present), names, mentioned, within, mass)
    df = np.bincount(names_of.columns, minlength=names)
    commonest = np.full(names, count, np.int64)
    np.minimum.at(commonest, name_words[:, 0], np.maximum(word_df, 1)[name_words[:, 1]])
    commonest[np.bincount(name_words[:, 0], minlength=names) == 0] = 1
    order = stable_order(asserted[:, 1])
    return Links(
        statements_of=CSRRows(_pointers(asserted[:, 0], len(present)), asserted[:, 1].copy()),
        episodes_of=CSRRows(_pointers(asserted[:, 1], statements), asserted[order, 0]),
        names_of=names_of,
        weights=weights,
        titles=titles,
        df=df,
        idf=np.log(1 + count / np.maximum(df, 1)).astype(np.float32),
        rarity=np.maximum(df, commonest).astype(np.float32),
        mass=mass.astype(np.float32),
        word_df=word_df,
        present=present,
        episodes=count,
    )


def _spoken_of(
    episodes: int,
    names: int,
    mentioned: NDArray[np.int32],
    within: NDArray[np.int32],
    mass: NDArray[np.float64],
) -> tuple[CSRRows, NDArray[np.float32], NDArray[np.bool_]]:
    """The names of each episode, those within its names included, with weights, and which are titles."""
    share = mass[within[:, 1]] / np.maximum(mass[within[:, 0]], 1e-9)
    kept = share >= SHARE
    within, share = within[kept], np.minimum(share[kept], 1.0)
    order = stable_order(within[:, 0])
    inner = CSRRows(_pointers(within[:, 0], names), within[order, 1])
    places, counts = inner.places(mentioned[:, 1].astype(np.int64))
    rows = np.concatenate((mentioned[:, 0], np.repeat(mentioned[:, 0], counts)))
    columns = np.concatenate((mentioned[:, 1], inner.columns[places]))
    weights = np.concatenate((np.ones(len(mentioned)), share[order][places] ** 2))
    titles = np.concatenate((mentioned[:, 2] > 0, np.zeros(len(places), bool)))
    keys = rows.astype(np.int64) * max(names, 1) + columns
    order = np.argsort(keys)  # of equal ones the greatest weight counts, in whatever order
    keys, columns, weights, titles = keys[order], columns[order], weights[order], titles[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if len(starts):
        weights, titles = np.maximum.reduceat(weights, starts), np.maximum.reduceat(titles, starts)
    columns, rows = columns[starts].astype(np.int32), rows[order][starts]
    return CSRRows(_pointers(rows, episodes), columns), weights.astype(np.float32), titles


def _pointers(rows: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """Where each row begins, from the row of every entry; shape (count + 1,)."""
    pointers = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=pointers[1:])
    return pointers

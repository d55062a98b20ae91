"""Which episode mentions which name, as weighted sparse arrays.

Everything is computed at once from final counts, so that the links do not depend on how the index grew. With *N*
episodes, df(name) the number of episodes that mention the name, and tdf(word) the number whose text has the word:

* mass(name) = sum over its words of ln(1 + N / tdf): the information in the name;
* an episode that mentions *k* also mentions, with weight c^2, every name within *k* that has a share c of its mass of
  at least :data:`SHARE` ("Obama" in "Barack Obama");
* idf(name) = ln(1 + N / df); rarity(name) = max(df, min over its words of tdf), higher for what is common: only one
  episode mentions a title such as "Country", and yet the word is not rare;
* PageRank steps from an episode to its names by weight x idf, and from a name to its episodes by weight, times
  :data:`TITLE_WEIGHT` where the name is the episode's title.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.retrieve.sparse import CSRRows, stable_order

Floats = NDArray[np.float32]

SHARE: Final = 0.5
TITLE_WEIGHT: Final = 8.0


@dataclass(frozen=True)
class Links:
    """Links between episodes, statements and names, all by their numbers in the index.

    Args:
        statements_of: for each episode, the statements that it asserts.
        episodes_of: for each statement, the episodes that assert it.
        names_of: for each episode, the names that it mentions, ascending.
        weights: for each entry of ``names_of``, in (0, 1].
        titles: for each entry of ``names_of``, whether the name is the episode's title.
        df: for each name, the number of episodes that mention it.
        idf: for each name; formulas are in the module.
        rarity: for each name.
        mass: for each name.
        word_df: for each word, the number of episodes whose text has it.
        present: for each episode, whether it is in the graph, that is, not forgotten.
        episodes: number of episodes in the graph.
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
        """For each name, the episodes that mention it, ascending."""
        return self.names_of.transposed(len(self.df))

    @cached_property
    def to_names(self) -> Floats:
        """For each entry of :attr:`names_of`, the share of the episode's weight that passes to the name."""
        shares = self.weights * self.idf[self.names_of.columns]
        episodes = self.names_of.row_of_entry
        totals = np.bincount(episodes, shares, len(self.names_of))
        return (shares / totals[episodes]).astype(np.float32)

    @cached_property
    def to_episodes(self) -> Floats:
        """For each entry of :attr:`episodes_of_name`, the share of the name's weight that passes to the episode."""
        columns = self.names_of.columns
        shares = self.weights * np.where(self.titles, np.float32(TITLE_WEIGHT), np.float32(1))
        totals = np.bincount(columns, shares, len(self.df))
        return (shares / totals[columns])[self.names_of.by_column].astype(np.float32)


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
    before: Links | None = None,
) -> Links:
    """Return the links of an index from the tables that it keeps.

    Args:
        present: for each episode, whether it is in the graph.
        statements: number of statements.
        asserted: (episode, statement), episodes ascending.
        mentioned: (episode, name, whether it is the title), each pair of episode and name once.
        worded: (episode, word, times).
        words: number of words.
        name_words: (name, word), names ascending.
        names: number of names.
        within: (longer name, shorter name).
        before: earlier links of the same index; they change nothing but the time that it takes.

    Returns:
        The links; what only forgotten episodes assert or mention has none.
    """
    count = int(present.sum())
    if count < len(present):
        asserted, mentioned, worded = (rows[present[rows[:, 0]]] for rows in (asserted, mentioned, worded))
    word_df = np.bincount(worded[:, 1], minlength=words)
    word_idf = np.log(1 + count / np.maximum(word_df, 1))
    mass = np.bincount(name_words[:, 0], word_idf[name_words[:, 1]], names).astype(np.float64)
    # a name that no episode mentions any more leads nowhere, even if it is within another
    within = within[np.bincount(mentioned[:, 1], minlength=names)[within[:, 1]] > 0]
    names_of, weights, titles = _mentions(len(present), names, mentioned, within, mass)
    df = np.bincount(names_of.columns, minlength=names)
    commonest = np.ones(names, np.int64)
    first_words = np.flatnonzero(np.diff(name_words[:, 0], prepend=-1))
    if len(first_words):
        least = np.minimum.reduceat(np.maximum(word_df, 1)[name_words[:, 1]], first_words)
        commonest[name_words[first_words, 0]] = np.minimum(least, count)
    statements_of = CSRRows.of_sorted(asserted[:, 0], asserted[:, 1].copy(), len(present))
    if before is not None:
        names_of.follow(before.names_of)
        statements_of.follow(before.statements_of)
    return Links(
        statements_of=statements_of,
        episodes_of=statements_of.transposed(statements),
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


def _mentions(
    episodes: int,
    names: int,
    mentioned: NDArray[np.int32],
    within: NDArray[np.int32],
    mass: NDArray[np.float64],
) -> tuple[CSRRows, NDArray[np.float32], NDArray[np.bool_]]:
    """Return the names of each episode, including those within its names, their weights, and which are titles."""
    share = mass[within[:, 1]] / np.maximum(mass[within[:, 0]], 1e-9)
    kept = share >= SHARE
    within, share = within[kept], np.minimum(share[kept], 1.0)
    by_longer = stable_order(within[:, 0])
    inner = CSRRows.of_sorted(within[:, 0], within[by_longer, 1], names)
    places, counts = inner.places(mentioned[:, 1].astype(np.int64))
    rows = np.concatenate((mentioned[:, 0], np.repeat(mentioned[:, 0], counts)))
    columns = np.concatenate((mentioned[:, 1], inner.columns[places]))
    weights = np.concatenate((np.ones(len(mentioned)), share[by_longer][places] ** 2))
    titles = np.concatenate((mentioned[:, 2] > 0, np.zeros(len(places), bool)))
    keys = rows.astype(np.int64) * max(names, 1) + columns
    order = np.argsort(keys, kind="stable")  # of equal keys the greatest weight counts; a merge, since most ascend
    keys, columns, weights, titles = keys[order], columns[order], weights[order], titles[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if len(starts):
        weights, titles = np.maximum.reduceat(weights, starts), np.maximum.reduceat(titles, starts)
    columns, rows = columns[starts].astype(np.int32), rows[order][starts]
    return CSRRows.of_sorted(rows, columns, episodes), weights.astype(np.float32), titles

"""What the first page says of a memory at a time; it looks at every episode and every statement."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph import NameLinks, TemporalGraph
from worldthread.web.names import STRONGEST

_LATEST: Final = 5  # statements that show what the memory knows
_LAST_EPISODES: Final = 40  # that are looked at for them
_MAX_RECORDED: Final = 200  # times of recording that are listed


@dataclass(frozen=True)
class CountedTime:
    """What of the time is asked for; see :meth:`~worldthread.graph.NameLinks.holding`."""

    at: float | None = None
    span: tuple[float, float] | None = None
    ended: bool = False

    @property
    def first(self) -> float:
        """The first world time that counts."""
        return -np.inf if self.span is None else self.span[0]

    @property
    def last(self) -> float:
        """The last world time that counts; infinite for now, since what is announced counts too."""
        return self.span[1] if self.span is not None else np.inf if self.at is None else self.at


@dataclass(frozen=True)
class Overview:
    """The times of a memory, and what it learned most recently.

    Args:
        first: the world time of the first episode that counts; ``None`` if there is none.
        last: that of the last one.
        texts: how many episodes count.
        recorded: times at which something was recorded, in seconds since 1970-01-01 UTC, ascending; the last ones if
            there are many.
        latest: numbers of some statements that hold, from the last episodes: each episode gives one.
    """

    first: float | None
    last: float | None
    texts: int
    recorded: list[float]
    latest: list[int]


@dataclass(frozen=True)
class StatementCounts:
    """The statements and names that a memory knows at a time.

    Args:
        names: how many names.
        statements: how many statements had begun, or held in the range.
        current: how many of them hold.
        ended: how many times one has ended.
        strongest: the names that most of the statements mention, the strongest first, with how many these are.
    """

    names: int
    statements: int
    current: int
    ended: int
    strongest: list[tuple[str, int]]

    def as_json(self) -> dict[str, int]:
        """Return the counts by name, without the names."""
        return {
            "names": self.names, "statements": self.statements, "current": self.current, "ended": self.ended
        }  # fmt: skip


def overview_of(graph: TemporalGraph, time: CountedTime) -> Overview:
    """Return what the first page says of the episodes of a graph, which must be locked against changes."""
    times, _, recorded_at = graph.episode_columns()
    live = list(graph.live_episodes)
    recorded = set(map(recorded_at.__getitem__, live))
    recorded.discard(None)
    counted = [(at, number) for number in live if time.first <= (at := times[number]) <= time.last]
    return Overview(
        first=min((at for at, _ in counted), default=None),
        last=max((at for at, _ in counted), default=None),
        texts=len(counted),
        recorded=heapq.nlargest(_MAX_RECORDED, (each for each in recorded if each is not None))[::-1],
        latest=_latest(graph, heapq.nlargest(_LAST_EPISODES, counted), time),
    )


def _latest(graph: TemporalGraph, episodes: list[tuple[float, int]], time: CountedTime) -> list[int]:
    at = time.at if time.span is None else time.span[1]
    found: dict[int, None] = {}
    for _, episode in episodes:
        new = [number for number in graph.statements_of(episode) if number not in found and graph.lasts(number, at)]
        told = next((number for number in new if graph.is_fact(number)), next(iter(new), None))
        if told is not None:
            found[told] = None
        if len(found) == _LATEST:
            break
    return list(found)


def counts_of(links: NameLinks, time: CountedTime) -> StatementCounts:
    """Return the counts of the statements that the links of a graph are of."""
    begins, ends = links.begins, links.ends
    known = (begins < ends) & (begins <= time.last) & (ends > time.first)
    now = links.now if time.at is None and time.span is None else time.last
    over = known & (ends <= now)
    current = known if time.span is not None else known & ~over
    is_known = np.zeros(int(links.held.max(initial=-1)) + 1, bool)
    is_known[links.held[known]] = True
    told = is_known[links.statements]
    # a name counts once in a statement, in how many of its links it may stand
    size = np.int64(1 + max((int(end.max(initial=-1)) for end in (links.first, links.second)), default=-1))
    pairs = np.concatenate([links.statements[told] * size + end[told] for end in (links.first, links.second)])
    weights = np.bincount(np.unique(pairs) % size) if len(pairs) else np.zeros(0, np.int64)
    return StatementCounts(
        names=int((weights > 0).sum()),
        statements=int(is_known.sum()),
        current=len(np.unique(links.held[current])),
        ended=int(over.sum()),
        strongest=_strongest(links, weights),
    )


def _strongest(links: NameLinks, weights: NDArray[np.int64]) -> list[tuple[str, int]]:
    if not len(weights):
        return []
    least = max(1, int(np.partition(weights, -min(STRONGEST, len(weights)))[-min(STRONGEST, len(weights))]))
    strong = [(links.names[number], int(weights[number])) for number in np.flatnonzero(weights >= least).tolist()]
    return heapq.nsmallest(STRONGEST, strong, key=lambda each: (-each[1], each[0]))

"""What the first page says of a whole memory. It looks at every episode, so it is computed once after each change."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Final

from worldthread.graph import TemporalGraph

_LATEST: Final = 5  # statements that show what the memory knows
_LAST_EPISODES: Final = 40  # that are looked at for them
_MAX_RECORDED: Final = 200  # times of recording that are listed


@dataclass(frozen=True)
class Overview:
    """The times of a memory, and what it learned most recently.

    Args:
        first: the world time of the first episode; ``None`` if there is none.
        last: that of the last episode.
        recorded: times at which something was recorded, in seconds since 1970-01-01 UTC, ascending; the last ones if
            there are many.
        latest: numbers of some statements that hold, from the last episodes: each episode gives one.
    """

    first: float | None
    last: float | None
    recorded: list[float]
    latest: list[int]


def overview_of(graph: TemporalGraph) -> Overview:
    """Return what the first page says of a graph, which must be locked against changes."""
    times, _, recorded_at = graph.episode_columns()
    live = list(graph.live_episodes)
    lived = list(map(times.__getitem__, live))
    recorded = set(map(recorded_at.__getitem__, live))
    recorded.discard(None)
    return Overview(
        first=min(lived, default=None),
        last=max(lived, default=None),
        recorded=heapq.nlargest(_MAX_RECORDED, (time for time in recorded if time is not None))[::-1],
        latest=_latest(graph, heapq.nlargest(_LAST_EPISODES, zip(lived, live, strict=True))),
    )


def _latest(graph: TemporalGraph, episodes: list[tuple[float, int]]) -> list[int]:
    found: dict[int, None] = {}
    for _, episode in episodes:
        new = [
            number for number in graph.statements_of(episode) if number not in found and graph.statement_holds(number)
        ]
        told = next((number for number in new if graph.is_fact(number)), next(iter(new), None))
        if told is not None:
            found[told] = None
        if len(found) == _LATEST:
            break
    return list(found)

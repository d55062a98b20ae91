"""What plays came to over time: the lines that the report of a sweep draws, one for each player in a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from worldthread.bench.sweep_report.plays import FinishedPlay, GrowthCurve, PlayGroup, Sweep
from worldthread.bench.sweep_report.published import glow_score

if TYPE_CHECKING:
    import numpy as np

POINTS: Final = "best_score"
SHARE: Final = "best_normalized"
"""Name of the figure that scores are told by, where the highest possible one is known."""

_POINTS: Final = 160  # of a line at most
_SPANS: Final = 12  # of moves, over which a rate is taken
_SOONEST: Final = 0.001  # seconds; what took less is drawn there


@dataclass(frozen=True)
class MeanCurve:
    """Means over plays, and how far they spread; at ``x`` and from there to the next one.

    Args:
        x, mean: of the same length.
        low, high: a standard deviation below and above the mean, as far as there is a play.
    """

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def scored_by(sweep: Sweep, game: str) -> str:
    """What tells scores in a game: :data:`SHARE`, or :data:`POINTS` where points are published or it is unknown."""
    own = [(player, group) for (where, player), group in sweep.groups.items() if where == game]
    is_known = all(group.values(SHARE) is not None for _, group in own)
    return SHARE if is_known and all(glow_score(player, game) is None for player, _ in own) else POINTS


def over_moves(sweep: Sweep, game: str, group: PlayGroup) -> MeanCurve | None:
    """The highest score so far after each move; a play that has ended keeps its own."""
    moves = [[move for move, _ in play.summary["curve"]] for play in group.counted]
    grid = _moves_until(max(play.summary["moves"] for play in group.counted), _POINTS)
    return _best_so_far(scored_by(sweep, game) == SHARE, group, grid, moves)


def over_seconds(sweep: Sweep, game: str, group: PlayGroup) -> MeanCurve | None:
    """The same after each second; ``None`` when a release that did not tell the times played one of them."""
    import numpy as np

    if any("curve_seconds" not in play.summary for play in group.counted):
        return None
    times = [[max(second, _SOONEST) for second in play.summary["curve_seconds"]] for play in group.counted]
    first = min(own[0] for own in times)
    last = max(first, *(play.summary["seconds_without_model"] for play in group.counted))
    grid = np.unique(np.concatenate([np.geomspace(first, last, _POINTS), *times]))
    return _best_so_far(scored_by(sweep, game) == SHARE, group, grid, times)


def facts(_sweep: Sweep, _game: str, group: PlayGroup) -> MeanCurve | None:
    """How many facts hold after each move; ``None`` without trajectories."""
    import numpy as np

    tracks = _tracks(group.counted)
    if not tracks:
        return None
    grid = _moves_until(max(track.turns[-1] for track in tracks), _POINTS)
    return _over_plays(grid, np.stack([_last_known(track.turns, track.facts, grid) for track in tracks]))


def updates(_sweep: Sweep, _game: str, group: PlayGroup) -> MeanCurve | None:
    """How many statements a move ended, in spans of moves, of the plays that went on; ``None`` without trajectories."""
    import numpy as np

    tracks = _tracks(group.counted)
    last = max((track.turns[-1] for track in tracks), default=0)
    if last == 0:
        return None
    edges = _moves_until(last, _SPANS)
    rows = np.full((len(tracks), len(edges) - 1), np.nan)
    for row, track in zip(rows, tracks, strict=True):
        ended, _ = np.histogram(np.array(track.turns) - 0.5, edges, weights=track.ended)  # move 1 is from 0 to 1
        made = np.clip(track.turns[-1] - edges[:-1], 0, np.diff(edges))
        row[made > 0] = ended[made > 0] / made[made > 0]
    return _over_plays(edges, np.column_stack([rows, rows[:, -1]]))  # the last span is drawn to its end


def _moves_until(last: int, most: int) -> np.ndarray:
    """Numbers of moves from 0 to ``last``: all, or about ``most`` of them."""
    import numpy as np

    return np.unique(np.linspace(0, last, min(last, most) + 1).round())


def _best_so_far(is_share: bool, group: PlayGroup, grid: np.ndarray, times: Sequence[Sequence[float]]) -> MeanCurve:
    import numpy as np

    rows = []
    for play, own in zip(group.counted, times, strict=True):
        whole = play.summary["max_score"] if is_share else 1
        rows.append(_last_known(own, [score / whole for _, score in play.summary["curve"]], grid))
    return _over_plays(grid, np.stack(rows))


def _tracks(plays: Sequence[FinishedPlay]) -> list[GrowthCurve]:
    return [track for play in plays if (track := play.track) and track.turns]


def _last_known(times: Sequence[float], values: Sequence[float], grid: np.ndarray) -> np.ndarray:
    """At each point the last value up to it, and the first one before there is any."""
    import numpy as np

    places = np.searchsorted(np.asarray(times), grid, side="right") - 1
    known: np.ndarray = np.asarray(values, dtype=float)[np.maximum(places, 0)]
    return known


def _over_plays(grid: np.ndarray, rows: np.ndarray) -> MeanCurve:
    """What the plays, a row each, have together at each point; what is no number is left out."""
    import numpy as np

    mean = np.nanmean(rows, axis=0)
    numbers = np.isfinite(rows).sum(axis=0)
    deviation = np.sqrt(np.nansum((rows - mean) ** 2, axis=0) / np.maximum(numbers - 1, 1))
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    return MeanCurve(grid, mean, np.maximum(mean - deviation, low), np.minimum(mean + deviation, high))

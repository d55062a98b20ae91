"""Curves over time in the report of a sweep, one for each player in a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from worldthread_lab.bench.sweep_report.plays import FinishedPlay, GrowthCurve, PlayGroup, Sweep
from worldthread_lab.bench.sweep_report.published import glow_score

if TYPE_CHECKING:
    import numpy as np

POINTS: Final = "best_score"
SHARE: Final = "best_normalized"
"""Name of the figure for scores where the highest possible score is known."""

_POINTS: Final = 160  # the most points of a curve
_SPANS: Final = 12  # number of spans of moves for a rate
_SHORTEST: Final = 0.001  # seconds; the least time on a logarithmic axis


@dataclass(frozen=True)
class MeanCurve:
    """Means and deviations over plays, as a step function.

    All arrays have shape (points,).

    Args:
        x: start of each step.
        mean: mean of the plays.
        low: mean minus a standard deviation, but not below the least value of a play.
        high: mean plus a standard deviation, but not above the greatest value of a play.
    """

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def score_figure(sweep: Sweep, game: str) -> str:
    """Return the figure of a game's scores: :data:`SHARE`, or :data:`POINTS` if a paper has points or it is unknown."""
    own = [(player, group) for (where, player), group in sweep.groups.items() if where == game]
    is_known = all(group.values(SHARE) is not None for _, group in own)
    return SHARE if is_known and all(glow_score(player, game) is None for player, _ in own) else POINTS


def over_moves(sweep: Sweep, game: str, group: PlayGroup) -> MeanCurve | None:
    """Return the highest score so far after each move; a finished play keeps its score."""
    moves = [[move for move, _ in play.summary["curve"]] for play in group.counted]
    grid = _moves_until(max(play.summary["moves"] for play in group.counted), _POINTS)
    return _best_so_far(score_figure(sweep, game) == SHARE, group, grid, moves)


def over_seconds(sweep: Sweep, game: str, group: PlayGroup) -> MeanCurve | None:
    """Return the highest score so far after each second; ``None`` if a play of an older release has no times."""
    import numpy as np

    if any("curve_seconds" not in play.summary for play in group.counted):
        return None
    times = [[max(second, _SHORTEST) for second in play.summary["curve_seconds"]] for play in group.counted]
    first = min(own[0] for own in times)
    last = max(first, *(play.summary["seconds_without_model"] for play in group.counted))
    grid = np.unique(np.concatenate([np.geomspace(first, last, _POINTS), *times]))
    return _best_so_far(score_figure(sweep, game) == SHARE, group, grid, times)


def facts(_sweep: Sweep, _game: str, group: PlayGroup) -> MeanCurve | None:
    """Return the number of facts that hold after each move; ``None`` without trajectories."""
    import numpy as np

    growths = _growths(group.counted)
    if not growths:
        return None
    grid = _moves_until(max(growth.turns[-1] for growth in growths), _POINTS)
    return _over_plays(grid, np.stack([_last_known(growth.turns, growth.facts, grid) for growth in growths]))


def updates(_sweep: Sweep, _game: str, group: PlayGroup) -> MeanCurve | None:
    """Return the statements ended per move, in spans of moves, over unfinished plays; ``None`` without trajectories."""
    import numpy as np

    growths = _growths(group.counted)
    last = max((growth.turns[-1] for growth in growths), default=0)
    if last == 0:
        return None
    edges = _moves_until(last, _SPANS)
    rows = np.full((len(growths), len(edges) - 1), np.nan)
    for row, growth in zip(rows, growths, strict=True):
        ended, _ = np.histogram(np.array(growth.turns) - 0.5, edges, weights=growth.ended)  # move 1 spans 0 to 1
        made = np.clip(growth.turns[-1] - edges[:-1], 0, np.diff(edges))
        row[made > 0] = ended[made > 0] / made[made > 0]
    return _over_plays(edges, np.column_stack([rows, rows[:, -1]]))  # extends the last span to its end


def _moves_until(last: int, most: int) -> np.ndarray:
    """Return numbers of moves from 0 to ``last``: all, or about ``most`` of them."""
    import numpy as np

    return np.unique(np.linspace(0, last, min(last, most) + 1).round())


def _best_so_far(is_share: bool, group: PlayGroup, grid: np.ndarray, times: Sequence[Sequence[float]]) -> MeanCurve:
    import numpy as np

    rows = []
    for play, own in zip(group.counted, times, strict=True):
        scale = play.summary["max_score"] if is_share else 1
        rows.append(_last_known(own, [score / scale for _, score in play.summary["curve"]], grid))
    return _over_plays(grid, np.stack(rows))


def _growths(plays: Sequence[FinishedPlay]) -> list[GrowthCurve]:
    """Return the growth of each play's memory: of the graph that a model built, where the player's memory is one."""
    return [growth for play in plays if (growth := play.built_graph_growth or play.growth) and growth.turns]


def _last_known(times: Sequence[float], values: Sequence[float], grid: np.ndarray) -> np.ndarray:
    """Return the last value up to each point; the first value before that."""
    import numpy as np

    places = np.searchsorted(np.asarray(times), grid, side="right") - 1
    known: np.ndarray = np.asarray(values, dtype=float)[np.maximum(places, 0)]
    return known


def _over_plays(grid: np.ndarray, rows: np.ndarray) -> MeanCurve:
    """Return means and deviations over plays, one row each, without values that are not numbers."""
    import numpy as np

    mean = np.nanmean(rows, axis=0)
    numbers = np.isfinite(rows).sum(axis=0)
    deviation = np.sqrt(np.nansum((rows - mean) ** 2, axis=0) / np.maximum(numbers - 1, 1))
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    return MeanCurve(grid, mean, np.maximum(mean - deviation, low), np.minimum(mean + deviation, high))

"""The share of the gap between no memory and a perfect memory that a memory closes."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from worldthread_lab.bench.sweep_report.plays import PlayGroup, Sweep
from worldthread_lab.bench.sweep_report.tables import NOTHING, AgentTable, TableColumns
from worldthread_lab.play.run import Run
from worldthread_lab.play.runs import ORACLE
from worldthread_lab.play.statistics import CONFIDENCE, RESAMPLES

if TYPE_CHECKING:
    import numpy as np

NONE: Final = "none"
"""Name of the memory module that remembers nothing."""
_ROUNDING: Final = 1e-9  # the greatest difference that counts as no gap


@dataclass(frozen=True)
class GapShare:
    """A share of the gap between no memory and the oracle.

    Args:
        share: (memory - none) / (oracle - none) of mean scores; 0 is as good as no memory, 1 as good as the truth.
        interval: 95 % bootstrap interval of the share; ``None`` (unbounded) if 2.5 % or more of the resamples have no
            gap.
    """

    share: float
    interval: tuple[float, float] | None


def gap_closed(
    games: Sequence[tuple[PlayGroup, PlayGroup, PlayGroup]], name: str = "best_normalized"
) -> GapShare | None:
    """Compute the share of the gap that a memory closes, over games of equal weight.

    If the three groups of a game were played with the same seeds (two or more), the bootstrap resamples seeds, each as
    the mean of its attempts, because games differ more by seed than players do. Otherwise it resamples the plays of
    each group.

    Args:
        games: for each game, the plays without a memory, with the memory, and with the oracle.
        name: figure to compare; every play has it.

    Returns:
        The share; ``None`` if there is no gap: the oracle's mean is not above the mean without a memory.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    gains, gaps = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    gain = gap = 0.0
    for groups in games:
        (none, memory, oracle), are_paired = _units(groups, name)
        gain += memory.mean() - none.mean()
        gap += oracle.mean() - none.mean()
        chosen = _chosen(len(none), rng)
        nones = none[chosen].mean(axis=1)
        memories, oracles = (
            units[chosen if are_paired else _chosen(len(units), rng)].mean(axis=1) for units in (memory, oracle)
        )
        gains += memories - nones
        gaps += oracles - nones
    if gap <= _ROUNDING:
        return None
    interval = None
    if (gaps <= _ROUNDING).mean() < (1 - CONFIDENCE) / 2:
        usable = gaps > _ROUNDING
        low, high = np.quantile(gains[usable] / gaps[usable], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        interval = (float(low), float(high))
    return GapShare(gain / gap, interval)


def _units(groups: Sequence[PlayGroup], name: str) -> tuple[list[np.ndarray], bool]:
    """Return the units to resample for each group, and whether they are paired: seeds if paired, else plays."""
    import numpy as np

    by_seed = [_by_seed(group, name) for group in groups]
    seeds = sorted(by_seed[0])
    if len(seeds) > 1 and all(sorted(own) == seeds for own in by_seed):
        return [np.array([statistics.fmean(own[seed]) for seed in seeds]) for own in by_seed], True
    return [np.array([value for values in own.values() for value in values]) for own in by_seed], False


def _by_seed(group: PlayGroup, name: str) -> dict[int, list[float]]:
    values: dict[int, list[float]] = {}
    for play in group.counted:
        values.setdefault(play.run.seed, []).append(float(play.summary[name]))
    return values


def _chosen(number: int, rng: np.random.Generator) -> np.ndarray:
    """Return the indices of the resamples, one per row."""
    return rng.integers(number, size=(RESAMPLES, number))


def gaps(sweep: Sweep) -> list[AgentTable]:
    """Return the share of the gap that each memory module closes, by game and over all games."""
    players = [p for p in sweep.players if p.memory not in ("", NONE, ORACLE)]
    compared = {
        (game, player): groups
        for game in sweep.games
        for player in players
        if (groups := _three(sweep, game, player)) is not None
    }
    if not compared:
        return []
    players = [player for player in players if any(key[1] == player for key in compared)]
    games = [game for game in sweep.games if any(key[0] == game for key in compared)]
    columns = TableColumns(("player", [sweep.label(player) for player in players]))
    for game in games:
        cells = [[compared[game, player]] if (game, player) in compared else [] for player in players]
        columns.add(sweep.name(game), [_cell(own) for own in cells])
    if len(games) > 1:
        columns.add("all", [_cell([own for key, own in compared.items() if key[1] == player]) for player in players])
    caption = (
        "(memory - none) / (oracle - none) of the mean of the highest normalised scores, with its 95 % bootstrap "
        "interval over seeds (over plays if there is only one); - if the oracle is not better than no memory; "
        "[unbounded] if 2.5 % or more of the resamples have no gap. The oracle knows the truth: 1 is the value of a "
        "perfect memory."
    )
    return [columns.table("gap", "Share of the gap between no memory and the oracle", caption, sweep.counted)]


def _three(sweep: Sweep, game: str, player: Run) -> tuple[PlayGroup, PlayGroup, PlayGroup] | None:
    """Return the plays without a memory, with the player's, and with the oracle, if all exist and have a share."""
    found = [sweep.of(game, replace(player, memory=memory)) for memory in (NONE, player.memory, ORACLE)]
    groups = [group for group in found if group is not None and group.values("best_normalized") is not None]
    return (groups[0], groups[1], groups[2]) if len(groups) == 3 else None


def _cell(games: Sequence[tuple[PlayGroup, PlayGroup, PlayGroup]]) -> str:
    closed = gap_closed(games) if games else None
    if closed is None:
        return NOTHING
    if closed.interval is None:
        return f"{closed.share:.2f} [unbounded]"
    return f"{closed.share:.2f} [{closed.interval[0]:.2f}, {closed.interval[1]:.2f}]"

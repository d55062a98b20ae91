"""The plays of a sweep by game and player, for its report."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from worldthread.bench.sweep_report.published import settings_of
from worldthread.errors import InputError
from worldthread.play.run import Run
from worldthread.play.sweep import RESULTS_FILE, read_results
from worldthread.play.sweep_figures import best_attempts
from worldthread.play.trajectory import TRAJECTORY_FILE, read_trajectory

_LEVEL = re.compile(r"\bdungeon level (\d+) in ")


@dataclass(frozen=True)
class GrowthCurve:
    """What a trajectory tells of a memory's growth: a value for each step.

    Args:
        turns: moves so far, never falling.
        facts: facts that hold.
        ended: statements that the step ended.
        deepest: the deepest dungeon level that was told of; ``None`` in a world that has none.
    """

    turns: list[int]
    facts: list[int]
    ended: list[int]
    deepest: int | None


@dataclass(frozen=True)
class FinishedPlay:
    """A play that came to its end.

    Args:
        run: what was played.
        summary: its figures.
        folder: of the play; it may be gone.
    """

    run: Run
    summary: dict[str, Any]
    folder: Path

    @cached_property
    def track(self) -> GrowthCurve | None:
        """What its trajectory tells; ``None`` when the file is not there any more.

        Raises:
            FormatError: the file is damaged.
        """
        path = self.folder / TRAJECTORY_FILE
        if not path.exists():
            return None
        steps = read_trajectory(path).steps
        levels = [int(level) for step in steps for level in _LEVEL.findall(step["observation"])]
        return GrowthCurve(
            turns=[step["turn"] for step in steps],
            facts=[step["facts"] for step in steps],
            ended=[len(step["ended"]) for step in steps],
            deepest=max(levels, default=None),
        )


@dataclass(frozen=True)
class PlayGroup:
    """All plays of one player in one game.

    Args:
        plays: every one that came to its end, at least one.
        counted: those that the scores count.
    """

    plays: tuple[FinishedPlay, ...]
    counted: tuple[FinishedPlay, ...]

    def values(self, name: str) -> list[float] | None:
        """A figure of the plays that count; ``None`` when one of them lacks it."""
        values = [play.summary[name] for play in self.counted]
        return None if None in values else [float(value) for value in values]

    @property
    def attempts(self) -> int:
        """The most attempts at one seed."""
        return max(Counter(play.run.seed for play in self.plays).values())


@dataclass(frozen=True)
class Sweep:
    """What was played, by game and player.

    A player is a :class:`Run` without game, seed, attempt and release: all that decides how it plays. Its limit of
    moves is left out too where it is the same for all its plays of each game: limits belong to games then.

    Args:
        groups: by game and player, in the order in which these first came.
        best: how many attempts at each seed the scores count; ``None``: all.
        releases: that played.
    """

    groups: dict[tuple[str, Run], PlayGroup]
    best: int | None
    releases: tuple[str, ...]

    @cached_property
    def games(self) -> tuple[str, ...]:
        """The games, in the order in which they first came."""
        return tuple(dict.fromkeys(game for game, _ in self.groups))

    @cached_property
    def players(self) -> tuple[Run, ...]:
        """The players, in the order in which they first came."""
        return tuple(dict.fromkeys(player for _, player in self.groups))

    @cached_property
    def _names(self) -> dict[str, str]:
        return _short_names(self.games)

    @cached_property
    def _labels(self) -> dict[Run, str]:
        return _labels(self.players)

    def of(self, game: str, player: Run) -> PlayGroup | None:
        """The plays of a player in a game."""
        return self.groups.get((game, player))

    def name(self, game: str) -> str:
        """A game for people: without kind and folders, where that is clear."""
        return self._names[game]

    def label(self, player: Run) -> str:
        """A player for people: agent and memory module, with the settings that tell it from others."""
        return self._labels[player]

    @property
    def counted(self) -> str:
        """Which plays the scores count, as a sentence."""
        if self.best is None or all(group.attempts <= self.best for group in self.groups.values()):
            return "All plays count."
        most = max(group.attempts for group in self.groups.values())
        return f"Only the best {self.best} of up to {most} attempts at each seed count."


def read_sweep(folder: Path, *, best: int | None = None) -> Sweep:
    """What the folder of a sweep holds; of a play that two releases made, the one that ended last.

    Args:
        folder: of the sweep.
        best: count only so many attempts at each seed, the best ones; ``None``: all.

    Raises:
        InputError: nothing was played there.
        FormatError: the file of results is damaged.
    """
    path = folder / RESULTS_FILE
    if not path.exists():
        raise InputError(f"{folder} is not the folder of a sweep: it holds no {RESULTS_FILE}")
    done = {
        replace(run, version="", audit=True): FinishedPlay(run, s, folder / run.folder)
        for run, s in read_results(path).items()
    }
    if not done:
        raise InputError(f"no play of {folder} came to its end yet; worldthread sweep goes on with it")
    limited = _players_told_apart_by_limits(done)
    plays: dict[tuple[str, Run], list[FinishedPlay]] = {}
    for run, play in done.items():
        player = replace(run, game="", seed=0, attempt=0)
        without = replace(player, steps=None)
        plays.setdefault((run.game, player if without in limited else without), []).append(play)
    groups = {key: PlayGroup(tuple(own), _counted(own, best)) for key, own in plays.items()}
    return Sweep(groups, best, tuple(dict.fromkeys(play.run.version for play in done.values())))


def _players_told_apart_by_limits(runs: Iterable[Run]) -> set[Run]:
    """The players, without their limits of moves, that played some game with several."""
    limits: dict[tuple[str, Run], set[int | None]] = {}
    for run in runs:
        limits.setdefault((run.game, replace(run, game="", seed=0, attempt=0, steps=None)), set()).add(run.steps)
    return {player for (_, player), own in limits.items() if len(own) > 1}


def _counted(plays: Sequence[FinishedPlay], best: int | None) -> tuple[FinishedPlay, ...]:
    if best is None:
        return tuple(plays)
    chosen = {id(summary) for summary in best_attempts([play.summary for play in plays], best)}
    return tuple(play for play in plays if id(play.summary) in chosen)


def _short_names(games: Sequence[str]) -> dict[str, str]:
    short = {game: re.sub(r".*[:/\\]", "", game) or game for game in games}
    often = Counter(short.values())
    return {game: name if often[name] == 1 else game for game, name in short.items()}


def _labels(players: Sequence[Run]) -> dict[Run, str]:
    labels = {}
    for player in players:
        namesakes = [_settings(other) for other in players if other.player == player.player]
        own = _settings(player)
        differing = [name for name in own if any(other.get(name) != own[name] for other in namesakes)]
        labels[player] = ", ".join([player.player, *(own[name] for name in differing)])
    return labels


def _settings(player: Run) -> dict[str, str]:
    """What a player was given that is not as it would be by itself, in words, by name."""
    told = {"model": player.model} if player.model else {}
    told |= {f"option {name}": f"{name}={json.dumps(value)}" for name, value in settings_of(player).items()}
    if player.steps is not None:
        told["steps"] = f"{player.steps} moves"
    if not player.valid_actions:
        told["valid_actions"] = "no list of valid actions"
    if player.goal is not None:
        told["goal"] = f"told: {player.goal}"
    if player.budget_tokens is not None:
        told["budget_tokens"] = f"{player.budget_tokens} tokens"
    if player.budget_dollars is not None:
        told["budget_dollars"] = f"${player.budget_dollars:g}"
    return told


def render_settings(player: Run) -> str:
    """Everything that a player was given, for people, but for its model and its limit of moves."""
    return ", ".join(_settings(replace(player, model="", steps=None)).values())


def all_plays(groups: Iterable[PlayGroup]) -> list[FinishedPlay]:
    """Every play of some groups."""
    return [play for group in groups for play in group.plays]

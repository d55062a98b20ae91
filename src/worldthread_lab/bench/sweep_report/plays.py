"""The plays of a sweep by game and player, for its report."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from worldthread.errors import InputError
from worldthread_lab.bench.sweep_report.published import settings_of
from worldthread_lab.play.people import plays_of_people
from worldthread_lab.play.run import PERSON, RULES, Run
from worldthread_lab.play.run_files import MODULE_MEMORY_FILE
from worldthread_lab.play.sweep import RESULTS_FILE, read_results
from worldthread_lab.play.sweep_figures import best_attempts
from worldthread_lab.play.trajectory import TRAJECTORY_FILE, read_trajectory

_LEVEL = re.compile(r"\bdungeon level (\d{1,9}) in ")
_PEOPLE = Run("", PERSON, 0)
"""All people together, whatever limits they played with."""


@dataclass(frozen=True)
class GrowthCurve:
    """The growth of a memory in a play, with a value for each step.

    Args:
        turns: number of moves so far; never decreases.
        facts: number of facts that hold.
        ended: number of statements that the step ended.
        deepest: deepest dungeon level in an observation; ``None`` in a world without levels.
    """

    turns: list[int]
    facts: list[int]
    ended: list[int]
    deepest: int | None


@dataclass(frozen=True)
class FinishedPlay:
    """A finished play.

    Args:
        run: description of the play.
        summary: figures of the play.
        folder: folder of the play; may be missing.
    """

    run: Run
    summary: dict[str, Any]
    folder: Path

    @cached_property
    def built_graph_growth(self) -> GrowthCurve | None:
        """The growth of the graph that a model built in the memory module; ``None`` if the module builds none."""
        from worldthread.memory.memory import Memory

        path = self.folder / MODULE_MEMORY_FILE
        if not path.is_file():
            return None
        turns: list[int] = []
        counts: list[int] = []
        ended: list[int] = []
        before: frozenset[str] = frozenset()
        with Memory(path, readonly=True, model="none") as memory:
            graph = memory.record.graph
            for at in sorted({graph.episode(id_).at for id_ in graph.episodes()}):
                holds = frozenset(fact.id for fact in memory.view(at).facts())
                turns.append(round(at))
                counts.append(len(holds))
                ended.append(len(before - holds))
                before = holds
        return GrowthCurve(turns, counts, ended, None)

    @cached_property
    def growth(self) -> GrowthCurve | None:
        """The growth of worldthread's memory; ``None`` if the trajectory is missing."""
        path = self.folder / TRAJECTORY_FILE
        if not path.exists():
            return None
        steps = read_trajectory(path).steps
        levels = [int(level) for step in steps for level in _LEVEL.findall(step.get("observation", ""))]
        return GrowthCurve(
            turns=[step.get("turn") or 0 for step in steps],
            facts=[step.get("facts", 0) for step in steps],
            ended=[len(step.get("ended", ())) for step in steps],
            deepest=max(levels, default=None),
        )


@dataclass(frozen=True)
class PlayGroup:
    """All plays of one player in one game.

    Args:
        plays: all finished plays, at least one.
        counted: plays that count for the scores.
    """

    plays: tuple[FinishedPlay, ...]
    counted: tuple[FinishedPlay, ...]

    def values(self, name: str) -> list[float] | None:
        """Return a figure of the plays that count; ``None`` if one of them lacks it."""
        values = [play.summary[name] for play in self.counted]
        return None if None in values else [float(value) for value in values]

    @property
    def attempts(self) -> int:
        """The greatest number of attempts at one seed."""
        return max(Counter(play.run.seed for play in self.plays).values())


@dataclass(frozen=True)
class Sweep:
    """The plays of a sweep by game and player.

    A player is a :class:`Run` without game, seed, attempt and release: everything that determines how it plays. Its
    limit of moves is also left out if all its plays of each game have the same limit, which then belongs to the game.

    Args:
        groups: plays by game and player, in the order of the first plays.
        best: number of attempts at each seed that count for the scores; ``None``: all.
        releases: versions of worldthread in the plays.
    """

    groups: dict[tuple[str, Run], PlayGroup]
    best: int | None
    releases: tuple[str, ...]

    @cached_property
    def games(self) -> tuple[str, ...]:
        """The games, in the order of the first plays."""
        return tuple(dict.fromkeys(game for game, _ in self.groups))

    @cached_property
    def players(self) -> tuple[Run, ...]:
        """The players, in the order of the first plays."""
        return tuple(dict.fromkeys(player for _, player in self.groups))

    @cached_property
    def _names(self) -> dict[str, str]:
        return _short_names(self.games)

    @cached_property
    def _labels(self) -> dict[Run, str]:
        return _labels(self.players)

    def of(self, game: str, player: Run) -> PlayGroup | None:
        """Return the plays of a player in a game, ``None`` if there are none."""
        return self.groups.get((game, player))

    def name(self, game: str) -> str:
        """Return the display name of a game: without kind and folders unless that is ambiguous."""
        return self._names[game]

    def label(self, player: Run) -> str:
        """Return the display name of a player: agent and memory module, with the settings that distinguish it."""
        return self._labels[player]

    @property
    def counted(self) -> str:
        """A sentence that says which plays count for the scores."""
        if self.best is None or all(group.attempts <= self.best for group in self.groups.values()):
            return "All plays count."
        most = max(group.attempts for group in self.groups.values())
        return f"Only the best {self.best} of up to {most} attempts at each seed count."


def read_sweep(folder: Path, *, best: int | None = None, people: Path | None = None) -> Sweep:
    """Read the plays of a sweep, and what people played of the same games, who count as one more player.

    Args:
        folder: folder of the sweep.
        best: number of attempts at each seed that count for the scores, the best ones; ``None``: all.
        people: folder of people's plays; ``None``: see :func:`~worldthread_lab.play.people.plays_of_people`.

    Returns:
        The finished plays; of a play by several releases, the one that finished last.

    Raises:
        InputError: the folder has no finished play, or ``people`` is not a folder.
        FormatError: the results file is damaged.
    """
    path = folder / RESULTS_FILE
    if not path.exists():
        raise InputError(f"{folder} is not the folder of a sweep: it has no {RESULTS_FILE}")
    done = {
        replace(run, version="", audit=True): FinishedPlay(run, s, folder / run.folder)
        for run, s in read_results(path).items()
    }
    if not done:
        raise InputError(f"{folder} has no finished play yet: run worldthread sweep again to continue")
    limited = _players_with_several_limits(done)
    plays: dict[tuple[str, Run], list[FinishedPlay]] = {}
    for run, play in done.items():
        player = replace(run, game="", seed=0, attempt=0)
        without = replace(player, steps=None)
        plays.setdefault((run.game, player if without in limited else without), []).append(play)
    for one in plays_of_people(folder, {run.game for run in done}, people):
        plays.setdefault((one.run.game, _PEOPLE), []).append(FinishedPlay(one.run, one.summary, one.folder))
    groups = {key: PlayGroup(tuple(own), _counted(own, best)) for key, own in plays.items()}
    return Sweep(groups, best, tuple(dict.fromkeys(play.run.version for play in done.values())))


def _players_with_several_limits(runs: Iterable[Run]) -> set[Run]:
    """Return the players, without limits of moves, that played a game with several limits."""
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
        called = "people" if player == _PEOPLE else player.player
        labels[player] = ", ".join([called, *(own[name] for name in differing)])
    return labels


def _settings(player: Run) -> dict[str, str]:
    """Return descriptions of the settings of a player that differ from the defaults, by name."""
    found = {"model": player.model} if player.model else {}
    found |= {f"option {name}": f"{name}={json.dumps(value)}" for name, value in settings_of(player).items()}
    for name in ("memory", "game"):
        options: dict[str, Any] = orjson.loads(player.memory_options if name == "memory" else player.game_options)
        found |= {f"{name} {key}": f"{name}.{key}={json.dumps(value)}" for key, value in options.items()}
    if player.prompts != "{}":
        found["prompts"] = f"prompts {hashlib.blake2b(player.prompts.encode(), digest_size=3).hexdigest()}"
    if player.rules != RULES:
        found["rules"] = f"rules {player.rules}"
    if player.decisions is not None:
        found["decisions"] = f"{player.decisions} decisions"
    if player.steps is not None:
        found["steps"] = f"{player.steps} moves"
    if not player.valid_actions:
        found["valid_actions"] = "no list of valid actions"
    if player.goal is not None:
        found["goal"] = f"goal: {player.goal}"
    if player.budget_tokens is not None:
        found["budget_tokens"] = f"{player.budget_tokens} tokens"
    if player.budget_dollars is not None:
        found["budget_dollars"] = f"${player.budget_dollars:g}"
    return found


def render_settings(player: Run) -> str:
    """Return the settings of a player as text, without its model and limit of moves."""
    return ", ".join(_settings(replace(player, model="", steps=None)).values())


def all_plays(groups: Iterable[PlayGroup]) -> list[FinishedPlay]:
    """Return all plays of the groups."""
    return [play for group in groups for play in group.plays]

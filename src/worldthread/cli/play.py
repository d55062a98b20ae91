"""``worldthread play``: watch an agent play."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from worldthread.cli.console import busy, err, new_folder, out, print_json, slug

if TYPE_CHECKING:
    from worldthread.bench.games import Play

_SECONDS_A_STEP = 0.08  # in a terminal: slow enough to watch, quick enough for a game within a minute


def play(
    game: Annotated[str, typer.Argument(help="An id from [bold]worldthread games[/bold], or textworld:FILE.")] = (
        "treasure-hunt"
    ),
    agent: Annotated[str, typer.Option(help="Who plays: explorer or random.")] = "explorer",
    seed: Annotated[int, typer.Option(min=0, help="Of the game that is generated, and of the agent's chance.")] = 0,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many moves.", show_default="the game's own limit")
    ] = None,
    goal: Annotated[str | None, typer.Option(help="The task in words, for games that do not state it.")] = None,
    memory: Annotated[
        Path | None,
        typer.Option(
            help="File for the memory. One file holds any number of plays, each in a namespace of its own.",
            show_default="memory.worldthread in the run folder",
        ),
    ] = None,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="Run folder.", show_default="runs/GAME-AGENT-seedN")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The summary as the last line of standard output; all else on standard error.")
    ] = False,
    delay: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds to wait after each step.", show_default=f"{_SECONDS_A_STEP} in a terminal"),
    ] = None,
    audit: Annotated[bool, typer.Option("--audit/--no-audit", help="Compare the memory with the truth.")] = True,
    valid_actions: Annotated[
        bool, typer.Option("--valid-actions/--no-valid-actions", help="Let the agent see the list of valid actions.")
    ] = True,
) -> None:
    """Watch an agent play a game, with the map that its memory draws.

    Everything goes to a run folder: the trajectory (JSON Lines), the memory and an HTML report.

        [bold]worldthread play[/bold]                                   a treasure hunt
        [bold]worldthread play cooking-hard --seed 3[/bold]             another game
        [bold]worldthread play --agent random --steps 50[/bold]         a baseline
        [bold]worldthread play textworld:game.z8 --delay 0.5[/bold]     a game file, slowly
        [bold]worldthread play --no-valid-actions --json[/bold]         for scripts
    """
    from worldthread import Memory, envs
    from worldthread.agents import registry
    from worldthread.bench.games import Play, TrajectoryWriter

    console = err() if as_json else out()
    registry.spec_of(agent)
    with busy(console, f"making {game} ..."):
        env = envs.make(game, seed=seed, goal=goal, max_moves=steps)
    with env:
        folder = new_folder(out_dir or Path("runs") / f"{slug(env.id)}-{agent}-seed{seed}")
        file = memory or folder / "memory.worldthread"
        namespace = _free_namespace(file, folder.name)
        trajectory = folder / "trajectory.jsonl"
        header = {"game": env.id, "agent": agent, "seed": seed, "max_moves": steps, "memory": _beside(file, folder)}
        with (
            Memory(file, namespace=namespace) as kept,
            TrajectoryWriter(trajectory, {**header, "namespace": namespace}) as writer,
        ):
            player = registry.make(agent, kept, run=folder.name, seed=seed, use_valid_actions=valid_actions)
            game_play = Play(env, player, kept.graph, seed, steps, audit)
            try:
                _watch(game_play, writer, console, f"{env.id}  {agent}  seed {seed}", delay, steps or _limit(game))
            except KeyboardInterrupt:
                console.print(Text(f"The trajectory so far is in {trajectory}"), soft_wrap=True)
                raise
            summary = game_play.summary()
            writer.finish(summary)
    page, complaint = _write_report(folder)
    if as_json:
        print_json({**summary, "trajectory": str(trajectory), "memory_file": str(file), "report": page and str(page)})
    else:
        _show_summary(console, summary)
        for what, path in (("trajectory", trajectory), ("memory", file), ("report", page)):
            if path is not None:
                console.print(Text(f"{what:>11}  {path}"), soft_wrap=True)
    if complaint:
        console.print(Text(f"no report: {complaint}", style="yellow"), soft_wrap=True)


def _watch(
    game_play: Play, writer: Any, console: Console, title: str, delay: float | None, max_moves: int | None
) -> None:
    from worldthread.cli.live import Lines, Picture

    wait = delay if delay is not None else (_SECONDS_A_STEP if console.is_terminal else 0.0)
    screen = Picture(console, title, max_moves) if console.is_terminal else Lines(console)
    with screen:
        for record in game_play:
            writer.step(record)
            screen.show(record, game_play.graph.view())
            time.sleep(wait)

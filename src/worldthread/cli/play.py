"""``worldthread play``: watch an agent play a game."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worldthread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console

    from worldthread.bench.games import Play, TrajectoryWriter

_SECONDS_A_MOVE = 0.1  # in a terminal: slow enough to watch, and a game still ends within a minute


def play(
    game: Annotated[
        str, typer.Argument(help="A name that [bold]worldthread games[/bold] lists, or textworld:PATH.")
    ] = ("treasure-hunt"),
    agent: Annotated[str, typer.Option(help="Who plays: explorer, random.")] = "explorer",
    seed: Annotated[int, typer.Option(min=0, help="Makes the game; the same seed gives the same game.")] = 0,
    steps: Annotated[
        int | None, typer.Option(min=0, help="Stop after so many moves. Default: the game's limit.")
    ] = None,
    goal: Annotated[str | None, typer.Option(help="Tell the player this task, for games that state none.")] = None,
    memory_file: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            help="File for the memory; may hold other plays too, each a namespace. Default: in the run's folder.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for trajectory, memory and report. Default: in runs/.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object, as last line.")
    ] = False,
    delay: Annotated[
        float | None, typer.Option(min=0, help=f"Seconds between moves. Default: {_SECONDS_A_MOVE} in a terminal.")
    ] = None,
    audit: Annotated[bool, typer.Option(help="Compare the memory with the truth after every move.")] = True,
    valid_actions: Annotated[bool, typer.Option(help="Let the agent see the list of valid actions.")] = True,
) -> None:
    """Watch an agent explore a text world and remember it.

    [dim]Examples:[/dim]

        worldthread play

        worldthread play treasure-hunt-hardest --seed 7

        worldthread play textworld:games/hunt.z8 --json
    """
    from rich.console import Console

    from worldthread.agents import make_agent
    from worldthread.bench.games import Play, TrajectoryWriter
    from worldthread.envs import make
    from worldthread.graph import TemporalGraph
    from worldthread.memory import Memory

    console = Console(stderr=as_json, highlight=False)
    with make(game, seed=seed, goal=goal, max_moves=steps if steps != 0 else None) as env:
        make_agent(agent, TemporalGraph())  # an unknown name is told before anything is written
        folder = run_folder(out, f"{_short(env.id)}-{agent}-seed{seed}")
        file = memory_file or folder / "memory.worldthread"
        with Memory(file, namespace=_namespace(memory_file, folder.name)) as memory:
            player = make_agent(agent, memory, run=folder.name, use_valid_actions=valid_actions)
            session = Play(env, player, memory.graph, seed, max_moves=steps, audit=audit)
            header = {"game": env.id, "agent": agent, "seed": seed, "goal": goal}
            header |= {"memory": str(memory_file.resolve()) if memory_file else file.name}
            header |= {"namespace": memory.namespace}
            with TrajectoryWriter(folder / "trajectory.jsonl", header) as trajectory:
                try:
                    _watch(session, trajectory, console, delay)
                except KeyboardInterrupt:
                    typer.echo(f"\nthe run up to here is in {folder}", err=True)
                    raise
                summary = session.summary() | {"trajectory": str(trajectory.path)}
                trajectory.finish(summary)
    _finish(summary, folder, as_json=as_json)


def run_folder(out: Path | None, name: str) -> Path:
    """The folder of a run, made anew: ``out``, or ``runs/<name>`` with a number when that is taken.

    Raises:
        InputError: the folder holds a run already, or cannot be made.
    """
    try:
        if out is not None:
            if (out / "trajectory.jsonl").exists():
                raise InputError(f"{out} holds a run already; name another folder with --out")
            out.mkdir(parents=True, exist_ok=True)
            return out
        name = re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip("-.")[-80:]
        Path("runs").mkdir(exist_ok=True)
        number = 1
        while True:
            folder = Path("runs") / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                number += 1
            else:
                return folder
    except OSError as error:
        raise InputError(f"cannot make the folder {error.filename or out}: {error.strerror}") from error


def _short(game: str) -> str:
    """The id of a game without the folders of its file: ``textworld:games/hunt.z8`` becomes ``textworld-hunt``."""
    kind, colon, file = game.partition(":")
    return f"{kind}-{Path(file).stem}" if colon else game


def _namespace(file: Path | None, run: str) -> str:
    """Where in a memory a play goes: the default one of its own file; one that is free in a file that was given."""
    from worldthread.stores import DEFAULT_NAMESPACE, SQLiteStore

    if file is None:
        return DEFAULT_NAMESPACE
    taken = set(SQLiteStore.namespaces(file)) if file.exists() else set()
    number = 1
    while (name := run if number == 1 else f"{run}-{number}") in taken:
        number += 1
    return name


def _watch(session: Play, trajectory: TrajectoryWriter, console: Console, delay: float | None) -> None:
    """Play to the end, shown live in a terminal and as a line per move elsewhere."""
    from worldthread.cli.live import Lines, Picture

    screen: Lines | Picture
    if console.is_terminal:
        screen = Picture(console, f"{session.env.id}  {session.agent.name}  seed {session.seed}", session.max_moves)
    else:
        screen = Lines(sys.stderr if console.stderr else sys.stdout)
    wait = delay if delay is not None else _SECONDS_A_MOVE if console.is_terminal else 0
    with screen:
        for record in session:
            trajectory.step(record)
            screen.show(record, session.graph.view())
            time.sleep(wait)


def _finish(summary: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from worldthread.bench.report import write_report
    from worldthread.cli.live import summary_table

    advice = ""
    try:
        summary["report"] = str(write_report(folder))
    except MissingExtraError as error:
        summary["report"] = None
        advice = str(error)
    if as_json:
        if advice:
            typer.echo(advice, err=True)
        typer.echo(json.dumps(summary))
        return
    console = Console(highlight=False)
    console.print()
    console.print(summary_table(summary))
    console.print(Text(f"run     {folder}"), soft_wrap=True)
    console.print(Text(f"report  {summary['report'] or 'not written: ' + advice}"), soft_wrap=True)

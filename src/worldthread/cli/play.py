"""``worldthread play``: watch an agent play a game."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worldthread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from worldthread.bench.games import Play, StepRecord


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
    out: Annotated[
        Path | None, typer.Option(help="Folder for trajectory, memory and report. Default: in runs/.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object, as last line.")
    ] = False,
    delay: Annotated[float | None, typer.Option(min=0, help="Seconds between moves in the live view.")] = None,
    audit: Annotated[bool, typer.Option(help="Compare the memory with the truth after every move.")] = True,
    valid_actions: Annotated[bool, typer.Option(help="Let the agent see the list of valid actions.")] = True,
) -> None:
    """Watch an agent explore a text world and remember it.

    [dim]Examples:[/dim]

        worldthread play

        worldthread play treasure-hunt-hardest --seed 7

        worldthread play textworld:games/hunt.z8 --json
    """
    from worldthread.agents import make_agent
    from worldthread.bench.games import Play, TrajectoryWriter
    from worldthread.envs import make
    from worldthread.memory import Memory

    with make(game, seed=seed, goal=goal, max_moves=steps if steps != 0 else None) as env:
        folder = run_folder(out, f"{env.id}-{agent}-seed{seed}")
        with Memory(folder / "memory.worldthread") as memory:
            player = make_agent(agent, memory, run=folder.name, use_valid_actions=valid_actions)
            session = Play(env, player, memory.graph, seed, max_moves=steps, audit=audit)
            header = {"game": env.id, "agent": agent, "seed": seed, "goal": goal}
            with TrajectoryWriter(folder / "trajectory.jsonl", header) as trajectory:
                with _display(session, as_json=as_json, delay=delay) as show:
                    for record in session:
                        trajectory.step(record)
                        show(record)
                summary = session.summary() | {"trajectory": str(trajectory.path)}
                trajectory.finish(summary)
    _finish(summary, folder, as_json=as_json)


def run_folder(out: Path | None, name: str) -> Path:
    """The folder of a run, made anew: ``out``, or ``runs/<name>`` with a number when that is taken.

    Raises:
        InputError: the folder holds a run already, or cannot be made.
    """
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")[-80:]
    folder = out
    number = 1
    while folder is None:
        candidate = Path("runs") / (name if number == 1 else f"{name}-{number}")
        folder = None if candidate.exists() else candidate
        number += 1
    if (folder / "trajectory.jsonl").exists():
        raise InputError(f"{folder} holds a run already; name another folder with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


@contextmanager
def _display(session: Play, *, as_json: bool, delay: float | None) -> Iterator[Callable[[StepRecord], None]]:
    """How steps are shown: live in a terminal, a line each elsewhere, on stderr beside ``--json``."""
    from rich.console import Console
    from rich.live import Live

    from worldthread.cli.live import LiveView, plain_line

    console = Console(stderr=as_json)
    if not console.is_terminal:

        def print_line(record: StepRecord) -> None:
            print(plain_line(record), file=sys.stderr if as_json else sys.stdout, flush=True)
            time.sleep(delay or 0)

        yield print_line
        return
    screen = LiveView(session.env.id, session.agent.name)
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:

        def redraw(record: StepRecord) -> None:
            height = min(console.height - 1, 40)
            picture = screen.render(record, session.graph.view(), console.width, height)
            live.update(picture, refresh=True)
            time.sleep(0.1 if delay is None else delay)

        yield redraw


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
        print(json.dumps(summary), flush=True)
        return
    console = Console()
    console.print()
    console.print(summary_table(summary))
    console.print(Text(f"run     {folder}"))
    console.print(Text(f"report  {summary['report'] or 'not written: ' + advice}"))

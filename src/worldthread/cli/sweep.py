"""``worldthread sweep``: many plays, and what they say together."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from worldthread import __version__
from worldthread.errors import InputError


def sweep(
    games: Annotated[list[str], typer.Argument(help="One or more games, as [bold]worldthread play[/bold] takes them.")],
    seeds: Annotated[str, typer.Option(help="Seeds: 1-50, or 3, or 1-10,20-30.")] = "1-10",
    jobs: Annotated[int | None, typer.Option(min=1, help="Plays at a time. Default: the processors.")] = None,
    agent: Annotated[str, typer.Option(help="Who plays: explorer, random.")] = "explorer",
    steps: Annotated[int | None, typer.Option(min=1, help="Stop a play after so many moves.")] = None,
    out: Annotated[Path, typer.Option(help="Folder in which finished plays are kept.")] = Path("runs/sweep"),
    audit: Annotated[bool, typer.Option(help="Compare the memory with the truth after every move.")] = True,
    valid_actions: Annotated[bool, typer.Option(help="Let the agent see the list of valid actions.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as one JSON object, as last line.")
    ] = False,
) -> None:
    """Play games over many seeds, in parallel, and report the figures.

    Every finished play is kept in the folder: a sweep that was stopped or killed goes on where it stopped, and one
    that is asked again answers at once.

    [dim]Examples:[/dim]

        worldthread sweep treasure-hunt --seeds 1-50

        worldthread sweep treasure-hunt treasure-hunt-hard --seeds 1-20 --jobs 2 --json
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from worldthread.agents import make_agent
    from worldthread.bench.sweep import Results, Run, aggregate, require_statistics
    from worldthread.bench.sweep import sweep as run_sweep
    from worldthread.envs import make
    from worldthread.graph import TemporalGraph

    numbers = parse_seeds(seeds)
    games = list(dict.fromkeys(games))
    require_statistics()
    make_agent(agent, TemporalGraph())
    for game in games:  # a name that is none is told before the first play
        make(game, seed=numbers[0]).close()
    runs = [Run(game, agent, seed, steps, audit, valid_actions, __version__) for game in games for seed in numbers]
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Results(out / "results.jsonl") as results, Progress(*columns, console=console) as progress:
        task = progress.add_task("playing", total=len(runs), completed=sum(run in results.done for run in runs))

        def done(run: Run, outcome: dict[str, Any] | str) -> None:
            progress.advance(task)
            if isinstance(outcome, str):
                console.print(f"[red]failed[/red] {run.game} seed {run.seed}: ", end="")
                console.print(outcome, markup=False)

        failures = run_sweep(runs, results, jobs=jobs or os.cpu_count() or 1, on_done=done)
    groups = [[results.done[run] for run in runs if run.game == game and run in results.done] for game in games]
    figures = [aggregate(group) for group in groups if group]
    failed = [{"game": run.game, "seed": run.seed, "error": error} for run, error in failures.items()]
    if as_json:
        print(json.dumps({"games": figures, "failures": failed}), flush=True)
    else:
        Console().print(_table(figures))
        typer.echo(f"plays are kept in {results.path}")
        for failure in failed:
            typer.echo(f"failed: {failure['game']} seed {failure['seed']}: {failure['error']}")
    if failures:
        raise typer.Exit(1)


def parse_seeds(text: str) -> list[int]:
    """Seeds from text such as ``1-50`` or ``3,7-9``.

    Raises:
        InputError: the text names no seeds.
    """
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if match is None:
            raise InputError(f"--seeds wants numbers such as 1-50 or 3,7-9, not {text!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"--seeds {part.strip()}: the last seed is before the first")
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


def _table(figures: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, caption="score: mean [95 % interval]; best: shortest possible; medians")
    table.add_column("game", style="bold", overflow="fold")
    for name in ("won", "score", "moves", "best", "ratio", "precis.", "recall", "stale", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    for f in figures:
        low, high = f["score_interval"]
        audit = f["audit"] or {}
        table.add_row(
            f["game"].removeprefix("textworld:")[-30:],
            f"{f['wins']}/{f['runs']}",
            f"{f['score']:.3f}" + (f" \\[{low:.2f}, {high:.2f}]" if low < high else ""),
            f"{f['median_moves']:g}",
            "-" if f["median_optimal_moves"] is None else f"{f['median_optimal_moves']:g}",
            "-" if f["median_ratio"] is None else f"{f['median_ratio']:.2f}",
            *(f"{audit[name]:.4f}" if audit else "-" for name in ("precision", "recall")),
            str(audit.get("stale_steps", "-")),
            f"{f['median_seconds']:.2f}",
        )
    return table

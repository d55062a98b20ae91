"""``worldthread report``: write the HTML report of a run or of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from worldthread.errors import InputError


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="The folder of a run from [bold]worldthread play[/bold], or of a [bold]worldthread sweep[/bold].",
        ),
    ],
    best: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="For a sweep: count only the N best attempts at each seed, as published tables do.",
        ),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="For a sweep: a folder with what people played of the same games, who count as one more player. "
            "Default: the folder of the sweep, and the plays beside it.",
        ),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(help="For a run: its memory file, if [bold]worldthread play --memory[/bold] put it elsewhere."),
    ] = None,
) -> None:
    """Write the HTML report of a run or of a sweep, and print its path.

    The report of a run shows its map, the growth of its memory, and every step. The report of a sweep compares all
    plays in the folder, also those of several sweeps, with published figures, in tables and plots, and with what people
    played of the same games ([bold]worldthread play --agent human[/bold], or in the page); it is written as HTML and as
    Markdown.

    [dim]Examples:[/dim]

        worldthread report runs/treasure-hunt-v1-explorer-seed0

        worldthread report runs/sweep --best 3
    """
    from worldthread_lab.play.sweep import RESULTS_FILE

    if (folder / RESULTS_FILE).exists():
        from worldthread_lab.bench.sweep_report.report import write_sweep_report

        if memory is not None:
            raise InputError("--memory is for the report of a run, not of a sweep")
        typer.echo(str(write_sweep_report(folder, best=best, people=people)))
        return
    if people is not None:
        raise InputError(f"--people is for sweeps, and {folder} is not the folder of a sweep: it has no {RESULTS_FILE}")
    if best is not None:
        raise InputError(f"--best is for sweeps, and {folder} is not the folder of a sweep: it has no {RESULTS_FILE}")
    from worldthread_lab.play.run_page import write_report

    typer.echo(str(write_report(folder, memory=memory)))

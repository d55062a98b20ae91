"""``worldthread report``: the page of a run made again, or that of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from worldthread.errors import InputError


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of a run, as [bold]worldthread play[/bold] made it, or of a [bold]worldthread sweep[/bold]."
        ),
    ],
    best: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Count only so many attempts at each seed of a sweep, the best ones (published tables do).",
        ),
    ] = None,
) -> None:
    """Write the HTML report of a run again, or that of a sweep, and print where it is.

    The report of a run comes from its trajectory and its memory. That of a sweep has everything that was played into
    its folder: tables and plots in the shape of published ones, with the published figures beside, as one HTML page and
    as Markdown. Agents, games and settings may come from several sweeps into one folder.

    [dim]Examples:[/dim]

        worldthread report runs/treasure-hunt-v1-explorer-seed0

        worldthread report runs/sweep --best 3
    """
    from worldthread.play.sweep import RESULTS_FILE

    if (folder / RESULTS_FILE).exists():
        from worldthread.bench.sweep_report.report import write_sweep_report

        typer.echo(str(write_sweep_report(folder, best=best)))
        return
    if best is not None:
        raise InputError(f"--best is for sweeps, and {folder} is not the folder of one: it holds no {RESULTS_FILE}")
    from worldthread.play.run_page import write_report

    typer.echo(str(write_report(folder)))

"""``worldthread report``: the page of a run, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, as [bold]worldthread play[/bold] made it.")],
) -> None:
    """Write the HTML report of a run again, from its trajectory and its memory."""
    from worldthread.bench.report import write_report

    typer.echo(str(write_report(run)))

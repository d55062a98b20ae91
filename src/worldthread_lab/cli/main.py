"""Adds the commands of the laboratory to the command line ``worldthread``."""

from __future__ import annotations

from typing import Final

import typer

from worldthread.cli.console import AGAIN, KEPT, help_text
from worldthread_lab.cli.bench import bench
from worldthread_lab.cli.playing import games, play
from worldthread_lab.cli.report import report
from worldthread_lab.cli.runs import replay, sweep

_COMMANDS: Final = (play, sweep, games, replay, report)
_KEPT: Final = {
    "sweep": f"finished plays are kept, and moves of the others; {AGAIN}",
    "bench": f"what the command stores of its questions or plays is kept; {AGAIN}",
}


def add_commands(app: typer.Typer) -> None:
    """Add the commands to an app: the entry point of the group :data:`worldthread.support.extensions.COMMANDS`.

    Args:
        app: takes the commands.
    """
    for command in _COMMANDS:
        app.command(command.__name__, help=help_text(command), rich_help_panel="Text worlds")(command)
    app.add_typer(bench, name="bench", rich_help_panel="Benchmarks")
    KEPT.update(_KEPT)

"""The command ``worldthread``."""

from __future__ import annotations

from typing import Annotated

import typer

from worldthread import __version__
from worldthread.cli.console import ErrorsShown
from worldthread.cli.games import games
from worldthread.cli.play import play
from worldthread.cli.report import report
from worldthread.cli.sweep import sweep

app = typer.Typer(
    name="worldthread",
    cls=ErrorsShown,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (play, sweep, games, report):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"worldthread {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A world-model memory for agents, and text worlds in which to watch it at work.

    [dim]Examples:[/dim]

        worldthread play                                  watch an agent hunt a treasure

        worldthread games                                 what else can be played

        worldthread sweep treasure-hunt --seeds 1-10      measure it
    """

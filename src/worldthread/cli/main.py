"""The program ``worldthread``: its commands, each in a module of its own."""

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


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"worldthread {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A world-model memory for agents, and text worlds to watch it at work.

    Watch an agent hunt a treasure, with the map that its memory draws:

        [bold]worldthread play[/bold]

    See what else can be played, and measure an agent over many seeds:

        [bold]worldthread games[/bold]
        [bold]worldthread sweep treasure-hunt --seeds 1-10[/bold]
    """


app.command()(play)
app.command()(sweep)
app.command()(games)
app.command()(report)

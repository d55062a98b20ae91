"""The command ``worldthread``."""

from __future__ import annotations

import sys
from typing import Annotated

import click
import typer

from worldthread import __version__
from worldthread.cli.games import games
from worldthread.cli.play import play
from worldthread.cli.report import report
from worldthread.cli.sweep import sweep
from worldthread.errors import WorldthreadError

app = typer.Typer(
    name="worldthread",
    help="A world-model memory for agents. Watch one explore: [bold]worldthread play[/bold]",
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
    """A world-model memory for agents. Watch one explore: [bold]worldthread play[/bold]"""


def main() -> None:
    """Run the command line; errors of ours become one message and exit code 2."""
    try:
        result = app(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except WorldthreadError as error:
        typer.secho(f"error: {error}", fg="red", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        typer.secho("\nstopped", err=True)
        sys.exit(130)
    sys.exit(result if isinstance(result, int) else 0)

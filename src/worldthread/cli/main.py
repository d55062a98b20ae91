"""The command line ``worldthread``, with the commands of the memory; :mod:`worldthread.cli.console` finds others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from worldthread import __version__
from worldthread.cli.changing import correct, forget, merge, update
from worldthread.cli.configuring import prompts, settings
from worldthread.cli.console import ErrorPrintingGroup, help_text
from worldthread.cli.moving import backup, export, import_, mirror, move, reembed, restore
from worldthread.cli.reading import about, ask, list_, namespaces, recall, stats, timeline
from worldthread.cli.serving import database, mcp, serve, web
from worldthread.cli.writing import remember, retry

app = typer.Typer(
    name="worldthread",
    cls=ErrorPrintingGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Memory": (
        remember,
        recall,
        ask,
        about,
        timeline,
        list_,
        update,
        correct,
        merge,
        forget,
        stats,
        namespaces,
        retry,
        reembed,
        export,
        import_,
        backup,
        restore,
        move,
        mirror,
        mcp,
        web,
    ),
    "Settings": (settings, prompts),
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(_command.__name__.rstrip("_"), help=help_text(_command), rich_help_panel=_panel)(_command)
app.add_typer(serve, name="serve", rich_help_panel="Memory")
app.add_typer(database, name="database", rich_help_panel="Memory")


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"worldthread {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A world-model memory for LLM agents, and text games to test it with.

    Each command explains itself: [bold]worldthread COMMAND --help[/bold].

    [dim]Examples:[/dim]

        worldthread remember notes/                    store texts and the facts in them

        worldthread recall "Where does Anna live?"     print what is relevant to a question

        worldthread play                               watch an agent play a text game

        worldthread sweep treasure-hunt --seeds 1-10   play ten games and print statistics
    """

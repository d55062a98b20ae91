"""Help texts, error messages and exit codes of all commands."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, Final

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from worldthread.cli.output import harmless
from worldthread.errors import WorldthreadError

FAILED = 2
"""The exit code of a command that failed."""
INTERRUPTED = 130
"""The exit code after Ctrl-C."""
AGAIN: Final = "the same command goes on from there"
KEPT: Final = {
    "remember": "nothing was stored",
    "import": "nothing was stored",
    "forget": "nothing was deleted",
    "update": "nothing was changed",
    "correct": "nothing was changed",
    "merge": "nothing was changed",
    "retry": f"what was read so far is kept; {AGAIN}",
    "reembed": f"the vectors computed so far are kept, and the old ones stay until all are there; {AGAIN}",
    "export": "nothing was written; an older file of that name is as it was",
    "backup": "nothing was written; an older backup of that name is as it was",
    "restore": "the memory is the old one or the new one, as a whole; run the command again",
    "move": f"namespaces that were copied are kept; {AGAIN}",
    "mirror": f"what was copied so far is kept; {AGAIN}",
    "serve": "every change that a client was told of is kept",
    "web": "every change that the page told of is kept",
    "mcp": "every change that the client was told of is kept",
}
"""What is kept when a command is stopped by Ctrl-C, unless the interrupt says so with figures; others may add to it."""


def help_text(command: Callable[..., None]) -> str:
    """Return the docstring of a command with each paragraph on one line, since typer keeps line breaks."""
    return re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(command) or "")


class ErrorPrintingGroup(TyperGroup):
    """Prints errors of this package and of the file system as one line; exits without a traceback on Ctrl-C.

    Beside its own commands it has those that other packages add (:data:`worldthread.support.extensions.COMMANDS`).
    They are looked for when all commands are listed, or when a command is not its own: so nothing of another package
    can delay or break the commands of the memory.
    """

    _is_complete = False

    def list_commands(self, ctx: Any) -> list[str]:
        try:
            self._complete()
        except WorldthreadError as error:  # the memory's own commands are listed all the same
            print_error(str(error))
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._complete()
        return super().get_command(ctx, cmd_name)

    def _complete(self) -> None:
        """Add the commands of other packages."""
        if self._is_complete:
            return
        from worldthread.support.extensions import COMMANDS, extensions, load_extension

        for name in extensions(COMMANDS):
            added = typer.Typer(rich_markup_mode="rich")
            load_extension(COMMANDS, name)(added)
            for command, found in typer.main.get_group(added).commands.items():
                self.commands.setdefault(command, found)
        self._is_complete = True

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except WorldthreadError as error:
            print_error(str(error))
            raise typer.Exit(FAILED) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):  # the reader of the output is gone
                raise
            print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt as stop:
            kept = str(stop) or KEPT.get(ctx.invoked_subcommand, "")
            sys.stderr.write(f"\nstopped{kept and ': '}{kept}\n")
            raise typer.Exit(INTERRUPTED) from None


def print_error(message: str) -> None:
    """Print a message in one line on the error output, so that it cannot be overlooked."""
    Console(stderr=True, highlight=False).print(
        Text.assemble(("error: ", "bold red"), (harmless(message), "red")), soft_wrap=True
    )

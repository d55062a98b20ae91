"""Help texts, error messages and exit codes of all commands."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

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


def help_text(command: Callable[..., None]) -> str:
    """Return the docstring of a command with each paragraph on one line, since typer keeps line breaks."""
    return re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(command) or "")


class ErrorPrintingGroup(TyperGroup):
    """Prints errors of this package and of the file system as one line; exits without a traceback on Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except WorldthreadError as error:
            _print_error(str(error))
            raise typer.Exit(FAILED) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):  # the reader of the output is gone
                raise
            _print_error(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            sys.stderr.write("\nstopped\n")
            raise typer.Exit(INTERRUPTED) from None


def _print_error(message: str) -> None:
    Console(stderr=True, highlight=False).print(
        Text.assemble(("error: ", "bold red"), (harmless(message), "red")), soft_wrap=True
    )

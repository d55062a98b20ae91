"""What the commands share: how they fail."""

from __future__ import annotations

import sys
from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from worldthread.cli.output import harmless
from worldthread.errors import WorldthreadError

FAILED = 2
"""Exit code of a command that could not do what it was asked to."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class ErrorsShown(TyperGroup):
    """Shows our errors, and those of the disk, as one short message; ends quietly on Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except WorldthreadError as error:
            _complain(str(error))
            raise typer.Exit(FAILED) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):  # whoever read our output has gone: nobody to tell
                raise
            _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            sys.stderr.write("\nstopped\n")
            raise typer.Exit(INTERRUPTED) from None


def _complain(message: str) -> None:
    Console(stderr=True, highlight=False).print(
        Text.assemble(("error: ", "bold red"), (harmless(message), "red")), soft_wrap=True
    )

"""What the commands share: where they write, how they fail, where runs are kept."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from worldthread.errors import WorldthreadError

FAILED = 2
"""Exit code of a command that could not do what it was asked to."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def out() -> Console:
    """Standard output. Made anew for each use, since tests and pipes replace the stream."""
    return Console(highlight=False)


def err() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False)


class ErrorsShown(TyperGroup):
    """Shows our errors as one short message, and ends quietly on Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except WorldthreadError as error:
            message = str(error)
        except KeyboardInterrupt:
            err().print(Text("interrupted", style="yellow"))
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        err().print(Text.assemble(("error: ", "bold red"), (message, "red")), soft_wrap=True)
        raise typer.Exit(FAILED)


def print_json(value: dict[str, Any]) -> None:
    """Write one JSON object as one line of standard output."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


def slug(text: str) -> str:
    """A short name for a file or folder, from the id of a game: ``textworld:games/hunt.z8`` becomes ``hunt``."""
    stem = Path(text.rpartition(":")[2]).stem if ":" in text else text
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or "game"


def new_folder(wanted: Path) -> Path:
    """Make ``wanted``, or the first of ``wanted-2``, ``wanted-3``, ... that is not there.

    Raises:
        OSError: it cannot be made.
    """
    wanted.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


@contextmanager
def busy(console: Console, what: str) -> Iterator[None]:
    """Show a spinner with ``what`` on a terminal; nothing elsewhere."""
    if console.is_terminal:
        with console.status(what):
            yield
    else:
        yield

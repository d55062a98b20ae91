"""``worldthread backup``: copy a memory file, also while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from worldthread.cli.opening import JsonOption, MemoryPlace
from worldthread.cli.output import number_of, one_line, print_json

LARGE: Final = 64 * 2**20
"""The size in bytes from which on a copy shows its progress."""


def backup(
    file: Annotated[
        MemoryPlace, typer.Argument(metavar="FILE", parser=MemoryPlace, help="The memory file.", show_default=False)
    ],
    destination: Annotated[
        MemoryPlace, typer.Argument(metavar="DEST", parser=MemoryPlace, help="The copy to write.", show_default=False)
    ],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing copy.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy a memory file, also while other processes write to it.

    The copy is the memory at one moment, with all its namespaces. It is checked completely, and only you can read it.
    An interrupted backup leaves no file of that name.

    Do not copy the file with cp while a process has it open: its last changes are in a second file beside it, the log,
    and cp copies the two at different moments. Put a backup back with [bold]worldthread restore[/bold].

    [dim]Examples:[/dim]

        worldthread backup memory.worldthread backups/monday.worldthread

        worldthread backup memory.worldthread latest.worldthread --force
    """
    from worldthread.stores.backups import backup as backed_up

    counts = backed_up(file.file, destination.file, force=force, progress=shows_progress(file.file))
    if as_json:
        print_json({"memory": str(file), "file": str(destination), **counts._asdict()})
    else:
        typer.echo(f"wrote {number_of(counts.episodes, 'text')} to {one_line(str(destination))}")


def shows_progress(file: Path) -> bool | None:
    """Return whether to show the progress of copying a file; ``None``: on a terminal."""
    return None if file.is_file() and file.stat().st_size >= LARGE else False

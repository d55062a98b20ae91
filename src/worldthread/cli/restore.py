"""``worldthread restore``: put a backup in the place of a memory file."""

from __future__ import annotations

from typing import Annotated

import typer

from worldthread.cli.backup import shows_progress
from worldthread.cli.opening import DEFAULT_WAIT, JsonOption, MemoryPlace, WaitOption
from worldthread.cli.output import number_of, one_line, print_json


def restore(
    backup: Annotated[
        MemoryPlace,
        typer.Argument(
            metavar="BACKUP", parser=MemoryPlace, help="A file that worldthread backup wrote.", show_default=False
        ),
    ],
    file: Annotated[
        MemoryPlace,
        typer.Argument(metavar="FILE", parser=MemoryPlace, help="The memory file to replace.", show_default=False),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing memory, whose contents are lost.")
    ] = False,
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Put a backup in the place of a memory file.

    The backup is checked completely before anything is changed. Close the processes that write to the memory first;
    those that read it get an error and have to open it again. If the command is interrupted, the memory is the old one
    or the new one, and you can run it again.

    Do not copy a backup over the memory file with cp: the log that lies beside the old file would be read together with
    the new one.

    [dim]Examples:[/dim]

        worldthread restore backups/monday.worldthread memory.worldthread --force

        worldthread restore backups/monday.worldthread copy.worldthread
    """
    from worldthread.stores.backups import restore as restored

    counts = restored(backup.file, file.file, force=force, wait=wait, progress=shows_progress(backup.file))
    if as_json:
        print_json({"memory": str(file), "backup": str(backup), **counts._asdict()})
    else:
        typer.echo(f"{one_line(str(file))} holds {number_of(counts.episodes, 'text')}")

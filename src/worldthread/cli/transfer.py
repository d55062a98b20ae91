"""``worldthread export`` and ``worldthread import``: copy a memory as JSON Lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from worldthread.cli.filtering import WhereOption, filter_of
from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    JsonOption,
    MemoryOption,
    NamespaceOption,
    WaitOption,
    opened_to_read,
    opened_to_write,
)
from worldthread.cli.output import number_of, one_line, print_json
from worldthread.errors import InputError

_STREAM = Path("-")


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE|-", help="The file to write; - is standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    where: WhereOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Write a memory to a JSON Lines file.

    The file holds every passage with its times and its extracted statements; [bold]worldthread import[/bold] recreates
    the same memory from it. An interrupted export leaves no partial file.

    [dim]Examples:[/dim]

        worldthread export backup.jsonl

        worldthread export - | gzip > backup.jsonl.gz
    """
    selected = filter_of(where)
    with opened_to_read(memory, namespace, may_be_empty=True) as store:
        if file == _STREAM:
            store.export(sys.stdout.buffer, where=selected)
            return
        if file.exists() and not force:
            raise InputError(f"{file} already exists: give --force to overwrite it")
        count = store.export(file, where=selected)
    if as_json:
        print_json({"memory": str(memory), "file": str(file), "episodes": count})
    else:
        typer.echo(f"wrote {number_of(count, 'passage')} to {one_line(str(file))}")


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE|-", help="A file that worldthread export wrote; - is standard input.")
    ],
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Add the passages of an export to a memory.

    Either all passages are added or none. Passages that the memory already has are skipped.

    [dim]Examples:[/dim]

        worldthread import backup.jsonl

        zcat backup.jsonl.gz | worldthread import - --memory copy.worldthread
    """
    if file != _STREAM and not file.is_file():
        raise InputError(f"{file}: no such file")
    with opened_to_write(memory, namespace, wait) as store:
        counts = store.import_(sys.stdin.buffer if file == _STREAM else file)
    if as_json:
        print_json({"memory": str(memory), "added": counts.added, "known": counts.known})
    else:
        known = f"; {counts.known:,} already known" if counts.known else ""
        typer.echo(f"stored {number_of(counts.added, 'new passage')}{known}")

"""``worldthread move``: copy a memory between files and servers, with the proof that the copy is the same."""

from __future__ import annotations

from typing import Annotated

import typer

from worldthread.cli.opening import DEFAULT_WAIT, JsonLinesOption, MemoryPlace, WaitOption, require_place
from worldthread.cli.output import number_of, one_line, print_json


def move(
    source: Annotated[
        MemoryPlace,
        typer.Argument(metavar="FROM", parser=MemoryPlace, help="A memory file, or an address.", show_default=False),
    ],
    target: Annotated[
        MemoryPlace,
        typer.Argument(metavar="TO", parser=MemoryPlace, help="The other place, file or address.", show_default=False),
    ],
    namespace: Annotated[
        str | None, typer.Option(metavar="NAME", help="Copy only this memory of the file or server.")
    ] = None,
    into: Annotated[str | None, typer.Option(metavar="NAME", help="With --namespace: its name in TO.")] = None,
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonLinesOption = False,
) -> None:
    """Copy a memory to another kind of store, and prove that the copy is the same.

    Copies every namespace with its texts, times, statements and vectors, and compares the digests of both states.
    FROM stays as it is: remove it yourself when nothing uses it any more. After an interruption, give the same command
    again.

    [dim]Examples:[/dim]

        worldthread move memory.worldthread postgresql://anna@db.example.org/memories

        worldthread move postgresql://anna@db.example.org/memories copy.worldthread --namespace anna
    """
    from worldthread.stores.moving import move as moved_to

    require_place(source)
    for one in moved_to(source.location, target.location, namespace=namespace, into=into, wait=wait, progress=None):
        if as_json:
            print_json({"namespace": one.name, "episodes": one.episodes, "added": one.added, "vectors": one.vectors,
                        "state_hash": one.state_hash})  # fmt: skip
        else:
            typer.echo(
                f"{one_line(one.name)}: {number_of(one.episodes, 'text')} ({one.added:,} new),"
                f" {number_of(one.vectors, 'vector')}, equal state {one.state_hash}"
            )

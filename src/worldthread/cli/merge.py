"""``worldthread merge``: say that two names mean the same."""

from __future__ import annotations

from typing import Annotated

import typer

from worldthread.cli.filtering import WhoseOption
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
from worldthread.cli.output import one_line, print_json, print_rows
from worldthread.errors import InputError


def merge(
    name: Annotated[str | None, typer.Argument(help="A name.", show_default=False)] = None,
    into: Annotated[str | None, typer.Argument(help="The name to show for both.", show_default=False)] = None,
    suggest: Annotated[bool, typer.Option("--suggest", help="List names that probably mean the same.")] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why they mean the same.")] = "",
    user: WhoseOption = None,
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Say that two names mean the same person, place or thing.

    What is known of both is then known of one. The texts stay as they are. A merge is a text of its own; forget it
    to undo the merge.

    [dim]Examples:[/dim]

        worldthread merge Anna "Anna Rossi"

        worldthread merge --suggest
    """
    if suggest == (name is not None) or (name is None) != (into is None):
        raise InputError("give two names, or --suggest")
    if name is None or into is None:
        with opened_to_read(memory, namespace) as store:
            found = [s for s in store.suggest_merges() if user in (None, s.user)]
            rows = [{"name": s.name, "into": s.into, "evidence": s.evidence, "user": s.user} for s in found]
        if as_json:
            print_json({"memory": str(memory), "suggestions": rows})
        else:
            whose = ("user",) if any(suggestion.user for suggestion in found) else ()
            print_rows(("name", "into", "evidence", *whose), rows)
        return
    with opened_to_write(memory, namespace, wait, must_exist=True) as store:
        episode = store.merge(name, into, reason, user=user)
    if as_json:
        print_json({"memory": str(memory), "episode": episode.id, "text": episode.text})
    else:
        typer.echo(one_line(episode.text))

"""``worldthread correct``: say that a fact was never true."""

from __future__ import annotations

from typing import Annotated

import typer

from worldthread.cli.opening import (
    DEFAULT_FILE,
    DEFAULT_WAIT,
    JsonOption,
    MemoryOption,
    NamespaceOption,
    WaitOption,
    opened_to_write,
)
from worldthread.cli.output import one_line, print_json


def correct(
    subject: Annotated[str, typer.Argument(help="The subject of the fact, as about prints it.")],
    relation: Annotated[str, typer.Argument(help="Its relation.")],
    object_: Annotated[str, typer.Argument(metavar="OBJECT", help="Its object.")],
    replacement: Annotated[
        str | None, typer.Option("--object", metavar="NAME", help="What the object should have been.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it was wrong.")] = "",
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When the correction was made; now by default.")
    ] = None,
    source: Annotated[str, typer.Option(metavar="TEXT", help="Where the correction comes from.")] = "",
    memory: MemoryOption = DEFAULT_FILE,
    namespace: NamespaceOption = "default",
    wait: WaitOption = DEFAULT_WAIT,
    as_json: JsonOption = False,
) -> None:
    """Say that a fact was never true, and what is true instead.

    Use remember for what has changed: the older fact then stays true of its time. A correction is a passage of its own;
    forget it to undo the correction.

    [dim]Examples:[/dim]

        worldthread correct Anna "lives in" Rome

        worldthread correct Anna "lives in" Rome --object Milan --reason "I mixed up the two"
    """
    with opened_to_write(memory, namespace, wait, must_exist=True) as store:
        right = None if replacement is None else (subject, relation, replacement)
        episode = store.correct((subject, relation, object_), right, reason, at=at, source=source)
    if as_json:
        print_json({"memory": str(memory), "episode": episode.id, "text": episode.text})
    else:
        typer.echo(one_line(episode.text))

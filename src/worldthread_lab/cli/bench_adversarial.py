"""``worldthread bench adversarial``: attack the promises of a memory."""

from __future__ import annotations

import json
import os
from typing import Annotated, Final

import typer

from worldthread.errors import InputError

_QUIET: Final = {"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False", "LANGSMITH_TRACING": "false",
                 "HF_HUB_OFFLINE": "1"}  # fmt: skip
_MARKS: Final = {"kept": "[green]kept[/green]", "broken": "[red]broken[/red]", "not claimed": "not claimed"}


def adversarial(
    system: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="worldthread, langgraph, mem0, graphiti or cognee; the others must be installed.",
        ),
    ] = "worldthread",
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Attack the promises of a memory: deletion, durability, users, truth, time, order and threads.

    Every check runs in a new folder, without a model; those of Graphiti and cognee are scripted. What a system does
    not claim is marked so, with what it says instead. The command fails if a promise is broken.

    [dim]Examples:[/dim]

        worldthread bench adversarial

        worldthread bench adversarial --system langgraph --json
    """
    from worldthread_lab.bench.adversarial import CHECKS, SYSTEMS, run

    if system not in SYSTEMS:
        raise InputError(f"there is no system {system!r}; there are: {', '.join(SYSTEMS)}")
    name = system
    os.environ |= _QUIET | {"OPENAI_API_KEY": os.environ.get("OPENAI_API_KEY", "unused")}  # mem0 asks for one
    versions = SYSTEMS[name].versions()
    results = []
    if as_json:
        results = list(run(name))
        typer.echo(
            json.dumps(
                {
                    "system": name,
                    "versions": versions,
                    "results": [{"check": r.check, "verdict": r.verdict, "found": r.found} for r in results],
                },
                indent=2,
            )
        )
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console()
        console.print(f"[bold]{name}[/bold] ({versions})")
        for number, result in enumerate(run(name), start=1):
            results.append(result)
            console.print(f"{number}/{len(CHECKS)} {result.check}: {_MARKS[result.verdict]} ({escape(result.found)})")
    if any(result.verdict == "broken" for result in results):
        raise typer.Exit(1)

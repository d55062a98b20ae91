"""``worldthread games``: the games that can be played."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer


def games(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line instead of a table.")] = False,
) -> None:
    """List the games that can be played.

    Prints the name, the task and the limit of moves of each game. Generated games differ by their seed. Game files are
    named [bold]textworld:PATH[/bold] or [bold]jericho:PATH[/bold]; TextWorld files in the folders of $WORLDTHREAD_GAMES
    are listed too and need no path.

    [dim]Examples:[/dim]

        worldthread games

        worldthread games --json | jq -r .id
    """
    from worldthread_lab.envs import games as registered
    from worldthread_lab.envs.registry import GAMES_VARIABLE

    specs = registered()
    files: list[tuple[str, Path]] = []
    for folder in filter(None, os.environ.get(GAMES_VARIABLE, "").split(os.pathsep)):
        for place in (Path(folder), Path(folder) / "textworld"):
            files += [(f"textworld:{file.stem}", file) for file in sorted(place.glob("*.z8"))]
    if as_json:
        for spec in specs:
            line: dict[str, object] = {"id": spec.id, "title": spec.title, "description": spec.description}
            line |= {"max_moves": spec.default_max_moves, "installed": spec.installed, "extra": spec.extra}
            typer.echo(json.dumps(line))
        for name, file in files:
            typer.echo(json.dumps({"id": name, "path": str(file)}))
        return

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from worldthread.installation import install_command

    table = Table(box=None, pad_edge=False)
    table.add_column("game", style="bold")
    table.add_column("task", ratio=1)
    table.add_column("max moves", justify="right")
    for spec in specs:
        task = Text(f"{spec.title}. {spec.description}")
        if not spec.installed:
            task.append(" (not installed)", style="yellow")
        table.add_row(spec.name, task, str(spec.default_max_moves or "500"))
    for name, file in files:
        table.add_row(Text(name), Text(str(file)), "500")
    console = Console()
    console.print(table)
    for extra in sorted({spec.extra or "" for spec in specs if not spec.installed}):
        missing = [spec.name for spec in specs if not spec.installed and spec.extra == extra]
        names = missing[0] if len(missing) == 1 else f"{missing[0]} to {missing[-1]} ({len(missing)} games)"
        console.print(Text(f"\nTo play {names}: {install_command(extra)}", style="yellow"))
    console.print(
        Text(
            "\nPlay a game with: worldthread play GAME --seed N; a game file with: worldthread play textworld:PATH",
            style="dim",
        )
    )

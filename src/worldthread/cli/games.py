"""``worldthread games``: what can be played."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from worldthread.cli.console import out, print_json


def games(as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False) -> None:
    """List the worlds that can be played, and the game files found in $WORLDTHREAD_GAMES.

    Play one by its id, with or without the version, and a file by its name:

        [bold]worldthread play cooking-hard --seed 3[/bold]
        [bold]worldthread play textworld:path/to/game.z8[/bold]
    """
    from worldthread import envs
    from worldthread.envs.registry import GAMES_VARIABLE

    known = [
        {
            "id": spec.id,
            "title": spec.title,
            "description": spec.description,
            "max_moves": spec.default_max_moves,
            "installed": spec.installed,
            "install": None if spec.installed else f"pip install 'worldthread[{spec.extra}]'",
        }
        for spec in envs.games()
    ]
    folders = [Path(entry).expanduser() for entry in os.environ.get(GAMES_VARIABLE, "").split(os.pathsep) if entry]
    files = [_file(path) for folder in folders for path in _game_files(folder)]
    if as_json:
        print_json({"games": known, "folders": [str(folder) for folder in folders], "files": files})
        return
    console = out()
    table = Table("id", "title", Text("moves", justify="right"), "ready", box=None, header_style="bold", pad_edge=False)
    table.columns[2].justify = "right"
    for game in known:
        ready = Text("yes", style="green") if game["installed"] else Text("engine missing", style="yellow")
        table.add_row(str(game["id"]), str(game["title"]), str(game["max_moves"] or "no limit"), ready)
    console.print(table)
    for line in dict.fromkeys(str(game["install"]) for game in known if game["install"]):
        console.print(Text.assemble("\nto install the missing engine:  ", (line, "bold")), soft_wrap=True)
    console.print()
    if not folders:
        console.print(f"Set ${GAMES_VARIABLE} to a folder with .z8 game files to see them here.", soft_wrap=True)
        return
    for folder in folders:
        if not folder.is_dir():
            console.print(Text(f"{folder}: no such folder (named in ${GAMES_VARIABLE})", style="yellow"), soft_wrap=True)
    listed = Table("file", "scored by", box=None, header_style="bold", pad_edge=False)
    for file in files:
        listed.add_row(str(file["id"]), "its table of places" if file["has_places"] else "the game")
    console.print(listed if files else f"No .z8 file is in ${GAMES_VARIABLE}.")


def _game_files(folder: Path) -> list[Path]:
    """Where :func:`worldthread.envs.make` looks for ``textworld:NAME``: the folder and its subfolder ``textworld``.

    A file can be played when the description that TextWorld writes, a ``.json``, is beside it.
    """
    places = (folder, folder / "textworld")
    return sorted(path for place in places for path in place.glob("*.z8") if path.with_suffix(".json").is_file())


def _file(path: Path) -> dict[str, Any]:
    from worldthread.envs.cleaning import places_file

    return {"id": f"textworld:{path.stem}", "path": str(path), "has_places": places_file(path).is_file()}

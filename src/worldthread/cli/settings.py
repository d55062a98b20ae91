"""``worldthread settings``: what can be set with ``--set``, with defaults, units and meanings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.settings import Setting, SettingsPart


def settings(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="PART.NAME",
            help="What to show the settings of: agent.ariadne, memory.arigraph, game.zork1, method.beam. "
            "Default: list the names.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line instead of a table.")] = False,
) -> None:
    """List what can be set, with types, defaults, units and meanings.

    Settings of agents, memory modules and games are given to [bold]worldthread play[/bold] and [bold]worldthread
    sweep[/bold], with --set or in a file; those of a retrieval method follow its name.

    [dim]Examples:[/dim]

        worldthread settings agent.ariadne

        worldthread play cooking --agent ariadne --set agent.calls=three --set memory.rooms=8

        worldthread sweep zork1 --agent ariadne --settings mine.toml       sections agent, memory and game

        worldthread recall "Where is Anna?" --method beam:max_paths=5
    """
    if name is None:
        for part, one_part in _parts().items():
            known = one_part.names()
            if as_json:
                typer.echo(json.dumps({"part": part, "names": list(known)}))
            else:
                typer.echo(f"{part}: {', '.join(known)}")
        return
    found = settings_by_name(name)
    if as_json:
        for one in found.values():
            line = {"name": one.name, "type": list(one.types), "default": one.default, "meaning": one.meaning}
            typer.echo(json.dumps(line, default=str))
        return
    _print_table(name, found)


def settings_by_name(name: str) -> dict[str, Setting]:
    """Return the settings of an agent, a memory module, a game or a retrieval method.

    Args:
        name: the part and the name, such as ``memory.arigraph``.

    Returns:
        The settings by name.

    Raises:
        InputError: there is no such part or name; the message lists those that there are.
    """
    part, _, which = name.partition(".")
    parts = _parts()
    if part not in parts or not which:
        raise InputError(f"name a part and what is in it, such as method.beam, not {name!r}; parts: {', '.join(parts)}")
    return parts[part].settings(which)


def _parts() -> dict[str, SettingsPart]:
    """Return what has settings: what other packages add, and the retrieval methods."""
    from worldthread.extensions import SETTINGS, extensions, load_extension
    from worldthread.retrieve import method_settings, methods
    from worldthread.settings import SettingsPart

    added = {part: load_extension(SETTINGS, part) for part in extensions(SETTINGS, ("method",))}
    return {**added, "method": SettingsPart(methods, method_settings)}


def _print_table(name: str, found: dict[str, Setting]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not found:
        typer.echo(f"{name} has no settings")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "default", "type"):
        table.add_column(heading, style="bold" if heading == "setting" else "")
    table.add_column("meaning", ratio=1)
    for one in found.values():
        default = json.dumps(one.default, default=str)
        table.add_row(one.name, Text(default), Text(" or ".join(one.types)), Text(one.meaning))
    Console().print(table)

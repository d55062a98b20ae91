"""``worldthread settings``: what can be set with ``--set``, with defaults, units and meanings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.settings import Setting

PARTS = ("agent", "memory", "game", "method")
"""What has settings: agents, memory modules, games, and retrieval methods."""


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
        names = {part: _names_of(part) for part in PARTS}
        for part, known in names.items():
            if as_json:
                typer.echo(json.dumps({"part": part, "names": known}))
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
    if part not in PARTS or not which:
        raise InputError(
            f"name a part and what is in it, such as agent.ariadne, not {name!r}; parts: {', '.join(PARTS)}"
        )
    if part == "agent":
        from worldthread_lab.agents import agent_class, agent_settings

        return agent_settings(agent_class(which))
    if part == "memory":
        from worldthread.settings import settings_of
        from worldthread_lab.agents.memory_modules import memory_module_class

        return settings_of(memory_module_class(which))
    if part == "game":
        from worldthread_lab.envs.registry import game_settings

        return game_settings(which)
    from worldthread.retrieve import method_settings

    return method_settings(which)


def _names_of(part: str) -> list[str]:
    if part == "agent":
        from worldthread_lab.agents import AGENTS

        return sorted(AGENTS)
    if part == "memory":
        from worldthread_lab.agents.memory_modules import MEMORY_MODULES

        return list(MEMORY_MODULES)
    if part == "game":
        from worldthread_lab.envs import games

        return [*(spec.name for spec in games()), "textworld:PATH", "jericho:PATH"]
    from worldthread.retrieve import methods

    return list(methods())


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

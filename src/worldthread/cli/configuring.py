"""Commands for what can be set: ``settings`` and ``prompts``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.support.settings import Setting, SettingsPart


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
    from worldthread.retrieve import method_settings, methods
    from worldthread.support.extensions import SETTINGS, extensions, load_extension
    from worldthread.support.settings import SettingsPart

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


def prompts(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The prompt to print, such as agents/ariadne. Default: list all."),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Copy the prompt, or all of them, to files in this folder, to be changed."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List the prompts of agents, memory modules, extraction and answering, print one, or copy them to a folder.

    Commands that ask a model take [bold]--prompts FOLDER[/bold]: prompts in it replace those of the same name. A
    replacement may use the variables of the prompt that it replaces. What the model must answer is fixed: its JSON
    schema is sent with the request.

    [dim]Examples:[/dim]

        worldthread prompts

        worldthread prompts agents/ariadne

        worldthread prompts agents/ariadne --copy mine        then change mine/agents/ariadne.md

        worldthread play cooking --agent ariadne --prompts mine
    """
    from worldthread.models.prompts import prompt_text, shipped_prompts

    known = shipped_prompts()
    if name is not None and name not in known:
        near = [key for key in known if key.endswith(f"/{name}")]
        if len(near) != 1:
            raise InputError(f"no prompt is called {name!r}; there are: {', '.join(near or known)}")
        name = near[0]
    chosen = known if name is None else {name: known[name]}
    if copy is not None:
        _copy({key: prompt_text(prompt) for key, prompt in chosen.items()}, copy)
    elif as_json:
        for key, prompt in chosen.items():
            line = {"name": key, "version": prompt.version, "variables": sorted(prompt.placeholders)}
            typer.echo(json.dumps({**line, "text": prompt_text(prompt)}))
    elif name is not None:
        typer.echo(prompt_text(known[name]), nl=False)
    else:
        for key, prompt in known.items():
            variables = " ".join(f"${variable}" for variable in sorted(prompt.placeholders))
            typer.echo(f"{key:32} version {prompt.version}   {variables}".rstrip())


def _copy(texts: dict[str, str], folder: Path) -> None:
    """Write prompts to files; a file that is there already is an error, and nothing is written."""
    files = {folder / f"{key}.md": text for key, text in texts.items()}
    if taken := [str(file) for file in files if file.exists()]:
        raise InputError(f"{taken[0]} exists: move it away, or name another folder")
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        typer.echo(str(file))

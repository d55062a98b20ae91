"""``worldthread prompts``: the prompts that can be replaced, with their variables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from worldthread.errors import InputError


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

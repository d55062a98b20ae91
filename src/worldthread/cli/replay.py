"""``worldthread replay``: play a run again from its recording, and compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from worldthread.cli.opening import JsonOption

_DIFFERENT = 1
"""Exit code when the play goes another way."""


def replay(
    run: Annotated[Path, typer.Argument(help="Folder of a run, as [bold]worldthread play[/bold] or a sweep made it.")],
    as_json: JsonOption = False,
) -> None:
    """Play a run again, without any call of a model, and compare every line of its trajectory.

    The recorded answers stand for the model. The exit code is 1 when a line comes out different: then the program, the
    game or a setting has changed since.

    [dim]Example:[/dim]

        worldthread replay runs/treasure-hunt-v1-explorer-seed0
    """
    from worldthread.cli.output import note, number_of
    from worldthread.play.run_files import replay as play_again

    result = play_again(run)
    if as_json:
        fields = {"same": result.difference is None, "lines": result.lines, "moves": result.moves}
        fields |= {"complete": result.is_complete, "model_requests": result.model_requests, "model_calls": 0}
        typer.echo(json.dumps({**fields, "difference": result.difference}))
    elif result.difference is not None:
        note(result.difference, "red")
    else:
        asked = ""
        if result.model_requests:
            asked = f"; {number_of(result.model_requests, 'request')} answered by the recording, no call made"
        where = "" if result.is_complete else " (there the play was cut off)"
        typer.echo(f"the same, byte for byte: {number_of(result.lines, 'line')}{where}{asked}")
    if result.difference is not None:
        raise typer.Exit(_DIFFERENT)

"""``worldthread replay``: check that a recorded run can be reproduced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from worldthread.cli.options import JsonOption
from worldthread_lab.cli.running import AllowCodeOption

_DIFFERENT = 1
"""The exit code when the replay differs."""


def replay(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder of a run from [bold]worldthread play[/bold] or a sweep.")
    ],
    as_json: JsonOption = False,
    allow_code: AllowCodeOption = None,
) -> None:
    """Play a recorded run again, and check that every step is the same.

    The recorded answers replace the model, so no call is made. Prints how many lines of the trajectory are the same, or
    the first difference. The exit code is 1 after a difference: then the program, the game or a setting has changed.

    The run names its agent and its game. What is not part of worldthread runs only with [bold]--allow-code[/bold].

    [dim]Examples:[/dim]

        worldthread replay runs/treasure-hunt-v1-explorer-seed0

        worldthread replay runs/treasure-hunt-v1-explorer-seed0 --json
    """
    from worldthread.cli.output import note, number_of
    from worldthread_lab.play.run_files import replay as play_again

    result = play_again(run, allow_code=allow_code or ())
    if as_json:
        fields = {"same": result.difference is None, "lines": result.lines, "moves": result.moves}
        fields |= {"complete": result.is_complete, "model_requests": result.model_requests, "model_calls": 0}
        typer.echo(json.dumps({**fields, "difference": result.difference}))
    elif result.difference is not None:
        note(result.difference, "red")
    else:
        answered = ""
        if result.model_requests:
            answered = f"; {number_of(result.model_requests, 'request')} answered from the recording"
        scope = "" if result.is_complete else " (the run is unfinished)"
        typer.echo(f"all {number_of(result.lines, 'line')} are the same, byte for byte{scope}{answered}")
    if result.difference is not None:
        raise typer.Exit(_DIFFERENT)

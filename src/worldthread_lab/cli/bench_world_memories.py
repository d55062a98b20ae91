"""``worldthread bench world-memories``: what several models make of one frontier."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from worldthread_lab.cli.running import names_in

if TYPE_CHECKING:
    from worldthread_lab.bench.world_memories import RecordedAnalysis, WorldMemory

_FAILED: Final = 1
_MOST_CHARACTERS: Final = 40_000  # of one world memory on the screen


def world_memories(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run of the agent glow.")],
    model: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="The chat models to ask, separated by commas. Repeatable."),
    ],
    analysis: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Which analysis of the run; 1 for the first. Default: the last."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Send one frontier of a run of glow to several models, and print what each makes of it (GLoW, Appendix G).

    The request is the recorded one, word by word, so the world memories differ by the model alone. What the model of
    the run answered comes first and is not asked for again. The exit code is 1 when an answer could not be used.

    [dim]Examples:[/dim]

        worldthread bench world-memories runs/zork1-glow-seed0 --model gpt-4.1-nano,gpt-4.1

        worldthread bench world-memories runs/deephome-glow-seed1 --analysis 1 --model ollama/qwen2.5:7b --json
    """
    from worldthread.errors import InputError
    from worldthread.models import chat_model
    from worldthread.models.config import FAKE_MODEL
    from worldthread.progress import show_progress
    from worldthread_lab.bench.world_memories import analyse_with, chosen_analysis, recorded_analyses
    from worldthread_lab.play.fake_player import FakePlayer

    chosen = chosen_analysis(recorded_analyses(run), analysis)
    found = [chosen.own]
    names = names_in(model, "--model")
    with show_progress(None, "asking", len(names)) as advance:
        for name in names:
            if name == FAKE_MODEL:
                found.append(analyse_with(FakePlayer(0), chosen.request))
            else:
                chat = chat_model(name)
                if chat is None:
                    raise InputError("--model must name a chat model")
                with closing(chat):
                    found.append(analyse_with(chat, chosen.request))
            advance(1)
    if as_json:
        memories = [memory.to_dict() for memory in found]
        typer.echo(json.dumps({"run": str(run), "analysis": chosen.number, "memories": memories}))
    else:
        _show(chosen, found)
    if any(memory.memory is None for memory in found):
        raise typer.Exit(_FAILED)


def _show(chosen: RecordedAnalysis, found: list[WorldMemory]) -> None:
    from rich.console import Console
    from rich.text import Text

    from worldthread_lab.agents.attempts.world_memory import render_global_memory

    console = Console()
    console.print(f"analysis {chosen.number} of the frontier, as {len(found)} models see it", highlight=False)
    for number, memory in enumerate(found):
        text = memory.problem
        if memory.memory is not None:
            text = render_global_memory(memory.memory, _MOST_CHARACTERS)
        console.rule(Text(f"{memory.model}{' (the model of the run)' if number == 0 else ''}"))
        console.print(Text(text))  # what a model wrote is never markup

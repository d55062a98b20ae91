"""``worldthread bench contamination``: whether a model knows the maps of games that it was never shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from worldthread.bench.contamination import GameFigures
    from worldthread.models.configured import ConfiguredChat

_FAILED: Final = 1
_FOLDER: Final = Path("runs/contamination")


def contamination(
    games: Annotated[
        list[str], typer.Argument(help="Games that bring a walkthrough, as [bold]worldthread play[/bold] takes them.")
    ],
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The chat model that is asked; [bold]none[/bold]: only count the questions."),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Commands of the walkthrough that are played at most.")] = 300,
    distance: Annotated[int, typer.Option(min=1, help="Commands between two places asked about at most.")] = 2,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many questions of each game, drawn at random, always the same.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help=f"File that keeps all answers. Default: one for each model in {_FOLDER.as_posix()}."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Ask a model for the ways between places of games, without showing it anything of them (GLoW, Appendix C).

    The places and ways are those of the game's own walkthrough. Accuracies come with 95 % Wilson intervals. Every
    answer is kept in a file: a run that was stopped goes on where it stopped. The exit code is 1 when some questions
    could not be asked.

    [dim]Examples:[/dim]

        worldthread bench contamination zork1 detective --model gpt-4.1-mini

        worldthread bench contamination jericho:games/ztuu.z5 --model ollama/qwen2.5:7b --limit 20 --json
    """
    from worldthread.bench.contamination import drawn, measure, questions_of
    from worldthread.play.sweep import require_statistics
    from worldthread.progress import show_progress

    require_statistics()
    asked = {game: questions_of(game, steps, distance) for game in dict.fromkeys(games)}
    chat = _chat(model, record)
    if chat is None:
        _count({game: len(questions) for game, questions in asked.items()}, as_json=as_json)
        return
    chosen = {game: drawn(questions, limit) for game, questions in asked.items()}
    figures: list[GameFigures] = []
    with show_progress(None, "asking", sum(map(len, chosen.values()))) as tell:
        for game, questions in chosen.items():
            figures.append(measure(chat, game, questions, tell))
    chat.close()
    if as_json:
        typer.echo(json.dumps(_as_json(chat.name, figures)))
    else:
        _show(chat.name, figures)
    problems = [problem for one in figures for problem in one.not_asked]
    if problems:
        missing = sum(sum(one.not_asked.values()) for one in figures)
        typer.echo(f"{missing} questions not asked ({problems[0]}); the same command asks them again", err=True)
        raise typer.Exit(_FAILED)


def _chat(model: str | None, record: Path | None) -> ConfiguredChat | None:
    """The model, with a recording that it goes on with, unless the configuration has one of its own."""
    from worldthread.models import chat_model
    from worldthread.models.config import load_config

    config = load_config(model)
    if record is None and config.record is None and config.replay is None and config.model is not None:
        record = _FOLDER / f"{re.sub(r'[^a-zA-Z0-9.]+', '-', config.model).strip('-')}.jsonl"
    return chat_model(model, record=record)


def _count(counts: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"questions": counts}))
        return
    for game, number in counts.items():
        typer.echo(f"{game}: {number} questions")
    typer.echo("nothing was asked: name a model (--model)")


def _as_json(model: str, figures: list[GameFigures]) -> dict[str, Any]:
    from worldthread.bench.contamination import pooled

    known = [one.right / one.questions for one in figures if one.questions]
    return {
        "model": model,
        "games": [one.to_dict() for one in figures],
        "all": pooled(figures).to_dict(),
        "mean_accuracy": round(sum(known) / len(known), 5) if known else None,
    }


def _show(model: str, figures: list[GameFigures]) -> None:
    from rich.console import Console
    from rich.table import Table

    from worldthread.bench.contamination import pooled

    table = Table(
        box=None,
        pad_edge=False,
        title=model,
        caption="accuracy with its 95 % interval; blind: of the best single direction",
    )
    table.add_column("game", style="bold", overflow="fold")
    for name in ("questions", "right", "accuracy", "blind", "reused", "tokens", "$"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in [*figures, *([pooled(figures)] if len(figures) > 1 else [])]:
        found = one.to_dict()
        accuracy = "-"
        if found["accuracy"] is not None:
            low, high = found["accuracy_interval"]
            accuracy = f"{found['accuracy']:.3f} \\[{low:.3f}, {high:.3f}]"
        table.add_row(
            one.game,
            str(one.questions),
            str(one.right),
            accuracy,
            f"{one.blind / one.questions:.3f}" if one.questions else "-",
            str(one.tally.reused),
            f"{one.tally.usage.total_tokens:,}",
            "?" if one.tally.dollars is None else f"{one.tally.dollars:.4f}",
        )
    Console().print(table)

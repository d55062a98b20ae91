"""``worldthread bench contamination``: measure how well a model knows games from its training."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from worldthread.models.configured import ConfiguredChat
    from worldthread_lab.bench.contamination import GameFigures

_FAILED: Final = 1
_FOLDER: Final = Path("runs/contamination")


def contamination(
    games: Annotated[
        list[str],
        typer.Argument(
            metavar="GAME",
            help="Games with a walkthrough: names that [bold]worldthread games[/bold] lists, or jericho:PATH.",
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The chat model to ask; [bold]none[/bold] only counts the questions. Default: $WORLDTHREAD_MODEL.",
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Play at most N commands of the walkthrough.")] = 300,
    distance: Annotated[int, typer.Option(min=1, metavar="N", help="Ask about places at most N commands apart.")] = 2,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Ask N questions for each game, a fixed random sample.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help=f"The file for all answers. Default: one for each model in {_FOLDER.as_posix()}."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Measure how well a chat model knows the maps of games that it is not shown (GLoW, Appendix C).

    Asks the model for the route between two places of a game's own walkthrough. Prints the accuracy with 95 % Wilson
    intervals, and the accuracy of the best single direction for comparison.

    A file stores every answer: to continue after an interruption, run the same command again. The exit code is 1 when
    some questions could not be asked.

    [dim]Examples:[/dim]

        worldthread bench contamination zork1 detective --model gpt-4.1-mini

        worldthread bench contamination jericho:games/ztuu.z5 --model ollama/qwen2.5:7b --limit 20 --json
    """
    from worldthread.progress import show_progress
    from worldthread_lab.bench.contamination import measure, questions_of, sample_questions
    from worldthread_lab.play.sweep import require_statistics

    require_statistics()
    asked = {game: questions_of(game, steps, distance) for game in dict.fromkeys(games)}
    chat = _chat(model, record)
    if chat is None:
        _count({game: len(questions) for game, questions in asked.items()}, as_json=as_json)
        return
    chosen = {game: sample_questions(questions, limit) for game, questions in asked.items()}
    figures: list[GameFigures] = []
    with show_progress(None, "asking", sum(map(len, chosen.values()))) as advance:
        for game, questions in chosen.items():
            figures.append(measure(chat, game, questions, advance))
    chat.close()
    if as_json:
        typer.echo(json.dumps(_as_json(chat.name, figures)))
    else:
        _show(chat.name, figures)
    problems = [problem for game in figures for problem in game.not_asked]
    if problems:
        missing = sum(sum(game.not_asked.values()) for game in figures)
        typer.echo(
            f"{missing} questions could not be asked ({problems[0]}); run the same command to ask them again", err=True
        )
        raise typer.Exit(_FAILED)


def _chat(model: str | None, record: Path | None) -> ConfiguredChat | None:
    """Return the model with its recording, unless the configuration names another recording."""
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
    typer.echo("no model was asked; give one with --model")


def _as_json(model: str, figures: list[GameFigures]) -> dict[str, Any]:
    from worldthread_lab.bench.contamination import pooled

    known = [game.right / game.questions for game in figures if game.questions]
    return {
        "model": model,
        "games": [game.to_dict() for game in figures],
        "all": pooled(figures).to_dict(),
        "mean_accuracy": round(sum(known) / len(known), 5) if known else None,
    }


def _show(model: str, figures: list[GameFigures]) -> None:
    from rich.console import Console
    from rich.table import Table

    from worldthread_lab.bench.contamination import pooled

    table = Table(
        box=None,
        pad_edge=False,
        title=model,
        caption="accuracy with its 95 % interval; blind: accuracy of the best single direction",
    )
    table.add_column("game", style="bold", overflow="fold")
    for name in ("questions", "right", "accuracy", "blind", "reused", "tokens", "$"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in [*figures, *([pooled(figures)] if len(figures) > 1 else [])]:
        found = row.to_dict()
        accuracy = "-"
        if found["accuracy"] is not None:
            low, high = found["accuracy_interval"]
            accuracy = f"{found['accuracy']:.3f} \\[{low:.3f}, {high:.3f}]"
        table.add_row(
            row.game,
            str(row.questions),
            str(row.right),
            accuracy,
            f"{row.blind / row.questions:.3f}" if row.questions else "-",
            str(row.totals.reused),
            f"{row.totals.usage.total_tokens:,}",
            "?" if row.totals.dollars is None else f"{row.totals.dollars:.4f}",
        )
    Console().print(table)

"""``worldthread bench ask``: measure the answers that a memory gives without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread_lab.cli.running import names_in

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH: Final = 120
_COLUMNS: Final = {
    "refused_unanswerable": "unanswerable refused",
    "refused_answerable": "answerable refused",
    "right": "right of answered",
    "right_of_answerable": "right of answerable",
}


def ask(
    dataset: Annotated[list[str], typer.Option(help="The conversations: locomo, beam. Repeatable.")],
    embedder: Annotated[
        str | None, typer.Option(help="The embedder: minilm, wordllama or fake. Default: minilm.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder or file of the data.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Take only the first N conversations.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each data set instead of tables.")
    ] = False,
) -> None:
    """Measure answers without a model: from the right turn or not, and what is not answered.

    Prints, with 95 % bootstrap intervals over the questions, which share of the questions that a conversation does not
    answer, and of those that it does, is refused, and which share of the answers comes from a turn of the evidence;
    then what holds when only the most confident answers are given.

    [dim]Examples:[/dim]

        worldthread bench ask --dataset locomo

        worldthread bench ask --dataset locomo,beam --json
    """
    from worldthread.models import embedder as embedder_named
    from worldthread_lab.bench.asking import measure
    from worldthread_lab.bench.conversations import load
    from worldthread_lab.bench.retrieval import progress_shown

    model = embedder_named(embedder)
    for name in names_in(dataset, "--dataset"):
        with progress_shown() as show_progress:
            report = measure(name, load(name, data)[:limit], model, show_progress)
        if as_json:
            typer.echo(json.dumps(report.to_dict()))
        else:
            _show(report.to_dict())


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console = Console(width=max(console.width, _WIDTH))
    table = Table(box=None, pad_edge=False)
    table.add_column(report["dataset"], style="bold")
    for title in _COLUMNS.values():
        table.add_column(title, justify="right", no_wrap=True)
    for name, part in {"all": report["all"], **report["by_category"], **report["by_conversation"]}.items():
        table.add_row(name, *(_shown(part[column]) for column in _COLUMNS))
    console.print(table)
    if report["curve"]:
        _show_curve(console, report["curve"])
    console.print(f"ms a question: p50 {report['milliseconds_p50']:.1f}\n", highlight=False)


def _show_curve(console: Console, curve: list[dict[str, float]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("answered", "confidence", "right", "unanswerable refused", "answerable refused"):
        table.add_column(title, justify="right", no_wrap=True)
    for point in curve:
        keys = ("answered", "confidence", "right", "refused_unanswerable", "refused_answerable")
        table.add_row(*(f"{point[key]:.3f}" for key in keys))
    console.print(table)


def _shown(share: dict[str, Any]) -> str:
    if not share["questions"]:
        return "-"
    low, high = share["interval"]
    return f"{share['share']:.3f} \\[{low:.2f}, {high:.2f}] of {share['questions']}"

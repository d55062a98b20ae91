"""Benchmarks that look for what is false: ``audit-logs``, ``audit-stories``, ``audit-nethack``, and two more."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.errors import InputError
from worldthread_lab.cli.running import seeds_in

if TYPE_CHECKING:
    from rich.console import Console

    from worldthread.models.configured import ConfiguredChat
    from worldthread_lab.bench.arigraph.audit import AuditReport
    from worldthread_lab.bench.contamination import GameFigures
    from worldthread_lab.play.audit_nethack import NetHackReport
    from worldthread_lab.play.audit_story import StoryFigures, StoryReport


def print_mistakes(console: Console, reports: Mapping[str, StoryReport | NetHackReport], most: int) -> None:
    """Print the mistakes of each game that lasted longest.

    Args:
        console: receives the text.
        reports: reports by name of the game.
        most: how many mistakes of each game; 0 for none.
    """
    for name, report in reports.items() if most else ():
        console.print(f"\n[bold]{name}[/bold]: mistakes, by the number of steps that they lasted")
        for turn, kind, mistake, words in sorted(report.mistakes, key=lambda m: -report.lasted[m[1:]])[:most]:
            lasted = report.lasted[kind, mistake, words]
            console.print(f"{lasted:6}  {mistake} {kind}: {words} (from step {turn})", markup=False)


_WIDTH_AUDIT_LOGS: Final = 160
_SUFFIX: Final = "_arigraph"
_SHOWN: Final = ("AriGraph", "AriGraph, relations of both", "worldthread", "worldthread, inventory told")


def audit_logs(
    logs: Annotated[
        Path, typer.Argument(metavar="LOGS", help="The folder of the published logs, one <run>.jsonl.gz each.")
    ],
    run: Annotated[
        list[str] | None,
        typer.Option(help="The name of a run. Repeatable. Default: all runs of the full system."),
    ] = None,
    games: Annotated[
        Path | None, typer.Option(help="The folder of the game files. Default: the folders of $WORLDTHREAD_GAMES.")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, metavar="N", help="Also print N random verdicts, for a check by hand.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="The seed of the sample.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as one JSON object.")] = False,
) -> None:
    """Compare the memory with AriGraph's published graphs on the same plays.

    Plays the logged actions again, and after every step compares both memories with the true state of the game: the
    graph in the log, and ours, built from the same texts. Prints precision, recall and stale statements of both, and
    the most frequent mistakes. Attempts that do not reach the full score again are left out.

    [dim]Examples:[/dim]

        worldthread bench audit-logs data/ariadne_logs --games games/textworld

        worldthread bench audit-logs data/ariadne_logs --run hunt_arigraph --sample 100
    """
    from rich.console import Console

    from worldthread.errors import InputError
    from worldthread_lab.bench.arigraph.audit import audit_runs
    from worldthread_lab.bench.arigraph.log_texts import LoggedStep, attempts, read_lines
    from worldthread_lab.envs import Environment, make
    from worldthread_lab.play.sweep import require_statistics

    require_statistics()
    known = attempts(read_lines(logs, LoggedStep))
    names = sorted({name for name, _ in known})
    wanted = run or [name for name in names if name.endswith(_SUFFIX)]
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise InputError(f"{logs} has no run {', '.join(unknown)}; its runs are: {', '.join(names)}")

    def open_game(name: str) -> Environment:
        if Path(name).name != name:  # the logs come from elsewhere, and do not choose the folder
            raise InputError(f"{logs} names a run {name!r}, which is not the name of a game file")
        location = name if games is None else str(games / f"{name}.z8")
        return make(f"textworld:{location}", max_moves=math.inf)

    with Console(stderr=True).status("reading the logs") as status:
        report = audit_runs(
            {key: steps for key, steps in known.items() if key[0] in wanted},
            open_game,
            watch=lambda phase: status.update(f"replaying {phase}"),
        )
    if as_json:
        typer.echo(json.dumps(_as_json_audit_logs(report, sample, seed)))
    else:
        _show_audit_logs(report, sample, seed)


def _as_json_audit_logs(report: AuditReport, size: int, seed: int) -> dict[str, Any]:
    from worldthread_lab.bench.arigraph.audit_report import sample, to_dict

    drawn = [
        {
            "attempt": name,
            "step": verdict.step,
            "triplet": verdict.triplet,
            "readings": [] if verdict.claim is None else verdict.claim.readings,
            "verdict": verdict.what or "nothing that the state can tell",
        }
        for name, verdict in sample(report, size, seed)
    ]
    return to_dict(report) | ({"sample": drawn} if drawn else {})


def _show_audit_logs(report: AuditReport, size: int, seed: int) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console = Console(width=max(console.width, _WIDTH_AUDIT_LOGS), highlight=False)  # a table that is cut is useless
    found = _as_json_audit_logs(report, size, seed)
    table = Table(box=None, pad_edge=False, caption="means over attempts [95 % interval]; counts are sums over steps")
    for column in ("game", "memory"):
        table.add_column(column, style="bold" if column == "game" else None, no_wrap=True)
    for column in ("attempts", "precision", "recall", "steps with stale", "stale", "wrong", "given up", "judged"):
        table.add_column(column, justify="right", no_wrap=True)
    for game, memories in found["groups"].items():
        for number, memory in enumerate(_SHOWN):
            figures = memories[memory]
            pooled = figures["pooled"]
            table.add_row(
                game if number == 0 else "",
                memory,
                str(figures["attempts"]),
                *(_with_interval(figures, name) for name in ("precision", "recall", "stale_share")),
                *(str(pooled[name]) for name in ("stale", "wrong", "dropped")),
                f"{pooled['judged']:.3f}",
            )
    console.print(table)
    for memory, groups in found["mistakes"].items():
        console.print(f"\n[bold]Mistakes of {memory}[/bold], the most frequent first (sums over steps)")
        for group in groups:
            console.print(f"{group['statement_steps']:6}  {group['what']}: {group['kind']} ({group['mistakes']})")
            for example in group["examples"]:
                where = f"{example['attempt']}, from step {example['first_step']}, {example['steps']} steps"
                console.print(f"          {example['statement']} ({where})", markup=False)
    for name, reason in found["left_out"].items():
        console.print(f"left out: {name}: {reason}", markup=False)
    for drawn in found.get("sample", ()):
        readings = " or ".join(", ".join(key) for key in drawn["readings"]) or "-"
        triplet = ", ".join(drawn["triplet"])
        console.print(
            f"{drawn['attempt']} step {drawn['step']}: {triplet} = {readings}: {drawn['verdict']}", markup=False
        )


def _with_interval(figures: dict[str, Any], name: str) -> str:
    low, high = figures[f"{name}_interval"]
    return f"{figures[name]:.3f} \\[{low:.3f}, {high:.3f}]"


_WIDTH_AUDIT_STORIES: Final = 210


def audit_stories(
    games: Annotated[
        list[str], typer.Argument(metavar="GAME...", help="Z-machine games: files, or names in $WORLDTHREAD_GAMES.")
    ],
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Let this agent play, which needs no model, instead of the walkthroughs."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The largest number of steps; without, all, or 300 of an agent and 250 of a wanderer.",
        ),
    ] = None,
    walkthrough: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="A walkthrough, one command a line, of a game that jericho does not know. Repeatable: one for each "
            "GAME, in the same order.",
        ),
    ] = None,
    wanderers: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="With --walkthrough: also audit N plays by a player who tries what changes things.",
        ),
    ] = 0,
    mistakes: Annotated[
        int, typer.Option(min=0, metavar="N", help="Also print the N mistakes of each game that lasted longest.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each game.")] = False,
) -> None:
    """Check the memory of Z-machine games against the engine, along each game's walkthrough.

    Plays the walkthrough that jericho knows, or one from a file, or lets an agent play, remembers every step by rule,
    and after every step compares the memory with the engine's tree of objects: where the player and things are, what
    is carried, and which ways lead where.
    What is open or closed is checked where the other games teach which attribute of their compiler says so. Prints
    precision and recall by kind, the share of statements that are stale, merged and split rooms, and wrong ways.

    [dim]Examples:[/dim]

        worldthread bench audit-stories zork1 lostpig

        worldthread bench audit-stories games/jericho/*.z5 --json

        worldthread bench audit-stories zork1 --agent random --steps 100

        worldthread bench audit-stories mine.z5 --walkthrough mine.txt --wanderers 2
    """
    from rich.console import Console

    from worldthread.errors import InputError
    from worldthread_lab.play.audit_story import audit_games

    if walkthrough and agent is not None:
        raise InputError("--agent needs a game that jericho knows; with --walkthrough use --wanderers")
    if wanderers and not walkthrough:
        raise InputError("--wanderers needs --walkthrough, which tells which object is the player")
    reports: dict[str, StoryReport] = {}
    with Console(stderr=True).status("playing"):
        for game, report in audit_games(games, steps, agent, walkthroughs=walkthrough or (), wanderers=wanderers):
            name = Path(game).stem
            reports[name] = report
            if as_json:
                typer.echo(json.dumps({"game": name, **report.to_dict()}))
    if not as_json:
        _show_audit_stories(reports, mistakes)


def _show_audit_stories(reports: dict[str, StoryReport], mistakes: int) -> None:
    from rich.console import Console
    from rich.table import Table

    from worldthread_lab.play.audit_story import KINDS, StoryFigures

    console = Console(highlight=False)
    console = Console(width=max(console.width, _WIDTH_AUDIT_STORIES), highlight=False)  # a table that is cut is useless
    table = Table(box=None, pad_edge=False, caption="precision/recall, pooled over steps")
    table.add_column("game", style="bold", no_wrap=True)
    columns = ("all", "stale", *KINDS, "checked", "rooms", "merged", "split", "wrong ways", "presumed (wrong)")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, report in reports.items():
        table.add_row(
            name,
            *_cells_audit_stories(report.total, report.figures),
            f"{report.to_dict()['checked']:.2f}",
            *(str(count) for count in (report.rooms, report.merged, report.split, report.wrong_ways)),
            f"{report.presumed} ({report.presumed_wrong})",
        )
    if len(reports) > 1:
        found = list(reports.values())
        pooled = {kind: sum((report.figures[kind] for report in found), StoryFigures()) for kind in KINDS}
        total = sum((report.total for report in found), StoryFigures())
        table.add_row("together", *_cells_audit_stories(total, pooled))
    console.print(table)
    print_mistakes(console, reports, mistakes)


def _cells_audit_stories(total: StoryFigures, kinds: dict[str, StoryFigures]) -> list[str]:
    shown = [f"{figures.precision:.3f}/{figures.recall:.3f}" for figures in (total, *kinds.values())]
    return [shown[0], f"{total.stale_share:.3f}", *shown[1:]]


_WIDTH_AUDIT_NETHACK: Final = 150


def audit_nethack(
    seeds: Annotated[
        str, typer.Option(metavar="SEEDS", help="The seeds of the games, such as 1-10 or 3,7-9.")
    ] = "1-10",
    agent: Annotated[
        str, typer.Option(metavar="NAME", help="The agent that plays: one that needs no model.")
    ] = "explorer",
    steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="The largest number of actions; a game that is lost ends sooner.")
    ] = 300,
    character: Annotated[str, typer.Option(metavar="NAME", help="The character, such as valkyrie.")] = "valkyrie",
    mistakes: Annotated[
        int, typer.Option(min=0, metavar="N", help="Also print the N mistakes of each game that lasted longest.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each game.")] = False,
) -> None:
    """Check the memory of an agent in NetHack against the game's map.

    An agent plays, and after every action its memory is compared with what the map shows: where the player, things and
    creatures are, what is carried, doors and stairs with their sides and states. Prints precision and recall by kind of
    statement, and the share of statements that are stale.

    [dim]Examples:[/dim]

        worldthread bench audit-nethack

        worldthread bench audit-nethack --agent random --seeds 1-3 --steps 100 --mistakes 10
    """
    from rich.console import Console

    from worldthread_lab.play.audit_nethack import audit_nethack as audited

    reports: dict[str, NetHackReport] = {}
    with Console(stderr=True).status("playing") as status:
        for seed in seeds_in(seeds):
            status.update(f"playing seed {seed}")
            reports[f"seed {seed}"] = report = audited(seed, agent=agent, steps=steps, character=character)
            if as_json:
                typer.echo(json.dumps({"seed": seed, "agent": agent, **report.to_dict()}))
    if not as_json:
        _show_audit_nethack(reports, mistakes)


def _show_audit_nethack(reports: dict[str, NetHackReport], mistakes: int) -> None:
    from rich.console import Console
    from rich.table import Table

    from worldthread_lab.play.audit_nethack import KINDS
    from worldthread_lab.play.audit_story import StoryFigures

    console = Console(highlight=False)
    console = Console(width=max(console.width, _WIDTH_AUDIT_NETHACK), highlight=False)  # a table that is cut is useless
    table = Table(box=None, pad_edge=False, caption="precision/recall, pooled over steps; -: none held or expected")
    table.add_column("game", style="bold", no_wrap=True)
    for column in ("steps", "checked", "all", "stale", *KINDS):
        table.add_column(column, justify="right", no_wrap=True)
    for name, report in reports.items():
        checked = f"{report.to_dict()['checked']:.2f}"
        table.add_row(name, str(report.steps), checked, *_cells_audit_nethack(report.total, report.figures))
    if len(reports) > 1:
        found = list(reports.values())
        pooled = {kind: sum((report.figures[kind] for report in found), StoryFigures()) for kind in KINDS}
        total = sum((report.total for report in found), StoryFigures())
        unchecked = sum(report.unchecked for report in found)
        checked = f"{total.held / (total.held + unchecked or 1):.2f}"
        steps = str(sum(report.steps for report in found))
        table.add_row("together", steps, checked, *_cells_audit_nethack(total, pooled))
    console.print(table)
    print_mistakes(console, reports, mistakes)


def _cells_audit_nethack(total: StoryFigures, kinds: dict[str, StoryFigures]) -> list[str]:
    shown = [
        f"{figures.precision:.3f}/{figures.recall:.3f}"
        if figures.held and figures.expected
        else f"{figures.precision:.3f}/-"
        if figures.held
        else f"-/{figures.recall:.3f}"
        if figures.expected
        else "-"
        for figures in (total, *kinds.values())
    ]
    return [shown[0], f"{total.stale_share:.3f}", *shown[1:]]


_QUIET: Final = {"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False", "LANGSMITH_TRACING": "false",
                 "HF_HUB_OFFLINE": "1"}  # fmt: skip
_MARKS: Final = {"kept": "[green]kept[/green]", "broken": "[red]broken[/red]", "not claimed": "not claimed"}


def adversarial(
    system: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="worldthread, langgraph, mem0, graphiti or cognee; the others must be installed.",
        ),
    ] = "worldthread",
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Attack the promises of a memory: deletion, durability, users, truth, time, order and threads.

    Every check runs in a new folder, without a model; those of Graphiti and cognee are scripted. What a system does
    not claim is marked so, with what it says instead. The command fails if a promise is broken.

    [dim]Examples:[/dim]

        worldthread bench adversarial

        worldthread bench adversarial --system langgraph --json
    """
    from worldthread_lab.bench.adversarial import CHECKS, SYSTEMS, run

    if system not in SYSTEMS:
        raise InputError(f"there is no system {system!r}; there are: {', '.join(SYSTEMS)}")
    name = system
    os.environ |= _QUIET | {"OPENAI_API_KEY": os.environ.get("OPENAI_API_KEY", "unused")}  # mem0 asks for one
    versions = SYSTEMS[name].versions()
    results = []
    if as_json:
        results = list(run(name))
        typer.echo(
            json.dumps(
                {
                    "system": name,
                    "versions": versions,
                    "results": [{"check": r.check, "verdict": r.verdict, "found": r.found} for r in results],
                },
                indent=2,
            )
        )
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console()
        console.print(f"[bold]{name}[/bold] ({versions})")
        for number, result in enumerate(run(name), start=1):
            results.append(result)
            console.print(f"{number}/{len(CHECKS)} {result.check}: {_MARKS[result.verdict]} ({escape(result.found)})")
    if any(result.verdict == "broken" for result in results):
        raise typer.Exit(1)


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
    from worldthread.support.progress import show_progress
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
        typer.echo(json.dumps(_as_json_contamination(chat.name, figures)))
    else:
        _show_contamination(chat.name, figures)
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


def _as_json_contamination(model: str, figures: list[GameFigures]) -> dict[str, Any]:
    from worldthread_lab.bench.contamination import pooled

    known = [game.right / game.questions for game in figures if game.questions]
    return {
        "model": model,
        "games": [game.to_dict() for game in figures],
        "all": pooled(figures).to_dict(),
        "mean_accuracy": round(sum(known) / len(known), 5) if known else None,
    }


def _show_contamination(model: str, figures: list[GameFigures]) -> None:
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

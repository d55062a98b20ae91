"""``worldthread sweep``: many plays, and what they say together."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.cli.running import (
    AgentOption,
    BudgetDollarsOption,
    BudgetTokensOption,
    PlayerModelOption,
    names_in,
    runs_of,
    seeds_in,
    settings_in,
)
from worldthread.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from worldthread.play.runs import Run
    from worldthread.play.sweep import RunProgress

_SHOWN_AT_ONCE: Final = 8  # runs that go on, each with a bar
_WIDE: Final = 200  # columns of what is no terminal


def sweep(
    games: Annotated[list[str], typer.Argument(help="One or more games, as [bold]worldthread play[/bold] takes them.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            show_default="explorer",
            help="Who plays, as [bold]worldthread play[/bold] takes it; several with commas, or by giving it again.",
        ),
    ] = None,
    memory: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Memory modules, for agents that ask one; several likewise. Default: each agent's own.",
        ),
    ] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEEDS",
            show_default="1-10",
            help="Seeds of the games: 1-50, or 3, or 1-10,20-30; may be given again.",
        ),
    ] = None,
    attempts: Annotated[
        int, typer.Option(min=1, metavar="N", help="Plays of each game and seed, each with another seed of the agent.")
    ] = 1,
    best: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Count only so many attempts at each seed, the best ones (published tables do)."
        ),
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop a play after so many moves.")] = None,
    model: PlayerModelOption = None,
    option: AgentOption = None,
    budget_tokens: BudgetTokensOption = None,
    budget_dollars: BudgetDollarsOption = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Plays at a time. Default: the processors.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder in which the plays are kept.")] = Path("runs/sweep"),
    audit: Annotated[bool, typer.Option(help="Compare the memory with the truth after every move.")] = True,
    valid_actions: Annotated[bool, typer.Option(help="Let the agent see the list of valid actions.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as one JSON object, as last line.")
    ] = False,
) -> None:
    """Play games in parallel, every agent with every memory module over all seeds, and report the figures.

    Every play has a folder of its own with its trajectory, its model's answers and its summary. A sweep that was
    stopped or killed goes on where it stopped, in the middle of a play too, and pays for no answer twice; one that is
    asked again answers at once. The exit code is 1 when a play failed; asked again, it goes on from there.

    [dim]Examples:[/dim]

        worldthread sweep treasure-hunt --seeds 1-50

        worldthread sweep cooking cleaning --agent explorer,random --jobs 2 --json

        worldthread sweep cooking --agent ariadne --memory none,worldthread

        worldthread sweep zork1 --agent react,glow --seeds 0 --attempts 5 --best 3

        worldthread sweep tiny --agent react --model fake       try it without a model
    """
    from rich.console import Console

    from worldthread.play.sweep import RESULTS_FILE, SweepResults, require_statistics
    from worldthread.play.sweep import sweep as run_sweep
    from worldthread.play.sweep_figures import aggregate, groups_of

    agents = names_in(agent or ["explorer"], "--agent")
    if "human" in agents:
        raise InputError("a person plays with worldthread play --agent human; a sweep asks nobody")
    if best is not None and best > attempts:
        raise InputError(f"--best {best} of {attempts} attempts: make more of them (--attempts)")
    runs = runs_of(
        games, agents, names_in(memory or (), "--memory"), seeds_in(",".join(seeds or ("1-10",))), range(attempts),
        model=model, settings=settings_in(option), budget_tokens=budget_tokens, budget_dollars=budget_dollars,
        steps=steps, audit=audit, valid_actions=valid_actions,
    )  # fmt: skip
    require_statistics()
    console = Console(stderr=True, highlight=False)
    with SweepResults(out / RESULTS_FILE) as results, SweepProgress(console, runs, results.done) as bars:
        failures = run_sweep(
            runs, results, jobs=jobs or os.cpu_count() or 1, on_done=bars.end, on_tick=bars.tick, argument=model
        )
    figures = [
        aggregate(group, best=best) for group in groups_of((r, results.done[r]) for r in runs if r in results.done)
    ]
    failed = [
        {"game": r.game, "agent": r.player, "seed": r.seed, "attempt": r.attempt, "error": error}
        for r, error in failures.items()
    ]
    if as_json:
        print(json.dumps({"groups": figures, "failures": failed}), flush=True)
    else:
        if figures:
            _show(figures)
        typer.echo(f"plays are kept in {results.folder}; worldthread report {results.folder} makes a page of them")
        if failed:
            typer.echo(f"{len(failed)} of {len(runs)} plays failed; the same command goes on with them")
    if failures:
        raise typer.Exit(1)


class SweepProgress:
    """The progress of a sweep: how many runs are done and how they scored, and where each of the others stands."""

    def __init__(self, console: Console, runs: Sequence[Run], done: dict[Run, dict[str, Any]]) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[score]}", markup=False),
            TimeElapsedColumn(),
        )
        self._console = console
        self._progress = Progress(*columns, console=console)
        self._runs, self._done = runs, done
        self._total = self._progress.add_task("plays", total=len(runs), score="")
        self._going: dict[Run, TaskID] = {}

    def __enter__(self) -> SweepProgress:
        self._count()
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.tick([])
        self._progress.stop()

    def end(self, run: Run, outcome: dict[str, Any] | str) -> None:
        """A run came to its end, or failed."""
        from rich.text import Text

        if isinstance(outcome, str):
            where = f"{run.game} {run.player} seed {run.seed} attempt {run.attempt}: {outcome}"
            self._console.print(Text.assemble(("failed ", "red"), where), soft_wrap=True)
        self._count()

    def tick(self, standings: Sequence[RunProgress]) -> None:
        """These runs go on."""
        shown = {standing.run: standing for standing in standings[:_SHOWN_AT_ONCE]}
        for run in [run for run in self._going if run not in shown]:
            self._progress.remove_task(self._going.pop(run))
        for run, standing in shown.items():
            if run not in self._going:
                from worldthread.play.runs import limit_of

                attempt = f".{run.attempt}" if run.attempt else ""
                name = f"  {run.game.removeprefix('textworld:')[-24:]} {run.player} {run.seed}{attempt}"
                self._going[run] = self._progress.add_task(name, total=limit_of(run), score="")
            score = f"{standing.score:g} points"
            self._progress.update(self._going[run], completed=standing.moves, score=score)

    def _count(self) -> None:
        summaries = [self._done[run] for run in self._runs if run in self._done]
        score = ""
        if summaries:
            known = [s["best_normalized"] for s in summaries]
            if None in known:
                score = f"mean best score {sum(s['best_score'] for s in summaries) / len(summaries):.1f}"
            else:
                score = f"mean best score {sum(known) / len(known):.2f} of 1"
        self._progress.update(self._total, completed=len(summaries), score=score)


def _show(figures: list[dict[str, Any]]) -> None:
    """Print the figures as a table, or as several below each other where the terminal is too narrow for one."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, _WIDE))
    who, told = _columns(figures)
    for part in _parts(who, told, console.width):
        console.print(_table(who + part))
    console.print(_caption(figures), style="dim", highlight=False)


def _parts(who: list[list[str]], told: list[list[str]], width: int) -> list[list[list[str]]]:
    """Columns in as many parts as are needed for each to fit beside those that tell who played."""

    def needed(column: list[str]) -> int:
        return max(map(len, column)) + 2  # with the gap

    parts: list[list[list[str]]] = [[]]
    room = free = width - sum(map(needed, who))
    for column in told:
        if needed(column) > free and parts[-1]:
            parts.append([])
            free = room
        parts[-1].append(column)
        free -= needed(column)
    return parts


def _table(columns: list[list[str]]) -> Table:
    """A table of columns, each a heading and its cells."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name, *_ in columns:
        is_name = name in ("game", "player")
        table.add_column(name, style="bold" if is_name else "", justify="left" if is_name else "right", no_wrap=True)
    for row in zip(*(cells for _, *cells in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def _columns(figures: list[dict[str, Any]]) -> tuple[list[list[str]], list[list[str]]]:
    """Headings with their cells: those that tell who played, and all others that have anything to tell."""
    returned = any(f["returns"] for f in figures)
    who = [
        ["game", *(re.sub(r".*[:/]", "", f["game"])[-24:] for f in figures)],
        ["player", *(f["agent"][-20:] + (f"+{f['memory']}" if f["memory"] else "") for f in figures)],
    ]
    told = [
        ["won", *(f"{f['wins']}/{f['runs']}" for f in figures)],
        ["score", *(_score(f["normalized"], f["score"]) for f in figures)],
        ["best", *(_score(f["best_normalized"], f["best_score"]) if returned else "-" for f in figures)],
        ["moves", *(f"{f['median_moves']:g}" for f in figures)],
        ["decisions", *(f"{f['median_decisions']:g}" for f in figures)],
        ["least", *(_number(f["median_optimal_moves"], "g") for f in figures)],
        ["ratio", *(_number(f["median_ratio"], ".2f") for f in figures)],
        ["valid", *(_number(f["valid_share"], ".2f") if f["model"] else "-" for f in figures)],
        ["unusable", *(str(f["unparsable"]) if f["model"] else "-" for f in figures)],
        ["tokens", *(f"{f['tokens']['mean']:,.0f}" if f["model"] else "-" for f in figures)],
        ["$", *(_number(f["dollars"] and f["dollars"]["mean"], ".3f") if f["model"] else "-" for f in figures)],
        ["precision", *(_number(f["audit"] and f["audit"]["precision"], ".4f") for f in figures)],
        ["recall", *(_number(f["audit"] and f["audit"]["recall"], ".4f") for f in figures)],
        ["stale", *(_number(f["audit"] and f["audit"]["stale_steps"], "d") for f in figures)],
        ["s", *(f"{f['seconds']['mean']:.2f}" for f in figures)],
    ]
    return who, [column for column in told if any(cell != "-" for cell in column[1:])]


def _caption(figures: list[dict[str, Any]]) -> str:
    parts = ["score: mean [95 % interval]", "moves, decisions, ratio: medians", "least: shortest possible"]
    if any(f["model"] for f in figures):
        parts += ["tokens, $, s: means", "unusable: answers without an action"]
    parts += sorted({f"counted: {f['counted']}" for f in figures if f["counted"] != "all runs"})
    return "; ".join(parts)


def _score(normalized: dict[str, Any] | None, points: dict[str, Any]) -> str:
    """A mean with its interval: the share of the highest score where that is known, else points."""
    figures, digits = (points, 1) if normalized is None else (normalized, 3)
    low, high = figures["interval"]
    interval = f" [{low:.{max(digits - 1, 1)}f}, {high:.{max(digits - 1, 1)}f}]" if low < high else ""
    return f"{figures['mean']:.{digits}f}{interval}"


def _number(value: Any, form: str) -> str:
    return "-" if value is None else format(value, form)

"""Commands for many plays and for recorded ones: ``sweep`` and ``replay``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.cli.options import JsonOption
from worldthread.errors import InputError
from worldthread_lab.cli.running import (
    AgentOption,
    AllowCodeOption,
    BudgetDollarsOption,
    BudgetTokensOption,
    DecisionsOption,
    PlayerModelOption,
    PromptsOption,
    SetOption,
    SettingsFileOption,
    names_in,
    prompts_of_run,
    runs_of,
    seeds_in,
    settings_in,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from worldthread_lab.play.run import Run
    from worldthread_lab.play.sweep import RunProgress


_SHOWN_AT_ONCE: Final = 8  # progress bars of unfinished runs
_WIDE: Final = 200  # columns when the output is not a terminal


def sweep(
    games: Annotated[
        list[str],
        typer.Argument(
            metavar="GAME",
            help="One or more games: names that [bold]worldthread games[/bold] lists, or textworld:PATH, jericho:PATH.",
        ),
    ],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            show_default=False,
            help="The agents, as in [bold]worldthread play[/bold], separated by commas. Repeatable. Default: explorer.",
        ),
    ] = None,
    memory: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="The memory modules of agents that use one, separated by commas. Repeatable. Default: the agent's "
            "own.",
        ),
    ] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEEDS",
            show_default=False,
            help="The seeds of the games, such as 1-50 or 3 or 1-10,20-30. Repeatable. Default: 1-10.",
        ),
    ] = None,
    attempts: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="The number of plays of each game and seed, each with another seed of the agent."
        ),
    ] = 1,
    best: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Count only the N best attempts at each seed, as published tables do."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The limit of moves of each play. Default: the game's own.")
    ] = None,
    model: PlayerModelOption = None,
    option: AgentOption = None,
    set_: SetOption = None,
    settings_file: SettingsFileOption = None,
    prompts: PromptsOption = None,
    decisions: DecisionsOption = None,
    budget_tokens: BudgetTokensOption = None,
    budget_dollars: BudgetDollarsOption = None,
    allow_code: AllowCodeOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="The number of plays at a time. Default: the number of processors."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the plays.")] = Path("runs/sweep"),
    audit: Annotated[
        bool, typer.Option(help="Compare the memory with the true state of the game after every move.")
    ] = True,
    valid_actions: Annotated[bool, typer.Option(help="Show the agents the list of valid actions.")] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the statistics as one JSON object on the last line.")
    ] = False,
) -> None:
    """Play many games in parallel, and print statistics for each game and agent.

    Every agent plays every game with every memory module and every seed. Prints wins, scores with 95 % intervals,
    moves, tokens, dollars and the audit of the memory. What people played of the same games, in the folder of the sweep
    or beside it, counts as one more player.

    Each play has its own folder with its trajectory, the answers of its model and its summary. To continue after an
    interruption, run the same command again: it skips finished plays, continues unfinished ones in the middle, and pays
    for no answer twice. The exit code is 1 when a play failed.

    [dim]Examples:[/dim]

        worldthread sweep treasure-hunt --seeds 1-50

        worldthread sweep cooking cleaning --agent explorer,random --jobs 2 --json

        worldthread sweep cooking --agent ariadne --memory none,worldthread

        worldthread sweep zork1 --agent react,glow --seeds 0 --attempts 5 --best 3

        worldthread sweep tiny --agent react --model fake       try it without a chat model
    """
    from rich.console import Console

    from worldthread_lab.play.people import plays_of_people
    from worldthread_lab.play.sweep import RESULTS_FILE, SweepResults, require_statistics
    from worldthread_lab.play.sweep import sweep as run_sweep
    from worldthread_lab.play.sweep_figures import aggregate, groups_of

    agents = names_in(agent or ["explorer"], "--agent")
    if "human" in agents:
        raise InputError("a sweep cannot ask a person; play yourself with: worldthread play --agent human")
    if best is not None and best > attempts:
        raise InputError(f"--best {best} needs at least {best} attempts at each seed: give --attempts {best} or more")
    runs = runs_of(
        games, agents, names_in(memory or (), "--memory"), seeds_in(",".join(seeds or ("1-10",))), range(attempts),
        model=model, settings=settings_in(option, set_, settings_file),
        budget_tokens=budget_tokens, budget_dollars=budget_dollars,
        steps=steps, audit=audit, valid_actions=valid_actions, decisions=decisions,
        prompts=prompts_of_run(prompts), allow_code=allow_code or (),
    )  # fmt: skip
    require_statistics()
    console = Console(stderr=True, highlight=False)
    with SweepResults(out / RESULTS_FILE) as results, SweepProgress(console, runs, results.done) as bars:
        failures = run_sweep(
            runs, results, jobs=jobs or os.cpu_count() or 1, on_done=bars.end, on_tick=bars.tick, argument=model,
            allow_code=allow_code or (),
        )  # fmt: skip
    played = [(run, results.done[run]) for run in runs if run in results.done]
    people = plays_of_people(results.folder, {run.game for run, _ in played})
    figures = [aggregate(group, best=best) for group in groups_of([*played, *((p.run, p.summary) for p in people)])]
    failed = [
        {"game": r.game, "agent": r.player, "seed": r.seed, "attempt": r.attempt, "error": error}
        for r, error in failures.items()
    ]
    if as_json:
        print(json.dumps({"groups": figures, "failures": failed}), flush=True)
    else:
        if figures:
            _show(figures)
        typer.echo(f"the plays are in {results.folder}; write a report with: worldthread report {results.folder}")
        if failed:
            typer.echo(f"{len(failed)} of {len(runs)} plays failed; run the same command again to continue them")
    if failures:
        raise typer.Exit(1)


class SweepProgress:
    """Progress bars: one for the whole sweep with the mean score, and one for each unfinished run."""

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
        self._bars: dict[Run, TaskID] = {}

    def __enter__(self) -> SweepProgress:
        self._count()
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.tick([])
        self._progress.stop()

    def end(self, run: Run, outcome: dict[str, Any] | str) -> None:
        """Count a finished run, or print the error of a failed one."""
        from rich.text import Text

        if isinstance(outcome, str):
            where = f"{run.game} {run.player} seed {run.seed} attempt {run.attempt}: {outcome}"
            self._console.print(Text.assemble(("failed ", "red"), where), soft_wrap=True)
        self._count()

    def tick(self, unfinished: Sequence[RunProgress]) -> None:
        """Update the bars of the unfinished runs."""
        shown = {progress.run: progress for progress in unfinished[:_SHOWN_AT_ONCE]}
        for run in [run for run in self._bars if run not in shown]:
            self._progress.remove_task(self._bars.pop(run))
        for run, progress in shown.items():
            if run not in self._bars:
                from worldthread_lab.play.runs import limit_of

                attempt = f".{run.attempt}" if run.attempt else ""
                name = f"  {run.game.removeprefix('textworld:')[-24:]} {run.player} {run.seed}{attempt}"
                self._bars[run] = self._progress.add_task(name, total=limit_of(run), score="")
            score = f"{progress.score:g} points"
            self._progress.update(self._bars[run], completed=progress.moves, score=score)

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
    """Print the figures as a table, or as several tables when the terminal is too narrow for one."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, _WIDE))
    names, values = _columns(figures)
    for part in _parts(names, values, console.width):
        console.print(_table(names + part))
    console.print(_caption(figures), style="dim", highlight=False, soft_wrap=not console.is_terminal)


def _parts(names: list[list[str]], values: list[list[str]], width: int) -> list[list[list[str]]]:
    """Split the columns of values so that each part fits beside the columns of names."""

    def needed(column: list[str]) -> int:
        return max(map(len, column)) + 2  # with the gap

    parts: list[list[list[str]]] = [[]]
    room = free = width - sum(map(needed, names))
    for column in values:
        if needed(column) > free and parts[-1]:
            parts.append([])
            free = room
        parts[-1].append(column)
        free -= needed(column)
    return parts


def _table(columns: list[list[str]]) -> Table:
    """Return a table of columns; each column is its heading and its cells."""
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
    """Return the columns of names, and the columns of values that are not empty."""
    returned = any(f["returns"] for f in figures)
    names = [
        ["game", *(re.sub(r".*[:/]", "", f["game"])[-24:] for f in figures)],
        [
            "player",
            *(
                ("people" if f["agent"] == "human" else f["agent"][-20:]) + (f"+{f['memory']}" if f["memory"] else "")
                for f in figures
            ),
        ],
    ]
    values = [
        ["won", *(f"{f['wins']}/{f['runs']}" for f in figures)],
        ["score", *(_score(f["normalized"], f["score"]) for f in figures)],
        ["best", *(_score(f["best_normalized"], f["best_score"]) if returned else "-" for f in figures)],
        ["moves", *(f"{f['median_moves']:g}" for f in figures)],
        ["decisions", *(f"{f['median_decisions']:g}" for f in figures)],
        ["optimal", *(_number(f["median_optimal_moves"], "g") for f in figures)],
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
    return names, [column for column in values if any(cell != "-" for cell in column[1:])]


def _caption(figures: list[dict[str, Any]]) -> str:
    parts = [
        "score: mean [95 % interval]",
        "moves, decisions, ratio: medians",
        "optimal: length of the shortest solution",
    ]
    if any(f["model"] for f in figures):
        parts += ["tokens, $, s: means", "unusable: answers without an action"]
    parts += sorted({f"counted: {f['counted']}" for f in figures if f["counted"] != "all runs"})
    return "; ".join(parts)


def _score(normalized: dict[str, Any] | None, points: dict[str, Any]) -> str:
    """Return a mean score with its interval: a share of the highest score if that is known, else points."""
    figures, digits = (points, 1) if normalized is None else (normalized, 3)
    low, high = figures["interval"]
    interval = f" [{low:.{max(digits - 1, 1)}f}, {high:.{max(digits - 1, 1)}f}]" if low < high else ""
    return f"{figures['mean']:.{digits}f}{interval}"


def _number(value: Any, form: str) -> str:
    return "-" if value is None else format(value, form)


_DIFFERENT = 1
"""The exit code when the replay differs."""


def replay(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder of a run from [bold]worldthread play[/bold] or a sweep.")
    ],
    as_json: JsonOption = False,
    allow_code: AllowCodeOption = None,
) -> None:
    """Play a recorded run again, and check that every step is the same.

    The recorded answers replace the model, so no call is made. Prints how many lines of the trajectory are the same, or
    the first difference. The exit code is 1 after a difference: then the program, the game or a setting has changed.

    The run names its agent and its game. What is not part of worldthread runs only with [bold]--allow-code[/bold].

    [dim]Examples:[/dim]

        worldthread replay runs/treasure-hunt-v1-explorer-seed0

        worldthread replay runs/treasure-hunt-v1-explorer-seed0 --json
    """
    from worldthread.cli.output import note, number_of
    from worldthread_lab.play.run_files import replay as play_again

    result = play_again(run, allow_code=allow_code or ())
    if as_json:
        fields = {"same": result.difference is None, "lines": result.lines, "moves": result.moves}
        fields |= {"complete": result.is_complete, "model_requests": result.model_requests, "model_calls": 0}
        typer.echo(json.dumps({**fields, "difference": result.difference}))
    elif result.difference is not None:
        note(result.difference, "red")
    else:
        answered = ""
        if result.model_requests:
            answered = f"; {number_of(result.model_requests, 'request')} answered from the recording"
        scope = "" if result.is_complete else " (the run is unfinished)"
        typer.echo(f"all {number_of(result.lines, 'line')} are the same, byte for byte{scope}{answered}")
    if result.difference is not None:
        raise typer.Exit(_DIFFERENT)

"""``worldthread bench audit-logs``: compare AriGraph's published memory graphs with ours on the same plays."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from worldthread_lab.bench.arigraph.audit import AuditReport

_WIDTH: Final = 160
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
        typer.echo(json.dumps(_as_json(report, sample, seed)))
    else:
        _show(report, sample, seed)


def _as_json(report: AuditReport, size: int, seed: int) -> dict[str, Any]:
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


def _show(report: AuditReport, size: int, seed: int) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console = Console(width=max(console.width, _WIDTH), highlight=False)  # a table that is cut is useless
    found = _as_json(report, size, seed)
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

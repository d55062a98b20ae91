"""``worldthread bench audit-nethack``: check the memory of an agent in NetHack against the game's map."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final

import typer

from worldthread_lab.cli.audit_output import print_mistakes
from worldthread_lab.cli.running import seeds_in

if TYPE_CHECKING:
    from worldthread_lab.play.audit_nethack import NetHackReport
    from worldthread_lab.play.audit_story import StoryFigures

_WIDTH: Final = 150


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
        _show(reports, mistakes)


def _show(reports: dict[str, NetHackReport], mistakes: int) -> None:
    from rich.console import Console
    from rich.table import Table

    from worldthread_lab.play.audit_nethack import KINDS
    from worldthread_lab.play.audit_story import StoryFigures

    console = Console(highlight=False)
    console = Console(width=max(console.width, _WIDTH), highlight=False)  # a table that is cut is useless
    table = Table(box=None, pad_edge=False, caption="precision/recall, pooled over steps; -: none held or expected")
    table.add_column("game", style="bold", no_wrap=True)
    for column in ("steps", "checked", "all", "stale", *KINDS):
        table.add_column(column, justify="right", no_wrap=True)
    for name, report in reports.items():
        checked = f"{report.to_dict()['checked']:.2f}"
        table.add_row(name, str(report.steps), checked, *_cells(report.total, report.figures))
    if len(reports) > 1:
        found = list(reports.values())
        pooled = {kind: sum((report.figures[kind] for report in found), StoryFigures()) for kind in KINDS}
        total = sum((report.total for report in found), StoryFigures())
        unchecked = sum(report.unchecked for report in found)
        checked = f"{total.held / (total.held + unchecked or 1):.2f}"
        table.add_row("together", str(sum(report.steps for report in found)), checked, *_cells(total, pooled))
    console.print(table)
    print_mistakes(console, reports, mistakes)


def _cells(total: StoryFigures, kinds: dict[str, StoryFigures]) -> list[str]:
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

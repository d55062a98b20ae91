"""``worldthread bench audit-stories``: check the memory of Z-machine games against the engine's tree of objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from worldthread_lab.cli.audit_output import print_mistakes

if TYPE_CHECKING:
    from worldthread_lab.play.audit_story import StoryFigures, StoryReport

_WIDTH: Final = 210


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
        _show(reports, mistakes)


def _show(reports: dict[str, StoryReport], mistakes: int) -> None:
    from rich.console import Console
    from rich.table import Table

    from worldthread_lab.play.audit_story import KINDS, StoryFigures

    console = Console(highlight=False)
    console = Console(width=max(console.width, _WIDTH), highlight=False)  # a table that is cut is useless
    table = Table(box=None, pad_edge=False, caption="precision/recall, pooled over steps")
    table.add_column("game", style="bold", no_wrap=True)
    columns = ("all", "stale", *KINDS, "checked", "rooms", "merged", "split", "wrong ways", "presumed (wrong)")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, report in reports.items():
        table.add_row(
            name,
            *_cells(report.total, report.figures),
            f"{report.to_dict()['checked']:.2f}",
            *(str(count) for count in (report.rooms, report.merged, report.split, report.wrong_ways)),
            f"{report.presumed} ({report.presumed_wrong})",
        )
    if len(reports) > 1:
        found = list(reports.values())
        pooled = {kind: sum((report.figures[kind] for report in found), StoryFigures()) for kind in KINDS}
        table.add_row("together", *_cells(sum((report.total for report in found), StoryFigures()), pooled))
    console.print(table)
    print_mistakes(console, reports, mistakes)


def _cells(total: StoryFigures, kinds: dict[str, StoryFigures]) -> list[str]:
    shown = [f"{figures.precision:.3f}/{figures.recall:.3f}" for figures in (total, *kinds.values())]
    return [shown[0], f"{total.stale_share:.3f}", *shown[1:]]

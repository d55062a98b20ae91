"""What the commands print that audit a memory in games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from worldthread_lab.play.audit_nethack import NetHackReport
    from worldthread_lab.play.audit_story import StoryReport


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

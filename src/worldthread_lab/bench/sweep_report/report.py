"""The report of a sweep: a self-contained HTML page, and the same report as Markdown with separate plots."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

from worldthread.errors import MissingExtraError
from worldthread.files.paths import write_private_file
from worldthread.files.regular_files import require_no_links
from worldthread.support.text import count_of
from worldthread_lab.bench.sweep_report.plays import Sweep, all_plays, read_sweep, render_settings
from worldthread_lab.bench.sweep_report.plots import Plot, plots_of
from worldthread_lab.bench.sweep_report.tables import NOTHING, AgentTable, in_markdown
from worldthread_lab.bench.sweep_report.tables_costs import activity, costs
from worldthread_lab.bench.sweep_report.tables_gap import gaps
from worldthread_lab.bench.sweep_report.tables_memory import nethack, normalized_scores
from worldthread_lab.bench.sweep_report.tables_scores import ablations, best_scores, explorations

PAGE: Final = "report.html"
MARKDOWN: Final = "report.md"


def write_sweep_report(folder: Path, *, best: int | None = None, people: Path | None = None) -> Path:
    """Write ``report.html``, ``report.md`` and its plots ``report-*.svg`` into the folder of a sweep.

    Args:
        folder: folder of the sweep, which may still be running: the report covers the finished plays.
        best: number of attempts at each seed that count for the scores, the best ones; ``None``: all.
        people: folder of what people played of the same games; ``None``: the folder of the sweep, and the plays beside
            it.

    Returns:
        The path of ``report.html``.

    Raises:
        InputError: the folder has no finished play, or ``people`` is not a folder.
        FormatError: a file of the sweep is damaged, or a link is in the place of the report.
        MissingExtraError: the packages for reports are not installed.
    """
    for package in ("jinja2", "matplotlib", "scipy"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("the report of a sweep", extra="report", package=package)
    import jinja2

    sweep = read_sweep(folder, best=best, people=people)
    tables, plots, overview = tables_of(sweep), plots_of(sweep), _overview(sweep)
    title = f"A sweep of {' and '.join([count_of(len(sweep.games), 'game'), count_of(len(sweep.players), 'player')])}"
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("worldthread_lab.bench.sweep_report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    page = environment.get_template("sweep.html").render(title=title, overview=overview, tables=tables, plots=plots)
    require_no_links([folder / PAGE, folder / MARKDOWN, *(_file_of(folder, plot) for plot in plots)])
    for plot in plots:
        write_private_file(_file_of(folder, plot), plot.file)
    write_private_file(folder / MARKDOWN, _markdown(folder, title, overview, tables, plots))
    target = folder / PAGE
    write_private_file(target, page)
    return target


def tables_of(sweep: Sweep) -> list[AgentTable]:
    """Return all tables that have data."""
    makers = (best_scores, normalized_scores, gaps, ablations, explorations, nethack, costs, activity)
    return [*(table for make in makers for table in make(sweep)), _players(sweep)]


def _players(sweep: Sweep) -> AgentTable:
    """Return the table of players with their settings."""
    rows = []
    for player in sweep.players:
        plays = all_plays(group for (_, own), group in sweep.groups.items() if own == player)
        limits = sorted({play.run.steps for play in plays if play.run.steps is not None})
        given = ", ".join(filter(None, [render_settings(player), *(f"{limit} moves" for limit in limits)]))
        rows.append([sweep.label(player), player.model or NOTHING, given or NOTHING, str(len(plays))])
    caption = "Model and settings that differ from the defaults of agent and game."
    return AgentTable("players", "Who played", caption, ["player", "model", "settings", "plays"], rows, names=3)


def _overview(sweep: Sweep) -> list[tuple[str, str]]:
    plays = all_plays(sweep.groups.values())
    seeds = sorted({play.run.seed for play in plays})
    spent = [play.summary["cost_usd"] for play in plays]
    found = [
        ("plays", str(len(plays))),
        ("games", str(len(sweep.games))),
        ("players", str(len(sweep.players))),
        ("seeds", _ranges(seeds)),
        ("scores count", "all plays" if sweep.best is None else f"the best {sweep.best} attempts at each seed"),
        ("release", ", ".join(sweep.releases)),
    ]
    if any(play.summary["model"] for play in plays):
        found.append(("dollars", NOTHING if None in spent else f"{sum(spent):.2f}"))
    return found


def _ranges(numbers: list[int]) -> str:
    """Format sorted numbers with ranges: 1-3, 7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def _markdown(
    folder: Path, title: str, overview: list[tuple[str, str]], tables: list[AgentTable], plots: list[Plot]
) -> str:
    parts = [f"# {title}", "\n".join(f"- {name}: {in_markdown(value)}" for name, value in overview)]
    parts += [table.markdown() for table in tables]
    for plot in plots:
        image = f"![{plot.title}]({_file_of(folder, plot).name})"
        parts.append(f"## {plot.title}\n\n{in_markdown(plot.caption)}\n\n{image}")
    return "\n\n".join(parts) + "\n"


def _file_of(folder: Path, plot: Plot) -> Path:
    return folder / f"report-{plot.name}.svg"

"""Plots of a sweep, as Figures 3 to 6 of the AriGraph paper: a panel for each game, a line or bar for each player."""

from __future__ import annotations

import io
import itertools
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from worldthread_lab.bench.sweep_report.lines import (
    POINTS,
    SHARE,
    MeanCurve,
    facts,
    over_moves,
    over_seconds,
    score_figure,
    updates,
)
from worldthread_lab.bench.sweep_report.plays import PlayGroup, Sweep
from worldthread_lab.bench.sweep_report.published import Figure, glow_score, memory_score
from worldthread_lab.bench.sweep_report.tables_scores import main_players
from worldthread_lab.play.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

INK: Final = "#010203"  # placeholder for the text colour of the page
_COLOURS: Final = (
    "#2f81f7", "#e36209", "#2da44e", "#bf3989", "#b8860b", "#1b9aaa", "#8250df", "#e5534b", "#7d8590", "#6e9f18",
)  # fmt: skip
_STROKES: Final = ("-", "--", ":", "-.")
_WIDTH: Final = 9.5  # inches
_UNITS: Final = {SHARE: "share of the highest", POINTS: "points"}
_BANDS: Final = 2  # the most players in a panel whose deviation bands remain legible


@dataclass(frozen=True)
class Plot:
    """A plot with its title and caption.

    Args:
        name: short name, with hyphens.
        title: short title.
        caption: description of the plot.
        svg: the drawing, with :data:`INK` as the colour of lines and text.
    """

    name: str
    title: str
    caption: str
    svg: str

    @property
    def inline(self) -> str:
        """The drawing for inclusion in a page, in the page's text colour."""
        return self.svg.replace(INK, "currentColor")

    @property
    def file(self) -> str:
        """The drawing as a separate file, on a white background."""
        start = self.svg.index(">") + 1
        return f'{self.svg[:start]}<rect width="100%" height="100%" fill="#ffffff"/>{self.svg[start:]}'


def plots_of(sweep: Sweep) -> list[Plot]:
    """Return all plots that have data."""
    lines = [_lines(sweep, curves) for curves in _CURVES]
    return [_bars(sweep), *(plot for plot in lines if plot is not None)]


# -- bars -------------------------------------------------------------------------------------------------------------


def _bars(sweep: Sweep) -> Plot:
    """Plot the best score by game and player."""
    players = main_players(sweep)
    panels = {game: own for game in sweep.games if (own := [p for p in players if sweep.of(game, p)])}
    published_figures = {
        (game, player): figure
        for game, own in panels.items()
        for player in own
        if (figure := _published(sweep, game, player)) is not None
    }
    shown = [player for player in players if any(player in own for own in panels.values())]
    height = 0.26 * len(shown) + 0.75

    def draw(axes: Axes, game: str, style: Mapping[Run, tuple[str, str]]) -> None:
        name = score_figure(sweep, game)
        for player in panels[game]:
            row = shown.index(player)
            group = sweep.of(game, player)
            assert group is not None
            values = group.values(name) or []
            deviation = statistics.stdev(values) if len(values) > 1 else 0.0
            axes.barh(row, statistics.fmean(values), height=0.7, color=style[player][0], alpha=0.75)
            axes.errorbar(statistics.fmean(values), row, xerr=deviation, color=INK, linewidth=1, capsize=2)
            if (figure := published_figures.get((game, player))) is not None:
                mean = figure[0] if isinstance(figure, tuple) else figure
                axes.plot([mean], [row], marker="D", markersize=5, color=INK, markerfacecolor="none", linestyle="")
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_yticks(range(len(shown)), [sweep.label(player) for player in shown])
        left, right = axes.get_xlim()
        axes.set_xlim(
            left if _is_below_zero(sweep, game, panels[game], name) else 0.0, 1.05 if name == SHARE else right
        )
        axes.set_xlabel(_UNITS[name])

    svg = _panels(sweep, list(panels), shown, draw, height=height, shares_rows=True, has_legend=False)
    caption = "Mean over plays; the thin line is their standard deviation."
    caption += " A diamond is a published mean (see the tables)." if published_figures else ""
    return Plot("scores", "Best score by game and player", f"{caption} {sweep.counted}", svg)


def _is_below_zero(sweep: Sweep, game: str, players: Sequence[Run], name: str) -> bool:
    groups = [group for player in players if (group := sweep.of(game, player))]
    return any(value < 0 for group in groups for value in group.values(name) or [])


def _published(sweep: Sweep, game: str, player: Run) -> Figure | None:
    share = memory_score(player, game)
    return share if share is not None and score_figure(sweep, game) == SHARE else glow_score(player, game)


# -- lines ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Curves:
    """The description of a plot of curves over time.

    Args:
        name: short name, with hyphens.
        title: short title.
        caption: description of the plot.
        x: label of the x axis.
        y: label of the y axis; ``None``: the unit of scores in the game.
        read: returns the curve of a player in a game.
        has_bands: whether to draw deviations in panels with few players.
    """

    name: str
    title: str
    caption: str
    x: str
    y: str | None
    read: Callable[[Sweep, str, PlayGroup], MeanCurve | None]
    has_bands: bool = True


_CURVES: Final = (
    _Curves(
        "score-moves",
        "Best score over moves",
        "The highest score so far: mean over plays, with the standard deviation in panels of at most two players; a "
        "finished play keeps its score.",
        "move",
        None,
        over_moves,
    ),
    _Curves(
        "score-seconds",
        "Best score over seconds without the model",
        "The same over the seconds of agent and engine, including the search for valid actions and without the time of "
        "the model, on a logarithmic scale. Plays of older releases, which have no times, are left out.",
        "second",
        None,
        over_seconds,
    ),
    _Curves(
        "graph-size",
        "Size of the memory over moves",
        "Facts that hold: in the graph that the model built, where the player's memory module builds one (arigraph), "
        "else in the memory that the game extractor fills for every player. Mean over plays. A finished play keeps its "
        "last size; a play that returns to an earlier state has the facts of that state again.",
        "move",
        "facts",
        facts,
    ),
    _Curves(
        "update-rate",
        "Update rate of the memory over moves",
        "Statements of that memory that a move ended (replaced, or no longer true): mean over unfinished plays, in "
        "spans of moves.",
        "move",
        "ended per move",
        updates,
        has_bands=False,
    ),
)


def _lines(sweep: Sweep, curves: _Curves) -> Plot | None:
    players = main_players(sweep)
    found = {
        (game, player): line
        for game in sweep.games
        for player in players
        if (group := sweep.of(game, player)) and (line := curves.read(sweep, game, group))
    }
    if not found:
        return None

    def draw(axes: Axes, game: str, style: Mapping[Run, tuple[str, str]]) -> None:
        own = {player: line for (where, player), line in found.items() if where == game}
        for player, line in own.items():
            colour, stroke = style[player]
            axes.plot(line.x, line.mean, stroke, color=colour, linewidth=1.8, drawstyle="steps-post")
            if curves.has_bands and len(own) <= _BANDS:
                axes.fill_between(line.x, line.low, line.high, step="post", color=colour, alpha=0.15, linewidth=0)
        if curves.x == "second":
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        else:
            axes.set_xlim(left=0)
            axes.locator_params(axis="x", integer=True)  # there is no half a move
        if all(min(line.mean) >= 0 for line in own.values()):
            axes.set_ylim(bottom=0, top=None if any(max(line.mean) > 0 for line in own.values()) else 1)
        axes.set_xlabel(curves.x)
        axes.set_ylabel(curves.y or _UNITS[score_figure(sweep, game)])

    games = [game for game in sweep.games if any(key[0] == game for key in found)]
    drawn = [player for player in players if any(key[1] == player for key in found)]
    svg = _panels(sweep, games, drawn, draw, height=2.5)
    return Plot(curves.name, curves.title, f"{curves.caption} {sweep.counted}", svg)


# -- drawing ----------------------------------------------------------------------------------------------------------


def _panels(
    sweep: Sweep,
    games: Sequence[str],
    players: Sequence[Run],
    draw: Callable[[Axes, str, Mapping[Run, tuple[str, str]]], None],
    *,
    height: float,
    shares_rows: bool = False,
    has_legend: bool = True,
) -> str:
    """Draw a panel for each game, at most three in a row, as SVG without ids that could clash on a page."""
    everyone = main_players(sweep)
    strokes = itertools.product(_STROKES, _COLOURS)
    style = {
        player: (colour, stroke) for player, (stroke, colour) in zip(everyone, itertools.cycle(strokes), strict=False)
    }
    across = min(len(games), 3 if len(games) != 4 else 2)
    down = -(-len(games) // across)
    with _matplotlib() as make:
        figure = make(figsize=(_WIDTH, height * down + (0.4 if has_legend else 0)), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharey=shares_rows).ravel()
        for axes, game in itertools.zip_longest(grid, games):
            if game is None:
                axes.set_visible(False)
                continue
            draw(axes, game, style)
            axes.set_title(sweep.name(game), loc="left", fontsize=11)
            axes.spines[["top", "right"]].set_visible(False)
        if has_legend:
            _add_legend(figure, [(sweep.label(player), style[player]) for player in players])
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<svg") :])


def _add_legend(figure: Drawing, entries: Sequence[tuple[str, tuple[str, str]]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colour, linestyle=stroke, linewidth=2) for _, (colour, stroke) in entries]
    # matplotlib ignores labels that begin with an underscore
    labels = [f"\u2060{label}" if label.startswith("_") else label for label, _ in entries]
    columns = max(1, min(len(labels), int(110 / (max(map(len, labels)) + 7))))
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, frameon=False)


@contextmanager
def _matplotlib() -> Iterator[Callable[..., Drawing]]:
    """Provide the figure class in our style: text stays text, and a dollar sign does not start a formula."""
    import matplotlib
    from matplotlib.figure import Figure as FigureClass

    settings = {"svg.fonttype": "none", "svg.hashsalt": "worldthread", "font.size": 10, "font.family": "sans-serif"}
    settings |= dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    with matplotlib.rc_context({**settings, "text.parse_math": False}):
        yield FigureClass

"""Tables of the cost and course of plays; costs in the shape of Tables 6 and 7 of the GLoW paper."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from worldthread_lab.bench.sweep_report.plays import Sweep
from worldthread_lab.bench.sweep_report.published import glow_costs, published
from worldthread_lab.bench.sweep_report.tables import NOTHING, AgentTable, TableColumns, compact, dollars
from worldthread_lab.play.run import Run
from worldthread_lab.play.statistics import wilson_interval


def costs(sweep: Sweep) -> list[AgentTable]:
    """Return tokens and dollars of a play by player (Tables 6 and 7 of GLoW)."""
    players = [p for p in sweep.players if p.model]
    if not players:
        return []
    columns = TableColumns(("player", [sweep.label(player) for player in players]))
    sums: list[tuple[str, Callable[[dict[str, int | None]], float | None]]] = [
        ("calls", lambda s: s["model_calls"]),
        ("input tokens", lambda s: s["prompt_tokens"]),
        ("output tokens", lambda s: s["completion_tokens"]),
        ("tokens", lambda s: (s["prompt_tokens"] or 0) + (s["completion_tokens"] or 0)),
        ("cost", lambda s: s["cost_usd"]),
    ]
    for heading, figure in sums:
        means = [_mean_over_games(sweep, player, figure) for player in players]
        columns.add(heading, [(dollars if heading == "cost" else compact)(mean) for mean in means])
    source = published()["glow"]
    theirs = [glow_costs(player) or {} for player in players]
    for name, heading in (("input", "input tokens"), ("output", "output tokens"), ("total", "tokens")):
        columns.quote(f"{heading}, published", [compact(cost.get(name)) for cost in theirs])
    columns.quote("cost, published", [dollars(cost.get("dollars")) for cost in theirs])
    source_note = (
        f"Published: {source['source']}, {source['costs']['tables']}, plays of {source['moves']:,} moves, means over "
        "six games, with our model if the paper has it, else with its first model."
    )
    table = columns.table(
        "costs",
        "Tokens and cost of a play",
        "Means over games of the means over plays; all plays count.",
        source_note if columns.has_published else "",
    )
    return [table]


def _mean_over_games(
    sweep: Sweep, player: Run, figure: Callable[[dict[str, int | None]], float | None]
) -> float | None:
    means = []
    for game in sweep.games:
        if group := sweep.of(game, player):
            values = [figure(play.summary) for play in group.plays]
            if None in values:
                return None
            means.append(statistics.fmean(value for value in values if value is not None))
    return statistics.fmean(means)


def activity(sweep: Sweep) -> list[AgentTable]:
    """Return the course of the plays: outcomes, actions and overhead."""
    rows = []
    for (game, player), group in sorted(sweep.groups.items(), key=lambda item: sweep.games.index(item[0][0])):
        summaries = [play.summary for play in group.plays]
        wins = sum(summary["won"] for summary in summaries)
        low, high = wilson_interval(wins, len(summaries))
        shares = [s["valid_share"] for s in summaries if s["valid_share"] is not None]
        means = [statistics.fmean(s[name] for s in summaries) for name in ("moves", "decisions", "probes", "returns")]
        overhead = [statistics.median(s["overhead_ms"][share] for s in summaries) for share in ("p50", "p95")]
        rows.append(
            [
                sweep.name(game),
                sweep.label(player),
                str(len(summaries)),
                f"{wins} [{low:.2f}, {high:.2f}]",
                *(f"{mean:,.1f}" for mean in means),
                f"{statistics.fmean(shares):.3f}" if shares else NOTHING,
                str(sum(s["unparsable"] for s in summaries)),
                str(sum(sum(s["failures"].values()) for s in summaries)),
                *(f"{milliseconds:.2f}" for milliseconds in overhead),
            ]
        )
    header = [
        "game", "player", "plays", "won", "moves", "decisions", "probes", "returns", "valid\nactions", "no\naction",
        "unusable\nanswers", "overhead\np50", "overhead\np95",
    ]  # fmt: skip
    caption = (
        "All plays. Won: number, 95 % interval of the share. Moves to returns: means per play; a probe asks the "
        "engine for its valid actions, a return goes back to an earlier state. Valid actions: share of the actions "
        "that were on the list. No action: decisions that could not be used. Unusable answers: answers of the model, "
        "for any purpose, that could not be used. Overhead: milliseconds of the agent per decision, without its "
        "model; medians over plays."
    )
    return [AgentTable("activity", "How the plays went", caption, header, rows, names=2)]

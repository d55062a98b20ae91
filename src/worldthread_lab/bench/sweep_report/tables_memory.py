"""Comparison of memories in the shape of Table 2 and the NetHack table of the AriGraph paper."""

from __future__ import annotations

import statistics

from worldthread_lab.bench.sweep_report.plays import Sweep
from worldthread_lab.bench.sweep_report.published import memory_score, other_memory_score, plain_name, published
from worldthread_lab.bench.sweep_report.tables import (
    NOTHING,
    AgentTable,
    TableColumns,
    mean_and_deviation,
    number_of_plays,
    quoted,
)
from worldthread_lab.bench.sweep_report.tables_scores import main_players


def normalized_scores(sweep: Sweep) -> list[AgentTable]:
    """Return the highest score as a share of the highest possible, by player and game (Table 2 of AriGraph)."""
    players = main_players(sweep)
    groups = {
        (game, player): values
        for game in sweep.games
        for player in players
        if (group := sweep.of(game, player)) and (values := group.values("best_normalized"))
    }
    games = [game for game in sweep.games if any(key[0] == game for key in groups)]
    players = [player for player in players if any(key[1] == player for key in groups)]
    if not games:
        return []
    source = published()["arigraph"]
    others = [name for name in source["others"] if any(other_memory_score(name, game) is not None for game in games)]
    columns = TableColumns(("player", [*map(sweep.label, players), *others]))
    for game in games:
        own = [mean_and_deviation(groups.get((game, player)), 2) for player in players]
        columns.add(sweep.name(game), [*own, *[NOTHING] * len(others)])
        theirs = [quoted(memory_score(p, game) if (game, p) in groups else None, 2) for p in players]
        theirs += [quoted(other_memory_score(name, game), 2) for name in others]
        columns.quote(f"{sweep.name(game)}, published", theirs)
    source_note = (
        f"Published: {source['source']}, {source['tables']}, {source['model']}, "
        "the mean of the best three of five plays."
    )
    counted = [group for key, group in sweep.groups.items() if key in groups]
    table = columns.table(
        "normalized",
        "Highest score as a share of the highest possible",
        f"Mean ± sample standard deviation. {number_of_plays(counted)} {sweep.counted}",
        source_note if columns.has_published else "",
    )
    return [table]


def nethack(sweep: Sweep) -> list[AgentTable]:
    """Return score and deepest dungeon level (the NetHack table of AriGraph)."""
    games = [game for game in sweep.games if plain_name(game) == "nethack"]
    source = published()["arigraph"]["nethack"]
    rows = []
    for game in games:
        for player in sweep.players:
            if group := sweep.of(game, player):
                levels = [p.growth.deepest for p in group.counted if p.growth and p.growth.deepest is not None]
                score = mean_and_deviation(group.values("best_score"))
                plays, moves = len(group.counted), statistics.fmean(p.summary["moves"] for p in group.counted)
                deepest = mean_and_deviation([float(level) for level in levels])
                rows.append([sweep.label(player), str(plays), f"{moves:,.0f}", score, deepest])
    if not rows:
        return []
    for row in source["rows"]:
        score = quoted(tuple(row["score"]))
        rows.append([f"{row['name']} (published)", str(source["runs"]), NOTHING, score, quoted(row["levels"])])
    return [
        AgentTable(
            "nethack",
            "NetHack",
            f"Mean ± sample standard deviation. {sweep.counted} Published: {published()['arigraph']['source']}, "
            f"{source['tables']}, {source['model']}.",
            ["player", "plays", "moves", "score", "deepest level"],
            rows,
        )
    ]

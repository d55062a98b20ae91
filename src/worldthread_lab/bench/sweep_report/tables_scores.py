"""Tables of highest scores by game and player, in the shape of Tables 1 to 4 of the GLoW paper."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any, Final

from worldthread_lab.bench.sweep_report.plays import PlayGroup, Sweep, all_plays
from worldthread_lab.bench.sweep_report.published import (
    SWITCHES,
    Figure,
    ablation_score,
    explorations_of,
    explorations_score,
    glow_score,
    is_ablation,
    is_varied,
    method_score,
    published,
    published_model,
    switched_off,
    without_ablation,
)
from worldthread_lab.bench.sweep_report.tables import (
    NOTHING,
    AgentTable,
    TableColumns,
    mean_and_deviation,
    number_of_plays,
    quoted,
)
from worldthread_lab.play.run import Run

_DEVIATIONS: Final = (
    "Its deviations appear to divide by the number of runs: to compare those of three runs with ours, multiply by 1.22."
)
_WITHOUT: Final = {
    "use_mar": "comparing attempts",
    "use_global_memory": "the analysis of the frontier",
    "use_frontier": "the frontier",
}


def main_players(sweep: Sweep) -> list[Run]:
    """Return all players except ablations of a player in the sweep, which have separate tables."""
    full = {without_ablation(player) for player in sweep.players if not is_ablation(player)}
    return [p for p in sweep.players if bool(switched_off(p)) == is_varied(p) or without_ablation(p) not in full]


def best_scores(sweep: Sweep) -> list[AgentTable]:
    """Return highest scores by game and player (Tables 1 and 4 of GLoW), and those of other methods in the paper."""
    players = main_players(sweep)
    games = [game for game in sweep.games if any(sweep.of(game, player) for player in players)]
    columns = TableColumns(
        ("game", [*map(sweep.name, games), "moves of a play"]), ("of", [*(_highest(sweep, game) for game in games), ""])
    )
    source = published()["glow"]
    for player in players:
        groups = [sweep.of(game, player) for game in games]
        moves = [play.summary["moves"] for play in all_plays(filter(None, groups))]
        scores = [_score(group) for group in groups]
        columns.add(sweep.label(player), [*scores, f"{statistics.fmean(moves):,.0f}"])
        cells = [quoted(glow_score(player, game) if sweep.of(game, player) else None) for game in games]
        if any(cell != NOTHING for cell in cells):
            model = source["models"][published_model(player)]
            columns.quote(f"{player.agent}, published, {model}", [*cells, f"{source['moves']:,}"])
    source_note = f"Published: {source['source']}, {source['tables']}, {source['runs']} runs. {_DEVIATIONS}"
    table = columns.table(
        "best-score",
        "Highest score in points",
        f"Mean ± sample standard deviation. {number_of_plays(_groups(sweep, players))} {sweep.counted}",
        source_note if columns.has_published else "",
    )
    return [table, *_methods(sweep)]


def _methods(sweep: Sweep) -> list[AgentTable]:
    source = published()["glow"]["methods"]
    games = [game for game in sweep.games if any(method_score(method, game) is not None for method in source["moves"])]
    if not games:
        return []
    columns = TableColumns(("game", [*map(sweep.name, games), "moves"]))
    for method, moves in source["moves"].items():
        columns.quote(method, [*(quoted(method_score(method, game)) for game in games), f"{moves:,}"])
    caption = f"Published: {published()['glow']['source']}, {source['tables']}."
    return [columns.table("methods", "Highest score of methods that train or search", caption)]


def ablations(sweep: Sweep) -> list[AgentTable]:
    """Return the scores of ``glow`` without some of its parts, and of ``ige`` (Table 2 of GLoW)."""
    own = [p for p in sweep.players if p.agent == "glow" and not is_varied(p)]
    if not any(map(switched_off, own)):
        return []
    own.sort(key=lambda player: (len(switched_off(player)), sorted(map(SWITCHES.index, switched_off(player)))))
    own += [player for player in sweep.players if player.agent == "ige"]
    without = [" and ".join(_WITHOUT[name] for name in SWITCHES if name in switched_off(player)) for player in own]
    source = published()["glow"]["ablations"]

    def published_score(player: Run, game: str) -> Figure | None:
        if player.agent == "ige":
            return glow_score(player, game)
        return ablation_score(player, game)

    names = [("player", [sweep.label(player) for player in own]), ("without", [words or NOTHING for words in without])]
    return [_variants(sweep, own, names, published_score, source, "ablations", "GLoW without its parts")]


def explorations(sweep: Sweep) -> list[AgentTable]:
    """Return the scores of ``glow`` with more or fewer attempts from one state (Table 3 of GLoW)."""
    own = [p for p in sweep.players if p.agent == "glow" and not switched_off(p)]
    if not any(map(is_varied, own)):
        return []
    own.sort(key=explorations_of)
    source = published()["glow"]["explorations"]
    names = [
        ("player", [sweep.label(player) for player in own]),
        ("attempts from a state", [str(explorations_of(player)) for player in own]),
    ]

    def published_score(player: Run, game: str) -> Figure | None:
        return explorations_score(player, game)

    return [
        _variants(
            sweep, own, names, published_score, source, "explorations", "GLoW with more or fewer attempts from a state"
        )
    ]


def _variants(
    sweep: Sweep,
    players: Sequence[Run],
    names: Sequence[tuple[str, Sequence[str]]],
    published_score: Callable[[Run, str], Figure | None],
    source: dict[str, Any],
    name: str,
    title: str,
) -> AgentTable:
    columns = TableColumns(*names)
    for game in sweep.games:
        groups = [sweep.of(game, player) for player in players]
        if any(groups):
            columns.add(sweep.name(game), [_score(group) for group in groups])
            columns.quote(
                f"{sweep.name(game)}, published",
                [
                    quoted(published_score(player, game) if group else None)
                    for player, group in zip(players, groups, strict=True)
                ],
            )
    source_note = f"Published: {published()['glow']['source']}, {source['tables']}, {source['model']}."
    return columns.table(
        name,
        title,
        f"Highest score in points, mean ± sample standard deviation. {number_of_plays(_groups(sweep, players))}",
        sweep.counted,
        source_note if columns.has_published else "",
    )


def _highest(sweep: Sweep, game: str) -> str:
    """Return the highest possible score: a number, a range if it depends on the seed, or :data:`NOTHING` if unknown."""
    plays = all_plays(group for (own, _), group in sweep.groups.items() if own == game)
    known = sorted({play.summary["max_score"] for play in plays if play.summary["max_score"]})
    return " to ".join(f"{score:g}" for score in dict.fromkeys([*known[:1], *known[-1:]])) or NOTHING


def _score(group: PlayGroup | None) -> str:
    return NOTHING if group is None else mean_and_deviation(group.values("best_score"))


def _groups(sweep: Sweep, players: Sequence[Run]) -> list[PlayGroup]:
    return [group for (_, player), group in sweep.groups.items() if player in players]

"""Tables and lines of a sweep's report, on figures that are easy to reckon with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from worldthread import Memory
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents import AGENTS, agent_class, agent_options
from worldthread_lab.agents.memory_modules import MEMORY_MODULES
from worldthread_lab.bench.sweep_report.lines import facts, over_moves, over_seconds, updates
from worldthread_lab.bench.sweep_report.plays import FinishedPlay, PlayGroup, Sweep, read_sweep
from worldthread_lab.bench.sweep_report.published import SWITCHES, plain_name, published, published_model
from worldthread_lab.bench.sweep_report.report import tables_of
from worldthread_lab.bench.sweep_report.tables import AgentTable, compact, dollars, in_markdown
from worldthread_lab.bench.sweep_report.tables_gap import gap_closed
from worldthread_lab.envs import games
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import MODULE_MEMORY_FILE
from worldthread_lab.play.sweep import SweepResults, play_run
from worldthread_lab.play.trajectory import TRAJECTORY_FILE

pytestmark = pytest.mark.games  # brings what reports need

MakeSweep = Callable[..., Sweep]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The summary of a real run."""
    return play_run(Run("tiny", "explorer", 1), tmp_path_factory.mktemp("base"))


@pytest.fixture
def sweep_of(base: dict[str, Any], tmp_path: Path) -> MakeSweep:
    """Makes a sweep of runs, each with the highest score that it reached and what else differs from a real summary."""

    def make(runs: Iterable[tuple[Run, float, dict[str, Any]]], **options: Any) -> Sweep:
        with SweepResults(tmp_path / "results.jsonl") as results:
            for run, score, more in runs:
                figures = {"seed": run.seed, "attempt": run.attempt, "score": score, "best_score": score}
                results.add(run, {**base, **figures, "max_score": 10, "best_normalized": score / 10, **more})
        return read_sweep(tmp_path, **options)

    return make


def options_of(**settings: Any) -> str:
    return orjson.dumps(settings, option=orjson.OPT_SORT_KEYS).decode()


AS_IN_GLOW = '{"valid_actions":"jericho"}'
"""The settings of games of the GLoW paper."""


def named(sweep: Sweep, name: str) -> AgentTable:
    (found,) = (table for table in tables_of(sweep) if table.name == name)
    return found


# -- the gap ----------------------------------------------------------------------------------------------------------


def group(*scores: tuple[int, float]) -> PlayGroup:
    plays = tuple(
        FinishedPlay(Run("g", "a", seed, attempt=number), {"best_normalized": score}, Path())
        for number, (seed, score) in enumerate(scores)
    )
    return PlayGroup(plays, plays)


def by_seed(*scores: float) -> PlayGroup:
    return group(*enumerate(scores))


def test_a_memory_closes_a_share_of_the_gap() -> None:
    none, memory, oracle = [0.0, 0.2, 0.1, 0.3, 0.0], [0.4, 0.5, 0.7, 0.4, 0.6], [0.9, 1.0, 0.8, 1.0, 1.0]
    closed = gap_closed([(by_seed(*none), by_seed(*memory), by_seed(*oracle))])
    assert closed is not None
    assert closed.share == pytest.approx((np.mean(memory) - np.mean(none)) / (np.mean(oracle) - np.mean(none)))
    from scipy import stats

    def ratio(a: Any, b: Any, c: Any, axis: int = -1) -> Any:
        return (b.mean(axis) - a.mean(axis)) / (c.mean(axis) - a.mean(axis))

    theirs = stats.bootstrap(
        (none, memory, oracle), ratio, paired=True, vectorized=True, method="percentile", rng=1
    ).confidence_interval  # fmt: skip
    assert closed.interval == pytest.approx((theirs.low, theirs.high), abs=0.01)
    lower, upper = by_seed(*none), by_seed(*oracle)
    nothing, everything = gap_closed([(lower, lower, upper)]), gap_closed([(lower, upper, upper)])
    assert nothing is not None
    assert everything is not None
    assert (nothing.share, nothing.interval) == (0.0, (0.0, 0.0))
    assert (everything.share, everything.interval) == (pytest.approx(1.0), pytest.approx((1.0, 1.0)))


def test_there_may_be_no_gap() -> None:
    same = by_seed(0.5, 0.5)
    assert gap_closed([(same, by_seed(0.9, 0.9), same)]) is None
    assert gap_closed([(by_seed(0.5, 0.5), same, by_seed(0.4, 0.4))]) is None, "the oracle is worse"
    unsure = gap_closed([(by_seed(0.0, 1.0, 0.5), by_seed(0.5, 0.5, 0.5), by_seed(1.0, 0.0, 0.9))])
    assert unsure is not None
    assert unsure.interval is None, "resamples have no gap"


def test_plays_are_resampled_where_seeds_are_not_the_same() -> None:
    none, memory, oracle = group((0, 0.0), (0, 0.2), (0, 0.1)), group((0, 0.5), (0, 0.7)), group((0, 1.0), (0, 1.0))
    closed = gap_closed([(none, memory, oracle)])
    assert closed is not None
    assert closed.share == pytest.approx(0.5 / 0.9)
    assert closed.interval is not None
    assert closed.interval[0] >= (0.5 - 0.2) / (1 - 0.2) - 1e-9
    assert closed.interval[1] <= 0.7 + 1e-9
    assert closed.interval[0] < closed.share < closed.interval[1]
    attempts = group((0, 0.0), (0, 0.2), (1, 0.4))
    closed = gap_closed([(attempts, by_seed(0.6, 0.6), by_seed(1.0, 1.0))])
    assert closed is not None
    assert closed.share == pytest.approx((0.6 - 0.25) / (1 - 0.25)), "seeds weigh the same, however many attempts"


def test_games_weigh_the_same(sweep_of: MakeSweep) -> None:
    scores = {"none": [0, 2], "rag": [5, 7], "oracle": [10, 10]}
    runs = [
        (Run(game, "ariadne", seed, memory=memory, model="m"), score, {})
        for game in ("one", "two")
        for memory, own in scores.items()
        for seed, score in enumerate(own)
    ]
    runs += [(Run("three", "ariadne", 0, memory=memory, model="m"), score, {}) for memory, score in
             (("none", 5), ("rag", 2), ("oracle", 5))]  # fmt: skip
    runs.append((Run("four", "ariadne", 0, memory="rag", model="m"), 3, {}))
    found = named(sweep_of(runs), "gap")
    assert found.header == ["player", "one", "two", "three", "all"]
    assert found.rows[0][0] == "ariadne+rag"
    assert found.rows[0][1].startswith("0.56 ["), "(6 - 1) / (10 - 1)"
    assert found.rows[0][3] == "-", "there is no gap, though the memory is worse than none"
    assert found.rows[0][4].startswith("0.39 ["), "(5 + 5 - 3) / (9 + 9 + 0)"


# -- players ----------------------------------------------------------------------------------------------------------


def test_players_are_named_by_what_distinguishes_them(sweep_of: MakeSweep) -> None:
    settings = {"options": options_of(offers_all=True), "game_options": AS_IN_GLOW}
    plain = Run("zork1-v1", "react", 1, model="lab/gpt-4.1-mini", **settings)
    other = Run("zork1-v1", "react", 1, model="gpt-4.1", **settings)
    runs = [
        (plain, 3, {}),
        (other, 4, {}),
        (Run("one", "explorer", 1, steps=60), 1, {}),
        (Run("two", "explorer", 1), 1, {}),
        (Run("two", "random", 1, steps=60), 1, {}),
        (Run("two", "random", 2, steps=30), 1, {}),
        (Run("two", "random", 1, valid_actions=False), 1, {}),
    ]
    sweep = sweep_of(runs)
    assert [sweep.label(player) for player in sweep.players] == [
        "react, lab/gpt-4.1-mini",
        "react, gpt-4.1",
        "explorer",
        "random, 60 moves",
        "random, 30 moves",
        "random, no list of valid actions",
    ]
    best = named(sweep, "best-score")
    assert "react, published, GPT-4.1 mini" in best.header
    assert "react, published, GPT-4.1" in best.header
    assert [row[best.header.index("react, published, GPT-4.1")] for row in best.rows[:1]] == ["45.0 ± 0.0"]
    shown = {row[0]: row[2] for row in named(sweep, "players").rows}
    assert shown["explorer"] == "60 moves", "a limit of one game distinguishes no player, and is shown"
    assert shown["react, gpt-4.1"] == 'offers_all=true, game.valid_actions="jericho"'


def test_players_that_differ_in_memory_game_or_prompts_are_told_apart(sweep_of: MakeSweep) -> None:
    plain = Run("treasure-hunt-v1", "ariadne", 0, memory="arigraph", model="m", options=options_of(calls="three"))
    changed: list[dict[str, Any]] = [
        {},
        {"memory_options": options_of(moments=0)},
        {"game_options": options_of(valid_actions="none")},
        {"prompts": options_of(**{"answer/answer": "# user\n$question\n$evidence\n$look_up"})},
        {"decisions": 7},
        {"rules": 2},
        {"goal": "find the key"},
        {"budget_tokens": 900},
    ]
    sweep = sweep_of([(replace(plain, **own), number, {}) for number, own in enumerate(changed)])
    labels = [sweep.label(player) for player in sweep.players]
    assert len(set(labels)) == len(labels)
    assert labels[:3] == [
        "ariadne+arigraph", "ariadne+arigraph, memory.moments=0", 'ariadne+arigraph, game.valid_actions="none"',
    ]  # fmt: skip
    table = named(sweep, "normalized")
    beside = {row[0]: row[2] for row in table.rows if row[0] in labels}
    assert table.header[2].endswith("published")
    rules = next(label for label in labels if "rules" in label)
    assert {label for label, score in beside.items() if score != "-"} == {"ariadne+arigraph", rules}


def test_the_best_attempts_count_when_asked_and_it_is_said(sweep_of: MakeSweep) -> None:
    scores = {1: [3, 9, 1, 5, 7], 2: [2, 2, 8, 4, 4]}
    runs = [
        (Run("g", "random", seed, attempt=number), score, {})
        for seed, own in scores.items()
        for number, score in enumerate(own)
    ]
    every = named(sweep_of(runs), "best-score")
    assert every.rows[0][2].startswith("4.5 ±")
    assert "All plays count." in every.caption
    sweep = sweep_of([], best=3)
    assert named(sweep, "best-score").rows[0][2].startswith("6.2 ±"), "(9 + 7 + 5 + 8 + 4 + 4) / 6"
    assert named(sweep, "normalized").rows[0][1].startswith("0.62 ±")
    for name in ("best-score", "normalized"):
        assert "Only the best 3 of up to 5 attempts at each seed count." in named(sweep, name).caption
    assert named(sweep, "activity").rows[0][2] == "10", "what was spent was spent"
    assert sweep_of([], best=5).counted == "All plays count."


def test_scores_that_are_not_known_are_not_made_up(sweep_of: MakeSweep) -> None:
    unknown = {"max_score": None, "best_normalized": None, "cost_usd": None}
    runs = [(Run("g", "react", seed, model="m"), 4, unknown) for seed in (1, 2)]
    runs += [(Run("h", "react", seed, model="m"), 4, {"max_score": highest}) for seed, highest in ((1, 7), (2, 10))]
    sweep = sweep_of(runs)
    best = named(sweep, "best-score")
    assert [row[:3] for row in best.rows[:2]] == [("g", "-", "4.0 ± 0.0"), ("h", "7 to 10", "4.0 ± 0.0")]
    assert named(sweep, "normalized").header == ["player", "h"]
    assert dict(zip(named(sweep, "costs").header, named(sweep, "costs").rows[0], strict=True))["cost"] == "-"


# -- glow -------------------------------------------------------------------------------------------------------------


def test_ablations_have_their_own_tables(sweep_of: MakeSweep) -> None:
    off = dict.fromkeys(SWITCHES, False)
    settings: list[dict[str, Any]] = [
        off, {}, {"use_mar": False}, {"explorations": 1}, {"explorations": 5}, {"use_frontier": False},
        {"use_mar": False, "explorations": 2},
    ]  # fmt: skip
    runs = [
        (
            Run(game, "glow", seed, model="m", options=options_of(offers_all=True, **given), game_options=AS_IN_GLOW),
            10 * number + seed,
            {},
        )
        for game in ("zork1-v1", "tiny-v1")
        for number, given in enumerate(settings)
        for seed in (1, 3)
    ]
    as_in_glow = {"options": options_of(offers_all=True), "game_options": AS_IN_GLOW}
    runs.append((Run("zork1-v1", "ige", 1, model="m", **as_in_glow), 7, {}))
    runs.append((Run("tiny-v1", "explorer", 1, options=options_of(explorations=2)), 7, {}))
    sweep = sweep_of(runs)
    main = named(sweep, "best-score").header
    assert [name for name in main if "published" not in name] == [
        "game", "of", "glow", 'glow, explorations=2, use_mar=false', "ige", "explorer",
    ]  # fmt: skip
    rows = [list(row) for row in named(sweep, "ablations").rows]
    parts = ["comparing attempts", "the analysis of the frontier", "the frontier"]
    assert [row[1] for row in rows] == ["-", parts[0], parts[2], " and ".join(parts), "-"]
    assert [row[2:4] for row in rows] == [
        ["12.0 ± 1.4", "73.0 ± 4.5"], ["22.0 ± 1.4", "70.0 ± 13.6"], ["52.0 ± 1.4", "61.7 ± 1.9"],
        ["2.0 ± 1.4", "51.3 ± 5.2"], ["7.0", "44.3 ± 0.5"],
    ]  # fmt: skip
    numbers = named(sweep, "explorations")
    assert [list(row[1:4]) for row in numbers.rows] == [
        ["1", "32.0 ± 1.4", "59.0 ± 5.7"], ["3", "12.0 ± 1.4", "73.0 ± 4.5"], ["5", "42.0 ± 1.4", "59.3 ± 13.8"],
    ]  # fmt: skip
    assert numbers.published == {3}
    assert numbers.header[4:] == ["tiny-v1"], "nothing is published of it"


def test_an_ablation_alone_is_a_player_like_any_other(sweep_of: MakeSweep) -> None:
    options = options_of(offers_all=True, use_mar=False)
    sweep = sweep_of([(Run("zork1-v1", "glow", 1, model="m", options=options, game_options=AS_IN_GLOW), 5, {})])
    assert named(sweep, "best-score").header == ["game", "of", "glow"], "the published glow is another one"
    assert [list(row) for row in named(sweep, "ablations").rows] == [
        ["glow", "comparing attempts", "5.0", "70.0 ± 13.6"]
    ]


# -- published figures ------------------------------------------------------------------------------------------------


def test_published_figures_name_what_we_have() -> None:
    figures = published()
    known = {spec.name for spec in games()}
    glow, arigraph = figures["glow"], figures["arigraph"]
    ten = {"enchanter", "zork1", "zork3", "deephome", "ludicorp", "balances", "pentari", "detective", "temple", "ztuu"}
    assert ten <= known
    for model, agents in glow["best_score"].items():
        assert model in glow["models"]
        assert set(agents) <= set(AGENTS)
        for scores in agents.values():
            assert set(scores) <= ten
    assert all(set(scores) == ten for scores in glow["best_score"]["gpt-4.1-mini"].values())
    assert set(glow["methods"]["moves"]) == set(glow["methods"]["best_score"])
    assert set(SWITCHES) | {"explorations"} <= agent_options(agent_class("glow"))
    assert all(set(row["off"]) <= set(SWITCHES) for row in glow["ablations"]["rows"])
    full = glow["best_score"]["gpt-4.1-mini"]["glow"]
    for scores in (glow["ablations"]["rows"][0]["best_score"], glow["explorations"]["best_score"]["3"]):
        assert scores == {game: full[game] for game in scores}, "the same runs in three tables"
    for costs in (costs for model in glow["models"] for costs in glow["costs"].get(model, {}).values()):
        assert costs["total"] == pytest.approx(costs["input"] + costs["output"], abs=0.1e6)
    assert set(arigraph["games"]) <= known
    modules = {name.partition(",")[0] for name in arigraph["normalized"]}
    assert modules <= set(MEMORY_MODULES)
    for scores in (*arigraph["normalized"].values(), *arigraph["others"].values()):
        assert set(scores) <= set(arigraph["games"])


def test_memories_stand_beside_published_ones(sweep_of: MakeSweep) -> None:
    file = "textworld:games/cook_hard.z8"
    three, unexplored = options_of(calls="three"), options_of(calls="three", explore=False)
    runs = [
        (Run(file, "ariadne", 0, memory="arigraph", model="m", options=three), 9, {}),
        (Run(file, "ariadne", 0, memory="summary", model="m", options=three), 2, {}),
        (Run("treasure-hunt-v1", "ariadne", 0, memory="summary", model="m", options=three), 2, {}),
        (Run("treasure-hunt-v1", "ariadne", 0, memory="arigraph", model="m", options=unexplored), 5, {}),
        (Run("treasure-hunt-v1", "explorer", 0), 5, {}),
    ]
    found = named(sweep_of(runs), "normalized")
    assert found.header == [
        "player", "cook_hard.z8", "cook_hard.z8, published", "treasure-hunt-v1", "treasure-hunt-v1, published",
    ]  # fmt: skip
    assert [list(row) for row in found.rows] == [
        ["ariadne+arigraph", "0.90", "1.00", "-", "-"],
        ["ariadne+summary", "0.20", "0.21", "0.20", "0.33"],
        ["ariadne+arigraph, explore=false", "-", "-", "0.50", "0.87"],
        ["explorer", "-", "-", "0.50", "-"],
        ["AriGraph without episodic memory", "-", "0.45", "-", "1.00"],
        ["AriGraph with LLaMA-3-70B", "-", "-", "-", "0.47"],
        ["people, top 3", "-", "-", "-", "1.00"],
        ["people, all", "-", "-", "-", "0.96"],
    ]


def test_names_of_games_and_models() -> None:
    assert plain_name("jericho:/games/zork1.z5") == plain_name("zork1-v1") == plain_name("jericho:zork1") == "zork1"
    assert plain_name("treasure-hunt-hard-v2") == "treasure-hunt-hard"
    models = {name: published_model(Run("g", "react", 0, model=name)) for name in
              ("gpt-4.1-2025-04-14", "openrouter/openai/GPT-4.1-nano", "gpt-4.1-mini", "qwen", "")}  # fmt: skip
    assert list(models.values()) == ["gpt-4.1", "gpt-4.1-nano", "gpt-4.1-mini", "gpt-4.1-mini", "gpt-4.1-mini"]


# -- cells and lines --------------------------------------------------------------------------------------------------


def test_cells() -> None:
    assert [compact(number) for number in (0, 950, 43_100, 17_600_000, None)] == ["0", "950", "43.1K", "17.6M", "-"]
    assert [dollars(sum_) for sum_ in (7.1, 0.0, 0.00042, None)] == ["$7.10", "$0.00", "$0.00042", "-"]
    assert in_markdown("a_b _c_ <b> & [d](e)\n`f`|") == "a_b \\_c\\_ &lt;b&gt; &amp; \\[d\\](e) \\`f\\`\\|"


def test_lines_are_means_over_plays(sweep_of: MakeSweep, tmp_path: Path) -> None:
    first = {"moves": 4, "curve": [[0, 0], [2, 5], [4, 10]], "seconds_without_model": 4.0}
    second = {"moves": 2, "curve": [[0, 0], [1, 5]], "seconds_without_model": 1.0}
    runs = [
        (Run("g", "random", 1), 10, {**first, "curve_seconds": [0.0, 1.0, 4.0]}),
        (Run("g", "random", 2), 5, {**second, "curve_seconds": [0.0, 0.5]}),
    ]
    for run, steps in zip(
        (run for run, _, _ in runs),
        ([(0, 2, 0), (1, 4, 1), (2, 6, 0), (3, 6, 2), (4, 8, 1)], [(0, 2, 0), (1, 3, 0), (2, 4, 2)]),
        strict=True,
    ):
        (tmp_path / run.folder).mkdir(parents=True)
        lines: list[dict[str, Any]] = [{"format": "worldthread-trajectory", "version": 2}]
        lines += [{"turn": t, "facts": f, "ended": [["a fact", "why"]] * e, "observation": ""} for t, f, e in steps]
        (tmp_path / run.folder / TRAJECTORY_FILE).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    sweep = sweep_of(runs)
    (own,) = sweep.groups.values()
    moves = over_moves(sweep, "g", own)
    assert moves is not None
    assert moves.x.tolist() == [0, 1, 2, 3, 4]
    assert moves.mean.tolist() == pytest.approx([0, 0.25, 0.5, 0.5, 0.75]), "the play that ended keeps its score"
    assert (moves.low.tolist()[0], moves.high.tolist()[2]) == (0, 0.5)
    assert (moves.low[4], moves.high[4]) == pytest.approx((0.5, 1.0)), "no further than the plays themselves"
    seconds = over_seconds(sweep, "g", own)
    assert seconds is not None
    at = dict(zip(seconds.x.tolist(), seconds.mean.tolist(), strict=True))
    assert [at[time] for time in (0.001, 0.5, 1.0, 4.0)] == pytest.approx([0, 0.25, 0.5, 0.75])
    held = facts(sweep, "g", own)
    assert held is not None
    assert held.mean.tolist() == [2, 3.5, 5, 5, 6]
    ended = updates(sweep, "g", own)
    assert ended is not None
    assert ended.x.tolist() == [0, 1, 2, 3, 4]
    assert ended.mean.tolist() == [0.5, 1, 2, 1, 1], "each move, of the plays that made it; the last one to its end"
    old = sweep_of([(Run("g", "random", 3), 5, {**second, "curve_seconds": [0.0, 0.5]})])
    del next(iter(old.groups.values())).plays[0].summary["curve_seconds"]
    assert over_seconds(old, "g", next(iter(old.groups.values()))) is None, "an older release has no times"


def test_the_graph_that_a_model_built_is_drawn_in_place_of_ours(sweep_of: MakeSweep, tmp_path: Path) -> None:
    run = Run("g", "ariadne", 1, memory="arigraph")
    folder = tmp_path / run.folder
    folder.mkdir(parents=True)
    header: dict[str, Any] = {"format": "worldthread-trajectory", "version": 2}
    step: dict[str, Any] = {"turn": 0, "facts": 99, "ended": [], "observation": ""}
    (folder / TRAJECTORY_FILE).write_bytes(orjson.dumps(header) + b"\n" + orjson.dumps(step) + b"\n")
    with Memory(folder / MODULE_MEMORY_FILE, model="none", embedder=FakeEmbedder()) as memory:
        for turn, facts_ in enumerate(
            [
                [Fact("key", "is in", "box", "place of key"), Fact("box", "is in", "hall")],
                [],
                [Fact("key", "is in", "hand", "place of key")],
            ]
        ):
            memory.record.add(Episode(f"Step {turn}.", turn, extraction=Extraction("model/1", tuple(facts_))))
    sweep = sweep_of([(run, 5, {"moves": 2, "curve": [[0, 0]]})])
    (own,) = sweep.groups.values()
    held, ended = facts(sweep, "g", own), updates(sweep, "g", own)
    assert held is not None
    assert ended is not None
    assert held.mean.tolist() == [2, 2, 2], "the key moved"
    assert ended.mean.tolist()[-1] == 1

"""The report of a sweep: real plays, against figures that are reckoned anew here."""

from __future__ import annotations

import html
import json
import re
import statistics
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.sweep_report.plays import read_sweep
from worldthread_lab.bench.sweep_report.plots import Plot, plots_of
from worldthread_lab.bench.sweep_report.report import tables_of, write_sweep_report
from worldthread_lab.bench.sweep_report.tables import AgentTable
from worldthread_lab.bench.sweep_report.tables_memory import nethack
from worldthread_lab.cli.running import PlaySettings, runs_of
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import play_in
from worldthread_lab.play.sweep import SweepResults, play_run

pytestmark = pytest.mark.games  # brings what reports need


def play_all(runs: list[Run], folder: Path) -> None:
    with SweepResults(folder / "results.jsonl") as results:
        for run in runs:
            results.add(run, play_run(run, folder / run.folder, "fake" if run.model else None))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small sweep, and a detective's when there is one."""
    folder = tmp_path_factory.mktemp("sweep")
    asked: dict[str, Any] = {"model": "fake", "settings": PlaySettings(), "steps": 20}
    runs = runs_of(["tiny"], ["explorer", "random", "react"], [], [1, 2, 3], range(1), **asked)
    runs += runs_of(["tiny"], ["ariadne"], ["none", "worldthread", "oracle"], [1, 2], range(1), **asked)
    play_all(runs, folder)
    return folder


def figures_of(folder: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Summaries by game and player, read without any code of ours."""
    found = defaultdict(list)
    for line in (folder / "results.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        run = entry["run"]
        found[run["game"], "+".join(filter(None, (run["agent"], run["memory"])))].append(entry["summary"])
    return found


def table(folder: Path, name: str, **options: Any) -> AgentTable:
    (found,) = (table for table in tables_of(read_sweep(folder, **options)) if table.name == name)
    return found


def cells(table: AgentTable) -> dict[tuple[str, str], str]:
    """Cells by the first cell of their row and the heading of their column."""
    return {(row[0], heading): cell for row in table.rows for heading, cell in zip(table.header, row, strict=True)}


def shown(values: list[float], digits: int) -> str:
    return f"{sum(values) / len(values):.{digits}f} ± {statistics.stdev(values):.{digits}f}"


def test_scores_are_those_of_the_plays(played: Path) -> None:
    points, shares = cells(table(played, "best-score")), cells(table(played, "normalized"))
    figures = figures_of(played)
    assert {player for _, player in figures} == {
        "explorer", "random", "react", "ariadne+none", "ariadne+worldthread", "ariadne+oracle",
    }  # fmt: skip
    for (game, player), summaries in figures.items():
        best = [max(score for _, score in summary["curve"]) for summary in summaries]
        assert points[game, player] == shown(best, 1)
        assert shares[player, game] == shown([score / 2 for score in best], 2)
        moves = [summary["moves"] for summary in summaries]
        assert points["moves of a play", player] == f"{sum(moves) / len(moves):.0f}"
    assert points["tiny-v1", "of"] == "2"
    assert points["tiny-v1", "explorer"] == "2.0 ± 0.0"


def test_costs_are_those_of_the_plays(played: Path) -> None:
    shown_costs = cells(table(played, "costs"))
    assert {player for player, _ in shown_costs} == {"react", "ariadne+none", "ariadne+worldthread", "ariadne+oracle"}
    for (_, player), summaries in figures_of(played).items():
        if (player, "calls") in shown_costs:
            given = sum(s["prompt_tokens"] for s in summaries) / len(summaries)
            taken = sum(s["completion_tokens"] for s in summaries) / len(summaries)
            assert given > 1000 > taken
            assert shown_costs[player, "input tokens"] == f"{given / 1000:.1f}K"
            assert shown_costs[player, "output tokens"] == f"{taken:.0f}"
            assert shown_costs[player, "tokens"] == f"{(given + taken) / 1000:.1f}K"
            assert shown_costs[player, "cost"] == "$0.00"
    assert not any("published" in name for _, name in shown_costs), "the paper's agent sees other valid actions"


def test_how_the_plays_went(played: Path) -> None:
    activity = table(played, "activity")
    for row in activity.rows:
        cells = dict(zip(activity.header, row, strict=True))
        summaries = figures_of(played)[cells["game"], cells["player"]]
        number = len(summaries)
        assert cells["plays"] == str(number)
        assert cells["won"].split()[0] == str(sum(s["won"] for s in summaries))
        for name in ("moves", "decisions", "probes", "returns"):
            assert cells[name] == f"{sum(s[name] for s in summaries) / number:.1f}"
        assert cells["valid\nactions"] == f"{sum(s['valid_share'] for s in summaries) / number:.3f}"
        assert cells["no\naction"] == str(sum(s["unparsable"] for s in summaries))
        assert cells["unusable\nanswers"] == str(sum(sum(s["failures"].values()) for s in summaries))
        assert cells["overhead\np50"] == f"{statistics.median(s['overhead_ms']['p50'] for s in summaries):.2f}"
        assert cells["overhead\np95"] == f"{statistics.median(s['overhead_ms']['p95'] for s in summaries):.2f}"
    assert len(activity.rows) == 6
    assert activity.rows[0][3].startswith("3 [0.44, 1.00]"), "the explorer wins, and three plays do not prove it"


def test_the_time_of_a_score_is_within_the_play(played: Path) -> None:
    for summaries in figures_of(played).values():
        for summary in summaries:
            seconds = summary["curve_seconds"]
            assert len(seconds) == len(summary["curve"])
            assert seconds == sorted(seconds)
            assert seconds[-1] <= summary["seconds_without_model"] + 0.002


@pytest.fixture(scope="module")
def report(played: Path) -> tuple[Path, list[Plot], list[AgentTable]]:
    """The folder with its report written, and what should be in it."""
    sweep = read_sweep(played)
    assert write_sweep_report(played) == played / "report.html"
    return played, plots_of(sweep), tables_of(sweep)


@pytest.mark.slow
def test_the_page_needs_nothing_else(report: tuple[Path, list[Plot], list[AgentTable]]) -> None:
    folder, plots, tables = report
    text = (folder / "report.html").read_text("utf-8")
    assert [plot.name for plot in plots] == ["scores", "score-moves", "score-seconds", "graph-size", "update-rate"]
    assert [table.name for table in tables] == ["best-score", "normalized", "gap", "costs", "activity", "players"]
    for name in [part.name for part in (*plots, *tables)]:
        assert f'<h2 id="{name}">' in text
        assert f'href="#{name}"' in text
    assert not re.search(r"<(script|link|img|iframe)|src=|url\((?!#)|@import", text)
    assert "http" not in re.sub(r"http://(www\.w3\.org|purl\.org|creativecommons\.org)", "", text)
    for cell in {cell for table in tables for row in table.rows for cell in row}:
        assert f">{html.escape(cell)}<" in text


def test_drawings_stand_alone_and_in_the_page(report: tuple[Path, list[Plot], list[AgentTable]]) -> None:
    folder, plots, _ = report
    text = (folder / "report.html").read_text("utf-8")
    for plot in plots:
        assert plot.inline in text, "the same plays, the same drawing"
        file = folder / f"report-{plot.name}.svg"
        assert "currentColor" not in file.read_text("utf-8")
        drawing = ET.parse(file).getroot()
        texts = {"".join(element.itertext()).strip() for element in drawing.iter("{http://www.w3.org/2000/svg}text")}
        assert {"tiny-v1", "ariadne+oracle"} <= texts
        assert not any(label[:1] in "-−" for label in texts if label), "nothing here is below zero"
        if plot.name == "score-moves":
            assert not any("." in label and float(label) > 1 for label in texts if label[:1].isdigit()), "half moves"
        assert f"({file.name})" in (folder / "report.md").read_text("utf-8")
    ids = [name for name in re.findall(r'\bid="([^"]*)"', text) if not re.fullmatch(r"[a-z]\w{10}", name)]
    assert len(set(ids)) == len(ids), "no two drawings share one, but for those that say what they hold"


def test_the_markdown_has_the_same_cells(report: tuple[Path, list[Plot], list[AgentTable]]) -> None:
    folder, _, tables = report
    lines = (folder / "report.md").read_text("utf-8").splitlines()
    for found in tables:
        start = lines.index(f"## {found.title}")
        rows = [line for line in lines[start : start + 6 + len(found.rows)] if line.startswith("|")]
        assert len(rows) == len(found.rows) + 2
        for row, line in zip(found.rows, rows[2:], strict=True):
            assert [cell.strip() for cell in line.replace("\\", "").strip("|").split("|")] == [*row]


def test_a_game_with_published_figures(jericho_games: Path, tmp_path: Path) -> None:
    game = f"jericho:{jericho_games / 'detective.z5'}"
    given = {"options": '{"offers_all":true}', "game_options": '{"valid_actions":"jericho"}'}
    agents = ("react", "ige")
    play_all([Run(game, agent, 1, steps=3, model="fake", audit=False, **given) for agent in agents], tmp_path)
    assert cells(table(tmp_path, "costs"))["react", "cost, published"] == "$1.08"
    best = table(tmp_path, "best-score")
    assert best.header == [
        "game",
        "of",
        "react",
        "react, published, GPT-4.1 mini",
        "ige",
        "ige, published, GPT-4.1 mini",
    ]
    assert best.published == {3, 5}
    assert list(best.rows[0])[:2] == ["detective.z5", "360"]
    assert (best.rows[0][3], best.rows[0][5]) == ("113.3 ± 4.7", "316.7 ± 4.7")
    assert best.rows[0][2] == f"{figures_of(tmp_path)[game, 'react'][0]['best_score']:.1f}", "one play has no deviation"
    assert list(best.rows[1]) == ["moves of a play", "", "3", "1,000", "3", "1,000"]
    methods = cells(table(tmp_path, "methods"))
    assert (methods["detective.z5", "MC-DML"], methods["moves", "XTX"]) == ("346.7 ± 9.4", "800,000")


@pytest.mark.nethack
def test_nethack_shows_the_deepest_level(tmp_path: Path) -> None:
    play_all([Run("nethack-v1", "random", seed, steps=2) for seed in (1, 2)], tmp_path)
    (found,) = nethack(read_sweep(tmp_path))
    assert found.rows[0][:3] == ["random", "2", "2"]
    assert found.rows[0][4] == "1.0 ± 0.0"
    assert found.rows[1] == ["Ariadne, told of the room (published)", "3", "-", "593.0 ± 203.0", "6.3"]
    (path,) = (tmp_path / "nethack-v1").glob("random/seed1-*/trajectory.jsonl")
    assert "dungeon level 1 in" in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace("dungeon level 1 in", "dungeon level 4 in"), "utf-8")
    (found,) = nethack(read_sweep(tmp_path))
    assert found.rows[0][4] == shown([4.0, 1.0], 1)


def test_an_unfinished_sweep_is_reported(played: Path, tmp_path: Path) -> None:
    """What has ended is read while the sweep writes, and a line that is not whole yet is left alone."""
    lines = (played / "results.jsonl").read_bytes()
    path = tmp_path / "results.jsonl"
    with SweepResults(path):
        path.write_bytes(lines[:-40])
        sweep = read_sweep(tmp_path)
        assert sum(len(group.plays) for group in sweep.groups.values()) == lines.count(b"\n") - 1
        write_sweep_report(tmp_path)
        assert path.read_bytes() == lines[:-40]
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'id="score-moves"' in page
    assert 'id="graph-size"' not in page, "there are no trajectories here"


def person_plays(folder: Path, seed: int, moves: list[str]) -> dict[str, Any]:
    """Play as a person does, in the terminal or in the page: moves are typed until they end."""
    lines = iter(moves)

    def read(_: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    return play_in(folder, Run("tiny-v1", "human", seed), read=read, show=lambda _: None)


def test_what_people_played_is_a_column(played: Path, tmp_path: Path) -> None:
    """The plays in the folder of the sweep and beside it count, however often a person played a seed."""
    folder = tmp_path / "sweep"
    folder.mkdir()
    (folder / "results.jsonl").write_bytes((played / "results.jsonl").read_bytes())
    assert "people" not in table(folder, "best-score").header
    won = person_plays(
        tmp_path / "tiny-human-seed1", 1, ["take brass key", "go east", "put brass key in wooden box"] * 3
    )
    lost = person_plays(folder / "people" / "first", 1, ["look"])
    third = person_plays(folder / "people" / "second", 2, ["look", "look"])
    person_plays(tmp_path / "elsewhere" / "deeper" / "still", 3, ["look"])
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "summary.json").write_text("{")
    scores = [won["best_score"], lost["best_score"], third["best_score"]]
    best = table(folder, "best-score")
    assert cells(best)["tiny-v1", "people"] == shown(scores, 1)
    assert cells(best)["moves of a play", "people"] == f"{(won['moves'] + 1 + 2) / 3:.0f}"
    first = max(won["best_score"], lost["best_score"])
    counted = cells(table(folder, "best-score", best=1))["tiny-v1", "people"]
    assert counted == shown([first, third["best_score"]], 1)
    players = {row[0]: row for row in table(folder, "players").rows}
    assert players["people"][3] == "3"
    assert "people" in {"".join(text.itertext()) for text in ET.fromstring(plots_of(read_sweep(folder))[0].svg).iter()}
    assert cells(table(folder, "best-score", people=tmp_path / "elsewhere"))["tiny-v1", "people"] == "0.0"
    done = CliRunner().invoke(app, ["report", str(folder), "--people", str(tmp_path / "nowhere")])
    assert (done.exit_code, "is not a folder of plays" in done.output) == (2, True)
    done = CliRunner().invoke(app, ["report", str(folder), "--people", str(tmp_path / "elsewhere")])
    assert done.exit_code == 0
    assert ">people</th>" in (folder / "report.html").read_text("utf-8").replace("\n", "")


def test_people_are_in_the_table_of_a_sweep(tmp_path: Path) -> None:
    person_plays(tmp_path / "tiny-human-seed1", 1, ["look"])
    command = ["sweep", "tiny", "--agent", "random", "--seeds", "1", "--steps", "2", "--jobs", "1"]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "sweep"), "--json"])
    assert done.exit_code == 0, done.output
    groups = {group["agent"]: group for group in json.loads(done.stdout.splitlines()[-1])["groups"]}
    assert (groups["random"]["runs"], groups["human"]["runs"], groups["human"]["median_moves"]) == (1, 1, 1)
    again = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "sweep")])
    assert "people" in again.output


def test_of_two_releases_the_later_counts(played: Path, tmp_path: Path) -> None:
    entry = json.loads((played / "results.jsonl").read_text("utf-8").splitlines()[0])
    later = {**entry, "run": {**entry["run"], "version": "99"}, "summary": {**entry["summary"], "best_score": 1}}
    (tmp_path / "results.jsonl").write_text(f"{json.dumps(entry)}\n{json.dumps(later)}\n", "utf-8")
    sweep = read_sweep(tmp_path)
    assert sweep.releases == ("99",)
    (group,) = sweep.groups.values()
    assert group.values("best_score") == [1.0]


HOSTILE = "<script>alert(1)</script> {{ 7 * 7 }} [x](http://evil) `c` | $\\frac{1}{2}$ *a* \"'&"


def test_hostile_names_stay_names(played: Path, tmp_path: Path) -> None:
    """Names of games, agents, models and settings come from people and files."""
    with SweepResults(tmp_path / "results.jsonl") as results:
        for number, line in enumerate((played / "results.jsonl").read_text("utf-8").splitlines()[:6]):
            entry = json.loads(line)
            options = json.dumps({"_note": HOSTILE, "n": number % 2})
            run = replace(Run(**entry["run"]), game=f"textworld:{HOSTILE}", agent="_" + HOSTILE, options=options)
            results.add(replace(run, model=HOSTILE), {**entry["summary"], "model": HOSTILE})
    page = write_sweep_report(tmp_path).read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "{{ 7 * 7 }}" in page, "shown, not evaluated"
    assert "$\\frac{1}{2}$" in page, "no formula"
    markdown = (tmp_path / "report.md").read_text("utf-8")
    assert "<script" not in markdown
    assert not re.search(r"(?<!\\)(\]\(http|`|\$)", markdown), "no link, code or formula"
    assert "\\[x\\](http://evil) \\`c\\` \\|" in markdown
    (found,) = (table for table in tables_of(read_sweep(tmp_path)) if table.name == "players")
    assert len(found.rows) == 2
    for path in tmp_path.glob("report-*.svg"):
        texts = ["".join(element.itertext()) for element in ET.parse(path).iter()]
        assert any(HOSTILE in text and "n=1" in text for text in texts), "legends leave no player out"


def test_what_is_no_sweep(played: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the folder of a sweep"):
        read_sweep(tmp_path)
    (tmp_path / "results.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match="no finished play"):
        read_sweep(tmp_path)
    (tmp_path / "results.jsonl").write_bytes(b"nothing\n")
    with pytest.raises(FormatError, match="line 1"):
        read_sweep(tmp_path)


def test_the_command(played: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(played)])
    assert (done.exit_code, done.output.strip()) == (0, str(played / "report.html"))
    (run,) = (played / "tiny-v1" / "explorer").glob("seed1-*")
    refused = CliRunner().invoke(app, ["report", str(run), "--best", "3"])
    assert refused.exit_code == 2
    assert "--best is for sweeps" in refused.output
    done = CliRunner().invoke(app, ["report", str(run)])
    assert (done.exit_code, done.output.strip()) == (0, str(run / "report.html")), "a run has its own report"

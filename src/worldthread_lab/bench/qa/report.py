"""Tables and plots of a sweep, as PersonalAI's Tables 2 to 6, 13 and 15 to 20, with the published ones beside."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

from worldthread.errors import InputError
from worldthread.files.paths import make_private_folder, write_private_file
from worldthread_lab.bench.qa.groups import Cell, ConfigurationGroup, describe_metric, groups_of
from worldthread_lab.bench.qa.memory_tables import memory_tables
from worldthread_lab.bench.qa.personalai import RESTRICTIONS, UNRESTRICTED
from worldthread_lab.bench.qa.plot import plot
from worldthread_lab.bench.qa.published import published_tables
from worldthread_lab.bench.qa.results import QuestionResults
from worldthread_lab.bench.qa.tables import NOTHING, Table, mean_of, percent, two

_RESTRICTED: Final = tuple(name for name in RESTRICTIONS if name != UNRESTRICTED)


def tables_of(group: ConfigurationGroup) -> list[Table]:
    """Return Tables 2 to 6, 19 and 20 for a group of configurations, after one that the paper does not have."""
    return [
        _all(group),
        _best("table-2", "Best configurations", group, group.metric),
        _restrictions(group),
        _stability(group),
        _no_answer(group),
        _latency(group),
        _best("table-19", "Best configurations by exact match", group, "exact_personalai"),
        _exact_matches(group),
    ]


def _all(group: ConfigurationGroup) -> Table:
    """Return the figures of every configuration."""
    metrics = list(dict.fromkeys(("exact", "f1", group.metric)))
    rows = []
    for c in group.cells:
        f = c.figures
        left_out = "nothing" if c.restriction == UNRESTRICTED else c.restriction
        tokens = NOTHING if f["tokens"] is None else f"{f['tokens']:.0f}"
        counts = [percent(f["no_answer"]), str(f["unusable"]), tokens, f"{f['seconds']:.2f}"]
        scores = [two(f[name]) for name in metrics]
        rows.append([c.dataset, c.model, c.algorithm, left_out, str(f["questions"]), *scores, *counts])
    header = ["data set", "model", "algorithm", "vertices left out", "questions", "exact match", "F1"]
    header += [*(["judged right"] if len(metrics) > 2 else []), "declined", "unusable", "tokens", "seconds"]
    caption = (
        "What was measured: means over the questions, and how many answers could not be used. A question whose answers "
        "came from the cache took no tokens."
    )
    return Table("configurations", caption, header, rows)


def _exact_matches(group: ConfigurationGroup) -> Table:
    """Return the highest exact match of every model on every data set, as in Table 20."""
    rows = []
    for dataset in group.datasets:
        for model in group.models:
            found = [c for c in group.cells if (c.dataset, c.model) == (dataset, model)]
            if found:
                best, where = _winner(found, "exact_personalai")
                rows.append([dataset, f"{model}, {where}", f"{100 * best.figures['exact_personalai']:.1f}"])
    return Table("table-20", "Highest exact match in per cent.", ["data set", "system", "exact match"], rows)


def _winner(cells: Sequence[Cell], metric: str) -> tuple[Cell, str]:
    """Return the first of the best configurations, and words for its place that tell how many others are as good."""
    best = max(cells, key=lambda c: c.figures[metric])
    equals = sum(c.figures[metric] == best.figures[metric] for c in cells)
    if len(cells) > 1 and equals == len(cells):
        return best, f"all {equals} alike"
    where = f"{best.algorithm} / {best.restriction}"
    return best, f"{where} and {equals - 1} more" if equals > 1 else where


def _best(name: str, title: str, group: ConfigurationGroup, metric: str) -> Table:
    models = group.models
    rows: list[list[str]] = []
    means: dict[str, list[float]] = {model: [] for model in models}
    for dataset in group.datasets:
        row = [dataset]
        for model in models:
            cells = [c for c in group.cells if (c.dataset, c.model) == (dataset, model)]
            cells = [c for c in cells if c.figures[metric] is not None]
            if not cells:
                row.append(NOTHING)
                continue
            best, where = _winner(cells, metric)
            low, high = best.figures[f"{metric}_interval"]
            means[model].append(best.figures[metric])
            row.append(f"{two(best.figures[metric])} [{two(low)}, {two(high)}] / {where}")
        rows.append(row)
    rows.append(["Mean:", *(mean_of(means[model]) for model in models)])
    caption = (
        f"{title}: {describe_metric(metric)}, with the 95 % interval of that configuration, its algorithm and the "
        "vertices left out. Where several are as good, the first is named and the others are counted."
    )
    return Table(name, caption, ["data set", *models], rows)


def _restrictions(group: ConfigurationGroup) -> Table:
    models = group.models
    shares: dict[tuple[str, str], dict[str, float]] = {
        (model, side): dict.fromkeys(_RESTRICTED, 0.0) for model in models for side in ("worse", "best")
    }
    for dataset, model, algorithm in sorted({(c.dataset, c.model, c.algorithm) for c in group.cells}):
        scores = _restricted(group, dataset, model, algorithm)
        if len(scores) < len(_RESTRICTED):
            continue
        for side, extreme in (("worse", min(scores.values())), ("best", max(scores.values()))):
            winners = [name for name, score in scores.items() if score == extreme]
            for winner in winners:
                shares[model, side][winner] += 1 / len(winners)
    header = ["vertices left out", *(f"{model}: {side}" for model, side in shares)]
    rows = []
    for restriction in _RESTRICTED:
        cells = [(share[restriction], sum(share.values())) for share in shares.values()]
        rows.append([restriction, *(percent(own / total) if total else NOTHING for own, total in cells)])
    caption = (
        f"Share of all pairs of data set and algorithm for which a restriction gives the worst and the best "
        f"{group.metric_description}; ties are split."
    )
    return Table("table-3", caption, header, rows)


def _restricted(group: ConfigurationGroup, dataset: str, model: str, algorithm: str) -> dict[str, float]:
    """Return the scores of an algorithm by restriction."""
    return {
        c.restriction: c.figures[group.metric]
        for c in group.cells
        if (c.dataset, c.model, c.algorithm) == (dataset, model, algorithm)
        and c.restriction != UNRESTRICTED
        and c.figures[group.metric] is not None
    }


def _stability(group: ConfigurationGroup) -> Table:
    models = group.models
    columns: list[tuple[str, Callable[[str, str, str], float | None]]] = [
        ("worst restricted", lambda *where: min(_restricted(group, *where).values(), default=None)),
        ("best restricted", lambda *where: max(_restricted(group, *where).values(), default=None)),
        ("unrestricted", lambda *where: _unrestricted(group, *where)),
    ]
    rows = []
    for algorithm in group.algorithms:
        row = [algorithm]
        for model in models:
            for _, value in columns:
                found = [v for dataset in group.datasets if (v := value(dataset, model, algorithm)) is not None]
                row.append(mean_of(found))
        rows.append(row)
    header = ["algorithm", *(f"{model}: {name}" for model in models for name, _ in columns)]
    caption = f"Stability of the algorithms under restrictions: {group.metric_description}, mean over data sets."
    return Table("table-4", caption, header, rows)


def _unrestricted(group: ConfigurationGroup, dataset: str, model: str, algorithm: str) -> float | None:
    where = (dataset, model, algorithm, UNRESTRICTED)
    found = [c for c in group.cells if (c.dataset, c.model, c.algorithm, c.restriction) == where]
    return found[0].figures[group.metric] if found else None


def _no_answer(group: ConfigurationGroup) -> Table:
    algorithms = group.algorithms
    rows = []
    for model in group.models:
        own = [c for c in group.cells if c.model == model]
        by_algorithm = (_mean_no_answer(c for c in own if c.algorithm == name) for name in algorithms)
        by_restriction = (_mean_no_answer(c for c in own if c.restriction == name) for name in RESTRICTIONS)
        rows.append([model, *by_algorithm, *by_restriction])
    header = ["model", *algorithms, *(f"without {name}" if name in _RESTRICTED else name for name in RESTRICTIONS)]
    return Table(
        "table-5", "Share of questions that the model declines to answer for lack of information.", header, rows
    )


def _mean_no_answer(cells: Iterable[Cell]) -> str:
    found = [c.figures["no_answer"] for c in cells]
    return percent(fmean(found)) if found else NOTHING


def _latency(group: ConfigurationGroup) -> Table:
    models = group.models
    rows = []
    for algorithm in group.algorithms:
        of_model = [
            [c.figures["seconds"] for c in group.cells if (c.model, c.algorithm) == (model, algorithm)]
            for model in models
        ]
        means = [fmean(found) for found in of_model if found]
        shown = [f"{fmean(found):.3f}" if found else NOTHING for found in of_model]
        rows.append([algorithm, *shown, f"{fmean(means):.3f}"])
    return Table("table-6", "Seconds per question, end to end.", ["algorithm", *models, "Mean:"], rows)


def write_report(results: QuestionResults, folder: Path) -> Path:
    """Write ``report.md``, a CSV file for every table and, if matplotlib is installed, plots.

    Args:
        results: records of the sweep.
        folder: receives the files; created if it is missing.

    Returns:
        The path of ``report.md``.

    Raises:
        InputError: the results contain no configuration of a sweep.
    """
    groups = groups_of(results)
    if not groups:
        raise InputError(f"{results.path} has no results of a sweep: run one first with --sweep personalai")
    make_private_folder(folder)
    lines = ["# Question answering: a sweep", ""]
    for number, group in enumerate(groups, 1):
        suffix = f"-{number}" if len(groups) > 1 else ""
        questions = sorted({c.figures["questions"] for c in group.cells})
        number_asked = " to ".join(str(n) for n in dict.fromkeys((questions[0], questions[-1])))
        asked = f"{number_asked} question{'' if number_asked == '1' else 's'} each"
        lines += [f"## {group.title}", "", f"{len(group.cells)} configurations, {asked}.", ""]
        for table in tables_of(group):
            lines += _beside_published(table)
            _write_csv(table, folder / f"{table.name}{suffix}.csv")
        if importlib.util.find_spec("matplotlib") is not None:
            plot(group, folder / f"sweep{suffix}.svg")
            lines += [f"![{group.metric_description}](sweep{suffix}.svg)", ""]
    lines += ["## Memories", ""]
    for table in memory_tables(list(results.memories.values())):
        lines += _beside_published(table)
        _write_csv(table, folder / f"{table.name}.csv")
    page = folder / "report.md"
    write_private_file(page, "\n".join(lines))
    return page


def _beside_published(table: Table) -> list[str]:
    """Return the lines of a table and, if the paper has it, of the published one."""
    published = published_tables().get(table.name)
    return [line for each in (table, published) if each is not None for line in (each.markdown(), "")]


def _write_csv(table: Table, path: Path) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([table.header, *table.rows])
    write_private_file(path, text.getvalue())

"""Many plays: in parallel, each finished one kept, so that a sweep that was killed goes on where it stopped."""

from __future__ import annotations

import os
import statistics
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from worldthread.bench.audit import NOTHING_AUDITED, AuditResult
from worldthread.errors import FormatError, MissingExtraError

CONFIDENCE = 0.95
_RESAMPLES = 9999


@dataclass(frozen=True)
class Run:
    """One play of a sweep."""

    game: str
    agent: str
    seed: int
    steps: int | None = None
    audit: bool = True
    valid_actions: bool = True


class Results:
    """Finished runs in a JSON Lines file; a run is acknowledged when its line is on the disk.

    Args:
        path: the file; made when it does not exist. A last line that was cut off is dropped.

    Raises:
        FormatError: a line other than the last is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[Run, dict[str, Any]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes() if path.exists() else b""
        complete = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(complete.splitlines(), 1):
            try:
                entry = orjson.loads(line)
                self.done[Run(**entry["run"])] = entry["summary"]
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise FormatError(f"not a finished run: {error}", path=path, line=number) from error
        if len(complete) != len(data):
            with path.open("r+b") as file:
                file.truncate(len(complete))

    def add(self, run: Run, summary: dict[str, Any]) -> None:
        """Keep a finished run."""
        with self.path.open("ab") as file:
            file.write(orjson.dumps({"run": asdict(run), "summary": summary}) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[run] = summary


def play_once(run: Run) -> dict[str, Any]:
    """Play one run in memory: its summary, with the audit's raw figures under ``audit_figures``."""
    from worldthread.agents import make_agent
    from worldthread.bench.games import Play
    from worldthread.envs import make
    from worldthread.graph import TemporalGraph

    with make(run.game, seed=run.seed, max_moves=run.steps) as env:
        graph = TemporalGraph()
        agent = make_agent(run.agent, graph, use_valid_actions=run.valid_actions)
        play = Play(env, agent, graph, run.seed, max_moves=run.steps, audit=run.audit)
        for _ in play:
            pass
        figures = asdict(play.auditor.result()) if run.audit else None
        return play.summary() | {"audit_figures": figures}


def sweep(
    runs: Iterable[Run], results: Results, *, jobs: int, on_done: Callable[[Run, dict[str, Any] | str], None]
) -> dict[Run, str]:
    """Play what is not done yet, ``jobs`` at a time; failed runs with their errors.

    ``on_done`` is called for each run as it ends, with its summary or its error.
    """
    failures: dict[Run, str] = {}
    todo = [run for run in dict.fromkeys(runs) if run not in results.done]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(play_once, run): run for run in todo}
        for future in as_completed(futures):
            run = futures[future]
            error = future.exception()
            if error is not None:
                failures[run] = f"{type(error).__name__}: {error}"
                on_done(run, failures[run])
            else:
                results.add(run, future.result())
                on_done(run, results.done[run])
    return failures


def aggregate(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures over the runs of one game, ready for JSON; intervals are at 95 %."""
    scores = [s["normalized"] if s["normalized"] is not None else float(s["won"]) for s in summaries]
    ratios = [s["moves"] / s["optimal_moves"] for s in summaries if s["won"] and s["optimal_moves"]]
    optimal = [s["optimal_moves"] for s in summaries if s["optimal_moves"]]
    wins = sum(s["won"] for s in summaries)
    figures = [AuditResult(**s["audit_figures"]) for s in summaries if s["audit_figures"]]
    pooled = sum(figures, NOTHING_AUDITED)
    return {
        "game": summaries[0]["game"],
        "agent": summaries[0]["agent"],
        "runs": len(summaries),
        "wins": wins,
        "win_interval": _wilson(wins, len(summaries)),
        "score": round(statistics.fmean(scores), 5),
        "score_interval": _bootstrap(scores),
        "median_moves": statistics.median(s["moves"] for s in summaries),
        "median_decisions": statistics.median(s["decisions"] for s in summaries),
        "median_optimal_moves": statistics.median(optimal) if optimal else None,
        "median_ratio": round(statistics.median(ratios), 4) if ratios else None,
        "stuck_decisions": sum(s["stuck"] for s in summaries),
        "model_calls": sum(s["model_calls"] for s in summaries),
        "median_seconds": round(statistics.median(s["seconds"] for s in summaries), 3),
        "audit": pooled.summary() if figures else None,
        "not_won": sorted(s["seed"] for s in summaries if not s["won"]),
    }


def _bootstrap(values: list[float]) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean; a sample without spread is its own interval."""
    stats = _scipy_stats()
    if len(set(values)) < 2:
        return values[0], values[0]
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = stats.bootstrap(
            (values,), np.mean, n_resamples=_RESAMPLES, confidence_level=CONFIDENCE, method="percentile", rng=0
        )
    return round(float(result.confidence_interval.low), 5), round(float(result.confidence_interval.high), 5)


def _wilson(wins: int, runs: int) -> tuple[float, float]:
    """Wilson interval of a proportion."""
    interval = _scipy_stats().binomtest(wins, runs).proportion_ci(CONFIDENCE, method="wilson")
    return round(float(interval.low), 5), round(float(interval.high), 5)


def _scipy_stats() -> Any:
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtraError("the statistics of a sweep", extra="report", package="scipy") from None
    return stats

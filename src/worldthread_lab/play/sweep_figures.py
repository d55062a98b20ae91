"""Figures over the runs of a sweep."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from worldthread_lab.play.audit import NOTHING_AUDITED, AuditResult
from worldthread_lab.play.run import Run
from worldthread_lab.play.statistics import bootstrap_interval, wilson_interval

_DIGITS = 5


def groups_of(done: Iterable[tuple[Run, dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Group the summaries of runs by game, agent and memory module, in the order of their first occurrence."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for run, summary in done:
        groups.setdefault((run.game, run.agent, run.memory), []).append(summary)
    return list(groups.values())


def best_attempts(summaries: Sequence[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Return the best ``number`` attempts at each seed: by highest score, then final score, then fewest moves."""
    attempts: dict[int, list[dict[str, Any]]] = {}
    for summary in summaries:
        attempts.setdefault(summary["seed"], []).append(summary)
    chosen = []
    for of_seed in attempts.values():
        of_seed.sort(key=lambda s: (-s["best_score"], -s["score"], s["moves"], s["attempt"]))
        chosen += of_seed[:number]
    return chosen


def aggregate(summaries: Sequence[dict[str, Any]], *, best: int | None = None) -> dict[str, Any]:
    """Aggregate the runs of one game by one agent with one memory module.

    Args:
        summaries: the summaries of the runs, at least one.
        best: count only this many of the best attempts at each seed; ``None``: count all.

    Returns:
        The figures, ready for JSON, with 95 % intervals; ``counted`` says in words which runs they include.
    """
    attempts = max(Counter(summary["seed"] for summary in summaries).values())
    counted = "all runs"
    if best is not None and best < attempts:
        counted = f"the best {best} of {attempts} attempts at each seed"
        summaries = best_attempts(summaries, best)
    wins = sum(summary["won"] for summary in summaries)
    ratios = [s["moves"] / s["optimal_moves"] for s in summaries if s["won"] and s["optimal_moves"]]
    optimal = [s["optimal_moves"] for s in summaries if s["optimal_moves"]]
    figures = [AuditResult(**s["audit_figures"]) for s in summaries if s["audit_figures"]]
    first = summaries[0]
    return {
        "game": first["game"],
        "agent": first["agent"],
        "memory": first["memory_module"] or None,
        "model": first["model"],
        "runs": len(summaries),
        "attempts": attempts,
        "counted": counted,
        "wins": wins,
        "win_interval": wilson_interval(wins, len(summaries)),
        "score": spread(summaries, "score"),
        "best_score": spread(summaries, "best_score"),
        "normalized": spread(summaries, "normalized"),
        "best_normalized": spread(summaries, "best_normalized"),
        "max_score": first["max_score"],
        "moves": spread(summaries, "moves"),
        "decisions": spread(summaries, "decisions"),
        "probes": spread(summaries, "probes"),
        "returns": sum(s["returns"] for s in summaries),
        "median_moves": statistics.median(s["moves"] for s in summaries),
        "median_decisions": statistics.median(s["decisions"] for s in summaries),
        "median_optimal_moves": statistics.median(optimal) if optimal else None,
        "median_ratio": round(statistics.median(ratios), 4) if ratios else None,
        "stuck_decisions": sum(s["stuck"] for s in summaries),
        "unparsable": sum(s["unparsable"] for s in summaries),
        "invalid": sum(s["invalid"] for s in summaries),
        "valid_share": _mean(s["valid_share"] for s in summaries),
        "model_calls": sum(s["model_calls"] for s in summaries),
        "tokens": spread([{"tokens": s["prompt_tokens"] + s["completion_tokens"]} for s in summaries], "tokens"),
        "dollars": spread(summaries, "cost_usd"),
        "seconds": spread(summaries, "seconds"),
        "overhead_ms": {
            share: round(statistics.median(s["overhead_ms"][share] for s in summaries), 3) for share in ("p50", "p95")
        },
        "ended_by": dict(sorted(Counter(s["ended_by"] for s in summaries).items())),
        "audit": sum(figures, NOTHING_AUDITED).summary() if figures else None,
        "not_won": sorted({s["seed"] for s in summaries if not s["won"]}),
    }


def spread(summaries: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any] | None:
    """Return mean, sample standard deviation and bootstrap interval of a figure; ``None`` if a run lacks the figure."""
    values = [float(summary[name]) for summary in summaries if summary[name] is not None]
    if len(values) < len(summaries):
        return None
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    low, high = bootstrap_interval(values)
    return {
        "mean": round(statistics.fmean(values), _DIGITS),
        "sd": round(deviation, _DIGITS),
        "interval": [low, high],
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.fmean(known), _DIGITS) if known else None

"""Summary figures over the records of questions."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from worldthread_lab.bench.datasets import Question
from worldthread_lab.bench.qa.results import Configuration
from worldthread_lab.bench.qa.text_metrics import text_metric
from worldthread_lab.play.statistics import bootstrap_interval


def summary(configuration: Configuration, records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise the records of one configuration.

    An answer that could not be used counts as wrong and under ``unusable``; a verdict that could not be used counts
    only under ``unjudged``.

    Args:
        configuration: the configuration.
        records: records of its questions.

    Returns:
        Figures, ready for JSON; means with 95 % bootstrap intervals, ``None`` without records.
    """
    rows = list(records)
    judged = [float(row["right"]) for row in rows if row.get("right") is not None]
    tokens = [float(row["prompt_tokens"] + row["completion_tokens"]) for row in rows if "prompt_tokens" in row]
    retrieved = [row["retrieve_seconds"] for row in rows if "retrieve_seconds" in row]
    return {
        "dataset": configuration.dataset,
        "method": configuration.way.name,
        "model": configuration.model or None,
        "judge": configuration.judge or None,
        "key": configuration.key,
        "questions": len(rows),
        **_mean("exact", [float(row["exact"]) for row in rows]),
        **_mean("f1", [row["f1"] for row in rows]),
        **_mean("exact_personalai", [float(row["exact_personalai"]) for row in rows]),
        **_mean("right", judged),
        "unjudged": sum("right" in row and row["right"] is None for row in rows),
        **_mean("no_answer", [float(row["answer"] is None and row["problem"] is None) for row in rows]),
        "unusable": sum(row["problem"] is not None for row in rows),
        **_mean("tokens", tokens),
        "reused": sum(row.get("reused", 0) for row in rows),
        "dollars": _total(rows, "dollars"),
        "judge_tokens": sum(row.get("judge_prompt_tokens", 0) + row.get("judge_completion_tokens", 0) for row in rows),
        "judge_dollars": _total(rows, "judge_dollars"),
        **_mean("seconds", [row["seconds"] for row in rows]),
        "retrieve_milliseconds_p50": round(1000 * statistics.median(retrieved), 2) if retrieved else None,
    }


def wording(
    metrics: Iterable[str], questions: Iterable[Question], records: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Score the wording of the recorded answers.

    A question without an answer scores 0.

    Args:
        metrics: names of metrics, see :data:`worldthread_lab.bench.qa.text_metrics.TEXT_METRICS`.
        questions: questions; those without a record are left out.
        records: records by id of the question.

    Returns:
        Means with 95 % bootstrap intervals, ready for JSON; ``None`` without records.

    Raises:
        InputError: there is no such metric.
        MissingExtraError: a package that a metric needs is not installed.
    """
    asked = [question for question in questions if question.id in records]
    figures: dict[str, Any] = {}
    for name in metrics:
        score = text_metric(name)
        answers = [records[question.id]["answer"] or "" for question in asked]
        values = [score(answer, question.answers) for answer, question in zip(answers, asked, strict=True)]
        figures |= _mean(name, values)
    return figures


def _mean(name: str, values: list[float]) -> dict[str, Any]:
    """Return a mean with its interval; ``None`` for both without values."""
    if not values:
        return {name: None, f"{name}_interval": None}
    return {name: round(statistics.fmean(values), 5), f"{name}_interval": bootstrap_interval(values)}


def _total(rows: list[Mapping[str, Any]], name: str) -> float | None:
    """Return the dollars of all questions; ``None`` when the price of the model is unknown."""
    found = [row.get(name, 0.0) for row in rows]
    return None if None in found else round(sum(found), 6)

"""Report of an audit of the published logs: figures with intervals over attempts, groups of mistakes, and a sample."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from worldthread_lab.bench.arigraph.audit import (
    DROPPED,
    FOUND,
    NEVER_HELD,
    STALE,
    TRUE,
    WRONG,
    AttemptAudit,
    AuditReport,
    Figures,
    Mistake,
    StatementVerdict,
)
from worldthread_lab.play.statistics import bootstrap_interval

EXAMPLES: Final = 3

MEMORIES: Final[dict[str, Callable[[AttemptAudit], Figures]]] = {
    "AriGraph": lambda one: one.alone.theirs.figures,
    "AriGraph, relations of both": lambda one: one.alone.theirs_alike.figures,
    "worldthread": lambda one: one.alone.ours.figures,
    "AriGraph, inventory told": lambda one: one.with_inventory.theirs.figures,
    "worldthread, inventory told": lambda one: one.with_inventory.ours.figures,
}
"""Functions that return the figures of each memory, by its name in reports."""

_MEASURES: Final[dict[str, Callable[[Figures], float]]] = {
    "precision": Figures.precision,
    "recall": Figures.recall,
    "judged": lambda figures: figures.judged,
    "stale_share": lambda figures: figures.stale_share,
}


@dataclass(frozen=True)
class MistakeGroup:
    """All mistakes with the same verdict and topic.

    Args:
        what: verdict, see :class:`~worldthread_lab.bench.arigraph.audit.Mistake`.
        kind: topic of the statements.
        steps: sum of the numbers of steps for which the mistakes last.
        mistakes: number of mistakes.
        examples: the mistakes that last longest, each with the name of its attempt.
    """

    what: str
    kind: str
    steps: int
    mistakes: int
    examples: tuple[tuple[str, Mistake], ...]


def to_dict(report: AuditReport) -> dict[str, Any]:
    """Convert a report to JSON values: every attempt, every game, and all games together.

    Args:
        report: the report.

    Returns:
        For each memory, means over attempts with their 95 % bootstrap intervals, and pooled counts.
    """
    games = list(dict.fromkeys(one.game for one in report.attempts))
    groups = {game: [one for one in report.attempts if one.game == game] for game in games}
    if report.attempts:
        groups["all"] = report.attempts
    return {
        "groups": {
            name: {memory: _group(attempts, figures) for memory, figures in MEMORIES.items()}
            for name, attempts in groups.items()
        },
        "attempts": [
            {
                "run": one.run,
                "attempt": one.attempt,
                "steps": one.steps,
                "moves": one.moves,
                "score": one.score,
                "max_score": one.max_score,
                "rebuilt": one.rebuilt,
                "memories": {memory: _counted(figures(one)) for memory, figures in MEMORIES.items()},
            }
            for one in report.attempts
        ],
        "left_out": report.left_out,
        "mistakes": {
            "AriGraph": [_plain(group) for group in mistakes(report)],
            "worldthread": [_plain(group) for group in mistakes(report, ours=True)],
        },
    }


def _group(attempts: Sequence[AttemptAudit], figures: Callable[[AttemptAudit], Figures]) -> dict[str, Any]:
    found: dict[str, Any] = {"attempts": len(attempts)}
    for name, measure in _MEASURES.items():
        values = [measure(figures(one)) for one in attempts]
        found[name] = round(sum(values) / len(values), 5)
        found[f"{name}_interval"] = bootstrap_interval(values)
    pooled = sum((figures(one) for one in attempts), Figures())
    return found | {"pooled": _counted(pooled)}


def _counted(figures: Figures) -> dict[str, Any]:
    kinds = sorted({kind for _, kind in figures.counts})
    return {
        "precision": round(figures.precision(), 5),
        "recall": round(figures.recall(), 5),
        "steps": figures.steps,
        "statements": figures.statements,
        "judged": round(figures.judged, 5),
        "stale_steps": figures.stale_steps,
        "stale": figures.count(STALE),
        "wrong": figures.count(WRONG),
        "dropped": figures.count(DROPPED),
        "never_held": figures.count(NEVER_HELD),
        "kinds": {
            kind: {what: figures.count(what, kind=kind) for what in (TRUE, STALE, WRONG, FOUND, NEVER_HELD, DROPPED)}
            for kind in kinds
        },
    }


def mistakes(report: AuditReport, *, ours: bool = False) -> list[MistakeGroup]:
    """Return the mistakes of the published graph, or of ours, grouped by verdict and topic, most frequent first."""
    found_by_group: dict[tuple[str, str], list[tuple[str, Mistake]]] = defaultdict(list)
    for one in report.attempts:
        memory = one.alone.ours if ours else one.alone.theirs
        for mistake in memory.mistakes.values():
            found_by_group[mistake.what, mistake.kind].append((one.name, mistake))
    groups = [
        MistakeGroup(
            what,
            kind,
            sum(mistake.steps for _, mistake in found),
            len(found),
            tuple(sorted(found, key=lambda pair: (-pair[1].steps, pair[0], pair[1].statement))[:EXAMPLES]),
        )
        for (what, kind), found in found_by_group.items()
    ]
    return sorted(groups, key=lambda group: (-group.steps, group.what, group.kind))


def _plain(group: MistakeGroup) -> dict[str, Any]:
    return {
        "what": group.what,
        "kind": group.kind,
        "statement_steps": group.steps,
        "mistakes": group.mistakes,
        "examples": [
            {"attempt": name, "statement": mistake.statement, "first_step": mistake.first, "steps": mistake.steps}
            for name, mistake in group.examples
        ],
    }


def sample(report: AuditReport, size: int, seed: int = 0) -> list[tuple[str, StatementVerdict]]:
    """Draw a random sample of verdicts for manual checks.

    Args:
        report: the report.
        size: the most triplets to draw, without replacement.
        seed: seeds the random generator.

    Returns:
        Names of attempts with the verdicts on the drawn triplets, each at a random step of its attempt.
    """
    held: dict[tuple[str, str], list[StatementVerdict]] = defaultdict(list)
    for one in report.attempts:
        for verdict in one.alone.verdicts:
            held[one.name, ", ".join(verdict.triplet)].append(verdict)
    generator = random.Random(seed)
    drawn = generator.sample(sorted(held), min(size, len(held)))
    return [(name, generator.choice(held[name, words])) for name, words in drawn]

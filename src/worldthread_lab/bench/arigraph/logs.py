"""Replay of the published logs of AriGraph's agent with the faithful extractor and our graph, and its report.

There are three replays: each step *from the logged graph before it*; each attempt *from its start*, where a fact that
an early step loses stays lost; and the same with facts *restored* that the log shows to be deleted and extracted again
in one step, which verifies that cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from worldthread_lab.arigraph.extractor import DeletionOutcome
from worldthread_lab.bench.arigraph.graph_replay import AttemptReplay, Cause, replay_attempt
from worldthread_lab.bench.arigraph.log_texts import (
    ActionCount,
    FactCount,
    LoggedQuestion,
    LoggedStep,
    TextCount,
    attempts,
    count_facts,
    count_texts,
    read_lines,
)

_RULE: Final = "-" * 100


@dataclass(frozen=True)
class ReplayReport:
    """The results of all replays.

    Args:
        from_previous: replays of every step from the logged graph before it.
        from_start: replays of every attempt from an empty graph.
        restored: the same with unlogged second extractions restored.
        without_graph: attempts whose log has no graph; their texts are counted, their graph is not replayed.
        texts: counts of parsed outdated texts, plans and actions, over all attempts.
        actions: counts of parsed actions that were valid and taken.
        facts: counts of logged triplets converted to our facts.
    """

    from_previous: list[AttemptReplay]
    from_start: list[AttemptReplay]
    restored: list[AttemptReplay]
    without_graph: list[str]
    texts: list[TextCount]
    actions: ActionCount
    facts: list[FactCount]

    def to_dict(self) -> dict[str, Any]:
        """Return the report, ready for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self, order="sorted")
        return plain


def _ignore(phase: str) -> None:
    """Do nothing."""


def replay(folder: Path, questions: Path | None = None, *, watch: Callable[[str], None] = _ignore) -> ReplayReport:
    """Replay all attempts with a logged graph, and parse the texts of all attempts.

    Args:
        folder: folder of the agent's logs, a file ``<run>.jsonl.gz`` for each run.
        questions: folder of the question-answering logs; ``None`` leaves them out.
        watch: called with a description of the current work.

    Returns:
        The report.

    Raises:
        InputError: a folder has no logs, or a logged triplet of a game is not a valid fact.
        FormatError: a line of a log cannot be decoded.
    """
    runs = attempts(read_lines(folder, LoggedStep))
    watch("texts of the model")
    texts, actions = count_texts(runs)
    logged = (triplet for steps in runs.values() for step in steps for triplet in step.new_triplets)
    facts = [count_facts("runs in games", logged)]
    if questions is not None:
        watch("triplets of passages")
        lines = read_lines(questions, LoggedQuestion)
        extracted = (triplet for line in lines for passage in line.passages_triplets for triplet in passage)
        facts.append(count_facts("passages read for questions", extracted))
    from_previous, from_start, restored, without_graph = [], [], [], []
    for (run, attempt), steps in runs.items():
        watch(f"{run}, attempt {attempt}")
        if any(step.graph is None for step in steps):
            without_graph.append(f"{run} {attempt}")
            continue
        from_previous.append(replay_attempt(steps, accumulate=False))
        from_start.append(replay_attempt(steps, accumulate=True))
        restored.append(replay_attempt(steps, accumulate=True, restore=True))
    return ReplayReport(from_previous, from_start, restored, without_graph, texts, actions, facts)


def format_report(report: ReplayReport) -> str:
    """Format the report as text, with all differences, unparsed texts and merged names."""
    lines: list[str] = []
    for title, replays in (
        ("each step from the logged graph before it", report.from_previous),
        ("each attempt from its start", report.from_start),
        ("each attempt from its start, unlogged second extractions restored", report.restored),
    ):
        lines += _titled(f"Graph after a step, {title}") + _graph_lines(replays)
    lines.append(f"without a logged graph, not replayed: {', '.join(report.without_graph) or 'none'}")
    lines += _titled("Texts of the model, all attempts")
    for text in report.texts:
        lines += _text_lines(text)
    actions = report.actions
    lines.append(f"action read = action taken: {actions.taken_as_read} of {actions.taken}")
    lines.append(
        f"actions where the log lists those offered: {actions.actions}: offered {actions.offered}, "
        f"go to a visited room {actions.go_to}, not offered {actions.not_offered}"
    )
    lines += _titled("Logged triplets as our facts")
    for count in report.facts:
        lines += _fact_lines(count)
    return "\n".join(lines)


def _titled(title: str) -> list[str]:
    return [_RULE, title, _RULE]


def _text_lines(text: TextCount) -> list[str]:
    outcome = f"clean {text.clean}, mended {text.mended}, partly {text.partly}, failed {text.failed}"
    return [
        f"{text.kind}: {text.total} logged: {outcome} (steps without: {text.absent})",
        *(f"  mended: {mend}: {number} texts" for mend, number in text.mends.most_common()),
        *(f"  not used: {reason}: {number} pieces" for reason, number in text.reasons.most_common()),
        *(f"    {one.run} {one.attempt}, step {one.step}: {one.reason}: {one.text!r}" for one in text.unread),
    ]


def _fact_lines(count: FactCount) -> list[str]:
    refused = "".join(f", refused {number}: {reason}" for reason, number in count.refused.items())
    unread = "".join(f", {number} not read: {reason}" for reason, number in count.unread.items())
    return [
        f"{count.source}: {count.triplets} triplets, valid {count.valid}{refused}",
        f"  written and read back: {count.same} the same, {len(count.changed)} changed{unread}",
        *(f"    changed: {before!r} -> {after!r}" for before, after in dict.fromkeys(count.changed)),
        f"  {count.distinct} distinct writings; {len(count.merged)} facts with more than one of them",
        *(f"    merged: {' | '.join(forms)}" for forms in count.merged),
    ]


def _graph_lines(replays: Sequence[AttemptReplay]) -> list[str]:
    lines = []
    for one in replays:
        lines.append(f"{one.run} {one.attempt}: {one.reproduced}/{one.steps} reproduced, {one.remembered} remembered")
        lines += [
            f"  step {d.step}: {d.lacking} lacks ({d.fact}): {d.cause}"
            for d in one.differences
            if d.cause is not Cause.CARRIED
        ]
        lines += [f"  ({theirs}) is written ({ours})" for theirs, ours in sorted(one.written_otherwise)]
    steps = sum(one.steps for one in replays)
    same = sum(one.reproduced for one in replays)
    remembered = sum(one.remembered for one in replays)
    share = f"{same / steps:.2%}" if steps else "none"
    lines.append(f"all: {same}/{steps} reproduced ({share}), {remembered} remembered")
    for cause in Cause:
        found = [(one.run, one.attempt, d.step) for one in replays for d in one.differences if d.cause is cause]
        lines.append(f"  {len(found)} differences in {len(set(found))} steps: {cause}")
    for kind in DeletionOutcome:
        lines.append(f"  outdated pairs {kind}: {sum(one.fates[str(kind)] for one in replays)}")
    lines.append(f"  ended facts that were candidates by the rule: {sum(one.candidates for one in replays)}")
    return lines

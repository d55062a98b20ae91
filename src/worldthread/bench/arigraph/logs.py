"""Replay of the published logs of AriGraph's agent through the faithful reader and our graph, and its report.

Three replays: each step *from the logged graph before it*; each attempt *from its start*, where what an early step lost
stays lost; and the same with the facts *restored* of which the log shows that they were deleted and extracted again in
one step, which tells whether that was the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from worldthread.bench.arigraph.graph_replay import AttemptReplay, Cause, replay_attempt
from worldthread.bench.arigraph.log_texts import (
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
from worldthread.extract.arigraph.extractor import DeletionOutcome

_RULE: Final = "-" * 100


@dataclass(frozen=True)
class ReplayReport:
    """Everything measured.

    Args:
        from_previous: every step from the logged graph before it.
        from_start: every attempt from an empty graph.
        restored: the same with unlogged second extractions restored.
        without_graph: attempts whose log holds no graph; their texts are counted, the graph is not replayed.
        texts: how outdated texts, plans and actions were read, over all attempts.
        actions: how the actions compare with what was offered and taken.
        facts: what our facts make of the logged triplets.
    """

    from_previous: list[AttemptReplay]
    from_start: list[AttemptReplay]
    restored: list[AttemptReplay]
    without_graph: list[str]
    texts: list[TextCount]
    actions: ActionCount
    facts: list[FactCount]

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        plain: dict[str, Any] = msgspec.to_builtins(self, order="sorted")
        return plain


def _unwatched(phase: str) -> None:
    """Nobody watches."""


def replay(folder: Path, questions: Path | None = None, *, watch: Callable[[str], None] = _unwatched) -> ReplayReport:
    """Replay every attempt with a logged graph, and read every text of all attempts.

    Args:
        folder: logs of the agent, one ``<run>.jsonl.gz`` each.
        questions: logs of the question answering; ``None`` leaves them out.
        watch: told what is being done, a few times a second.

    Raises:
        InputError: a folder holds no logs, or a logged triplet of a game is not a valid fact.
        FormatError: a line of a log is not what it should be.
    """
    runs = attempts(read_lines(folder, LoggedStep))
    watch("texts of the model")
    texts, actions = count_texts(runs)
    logged = (triplet for steps in runs.values() for step in steps for triplet in step.new_triplets)
    facts = [count_facts("runs in games", logged)]
    if questions is not None:
        watch("triplets of passages")
        lines = read_lines(questions, LoggedQuestion)
        read = (triplet for line in lines for passage in line.passages_triplets for triplet in passage)
        facts.append(count_facts("passages read for questions", read))
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
    """The report as lines of text; every difference, every unread text and every merged name by name."""
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

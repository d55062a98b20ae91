"""Replay of a logged attempt of AriGraph's agent as episodes of our graph, compared with the graph in the log.

The faithful extractor makes an extraction of each step's logged triplets, outdated text and move, which is recorded as
an episode. The facts that hold afterwards are compared with the graph in the log after the step. The log itself
determines the cause of every difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from worldthread.errors import ReplayError
from worldthread.graph import GraphView, TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.arigraph.extractor import (
    AriGraphExtractor,
    DeletionOutcome,
    RoomChange,
    deletion_outcome,
    outdated_candidates,
)
from worldthread_lab.arigraph.text import parse_outdated
from worldthread_lab.bench.arigraph.log_texts import LoggedStep, Triplet, rooms_of


@lru_cache(maxsize=65536)
def _fact(triplet: Triplet) -> Fact:
    # a log repeats its whole graph at every step
    return Fact(*triplet)


class Cause(StrEnum):
    """Why our graph differs from the logged one in a fact."""

    EXTRACTED_AGAIN = "deleted and extracted again in one step; the log holds only triplets that were not in the graph"
    MERGED = "the log holds two writings of what is one fact to us"
    CARRIED = "since an earlier step of the attempt"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Difference:
    """A fact that one of the two graphs lacks after a step.

    Args:
        step: number of the step.
        fact: text of the fact in the other graph.
        lacking: graph without the fact, ``"ours"`` or ``"theirs"``.
        cause: cause of the difference.
    """

    step: int
    fact: str
    lacking: str
    cause: Cause


@dataclass
class AttemptReplay:
    """The replay of one attempt.

    Args:
        run: name of the run.
        attempt: number of the attempt.
        steps: number of steps.
        reproduced: number of steps after which the graphs are equal, by normalised names.
        remembered: number of steps for which the finished graph, as of the step, equals the graph after the step.
        differences: differences after the other steps.
        fates: number of pairs of the outdated texts by outcome.
        candidates: number of ended facts that were candidates for the outdated check by the published rule.
        written_otherwise: (theirs, ours) of facts that are equal only by normalised names.
    """

    run: str
    attempt: int
    steps: int = 0
    reproduced: int = 0
    remembered: int = 0
    differences: list[Difference] = field(default_factory=list)
    fates: dict[str, int] = field(default_factory=lambda: dict.fromkeys(map(str, DeletionOutcome), 0))
    candidates: int = 0
    written_otherwise: set[tuple[str, str]] = field(default_factory=set)


def replay_attempt(steps: Sequence[LoggedStep], *, accumulate: bool, restore: bool = False) -> AttemptReplay:
    """Replay one attempt.

    Args:
        steps: steps of the attempt, in order; each has a graph.
        accumulate: whether to continue with our own graph instead of starting each step from the logged one.
        restore: whether to state facts again that the log shows to be deleted and extracted again in one step.

    Returns:
        The replay.

    Raises:
        InputError: a logged triplet is not a valid fact.
    """
    result = AttemptReplay(steps[0].run, steps[0].attempt)
    graph = TemporalGraph()
    before: list[Triplet] = []
    rooms = rooms_of(steps)
    carried: set[Fact] = set()
    history: list[tuple[float, set[Fact]]] = []
    for number, step in enumerate(steps):
        if not accumulate:
            graph = _graph_of(before, step)
            carried, history = set(), []
        again = _extracted_again(step, before)
        move = _move(steps[number - 1], rooms[number - 1], rooms[number]) if number else None
        visited = {room for room in rooms[: number + 1] if room}
        extraction = _extract(step, again if restore else [], graph.view(), visited, move, result)
        graph.add(Episode(step.observation, step.step, f"{step.run}/{step.attempt}", extraction))
        ours = graph.view().facts()
        differences = _compare(step, before, ours, again, carried, result)
        result.steps += 1
        result.reproduced += not differences
        result.differences += differences.values()
        carried = set(differences)
        history.append((step.step, set(ours)))
        if not accumulate or step is steps[-1]:
            result.remembered += sum(set(graph.view(at).facts()) == facts for at, facts in history)
        before = step.graph or []
    return result


def _graph_of(triplets: Sequence[Triplet], step: LoggedStep) -> TemporalGraph:
    """Return a graph with the triplets in the log before ``step``."""
    if not triplets:
        return TemporalGraph()
    extraction = Extraction("log", tuple(_fact(triplet) for triplet in triplets))
    return TemporalGraph([Episode(f"the graph before step {step.step}", step.step - 1, extraction=extraction)])


def _move(last: LoggedStep, before: str | None, after: str | None) -> RoomChange | None:
    return RoomChange(before, after, last.action_taken) if before and after and last.action_taken else None


def _extract(
    step: LoggedStep,
    again: Sequence[Fact],
    view: GraphView,
    rooms: Collection[str],
    move: RoomChange | None,
    result: AttemptReplay,
) -> Extraction:
    """Return the extraction of ``step``; count the outcomes of its outdated pairs in ``result``."""
    answer = step.outdated_raw or "[]"
    extractor = AriGraphExtractor(_no_triplet_text, lambda candidates, new: answer)
    facts = (*(_fact(triplet) for triplet in step.new_triplets), *again)
    extraction = extractor.outdate(step.observation, Extraction(extractor.name, facts), view, rooms=rooms, move=move)
    stated = {statement for statement in extraction.statements if isinstance(statement, Fact)}
    for old, _ in parse_outdated(answer).pairs:
        result.fates[str(deletion_outcome(old, view, stated, rooms))] += 1
    candidates = set(outdated_candidates(view, facts))
    result.candidates += sum(ending.statement in candidates for ending in extraction.endings)
    return extraction


def _no_triplet_text(text: str) -> str:
    raise ReplayError("the logs contain parsed triplets, not the text of the model")


def _compare(
    step: LoggedStep,
    before: Sequence[Triplet],
    ours: Sequence[Fact],
    again: Collection[Fact],
    carried: Collection[Fact],
    result: AttemptReplay,
) -> dict[Fact, Difference]:
    """Return the facts that one of the graphs lacks; record facts with two spellings in ``result``."""
    theirs = step.graph or []
    writings: dict[Fact, set[str]] = defaultdict(set)
    for triplet in (*before, *theirs):
        writings[_fact(triplet)].add(", ".join(triplet))
    held = {fact: str(fact) for fact in ours}
    logged = {_fact(triplet): ", ".join(triplet) for triplet in theirs}
    for triplet in theirs:
        written, known = ", ".join(triplet), held.get(_fact(triplet))
        if known is not None and known != written:
            result.written_otherwise.add((written, known))
    differences = {}
    for fact in (*logged, *held):
        if fact in logged and fact in held:
            continue
        if fact in carried:
            cause = Cause.CARRIED
        elif len(writings[fact]) > 1:
            cause = Cause.MERGED
        else:
            cause = Cause.EXTRACTED_AGAIN if fact in again and fact in logged else Cause.UNEXPLAINED
        differences[fact] = Difference(step.step, str(fact), "ours" if fact in logged else "theirs", cause)
    return differences


def _extracted_again(step: LoggedStep, before: Sequence[Triplet]) -> list[Fact]:
    """Return the facts that the outdated text of a step deletes and that the log shows to be added again.

    The graph in the log is a list, and new triplets are appended. So a deleted triplet after all triplets that survived
    the step was added again.

    Args:
        step: the step.
        before: triplets of the graph before it.

    Returns:
        The facts.
    """
    old = {fact for fact, _ in parse_outdated(step.outdated_raw or "[]").pairs}
    theirs = [_fact(triplet) for triplet in step.graph or []]
    known = {_fact(triplet) for triplet in before}
    last = max((place for place, fact in enumerate(theirs) if fact in known and fact not in old), default=-1)
    return [fact for fact in theirs[last + 1 :] if fact in old and fact in known]

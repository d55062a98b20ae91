"""Texts in the published logs of AriGraph's agent, and counts of how they are parsed; every text is counted.

The logs are gzipped JSON Lines with one object per step (or, for question answering, per question). Fields that are not
listed here are ignored.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeVar

import msgspec

from worldthread.errors import FormatError, InputError
from worldthread.files.decoding import decoder_of
from worldthread.types import Fact
from worldthread_lab.arigraph.plan import ActionAnswer, parse_action, parse_plan
from worldthread_lab.arigraph.text import Failure, FailureReason, Repair, parse_outdated, parse_triplets

_HEADING: Final = re.compile(r"-= ([^=\n]+) =-")
T = TypeVar("T")

Triplet = tuple[str, str, str]


class LoggedStep(msgspec.Struct, frozen=True):
    """A step of a logged run, with verbatim texts of the model.

    ``graph`` is the whole graph after the step; ``navigation`` has the text of each room on the path of a "go to".
    """

    run: str
    attempt: int
    step: int
    observation: str
    new_triplets: list[Triplet] = []
    outdated_raw: str | None = None
    graph: list[Triplet] | None = None
    plan: str | None = None
    action: str | None = None
    action_taken: str | None = None
    valid_actions: list[str] | None = None
    inventory: str | None = None
    navigation: list[str] | None = None
    associated_raw: str | None = None


class LoggedQuestion(msgspec.Struct, frozen=True):
    """A question of the question-answering logs: the triplets of its passages, what was found, and the answer."""

    question: str | None = None
    answer: str | None = None
    passages_triplets: list[list[list[str]]] = []
    crucial_items: dict[str, int] | None = None
    retrieved_triplets: list[str] | None = None
    predicted: str | None = None
    aborted: bool = False


def read_lines(folder: Path, kind: type[T]) -> Iterator[T]:
    """Decode the lines of all ``*.jsonl.gz`` files of a folder, in the order of their names.

    Args:
        folder: folder of the logs.
        kind: type of each line.

    Yields:
        The decoded lines.

    Raises:
        InputError: there is no such file.
        FormatError: a line cannot be decoded.
    """
    files = sorted(folder.glob("*.jsonl.gz"))
    if not files:
        raise InputError(f"no logs in {folder}: expected files named <run>.jsonl.gz")
    decoder = decoder_of(kind)
    for path in files:
        number = 0
        try:
            with gzip.open(path, "rb") as lines:
                for line in lines:
                    number += 1
                    yield decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"cannot be read: {error}", path=path, line=number) from error


def attempts(steps: Iterable[LoggedStep]) -> dict[tuple[str, int], list[LoggedStep]]:
    """Return the steps of each (run, attempt), in order."""
    found: dict[tuple[str, int], list[LoggedStep]] = defaultdict(list)
    for step in steps:
        found[step.run, step.attempt].append(step)
    return {key: sorted(found[key], key=lambda step: step.step) for key in sorted(found)}


def rooms_of(steps: Sequence[LoggedStep]) -> list[str | None]:
    """Return the room in which each step of an attempt ends, in lower case, from the headings of the observations."""
    room: str | None = None
    rooms = []
    for step in steps:
        headings = _HEADING.findall(step.observation)
        room = headings[-1].strip().lower() if headings else room
        rooms.append(room)
    return rooms


class _LoggedAnswer(Protocol):
    @property
    def repairs(self) -> tuple[Repair, ...]: ...
    @property
    def failures(self) -> tuple[Failure, ...]: ...


@dataclass(frozen=True)
class UnusableText:
    """A part of a logged text that could not be parsed."""

    run: str
    attempt: int
    step: int
    text: str
    reason: str


@dataclass
class TextCount:
    """Counts of how texts of one kind were parsed: ``total == clean + mended + partly + failed``.

    Args:
        kind: kind of the texts.
        total: number of logged texts.
        absent: number of steps without such a text.
        clean: number of texts parsed without repairs.
        mended: number of texts parsed in full after repairs.
        partly: number of texts parsed in part.
        failed: number of texts from which nothing was parsed.
        mends: number of texts with each kind of repair.
        reasons: number of parts that could not be parsed, by reason.
        unread: the parts that could not be parsed.
    """

    kind: str
    total: int = 0
    absent: int = 0
    clean: int = 0
    mended: int = 0
    partly: int = 0
    failed: int = 0
    mends: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    unread: list[UnusableText] = field(default_factory=list)

    def add(self, step: LoggedStep, answer: _LoggedAnswer | None, useful: bool) -> None:
        """Count one text; ``answer`` is ``None`` if the step has no such text."""
        if answer is None:
            self.absent += 1
            return
        self.total += 1
        self.mends.update({str(repair.kind) for repair in answer.repairs})
        for failure in answer.failures:
            self.reasons[str(failure.reason)] += 1
            self.unread.append(UnusableText(step.run, step.attempt, step.step, failure.text, str(failure.reason)))
        if not answer.failures:
            if answer.repairs:
                self.mended += 1
            else:
                self.clean += 1
        elif useful:
            self.partly += 1
        else:
            self.failed += 1


@dataclass
class ActionCount:
    """Counts of how parsed actions compare with the other fields of the log.

    Args:
        taken: number of steps whose log names the action taken.
        taken_as_read: number of these steps where it equals the parsed action.
        actions: number of actions in steps whose log lists the valid actions; an answer may weigh several actions.
        offered: number of these actions that are valid.
        go_to: number of the others that go to a visited room.
        not_offered: number of the remaining actions, which are refused.
    """

    taken: int = 0
    taken_as_read: int = 0
    actions: int = 0
    offered: int = 0
    go_to: int = 0
    not_offered: int = 0

    def add(self, step: LoggedStep, answer: ActionAnswer, rooms: Collection[str]) -> None:
        """Count the actions of one answer, which was parsed without the list of valid actions."""
        if step.action_taken is not None:
            self.taken += 1
            self.taken_as_read += answer.action == step.action_taken
        if step.valid_actions is None or step.action is None:
            return
        checked = parse_action(step.action, step.valid_actions, rooms)
        self.actions += len(answer.choices)
        self.not_offered += sum(failure.reason is FailureReason.NOT_OFFERED for failure in checked.failures)
        for choice in checked.choices:
            if choice.action in step.valid_actions:
                self.offered += 1
            else:
                self.go_to += 1


def count_texts(runs: dict[tuple[str, int], list[LoggedStep]]) -> tuple[list[TextCount], ActionCount]:
    """Parse all outdated texts, plans and actions of the logs, and count the results."""
    outdated, plans, actions = TextCount("outdated triplets"), TextCount("plans"), TextCount("actions")
    taken = ActionCount()
    for steps in runs.values():
        visited: set[str] = set()
        for step, room in zip(steps, rooms_of(steps), strict=True):
            visited |= {room} if room else set()
            pairs = parse_outdated(step.outdated_raw) if step.outdated_raw is not None else None
            plan = parse_plan(step.plan) if step.plan is not None else None
            action = parse_action(step.action) if step.action is not None else None
            outdated.add(step, pairs, pairs is not None and bool(pairs.pairs))
            plans.add(step, plan, plan is not None and bool(plan.sub_goals or plan.main_goal))
            actions.add(step, action, action is not None and bool(action.choices))
            if action is not None:
                taken.add(step, action, visited)
    return [outdated, plans, actions], taken


@dataclass
class FactCount:
    """Counts of how logged triplets convert to our facts.

    Args:
        source: source of the triplets.
        triplets: number of triplets.
        valid: number of triplets that are valid facts.
        refused: number of the other triplets, by reason.
        distinct: number of distinct valid triplets, as written in the log.
        merged: groups of these that are the same fact after normalisation of names.
        same: number of triplets that are unchanged after writing them as text and parsing it by the published rules.
        changed: triplets that become another fact, before and after.
        unread: number of triplets that cannot be parsed again, by reason.
    """

    source: str
    triplets: int = 0
    valid: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    distinct: int = 0
    merged: list[list[str]] = field(default_factory=list)
    same: int = 0
    changed: list[tuple[str, str]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)


def count_facts(source: str, triplets: Iterable[Sequence[str]]) -> FactCount:
    """Convert every triplet to a fact, and parse it again from its text."""
    count = FactCount(source)
    writings: dict[Fact, set[str]] = defaultdict(set)
    for triplet in triplets:
        count.triplets += 1
        written = ", ".join(triplet)
        try:
            subject, relation, thing = triplet
            fact = Fact(subject, relation, thing)
        except (InputError, ValueError) as error:
            count.refused[str(error)] += 1
            continue
        count.valid += 1
        writings[fact].add(written)
        answer = parse_triplets(written)
        count.unread.update(str(failure.reason) for failure in answer.failures)
        if [str(read) for read in answer.facts] == [written]:
            count.same += 1
        elif answer.facts:
            count.changed.append((written, "; ".join(map(str, answer.facts))))
    count.distinct = sum(map(len, writings.values()))
    count.merged = sorted(sorted(forms) for forms in writings.values() if len(forms) > 1)
    return count

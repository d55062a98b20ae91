"""Measures how well a memory finds the turns of a conversation that a question needs."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from worldthread.errors import InputError
from worldthread.extract.episode_builder import MESSAGE_GAP
from worldthread.memory.memory import Memory
from worldthread.models import Embedder
from worldthread.retrieve import method as method_named
from worldthread_lab.bench.datasets.conversations import (
    Conversation,
    load_beam,
    load_locomo,
    load_longmemeval,
)
from worldthread_lab.bench.datasets.registry import find_file
from worldthread_lab.bench.qa.metrics import recall_at
from worldthread_lab.play.statistics import bootstrap_interval

CUTOFFS: Final = (5, 10, 20)

LOADERS: Final[Mapping[str, tuple[Callable[[Path], tuple[Conversation, ...]], tuple[str, ...]]]] = {
    "locomo": (load_locomo, ("locomo/dev.jsonl", "locomo.jsonl")),
    "beam": (load_beam, ("beam/dev.jsonl", "beam.jsonl")),
    "longmemeval": (
        load_longmemeval,
        ("longmemeval_s.json", "longmemeval/longmemeval_s.json", "longmemeval_oracle.json"),
    ),
}
"""By name of the data set: what loads its file, and where the file is below a folder of data."""


@dataclass(frozen=True)
class TurnRecall:
    """Mean recall of evidence turns over some questions.

    Args:
        questions: number of questions.
        recall: share of the evidence turns among the first 5, 10 and 20 turns, by cutoff.
        intervals: 95 % bootstrap intervals over the questions, by cutoff.
    """

    questions: int
    recall: Mapping[int, float]
    intervals: Mapping[int, tuple[float, float]]


@dataclass(frozen=True)
class ConversationMethodReport:
    """The results of one method on the conversations of one data set.

    Args:
        method: name of the method.
        all: over all questions with evidence.
        by_category: by kind of question.
        by_conversation: by id of the conversation.
        milliseconds_p50: median duration of a recall, embedding of the question included.
        milliseconds_p95: 95th percentile of the same.
    """

    method: str
    all: TurnRecall
    by_category: Mapping[str, TurnRecall]
    by_conversation: Mapping[str, TurnRecall]
    milliseconds_p50: float
    milliseconds_p95: float


@dataclass(frozen=True)
class ConversationReport:
    """The results on the conversations of one data set.

    Args:
        dataset: name of the data set.
        embedder: name and version of the embedder.
        conversations: number of conversations.
        turns: number of turns.
        passages: number of episodes: a long turn is divided into several.
        methods: results of each method.
    """

    dataset: str
    embedder: str
    conversations: int
    turns: int
    passages: int
    methods: tuple[ConversationMethodReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results, ready for JSON."""
        return asdict(self)


def load(dataset: str, path: Path | None = None) -> tuple[Conversation, ...]:
    """Load the conversations of a data set.

    Args:
        dataset: a key of :data:`LOADERS`.
        path: its file, or a folder that contains it; ``None`` searches where
            :func:`worldthread_lab.bench.datasets.load` does.

    Returns:
        The conversations.

    Raises:
        InputError: no data set has this name, or its file cannot be found.
        FormatError: the file does not have the expected form.
    """
    if dataset not in LOADERS:
        raise InputError(f"no conversations are called {dataset!r}; there are: {', '.join(LOADERS)}")
    loader, files = LOADERS[dataset]
    return loader(find_file(dataset, files, path))


def measure(
    dataset: str,
    conversations: Sequence[Conversation],
    methods: Sequence[str],
    embedder: Embedder,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> ConversationReport:
    """Remember each conversation in a memory of its own, and recall turns for all its questions with every method.

    Every turn is a message with its speaker; the session is the source, its time is that of its first turn, and the
    others follow a millisecond apart. A turn that is divided into passages is found where its best passage is.

    Args:
        dataset: name of the data set, for the report.
        conversations: the conversations.
        methods: names of :func:`worldthread.retrieve.methods`.
        embedder: embeds passages, statements and questions.
        on_progress: called with a description of the work, the number of finished conversations, and their total.

    Returns:
        The results.

    Raises:
        InputError: a method is unknown.
    """
    for name in methods:
        method_named(name)
    show_progress = on_progress or (lambda what, done, total: None)
    tables: dict[str, list[_Asked]] = {name: [] for name in methods}
    passages = 0
    for number, conversation in enumerate(conversations):
        with Memory(model="none", embedder=embedder) as memory:
            turns = remember_turns(memory, conversation)
            passages += len(turns)
            for name, asked in tables.items():
                asked += _ask(memory, conversation, turns, name)
        show_progress(dataset, number + 1, len(conversations))
    return ConversationReport(
        dataset=dataset,
        embedder=embedder.name,
        conversations=len(conversations),
        turns=sum(len(session.turns) for conversation in conversations for session in conversation.sessions),
        passages=passages,
        methods=tuple(_report(name, asked) for name, asked in tables.items()),
    )


@dataclass(frozen=True)
class _Asked:
    conversation: str
    category: str
    recall: tuple[float, ...]
    milliseconds: float


def remember_turns(memory: Memory, conversation: Conversation) -> dict[str, str]:
    """Remember a conversation as :func:`measure` does.

    Args:
        memory: an empty memory.
        conversation: the conversation.

    Returns:
        The id of the turn of every episode, by its id.
    """
    turn_of: dict[str, str] = {}
    for session in conversation.sessions:
        for position, turn in enumerate(session.turns):
            if turn.text.strip():
                message = {"speaker": turn.speaker, "content": turn.text}
                found = memory.remember([message], at=session.at + position * MESSAGE_GAP, source=session.name)
                turn_of |= dict.fromkeys(found.episodes, turn.id)
    return turn_of


def _ask(memory: Memory, conversation: Conversation, turn_of: Mapping[str, str], method: str) -> list[_Asked]:
    """Ask the questions of a conversation that have evidence."""
    asked = []
    memory.recall("What is new?", k=1, method=method)  # what is computed once is not part of a question
    for question in conversation.questions:
        if not question.evidence:
            continue
        start = time.perf_counter()
        found = memory.recall(question.text, k=CUTOFFS[-1], kinds=["episode"], method=method)
        milliseconds = 1000 * (time.perf_counter() - start)
        ranking = list(dict.fromkeys(turn_of[hit.item.id] for hit in found.hits))
        recalls = tuple(recall_at(k, ranking, tuple(question.evidence)) for k in CUTOFFS)
        asked.append(_Asked(conversation.id, question.category, recalls, milliseconds))
    return asked


def _report(method: str, asked: Sequence[_Asked]) -> ConversationMethodReport:
    took = [one.milliseconds for one in asked]
    return ConversationMethodReport(
        method=method,
        all=_turn_recall(asked),
        by_category=_grouped(asked, lambda one: one.category),
        by_conversation=_grouped(asked, lambda one: one.conversation),
        milliseconds_p50=round(statistics.median(took), 2) if took else math.nan,
        milliseconds_p95=round(float(np.percentile(took, 95)), 2) if took else math.nan,
    )


def _grouped(asked: Sequence[_Asked], key: Callable[[_Asked], str]) -> dict[str, TurnRecall]:
    names = dict.fromkeys(map(key, asked))
    return {name: _turn_recall([one for one in asked if key(one) == name]) for name in names}


def _turn_recall(asked: Sequence[_Asked]) -> TurnRecall:
    columns = {k: [one.recall[place] for one in asked] for place, k in enumerate(CUTOFFS)}
    return TurnRecall(
        questions=len(asked),
        recall={k: round(statistics.fmean(values), 4) for k, values in columns.items() if values},
        intervals={k: bootstrap_interval(values) for k, values in columns.items() if values},
    )

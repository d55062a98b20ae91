"""Measures retrieval: how well, how fast and at what size a memory finds the passages that a question needs."""

from __future__ import annotations

import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.memory.memory import Memory
from worldthread.mirror import Mirror, mirror_index, open_graph
from worldthread.models import Embedder
from worldthread.models.base import embed_queries
from worldthread.models.cached import CachedEmbedder
from worldthread.models.chat import ChatModel
from worldthread.retrieve import Query, RetrievalIndex, Scores
from worldthread.retrieve.query import names_in
from worldthread.retrieve.select import best_episodes, best_statements
from worldthread_lab.bench.datasets import Dataset, Question
from worldthread_lab.bench.qa.dataset_memory import episodes_of
from worldthread_lab.bench.qa.fact_filter import FactFilter
from worldthread_lab.bench.qa.metrics import recall_at, share_among
from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
from worldthread_lab.play.statistics import bootstrap_interval
from worldthread_lab.published.linking import pending_names

CUTOFFS: Final = (2, 5, 10)
_COMPARE_NAMES: Final = frozenset({"astar", "mixture"})  # methods that use the vectors of names
Triples: TypeAlias = Literal["given", "none"]
"""Source of the facts: the data set, or rules. Rules always extract the theses."""


@dataclass(frozen=True)
class MethodReport:
    """The results of one method on one data set.

    Args:
        method: name of the method.
        questions: number of questions with gold passages, over which the recall is the mean.
        recall: share of the gold passages among the first 2, 5 and 10, by cutoff.
        intervals: 95 % bootstrap intervals of the recall, by cutoff.
        halves: recall on the questions at even positions, and at odd positions.
        milliseconds_p50: median duration of a question, without its embedding.
        milliseconds_p95: 95th percentile of the same.
        stale: share of facts and theses among the first 10 that did not hold at the time of the question; ``None``
            if the data set does not annotate them.
        stale_unrestricted: the same share when ended statements are not left out.
    """

    method: str
    questions: int
    recall: Mapping[int, float]
    intervals: Mapping[int, tuple[float, float]]
    halves: tuple[Mapping[int, float], Mapping[int, float]]
    milliseconds_p50: float
    milliseconds_p95: float
    stale: float | None = None
    stale_unrestricted: float | None = None


@dataclass(frozen=True)
class RetrievalReport:
    """The results on one data set.

    Args:
        dataset: name of the data set.
        version: version of the data.
        triples: source of the facts.
        embedder: name and version of the embedder.
        passages: number of passages.
        statements: number of facts and theses.
        names: number of distinct names.
        read_seconds: duration of the extraction by rules.
        embed_seconds: duration of embedding.
        index_seconds: duration of building the index, without embedding.
        vector_megabytes: size of the vectors in memory, in MiB.
        disk_megabytes: size of the memory's file with its snapshot and index after closing, in MiB.
        methods: results of each method.
    """

    dataset: str
    version: str
    triples: Triples
    embedder: str
    passages: int
    statements: int
    names: int
    read_seconds: float
    embed_seconds: float
    index_seconds: float
    vector_megabytes: float
    disk_megabytes: float
    methods: tuple[MethodReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results, ready for JSON."""
        return asdict(self)


class _TimedEmbedder:
    """An embedder that measures its total duration."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start = time.perf_counter()
        try:
            return self._embedder.embed(texts)
        finally:
            self.seconds += time.perf_counter() - start

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start = time.perf_counter()
        try:
            return embed_queries(self._embedder, texts)
        finally:
            self.seconds += time.perf_counter() - start


def measure(
    dataset: Dataset,
    methods: Sequence[str | RetrievalSpec],
    embedder: Embedder,
    *,
    triples: Triples = "none",
    model: ChatModel | None = None,
    graph: str | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> RetrievalReport:
    """Remember a data set, and retrieve passages for all its questions with every method.

    Args:
        dataset: its passages are the only content of the memory.
        methods: names of :func:`worldthread.retrieve.methods`, or methods with settings.
        embedder: embeds passages, statements and questions.
        triples: ``"given"`` takes the facts of the data set, ``"none"`` those that rules extract.
        model: chooses facts for methods with the setting ``fact_filter``.
        graph: address of a graph database that the memory is mirrored into. The methods walk over what is read from
            there; the mirror is removed in the end. ``None`` for the graph of the memory.
        on_progress: called with a description of the work, the number of finished items, and their total.

    Returns:
        The results.

    Raises:
        InputError: a method or a setting is unknown, or a setting needs a model and there is none.
        StoreError: the graph database cannot be used.
    """
    timed = _TimedEmbedder(embedder)
    resources: dict[str, Callable[..., Any]] = {"embed": timed.embed}
    if model is not None:
        resources["keep"] = FactFilter(model)
    specs = [each if isinstance(each, RetrievalSpec) else RetrievalSpec(each) for each in methods]
    functions = {spec.name: spec.bound(functions=resources) for spec in specs}
    show_progress = on_progress or (lambda what, done, total: None)
    start = time.perf_counter()
    episodes = []
    for episode in episodes_of(dataset, triples):
        episodes.append(episode)
        show_progress("reading", len(episodes), len(dataset.passages))
    read_seconds = time.perf_counter() - start
    timed = _TimedEmbedder(embedder)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        with Memory(path, model="none", embedder=timed) as memory:
            memory.record.add_many(episodes)
            show_progress("embedding", 0, 1)
            start = time.perf_counter()
            with memory.record.index() if graph is None else _mirrored(memory, graph, timed) as index:
                index.links  # noqa: B018  computed on first access
                if any(spec.method in _COMPARE_NAMES for spec in specs):
                    _embed_names(index, timed, show_progress)
                seconds, embed_seconds = time.perf_counter() - start, timed.seconds
                size = index.episodes.rows.nbytes + index.statements.rows.nbytes
                statements, names = len(index.statements), len(index.names)
                reports = tuple(
                    _measured(name, function, dataset, index, timed, show_progress)
                    for name, function in functions.items()
                )
        on_disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    return RetrievalReport(
        dataset=dataset.name,
        version=dataset.version,
        triples=triples,
        embedder=embedder.name,
        passages=len(dataset.passages),
        statements=statements,
        names=names,
        read_seconds=round(read_seconds, 2),
        embed_seconds=round(embed_seconds, 2),
        index_seconds=round(seconds - embed_seconds, 2),
        vector_megabytes=round(size / 2**20, 1),
        disk_megabytes=round(on_disk / 2**20, 2),
        methods=reports,
    )


@contextmanager
def _mirrored(memory: Memory, address: str, embedder: Embedder) -> Iterator[RetrievalIndex]:
    """Mirror a memory, and yield the index of what the mirror holds."""
    name = f"bench {secrets.token_hex(8)}"
    with open_graph(address) as server:
        mirror = Mirror(memory, server, name)
        try:
            mirror.update()
            yield mirror_index(server, name, CachedEmbedder(embedder, memory.record.vectors))  # rounded, as in a memory
        finally:
            mirror.remove()


def _embed_names(index: RetrievalIndex, embedder: Embedder, show_progress: Callable[[str, int, int], None]) -> None:
    """Give the name of every object its vector, as a memory of PersonalAI has it."""
    parts = pending_names(index)
    for number, part in enumerate(parts, 1):
        index.put(part, embedder.embed(part.texts))
        show_progress("embedding names", number, len(parts))


def _measured(
    name: str,
    function: Callable[[Query, RetrievalIndex], Scores],
    dataset: Dataset,
    index: RetrievalIndex,
    embedder: Embedder,
    show_progress: Callable[[str, int, int], None],
) -> MethodReport:
    recalls: list[list[float]] = []
    took: list[float] = []
    stale: list[float] = []
    unrestricted: list[float] = []
    # passages without dates have no order in time, so none of their statements is stale
    dated = any(passage.at is not None for passage in dataset.passages)
    for number, question in enumerate(dataset.questions):
        vector = embed_queries(embedder, [question.text])[0]
        start = time.perf_counter()
        query = Query(question.text, vector, names_in(question.text, index.find), question.as_of, dated)
        scores = function(query, index)
        ranking = _passages(scores, index, question, only_current=dated)
        took.append(1000 * (time.perf_counter() - start))
        if question.gold_ids:
            recalls.append([recall_at(k, ranking, question.gold_ids) for k in CUTOFFS])
        if question.stale_ids or question.future_ids:
            unwanted = question.stale_ids | question.future_ids
            for only_current, shares in ((True, stale), (False, unrestricted)):
                found = _statements(scores, index, question, only_current=only_current)
                shares.append(share_among(CUTOFFS[-1], found, unwanted))
        show_progress(name, number + 1, len(dataset.questions))
    table = np.array(recalls, np.float64).reshape(-1, len(CUTOFFS))
    return MethodReport(
        method=name,
        questions=len(table),
        recall=_means(table),
        intervals={k: bootstrap_interval(table[:, i].tolist()) for i, k in enumerate(CUTOFFS)} if len(table) else {},
        halves=(_means(table[::2]), _means(table[1::2])),
        milliseconds_p50=round(statistics.median(took), 2),
        milliseconds_p95=round(float(np.percentile(took, 95)), 2),
        stale=round(statistics.fmean(stale), 4) if stale else None,
        stale_unrestricted=round(statistics.fmean(unrestricted), 4) if unrestricted else None,
    )


def _means(table: NDArray[np.float64]) -> dict[int, float]:
    return {k: round(float(table[:, i].mean()), 4) for i, k in enumerate(CUTOFFS)} if len(table) else {}


def _passages(scores: Scores, index: RetrievalIndex, question: Question, *, only_current: bool) -> list[str]:
    """Return the ids of the best passages."""
    found = best_episodes(scores, index, CUTOFFS[-1], question.as_of, only_current)
    records = (index.graph.numbered_episode(number) for number, _ in found)
    return [record.source for record in records if record is not None]


def _statements(scores: Scores, index: RetrievalIndex, question: Question, *, only_current: bool) -> list[str]:
    """Return the ids of the best facts and theses, by score."""
    k = CUTOFFS[-1]
    found = [
        pair
        for kind in ("fact", "thesis")
        for pair in best_statements(scores, index, k, kind, question.as_of, only_current)
    ]
    found.sort(key=lambda pair: -pair[1])
    shown = (index.graph.numbered_statement(number) for number, _ in found[:k])
    return [statement.id for statement in shown if statement is not None]


@contextmanager
def progress_shown() -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on standard error for each description that the yielded function receives."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, Any] = {}

        def show_progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield show_progress

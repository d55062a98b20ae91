"""Remembering with readers in other processes: they read and embed, one process records in order.

What is recorded is what :class:`~worldthread.memory.ingestion.Ingestion` alone would have recorded, whatever order the
readers finish in: texts are divided, dropped when known, put together for a model, and settled in the same steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import BudgetError, ClusterError, ModelError, ReplayError
from worldthread.extract.groups import EpisodeGroup, GroupExtractor, groups_of
from worldthread.extract.pipeline import ExtractionOutcome
from worldthread.memory.bulk.readers import BatchReaders, BatchReading, ReadEpisode
from worldthread.memory.index import MemoryIndex
from worldthread.memory.ingestion import BATCH, Ingestion, Remembered, in_order
from worldthread.memory.models import MemoryModels
from worldthread.stores import Store
from worldthread.types import Episode


@dataclass(eq=False)
class _Window:
    """Passages that are recorded together.

    Args:
        passages: all of them, by id.
        fresh: those that are new.
        read: what was read in the new ones so far, in order.
        batches: the batches that they were read in, which hold their vectors.
    """

    passages: dict[str, Episode]
    fresh: list[Episode]
    read: list[ReadEpisode] = field(default_factory=list)
    batches: dict[int, dict[str, NDArray[np.float16]]] = field(default_factory=dict)


class BulkIngestion(Ingestion):
    """Writes contents into a store; see :class:`~worldthread.memory.ingestion.Ingestion`.

    Args:
        store: holds the record.
        index: keeps the vectors.
        models: provides the extractor and the embedder.
        user: see :class:`~worldthread.memory.ingestion.Ingestion`.
        readers: read and embed.
        timezone: see :class:`~worldthread.memory.ingestion.Ingestion`.
    """

    def __init__(
        self,
        store: Store,
        index: MemoryIndex,
        models: MemoryModels,
        user: str,
        readers: BatchReaders,
        timezone: str = "",
    ) -> None:
        super().__init__(store, index, models, user, timezone)
        self._readers = readers
        self._steps: deque[Episode | _Window] = deque()  # what is to be recorded, in order
        self._pending: dict[str, Episode] = {}  # episodes of these steps, in the order in which they are recorded
        self._groups: list[tuple[_Window, EpisodeGroup]] = []  # of the batch that is being made
        self._under_way: deque[tuple[Any, list[tuple[_Window, int]]]] = deque()

    @property
    def _activity(self) -> str:
        return f"remembering with {self._readers.description}"

    def _ingest(
        self, taken: Iterator[Episode | list[Episode]], advance: Callable[[int], None], wait: bool
    ) -> Remembered:
        self._store.require_writable()
        self._readers.start(self._models.extractor, self._index.embedder.inner)
        result = Remembered()
        batch: list[Episode] = []
        for item in taken:
            if isinstance(item, Episode):
                self._steps.append(item)
                self._pending[item.id] = item
            else:
                batch += item
                while len(batch) >= BATCH:
                    self._begin(batch[:BATCH])
                    del batch[:BATCH]
            result += self._record_ready(advance)
        self._begin(batch)
        self._submit()
        while self._under_way:
            self._take()
            result += self._record_ready(advance)
        return result + self._record_ready(advance)

    def _begin(self, passages: Sequence[Episode]) -> None:
        """Send the new ones of some passages to the readers."""
        ids = {episode.id: episode for episode in passages}
        graph = self._store.graph
        fresh = [episode for id_, episode in ids.items() if id_ not in graph and id_ not in self._pending]
        groups = (
            groups_of(fresh, self._user, self._said_before)
            if isinstance(self._models.extractor, GroupExtractor)
            else [EpisodeGroup((episode,), (), self._user) for episode in fresh]
        )
        window = _Window(ids, fresh)
        self._steps.append(window)
        self._pending |= {episode.id: episode for episode in sorted(fresh, key=in_order)}
        for group in groups:
            self._groups.append((window, group))
            if sum(len(one.episodes) for _, one in self._groups) >= self._readers.batch:
                self._submit()

    def _submit(self) -> None:
        if self._groups:
            while len(self._under_way) >= self._readers.in_flight:
                self._take()
            ticket = self._readers.submit([group for _, group in self._groups])
            self._under_way.append((ticket, [(window, len(group.episodes)) for window, group in self._groups]))
            self._groups = []

    def _take(self) -> None:
        """Wait for the oldest batch."""
        ticket, parts = self._under_way.popleft()
        found = self._readers.result(ticket)
        if found.failure is not None:
            raise (ReplayError if found.failure.replayed else ClusterError)(found.failure.message)
        self._require_same(found)
        self._count(found)
        vectors = dict(zip(found.texts, found.vectors, strict=True))
        episodes = iter(found.episodes)
        for window, count in parts:
            window.read += [next(episodes) for _ in range(count)]
            window.batches[id(vectors)] = vectors

    def _require_same(self, found: BatchReading) -> None:
        """Raise ClusterError when a reader is not what reads here, since the result would be another one."""
        embedder = self._index.embedder.name if found.texts else found.reader[2]
        wanted = (version("worldthread"), self._models.extractor.name, embedder)
        if found.reader != wanted:
            theirs, ours = (
                f"worldthread {one[0]} with the extractor {one[1]!r} and the embedder {one[2]!r}"
                for one in (found.reader, wanted)
            )
            raise ClusterError(f"a worker has {theirs}, and here is {ours}: install the same release and extras there")

    def _count(self, found: BatchReading) -> None:
        meter = getattr(getattr(self._models.extractor, "model", None), "meter", None)
        if meter is not None:
            for purpose, used in found.usage.items():
                meter.count(purpose, used)

    def _record_ready(self, advance: Callable[[int], None]) -> Remembered:
        """Record what comes next, as far as it is read."""
        result = Remembered()
        while self._steps:
            step = self._steps[0]
            if isinstance(step, Episode):
                self._steps.popleft()
                self._pending.pop(step.id, None)
                result += self._record([step])
                advance(1)
                continue
            if len(step.read) < len(step.fresh):
                break
            self._steps.popleft()
            result += self._record_window(step)
            for episode in step.fresh:
                self._pending.pop(episode.id, None)
            advance(len(step.passages))
        return result

    def _record_window(self, window: _Window) -> Remembered:
        extractor = self._models.extractor
        outcomes = []
        for episode, read in zip(window.fresh, window.read, strict=True):
            kind = BudgetError if read.budget else ModelError
            outcomes.append(
                ExtractionOutcome(episode, read.extraction, None if read.problem is None else kind(read.problem))
            )
        vectors = {text: vector for batch in window.batches.values() for text, vector in batch.items()}
        return self._record_outcomes(
            list(window.passages), outcomes, lambda episodes: self._index.keep(vectors, episodes), extractor=extractor
        )

    def _said_before(self, first: Episode) -> list[Episode]:
        """Return the latest messages of the conversation of an episode that come before it, of the last recorded.

        Those that are still to be recorded count as recorded.
        """
        return self._latest_before(first, list(self._pending.values()))

"""The retrieval index of a memory: kept up to date with its graph, and saved beside its file when that pays.

The order of locks: first the turn to embed (:meth:`MemoryIndex._turn_to_embed`), then the lock of the store. Whoever
has the lock of the store never waits for the turn. Nothing is embedded under the lock of the store, unless the caller
holds it anyway.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import ClosedError, StoreError
from worldthread.models.cached import CachedEmbedder
from worldthread.stores import Store
from worldthread.stores.base import PIECE_MARK, KnownRecord
from worldthread.support.progress import Progress, show_progress
from worldthread.types import Episode

if TYPE_CHECKING:
    from worldthread.graph import TemporalGraph
    from worldthread.memory.models import MemoryModels
    from worldthread.memory.vectors import MemoryVectors
    from worldthread.retrieve import RetrievalIndex
    from worldthread.retrieve.index import PendingVectors, VectorTables

_WORTH_SAVING: Final = 2000  # episodes and statements from which on loading an index is quicker than building it
_BATCH: Final = 256  # texts embedded and stored together
_SAMPLE: Final = 16  # texts that show which embedder a memory has
PIECE: Final = 50_000
"""Episodes after which an index that is being made is saved as far as it is."""

_ATTEMPTS: Final = 3  # to bring the index up to date while others write


class RecordVectors:
    """The vectors in a store, as a cache of an embedder. A :class:`~worldthread.models.cached.VectorCache`.

    To embed a text takes a while, and it may be forgotten meanwhile; a vector gives much of its text back. So vectors
    are stored in :meth:`read_from` alone, and only if nothing was forgotten since its beginning.

    Args:
        store: holds the vectors.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known = threading.local()

    @contextmanager
    def read_from(self, known: KnownRecord) -> Iterator[None]:
        """Let this thread store the vectors of texts that it has read from the record.

        Args:
            known: what the record held when it read them.
        """
        outer, self._known.record = getattr(self._known, "record", None), known
        try:
            yield
        finally:
            self._known.record = outer

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Look up vectors; see :meth:`worldthread.models.cached.VectorCache.get_vectors`."""
        return self._store.get_vectors(model, texts)

    def put_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors; see :meth:`worldthread.models.cached.VectorCache.put_vectors`."""
        known = getattr(self._known, "record", None)
        if known is not None:
            self._store.put_vectors(model, texts, vectors, known=known)


class MemoryIndex:
    """Builds the index when it is first needed. Thread-safe.

    Args:
        store: holds the record, the vectors and the saved index.
        models: provides the embedder.
        vectors: says where vectors are searched.
    """

    def __init__(self, store: Store, models: MemoryModels, vectors: MemoryVectors) -> None:
        self._store = store
        self._models = models
        self._vectors = vectors
        self._stored_vectors = RecordVectors(store)
        self._index: RetrievalIndex | None = None
        self._embedding = threading.RLock()
        self._turns = 0  # how often somebody embedded
        self.progress: Progress | None = None
        """Called while a question waits for vectors: see :meth:`worldthread.Memory.watch_indexing`."""
        self._new_texts = False

    @cached_property
    def embedder(self) -> CachedEmbedder:
        """The embedder of the memory; it keeps its vectors in the store."""
        return self._models.embedder(self._stored_vectors, self._known_embedders)

    def _known_embedders(self) -> set[str]:
        """Return the names of the embedders that have vectors of the whole memory, judged by a sample of its texts."""
        with self._store.read_lock() as graph:
            count = len(graph.episode_numbers)
            sample = range(0, count, max(1, count // _SAMPLE))
            ids = [record.id for number in sample if (record := graph.numbered_episode(number)) is not None]
            return self._store.vector_models(self._store.texts(ids))

    def embed(self, episodes: Iterable[Episode]) -> None:
        """Compute the vectors of new episodes now, so that the first question does not wait for them."""
        texts, known = self._recorded_texts(episodes)
        if texts:
            self._new_texts = True
            with self._stored_vectors.read_from(known):
                self.embedder.embed(texts)
            self.follow()

    def keep(self, vectors: Mapping[str, NDArray[np.floating[Any]]], episodes: Iterable[Episode]) -> None:
        """Store the vectors of new episodes that the same embedder computed elsewhere; compute those that lack one."""
        texts, known = self._recorded_texts(episodes)
        stored = self._store.get_vectors(self.embedder.name, texts)
        new = [text for text in texts if text in vectors and text not in stored]
        if new:
            self._new_texts = True
            with suppress(StoreError):  # as the embedder of the memory does: they are computed again later
                rows = np.stack([vectors[text] for text in new]).astype(np.float32)
                self._store.put_vectors(self.embedder.name, new, rows, known=known)
        missing = [text for text in texts if text not in vectors and text not in stored]
        if missing:
            self._new_texts = True
            with self._stored_vectors.read_from(known):
                self.embedder.embed(missing)
        if texts:
            self.follow()

    def _recorded_texts(self, episodes: Iterable[Episode]) -> tuple[list[str], KnownRecord]:
        """Return what is embedded of those episodes that are on record as they are, and what the record holds."""
        with self._store.read_lock() as graph:
            recorded = [e for e in episodes if e.id in graph and self._store.episode(e.id) == e]
            texts = (text for e in recorded for text in (e.text, *map(str, e.extraction.statements)))
            return list(dict.fromkeys(texts)), KnownRecord.of(graph)

    def follow(self) -> None:
        """Bring the store of vectors, if the memory has one, in line with the record.

        Raises:
            StoreError: it cannot be read or written; the record is as it should be, and the next use goes on.
        """
        if self._vectors.address is not None and self._vectors.writes and not self._store.is_read_by_this_thread():
            with self.current():
                pass

    def reembed(self, progress: bool | Progress | None) -> int:
        """Embed everything that has no vector of this embedder yet, then remove the vectors of all others.

        Each batch is stored as soon as it is computed.

        Args:
            progress: see :func:`~worldthread.support.progress.show_progress`.

        Returns:
            How many texts were embedded.
        """
        name, embedded, passed = self.embedder.name, 0, 0
        texts, known = self._texts()
        with show_progress(progress, "embedding", len(texts)) as advance:
            start = 0
            while start < len(texts):
                batch = texts[start : start + _BATCH]
                stored = self._store.get_vectors(name, batch)
                missing = [text for text in batch if text not in stored]
                if missing:
                    # not through the cache, which goes on without a word when a vector cannot be stored
                    self._store.put_vectors(name, missing, self.embedder.compute(missing), known=known)
                    self._new_texts = True
                    with self._store.read_lock() as graph:
                        if not known.lacks_nothing_in(graph):  # nothing was stored, and some texts may be gone
                            texts, known = self._texts()
                            start = 0
                            continue
                embedded += len(missing)
                start += len(batch)
                advance(max(0, start - passed))
                passed = max(passed, start)
        if self._vectors.address is not None:
            self.follow()
            for other, dimensions in self._other_embedders(texts).items():
                self._vectors.drop(other, dimensions)
        self._store.clear_vectors(keep=name)
        return embedded

    def _other_embedders(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the length of the vectors of every other embedder that has some of a sample of the texts."""
        found: dict[str, int] = {}
        for text in texts[:: max(1, len(texts) // _SAMPLE)]:
            for name in self._store.vector_models([text]) - {self.embedder.name, *found}:
                for vector in self._store.get_vectors(name, [text]).values():
                    found[name] = len(vector)
        return found

    def _texts(self) -> tuple[list[str], KnownRecord]:
        """Return every text that the index embeds, each once, and what the record holds."""
        with self._store.read_lock() as graph:
            numbers = sorted(graph.live_episodes)
            ids = [record.id for number in numbers if (record := graph.numbered_episode(number)) is not None]
            texts = dict.fromkeys(graph.shown_statements(np.arange(len(graph.statement_numbers))).texts)
            return list(texts | dict.fromkeys(self._store.texts(ids))), KnownRecord.of(graph)

    @contextmanager
    def current(self) -> Iterator[RetrievalIndex]:
        """Lock the memory against changes and yield the index, up to date.

        Yields:
            The index; the block must not change the memory.
        """
        attempts = done = 0
        while attempts < _ATTEMPTS:
            with self._store.read_lock() as graph:
                index, pending, known, left = self._taken(graph)
                if not pending and not index.is_behind:
                    yield index
                    return
            attempts += not index.is_behind
            with self._turn_to_embed() as is_late:
                if is_late:  # another thread may have embedded the same texts
                    with self._store.read_lock() as graph:
                        index, pending, known, left = self._taken(graph)
                total = done + sum(len(part.texts) for part in pending) + left
                for part in pending:
                    if self.progress is not None:
                        self.progress(done, total)
                    with self._stored_vectors.read_from(known):
                        vectors = self.embedder.embed(part.texts)
                    with self._store.read_lock() as graph:
                        if not known.lacks_nothing_in(graph):
                            break  # a part may hold what was forgotten meanwhile
                        index.put(part, vectors)
                    done += len(part.texts)
            if index.is_behind:
                self._save_piece(index)
        with self._store.read_lock() as graph:  # others write faster than we embed: their last episodes lack vectors
            index = self._loaded(graph)
            index.take(graph, self._store.texts)
            yield index

    def _taken(self, graph: TemporalGraph) -> tuple[RetrievalIndex, list[PendingVectors], KnownRecord, int]:
        """Return the index with another piece of a graph, what of it to embed, what was known, and how much is left."""
        index = self._loaded(graph)
        return index, index.take(graph, self._store.texts, PIECE), KnownRecord.of(graph), index.left

    def _loaded(self, graph: TemporalGraph) -> RetrievalIndex:
        """Return the index, first as it was saved. The caller holds the lock of the store."""
        from worldthread.retrieve import RetrievalIndex

        if self._index is None:
            index = RetrievalIndex(self.embedder, self._tables())
            if pieces := self._saved_pieces():
                index.restore(graph, *pieces)
            self._index = index
        return self._index

    def _tables(self) -> VectorTables | None:
        if self._vectors.address is None:
            return None
        from worldthread.retrieve.index import VectorTables

        episodes, statements = self._vectors.open(self.embedder, self.embedder.name)
        return VectorTables(episodes, statements, self._vectors.writes)

    @contextmanager
    def _turn_to_embed(self) -> Iterator[bool]:
        """Let one thread embed at a time, so that none does what another is doing.

        Yields:
            Whether another thread had its turn meanwhile.
        """
        if self._store.is_read_by_this_thread():
            yield False
            return
        turns = self._turns
        with self._embedding:
            try:
                yield self._turns != turns
            finally:
                self._turns += 1

    def warm_up(self) -> None:
        """Load the saved index and the embedder; see :meth:`worldthread.Memory.warm_up`."""
        from worldthread.models import EMBEDDERS

        with self._store.read_lock() as graph:
            self._loaded(graph)
        kind = type(self.embedder.inner)
        # any other embedder may ask a server for it, and cost money
        if f"{kind.__module__}:{kind.__qualname__}" in EMBEDDERS.values():
            self.embedder.embed_queries(["ready?"])

    def checkpoint(self) -> None:
        """Save the index if it is in use, holds something, and the memory has a file."""
        if self._index is not None and self._keeps_indexes and self._store.graph.episode_numbers:
            self._save()

    @property
    def _keeps_indexes(self) -> bool:
        return self._store.keeps_indexes and self._vectors.address is None

    def close(self) -> None:
        """Save the index when texts were added and it pays."""
        try:
            if self._new_texts:
                self._new_texts = False
                with suppress(ClosedError):  # somebody else has closed the store, and with it what could be saved
                    self._save_if_worth_it()
        finally:
            self._vectors.close()

    def _save_if_worth_it(self) -> None:
        graph = self._store.graph
        size = len(graph) + len(graph.statement_numbers)
        if not self._keeps_indexes or size < _WORTH_SAVING:
            return
        if self._index is None:
            saved = self._saved_pieces()
            unsaved = size - sum(len(piece["episodes"]) + len(piece["statements"]) for piece in saved)
        else:
            unsaved = self._index.unsaved
        if unsaved > max(_WORTH_SAVING, min(size // 5, PIECE)):
            self._save()

    def _save(self) -> None:
        with self.current() as index:
            graph = self._store.graph
            number, arrays, numbering = *_what_to_write(index), graph.numbering
        # without the lock, which nobody may hold who waits to write
        self._write(index, number, arrays, graph, numbering)

    def _save_piece(self, index: RetrievalIndex) -> None:
        """Save an index that is being made, as far as it is."""
        if not self._keeps_indexes or self._store.readonly or self._store.is_read_by_this_thread():
            return
        self._new_texts = True
        with self._store.read_lock() as graph:
            if not index.is_of(graph):
                return
            number, arrays, numbering = *_what_to_write(index), graph.numbering
        with suppress(StoreError):  # nothing is lost but time
            self._write(index, number, arrays, graph, numbering)

    def _write(
        self,
        index: RetrievalIndex,
        number: int,
        arrays: Mapping[str, NDArray[Any]],
        graph: TemporalGraph,
        numbering: int,
    ) -> None:
        """Write a piece of an index."""
        is_written = False
        try:
            is_written = self._store.save_index(self._piece_name(number), arrays, graph, numbering)
        finally:
            if not is_written:
                index.forget_kept()  # a piece that follows one that is not there would be lost

    def _piece_name(self, number: int) -> str:
        return f"{self.embedder.name}{PIECE_MARK}{number}" if number else self.embedder.name

    def _saved_pieces(self) -> list[Mapping[str, NDArray[Any]]]:
        """Return the pieces of the index that was saved; none where it is not kept."""
        from worldthread.retrieve.pieces import follows

        found: list[Mapping[str, NDArray[Any]]] = []
        while self._vectors.address is None:
            piece = self._store.load_index(self._piece_name(len(found)))
            if piece is None or (found and not follows(piece, found[-1])):
                break
            found.append(piece)
        return found


def _what_to_write(index: RetrievalIndex) -> tuple[int, Mapping[str, NDArray[Any]]]:
    """Return the number of the next piece of an index and its arrays; 0 for the first, which holds the whole."""
    return index.piece_to_arrays() or (0, index.to_arrays())

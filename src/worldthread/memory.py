"""A memory: the record of what was seen, and the graph of it. Wiring only; the work is done by what it holds."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Self, TypeAlias

from worldthread.errors import BudgetError, InputError, ModelError, NotFoundError, ReplayError
from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.cached import CachedEmbedder, VectorCache
from worldthread.names import normalise_name, normalise_text, number_variants
from worldthread.progress import Progress, shown
from worldthread.stores import DEFAULT_NAMESPACE, Durability, ImportCounts, SQLiteStore, Store
from worldthread.types import KINDS, Episode, Kind, Reading, Recall, Statement, Version

if TYPE_CHECKING:
    from worldthread.extract.base import TextReader
    from worldthread.extract.documents import Document
    from worldthread.extract.pipeline import Outcome, Passage
    from worldthread.models import Embedder
    from worldthread.models.chat import ChatModel
    from worldthread.qa.answer import Answer
    from worldthread.retrieve import Corpus

Moment: TypeAlias = float | int | datetime | date | str
"""A world time: a number as it is, a date or time as seconds since 1970-01-01 UTC, or either as a text (ISO 8601)."""

Content: TypeAlias = "str | Document | Episode | Iterable[Statement | tuple[str, str, str] | Mapping[str, Any]]"
"""What can be remembered: a text, a document, messages of a conversation, or statements that are known already."""

_BATCH: Final = 64  # passages that are read and embedded together
_INDEX_PAYS: Final = 2000  # episodes and statements from which on reading an index is quicker than making it
_TRIES: Final = 3  # to bring the index up to date while others write


@dataclass(frozen=True)
class Remembered:
    """What became of a text.

    Args:
        episodes: ids of its episodes, in the order of the text, those that were known included.
        added: how many of them are new.
        known: how many were recorded before, and were left alone.
        unread: how many of the new ones could not be read: they are kept, found by their text, and read by
            :meth:`Memory.retry`.
        problems: why, each reason once.
    """

    episodes: tuple[str, ...] = ()
    added: int = 0
    known: int = 0
    unread: int = 0
    problems: tuple[str, ...] = ()

    def __add__(self, other: Remembered) -> Remembered:
        return Remembered(
            self.episodes + other.episodes,
            self.added + other.added,
            self.known + other.known,
            self.unread + other.unread,
            tuple(dict.fromkeys(self.problems + other.problems)),
        )


class Memory:
    """What was seen, in one file or in RAM.

    ::

        with Memory("home.worldthread") as memory:
            memory.remember("Anna lives in Rome.", at="2023-05-01")
            memory.remember("Anna lives in Paris.", at="2024-03-01")
            print(memory.recall("Where does Anna live?").text)

    May be used from several threads; while others write, read the graph and its views inside
    ``with memory.reading() as graph``. Every call raises :class:`~worldthread.errors.ClosedError` after
    :meth:`close`, and :class:`~worldthread.errors.StoreError` with the reason when the file cannot be read or written.

    Args:
        path: the file, made when it does not exist; ``None`` for a memory in RAM, gone when it is closed.
        namespace: which memory of the file. Memories of one file never see each other.
        readonly: never write. Any number of readers may stand beside the one writer, and follow it.
        durability: what an acknowledged change survives. ``"normal"``: the end of the process by any means; a loss of
            power can take the last changes with it, never the file. ``"full"``: that too, at one ``fsync`` a change.
        wait: seconds to wait for another writer; ``math.inf`` for as long as it takes.
        clock: the time, in seconds since 1970-01-01 UTC: the recorded time of what is written, and the world time of
            what is remembered without one.
        model: a chat model, or the name of one, see :func:`worldthread.models.chat_model`. ``None`` takes
            ``$WORLDTHREAD_MODEL``, or does without; ``"none"`` does without whatever is set.
        reader: turns text into statements. ``None``: the model does, or rules when there is none.
        embedder: the name of an embedder, or one. ``None`` takes ``$WORLDTHREAD_EMBEDDER``, or MiniLM.

    Raises:
        InputError: an argument cannot be used.
        ForeignFileError, DamagedFileError, FileVersionError: the file was left as it was.
        StoreLockedError: another writer did not finish in time.
        StoreError: the file cannot be opened; the message says why.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        readonly: bool = False,
        durability: Durability = "normal",
        wait: float = 0.0,
        clock: Callable[[], float] = time.time,
        model: ChatModel | str | None = None,
        reader: TextReader | None = None,
        embedder: Embedder | str | None = None,
    ) -> None:
        if isinstance(model, str) and not model.strip():
            raise InputError('the name of a model must not be empty; "none" does without one')
        self._clock = clock
        self._model_given, self._reader_given, self._embedder_given = model, reader, embedder
        self._use(
            SQLiteStore.open(
                path, namespace=namespace, readonly=readonly, durability=durability, wait=wait, clock=clock
            )
        )

    def _use(self, store: Store) -> None:
        self._store = store
        self._index: Corpus | None = None
        self._index_lock = threading.RLock()
        self._remembered = 0  # texts embedded since opening

    def open_namespace(self, namespace: str) -> Memory:
        """Another memory of the same file. Each is closed on its own; the file, with the last of them.

        Raises:
            InputError: the name is empty or not valid Unicode.
        """
        memory = object.__new__(type(self))
        memory._clock = self._clock
        memory._model_given, memory._reader_given = self._model_given, self._reader_given
        memory._embedder_given = self._embedder_given
        memory._use(self._store.open_namespace(namespace))
        return memory

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for a memory in RAM."""
        return self._store.path

    @property
    def namespace(self) -> str:
        """Which memory of the file."""
        return self._store.namespace

    @property
    def readonly(self) -> bool:
        """Whether it was opened for reading only."""
        return self._store.readonly

    # -- the record -------------------------------------------------------------------------------------------------

    def add(self, episode: Episode) -> Episode:
        """Record an episode durably: the episode with its recorded time. See :meth:`Store.append`.

        Raises:
            InputError: not an episode, or one that is recorded with another reading.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.append(episode)

    def add_many(self, episodes: Iterable[Episode]) -> int:
        """Record many, all or nothing: how many were new. See :meth:`Store.append_many`.

        Raises:
            InputError: as for :meth:`add`.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.append_many(episodes)

    def replace(self, episode: Episode) -> Episode:
        """Give a recorded episode a new reading: the episode as it is now recorded.

        Raises:
            NotFoundError: no such episode.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.replace(episode)

    def forget(self, episode: Episode | str | None = None, *, entity: str | None = None) -> int:
        """Remove an episode, or all that speak of an entity, as if they had never happened: how many.

        Their texts and all that came from them alone are gone; what is overwritten, and when, is described at
        :meth:`Store.forget`.

        Args:
            episode: an episode or its id.
            entity: a name. Every episode goes that states something about it, or names it anywhere in its text.

        Raises:
            InputError: neither or both are given.
            NotFoundError: no such episode, or none speaks of the entity.
            ReadOnlyError: the memory was opened for reading.
        """
        if (episode is None) == (entity is None):
            raise InputError("forget takes an episode, or entity=..., and not both")
        if entity is not None:
            ids = self.episodes_about(entity)
            if not ids:
                raise NotFoundError(f"no episode speaks of {entity!r}")
        else:
            ids = [episode.id if isinstance(episode, Episode) else str(episode)]
        for id_ in ids:
            self._store.forget(id_)
        return len(ids)

    def episodes_about(self, entity: str) -> list[str]:
        """Ids of the episodes that state something about an entity or name it in their text; in fold order."""
        named = re.compile(rf"(?<!\w){re.escape(normalise_name(entity))}(?!\w)")
        with self.reading() as graph:
            stating = {
                source for key in self._keys_of(entity) for v in graph.view().timeline(key) for source in v.sources
            }
            return [e.id for e in self._store.episodes() if e.id in stating or named.search(normalise_text(e.text))]

    def episode(self, episode_id: str) -> Episode:
        """An episode with its text and its reading.

        Raises:
            NotFoundError: no such episode.
        """
        return self._store.episode(episode_id)

    def episodes(self) -> Iterator[Episode]:
        """The episodes in fold order (world time, then id)."""
        return self._store.episodes()

    # -- remembering ------------------------------------------------------------------------------------------------

    def remember(self, content: Content, at: Moment | None = None, source: str | None = None) -> Remembered:
        """Record a text, a conversation or plain statements, and what they state.

        Text is cut by its structure into passages; each becomes an episode, durably recorded when this returns. What a
        model cannot read is recorded too, as not read (see :meth:`retry`). What is recorded already is left alone.

        Args:
            content: a text; a document; an episode; statements (facts, theses or triples of strings), recorded
                together; or messages: mappings with ``content`` (or ``text``), ``role`` (or ``speaker``, ``name``) and
                perhaps ``at``, an episode each. Messages without times stand a millisecond apart, the last at ``at``.
            at: world time; ``None`` for now by the clock. See :data:`Moment`.
            source: where it comes from; part of an episode's identity.

        Raises:
            InputError: this cannot be remembered; the message says why.
            ReadOnlyError: the memory was opened for reading.
        """
        return self.remember_many([content], at=at, source=source, progress=False)

    def remember_many(
        self,
        contents: Iterable[Content],
        at: Moment | None = None,
        source: str | None = None,
        *,
        progress: bool | Progress | None = None,
    ) -> Remembered:
        """Record many, in batches, with several calls to the model at once.

        Every batch is recorded as soon as it is read: what an error or a kill interrupts is kept, and remembering the
        same again, at the same times, goes on from there.

        Args:
            contents: what :meth:`remember` takes, each.
            at: world time of those that bring none; documents of one source are put a microsecond apart, and so are
                the passages of a text.
            source: source of those that bring none.
            progress: of passages. ``True`` shows a bar on standard error, a function is called instead; ``None`` shows
                a bar when standard error is a terminal.

        Raises:
            InputError: something cannot be remembered. Nothing of a sequence is recorded then; of an iterator, what
                came before it.
            ReadOnlyError: the memory was opened for reading.
        """
        from worldthread.extract.intake import Intake
        from worldthread.extract.when import world_time

        intake = Intake(world_time(at, self._clock()), source or "")
        taken: Iterator[Episode | list[Passage]] = map(intake.take, contents)
        total = None
        if isinstance(contents, Sequence):
            everything = list(taken)
            taken, total = iter(everything), sum(1 if isinstance(t, Episode) else len(t) for t in everything)
        result = Remembered()
        batch: list[Passage] = []
        with shown(progress, "remembering", total) as advance:
            for some in taken:
                if isinstance(some, Episode):
                    result += self._record(some)
                    advance(1)
                    continue
                batch += some
                while len(batch) >= _BATCH:
                    result += self._read_and_record(batch[:_BATCH], self.reader)
                    del batch[:_BATCH]
                    advance(_BATCH)
            result += self._read_and_record(batch, self.reader)
            advance(len(batch))
        return result

    def retry(self, *, progress: bool | Progress | None = None) -> Remembered:
        """Read what was not read, or not wholly: after a failure of the model, or with a better one.

        Returns:
            the episodes that were tried; ``added`` are those that are read now.

        Raises:
            ReadOnlyError: the memory was opened for reading.
        """
        from worldthread.extract.pipeline import Passage

        waiting = self.unread()
        reader = self._reader(fresh=True)
        result = Remembered()
        with shown(progress, "reading", len(waiting)) as advance:
            for start in range(0, len(waiting), _BATCH):
                batch = waiting[start : start + _BATCH]
                passages = [Passage(e.text, e.at, e.source) for e in batch]
                result += self._read_and_record(passages, reader, again=True)
                advance(len(batch))
        return result

    def _record(self, episode: Episode) -> Remembered:
        """Record one episode with the reading that it brings."""
        is_known = episode.id in self.graph
        self._store.append(episode)
        self._embed([episode])
        return Remembered((episode.id,), added=not is_known, known=is_known)

    def _read_and_record(self, passages: Sequence[Passage], reader: TextReader, *, again: bool = False) -> Remembered:
        from worldthread.extract.pipeline import read

        self._store.require_writable()
        ids = [Episode(p.text, p.at, p.source).id for p in passages]
        graph = self.graph
        fresh = {id_: p for id_, p in zip(ids, passages, strict=True) if again or id_ not in graph}
        outcomes = list(read(reader, list(fresh.values())))
        episodes = [self._settled(o, reader, again) for o in sorted(outcomes, key=lambda o: o.passage.at)]
        self._embed(episodes)
        problems = [str(o.problem) for o in outcomes if o.problem]
        problems += [failure for episode in episodes for failure in episode.reading.failures]
        unread = sum(1 for episode in episodes if not episode.reading.is_complete)
        added = len(episodes) - unread if again else len(episodes)
        return Remembered(
            tuple(dict.fromkeys(ids)), added, len(set(ids)) - len(fresh), unread, tuple(dict.fromkeys(problems))
        )

    def _settled(self, outcome: Outcome, reader: TextReader, again: bool) -> Episode:
        """Record what came of a passage, after asking the reader what older statements it ends."""
        passage, reading = outcome.passage, outcome.reading
        if outcome.problem is None and not reading.failures:
            try:
                reading = reader.outdate(passage.text, reading, self.view())
            except ReplayError:
                raise
            except BudgetError:
                reading = Reading()
            except ModelError as error:
                reading = Reading(failures=(str(error),))
        episode = Episode(passage.text, passage.at, passage.source, reading)
        if not again:
            return self._store.append(episode)
        if isinstance(outcome.problem, BudgetError):  # it was not tried: what is recorded of it stays
            return self._store.episode(episode.id)
        return self._store.replace(episode)

    def _embed(self, episodes: Iterable[Episode]) -> None:
        """Compute vectors now, so that the first question need not wait for them."""
        texts = [t for e in episodes for t in (e.text, *map(str, e.reading.statements))]
        if texts:
            self._remembered += len(texts)
            self._embedder.embed(list(dict.fromkeys(texts)))

    # -- recalling --------------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        *,
        k: int = 5,
        as_of: Moment | None = None,
        kinds: Collection[Kind] = KINDS,
        method: str | None = None,
        only_current: bool = True,
        max_tokens: int = 1000,
    ) -> Recall:
        """What matters for a question: facts, theses and episodes, with scores and paths.

        Args:
            query: a question, or anything in words.
            k: how many of each kind at most.
            as_of: a moment of world time (:data:`Moment`): what held then, from episodes up to then. ``None`` for now.
            kinds: which of ``"fact"``, ``"thesis"`` and ``"episode"``.
            method: a key of :data:`worldthread.retrieve.METHODS`; ``None`` for the default.
            only_current: leave out statements that do not hold at that moment, and episodes of which nothing does.
            max_tokens: limit of :attr:`Recall.text`, by an estimate that errs on the safe side.

        Raises:
            InputError: an argument cannot be used.
        """
        from worldthread.extract.when import world_time
        from worldthread.retrieve import DEFAULT_METHOD
        from worldthread.retrieve.search import search
        from worldthread.retrieve.text import hits_as_text

        _require_query(query, k, kinds, max_tokens)
        at = None if as_of is None else world_time(as_of, 0.0)
        method = method or DEFAULT_METHOD
        vector = self._plain_embedder.embed([query])[0]  # questions leave no trace in the file
        with self._index_lock, self._indexed() as corpus:
            hits = search(
                corpus, query, vector,
                method=method, k=k, kinds=kinds, at=at, only_current=only_current, episode_of=self._store.episode,
            )  # fmt: skip
        return Recall(query, hits, hits_as_text(hits, max_tokens), method, at)

    def ask(
        self,
        question: str,
        *,
        k: int = 10,
        as_of: Moment | None = None,
        method: str | None = None,
        max_tokens: int = 3000,
    ) -> Answer:
        """Answer a question from what is remembered, with its sources, or say that there is not enough information.

        Without a model the answer is the statement that fits best.

        Args:
            question: in words.
            k: how many hits of each kind the answer may rest on.
            as_of: see :meth:`recall`.
            method: see :meth:`recall`.
            max_tokens: what the statements may take of the prompt.

        Raises:
            InputError: an argument cannot be used.
            AnswerError: the model's answer could not be used.
            ModelError: the model could not be asked.
        """
        from worldthread.qa.answer import answer

        recalled = self.recall(question, k=k, as_of=as_of, method=method, max_tokens=max_tokens)
        return answer(recalled, self.model, max_tokens=max_tokens)

    def about(self, entity: str, *, as_of: Moment | None = None) -> list[Version]:
        """What holds about an entity now, or held at a moment: statements with their times and sources, in fixed order.

        Singular and plural of the name are tried when it is not known as written.
        """
        from worldthread.extract.when import world_time

        at = None if as_of is None else world_time(as_of, 0.0)
        with self.reading() as graph:
            view = graph.view(at)
            found = (v for key in self._keys_of(entity) for s in view.about(key) for v in graph.versions(s))
            return [v for v in found if (v.interval.is_open if at is None else at in v.interval)]

    def timeline(self, entity: str) -> list[Version]:
        """Everything that ever held about an entity, in order of time, with sources and reasons."""
        with self.reading() as graph:
            return [version for key in self._keys_of(entity) for version in graph.view().timeline(key)]

    def entities(self, prefix: str = "") -> list[str]:
        """Normalised names of everything that statements speak of and whose name begins with ``prefix``; sorted."""
        start = normalise_name(prefix) if prefix.strip() else ""
        with self.reading() as graph:
            return [name for name in graph.objects() if name.startswith(start)]

    def unread(self) -> list[Episode]:
        """The episodes that nobody has read, or not wholly; what could not be understood is in their readings."""
        with self.reading() as graph:
            return [self._store.episode(id_) for id_ in graph.unread()]

    def _keys_of(self, entity: str) -> list[str]:
        """Names under which something is known about an entity: the very one, else those of another number."""
        if not entity.strip():
            raise InputError("the name of an entity must not be empty")
        key = normalise_name(entity)
        view = self.graph.view()
        if view.timeline(key):
            return [key]
        return [variant for variant in sorted(number_variants(key)) if view.timeline(variant)]

    # -- what helps -------------------------------------------------------------------------------------------------

    @cached_property
    def model(self) -> ChatModel | None:
        """The chat model in use; ``None`` without one.

        Raises:
            ModelConfigError: no such model can be reached as configured.
        """
        if self._model_given is None or isinstance(self._model_given, str):
            from worldthread.models import chat_model

            return chat_model(self._model_given)
        return self._model_given

    @cached_property
    def reader(self) -> TextReader:
        """What turns text into statements."""
        return self._reader()

    def _reader(self, *, fresh: bool = False) -> TextReader:
        """A reader; a ``fresh`` one asks the model even where an answer is in the cache."""
        if self._reader_given is not None:
            return self._reader_given
        model = self.model
        if model is not None:
            from worldthread.extract.model import ModelReader
            from worldthread.models import ConfiguredChat

            return ModelReader(model.without_cache() if fresh and isinstance(model, ConfiguredChat) else model)
        from worldthread.extract.prose import ProseReader

        return ProseReader()

    @cached_property
    def _plain_embedder(self) -> Embedder:
        given = self._embedder_given
        if given is None or isinstance(given, str):
            from worldthread.models import embedder

            return embedder(given)
        return given

    @cached_property
    def _embedder(self) -> Embedder:
        return CachedEmbedder(self._plain_embedder, self._store)

    @contextmanager
    def _indexed(self) -> Iterator[Corpus]:
        """The index, up to date, while nobody can change the graph."""
        from worldthread.retrieve import Corpus

        if self._index is None:
            self._index = Corpus(self._embedder)
            with self.reading() as graph:
                kept = self._store.load_index(self._embedder.name)
                if kept is not None:
                    self._index.restore(graph, kept)
        corpus = self._index
        for _ in range(_TRIES):
            with self.reading() as graph:
                pending = corpus.take(graph, self._texts)
                if not pending:
                    yield corpus
                    return
            for part in pending:
                corpus.put(part, self._embedder.embed(part.texts))
        with self.reading() as graph:  # others write faster than we embed: their last episodes have no vectors yet
            corpus.take(graph, self._texts)
            yield corpus

    def _texts(self, ids: Sequence[str]) -> list[str]:
        return [self._store.episode(id_).text for id_ in ids]

    # -- the same, while a model is waited for ----------------------------------------------------------------------

    async def aremember(self, content: Content, at: Moment | None = None, source: str | None = None) -> Remembered:
        """:meth:`remember` on a thread of its own."""
        return await asyncio.to_thread(self.remember, content, at, source)

    async def aremember_many(
        self,
        contents: Iterable[Content],
        at: Moment | None = None,
        source: str | None = None,
        *,
        progress: bool | Progress | None = None,
    ) -> Remembered:
        """:meth:`remember_many` on a thread of its own."""
        return await asyncio.to_thread(self.remember_many, contents, at, source, progress=progress)

    async def aretry(self, *, progress: bool | Progress | None = None) -> Remembered:
        """:meth:`retry` on a thread of its own."""
        return await asyncio.to_thread(self.retry, progress=progress)

    async def arecall(self, query: str, **options: Any) -> Recall:
        """:meth:`recall` on a thread of its own."""
        return await asyncio.to_thread(self.recall, query, **options)

    async def aask(self, question: str, **options: Any) -> Answer:
        """:meth:`ask` on a thread of its own."""
        return await asyncio.to_thread(self.ask, question, **options)

    # -- the graph --------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> TemporalGraph:
        """The graph, up to date and live. Not to be changed."""
        return self._store.graph

    def reading(self) -> AbstractContextManager[TemporalGraph]:
        """The graph and the record as at one moment: nobody can change them until the block ends, nor can the block."""
        return self._store.reading()

    def view(self, at: float | None = None) -> GraphView:
        """What holds now, or held at world time ``at``; live."""
        return self.graph.view(at)

    def as_of(self, world_time: float | None = None, recorded_time: float | None = None) -> GraphView:
        """What held when only the episodes up to a world time and up to a recorded time (both inclusive) were known."""
        with self.reading() as graph:
            return graph.as_of(world_time, recorded_time).view()

    def state_hash(self) -> str:
        """64 hexadecimal digits, equal exactly when the episodes and all that follows from them are."""
        with self.reading() as graph:
            return graph.state_hash()

    def refresh(self) -> bool:
        """Take in what another process wrote: whether there was anything. Every other call does so too."""
        return self._store.refresh()

    # -- care -------------------------------------------------------------------------------------------------------

    @property
    def vectors(self) -> VectorCache:
        """Keeps vectors by model and text, in the file."""
        return self._store

    def stats(self) -> dict[str, int]:
        """Numbers of episodes, facts, theses (ever stated, and holding now), ended versions and vectors."""
        return self._store.stats()

    def export(self, target: str | Path | IO[bytes] | IO[str]) -> int:
        """Write every episode as JSON Lines to a file or a stream: how many. See :meth:`Store.export`.

        Raises:
            StoreError: the file cannot be written.
        """
        return self._store.export(target)

    def import_(self, source: str | Path | IO[bytes] | IO[str]) -> ImportCounts:
        """Record every episode of an export, all or nothing: how many were new, and how many were known.

        Raises:
            FormatError: a line is not what it should be; the message says which.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.import_(source)

    def checkpoint(self) -> None:
        """Write a snapshot for quick opening, give back space, empty the log. :meth:`close` does of this what pays.

        Raises:
            ReadOnlyError: the memory was opened for reading.
        """
        self._store.checkpoint()

    def close(self) -> None:
        """Release the file. May be called again.

        After much was remembered, the index is kept beside the file, so that the next process need not make it again.
        """
        try:
            if self._remembered:
                self._remembered = 0
                self._keep_index()
        finally:
            self._store.close()

    def _keep_index(self) -> None:
        """Write the index down when it pays."""
        counts = self._store.graph.counts()
        size = counts["episodes"] + counts["facts"] + counts["theses"]
        if self.path is None or size < _INDEX_PAYS:
            return
        name = self._embedder.name
        if self._index is None:
            kept = self._store.load_index(name)
            unsaved = size - (len(kept["episodes"]) + len(kept["statements"]) if kept is not None else 0)
        else:
            unsaved = self._index.unsaved
        if unsaved > max(_INDEX_PAYS, size // 5):
            with self._index_lock, self._indexed() as corpus:
                arrays = corpus.to_arrays()
            self._store.save_index(name, arrays)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _require_query(query: object, k: object, kinds: Collection[str], max_tokens: object) -> None:
    if not isinstance(query, str) or not query.strip():
        raise InputError("a question must be a text that is not empty")
    for name, value in (("k", k), ("max_tokens", max_tokens)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or isinstance(kinds, str):
        raise InputError(f"kinds must be some of {', '.join(KINDS)}, not {kinds!r}")

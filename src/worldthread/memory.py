"""A memory: the record of what was seen, and the graph of it. Wiring only; the work is done by what it holds."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar

from worldthread.arguments import (
    require_able,
    require_asked,
    require_count,
    require_many,
    require_some,
    require_string,
    require_unicode,
)
from worldthread.errors import BudgetError, InputError, ModelError, NotFoundError, ReplayError
from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.cached import CachedEmbedder, VectorCache
from worldthread.names import normalise_name, normalise_text, number_variants
from worldthread.progress import Progress, shown
from worldthread.stores import DEFAULT_NAMESPACE, Durability, ImportCounts, SQLiteStore, Store
from worldthread.types import KINDS, Episode, Extraction, Kind, Recall, Statement, Version

if TYPE_CHECKING:
    from worldthread.answer import Answer
    from worldthread.extract.base import Extractor
    from worldthread.extract.documents import Document
    from worldthread.extract.pipeline import ExtractionOutcome
    from worldthread.models import ConfiguredChat, Embedder
    from worldthread.models.chat import ChatModel
    from worldthread.retrieve import RetrievalIndex

TimeLike: TypeAlias = float | int | datetime | date | str
"""A world time: a number as it is, a date or time as seconds since 1970-01-01 UTC, or either as a text (ISO 8601)."""

Content: TypeAlias = "str | Document | Episode | Iterable[Statement | tuple[str, str, str] | Mapping[str, Any]]"
"""What can be remembered: a text, a document, messages of a conversation, or statements that are known already."""

_Item = TypeVar("_Item")

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
    ``with memory.read_lock() as graph``. Every call raises :class:`~worldthread.errors.ClosedError` after
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
        ModelConfigError: the model that is named cannot be reached as configured; no file was made.
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
        extractor: Extractor | None = None,
        embedder: Embedder | str | None = None,
    ) -> None:
        if isinstance(model, str) and not model.strip():
            raise InputError('the name of a model must not be empty; "none" does without one')
        _require_helpers(model, extractor, embedder, clock)
        self._clock = clock
        self._model_given, self._extractor_given, self._embedder_given = model, extractor, embedder
        self._own_model: ConfiguredChat | None = None
        # what is asked for by name is found, or not, before a file is made
        if isinstance(embedder, str):
            _ = self._plain_embedder
        if isinstance(model, str):
            _ = self.model
        try:
            store = SQLiteStore.open(
                path, namespace=namespace, readonly=readonly, durability=durability, wait=wait, clock=clock
            )
        except BaseException:
            self._close_model()
            raise
        self._use(store)

    def _use(self, store: Store) -> None:
        self._store = store
        self._index: RetrievalIndex | None = None
        self._index_lock = threading.RLock()
        self._remembered = 0  # texts embedded since opening

    def open_namespace(self, namespace: str) -> Memory:
        """Another memory of the same file. Each is closed on its own; the file, with the last of them.

        Raises:
            InputError: the name is empty or not valid Unicode.
        """
        memory = object.__new__(type(self))
        memory._clock = self._clock
        memory._model_given, memory._extractor_given = self._model_given, self._extractor_given
        memory._embedder_given, memory._own_model = self._embedder_given, None
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
            ids = [episode.id if isinstance(episode, Episode) else require_unicode(episode, "the id of an episode")]
        for id_ in ids:
            self._store.forget(id_)
        return len(ids)

    def episodes_about(self, entity: str) -> list[str]:
        """Ids of the episodes that state something about an entity or name it in their text; in fold order."""
        require_asked(entity, "the name of an entity")
        named = re.compile(rf"(?<!\w){re.escape(normalise_name(entity))}(?!\w)")
        with self.read_lock() as graph:
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

    def remember(self, content: Content, at: TimeLike | None = None, source: str | None = None) -> Remembered:
        """Record a text, a conversation or plain statements, and what they state.

        Text is cut by its structure into passages; each becomes an episode, durably recorded when this returns. What a
        model cannot read is recorded too, as not read (see :meth:`retry`). What is recorded already is left alone.

        Args:
            content: a text; a document; an episode; statements (facts, theses or triples of strings), recorded
                together; or messages: mappings with ``content`` (or ``text``), ``role`` (or ``speaker``, ``name``) and
                perhaps ``at``, an episode each. Messages without times stand a millisecond apart, the last at ``at``.
                A triple ends older values where a sentence would ("lives in", "has age"); a fact, by its aspect alone.
            at: world time; ``None`` for now by the clock. See :data:`TimeLike`.
            source: where it comes from; part of an episode's identity.

        Raises:
            InputError: this cannot be remembered; the message says why.
            ReadOnlyError: the memory was opened for reading.
        """
        return self.remember_many([content], at=at, source=source, progress=False)

    def remember_many(
        self,
        contents: Iterable[Content],
        at: TimeLike | None = None,
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
        from worldthread.extract.episode_builder import EpisodeBuilder
        from worldthread.extract.when import world_time

        source = "" if source is None else require_string(source, "source")
        intake = EpisodeBuilder(world_time(at, self._clock()), source)
        taken: Iterator[Episode | list[Episode]] = map(intake.build, require_many(contents, "contents"))
        total = None
        errors: list[Exception] = []
        if isinstance(contents, Sequence):
            everything = list(taken)
            taken, total = iter(everything), sum(1 if isinstance(t, Episode) else len(t) for t in everything)
        result = Remembered()
        batch: list[Episode] = []
        with shown(progress, "remembering", total) as advance:
            for some in _until_error(taken, errors):
                if isinstance(some, Episode):
                    result += self._record(some)
                    advance(1)
                    continue
                batch += some
                while len(batch) >= _BATCH:
                    result += self._read_and_record(batch[:_BATCH], self.extractor)
                    del batch[:_BATCH]
                    advance(_BATCH)
            result += self._read_and_record(batch, self.extractor)
            advance(len(batch))
        if errors:
            raise errors[0]
        return result

    def retry(self, *, progress: bool | Progress | None = None) -> Remembered:
        """Read what was not read, or not wholly: after a failure of the model, or with a better one.

        Returns:
            the episodes that were tried; ``added`` are those that are read now.

        Raises:
            ReadOnlyError: the memory was opened for reading.
        """
        self._store.require_writable()
        waiting = self.unread()
        extractor = self._extractor(fresh=True)
        result = Remembered()
        with shown(progress, "reading", len(waiting)) as advance:
            for start in range(0, len(waiting), _BATCH):
                batch = waiting[start : start + _BATCH]
                result += self._read_and_record(batch, extractor, again=True)
                advance(len(batch))
        return result

    def _record(self, episode: Episode) -> Remembered:
        """Record one episode with the reading that it brings."""
        is_known = episode.id in self.graph
        self._store.append(episode)
        self._embed([episode])
        return Remembered((episode.id,), added=not is_known, known=is_known)

    def _read_and_record(self, unread: Sequence[Episode], extractor: Extractor, *, again: bool = False) -> Remembered:
        from worldthread.extract.pipeline import extract_episodes

        self._store.require_writable()
        graph = self.graph
        ids = {episode.id: episode for episode in unread}
        fresh = [episode for id_, episode in ids.items() if again or id_ not in graph]
        outcomes = list(extract_episodes(extractor, fresh))
        episodes = [self._settled(o, extractor, again) for o in sorted(outcomes, key=lambda o: o.episode.at)]
        self._embed(episodes)
        problems = [str(o.problem) for o in outcomes if o.problem]
        problems += [failure for episode in episodes for failure in episode.extraction.failures]
        failed = sum(1 for episode in episodes if not episode.extraction.is_complete)
        added = len(episodes) - failed if again else len(episodes)
        return Remembered(tuple(ids), added, len(ids) - len(fresh), failed, tuple(dict.fromkeys(problems)))

    def _settled(self, outcome: ExtractionOutcome, extractor: Extractor, again: bool) -> Episode:
        """Record what came of reading an episode, after asking the reader what older statements it ends."""
        extraction = outcome.extraction
        if outcome.problem is None and not extraction.failures:
            try:
                extraction = extractor.outdate(outcome.episode.text, extraction, self.view())
            except ReplayError:
                raise
            except BudgetError:
                extraction = Extraction()
            except ModelError as error:
                extraction = Extraction(failures=(str(error),))
        episode = replace(outcome.episode, extraction=extraction)
        if not again:
            return self._store.append(episode)
        if isinstance(outcome.problem, BudgetError):  # it was not tried: what is recorded of it stays
            return self._store.episode(episode.id)
        return self._store.replace(episode)

    def _embed(self, episodes: Iterable[Episode]) -> None:
        """Compute vectors now, so that the first question need not wait for them."""
        texts = [t for e in episodes for t in (e.text, *map(str, e.extraction.statements))]
        if texts:
            self._remembered += len(texts)
            self._embedder.embed(list(dict.fromkeys(texts)))

    # -- recalling --------------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        *,
        k: int = 5,
        as_of: TimeLike | None = None,
        kinds: Collection[Kind] = KINDS,
        method: str | None = None,
        only_current: bool = True,
        max_tokens: int = 1000,
    ) -> Recall:
        """What matters for a question: facts, theses and episodes, with scores and paths.

        Args:
            query: a question, or anything in words.
            k: how many of each kind at most.
            as_of: a moment of world time (:data:`TimeLike`): what held then, from episodes up to then. ``None`` for
            now. kinds: which of ``"fact"``, ``"thesis"`` and ``"episode"``. method: a key of
            :data:`worldthread.retrieve.METHODS`; ``None`` for the default. only_current: leave out statements that do
            not hold at that moment, and episodes of which nothing does. max_tokens: limit of :attr:`Recall.text`, by an
            estimate that errs on the safe side.

        Raises:
            InputError: an argument cannot be used.
        """
        from worldthread.retrieve import DEFAULT_METHOD
        from worldthread.retrieve.search import search
        from worldthread.retrieve.text import hits_as_text

        require_asked(query, "a question")
        require_count(k, "k")
        require_count(max_tokens, "max_tokens")
        require_some(kinds, KINDS, "kinds")
        method = DEFAULT_METHOD if method is None else require_string(method, "method")
        at = _to_world_time(as_of)
        vector = self._embedder.compute([query])[0]  # questions leave no trace in the file
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
        as_of: TimeLike | None = None,
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
        from worldthread.answer import answer

        recalled = self.recall(question, k=k, as_of=as_of, method=method, max_tokens=max_tokens)
        return answer(recalled, self.model, max_tokens=max_tokens)

    def about(self, entity: str, *, as_of: TimeLike | None = None) -> list[Version]:
        """What holds about an entity now, or held at a moment: statements with their times and sources, in fixed order.

        Singular and plural of the name are tried when it is not known as written.
        """
        at = _to_world_time(as_of)
        with self.read_lock() as graph:
            view = graph.view(at)
            found = (v for key in self._keys_of(entity) for s in view.about(key) for v in graph.versions(s))
            return [v for v in found if (v.interval.is_open if at is None else at in v.interval)]

    def timeline(self, entity: str) -> list[Version]:
        """Everything that ever held about an entity, in order of time, with sources and reasons."""
        with self.read_lock() as graph:
            return [version for key in self._keys_of(entity) for version in graph.view().timeline(key)]

    def entities(self, prefix: str = "") -> list[str]:
        """Normalised names of everything that statements speak of and whose name begins with ``prefix``; sorted."""
        start = normalise_name(prefix) if require_unicode(prefix, "prefix").strip() else ""
        with self.read_lock() as graph:
            return [name for name in graph.objects() if name.startswith(start)]

    def unread(self) -> list[Episode]:
        """The episodes that nobody has read, or not wholly; what could not be understood is in their readings."""
        with self.read_lock() as graph:
            return [self._store.episode(id_) for id_ in graph.unread()]

    def _keys_of(self, entity: str) -> list[str]:
        """Names under which something is known about an entity: the very one, else those of another number."""
        key = normalise_name(require_asked(entity, "the name of an entity"))
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

            self._own_model = chat_model(self._model_given)
            return self._own_model
        return self._model_given

    @cached_property
    def extractor(self) -> Extractor:
        """What turns text into statements."""
        return self._extractor()

    def _extractor(self, *, fresh: bool = False) -> Extractor:
        """A reader; a ``fresh`` one asks the model even where an answer is in the cache."""
        if self._extractor_given is not None:
            return self._extractor_given
        model = self.model
        if model is not None:
            from worldthread.extract.model import ModelExtractor
            from worldthread.models import ConfiguredChat

            return ModelExtractor(model.without_cache() if fresh and isinstance(model, ConfiguredChat) else model)
        from worldthread.extract.prose.extractor import ProseExtractor

        return ProseExtractor()

    @cached_property
    def _plain_embedder(self) -> Embedder:
        given = self._embedder_given
        if given is None or isinstance(given, str):
            from worldthread.models import embedder

            return embedder(given)
        return given

    @cached_property
    def _embedder(self) -> CachedEmbedder:
        return CachedEmbedder(self._plain_embedder, self._store)

    @contextmanager
    def indexed(self) -> Iterator[RetrievalIndex]:
        """The index that :meth:`recall` computes on, up to date, for methods of one's own.

        Nobody can change the memory until the block ends, nor can the block.
        """
        with self._index_lock, self._indexed() as corpus:
            yield corpus

    @contextmanager
    def _indexed(self) -> Iterator[RetrievalIndex]:
        """The index, up to date, while nobody can change the graph."""
        from worldthread.retrieve import RetrievalIndex

        if self._index is None:
            self._index = RetrievalIndex(self._embedder)
            with self.read_lock() as graph:
                kept = self._store.load_index(self._embedder.name)
                if kept is not None:
                    self._index.restore(graph, kept)
        corpus = self._index
        for _ in range(_TRIES):
            with self.read_lock() as graph:
                pending = corpus.take(graph, self._texts)
                if not pending:
                    yield corpus
                    return
            for part in pending:
                corpus.put(part, self._embedder.embed(part.texts))
        with self.read_lock() as graph:  # others write faster than we embed: their last episodes have no vectors yet
            corpus.take(graph, self._texts)
            yield corpus

    def _texts(self, ids: Sequence[str]) -> list[str]:
        return [self._store.episode(id_).text for id_ in ids]

    # -- the same, while a model is waited for ----------------------------------------------------------------------

    async def aremember(self, content: Content, at: TimeLike | None = None, source: str | None = None) -> Remembered:
        """:meth:`remember` on a thread of its own."""
        return await asyncio.to_thread(self.remember, content, at, source)

    async def aremember_many(
        self,
        contents: Iterable[Content],
        at: TimeLike | None = None,
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

    def read_lock(self) -> AbstractContextManager[TemporalGraph]:
        """The graph and the record as at one moment: nobody can change them until the block ends, nor can the block."""
        return self._store.read_lock()

    def view(self, at: TimeLike | None = None) -> GraphView:
        """What holds now, or held at world time ``at``; live.

        Raises:
            InputError: ``at`` is no time.
        """
        return self.graph.view(_to_world_time(at))

    def as_of(self, world_time: TimeLike | None = None, recorded_time: TimeLike | None = None) -> GraphView:
        """What held when only the episodes up to a world time and up to a recorded time (both inclusive) were known.

        Raises:
            InputError: this is no time.
        """
        with self.read_lock() as graph:
            return graph.as_of(_to_world_time(world_time), _to_world_time(recorded_time)).view()

    def state_hash(self) -> str:
        """64 hexadecimal digits, equal exactly when the episodes and all that follows from them are."""
        with self.read_lock() as graph:
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

    def export(self, target: str | os.PathLike[str] | IO[bytes] | IO[str]) -> int:
        """Write every episode as JSON Lines to a file or a stream: how many. See :meth:`Store.export`.

        Raises:
            InputError: ``target`` is the file of this memory, or neither a file nor a stream.
            StoreError: the file cannot be written.
        """
        return self._store.export(target)

    def import_(self, source: str | os.PathLike[str] | IO[bytes] | IO[str]) -> ImportCounts:
        """Record every episode of an export, all or nothing: how many were new, and how many were known.

        Raises:
            InputError: ``source`` is neither a file nor a stream.
            FormatError: a line is not what it should be; the message says which.
            ReadOnlyError: the memory was opened for reading.
        """
        return self._store.import_(source)

    def checkpoint(self) -> None:
        """Write down what makes opening quick, give back space, empty the log. :meth:`close` does of this what pays.

        Raises:
            ReadOnlyError: the memory was opened for reading.
        """
        self._store.checkpoint()
        if self._index is not None and self.path is not None:
            self._save_index()

    def close(self) -> None:
        """Release the file. May be called again.

        After much was remembered, the index is kept beside the file, so that the next process need not make it again.
        """
        try:
            if self._remembered:
                self._remembered = 0
                self._keep_index()
        finally:
            try:
                self._store.close()
            finally:
                self._close_model()

    def _close_model(self) -> None:
        if self._own_model is not None:
            self._own_model.close()

    def _keep_index(self) -> None:
        """Write the index down when it pays."""
        graph = self._store.graph
        size = len(graph) + len(graph.statement_numbers)
        if self.path is None or size < _INDEX_PAYS:
            return
        name = self._embedder.name
        if self._index is None:
            kept = self._store.load_index(name)
            unsaved = size - (len(kept["episodes"]) + len(kept["statements"]) if kept is not None else 0)
        else:
            unsaved = self._index.unsaved
        if unsaved > max(_INDEX_PAYS, size // 5):
            self._save_index()

    def _save_index(self) -> None:
        with self._index_lock, self._indexed() as corpus:
            arrays = corpus.to_arrays()
        self._store.save_index(self._embedder.name, arrays)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _require_helpers(model: object, extractor: object, embedder: object, clock: object) -> None:
    """Check what calls will come to, before the first of them fails."""
    if model is not None and not isinstance(model, str):
        require_able(model, ("complete",), "model", "a chat model, the name of one, or None")
    if embedder is not None and not isinstance(embedder, str):
        require_able(embedder, ("embed",), "embedder", "an embedder, the name of one, or None")
    if extractor is not None:
        require_able(extractor, ("extract", "outdate"), "reader", "a reader of texts, or None")
    require_able(clock, ("__call__",), "clock", "a function that tells the time")


def _to_world_time(value: TimeLike | None) -> float | None:
    from worldthread.extract.when import world_time

    return None if value is None else world_time(value, 0.0)


def _until_error(items: Iterable[_Item], errors: list[Exception]) -> Iterator[_Item]:
    """The items before the first that raises an error, which is kept in ``errors``."""
    try:
        yield from items
    except Exception as error:
        errors.append(error)

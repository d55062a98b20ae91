"""A memory: what was remembered, and what holds of it. The work is done by the parts that this module connects."""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from worldthread.errors import InputError, NotFoundError
from worldthread.extract.base import USER, is_of_text_reader
from worldthread.graph import GraphView, TemporalGraph
from worldthread.graph.view import by_names, timeline_order
from worldthread.memory.corrections import (
    StatementLike,
    correction,
    episodes_stating,
    meant_labels,
    statement_of,
    update,
)
from worldthread.memory.filters import Filter, condition_of, user_asked_for
from worldthread.memory.index import MemoryIndex
from worldthread.memory.ingestion import Content, Ingestion, Remembered
from worldthread.memory.merging import MergeSuggestion, merging, suggestions, user_meant
from worldthread.memory.models import MemoryModels
from worldthread.memory.record import (
    Record,
    describe_store,
    known_keys,
    next_time,
    theses_naming,
    to_asked_time,
    to_world_time,
)
from worldthread.memory.telemetry import changing, forgetting, recalling, remembering
from worldthread.memory.vectors import MemoryVectors
from worldthread.names import normalise_name
from worldthread.provenance import TIMEZONE, Labels, MetadataValue, require_metadata
from worldthread.stores import DEFAULT_NAMESPACE, Durability, ImportCounts, NamespaceSize, Store, open_store
from worldthread.support.arguments import (
    require_count,
    require_finite,
    require_methods,
    require_name,
    require_query,
    require_string,
    require_subset,
    require_unicode,
)
from worldthread.support.closeable import Closeable
from worldthread.support.places import episode_place, place_as_text, version_place
from worldthread.support.progress import Progress, show_progress
from worldthread.support.timings import timed
from worldthread.telemetry import operation, step
from worldthread.types import KINDS, AskedTime, Episode, Fact, Hit, Interval, Kind, Page, Recall, TimeLike, Version

if TYPE_CHECKING:
    from worldthread.answering.answer import Answer
    from worldthread.answering.quotations import Spot
    from worldthread.extract.base import Extractor
    from worldthread.memory.bulk.readers import BatchReaders
    from worldthread.models import Embedder
    from worldthread.models.chat import ChatModel
    from worldthread.retrieve.rerank import Reranker

_TIMEZONE_VARIABLE: Final = "WORLDTHREAD_TIMEZONE"
_FOR_QUESTIONS: Final = tuple(
    f"worldthread.{name}" for name in ("answering.answer", "retrieve.rerank", "retrieve.search", "retrieve.thread")
)


_NOT_READ: Final = AskedTime("", None)  # stands for the time of the question itself


class Memory(Closeable):
    """A memory of texts, conversations and facts, in one file or in RAM.

    Everything that is remembered has a *world time*: when it was so. A memory answers for now and for any earlier time.
    Use it as a context manager, or call :meth:`close`.

    Thread-safe. Every method raises :class:`~worldthread.errors.ClosedError` after :meth:`close`, and
    :class:`~worldthread.errors.StoreError` with the reason when the file cannot be read or written.
    :class:`~worldthread.AsyncMemory` has the same methods for asynchronous programs.

    Args:
        path: the file; it is created when it does not exist. ``None`` and ``":memory:"`` keep the memory in RAM until
            it is closed. ``"SCHEME://..."`` opens another kind of store, see :data:`worldthread.stores.STORES`.
        namespace: which memory of the file. The memories of one file do not see each other.
        readonly: never write. A file has one writer at a time and any number of readers, which follow the writer.
        durability: what a recorded change survives. ``"normal"``: the end of the process, ``kill -9`` included; a loss
            of power can take the last changes, but does not damage the file. ``"full"``: a loss of power too, at the
            cost of one ``fsync`` for each change.
        wait: seconds to wait for another writer to finish; ``math.inf`` waits without limit.
        clock: returns the time in seconds since 1970-01-01 UTC. It gives the recorded time of what is written, and the
            world time of what is remembered without one.
        model: a chat model or the name of one, see :func:`worldthread.models.chat_model`. It reads texts and answers
            questions. ``None`` takes ``$WORLDTHREAD_MODEL`` if it is set; ``"none"`` uses no model in any case.
        extractor: turns text into statements: an extractor or the name of one, see
            :data:`~worldthread.extract.registry.EXTRACTORS`. ``None`` takes ``$WORLDTHREAD_EXTRACTOR`` if it is set;
            else the model reads, or what is installed for English when there is no model.
        embedder: an embedder or the name of one. ``None`` takes ``$WORLDTHREAD_EMBEDDER``, else the
            one of the configuration file, else the one of the vectors that the memory has, else MiniLM. Another
            embedder than before computes its own vectors; see :meth:`reembed`.
        vectors: where vectors are searched: the address of a store of vectors, see
            :func:`~worldthread.vectors.open_vector_store`, or ``"pgvector"`` for the PostgreSQL server of the memory
            itself. The record keeps the vectors too, and completes the store from them. ``None`` takes
            ``$WORLDTHREAD_VECTORS`` or the configuration file, and without either searches in RAM.
        user: the name of the person whom the memory serves. Messages of the role "user" are theirs, and so are texts
            that say "I" without naming a speaker; "I" in a question means them.
        timezone: the time zone of that person: an IANA name such as ``"Europe/Rome"``, or an offset such as
            ``"-08:00"``. Times that name no zone are times there, and "today" and "tomorrow" are days there, unless the
            time of a text has another offset. ``None`` takes ``$WORLDTHREAD_TIMEZONE``, else UTC.

    Attributes:
        record: the episodes and their graph, for agents and other programs that work episode by episode; see
            :class:`~worldthread.memory.record.Record`.

    Raises:
        InputError: an argument cannot be used.
        ModelConfigError: the named model cannot be reached as configured; no file was created.
        ForeignFileError: the file belongs to another program; it was not changed.
        DamagedFileError: the file is a memory that cannot be read; it was not changed.
        FileVersionError: a newer release of worldthread wrote the file; it was not changed.
        StoreLockedError: another writer did not finish in time.
        StoreError: the file cannot be opened; the message says why.

    Examples:
        ::

            with Memory("home.worldthread") as memory:
                memory.remember("Anna lives in Rome.", at="2023-05-01")
                memory.remember("Anna lives in Paris.", at="2024-03-01")
                print(memory.recall("Where does Anna live?").text)
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
        extractor: Extractor | str | None = None,
        embedder: Embedder | str | None = None,
        vectors: str | None = None,
        user: str = USER,
        timezone: str | None = None,
    ) -> None:
        from worldthread.extract.zones import zone_named

        user = require_query(user, "the name of the user")
        given = os.environ.get(_TIMEZONE_VARIABLE, "") if timezone is None else timezone
        zone_named(require_string(given, "timezone"))
        require_methods(clock, ("__call__",), "clock", "a function that returns the time")
        models = MemoryModels(model, extractor, embedder)  # before a file is created: a wrong name leaves none behind
        try:
            with timed("open"):
                store = open_store(
                    path, namespace=namespace, readonly=readonly, durability=durability, wait=wait, clock=clock
                )
        except BaseException:
            models.close()
            raise
        try:
            places = MemoryVectors(store, vectors, os.fspath(path) if path is not None else None)
            self._connect(store, models, places, clock, user, given)
        except BaseException:
            store.close()
            models.close()
            raise

    def _connect(
        self,
        store: Store,
        models: MemoryModels,
        vectors: MemoryVectors,
        clock: Callable[[], float],
        user: str,
        timezone: str,
    ) -> None:
        self._timezone = timezone
        self._opened = store
        self._models = models
        self._vectors = vectors
        self._clock = clock
        self._user = user
        self._index_of_texts = MemoryIndex(store, models, vectors)
        self._ingestion = Ingestion(store, self._index_of_texts, models, user, timezone)
        self.record = Record(store, self._index_of_texts, timezone, self._ingestion.background.finish)
        if not store.readonly:
            self._ingestion.read_on()

    def __repr__(self) -> str:
        return f"Memory({describe_store(self._opened)})"

    @property
    def _store(self) -> Store:
        """The store, when everything in it is read."""
        self._ingestion.background.finish()
        return self._opened

    @property
    def _index(self) -> MemoryIndex:
        """The index of a record in which everything is read."""
        self._ingestion.background.finish()
        return self._index_of_texts

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for a memory in RAM."""
        return self._opened.path

    @property
    def namespace(self) -> str:
        """The name of this memory within its file."""
        return self._opened.namespace

    @property
    def readonly(self) -> bool:
        """Whether the memory was opened for reading only."""
        return self._opened.readonly

    @property
    def model(self) -> ChatModel | None:
        """The chat model in use; ``None`` without one.

        Raises:
            ModelConfigError: the model cannot be reached as configured.
        """
        return self._models.model

    @property
    def extractor(self) -> Extractor:
        """What turns text into statements."""
        return self._models.extractor

    @property
    def embedder(self) -> Embedder:
        """What turns text into vectors. One on a server has a ``meter``, which counts calls, tokens and dollars."""
        return self._index_of_texts.embedder.inner

    def open_namespace(self, namespace: str) -> Memory:
        """Open another memory of the same file.

        Each of them is closed on its own; the file is released when the last of them is closed.

        Args:
            namespace: the name of the memory; it is created when it does not exist.

        Returns:
            The memory, with the same model, extractor and embedder.

        Raises:
            InputError: the name is empty or not valid Unicode.
        """
        memory = object.__new__(type(self))
        store = self._opened.open_namespace(namespace)
        try:
            memory._connect(
                store, self._models.copy(), self._vectors.copy(store), self._clock, self._user, self._timezone
            )
        except BaseException:
            store.close()
            raise
        return memory

    # -- remembering ------------------------------------------------------------------------------------------------

    def remember(
        self,
        content: Content,
        at: TimeLike | None = None,
        source: str | None = None,
        *,
        user: str = "",
        agent: str = "",
        session: str = "",
        metadata: Mapping[str, MetadataValue] | None = None,
        wait: bool = False,
    ) -> Remembered:
        """Record a text, a conversation or plain statements, and what they state.

        Text is divided into passages along its structure. Each passage becomes an episode, which is durable when this
        returns. A passage that the model cannot read is recorded unread (see :meth:`retry`). Episodes that are recorded
        already are left as they are.

        Args:
            content: one of

                * a text, or a :class:`~worldthread.Document`;
                * messages: mappings with ``content`` (or ``text``), ``role`` (or ``speaker``, ``name``) and optionally
                  ``at``; each becomes an episode. Messages without a time are placed a millisecond apart, the last one
                  at ``at``. ``user_id``, ``agent``, ``session`` and ``metadata`` of a message count for it alone, and
                  fields without a meaning become metadata;
                * statements that are recorded together: facts, theses, or triples of strings. A triple ends the older
                  value where a sentence would ("lives in", "has age"); a :class:`~worldthread.Fact` ends one only
                  through its aspect;
                * an :class:`~worldthread.Episode`, which keeps its own time, source and extraction.
            at: world time: a number, a date or time, or an ISO 8601 text; see :data:`~worldthread.TimeLike`. ``None``
                for now, by the clock.
            source: where the content comes from; part of the identity of its episodes.
            user: the person or account whose content this is, such as the id of a customer; also the name of who says
                messages of the role "user", and "I" in texts without a speaker. Part of the identity, as the others.
                What users say is folded apart: nobody ends or changes what another one said.
            agent: the agent that remembers it, or takes part in it.
            session: the session or conversation in which it came up.
            metadata: anything else: at most 64 strings, numbers and truth values by key. :class:`~worldthread.Filter`
                finds by all of these.
            wait: whether to wait until the content is read. The reader that works without a model reads in the
                background, in order; whatever else is asked of this memory waits for it (:meth:`reading_done`).

        Returns:
            The episodes, how many of them are new, and how many could not be read.

        Raises:
            InputError: the content cannot be remembered; the message says why.
            ReadOnlyError: the memory was opened for reading only.
        """
        return self.remember_many(
            [content], at, source, user=user, agent=agent, session=session, metadata=metadata, progress=False,
            wait=wait,
        )  # fmt: skip

    @timed("remember")
    @remembering
    def remember_many(
        self,
        contents: Iterable[Content],
        at: TimeLike | None = None,
        source: str | None = None,
        *,
        user: str = "",
        agent: str = "",
        session: str = "",
        metadata: Mapping[str, MetadataValue] | None = None,
        progress: bool | Progress | None = None,
        readers: BatchReaders | None = None,
        wait: bool = True,
    ) -> Remembered:
        """Record many contents in batches, with several concurrent calls to the model.

        Each batch is recorded as soon as it is read. After an error or a kill, remember the same contents with the same
        times again: what is recorded is skipped.

        Args:
            contents: a list or an iterator of what :meth:`remember` takes.
            at: world time of contents that bring none. Documents of one source, and the passages of a text, are placed
                a microsecond apart.
            source: source of contents that bring none.
            user: see :meth:`remember`; of contents that bring none, like the following.
            agent: see :meth:`remember`.
            session: see :meth:`remember`.
            metadata: see :meth:`remember`; merged key by key with those that a content brings.
            progress: ``True`` shows a progress bar of the passages on standard error, ``False`` shows none; ``None``
                shows one when standard error is a terminal. A function is called instead with the number of passages
                done and the total, which is ``None`` for an iterator.
            readers: read and embed in other processes, see :class:`worldthread.memory.bulk.RayReaders`; the result is
                the same. ``None`` reads here.
            wait: see :meth:`remember`.

        Returns:
            The episodes of all contents, how many of them are new, and how many could not be read.

        Raises:
            InputError: a content cannot be remembered. Of a list, nothing is recorded then; of an iterator, what came
                before that content.
            ReadOnlyError: the memory was opened for reading only.
            ClusterError: the readers fail; what came before is recorded.
        """
        labels = Labels(user, agent, session, require_metadata(metadata))
        ingestion = self._ingestion
        if readers is not None:
            from worldthread.memory.bulk.ingestion import BulkIngestion

            ingestion = BulkIngestion(self._store, self._index, self._models, self._user, readers, self._timezone)
        return ingestion.remember_many(contents, at, source, self._clock(), progress, labels, wait=wait)

    def reading_done(self, *, progress: bool | Progress | None = None) -> None:
        """Wait until everything that this memory remembered is read.

        Questions, changes and :meth:`close` do this by themselves. After a kill, the next process that opens the memory
        reads the rest.

        Args:
            progress: see :meth:`remember_many`.
        """
        background = self._ingestion.background
        with show_progress(progress, "reading", len(background)) as advance:
            background.finish(advance)

    def unread(self) -> list[Episode]:
        """List the episodes that no extractor has read completely.

        Returns:
            The episodes; ``extraction.failures`` holds what could not be understood.
        """
        with self.record.read_lock() as graph:
            return [self._store.episode(id_) for id_ in graph.unread()]

    @remembering
    def retry(self, *, everything: bool = False, progress: bool | Progress | None = None) -> Remembered:
        """Read the unread episodes again, after a failure of the model or with a better one.

        Args:
            everything: read every text again, in order of time, those included that an earlier reader has read. What
                was remembered as statements, corrected or merged stays as it is.
            progress: see :meth:`remember_many`.

        Returns:
            The episodes that were tried; ``added`` counts those that are read now.

        Raises:
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        waiting = self.unread()
        if everything:
            given = {episode.id for episode in waiting}
            waiting = [one for one in self.episodes() if one.id in given or is_of_text_reader(one.extraction.extractor)]
        return self._ingestion.retry(waiting, progress, anew=everything)

    @forgetting
    def forget(
        self,
        episode: Episode | str | None = None,
        *,
        entity: str | None = None,
        statement: str | None = None,
        where: Filter | None = None,
    ) -> int:
        """Remove an episode, or all episodes about an entity, of a statement or of a filter, as if they never happened.

        Their texts are gone, and so is everything that follows from them alone. What is overwritten on the disk, and
        when, is described at :meth:`~worldthread.stores.Store.forget`.

        Args:
            episode: an episode or its id.
            entity: a name. Removes every episode that states something about it or names it anywhere in its text; see
                :meth:`~worldthread.memory.record.Record.episodes_about`.
            statement: the id of a fact or a thesis. Removes every episode that states it, with all else that it says.
                If several users state it, ``where`` must say whose.
            where: with ``entity`` or ``statement``: only episodes that meet this filter. Alone: all that meet it.

        Returns:
            How many episodes were removed.

        Raises:
            InputError: not one of the arguments is given, or more than one of the first three; or ``where`` with an
                episode; or several users state the statement.
            NotFoundError: there is no such episode or statement, or no episode about the entity or of the filter.
            ReadOnlyError: the memory was opened for reading only.
        """
        given = [one for one in (episode, entity, statement) if one is not None]
        if len(given) > 1 or (episode is not None and where is not None) or not (given or where is not None):
            raise InputError("forget takes an episode, or one of entity=... and statement=..., or where=...")
        condition = condition_of(where)
        if episode is not None:
            self.record.forget(
                episode.id if isinstance(episode, Episode) else require_unicode(episode, "the id of an episode")
            )
            return 1
        self._store.require_writable()
        found = self.record.episodes_about(entity, condition) if entity is not None else None
        with self._store.write_lock() as graph:  # another process may have forgotten some in the meantime
            if statement is not None:
                found = episodes_stating(graph, statement, condition)
            ids = graph.episodes() if condition is None else graph.selected_episodes(condition)
            if found is not None:
                wanted = set(found)
                ids = [id_ for id_ in ids if id_ in wanted]
            if ids:
                self._store.forget_many(ids)
        if not ids:
            asked = [f"mentions {entity!r}"] if entity is not None else ["states this"] if statement is not None else []
            raise NotFoundError(f"no episode {' and '.join([*asked, *(['meets the filter'] if where else [])])}")
        self._index.follow()
        return len(ids)

    @changing
    def correct(
        self,
        statement: StatementLike | str,
        replacement: StatementLike | None = None,
        reason: str = "",
        *,
        at: TimeLike | None = None,
        source: str = "",
        where: Filter | None = None,
    ) -> Episode:
        """Record that a statement was never true, and perhaps what was true instead.

        A correction is no change: the statement does not hold at any time, also not in the past, and what it had ended
        goes on. :meth:`timeline` still shows it, as an empty interval with the reason. It is recorded as an episode;
        forget that to undo it. What is said after it counts again. The episode has the user whose statement it is, and
        the agent that all of their episodes share which state it.

        Args:
            statement: a fact, a thesis, or subject, relation and object of a fact; or the id of one. A thesis that says
                the same as the fact is corrected with it.
            replacement: what was true instead, in the intervals in which the other was held to be true, unless it
                states its own times; with the aspect of the other, unless it has its own.
            reason: why, in words.
            at: world time of the correction, later than what is corrected; ``None`` for now, by the clock.
            source: where the correction comes from.
            where: whose statement it is, such as ``Filter(user="anna")``; needed where several users state it.

        Returns:
            The episode of the correction, as recorded.

        Raises:
            InputError: an argument cannot be used, or several users state the statement.
            NotFoundError: no earlier episode states the statement.
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        with self.record.read_lock() as graph:
            now = self._time_of_change(at, graph)
            wrong = statement_of(graph, statement)
            labels = meant_labels(graph, wrong, condition_of(where))
            episode = correction(graph, wrong, replacement, reason, now, require_string(source, "source"), labels)
        return self._store.episode(self.remember(episode).episodes[0])

    @changing
    def update(
        self,
        statement: StatementLike | str,
        replacement: StatementLike | None = None,
        reason: str = "",
        *,
        at: TimeLike | None = None,
        source: str = "",
        where: Filter | None = None,
    ) -> Episode:
        """Record that a statement no longer holds, and perhaps what holds instead.

        The past stays: the statement goes on to hold before this time. It is recorded as an episode, with the user
        whose statement it is and the agent that all of their episodes share which state it; forget that to undo it.

        Args:
            statement: a fact, a thesis, or subject, relation and object of a fact; or the id of one.
            replacement: what holds instead; with the aspect of the other, unless it has its own.
            reason: why, in words.
            at: world time of the change, later than what states the statement; ``None`` for now, by the clock.
            source: where this comes from.
            where: whose statement it is, such as ``Filter(user="anna")``; needed where several users state it.

        Returns:
            The episode of the change, as recorded.

        Raises:
            InputError: an argument cannot be used, or several users state the statement.
            NotFoundError: there is no such statement, or it does not hold at that time.
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        with self.record.read_lock() as graph:
            now = self._time_of_change(at, graph)
            ended = statement_of(graph, statement)
            labels = meant_labels(graph, ended, condition_of(where))
            episode = update(graph, ended, replacement, reason, now, require_string(source, "source"), labels)
        return self._store.episode(self.remember(episode).episodes[0])

    @changing
    def merge(
        self,
        name: str,
        into: str,
        reason: str = "",
        *,
        at: TimeLike | None = None,
        source: str = "",
        user: str | None = None,
    ) -> Episode:
        """Record that two names mean the same: statements of both count as statements of one, at any time.

        What texts say stays as written. It is recorded as an episode of a user, and concerns what this user says;
        forget that to undo it. The graph is computed anew, in time linear in its size.

        Args:
            name: a name.
            into: the name that is shown for both, such as the full one.
            reason: why, in words.
            at: world time of the episode; ``None`` for now, by the clock.
            source: where this comes from.
            user: in whose talk they mean the same, ``""`` for that without a user; ``None`` for the only user who
                speaks of the name.

        Returns:
            The episode, as recorded.

        Raises:
            InputError: an argument cannot be used, or both are one name already; or several users speak of the name.
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        with self.record.read_lock() as graph:
            now = self._time_of_change(at, graph)
            if user is None:
                user = user_meant(graph, require_name(name, "name"), require_name(into, "into"))
        episode = merging(name, into, reason, now, require_string(source, "source"), user)
        return self._store.episode(self.remember(episode).episodes[0])

    def _time_of_change(self, at: TimeLike | None, graph: TemporalGraph) -> float:
        """Return the world time of a correction, change or merge: the one given, else now."""
        time = to_world_time(at, graph, self._timezone)
        return next_time(graph, self._clock()) if time is None else time

    def suggest_merges(self) -> list[MergeSuggestion]:
        """List names that probably mean the same, each pair with its evidence. Nothing is changed.

        Returns:
            Suggestions for :meth:`merge`, sorted by name.
        """
        with self.record.read_lock() as graph:
            return suggestions(graph)

    # -- asking -----------------------------------------------------------------------------------------------------

    @timed("recall")
    def recall(
        self,
        query: str,
        *,
        k: int | None = 5,
        as_of: TimeLike | None = None,
        kinds: Collection[Kind] = KINDS,
        method: str | None = None,
        only_current: bool = True,
        max_tokens: int = 1000,
        where: Filter | None = None,
        min_score: float = 0.0,
        reranker: Reranker | None = None,
    ) -> Recall:
        """Find the facts, theses and episodes that matter for a question.

        Args:
            query: a question, or any other words.
            k: the maximum number of hits of each kind; ``None`` ends each list at the greatest fall of the score, after
                3 to 20 hits.
            as_of: a world time (:data:`~worldthread.TimeLike`): finds what held then, from episodes up to and including
                that time. ``None`` for now.
            kinds: which of ``"fact"``, ``"thesis"`` and ``"episode"`` to find.
            method: one of :func:`worldthread.retrieve.methods`; ``None`` for the default.
            only_current: leave out statements that have ended at that time, and episodes of which no statement is left.
                What was over when it was told ("we were in Rome last week") is found: nothing has changed it since.
            max_tokens: the limit of :attr:`Recall.text <worldthread.Recall.text>`, by a cautious estimate.
            where: look only at what meets this filter: ``k`` hits of each kind are found where there are as many. If it
                selects a single user, "I" in the question means that user.
            min_score: leave out hits that are less likely than this to be evidence, in [0, 1]; the scale is the same
                for every memory and method, see :mod:`worldthread.retrieve.relevance`.
            reranker: orders the best hits of each kind anew, for example by a cross-encoder; its scores replace those
                of the method.

        Returns:
            The hits, best first within each kind, and the same as text for a prompt.

        Raises:
            InputError: an argument cannot be used.
            ModelError: the reranker returned something other than a finite number for each text.
        """
        return self._recall(
            query, k=k, as_of=as_of, kinds=kinds, method=method, only_current=only_current, max_tokens=max_tokens,
            where=where, min_score=min_score, reranker=reranker,
        )  # fmt: skip

    @recalling
    def _recall(
        self,
        query: str,
        *,
        k: int | None,
        as_of: TimeLike | None,
        kinds: Collection[Kind],
        method: str | None,
        only_current: bool,
        max_tokens: int,
        where: Filter | None,
        min_score: float,
        reranker: Reranker | None = None,
        asked_time: AskedTime | None = _NOT_READ,
    ) -> Recall:
        """Find hits; see :meth:`recall`. The time that the question names may be given."""
        from worldthread.retrieve import DEFAULT_METHOD
        from worldthread.retrieve.query import as_asked_by
        from worldthread.retrieve.question import kind_of, subject_of
        from worldthread.retrieve.rerank import found_at_most, listed
        from worldthread.retrieve.search import search
        from worldthread.retrieve.text import hits_as_text

        query = require_query(query, "a question")
        if k is not None:
            require_count(k, "k")
        require_count(max_tokens, "max_tokens")
        if not 0 <= require_finite(min_score, "min_score") <= 1:
            raise InputError(f"min_score must be between 0 and 1, not {min_score!r}")
        if reranker is not None:
            require_methods(reranker, ("score",), "reranker", "an object with the method score(question, texts)")
        require_subset(kinds, KINDS, "kinds")
        method = DEFAULT_METHOD if method is None else require_string(method, "method")
        at = to_asked_time(as_of, self._store.graph, self._timezone)
        condition = condition_of(where)
        user = user_asked_for(where) or self._user
        asked_at = self._asked_at(at)
        if asked_time is _NOT_READ:
            asked_time = self._asked_time(query, where, asked_at, at)
        asked = subject_of(query if asked_time is None else asked_time.without_clause(query))
        asked = asked if user == USER else as_asked_by(user, asked)
        with self.record.read_lock() as graph:
            asked = graph.with_canonical_names(asked, user_asked_for(where))
        vector = self._index.embedder.embed_queries([asked])[0]
        depth = {} if k is None else {"gen_ai.retrieval.top_k": k}
        with operation("retrieval", {"worldthread.retrieval.method": method, **depth}), self._index.current() as index:
            hits = search(
                index, asked, vector,
                method=method, k=found_at_most(k, reranker), kinds=kinds, at=at, only_current=only_current,
                episode_of=self._store.episode, condition=condition, min_score=min_score,
                question_kind=kind_of(query), asked=asked_time if only_current else None,
                asked_at=asked_at,
            )  # fmt: skip
        hits = listed(hits, query, k, reranker)
        return Recall(query, hits, hits_as_text(hits, max_tokens), method, at, asked_time)

    def _asked_time(
        self, question: str, where: Filter | None, asked_at: float | None, as_of: float | None
    ) -> AskedTime | None:
        """Return the time that a question names."""
        from worldthread.extract.zones import local_time
        from worldthread.retrieve.asked_time import depends_on_now, event_interval, named_times

        if asked_at is None:
            return None
        offset = local_time(asked_at, {TIMEZONE: self._timezone}) - asked_at
        named = named_times(question, asked_at, offset)
        interval = None
        if named.event is not None:
            vector = self._index.embedder.embed_queries([named.event.clause])[0]
            with self._index.current() as index:
                user = user_asked_for(where)
                user = index.graph.with_canonical_names(user or self._user, user)
                interval = event_interval(named.event, index, vector, user)
        asked = named.asked_time(interval, may_be_tense=as_of is None)
        if asked is None or not named.intervals:
            return asked
        is_guess = as_of is None and not self._knows_time() and depends_on_now(question, asked_at)
        return replace(asked, is_guess=is_guess, offset=offset)

    def _knows_time(self) -> bool:
        """Return whether the time of the clock is that at which questions are asked: see :meth:`_asked_at`."""
        from worldthread.extract.when import DAY

        with self.record.read_lock() as graph:
            latest = graph.latest_episode
        is_live = latest is not None and latest.recorded_at is not None and abs(latest.recorded_at - latest.at) < DAY
        return is_live or self._clock is not time.time

    def _asked_at(self, as_of: float | None) -> float | None:
        """Return the world time at which a question is asked, which "yesterday" means; ``None`` in an empty memory.

        A memory of another time is asked as of its end: its latest episode was recorded long after it was told. Where
        that is not so, or the caller gives the clock, it is the time of the clock.
        """
        from worldthread.extract.when import is_date

        with self.record.read_lock() as graph:
            latest = graph.latest_episode
        if as_of is not None or latest is None:
            return as_of
        if not is_date(latest.at):
            return latest.at
        return max(self._clock(), latest.at) if self._knows_time() else latest.at

    @timed("ask")
    @step("ask")
    def ask(
        self,
        question: str,
        *,
        k: int = 20,
        as_of: TimeLike | None = None,
        method: str | None = None,
        max_tokens: int = 3000,
        where: Filter | None = None,
        look_ups: int = 1,
        min_score: float = 0.0,
        allow_inferred: bool = True,
    ) -> Answer:
        """Answer a question from what is remembered, with sources, or say that there is not enough information.

        Without a chat model there is an answer only if words of a message or a statement surely give it: see
        :mod:`worldthread.answering.reading`. Everything else is evidence, and shown apart
        (:attr:`Answer.nearest <worldthread.Answer.nearest>`).

        Args:
            question: the question.
            k: the maximum number of hits of each kind to answer from.
            as_of: see :meth:`recall`.
            method: see :meth:`recall`.
            max_tokens: how many tokens of the prompt the hits may take, by a cautious estimate; turns of talk take a
                third of them, in order of time and each with what it answers.
            where: answer only from what meets this filter; see :meth:`recall`.
            look_ups: how often the chat model may name something to look up before it answers or refuses; each is one
                more call.
            min_score: answer only from hits that are at least so likely to be evidence, in [0, 1]; see :meth:`recall`.
            allow_inferred: whether the chat model may infer a step that no source states; such an answer says so
                (:attr:`Answer.support <worldthread.Answer.support>`). ``False`` answers only what the sources state.

        Returns:
            The answer with the statements that support it.

        Raises:
            InputError: an argument cannot be used.
            AnswerError: the model's answer could not be used.
            ModelError: the model could not be asked.
        """
        from worldthread.answering import MemoryAccess
        from worldthread.answering.answer import AnswerContext, answer, answer_without_model
        from worldthread.answering.pointing import answer_model

        def recall(
            text: str, k: int, kinds: Collection[Kind] = KINDS, asked_time: AskedTime | None = _NOT_READ,
            only_current: bool = True,
        ) -> Recall:  # fmt: skip
            return self._recall(
                text, k=k, as_of=as_of, kinds=kinds, method=method, only_current=only_current, max_tokens=max_tokens,
                where=where, min_score=min_score, asked_time=asked_time,
            )  # fmt: skip

        if self.model is not None:
            at = to_asked_time(as_of, self._store.graph, self._timezone)
            context = AnswerContext(
                lambda query: recall(query, max(1, k // 2)),
                look_ups,
                self._clock() if at is None else at,
                lambda episode: self._outdated_in(episode, at),
                partial(self._spot_of, where=where, at=at),
                by_clock=at is None,
                allow_inferred=allow_inferred,
            )
            return answer(recall(question, k), self.model, max_tokens=max_tokens, context=context)
        question = require_query(question, "a question")
        require_count(k, "k")
        user = user_asked_for(where) or self._user
        at = to_asked_time(as_of, self._store.graph)
        named = self._asked_time(question, where, self._asked_at(at), at)
        asked = question if named is None else named.without_words(question)  # what is found is of that time
        recalled = recall(asked, k, asked_time=named)
        now = self._asked_at(at)
        if now is None:
            return answer_without_model(question, recalled, None)
        with self.record.read_lock() as graph:
            name, canonical = graph.with_canonical_names(user), graph.with_canonical_names(asked, user_asked_for(where))

        def episodes(count: int) -> tuple[Hit, ...]:
            return recall(question, count, ["episode"], named, only_current=False).hits

        over_in = partial(self._outdated_in, at=at) if named is None else partial(self._over_by, named)
        own_names = frozenset({normalise_name(user), normalise_name(name)})
        access = MemoryAccess(
            now, user, own_names, name, episodes, self.episode, over_in, self._versions_in, canonical, answer_model()
        )  # fmt: skip
        return answer_without_model(question, recalled, access)

    def _outdated_in(self, episode: Episode, at: float | None) -> list[Version]:
        """Return the facts of an episode that were over by a time, as the last versions that rest on it.

        What the episode itself tells as past, such as an event, is not among them.
        """
        with self.record.read_lock() as graph:
            view = graph.view(at, episode.user)
            gone = [fact for fact in episode.extraction.statements if isinstance(fact, Fact) and not view.holds(fact)]
        last = [versions[-1] for fact in gone if (versions := self._versions_in(episode, fact))]
        return [one for one in last if one.ended_by is not None and one.ended_after(episode.at)]

    def _over_by(self, asked: AskedTime, episode: Episode) -> list[Version]:
        """Return the facts of an episode that were over before the time that a question names."""
        begin = -math.inf if asked.interval is None or asked.is_guess else asked.interval.valid_from
        facts = [one for one in episode.extraction.statements if isinstance(one, Fact)]
        last = [versions[-1] for fact in facts if (versions := self._versions_in(episode, fact))]
        return [one for one in last if one.interval.valid_to <= begin]

    def _versions_in(self, episode: Episode, fact: Fact) -> list[Version]:
        """Return the versions of a fact that rest on an episode, of any time."""
        with self.record.read_lock() as graph:
            return [one for one in graph.view(user=episode.user).versions(fact) if episode.id in one.sources]

    def _spot_of(self, message: Episode, where: Filter | None, at: float | None) -> Spot | None:
        """Return where a message stands in its talk, with those beside it that a question may be shown."""
        from worldthread.answering.quotations import Spot

        with self._index.current() as index:
            conversation, graph = index.conversation, index.graph
            place = -1 if conversation is None else int(conversation.places[graph.episode_number(message.id)])
            if conversation is None or place < 0:
                return None
            condition = condition_of(where)
            may = None if condition is None else graph.select(condition).episodes
            beside: list[Episode | None] = []
            for other in (place - 1, place + 1):
                is_there = 0 <= other < len(conversation)
                if not is_there or conversation.sessions[other] != conversation.sessions[place]:
                    beside.append(None)
                    continue
                number = int(conversation.episodes[other])
                record = graph.numbered_episode(number)
                is_shown = record is not None and (may is None or may[number]) and (at is None or record.at <= at)
                beside.append(self.episode(record.id) if record is not None and is_shown else None)
            return Spot(int(conversation.sessions[place]), place, *beside)

    def about(self, entity: str, *, as_of: TimeLike | None = None, where: Filter | None = None) -> list[Version]:
        """List what holds about an entity, with times and sources: statements about it, and sentences that name it.

        A sentence that tells what was over when it was told, as events are, is listed from then on.

        Args:
            entity: a name; its singular or plural, or the name without the marks of its letters ("Soren" for "Søren"),
                is tried when nothing is known under the name itself.
            as_of: a world time; ``None`` for now.
            where: only statements that meet this filter.

        Returns:
            Statements in a fixed order that depends on their content only; empty when nothing holds.

        Raises:
            InputError: an argument cannot be used.
        """
        at, condition = to_asked_time(as_of, self._store.graph, self._timezone), condition_of(where)
        with self.record.read_lock() as graph:
            view, selection = graph.view(at), None if condition is None else graph.select(condition)
            keys = known_keys(entity, graph, selection)
            listed: list[Version] = []
            for numbers in [*(graph.numbers_about(key) for key in keys), theses_naming(entity, keys, graph)]:
                pairs = [pair for number in numbers for pair in graph.told_and_lasting(number, selection)]
                holding = [
                    lasting
                    for told, lasting in pairs
                    if view.covers(lasting.interval)
                    or (view.covers(told.interval) and graph.was_told_as_past(lasting, at))
                ]
                listed += sorted(holding, key=by_names)
            return listed

    def timeline(self, entity: str, *, where: Filter | None = None) -> list[Version]:
        """List everything that ever held about an entity, with sources and the reasons why it ended.

        Args:
            entity: a name, as for :meth:`about`.
            where: only statements that meet this filter.

        Returns:
            Statements with the intervals in which they held, in order of time.

        Raises:
            InputError: the name is empty or not a string.
        """
        condition = condition_of(where)
        with self.record.read_lock() as graph:
            selection = None if condition is None else graph.select(condition)
            keys = known_keys(entity, graph, selection)

            def lasting(numbers: Iterable[int]) -> list[Version]:
                return [version for number in numbers for version in graph.lasting_versions(number, selection)]

            naming = lasting(theses_naming(entity, keys, graph))
            listed = [v for key in keys for v in sorted(lasting(graph.numbers_about(key)), key=timeline_order)]
            return sorted(listed + naming, key=timeline_order) if naming else listed

    def entities(self, prefix: str = "") -> list[str]:
        """List the names that statements are about.

        Args:
            prefix: only names that begin with this.

        Returns:
            Normalised names, sorted.

        Raises:
            InputError: ``prefix`` is not a string.
        """
        start = normalise_name(prefix) if require_unicode(prefix, "prefix").strip() else ""
        with self.record.read_lock() as graph:
            return [name for name in graph.objects() if name.startswith(start)]

    def view(self, at: TimeLike | None = None) -> GraphView:
        """Return a live view of what holds now, or held at a time.

        Args:
            at: world time; ``None`` for now.

        Returns:
            The view; it follows later changes.

        Raises:
            InputError: ``at`` is not a time.
        """
        return self.record.view(at)

    def as_of(self, world_time: TimeLike | None = None, recorded_time: TimeLike | None = None) -> GraphView:
        """Return a view of what was known from the episodes up to a world time and up to a recorded time.

        Args:
            world_time: takes the episodes with a world time up to and including this; ``None`` for all.
            recorded_time: takes the episodes that were recorded up to and including this; ``None`` for all.

        Returns:
            A view that does not follow later changes.

        Raises:
            InputError: an argument is not a time.
        """
        from worldthread.extract.when import asked_time
        from worldthread.extract.zones import zone_named

        with self.record.read_lock() as graph:
            asked = to_asked_time(world_time, graph, self._timezone)
            return graph.as_of(asked, asked_time(recorded_time, zone=zone_named(self._timezone))).view()

    # -- the episodes -----------------------------------------------------------------------------------------------

    def episode(self, episode_id: str) -> Episode:
        """Return an episode with its text and its extraction.

        Args:
            episode_id: the id of the episode.

        Returns:
            The episode as recorded.

        Raises:
            NotFoundError: there is no such episode.
        """
        return self._store.episode(episode_id)

    def episodes(self, where: Filter | None = None) -> Iterator[Episode]:
        """Iterate over the episodes.

        Args:
            where: only episodes that meet this filter.

        Returns:
            An iterator in order of world time, then id. Episodes that are forgotten in the meantime are left out.
        """
        return self._store.episodes(condition_of(where))

    def list_episodes(
        self, where: Filter | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> Page[Episode]:
        """List the episodes page by page.

        Args:
            where: only episodes that meet this filter.
            limit: how many at most.
            cursor: :attr:`Page.cursor <worldthread.Page.cursor>` of the page before; ``None`` for the first page.

        Returns:
            Episodes in order of world time, then id.

        Raises:
            InputError: an argument cannot be used.
        """
        condition = condition_of(where)
        require_count(limit, "limit")
        after = None if cursor is None else episode_place(cursor)
        with self.record.read_lock() as graph:
            chosen = None if condition is None else set(graph.selected_episodes(condition))
            ids = (id_ for id_ in graph.listed_episodes(after) if chosen is None or id_ in chosen)
            items = [self._store.episode(id_) for id_ in islice(ids, limit + 1)]
        last = items[limit - 1] if len(items) > limit else None
        return Page(tuple(items[:limit]), None if last is None else place_as_text(last.at, last.id))

    def list_statements(
        self,
        where: Filter | None = None,
        *,
        as_of: TimeLike | None = None,
        only_current: bool = True,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Version]:
        """List the statements page by page, with their intervals. ``version.statement.id`` is the id of a statement.

        Args:
            where: only statements that meet this filter.
            as_of: a world time; ``None`` for now.
            only_current: leave out what does not hold at that time.
            limit: how many at most.
            cursor: :attr:`Page.cursor <worldthread.Page.cursor>` of the page before; ``None`` for the first page.

        Returns:
            Statements in order of the beginning of their interval, then of their id, then of the end, then of the user.

        Raises:
            InputError: an argument cannot be used.
        """
        condition, at = condition_of(where), to_asked_time(as_of, self._store.graph, self._timezone)
        require_count(limit, "limit")
        after = None if cursor is None else version_place(cursor)
        items: list[Version] = []
        last = None
        with self.record.read_lock() as graph:
            view = graph.view(at)
            selection = None if condition is None else graph.select(condition)
            for place, number in graph.listed_versions(after):
                interval = Interval(place[0], place[2])
                if only_current and not view.covers(interval):
                    continue
                found = [
                    lasting
                    for version, lasting in graph.told_and_lasting(number, selection)
                    if version.interval == interval and (not only_current or view.covers(lasting.interval))
                ]
                if found and len(items) >= limit:
                    return Page(tuple(items), None if last is None else place_as_text(*last))
                items += found
                last = place if found else last
        return Page(tuple(items))

    def namespaces(self) -> list[NamespaceSize]:
        """List the memories of this file.

        Returns:
            The namespaces that hold something, with their sizes, sorted by name.
        """
        return self._store.list_namespaces()

    def delete_namespace(self, namespace: str) -> int:
        """Remove a memory of this file with all that it holds. Takes time linear in the file.

        Args:
            namespace: the name of the memory, as :meth:`namespaces` lists it; it may be this one, which is empty then.

        Returns:
            How many episodes were removed.

        Raises:
            InputError: the name is not a string.
            NotFoundError: there is no such memory in this file.
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        name = require_unicode(namespace, "namespace")
        if name not in {one.name for one in self._store.list_namespaces()}:
            raise NotFoundError(f"no memory of this file has the name {name!r}")
        measured = operation("delete_memory_store", {"gen_ai.memory.store.id": name})
        with measured, self._store.open_namespace(name) as store:
            count = len(store.graph)
            store.clear()
        return count

    def stats(self) -> dict[str, int]:
        """Count what the memory holds.

        Returns:
            The numbers of ``episodes`` (and of those ``unread`` and ``failed``), ``facts`` and ``theses`` ever stated,
            ``current_facts`` and ``current_theses`` that hold now, ``ended`` versions, and ``vectors``.
        """
        return self._store.stats()

    def export(self, target: str | os.PathLike[str] | IO[bytes] | IO[str], *, where: Filter | None = None) -> int:
        """Write every episode as one line of JSON.

        Args:
            target: a file, which is written completely or not at all, or a stream.
            where: only episodes that meet this filter.

        Returns:
            How many episodes were written.

        Raises:
            InputError: ``target`` is the file of this memory, or neither a file nor a stream.
            StoreError: the file cannot be written.
        """
        return self._store.export(target, condition_of(where))

    def import_(self, source: str | os.PathLike[str] | IO[bytes] | IO[str]) -> ImportCounts:
        """Record every episode of an export: all of them or, after an error, none.

        Args:
            source: a file or a stream that :meth:`export` wrote.

        Returns:
            How many episodes were ``added``, and how many were ``known`` before.

        Raises:
            InputError: ``source`` is neither a file nor a stream.
            FormatError: a line is not an exported episode; the message says which.
            StoreError: the file cannot be read.
            ReadOnlyError: the memory was opened for reading only.
        """
        return self._store.import_(source)

    def share_file(self) -> None:
        """Let other processes write to the file between the changes of this memory, until it is closed.

        Otherwise a memory that is open for writing keeps all other writers out. From now on, each change waits for
        other writers as long as opening did (``wait``), and raises :class:`~worldthread.errors.StoreLockedError` when
        one does not finish in time. A long text is recorded passage by passage: the file is free while texts are read
        and embedded. The commands and the servers open memories in this way.
        """
        self._store.share_file()

    def reembed(self, *, progress: bool | Progress | None = None) -> int:
        """Embed everything with the embedder of this memory, then remove the vectors of all other embedders.

        Use it after opening the memory with another embedder than before. The old vectors stay until all new ones are
        there; after an error or a kill, call it again, and it goes on where it stopped. In the meantime the memory can
        be used with either embedder. A memory that is opened without naming an embedder takes the one of its vectors,
        if that one comes with worldthread.

        Args:
            progress: see :meth:`remember_many`.

        Returns:
            How many texts were embedded.

        Raises:
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        return self._index.reembed(progress)

    def watch_indexing(self, progress: Progress | None) -> None:
        """Follow how a question waits until everything that is remembered has its vector.

        A memory that was never asked, or whose vectors belong to another embedder, embeds its texts at the first
        question.

        Args:
            progress: called before each batch with the number of texts embedded and of all that lack a vector. An
                exception that it raises ends the question; the vectors so far are kept. ``None`` ends the watch.
        """
        self._index.progress = progress

    def warm_up(self) -> None:
        """Load what the first question needs: the code, the saved index, and the embedder if it came with worldthread.

        A server calls this after it started, so that nobody waits for it. It computes no vectors of what is remembered
        and sends nothing to any server. Calling it again does nothing.
        """
        for module in _FOR_QUESTIONS:
            importlib.import_module(module)
        self._index.warm_up()

    # -- closing ----------------------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Save a snapshot for quick opening, release unused space, and empty the log.

        :meth:`close` does as much of this as pays.

        Raises:
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.checkpoint()
        self._index.checkpoint()

    def close(self) -> None:
        """Release the file. Calling it again does nothing.

        After many texts were remembered, the retrieval index is saved beside the file, so that the next process does
        not build it again.
        """
        try:
            self._ingestion.background.finish()
        finally:
            self._release()

    def _release(self) -> None:
        try:
            self._index_of_texts.close()
        finally:
            try:
                self._opened.close()
            finally:
                self._models.close()

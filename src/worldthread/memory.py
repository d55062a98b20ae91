"""A memory: what was remembered, and what holds of it. The work is done by the parts that this module connects."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self

from worldthread.arguments import (
    require_count,
    require_methods,
    require_query,
    require_string,
    require_subset,
    require_unicode,
)
from worldthread.corrections import StatementLike, correction
from worldthread.errors import InputError, NotFoundError
from worldthread.extract.base import USER
from worldthread.graph import GraphView
from worldthread.ingestion import Content, Ingestion, Remembered
from worldthread.memory_index import MemoryIndex
from worldthread.memory_models import MemoryModels
from worldthread.merging import MergeSuggestion, merging, suggestions
from worldthread.names import normalise_name
from worldthread.progress import Progress
from worldthread.record import Record, describe_store, known_keys, to_world_time
from worldthread.stores import DEFAULT_NAMESPACE, Durability, ImportCounts, Store, open_store
from worldthread.types import KINDS, Episode, Kind, Recall, TimeLike, Version

if TYPE_CHECKING:
    from worldthread.answer import Answer
    from worldthread.extract.base import Extractor
    from worldthread.models import Embedder
    from worldthread.models.chat import ChatModel


class Memory:
    """A memory of texts, conversations and facts, in one file or in RAM.

    Everything that is remembered has a *world time*: when it was so. A memory answers for now and for any earlier time.
    Use it as a context manager, or call :meth:`close`.

    Thread-safe. Every method raises :class:`~worldthread.errors.ClosedError` after :meth:`close`, and
    :class:`~worldthread.errors.StoreError` with the reason when the file cannot be read or written.
    :class:`~worldthread.AsyncMemory` has the same methods for asynchronous programs.

    Args:
        path: the file; it is created when it does not exist. ``None`` keeps the memory in RAM until it is closed.
            ``"SCHEME://..."`` opens another kind of store, see :data:`worldthread.stores.STORES`.
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
        extractor: turns text into statements. ``None`` uses the model, or rules for English when there is no model.
        embedder: an embedder or the name of one. ``None`` takes ``$WORLDTHREAD_EMBEDDER``, else MiniLM.
        user: the name of the person whom the memory serves. Messages of the role "user" are theirs, and so are texts
            that say "I" without naming a speaker; "I" in a question means them.

    Attributes:
        record: the episodes and their graph, for agents and other programs that work episode by episode; see
            :class:`~worldthread.record.Record`.

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
        extractor: Extractor | None = None,
        embedder: Embedder | str | None = None,
        user: str = USER,
    ) -> None:
        require_query(user, "the name of the user")
        require_methods(clock, ("__call__",), "clock", "a function that returns the time")
        models = MemoryModels(model, extractor, embedder)  # before a file is created: a wrong name leaves none behind
        try:
            store = open_store(
                path, namespace=namespace, readonly=readonly, durability=durability, wait=wait, clock=clock
            )
        except BaseException:
            models.close()
            raise
        self._connect(store, models, clock, user)

    def _connect(self, store: Store, models: MemoryModels, clock: Callable[[], float], user: str) -> None:
        self._store = store
        self._models = models
        self._clock = clock
        self._user = user
        self._index = MemoryIndex(store, models)
        self._ingestion = Ingestion(store, self._index, models, user)
        self.record = Record(store, self._index)

    def __repr__(self) -> str:
        return f"Memory({describe_store(self._store)})"

    @property
    def path(self) -> Path | None:
        """The file; ``None`` for a memory in RAM."""
        return self._store.path

    @property
    def namespace(self) -> str:
        """The name of this memory within its file."""
        return self._store.namespace

    @property
    def readonly(self) -> bool:
        """Whether the memory was opened for reading only."""
        return self._store.readonly

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
        memory._connect(self._store.open_namespace(namespace), self._models.copy(), self._clock, self._user)
        return memory

    # -- remembering ------------------------------------------------------------------------------------------------

    def remember(self, content: Content, at: TimeLike | None = None, source: str | None = None) -> Remembered:
        """Record a text, a conversation or plain statements, and what they state.

        Text is divided into passages along its structure. Each passage becomes an episode, which is durable when this
        returns. A passage that the model cannot read is recorded unread (see :meth:`retry`). Episodes that are recorded
        already are left as they are.

        Args:
            content: one of

                * a text, or a :class:`~worldthread.Document`;
                * messages: mappings with ``content`` (or ``text``), ``role`` (or ``speaker``, ``name``) and optionally
                  ``at``; each becomes an episode. Messages without a time are placed a millisecond apart, the last one
                  at ``at``;
                * statements that are recorded together: facts, theses, or triples of strings. A triple ends the older
                  value where a sentence would ("lives in", "has age"); a :class:`~worldthread.Fact` ends one only
                  through its aspect;
                * an :class:`~worldthread.Episode`, which keeps its own time, source and extraction.
            at: world time: a number, a date or time, or an ISO 8601 text; see :data:`~worldthread.TimeLike`. ``None``
                for now, by the clock.
            source: where the content comes from; part of the identity of its episodes.

        Returns:
            The episodes, how many of them are new, and how many could not be read.

        Raises:
            InputError: the content cannot be remembered; the message says why.
            ReadOnlyError: the memory was opened for reading only.
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
        """Record many contents in batches, with several concurrent calls to the model.

        Each batch is recorded as soon as it is read. After an error or a kill, remember the same contents with the same
        times again: what is recorded is skipped.

        Args:
            contents: a list or an iterator of what :meth:`remember` takes.
            at: world time of contents that bring none. Documents of one source, and the passages of a text, are placed
                a microsecond apart.
            source: source of contents that bring none.
            progress: ``True`` shows a progress bar of the passages on standard error, ``False`` shows none; ``None``
                shows one when standard error is a terminal. A function is called instead with the number of passages
                done and the total, which is ``None`` for an iterator.

        Returns:
            The episodes of all contents, how many of them are new, and how many could not be read.

        Raises:
            InputError: a content cannot be remembered. Of a list, nothing is recorded then; of an iterator, what came
                before that content.
            ReadOnlyError: the memory was opened for reading only.
        """
        return self._ingestion.remember_many(contents, at, source, self._clock(), progress)

    def unread(self) -> list[Episode]:
        """List the episodes that no extractor has read completely.

        Returns:
            The episodes; ``extraction.failures`` holds what could not be understood.
        """
        with self.record.read_lock() as graph:
            return [self._store.episode(id_) for id_ in graph.unread()]

    def retry(self, *, progress: bool | Progress | None = None) -> Remembered:
        """Read the unread episodes again, after a failure of the model or with a better one.

        Args:
            progress: see :meth:`remember_many`.

        Returns:
            The episodes that were tried; ``added`` counts those that are read now.

        Raises:
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        return self._ingestion.retry(self.unread(), progress)

    def forget(self, episode: Episode | str | None = None, *, entity: str | None = None) -> int:
        """Remove an episode, or all episodes about an entity, as if they had never happened.

        Their texts are gone, and so is everything that follows from them alone. What is overwritten on the disk, and
        when, is described at :meth:`~worldthread.stores.Store.forget`.

        Args:
            episode: an episode or its id.
            entity: a name. Removes every episode that states something about it or names it anywhere in its text; see
                :meth:`~worldthread.record.Record.episodes_about`.

        Returns:
            How many episodes were removed.

        Raises:
            InputError: neither or both arguments are given.
            NotFoundError: there is no such episode, or none about the entity.
            ReadOnlyError: the memory was opened for reading only.
        """
        if (episode is None) == (entity is None):
            raise InputError("forget takes an episode, or entity=..., and not both")
        if entity is not None:
            ids = self.record.episodes_about(entity)
            if not ids:
                raise NotFoundError(f"no episode speaks of {entity!r}")
        else:
            ids = [episode.id if isinstance(episode, Episode) else require_unicode(episode, "the id of an episode")]
            self._store.forget(ids[0])
            return 1
        with self._store.write_lock() as graph:
            ids = [id_ for id_ in ids if id_ in graph]  # another process may have forgotten some in the meantime
            self._store.forget_many(ids)
        return len(ids)

    def correct(
        self,
        statement: StatementLike,
        replacement: StatementLike | None = None,
        reason: str = "",
        *,
        at: TimeLike | None = None,
        source: str = "",
    ) -> Episode:
        """Record that a statement was never true, and perhaps what was true instead.

        A correction is no change: the statement does not hold at any time, also not in the past, and what it had ended
        goes on. :meth:`timeline` still shows it, as an empty interval with the reason. It is recorded as an episode;
        forget that to undo it. What is said after it counts again.

        Args:
            statement: a fact, a thesis, or subject, relation and object of a fact. A thesis that says the same as the
                fact is corrected with it.
            replacement: what was true instead, in the intervals in which the other was held to be true, unless it
                states its own times; with the aspect of the other, unless it has its own.
            reason: why, in words.
            at: world time of the correction, later than what is corrected; ``None`` for now, by the clock.
            source: where the correction comes from.

        Returns:
            The episode of the correction, as recorded.

        Raises:
            InputError: an argument cannot be used.
            NotFoundError: no earlier episode states the statement.
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        with self.record.read_lock() as graph:
            time = to_world_time(at)
            now = graph.recorded_time(self._clock()) if time is None else time
            episode = correction(graph, statement, replacement, reason, now, require_string(source, "source"))
        return self._store.episode(self.remember(episode).episodes[0])

    def merge(self, name: str, into: str, reason: str = "", *, at: TimeLike | None = None, source: str = "") -> Episode:
        """Record that two names mean the same: statements of both count as statements of one, at any time.

        What texts say stays as written. It is recorded as an episode; forget that to undo it. The graph is computed
        anew, in time linear in its size.

        Args:
            name: a name.
            into: the name that is shown for both, such as the full one.
            reason: why, in words.
            at: world time of the episode; ``None`` for now, by the clock.
            source: where this comes from.

        Returns:
            The episode, as recorded.

        Raises:
            InputError: an argument cannot be used, or both are one name already.
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.require_writable()
        time = to_world_time(at)
        now = self._store.graph.recorded_time(self._clock()) if time is None else time
        episode = merging(name, into, reason, now, require_string(source, "source"))
        return self._store.episode(self.remember(episode).episodes[0])

    def suggest_merges(self) -> list[MergeSuggestion]:
        """List names that probably mean the same, each pair with its evidence. Nothing is changed.

        Returns:
            Suggestions for :meth:`merge`, sorted by name.
        """
        with self.record.read_lock() as graph:
            return suggestions(graph)

    # -- asking -----------------------------------------------------------------------------------------------------

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
        """Find the facts, theses and episodes that matter for a question.

        Args:
            query: a question, or any other words.
            k: the maximum number of hits of each kind.
            as_of: a world time (:data:`~worldthread.TimeLike`): finds what held then, from episodes up to and including
                that time. ``None`` for now.
            kinds: which of ``"fact"``, ``"thesis"`` and ``"episode"`` to find.
            method: a key of :data:`worldthread.retrieve.METHODS`; ``None`` for the default.
            only_current: leave out statements that do not hold at that time, and episodes of which no statement does.
            max_tokens: the limit of :attr:`Recall.text <worldthread.Recall.text>`, by a cautious estimate.

        Returns:
            The hits, best first within each kind, and the same as text for a prompt.

        Raises:
            InputError: an argument cannot be used.
        """
        from worldthread.retrieve import DEFAULT_METHOD
        from worldthread.retrieve.query import as_asked_by
        from worldthread.retrieve.search import search
        from worldthread.retrieve.text import hits_as_text

        require_query(query, "a question")
        require_count(k, "k")
        require_count(max_tokens, "max_tokens")
        require_subset(kinds, KINDS, "kinds")
        method = DEFAULT_METHOD if method is None else require_string(method, "method")
        at = to_world_time(as_of)
        asked = query if self._user == USER else as_asked_by(self._user, query)
        with self.record.read_lock() as graph:
            asked = graph.with_canonical_names(asked)
        vector = self._index.embedder.compute([asked])[0]  # not cached: questions leave no trace in the file
        with self._index.current() as index:
            hits = search(
                index, asked, vector,
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
        """Answer a question from what is remembered, with sources, or say that there is not enough information.

        Without a chat model the answer is the part of what is remembered that answers: the end of a fact, a name, a
        date, a place or a number, or else the sentence. There is an answer only if what is remembered about the subject
        of the question fits it well enough; what comes nearest is shown apart (:attr:`Answer.nearest
        <worldthread.Answer.nearest>`).

        Args:
            question: the question.
            k: the maximum number of hits of each kind to answer from.
            as_of: see :meth:`recall`.
            method: see :meth:`recall`.
            max_tokens: how many tokens of the prompt the hits may take, by a cautious estimate.

        Returns:
            The answer with the statements that support it.

        Raises:
            InputError: an argument cannot be used.
            AnswerError: the model's answer could not be used.
            ModelError: the model could not be asked.
        """
        from worldthread.answer import answer, answer_without_model
        from worldthread.answering import MemoryAccess
        from worldthread.retrieve.query import as_asked_by

        def recall(text: str, k: int, kinds: Collection[Kind] = KINDS) -> Recall:
            return self.recall(text, k=k, as_of=as_of, kinds=kinds, method=method, max_tokens=max_tokens)

        if self.model is not None:
            return answer(recall(question, k), self.model, max_tokens=max_tokens)
        require_query(question, "a question")
        require_count(k, "k")
        asked = question if self._user == USER else as_asked_by(self._user, question)
        embedder = self._index.embedder
        access = MemoryAccess(recall, embedder.embed, embedder.compute, self._rarities)
        return answer_without_model(question, asked, access, k=k, max_tokens=max_tokens)

    def _rarities(self, stems: Sequence[str]) -> list[float]:
        """Return how rare stems are among the episodes, from 0 to 1 for one that no episode has."""
        from worldthread.retrieve.words import rarities

        with self._index.current() as index:
            return rarities(stems, lambda stem: len(index.episode_words.having(stem)[0]), len(index.graph))

    def about(self, entity: str, *, as_of: TimeLike | None = None) -> list[Version]:
        """List what holds about an entity, with times and sources.

        Args:
            entity: a name; its singular or plural is tried when nothing is known under the name itself.
            as_of: a world time; ``None`` for now.

        Returns:
            Statements in a fixed order that depends on their content only; empty when nothing holds.

        Raises:
            InputError: an argument cannot be used.
        """
        at = to_world_time(as_of)
        with self.record.read_lock() as graph:
            view = graph.view(at)
            found = (v for key in known_keys(entity, graph) for s in view.about(key) for v in graph.versions(s))
            return [version for version in found if view.covers(version.interval)]

    def timeline(self, entity: str) -> list[Version]:
        """List everything that ever held about an entity, with sources and the reasons why it ended.

        Args:
            entity: a name, as for :meth:`about`.

        Returns:
            Statements with the intervals in which they held, in order of time.

        Raises:
            InputError: the name is empty or not a string.
        """
        with self.record.read_lock() as graph:
            return [version for key in known_keys(entity, graph) for version in graph.view().timeline(key)]

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
        with self.record.read_lock() as graph:
            return graph.as_of(to_world_time(world_time), to_world_time(recorded_time)).view()

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

    def episodes(self) -> Iterator[Episode]:
        """Iterate over the episodes.

        Returns:
            An iterator in order of world time, then id. Episodes that are forgotten in the meantime are left out.
        """
        return self._store.episodes()

    def stats(self) -> dict[str, int]:
        """Count what the memory holds.

        Returns:
            The numbers of ``episodes`` (and of those ``unread`` and ``failed``), ``facts`` and ``theses`` ever stated,
            ``current_facts`` and ``current_theses`` that hold now, ``ended`` versions, and ``vectors``.
        """
        return self._store.stats()

    def export(self, target: str | os.PathLike[str] | IO[bytes] | IO[str]) -> int:
        """Write every episode as one line of JSON.

        Args:
            target: a file, which is written completely or not at all, or a stream.

        Returns:
            How many episodes were written.

        Raises:
            InputError: ``target`` is the file of this memory, or neither a file nor a stream.
            StoreError: the file cannot be written.
        """
        return self._store.export(target)

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
            self._index.close()
        finally:
            try:
                self._store.close()
            finally:
                self._models.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

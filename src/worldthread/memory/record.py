"""The record behind a memory: its episodes as they are stored, and the graph that they fold to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from worldthread.errors import ClosedError
from worldthread.graph import STATE_HASH_VERSION, GraphView, TemporalGraph
from worldthread.models.cached import VectorCache
from worldthread.names import normalise_name, number_variants
from worldthread.stores import Store
from worldthread.support.arguments import require_iterable, require_query, require_unicode
from worldthread.types import Episode, Thesis, TimeLike

if TYPE_CHECKING:
    from worldthread.graph.conditions import Condition
    from worldthread.graph.selection import StatementSelection
    from worldthread.memory.index import MemoryIndex
    from worldthread.retrieve import RetrievalIndex


_GAP: Final = 1e-6  # of world time, as between two passages of one text


class Record:
    """Reads and writes a memory episode by episode, without a model: the attribute :attr:`Memory.record`.

    For agents, for importers that bring their own extractions, and for retrieval methods of your own. Everything else
    is on :class:`~worldthread.Memory`. Thread-safe; :attr:`graph` and its views are live, so read them inside
    ``with record.read_lock() as graph`` while others write.

    Like the methods of a memory, every method raises :class:`~worldthread.errors.ClosedError` after the memory was
    closed, and :class:`~worldthread.errors.StoreError` when the file cannot be read or written.

    Args:
        store: holds the episodes.
        index: the retrieval index of the memory.
        timezone: the time zone of times that name none; empty for UTC.
        finish: reads what waits to be read, before anything else is done.
    """

    def __init__(
        self, store: Store, index: MemoryIndex, timezone: str = "", finish: Callable[[], None] = lambda: None
    ) -> None:
        self._timezone = timezone
        self._opened = store
        self._index_of_texts = index
        self._finish = finish

    def __repr__(self) -> str:
        return f"Record({describe_store(self._opened)})"

    @property
    def _store(self) -> Store:
        """The store, when everything in it is read."""
        self._finish()
        return self._opened

    @property
    def _index(self) -> MemoryIndex:
        self._finish()
        return self._index_of_texts

    # -- episodes ---------------------------------------------------------------------------------------------------

    def add(self, episode: Episode) -> Episode:
        """Record an episode with the extraction that it brings.

        Nothing is read or embedded. The episode is durable when this returns (see
        :data:`~worldthread.stores.Durability`). An episode that is recorded already with the same extraction is left
        as it is.

        Args:
            episode: the episode.

        Returns:
            The episode as recorded, with its recorded time.

        Raises:
            InputError: this is not an episode, or it is recorded already with another extraction; see :meth:`replace`.
            ReadOnlyError: the memory was opened for reading only.
        """
        return self._store.append(_with_time_of_saying(episode))

    def add_many(self, episodes: Iterable[Episode]) -> int:
        """Record episodes in one transaction: all of them or, after an error, none.

        Args:
            episodes: the episodes; the iterator must not change the memory.

        Returns:
            How many of them are new.

        Raises:
            InputError: as for :meth:`add`.
            ReadOnlyError: the memory was opened for reading only.
        """
        return self._store.append_many(map(_with_time_of_saying, require_iterable(episodes, "episodes")))

    def replace(self, episode: Episode) -> Episode:
        """Give a recorded episode a new extraction. Its id and its recorded time stay.

        Args:
            episode: the episode with its new extraction.

        Returns:
            The episode as recorded.

        Raises:
            InputError: this is not an episode.
            NotFoundError: there is no such episode.
            ReadOnlyError: the memory was opened for reading only.
        """
        return self._store.replace(episode)

    def forget(self, episode: str) -> None:
        """Remove an episode as if it had never happened. See :meth:`~worldthread.stores.Store.forget`.

        Args:
            episode: the id of the episode.

        Raises:
            NotFoundError: there is no such episode.
            ReadOnlyError: the memory was opened for reading only.
        """
        self._store.forget(require_unicode(episode, "the id of an episode"))
        self._index.follow()

    def forget_many(self, episodes: Sequence[str]) -> list[Episode]:
        """Remove many episodes, as :meth:`forget` removes one: all of them or, after an error, none.

        Args:
            episodes: the ids of the episodes.

        Returns:
            The episodes that were removed.

        Raises:
            NotFoundError: there is no such episode.
            ReadOnlyError: the memory was opened for reading only.
        """
        ids = [require_unicode(one, "the id of an episode") for one in episodes]
        self._store.require_writable()
        with self._store.write_lock():  # nobody replaces or forgets one after it was read
            gone = [self._store.episode(one) for one in ids]
            self._store.forget_many(ids)
        self._index.follow()
        return gone

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

    def episodes_about(self, entity: str, condition: Condition | None = None) -> list[str]:
        """Find the episodes that state something about an entity or name it in their text.

        :meth:`Memory.forget(entity=...) <worldthread.Memory.forget>` removes exactly these, so this tells what
        it would remove. A word of the text counts where it is written as a name
        (:class:`~worldthread.extract.prose.mentions.Mentions`): "Will" is in "Will called", and not in "I will call".

        Args:
            entity: a name; its singular or plural, or the name without the marks of its letters, is tried when nothing
                is known under the name itself.
            condition: only episodes that meet it, such as :attr:`Filter.condition <worldthread.Filter.condition>`.

        Returns:
            Ids of the episodes, in order of world time, then id.

        Raises:
            InputError: the name is empty or not a string.
        """
        from worldthread.extract.prose.mentions import Mentions

        entity = require_query(entity, "the name of an entity")
        with self.read_lock() as graph:
            selection = None if condition is None else graph.select(condition)
            keys = known_keys(entity, graph, selection)
            versions = (v for key in keys for v in graph.view().timeline(key, selection))
            stating = {source for version in versions for source in version.sources}
            written = [Mentions(name) for name in dict.fromkeys((entity, *keys))]
            written = written[:1] if written[0].key in keys else written
            likely = [
                episode
                for episode in self._store.episodes(condition)
                if episode.id in stating or any(one.may_be_in(episode.text) for one in written)
            ]
            for one in written:
                is_common = any(one.is_common_in(episode.text) for episode in likely)
                stating.update(e.id for e in likely if one.are_in(e.text, is_common=is_common))
            return [episode.id for episode in likely if episode.id in stating]

    # -- the graph --------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> TemporalGraph:
        """The live graph, up to date with what other processes wrote. Do not change it."""
        return self._store.graph

    def view(self, at: TimeLike | None = None) -> GraphView:
        """Return a live view of what holds now, or held at a time.

        Args:
            at: world time; ``None`` for now.

        Returns:
            The view; it follows later changes.

        Raises:
            InputError: ``at`` is not a time.
        """
        graph = self.graph
        return graph.view(to_asked_time(at, graph, self._timezone))

    def read_lock(self) -> AbstractContextManager[TemporalGraph]:
        """Keep everybody from changing the memory until the block ends.

        Returns:
            A context manager that gives the graph. The block itself must not change the memory either.
        """
        return self._store.read_lock()

    def state_hash(self, version: int = STATE_HASH_VERSION) -> str:
        """Compute a digest that two memories share exactly when they hold the same episodes.

        Text, world time, source and the whole extraction of every episode count; recorded times do not.

        Args:
            version: 2; or 1 to compare with a digest that an older release computed, which has no ``"v2-"`` in front.
                Version 1 leaves out aspects, endings without effect, names of extractors and failures.

        Returns:
            ``"v2-"`` and 64 hexadecimal digits; for version 1 the digits alone.

        Raises:
            InputError: there is no such version.
        """
        with self.read_lock() as graph:
            return graph.state_hash(version)

    def refresh(self) -> bool:
        """Take in what other processes wrote. Every method that reads does this by itself.

        Returns:
            Whether anything was new.
        """
        return self._store.refresh()

    def wait_for_change(self, seconds: float) -> bool:
        """Wait until another process has written, and take in what it wrote.

        Args:
            seconds: the longest time to wait; ``math.inf`` for as long as it takes.

        Returns:
            Whether anything was new.

        Raises:
            StoreUnavailableError: the server of the memory could not be reached until the end of that time.
        """
        return self._store.wait_for_change(seconds)

    # -- vectors ----------------------------------------------------------------------------------------------------

    @property
    def vectors(self) -> VectorCache:
        """Keeps vectors in the file, by embedder and text."""
        return self._store

    def index(self) -> AbstractContextManager[RetrievalIndex]:
        """Keep everybody from changing the memory, and give the index that :meth:`Memory.recall` searches.

        Use it to try a retrieval method of your own.

        Returns:
            A context manager that gives the index, up to date. The block must not change the memory.
        """
        return self._index.current()


def _with_time_of_saying(episode: Episode) -> Episode:
    """Return an episode whose times can be meant; turns and dates are the matter of who works episode by episode."""
    if isinstance(episode, Episode):
        require_times_of_saying([episode], math.inf, None)
    return episode


def known_keys(entity: str, graph: TemporalGraph, selection: StatementSelection | None = None) -> list[str]:
    """Return the normalised names under which the graph knows an entity.

    Args:
        entity: a name.
        graph: the graph.
        selection: what counts of it; ``None`` for all.

    Returns:
        Its own name; else its other number; else the names that differ from it in the marks of their letters only.
        Sorted; empty when nothing is known about the entity.

    Raises:
        InputError: the name is empty or not a string.
    """
    key = normalise_name(require_query(entity, "the name of an entity"))
    view = graph.view()
    if view.timeline(key, selection):
        return [key]
    variants = [variant for variant in sorted(number_variants(key)) if view.timeline(variant, selection)]
    return variants or sorted(name for name in graph.strings_like(key) if view.timeline(name, selection))


def theses_naming(entity: str, keys: Sequence[str], graph: TemporalGraph) -> list[int]:
    """Return the numbers of the theses that name an entity in their text without being tied to it.

    Args:
        entity: a name.
        keys: what :func:`known_keys` returned for it.
        graph: the graph.

    Returns:
        The numbers. Where there are keys, theses are left out in which the name is part of a longer one ("Anna" in
        "Anna Lindqvist"), and so are all if it is written in small letters.
    """
    from worldthread.extract.prose.mentions import Mentions

    if keys and entity.strip()[:1].islower():
        return []
    name = Mentions(entity)
    theses = [(n, s) for n in graph.theses_with(name.key) if isinstance(s := graph.numbered_statement(n), Thesis)]
    is_common = any(name.is_common_in(thesis.text) for _, thesis in theses)
    found = []
    for number, thesis in theses:
        objects = graph.names_of(number)
        is_told_otherwise = name.key in objects or (keys and any(map(name.may_be_in, objects)))
        if not is_told_otherwise and name.are_in(thesis.text, is_common=is_common):
            found.append(number)
    return found


def to_world_time(value: TimeLike | None, graph: TemporalGraph | None = None, timezone: str = "") -> float | None:
    """Return a time at which something is to begin as a number; ``None`` stays ``None``.

    Args:
        value: the time.
        graph: the graph of the memory, which knows whether times are turns; ``None`` where it does not matter.
        timezone: the time zone of times that name none; empty for UTC.

    Raises:
        InputError: it is not a time.
    """
    from worldthread.extract.when import counts_turns, world_time
    from worldthread.extract.zones import zone_named

    turns = graph is not None and counts_turns(graph.latest_time) is True
    return None if value is None else world_time(value, 0.0, counts_turns=turns, zone=zone_named(timezone))


def to_asked_time(value: TimeLike | None, graph: TemporalGraph, timezone: str = "") -> float | None:
    """Return a time that is asked about as a number, of a day, month or year the last second; ``None`` for now.

    Args:
        value: the time.
        graph: the graph of the memory, which knows whether times are turns.
        timezone: the time zone of times that name none; empty for UTC.

    Raises:
        InputError: it is not a time of the kind that the memory holds.
    """
    from worldthread.extract.when import asked_time, counts_turns
    from worldthread.extract.zones import zone_named

    turns = counts_turns(graph.latest_time)
    if isinstance(value, int | float) and turns is None:
        turns = True  # nothing tells that it is not a turn
    return asked_time(value, counts_turns=turns is True, zone=zone_named(timezone))


def next_time(graph: TemporalGraph, clock: float) -> float:
    """Return the world time of what is remembered without one: now, which is the latest turn where turns are counted.

    Args:
        graph: the graph of the memory.
        clock: the time by the clock of the memory.
    """
    from worldthread.extract.when import counts_turns

    latest = graph.latest_time
    if latest is not None and counts_turns(latest) and not counts_turns(clock):
        return latest + _GAP
    return graph.recorded_time(clock)


def require_times_of_saying(episodes: Iterable[Episode], clock: float, latest: float | None) -> None:
    """Check the world times of episodes that are to be recorded.

    Args:
        episodes: the episodes.
        clock: the time by the clock of the memory.
        latest: world time of the latest episode that is recorded; ``None`` while there is none.

    Raises:
        InputError: a time cannot be meant, see :func:`~worldthread.extract.when.require_time_of_saying`.
    """
    from worldthread.extract.when import counts_turns, require_time_of_saying, world_time

    turns = counts_turns(latest)
    for episode in episodes:
        turns = require_time_of_saying(episode.at, clock, turns)
        for statement in episode.extraction.statements:
            world_time(statement.valid_from, 0.0)
            world_time(statement.valid_to, 0.0)
        for ending in episode.extraction.endings:
            world_time(ending.at, 0.0)


def describe_store(store: Store) -> str:
    """Return the file, the namespace and the number of episodes for a ``repr``; never raises."""
    file = store.location if store.path is None else repr(store.path.name)
    try:
        count = len(store.graph)
        episodes = f"{count:,} episode{'' if count == 1 else 's'}"
    except Exception as error:  # closed, or the file cannot be read: a repr must not raise
        episodes = "closed" if isinstance(error, ClosedError) else "not readable"
    return f"{file}, namespace={store.namespace!r}, {episodes}"

"""What stores have in common that keep many namespaces behind one connection: an SQLite file, or a server."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import ClosedError, DamagedFileError
from worldthread.graph import TemporalGraph
from worldthread.stores.base import Store
from worldthread.stores.connection import StoreConnection
from worldthread.stores.namespace_state import NamespaceState
from worldthread.stores.rows import decoded_episode, require_name, text_digests, unpacked_vector
from worldthread.stores.snapshots import ChangePosition
from worldthread.types import WAITING, Episode

_Connection = TypeVar("_Connection", bound=StoreConnection)
_State = TypeVar("_State", bound=NamespaceState)


class ConnectedStore(Store, Generic[_Connection, _State]):
    """One namespace behind a connection, which the stores of its other namespaces share.

    Args:
        database: the connection.
        namespace: name of the namespace.
        clock: gives the recorded time, in seconds since 1970-01-01 UTC.
        states: the open namespaces by name, shared by all stores of the connection.
    """

    def __init__(
        self,
        database: _Connection,
        namespace: str,
        clock: Callable[[], float],
        states: MutableMapping[str, _State],
    ):
        require_name(namespace, "the namespace")
        self._database = database
        self._clock = clock
        self._states = states
        self._state = states.setdefault(namespace, self._new_state(namespace))
        self._closed = False
        self._lock_holder: int | None = None  # the thread inside `write_lock`
        self._state.users.add(self)
        database.users.add(self)

    def __repr__(self) -> str:
        mode = "closed" if self._closed else "readonly" if self.readonly else "writable"
        return f"<{type(self).__name__} {str(self._database.location)!r}, namespace {self.namespace!r}, {mode}>"

    def open_namespace(self, namespace: str) -> Self:
        with self._database.lock:
            self._require_open()
            return type(self)(self._database, namespace, self._clock, self._states)

    @property
    def namespace(self) -> str:
        return self._state.name

    @property
    def readonly(self) -> bool:
        return self._database.readonly

    def require_writable(self) -> None:
        with self._database.lock:
            self._require_open()
            self._database.require_writable()

    def forget(self, episode_id: str) -> None:
        self.forget_many([episode_id])

    @property
    def graph(self) -> TemporalGraph:
        with self._database.lock:
            return self._up_to_date_graph()

    def is_read_by_this_thread(self) -> bool:
        return self._database.is_read_by_this_thread() or self._lock_holder == threading.get_ident()

    def refresh(self) -> bool:
        with self._database.lock:
            before = (self._state.graph, self._state.number, self._state.position)
            self._up_to_date_graph()
            return before != (self._state.graph, self._state.number, self._state.position)

    def get_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        require_name(model, "the name of a model")
        texts_by_key = text_digests(texts)
        found: dict[str, NDArray[np.float32]] = {}
        with self._database.lock:
            self._up_to_date_graph()
            for key, packed in self._packed_vectors(model, list(texts_by_key)):
                vector = unpacked_vector(key, packed) if key in texts_by_key else None
                if vector is None:
                    raise DamagedFileError(
                        f"a vector of {model} cannot be read: its bytes have changed", path=self._database.location
                    )
                found[texts_by_key[key]] = vector
        return found

    def _require_open(self) -> None:
        if self._closed:
            raise ClosedError("the memory was closed: open it again", path=self._database.location)

    def _begin_use(self) -> None:
        self._require_open()
        self._database.begin_use()

    def _up_to_date_graph(self) -> TemporalGraph:
        """Begin a use of the store, and return the graph with everything that was written. Hold the lock."""
        self._begin_use()
        self._follow()
        assert self._state.graph is not None
        return self._state.graph

    def _recorded(self, episode: Episode) -> Episode:
        """Return an episode with its recorded time, which is now unless it has one."""
        if episode.recorded_at is not None:
            return episode
        assert self._state.graph is not None
        return replace(episode, recorded_at=self._state.graph.recorded_time(self._clock()))

    def _read_again(self, episode: Episode, old: Episode) -> Episode:
        """Return an episode as it is recorded in the place of an old one."""
        assert self._state.graph is not None
        # whoever asked had waited until it was read: it never was in the memory without its extraction
        waited = old.extraction == WAITING
        now = old.extracted_at if waited else self._state.graph.recorded_time(self._clock())
        return replace(episode, recorded_at=old.recorded_at, extracted_at=now)

    def _decoded(self, episode_id: str, digest: object, content: object, *, with_extraction: bool = True) -> Episode:
        try:
            return decoded_episode(episode_id, digest, content, with_extraction=with_extraction)
        except ValueError as error:
            raise DamagedFileError(
                f"episode {episode_id} cannot be read: {error}", path=self._database.location
            ) from error

    def _catch_up(self, number: int, last: ChangePosition, episodes: int) -> None:
        """Make the graph show the record up to a change.

        Args:
            number: of the namespace.
            last: the change.
            episodes: how many episodes there are then.

        Raises:
            DamagedFileError: episodes are missing.
        """
        state = self._state
        if state.graph is None or state.number != number or not self._is_on_record(number, state.position):
            state.start_over(number)
            self._load_snapshot(number)
        state.is_torn = True  # it shows only some of the changes until the end of this method
        found = self._apply_changes(last, episodes)
        if found != episodes:
            # the snapshot is wrong, or so old that changes are missing, so the graph is made from the record alone
            state.start_over(number)
            found = self._apply_changes(last, episodes)
        if found != episodes:
            raise DamagedFileError(f"{found} of {episodes} episodes can be found", path=self._database.location)
        state.compact_if_worthwhile()
        state.is_torn = False

    def _is_on_record(self, number: int, position: ChangePosition) -> bool:
        """Return whether a position belongs to the history of namespace ``number``."""
        if not position.number:
            return not position.token
        return bool(self._token(number, position.number) == position.token)

    def _release(self) -> None:
        """Give up the namespace, and close the connection if no other store uses it."""
        state, database = self._state, self._database
        state.users.discard(self)
        if not state.users and self._states.get(state.name) is state:
            del self._states[state.name]  # else each namespace that was ever open would stay in memory
        database.users.discard(self)
        if not database.users:
            database.close()

    @abstractmethod
    def _new_state(self, namespace: str) -> _State:
        """Return what is known of a namespace before its first use."""

    @abstractmethod
    def _follow(self) -> None:
        """Update the graph if somebody may have written what it does not show."""

    @abstractmethod
    def _packed_vectors(self, model: str, keys: Sequence[bytes]) -> Iterable[tuple[Any, Any]]:
        """Return the digests of texts and their packed vectors, of those of ``keys`` that have one."""

    @abstractmethod
    def _load_snapshot(self, number: int) -> None:
        """Begin with the newest snapshot of a namespace instead of an empty graph, if it can be used."""

    @abstractmethod
    def _token(self, number: int, change: int) -> Any:
        """Return the token of a change of a namespace; ``None`` when it is not on record."""

    @abstractmethod
    def _apply_changes(self, last: ChangePosition, episodes: int) -> int:
        """Apply the changes after the position of the graph, up to ``last``.

        Args:
            last: the last change.
            episodes: how many episodes there are then.

        Returns:
            The number of episodes of the graph.
        """

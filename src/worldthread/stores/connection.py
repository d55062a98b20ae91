"""What connections to an SQLite file and to a server have in common: one lock, one transaction, and who may write."""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from worldthread.errors import InputError, ReadOnlyError
from worldthread.stores.base import Durability

CHANGE_INSIDE_READ: Final = (
    "the memory cannot be changed inside a block that reads it, or by the iterable of episodes to record"
)
"""Why a change is refused."""


class StoreTransaction(ABC):
    """A transaction, as a context manager: all of its block happens or nothing of it. Hold the lock while using it.

    An interrupt can end the block without its end (it may come while ``__exit__`` begins), and then the transaction
    stays open. :meth:`StoreConnection.begin_use` ends it: it knows which transactions are left over, because nobody
    holds their objects any more.

    Args:
        connection: the connection.
        writes: whether the block changes something.
    """

    def __init__(self, connection: StoreConnection, *, writes: bool) -> None:
        self._connection = connection
        self.writes = writes
        self.thread = threading.get_ident()
        self._is_nested = False

    @abstractmethod
    def _begin(self) -> None:
        """Begin the transaction on the connection."""

    def __enter__(self) -> Self:
        connection = self._connection
        if connection.running_transaction() is not None:
            if self.writes:
                raise InputError(CHANGE_INSIDE_READ)
            self._is_nested = True  # reads see what the transaction around them sees
            return self
        connection.transaction_reference = weakref.ref(self)
        try:
            self._begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_nested:
            self._end()

    def _end(self) -> None:
        connection = self._connection
        if connection.transaction_reference is not None and connection.transaction_reference() is self:
            connection.roll_back()
            connection.transaction_reference = None


class StoreConnection(ABC):
    """A connection to a file or a server with memories: one lock for all threads, and one transaction at a time."""

    def __init__(self, *, readonly: bool, durability: Durability, wait: float) -> None:
        if durability not in ("normal", "full"):
            raise InputError(f"durability must be 'normal' or 'full', not {durability!r}")
        if isinstance(wait, bool) or not isinstance(wait, int | float) or not wait >= 0:
            raise InputError(f"wait must be a number of seconds from 0, not {wait!r}")
        self.readonly = readonly
        self.lock = threading.RLock()
        self.users: weakref.WeakSet[object] = weakref.WeakSet()
        """The stores that share this connection."""
        self.transaction_reference: weakref.ref[StoreTransaction] | None = None
        """The transaction that is open, for :class:`StoreTransaction`."""
        self._durability = durability

    @property
    @abstractmethod
    def location(self) -> Path | str:
        """Where the memories are, without a password; for error messages."""

    def require_writable(self) -> None:
        """Raise ReadOnlyError when it was opened for reading only."""
        if self.readonly:
            raise ReadOnlyError("the memory was opened for reading only (readonly=True)", path=self.location)

    @abstractmethod
    def begin_use(self) -> None:
        """Prepare for a use by whoever has just taken the lock: roll back what an interrupt left open."""

    def running_transaction(self) -> StoreTransaction | None:
        """Return the open transaction whose block is running; ``None`` when there is none. Hold the lock."""
        return None if self.transaction_reference is None else self.transaction_reference()

    def is_read_by_this_thread(self) -> bool:
        """Return whether the calling thread is inside a transaction."""
        transaction = self.running_transaction()
        return transaction is not None and transaction.thread == threading.get_ident()

    @abstractmethod
    def roll_back(self) -> None:
        """End the open transaction, if there is one, without its changes."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection. May be called again."""

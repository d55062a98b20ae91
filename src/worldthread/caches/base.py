"""The contract of caches, and what all of them share: limits, and addresses without passwords."""

from __future__ import annotations

import math
import re
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from worldthread.errors import ClosedError, InputError
from worldthread.support.arguments import require_query
from worldthread.support.closeable import Closeable

_TRIM_SHARE: Final = 20  # a cache is trimmed after each 20th part of its size was written
_TRIM_TO: Final = 0.9  # of the limit, so that it is not trimmed at every write
_ENTRY: Final = 1 << 26
"""Bytes of the largest entry that is kept."""


@dataclass(frozen=True)
class CacheLimits:
    """How long and how much a cache keeps.

    Args:
        age: seconds after which an entry is no longer given; ``None`` for no limit.
        size: bytes of keys and values, above which the entries that were not used for longest are removed; ``None``
            for no limit. Several processes together may exceed it by a twentieth each.

    Raises:
        InputError: a limit is not above 0.
    """

    age: float | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("age", self.age), ("size", self.size)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"the limit of {name} of a cache must be above 0, not {value}")


class Cache(Closeable):
    """Values of bytes by key, of one kind. Thread-safe; any number of processes may use one at once.

    The first value of a key stays until it is too old or makes room for others.

    Args:
        address: where the cache is.
        kind: which entries.
        limits: how long and how much is kept.
        clock: returns the time in seconds.
    """

    def __init__(self, address: str, kind: str, limits: CacheLimits, *, clock: Callable[[], float] = time.time) -> None:
        self._kind = require_query(kind, "the kind of a cache")
        self._limits = limits
        self._clock = clock
        self._shown = shown_address(address)
        self._lock = threading.RLock()
        self._written: float = math.inf  # bytes since the cache was trimmed; at first nobody knows what is there
        self._is_open = True

    @property
    def address(self) -> str:
        """The address without its password and its options."""
        return self._shown

    @property
    def limits(self) -> CacheLimits:
        """How long and how much is kept."""
        return self._limits

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown!r}, kind={self._kind!r})"

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Look up values.

        Args:
            keys: the keys.

        Returns:
            The values by key; keys without one are absent.

        Raises:
            StoreError: the cache cannot be read.
            ClosedError: the cache was closed.
        """
        if not keys:
            return {}
        with self._lock:
            self._require_open()
            now = self._clock()
            return self._get(list(dict.fromkeys(keys)), now, self._oldest(now))

    def put(self, values: Mapping[str, bytes]) -> None:
        """Store values for keys that have none.

        Args:
            values: the values by key. One that is larger than the whole cache may be is left out.

        Raises:
            StoreError: the cache cannot be written.
            ClosedError: the cache was closed.
        """
        largest = min(_ENTRY, self._limits.size or _ENTRY)
        kept = {key: value for key, value in values.items() if _size(key, value) <= largest}
        with self._lock:
            self._require_open()
            if not kept:
                return
            now = self._clock()
            self._put(kept, now, self._oldest(now))
            self._written += sum(_size(key, value) for key, value in kept.items())
            size = self._limits.size
            if size is not None and self._written > size / _TRIM_SHARE:
                self._trim(size)
            elif size is None and self._limits.age is not None and self._written > _ENTRY:
                self._remove_before(self._oldest(now))
                self._written = 0

    def _trim(self, size: int) -> None:
        """Remove what is too old, then what was not used for longest, until the rest is small enough."""
        self._remove_before(self._oldest(self._clock()))
        total = self._total()
        if total > size:
            self._remove_least_used(total - int(size * _TRIM_TO))
            total = self._total()
        self._written = 0 if total + size / _TRIM_SHARE <= size else total + size / _TRIM_SHARE - size

    def _oldest(self, now: float) -> float:
        return -math.inf if self._limits.age is None else now - self._limits.age

    def __len__(self) -> int:
        """Return the number of entries that are not too old."""
        with self._lock:
            self._require_open()
            return self._count(self._oldest(self._clock()))

    def size(self) -> int:
        """Return the bytes of all keys and values."""
        with self._lock:
            self._require_open()
            self._remove_before(self._oldest(self._clock()))
            return self._total()

    def clear(self) -> None:
        """Remove all entries of this kind."""
        with self._lock:
            self._require_open()
            self._remove_before(math.inf)

    def close(self) -> None:
        """Close the connection. May be called again."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._close()

    def _require_open(self) -> None:
        if not self._is_open:
            raise ClosedError("the cache was closed: open it again", path=self._shown)

    @abstractmethod
    def _get(self, keys: list[str], now: float, oldest: float) -> dict[str, bytes]:
        """Return the values that were stored at ``oldest`` or later, and note that they were used."""

    @abstractmethod
    def _put(self, values: Mapping[str, bytes], now: float, oldest: float) -> None:
        """Store values for keys that have none, or one from before ``oldest``."""

    @abstractmethod
    def _count(self, oldest: float) -> int:
        """Return the number of entries that were stored at ``oldest`` or later."""

    @abstractmethod
    def _total(self) -> int:
        """Return the bytes of all keys and values."""

    @abstractmethod
    def _remove_before(self, oldest: float) -> None:
        """Remove what was stored before a time; ``math.inf`` removes everything."""

    @abstractmethod
    def _remove_least_used(self, size: int) -> None:
        """Remove entries of at least so many bytes, those first that were not used for longest."""

    @abstractmethod
    def _close(self) -> None:
        """Close the connection."""


def _size(key: str, value: bytes) -> int:
    return len(key.encode("utf-8", "surrogatepass")) + len(value)


def shown_address(address: str) -> str:
    """Return an address without its password and its options, for messages."""
    scheme, colon, rest = address.partition("://")
    if not colon:  # no address of a server, unless it was mistyped
        return f"{address.partition(':')[0]}:..." if "@" in address else address
    user, at, host = re.split(r"[?#]", rest, maxsplit=1)[0].rpartition("@")
    if "@" in rest[len(user) + len(at) + len(host) :]:  # perhaps a password with ? or # in it: all is left out
        return f"{scheme}://..."
    return f"{scheme}://{user.partition(':')[0]}{at}{host}"

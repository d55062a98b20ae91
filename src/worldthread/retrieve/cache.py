"""What retrieval methods compute once from an index or a graph and keep with it, by typed keys."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

_T = TypeVar("_T")


@dataclass(frozen=True)
class CacheKey(Generic[_T]):
    """Names a value of one type in a :class:`DerivedCache`.

    Args:
        name: says what the value is; unique in the package.
        parameters: what the value was computed with.
    """

    name: str
    parameters: tuple[Hashable, ...] = ()


class DerivedCache:
    """Values computed from the object that owns the cache. Thread-safe: a value is computed by one thread only."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held while a value is computed; hold it yourself while you change one."""
        self._values: dict[CacheKey[Any], Any] = {}

    def get(self, key: CacheKey[_T], make: Callable[[], _T]) -> _T:
        """Return the value of a key.

        Args:
            key: the key.
            make: computes the value when there is none.

        Returns:
            The value, the same object until :meth:`clear`.
        """
        with self.lock:
            if key not in self._values:
                self._values[key] = make()
            return cast("_T", self._values[key])

    def clear(self) -> None:
        """Drop all values."""
        with self.lock:
            self._values.clear()

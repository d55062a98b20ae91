"""Caches of what was expensive to compute, in an SQLite file, in Redis or in MongoDB, by address.

>>> with open_cache("sqlite:answers.cache", "answers") as cache:  # doctest: +SKIP
...     cache.put({"key": b"value"})
...     cache.get(["key"])
{'key': b'value'}
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Final

from worldthread.caches.base import Cache, CacheLimits, shown_address
from worldthread.errors import InputError

__all__ = ["CACHES", "Cache", "CacheLimits", "open_cache", "shown_address"]

CACHES: Final[dict[str, str]] = {
    "mongodb": "worldthread.caches.mongodb:MongoCache",
    "mongodb+srv": "worldthread.caches.mongodb:MongoCache",
    "redis": "worldthread.caches.redis:RedisCache",
    "rediss": "worldthread.caches.redis:RedisCache",
    "sqlite": "worldthread.caches.sqlite:SQLiteCache",
    "unix": "worldthread.caches.redis:RedisCache",
}
"""The class of every cache by the scheme of its addresses; imported when one is opened."""


def open_cache(address: str, kind: str, limits: CacheLimits | None = None) -> Cache:
    """Open a cache by its address.

    Args:
        address: ``"sqlite:PATH"``, ``"redis://HOST:PORT/NUMBER"`` (``rediss`` with TLS, ``unix`` for a socket) or
            ``"mongodb://HOST:PORT/DATABASE"``. It may hold a password, which no message shows.
        kind: which entries: those of another kind are never seen.
        limits: how long and how much is kept; ``None`` for no limits.

    Returns:
        The cache; close it, or use it as a context manager.

    Raises:
        InputError: there is no cache for this scheme, or the address cannot be used.
        MissingExtraError: the client of the server is not installed.
        StoreError: the cache cannot be opened.
    """
    scheme = address.partition(":")[0].lower()
    if ":" not in address or scheme not in CACHES:
        known = ", ".join(sorted(CACHES))
        raise InputError(f"there is no cache for the address {shown_address(address)!r}; schemes are: {known}")
    opened: Cache = resolve_name(CACHES[scheme])(address, kind, limits or CacheLimits())
    return opened

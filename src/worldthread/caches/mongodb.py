"""A cache in MongoDB, or in a server that speaks its protocol."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from worldthread.caches.base import Cache, CacheLimits
from worldthread.errors import InputError, MissingExtraError, StoreError, StoreUnavailableError

_MILLISECONDS: Final = 10_000  # for a connection
_PART: Final = 500  # entries in one request
_DATABASE: Final = "worldthread"


class MongoCache(Cache):
    """A cache in the collection ``cache_KIND`` of a database: a document for each entry.

    Args:
        address: ``"mongodb://[USER:PASSWORD@]HOST[:PORT][/DATABASE]"``; the database is ``worldthread`` if it names
            none.
        kind: which entries.
        limits: how long and how much is kept.

    Raises:
        InputError: the address cannot be used.
        MissingExtraError: the package ``pymongo`` is not installed.
        StoreUnavailableError: the server cannot be reached.
    """

    def __init__(self, address: str, kind: str, limits: CacheLimits) -> None:
        super().__init__(address, kind, limits)
        try:
            import pymongo
            import pymongo.errors
        except ImportError as error:
            raise MissingExtraError("a cache in MongoDB", extra="mongodb", package="pymongo") from error
        self._errors: Any = pymongo.errors
        self._replacing: Any = pymongo.UpdateOne
        try:
            self._client: Any = pymongo.MongoClient(address, serverSelectionTimeoutMS=_MILLISECONDS)
            self._entries: Any = self._client.get_default_database(_DATABASE)[f"cache_{kind}"]
        except (self._errors.PyMongoError, ValueError) as error:  # nothing is sent yet
            raise InputError(
                f"the address of a cache in MongoDB is mongodb://HOST:PORT/DATABASE, not {self._shown!r}"
            ) from error
        with self._translated():
            self._entries.create_index([("created", 1)])
            self._entries.create_index([("used", 1)])

    def _get(self, keys: list[str], now: float, oldest: float) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._translated():
            for start in range(0, len(keys), _PART):
                part = keys[start : start + _PART]
                for entry in self._entries.find({"_id": {"$in": part}, **_since(oldest)}, {"value": 1}):
                    found[str(entry["_id"])] = bytes(entry["value"])
                if self._limits.size is not None:
                    self._entries.update_many({"_id": {"$in": part}}, {"$set": {"used": now}})
        return found

    def _put(self, values: Mapping[str, bytes], now: float, oldest: float) -> None:
        items = list(values.items())
        with self._translated():
            for start in range(0, len(items), _PART):
                part = items[start : start + _PART]
                if oldest > -math.inf:
                    self._entries.delete_many({"_id": {"$in": [key for key, _ in part]}, "created": {"$lt": oldest}})
                self._entries.bulk_write(
                    [
                        self._replacing(
                            {"_id": key},
                            {
                                "$setOnInsert": {
                                    "value": value,
                                    "size": len(key.encode()) + len(value),
                                    "created": now,
                                    "used": now,
                                }
                            },
                            upsert=True,
                        )
                        for key, value in part
                    ],
                    ordered=False,
                )

    def _count(self, oldest: float) -> int:
        with self._translated():
            return int(self._entries.count_documents(_since(oldest)))

    def _total(self) -> int:
        with self._translated():
            rows = list(self._entries.aggregate([{"$group": {"_id": None, "total": {"$sum": "$size"}}}]))
        return int(rows[0]["total"]) if rows else 0

    def _remove_before(self, oldest: float) -> None:
        with self._translated():
            if oldest == math.inf:
                self._entries.delete_many({})
            elif oldest > -math.inf:
                self._entries.delete_many({"created": {"$lt": oldest}})

    def _remove_least_used(self, size: int) -> None:
        with self._translated():
            gone: list[Any] = []
            for entry in self._entries.find({}, {"size": 1}).sort([("used", 1), ("_id", 1)]):
                if size <= 0:
                    break
                gone.append(entry["_id"])
                size -= int(entry["size"])
            for start in range(0, len(gone), _PART):
                self._entries.delete_many({"_id": {"$in": gone[start : start + _PART]}})

    def _close(self) -> None:
        with suppress(self._errors.PyMongoError):
            self._client.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (self._errors.ConnectionFailure, self._errors.NetworkTimeout) as error:
            raise StoreUnavailableError(
                f"the cache cannot be reached ({type(error).__name__}): start the server, or take the cache out of "
                "the configuration",
                path=self._shown,
            ) from error
        except self._errors.PyMongoError as error:
            raise StoreError(
                f"the server of the cache refused ({type(error).__name__}): {str(error)[:200]}", path=self._shown
            ) from error


def _since(oldest: float) -> dict[str, Any]:
    return {} if oldest == -math.inf else {"created": {"$gte": oldest}}

"""A cache in Redis, or in a server that speaks its protocol (Valkey, FalkorDB)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Final

from worldthread.caches.base import Cache, CacheLimits
from worldthread.errors import InputError, MissingExtraError, StoreError, StoreUnavailableError

_SECONDS: Final = 10.0  # for a connection, and for an answer
_PART: Final = 500  # entries in one request


class RedisCache(Cache):
    """A cache in Redis: a key for each entry, which expires by itself, and what the limit of size needs.

    Args:
        address: ``"redis://[USER:PASSWORD@]HOST[:PORT][/NUMBER]"``, or ``rediss`` for TLS, or ``unix:///PATH``.
        kind: which entries.
        limits: how long and how much is kept.

    Raises:
        InputError: the address cannot be used.
        MissingExtraError: the package ``redis`` is not installed.
        StoreUnavailableError: the server cannot be reached.
    """

    def __init__(self, address: str, kind: str, limits: CacheLimits) -> None:
        super().__init__(address, kind, limits)
        try:
            import redis
        except ImportError as error:
            raise MissingExtraError("a cache in Redis", extra="redis", package="redis") from error
        self._errors: Any = redis.exceptions
        try:
            self._client: Any = redis.Redis.from_url(
                address, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS, health_check_interval=30
            )
        except ValueError as error:
            raise InputError(
                f"the address of a cache in Redis is redis://HOST:PORT/NUMBER, not {self._shown!r}"
            ) from error
        # braces: in a cluster all keys of a kind lie on one node, which a transaction needs
        self._prefix = f"{{worldthread:{kind}}}:"
        self._used, self._created, self._sizes = (self._prefix + name for name in ("used", "created", "sizes"))
        with self._translated():
            self._client.ping()

    def _get(self, keys: list[str], now: float, oldest: float) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._translated():
            for start in range(0, len(keys), _PART):
                part = keys[start : start + _PART]
                for key, value in zip(part, self._client.mget([self._entry(key) for key in part]), strict=True):
                    if isinstance(value, bytes):
                        found[key] = value
            if found and self._limits.age is not None:  # an entry of a process without a limit does not expire
                stored = self._client.zmscore(self._created, list(found))
                found = {k: found[k] for k, at in zip(list(found), stored, strict=True) if at is None or at >= oldest}
            if found and self._limits.size is not None:
                self._client.zadd(self._used, dict.fromkeys(found, now), xx=True)
        return found

    def _put(self, values: Mapping[str, bytes], now: float, oldest: float) -> None:
        if self._limits.age is not None:
            self._remove_before(oldest)
        age = None if self._limits.age is None else max(1, math.ceil(self._limits.age * 1000))
        items = list(values.items())
        with self._translated():
            for start in range(0, len(items), _PART):
                part = items[start : start + _PART]
                with self._client.pipeline(transaction=True) as pipe:
                    for key, value in part:
                        pipe.set(self._entry(key), value, px=age, nx=True)
                    # those of keys that had a value stay as they are, or lack nothing
                    pipe.zadd(self._created, {key: now for key, _ in part}, nx=True)
                    pipe.zadd(self._used, {key: now for key, _ in part})
                    for key, value in part:
                        pipe.hsetnx(self._sizes, key, len(key.encode()) + len(value))
                    pipe.execute()

    def _count(self, oldest: float) -> int:
        with self._translated():
            return int(self._client.zcount(self._created, _score(oldest), "+inf"))

    def _total(self) -> int:
        with self._translated():
            return sum(map(int, self._client.hvals(self._sizes)))

    def _remove_before(self, oldest: float) -> None:
        with self._translated():
            while keys := self._client.zrange(
                self._created, "-inf", f"({_score(oldest)}", byscore=True, offset=0, num=_PART
            ):
                self._remove(keys)

    def _remove_least_used(self, size: int) -> None:
        with self._translated():
            while size > 0 and (keys := self._client.zrange(self._used, 0, _PART - 1)):
                sizes = [int(one or 0) for one in self._client.hmget(self._sizes, keys)]
                gone = []
                for key, one in zip(keys, sizes, strict=True):
                    if size > 0:
                        gone.append(key)
                        size -= one
                self._remove(gone)

    def _remove(self, keys: list[bytes]) -> None:
        with self._client.pipeline(transaction=True) as pipe:
            pipe.delete(*(self._prefix.encode() + b"entry:" + key for key in keys))
            pipe.zrem(self._created, *keys)
            pipe.zrem(self._used, *keys)
            pipe.hdel(self._sizes, *keys)
            pipe.execute()

    def _entry(self, key: str) -> str:
        return f"{self._prefix}entry:{key}"

    def _close(self) -> None:
        with suppress(self._errors.RedisError):
            self._client.close()

    def _translated(self) -> AbstractContextManager[None]:
        return redis_errors(
            self._errors,
            self._shown,
            away=("the cache", "start the server, or take the cache out of the configuration"),
            server="the server of the cache",
        )


@contextmanager
def redis_errors(
    errors: Any, path: str, *, away: tuple[str, str], server: str, most: int | None = None
) -> Iterator[None]:
    """Translate the errors of the client of Redis into those of worldthread.

    Args:
        errors: the module ``redis.exceptions``.
        path: the address, without secrets.
        away: what cannot be reached when the server is away, and what to do then.
        server: what refuses a request.
        most: characters of the server's reason, which may quote a whole request; ``None`` for all.

    Yields:
        Nothing.

    Raises:
        StoreError: the server refuses the user or the request.
        StoreUnavailableError: the server cannot be reached.
    """
    try:
        yield
    except (errors.AuthenticationError, errors.AuthorizationError) as error:
        raise StoreError("the server refuses this user or password", path=path) from error
    except (errors.ConnectionError, errors.TimeoutError) as error:
        what, advice = away
        raise StoreUnavailableError(
            f"{what} cannot be reached ({type(error).__name__}): {advice}", path=path
        ) from error
    except errors.RedisError as error:
        raise StoreError(f"{server} refused: {str(error)[:most]}", path=path) from error


def _score(value: float) -> str:
    return "+inf" if value == math.inf else "-inf" if value == -math.inf else repr(value)

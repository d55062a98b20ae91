"""FalkorDB, through the protocol of Redis."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, LiteralString
from urllib.parse import unquote, urlunsplit

from worldthread.caches.redis import redis_errors
from worldthread.errors import InputError, MissingExtraError
from worldthread.mirror.graph_server import GraphServer, parts_of

_SECONDS: Final = 120.0
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NULL, _STRING, _INTEGER, _BOOLEAN, _DOUBLE, _ARRAY = range(1, 7)
"""Types of values in a compact result."""


class FalkorDBServer(GraphServer):
    """A connection to one graph of a FalkorDB server.

    Args:
        address: ``"falkordb://[USER:PASSWORD@]HOST[:PORT]/GRAPH"``; ``falkordbs`` with TLS. Without a password,
            ``$FALKORDB_PASSWORD`` is taken.

    Raises:
        InputError: the address cannot be used.
        MissingExtraError: the package ``redis`` is not installed.
        StoreUnavailableError: the server cannot be reached.
    """

    _INDEX_EXISTS = "already indexed"

    def __init__(self, address: str) -> None:
        super().__init__(address)
        try:
            import redis
        except ImportError as error:
            raise MissingExtraError("a mirror in FalkorDB", extra="redis", package="redis") from error
        self._errors: Any = redis.exceptions
        parts = parts_of(address, "falkordb://HOST:PORT/GRAPH")
        self._graph = unquote(parts.path.strip("/"))
        if not self._graph or "/" in self._graph:
            raise InputError(f"the address of a graph is falkordb://HOST:PORT/GRAPH, not {self._shown!r}")
        url = urlunsplit(("rediss" if parts.scheme == "falkordbs" else "redis", parts.netloc, "", "", ""))
        password = None if parts.password else os.environ.get("FALKORDB_PASSWORD")
        options: dict[str, Any] = {} if password is None else {"password": password}
        self._client: Any = redis.Redis.from_url(
            url, socket_timeout=_SECONDS, socket_connect_timeout=10, decode_responses=True, **options
        )
        with self._translated():
            self._client.ping()

    def run(self, query: LiteralString, **parameters: Any) -> list[list[Any]]:
        header = "".join(f"{_require_name(name)}={literal(value)} " for name, value in parameters.items())
        text = f"CYPHER {header}{query}" if header else query
        with self._translated():
            answer = self._client.execute_command("GRAPH.QUERY", self._graph, text, "--compact")
        return [[_decoded(value) for value in row] for row in answer[1]] if len(answer) == 3 else []

    def rounded(self, value: float) -> float:
        return float(f"{value:.15g}")

    def close(self) -> None:
        with suppress(self._errors.RedisError):
            self._client.close()

    def _translated(self) -> AbstractContextManager[None]:
        return redis_errors(
            self._errors,
            self._shown,
            away=("the graph database", "start it, and give the same command again"),
            server="the graph database",
            most=300,
        )


def literal(value: object) -> str:
    r"""Return a value as FalkorDB reads parameters: its protocol has no other way than their text.

    Strings are quoted, and ``\`` and ``"`` in them escaped, so no value can end its quotation. FalkorDB ends the
    statement at a character NUL, so a string must not hold one.

    Args:
        value: a string, a number, a truth value, ``None``, or a list or mapping of these.

    Returns:
        The literal.

    Raises:
        InputError: the value is of another kind.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and value - value == 0:
        return repr(value)
    if isinstance(value, str) and "\0" not in value:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_require_name(name)}: {literal(one)}' for name, one in value.items())}}}"
    raise InputError(f"{type(value).__name__} cannot be a parameter of a graph database")


def _require_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot be the name of a parameter")
    return name


def _decoded(typed: Any) -> Any:
    kind, value = typed
    if kind == _ARRAY:
        return [_decoded(one) for one in value]
    if kind == _DOUBLE:
        return float(value)
    if kind == _BOOLEAN:
        return value == "true"
    return value if kind in (_NULL, _STRING, _INTEGER) else None

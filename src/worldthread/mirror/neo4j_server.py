"""Neo4j, through its own driver."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString
from urllib.parse import unquote

from worldthread.errors import MissingExtraError, StoreError, StoreUnavailableError
from worldthread.mirror.graph_server import GraphServer, parts_of


class Neo4jServer(GraphServer):
    """A connection to one database of a Neo4j server.

    Args:
        address: ``"neo4j://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]"``, or ``bolt``; ``+s`` with TLS. The user is
            ``neo4j`` if it names none; without a password, ``$NEO4J_PASSWORD`` is taken.

    Raises:
        InputError: the address cannot be used.
        MissingExtraError: the package ``neo4j`` is not installed.
        StoreUnavailableError: the server cannot be reached.
    """

    _INDEX_EXISTS = "EquivalentSchemaRuleAlreadyExists"

    def __init__(self, address: str) -> None:
        super().__init__(address)
        try:
            import neo4j
            import neo4j.exceptions
        except ImportError as error:
            raise MissingExtraError("a mirror in Neo4j", extra="neo4j", package="neo4j") from error
        self._errors: Any = neo4j.exceptions
        parts = parts_of(address, "neo4j://USER@HOST:PORT/DATABASE")
        name = parts.hostname or ""
        host = f"[{name}]" if ":" in name else name
        password = unquote(parts.password) if parts.password else os.environ.get("NEO4J_PASSWORD")
        user = unquote(parts.username) if parts.username else "neo4j"
        self._database = unquote(parts.path.strip("/")) or None
        self._driver: Any = neo4j.GraphDatabase.driver(
            f"{parts.scheme}://{host}:{parts.port or 7687}",
            auth=None if password is None else (user, password),
            connection_timeout=10,
            max_transaction_retry_time=0,
            notifications_min_severity="OFF",
        )
        with self._translated():
            self._driver.verify_connectivity()

    def run(self, query: LiteralString, **parameters: Any) -> list[list[Any]]:
        with self._translated():
            found = self._driver.execute_query(query, parameters_=parameters, database_=self._database)
        return [list(record.values()) for record in found.records]

    def rounded(self, value: float) -> float:
        return value

    def close(self) -> None:
        self._driver.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (self._errors.ServiceUnavailable, self._errors.SessionExpired, OSError) as error:
            raise StoreUnavailableError(
                f"the graph database cannot be reached ({type(error).__name__}): start it, and give the same command "
                "again",
                path=self._shown,
            ) from error
        except (self._errors.Neo4jError, self._errors.DriverError) as error:
            code = getattr(error, "code", None) or type(error).__name__
            raise StoreError(f"the graph database refused ({code}): {str(error)[:300]}", path=self._shown) from error

"""A store of vectors in PostgreSQL with the extension pgvector: a table in the schema ``worldthread_vectors``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import MissingExtraError, StoreError, StoreUnavailableError
from worldthread.stores.postgresql_connection import PostgresAddress
from worldthread.vectors.base import VectorHit, VectorItem, VectorStore, labels_of

if TYPE_CHECKING:
    import psycopg

_LOOKED_AT: Final = 200  # vectors that a search in the index keeps in sight (hnsw.ef_search); more is slower and better
_MOST_LOOKED_AT: Final = 1000  # that pgvector allows
_MOST_INDEXED: Final = 2000  # dimensions that pgvector can index
_ITERATIVE: Final = (
    0,
    8,
)  # the version of pgvector that goes on searching its index when a filter lets too few through
_LOCK: Final = 0x77747663  # "wtvc"


class PostgresVectorStore(VectorStore):
    """A store on a PostgreSQL server, with an HNSW index.

    A restricted search finds ``k`` items whenever so many are let through: where the index ends too early, every row is
    compared.

    Args:
        address: ``"postgresql://USER@HOST/DATABASE"``, as for a memory; see :class:`PostgresAddress`.
        name: of the table.
        dimensions: length of a vector; more than 2,000 are not indexed, and all rows compared.

    Raises:
        InputError: an argument cannot be used.
        MissingExtraError: psycopg is not installed.
        StoreUnavailableError: the server cannot be reached.
        StoreError: the server refuses, has no pgvector, or a table of vectors of another length.
    """

    def __init__(self, address: str, name: str, dimensions: int) -> None:
        super().__init__("postgresql://...", name, dimensions)
        try:
            from psycopg import sql
        except ImportError as error:
            raise MissingExtraError("a store of vectors in PostgreSQL", extra="postgres", package="psycopg") from error
        self._address = PostgresAddress(address.partition("://")[2])
        self._shown = self._address.location
        self._connection: psycopg.Connection[Any] | None = None
        self._sql: Any = sql
        self._table: Any = sql.Identifier("worldthread_vectors", name)
        with self._translated() as connection:
            self._make(connection)

    def _make(self, connection: psycopg.Connection[Any]) -> None:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))  # others may make the same
            connection.execute("CREATE SCHEMA IF NOT EXISTS worldthread_vectors")
            connection.execute(
                self._with(
                    "CREATE TABLE IF NOT EXISTS {table} (id text PRIMARY KEY, vector vector({size}) NOT NULL,"
                    " labels text[] NOT NULL, begins float8 NOT NULL, ends float8 NOT NULL)"
                )
            )
            found = connection.execute(
                "SELECT atttypmod FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace"
                " ON pg_namespace.oid = relnamespace WHERE nspname = 'worldthread_vectors' AND relname = %s"
                " AND attname = 'vector'",
                (self._name,),
            ).fetchone()
            if found is None or found[0] != self._dimensions:
                raise StoreError(
                    f"the table {self._name!r} has vectors of another length than {self._dimensions}: use another name",
                    path=self._shown,
                )
            connection.execute(self._with("CREATE INDEX IF NOT EXISTS {labels} ON {table} USING gin (labels)"))
            if self._dimensions <= _MOST_INDEXED:
                connection.execute(
                    self._with("CREATE INDEX IF NOT EXISTS {nearest} ON {table} USING hnsw (vector vector_ip_ops)")
                )

    def _with(self, statement: str) -> Any:
        """Return a statement of ours with the quoted names of this table."""
        return self._sql.SQL(statement).format(
            table=self._table,
            size=self._sql.Literal(self._dimensions),
            labels=self._sql.Identifier(f"{self._name} labels"),
            nearest=self._sql.Identifier(f"{self._name} nearest"),
        )

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connection = self._address.connect()
            self._prepare(connection)
        return self._connection

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        wanted = "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace"
        wanted += " WHERE extname = 'vector'"
        found = connection.execute(wanted).fetchone()  # type: ignore[arg-type,unused-ignore]
        if found is None:
            try:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            except self._errors().Error as error:
                raise StoreError(
                    "the database has no pgvector: a superuser installs it with CREATE EXTENSION vector",
                    path=self._shown,
                ) from error
            found = connection.execute(wanted).fetchone()  # type: ignore[arg-type,unused-ignore]
        assert found is not None
        path = self._sql.Identifier(found[0]).as_string(connection)
        connection.execute("SELECT set_config('search_path', %s, false)", (f"pg_catalog, {path}",))
        self._is_iterative = tuple(int(part) for part in found[1].split(".")[:2]) >= _ITERATIVE

    def _add(self, items: Sequence[VectorItem], rows: NDArray[np.float32]) -> None:
        values = [
            (item.id, row.tolist(), labels_of(item), float(item.begin), float(item.end))
            for item, row in zip(items, rows, strict=True)
        ]
        with self._translated() as connection, connection.transaction():
            connection.cursor().executemany(
                self._with(
                    "INSERT INTO {table} (id, vector, labels, begins, ends)"
                    " VALUES (%s, %s::real[]::vector, %s::text[], %s, %s) ON CONFLICT (id) DO UPDATE SET vector ="
                    " excluded.vector, labels = excluded.labels, begins = excluded.begins, ends = excluded.ends"
                ),
                values,
            )

    def _search(
        self, query: NDArray[np.float32], k: int, labels: Sequence[Sequence[str]], as_of: float | None
    ) -> list[VectorHit]:
        conditions = ["labels && %s::text[]"] * len(labels)
        values: list[Any] = [query.tolist(), *(list(choices) for choices in labels)]
        if as_of is not None:
            conditions.append("begins <= %s AND ends > %s")
            values += [float(as_of)] * 2
        statement = self._with(
            "SELECT id, vector <#> %s::real[]::vector FROM {table}"
            + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
            + " ORDER BY 2 LIMIT %s"
        )
        values.append(k)
        with self._translated() as connection, connection.transaction():
            connection.execute("SET LOCAL jit = off")
            looked_at = min(max(_LOOKED_AT, 2 * k), _MOST_LOOKED_AT)
            connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", (str(looked_at),))
            if self._is_iterative:
                connection.execute("SELECT set_config('hnsw.iterative_scan', 'strict_order', true)")
            found = connection.execute(statement, values).fetchall() if k <= _MOST_LOOKED_AT else []
            if len(found) < k:  # the index ended too early, or there are no more
                connection.execute("SET LOCAL enable_indexscan = off")
                found = connection.execute(statement, values).fetchall()
        return [VectorHit(id_, -float(distance)) for id_, distance in found]

    def _ids_of_all(self) -> list[str]:
        with self._translated() as connection:
            return [id_ for (id_,) in connection.execute(self._with("SELECT id FROM {table}"))]

    def _get(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        statement = self._with("SELECT id, vector::real[] FROM {table} WHERE id = ANY(%s::text[])")
        with self._translated() as connection:
            rows = connection.execute(statement, (list(ids),), binary=True)
            return {id_: np.array(row, np.float32) for id_, row in rows}

    def _delete(self, ids: Sequence[str]) -> None:
        with self._translated() as connection:
            connection.execute(self._with("DELETE FROM {table} WHERE id = ANY(%s::text[])"), (list(ids),))

    def _purge(self) -> None:
        with self._translated() as connection:
            connection.execute(self._with("VACUUM (FULL) {table}"))
            if self._may_checkpoint(connection):
                connection.execute("CHECKPOINT")

    @staticmethod
    def _may_checkpoint(connection: psycopg.Connection[Any]) -> bool:
        """Return whether the role may have the old files removed now, and not only at the next checkpoint."""
        row = connection.execute(
            "SELECT rolsuper OR coalesce((SELECT pg_has_role(oid, 'usage') FROM pg_roles"
            " WHERE rolname = 'pg_checkpoint'), false) FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        return bool(row is not None and row[0])

    def _drop(self) -> None:
        with self._translated() as connection:
            connection.execute(self._with("DROP TABLE IF EXISTS {table}"))

    def _count(self) -> int:
        with self._translated() as connection:
            row = connection.execute(self._with("SELECT count(*) FROM {table}")).fetchone()
        return int(row[0]) if row is not None else 0

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    @staticmethod
    def _errors() -> Any:
        import psycopg

        return psycopg

    @contextmanager
    def _translated(self) -> Iterator[psycopg.Connection[Any]]:
        """Yield a connection that works; raise errors of ours in place of those of psycopg, which may show values."""
        failure: StoreError
        try:
            yield self._connected()
            return
        except self._errors().Error as error:
            reason = error.diag.message_primary or str(error).strip().partition("\n")[0] or type(error).__name__
            connection = self._connection
            if connection is None or connection.closed or connection.broken:
                failure = StoreUnavailableError(
                    f"the connection to the server was lost: {reason}. The next use connects again", path=self._shown
                )
            else:
                failure = StoreError(f"the server refuses: {reason} ({error.sqlstate})", path=self._shown)
        raise failure

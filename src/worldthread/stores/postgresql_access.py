"""Which roles of a PostgreSQL server may read or write which namespaces. The server itself holds them to it.

Rows are protected by policies (:mod:`worldthread.stores.postgresql_tables`): a role sees the namespaces that
``worldthread.permission`` names for it and no other, by whatever program. The owner of the tables and superusers see
everything, so programs should not connect as those.
"""

from __future__ import annotations

from typing import LiteralString

from worldthread.errors import InputError, StoreError
from worldthread.stores.postgresql_connection import PostgresAddress, PostgresConnection, PostgresTransaction
from worldthread.stores.postgresql_tables import GRANT_READING, GRANT_WRITING, REVOKE_ALL, REVOKE_WRITING
from worldthread.stores.rows import require_name as require_namespace
from worldthread.support.arguments import require_name

_SCHEMES = ("postgresql://", "postgres://")


def grant(address: str, role: str, *, namespace: str | None, writes: bool = False) -> None:
    """Let a role use a namespace. Call it as the owner of the tables; again to change what the role may do.

    Args:
        address: of the database, as for :class:`~worldthread.Memory`.
        role: the name of an existing role. It counts for this role only, not for those that are members of it.
        namespace: the namespace, which need not exist yet; ``None`` for all of them.
        writes: whether the role may write too.

    Raises:
        InputError: an argument cannot be used.
        StoreError: the server refuses, for instance because there is no such role.
    """
    require_name(role, "the name of a role")
    key = _key(namespace)
    connection = _opened(address)
    try:
        with connection.lock, PostgresTransaction(connection, writes=True):
            connection.run(
                ("DELETE FROM worldthread.permission WHERE role = %s AND namespace IS NOT DISTINCT FROM %b::bytea",
                 (role, key)),
                ("INSERT INTO worldthread.permission (role, namespace, writes) VALUES (%s, %b, %s)",
                 (role, key, writes)),
            )  # fmt: skip
            _run_for(connection, role, GRANT_READING)
            _run_for(connection, role, GRANT_WRITING if _writes(connection, role) else REVOKE_WRITING)
            connection.run(("COMMIT", ()))
    finally:
        connection.close()


def revoke(address: str, role: str, *, namespace: str | None) -> bool:
    """Take away what :func:`grant` gave a role for a namespace, or for all of them at once.

    Args:
        address: of the database.
        role: the name of the role.
        namespace: the namespace; ``None`` for everything that the role was granted.

    Returns:
        Whether the role had been granted that.

    Raises:
        InputError: an argument cannot be used.
        StoreError: the server refuses.
    """
    require_name(role, "the name of a role")
    key = _key(namespace)
    connection = _opened(address)
    try:
        with connection.lock, PostgresTransaction(connection, writes=True):
            rows = connection.fetch_all(
                "DELETE FROM worldthread.permission WHERE role = %s AND (%b::bytea IS NULL OR namespace = %b)"
                " RETURNING true",
                (role, key, key),
            )
            left = connection.fetch_one("SELECT count(*) FROM worldthread.permission WHERE role = %s", (role,))[0]
            if rows:
                if not left:
                    _run_for(connection, role, REVOKE_ALL)
                elif not _writes(connection, role):
                    _run_for(connection, role, REVOKE_WRITING)
            connection.run(("COMMIT", ()))
            return bool(rows)
    finally:
        connection.close()


def _opened(address: str) -> PostgresConnection:
    for scheme in _SCHEMES:
        if isinstance(address, str) and address.startswith(scheme):
            return PostgresConnection(
                PostgresAddress(address.removeprefix(scheme)), readonly=False, durability="normal", wait=0.0
            )
    raise InputError("roles are of PostgreSQL: give an address like postgresql://OWNER@HOST/DATABASE")


def _key(namespace: str | None) -> bytes | None:
    if namespace is None:
        return None
    require_namespace(namespace, "the namespace")
    return namespace.encode()


def _writes(connection: PostgresConnection, role: str) -> bool:
    """Return whether a role may write to any namespace."""
    sql: LiteralString = "SELECT coalesce(bool_or(writes), false) FROM worldthread.permission WHERE role = %s"
    return bool(connection.fetch_one(sql, (role,))[0])


def _run_for(connection: PostgresConnection, role: str, script: LiteralString) -> None:
    """Run statements that name a role, which is quoted as an identifier."""
    from psycopg.sql import SQL, Identifier

    for statement in script.split(";"):
        text = SQL(statement).format(role=Identifier(role)).as_string()
        try:
            connection.run((text, ()))
        except StoreError as error:
            raise StoreError(f"the role {role!r} cannot be given this: {error}", path=connection.location) from error

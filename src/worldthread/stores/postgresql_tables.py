"""The tables of memories in a PostgreSQL database, as numbered migrations, and who may use them.

``namespace.changes`` counts the changes of a namespace: a change locks the row until its end, so that its numbers have
no gaps and are seen in order. ``change`` gives each change a random token, which rules out the history of another
server or one that was rolled back. ``episode.change`` is the change that recorded an episode; what is forgotten is
deleted, and a change says only that something was. ``vector.text`` is the digest of a text. ``snapshot.index`` is empty
for the graph, else the name of an index that uses its numbers.

Names are bytes: PostgreSQL's texts cannot hold every character. ``sha256`` of a name is its key, since an index cannot
hold a long one.
"""

from __future__ import annotations

from typing import Final, LiteralString

_PERMISSION: Final = """
    FROM worldthread.permission AS own
    WHERE own.role = current_user::text AND (own.namespace IS NULL OR own.namespace = one.name)
"""
_TABLES_OF_NAMESPACE: Final = ("change", "episode", "vector", "snapshot", "snapshot_part")

_TABLES: Final = """
    CREATE SCHEMA worldthread;
    CREATE TABLE worldthread.migration (
        number integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE worldthread.namespace (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL,
        changes bigint NOT NULL DEFAULT 0, token bytea NOT NULL DEFAULT '', episodes bigint NOT NULL DEFAULT 0
    );
    CREATE UNIQUE INDEX namespace_name ON worldthread.namespace (sha256(name));
    CREATE TABLE worldthread.change (
        namespace bigint NOT NULL REFERENCES worldthread.namespace ON DELETE CASCADE,
        number bigint NOT NULL, token bytea NOT NULL, removes boolean NOT NULL,
        PRIMARY KEY (namespace, number)
    );
    CREATE TABLE worldthread.episode (
        namespace bigint NOT NULL REFERENCES worldthread.namespace ON DELETE CASCADE,
        id bytea NOT NULL, at double precision NOT NULL, change bigint NOT NULL,
        digest bytea NOT NULL, content bytea NOT NULL,
        PRIMARY KEY (namespace, id)
    );
    CREATE INDEX episode_change ON worldthread.episode (namespace, change);
    CREATE TABLE worldthread.vector (
        namespace bigint NOT NULL REFERENCES worldthread.namespace ON DELETE CASCADE,
        text bytea NOT NULL, model bytea NOT NULL, vector bytea NOT NULL,
        PRIMARY KEY (namespace, text, model)
    );
    CREATE TABLE worldthread.snapshot (
        namespace bigint NOT NULL REFERENCES worldthread.namespace ON DELETE CASCADE,
        index bytea NOT NULL, change bigint NOT NULL, token bytea NOT NULL, manifest bytea NOT NULL,
        PRIMARY KEY (namespace, index)
    );
    CREATE TABLE worldthread.snapshot_part (
        namespace bigint NOT NULL, index bytea NOT NULL, array_name text NOT NULL, part integer NOT NULL,
        content bytea NOT NULL,
        PRIMARY KEY (namespace, index, array_name, part),
        FOREIGN KEY (namespace, index) REFERENCES worldthread.snapshot ON DELETE CASCADE
    );
    ALTER TABLE worldthread.snapshot_part ALTER content SET STORAGE EXTERNAL;
    ALTER TABLE worldthread.vector ALTER vector SET STORAGE EXTERNAL
"""

# a role without a row in `permission` sees nothing, whatever it was granted; the owner of the tables sees everything
_ROW_SECURITY: Final = f"""
    CREATE TABLE worldthread.permission (role text NOT NULL, namespace bytea, writes boolean NOT NULL);
    CREATE UNIQUE INDEX permission_role ON worldthread.permission (role, sha256(coalesce(namespace, '')));
    ALTER TABLE worldthread.permission ENABLE ROW LEVEL SECURITY;
    CREATE POLICY reading ON worldthread.permission FOR SELECT USING (role = current_user::text);
    ALTER TABLE worldthread.namespace ENABLE ROW LEVEL SECURITY;
    CREATE POLICY reading ON worldthread.namespace AS PERMISSIVE FOR SELECT
        USING (EXISTS (SELECT {_PERMISSION.replace("one.name", "name")}));
    CREATE POLICY writing ON worldthread.namespace AS PERMISSIVE FOR ALL
        USING (EXISTS (SELECT {_PERMISSION.replace("one.name", "name")} AND own.writes))
"""


def _table_security(table: LiteralString) -> LiteralString:
    return f"""
    ALTER TABLE worldthread.{table} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY reading ON worldthread.{table} FOR SELECT
        USING (namespace IN (SELECT one.number FROM worldthread.namespace AS one));
    CREATE POLICY writing ON worldthread.{table} FOR ALL
        USING (namespace IN (
            SELECT one.number FROM worldthread.namespace AS one
            WHERE EXISTS (SELECT {_PERMISSION} AND own.writes)
        ))
    """


MIGRATIONS: Final[list[LiteralString]] = [
    _TABLES,
    ";".join([_ROW_SECURITY, *map(_table_security, _TABLES_OF_NAMESPACE)]),
]
"""SQL that takes the tables from version *i* to version *i* + 1, in one transaction; statements are separated by ;."""

GRANT_READING: Final[LiteralString] = (
    "GRANT USAGE ON SCHEMA worldthread TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA worldthread TO {role}"
)
GRANT_WRITING: Final[LiteralString] = (
    "GRANT INSERT, UPDATE, DELETE ON worldthread.namespace, worldthread.change, worldthread.episode,"
    " worldthread.vector, worldthread.snapshot, worldthread.snapshot_part TO {role}"
)
"""What a role needs beside its rows in ``permission``, with the name of the role to be filled in as an identifier."""

REVOKE_WRITING: Final[LiteralString] = "REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA worldthread FROM {role}"
REVOKE_ALL: Final[LiteralString] = (
    "REVOKE ALL ON ALL TABLES IN SCHEMA worldthread FROM {role}; REVOKE ALL ON SCHEMA worldthread FROM {role}"
)

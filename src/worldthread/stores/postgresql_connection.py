"""One connection to a PostgreSQL server: its address, its tables, transactions, and error messages.

Everything lies in the schema ``worldthread`` of the database. :data:`MIGRATIONS` makes its tables; who may open a
memory for writing and owns the schema upgrades it. Values travel as parameters of statements, never as part of them.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, LiteralString, Self, TypeAlias, TypeVar

from worldthread.errors import (
    ClosedError,
    FileVersionError,
    ForeignFileError,
    InputError,
    MissingExtraError,
    ReadOnlyError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from worldthread.stores.base import Durability
from worldthread.stores.connection import StoreConnection, StoreTransaction
from worldthread.stores.postgresql_tables import MIGRATIONS

if TYPE_CHECKING:
    import psycopg

Statement: TypeAlias = tuple[LiteralString, Sequence[Any]]
"""SQL, and the values of its parameters."""

_LEAST_WAIT: Final = 10.0  # seconds for other writers, whose changes take milliseconds
_STARTING_SECONDS: Final = 20.0  # that a server may take to come back after a crash
_POLL_SECONDS: Final = 0.1
_CONNECT_SECONDS: Final = 10
_MIGRATION_LOCK: Final = 0x77746872  # "wthr"
_ROW_CHUNK: Final = 2000  # rows fetched at a time from a long answer

_ADDRESS_FORM: Final = (
    "expected postgresql://USER@HOST[:PORT]/DATABASE[?sslmode=verify-full&...]; in a user name or a password, write"
    " the characters @ : / ? # % as %40 %3A %2F %3F %23 %25, or keep the password out of the address (PGPASSWORD,"
    " ~/.pgpass)"
)

_LOG: Final = logging.getLogger("psycopg")

_Result = TypeVar("_Result")


def _driver() -> Any:
    """Return the module psycopg, or raise MissingExtraError."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError("a memory on PostgreSQL", extra="postgres", package="psycopg") from error
    if not _LOG.handlers:  # else what it logs of a lost connection goes to standard error, beside our own error
        _LOG.addHandler(logging.NullHandler())
    return psycopg


class PostgresAddress:
    """The address of a database. Only its connection knows the password: no message and no ``repr`` shows it.

    Args:
        rest: what follows ``postgresql://``, as libpq defines it. Options such as ``sslmode`` are passed on.

    Raises:
        InputError: this is not an address; the message does not repeat it.
        MissingExtraError: psycopg is not installed.
    """

    def __init__(self, rest: str) -> None:
        self._options = _parsed(rest)
        host, port = self._options.get("host", ""), self._options.get("port", "")
        user, database = self._options.get("user", ""), self._options.get("dbname", "")
        where = host if "," not in host and host[:1] != "/" else ""
        at = (f"{user}@" if user else "") + where + (f":{port}" if port and where else "")
        self.location: Final = f"postgresql://{at}/{database}" + (f"?host={host}" if host and not where else "")
        """The address without passwords and options, for messages."""

    def __repr__(self) -> str:
        return f"<PostgresAddress {self.location!r}>"

    def connect(self, **options: Any) -> psycopg.Connection[Any]:
        """Return a new connection.

        Args:
            options: of libpq, for what the address leaves open.

        Returns:
            The connection; each statement is a transaction of its own unless one is begun.

        Raises:
            StoreUnavailableError: the server cannot be reached.
            StoreError: the server refuses.
        """
        driver = _driver()
        settings = {
            "application_name": "worldthread", "connect_timeout": _CONNECT_SECONDS, "keepalives_idle": 30,
            "keepalives_interval": 10, "keepalives_count": 3, **options, **self._options, "client_encoding": "utf8",
        }  # fmt: skip
        try:
            connection: psycopg.Connection[Any] = driver.connect(**settings, autocommit=True)
            return connection
        except driver.Error as error:
            reason = self._without_secrets(str(error).strip() or type(error).__name__)
        # the error of libpq is not chained: a traceback would show what was left out of the message
        if any(part in reason for part in ("authentication failed", "does not exist", "no password", "no pg_hba.conf")):
            raise StoreError(f"the server refuses the connection: {reason}", path=self.location)
        raise StoreUnavailableError(
            f"the server cannot be reached: {reason}. Check that it runs, and its host and port in the address",
            path=self.location,
        )

    def _without_secrets(self, text: str) -> str:
        for name in ("password", "sslpassword"):
            if secret := self._options.get(name):
                text = text.replace(secret, "***")
        return text


def _parsed(rest: str) -> dict[str, str]:
    """Return the options of an address, by the names that libpq gives them."""
    psycopg = _driver()
    from psycopg.conninfo import conninfo_to_dict

    authority, _, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    hosts = authority.rpartition("@")[2]
    ports = re.findall(r":([^,\]]*)(?=,|$)", re.sub(r"\[[^\]]*\]", "", hosts))
    # what libpq would take for another part, it would also show in its messages
    if authority.count("@") > 1 or "@" in path or "\0" in rest or not all(re.fullmatch("[0-9]*", p) for p in ports):
        raise InputError(f"the address of the server cannot be understood; {_ADDRESS_FORM}")
    try:
        options = conninfo_to_dict(f"postgresql://{rest}")
    except psycopg.Error:
        options = None
    if options is None:  # outside of the handler: the error of libpq shows parts of the address
        raise InputError(f"the address of the server cannot be understood; {_ADDRESS_FORM}")
    return {name: str(value) for name, value in options.items() if value is not None}


class PostgresTransaction(StoreTransaction):
    """A transaction on a server, as a context manager. Hold the lock while using it.

    Args:
        connection: the connection.
        writes: whether the block changes something.
        opening: statements that are sent together with the beginning.
    """

    _connection: PostgresConnection

    def __init__(self, connection: PostgresConnection, *, writes: bool, opening: Sequence[Statement] = ()) -> None:
        super().__init__(connection, writes=writes)
        self._opening = opening
        self.answers: list[list[Any]] = []
        """The rows of each opening statement."""

    def __enter__(self) -> Self:
        super().__enter__()
        if self._is_nested:
            self.answers = self._connection.run(*self._opening)
        return self

    def _begin(self) -> None:
        connection = self._connection
        begin: LiteralString = "BEGIN" if self.writes else "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        _, *self.answers = connection.retried(lambda: connection.run((begin, ()), *self._opening))


class PostgresConnection(StoreConnection):
    """A connection that is made again after it broke, with one lock for all threads.

    Args:
        address: of the database.
        readonly: never write.
        durability: see :data:`~worldthread.stores.base.Durability`.
        wait: seconds to wait for other writers, and for a server that comes back; ``math.inf`` for as long as it takes.

    Raises:
        InputError: an argument cannot be used.
        ForeignFileError: the database has a schema ``worldthread`` of another program.
        FileVersionError: a newer release made the tables.
        StoreUnavailableError: the server cannot be reached.
        StoreError: the server refuses, or there is no memory to read.
    """

    def __init__(self, address: PostgresAddress, *, readonly: bool, durability: Durability, wait: float) -> None:
        super().__init__(readonly=readonly, durability=durability, wait=wait)
        self.address = address
        self.wait = float(wait)
        self.generation = 0
        """How often it was connected; a lock of the session is lost when this changes."""
        self._is_closed = False
        self._connection: psycopg.Connection[Any] | None = None
        try:
            self._connect(self.wait)
            self._migrate()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"<PostgresConnection {self.location!r}>"

    @property
    def location(self) -> str:
        return self.address.location

    # -- connecting -------------------------------------------------------------------------------------------------

    def _connect(self, seconds: float) -> None:
        """Connect; while the server cannot be reached, try again until so many seconds have passed."""
        self._disconnect()
        begin = time.monotonic()
        while True:
            try:
                self._connection = self.address.connect()
                self._configure()
            except StoreUnavailableError as error:
                self._disconnect()
                passed = time.monotonic() - begin
                starts = "starting up" in str(error) or "recovery mode" in str(error)
                if passed >= max(seconds, _STARTING_SECONDS if starts else 0.0):
                    raise
                time.sleep(_POLL_SECONDS)
            else:
                self.generation += 1
                return

    def _configure(self) -> None:
        wait = max(self.wait, _LEAST_WAIT)
        settings = {
            "search_path": "pg_catalog",
            "lock_timeout": "0" if math.isinf(wait) else str(min(int(wait * 1000), 2**31 - 1)),
            "default_transaction_read_only": "on" if self.readonly else "off",
            "jit": "off",
            # a client that vanishes in the middle of a change would hold its lock for hours
            "tcp_keepalives_idle": "30",
            "tcp_keepalives_interval": "10",
            "tcp_keepalives_count": "3",
        }
        statements: list[Statement] = [("SELECT set_config(%s, %s, false)", pair) for pair in settings.items()]
        if self._durability == "full":
            off = "current_setting('synchronous_commit') IN ('off', 'local')"
            statements.append((f"SELECT set_config('synchronous_commit', 'on', false) WHERE {off}", ()))
        self.run(*statements)

    def _migrate(self) -> None:
        """Make or upgrade the tables."""
        version = self._version()
        if version > len(MIGRATIONS):
            raise FileVersionError(
                f"made by a newer release of worldthread (version {version} of the tables, this release knows up to"
                f" {len(MIGRATIONS)}): upgrade worldthread",
                path=self.location,
            )
        if version == len(MIGRATIONS):
            return
        if self.readonly:
            raise StoreError(
                "there is no memory here to read" if not version
                else "made by an older release: open it once for writing, as its owner, to upgrade it",
                path=self.location,
            )  # fmt: skip
        with PostgresTransaction(self, writes=True):
            self.run(("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,)))
            for number in range(self._version() + 1, len(MIGRATIONS) + 1):  # another process may have been faster
                for statement in MIGRATIONS[number - 1].split(";"):
                    self.run((statement, ()))
                self.run(("INSERT INTO worldthread.migration (number) VALUES (%s)", (number,)))
            self.run(("COMMIT", ()))

    def _version(self) -> int:
        """Return the number of the last migration; 0 when there are no tables."""
        # not to_regclass: it may answer from before the wait for another process that made the tables
        schema, table = self.fetch_one(
            "SELECT count(*) > 0, coalesce(bool_or(EXISTS (SELECT FROM pg_catalog.pg_class WHERE"
            " relnamespace = pg_namespace.oid AND relname = 'migration')), false)"
            " FROM pg_catalog.pg_namespace WHERE nspname = 'worldthread'"
        )
        if not schema:
            return 0
        if not table:
            raise ForeignFileError(
                "the database has a schema 'worldthread' that worldthread did not make: use another database",
                path=self.location,
            )
        version: int = self.fetch_one("SELECT coalesce(max(number), 0) FROM worldthread.migration")[0]
        return version

    # -- using ------------------------------------------------------------------------------------------------------

    def begin_use(self) -> None:
        """Prepare for a use by whoever has just taken the lock: roll back what an interrupt left open, and connect.

        Raises:
            ClosedError: the connection was closed.
            StoreUnavailableError: the server cannot be reached.
        """
        if self._is_closed:
            raise ClosedError("the memory was closed: open it again", path=self.location)
        if self.running_transaction() is not None:
            return
        self.roll_back()
        self.transaction_reference = None
        if self._connection is None or self._connection.closed:
            self._connect(self.wait)

    def run(self, *statements: Statement) -> list[list[Any]]:
        """Run statements in one round trip.

        Args:
            statements: what to run, in this order.

        Returns:
            The rows of each; of a statement without any, one row with the number of rows that it changed.

        Raises:
            StoreError: the server refused one of them; those after it were not run.
        """
        if not statements:
            return []
        connection = self._open_connection()
        with self._translated():
            if len(statements) == 1:
                cursors = [connection.execute(statements[0][0], statements[0][1], binary=True)]
            else:
                with connection.pipeline():
                    cursors = [connection.execute(sql, values, binary=True) for sql, values in statements]
            return [cursor.fetchall() if cursor.description else [(cursor.rowcount,)] for cursor in cursors]

    def fetch_all(self, sql: LiteralString, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return its rows."""
        return self.run((sql, values))[0]

    def fetch_one(self, sql: LiteralString, values: Sequence[Any] = ()) -> Any:
        """Run one statement and return its first row; ``None`` when there is none."""
        rows = self.fetch_all(sql, values)
        return rows[0] if rows else None

    def stream(self, sql: LiteralString, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a long answer, inside a transaction."""
        connection = self._open_connection()
        with self._translated(), connection.cursor(name="worldthread") as cursor:
            cursor.itersize = _ROW_CHUNK
            cursor.execute(sql, values, binary=True)
            yield from cursor

    def retried(self, operation: Callable[[], _Result]) -> _Result:
        """Do something that may be done twice; once more on a new connection if the old one was broken.

        Args:
            operation: what to do. It must not be part of a transaction that has begun before.

        Returns:
            What it returns.

        Raises:
            StoreUnavailableError: the server cannot be reached.
        """
        try:
            return operation()
        except StoreUnavailableError:
            self._connect(self.wait)
            return operation()

    def roll_back(self) -> None:
        connection = self._connection
        if connection is None or connection.closed:
            return
        idle = _driver().pq.TransactionStatus.IDLE
        if connection.info.transaction_status != idle:
            try:
                connection.execute("ROLLBACK")
            except _driver().Error:
                self._disconnect()  # the server rolls back what a lost connection has begun

    def _open_connection(self) -> psycopg.Connection[Any]:
        if self._is_closed:
            raise ClosedError("the memory was closed: open it again", path=self.location)
        if self._connection is None or self._connection.closed:
            raise StoreUnavailableError("the connection to the server was lost", path=self.location)
        return self._connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise errors of ours in place of those of psycopg, which may show stored text."""
        psycopg = _driver()
        failure: StoreError
        try:
            yield
            return
        except psycopg.Error as error:
            failure = self._store_error(error)
        except GeneratorExit:
            raise
        except BaseException as error:
            if not isinstance(error, Exception):
                self._disconnect()  # an interrupt can come in the middle of an answer
            raise
        raise failure

    def _store_error(self, error: psycopg.Error) -> StoreError:
        psycopg = _driver()
        state = error.sqlstate or ""
        reason = error.diag.message_primary or str(error).strip().partition("\n")[0] or type(error).__name__
        connection = self._connection
        is_lost = connection is None or connection.closed or connection.broken
        if is_lost or state[:2] == "08" or state in ("57P01", "57P02", "57P03"):
            self._disconnect()
            return StoreUnavailableError(
                f"the connection to the server was lost: {reason}. Nothing of this change was kept, every earlier one"
                " is safe; the next use connects again",
                path=self.location,
            )
        if state == "55P03":
            return StoreLockedError(
                "another writer did not finish in time: wait longer (wait=SECONDS in Python, --wait SECONDS on the"
                " command line)",
                path=self.location,
            )
        if state == "25006":
            return ReadOnlyError(f"the server only reads: {reason}", path=self.location)
        if state == "42501":
            return StoreError(
                f"the role may not do this: {reason}. The owner of the tables allows it with `worldthread database"
                " grant`; a role that may only read opens the memory for reading only (readonly=True)",
                path=self.location,
            )
        if state[:2] == "53":
            return StoreError(f"the server has no room: {reason}. Every earlier change is safe", path=self.location)
        if isinstance(error, psycopg.InterfaceError | psycopg.DataError | psycopg.OperationalError):
            return StoreError(f"the server cannot do this: {reason}", path=self.location)
        return StoreError(f"the server refuses: {reason} ({state or type(error).__name__})", path=self.location)

    # -- closing ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the connection. May be called again."""
        self._is_closed = True
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

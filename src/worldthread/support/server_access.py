"""Where a server listens and whom it serves: addresses, sockets, host names, and tokens."""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import os
import re
import secrets
import socket
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from worldthread.errors import InputError
from worldthread.support.arguments import require_string

MCP_TOKEN_VARIABLE: Final = "WORLDTHREAD_MCP_TOKEN"
"""The environment variable that holds the token of an MCP server."""
_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_TOKEN_BYTES: Final = 32
_SHORTEST_TOKEN: Final = 16  # of a server that other machines can reach
_MAKE_TOKEN: Final = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
_SECONDS_BETWEEN_LINES: Final = 60.0  # so that whoever guesses cannot fill the disk
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Client:
    """A client of a server of many memories.

    Args:
        name: what the file of clients calls it.
        digest: the :func:`token_digest` of the token that it sends, and nobody else.
        namespaces: the memories of the file that its token opens; a call that names none uses the first.
        writes: whether it may change them.
    """

    name: str
    digest: bytes = field(repr=False)
    namespaces: tuple[str, ...]
    writes: bool = True


def load_clients(path: Path, *, may_be_empty: bool = False) -> tuple[Client, ...]:
    """Load the clients of a server from a TOML file.

    It has a table for each of them::

        [anna]
        token_hash = "..."                    # 64 hexadecimal digits: the SHA-256 of the token; or token = "..."
        namespaces = ["anna", "family"]       # or namespace = "..."; left out: the name of the client
        writes = false                        # left out: true

    Args:
        path: the file; nobody but its owner may be able to read it.
        may_be_empty: whether it may name no client, so that a server lets nobody in.

    Returns:
        The clients, in the order of the file.

    Raises:
        InputError: the file cannot be read, others can read it, it holds something else, or two clients have one token.
    """
    try:
        others_can_read = bool(path.stat().st_mode & 0o077)
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # of the syntax or the encoding; the message quotes no token
        raise InputError(f"{path} is not a TOML file: {error}") from None
    if others_can_read:
        raise InputError(f"others can read {path}, which holds tokens: allow only its owner to (chmod 600)")
    clients = tuple(_client(path, name, table) for name, table in tables.items())
    if not clients and not may_be_empty:
        raise InputError(f"{path} names no client")
    if len({client.digest for client in clients}) < len(clients):
        raise InputError(f"{path} gives two clients one token")
    return clients


class KnownClients:
    """Finds clients by their tokens. Thread-safe.

    Args:
        clients: the clients, or the file that lists them, which is read again when it has changed: a token that was
            revoked opens nothing from then on.

    Raises:
        InputError: the file cannot be used; see :func:`load_clients`.
    """

    def __init__(self, clients: Sequence[Client] | Path) -> None:
        self._path = clients if isinstance(clients, Path) else None
        self._loaded: tuple[object, dict[bytes, Client]] = (None, {})
        if not isinstance(clients, Path):
            self._loaded = None, self._by_digest(clients)
        self._current()

    @property
    def clients(self) -> tuple[Client, ...]:
        """All clients.

        Raises:
            InputError: the file can no longer be used.
        """
        return tuple(self._current().values())

    def client_of(self, token: str) -> Client | None:
        """Return the client with this token; what the search takes tells nothing about other tokens.

        Args:
            token: what was sent.

        Returns:
            The client; ``None`` if nobody has this token.

        Raises:
            InputError: the file can no longer be used. Nobody is let in then.
        """
        return self._current().get(token_digest(token))

    def _current(self) -> dict[bytes, Client]:
        if self._path is None:
            return self._loaded[1]
        try:
            status = os.stat(self._path)
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror or error}") from error
        state = status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode
        before, found = self._loaded
        if before != state:
            found = self._by_digest(load_clients(self._path, may_be_empty=True))
            self._loaded = state, found  # at once, so that other threads see both or neither
        return found

    def _by_digest(self, clients: Sequence[Client]) -> dict[bytes, Client]:
        self._require_usable(clients)
        return {client.digest: client for client in clients}

    def _require_usable(self, clients: Sequence[Client]) -> None:
        """Raise InputError for clients that a server cannot have."""


def _client(path: Path, name: str, table: object) -> Client:
    if not isinstance(table, dict) or table.keys() - {"token", "token_hash", "namespace", "namespaces", "writes"}:
        raise InputError(
            f"{path}: [{name}] must be a table with token or token_hash, perhaps namespace or namespaces, perhaps "
            "writes, and nothing else"
        )
    writes = table.get("writes", True)
    if not isinstance(writes, bool):
        raise InputError(f"{path}: writes of [{name}] must be true or false")
    return Client(name, _digest_of(path, name, table), _namespaces_of(path, name, table), writes)


def _digest_of(path: Path, name: str, table: dict[str, object]) -> bytes:
    token, hashed = table.get("token"), table.get("token_hash")
    if hashed is not None and token is None:
        if not isinstance(hashed, str) or re.fullmatch("[0-9a-f]{64}", hashed) is None:
            raise InputError(f"{path}: token_hash of [{name}] must be the SHA-256 of a token, 64 hexadecimal digits")
        return bytes.fromhex(hashed)
    if hashed is not None or not isinstance(token, str) or len(token) < _SHORTEST_TOKEN:
        raise InputError(
            f"{path}: the token of [{name}] must be a string of at least {_SHORTEST_TOKEN} characters, such as this "
            f"makes: {_MAKE_TOKEN}; or give its token_hash instead"
        )
    _require_valid_token("localhost", token)
    return token_digest(token)


def _namespaces_of(path: Path, name: str, table: dict[str, object]) -> tuple[str, ...]:
    if "namespace" in table and "namespaces" in table:
        raise InputError(f"{path}: [{name}] has namespace and namespaces: give one of them")
    given = table.get("namespaces", [table.get("namespace", name)])
    if not isinstance(given, list) or not given:
        raise InputError(f"{path}: the namespaces of [{name}] must be a list of names")
    for namespace in given:
        if not require_string(namespace, f"{path}: the namespace of [{name}]"):
            raise InputError(f"{path}: the namespace of [{name}] must not be empty")
    return tuple(dict.fromkeys(given))


@dataclass(frozen=True)
class Access:
    """Where a server listens and whom it serves.

    Make it with :meth:`for_mcp` or :meth:`for_web`, which reject unsafe combinations.

    Args:
        host: the address or name to listen on.
        port: the port; 0 for a free one.
        names: further host names under which clients reach the server, such as that of a proxy.
        token: the token that clients must send; ``None`` if they need none.
        is_generated: whether the token was generated here, so that the user does not know it yet.
        known: clients with tokens of their own, each of which is held to its own memories, instead of the one token.
    """

    host: str
    port: int
    names: tuple[str, ...] = ()
    token: str | None = field(default=None, repr=False)
    is_generated: bool = False
    known: KnownClients | None = None

    @classmethod
    def for_mcp(
        cls,
        host: str,
        port: int,
        *,
        names: Sequence[str] = (),
        token: str | None = None,
        no_token: bool = False,
        clients: Sequence[Client] | Path = (),
    ) -> Self:
        """Return the access to an MCP server.

        A server on a loopback address needs a token too, since processes of all users of the machine can reach it; if
        none is given, one is generated. For any other address, the user must choose the token.

        Args:
            host: see :class:`Access`.
            port: see :class:`Access`.
            names: see :class:`Access`.
            token: the token; ``None`` to generate one.
            no_token: serve every process on this machine without a token.
            clients: clients with tokens of their own, or the file that lists them, which is read again when it has
                changed; then there is no other token.

        Returns:
            The access.

        Raises:
            InputError: the combination is unsafe, or the file cannot be used; the message says what to change.
        """
        if no_token and token is not None:
            raise InputError(
                f"a token is set (--token or ${MCP_TOKEN_VARIABLE}) but --no-token is given as well: choose one"
            )
        if clients:
            if no_token or token is not None:
                raise InputError("each client of --clients has a token of its own: leave out --token and --no-token")
            _require_names(host, names)
            return cls(host, port, tuple(names), known=KnownClients(clients))
        if not is_loopback(host) and token is None:
            raise InputError(
                f"other machines can reach {host}: give a token in ${MCP_TOKEN_VARIABLE} (or with --token); "
                f"this makes one: {_MAKE_TOKEN}"
            )
        _require_valid_token(host, token)
        _require_names(host, names)
        return cls._create(host, port, names, token, generate=not no_token)

    @classmethod
    def for_web(cls, host: str, port: int, *, names: Sequence[str] = (), token: str | None = None) -> Self:
        """Return the access to the web pages.

        A server that other machines can reach gets a generated token if none is given; a given one must have at least
        16 characters.

        Args:
            host: see :class:`Access`.
            port: see :class:`Access`.
            names: see :class:`Access`.
            token: the token; ``None`` to generate one where it is needed.

        Returns:
            The access.

        Raises:
            InputError: the combination is unsafe; the message says what to change.
        """
        _require_valid_token(host, token)
        _require_names(host, names)
        return cls._create(host, port, names, token, generate=not is_loopback(host))

    @classmethod
    def for_service(
        cls, host: str, port: int, *, names: Sequence[str] = (), token: str | None = None, needs_names: bool = False
    ) -> Self:
        """Return the access to an HTTP API, which always wants a token and does not look at host names.

        A page of another site cannot send a token that it does not know, so it gains nothing by a name of its own that
        leads here.

        Args:
            host: see :class:`Access`.
            port: see :class:`Access`.
            names: see :class:`Access`.
            token: the token, if one was given; whose it is, the API finds out itself.
            needs_names: whether it serves a page too, which does look at host names.

        Returns:
            The access.

        Raises:
            InputError: other machines could guess the token, or the page lacks a host name.
        """
        _require_valid_token(host, token)
        if needs_names:
            _require_names(host, names)
        return cls(host, port, tuple(names), token)

    @classmethod
    def _create(cls, host: str, port: int, names: Sequence[str], token: str | None, *, generate: bool) -> Self:
        is_generated = token is None and generate
        return cls(host, port, tuple(names), generate_secret() if is_generated else token, is_generated)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The host names of the loopback interface and of the address to listen on, as written in a URL."""
        return (*_LOOPBACK_NAMES, host_in_url(self.host))

    def is_own_host(self, header: str) -> bool:
        """Return whether the value of a ``Host`` header names this server, to prevent DNS rebinding.

        Args:
            header: the value, with or without a port.

        Returns:
            Whether the name is one of the server's; any port is accepted, since a tunnel may have another one.
        """
        name = header[: header.rfind(":")] if not header.endswith("]") and ":" in header else header
        return name.lower() in {own.lower() for own in (*self.own_names, *self.names)}

    @property
    def needs_token(self) -> bool:
        """Whether clients must send a token."""
        return self.token is not None or self.known is not None

    def client_of(self, given: str) -> Client | None:
        """Return the client with this token; what the search takes tells nothing about other tokens.

        Raises:
            InputError: the file of clients can no longer be used. Nobody is let in then.
        """
        return None if self.known is None else self.known.client_of(given)

    def is_token(self, given: str) -> bool:
        """Return whether ``given`` is the token; the comparison takes constant time."""
        return self.token is not None and secrets.compare_digest(given.encode(), self.token.encode())

    def url(self, port: int, path: str = "/") -> str:
        """Return the URL under which clients reach the server on ``port``."""
        name = self.names[0] if self.names else host_in_url(self.host)
        return f"http://{name}:{port}{path}"


class WrongTokens:
    """Counts requests with a wrong token, and logs them: the first at once, then one line a minute at most.

    They are not slowed: nobody guesses a random token, and requests that wait would take the place of others. The token
    itself is not logged, since it may be the right one of another server.

    Args:
        clock: the time in seconds, from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unlogged = 0
        self._next = clock()

    def note(self, scope: Mapping[str, Any]) -> None:
        """Note one request.

        Args:
            scope: its ASGI scope, which names the address that sent it. An application around this one may have put in
                what a header claims, so it is written in ASCII, with control characters escaped.
        """
        self._unlogged += 1
        if self._clock() < self._next:
            return
        sender = ascii(str((scope.get("client") or ("an unknown address",))[0]))[1:-1]
        _log.warning("wrong token: %d requests since the last such line, the last one from %s", self._unlogged, sender)
        self._unlogged, self._next = 0, self._clock() + _SECONDS_BETWEEN_LINES


def token_digest(token: str) -> bytes:
    """Return the SHA-256 of a token, which a file of clients can hold in its place.

    Tokens are random, so nobody finds one from its digest by trying, as one finds passwords.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def generate_secret() -> str:
    """Return a new random token, safe in URLs and headers."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def bearer_token(authorization: str) -> str:
    """Return the token in the value of an ``Authorization`` header (RFC 6750); empty for other schemes."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach ``host``."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_every_address(host: str) -> bool:
    """Return whether ``host`` means all addresses of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def host_in_url(host: str) -> str:
    """Return ``host`` as written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def listening_socket(host: str, port: int) -> socket.socket:
    """Open a socket that listens.

    Args:
        host: an address or name of this machine.
        port: the port; 0 takes a free one.

    Returns:
        The socket.

    Raises:
        InputError: the address cannot be used, for example because another program listens on it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host_in_url(host)}:{port}: {error.strerror}. Choose another --port"
        ) from None


def port_of(listening: socket.socket) -> int:
    """Return the port that a socket listens on."""
    port: int = listening.getsockname()[1]
    return port


def _require_valid_token(host: str, token: str | None) -> None:
    if token is None:
        return
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("a token must be printable ASCII without spaces, and not empty")
    if not is_loopback(host) and len(token) < _SHORTEST_TOKEN:
        raise InputError(
            f"other machines can reach {host}, and could guess a token of {len(token)} characters: give one of at "
            f"least {_SHORTEST_TOKEN}, such as this makes: {_MAKE_TOKEN}"
        )


def _require_names(host: str, names: Sequence[str]) -> None:
    if is_every_address(host) and not names:
        raise InputError(
            f"{host} means every address of this machine: give the host name that clients use with --allow-host"
        )

"""The clients of the service: who they are by their tokens, and the file that lists them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from filelock import FileLock

from worldthread.errors import InputError, NotFoundError
from worldthread.files.paths import make_private_file, write_private_file
from worldthread.support.arguments import require_name
from worldthread.support.server_access import Client, KnownClients, generate_secret, load_clients, token_digest

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FORBIDDEN: Final = frozenset({".", ".."})  # clients of HTTP leave them out of addresses
_LONGEST: Final = 200


class ClientDirectory(KnownClients):
    """The clients of the service, whose namespaces stand in addresses. Thread-safe.

    Args:
        clients: the clients, or the file that lists them; see :class:`~worldthread.support.server_access.KnownClients`.

    Raises:
        InputError: the file cannot be used; see :func:`~worldthread.support.server_access.load_clients`.
    """

    def _require_usable(self, clients: Sequence[Client]) -> None:
        for client in clients:
            for namespace in client.namespaces:
                require_addressable(namespace)


def require_addressable(namespace: str) -> str:
    """Check that a namespace can stand in the path of an address.

    Args:
        namespace: its name.

    Returns:
        The name.

    Raises:
        InputError: it is too long, holds a slash or a control character, or is ``.`` or ``..``.
    """
    require_name(namespace, "the namespace")
    if "/" in namespace or namespace in _FORBIDDEN or len(namespace) > _LONGEST:
        raise InputError(
            f"the namespace {namespace!r} cannot stand in an address: it must have at most {_LONGEST} characters "
            "and no slash, and must not be . or .."
        )
    return namespace


def add_client(path: Path, name: str, namespaces: Sequence[str], *, writes: bool) -> str:
    """Make a token, and list its client in a file, which is made if it does not exist.

    Args:
        path: the file of clients.
        name: what the file calls the client.
        namespaces: the memories that the token opens.
        writes: whether the client may change them.

    Returns:
        The token. The file holds only its digest, so nobody can find it out again.

    Raises:
        InputError: the name or a namespace cannot be used, the name is taken, or the file is not one of clients.
    """
    if _NAME.fullmatch(name) is None:
        raise InputError(f"the name of a client has 1 to 64 letters, digits, - and _, unlike {name!r}")
    if not namespaces:
        raise InputError("name at least one namespace that the token opens")
    for namespace in namespaces:
        require_addressable(namespace)
    with _changing(path):
        clients = load_clients(path, may_be_empty=True) if path.exists() else ()
        if any(client.name == name for client in clients):
            raise InputError(f"{path} has a client {name!r} already: revoke it first, or choose another name")
        token = generate_secret()
        client = Client(name, token_digest(token), tuple(dict.fromkeys(namespaces)), writes)
        _write(path, (*clients, client))
    return token


def revoke_client(path: Path, name: str) -> None:
    """Remove a client from a file. A service that uses the file refuses its token from then on.

    Args:
        path: the file of clients.
        name: what the file calls the client.

    Raises:
        InputError: the file is not one of clients.
        NotFoundError: it has no such client.
    """
    with _changing(path):
        clients = load_clients(path, may_be_empty=True)
        left = [client for client in clients if client.name != name]
        if len(left) == len(clients):
            names = ", ".join(client.name for client in clients) or "none"
            raise NotFoundError(f"{path} has no client {name!r}; its clients are: {names}")
        _write(path, left)


def _changing(path: Path) -> FileLock:
    """Return a lock that keeps others from changing the file at the same time."""
    lock_file = path.with_name(path.name + "-lock")
    make_private_file(lock_file)
    return FileLock(lock_file, mode=0o600)


def _write(path: Path, clients: Sequence[Client]) -> None:
    tables = []
    for client in clients:
        names = ", ".join(_quoted(namespace) for namespace in client.namespaces)
        tables.append(
            f'[{_quoted(client.name)}]\ntoken_hash = "{client.digest.hex()}"\nnamespaces = [{names}]\n'
            f"writes = {str(client.writes).lower()}\n"
        )
    write_private_file(path, "\n".join(tables), fsync=True)


def _quoted(text: str) -> str:
    """Return a basic string of TOML, which is a string of JSON but for one more character that must be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
